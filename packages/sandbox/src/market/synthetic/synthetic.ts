/** The synthetic market: seeded, without end, and the same for everybody with the same seed. */
import type { Decimal } from '@trunkline/core/domain/decimal'
import type { Micros } from '../../engine/types.ts'
import { checkedPrice } from '../control-price.ts'
import type { CalendarChoice } from '../hours.ts'
import { listedInstruments } from '../instruments.ts'
import { Session } from '../sessions.ts'
import { Timeline } from '../timeline.ts'
import {
  type Bar,
  type BarsQuery,
  type Delivery,
  type FeedCommand,
  type Instrument,
  MARKETS,
  type Market,
  type MarketControl,
  type MarketGroup,
  type OptionFigures,
  UnknownSymbol
} from '../types.ts'
import { Contracts } from './contracts.ts'
import { optionBars } from './option-bars.ts'
import { OptionContract } from './option-contract.ts'
import { PROFILES } from './profiles.ts'
import { SyntheticSymbol } from './symbol.ts'
import { symbolBars } from './symbol-bars.ts'

export interface SyntheticOptions {
  readonly seed: string
  readonly calendar: CalendarChoice
  /** Updates per second of a symbol with full pace: 0.2 to 20, 2 by default. */
  readonly updatesPerSecond?: number
}

/** Billionths. */
const CENT = 10_000_000n
const MINUTE: Micros = 60_000_000
const HOUR: Micros = 3_600_000_000
/** Longer intervals are skipped in minutes of four updates each … */
const BY_MINUTE_BEYOND: Micros = 15 * MINUTE
/** … and much longer ones in hours of four updates. */
const BY_HOUR_BEYOND: Micros = 6 * HOUR
/** The time that one delivery of minutes, and of hours, covers. */
const MINUTES_STRIDE: Micros = 20 * MINUTE
const HOURS_STRIDE: Micros = 24 * HOUR
/** More followed contracts shorten a delivery of hours, to no less than an hour: each has a dozen commands per hour. */
const FOLLOWED_A_DAY = 50

/** @throws RangeError for a rate outside its bounds */
export function openSynthetic(options: SyntheticOptions): SyntheticMarket {
  return new SyntheticMarket(options)
}

export class SyntheticMarket implements Market {
  readonly kind = 'synthetic'
  readonly instruments: readonly Instrument[]
  readonly startsAt = null
  readonly endsAt = null
  readonly #sessions: readonly Session[]
  readonly #symbols: ReadonlyMap<string, SyntheticSymbol>
  readonly #contracts: Contracts
  readonly #paused = new Timeline(false)
  /** Control actions that are not delivered yet, ascending. */
  #made: readonly FeedCommand[] = []
  #through: Micros | null = null

  constructor({ seed, calendar, updatesPerSecond: rate = 2 }: SyntheticOptions) {
    if (!(rate >= 0.2 && rate <= 20)) throw new RangeError(`updates per second must be from 0.2 to 20, was ${rate}`)
    this.instruments = listedInstruments(calendar)
    this.#sessions = MARKETS.map(group => new Session(group, calendar))
    const paused = this.#paused
    this.#symbols = new Map(
      this.instruments.map(instrument => {
        const profile = PROFILES.find(({ symbol }) => symbol === instrument.symbol)
        const session = this.#sessions.find(({ market }) => market === instrument.market)
        if (profile === undefined || session === undefined) throw new Error(`${instrument.symbol} is listed without a profile or a session`)
        const { zone } = session.calendar
        return [instrument.symbol, new SyntheticSymbol({ seed, instrument, profile, session, zone, paused, rate })]
      })
    )
    this.#contracts = new Contracts({
      seed,
      choice: calendar,
      rate,
      paused,
      sessionOf: group => this.#session(group),
      symbolOf: symbol => this.#symbols.get(symbol) ?? null
    })
  }

  /**
   * The first delivery has the phases and every symbol's book at `until`. Later ones have every update; to catch up a quarter of an hour or
   * more, minutes (beyond six hours: hours) come as four updates that make the same bars.
   */
  async next(until: Micros): Promise<Delivery> {
    if (this.#through === null) return this.#begin(until)
    const from = this.#through
    if (until <= from) return { commands: [], through: until }
    const commands: FeedCommand[] = []
    this.#contracts.begin(from + 1, commands)
    const summarised = this.#summarised(from, until)
    const through = summarised?.through ?? Math.min(until, from + MINUTE - ((from + 1) % MINUTE))
    this.#phaseChanges(from, through, commands)
    this.#contracts.ends(from, through, commands)
    commands.push(...this.#takeMade(through))
    if (summarised === null) this.#updates(from, through, commands)
    else for (const command of summarised.commands) commands.push(command)
    this.#through = through
    // Sorting is stable: at one instant, phases come first, then control actions, then symbols in their order.
    return { commands: commands.sort((a, b) => a.at - b.at), through }
  }

  find(symbol: string, at: Micros): Instrument | null {
    return this.#symbols.get(symbol)?.instrument ?? this.#contracts.find(symbol, at)
  }

  futures(at: Micros): readonly Instrument[] {
    return this.#contracts.futures(at)
  }

  expirations(underlying: string, at: Micros): readonly string[] {
    return this.#contracts.source(underlying)?.expirations(at) ?? []
  }

  chain(underlying: string, expiration: string, at: Micros): readonly Instrument[] {
    return this.#contracts.source(underlying)?.chain(expiration, at) ?? []
  }

  follow(symbols: Iterable<string>): void {
    this.#contracts.follow(symbols)
  }

  unfollow(symbols: Iterable<string>): void {
    this.#contracts.unfollow(symbols)
  }

  figures(symbol: string, at: Micros): OptionFigures | null {
    const contract = this.#contracts.contract(symbol, at)
    return contract instanceof OptionContract ? contract.figures(at) : null
  }

  priceOf(symbol: string, at: Micros): Decimal | null {
    const found = this.#symbols.get(symbol)
    if (found !== undefined) return found.textOf(found.priceAt(at))
    return this.#contracts.source(symbol)?.textAt(at) ?? null
  }

  /**
   * Bars of any time since 2000 (of contracts: of their last thirteen months), exactly as the updates of that time make them, up to `now`.
   */
  async bars(query: BarsQuery): Promise<readonly Bar[]> {
    const { symbol, now } = query
    const listed = this.#symbols.get(symbol)
    if (listed !== undefined) return symbolBars(listed, query)
    const contract = this.#contracts.contract(symbol, now)
    if (contract === null) throw new UnknownSymbol(symbol)
    return contract instanceof OptionContract ? await optionBars(contract, query) : symbolBars(contract.symbol, query)
  }

  phaseAt(market: MarketGroup, at: Micros): ReturnType<Market['phaseAt']> {
    const session = this.#session(market)
    return { phase: session.phaseAt(at), nextChange: session.nextChange(at) }
  }

  readonly control: MarketControl = {
    setPrice: (symbol, text, asked) => {
      const at = this.#effective(asked)
      const found = this.#movable(symbol, at)
      const price = checkedPrice({ ...found.instrument, tickBelowOne: null }, text)
      this.#make(found instanceof OptionContract ? found.move(Number(price / CENT), at) : found.move(price, at))
    },
    setHalted: (symbol, halted, asked) => {
      const at = this.#effective(asked)
      const found = this.#movable(symbol, at)
      found.halt(halted, at)
      this.#make([{ type: 'halt', at, symbol, halted }, ...(found.active(at) ? [found.quoteAt(at)] : [])])
    },
    setPaused: (paused, asked) => this.#paused.set(this.#effective(asked), paused),
    isPaused: at => this.#paused.valueAt(at),
    forcePhase: (market, phase, asked) => this.#session(market).force(phase, this.#effective(asked))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Nothing to close.
  }

  #begin(at: Micros): Delivery {
    this.#through = at
    const phases = this.#sessions.map(session => {
      const due = session.due(at)
      session.delivered(due)
      return due
    })
    const commands: FeedCommand[] = [...phases, ...[...this.#symbols.values()].map(symbol => symbol.quoteAt(at))]
    this.#contracts.begin(at, commands)
    return { commands, through: at }
  }

  #updates(from: Micros, through: Micros, commands: FeedCommand[]): void {
    for (const symbol of this.#symbols.values()) symbol.updates(from, through, commands)
    this.#contracts.updates(from, through, commands)
  }

  /**
   * A long interval in few updates; null if little is left. Begins at a whole minute or hour, so the first step towards it is a short one.
   */
  #summarised(from: Micros, until: Micros): Delivery | null {
    const begin = from + 1
    const byHours = until - from > BY_HOUR_BEYOND && begin % HOUR === 0
    if (!byHours && (until - from <= BY_MINUTE_BEYOND || begin % MINUTE !== 0)) return null
    const length = byHours ? HOUR : MINUTE
    const nextHour = begin - (begin % HOUR) + HOUR
    const hours = Math.ceil(HOURS_STRIDE / HOUR / (1 + this.#contracts.followed / FOLLOWED_A_DAY)) * HOUR
    const stride = byHours ? hours : Math.min(MINUTES_STRIDE, nextHour - begin)
    const end = begin + Math.min(stride, Math.floor((until - BY_MINUTE_BEYOND / 2 - begin) / length) * length)
    const commands: FeedCommand[] = []
    for (const symbol of this.#symbols.values()) for (let at = begin; at < end; at += length) symbol.summarise(at, at + length, commands)
    this.#contracts.summarise(begin, { end, length }, commands)
    return { commands, through: end - 1 }
  }

  #phaseChanges(from: Micros, through: Micros, commands: FeedCommand[]): void {
    for (const session of this.#sessions) {
      for (let due = session.due(from); due.at <= through; due = session.due(due.at)) {
        session.delivered(due)
        commands.push(due)
      }
    }
  }

  #make(commands: readonly FeedCommand[]): void {
    this.#made = [...this.#made, ...commands].toSorted((a, b) => a.at - b.at)
  }

  #takeMade(through: Micros): readonly FeedCommand[] {
    const due = this.#made.filter(({ at }) => at <= through)
    this.#made = this.#made.filter(({ at }) => at > through)
    return due
  }

  #effective(at: Micros): Micros {
    return Math.max(at, (this.#through ?? at - 1) + 1)
  }

  /** The symbols that the control API can move. */
  #movable(symbol: string, at: Micros): SyntheticSymbol | OptionContract {
    const listed = this.#symbols.get(symbol)
    if (listed !== undefined) return listed
    const contract = this.#contracts.contract(symbol, at)
    if (contract === null) throw new UnknownSymbol(symbol)
    return contract instanceof OptionContract ? contract : contract.symbol
  }

  #session(market: MarketGroup): Session {
    const session = this.#sessions.find(candidate => candidate.market === market)
    if (session === undefined) throw new Error(`no session group ${market}`)
    return session
  }
}
