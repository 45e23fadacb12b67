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
  replaces: Order | null,
  orderId: OrderId = ids.uuid<OrderId>()
): Order {
  const at = clock.now()
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

/**
 * The client order id sent to the broker: 128 bits derived from the order's id and the instance's key. It is the same each time, so that
 * the order can be found by it, and cannot be predicted by others.
 */
export function brokerClOrdIdOf(hasher: Hasher, orderId: OrderId, { lengthMax, alphabet }: BrokerCapabilities['brokerClOrdId']): string {
  const bytes = hasher.derive(`order ${orderId}`).subarray(0, 16)
  if (alphabet === 'alphanumeric') return base62(bytes).slice(-lengthMax)
  const hex = Buffer.from(bytes).toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** Of 128 bits. */
const BASE62_DIGITS = 22

/** The bytes as one number. Long division by numbers is several times faster than by bigints, which every step would allocate. */
function base62(bytes: Uint8Array): string {
  const rest = Array.from(bytes)
  let text = ''
  while (text.length < BASE62_DIGITS) {
    // Two digits at a time.
    let remainder = 0
    for (let at = 0; at < rest.length; at++) {
      const part = remainder * 256 + (rest[at] ?? 0)
      rest[at] = Math.floor(part / 3_844)
      remainder = part % 3_844
    }
    text = `${BASE62.charAt(Math.floor(remainder / 62))}${BASE62.charAt(remainder % 62)}${text}`
  }
  return text
}
