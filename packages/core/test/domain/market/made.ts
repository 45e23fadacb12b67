/** Random trades and instants for the tests of bars. */
import fc from 'fast-check'
import { cmeCalendar, continuousCalendar, usEquityCalendar, usOptionCalendar } from '../../../src/domain/calendar/index.ts'
import type { Decimal } from '../../../src/domain/decimal.ts'
import type { BarClock } from '../../../src/domain/market/bar-clock.ts'
import { barClock } from '../../../src/domain/market/bar-clocks.ts'
import { parseInterval } from '../../../src/domain/market/interval.ts'
import { nanosOfMs, type Trade } from '../../../src/domain/market/records.ts'
import { SESSIONS, type Session } from '../../../src/domain/vocabulary.ts'

/** An instant of a wall clock in New York. */
export const at = (text: string): number => Temporal.ZonedDateTime.from(`${text}[America/New_York]`).epochMilliseconds

/** An instant as a wall clock in New York shows it, to the minute. */
export const wall = (instant: number | null): string | null =>
  instant === null
    ? null
    : Temporal.Instant.fromEpochMilliseconds(instant)
        .toZonedDateTimeISO('America/New_York')
        .toPlainDateTime()
        .toString({ smallestUnit: 'minute' })

export const EQUITY = usEquityCalendar()
const CALENDARS = {
  equity: EQUITY,
  cme: cmeCalendar(),
  option: usOptionCalendar('index'),
  utc: continuousCalendar(),
  newYork: continuousCalendar('America/New_York')
}

/** The clock of an interval in a session of United States equities. */
export function equityClock(interval: string, session: Session = 'BrokerDefault'): BarClock {
  return barClock(parseInterval(interval), session, EQUITY, true)
}

export function clockOf(interval: string, calendar: keyof typeof CALENDARS, session: Session = 'BrokerDefault'): BarClock {
  return barClock(parseInterval(interval), session, CALENDARS[calendar], calendar === 'equity')
}

/** A calendar and one of its sessions. */
export const markets = fc.oneof(
  fc.record({ calendar: fc.constant('equity' as const), session: fc.constantFrom(...SESSIONS) }),
  fc.record({
    calendar: fc.constantFrom('cme' as const, 'option' as const, 'utc' as const, 'newYork' as const),
    session: fc.constant('BrokerDefault' as const)
  })
)

export const intervals = fc.constantFrom(
  '1m',
  '5m',
  '7m',
  '30m',
  '1h',
  '4h',
  '24h',
  '1d',
  '2d',
  '3d',
  '7d',
  '1w',
  '2w',
  '5w',
  '1M',
  '3M',
  '5M',
  '12M',
  '1y'
)

const DAY = 86_400_000
/** Instants of 1999 to 2026; one in two is within two days of a clock change, a holiday or a year's end. */
const NOTABLE = [
  '2026-03-08',
  '2026-11-01',
  '2021-03-14',
  '2013-11-03',
  '2025-12-25',
  '2026-01-01',
  '2026-11-26',
  '2014-07-04',
  '2021-04-02',
  '2001-09-11',
  '2012-12-31'
]
export const instants = fc.oneof(
  fc.integer({ min: at('1999-01-04T00:00'), max: at('2026-12-20T00:00') }),
  fc.tuple(fc.constantFrom(...NOTABLE), fc.integer({ min: -2 * DAY, max: 2 * DAY })).map(([date, offset]) => at(`${date}T00:00`) + offset)
)

export function trade(price: string, size: string, atMs: number, effect: Trade['effect'] = 'all'): Trade {
  return { price: price as Decimal, size: size as Decimal, venue: 'Q', at: nanosOfMs(atMs), effect }
}

/** Ascending trades from an instant on, with gaps of up to `gapMs`. */
export function trades(fromMs: number, gapMs: number): fc.Arbitrary<readonly Trade[]> {
  const one = fc.record({
    gap: fc.oneof(fc.nat(2_000), fc.nat(gapMs)),
    price: fc.oneof(
      fc.integer({ min: 9_900, max: 10_100 }).map(cents => (cents / 100).toFixed(2)),
      fc.constantFrom('0.00000000012', '100', '123456789012.5')
    ),
    size: fc.constantFrom('1', '100', '0.00000001', '2.5', '0.0000000001', '90000000', '12345678901234567890', '900000000000001'),
    effect: fc.constantFrom('all' as const, 'all' as const, 'all' as const, 'volume' as const, 'none' as const)
  })
  return fc.array(one, { maxLength: 120 }).map(list => {
    let now = fromMs
    return list.map(({ gap, price, size, effect }) => {
      now += gap
      return trade(price, size, now, effect)
    })
  })
}
