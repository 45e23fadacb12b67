import assert from 'node:assert/strict'
import { test } from 'node:test'
import { continuousCalendar, regularSession } from '../../../src/domain/calendar/index.ts'

test('a continuous market is in its regular session at every instant, day after day', () => {
  const calendar = continuousCalendar()
  assert.equal(calendar.phaseAt(Date.UTC(2026, 11, 25, 3)), 'open')
  assert.equal(calendar.nextChange(0), null)
  assert.equal(calendar.isTradingDay('2026-12-26'), true)
  assert.equal(calendar.nextTradingDay('2026-12-31'), '2027-01-01')
  assert.equal(calendar.previousTradingDay('2027-01-01'), '2026-12-31')
  assert.equal(calendar.dateAt(Date.UTC(2026, 11, 25, 23, 59)), '2026-12-25')
  assert.throws(() => calendar.spansOn('2026-02-30'), { name: 'Malformed' })
})

test('its days follow the clock changes of its zone', () => {
  const span = regularSession(continuousCalendar('America/New_York'), '2026-11-01')
  assert.ok(span !== null)
  assert.equal(span.end - span.start, 25 * 3_600_000)
})

test('the dates of a long history equal Temporal’s, without calls to it', t => {
  const from = t.mock.method(Temporal.PlainDate, 'from')
  for (const zone of ['UTC', 'America/New_York']) {
    const calendar = continuousCalendar(zone)
    let date = '2001-12-20'
    calendar.spansOn(date)
    from.mock.resetCalls()
    const found: { readonly date: string; readonly start: number | undefined; readonly end: number | undefined }[] = []
    for (; date < '2002-03-01'; date = calendar.nextTradingDay(date)) {
      const [span] = calendar.spansOn(date)
      found.push({ date, start: span?.start, end: span?.end })
    }
    assert.equal(from.mock.callCount(), 0)
    assert.equal(found.length, 71)
    for (const { date, start, end } of found) {
      const plain = Temporal.PlainDate.from(date)
      assert.equal(start, plain.toZonedDateTime(zone).epochMilliseconds)
      assert.equal(end, plain.add({ days: 1 }).toZonedDateTime(zone).epochMilliseconds)
      assert.equal(calendar.previousTradingDay(date), plain.subtract({ days: 1 }).toString())
    }
  }
})
