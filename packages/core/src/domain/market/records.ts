/** Market data in the core's types. Prices and sizes are exact texts; unknown values are null. */
import type { Brand } from '../brand.ts'
import type { Decimal } from '../decimal.ts'
import type { Day } from '../timestamp.ts'

/** Nanoseconds since the Unix epoch, as a whole number in text. */
export type Nanos = Brand<string, 'Nanos'>

/**
 * Which figures of a bar a trade changes: `all`, only its `volume` (odd lots, late and average-price prints where the tape flags them), or
 * `none`.
 */
export const TRADE_EFFECTS = ['all', 'volume', 'none'] as const
export type TradeEffect = (typeof TRADE_EFFECTS)[number]

export interface Trade {
  readonly price: Decimal
  readonly size: Decimal
  /** The trading venue in the broker's code; empty if the broker does not report it. Printable ASCII without quotes and backslashes. */
  readonly venue: string
  readonly at: Nanos
  readonly effect: TradeEffect
}

/** The best bid and ask of a symbol. A side without a quote has null price and size. */
export interface Quote {
  readonly bidPrice: Decimal | null
  readonly bidSize: Decimal | null
  readonly askPrice: Decimal | null
  readonly askSize: Decimal | null
  readonly at: Nanos
}

/** One price level of an order book. `orders` is the number of orders at that level, null if the broker does not report it. */
export interface DepthLevel {
  readonly price: Decimal
  readonly size: Decimal
  readonly orders: Decimal | null
  readonly venue: string
  readonly at: Nanos
}

/** A complete order book, as deep as the broker shows it, best prices first. */
export interface Depth {
  readonly bids: readonly DepthLevel[]
  readonly asks: readonly DepthLevel[]
}

export interface Greeks {
  readonly delta: Decimal | null
  readonly gamma: Decimal | null
  /** Per calendar day. */
  readonly theta: Decimal | null
  /** Per percentage point of the rate. */
  readonly rho: Decimal | null
  /** Per percentage point of volatility. */
  readonly vega: Decimal | null
  /** Implied volatility per year: `0.25` is 25 %. */
  readonly iv: Decimal | null
}

/** One contract of an options chain with its present market. */
export interface ChainEntry {
  /** OCC symbol without padding. */
  readonly symbol: string
  readonly right: 'C' | 'P'
  readonly strike: Decimal
  readonly expiration: Day
  readonly bid: Decimal | null
  readonly bidSize: Decimal | null
  readonly ask: Decimal | null
  readonly askSize: Decimal | null
  /** Midpoint of bid and ask. */
  readonly mid: Decimal | null
  readonly last: Decimal | null
  readonly open: Decimal | null
  readonly high: Decimal | null
  readonly low: Decimal | null
  /** The day's close; null before it. */
  readonly close: Decimal | null
  readonly previousClose: Decimal | null
  readonly netChange: Decimal | null
  /** `1.5` is 1.5 %. */
  readonly netChangePct: Decimal | null
  readonly volume: Decimal | null
  /** Null if the broker has none. */
  readonly greeks: Greeks | null
}

/** `startMs` is the bar's start in milliseconds since the epoch. Times without a trade have no bar. */
export interface Bar {
  readonly startMs: number
  readonly open: Decimal
  readonly high: Decimal
  readonly low: Decimal
  readonly close: Decimal
  readonly volume: Decimal
  /** False while it may still change. */
  readonly closed: boolean
}

/** Whole milliseconds since the epoch. */
export function msOfNanos(at: Nanos): number {
  return at.length <= 6 ? 0 : Number(at.slice(0, -6))
}

/** @param ms whole milliseconds since the epoch */
export function nanosOfMs(ms: number): Nanos {
  return `${ms}000000` as Nanos
}
