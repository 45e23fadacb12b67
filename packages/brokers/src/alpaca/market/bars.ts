/** Past bars: the request for a page, and a page in the core's terms. A page has thousands. Pure. */

import { Malformed } from '@trunkline/core/domain/malformed'
import type { Bar } from '@trunkline/core/domain/market/records'
import { timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { Instrument } from '@trunkline/core/domain/vocabulary'
import { BrokerFault } from '@trunkline/core/ports/broker'
import type { BarsRequest } from '@trunkline/core/ports/market'
import type { HttpRequest } from '../../kit/http.ts'
import { readJson } from '../../kit/json.ts'
import { field, nestedOrNull, object, textOrNull } from '../../kit/parse.ts'
import { get } from '../../kit/requests.ts'
import { rootOf } from '../symbols.ts'
import type { MarketSettings } from './settings.ts'
import { exact, msOf } from './values.ts'

export const BARS_PAGE = 10_000
/** Beyond it a time is not written with four digits of a year. */
const TIME_MAX = Date.UTC(9999, 11, 31)

const FRAMES: Readonly<Record<string, { readonly name: string; readonly ms: number }>> = {
  '1m': { name: '1Min', ms: 60_000 },
  '5m': { name: '5Min', ms: 300_000 },
  '15m': { name: '15Min', ms: 900_000 },
  '30m': { name: '30Min', ms: 1_800_000 },
  '1h': { name: '1Hour', ms: 3_600_000 },
  '1d': { name: '1Day', ms: 86_400_000 }
}

/** `from`: what the page before named. @throws BrokerFault `refused` for times and intervals that Alpaca has no text for */
export function barsRequest(
  { symbol, interval, fromMs, toMs }: BarsRequest,
  instrument: Instrument,
  { stockFeed, from }: Pick<MarketSettings, 'stockFeed'> & { readonly from: string | null }
): HttpRequest {
  const frame = FRAMES[interval]
  if (frame === undefined) throw new BrokerFault('refused', `Alpaca has bars of ${Object.keys(FRAMES).join(', ')}, not of ${interval}`)
  if (!(fromMs >= 0 && fromMs <= toMs && toMs <= TIME_MAX))
    throw new BrokerFault('refused', `bars are requested from one time to a later one between 1970 and 9999, not from ${fromMs} to ${toMs}`)
  return get(`${rootOf(instrument)}/bars`, {
    symbols: symbol,
    timeframe: frame.name,
    start: timestampOfMs(fromMs),
    // Alpaca includes the end.
    end: timestampOfMs(Math.max(fromMs, toMs - 1)),
    limit: String(BARS_PAGE),
    sort: 'asc',
    // Prices before a split are those of today's shares, so that a chart has no cliff.
    adjustment: instrument === 'STK' ? 'split' : null,
    feed: instrument === 'STK' ? stockFeed : null,
    page_token: from
  })
}

export interface BarsPage {
  readonly bars: readonly Bar[]
  readonly next: string | null
}

/** What a page is read with. */
export interface BarsReading {
  readonly symbol: string
  readonly interval: string
  /** Start of the last bar before this page. */
  readonly afterMs: number
  /** Bars that end later may still change. */
  readonly presentMs: number
}

/** @throws Malformed also for bars that do not ascend. */
export function parseBarsPage(body: string, { symbol, interval, afterMs, presentMs }: BarsReading): BarsPage {
  const answer = object(readJson(body, { numbers: 'text' }), 'answer')
  const next = textOrNull(answer, 'next_page_token')
  const bySymbol = nestedOrNull(answer, 'bars')
  const items = bySymbol === null ? undefined : field(bySymbol, symbol)
  if (items === undefined || items === null) return { bars: [], next }
  if (!Array.isArray(items) || items.length > BARS_PAGE) throw new Malformed('bars', `a list of at most ${BARS_PAGE}`, items)
  const closedBeforeMs = presentMs - (FRAMES[interval]?.ms ?? 0)
  const bars: Bar[] = []
  let lastMs = afterMs
  for (const item of items) {
    const bar = parseBar(item, closedBeforeMs)
    if (bar.startMs <= lastMs) throw new Malformed('t', 'later than that of the bar before', new Date(bar.startMs).toISOString())
    lastMs = bar.startMs
    bars.push(bar)
  }
  return { bars, next }
}

interface RawBar {
  readonly t?: unknown
  readonly o?: unknown
  readonly h?: unknown
  readonly l?: unknown
  readonly c?: unknown
  readonly v?: unknown
}

function parseBar(item: unknown, closedBeforeMs: number): Bar {
  if (!isRawBar(item)) throw new Malformed('bar', 'an object', item)
  const startMs = msOf(item.t, 't')
  return {
    startMs,
    open: exact(item.o, 'o'),
    high: exact(item.h, 'h'),
    low: exact(item.l, 'l'),
    close: exact(item.c, 'c'),
    volume: exact(item.v, 'v'),
    closed: startMs <= closedBeforeMs
  }
}

function isRawBar(value: unknown): value is RawBar {
  return typeof value === 'object' && value !== null
}
