/** The interface of every source of prices: commands for the engine in time order, bars, instruments, and control actions. */
import type { Decimal } from '@trunkline/core/domain/decimal'
import type {
  ExpireCommand,
  InstrumentSpec,
  ListInstrumentCommand,
  MarketCommand,
  Micros,
  Phase,
  SettleCommand,
  TradeCommand
} from '../engine/types.ts'

/**
 * Trading hours. `us_equity`: 09:30 to 16:00 New York with extended hours; `us_option`: 09:30 to 16:00; `cme`: Sunday 18:00 to Friday 17:00
 * with a pause from 17:00 to 18:00; `always`: New York days without end; `always_utc`: UTC days without end.
 */
export const HOURS = ['us_equity', 'us_option', 'cme', 'always', 'always_utc'] as const
export type Hours = (typeof HOURS)[number]

/** A listed instrument: its specification for the engine, its venue and its trading hours. */
export interface Instrument extends InstrumentSpec {
  /** The venue of its prices, such as `NASDAQ`. */
  readonly exchange: string
  readonly hours: Hours
}

/**
 * Session groups, {@link Instrument.market}: shares and options have exchange days, futures those of their own exchange, crypto UTC days.
 */
export const MARKETS = ['us-equity', 'us-option', 'cme', 'crypto'] as const
export type MarketGroup = (typeof MARKETS)[number]

export const BAR_INTERVALS = ['1s', '1m', '5m', '15m', '30m', '1h', '1d'] as const
export type BarInterval = (typeof BAR_INTERVALS)[number]

/** Prices in the instrument's currency, volume in its units. Intervals without a trade have no bar. */
export interface Bar {
  readonly start: Micros
  readonly open: Decimal
  readonly high: Decimal
  readonly low: Decimal
  readonly close: Decimal
  readonly volume: Decimal
  /** False while the bar may still change. */
  readonly closed: boolean
}

export interface BarsQuery {
  readonly symbol: string
  readonly interval: BarInterval
  /** The first start to include. */
  readonly from: Micros
  /** Exclusive: bars that start here or later are not included. */
  readonly to: Micros
  /** The sandbox's present: later data is not read, and the bar that contains it is not closed. */
  readonly now: Micros
  /** Only the last bars, this many; {@link BARS_MAX} at most and by default. */
  readonly limit?: number
  /**
   * Only for daily bars of a share: `core` uses the exchange's core session, whatever hours the share trades here. Default: this market's
   * day.
   */
  readonly session?: DailySession
}

export const DAILY_SESSIONS = ['core'] as const
export type DailySession = (typeof DAILY_SESSIONS)[number]

/** Maximum bars in one answer; the newest are preferred. */
export const BARS_MAX = 5_000

/** The commands of a market for the engine: prices and phases, and the listing, settlement and expiry of contracts. */
export type FeedCommand = Exclude<MarketCommand, TradeCommand> | FeedTrade | ListInstrumentCommand | ExpireCommand | SettleCommand

/** A print, with the details of a tape of single trades; absent for synthetic prints and those rebuilt from bars. */
export interface FeedTrade extends TradeCommand {
  /** Set if it counts only for the volume of a bar, not for its prices. By default it counts for both. */
  readonly effect?: 'volume'
  /** The venue, in the recording's code. */
  readonly venue?: string
}

/** A part of the market. `commands` ascend by `at`; the engine processes them in this order. */
export interface Delivery {
  readonly commands: readonly FeedCommand[]
  /** Everything up to and including this instant has been delivered. While it is before the requested instant, call again. */
  readonly through: Micros
}

/** An option's day and its model figures at an instant. Prices per unit of the underlying, volume in contracts; null if unknown. */
export interface OptionFigures {
  /** The day's prints so far, in the days of the contract's session group. */
  readonly open: Decimal | null
  readonly high: Decimal | null
  readonly low: Decimal | null
  /** The last print of the day, or of the day before. */
  readonly last: Decimal | null
  /** The day's closing price; null during its session. */
  readonly close: Decimal | null
  readonly previousClose: Decimal | null
  readonly volume: Decimal | null
  readonly theoretical: Decimal | null
  /** Money per money of the underlying; calls 0 to 1, puts -1 to 0. */
  readonly delta: Decimal | null
  readonly gamma: Decimal | null
  /** Per calendar day. */
  readonly theta: Decimal | null
  /** Per percentage point of volatility. */
  readonly vega: Decimal | null
  /** Per percentage point of the rate. */
  readonly rho: Decimal | null
  /** Per year: `0.25` is 25 %. */
  readonly iv: Decimal | null
  /** Open interest in contracts, if recorded. */
  readonly openInterest: Decimal | null
}

/** Maximum number of contract symbols followed at the same time. */
export const FOLLOWED_MAX = 20_000

/**
 * A source of prices. It has no clock: callers request everything up to an instant, and instants never decrease. A call must have
 * ended before the next begins.
 *
 * Shares and crypto are always delivered. There are too many contracts (options and futures): they are found on demand, and delivered from
 * {@link follow} on. `at` is the sandbox's present; a contract exists from its listing to its last trade, by rule.
 */
export interface Market extends AsyncDisposable {
  readonly kind: 'synthetic' | 'replay'
  /** Shares and crypto: all instruments that are delivered without being followed. */
  readonly instruments: readonly Instrument[]
  /** Any instrument that exists at that instant: shares, crypto, and contracts created on demand. */
  find(symbol: string, at: Micros): Instrument | null
  /** The futures months listed at that instant, by root and month. */
  futures(at: Micros): readonly Instrument[]
  /** `YYYY-MM-DD`, ascending; empty for an underlying without options. */
  expirations(underlying: string, at: Micros): readonly string[]
  /** By strike, the call before the put; empty if there is no such chain. */
  chain(underlying: string, expiration: string, at: Micros): readonly Instrument[]
  /**
   * From the next delivery on, includes these contracts' quotes and prints. They begin with `list_instrument` and the current quote;
   * futures are settled once a trading day, and both kinds end with `expire`, after which they are no longer followed. For a contract that
   * ended before it was followed, only `expire` comes, at once. Symbols that are always delivered, are followed already or do not exist are
   * skipped.
   * @throws RangeError beyond {@link FOLLOWED_MAX}
   */
  follow(symbols: Iterable<string>): void
  /** Ends the prices of these symbols. */
  unfollow(symbols: Iterable<string>): void
  /** Cheap for a followed contract, otherwise a few milliseconds at most; null for a symbol that is not an option. */
  figures(symbol: string, at: Micros): OptionFigures | null
  /** The last price of any underlying of options, including indices; null if unknown. */
  priceOf(symbol: string, at: Micros): Decimal | null
  /** The required start of the sandbox's clock; null if any present is possible. */
  readonly startsAt: Micros | null
  /** The last recorded instant; null if the market has no end. */
  readonly endsAt: Micros | null
  /**
   * The events after the last delivery, up to and including `until`, in bounded portions: a few thousand commands, and a dozen for each
   * followed contract.
   */
  next(until: Micros): Promise<Delivery>
  /** Ascending by start. @throws UnknownSymbol */
  bars(query: BarsQuery): Promise<readonly Bar[]>
  /** The phase of a session group, including forced ones, and its next change (null: unknown). */
  phaseAt(market: MarketGroup, at: Micros): { readonly phase: Phase; readonly nextChange: Micros | null }
  readonly control: MarketControl
}

/** Control actions on the market. Each takes effect at `at` or at the last delivery, whichever is later, and is in the next delivery. */
export interface MarketControl {
  /**
   * Quotes and prints the symbol at this price. A synthetic price continues from there; recorded prices return with their next quote.
   * @throws UnknownSymbol, Malformed if it is not a positive multiple of the tick
   */
  setPrice(symbol: string, price: string, at: Micros): void
  /** @throws UnknownSymbol */
  setHalted(symbol: string, halted: boolean, at: Micros): void
  /** While paused, no prices are delivered; those of that time are lost. */
  setPaused(paused: boolean, at: Micros): void
  /** Whether it is paused at this instant. */
  isPaused(at: Micros): boolean
  /** Forces a session group's phase; null returns it to its calendar. */
  forcePhase(market: MarketGroup, phase: Phase | null, at: Micros): void
}

/** A symbol that this market does not list. */
export class UnknownSymbol extends Error {
  override readonly name = 'UnknownSymbol'
  readonly symbol: string

  constructor(symbol: string) {
    super(`the market lists no ${JSON.stringify(symbol.slice(0, 40))}; see its instruments`)
    this.symbol = symbol
  }
}
