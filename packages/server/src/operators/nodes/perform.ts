// The changes that only the owner of a user makes, by the use cases.
import type { AppDeps } from '@trunkline/core/app/application'
import { readConnectionAgain } from '@trunkline/core/app/operators/reading-again'
import { endNeverReceived, type SettlingPorts } from '@trunkline/core/app/operators/settling'
import type { OrderId } from '@trunkline/core/domain/ids'
import type { Static } from 'typebox'
import { nameOfSet } from '../../ops/order-set.ts'
import { entriesOf, type OperatorOrigin } from '../acting.ts'
import { type connectionReadAgain, presentReadAgain } from '../reading-records.ts'
import { type orderRow, presentOrderRow } from '../records.ts'
import type { OrderEnd, ReadingAgain } from './changes.ts'

export interface PerformingDeps {
  readonly app: AppDeps
  readonly settling: SettlingPorts['settling']
}
export type EndedRow = Static<typeof orderRow>
export type ReadRows = Static<typeof connectionReadAgain>

/** Ends the order here. @throws ServiceError order_not_found, order_not_settled */
export async function endHere(deps: PerformingDeps, orderEnd: OrderEnd, by: OperatorOrigin, signal: AbortSignal): Promise<EndedRow> {
  const { orderId, because, isUnseen } = orderEnd
  return presentOrderRow(await endNeverReceived(settlingPorts(deps), orderId, { because, isUnseen }, entriesOf(deps, by), signal))
}

/** Reads the connection's records here. @throws ServiceError connection_not_found, broker_unavailable */
export async function readAgainHere(deps: PerformingDeps, { connectionId }: ReadingAgain, by: OperatorOrigin): Promise<ReadRows> {
  return presentReadAgain(connectionId, await readConnectionAgain(deps.app, connectionId, entriesOf(deps, by)))
}

/** The order, if an operator has ended it; null: it is not known that one has. */
export async function endedByOperator({ app: { store } }: PerformingDeps, orderId: OrderId): Promise<EndedRow | null> {
  const order = await store.orders.find(orderId)
  return order?.submission.method === 'operator' ? presentOrderRow(order) : null
}

export function settlingPorts({ app: { store, clock }, settling }: PerformingDeps): SettlingPorts {
  return { store, clock, settling, nameOfSet }
}
