/** Bars in TradeStation's intervals, made of the market's: a bar is named by its end, a day's by the session's. */

import { midnight, type Phase, type Span, usEquityCalendar } from '@trunkline/core/domain/calendar/index'
import {
  BARS_MAX as BARS_OF_MARKET_MAX,
  type Bar,
  type BarInterval,
  billionths,
  daysOf,
  type Instrument,
  isPriced,
  joined,
  type Market,
  type Micros,
  microsOf,
  NEW_YORK,
  type RawBar,
  toBar
} from '../frame/brokerage.ts'
import { bad, countOr } from './reading.ts'
import { timeOf } from './times.ts'

/** Which phases of the day share bars are made of; `Default`: of the regular session. They matter for minutes of shares only. */
const TEMPLATES = {
  Default: ['open'],
  USEQPreAndPost: ['pre', 'open', 'post'],
  USEQ24Hour: ['pre', 'open', 'post', 'closed']
} as const satisfies Record<string, readonly Phase[]>
const UNITS = ['Minute', 'Daily'] as const
const BASES: readonly (readonly [minutes: number, interval: BarInterval])[] = [
  [30, '30m'],
  [15, '15m'],
  [5, '5m'],
  [1, '1m']
]
const MINUTE: Micros = 60_000_000
const DAY: Micros = 1_440 * MINUTE
const INTERVAL_MAX = 1_440
const BARS_MAX = 57_600
const YEARS_MAX = 3
const FRIDAY = 5
const HOUR_OF_CLOSE = { shares: 16, futures: 17 } as const

interface Interval {
  readonly unit: (typeof UNITS)[number]
  /** Minutes; 1 of days. */
  readonly size: number
  readonly template: keyof typeof TEMPLATES
}

export interface BarRequest {
  readonly interval: Interval
  /** How many back, or from when on. */
  readonly barsBack: number | null
  readonly from: Micros
  readonly to: Micros
}

/** One bar's stretch. */
interface Frame {
  readonly start: Micros
  /** What the bar is named by. */
  readonly label: Micros
  /** When nothing more is added. */
  readonly over: Micros
}

export interface FramedBar {
  readonly frame: Frame
  readonly bar: RawBar
}

/** Null: trades of that time are in no bar. */
export type Framing = (at: Micros) => Frame | null

/** @throws Problem `bad_request` */
export function requestedBars(query: Readonly<Record<string, string>>, now: Micros): BarRequest {
  const unit = oneOf(UNITS, query.unit ?? 'Daily', 'unit')
  const size = countOr(query.interval, 'interval', 1, INTERVAL_MAX) ?? 1
  if (unit === 'Daily' && size !== 1) bad('Interval must be 1 for non-minute bars')
  const template = oneOf(Object.keys(TEMPLATES) as Interval['template'][], query.sessiontemplate || 'Default', 'sessiontemplate')
  const back = countOr(query.barsback, 'barsback', 1, BARS_MAX)
  const to = instantOf(query.lastdate, 'lastdate') ?? now
  const from = instantOf(query.firstdate, 'firstdate')
  if (back !== null && from !== null) bad('barsback and firstdate parameters are mutually exclusive')
  if (from !== null && to - from > YEARS_MAX * 366 * DAY) bad(`A date range cannot exceed ${YEARS_MAX} years`)
  return { interval: { unit, size, template }, barsBack: from === null ? (back ?? 1) : null, from: from ?? 0, to }
}

function oneOf<Name extends string>(names: readonly Name[], text: string, what: string): Name {
  return names.find(name => name.toLowerCase() === text.toLowerCase()) ?? bad(`${what} must be one of ${names.join(', ')}`)
}

/** A date is its midnight in UTC. */
function instantOf(text: string | undefined, name: string): Micros | null {
  if (text === undefined || text === '') return null
  return microsOf(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text) ?? bad(`${name} must be a date or an RFC 3339 time`)
}

/** The newest that were requested, ascending; the bar under way is there when the request reaches it. */
export async function pastBars(market: Market, instrument: Instrument, request: BarRequest, now: Micros): Promise<readonly FramedBar[]> {
  const { interval, from, barsBack } = request
  const most = barsBack ?? BARS_MAX
  const isDaily = interval.unit === 'Daily'
  const base = isDaily ? '1d' : (BASES.find(([length]) => interval.size % length === 0)?.[1] ?? '1m')
  const framing = framingOf(instrument, interval)
  // Nothing earlier can be part of a bar that is named by `from`.
  const earliest = Math.max(0, from - (isDaily ? DAY : interval.size * MINUTE))
  let known: readonly Bar[] = []
  let found: readonly FramedBar[] = []
  for (let to = Math.min(request.to, now) + 1; to > earliest && found.length <= most; to = known[0]?.start ?? earliest) {
    const query = { symbol: instrument.symbol, interval: base, from: earliest, to, now, limit: BARS_OF_MARKET_MAX }
    const bars = await market.bars(query)
    known = [...bars, ...known]
    found = framed(known, framing)
    if (bars.length < BARS_OF_MARKET_MAX) break
  }
  const isWanted = ({ start, label }: Frame) => label >= from && (label <= request.to || (request.to >= now && start <= now))
  // The oldest may lack its beginning where more were looked at than wanted.
  return found.filter(({ frame }) => isWanted(frame)).slice(-most)
}

function framed(bars: readonly Bar[], framing: Framing): readonly FramedBar[] {
  const found: FramedBar[] = []
  for (const bar of bars) {
    const next = framedBar(bar, framing)
    const last = found.at(-1)
    if (next === null) continue
    if (last?.frame.start === next.frame.start) found[found.length - 1] = { frame: next.frame, bar: joined(last.bar, next.bar) }
    else found.push(next)
  }
  return found
}

/** Null for what is in no bar, and for what has no price. */
export function framedBar({ start, open, high, low, close, volume }: Bar, framing: Framing): FramedBar | null {
  const frame = framing(start)
  const prices = { open: billionths(open), high: billionths(high), low: billionths(low), close: billionths(close) }
  const bar = { start, ...prices, volume: billionths(volume) }
  return frame === null || !isPriced(bar) ? null : { frame, bar }
}

export function framingOf(instrument: Instrument, { unit, size, template }: Interval): Framing {
  if (unit === 'Daily') return days(instrument)
  const isDivided = instrument.hours === 'us_equity' && template !== 'USEQ24Hour'
  return isDivided ? inSessions(size * MINUTE, TEMPLATES[template]) : inDays(size * MINUTE, zoneOf(instrument))
}

/** Counted from midnight. */
function inDays(length: Micros, zone: string): Framing {
  const dayOf = daysOf(zone)
  return at => {
    const day = dayOf(at)
    const start = at - ((at - day.start) % length)
    const end = Math.min(start + length, day.end)
    return { start, label: end, over: end }
  }
}

/** Counted from where the template's day begins; the last one ends with it. */
function inSessions(length: Micros, phases: readonly Phase[]): Framing {
  const calendar = usEquityCalendar()
  const dayOf = daysOf(NEW_YORK)
  let known: { readonly day: Micros; readonly spans: readonly Span[] } = { day: -1, spans: [] }
  return at => {
    const { start: day } = dayOf(at)
    if (known.day !== day) {
      const spans = calendar.spansOn(calendar.dateAt((day + DAY / 2) / 1_000)).filter(({ phase }) => phases.includes(phase))
      known = { day, spans }
    }
    const { spans } = known
    const [first, last] = [spans[0], spans.at(-1)]
    if (first === undefined || last === undefined || !spans.some(span => at >= span.start * 1_000 && at < span.end * 1_000)) return null
    const start = at - ((at - first.start * 1_000) % length)
    const end = Math.min(start + length, last.end * 1_000)
    return { start, label: end, over: end }
  }
}

function days(instrument: Instrument): Framing {
  const { hours } = instrument
  const zone = zoneOf(instrument)
  return at => {
    const time = Temporal.Instant.fromEpochMilliseconds(Math.floor(at / 1_000)).toZonedDateTimeISO(zone)
    // A futures day begins on the evening before.
    const date = time.toPlainDate().add({ days: hours === 'cme' && time.hour >= HOUR_OF_CLOSE.futures ? 1 : 0 })
    const label = closeOf(date, instrument)
    const end = midnight(date.add({ days: 1 }), zone) * 1_000
    return { start: midnight(date, zone) * 1_000, label, over: hours.startsWith('always') ? end : label }
  }
}

/** When the last session up to a date ends; where the sandbox trades without an end, when it would end on that very date. */
function closeOf(date: Temporal.PlainDate, { kind, hours }: Instrument): Micros {
  if (kind === 'CRYPTO') return midnight(date.add({ days: 1 }), 'UTC') * 1_000
  const calendar = usEquityCalendar()
  let last = date
  // Futures trade on nearly all of the exchange's days, and on no weekend.
  while (hours !== 'always' && (kind === 'FUT' ? last.dayOfWeek > FRIDAY : !calendar.isTradingDay(last.toString())))
    last = last.subtract({ days: 1 })
  const session = kind === 'FUT' ? undefined : calendar.spansOn(last.toString()).find(({ phase }) => phase === 'open')
  if (session !== undefined) return session.end * 1_000
  const hour = kind === 'FUT' ? HOUR_OF_CLOSE.futures : HOUR_OF_CLOSE.shares
  return last.toZonedDateTime({ timeZone: NEW_YORK, plainTime: { hour } }).epochMilliseconds * 1_000
}

function zoneOf({ kind }: Instrument): string {
  return kind === 'CRYPTO' ? 'UTC' : NEW_YORK
}

/** `isRealtime`: made of trades as they came. The sandbox counts no ticks; a bar's volume is wholly up or down. */
export function barWire(
  { frame, bar }: FramedBar,
  flags: { readonly isClosed: boolean; readonly isRealtime: boolean; readonly isEndOfHistory: boolean }
): object {
  const { open, high, low, close, volume } = toBar(bar, flags.isClosed)
  const whole = Math.floor(Number(volume))
  const isUp = bar.close >= bar.open
  return {
    ...{ High: high, Low: low, Open: open, Close: close, TimeStamp: timeOf(frame.label), TotalVolume: volume },
    ...{ DownTicks: 0, UpTicks: 0, UnchangedTicks: 0, TotalTicks: 0, OpenInterest: '0' },
    ...{ DownVolume: isUp ? 0 : whole, UpVolume: isUp ? whole : 0, UnchangedVolume: 0 },
    ...{ IsRealtime: flags.isRealtime, IsEndOfHistory: flags.isEndOfHistory, BarStatus: flags.isClosed ? 'Closed' : 'Open' },
    Epoch: Math.floor(frame.label / 1_000)
  }
}
