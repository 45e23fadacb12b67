import type { Order, OrderTicket } from '../../domain/order.ts'
import { tradingDay } from '../../domain/timestamp.ts'
import type { UserCaller } from '../caller.ts'
import type { Deps } from '../deps.ts'
import { offeredBroker } from '../offered-broker.ts'
import type { OrderRequest } from './place-order.ts'
import { checkTicket } from './ticket-check.ts'

/**
 * The order that a request placed, as far as it can be known from the stored one with the same `cl_order_id`. Null if there is none today,
 * or if it is for something else: then it is an earlier one.
 * @throws what {@link placeOrder} throws for the ticket.
 */
export async function placedOrder(
  deps: Pick<Deps, 'brokers' | 'clock' | 'store'>,
  { user }: UserCaller,
  request: OrderRequest
): Promise<Order | null> {
  const ticket = checkTicket(request, offeredBroker(deps, request.broker).capabilities)
  const order = await deps.store.orders.findByClOrdId(user.userKey, tradingDay(deps.clock.now()), request.clOrdId)
  return order !== null && order.accountId === request.accountId && contentsOf(order) === contentsOf(ticket) ? order : null
}

/** What an order is for, as text to compare. */
function contentsOf({ side, type, tif, symbol, instrument, quantity, notional, limitPrice, stopPrice, legs }: OrderTicket): string {
  const parts = legs?.map(leg => [leg.symbol, leg.side, leg.ratio]) ?? null
  return JSON.stringify([side, type, tif, symbol, instrument, quantity, notional, limitPrice, stopPrice, parts])
}
