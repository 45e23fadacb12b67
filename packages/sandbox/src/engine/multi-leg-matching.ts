/**
 * Multi-leg orders: option legs that fill together. They trade only with the displayed market of their legs, in whole spreads, each leg at
 * the price of a displayed level; a level with less than one spread needs is skipped. When the quote of any leg changes, resting
 * multi-leg orders trade after that book's single orders, first come first served.
 */
import type { CommandContext } from './command-context.ts'
import { close, end } from './execution.ts'
import { enterTrade } from './ledger.ts'
import { hold } from './margin.ts'
import { collarOf, within } from './pricing.ts'
import { type ExternalLevel, holdingOf, isLive, type Leg, leaves, type Order, type OrderBook } from './state.ts'
import type { FillView } from './types.ts'
import { feeOf, floorTo, formatMoney, formatScaled, min, ONE, type Price, type Quantity, roundToCents } from './units.ts'

interface Step {
  /** In spreads. */
  readonly quantity: Quantity
  /** Of one spread: paid for a purchase, received for a sale. */
  readonly net: Price
  /** The level that each leg takes from, in the order of the legs. */
  readonly levels: readonly ExternalLevel[]
}

/** Trades what a multi-leg order can get, then ends or rests the remainder, depending on its time in force. */
export function workMultiLeg(context: CommandContext, order: Order): void {
  const { timeInForce, legs } = order
  const steps = mayTradeMultiLeg(order) ? plan(order) : []
  if (timeInForce === 'FOK' && steps.reduce((sum, step) => sum + step.quantity, 0n) < leaves(order)) {
    end(context, order, 'canceled', 'not_fillable', 'The whole quantity could not be filled at once, so none of it was.')
    return
  }
  for (const step of steps) fillMultiLeg(context, order, step)
  if (!isLive(order)) return
  if (timeInForce === 'IOC' || timeInForce === 'FOK') {
    end(context, order, 'canceled', 'immediate_remainder', `${order.filled === 0n ? 'Nothing' : 'No more'} could be filled at once.`)
    return
  }
  for (const { book } of legs ?? []) book.multiLegOrders.push(order)
}

/** Lets resting multi-leg orders with a leg in this book take what its market offers now. */
export function sweepMultiLeg(context: CommandContext, book: OrderBook): void {
  for (const order of book.multiLegOrders.slice()) {
    if (isLive(order) && mayTradeMultiLeg(order)) for (const step of plan(order)) fillMultiLeg(context, order, step)
  }
}

/** Whether every leg trades now. */
export function mayTradeMultiLeg(order: Order): boolean {
  return (order.legs ?? []).every(({ book }) => !book.halted && !book.over && book.market.phase === 'open')
}

/** The liquidity available to a multi-leg order, best first. Changes nothing. */
function plan(order: Order): readonly Step[] {
  const { limit, buy } = order
  const sides = (order.legs ?? []).map(leg => new Side(leg, limit === null))
  const steps: Step[] = []
  const most = mostFor(order)
  for (let left = leaves(order); left > 0n; ) {
    const levels: ExternalLevel[] = []
    let [quantity, net, bought] = [left, 0n, 0n]
    for (const side of sides) {
      const level = side.level()
      if (level === undefined) return steps
      levels.push(level)
      quantity = min(quantity, side.available(level))
      if (side.leg.buy) bought += level.price * side.leg.ratio
      net += (side.leg.buy === buy ? level.price : -level.price) * side.leg.ratio
    }
    if ((limit !== null && !within(net, limit, buy)) || (most !== null && bought > most)) return steps
    steps.push({ quantity, net, levels })
    for (const side of sides) side.take(quantity)
    left -= quantity
  }
  return steps
}

/** The most that the bought legs may cost, where it was reserved at acceptance: in accounts without margin. */
function mostFor({ account, need, quantity, carried, book }: Order): Price | null {
  if (account.accountType === 'margin' || quantity === null) return null
  return need / ((quantity - carried) * book.spec.multiplier)
}

/** The displayed levels that one leg can take from, as a plan uses them up. */
class Side {
  readonly leg: Leg
  readonly #levels: readonly ExternalLevel[]
  readonly #worst: Price | null
  #at = 0
  #taken = 0n

  constructor(leg: Leg, collared: boolean) {
    this.leg = leg
    this.#levels = leg.buy ? leg.book.externalAsks : leg.book.externalBids
    this.#worst = collared ? collarOf(leg.book, leg.buy) : null
  }

  /** The best level that has enough left for one spread. */
  level(): ExternalLevel | undefined {
    for (let level = this.#levels[this.#at]; level !== undefined; level = this.#levels[++this.#at], this.#taken = 0n) {
      if (this.#worst !== null && !within(level.price, this.#worst, this.leg.buy)) return undefined
      if (this.available(level) > 0n) return level
    }
    return undefined
  }

  available(level: ExternalLevel): Quantity {
    return floorTo((level.left - this.#taken) / this.leg.ratio, ONE)
  }

  take(units: Quantity): void {
    this.#taken += units * this.leg.ratio
  }
}

function fillMultiLeg(context: CommandContext, order: Order, { quantity, net, levels }: Step): void {
  const { account, book } = order
  const { now } = context.state
  const { id: execId } = context.nextId('exec')
  const parts = (order.legs ?? []).map((leg, at) =>
    fillLeg(leg, { quantity, level: levels[at], view: { orderId: order.id, at: now, execId: `${execId}-${at + 1}` } })
  )
  const fee = parts.reduce((sum, part) => sum + part.fee, 0n)
  const view: FillView = {
    execId,
    orderId: order.id,
    at: now,
    quantity: formatScaled(quantity),
    price: formatScaled(net),
    fee: formatMoney(fee),
    venue: 'STREET'
  }
  order.filled += quantity
  order.traded += quantity * net * book.spec.multiplier
  order.fees += fee
  order.fills.push(view)
  order.lastFillAt = now
  order.updatedAt = now
  const left = leaves(order)
  if (left === 0n) close(context, order, 'filled')
  else {
    order.state = 'partial'
    hold(order, holdingOf(account, book, now), left)
  }
  for (const { leg } of parts) context.touch(account, leg.book.symbol)
  context.order(order, 'fill', view)
  for (const { leg, ...trade } of parts) {
    enterTrade(context, account, { book: leg.book, buy: leg.buy, ...trade, orderId: order.id, street: true })
  }
}

interface LegFill {
  readonly quantity: Quantity
  readonly level: ExternalLevel | undefined
  readonly view: Pick<FillView, 'orderId' | 'at' | 'execId'>
}

function fillLeg(leg: Leg, { quantity: units, level, view }: LegFill) {
  const { book, buy } = leg
  const price = level?.price ?? 0n
  const quantity = units * leg.ratio
  const value = quantity * price * book.spec.multiplier
  if (level !== undefined) level.left -= quantity
  leg.traded += value
  const fee = roundToCents(feeOf(leg.traded, buy ? book.spec.buyFee : book.spec.sellFee)) - leg.fees
  leg.fees += fee
  const { execId, orderId, at } = view
  leg.fills.push({
    execId,
    orderId,
    at,
    quantity: formatScaled(quantity),
    price: formatScaled(price),
    fee: formatMoney(fee),
    venue: 'STREET'
  })
  book.mark ??= price
  return { leg, quantity, price, value, fee, execId }
}
