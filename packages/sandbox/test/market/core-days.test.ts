// Daily bars of the core session, in a market that never closes and in one with the exchange's hours.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { regularSession, usEquityCalendar } from '@trunkline/core/domain/calendar/index'
import fc from 'fast-check'
import { type CalendarChoice, openSynthetic } from '../../src/market/index.ts'
import { joined, playAll, same } from './rebuild.ts'

const MINUTE = 60_000_000
const HOUR = 60 * MINUTE
/** A Friday, 10:00 in New York. */
const NOW = Date.UTC(2026, 10, 20, 15) * 1_000

test('a daily bar of the core session equals its minutes, in a market that never closes and in one with exchange hours', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 9_700 }),
      fc.constantFrom<CalendarChoice>('always', 'exchange'),
      fc.constantFrom('SPY', 'THIN'),
      async (day, calendar, symbol) => {
        const market = openSynthetic({ seed: '7', calendar })
        const date = Temporal.PlainDate.from('2000-01-03').add({ days: day })
        const midnight = (on: Temporal.PlainDate) => on.toZonedDateTime('America/New_York').epochMilliseconds * 1_000
        const window = { symbol, from: midnight(date), to: midnight(date.add({ days: 1 })), now: NOW }
        const [found, ...more] = await market.bars({ ...window, interval: '1d', session: 'core' })
        const hours = regularSession(usEquityCalendar(), date.toString())
        assert.equal(more.length, 0)
        if (hours === null) return assert.equal(found, undefined, `${date} has no core session`)
        assert.ok(found !== undefined)
        const minutes = await market.bars({ ...window, interval: '1m', from: hours.start * 1_000, to: hours.end * 1_000 })
        assert.equal(minutes.length, (hours.end - hours.start) / 60_000)
        assert.ok(same(joined(minutes), found) && found.closed && found.start === window.from, `${symbol} ${date}`)
        if (calendar === 'exchange') assert.deepEqual([found], await market.bars({ ...window, interval: '1d' }))
      }
    ),
    { numRuns: 40 }
  )
})

test('the day of the core session is open during the session, and control actions count', async () => {
  const market = openSynthetic({ seed: '7', calendar: 'always' })
  await market.next(NOW)
  market.control.setPrice('SPY', '900.00', NOW + MINUTE)
  await playAll(market, NOW + 7 * HOUR)
  const midnight = NOW - 10 * HOUR
  const day = async (now: number) =>
    (await market.bars({ symbol: 'SPY', interval: '1d', session: 'core', from: midnight, to: now + 1, now })).map(bar => ({ ...bar }))
  const opened = NOW - HOUR / 2
  assert.deepEqual(await day(opened - MINUTE), [], 'nothing before the session opens')
  for (const now of [NOW, NOW + 2 * MINUTE, NOW + 5 * HOUR, NOW + 7 * HOUR]) {
    const minutes = await market.bars({ symbol: 'SPY', interval: '1m', from: opened, to: Math.min(now + 1, NOW + 6 * HOUR), now })
    const [bar] = await day(now)
    assert.ok(bar !== undefined && same(joined(minutes), bar), `at ${now}`)
    assert.equal(bar.closed, now >= NOW + 6 * HOUR)
  }
})
