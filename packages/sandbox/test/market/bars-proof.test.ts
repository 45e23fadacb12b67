import assert from 'node:assert/strict'
import { test } from 'node:test'
import { usEquityCalendar } from '@trunkline/core/domain/calendar/index'
import { compare, type Decimal, minus, plus } from '@trunkline/core/domain/decimal'
import { BarBuilder } from '@trunkline/core/domain/market/bar-builder'
import type { BarClock } from '@trunkline/core/domain/market/bar-clock'
import { barClock } from '@trunkline/core/domain/market/bar-clocks'
import { type Bar, msOfNanos, type Trade } from '@trunkline/core/domain/market/records'
import { aggregate } from '@trunkline/testkit/aggregate'
import { type Catalog, openCatalog } from '../../src/market/lean/catalog.ts'
import { recordedTradeBars } from '../../src/market/lean/recorded-bars.ts'
import { recordedFolder } from './recorded.ts'
import { type Auctions, auctionsOf, effectOf, recordedTicks, tradeOf } from './recorded-ticks.ts'

const DATE = '2013-10-07'
const FIGURES = ['open', 'high', 'low', 'close', 'volume'] as const
// A second is a sixtieth of a minute: queries allow intervals from a minute up, but the clock has no such limit.
const COUNTS = { second: 1 / 60, minute: 1 } as const

/** Differences that a rule of the recording explains are removed from our bars; the rest must be equal. */
test('bars built from the recorded SPY trades equal the recorded second and minute bars', async t => {
  const folder = recordedFolder(t)
  if (folder === null) return
  const catalog = await openCatalog(folder)
  const ticks = await recordedTicks(catalog, 'SPY', DATE)
  const auctions = auctionsOf(ticks)
  const all = ticks.map(tick => tradeOf(tick, 'all'))
  const trades = ticks.map(tick => tradeOf(tick, effectOf(tick, auctions)))
  const count = (effect: Trade['effect']): number => trades.filter(trade => trade.effect === effect).length
  t.diagnostic(
    `${ticks.length} trades: ${count('all')} move prices, ${count('volume')} volume only, ${count('none')} nothing; ${ticks.filter(tick => tick.suspicious).length} are suspicious, ${ticks.filter(tick => Number(tick.size) < 100).length} odd lots`
  )

  for (const resolution of ['second', 'minute'] as const) {
    const clock = clockOf(COUNTS[resolution], 'BrokerDefault')
    const recorded = await recordedBars(catalog, resolution)
    const plain = differing(build(all, clock), recorded)
    const built = build(trades, clock)
    const ruled = differing(built, recorded)
    t.diagnostic(`${resolution}: ${recorded.size} recorded bars; every trade taken alike, ${plain.length} differ: ${byFigure(plain)}`)
    t.diagnostic(
      `${resolution}: by sale condition, ${recorded.size - ruled.length} are equal in every figure, ${ruled.length} differ: ${byFigure(ruled)}`
    )
    const homeless = withoutBar(trades, clock, built)
    const explained = asRecorded(built, { clock, auctions, homeless })
    const left = differing(explained, recorded)
    t.diagnostic(
      `${resolution}: ${homeless.size} stretches with volume only are in the bar before; with that and the two auctions, ${left.length} are left unexplained`
    )
    if (resolution === 'second') {
      const outside = trades.filter(
        trade => trade.effect === 'volume' && liesOutside(trade, recorded.get(clock.startOf(msOfNanos(trade.at)) ?? 0))
      )
      t.diagnostic(`${outside.length} trades that move the volume only lie outside the recorded high and low of their second`)
      assert.ok(outside.length > 8_000, 'the condition makes the difference')
    }
    assert.deepEqual(left, [])
    assert.deepEqual([plain.length, ruled.length], resolution === 'second' ? [4_572, 1_179] : [132, 3])
  }
})

test('bars made of smaller recorded ones equal the larger recorded ones', async t => {
  const folder = recordedFolder(t)
  if (folder === null) return
  const catalog = await openCatalog(folder)
  const [seconds, minutes] = [await recordedBars(catalog, 'second'), await recordedBars(catalog, 'minute')]
  const second = clockOf(COUNTS.second, 'BrokerDefault')
  const minute = clockOf(COUNTS.minute, 'BrokerDefault')
  const made = byStart(aggregate(seconds.values(), minute, second, Number.POSITIVE_INFINITY))
  const differ = differing(made, minutes)
  t.diagnostic(
    `minutes made of seconds: ${minutes.size} bars, ${differ.length} differ, all in volume: a second without a price is recorded in the bar before, here across the minute`
  )
  assert.ok(differ.every(({ figures }) => figures.every(figure => figure === 'volume')))
  assert.equal(compare(total(made.values()), total(minutes.values())), 0, 'no volume is lost')

  // Volume that a second's bar got from the next minute is moved back to its own minute.
  const ticks = await recordedTicks(catalog, 'SPY', DATE)
  const auctions = auctionsOf(ticks)
  const trades = ticks.map(tick => tradeOf(tick, effectOf(tick, auctions)))
  const moved = withoutBar(trades, second, build(trades, second))
  for (const [start, volume] of moved) {
    const [from, to] = [minute.startOf(before(start, seconds)), minute.startOf(start)]
    if (from === to) continue
    add(made, from, minus('0' as Decimal, volume))
    add(made, to, volume)
  }
  assert.deepEqual(differing(made, minutes), [])

  const day = clockOf(null, 'USEqCore')
  const inside = [...minutes.values()].filter(({ startMs }) => day.startOf(startMs) !== null)
  const [core] = aggregate(inside, day, clockOf(COUNTS.minute, 'USEqCore'), Number.POSITIVE_INFINITY)
  const [daily] = (await recordedTradeBars(catalog, { symbol: 'SPY', resolution: 'daily', date: DATE })).map(barOf)
  assert.ok(core !== undefined && daily !== undefined)
  t.diagnostic(`the day of USEqCore made of minutes: ${core.open} ${core.high} ${core.low} ${core.close} ${core.volume}, as recorded`)
  assert.deepEqual(differing(byStart([{ ...core, startMs: daily.startMs }]), byStart([daily])), [])
})

type Bars = Map<number, Bar>

interface Difference {
  readonly start: string
  /** Empty if one side has no such bar. */
  readonly figures: readonly (typeof FIGURES)[number][]
}

function clockOf(minutes: number | null, session: 'BrokerDefault' | 'USEqCore'): BarClock {
  return barClock(minutes === null ? { unit: 'day', count: 1 } : { unit: 'minute', count: minutes }, session, usEquityCalendar(), true)
}

async function recordedBars(catalog: Catalog, resolution: 'second' | 'minute'): Promise<Bars> {
  return byStart((await recordedTradeBars(catalog, { symbol: 'SPY', resolution, date: DATE })).map(barOf))
}

function barOf({ start, open, high, low, close, volume }: Awaited<ReturnType<typeof recordedTradeBars>>[number]): Bar {
  return { startMs: start / 1_000, open, high, low, close, volume, closed: true }
}

function build(trades: readonly Trade[], clock: BarClock): Bars {
  const builder = new BarBuilder(clock)
  const bars = byStart([...trades.flatMap(trade => builder.trade(trade)), ...builder.closeUntil(Number.POSITIVE_INFINITY)])
  assert.deepEqual(builder.passed, { late: 0, outside: 0, repeated: 0 })
  return bars
}

function byStart(bars: Iterable<Bar>): Bars {
  return new Map([...bars].map(bar => [bar.startMs, bar]))
}

function differing(ours: Bars, recorded: Bars): readonly Difference[] {
  return [...new Set([...ours.keys(), ...recorded.keys()])]
    .toSorted((a, b) => a - b)
    .flatMap(startMs => {
      const [a, b] = [ours.get(startMs), recorded.get(startMs)]
      const start = new Date(startMs).toISOString()
      if (a === undefined || b === undefined) return [{ start, figures: [] }]
      const figures = FIGURES.filter(figure => compare(a[figure], b[figure]) !== 0)
      return figures.length === 0 ? [] : [{ start, figures }]
    })
}

function byFigure(differences: readonly Difference[]): string {
  const absent = differences.filter(({ figures }) => figures.length === 0).length
  const counts = FIGURES.map(figure => `${differences.filter(({ figures }) => figures.includes(figure)).length} in ${figure}`)
  return [...counts, `${absent} on one side only`].join(', ')
}

/** Volume of intervals in which no trade moved a price, by the start of the missing bar. */
function withoutBar(trades: readonly Trade[], clock: BarClock, bars: Bars): ReadonlyMap<number, Decimal> {
  const volumes = new Map<number, Decimal>()
  for (const { at, size, effect } of trades) {
    const start = clock.startOf(msOfNanos(at))
    if (effect === 'volume' && start !== null && !bars.has(start)) volumes.set(start, plus(volumes.get(start) ?? ('0' as Decimal), size))
  }
  return volumes
}

/** Our bars, adjusted to the recording: volume without a price goes to the bar before, the auctions are the day's first and last price. */
function asRecorded(
  built: Bars,
  at: { readonly clock: BarClock; readonly auctions: Auctions; readonly homeless: ReadonlyMap<number, Decimal> }
): Bars {
  const bars = new Map(built)
  for (const [start, volume] of at.homeless) add(bars, before(start, built), volume)
  const { opening, closing } = at.auctions
  const [openingStart, closingStart] = [at.clock.startOf(opening.atMs), at.clock.startOf(closing.atMs)]
  const first = bars.get(openingStart ?? 0)
  const last = before(closingStart ?? 0, built)
  const lastBar = bars.get(last)
  assert.ok(first !== undefined && lastBar !== undefined)
  // The opening print is the open, even if trades of the hours before were reported ahead of it.
  bars.set(first.startMs, { ...first, open: opening.price })
  // The closing print comes after 16:00 and is recorded as the end of the regular session.
  const low = compare(closing.price, lastBar.low) < 0 ? closing.price : lastBar.low
  bars.set(last, { ...lastBar, low, close: closing.price })
  add(bars, last, closing.size)
  add(bars, closingStart, minus('0' as Decimal, closing.size))
  return bars
}

function before(start: number, bars: Bars): number {
  let last = Number.NEGATIVE_INFINITY
  for (const other of bars.keys()) {
    if (other >= start) break
    last = other
  }
  return last
}

function add(bars: Bars, start: number | null, volume: Decimal): void {
  const bar = bars.get(start ?? 0)
  assert.ok(bar !== undefined)
  bars.set(bar.startMs, { ...bar, volume: plus(bar.volume, volume) })
}

function liesOutside({ price }: Trade, bar: Bar | undefined): boolean {
  return bar !== undefined && (compare(price, bar.high) > 0 || compare(price, bar.low) < 0)
}

function total(bars: Iterable<Bar>): Decimal {
  let sum = '0' as Decimal
  for (const { volume } of bars) sum = plus(sum, volume)
  return sum
}
