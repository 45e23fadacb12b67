import { ServiceError } from '../../domain/errors.ts'
import type { AccountId, OrderId } from '../../domain/ids.ts'
import { isOpen, type Order } from '../../domain/order.ts'
import type { AuditEntry } from '../../ports/store.ts'
import { audited, type UserCaller } from '../caller.ts'
import type { Deps } from '../deps.ts'
import type { InFlightCommands } from '../execution/in-flight-commands.ts'
import type { OrderGateway } from '../execution/order-gateway.ts'
import { cancelRequested, notOpen } from '../execution/order-steps.ts'
import type { OrderWriter, Pair } from '../execution/order-writer.ts'
import { canTakeCancel, takeUpCancel } from '../execution/pending-answers.ts'
import type { Placed, Reconciliation } from '../execution/reconciliation.ts'
import type { Mirrors } from '../mirror/mirrors.ts'
import type { UnconfirmedIntents } from '../reconciliation/unconfirmed-intents.ts'
import { demandTradable, orderAccount, type TradableDeps } from './tradable.ts'

export interface CancelDeps extends TradableDeps, Pick<Deps, 'clock' | 'ownership'> {
  readonly mirrors: Mirrors
  readonly unconfirmed: UnconfirmedIntents
  readonly orderWriter: OrderWriter
  readonly orderGateway: OrderGateway
  readonly commands: InFlightCommands
  readonly reconciliation: Reconciliation
}

/**
 * Requests the cancel of an open order. Repeated while the cancel is pending, it has the same result. If the broker may not have the order
 * yet, the cancel is stored and sent as soon as the broker is known to have it. If a replacement is pending, the cancel of either order
 * cancels both: it is sent for the order that the broker has, and again for the one that remains.
 * @throws ServiceError account_not_found, order_not_found, order_not_open, connection_broken, entitlement_missing.
 */
export async function cancelOrder(deps: CancelDeps, caller: UserCaller, accountId: AccountId, orderId: OrderId): Promise<Order> {
  const owned = await orderAccount(deps, caller, accountId, null)
  const known = await deps.orderWriter.findOf(caller.user.userKey, orderId)
  if (known === null || known.accountId !== accountId) throw orderNotFound()
  const { account, connection } = demandTradable(deps, owned)
  const audit = audited(deps.clock, caller, 'order.cancel', orderId)
  const fence = deps.ownership.fenceOf(caller.user.userKey)
  const requested = await deps.unconfirmed.write({ kind: 'cancel', placed: { connection, account, order: known } }, () =>
    requestAlongChain(deps, known, audit)
  )
  const sent = requested.map(each => sendCancel(deps, { connection, account, order: each.order }, { ...each, fence }))
  await Promise.all(sent)
  const order = await deps.orderWriter.find(orderId)
  if (order === null) throw orderNotFound()
  return order
}

interface RequestedCancel {
  readonly order: Order
  readonly isNew: boolean
}

/**
 * Requests the cancel along a chain of pending replacements, oldest first. If a replacement is decided in between, the order that remains
 * has the cancel. If the order that the caller named is not open any more, none is cancelled.
 */
async function requestAlongChain(
  { orderWriter, clock }: Pick<CancelDeps, 'orderWriter' | 'clock'>,
  { orderId, replacesOrderId }: Order,
  audit: AuditEntry
): Promise<readonly RequestedCancel[]> {
  const at = clock.now()
  const requested: RequestedCancel[] = []
  const due = async (order: Order, isNew: boolean): Promise<Order> => {
    const taken = isNew && canTakeCancel(order) ? await takeUpCancel(orderWriter, order, at) : null
    const present = taken ?? order
    requested.push({ order: present, isNew })
    return present
  }
  const request = async (
    id: OrderId,
    mayBeCancelled: (order: Order) => boolean,
    more: { readonly audit?: AuditEntry }
  ): Promise<Order | null> => {
    let isNew = false
    const order = await orderWriter.change(id, present => {
      const next = mayBeCancelled(present) ? cancelRequested(present, at) : null
      // A decision may run again over a newer state; the last run is the one that was written.
      isNew = next !== null
      return next === null ? null : { ...next, ...more }
    })
    return order === null ? null : due(order, isNew)
  }
  const own = (present: Order) => {
    if (!isOpen(present.status)) throw notOpen(present, 'cancelled')
    return true
  }
  const requestBoth = async (beforeId: OrderId): Promise<Order | null> => {
    let areNew: Pair<boolean> = [false, false]
    const both = await orderWriter.changeBoth(beforeId, orderId, (before, present) => {
      const next = own(present) ? cancelRequested(present, at) : null
      const first = before.pendingRequest?.successorId === orderId ? cancelRequested(before, at) : null
      areNew = [first !== null, next !== null]
      return [first, next === null ? null : { ...next, audit }]
    })
    if (both === null) return request(orderId, own, { audit })
    const [before, present] = both
    await due(before, areNew[0])
    return due(present, areNew[1])
  }
  let order = replacesOrderId === null ? await request(orderId, own, { audit }) : await requestBoth(replacesOrderId)
  if (order === null) throw orderNotFound()
  for (let next = successorOf(order); next !== null; next = order === null ? null : successorOf(order)) {
    order = await request(
      next,
      ({ status, pendingRequest }) => isOpen(status) && (status !== 'pending_replace' || pendingRequest !== null),
      {}
    )
  }
  return requested
}

function successorOf({ status, pendingRequest }: Order): OrderId | null {
  return status === 'pending_replace' ? (pendingRequest?.successorId ?? null) : null
}

async function sendCancel(
  { mirrors, orderGateway, commands, reconciliation }: Pick<CancelDeps, 'mirrors' | 'orderGateway' | 'commands' | 'reconciliation'>,
  placed: Placed,
  { isNew, fence }: { readonly isNew: boolean; readonly fence: number | null }
): Promise<void> {
  const { connection, account, order } = placed
  if (!isOpen(order.status)) return
  mirrors.expect(connection, account, order)
  if (order.status === 'pending_replace' && isNew) await orderGateway.stop(placed, true, fence)
  // An earlier request without an answer belongs to the resolver, which sends the cancel again if needed.
  else if (order.status === 'pending_cancel' && (isNew || commands.isCancelling(order))) await orderGateway.cancel(placed, isNew, fence)
  else reconciliation.takeOver(placed)
}

export function orderNotFound(): ServiceError {
  return new ServiceError('order_not_found', 'This account has no order with this order_id; list them with GET /orders.')
}
