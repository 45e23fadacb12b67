/**
 * The worth of an account, the margin of its positions, and the holds of its live orders. Shares: Reg-T in margin accounts, cash in full in
 * the others. Futures: the money per contract in their terms. Options: see `option-margin.ts`.
 */
import { optionNeeds } from './option-margin.ts'
import { collarOf, reservePrice } from './pricing.ts'
import { type Account, closes, type Holding, type Leg, type Order, type Pending } from './state.ts'
import { abs, ceilToCents, divideUp, feeOf, type Money, max, min, type Quantity, shareOf } from './units.ts'

export interface Worth {
  readonly longValue: Money
  /** Zero or negative. */
  readonly shortValue: Money
  readonly equity: Money
  readonly initial: Money
  readonly maintenance: Money
  /** Available for the margin of new positions (or their full price, without margin), before live orders. */
  readonly excess: Money
  /** The part of it that live orders hold. */
  readonly reserved: Money
  /** Calls of a cash account that shares would not cover if all live orders filled. */
  readonly uncovered: Quantity
}

export function worthOf(account: Account): Worth {
  let [longValue, shortValue, optionValue, initial, maintenance, reserved] = [0n, 0n, 0n, 0n, 0n, account.flatReserve]
  const onMargin = account.accountType === 'margin' || account.accountType === 'futures'
  for (const holding of account.holdings.values()) {
    reserved += holdingReserve(holding)
    const { spec } = holding.book
    const value = spec.future === null ? marketValue(holding) : openProfit(holding)
    if (spec.future !== null) {
      const contracts = abs(holding.quantity)
      initial += contracts * spec.future.initial
      maintenance += contracts * spec.future.maintenance
    }
    if (value === 0n) continue
    if (value > 0n) longValue += value
    else shortValue += value
    if (!onMargin || spec.future !== null) continue
    if (spec.option !== null) {
      optionValue += value
      continue
    }
    const size = value < 0n ? -value : value
    initial += shareOf(size, spec.initial)
    maintenance += shareOf(size, value > 0n ? spec.maintenanceLong : spec.maintenanceShort)
  }
  const { now, worst, uncovered } = optionNeeds(account)
  reserved += worst - now
  // Options have no loan value: their worth is required in full, plus their margin.
  if (onMargin) {
    initial += optionValue + now
    maintenance += optionValue + now
  }
  const equity = account.cash + longValue + shortValue
  const excess = onMargin ? equity - initial : account.cash - account.unsettledSum - now
  return { longValue, shortValue, equity, initial, maintenance, excess, reserved, uncovered }
}

/** Profit or loss of a future since it was last settled, which is its whole worth. */
function openProfit(holding: Holding): Money {
  return marketValue(holding) - holding.cost
}

/** Signed market value of a holding; for a future, its notional value. */
export function marketValue(holding: Holding): Money {
  return holding.quantity === 0n ? 0n : holding.quantity * (holding.book.mark ?? 0n) * holding.book.spec.multiplier
}

/** The leverage of money: Reg-T's 50 % doubles it. */
export function purchasePower(account: Account, funds: Money): Money {
  return funds <= 0n ? 0n : account.accountType === 'margin' ? funds * 2n : funds
}

/**
 * The hold of one symbol's live orders: of each side only the part that would open or enlarge a position. Both sequences in which the sides
 * can fill are considered, and the more expensive one counts; what fills first is closed by the other side, as far as that goes.
 */
function holdingReserve({ quantity, buys, sells }: Holding): Money {
  if (buys.quantity === 0n) return openingShare(sells, quantity)
  if (sells.quantity === 0n) return openingShare(buys, -quantity)
  return max(
    openingShare(sells, quantity) + openingShare(buys, sells.quantity - quantity),
    openingShare(buys, -quantity) + openingShare(sells, quantity + buys.quantity)
  )
}

function openingShare(pending: Pending, closes: Quantity): Money {
  if (pending.quantity === 0n || closes <= 0n) return pending.reserve
  const opening = pending.quantity - closes
  return opening <= 0n ? 0n : (pending.reserve * opening + pending.quantity - 1n) / pending.quantity
}

/**
 * Sets what the order would hold in full, at today's prices. It is fixed for the order's life, so that an accepted order stays accepted.
 */
export function setNeeds(order: Order, quantity: Quantity): void {
  const { account, book, buy } = order
  const price = reservePrice(order, quantity)
  const wanted = quantity * price * book.spec.multiplier
  // A notional purchase at a worse price buys fewer units, none of which is cheaper.
  const capped = order.notionalLeft !== null && buy && order.notionalLeft < wanted ? order.notionalLeft : null
  const value = capped ?? wanted
  const units = capped === null ? quantity : capped / (price * book.spec.multiplier)
  const marked = units * (book.mark ?? price) * book.spec.multiplier
  if (book.spec.option !== null) {
    setOptionNeeds(order, value)
    return
  }
  order.feeNeed = opens(order, quantity) ? ceilToCents(feeOf(value, buy ? book.spec.buyFee : book.spec.sellFee)) : 0n
  const loss = buy ? value - marked : marked - value
  if (book.spec.future !== null) {
    order.need = quantity * book.spec.future.initial + max(0n, loss)
    return
  }
  if (account.accountType !== 'margin') {
    order.need = buy ? value : 0n
    return
  }
  // After the fill the position needs its margin on the mark, and the difference between mark and price is lost immediately.
  order.need = max(shareOf(value, book.spec.initial), shareOf(marked, book.spec.initial) + loss)
}

/**
 * A purchase holds its premium. A sale holds nothing itself: its margin follows from the positions. Closing never needs more than it frees.
 */
function setOptionNeeds(order: Order, value: Money): void {
  const { account, book, buy, side } = order
  order.feeNeed = closes(side) ? 0n : ceilToCents(feeOf(value, buy ? book.spec.buyFee : book.spec.sellFee))
  if (side === 'BUY_TO_OPEN') order.need = value
  else if (side === 'BUY_TO_CLOSE' && account.accountType !== 'margin') order.need = max(0n, value - securedBy(order))
  else order.need = 0n
}

/** The money that a cash account has reserved for the shorts that it buys back. */
function securedBy({ book, quantity }: Order): Money {
  const { option, multiplier } = book.spec
  return option === null || option.call ? 0n : (quantity ?? 0n) * option.strike * multiplier
}

/**
 * The worst net cost of a multi-leg order (what it pays at most, or receives at least), and its fees. Without margin, proceeds settle too
 * late to pay with, so the bought legs count in full, at quotes; if they cost more than was held, the multi-leg order does not fill.
 */
export function setMultiLegNeeds(order: Order, quantity: Quantity): void {
  const { account, buy, limit } = order
  const legs = order.legs ?? []
  let [net, bought, fees] = [0n, 0n, 0n]
  for (const leg of legs) {
    const price = collarOf(leg.book, leg.buy) ?? 0n
    const { multiplier, buyFee, sellFee } = leg.book.spec
    net += (leg.buy ? price : -price) * leg.ratio
    if (leg.buy) bought += price * leg.ratio
    if (!closes(leg.side)) fees += ceilToCents(feeOf(quantity * leg.ratio * price * multiplier, leg.buy ? buyFee : sellFee))
  }
  if (limit !== null) net = buy ? limit : -limit
  // If every leg is bought, the net price is the full cost.
  if (account.accountType !== 'margin') net = legs.every(leg => leg.buy) ? max(0n, net) : bought
  order.need = net * quantity * order.book.spec.multiplier
  order.feeNeed = fees
}

/** Adjusts the order's hold to its open quantity. Call after every change of the order. */
export function hold(order: Order, holding: Holding, left: Quantity): void {
  if (order.book.spec.option !== null) {
    holdOption(order, left)
    return
  }
  const { account } = order
  const pending = order.buy ? holding.buys : holding.sells
  const whole = order.quantity === null ? 0n : order.quantity - order.carried
  const reserve = left === whole && order.filled === 0n ? order.need : remainder(order, left, whole)
  const fees = left === 0n ? 0n : max(0n, order.feeNeed - order.fees)
  pending.quantity += left - order.heldQuantity
  pending.reserve += reserve - order.heldReserve
  account.flatReserve += fees - order.heldFees
  order.heldQuantity = left
  order.heldReserve = reserve
  order.heldFees = fees
}

function holdOption(order: Order, left: Quantity): void {
  const { account, legs } = order
  const more = left - order.heldQuantity
  if (legs === null) pend(account, order, more)
  else for (const leg of legs) pend(account, leg, more * leg.ratio)
  const whole = (order.quantity ?? 0n) - order.carried
  const reserve = left === 0n ? 0n : divideUp(order.need * left, whole)
  const fees = left === 0n ? 0n : max(0n, order.feeNeed - order.fees)
  // A multi-leg order's money is counted together with the margin of its legs.
  account.flatReserve += fees - order.heldFees + (legs === null ? reserve - order.heldReserve : 0n)
  order.heldQuantity = left
  order.heldReserve = reserve
  order.heldFees = fees
}

function pend(account: Account, { book, buy }: Pick<Leg, 'book' | 'buy'>, units: Quantity): void {
  const holding = account.holdings.get(book.symbol)
  if (holding === undefined) return
  const pending = buy ? holding.buys : holding.sells
  pending.quantity += units
}

/** The unfilled part's share of the hold: by units, or by money if that is less. */
function remainder(order: Order, left: Quantity, whole: Quantity): Money {
  if (left === 0n) return 0n
  const byUnits = (order.need * left + whole - 1n) / whole
  if (order.notionalLeft === null || !order.buy) return byUnits
  const total = order.notionalLeft + order.traded
  return min(byUnits, (order.need * order.notionalLeft + total - 1n) / total)
}

/** Whether part of the order would open or enlarge a position, given the account's other live orders. */
export function opens(order: Order, quantity: Quantity): boolean {
  const holding = order.account.holdings.get(order.book.symbol)
  if (holding === undefined) return true
  const others = (order.buy ? holding.buys : holding.sells).quantity - order.heldQuantity
  return others + quantity > (order.buy ? -holding.quantity : holding.quantity)
}

/** Units that can be sold without opening a short: the position less the account's other live sales. */
export function sellable(holding: Holding | undefined): Quantity {
  if (holding === undefined) return 0n
  return max(0n, holding.quantity - holding.sells.quantity)
}
