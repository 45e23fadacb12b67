import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aggregate } from '@trunkline/testkit/aggregate'
import fc from 'fast-check'
import { canonical, compare, type Decimal, plus, ZERO } from '../../../src/domain/decimal.ts'
import { BarBuilder } from '../../../src/domain/market/bar-builder.ts'
import type { BarClock } from '../../../src/domain/market/bar-clock.ts'
import { fits, parseInterval } from '../../../src/domain/market/interval.ts'
import { type Bar, msOfNanos, type Trade } from '../../../src/domain/market/records.ts'
import { at, clockOf, equityClock, intervals, markets, trade, trades } from './made.ts'

const OPEN = at('2026-11-18T09:30')

function figures({ startMs, open, high, low, close, volume, closed }: Bar): string {
  return `${new Date(startMs).toISOString()} ${[open, high, low, close, volume].map(canonical).join(' ')} ${closed ? 'c' : 'o'}`
}

/** Bars by the simplest method, with exact decimals throughout. */
function byHand(list: readonly Trade[], clock: BarClock): readonly string[] {
  const bars = new Map<number, { prices: Decimal[]; volume: Decimal }>()
  for (const { price, size, effect, at: time } of list) {
    const start = clock.startOf(msOfNanos(time))
    if (start === null || effect === 'none') continue
    const bar = bars.get(start) ?? { prices: [], volume: ZERO }
    if (effect === 'all') bar.prices.push(price)
    bar.volume = plus(bar.volume, size)
    bars.set(start, bar)
  }
  return [...bars].flatMap(([startMs, { prices, volume }]) => {
    const sorted = prices.toSorted(compare)
    const [open, close, low, high] = [prices[0], prices.at(-1), sorted[0], sorted.at(-1)]
    if (open === undefined || close === undefined || low === undefined || high === undefined) return []
    return [figures({ startMs, open, high, low, close, volume, closed: true })]
  })
}

function build(list: readonly Trade[], clock: BarClock): readonly Bar[] {
  const builder = new BarBuilder(clock)
  return [...list.flatMap(one => builder.trade(one)), ...builder.closeUntil(Number.POSITIVE_INFINITY)]
}

test('a bar changes with its trades and closes once, with the first trade after it', () => {
  const builder = new BarBuilder(equityClock('1m', 'USEqCore'))
  assert.deepEqual(builder.trade(trade('10.00', '100', OPEN - 1)), [])
  assert.equal(builder.open, null)
  for (const [price, size] of [
    ['10.10', '100'],
    ['9.9', '0.5'],
    ['10.5', '3'],
    ['10.00', '1']
  ] as const)
    assert.deepEqual(builder.trade(trade(price, size, OPEN)), [])
  assert.equal(builder.openUntil, OPEN + 60_000)
  const open = { startMs: OPEN, open: '10.10', high: '10.5', low: '9.9', close: '10.00', volume: '104.5', closed: false }
  assert.deepEqual(builder.open, open)
  assert.deepEqual(builder.trade(trade('11', '1', OPEN + 60_000)), [{ ...open, closed: true }])
  assert.deepEqual(builder.closeUntil(OPEN + 119_999), [])
  assert.equal(builder.closeUntil(OPEN + 120_000).length, 1)
  assert.deepEqual(builder.closeUntil(OPEN + 180_000), [])
  assert.deepEqual(builder.passed, { late: 0, outside: 1, repeated: 0 })
})

test('a trade of a closed bar changes nothing and is counted', () => {
  const builder = new BarBuilder(equityClock('1m', 'USEqCore'))
  builder.trade(trade('10', '1', OPEN + 60_000))
  builder.trade(trade('11', '1', OPEN + 59_999))
  builder.closeUntil(OPEN + 240_000)
  builder.trade(trade('12', '1', OPEN + 90_000))
  // No bar of that minute was ever open, but its time is over.
  builder.trade(trade('12', '1', OPEN + 200_000))
  assert.equal(builder.passed.late, 3)
  // Within the open bar the order of arrival counts, not the time.
  builder.trade(trade('13', '1', OPEN + 250_000))
  builder.trade(trade('14', '1', OPEN + 249_000))
  assert.equal(builder.open?.close, '14')
})

test('a trade outside the session closes the bar before it', () => {
  const builder = new BarBuilder(equityClock('4h', 'USEqCore'))
  builder.trade(trade('10', '1', at('2026-11-18T15:59')))
  const closed = builder.trade(trade('11', '1', at('2026-11-18T16:00')))
  assert.deepEqual(closed.map(figures), ['2026-11-18T18:30:00.000Z 10 10 10 10 1 c'])
})

test('a trade’s effect decides what it changes', () => {
  const builder = new BarBuilder(equityClock('1m', 'USEqCore'))
  builder.trade(trade('1', '5', OPEN, 'volume'))
  assert.equal(builder.open, null)
  builder.trade(trade('10', '1', OPEN))
  builder.trade(trade('99', '2', OPEN, 'volume'))
  builder.trade(trade('98', '4', OPEN, 'none'))
  assert.deepEqual(builder.open, { startMs: OPEN, open: '10', high: '10', low: '10', close: '10', volume: '8', closed: false })
  builder.trade(trade('1', '5', OPEN + 60_000, 'volume'))
  assert.deepEqual(builder.closeUntil(OPEN + 120_000), [], 'volume alone is no bar')
})

test('bars of trades are exact for all figures, and equal those made of smaller bars', () => {
  const start = fc.constantFrom(
    at('2026-11-18T09:20'),
    at('2026-11-27T12:00'),
    at('2026-03-07T23:00'),
    at('2026-11-01T00:30'),
    at('2025-12-31T15:00')
  )
  fc.assert(
    fc.property(
      markets,
      intervals,
      start.chain(from => trades(from, 6 * 3_600_000)),
      ({ calendar, session }, interval, list) => {
        const clock = clockOf(interval, calendar, session)
        const whole = build(list, clock)
        assert.deepEqual(whole.map(figures), byHand(list, clock))

        const base = clockOf('1m', calendar, session)
        // Volume without a price has no smaller bar, so bars made of those lack it.
        const moving = list.filter(({ effect }) => effect === 'all')
        const smaller = build(moving, base)
        const expected = byHand(moving, clock)
        assert.deepEqual(aggregate(smaller, clock, base, Number.POSITIVE_INFINITY).map(figures), expected)
        // In two steps as well, if the lengths allow it.
        const half = parseInterval('30m')
        if (!fits(half, clock.interval, clock.gridMinutes)) return
        const middle = clockOf('30m', calendar, session)
        const halves = aggregate(smaller, middle, base, Number.POSITIVE_INFINITY)
        assert.deepEqual(aggregate(halves, clock, middle, Number.POSITIVE_INFINITY).map(figures), expected)
      }
    ),
    { numRuns: 300 }
  )
})

test('smaller bars that are reported open repeatedly, some never closed, make the same bars', () => {
  const from = at('2026-11-18T09:20')
  fc.assert(
    fc.property(trades(from, 200_000), fc.infiniteStream(fc.boolean()), (list, flips) => {
      const [base, clock] = [equityClock('1m'), equityClock('5m')]
      const minutes = new BarBuilder(base)
      const builder = new BarBuilder(clock, base)
      const made: Bar[] = []
      for (const one of list.filter(({ effect }) => effect === 'all')) {
        // The next bar makes up for a lost closed state.
        for (const closed of minutes.trade(one)) if (flips.next().value === true) made.push(...builder.bar(closed))
        if (minutes.open !== null) made.push(...builder.bar(minutes.open))
      }
      made.push(...builder.closeUntil(Number.POSITIVE_INFINITY))
      const moving = list.filter(({ effect }) => effect === 'all')
      assert.deepEqual(made.map(figures), byHand(moving, clock))
    })
  )
})

test('the last smaller bar closes its bar at once, and nothing counts twice', () => {
  const [base, clock] = [equityClock('1m'), equityClock('5m')]
  const bar = (minute: number, volume: string, closed: boolean): Bar => {
    const price = '10' as Decimal
    return { startMs: OPEN + minute * 60_000, open: price, high: price, low: price, close: price, volume: volume as Decimal, closed }
  }
  const builder = new BarBuilder(clock, base)
  builder.bar(bar(0, '1', true))
  builder.bar(bar(3, '2', true))
  // Trades received live while history was requested: history has them already.
  builder.bar(bar(3, '1.5', false))
  builder.bar(bar(3, '2', true))
  builder.trade(trade('11', '7', OPEN + 239_000))
  builder.bar(bar(4, '3', false))
  assert.deepEqual(builder.open?.volume, '6')
  assert.deepEqual(builder.bar(bar(4, '4', true)).map(figures), ['2026-11-18T14:30:00.000Z 10 10 10 10 7 c'])
  assert.equal(builder.open, null)
  builder.bar(bar(2, '1', true))
  assert.deepEqual(builder.passed, { late: 0, outside: 0, repeated: 4 })
})

test('trades after an open smaller bar replace it, or are added to it if it is only a part', () => {
  const [base, clock] = [equityClock('1m'), equityClock('5m')]
  const price = '10' as Decimal
  const minute: Bar = { startMs: OPEN + 60_000, open: price, high: price, low: price, close: price, volume: '50' as Decimal, closed: false }
  const complete = new BarBuilder(clock, base)
  complete.completeFrom(OPEN + 60_000)
  complete.bar(minute)
  complete.trade(trade('11', '20', OPEN + 61_000))
  assert.equal(complete.open?.volume, '20', 'the rest of its trades are on their way')

  const partial = new BarBuilder(clock, base)
  partial.completeFrom(OPEN + 60_001)
  partial.bar(minute)
  partial.trade(trade('11', '20', OPEN + 61_000))
  assert.deepEqual([partial.open?.open, partial.open?.close, partial.open?.volume], ['10', '11', '70'])
  const later = { ...minute, startMs: OPEN + 119_999 }
  assert.deepEqual(
    [partial.isWhole(minute), partial.isWhole(later), partial.isWhole({ ...later, startMs: OPEN + 120_000 })],
    [false, false, true]
  )
})

test('days dated at midnight are added to their bar', () => {
  const base = equityClock('1d')
  const price = '10' as Decimal
  const day = (date: string): Bar => ({
    startMs: at(`${date}T00:00`),
    open: price,
    high: price,
    low: price,
    close: price,
    volume: '1' as Decimal,
    closed: true
  })
  const bars = ['2026-11-20', '2026-11-23', '2026-11-25', '2026-11-27'].map(day)
  assert.deepEqual(aggregate(bars, equityClock('1w'), base, 0).map(figures), [
    '2026-11-16T09:00:00.000Z 10 10 10 10 1 c',
    '2026-11-23T09:00:00.000Z 10 10 10 10 3 c'
  ])
})

test('history first, then the trades received meanwhile, then live ones: no gap and no repeat', () => {
  const from = at('2026-11-18T09:20')
  fc.assert(
    fc.property(trades(from, 200_000), fc.nat(120), fc.nat(120), fc.boolean(), (list, a, b, byTrades) => {
      const moving = list.filter(({ effect }) => effect === 'all')
      const [liveFrom, readUntil] = [Math.min(a, b, moving.length), Math.min(Math.max(a, b), moving.length)]
      const [base, clock] = [equityClock('1m'), equityClock('5m')]
      const minutes = new BarBuilder(base)
      const past: Bar[] = moving.slice(0, readUntil).flatMap(one => minutes.trade(one))
      if (minutes.open !== null) past.push(minutes.open)

      const builder = new BarBuilder(clock, base)
      const missed = moving[liveFrom - 1]
      // Only a part of the minute in which trades began is known.
      if (byTrades && missed !== undefined) builder.completeFrom(base.endOf(base.startOf(msOfNanos(missed.at)) ?? 0))
      const made = past.flatMap(bar => builder.bar(bar))
      if (byTrades) {
        made.push(...moving.slice(liveFrom).flatMap(one => builder.trade(one)))
      } else {
        const live = new BarBuilder(base)
        const states = moving.flatMap((one, index) =>
          [...live.trade(one), ...(live.open === null ? [] : [live.open])].map(bar => ({ bar, index }))
        )
        made.push(...states.filter(({ index }) => index >= liveFrom).flatMap(({ bar }) => builder.bar(bar)))
      }
      made.push(...builder.closeUntil(Number.POSITIVE_INFINITY))

      const truth = byHand(moving, clock)
      const parts = made.filter(bar => !builder.isWhole(bar) && !truth.includes(figures(bar)))
      assert.deepEqual(
        made.map(({ startMs }) => startMs),
        build(moving, clock).map(({ startMs }) => startMs)
      )
      assert.deepEqual(
        made.filter(bar => !parts.includes(bar)).map(figures),
        truth.filter((_, index) => !parts.includes(made[index] as Bar))
      )
      assert.ok(parts.length <= (byTrades ? 1 : 0), `${parts.length} bars are known in part`)
    }),
    { numRuns: 300 }
  )
})
