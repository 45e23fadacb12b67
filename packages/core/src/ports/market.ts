import type { TradingCalendar } from '../domain/calendar/index.ts'
import type { Bar, ChainEntry, Depth, Quote, Trade } from '../domain/market/records.ts'
import type { Day } from '../domain/timestamp.ts'
import type { Instrument, Session } from '../domain/vocabulary.ts'
import type { GapCause } from './gap.ts'

/** What a broker reports about a symbol that it has market data for. */
export interface MarketInstrument {
  /** The symbol in the API's notation: OCC options without padding, `BASE/QUOTE`, `[ROOT][M][YY]`. */
  readonly symbol: string
  readonly instrument: Instrument
  /** When the broker's market for it is open: the session `BrokerDefault` is every phase of this calendar except `closed`. */
  readonly calendar: TradingCalendar
}

/** Something a broker can stream. Bars are the broker's own, in one of its `liveIntervals`. */
export type Topic =
  | { readonly channel: 'trades'; readonly symbol: string }
  | { readonly channel: 'quotes'; readonly symbol: string }
  /** Always all levels that the broker has, up to ten. */
  | { readonly channel: 'depth'; readonly symbol: string }
  | { readonly channel: 'bars'; readonly symbol: string; readonly interval: string }
  /** `symbol` is the underlying. Greeks are included if the broker has them. */
  | { readonly channel: 'options_chain'; readonly symbol: string; readonly expiration: Day }

/**
 * Receives the events of a topic, called synchronously in the order of the broker's messages. Must not throw. After `lost`, nothing arrives
 * until `live`; what happened in between is missing and must be read from the broker's history.
 */
export interface TopicSink {
  /** The broker now streams the topic: at first, and after every loss. */
  live(): void
  lost(cause: GapCause, reason: string): void
  /** The broker refuses to stream it: unknown symbol, no entitlement. No event follows. */
  refused(message: string): void
  trade(trade: Trade): void
  quote(quote: Quote): void
  depth(depth: Depth): void
  bar(bar: Bar): void
  /** One contract. Every contract of the chain comes once at first, and again on every change. */
  chain(entry: ChainEntry): void
}

/** A subscription to a topic; disposing it ends the subscription. */
export interface TopicLease extends Disposable {
  /** Subscribes again at the broker, because it has been silent for too long. Emits `lost` and `live` as after any loss. */
  renew(): void
}

export interface BarsRequest {
  readonly symbol: string
  /** One of the broker's `historyIntervals`. */
  readonly interval: string
  /** Start of the first bar wanted, in milliseconds since the epoch. */
  readonly fromMs: number
  /** Exclusive: bars that start here or later are not wanted. */
  readonly toMs: number
  /** For daily bars of a share: one of the broker's `dailySessions`. Absent: the broker's own day. */
  readonly session?: Session
}

/** A symbol found by a search, in the API's notation. */
export interface FoundSymbol {
  readonly symbol: string
  readonly instrument: Instrument
  readonly name: string | null
  /** The broker's own code. */
  readonly exchange: string | null
}

/** Most symbols returned by one search. */
export const SYMBOLS_FOUND_MAX = 100

/** Market data of one login at one broker. */
export interface MarketSource {
  /**
   * The market's present time in milliseconds since the epoch: the machine's clock, unless the broker runs on a clock of its own. Known
   * once {@link instrument} has answered; runs backwards by no more than the broker's own clock does.
   */
  presentMs(): number
  /** Null if the broker does not know the symbol. @throws BrokerFault */
  instrument(symbol: string, signal: AbortSignal): Promise<MarketInstrument | null>
  /**
   * Past bars in pages, ascending. An unfinished bar is included if it falls into the window.
   * @throws BrokerFault, `refused` for a symbol or window that the broker does not have
   */
  bars(request: BarsRequest, signal: AbortSignal): AsyncIterable<readonly Bar[]>
  /** The expirations of an underlying's options, ascending; empty if there are none. @throws BrokerFault */
  expirations(underlying: string, signal: AbortSignal): Promise<readonly Day[]>
  /**
   * Every option contract of an underlying that expires on a day, each once with its present market, in no order; empty if there are none.
   * Never a partial chain.
   * @throws BrokerFault, also if the chain cannot be proved complete
   */
  chain(underlying: string, expiration: Day, signal: AbortSignal): Promise<readonly ChainEntry[]>
  /**
   * Searches symbols by their beginning or by parts of their names, as the broker does; at most {@link SYMBOLS_FOUND_MAX}, without option
   * contracts. Called only if the capability `symbolSearch` is set.
   * @throws BrokerFault
   */
  search(text: string, signal: AbortSignal): Promise<readonly FoundSymbol[]>
  /**
   * Starts to stream a topic that this source does not stream yet. One connection to the broker serves all topics; it opens with the first
   * and closes after the last. Never throws for anything that the broker or the network did.
   */
  stream(topic: Topic, sink: TopicSink): TopicLease
}
