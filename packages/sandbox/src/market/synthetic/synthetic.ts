/** The synthetic market: seeded, never out of data, the same for everybody who asks with the same seed. */
import { regularSession } from '@trunkline/core/domain/calendar/index'
import type { MarketCommand, Micros } from '../../engine/types.ts'
import { byLength, INTERVAL_LENGTHS, toBar } from '../bar-series.ts'
import { checkedPrice } from '../control-price.ts'
import { daysOf } from '../day-starts.ts'
import { INSTRUMENTS } from '../instruments.ts'
import { type CalendarChoice, Session } from '../sessions.ts'
import { Timeline } from '../timeline.ts'
import {
  BARS_MAX,
  type Bar,
  type BarsQuery,
  type Delivery,
  type Instrument,
  MARKETS,
  type Market,
  type MarketControl,
  type MarketGroup,
  UnknownSymbol
} from '../types.ts'
import { PROFILES } from './profiles.ts'
import { SyntheticSymbol } from './symbol.ts'

export interface SyntheticOptions {
  readonly seed: string
  readonly calendar: CalendarChoice
  /** Updates a second of a symbol of full pace: 0.2 to 20, 2 by default. */
  readonly updatesPerSecond?: number
}

const MINUTE: Micros = 60_000_000
const HOUR: Micros = 3_600_000_000
/** A longer way to go is passed over in minutes of four updates each … */
const BY_MINUTE_BEYOND: Micros = 15 * MINUTE
/** … and a much longer one in hours of four updates. */
const BY_HOUR_BEYOND: Micros = 6 * HOUR
/** What one delivery of minutes, and of hours, covers. */
const MINUTES_STRIDE: Micros = 20 * MINUTE
const HOURS_STRIDE: Micros = 24 * HOUR
/** No bars before it. */
const EARLIEST: Micros = Date.UTC(2000, 0, 1) * 1_000

/** @throws RangeError on a rate outside its bounds */
export function openSynthetic(options: SyntheticOptions): SyntheticMarket {
  return new SyntheticMarket(options)
}

export class SyntheticMarket implements Market {
  readonly kind = 'synthetic'
  readonly instruments: readonly Instrument[] = INSTRUMENTS
  readonly startsAt = null
  readonly endsAt = null
  readonly #sessions: readonly Session[]
  readonly #symbols: ReadonlyMap<string, SyntheticSymbol>
  readonly #paused = new Timeline(false)
  /** What was done by hand and is not delivered yet, ascending. */
  #made: readonly MarketCommand[] = []
  #through: Micros | null = null

  constructor({ seed, calendar, updatesPerSecond: rate = 2 }: SyntheticOptions) {
    if (!(rate >= 0.2 && rate <= 20)) throw new RangeError(`updates per second must be from 0.2 to 20, was ${rate}`)
    const sessions = new Map(MARKETS.map(group => [group, new Session(group, calendar)] as const))
    this.#sessions = [...sessions.values()]
    this.#symbols = new Map(
      INSTRUMENTS.map(instrument => {
        const profile = PROFILES.find(({ symbol }) => symbol === instrument.symbol)
        const session = this.#sessions.find(({ market }) => market === instrument.market)
        if (profile === undefined || session === undefined) throw new Error(`${instrument.symbol} is listed without a profile or a session`)
        return [instrument.symbol, new SyntheticSymbol({ seed, instrument, profile, session, paused: this.#paused, rate })]
      })
    )
  }

  /**
   * The first delivery tells the phases and every symbol's book at `until`. Later ones tell every update; when a quarter of an hour or more has to
   * be made up, minutes (beyond six hours: hours) come as four updates that make the same bars.
   */
  async next(until: Micros): Promise<Delivery> {
    if (this.#through === null) return this.#begin(until)
    const from = this.#through
    if (until <= from) return { commands: [], through: until }
    const summarised = this.#summarised(from, until)
    const through = summarised?.through ?? Math.min(until, from + MINUTE - ((from + 1) % MINUTE))
    const commands = [
      ...this.#phaseChanges(from, through),
      ...this.#takeMade(through),
      ...(summarised?.commands ?? this.#updates(from, through))
    ]
    this.#through = through
    // Sorting is stable: at one instant phases come first, then what was done by hand, then symbols in their order.
    return { commands: commands.sort((a, b) => a.at - b.at), through }
  }

  /** Bars of any time since 2000, exactly what the updates of that time make, up to `now`. */
  async bars({ symbol, interval, from, to, now, limit = BARS_MAX }: BarsQuery): Promise<readonly Bar[]> {
    const found = this.#find(symbol)
    const { calendar } = found.session
    const days = daysOf(calendar.zone)
    const length = INTERVAL_LENGTHS[interval]
    const daily = interval === '1d'
    const startOf = daily ? (at: Micros): Micros => days(at).start : byLength(length)
    const most = Math.min(limit, BARS_MAX)
    const bars: Bar[] = []
    for (let start = startOf(Math.min(to - 1, now)); start >= Math.max(from, EARLIEST) && bars.length < most; start = startOf(start - 1)) {
      const end = daily ? days(start).end : start + length
      // A day's bar is of its regular session, as the recorded ones are.
      const span = daily ? regularSession(calendar, calendar.dateAt(start / 1_000)) : { start: start / 1_000, end: end / 1_000 }
      const shape = span === null ? null : found.bar(span.start * 1_000, span.end * 1_000, now)
      if (shape !== null) bars.push(toBar(found.toRaw(start, shape), end <= now))
    }
    return bars.reverse()
  }

  phaseAt(market: MarketGroup, at: Micros): ReturnType<Market['phaseAt']> {
    const session = this.#session(market)
    return { phase: session.phaseAt(at), nextChange: session.nextChange(at) }
  }

  readonly control: MarketControl = {
    setPrice: (symbol, text, asked) => {
      const found = this.#find(symbol)
      const at = this.#effective(asked)
      const price = checkedPrice({ ...found.instrument, tickBelowOne: null }, text)
      this.#make(found.move(price, at))
    },
    setHalted: (symbol, halted, asked) => {
      const found = this.#find(symbol)
      const at = this.#effective(asked)
      found.halt(halted, at)
      this.#make([{ type: 'halt', at, symbol, halted }, ...(found.active(at) ? [found.quoteAt(at)] : [])])
    },
    setPaused: (paused, asked) => this.#paused.set(this.#effective(asked), paused),
    forcePhase: (market, phase, asked) => this.#session(market).force(phase, this.#effective(asked))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Nothing is held open.
  }

  #begin(at: Micros): Delivery {
    this.#through = at
    const phases = this.#sessions.map(session => {
      const due = session.due(at)
      session.told(due)
      return due
    })
    return { commands: [...phases, ...[...this.#symbols.values()].map(symbol => symbol.quoteAt(at))], through: at }
  }

  #updates(from: Micros, through: Micros): readonly MarketCommand[] {
    const commands: MarketCommand[] = []
    for (const symbol of this.#symbols.values()) symbol.updates(from, through, commands)
    return commands
  }

  /** A long stretch in few words; null when what is left is short. Begins at a whole minute or hour, so the first step towards it is a short one. */
  #summarised(from: Micros, until: Micros): Delivery | null {
    const begin = from + 1
    const byHours = until - from > BY_HOUR_BEYOND && begin % HOUR === 0
    if (!byHours && (until - from <= BY_MINUTE_BEYOND || begin % MINUTE !== 0)) return null
    const length = byHours ? HOUR : MINUTE
    const nextHour = begin - (begin % HOUR) + HOUR
    const stride = byHours ? HOURS_STRIDE : Math.min(MINUTES_STRIDE, nextHour - begin)
    const end = begin + Math.min(stride, Math.floor((until - BY_MINUTE_BEYOND / 2 - begin) / length) * length)
    const commands: MarketCommand[] = []
    for (const symbol of this.#symbols.values()) for (let at = begin; at < end; at += length) symbol.summarise(at, at + length, commands)
    return { commands, through: end - 1 }
  }

  #phaseChanges(from: Micros, through: Micros): readonly MarketCommand[] {
    return this.#sessions.flatMap(session => {
      const commands: MarketCommand[] = []
      for (let due = session.due(from); due.at <= through; due = session.due(due.at)) {
        session.told(due)
        commands.push(due)
      }
      return commands
    })
  }

  #make(commands: readonly MarketCommand[]): void {
    this.#made = [...this.#made, ...commands].toSorted((a, b) => a.at - b.at)
  }

  #takeMade(through: Micros): readonly MarketCommand[] {
    const due = this.#made.filter(({ at }) => at <= through)
    this.#made = this.#made.filter(({ at }) => at > through)
    return due
  }

  #effective(at: Micros): Micros {
    return Math.max(at, (this.#through ?? at - 1) + 1)
  }

  #find(symbol: string): SyntheticSymbol {
    const found = this.#symbols.get(symbol)
    if (found === undefined) throw new UnknownSymbol(symbol)
    return found
  }

  #session(market: MarketGroup): Session {
    const session = this.#sessions.find(candidate => candidate.market === market)
    if (session === undefined) throw new Error(`no session group ${market}`)
    return session
  }
}
