/** What of Tradier's ways can be set, and how the sandbox sets it. */

/** Tradier counts requests of these classes apart. */
export type RequestClass = 'standard' | 'market' | 'trading'

export interface TradierOptions {
  /** Requests of a token in the minute that begins with the first of them. */
  readonly limits: Readonly<Record<RequestClass, number>>
  /** Real time between two signs of life of the account stream, where the sandbox sets none. */
  readonly heartbeatMs: number
  /** The share of new orders whose first two events come as `open`, `pending`. */
  readonly swapped: number
  /** The share of orders that are `filled` for a while before their average price is known to REST, and how long in real milliseconds. */
  readonly lateAverage: { readonly share: number; readonly ms: number }
  /** Life of access tokens in seconds, where the control API sets none. */
  readonly accessTtlS: number
}

/** What Tradier allows a live account. */
export const LIVE_LIMITS = { standard: 120, market: 120, trading: 60 } as const satisfies TradierOptions['limits']

export const DEFAULT_OPTIONS: TradierOptions = {
  // A thousand times as much as Tradier: anyone who develops or measures against the sandbox is to meet his own pace, not this one.
  limits: { standard: 120_000, market: 120_000, trading: 60_000 },
  heartbeatMs: 60_000,
  swapped: 0.25,
  lateAverage: { share: 0.1, ms: 150 },
  accessTtlS: 86_399
}
