import { midnight, OutsideCalendar, type TradingCalendar } from '../../domain/calendar/index.ts'
import { Malformed } from '../../domain/malformed.ts'
import type { BarClock } from '../../domain/market/bar-clock.ts'
import { barClock } from '../../domain/market/bar-clocks.ts'
import { canonicalInterval, fits, type Interval, parseInterval } from '../../domain/market/interval.ts'
import { keepsExchangeHours, sessionWindows } from '../../domain/market/sessions.ts'
import type { Session } from '../../domain/vocabulary.ts'
import type { MarketDataCapabilities } from '../../ports/broker.ts'
import type { MarketInstrument } from '../../ports/market.ts'
import { BROKER_BARS_MAX } from './history-limits.ts'
import { MarketRefusal } from './refusal.ts'
import { BROKER_DEFAULT } from './watcher.ts'

/** Bars of the broker that other bars are made from. */
export interface BaseBars {
  /** The broker's name of the interval. */
  readonly label: string
  readonly interval: Interval
  readonly clock: BarClock
  /** The clock of all bars that the broker returns, whatever the session. */
  readonly answered: BarClock
  /** How far back they reach, in milliseconds. */
  readonly reachMs: number
  /** The session requested from the broker by name; null: none. */
  readonly session: Session | null
}

/** How the bars of one symbol, interval and session are made. */
export interface BarPlan {
  readonly symbol: string
  /** The hours that count. If the broker's daily bars cover the core session, so do bars of days and longer in `BrokerDefault`. */
  readonly session: Session
  readonly clock: BarClock
  /** The start of the first bar in the calendar of its session, in milliseconds since the epoch. */
  readonly earliestMs: number
  /** Past bars: the broker's bars of the interval if it has them, otherwise the bars that they are made from. */
  readonly past: BaseBars
  /** Past bars of minutes that precede the live data. */
  readonly seed: BaseBars
  /** The broker's bars to follow live; null: bars are built from its trades. */
  readonly live: BaseBars | null
  /** Why days and longer are made from minutes, as a sentence; empty if they are not. */
  readonly whyMinutes: string
}

/** @throws MarketRefusal unsupported_interval */
export function barPlan(
  { symbol, instrument, calendar }: MarketInstrument,
  intervalText: string,
  requested: Session,
  marketData: Pick<MarketDataCapabilities, 'historyIntervals' | 'historyDays' | 'dailyBars' | 'dailySessions' | 'liveIntervals'>
): BarPlan {
  const { historyIntervals, historyDays, dailyBars, dailySessions, liveIntervals } = marketData
  const interval = readInterval(intervalText)
  const isShare = instrument === 'STK'
  // The session that the broker's daily bars cover.
  const daily: Session = isShare && dailyBars === 'core' && keepsExchangeHours(calendar) ? 'USEqCore' : BROKER_DEFAULT
  const session = requested === BROKER_DEFAULT && interval.unit !== 'minute' ? daily : requested
  const clock = barClock(interval, session, calendar, isShare)
  const named = isShare && session !== daily && dailySessions.includes(session) ? session : null
  const base = (label: string): BaseBars => {
    const found = parseInterval(label)
    const byName = found.unit === 'minute' ? null : named
    const answered = barClock(found, byName ?? BROKER_DEFAULT, calendar, isShare)
    const reachMs = (historyDays[label] ?? Number.POSITIVE_INFINITY) * DAY_MS
    return { label, interval: found, clock: barClock(found, session, calendar, isShare), answered, reachMs, session: byName }
  }
  /** The longest of these intervals that the bars can be made from. */
  const longest = (intervals: readonly string[], isWanted: (base: Interval) => boolean): BaseBars | null =>
    intervals
      .map(base)
      .filter(({ interval: found }) => isWanted(found) && isMadeOf(interval, found, clock))
      .filter(({ interval: found }) => found.unit === 'minute' || session === daily || session === named)
      .reduce<BaseBars | null>((best, next) => (best === null || isLonger(next.interval, best.interval) ? next : best), null)

  const past = longest(historyIntervals, () => true)
  const live = longest(
    liveIntervals.filter(label => historyIntervals.includes(label)),
    ({ unit }) => unit === 'minute'
  )
  const seed = live ?? longest(historyIntervals, ({ unit, count }) => unit === 'minute' && count === 1)
  if (past === null || seed === null) {
    const message = `${intervalText} is not available here: the broker has bars of ${historyIntervals.join(', ') || 'no length'}.`
    throw new MarketRefusal('unsupported_interval', message)
  }
  const whyMinutes = past.interval.unit === 'minute' && interval.unit !== 'minute' ? withoutDays(session, dailyBars) : ''
  demandWhole(past, clock, `${whyMinutes}${intervalText}`)
  const earliestMs = earliestOf(clock, sessionWindows(session, calendar, isShare).calendar)
  return { symbol, session, clock, earliestMs, past, seed, live, whyMinutes }
}

function withoutDays(session: Session, dailyBars: MarketDataCapabilities['dailyBars']): string {
  if (session === 'USEqCore' && dailyBars === 'core')
    return 'The symbol does not follow the hours of its exchange at this broker, so the broker’s daily bars are not of USEqCore. '
  return `The broker has no daily bars of ${session}. `
}

/** The greatest length of a unit. */
export const UNIT_MS = { minute: 60_000, day: 86_400_000, week: 7 * 86_400_000, month: 31 * 86_400_000, year: 366 * 86_400_000 } as const

/** Ensures that a bar can be made completely, and from no more bars than one request may read. @throws MarketRefusal */
function demandWhole({ label, interval: base, reachMs }: BaseBars, { interval: { unit, count } }: BarClock, text: string): void {
  const lengthMs = UNIT_MS[unit] * count
  if (lengthMs > reachMs) {
    const days = Math.round(reachMs / DAY_MS)
    throw new MarketRefusal(
      'unsupported_interval',
      `${text} is not available in this session: it would be made from bars of ${label}, and the broker keeps ${days} days of them.`
    )
  }
  if (lengthMs / (UNIT_MS[base.unit] * base.count) > BROKER_BARS_MAX) {
    throw new MarketRefusal(
      'unsupported_interval',
      `${text} is not available in this session: one bar would be made from more than ${BROKER_BARS_MAX} bars of ${label}.`
    )
  }
}

/** The result of `read`. @throws MarketRefusal invalid_request for instants outside the years of the calendar */
export function withinCalendar<T>(read: () => T): T {
  try {
    return read()
  } catch (cause) {
    if (cause instanceof OutsideCalendar) throw new MarketRefusal('invalid_request', `${cause.message}.`, cause)
    throw cause
  }
}

function readInterval(text: string): Interval {
  try {
    return parseInterval(text)
  } catch (cause) {
    if (cause instanceof Malformed) throw new MarketRefusal('unsupported_interval', `${cause.message}.`)
    throw cause
  }
}

function isMadeOf(interval: Interval, base: Interval, clock: BarClock): boolean {
  // The same interval in another session has other bars: they begin and end elsewhere.
  if (clock.session === BROKER_DEFAULT && canonicalInterval(interval) === canonicalInterval(base)) return true
  return fits(base, interval, clock.gridMinutes)
}

/** The first bar that lies completely within the calendar, and not before the epoch. */
function earliestOf(clock: BarClock, { firstDate, zone }: TradingCalendar): number {
  const from = Math.max(0, midnight(firstDate, zone))
  for (let years = 0; years < 2; years += 1) {
    try {
      return clock.atOrAfter(from + years * YEAR_MS)
    } catch (cause) {
      // The bar of the first date began before it.
      if (!(cause instanceof OutsideCalendar)) throw cause
    }
  }
  return from + 2 * YEAR_MS
}

const DAY_MS = 86_400_000
const YEAR_MS = 366 * DAY_MS
const UNITS = ['minute', 'day', 'week', 'month', 'year']

function isLonger(a: Interval, b: Interval): boolean {
  const [unitA, unitB] = [UNITS.indexOf(a.unit), UNITS.indexOf(b.unit)]
  return unitA === unitB ? a.count > b.count : unitA > unitB
}
