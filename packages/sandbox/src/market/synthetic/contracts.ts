/** The contracts of the synthetic market: their existence, the followed ones, and the deliveries of those. */
import type { Micros } from '../../engine/types.ts'
import { settlementsWithin } from '../futures/months.ts'
import { type CalendarChoice, NEW_YORK } from '../hours.ts'
import { parseOptionSymbol } from '../options/occ.ts'
import type { Session } from '../sessions.ts'
import type { Timeline } from '../timeline.ts'
import { type FeedCommand, FOLLOWED_MAX, type Instrument, type MarketGroup } from '../types.ts'
import { derivationOf, type FutureMonth, futureMonth, futureMonths, isListed } from './months.ts'
import { OptionContract } from './option-contract.ts'
import { OptionFeed } from './option-feed.ts'
import { OptionSource } from './option-source.ts'
import { SyntheticSymbol } from './symbol.ts'
import { UNDERLYINGS } from './underlyings.ts'

/** Contracts cached besides the followed ones: those requested last, and those moved through the control API. */
const ASIDE_MAX = 1_000

export interface ContractsParts {
  readonly seed: string
  readonly choice: CalendarChoice
  readonly rate: number
  readonly paused: Timeline<boolean>
  readonly sessionOf: (group: MarketGroup) => Session
  readonly symbolOf: (symbol: string) => SyntheticSymbol | null
}

/** A futures month and its prices. */
export interface MonthContract extends FutureMonth {
  readonly symbol: SyntheticSymbol
}

export type Contract = OptionContract | MonthContract

export class Contracts {
  readonly #parts: ContractsParts
  readonly #sources: ReadonlyMap<string, OptionSource>
  readonly #feed = new OptionFeed()
  readonly #months = new Map<string, MonthContract>()
  /** Contracts to follow from the next delivery on. */
  readonly #asked = new Set<string>()
  readonly #aside = new Map<string, Contract>()
  /** The earliest end of trading among the followed contracts. */
  #nextEnd = Number.POSITIVE_INFINITY

  constructor(parts: ContractsParts) {
    this.#parts = parts
    const sources = UNDERLYINGS.map(facts => {
      const base = parts.symbolOf(facts.follows)
      if (base === null) throw new Error(`options on ${facts.symbol} follow ${facts.follows}, which is not listed`)
      return [facts.symbol, new OptionSource(parts.seed, facts, { base, choice: parts.choice })] as const
    })
    this.#sources = new Map(sources)
  }

  source(underlying: string): OptionSource | null {
    return this.#sources.get(underlying) ?? null
  }

  /** A contract that trades at that instant. */
  find(symbol: string, at: Micros): Instrument | null {
    const month = futureMonth(symbol, this.#parts.choice)
    if (month !== null) return isListed(month, at) ? month.instrument : null
    const option = this.#option(symbol)
    const expiration = option?.option?.expiration
    const source = this.#sources.get(option?.option?.underlying ?? '')
    return option !== null && expiration !== undefined && source?.expirations(at).includes(expiration) === true ? option : null
  }

  futures(at: Micros): readonly Instrument[] {
    return futureMonths(at, this.#parts.choice).map(({ instrument }) => instrument)
  }

  /** Its prices, whether followed or not; null if it does not trade at that instant. */
  contract(symbol: string, at: Micros): Contract | null {
    const followed = this.#feed.get(symbol) ?? this.#months.get(symbol)
    if (followed !== undefined) return followed
    if (this.find(symbol, at) === null) return null
    const known = this.#aside.get(symbol) ?? this.#make(symbol)
    if (known !== null) this.#keepAside(symbol, known)
    return known
  }

  follow(symbols: Iterable<string>): void {
    for (const symbol of symbols) {
      if (this.#feed.get(symbol) !== undefined || this.#months.has(symbol) || this.#asked.has(symbol)) continue
      if (this.followed + this.#asked.size >= FOLLOWED_MAX)
        throw new RangeError(`at most ${FOLLOWED_MAX} contracts can be followed; unfollow some before ${symbol.slice(0, 40)}`)
      if (futureMonth(symbol, this.#parts.choice) !== null || this.#option(symbol) !== null) this.#asked.add(symbol)
    }
  }

  unfollow(symbols: Iterable<string>): void {
    for (const symbol of symbols) {
      this.#asked.delete(symbol)
      // Its control actions still apply if it is followed again.
      const followed = this.#feed.get(symbol) ?? this.#months.get(symbol)
      if (followed !== undefined) this.#keepAside(symbol, followed)
      this.#drop(symbol)
    }
  }

  get followed(): number {
    return this.#feed.size + this.#months.size
  }

  /** Lists and quotes the contracts requested since the last call. */
  begin(at: Micros, into: FeedCommand[]): void {
    if (this.#asked.size === 0) return
    for (const symbol of this.#asked) {
      const contract = this.#aside.get(symbol) ?? this.#make(symbol)
      if (contract === null) continue
      if (contract.lastTradeAt <= at) {
        into.push({ ...this.#end(contract), at })
        continue
      }
      if (this.find(symbol, at) === null) continue
      into.push({ type: 'list_instrument', at, spec: contract.instrument })
      into.push(contract instanceof OptionContract ? contract.quoteAt(at) : contract.symbol.quoteAt(at))
      if (contract instanceof OptionContract) this.#feed.add(contract)
      else this.#months.set(symbol, contract)
      this.#nextEnd = Math.min(this.#nextEnd, contract.lastTradeAt)
    }
    this.#asked.clear()
  }

  /** Every update after `from`, up to and including `through`; both must be in the same minute. */
  updates(from: Micros, through: Micros, into: FeedCommand[]): void {
    for (const { symbol, lastTradeAt } of this.#months.values()) symbol.updates(from, Math.min(through, lastTradeAt - 1), into)
    this.#feed.updates(from, through, into)
  }

  /** Whole minutes or hours from `begin` to before `end`, in few updates. */
  summarise(begin: Micros, { end, length }: { readonly end: Micros; readonly length: Micros }, into: FeedCommand[]): void {
    for (const { symbol, lastTradeAt } of this.#months.values()) {
      for (let at = begin; at < end; at += length) {
        if (at + length <= lastTradeAt) symbol.summarise(at, at + length, into)
        else this.#summariseLast(symbol, at, lastTradeAt, into)
      }
    }
    this.#feed.summarise(begin - 1, end - 1, into)
  }

  /** Settlements and ends after `from`, up to and including `through`. */
  ends(from: Micros, through: Micros, into: FeedCommand[]): void {
    if (this.#months.size > 0) {
      for (const at of settlementsWithin(from, through))
        for (const { symbol, instrument, lastTradeAt } of this.#months.values())
          if (lastTradeAt > at) into.push({ type: 'settle', at, symbol: instrument.symbol, price: symbol.textOf(symbol.priceAtMinute(at)) })
    }
    if (this.#nextEnd > through) return
    for (const contract of [...this.#feed.all(), ...this.#months.values()]) {
      if (contract.lastTradeAt > through) continue
      into.push(this.#end(contract))
      this.#drop(contract.instrument.symbol)
    }
    this.#nextEnd = Math.min(
      ...[...this.#feed.all(), ...this.#months.values()].map(({ lastTradeAt }) => lastTradeAt),
      Number.POSITIVE_INFINITY
    )
  }

  #end(contract: Contract): FeedCommand {
    const { lastTradeAt: at, instrument } = contract
    const price =
      contract instanceof OptionContract ? contract.source.textAtMinute(at) : contract.symbol.textOf(contract.symbol.priceAtMinute(at))
    return { type: 'expire', at, symbol: instrument.symbol, price }
  }

  /** The interval in which a month ends: its minutes up to that point. */
  #summariseLast(symbol: SyntheticSymbol, begin: Micros, end: Micros, into: FeedCommand[]): void {
    const minute = 60_000_000
    for (let at = begin; at + minute <= end; at += minute) symbol.summarise(at, at + minute, into)
  }

  #keepAside(symbol: string, contract: Contract): void {
    this.#aside.delete(symbol)
    this.#aside.set(symbol, contract)
    const [oldest] = this.#aside.keys()
    if (this.#aside.size > ASIDE_MAX && oldest !== undefined) this.#aside.delete(oldest)
  }

  #drop(symbol: string): void {
    this.#feed.delete(symbol)
    this.#months.delete(symbol)
  }

  #option(symbol: string): Instrument | null {
    const name = parseOptionSymbol(symbol)
    return name === null ? null : (this.#sources.get(name.underlying)?.instrument(name) ?? null)
  }

  #make(symbol: string): Contract | null {
    const { choice, seed, rate, paused, sessionOf, symbolOf } = this.#parts
    const month = futureMonth(symbol, choice)
    if (month !== null) {
      const { profile, derived } = derivationOf(month, symbolOf)
      const parts = { seed, instrument: month.instrument, profile, derived, session: sessionOf('cme'), zone: NEW_YORK, paused, rate }
      return { ...month, symbol: new SyntheticSymbol(parts) }
    }
    const instrument = this.#option(symbol)
    const option = instrument?.option
    const source = this.#sources.get(option?.underlying ?? '')
    if (instrument === null || option === undefined || source === undefined) return null
    return new OptionContract({ instrument, option, source, session: sessionOf('us-option') })
  }
}
