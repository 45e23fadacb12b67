import type { Account, Connection } from '../../domain/account.ts'
import { ServiceError } from '../../domain/errors.ts'
import type { AccountId, BrokerId } from '../../domain/ids.ts'
import type { BrokerCapabilities } from '../../ports/broker.ts'
import type { UserCaller } from '../caller.ts'
import type { Deps } from '../deps.ts'
import type { Directory } from '../directory.ts'
import { accountOf, connectionOf } from '../owned.ts'

/** What a request about orders of an account takes. */
export interface TradableDeps extends Pick<Deps, 'brokers'> {
  readonly directory: Directory
}

export interface Tradable {
  readonly account: Account
  readonly connection: Connection
  readonly capabilities: BrokerCapabilities
}

export type OrderAccount = Pick<Tradable, 'account' | 'connection'>

/**
 * The caller's account, whatever its connection's state, for a request about one of its orders: the order's existence is checked next.
 * @throws ServiceError account_not_found, entitlement_missing, or field_invalid if `broker` is not the account's broker.
 */
export async function orderAccount(
  deps: TradableDeps,
  caller: UserCaller,
  accountId: AccountId,
  broker: BrokerId | null
): Promise<OrderAccount> {
  const owned = await deps.directory.of(caller.user.userKey)
  const account = accountOf(owned, accountId)
  const connection = connectionOf(owned, account.connectionId)
  if (broker !== null && broker !== connection.broker) {
    const message = `must be the account’s broker, ${connection.broker}, was ${broker}`
    throw new ServiceError('field_invalid', `broker ${message}`, { details: [{ path: 'broker', message }] })
  }
  if (connection.connectionType !== 'trade') {
    throw new ServiceError(
      'entitlement_missing',
      `This connection is ${connection.connectionType} and takes no orders; connect again with connection_type trade.`
    )
  }
  return { account, connection }
}

const REJECTED = 'The broker no longer accepts this connection; have the user connect this broker again.'
const ELSEWHERE =
  'This connection was made in another environment of the broker than the one that the service now uses. It works again when the service goes back; until then, have the user connect this broker again.'

/** @throws ServiceError connection_broken, or order_not_supported if the broker is not offered any more. */
export function demandTradable({ brokers }: Pick<TradableDeps, 'brokers'>, { account, connection }: OrderAccount): Tradable {
  if (connection.status === 'BROKEN') {
    throw new ServiceError('connection_broken', connection.brokenCode === 'environment_changed' ? ELSEWHERE : REJECTED)
  }
  const capabilities = brokers.get(connection.broker)?.capabilities
  if (capabilities === undefined) {
    throw new ServiceError('order_not_supported', `${connection.broker} is not offered by this service any more.`)
  }
  return { account, connection, capabilities }
}

/**
 * The caller's account, for a new order.
 * @throws ServiceError account_not_found, entitlement_missing, connection_broken, order_not_supported, or field_invalid if `broker` is
 * not the account's broker.
 */
export async function tradableAccount(
  deps: TradableDeps,
  caller: UserCaller,
  accountId: AccountId,
  broker: BrokerId | null
): Promise<Tradable> {
  return demandTradable(deps, await orderAccount(deps, caller, accountId, broker))
}
