/**
 * The margin of an account's options, by underlying: Reg-T for margin accounts, full cover for cash accounts.
 *
 * It counts against cash and shares, as if long options were worthless, so it includes a short's market value (its premium).
 *
 * - A naked short: premium, plus the greater of 20 % of the underlying less the out-of-the-money amount, and 10 % (of the underlying for
 *   calls, of the strike for puts). 15 % instead of 20 % for contracts settled in cash, which are on indices.
 * - A short call covered by held shares: its premium only, which equity has lost already.
 * - A short covered by a long of the same right that expires no earlier: the loss between the strikes, zero if the long's strike is better.
 * - Shorts are covered by risk (calls from the lowest strike, puts from the highest), each by the cheapest cover; of longs with equal cost,
 *   the one that expires first, then the one held first. So more cover never costs more, and more shorts never cost less.
 * - Calls and puts of one expiration cannot both lose unless a short put's strike is above a short call's: of the greatest call risk and
 *   the greatest put risk only the greater counts, then of the next ones, and so on. So an iron condor needs its wider side.
 * - Cash accounts: shares must cover a short call, and a short put needs its strike in cash; longs cover nothing.
 */
import { type Account, closes, type Holding, type OptionSpec, type Order, type OrderBook } from './state.ts'
import { floorTo, type Money, max, min, ONE, type Price, type Quantity } from './units.ts'

const BPS = 10_000n
const SHARE_RATE = 2_000n
const INDEX_RATE = 1_500n
const FLOOR_RATE = 1_000n
/**
 * Up to this many live multi-leg orders on one underlying, every combination of filled and unfilled is tried; beyond, they are taken one by
 * one.
 */
const COMBINED_MAX = 3

export interface OptionNeeds {
  readonly now: Money
  /**
   * The figures if live orders filled in the worst way: every sale alone and no purchase; multi-leg orders whole or not at all, with their
   * payments. Never less than `now`.
   */
  readonly worst: Money
  /** In the worst case: calls of a cash account that shares do not cover. */
  readonly uncovered: Quantity
}

interface Requirement {
  readonly need: Money
  readonly uncovered: Quantity
}

/** Positions on one underlying: contracts by their book, and shares of it. */
interface Lots {
  readonly contracts: Map<OrderBook, Quantity>
  readonly shares: Quantity
}

interface Long {
  readonly option: OptionSpec
  left: Quantity
}

/** Part of a short position after cover: the certain loss, and the possible one. Money of one contract, in billionths. */
interface Piece {
  readonly option: OptionSpec
  readonly lost: Price
  readonly risk: Price
  readonly quantity: Quantity
}

const NONE: OptionNeeds = { now: 0n, worst: 0n, uncovered: 0n }

export function optionNeeds(account: Account): OptionNeeds {
  if (account.options.size === 0) return NONE
  let [now, worst, uncovered] = [0n, 0n, 0n]
  for (const [underlying, holdings] of account.options) {
    const held = requirement(account, lotsOf(account, underlying, holdings))
    const then = hasLive(account, underlying, holdings) ? worstOf(account, underlying, holdings) : held
    now += held.need
    worst += max(held.need, then.need)
    uncovered += max(held.uncovered, then.uncovered)
  }
  return { now, worst, uncovered }
}

function hasLive(account: Account, underlying: string, holdings: readonly Holding[]): boolean {
  const sales = account.holdings.get(underlying)?.sells.quantity ?? 0n
  return sales > 0n || holdings.some(({ buys, sells }) => buys.quantity > 0n || sells.quantity > 0n)
}

function worstOf(account: Account, underlying: string, holdings: readonly Holding[]): Requirement {
  const multiLegOrders = [...account.multiLegOrders].filter(
    order => order.heldQuantity > 0n && order.book.spec.option?.underlying === underlying
  )
  const lots = lotsOf(account, underlying, holdings)
  for (const { book, sells } of holdings) add(lots, book, -sells.quantity)
  for (const order of multiLegOrders) for (const leg of order.legs ?? []) if (!leg.buy) add(lots, leg.book, order.heldQuantity * leg.ratio)
  const shares = lots.shares - (account.holdings.get(underlying)?.sells.quantity ?? 0n)
  const base = { contracts: lots.contracts, shares }
  return multiLegOrders.length <= COMBINED_MAX ? worstCombination(account, base, multiLegOrders) : oneByOne(account, base, multiLegOrders)
}

function worstCombination(account: Account, base: Lots, multiLegOrders: readonly Order[]): Requirement {
  let [need, uncovered] = [0n, 0n]
  for (let filled = 0; filled < 1 << multiLegOrders.length; filled++) {
    const lots = { contracts: new Map(base.contracts), shares: base.shares }
    let paid = 0n
    for (const [at, order] of multiLegOrders.entries()) {
      if ((filled & (1 << at)) === 0) continue
      for (const leg of order.legs ?? []) add(lots, leg.book, signed(leg.buy, order.heldQuantity * leg.ratio))
      paid += order.heldReserve
    }
    const found = requirement(account, lots)
    need = max(need, found.need + paid)
    uncovered = max(uncovered, found.uncovered)
  }
  return { need, uncovered }
}

/**
 * Each multi-leg order beside the rest, with its own cover only: before it fills with the contracts it closes, afterwards with those it
 * opens.
 */
function oneByOne(account: Account, base: Lots, multiLegOrders: readonly Order[]): Requirement {
  let [need, uncovered] = [0n, 0n]
  const rest = { contracts: new Map(base.contracts), shares: base.shares }
  for (const order of multiLegOrders) {
    const before: Lots = { contracts: new Map(), shares: 0n }
    const after: Lots = { contracts: new Map(), shares: 0n }
    for (const { book, side, buy, ratio } of order.legs ?? []) {
      const units = signed(buy, order.heldQuantity * ratio)
      add(closes(side) ? before : after, book, closes(side) ? -units : units)
      if (closes(side)) add(rest, book, units)
    }
    const [now, then] = [requirement(account, before), requirement(account, after)]
    need += max(now.need, then.need + order.heldReserve)
    uncovered += max(now.uncovered, then.uncovered)
  }
  const others = requirement(account, rest)
  return { need: need + others.need, uncovered: uncovered + others.uncovered }
}

function lotsOf(account: Account, underlying: string, holdings: readonly Holding[]): Lots {
  const contracts = new Map<OrderBook, Quantity>()
  for (const { book, quantity } of holdings) if (quantity !== 0n) contracts.set(book, quantity)
  return { contracts, shares: account.holdings.get(underlying)?.quantity ?? 0n }
}

function add({ contracts }: Lots, book: OrderBook, units: Quantity): void {
  contracts.set(book, (contracts.get(book) ?? 0n) + units)
}

function signed(buy: boolean, units: Quantity): Quantity {
  return buy ? units : -units
}

function requirement(account: Account, { contracts, shares }: Lots): Requirement {
  const longs: Long[] = []
  const shorts: { readonly book: OrderBook; readonly option: OptionSpec; readonly quantity: Quantity }[] = []
  for (const [book, quantity] of contracts) {
    const { option } = book.spec
    if (option === null || quantity === 0n) continue
    if (quantity > 0n) longs.push({ option, left: quantity })
    else shorts.push({ book, option, quantity: -quantity })
  }
  if (shorts.length === 0) return { need: 0n, uncovered: 0n }
  shorts.sort((a, b) => byDanger(a.option, b.option))
  if (account.accountType !== 'margin') return fullCover(shorts, shares)
  longs.sort((a, b) => byExpiration(a.option, b.option))
  const pieces: Piece[] = []
  let free = max(0n, shares)
  for (const { book, option, quantity } of shorts) {
    const { multiplier } = book.spec
    for (let left = quantity; left > 0n; ) {
      const covered = option.call ? floorTo(free / multiplier, ONE) : 0n
      const { cover, part, lost, risk } = cheapest(book, option, { left, covered, longs })
      if (cover === 'shares') free -= part * multiplier
      else if (cover !== null) cover.left -= part
      pieces.push({ option, lost: lost * multiplier, risk: risk * multiplier, quantity: part })
      left -= part
    }
  }
  return { need: sumOf(pieces), uncovered: 0n }
}

function fullCover(
  shorts: readonly { readonly book: OrderBook; readonly option: OptionSpec; readonly quantity: Quantity }[],
  shares: Quantity
) {
  let [need, uncovered, free] = [0n, 0n, max(0n, shares)]
  for (const { book, option, quantity } of shorts) {
    const { multiplier } = book.spec
    if (!option.call) {
      need += quantity * option.strike * multiplier
      continue
    }
    const covered = min(quantity, floorTo(free / multiplier, ONE))
    free -= covered * multiplier
    uncovered += quantity - covered
  }
  return { need, uncovered }
}

interface Cover {
  readonly cover: Long | 'shares' | null
  readonly part: Quantity
  readonly lost: Price
  readonly risk: Price
}

interface Choice {
  readonly left: Quantity
  /** Contracts that free shares could cover. */
  readonly covered: Quantity
  readonly longs: readonly Long[]
}

function cheapest(book: OrderBook, option: OptionSpec, { left, covered, longs }: Choice): Cover {
  const premium = book.mark ?? 0n
  let best: Cover = { cover: null, part: left, lost: premium, risk: nakedRisk(book, option) }
  if (covered > 0n) best = { cover: 'shares', part: min(left, covered), lost: premium, risk: 0n }
  for (const long of longs) {
    if (long.left === 0n || long.option.call !== option.call || long.option.expiration < option.expiration) continue
    const width = max(0n, option.call ? long.option.strike - option.strike : option.strike - long.option.strike)
    if (width < best.lost + best.risk) best = { cover: long, part: min(left, long.left), lost: 0n, risk: width }
  }
  return best
}

/**
 * Beyond the premium, per unit of the underlying. If the underlying has no price, such as an unlisted index, the premium's bound applies
 * to a call (strike and premium), and the strike to a put.
 */
function nakedRisk({ underlying, mark }: OrderBook, option: OptionSpec): Price {
  const { call, strike, physical } = option
  const price = underlying?.mark ?? (call ? strike + (mark ?? 0n) : strike)
  const outOfTheMoney = max(0n, call ? strike - price : price - strike)
  const usual = shareUp(price, physical ? SHARE_RATE : INDEX_RATE) - outOfTheMoney
  return max(usual, shareUp(call ? price : strike, FLOOR_RATE))
}

function shareUp(price: Price, bps: bigint): Price {
  return (price * bps + BPS - 1n) / BPS
}

/** The losses and risks, with calls offset against puts within each expiration where prices cannot go against both. */
function sumOf(pieces: readonly Piece[]): Money {
  let sum = 0n
  for (const { lost, quantity } of pieces) sum += lost * quantity
  for (const expiration of new Set(pieces.map(piece => piece.option.expiration))) {
    const there = pieces.filter(piece => piece.option.expiration === expiration)
    const calls = there.filter(piece => piece.option.call).sort(byRisk)
    const puts = there.filter(piece => !piece.option.call).sort(byRisk)
    sum += apart(calls, puts) ? greaterOf(calls, puts) : riskOf(calls) + riskOf(puts)
  }
  return sum
}

function apart(calls: readonly Piece[], puts: readonly Piece[]): boolean {
  return puts.every(put => calls.every(call => put.option.strike <= call.option.strike))
}

function riskOf(pieces: readonly Piece[]): Money {
  return pieces.reduce((sum, { risk, quantity }) => sum + risk * quantity, 0n)
}

function greaterOf(calls: readonly Piece[], puts: readonly Piece[]): Money {
  let sum = 0n
  let [callAt, putAt] = [0, 0]
  let [callLeft, putLeft] = [calls[0]?.quantity ?? 0n, puts[0]?.quantity ?? 0n]
  for (let call = calls[0], put = puts[0]; call !== undefined || put !== undefined; ) {
    const part = call === undefined ? putLeft : put === undefined ? callLeft : min(callLeft, putLeft)
    sum += max(call?.risk ?? 0n, put?.risk ?? 0n) * part
    if (call !== undefined) callLeft -= part
    if (put !== undefined) putLeft -= part
    if (call !== undefined && callLeft === 0n) {
      call = calls[++callAt]
      callLeft = call?.quantity ?? 0n
    }
    if (put !== undefined && putLeft === 0n) {
      put = puts[++putAt]
      putLeft = put?.quantity ?? 0n
    }
  }
  return sum
}

function byRisk(a: Piece, b: Piece): number {
  return a.risk === b.risk ? 0 : a.risk > b.risk ? -1 : 1
}

function byDanger(a: OptionSpec, b: OptionSpec): number {
  if (a.call !== b.call) return a.call ? -1 : 1
  if (a.strike !== b.strike) return a.strike < b.strike === a.call ? -1 : 1
  return byExpiration(a, b)
}

function byExpiration(a: OptionSpec, b: OptionSpec): number {
  return a.expiration === b.expiration ? 0 : a.expiration < b.expiration ? -1 : 1
}
