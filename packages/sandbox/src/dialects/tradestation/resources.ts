/** What quotas count: each kind of question by itself, as TradeStation publishes them. */

export interface Quota {
  readonly resource: string
  readonly limit: number
  readonly periodS: number
}

const FIVE_MINUTES = 300
const brokerage = (resource: string): Quota => ({ resource, limit: 320, periodS: FIVE_MINUTES })
const market = (resource: string): Quota => ({ resource, limit: 500, periodS: FIVE_MINUTES })
const options = (resource: string): Quota => ({ resource, limit: 90, periodS: 60 })

/** By a piece of the route's path; the first that fits counts. Order placement has no published quota. */
const QUOTAS: readonly (readonly [piece: string, quota: Quota])[] = [
  ['/stream/marketdepth/', { resource: 'market-depth', limit: 30, periodS: 60 }],
  ['/stream/options/chains/', options('option-chain-stream')],
  ['/options/expirations/', options('option-expirations')],
  ['/options/strikes/', options('option-strikes')],
  ['/marketdata/stream/quotes/', market('quote-change-stream')],
  ['/marketdata/stream/barcharts/', market('barchart-stream')],
  ['/marketdata/barcharts/', market('barchart')],
  ['/balances', brokerage('balances')],
  ['/positions', brokerage('positions')],
  ['/orders', brokerage('orders')],
  ['/historicalorders', brokerage('orders')],
  ['/brokerage/accounts', brokerage('accounts')]
]

/** The quota of a route; null: none is published. */
export function quotaOf(path: string): Quota | null {
  if (path.includes('/orderexecution/')) return null
  return QUOTAS.find(([piece]) => path.includes(piece))?.[1] ?? null
}

/** Streams of one kind that may be open at the same time. */
export interface Cap {
  readonly resource: string
  readonly limit: number
}

/** Null: none is published. */
export function capOf(path: string): Cap | null {
  if (path.includes('/stream/marketdepth/')) return { resource: 'market-depth', limit: 10 }
  if (path.includes('/stream/options/chains/')) return { resource: 'option-chain', limit: 10 }
  if (path.endsWith('/orders') && path.includes('/stream/')) return { resource: 'orders', limit: 40 }
  if (path.endsWith('/positions') && path.includes('/stream/')) return { resource: 'positions', limit: 40 }
  return null
}

/** The TradeStation scope that a route needs. */
export function scopeOf(path: string): string {
  if (path.includes('/stream/marketdepth/')) return 'Matrix'
  if (path.includes('/orderexecution/')) return 'Trade'
  return path.includes('/marketdata/') ? 'MarketData' : 'ReadAccount'
}
