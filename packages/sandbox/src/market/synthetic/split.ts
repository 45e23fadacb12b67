/** Splits a bar into consecutive smaller ones that add up to it exactly, so that all intervals agree with each other. */

/** Prices in ticks, volume in units: integers. `high` and `low` contain `open` and `close`. */
export interface Shape {
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly volume: number
}

/** A draw of 32 bits for the `index`-th part; `what` distinguishes draws for different purposes. */
export type Draws = (index: number, what: number) => number

const WANDER = 0
const WICK_UP = 1
const WICK_DOWN = 2
const WEIGHT = 3

/**
 * `count` consecutive bars: each opens where the previous one closed, the highest reaches the whole's high and the lowest its low, and the
 * volumes add up, none below `volumeMin` (the whole must have that much).
 */
export function split(whole: Shape, count: number, volumeMin: number, draws: Draws): readonly Shape[] {
  const points = wander(whole, count + 1, draws)
  const reach = reachOf(whole, count)
  const volumes = portions(whole.volume, count, volumeMin, draws)
  // A history of days splits hundreds of thousands of parts, so each is a single object, without intermediate lists.
  const parts: { open: number; high: number; low: number; close: number; volume: number }[] = []
  let [highest, lowest] = [0, 0]
  let [top, bottom] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (let index = 0; index < count; index += 1) {
    const open = points[index] ?? whole.open
    const close = points[index + 1] ?? whole.close
    const upper = Math.max(open, close)
    const lower = Math.min(open, close)
    // At most halfway to the whole's extremes, which only one part reaches.
    const high = upper + (draws(index, WICK_UP) % (Math.min(reach, (whole.high - upper) >> 1) + 1))
    const low = lower - (draws(index, WICK_DOWN) % (Math.min(reach, (lower - whole.low) >> 1) + 1))
    parts.push({ open, high, low, close, volume: volumes[index] ?? 0 })
    if (high > top) [highest, top] = [index, high]
    if (low < bottom) [lowest, bottom] = [index, low]
  }
  const [peak, trough] = [parts[highest], parts[lowest]]
  if (peak !== undefined) peak.high = whole.high
  if (trough !== undefined) trough.low = whole.low
  return parts
}

/**
 * `count` (four or more) prices from open to close within the bar, including its high and its low.
 * @returns the prices, and the indexes of the two extremes
 */
export function prices(
  whole: Shape,
  count: number,
  draws: Draws
): { readonly path: readonly number[]; readonly high: number; readonly low: number } {
  const path = [...wander(whole, count, draws)]
  const inner = path.slice(1, -1)
  const high = 1 + furthest(inner, (a, b) => a > b)
  const lowest = 1 + furthest(inner, (a, b) => a < b)
  // A flat range has its high and its low at the same index.
  const low = lowest === high ? (high === 1 ? 2 : high - 1) : lowest
  path[high] = whole.high
  path[low] = whole.low
  return { path, high, low }
}

/** `total` in `count` integer parts, each at least `least`. */
export function portions(total: number, count: number, least: number, draws: Draws): readonly number[] {
  const weights: number[] = []
  let sum = 0
  for (let index = 0; index < count; index += 1) {
    const weight = 64 + (draws(index, WEIGHT) % 193)
    weights.push(weight)
    sum += weight
  }
  const spare = total - count * least
  const parts: number[] = []
  let rest = total
  for (const weight of weights) {
    const part = parts.length === count - 1 ? rest : least + Math.floor((spare * weight) / sum)
    parts.push(part)
    rest -= part
  }
  return parts
}

/** A walk of `count` prices from open to close that stays inside; the closer it is to its end, the more it is drawn there. */
function wander(whole: Shape, count: number, draws: Draws): readonly number[] {
  const reach = reachOf(whole, count)
  const points = [whole.open]
  let price = whole.open
  for (let index = 1; index < count - 1; index++) {
    const drift = Math.trunc((whole.close - price) / (count - index))
    const step = (draws(index, WANDER) % (2 * reach + 1)) - reach
    price = reflected(price + drift + step, whole)
    points.push(price)
  }
  points.push(whole.close)
  return points
}

/** Reflects a price that is out of range by some ticks. */
function reflected(price: number, { high, low }: Shape): number {
  const back = price > high ? 2 * high - price : price < low ? 2 * low - price : price
  return Math.min(high, Math.max(low, back))
}

/** The longest single step: after `count` of them a free walk has moved about a third of the bar's height. */
function reachOf({ high, low }: Shape, count: number): number {
  return Math.ceil(((high - low) * 5) / (9 * Math.max(1, Math.floor(Math.sqrt(count)))))
}

function furthest<Item>(items: readonly Item[], beyond: (a: Item, b: Item) => boolean): number {
  let best = 0
  for (let index = 1; index < items.length; index += 1) {
    const [item, current] = [items[index], items[best]]
    if (item !== undefined && current !== undefined && beyond(item, current)) best = index
  }
  return best
}
