import type { Bar, ChainEntry, Depth, Quote, Trade } from '../../domain/market/records.ts'
import type { Session } from '../../domain/vocabulary.ts'

/** What a client subscribes to. Symbols, intervals and days are as the client wrote them. */
export type WatchRequest =
  | { readonly channel: 'trades'; readonly symbol: string; readonly session: string }
  | { readonly channel: 'quotes' | 'depth'; readonly symbol: string }
  | {
      readonly channel: 'bars'
      readonly symbol: string
      readonly interval: string
      readonly session: string
      /** Past bars to begin with. */
      readonly backfill: number
    }
  | { readonly channel: 'options_chain'; readonly symbol: string; readonly expiration: string }

/** The session whose hours are the broker's own. */
export const BROKER_DEFAULT: Session = 'BrokerDefault'

/** Receives the events. Called synchronously, in the broker's order; must not throw. Only what was requested is called. */
export interface Watcher {
  trade(trade: Trade): void
  quote(quote: Quote): void
  depth(depth: Depth): void
  chain(entry: ChainEntry): void
  /** The open bar when it changes, and each bar once when it closes. */
  bar(bar: Bar): void
  /** Nothing comes until the broker is back; then it goes on by itself. */
  interrupted(reason: string): void
}

/** What was asked for runs. */
export interface Watch {
  /** From here on the watcher receives events, the present state first. To be called once. */
  begin(watcher: Watcher): void
  end(): void
}
