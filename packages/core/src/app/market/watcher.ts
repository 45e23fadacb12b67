import type { Bar, ChainEntry, Depth, Quote, Trade } from '../../domain/market/records.ts'
import type { Session } from '../../domain/vocabulary.ts'

/** A subscription request. Symbols, intervals and days are as the client wrote them. */
export type WatchRequest =
  | { readonly channel: 'trades'; readonly symbol: string; readonly session: string }
  | { readonly channel: 'quotes' | 'depth'; readonly symbol: string }
  | {
      readonly channel: 'bars'
      readonly symbol: string
      readonly interval: string
      readonly session: string
      /** How many past bars to send first. */
      readonly backfill: number
    }
  | { readonly channel: 'options_chain'; readonly symbol: string; readonly expiration: string }

/** The session with the broker's own hours. */
export const BROKER_DEFAULT: Session = 'BrokerDefault'

/** Receives events, synchronously and in the broker's order; must not throw. Only the methods of requested channels are called. */
export interface Watcher {
  trade(trade: Trade): void
  quote(quote: Quote): void
  depth(depth: Depth): void
  chain(entry: ChainEntry): void
  /** The open bar when it changes, and each bar once when it closes. */
  bar(bar: Bar): void
  /** The stream is interrupted; it continues by itself when the broker is back. */
  interrupted(reason: string): void
}

/** A running subscription. */
export interface Watch {
  /** From now on the watcher receives events, the present state first. Must be called once. */
  begin(watcher: Watcher): void
  end(): void
}
