/** Recorded bars as in the files: every number exact, as text. */
import type { Decimal } from '@trunkline/core/domain/decimal'
import type { Micros } from '../../engine/types.ts'
import type { Catalog } from './catalog.ts'
import { type Ohlc, type QuoteBar, type QuoteSide, quoteBars, type Resolution, type TradeBar, tradeBars } from './rows.ts'

export interface BarPrices {
  readonly open: Decimal
  readonly high: Decimal
  readonly low: Decimal
  readonly close: Decimal
}

export interface RecordedTradeBar extends BarPrices {
  readonly start: Micros
  readonly volume: Decimal
}

export interface RecordedQuoteBar {
  readonly start: Micros
  /** Null without quotes on that side. */
  readonly bid: (BarPrices & { readonly lastSize: Decimal }) | null
  readonly ask: (BarPrices & { readonly lastSize: Decimal }) | null
}

export interface RecordedQuery {
  readonly symbol: string
  readonly resolution: Exclude<Resolution, 'tick'>
  /** `YYYY-MM-DD`. Null for hour and daily bars: the whole history. */
  readonly date: string | null
}

const DAY = 86_400_000_000

/** Trade bars, ascending; empty if nothing is recorded. @throws BadMarketData */
export async function recordedTradeBars(catalog: Catalog, query: RecordedQuery): Promise<readonly RecordedTradeBar[]> {
  const found = catalog.find({ ...query, data: 'trade' })
  if (found === null) return []
  const inDate = dateFilter(query, found.rows.midnight)
  const bars: RecordedTradeBar[] = []
  for await (const batch of tradeBars(found.rows)) for (const row of batch) if (inDate(row.at)) bars.push(tradeBarOf(row))
  return bars
}

/** Quote bars, ascending; empty if nothing is recorded. @throws BadMarketData */
export async function recordedQuoteBars(catalog: Catalog, query: RecordedQuery): Promise<readonly RecordedQuoteBar[]> {
  const found = catalog.find({ ...query, data: 'quote' })
  if (found === null) return []
  const inDate = dateFilter(query, found.rows.midnight)
  const bars: RecordedQuoteBar[] = []
  for await (const batch of quoteBars(found.rows)) for (const row of batch) if (inDate(row.at)) bars.push(quoteBarOf(row))
  return bars
}

/** A recorded row as a bar of texts. */
export function tradeBarOf(row: TradeBar): RecordedTradeBar {
  return { start: row.at, ...texts(row), volume: row.volume }
}

/** The same for a row of quotes. */
export function quoteBarOf({ at, bid, ask }: QuoteBar): RecordedQuoteBar {
  return { start: at, bid: sideOf(bid), ask: sideOf(ask) }
}

function sideOf(side: QuoteSide | null): RecordedQuoteBar['bid'] {
  return side === null ? null : { ...texts(side), lastSize: side.lastSize }
}

function texts({ open, high, low, close }: Ohlc): BarPrices {
  return { open: open.text, high: high.text, low: low.text, close: close.text }
}

function dateFilter({ date }: RecordedQuery, midnight: (date: string) => Micros): (at: Micros) => boolean {
  if (date === null) return () => true
  const start = midnight(date)
  // A row of the next day is at least a whole day later, except after a short Sunday, which has no rows of shares.
  return at => at >= start && at < start + DAY
}
