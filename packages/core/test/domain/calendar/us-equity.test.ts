import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { dateAtInstant, regularSession, usEarlyCloses, usEquityCalendar, usHolidays } from '../../../src/domain/calendar/index.ts'
import { recorded } from './recorded.ts'

const FIRST = 1998
const LAST = 2027
const at = (text: string): number => Temporal.ZonedDateTime.from(`${text}[America/New_York]`).epochMilliseconds

/**
 * Half days that the recorded list lacks. SPY's recorded hours of those dates end with the 13:00 hour, as on the half days that
 * it does list.
 */
const EARLY_NOT_LISTED = ['1998-11-27', '1998-12-24', '1999-12-31']

test('the closures of years with different rules', () => {
  const table: ReadonlyArray<readonly [number, readonly string[], readonly string[]]> = [
    [2001, '01-01 01-15 02-19 04-13 05-28 07-04 09-03 09-11 09-12 09-13 09-14 11-22 12-25'.split(' '), ['07-03', '11-23', '12-24']],
    [2002, '01-01 01-21 02-18 03-29 05-27 07-04 09-02 11-28 12-25'.split(' '), ['07-05', '11-29', '12-24']],
    [2010, '01-01 01-18 02-15 04-02 05-31 07-05 09-06 11-25 12-24'.split(' '), ['11-26']],
    [2011, '01-17 02-21 04-22 05-30 07-04 09-05 11-24 12-26'.split(' '), ['11-25']],
    [2013, '01-01 01-21 02-18 03-29 05-27 07-04 09-02 11-28 12-25'.split(' '), ['07-03', '11-29', '12-24']],
    [2026, '01-01 01-19 02-16 04-03 05-25 06-19 07-03 09-07 11-26 12-25'.split(' '), ['11-27', '12-24']],
    [2027, '01-01 01-18 02-15 03-26 05-31 06-18 07-05 09-06 11-25 12-24'.split(' '), ['11-26']]
  ]
  for (const [year, closed, early] of table) {
    assert.deepEqual(
      [...usHolidays(year)].sort(),
      closed.map(day => `${year}-${day}`),
      `closures of ${year}`
    )
    assert.deepEqual(
      [...usEarlyCloses(year)].sort(),
      early.map(day => `${year}-${day}`),
      `early closes of ${year}`
    )
  }
  assert.throws(() => usHolidays(1997), RangeError)
})

test('every weekday of 1998 to 2027 is as in the recorded market hours', t => {
  const file = recorded(t, 'market-hours.json')
  if (file === null) return knownHours()
  const listed = readListed(file)
  const calendar = usEquityCalendar()
  let days = 0
  for (let date = Temporal.PlainDate.from(`${FIRST}-01-01`); date.year <= LAST; date = date.add({ days: 1 })) {
    if (date.dayOfWeek > 5) continue
    const text = date.toString()
    assert.equal(calendar.isTradingDay(text), !listed.holidays.has(text), text)
    const regular = regularSession(calendar, text)
    const hours = regular === null ? 0 : (regular.end - regular.start) / 3_600_000
    const early = listed.early.has(text) || EARLY_NOT_LISTED.includes(text)
    assert.equal(hours, regular === null ? 0 : early ? 3.5 : 6.5, text)
    days++
  }
  t.diagnostic(`${days} weekdays compared, ${listed.holidays.size} listed closures, ${listed.early.size} listed early closes`)
  assert.ok(days > 7_800)
  knownHours()
})

test('phases around the clock changes and an early close', () => {
  const calendar = usEquityCalendar()
  const table: ReadonlyArray<readonly [string, string]> = [
    ['2026-03-06T09:29:59.999', 'pre'],
    ['2026-03-06T09:30', 'open'],
    ['2026-03-08T12:00', 'closed'],
    ['2026-03-09T09:30', 'open'],
    ['2026-11-02T15:59:59.999', 'open'],
    ['2026-11-02T16:00', 'post'],
    ['2026-11-02T20:00', 'closed'],
    ['2026-11-27T12:59:59.999', 'open'],
    ['2026-11-27T13:00', 'post'],
    ['2026-11-27T17:00', 'closed'],
    ['2026-11-26T12:00', 'closed'],
    ['2026-11-25T03:59:59.999', 'closed'],
    ['2026-11-25T04:00', 'pre']
  ]
  for (const [time, phase] of table) assert.equal(calendar.phaseAt(at(time)), phase, time)
})

test('the next change is the first instant with another phase', () => {
  const calendar = usEquityCalendar()
  const fresh = usEquityCalendar()
  const instants = fc.integer({ min: at('1998-01-02T00:00'), max: at('2027-12-20T00:00') })
  fc.assert(
    fc.property(instants, instant => {
      const change = calendar.nextChange(instant)
      assert.ok(change !== null && change.at > instant)
      assert.equal(calendar.phaseAt(change.at), change.phase)
      assert.equal(calendar.phaseAt(change.at - 1), fresh.phaseAt(instant))
      assert.notEqual(change.phase, fresh.phaseAt(instant))
      assert.equal(calendar.dateAt(instant), dateAtInstant(instant, 'America/New_York'))
    })
  )
})

test('adjacent trading days skip closed days, and a text that is not a date is refused', () => {
  const calendar = usEquityCalendar()
  assert.equal(calendar.nextTradingDay('2001-09-10'), '2001-09-17')
  assert.equal(calendar.previousTradingDay('2001-09-17'), '2001-09-10')
  assert.equal(calendar.nextTradingDay('2026-12-31'), '2027-01-04')
  for (const bad of ['2026-02-30', '2026-2-3', '', '2026-12-31T00:00'])
    assert.throws(() => calendar.isTradingDay(bad), { name: 'Malformed' }, bad)
  assert.throws(() => calendar.isTradingDay('1997-12-31'), RangeError)
})

function knownHours(): void {
  const calendar = usEquityCalendar()
  const regular = regularSession(calendar, '2013-10-07')
  assert.deepEqual(regular, { phase: 'open', start: Date.UTC(2013, 9, 7, 13, 30), end: Date.UTC(2013, 9, 7, 20) })
  assert.deepEqual(
    calendar.spansOn('2013-10-07').map(span => span.phase),
    ['pre', 'open', 'post']
  )
}

interface Listed {
  readonly holidays: ReadonlySet<string>
  readonly early: ReadonlySet<string>
}

function readListed(file: string): Listed {
  const { entries } = JSON.parse(readFileSync(file, 'utf8'))
  const { holidays, earlyCloses } = entries['Equity-usa-[*]']
  // The list has weekend dates too; they add nothing to the weekday.
  return { holidays: new Set(holidays.map(iso)), early: new Set(Object.keys(earlyCloses).map(iso)) }
}

function iso(text: string): string {
  const [month, day, year] = text.split('/').map(Number)
  return Temporal.PlainDate.from({ year: year ?? 0, month: month ?? 0, day: day ?? 0 }).toString()
}
