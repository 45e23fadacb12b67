/**
 * A symbol's price as a tree of bars: days of a slow, mean-reverting walk, each cut into hours, minutes and single updates. Any moment of any
 * year can be asked for by itself, and every bar is exactly what the updates below it make.
 */

import type { Micros } from '../../engine/types.ts'
import { type DaySpan, daysOf } from '../day-starts.ts'
import { billionths } from '../lean/numbers.ts'
import { draw, keyOf } from './chance.ts'
import type { Profile } from './profiles.ts'
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

/** One update: the price the market moved to, and what traded there. */
export interface Slot {
  readonly at: Micros
  readonly price: number
  /** Units traded; 0: only the quote moved. */
  readonly size: number
  /** Draws for the look of the quote. */
  readonly chance: number
}

/** A print comes this long after the quote it happened at. */
export const PRINT_DELAY: Micros = 1_000

// What a draw is for: the levels of the tree must not share their chances.
const LEVEL = 1
const RANGE = 2
const VOLUME = 3
const OF_DAY = 4
const OF_HOUR = 5
const OF_MINUTE = 6
const PRINT = 7

// √2ⁿ in hundredths: a walk over 2ⁿ days strays so much farther than over one.
const STRAY = [100, 141, 200, 283, 400, 566, 800, 1_131, 1_600]
/** No swing is more than so many ten-thousandths of the base price; nine together leave more than a third of it. */
const SWING_MAX = 800

export class Walk {
  readonly #key: number
  readonly #profile: Profile
  readonly #base: number
  readonly #dayAt: (at: Micros) => DaySpan
  readonly #slots: number
  readonly #days = new Recent<Node>(4)
  readonly #hours = new Recent<readonly Node[]>(4)
  readonly #minutes = new Recent<readonly Node[]>(4)
  readonly #updates = new Recent<readonly Slot[]>(4)

  /** @param tick billionths; @param rate updates per second of a symbol with pace 1 */
  constructor(
    seed: string,
    profile: Profile,
    { tick, zone, rate }: { readonly tick: bigint; readonly zone: string; readonly rate: number }
  ) {
    this.#key = keyOf(`${seed}/${profile.symbol}`)
    this.#profile = profile
    this.#base = Number(billionths(profile.price) / tick)
    this.#dayAt = daysOf(zone)
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

  /** The updates of a minute, ascending; what they print makes the minute again. */
  slots(minute: Node): readonly Slot[] {
    return this.#updates.get(minute.start, () => this.#update(minute))
  }

  minuteAt(at: Micros): Node {
    const hour = within(this.hours(this.day(at)), at)
    return within(this.minutes(hour), at)
  }

  /** The last update at or before an instant. */
  slotAt(at: Micros): Slot {
    const minute = this.minuteAt(at)
    const slot = this.slots(minute).findLast(candidate => candidate.at <= at) ?? this.slots(this.minuteAt(minute.start - 1)).at(-1)
    if (slot === undefined) throw new Error('a minute without updates')
    return slot
  }

  #makeDay({ start, end }: DaySpan): Node {
    const index = Math.floor(start / DAY)
    const open = this.#close(index - 1)
    const close = this.#close(index)
    const reach = Math.max(2, Math.floor((this.#base * this.#profile.volatility) / 20_000))
    const high = Math.max(open, close) + (draw(this.#key, RANGE, index, 0) % reach)
    const low = Math.min(open, close) - (draw(this.#key, RANGE, index, 1) % reach)
    // From 60 % to 140 % of the usual.
    const volume = Math.floor((this.#profile.volume * (60 + (draw(this.#key, VOLUME, index) % 81))) / 100)
    const least = Math.ceil((end - start) / HOUR) * HOUR_VOLUME_MIN
    return { start, end, open, high, low: Math.max(1, low), close, volume: Math.max(volume, least) }
  }

  /** The close of a day: swings of one, two, four … days around the base price, each drawn at its ends and straight between them. */
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
    return parts.map((part, index) => ({ ...part, start: whole.start + index * length, end: whole.start + (index + 1) * length }))
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
      const chance = draws(index, 8)
      const at = minute.start + Math.floor((index + 0.1 + (chance % 1_000) / 1_250) * width)
      return { at, price, chance, size: printed[index] === true ? (sizes[next++] ?? 0) : 0 }
    })
  }

  #draws(purpose: number, start: Micros): (index: number, what: number) => number {
    const place = draw(this.#key, purpose, Math.floor(start / MINUTE))
    return (index, what) => draw(place, index, what)
  }
}

function within(nodes: readonly Node[], at: Micros): Node {
  const node = nodes.find(({ end }) => at < end)
  if (node === undefined) throw new Error(`no part of the day holds ${at}`)
  return node
}

/** The last few results by the instant they begin at; the one made first goes first. */
class Recent<Value> {
  readonly #values = new Map<Micros, Value>()
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  get(start: Micros, make: () => Value): Value {
    const known = this.#values.get(start)
    if (known !== undefined) return known
    const value = make()
    this.#values.set(start, value)
    const [first] = this.#values.keys()
    if (this.#values.size > this.#most && first !== undefined) this.#values.delete(first)
    return value
  }
}
