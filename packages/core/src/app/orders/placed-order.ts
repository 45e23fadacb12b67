import type { Order, OrderTicket } from '../../domain/order.ts'
import { type Day, epochMs, type Timestamp, timestampOfMs, tradingDay } from '../../domain/timestamp.ts'
import type { UserCaller } from '../caller.ts'
import type { Deps } from '../deps.ts'
import { offeredBroker } from '../offered-broker.ts'
import type { OrderRequest } from './place-order.ts'
import { checkTicket } from './ticket-check.ts'

/** The clocks of nodes differ by less, and a request takes less. */
const CLOCKS_APART_MS = 15 * 60_000

/** An order with the same `cl_order_id` differs only in what its broker may have changed since: it may be the order of the request. */
export class TermsChanged extends Error {
  override readonly name = 'TermsChanged'
}

/**
 * The order that a request of these minutes placed, as far as it can be known from the stored one with the same `cl_order_id`. Null if
 * there is none today (around midnight, none of these minutes), or if it is for something else: then it is an earlier one.
 * @throws TermsChanged if it cannot be known; what {@link placeOrder} throws for the ticket.
 */
export async function placedOrder(
  deps: Pick<Deps, 'brokers' | 'clock' | 'store'>,
  { user }: UserCaller,
  request: OrderRequest
): Promise<Order | null> {
  const ticket = checkTicket(request, offeredBroker(deps, request.broker).capabilities)
  const now = deps.clock.now()
  for (const day of daysAround(now)) {
    const order = await deps.store.orders.findByClOrdId(user.userKey, day, request.clOrdId)
    if (order === null || order.accountId !== request.accountId || subjectOf(order) !== subjectOf(ticket)) continue
    if (day !== tradingDay(now) && !isNear(order.entryTime, now)) continue
    if (termsOf(order) === termsOf(ticket)) return order
    if (order.revision > 1) throw new TermsChanged(`the terms of ${order.orderId} are other ones, and may have been the same at first`)
  }
  return null
}

/** The trading days on which a node whose clock is another one may have entered an order just now. */
export function daysAround(now: Timestamp): ReadonlySet<Day> {
  return new Set([now, shifted(now, -CLOCKS_APART_MS), shifted(now, CLOCKS_APART_MS)].map(tradingDay))
}

function shifted(at: Timestamp, ms: number): Timestamp {
  return timestampOfMs(epochMs(at) + ms)
}

function isNear(one: Timestamp, other: Timestamp): boolean {
  return Math.abs(epochMs(one) - epochMs(other)) <= CLOCKS_APART_MS
}

/** What an order is for, as text to compare. */
function subjectOf({ side, tif, symbol, instrument, notional, legs }: OrderTicket): string {
  return JSON.stringify([side, tif, symbol, instrument, notional, legs?.map(leg => [leg.symbol, leg.side, leg.ratio]) ?? null])
}

/** What a broker's report or a replacement may change of it, as text to compare. */
function termsOf({ type, quantity, limitPrice, stopPrice }: OrderTicket): string {
  return JSON.stringify([type, quantity, limitPrice, stopPrice])
}
