/** One synthetic symbol: its walk, what was done to it by hand, and what it looks like to the engine and in bars. */
import type { MarketCommand, Micros, QuoteCommand } from '../../engine/types.ts'
import { billionths } from '../lean/numbers.ts'
import type { Session } from '../sessions.ts'
import { Timeline } from '../timeline.ts'
import type { Instrument } from '../types.ts'
import { print, type Scale, shifted, shown } from './ladder.ts'
import type { Profile } from './profiles.ts'
import type { Shape } from './split.ts'
import { type Node, PRINT_DELAY, type Slot, Walk } from './walk.ts'

/** Prices set by hand that bars remember as prints; the oldest beyond it are forgotten. */
const SET_MAX = 1_000

interface Made {
  readonly at: Micros
  readonly price: number
}

export interface SymbolParts {
  readonly seed: string
  readonly instrument: Instrument
  readonly profile: Profile
  readonly session: Session
  /** Of the whole market. */
  readonly paused: Timeline<boolean>
  readonly rate: number
}

export class SyntheticSymbol {
  readonly instrument: Instrument
  readonly session: Session
  readonly #profile: Profile
  readonly #scale: Scale
  readonly #walk: Walk
  readonly #paused: Timeline<boolean>
  readonly #halted = new Timeline(false)
  readonly #shift = new Timeline(0)
  readonly #made: Made[] = []

  constructor({ seed, instrument, profile, session, paused, rate }: SymbolParts) {
    this.instrument = instrument
    this.session = session
    this.#profile = profile
    this.#paused = paused
    this.#scale = { tick: billionths(instrument.tick), unit: billionths(profile.unit) }
    this.#walk = new Walk(seed, profile, { tick: this.#scale.tick, zone: session.calendar.zone, rate })
  }

  /** Whether prices come at that instant. */
  active(at: Micros): boolean {
    return this.session.phaseAt(at) !== 'closed' && !this.#halted.valueAt(at) && !this.#paused.valueAt(at)
  }

  halt(halted: boolean, at: Micros): void {
    this.#halted.set(at, halted)
  }

  /** From `at` on the walk goes on from this price, in billionths. @returns what the engine is shown of it, nothing while no prices come */
  move(price: bigint, at: Micros): readonly MarketCommand[] {
    const target = Number(price / this.#scale.tick)
    this.#shift.set(at, target - this.#walk.slotAt(at).price)
    if (!this.active(at)) return []
    this.#made.push({ at, price: target })
    if (this.#made.length > SET_MAX) this.#made.shift()
    return [this.quoteAt(at), print(this.instrument.symbol, this.#scale, at, { price: target, size: 1 })]
  }

  /** The book as it stands at an instant. */
  quoteAt(at: Micros): QuoteCommand {
    const { quote } = shown(this.#profile, this.#scale, { ...this.#walk.slotAt(at), size: 0 }, this.#shift.valueAt(at))
    return { ...quote, at }
  }

  /** Every update after `from`, up to and including `until`; both in one minute. */
  updates(from: Micros, until: Micros, into: MarketCommand[]): void {
    for (const slot of this.#walk.slots(this.#walk.minuteAt(until))) {
      if (slot.at > until) break
      // The print of an update follows it, and may fall into the next delivery.
      if (slot.at + PRINT_DELAY <= from || !this.active(slot.at)) continue
      const { quote, print } = shown(this.#profile, this.#scale, slot, this.#shift.valueAt(slot.at))
      if (slot.at > from) into.push(quote)
      if (print !== null && print.at > from && print.at <= until) into.push(print)
    }
  }

  /** A whole minute or hour in four updates, so that passing over a long time gives the same bars in fewer words. What was touched comes in full. */
  summarise(start: Micros, end: Micros, into: MarketCommand[]): void {
    const hour = this.#walk.hours(this.#walk.day(start)).find(node => node.start === start && node.end === end)
    const node = hour ?? this.#walk.minuteAt(start)
    if (this.#isPlain(node)) this.#inFour(node, into)
    else if (hour === undefined) this.updates(start - 1, end - 1, into)
    else for (const minute of this.#walk.minutes(hour)) this.summarise(minute.start, minute.end, into)
  }

  /** What traded from `from` to before `to`, and no later than `now`, as one bar; null when nothing did. */
  bar(from: Micros, to: Micros, now: Micros): Shape | null {
    let sum: Shape | null = null
    const add = (shape: Shape): void => {
      sum = sum === null ? shape : joined(sum, shape)
    }
    for (let at = from; at < to && at <= now; ) {
      const day = this.#walk.day(at)
      const node = this.#largest(day, at, Math.min(to, now + 1))
      if (node !== null) {
        if (this.active(node.start)) add(this.#moved(node))
        at = node.end
        continue
      }
      const minute = this.#walk.minuteAt(at)
      for (const made of this.#prints(minute)) if (made.at >= at && made.at < to && made.at <= now) add(made)
      at = minute.end
    }
    return sum
  }

  toRaw(start: Micros, shape: Shape) {
    const { tick, unit } = this.#scale
    const price = (ticks: number): bigint => BigInt(ticks) * tick
    const { open, high, low, close, volume } = shape
    return { start, open: price(open), high: price(high), low: price(low), close: price(close), volume: BigInt(volume) * unit }
  }

  #inFour(node: Node, into: MarketCommand[]): void {
    if (!this.active(node.start)) return
    const { open, high, low, close, volume } = node
    const quarter = Math.floor(volume / 4)
    const path = close < open ? [open, high, low, close] : [open, low, high, close]
    for (const [index, price] of path.entries()) {
      const at = node.start + Math.floor(((node.end - node.start) * (2 * index + 1)) / 8)
      const size = index === 3 ? volume - 3 * quarter : quarter
      const { quote, print } = shown(this.#profile, this.#scale, { at, price, size, chance: index * 4 }, this.#shift.valueAt(at))
      into.push(quote)
      if (print !== null) into.push(print)
    }
  }

  /** The longest stretch of the tree that begins here, ends by `end` and was left alone. */
  #largest(day: Node, at: Micros, end: Micros): Node | null {
    const fits = (node: Node | undefined): boolean => node?.start === at && node.end <= end && this.#isPlain(node)
    if (fits(day)) return day
    const hour = this.#walk.hours(day).find(node => at < node.end)
    if (hour === undefined || fits(hour)) return hour ?? null
    const minute = this.#walk.minutes(hour).find(node => at < node.end)
    return minute !== undefined && fits(minute) ? minute : null
  }

  /** Nothing was done to it by hand, and it is open or closed throughout. */
  #isPlain({ start, end }: Node): boolean {
    const touched = [this.#halted, this.#paused, this.#shift].some(timeline => timeline.changesWithin(start, end))
    return !touched && !this.session.changesWithin(start, end)
  }

  #moved(node: Node): Shape {
    const shift = this.#shift.valueAt(node.start)
    const { open, high, low, close } = node
    return {
      open: shifted(open, shift),
      high: shifted(high, shift),
      low: shifted(low, shift),
      close: shifted(close, shift),
      volume: node.volume
    }
  }

  #prints(minute: Node): readonly (Shape & { readonly at: Micros })[] {
    const walked = this.#walk.slots(minute).filter(slot => slot.size > 0 && this.active(slot.at))
    const made = this.#made.filter(({ at }) => at >= minute.start && at < minute.end).map(set => flat(set.at, set.price, 1))
    const prints = walked.map((slot: Slot) => flat(slot.at + PRINT_DELAY, shifted(slot.price, this.#shift.valueAt(slot.at)), slot.size))
    return [...prints, ...made].toSorted((a, b) => a.at - b.at)
  }
}

function flat(at: Micros, price: number, volume: number): Shape & { readonly at: Micros } {
  return { at, open: price, high: price, low: price, close: price, volume }
}

function joined(a: Shape, b: Shape): Shape {
  return { open: a.open, high: Math.max(a.high, b.high), low: Math.min(a.low, b.low), close: b.close, volume: a.volume + b.volume }
}
