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
