import type { User } from '@trunkline/core/domain/account'
import { parseDecimal } from '@trunkline/core/domain/decimal'
import { type AccountId, type ConnectionId, type EventId, type OrderId, parseBrokerId, parseClOrdId } from '@trunkline/core/domain/ids'
import type { Order } from '@trunkline/core/domain/order'
import { parseTimestamp, tradingDay } from '@trunkline/core/domain/timestamp'
import type { Ids } from '@trunkline/core/ports/ids'
import type { LoggedEvent } from '@trunkline/core/ports/store'

/** Events of a working order with one execution, each a new state: encoded like every order, about a kilobyte. */
export function orderEvents(ids: Ids): (user: User, seq: number) => LoggedEvent {
  const at = parseTimestamp('2026-11-21T14:30:00.123456Z', 'at')
  const quantity = parseDecimal('100', 'quantity')
  const price = parseDecimal('412.50', 'price')
  const [eventId, accountId] = [ids.uuid<EventId>(), ids.uuid<AccountId>()]
  const common: Omit<Order, 'userKey' | 'userId' | 'platformId' | 'revision'> = {
    ...{ side: 'BUY', type: 'LMT', tif: 'DAY', symbol: 'SPY', instrument: 'STK', quantity, notional: null },
    ...{ limitPrice: price, stopPrice: null, legs: null },
    orderId: ids.uuid<OrderId>(),
    clOrdId: parseClOrdId('rebalance-2026-11-21-1'),
    tradingDay: tradingDay(at),
    connectionId: ids.uuid<ConnectionId>(),
    accountId,
    accountNumber: 'SBX-100001',
    broker: parseBrokerId('SANDBOX'),
    status: 'partially_filled',
    submission: { state: 'acknowledged', since: at, attempts: 1, method: 'reply' },
    pendingRequest: null,
    ...{ brokerClOrdId: 'tl0192f0c87a4e7cc19b1f3f6a8d2e5b70', brokerOrderId: 'ord_000123456' },
    ...{ brokerStatus: 'partial', brokerMessage: null, rejectCode: null, brokerOrderType: 'limit', execDest: 'STREET' },
    fills: [{ fillId: 'exe_000123456', at, quantity: parseDecimal('40', 'quantity'), price, execDest: 'STREET' }],
    ...{
      entryTime: at,
      lastExecTime: at,
      lastModifiedTime: at,
      systemTime: at,
      replacesOrderId: null,
      replacedByOrderId: null,
      previouslyFilledQuantity: null
    }
  }
  return ({ userKey, userId, platformId }, seq) => {
    const data: Order = { ...common, userKey, userId, platformId, revision: seq }
    return { eventId, userKey, seq, accountId, at, topic: 'orders', data }
  }
}
