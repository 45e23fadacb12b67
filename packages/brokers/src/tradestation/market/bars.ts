/** Bars: the requests, and the answers in the core's terms. Pure. */

import { midnight, type TradingCalendar } from '@trunkline/core/domain/calendar/index'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { Bar } from '@trunkline/core/domain/market/records'
import { timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { BarsRequest, MarketInstrument, TopicSink } from '@trunkline/core/ports/market'
import type { HttpRequest } from '../../kit/http.ts'
import type { MarketClock } from '../../kit/market-clock.ts'
import type { MarketHours } from '../../kit/market-hours.ts'
import { decimal, field, member, text, type Wire } from '../../kit/parse.ts'
import { get } from '../../kit/requests.ts'
import { readAnswer, records } from '../quirks.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

interface Interval {
  readonly unit: 'Minute' | 'Daily'
  readonly count: number
  /** Of a day, of course, only as far as days are of one length. */
  readonly ms: number
}

/** The core's names of the intervals that the broker has. */
export const INTERVALS: Readonly<Record<string, Interval>> = {
  '1m': { unit: 'Minute', count: 1, ms: MINUTE_MS },
  '5m': { unit: 'Minute', count: 5, ms: 5 * MINUTE_MS },
  '15m': { unit: 'Minute', count: 15, ms: 15 * MINUTE_MS },
  '30m': { unit: 'Minute', count: 30, ms: 30 * MINUTE_MS },
  '1h': { unit: 'Minute', count: 60, ms: 60 * MINUTE_MS },
  '1d': { unit: 'Daily', count: 1, ms: DAY_MS }
}

/**
 * Whether the broker stamps its bars with their end or their start. Its documentation shows ends, and daily bars carry the time of the close;
 * a program in production at the broker reads them as starts. It cannot be settled from outside, so it is one constant here.
 */
const STAMPED: 'end' | 'start' = 'end'

/**
 * Session templates of shares extend the core hours: this one has every hour of the exchange calendar, from which sessions are cut here. The
 * template of all 24 hours would bring bars while the calendar says closed.
 */
const SESSION_TEMPLATES: { readonly [hours in MarketHours]: string } = { exchange: 'USEQPreAndPost', always: 'USEQ24Hour' }

/** A request may have 57,600 bars, or three years of days; a fifth of that is an answer of a few megabytes. */
const BARS_A_REQUEST = 7_200
const DAYS_A_REQUEST = 1_000
/** Beyond it a time is not written with four digits of a year. */
export const TIME_MAX = Date.UTC(9999, 11, 31)

/** What is traded, and when. */
export interface Traded {
  readonly instrument: MarketInstrument['instrument']
  readonly hours: MarketHours
}

export interface Window {
  readonly fromMs: number
  readonly toMs: number
}

/** The stretches in which a window is requested, ascending: the broker has no pages. */
export function stretches({ interval, fromMs, toMs }: BarsRequest): readonly Window[] {
  const { unit, ms } = intervalOf(interval)
  const length = ms * (unit === 'Daily' ? DAYS_A_REQUEST : BARS_A_REQUEST)
  const parts: Window[] = []
  for (let from = fromMs; from < toMs; from += length) parts.push({ fromMs: from, toMs: Math.min(from + length, toMs) })
  return parts
}

/** All bars with a start in the window, and perhaps one more on either side. `symbol` is the broker's. */
export function barsRequest(symbol: string, interval: string, { instrument, hours }: Traded, { fromMs, toMs }: Window): HttpRequest {
  const { unit, count, ms } = intervalOf(interval)
  return get(`/marketdata/barcharts/${encodeURIComponent(symbol)}`, {
    interval: String(count),
    unit,
    firstdate: timestampOfMs(fromMs).replace('.000000Z', 'Z'),
    lastdate: timestampOfMs(Math.min(toMs + ms, TIME_MAX)).replace('.000000Z', 'Z'),
    sessiontemplate: templateOf(unit, { instrument, hours })
  })
}

/** Minutes as they grow. The last bar before comes first. */
export function barsPath(symbol: string, traded: Traded): string {
  const template = templateOf('Minute', traded)
  const query = `interval=1&unit=Minute&barsback=1${template === null ? '' : `&sessiontemplate=${template}`}`
  return `/marketdata/stream/barcharts/${encodeURIComponent(symbol)}?${query}`
}

function templateOf(unit: Interval['unit'], { instrument, hours }: Traded): string | null {
  return unit === 'Minute' && instrument === 'STK' ? SESSION_TEMPLATES[hours] : null
}

/** Bars with a start in the window, ascending. @throws Malformed also for bars that do not ascend. */
export function parseBars(body: string, interval: string, calendar: TradingCalendar, { fromMs, toMs }: Window): readonly Bar[] {
  const bars: Bar[] = []
  let lastMs = Number.NEGATIVE_INFINITY
  for (const wire of records(readAnswer(body), 'Bars')) {
    const bar = parseBar(wire, startOf(timeOf(wire, 'TimeStamp'), intervalOf(interval), calendar))
    if (bar.startMs <= lastMs) throw new Malformed('TimeStamp', 'later than that of the bar before', text(wire, 'TimeStamp', 40))
    lastMs = bar.startMs
    if (bar.startMs >= fromMs && bar.startMs < toMs) bars.push(bar)
  }
  return bars
}

/** A bar of one minute. @throws Malformed */
export function parseMinute(wire: Wire): Bar {
  return parseBar(wire, minuteStart(timeOf(wire, 'TimeStamp'), MINUTE_MS))
}

function parseBar(wire: Wire, startMs: number): Bar {
  return {
    startMs,
    open: decimal(wire, 'Open'),
    high: decimal(wire, 'High'),
    low: decimal(wire, 'Low'),
    close: decimal(wire, 'Close'),
    volume: decimal(wire, 'TotalVolume'),
    closed: member(wire, 'BarStatus', { Open: false, Closed: true })
  }
}

function startOf(stampMs: number, { unit, ms }: Interval, calendar: TradingCalendar): number {
  return unit === 'Minute' ? minuteStart(stampMs, ms) : dayStart(stampMs, calendar)
}

function minuteStart(stampMs: number, lengthMs: number): number {
  return STAMPED === 'end' ? stampMs - lengthMs : stampMs
}

/** A day begins at its midnight, whenever its market opens; its stamp is some time of that day, or the midnight after it. */
function dayStart(stampMs: number, calendar: TradingCalendar): number {
  return midnight(calendar.dateAt(STAMPED === 'end' ? stampMs - 1 : stampMs), calendar.zone)
}

const UTC_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/

/** Milliseconds since the epoch. @throws Malformed */
export function timeOf(wire: Wire, key: string): number {
  const value = wire[key]
  if (typeof value === 'string' && UTC_TIME.test(value)) {
    const ms = Date.parse(value)
    if (!Number.isNaN(ms)) return ms
  }
  throw new Malformed(key, 'a time in UTC', value)
}

function intervalOf(name: string): Interval {
  const interval = Object.hasOwn(INTERVALS, name) ? INTERVALS[name] : undefined
  if (interval === undefined) throw new Malformed('interval', `one of ${Object.keys(INTERVALS).join(', ')}`, name)
  return interval
}

/** Bars of one connection as they grow: the past that comes first is passed over, and a bar is closed once. */
export function barReader(sink: TopicSink, marketClock: MarketClock): (wire: Wire) => void {
  let isPast = true
  let closedMs = Number.NEGATIVE_INFINITY
  return wire => {
    const bar = parseMinute(wire)
    const isHistory = isPast
    if (field(wire, 'IsEndOfHistory') === true || field(wire, 'IsRealtime') === true) isPast = false
    marketClock.happened(bar.closed ? bar.startMs + MINUTE_MS : bar.startMs)
    // What has been closed before is in the broker's history.
    if ((isHistory && bar.closed) || bar.startMs <= closedMs) {
      if (bar.closed) closedMs = Math.max(closedMs, bar.startMs)
      return
    }
    if (bar.closed) closedMs = bar.startMs
    sink.bar(bar)
  }
}
