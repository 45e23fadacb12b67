/** One synthetic option contract: its quotes, its prints, and the figures of its day. */
import { regularSession } from '@trunkline/core/domain/calendar/index'
import type { Decimal } from '@trunkline/core/domain/decimal'
import type { MarketCommand, Micros, OptionTerms, QuoteCommand, QuoteLevel, TradeCommand } from '../../engine/types.ts'
import { type DaySpan, daysOf } from '../day-starts.ts'
import { NEW_YORK } from '../hours.ts'
import { type ModelFigures, modelFigures, NO_MODEL } from '../options/figures.ts'
import { intrinsic, valuation } from '../options/greeks.ts'
import type { Session } from '../sessions.ts'
import { Timeline } from '../timeline.ts'
import type { Instrument, OptionFigures } from '../types.ts'
import { draw, keyOf } from './chance.ts'
import { LEVELS, text, worthOf } from './ladder.ts'
import { OptionDay, type OptionPrint } from './option-day.ts'
import type { OptionSource, Slice, Touch } from './option-source.ts'
import { Recent } from './recent.ts'
import { PRINT_DELAY } from './walk.ts'

const SECOND: Micros = 1_000_000
const MINUTE: Micros = 60_000_000
const HOUR: Micros = 3_600_000_000
const DAY: Micros = 86_400_000_000
const SECONDS_AN_HOUR = 3_600
const CENT = worthOf('0.01')
const ONE = worthOf('1')
/** No bars from before this time ahead of the last trade: no contract is listed earlier. */
const LISTED: Micros = 401 * DAY
/** Control prints that are remembered; the oldest beyond that are forgotten. */
const MADE_MAX = 100

// The purposes of draws.
const SIZE = 1
const COUNT = 2
const WHEN = 3
const PRINT = 4
const BID = 5
const ASK = 6

const dayAt = daysOf(NEW_YORK)

export interface OptionParts {
  readonly instrument: Instrument
  readonly option: OptionTerms
  readonly source: OptionSource
  readonly session: Session
}

interface Shown extends Touch {
  readonly minute: number
}

interface Scheduled {
  readonly quotedAt: Micros
  readonly chance: number
}

export class OptionContract {
  readonly instrument: Instrument
  readonly lastTradeAt: Micros
  readonly source: OptionSource
  readonly #right: 'call' | 'put'
  readonly #strike: number
  readonly #session: Session
  readonly #key: number
  readonly #halted = new Timeline(false)
  readonly #made: OptionPrint[] = []
  readonly #schedules = new Recent<Micros, readonly Scheduled[]>(3)
  readonly #closes = new Recent<Micros, Decimal>(2)
  readonly #lasts = new Recent<string, number | null>(1)
  readonly #sessions = new Recent<string, DaySpan | null>(1)
  #shown: Shown | null = null
  #day: OptionDay | null = null

  constructor({ instrument, option, source, session }: OptionParts) {
    this.instrument = instrument
    this.lastTradeAt = option.lastTradeAt
    this.source = source
    this.#right = option.right
    this.#strike = Number(option.strike)
    this.#session = session
    this.#key = keyOf(`${source.key} ${instrument.symbol}`)
  }

  /** All quotes of one source come at the same instants, once a second. */
  static quotedAt(source: OptionSource, at: Micros): Micros {
    const offset = (source.key % 900) * 1_000
    return at - ((((at - offset) % SECOND) + SECOND) % SECOND)
  }

  /** Whether it has prices at that instant. */
  active(at: Micros): boolean {
    return at < this.lastTradeAt && this.#session.phaseAt(at) !== 'closed' && !this.#halted.valueAt(at) && !this.source.heldBack(at)
  }

  halt(halted: boolean, at: Micros): void {
    this.#halted.set(at, halted)
  }

  /** One quote and print at a price, in cents; the model's prices return with the next quote. */
  move(cents: number, at: Micros): readonly MarketCommand[] {
    if (!this.active(at)) return []
    this.#made.push({ at, cents, size: 1 })
    if (this.#made.length > MADE_MAX) this.#made.shift()
    this.#day = null
    this.#shown = null
    const step = this.source.step(cents)
    const touch = { bid: cents > step ? cents - step : null, ask: cents + step }
    return [this.#quote(touch, this.#minuteOf(at), at), this.#print({ at, cents, size: 1 })]
  }

  touch(slice: Slice): Touch {
    return this.source.touch(this.source.value(slice, this.#right, this.#strike))
  }

  /** The current quote at an instant; remembered as shown. */
  quoteAt(at: Micros): QuoteCommand {
    const quotedAt = OptionContract.quotedAt(this.source, at)
    const touch = this.touch(this.source.slice(this.lastTradeAt, quotedAt, this.source.centsAt(quotedAt)))
    const minute = this.#minuteOf(quotedAt)
    this.#shown = { ...touch, minute }
    return this.#quote(touch, minute, at)
  }

  /** A quote if it differs from the last shown one. @param slice null if only the sizes have moved since then, once a minute */
  requote(slice: Slice | null, at: Micros, into: MarketCommand[]): void {
    const minute = this.#minuteOf(at)
    const shown = this.#shown
    const touch = slice === null && shown !== null ? shown : slice === null ? null : this.touch(slice)
    if (touch === null) return
    if (shown !== null && shown.minute === minute && shown.bid === touch.bid && shown.ask === touch.ask) return
    this.#shown = { bid: touch.bid, ask: touch.ask, minute }
    into.push(this.#quote(touch, minute, at))
  }

  /** Forgets the shown quote: the next one is sent in any case. */
  forget(): void {
    this.#shown = null
  }

  get quoted(): boolean {
    return this.#shown !== null
  }

  /** The print that belongs to the quote of this instant, if there is one. */
  printOf(quotedAt: Micros): TradeCommand | null {
    const hour = quotedAt - (quotedAt % HOUR)
    const scheduled = this.#schedule(hour).find(candidate => candidate.quotedAt === quotedAt)
    return scheduled === undefined ? null : this.#print(this.#printed(scheduled))
  }

  /** The updates after `from` up to and including `until`, reduced to the prints and the quote at the end. */
  summarise(from: Micros, until: Micros, into: MarketCommand[]): void {
    for (const print of this.prints(from, until)) if (!this.#made.includes(print)) into.push(this.#print(print))
    if (this.active(until)) into.push(this.quoteAt(until))
  }

  /** Prints after `from` up to and including `until`, ascending. */
  prints(from: Micros, until: Micros): readonly OptionPrint[] {
    const found: OptionPrint[] = []
    for (let hour = from - (from % HOUR); hour <= until; hour += HOUR) {
      for (const scheduled of this.#schedule(hour)) {
        const at = scheduled.quotedAt + PRINT_DELAY
        if (at > from && at <= until && this.active(scheduled.quotedAt)) found.push(this.#printed(scheduled))
      }
    }
    const made = this.#made.filter(({ at }) => at > from && at <= until)
    return made.length === 0 ? found : [...found, ...made].sort((a, b) => a.at - b.at)
  }

  /** No prints before this instant. */
  get listedFrom(): Micros {
    return this.lastTradeAt - LISTED
  }

  figures(at: Micros): OptionFigures {
    const span = dayAt(at)
    const day = this.#dayOf(span, at)
    const date = this.#session.calendar.dateAt(at / 1_000)
    const session = regularSession(this.#session.calendar, date)
    const last = day.last ?? this.#lastOfDayBefore(date)
    const isOver = session !== null && session.end * 1_000 <= at
    return {
      open: price(day.open),
      high: price(day.high),
      low: price(day.low),
      last: price(last),
      close: isOver ? this.#closeOf(session.end * 1_000) : null,
      previousClose: this.#previousClose(date),
      volume: text(day.volume, ONE) as Decimal,
      ...this.#model(at),
      openInterest: null
    }
  }

  #model(at: Micros): ModelFigures {
    const quotedAt = OptionContract.quotedAt(this.source, at)
    const slice = this.source.slice(this.lastTradeAt, quotedAt, this.source.centsAt(quotedAt))
    if (slice.years <= 0) return NO_MODEL
    const terms = this.source.terms(slice, this.#right, this.#strike)
    const volatility = this.source.volatility(slice, this.#strike)
    const model = valuation(terms, volatility)
    const now = intrinsic(terms)
    // If immediate exercise is worth more, the option moves with the underlying.
    const exercised = this.source.facts.style === 'american' && now > model.value
    const shown = exercised ? { value: now, delta: this.#right === 'call' ? 1 : -1, gamma: 0, theta: 0, vega: 0, rho: 0 } : model
    return modelFigures(shown, volatility)
  }

  #dayOf({ start }: DaySpan, at: Micros): OptionDay {
    if (this.#day === null || this.#day.start !== start || this.#day.through > at) this.#day = new OptionDay(start)
    const day = this.#day
    if (at > day.through) day.add(this.prints(day.through, at), at)
    return day
  }

  #lastOfDayBefore(date: string): number | null {
    return this.#lasts.get(date, () => {
      const before = this.#sessionBefore(date)
      if (before === null) return null
      // From the end, because most contracts trade in the last hour.
      for (let until = before.end - 1; until >= before.start; until -= (until % HOUR) + 1) {
        const last = this.prints(Math.max(before.start, until - (until % HOUR)) - 1, until).at(-1)
        if (last !== undefined) return last.cents
      }
      return null
    })
  }

  #previousClose(date: string): Decimal | null {
    const before = this.#sessionBefore(date)
    return before === null ? null : this.#closeOf(before.end)
  }

  /** The middle of bid and ask at the end of a session, to the cent. */
  #closeOf(end: Micros): Decimal {
    return this.#closes.get(end, () => {
      const at = Math.min(end, this.lastTradeAt) - MINUTE
      const { bid, ask } = this.touch(this.source.slice(this.lastTradeAt, at, this.source.centsAtMinute(at + MINUTE)))
      return price(Math.max(1, Math.round(((bid ?? 0) + ask) / 2)))
    })
  }

  #sessionBefore(date: string): DaySpan | null {
    return this.#sessions.get(date, () => {
      const { calendar } = this.#session
      const session = regularSession(calendar, calendar.previousTradingDay(date))
      return session === null ? null : { start: session.start * 1_000, end: session.end * 1_000 }
    })
  }

  /**
   * The seconds of an hour with prints: more of them the nearer the strike is to the underlying and the sooner the contract ends.
   */
  #schedule(hour: Micros): readonly Scheduled[] {
    return this.#schedules.get(hour, () => {
      const count = this.#countIn(hour)
      if (count === 0) return []
      const offset = OptionContract.quotedAt(this.source, hour + SECOND) - hour
      const hourIndex = hour / HOUR
      const seconds = new Set<number>()
      for (let index = 0; index < count; index++) seconds.add(draw(this.#key, WHEN, hourIndex, index) % SECONDS_AN_HOUR)
      return [...seconds]
        .sort((a, b) => a - b)
        .map(second => ({ quotedAt: hour + second * SECOND + offset, chance: draw(this.#key, PRINT, hourIndex, second) }))
    })
  }

  #countIn(hour: Micros): number {
    const days = (this.lastTradeAt - hour) / DAY
    if (days <= 0) return 0
    const { prints, surface } = this.source.facts
    const deviation = surface.long * Math.sqrt(Math.max(days, 1) / 365)
    const away = Math.log((this.#strike * 100) / this.source.centsAtHour(hour)) / deviation
    const usual = (prints * Math.exp(-0.4 * away * away)) / (1 + days / 20)
    const chance = draw(this.#key, COUNT, hour / HOUR) / 2 ** 32
    return Math.floor(usual) + (chance < usual % 1 ? 1 : 0)
  }

  #printed({ quotedAt, chance }: Scheduled): OptionPrint {
    const touch = this.touch(this.source.slice(this.lastTradeAt, quotedAt, this.source.centsAt(quotedAt)))
    const minute = this.#minuteOf(quotedAt)
    const bought = touch.bid === null || (chance & 1) === 0
    const cents = bought ? touch.ask : (touch.bid ?? touch.ask)
    const most = Math.min(20, this.#size(bought ? ASK : BID, cents, minute))
    return { at: quotedAt + PRINT_DELAY, cents, size: 1 + ((chance >>> 1) % most) }
  }

  #print({ at, cents, size }: OptionPrint): TradeCommand {
    return { type: 'trade', at, symbol: this.instrument.symbol, price: text(cents, CENT), size: text(size, ONE), auction: null }
  }

  #quote({ bid, ask }: Touch, minute: number, at: Micros): QuoteCommand {
    return {
      type: 'quote',
      at,
      symbol: this.instrument.symbol,
      bids: bid === null ? [] : this.#side(BID, bid, -this.source.step(bid), minute),
      asks: this.#side(ASK, ask, this.source.step(ask), minute)
    }
  }

  #side(side: number, best: number, step: number, minute: number): readonly QuoteLevel[] {
    const levels: QuoteLevel[] = []
    const size = this.#size(side, best, minute)
    for (let level = 0; level < LEVELS; level++) {
      const cents = best + level * step
      if (cents < 1) break
      levels.push([text(cents, CENT), text(size + ((size * level) >> 2), ONE)])
    }
    return levels
  }

  /** At the best price: from a fifth of the usual size to nearly double, drawn again every minute. */
  #size(side: number, cents: number, minute: number): number {
    const { size } = this.source.facts
    return Math.ceil(size / 5) + (draw(this.#key ^ side, SIZE, cents, minute) % Math.ceil((size * 8) / 5))
  }

  // Spreads the contracts over different seconds.
  #minuteOf(at: Micros): number {
    return Math.floor((at + (this.#key % 60) * SECOND) / MINUTE)
  }
}

function price(cents: number): Decimal
function price(cents: number | null): Decimal | null
function price(cents: number | null): Decimal | null {
  return cents === null ? null : (text(cents, CENT) as Decimal)
}
