/** One synthetic symbol: its walk, its control actions, and its display for the engine and in bars. */
import type { Decimal } from '@trunkline/core/domain/decimal'
import type { MarketCommand, Micros, QuoteCommand } from '../../engine/types.ts'
import { fromBillionths } from '../lean/numbers.ts'
import type { Session } from '../sessions.ts'
import { Timeline } from '../timeline.ts'
import type { Instrument } from '../types.ts'
import { type Looks, print, type Scale, shifted, shown, worthOf } from './ladder.ts'
import type { Profile } from './profiles.ts'
import type { Shape } from './split.ts'
import { type Node, PRINT_DELAY, partAt, type Slot, Walk, type WalkOptions } from './walk.ts'

/** Control prices that bars remember as prints; the oldest beyond that are forgotten. */
const SET_MAX = 1_000

interface Made {
  readonly at: Micros
  readonly price: number
}

/** Converts the walk's prices to those of a derived instrument, such as a futures month. */
export interface Derivation {
  readonly looks: Looks
  /** The unit of the walk's prices, a plain decimal. */
  readonly walkTick: string
  /** See {@link WalkOptions}. */
  readonly liquidity: NonNullable<WalkOptions['liquidity']>
  /** Control moves of the walk's own symbol, which this one follows; null: the walk belongs to no symbol. */
  readonly base: SyntheticSymbol | null
  /**
   * Must not fall if `price` rises, and must be constant within a day of the walk, so that bars stay consistent. In ticks of the derived
   * one.
   */
  priceOf(price: number, at: Micros): number
}

export interface SymbolParts {
  readonly seed: string
  readonly instrument: Instrument
  /** The seed of its walk. */
  readonly profile: Profile
  /** By default the walk is its own. */
  readonly derived?: Derivation
  readonly session: Session
  /** The zone in whose midnights the days of the walk begin. */
  readonly zone: string
  /** The pause of the whole market. */
  readonly paused: Timeline<boolean>
  readonly rate: number
}

export class SyntheticSymbol {
  readonly instrument: Instrument
  readonly session: Session
  readonly #looks: Looks
  readonly #derived: Derivation | null
  readonly #scale: Scale
  readonly #walk: Walk
  readonly #paused: Timeline<boolean>
  readonly #halted = new Timeline(false)
  readonly #shift = new Timeline(0)
  readonly #made: Made[] = []

  constructor({ seed, instrument, profile, derived, session, zone, paused, rate }: SymbolParts) {
    this.instrument = instrument
    this.session = session
    this.#looks = derived?.looks ?? profile
    this.#derived = derived ?? null
    this.#paused = paused
    this.#scale = { tick: worthOf(instrument.tick), unit: worthOf(profile.unit) }
    const tick = worthOf(derived?.walkTick ?? instrument.tick).billionths
    this.#walk = new Walk(seed, profile, { tick, zone, rate, ...(derived === undefined ? {} : { liquidity: derived.liquidity }) })
  }

  /** Whether it has prices at that instant. */
  active(at: Micros): boolean {
    return this.session.phaseAt(at) !== 'closed' && !this.heldBack(at)
  }

  halt(halted: boolean, at: Micros): void {
    this.#halted.set(at, halted)
  }

  /**
   * From `at` on, the walk continues from this price, in billionths. @returns the commands for the engine; none while prices are withheld
   */
  move(price: bigint, at: Micros): readonly MarketCommand[] {
    const target = Number(price / this.#scale.tick.billionths)
    this.#shift.set(at, target - this.#unshifted(this.#walk.slotAt(at).price, at))
    if (!this.active(at)) return []
    this.#made.push({ at, price: target })
    if (this.#made.length > SET_MAX) this.#made.shift()
    return [this.quoteAt(at), print(this.instrument.symbol, this.#scale, at, { price: target, size: 1 })]
  }

  /** The current book at an instant. */
  quoteAt(at: Micros): QuoteCommand {
    const slot = this.#walk.slotAt(at)
    const { quote } = shown(this.#looks, this.#scale, { ...slot, price: this.#price(slot.price, at), size: 0 })
    return { ...quote, at }
  }

  /** In ticks: the price after the last update. */
  priceAt(at: Micros): number {
    return this.#price(this.#walk.priceAt(at), at)
  }

  /** Like {@link priceAt} at the start of a minute, but cheaper to compute: the previous minute is over and the next has not moved yet. */
  priceAtMinute(start: Micros): number {
    return this.#price(this.#walk.minuteAt(start).open, start)
  }

  /** Like {@link priceAt}, at or just after the start of an hour. */
  priceAtHour(at: Micros): number {
    return this.#price(this.#walk.hourAt(at).open, at)
  }

  /** The sum of control moves by then, in ticks. */
  shiftAt(at: Micros): number {
    return this.#shift.valueAt(at)
  }

  /** Whether the control API moved it after `from` and before `to`. */
  movesWithin(from: Micros, to: Micros): boolean {
    return this.#shift.changesWithin(from, to) || this.#derived?.base?.movesWithin(from, to) === true
  }

  /** Whether prices are withheld by the control API. */
  heldBack(at: Micros): boolean {
    return this.#halted.valueAt(at) || this.#paused.valueAt(at)
  }

  textOf(ticks: number): Decimal {
    return fromBillionths(BigInt(ticks) * this.#scale.tick.billionths)
  }

  /** Every update after `from`, up to and including `until`; both must be in the same minute. */
  updates(from: Micros, until: Micros, into: MarketCommand[]): void {
    for (const slot of this.#walk.slots(this.#walk.minuteAt(until))) {
      if (slot.at > until) break
      // The print of an update follows it, and may be in the next delivery.
      if (slot.at + PRINT_DELAY <= from || !this.active(slot.at)) continue
      const { quote, print } = shown(this.#looks, this.#scale, { ...slot, price: this.#price(slot.price, slot.at) })
      if (slot.at > from) into.push(quote)
      if (print !== null && print.at > from && print.at <= until) into.push(print)
    }
  }

  /** A whole minute or hour in four updates: a long time gives the same bars in fewer updates. Parts with control actions come in full. */
  summarise(start: Micros, end: Micros, into: MarketCommand[]): void {
    const hour = this.#walk.hours(this.#walk.day(start)).find(node => node.start === start && node.end === end)
    const node = hour ?? this.#walk.minuteAt(start)
    if (this.#isPlain(node)) this.#inFour(node, into)
    else if (hour === undefined) this.updates(start - 1, end - 1, into)
    else for (const minute of this.#walk.minutes(hour)) this.summarise(minute.start, minute.end, into)
  }

  /** The trades from `from` to before `to`, and no later than `now`, as one bar; null without trades. */
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
    const price = (ticks: number): bigint => BigInt(ticks) * tick.billionths
    const { open, high, low, close, volume } = shape
    return { start, open: price(open), high: price(high), low: price(low), close: price(close), volume: BigInt(volume) * unit.billionths }
  }

  #inFour(node: Node, into: MarketCommand[]): void {
    if (!this.active(node.start)) return
    const { open, high, low, close, volume } = node
    const quarter = Math.floor(volume / 4)
    const path = close < open ? [open, high, low, close] : [open, low, high, close]
    for (const [index, price] of path.entries()) {
      const at = node.start + Math.floor(((node.end - node.start) * (2 * index + 1)) / 8)
      const size = index === 3 ? volume - 3 * quarter : quarter
      const { quote, print } = shown(this.#looks, this.#scale, { at, price: this.#price(price, at), size, chance: index * 4 })
      into.push(quote)
      if (print !== null) into.push(print)
    }
  }

  /** The largest node of the tree that begins here, ends by `end` and has no control actions. */
  #largest(day: Node, at: Micros, end: Micros): Node | null {
    const fits = (node: Node | undefined): boolean => node?.start === at && node.end <= end && this.#isPlain(node)
    if (fits(day)) return day
    const hour = partAt(this.#walk.hours(day), at)
    if (hour === undefined || fits(hour)) return hour ?? null
    const minute = partAt(this.#walk.minutes(hour), at)
    return minute !== undefined && fits(minute) ? minute : null
  }

  /** Whether it has no control actions, and is open or closed throughout. */
  #isPlain({ start, end }: Node): boolean {
    const touched = this.#halted.changesWithin(start, end) || this.#paused.changesWithin(start, end) || this.movesWithin(start, end)
    return !touched && !this.session.changesWithin(start, end)
  }

  #moved(node: Node): Shape {
    const { start, open, high, low, close, volume } = node
    const price = (walked: number): number => this.#price(walked, start)
    return { open: price(open), high: price(high), low: price(low), close: price(close), volume }
  }

  #price(walked: number, at: Micros): number {
    return shifted(this.#unshifted(walked, at), this.#shift.valueAt(at))
  }

  #unshifted(walked: number, at: Micros): number {
    const derived = this.#derived
    if (derived === null) return walked
    return derived.priceOf(derived.base === null ? walked : shifted(walked, derived.base.shiftAt(at)), at)
  }

  #prints(minute: Node): readonly (Shape & { readonly at: Micros })[] {
    const walked = this.#walk.slots(minute).filter(slot => slot.size > 0 && this.active(slot.at))
    const made = this.#made.filter(({ at }) => at >= minute.start && at < minute.end).map(set => flat(set.at, set.price, 1))
    const prints = walked.map((slot: Slot) => flat(slot.at + PRINT_DELAY, this.#price(slot.price, slot.at), slot.size))
    return [...prints, ...made].toSorted((a, b) => a.at - b.at)
  }
}

function flat(at: Micros, price: number, volume: number): Shape & { readonly at: Micros } {
  return { at, open: price, high: price, low: price, close: price, volume }
}

function joined(a: Shape, b: Shape): Shape {
  return { open: a.open, high: Math.max(a.high, b.high), low: Math.min(a.low, b.low), close: b.close, volume: a.volume + b.volume }
}
