// A user's records as the REST API gives them: the same use cases, the same presenters.
import { listBalances, listPositions } from '@trunkline/core/app/accounts/read-holdings'
import type { AppDeps } from '@trunkline/core/app/application'
import type { UserCaller } from '@trunkline/core/app/caller'
import { listOrders } from '@trunkline/core/app/orders/list-orders'
import { ServiceError } from '@trunkline/core/domain/errors'
import { presentBalance, presentPosition } from '../../src/wire/account.ts'
import { presentOrder } from '../../src/wire/order.ts'
import type { Owner } from './scene.ts'
import type { Service } from './service.ts'
import type { Snapshot, WireRecord } from './user-record.ts'

const PAGE = { limit: 1_000, edge: null, descending: true } as const

export async function readOrders(app: AppDeps, caller: UserCaller): Promise<readonly WireRecord[]> {
  return (await listOrders(app, caller, {}, {}, 'entryTime', PAGE)).page.rows.map(presentOrder)
}

export async function readPositions(app: AppDeps, caller: UserCaller): Promise<readonly WireRecord[]> {
  const { rows: positions } = await listPositions(app, caller, {}, null)
  return positions.map(({ account, position }) => presentPosition(caller.user.userId, account, position))
}

export async function readBalances(app: AppDeps, caller: UserCaller): Promise<readonly WireRecord[]> {
  const { rows: balances } = await listBalances(app, caller, {})
  return balances.map(({ account, balance }) => presentBalance(caller.user.userId, account, balance))
}

/** Everything, one after the other as a platform would ask for it. */
export async function readSnapshot(service: Service, { caller, logins }: Owner, doomed: ReadonlySet<string>): Promise<Snapshot> {
  const isHopeless = () =>
    logins.every(({ broker, connection, isConnected }) => broker.rejects !== null || !isConnected || doomed.has(connection.connectionId))
  const read = (records: typeof readOrders) =>
    ifEver(service.ask({ userKey: caller.user.userKey, hasEffect: false, work: app => records(app, caller) }), isHopeless)
  return { orders: await read(readOrders), positions: await read(readPositions), balances: await read(readBalances) }
}

/** Of logins that ended before anything was read with them there will never be anything to show. */
async function ifEver(read: Promise<readonly WireRecord[]>, isHopeless: () => boolean): Promise<readonly WireRecord[]> {
  try {
    return await read
  } catch (cause) {
    if (cause instanceof ServiceError && cause.code === 'broker_unavailable' && isHopeless()) return []
    throw cause
  }
}
