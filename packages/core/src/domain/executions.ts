// Which executions an order can have, and how many.
import { type Decimal, isPositive, plus, sum, times } from './decimal.ts'
import type { Fill } from './order.ts'
import type { Instrument } from './vocabulary.ts'

/**
 * Most executions stored of one order, or of one of its legs. An order is stored and published whole, so without a bound the broker would
 * decide what that costs. Reports beyond it are not applied: the order stays as it was, with an alarm.
 */
export const FILLS_MAX = 5_000

/** Futures have traded below zero, and the price of a multi-leg order is a difference. */
const BELOW_ZERO: ReadonlySet<Instrument> = new Set(['FUT', 'MLEG_OPT'])

/** Why executions cannot be true or cannot be stored. The report that has them is unreliable as a whole. */
export type ExecutionFault = 'impossible_fill' | 'too_many_fills'

/** What is wrong with a list of executions; null if nothing is. */
export function faultOf(fills: readonly Pick<Fill, 'quantity' | 'price'>[], instrument: Instrument): ExecutionFault | null {
  if (fills.length > FILLS_MAX) return 'too_many_fills'
  const isPossible = fills.every(({ quantity, price }) => isPositive(quantity) && mayCost(price, instrument))
  return isPossible ? null : 'impossible_fill'
}

/** Whether the instrument can trade at the price. */
export function mayCost(price: Decimal, instrument: Instrument): boolean {
  return !price.startsWith('-') || mayBeNegative(instrument)
}

/** Whether the instrument can have prices below zero. */
export function mayBeNegative(instrument: Instrument): boolean {
  return BELOW_ZERO.has(instrument)
}

// Fills are immutable and mostly grow at the end, so totals are carried over instead of summed again.
const totals = new WeakMap<readonly Fill[], Decimal>()
const values = new WeakMap<readonly Fill[], Decimal>()

/** The sum of the quantities. */
export function quantityOf(fills: readonly Fill[]): Decimal {
  const known = totals.get(fills)
  if (known !== undefined) return known
  const total = sum(fills.map(fill => fill.quantity))
  totals.set(fills, total)
  return total
}

/** The sum of price × quantity. */
export function amountOf(fills: readonly Fill[]): Decimal {
  const known = values.get(fills)
  if (known !== undefined) return known
  const value = sum(fills.map(paid))
  values.set(fills, value)
  return value
}

function paid({ quantity, price }: Fill): Decimal {
  return times(quantity, price)
}

/** `fills` followed by `newFills`. */
export function appended(fills: readonly Fill[], newFills: readonly Fill[]): readonly Fill[] {
  const all = [...fills, ...newFills]
  totals.set(all, plus(quantityOf(fills), sum(newFills.map(fill => fill.quantity))))
  values.set(all, plus(amountOf(fills), sum(newFills.map(paid))))
  return all
}

/** The fills of `reported` that are not in `known`, each id once. */
export function fillsNotIn(reported: readonly Fill[], known: readonly Fill[]): readonly Fill[] {
  const [first] = reported
  // Most messages have one fill, which is not worth an index.
  if (first === undefined || reported.length === 1) return known.some(({ fillId }) => fillId === first?.fillId) ? [] : reported
  // A broker that repeats an order's executions lists those that are known first, and mostly nothing else.
  let repeated = 0
  while (repeated < reported.length && repeated < known.length && reported[repeated]?.fillId === known[repeated]?.fillId) repeated += 1
  if (repeated === reported.length) return []
  const ids = new Set(known.map(({ fillId }) => fillId))
  const newFills: Fill[] = []
  for (const fill of reported) {
    const { fillId } = fill
    if (ids.has(fillId)) continue
    ids.add(fillId)
    newFills.push(fill)
  }
  return newFills
}
