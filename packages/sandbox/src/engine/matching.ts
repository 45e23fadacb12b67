/**
 * Matching. There is one book per symbol: the external market's displayed levels and the customers' resting orders.
 *
 * - Price first. At one price the displayed market comes before customers (it was there first), and customers by time.
 * - A taker gets the resting side's price, never one outside the current quotes (`banded`).
 * - Displayed size that was taken stays gone until the next quote.
 * - A market order without liquidity waits for the next quote or opposite limit order, ahead of all limits of its side; it never
 * trades beyond its collar. Two waiting market orders do not trade with each other, because neither has a price.
 * - An account never trades with itself: its own resting orders are skipped.
 */
import type { CommandContext } from './command-context.ts'
import { affordable, end, fill, leaveQueue, unitsFor } from './execution.ts'
import { banded, collarOf, firstLeft, within } from './pricing.ts'
import type { PriceQueue, QueueNode } from './queue.ts'
import { mayTrade, mayTrigger } from './sessions.ts'
import { type ExternalLevel, isLive, leaves, type Order, type OrderBook } from './state.ts'
import { floorTo, type Money, min, type Price, type Quantity } from './units.ts'

// Waiting market orders have no price, so their queue is by time only.
const NO_PRICE = 0n

interface Step {
  readonly maker: Order | ExternalLevel
  readonly quantity: Quantity
  readonly price: Price
}

/** The liquidity available to a taker, best first. Changes nothing. */
export function plan(taker: Order): readonly Step[] {
  const { book, buy } = taker
  const worst = taker.limit ?? collarOf(book, buy)
  const steps: Step[] = []
  if (worst === null) return steps
  const levels = buy ? book.externalAsks : book.externalBids
  let at = leftFrom(levels, 0)
  let maker = makerFrom((buy ? book.asks : book.bids).first(), taker)
  let left = leaves(taker)
  let spent = 0n
  while (left > 0n) {
    const level = levels[at]
    const stands = maker !== null && (level === undefined || (level.price !== maker.price && within(maker.price, level.price, buy)))
    const offer = stands ? maker : level
    if (offer === undefined || offer === null || !within(offer.price, worst, buy)) break
    const affordable = min(left, affordableAfter(taker, spent, offer.price))
    if (affordable < book.spec.fraction) break
    const quantity = floorTo(min(affordable, 'left' in offer ? offer.left : offer.quantity), book.spec.fraction)
    if (quantity > 0n) steps.push({ maker: 'left' in offer ? offer : offer.node.item, quantity, price: offer.price })
    left -= quantity
    spent += quantity * offer.price * book.spec.multiplier
    if ('node' in offer) maker = makerFrom(nodeBehind(offer.node, taker), taker)
    else at = leftFrom(levels, at + 1)
  }
  return steps
}

function affordableAfter(taker: Order, spent: Money, price: Price): Quantity {
  const left = leaves(taker)
  return taker.notionalLeft === null || !taker.buy ? left : min(left, unitsFor(taker.notionalLeft - spent, price, taker.book))
}

function leftFrom(levels: readonly ExternalLevel[], from: number): number {
  let at = from
  while (levels[at]?.left === 0n) at++
  return at
}

interface Standing {
  readonly node: QueueNode<Order>
  readonly price: Price
  readonly quantity: Quantity
}

function nodeBehind(node: QueueNode<Order>, taker: Order): QueueNode<Order> | null {
  return (taker.buy ? taker.book.asks : taker.book.bids).next(node)
}

/** The next resting order, from a queue position on, that may trade with the taker. */
function makerFrom(from: QueueNode<Order> | null, taker: Order): Standing | null {
  for (let node = from; node !== null; node = nodeBehind(node, taker)) {
    const maker = node.item
    const price = maker.limit === null ? null : banded(maker.book, maker.limit, maker.buy)
    if (price === null) break // outside the quotes, like every order behind it
    if (maker.account === taker.account || !mayTrade(maker)) continue
    const quantity = affordable(maker, price)
    if (quantity > 0n) return { node, price, quantity }
  }
  return null
}

/** Trades what the taker can get now. */
export function take(context: CommandContext, taker: Order): void {
  for (const { maker, quantity, price } of plan(taker)) {
    if ('left' in maker) {
      maker.left -= quantity
      fill(context, taker, quantity, price, 'STREET')
    } else {
      fill(context, taker, quantity, price, 'HOUSE')
      fill(context, maker, quantity, price, 'HOUSE')
    }
  }
}

/** Trades what the order can get, then ends or rests the remainder, depending on its time in force. */
export function work(context: CommandContext, order: Order): void {
  const { timeInForce } = order
  if (timeInForce === 'FOK' && !fillsWhole(order)) {
    end(context, order, 'canceled', 'not_fillable', 'The whole quantity could not be filled at once, so none of it was.')
    return
  }
  if (mayTrade(order)) take(context, order)
  if (!isLive(order)) return
  if (timeInForce === 'IOC' || timeInForce === 'FOK') {
    end(context, order, 'canceled', 'immediate_remainder', `${order.filled === 0n ? 'Nothing' : 'No more'} could be filled at once.`)
    return
  }
  rest(context, order)
}

function fillsWhole(order: Order): boolean {
  if (!mayTrade(order)) return false
  const steps = plan(order)
  const last = steps.at(-1)
  if (last === undefined) return false
  let [quantity, spent] = [0n, 0n]
  for (const step of steps) {
    quantity += step.quantity
    spent += step.quantity * step.price * order.book.spec.multiplier
  }
  return quantity === leaves(order) || affordableAfter(order, spent, last.price) === 0n
}

function rest(context: CommandContext, order: Order): void {
  const { book, buy, limit } = order
  if (limit === null) {
    order.queue = buy ? book.waitingBuys : book.waitingSells
    order.node = order.queue.add(NO_PRICE, order)
    return
  }
  order.queue = buy ? book.bids : book.asks
  order.node = order.queue.add(limit, order)
  const facing = buy ? book.waitingSells : book.waitingBuys
  if (facing.size > 0) takeEach(context, facing)
}

/** Lets resting orders take what a market change offers, best first, buyers before sellers. */
export function sweep(context: CommandContext, book: OrderBook): void {
  for (const side of [book.waitingBuys, book.bids, book.waitingSells, book.asks]) if (side.size > 0) takeEach(context, side)
}

function takeEach(context: CommandContext, side: PriceQueue<Order>): void {
  for (let node = side.first(); node !== null; ) {
    const order = node.item
    // A taker removes only itself from this queue; the next entry stays valid.
    const next = side.next(node)
    if (mayTrade(order)) {
      if (!crosses(order)) break
      take(context, order)
    }
    node = next
  }
}

/** Whether a resting order's price reaches the other side at all; if not, no order behind it does. */
function crosses(order: Order): boolean {
  const { book, buy, limit } = order
  if (limit === null) return true
  const level = firstLeft(buy ? book.externalAsks : book.externalBids)
  if (level !== undefined && within(level.price, limit, buy)) return true
  const facing = (buy ? book.asks : book.bids).first()?.item.limit ?? null
  return facing !== null && within(facing, limit, buy)
}

/**
 * A print of the external market beyond resting limits fills them, best first, up to its size: at their limit, or at the touch if that
 * is better. A print that contradicts the quotes (their touch is beyond the limit) fills nothing. Market orders take part only if the
 * other side is not quoted at all.
 */
export function printThrough(context: CommandContext, book: OrderBook, price: Price, size: Quantity): void {
  let left = size
  for (const side of [book.waitingBuys, book.bids, book.waitingSells, book.asks]) {
    for (let node = side.first(); node !== null && left > 0n; ) {
      const order = node.item
      const next = side.next(node)
      if (order.limit !== null && (order.limit === price || !within(price, order.limit, order.buy))) break
      const at = mayTrade(order) ? throughPrice(order, price) : null
      const quantity = at === null ? 0n : floorTo(min(left, affordable(order, at)), book.spec.fraction)
      if (at !== null && quantity > 0n) {
        fill(context, order, quantity, at, 'STREET')
        left -= quantity
      }
      node = next
    }
  }
}

function throughPrice(order: Order, print: Price): Price | null {
  const { book, buy, limit } = order
  const bid = book.externalBids[0]?.price
  const ask = book.externalAsks[0]?.price
  if (limit === null) return (buy ? ask : bid) === undefined ? insideTouch(print, bid, ask) : null
  if (buy) return bid !== undefined && limit < bid ? null : ask !== undefined && limit > ask ? ask : limit
  return ask !== undefined && limit > ask ? null : bid !== undefined && limit < bid ? bid : limit
}

function insideTouch(price: Price, bid: Price | undefined, ask: Price | undefined): Price | null {
  return (bid !== undefined && price < bid) || (ask !== undefined && price > ask) ? null : price
}

/** Queues a stop by its trigger, or triggers it if the market has reached it. */
export function waitForStop(context: CommandContext, order: Order): void {
  const { book, buy, stop } = order
  if (stop === null) return
  if (mayTrigger(order) && stopReached(book, stop, buy)) {
    trigger(context, order)
    return
  }
  order.queue = buy ? book.buyStops : book.sellStops
  order.node = order.queue.add(stop, order)
}

/**
 * A buy stop is reached when a trade prints at or above it, or when the bid does; a sell stop the other way round. The near side of the
 * quote decides, so that a brief widening of the spread triggers nothing.
 */
function stopReached(book: OrderBook, stop: Price, buy: boolean): boolean {
  const quote = (buy ? book.externalBids : book.externalAsks)[0]?.price
  return (book.last !== null && within(stop, book.last, buy)) || (quote !== undefined && within(stop, quote, buy))
}

/** Triggers every stop that the market has reached: buyers first, the nearest stop first. */
export function triggerStops(context: CommandContext, book: OrderBook): void {
  for (const buy of [true, false]) {
    const side = buy ? book.buyStops : book.sellStops
    for (let node = side.first(); node !== null; ) {
      const order = node.item
      const next = side.next(node)
      if (order.stop === null || !stopReached(book, order.stop, buy)) break
      if (mayTrigger(order)) trigger(context, order)
      node = next
    }
  }
}

function trigger(context: CommandContext, order: Order): void {
  leaveQueue(order)
  order.triggered = true
  order.state = order.filled === 0n ? 'open' : 'partial'
  order.updatedAt = context.state.now
  context.touch(order.account, null)
  context.order(order, 'triggered')
  work(context, order)
}
