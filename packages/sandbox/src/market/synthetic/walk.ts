/**
 * A symbol's price as a tree of bars: days of a slow, mean-reverting walk, each split into hours, minutes and single updates. Any moment of
 * any year can be computed directly, and every bar is exactly the sum of the updates below it.
 */

import type { Micros } from '../../engine/types.ts'
import { type DaySpan, daysOf } from '../day-starts.ts'
import { billionths } from '../lean/numbers.ts'
import { draw, keyOf } from './chance.ts'
import type { Profile } from './profiles.ts'
import { Recent } from './recent.ts'
import { portions, prices, type Shape, split } from './split.ts'

const HOUR: Micros = 3_600_000_000
const MINUTE: Micros = 60_000_000
const DAY: Micros = 86_400_000_000

/** Every minute prints at least its open, high, low and close. */
const PRINTS_MIN = 4
const MINUTE_VOLUME_MIN = PRINTS_MIN
const HOUR_VOLUME_MIN = 60 * MINUTE_VOLUME_MIN

export interface Node extends Shape {
  readonly start: Micros
  readonly end: Micros
}

/** One update: the price that the market moved to, and its trade. */
export interface Slot {
  readonly at: Micros
  readonly price: number
  /** Units traded; 0: only the quote moved. */
  readonly size: number
  /** Draws for the display of the quote. */
  readonly chance: number
}

/** A print comes this long after its quote. */
export const PRINT_DELAY: Micros = 1_000

// The purposes of draws: the levels of the tree must not share draws.
const LEVEL = 1
const RANGE = 2
const VOLUME = 3
const OF_DAY = 4
const OF_HOUR = 5
const OF_MINUTE = 6
const PRINT = 7
const LOOK = 8

// √2ⁿ in hundredths: a walk over 2ⁿ days moves that much further than over one.
const STRAY = [100, 141, 200, 283, 400, 566, 800, 1_131, 1_600]
/** No swing exceeds this many ten-thousandths of the base price; nine together leave more than a third of it. */
const SWING_MAX = 800

/** Minutes whose prices are cached: a day's, because all options of an underlying need the same ones. About a kilobyte each. */
const PATHS_MAX = 1_500
const HOURS_MAX = 26

export interface WalkOptions {
  /** Billionths. */
  readonly tick: bigint
  readonly zone: string
  /** Updates per second of a symbol with pace 1. */
  readonly rate: number
  /** The share of its usual volume that is traded on a day, by the start of the day. */
  readonly liquidity?: (day: Micros) => number
}

export class Walk {
  readonly #key: number
  readonly #profile: Profile
  readonly #base: number
  readonly #dayAt: (at: Micros) => DaySpan
  readonly #slots: number
  readonly #liquidity: (day: Micros) => number
  readonly #days = new Recent<Micros, Node>(4)
  readonly #hours = new Recent<Micros, readonly Node[]>(4)
  readonly #minutes = new Recent<Micros, readonly Node[]>(HOURS_MAX)
  readonly #paths = new Recent<Micros, readonly number[]>(PATHS_MAX)
  readonly #updates = new Recent<Micros, readonly Slot[]>(4)

  /** Walks of one seed and symbol with different volume and pace have bars of the same prices. */
  constructor(seed: string, profile: Profile, { tick, zone, rate, liquidity = () => 1 }: WalkOptions) {
    this.#key = keyOf(`${seed}/${profile.symbol}`)
    this.#profile = profile
    this.#base = Number(billionths(profile.price) / tick)
    this.#dayAt = daysOf(zone)
    this.#liquidity = liquidity
    this.#slots = Math.max(PRINTS_MIN, Math.round(60 * rate * profile.pace))
  }

  day(at: Micros): Node {
    const span = this.#dayAt(at)
    return this.#days.get(span.start, () => this.#makeDay(span))
  }

  /** The hours of a day, ascending. */
  hours(day: Node): readonly Node[] {
    return this.#hours.get(day.start, () => this.#cut(day, HOUR, HOUR_VOLUME_MIN, OF_DAY))
  }

  /** The minutes of an hour, ascending. */
  minutes(hour: Node): readonly Node[] {
    return this.#minutes.get(hour.start, () => this.#cut(hour, MINUTE, MINUTE_VOLUME_MIN, OF_HOUR))
  }

  /** The updates of a minute, ascending; their prints make the minute again. */
  slots(minute: Node): readonly Slot[] {
    return this.#updates.get(minute.start, () => this.#update(minute))
  }

  hourAt(at: Micros): Node {
    return within(this.hours(this.day(at)), at)
  }

  minuteAt(at: Micros): Node {
    return within(this.minutes(this.hourAt(at)), at)
  }

  /** The last update at or before an instant. */
  slotAt(at: Micros): Slot {
    const minute = this.minuteAt(at)
    const slot = this.slots(minute).findLast(candidate => candidate.at <= at) ?? this.slots(this.minuteAt(minute.start - 1)).at(-1)
    if (slot === undefined) throw new Error('a minute without updates')
    return slot
  }

  /** The price of the last update at or before an instant: that of {@link slotAt}, but much cheaper. */
  priceAt(at: Micros): number {
    const minute = this.minuteAt(at)
    const path = this.#paths.get(minute.start, () => prices(minute, this.#slots, this.#draws(OF_MINUTE, minute.start)).path)
    const width = MINUTE / this.#slots
    const index = Math.min(this.#slots - 1, Math.floor((at - minute.start) / width))
    const draws = this.#draws(OF_MINUTE, minute.start)
    const last = updateAt(minute.start, width, { index, chance: draws(index, LOOK) }) <= at ? index : index - 1
    // Every minute opens at the close of the previous one.
    return last < 0 ? minute.open : (path[last] ?? minute.open)
  }

  #makeDay({ start, end }: DaySpan): Node {
    const index = Math.floor(start / DAY)
    const open = this.#close(index - 1)
    const close = this.#close(index)
    const reach = Math.max(2, Math.floor((this.#base * this.#profile.volatility) / 20_000))
    const high = Math.max(open, close) + (draw(this.#key, RANGE, index, 0) % reach)
    const low = Math.min(open, close) - (draw(this.#key, RANGE, index, 1) % reach)
    // From 60 % to 140 % of the usual volume.
    const usual = this.#profile.volume * this.#liquidity(start)
    const volume = Math.floor((usual * (60 + (draw(this.#key, VOLUME, index) % 81))) / 100)
    const least = Math.ceil((end - start) / HOUR) * HOUR_VOLUME_MIN
    return { start, end, open, high, low: Math.max(1, low), close, volume: Math.max(volume, least) }
  }

  /** The close of a day: swings of one, two, four … days around the base price, each drawn at its ends and linear between them. */
  #close(index: number): number {
    let price = this.#base
    for (const [octave, stray] of STRAY.entries()) {
      const period = 2 ** octave
      const place = Math.floor(index / period)
      const into = index - place * period
      const value = this.#swing(octave, place) * (period - into) + this.#swing(octave, place + 1) * into
      const usual = Math.floor((this.#profile.volatility * stray * 7) / 1_000)
      price += Math.trunc((value * Math.floor((this.#base * Math.min(usual, SWING_MAX)) / 10_000)) / (32_768 * period))
    }
    return Math.max(1, price)
  }

  #swing(octave: number, place: number): number {
    return (draw(this.#key, LEVEL, octave, place) & 0xffff) - 32_768
  }

  #cut(whole: Node, length: Micros, volumeMin: number, purpose: number): readonly Node[] {
    const count = Math.max(1, Math.round((whole.end - whole.start) / length))
    const parts = split(whole, count, volumeMin, this.#draws(purpose, whole.start))
    return parts.map(({ open, high, low, close, volume }, index) => {
      const start = whole.start + index * length
      return { start, end: start + length, open, high, low, close, volume }
    })
  }

  #update(minute: Node): readonly Slot[] {
    const count = this.#slots
    const draws = this.#draws(OF_MINUTE, minute.start)
    const { path, high, low } = prices(minute, count, draws)
    const needed = new Set([0, high, low, count - 1])
    let spare = minute.volume - needed.size
    const printed = path.map((_, index) => {
      if (needed.has(index)) return true
      if (spare <= 0 || draws(index, PRINT) % 2 === 0) return false
      spare--
      return true
    })
    const sizes = portions(minute.volume, printed.filter(Boolean).length, 1, draws)
    const width = MINUTE / count
    let next = 0
    return path.map((price, index) => {
      const chance = draws(index, LOOK)
      const at = updateAt(minute.start, width, { index, chance })
      return { at, price, chance, size: printed[index] === true ? (sizes[next++] ?? 0) : 0 }
    })
  }

  #draws(purpose: number, start: Micros): (index: number, what: number) => number {
    const place = draw(this.#key, purpose, Math.floor(start / MINUTE))
    return (index, what) => draw(place, index, what)
  }
}

/** Each update has its own part of the minute, and is at a random instant within it. */
function updateAt(start: Micros, width: Micros, { index, chance }: { readonly index: number; readonly chance: number }): Micros {
  return start + Math.floor((index + 0.1 + (chance % 1_000) / 1_250) * width)
}

/** The first of consecutive equally long parts that ends after an instant. */
export function partAt(parts: readonly Node[], at: Micros): Node | undefined {
  const [first] = parts
  return first === undefined ? undefined : parts[Math.max(0, Math.floor((at - first.start) / (first.end - first.start)))]
}

function within(nodes: readonly Node[], at: Micros): Node {
  const node = partAt(nodes, at)
  if (node === undefined) throw new Error(`no part of the day contains ${at}`)
  return node
}
