import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { continuousCalendar, OutsideCalendar } from '../../../src/domain/calendar/index.ts'
import { barClock } from '../../../src/domain/market/bar-clocks.ts'
import { at, clockOf, EQUITY, equityClock, instants, intervals, markets, wall } from './made.ts'

test('bars of minutes are anchored to the open and cut at the close', () => {
  const core = equityClock('4h', 'USEqCore')
  assert.equal(wall(core.startOf(at('2026-11-18T13:29:59.999'))), '2026-11-18T09:30')
  const second = core.startOf(at('2026-11-18T13:30'))
  assert.equal(wall(second), '2026-11-18T13:30')
  assert.equal(wall(core.endOf(second ?? 0)), '2026-11-18T16:00')
  assert.equal(wall(core.next(second ?? 0)), '2026-11-19T09:30')
  assert.equal(core.startOf(at('2026-11-18T16:00')), null)
  assert.equal(core.startOf(at('2026-11-18T09:29:59.999')), null)
  // On an early day the first four hours are three and a half, over Thanksgiving there are none.
  assert.equal(wall(core.endOf(at('2026-11-27T09:30'))), '2026-11-27T13:00')
  assert.equal(wall(core.next(at('2026-11-25T13:30'))), '2026-11-27T09:30')
  assert.equal(wall(core.before(at('2026-11-27T09:30'))), '2026-11-25T13:30')
  // Adjacent phases are one interval of the broker's own session.
  assert.equal(wall(equityClock('4h').endOf(at('2026-11-18T08:00'))), '2026-11-18T12:00')
  const both = equityClock('4h', 'USEqPreAndPostMkt')
  assert.equal(wall(both.endOf(at('2026-11-18T08:00'))), '2026-11-18T09:30')
  assert.equal(wall(both.next(at('2026-11-18T08:00'))), '2026-11-18T16:00')
})

test('the hours of each session, on a normal day, an early one, after a weekend and after a holiday', () => {
  const table: ReadonlyArray<readonly [Parameters<typeof equityClock>[1], string, string, string]> = [
    ['USEqCore', '2026-11-18', '2026-11-18T09:30', '2026-11-18T16:00'],
    ['USEqCore', '2026-11-27', '2026-11-27T09:30', '2026-11-27T13:00'],
    ['USEqPreMkt', '2026-11-18', '2026-11-18T04:00', '2026-11-18T09:30'],
    ['USEqPostMkt', '2026-11-18', '2026-11-18T16:00', '2026-11-18T20:00'],
    ['USEqPostMkt', '2026-11-27', '2026-11-27T13:00', '2026-11-27T17:00'],
    ['USEqPreAndPostMkt', '2026-11-18', '2026-11-18T04:00', '2026-11-18T20:00'],
    ['BrokerDefault', '2026-11-18', '2026-11-18T04:00', '2026-11-18T20:00'],
    ['USEq24Hour', '2026-11-18', '2026-11-17T20:00', '2026-11-18T20:00'],
    ['USEq24Hour', '2026-11-16', '2026-11-15T20:00', '2026-11-16T20:00'],
    ['USEq24Hour', '2026-11-27', '2026-11-26T20:00', '2026-11-27T17:00'],
    ['USEq24Hour', '2026-03-09', '2026-03-08T20:00', '2026-03-09T20:00']
  ]
  for (const [session, date, start, end] of table) {
    const clock = equityClock('1d', session)
    const found = clock.startOfDate(date)
    assert.equal(wall(found), start, `${session} ${date}`)
    assert.equal(wall(clock.endOf(found ?? 0)), end, `${session} ${date}`)
  }
  // Nothing opens on the evening before a holiday.
  assert.equal(equityClock('1m', 'USEq24Hour').startOf(at('2026-11-25T20:30')), null)
  assert.equal(equityClock('1d', 'USEqPreAndPostMkt').startOf(at('2026-11-18T12:00')), null)
})

test('sessions follow the exchange, whatever the broker’s hours are, and apply only to equities', () => {
  const broker = continuousCalendar('America/New_York')
  const core = barClock({ unit: 'minute', count: 60 }, 'USEqCore', broker, true)
  assert.equal(core.startOf(at('2026-11-21T12:00')), null)
  assert.equal(wall(core.startOf(at('2026-11-20T12:00'))), '2026-11-20T11:30')
  const other = barClock({ unit: 'minute', count: 60 }, 'USEqCore', broker, false)
  assert.equal(wall(other.startOf(at('2026-11-21T12:10'))), '2026-11-21T12:00')
  assert.equal(other.session, 'BrokerDefault')
})

test('longer bars are groups of trading dates', () => {
  const table: ReadonlyArray<readonly [string, string, string, string, string]> = [
    ['1w', '2026-11-25T12:00', '2026-11-23T04:00', '2026-11-27T17:00', '2026-11-30T04:00'],
    // Memorial Day, a Monday: the week begins on Tuesday.
    ['1w', '2026-05-28T12:00', '2026-05-26T04:00', '2026-05-29T20:00', '2026-06-01T04:00'],
    ['2w', '2026-11-25T12:00', '2026-11-23T04:00', '2026-12-04T20:00', '2026-12-07T04:00'],
    ['1M', '2026-11-30T19:59', '2026-11-02T04:00', '2026-11-30T20:00', '2026-12-01T04:00'],
    ['1y', '2026-06-01T10:00', '2026-01-02T04:00', '2026-12-31T20:00', '2027-01-04T04:00'],
    ['12M', '2026-06-01T10:00', '2026-01-02T04:00', '2026-12-31T20:00', '2027-01-04T04:00'],
    ['5M', '2026-12-01T10:00', '2026-11-02T04:00', '2026-12-31T20:00', '2027-01-04T04:00'],
    // Two trading dates: 01-02 with 01-05, and so on; the last of the year's 251 is alone.
    ['2d', '2026-01-05T10:00', '2026-01-02T04:00', '2026-01-05T20:00', '2026-01-06T04:00'],
    ['2d', '2026-12-31T10:00', '2026-12-31T04:00', '2026-12-31T20:00', '2027-01-04T04:00'],
    ['1d', '2026-11-27T14:00', '2026-11-27T04:00', '2026-11-27T17:00', '2026-11-30T04:00']
  ]
  for (const [interval, instant, start, end, next] of table) {
    const clock = equityClock(interval)
    const found = clock.startOf(at(instant)) ?? 0
    assert.deepEqual([wall(found), wall(clock.endOf(found)), wall(clock.next(found))], [start, end, next], `${interval} ${instant}`)
    assert.equal(clock.before(clock.next(found)), found)
  }
  assert.equal(wall(clockOf('1d', 'cme').startOf(at('2026-11-22T18:00'))), '2026-11-22T18:00')
  assert.equal(wall(clockOf('1w', 'cme').startOf(at('2026-11-25T12:00'))), '2026-11-22T18:00')
})

test('days with a clock change are an hour shorter or longer if the market never closes', () => {
  const clock = clockOf('4h', 'newYork')
  assert.equal(clock.countAtMost(at('2026-03-08T00:00'), at('2026-03-09T00:00')), 6)
  assert.equal(clock.countAtMost(at('2026-11-01T00:00'), at('2026-11-02T00:00')), 7)
  assert.equal(clock.endOf(clock.startOf(at('2026-11-01T23:30')) ?? 0), at('2026-11-02T00:00'))
  // Two autumns and one spring: one more hour than the days have.
  const hours = clockOf('1h', 'newYork').countAtMost(at('2025-09-01T00:00'), at('2026-12-01T00:00'))
  assert.ok(hours >= 456 * 24 + 1, `${hours}`)
  const futures = clockOf('24h', 'cme')
  assert.equal(wall(futures.startOf(at('2026-11-01T18:00'))), '2026-11-01T18:00')
  assert.equal(futures.startOf(at('2026-11-01T17:59')), null)
})

test('bars partition the session: every instant is in one bar or outside, and bars are consecutive', () => {
  fc.assert(
    fc.property(markets, intervals, instants, ({ calendar, session }, interval, instant) => {
      const clock = clockOf(interval, calendar, session)
      const start = clock.startOf(instant)
      const following = clock.atOrAfter(instant)
      assert.equal(clock.startOf(following), following)
      assert.ok(following >= instant)
      if (start === null) {
        const before = clock.before(following)
        assert.ok(before !== null && clock.next(before) === following && before < instant)
        // In a pause within a bar of days and longer, the instant is still within the bar's bounds.
        if (clock.interval.unit === 'minute') assert.ok(clock.endOf(before) <= instant)
        return
      }
      const end = clock.endOf(start)
      assert.ok(start <= instant && instant < end)
      assert.equal(clock.startOf(start), start)
      assert.equal(clock.startOf(end - 1), start)
      const next = clock.next(start)
      assert.ok(next >= end)
      assert.equal(clock.startOf(next), next)
      assert.equal(clock.before(next), start)
      assert.equal(clock.atOrAfter(start), start)
      assert.equal(clock.atOrAfter(start + 1), next)
      if (next > end) assert.equal(clock.startOf(end), null)
      // A clock with other earlier calls answers the same.
      assert.equal(clockOf(interval, calendar, session).startOf(instant), start)
    }),
    { numRuns: 400 }
  )
})

test('counts are exact up to 60 days and in UTC, and never too low', () => {
  const spans = fc.oneof(fc.nat(20 * 86_400_000), fc.nat(55 * 86_400_000), fc.nat(390 * 86_400_000), fc.nat(9 * 365 * 86_400_000))
  fc.assert(
    fc.property(
      markets,
      fc.constantFrom('1h', '7m', '4h', '1d', '2d', '1w', '5M', '1y'),
      instants,
      spans,
      ({ calendar, session }, interval, from, span) => {
        const clock = clockOf(interval, calendar, session)
        const to = Math.min(from + span, at('2027-06-01T00:00'))
        if (span > 400 * 86_400_000 && clock.interval.unit === 'minute' && interval !== '4h') return
        let count = 0
        for (let start = clock.atOrAfter(from); start < to; start = clock.next(start)) count++
        const most = clock.countAtMost(from, to)
        const exact = span <= 55 * 86_400_000 || (calendar === 'utc' && (clock.interval.unit === 'minute' || interval === '1d'))
        if (exact) assert.equal(most, count)
        else assert.ok(most >= count && most <= count * 1.3 + 20, `${most} for ${count}`)
      }
    ),
    { numRuns: 60 }
  )
})

test('dates outside the calendar are refused with a specific error', () => {
  const clock = equityClock('1m')
  assert.throws(() => clock.startOf(at('1997-12-31T12:00')), OutsideCalendar)
  assert.throws(() => clock.countAtMost(at('1900-01-01T00:00'), at('2026-01-01T00:00')), OutsideCalendar)
  assert.equal(clock.before(at('1998-01-02T04:00')), null)
  assert.equal(equityClock('1w').before(at('1998-01-02T04:00')), null)
  assert.throws(() => clockOf('1d', 'utc').startOf(Number.NaN), OutsideCalendar)
  assert.throws(() => clockOf('1d', 'utc').countAtMost(-62_200_000_000_000, 0), OutsideCalendar)
  assert.throws(() => equityClock('1h', 'USEqCore').endOf(at('2026-11-21T12:00')), RangeError)
  assert.equal(EQUITY.daysAWeek, 5)
})
