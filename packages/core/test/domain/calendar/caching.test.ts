// A calendar's cache changes no answer.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ofSearch } from '@trunkline/testkit/search'
import fc from 'fast-check'
import {
  cmeCalendar,
  continuousCalendar,
  type TradingCalendar,
  usEquityCalendar,
  usOptionCalendar
} from '../../../src/domain/calendar/index.ts'

const MINUTE = 60_000
/** Weekends, a holiday, a half day and a change of the clocks. */
const [FROM, UNTIL] = [Date.UTC(2026, 9, 30), Date.UTC(2026, 10, 30)]

const CALENDARS: Readonly<Record<string, () => TradingCalendar>> = {
  shares: usEquityCalendar,
  options: usOptionCalendar,
  futures: cmeCalendar,
  crypto: continuousCalendar
}

/** Minutes in sequence, in leaps, and back again. */
const instants = fc
  .array(fc.tuple(fc.integer({ min: 0, max: (UNTIL - FROM) / MINUTE }), fc.integer({ min: 1, max: 90 }), fc.constantFrom(-1, 0, 1)), {
    minLength: 1,
    maxLength: 12
  })
  .map(walks => walks.flatMap(([at, steps, way]) => Array.from({ length: steps }, (_, step) => FROM + (at + 7 * way * step) * MINUTE)))

for (const [name, make] of Object.entries(CALENDARS))
  test(`${name}: an instant’s phase and next change do not depend on earlier calls`, () => {
    fc.assert(
      fc.property(instants, sequence => {
        const warm = make()
        for (const instant of sequence) {
          const cold = make()
          assert.equal(warm.phaseAt(instant), cold.phaseAt(instant), new Date(instant).toISOString())
          assert.deepEqual(warm.nextChange(instant), make().nextChange(instant), new Date(instant).toISOString())
        }
      }),
      { numRuns: ofSearch(60, 10) }
    )
  })
