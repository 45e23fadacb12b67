/** Past bars: which windows to request, the requests, and the answers in the core's terms. Pure. */

import { dateAtInstant, midnight } from '@trunkline/core/domain/calendar/index'
import type { Bar } from '@trunkline/core/domain/market/records'
import { BrokerFault } from '@trunkline/core/ports/broker'
import type { BarsRequest } from '@trunkline/core/ports/market'
import type { HttpReply, HttpRequest } from '../../kit/http.ts'
import { day, integer, type Wire } from '../../kit/parse.ts'
import { get } from '../../kit/requests.ts'
import { errorMessageOf } from '../errors.ts'
import { toTradier } from '../symbols.ts'
import { amount, items } from '../wire.ts'

const ZONE = 'America/New_York'
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** How Tradier has bars of an interval; `reachMs` is how much is requested at once, for it has no pages. */
interface Kind {
  readonly name: string
  readonly lengthMs: number
  readonly reachMs: number
  /** Days before today from which on there are any. */
  readonly depthDays: number
}

const MINUTES: { readonly [interval: string]: Kind } = {
  '1m': { name: '1min', lengthMs: MINUTE_MS, reachMs: 3 * DAY_MS, depthDays: 10 },
  '5m': { name: '5min', lengthMs: 5 * MINUTE_MS, reachMs: 10 * DAY_MS, depthDays: 18 },
  '15m': { name: '15min', lengthMs: 15 * MINUTE_MS, reachMs: 20 * DAY_MS, depthDays: 18 }
}
const DAILY: Kind = { name: 'daily', lengthMs: DAY_MS, reachMs: 3_660 * DAY_MS, depthDays: 40_000 }
/** Beyond it a time is not written with four digits of a year. */
const TIME_MAX = Date.UTC(9999, 11, 30)

export interface BarsWindow {
  readonly request: HttpRequest
  readonly read: (answer: Wire, presentMs: number) => readonly Bar[]
}

/** The windows of a request, ascending. @throws BrokerFault `refused` for what Tradier has no value for */
export function barsWindows({ symbol, interval, fromMs, toMs }: BarsRequest, presentMs: number): readonly BarsWindow[] {
  const kind = interval === '1d' ? DAILY : MINUTES[interval]
  if (kind === undefined) throw new BrokerFault('refused', `Tradier has no bars of ${interval}`)
  if (!(fromMs >= 0 && fromMs <= toMs && toMs <= TIME_MAX))
    throw new BrokerFault('refused', 'bars are requested from one time to a later one')
  const first = Math.max(fromMs, presentMs - kind.depthDays * DAY_MS, 0)
  // Nothing is to be had of the future.
  const last = Math.min(toMs, presentMs + kind.lengthMs)
  const windows: BarsWindow[] = []
  for (let from = first; from < last; from += kind.reachMs) {
    const to = Math.min(from + kind.reachMs, last)
    windows.push(kind === DAILY ? days(symbol, from, to) : minutes(symbol, kind, from, to))
  }
  return windows
}

function minutes(symbol: string, { name, lengthMs }: Kind, fromMs: number, toMs: number): BarsWindow {
  return {
    request: get('/markets/timesales', {
      symbol: toTradier(symbol),
      interval: name,
      start: localMinute(fromMs),
      end: localMinute(toMs),
      session_filter: 'all'
    }),
    read: (answer, presentMs) =>
      items(answer, 'series', 'data').flatMap(wire => {
        const startMs = integer(wire, 'timestamp') * 1_000
        return startMs >= fromMs && startMs < toMs ? [barOf(wire, startMs, startMs + lengthMs <= presentMs)] : []
      })
  }
}

function days(symbol: string, fromMs: number, toMs: number): BarsWindow {
  return {
    request: get('/markets/history', {
      symbol: toTradier(symbol),
      interval: 'daily',
      start: dateAtInstant(fromMs, ZONE),
      end: dateAtInstant(toMs, ZONE),
      // Else a day of a share has its extended hours too.
      session_filter: 'open'
    }),
    read: (answer, presentMs) => {
      const today = dateAtInstant(presentMs, ZONE)
      return items(answer, 'history', 'day').flatMap(wire => {
        const date = day(wire, 'date')
        const startMs = midnight(date, ZONE)
        return startMs >= fromMs && startMs < toMs ? [barOf(wire, startMs, date < today)] : []
      })
    }
  }
}

function barOf(wire: Wire, startMs: number, closed: boolean): Bar {
  return {
    startMs,
    open: amount(wire, 'open'),
    high: amount(wire, 'high'),
    low: amount(wire, 'low'),
    close: amount(wire, 'close'),
    volume: amount(wire, 'volume'),
    closed
  }
}

/** Whether Tradier says that the window begins before what it keeps: then there are no bars, which is no fault. */
export function isTooOld(reply: HttpReply): boolean {
  return reply.status === 400 && /must be on or after/i.test(errorMessageOf(reply))
}

function localMinute(ms: number): string {
  const { year, month, day: date, hour, minute } = Temporal.Instant.fromEpochMilliseconds(Math.floor(ms)).toZonedDateTimeISO(ZONE)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(date)} ${two(hour)}:${two(minute)}`
}
