import { parseDecimal } from '@trunkline/core/domain/decimal'
import {
  type AccountId,
  type ConnectionId,
  type OrderId,
  type PlatformId,
  parseBrokerId,
  parseClOrdId,
  parseUserId,
  parseUuid,
  type UserKey
} from '@trunkline/core/domain/ids'
import type { Order } from '@trunkline/core/domain/order'
import { parseDay, parseTimestamp } from '@trunkline/core/domain/timestamp'

const uuid = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`
const at = parseTimestamp('2026-11-20T14:30:00Z', 'at')

/** A limit order of 100 shares that the broker has just accepted; `changes` override fields. */
export function anOrder(changes: Partial<Order> = {}): Order {
  return {
    orderId: parseUuid<OrderId>(uuid(1), 'order_id'),
    clOrdId: parseClOrdId('order-1'),
    tradingDay: parseDay('2026-11-20', 'day'),
    platformId: parseUuid<PlatformId>(uuid(2), 'platform_id'),
    userKey: parseUuid<UserKey>(uuid(3), 'user_key'),
    userId: parseUserId('ada'),
    connectionId: parseUuid<ConnectionId>(uuid(4), 'connection_id'),
    accountId: parseUuid<AccountId>(uuid(5), 'account_id'),
    accountNumber: 'A-1',
    broker: parseBrokerId('SANDBOX'),
    side: 'BUY',
    type: 'LMT',
    tif: 'DAY',
    symbol: 'AAPL',
    instrument: 'STK',
    quantity: parseDecimal('100', 'quantity'),
    notional: null,
    limitPrice: parseDecimal('10.50', 'limit'),
    stopPrice: null,
    legs: null,
    status: 'working',
    submission: { state: 'acknowledged', since: at, attempts: 1, method: 'reply' },
    pendingRequest: null,
    brokerClOrdId: 'c1',
    brokerOrderId: 'b1',
    brokerStatus: 'open',
    brokerMessage: null,
    rejectCode: null,
    brokerOrderType: 'limit',
    execDest: null,
    fills: [],
    entryTime: at,
    lastExecTime: null,
    lastModifiedTime: at,
    systemTime: at,
    replacesOrderId: null,
    replacedByOrderId: null,
    previouslyFilledQuantity: null,
    revision: 1,
    ...changes
  }
}
