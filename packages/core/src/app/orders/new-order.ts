import type { ClOrdId, OrderId } from '../../domain/ids.ts'
import type { Order, OrderTicket } from '../../domain/order.ts'
import { filledAlong } from '../../domain/order-machine.ts'
import { tradingDay } from '../../domain/timestamp.ts'
import type { UserCaller } from '../caller.ts'
import type { AppDeps } from '../deps.ts'
import { brokerClOrdIdOf } from './broker-cl-ord-id.ts'
import type { Tradable } from './tradable.ts'

/**
 * The first state of an order, stored before it is sent to the broker. Its submission state is `submitting` from the start, so that after a
 * crash the order counts as possibly sent: it is looked up and never sent again.
 */
export function newOrder(
  { ids, clock, hasher }: Pick<AppDeps, 'ids' | 'clock' | 'hasher'>,
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
