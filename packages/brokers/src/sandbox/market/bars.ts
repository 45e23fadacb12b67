/** Past bars: the request for a page, and a page in the core's terms. A page has thousands, so each is read with as little as it takes. Pure. */

import type { Decimal } from '@trunkline/core/domain/decimal'
import { isPlainDecimal } from '@trunkline/core/domain/fast/scan'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { Bar } from '@trunkline/core/domain/market/records'
import { type Timestamp, timestampOfMs } from '@trunkline/core/domain/timestamp'
import { BrokerFault } from '@trunkline/core/ports/broker'
import type { BarsRequest } from '@trunkline/core/ports/market'
import type { HttpRequest } from '../../kit/http.ts'
import { readJson } from '../../kit/json.ts'
import { object, textOrNull, timestamp } from '../../kit/parse.ts'
import { get } from '../orders.ts'

/** A page is read in one turn of the event loop, so orders wait for it. */
export const BARS_PAGE = 2_000

export interface BarsPage {
  readonly bars: readonly Bar[]
  readonly next: string | null
  readonly sandboxTime: Timestamp
}

/** Beyond it a time is not written with four digits of a year. */
const TIME_MAX = Date.UTC(9999, 11, 31)

/** @throws BrokerFault `refused` for times that the sandbox cannot represent */
export function barsRequest(request: BarsRequest, cursor: string | null): HttpRequest {
  const { symbol, interval, fromMs, toMs, session } = request
  if (!(fromMs >= 0 && fromMs <= toMs && toMs <= TIME_MAX))
    throw new BrokerFault('refused', `bars are requested from one time to a later one between 1970 and 9999, not from ${fromMs} to ${toMs}`)
  const ofDays = session === 'USEqCore' ? 'core' : null
  const [from, to] = [timestampOfMs(fromMs), timestampOfMs(toMs)]
  return get('/bars', { symbol, interval, session: ofDays, from, to, limit: String(BARS_PAGE), cursor })
}

interface RawBar {
  readonly start?: unknown
  readonly open?: unknown
  readonly high?: unknown
  readonly low?: unknown
  readonly close?: unknown
  readonly volume?: unknown
  readonly closed?: unknown
}

/** `afterMs` is the start of the last bar before this page. @throws Malformed also for bars that do not ascend. */
export function parseBarsPage(body: string, afterMs: number): BarsPage {
  const answer = object(readJson(body), 'answer')
  const { items } = answer
  if (!Array.isArray(items) || items.length > BARS_PAGE) throw new Malformed('items', `a list of at most ${BARS_PAGE}`, items)
  const bars: Bar[] = []
  let lastMs = afterMs
  for (let index = 0; index < items.length; index += 1) {
    const bar = parseBar(items[index])
    if (bar.startMs <= lastMs) throw new Malformed('start', 'later than that of the bar before', new Date(bar.startMs).toISOString())
    lastMs = bar.startMs
    bars.push(bar)
  }
  return { bars, next: textOrNull(answer, 'next'), sandboxTime: timestamp(answer, 'sandbox_time') }
}

function parseBar(item: unknown): Bar {
  if (!isRawBar(item)) throw new Malformed('bar', 'an object', item)
  const { closed } = item
  if (typeof closed !== 'boolean') throw new Malformed('closed', 'true or false', closed)
  return {
    startMs: startOf(item.start),
    open: decimalOf(item.open, 'open'),
    high: decimalOf(item.high, 'high'),
    low: decimalOf(item.low, 'low'),
    close: decimalOf(item.close, 'close'),
    volume: decimalOf(item.volume, 'volume'),
    closed
  }
}

function isRawBar(value: unknown): value is RawBar {
  return typeof value === 'object' && value !== null
}

function decimalOf(value: unknown, what: string): Decimal {
  if (isPlainDecimal(value)) return value
  throw new Malformed(what, 'a plain decimal string', value)
}

const UTC_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/

function startOf(value: unknown): number {
  if (typeof value === 'string' && UTC_TIME.test(value)) {
    const ms = Date.parse(value)
    if (!Number.isNaN(ms)) return ms
  }
  throw new Malformed('start', 'a time in UTC', value)
}
