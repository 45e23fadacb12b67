// Dates and midnights of a zone equal Temporal's, whatever the cache contains.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ofSearch } from '@trunkline/testkit/search'
import fc from 'fast-check'
import { dateAtInstant, midnight } from '../../../src/domain/calendar/index.ts'

const HOUR = 3_600_000
/** Clocks that change at midnight, by half an hour, that skipped a day, and that never change. */
const ZONES = ['America/New_York', 'UTC', 'America/Sao_Paulo', 'Australia/Lord_Howe', 'Pacific/Apia', 'Europe/London', 'Asia/Kolkata']

const instants = fc.oneof(
  fc.integer({ min: Date.UTC(1970, 0, 1), max: Date.UTC(2038, 0, 1) }),
  fc.integer({ min: Date.UTC(1, 0, 1), max: Date.UTC(9_998, 0, 1) }),
  // Around the changes of a few years, to the minute.
  fc.integer({ min: 0, max: 24 * 366 * 3 }).map(hours => Date.UTC(2010, 0, 1) + hours * HOUR)
)

test('an instant has the date, and a date the midnight, of the zone', () => {
  fc.assert(
    fc.property(fc.constantFrom(...ZONES), fc.array(instants, { minLength: 1, maxLength: 20 }), (zone, some) => {
      for (const instant of some) {
        const date = Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(zone).toPlainDate()
        assert.equal(dateAtInstant(instant, zone), date.toString(), `${instant} in ${zone}`)
        const begins = date.toZonedDateTime(zone).epochMilliseconds
        assert.equal(midnight(date, zone), begins, `${date} in ${zone}`)
        assert.equal(midnight(date.toString(), zone), begins, `${date} in ${zone}`)
      }
    }),
    { numRuns: ofSearch(2_000, 200) }
  )
})

test('both are right in every hour around a change of the clocks', () => {
  for (const zone of ZONES) {
    for (let at = Date.UTC(2010, 0, 1); at < Date.UTC(2012, 2, 1); at += HOUR / 2) {
      const date = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone).toPlainDate()
      assert.equal(dateAtInstant(at, zone), date.toString(), `${new Date(at).toISOString()} in ${zone}`)
      assert.equal(midnight(date.toString(), zone), date.toZonedDateTime(zone).epochMilliseconds, `${date} in ${zone}`)
    }
  }
})

test('a date that does not exist has no midnight', () => {
  for (const text of ['2026-02-30', '2026-13-01', '2026-2-3x', '']) assert.throws(() => midnight(text, 'America/New_York'), RangeError)
})

test('a fraction of a millisecond before a midnight is the day before, also for the next caller', () => {
  for (const day of [0, -1, 1, 20_000, 20_001]) {
    const at = day * 86_400_000
    assert.equal(dateAtInstant(at - 0.5, 'UTC'), new Date(at - 1).toISOString().slice(0, 10))
    assert.equal(dateAtInstant(at, 'UTC'), new Date(at).toISOString().slice(0, 10))
    assert.equal(dateAtInstant(at - 1, 'UTC'), new Date(at - 1).toISOString().slice(0, 10))
  }
})
