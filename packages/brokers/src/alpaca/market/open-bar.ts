/** The minute that is under way. Alpaca's history has a minute once it is over, and a moment later; until then it is derived from its trades. Pure. */

import { compare, type Decimal, sum } from '@trunkline/core/domain/decimal'
import { Malformed } from '@trunkline/core/domain/malformed'
import { type Bar, msOfNanos, type Trade } from '@trunkline/core/domain/market/records'
import { timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { Instrument } from '@trunkline/core/domain/vocabulary'
import type { HttpRequest } from '../../kit/http.ts'
import { readJson } from '../../kit/json.ts'
import { field, nestedOrNull, object, textOrNull } from '../../kit/parse.ts'
import { get } from '../../kit/requests.ts'
import { rootOf } from '../symbols.ts'
import { isItem, tradeOf } from './items.ts'
import type { MarketSettings } from './settings.ts'

export const TRADES_PAGE = 10_000
const MINUTE_MS = 60_000
/** A minute that is over is in the history by then. */
const PUBLISHED_MS = 5_000

/** Starts of the minutes within [fromMs, toMs) and after the history's last that the history may lack, ascending. */
export function minutesLacking(
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
  lastMs: number,
  presentMs: number
): readonly number[] {
  const current = Math.floor(presentMs / MINUTE_MS) * MINUTE_MS
  const late = presentMs - current < PUBLISHED_MS ? [current - MINUTE_MS] : []
  return [...late, current].filter(startMs => startMs >= fromMs && startMs < toMs && startMs > lastMs)
}

export function tradesRequest(
  symbol: string,
  instrument: Instrument,
  { stockFeed, fromMs, next }: Pick<MarketSettings, 'stockFeed'> & { readonly fromMs: number; readonly next: string | null }
): HttpRequest {
  return get(`${rootOf(instrument)}/trades`, {
    symbols: symbol,
    start: timestampOfMs(fromMs),
    limit: String(TRADES_PAGE),
    sort: 'asc',
    feed: instrument === 'STK' ? stockFeed : null,
    page_token: next
  })
}

/** @throws Malformed */
export function parseTrades(body: string, symbol: string): { readonly items: readonly Trade[]; readonly next: string | null } {
  const answer = object(readJson(body, { numbers: 'text' }), 'answer')
  const bySymbol = nestedOrNull(answer, 'trades')
  const items = (bySymbol === null ? null : field(bySymbol, symbol)) ?? []
  if (!Array.isArray(items) || items.length > TRADES_PAGE) throw new Malformed('trades', `a list of at most ${TRADES_PAGE}`, items)
  const read = items.map(item => {
    if (!isItem(item)) throw new Malformed('trade', 'an object', item)
    return tradeOf(item)
  })
  return { items: read, next: textOrNull(answer, 'next_page_token') }
}

/** What trades make of a minute; null when none of them moves a price. */
export function barOf(trades: readonly Trade[], startMs: number, presentMs: number): Bar | null {
  const own = trades.filter(({ at }) => msOfNanos(at) >= startMs && msOfNanos(at) < startMs + MINUTE_MS)
  const prices = own.filter(({ effect }) => effect === 'all').map(({ price }) => price)
  const [open, ...rest] = prices
  if (open === undefined) return null
  return {
    startMs,
    open,
    high: rest.reduce((high, price) => (compare(price, high) > 0 ? price : high), open),
    low: rest.reduce((low, price) => (compare(price, low) < 0 ? price : low), open),
    close: prices.at(-1) ?? open,
    volume: volumeOf(own),
    closed: startMs + MINUTE_MS <= presentMs
  }
}

function volumeOf(trades: readonly Trade[]): Decimal {
  return sum(trades.filter(({ effect }) => effect !== 'none').map(({ size }) => size))
}
