/** What every source of prices offers to the sandbox: commands for the engine in time order, bars, instruments, and a hand on the wheel. */
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
 * When an instrument trades. `us_equity`: 09:30 to 16:00 New York with extended hours; `us_option`: 09:30 to 16:00; `cme`: Sunday 18:00 to Friday 17:00
 * with a pause from 17:00 to 18:00; `always`: New York days without an end; `always_utc`: UTC days without an end.
 */
export const HOURS = ['us_equity', 'us_option', 'cme', 'always', 'always_utc'] as const
export type Hours = (typeof HOURS)[number]

/** A listed instrument: what the engine needs of it, and where and when it trades. */
export interface Instrument extends InstrumentSpec {
  /** The venue its prices stand for, such as `NASDAQ`. */
  readonly exchange: string
  readonly hours: Hours
}

/** Session groups, {@link Instrument.market}: shares and options keep exchange days, futures those of their own exchange, crypto a day of UTC. */
export const MARKETS = ['us-equity', 'us-option', 'cme', 'crypto'] as const
export type MarketGroup = (typeof MARKETS)[number]

export const BAR_INTERVALS = ['1s', '1m', '5m', '15m', '30m', '1h', '1d'] as const
export type BarInterval = (typeof BAR_INTERVALS)[number]

/** Prices in the instrument's currency, volume in its units. Stretches without a trade have no bar. */
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
  /** First start wanted. */
  readonly from: Micros
  /** Exclusive: bars that start here or later are not wanted. */
  readonly to: Micros
  /** The sandbox's present: nothing after it is looked at, and the bar it falls into is not closed. */
  readonly now: Micros
  /** Only the last so many bars; {@link BARS_MAX} at most and by default. */
  readonly limit?: number
  /** Daily bars of a share only: `core` counts the exchange's core session, whatever hours the share trades here. Left out: the day as this market has it. */
  readonly session?: DailySession
}

export const DAILY_SESSIONS = ['core'] as const
export type DailySession = (typeof DAILY_SESSIONS)[number]

/** Bars one query answers at most; the newest win. */
export const BARS_MAX = 5_000

/** What a market sends to the engine: prices and phases, and the listing, settlement and expiry of contracts. */
export type FeedCommand = Exclude<MarketCommand, TradeCommand> | FeedTrade | ListInstrumentCommand | ExpireCommand | SettleCommand

/** A print, with what a tape of single trades knows of it; synthetic ones and those rebuilt from bars leave both out. */
export interface FeedTrade extends TradeCommand {
  /** It counts for the volume of a bar and moves none of its prices. Left out: it counts for all. */
  readonly effect?: 'volume'
  /** Where it happened, in the recording's code. */
  readonly venue?: string
}

/** A stretch of the market. `commands` ascend by `at`; the engine takes them in this order. */
export interface Delivery {
  readonly commands: readonly FeedCommand[]
  /** Everything up to and including this instant has been delivered. While it is before what was asked for, ask again. */
  readonly through: Micros
}

/** An option's day and its model figures at an instant. Prices per unit of the underlying, volume in contracts; what is not known is null. */
export interface OptionFigures {
  /** The day's prints so far, in the days of the contract's session group. */
  readonly open: Decimal | null
  readonly high: Decimal | null
  readonly low: Decimal | null
  /** The last print of the day, or of the day before. */
  readonly last: Decimal | null
  /** The day's closing price; null while its session is under way. */
  readonly close: Decimal | null
  readonly previousClose: Decimal | null
  readonly volume: Decimal | null
  readonly theoretical: Decimal | null
  /** Money per money of the underlying; calls 0 to 1, puts -1 to 0. */
  readonly delta: Decimal | null
  readonly gamma: Decimal | null
  /** A calendar day. */
  readonly theta: Decimal | null
  /** A percentage point of volatility. */
  readonly vega: Decimal | null
  /** A percentage point of the rate. */
  readonly rho: Decimal | null
  /** A year's: `0.25` is 25 %. */
  readonly iv: Decimal | null
  /** Contracts open, where recorded. */
  readonly openInterest: Decimal | null
}

/** Symbols of contracts that can be followed at once. */
export const FOLLOWED_MAX = 20_000

/**
 * A source of prices. It has no clock: it is asked for everything up to an instant, and instants never go backwards. A call must have
 * ended before the next begins.
 *
 * Shares and crypto are always delivered. Contracts (options and futures) are too many: they are found on demand, and delivered from
 * {@link follow} on. `at` is the sandbox's present; a contract exists from its listing to its last trade, by rule.
 */
export interface Market extends AsyncDisposable {
  readonly kind: 'synthetic' | 'replay'
  /** Shares and crypto: all that is delivered without being followed. */
  readonly instruments: readonly Instrument[]
  /** Any instrument that exists at that instant: shares, crypto, and contracts made on demand. */
  find(symbol: string, at: Micros): Instrument | null
  /** The futures months listed at that instant, by root and month. */
  futures(at: Micros): readonly Instrument[]
  /** `YYYY-MM-DD`, ascending; empty for an underlying without options. */
  expirations(underlying: string, at: Micros): readonly string[]
  /** By strike, the call before the put; empty when there is no such chain. */
  chain(underlying: string, expiration: string, at: Micros): readonly Instrument[]
  /**
   * From the next delivery on these contracts' quotes and prints come too. It begins with `list_instrument` and the quote as it stands;
   * futures are settled once a trading day, and both kinds end with `expire`, after which they are no longer followed. Of a contract that
   * ended before it was followed only `expire` comes, at once. Symbols that are always delivered, are followed already or do not exist are
   * passed over.
   * @throws RangeError beyond {@link FOLLOWED_MAX}
   */
  follow(symbols: Iterable<string>): void
  /** No more prices of these. */
  unfollow(symbols: Iterable<string>): void
  /** Cheap for a followed contract, else a few milliseconds at most; null for a symbol that is no option. */
  figures(symbol: string, at: Micros): OptionFigures | null
  /** The last price of anything that options are written on, an index included; null when not known. */
  priceOf(symbol: string, at: Micros): Decimal | null
  /** Where the sandbox's clock must begin, or null when any present will do. */
  readonly startsAt: Micros | null
  /** The last instant with anything recorded; null when the market goes on for ever. */
  readonly endsAt: Micros | null
  /** What happened after the last delivery, up to and including `until`, in bounded portions: a few thousand commands, and a dozen for each followed contract. */
  next(until: Micros): Promise<Delivery>
  /** Ascending by start. @throws UnknownSymbol */
  bars(query: BarsQuery): Promise<readonly Bar[]>
  /** The phase of a session group, forced ones included, and when it changes next (null: not foreseeable). */
  phaseAt(market: MarketGroup, at: Micros): { readonly phase: Phase; readonly nextChange: Micros | null }
  readonly control: MarketControl
}

/** Moves the market by hand. Each takes effect at `at` or at the last delivery, whichever is later, and shows in the next delivery. */
export interface MarketControl {
  /**
   * Quotes and prints the symbol at this price. A synthetic price walks on from there; recorded prices come back with their next quote.
   * @throws UnknownSymbol, Malformed when it is no positive multiple of the tick
   */
  setPrice(symbol: string, price: string, at: Micros): void
  /** @throws UnknownSymbol */
  setHalted(symbol: string, halted: boolean, at: Micros): void
  /** While paused no prices come; what would have come is lost. */
  setPaused(paused: boolean, at: Micros): void
  /** Forces a session group's phase; null gives it back to its calendar. */
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
