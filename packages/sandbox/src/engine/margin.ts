/** What an account is worth, what its positions need, and what its live orders hold. Reg-T for margin accounts, cash in full for the others. */
import { reservePrice } from './pricing.ts'
import type { Account, Holding, Order, Pending } from './state.ts'
import { ceilToCents, feeOf, type Money, max, min, type Quantity, shareOf } from './units.ts'

export interface Worth {
  readonly longValue: Money
  /** Zero or negative. */
  readonly shortValue: Money
  readonly equity: Money
  readonly initial: Money
  readonly maintenance: Money
  /** What could be spent on new positions' margin (or in full, without margin) before live orders. */
  readonly excess: Money
  /** What live orders hold of it. */
  readonly reserved: Money
}

export function worthOf(account: Account): Worth {
  let [longValue, shortValue, initial, maintenance, reserved] = [0n, 0n, 0n, 0n, account.feeReserve]
  const onMargin = account.accountType === 'margin'
  for (const holding of account.holdings.values()) {
    reserved += holdingReserve(holding)
    const value = marketValue(holding)
    if (value === 0n) continue
    const { spec } = holding.book
    if (value > 0n) longValue += value
    else shortValue += value
    if (!onMargin) continue
    const size = value < 0n ? -value : value
    initial += shareOf(size, spec.initial)
    maintenance += shareOf(size, value > 0n ? spec.maintenanceLong : spec.maintenanceShort)
  }
  const equity = account.cash + longValue + shortValue
  const excess = onMargin ? equity - initial : account.cash - account.unsettledSum
  return { longValue, shortValue, equity, initial, maintenance, excess, reserved }
}

/** Signed market value of a holding. */
export function marketValue(holding: Holding): Money {
  return holding.quantity === 0n ? 0n : holding.quantity * (holding.book.mark ?? 0n) * holding.book.spec.multiplier
}

/** How far money stretches: Reg-T's 50 % makes two of one. */
export function purchasePower(account: Account, funds: Money): Money {
  return funds <= 0n ? 0n : account.accountType === 'margin' ? funds * 2n : funds
}

/**
 * What the live orders of one symbol hold: of each side only the part that would open or enlarge a position. The two sides are taken in the
 * dearer of the two orders in which they can fill; what fills first is closed by the other side, as far as that goes.
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

/** Settles what the order would hold in full, at today's prices; fixed for its life, so that what was accepted stays accepted. */
export function setNeeds(order: Order, quantity: Quantity): void {
  const { account, book, buy } = order
  const price = reservePrice(order, quantity)
  const wanted = quantity * price * book.spec.multiplier
  // A notional purchase at a worse price buys fewer units, and none of them cheaper.
  const capped = order.notionalLeft !== null && buy && order.notionalLeft < wanted ? order.notionalLeft : null
  const value = capped ?? wanted
  const units = capped === null ? quantity : capped / (price * book.spec.multiplier)
  const marked = units * (book.mark ?? price) * book.spec.multiplier
  order.feeNeed = opens(order, quantity) ? ceilToCents(feeOf(value, buy ? book.spec.buyFee : book.spec.sellFee)) : 0n
  if (account.accountType !== 'margin') {
    order.need = buy ? value : 0n
    return
  }
  // After the fill the position needs its share of the mark, and the distance from the mark to the price is lost at once.
  const loss = buy ? value - marked : marked - value
  order.need = max(shareOf(value, book.spec.initial), shareOf(marked, book.spec.initial) + loss)
}

/** Makes what the account holds for the order follow what is left of it. Call after every change of the order. */
export function hold(order: Order, holding: Holding, left: Quantity): void {
  const { account } = order
  const pending = order.buy ? holding.buys : holding.sells
  const whole = order.quantity === null ? 0n : order.quantity - order.carried
  const reserve = left === whole && order.filled === 0n ? order.need : remainder(order, left, whole)
  const fees = left === 0n ? 0n : max(0n, order.feeNeed - order.fees)
  pending.quantity += left - order.heldQuantity
  pending.reserve += reserve - order.heldReserve
  account.feeReserve += fees - order.heldFees
  order.heldQuantity = left
  order.heldReserve = reserve
  order.heldFees = fees
}

/** What the unfilled part of an order still needs: its share of the units, or of the money where that is less. */
function remainder(order: Order, left: Quantity, whole: Quantity): Money {
  if (left === 0n) return 0n
  const byUnits = (order.need * left + whole - 1n) / whole
  if (order.notionalLeft === null || !order.buy) return byUnits
  const budget = order.notionalLeft + order.traded
  return min(byUnits, (order.need * order.notionalLeft + budget - 1n) / budget)
}

/** Whether some of the order would open or enlarge a position, beside what the account's other live orders would do. */
export function opens(order: Order, quantity: Quantity): boolean {
  const holding = order.account.holdings.get(order.book.symbol)
  if (holding === undefined) return true
  const others = (order.buy ? holding.buys : holding.sells).quantity - order.heldQuantity
  return others + quantity > (order.buy ? -holding.quantity : holding.quantity)
}

/** Units a sale may take without opening a short: the position less what other live sales would take. */
export function sellable(holding: Holding | undefined): Quantity {
  if (holding === undefined) return 0n
  return max(0n, holding.quantity - holding.sells.quantity)
}
