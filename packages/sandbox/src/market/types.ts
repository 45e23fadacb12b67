/** What every source of prices offers to the house: commands for the engine in time order, bars, instruments, and a hand on the wheel. */
import type { Decimal } from '@trunkline/core/domain/decimal'
import type { InstrumentSpec, MarketCommand, Micros, Phase } from '../engine/types.ts'

/** A listed instrument: what the engine needs of it, and where it trades. */
export interface Instrument extends InstrumentSpec {
  /** The venue its prices stand for, such as `NASDAQ`. */
  readonly exchange: string
}

/** Session groups: shares keep an exchange's day, crypto a day of UTC. */
export const MARKETS = ['us-equity', 'crypto'] as const
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
  /** First start no longer wanted. */
  readonly to: Micros
  /** The house's present: nothing after it is looked at, and the bar it falls into is not closed. */
  readonly now: Micros
  /** Only the last so many bars; {@link BARS_MAX} at most and by default. */
  readonly limit?: number
}

/** Bars one query answers at most; the newest win. */
export const BARS_MAX = 5_000

/** A stretch of the market. `commands` ascend by `at`; the engine takes them in this order. */
export interface Delivery {
  readonly commands: readonly MarketCommand[]
  /** Everything up to and including this instant has been delivered. While it is before what was asked for, ask again. */
  readonly through: Micros
}

/**
 * A source of prices. It has no clock: it is asked for everything up to an instant, and instants never go backwards. A call must have
 * ended before the next begins.
 */
export interface Market extends AsyncDisposable {
  readonly kind: 'synthetic' | 'replay'
  readonly instruments: readonly Instrument[]
  /** Where the house's clock must begin, or null when any present will do. */
  readonly startsAt: Micros | null
  /** The last instant with anything recorded; null when the market goes on for ever. */
  readonly endsAt: Micros | null
  /** What happened after the last delivery, up to and including `until`, in bounded portions (a few thousand commands). */
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
