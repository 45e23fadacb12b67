/** Prices, sizes and volumes are exact decimals as text. Times are nanoseconds since the Unix epoch, as text. */
export interface Bar {
  readonly o: string
  readonly h: string
  readonly l: string
  readonly c: string
  readonly v: string
  /** The start of the bar. */
  readonly ts: string
  /** `c`: closed, and final. `o`: open; the next of the same `ts` replaces it. */
  readonly st: 'c' | 'o'
}

export interface Trade {
  readonly p: string
  readonly s: string
  /** The venue; may be empty. */
  readonly n: string
  readonly ts: string
}

/** Null where there is none. */
export interface Quote {
  readonly bp: string | null
  readonly bs: string | null
  readonly ap: string | null
  readonly as: string | null
  readonly ts: string
}

/** Price, size, number of orders (empty if unknown), venue (may be empty), time. */
export type Level = readonly [price: string, size: string, orders: string, venue: string, ts: string]

/** A whole book to its level, best first. */
export interface Book {
  readonly b: readonly Level[]
  readonly a: readonly Level[]
}

/** An option as the stream describes it; the document of the service names its fields. */
export interface Contract {
  readonly side: 'Call' | 'Put'
  readonly legs: readonly { readonly sym: string; readonly strike_price: string; readonly [field: string]: unknown }[]
  readonly bid: string | null
  readonly ask: string | null
  readonly [field: string]: unknown
}

export interface Subscribing {
  readonly symbol: string
  readonly signal?: AbortSignal
  /** Called when the data stops being current, and when it is current again. What it throws is ignored. */
  readonly onStatus?: (status: MarketStatus) => void
}

export type MarketStatus = { readonly isLive: true } | { readonly isLive: false; readonly reason: string }

export interface BarsOptions extends Subscribing {
  /** A number and a unit: `m`, `h`, `d`, `w`, `M`, `y`. */
  readonly interval: string
  readonly session?: string
  /** Closed bars to begin with. */
  readonly backfill?: number
}

export interface HistoryOptions {
  readonly symbol: string
  readonly interval: string
  /** RFC 3339 with an offset; inclusive. */
  readonly start: string
  /** Exclusive. */
  readonly end: string
  readonly signal?: AbortSignal
}
