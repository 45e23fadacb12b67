import type { TradingCalendar } from '../domain/calendar/index.ts'
import type { Bar, ChainEntry, Depth, Quote, Trade } from '../domain/market/records.ts'
import type { Day } from '../domain/timestamp.ts'
import type { Instrument, Session } from '../domain/vocabulary.ts'
import type { GapCause } from './broker.ts'

/** What a broker knows of a symbol that market data can be had for. */
export interface MarketInstrument {
  /** The contract's text for it: OCC options without padding, `BASE/QUOTE`, `[ROOT][M][YY]`. */
  readonly symbol: string
  readonly instrument: Instrument
  /** When the broker's own market for it is open: its session `BrokerDefault` is every phase of this calendar but `closed`. */
  readonly calendar: TradingCalendar
}

/** One thing a broker can be asked to stream. Bars are of the broker's own kind, in one of its `liveIntervals`. */
export type Topic =
  | { readonly channel: 'trades'; readonly symbol: string }
  | { readonly channel: 'quotes'; readonly symbol: string }
  /** Always as many levels as the broker has, up to ten. */
  | { readonly channel: 'depth'; readonly symbol: string }
  | { readonly channel: 'bars'; readonly symbol: string; readonly interval: string }
  /** `symbol` is the underlying. Greeks are included where the broker has them. */
  | { readonly channel: 'options_chain'; readonly symbol: string; readonly expiration: Day }

/**
 * Where a topic's events go. Called synchronously as the broker's messages arrive, in their order; must not throw. After `lost` nothing
 * arrives until `live`, and what happened between is missing: the broker's history has it.
 */
export interface TopicSink {
  /** The broker streams the topic now: at first, and after every loss. */
  live(): void
  lost(cause: GapCause, reason: string): void
  /** The broker will not stream it: an unknown symbol, no entitlement. Nothing follows. */
  refused(message: string): void
  trade(trade: Trade): void
  quote(quote: Quote): void
  depth(depth: Depth): void
  bar(bar: Bar): void
  /** One contract; every contract of the chain comes once at first, and again whenever it changes. */
  chain(entry: ChainEntry): void
}

/** A topic that is streamed; disposing it ends that. */
export interface TopicLease extends Disposable {
  /** Requests it from the broker again, because nothing has come for too long. Emits `lost` and `live` as after any loss. */
  renew(): void
}

export interface BarsRequest {
  readonly symbol: string
  /** One of the broker's `historyIntervals`. */
  readonly interval: string
  /** First start wanted, milliseconds since the epoch. */
  readonly fromMs: number
  /** First start no longer wanted. */
  readonly toMs: number
  /** Of daily bars of a share: one of the broker's `dailySessions`. Left out: the day as the broker has it. */
  readonly session?: Session
}

/** A symbol that a search found, in the contract's text. */
export interface FoundSymbol {
  readonly symbol: string
  readonly instrument: Instrument
  readonly name: string | null
  /** In the broker's own code. */
  readonly exchange: string | null
}

/** Symbols that one search gives at most. */
export const SYMBOLS_FOUND_MAX = 100

/** Market data of one login at one broker. */
export interface MarketSource {
  /**
   * The market's present, milliseconds since the epoch, as far as the broker has shown: the machine's clock, unless the broker keeps a time of
   * its own. Known once {@link instrument} has answered; never runs backwards by more than the broker's own clock does.
   */
  presentMs(): number
  /** Null when the broker knows no such symbol. @throws BrokerFault */
  instrument(symbol: string, signal: AbortSignal): Promise<MarketInstrument | null>
  /**
   * Past bars in pages, ascending; the one that is not over yet is included when it falls into the window. @throws BrokerFault, `refused` for
   * a symbol or window the broker does not have
   */
  bars(request: BarsRequest, signal: AbortSignal): AsyncIterable<readonly Bar[]>
  /** The expirations of an underlying's options, ascending; empty when it has none. @throws BrokerFault */
  expirations(underlying: string, signal: AbortSignal): Promise<readonly Day[]>
  /**
   * Every contract of an underlying that expires on a day, each once, with its present market, in no order; empty when there are none. Never a part
   * of them. @throws BrokerFault, also when nothing proves that they are all
   */
  chain(underlying: string, expiration: Day, signal: AbortSignal): Promise<readonly ChainEntry[]>
  /**
   * Symbols by their beginning or by parts of their names, as the broker searches, at most {@link SYMBOLS_FOUND_MAX}; contracts of options are not among
   * them. Asked only where the capability `symbolSearch` says so. @throws BrokerFault
   */
  search(text: string, signal: AbortSignal): Promise<readonly FoundSymbol[]>
  /**
   * Begins to stream a topic; nothing else streams the same one of this source. One connection to the broker serves all topics, opened with the
   * first and closed after the last. Never throws for what the broker or the network did.
   */
  stream(topic: Topic, sink: TopicSink): TopicLease
}
