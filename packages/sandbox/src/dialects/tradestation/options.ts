/** What this dialect leaves to whoever opens it: the modes of a key at TradeStation, and the bounds of the service. */

export interface TradestationOptions {
  /** Whether the key's refresh tokens are spent by a refresh, which then brings another one. TradeStation's default is not. */
  readonly rotation: boolean
  /** Each published request quota times this. Only clients that want to meet the limits need 1. */
  readonly quotaFactor: number
  /** Streams of one kind that a login may have open, times this. */
  readonly streamFactor: number
  /** Chance in 256 that a cut is made in the frames of one turn, so that a chunk ends within a frame. */
  readonly cutChance: number
  /** Chance in 256 of each of the stream's documented oddities: see README.md. */
  readonly oddityChance: number
}

/**
 * Quotas are twenty times the published ones: tests and benches drive one login harder than a person's programs may, and learn nothing from
 * waiting. The caps on open streams are the published ones, because a client has to live within them from the first day.
 */
export const DEFAULT_OPTIONS: TradestationOptions = { rotation: false, quotaFactor: 20, streamFactor: 1, cutChance: 64, oddityChance: 64 }
