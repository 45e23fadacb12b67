import type { ClOrdId, OrderId } from '../../domain/ids.ts'
import type { Order, OrderTicket } from '../../domain/order.ts'
import { filledAlong } from '../../domain/order-machine.ts'
import { tradingDay } from '../../domain/timestamp.ts'
import type { BrokerCapabilities } from '../../ports/broker.ts'
import type { Hasher } from '../../ports/vault.ts'
import type { UserCaller } from '../caller.ts'
import type { Deps } from '../deps.ts'
import type { Tradable } from './tradable.ts'

/**
 * The first state of an order, stored before it is sent to the broker. Its submission state is `submitting` from the start, so that after a
 * crash the order counts as possibly sent: it is looked up and never sent again.
 */
export function newOrder(
  { ids, clock, hasher }: Pick<Deps, 'ids' | 'clock' | 'hasher'>,
  caller: UserCaller,
  { account, connection, capabilities }: Tradable,
  ticket: OrderTicket,
  clOrdId: ClOrdId,
  replaces: Order | null
): Order {
  const at = clock.now()
  const orderId = ids.uuid<OrderId>()
  return {
    ...ticket,
    orderId,
    clOrdId,
    tradingDay: tradingDay(at),
    platformId: caller.platform.platformId,
    userKey: caller.user.userKey,
    userId: caller.user.userId,
    connectionId: connection.connectionId,
    accountId: account.accountId,
    accountNumber: account.accountNumber,
    broker: connection.broker,
    status: 'pending',
    submission: { state: 'submitting', since: at, attempts: 1, method: null },
    pendingRequest: null,
    brokerClOrdId: brokerClOrdIdOf(hasher, orderId, capabilities.brokerClOrdId),
    brokerOrderId: null,
    brokerStatus: null,
    brokerMessage: null,
    rejectCode: null,
    brokerOrderType: null,
    execDest: null,
    fills: [],
    entryTime: at,
    lastExecTime: null,
    lastModifiedTime: at,
    systemTime: at,
    replacesOrderId: replaces?.orderId ?? null,
    replacedByOrderId: null,
    previouslyFilledQuantity: replaces === null ? null : filledAlong(replaces),
    revision: 1
  }
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/**
 * The client order id sent to the broker: 128 bits derived from the order's id and the instance's key. It is the same each time, so that
 * the order can be found by it, and cannot be predicted by others.
 */
export function brokerClOrdIdOf(hasher: Hasher, orderId: OrderId, { lengthMax, alphabet }: BrokerCapabilities['brokerClOrdId']): string {
  const hex = Buffer.from(hasher.derive(`order ${orderId}`).subarray(0, 16)).toString('hex')
  if (alphabet === 'uuid') return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
  let rest = BigInt(`0x${hex}`)
  let text = ''
  for (; rest > 0n; rest /= 62n) text = BASE62.charAt(Number(rest % 62n)) + text
  return text.padStart(22, '0').slice(-lengthMax)
}
