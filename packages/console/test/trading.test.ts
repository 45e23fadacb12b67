import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '../src/api.ts'
import { BARS_MAX, firstBars, furtherBars, merged, wireBar } from '../src/trading/bars.ts'
import { newestOf, OrderFailure } from '../src/trading/orders.ts'

const START_MS = Date.parse('2026-11-24T15:00:00Z')
const bar = (minute: number, close: string, closed = true) => ({
  ...{ start: new Date(START_MS + minute * 60_000).toISOString(), open: '1', high: '1', low: '1', close, volume: '0', closed }
})
const refusal = (status: number, code: string) => new Refusal('why', { status, code, requestId: null, retryAfterSeconds: null })

test('only a code of the service says that an order was not placed', () => {
  for (const [cause, status, nothingDone] of [
    [refusal(400, 'order_not_supported'), 400, true],
    [refusal(409, 'user_not_tradable'), 409, true],
    [refusal(500, 'internal'), 500, false],
    [refusal(502, 'status_502'), 502, false],
    [refusal(0, 'unreachable'), null, false],
    [new Error('anything else'), null, false]
  ] as const) {
    const failure = new OrderFailure(cause)
    assert.deepEqual([failure.status, failure.nothingDone, failure.message], [status, nothingDone, cause.message])
  }
})

test('each order is shown once, as it was when it changed last, whatever came last', () => {
  const [placed, working, filled] = [1, 2, 3].map(revision => ({ order_id: 'a', revision }))
  const other = { order_id: 'b', revision: 1 }
  if (placed === undefined || working === undefined || filled === undefined) throw new Error('expected three')
  assert.deepEqual(newestOf([working, other], [filled], [placed]), [filled, other])
  assert.deepEqual(newestOf([filled], [filled]), [filled])
  assert.deepEqual(newestOf(), [])
})

test('bars that are read again take their places, and the newest are kept', () => {
  const before = [bar(0, '1'), bar(1, '2'), bar(2, '3', false)]
  const { bars, asOf } = merged(before, { bars: [bar(2, '3.5'), bar(3, '4', false)], asOf: 'now' })
  assert.deepEqual([bars.map(({ close }) => close), asOf], [['1', '2', '3.5', '4'], 'now'])
  assert.deepEqual(merged(before, { bars: [], asOf: 'later' }), { bars: before, asOf: 'later' })
  const many = Array.from({ length: BARS_MAX + 5 }, (_, minute) => bar(minute, String(minute)))
  assert.deepEqual([merged([], { bars: many, asOf: '' }).bars.length, merged([], { bars: many, asOf: '' }).bars[0]?.close], [BARS_MAX, '5'])
})

/** A market with a bar in each of these minutes, at a present in minutes; the windows that were asked for. */
function market(minutes: readonly number[], presentMinute: number) {
  const windows: (readonly [number, number])[] = []
  const minuteOf = (ms: number) => (ms - START_MS) / 60_000
  const state = { presentMinute }
  const readBars = async (fromMs: number, toMs: number) => {
    const [from, to] = [minuteOf(fromMs), minuteOf(toMs)]
    windows.push([from, to])
    const bars = minutes.filter(at => at >= from && at < Math.min(to, state.presentMinute + 1)).map(at => bar(at, String(at)))
    return { bars, asOf: new Date(START_MS + state.presentMinute * 60_000).toISOString() }
  }
  return { readBars, windows, state }
}
const upTo = (minutes: number) => Array.from({ length: minutes }, (_, minute) => minute)
const lastOf = ({ bars }: Awaited<ReturnType<typeof firstBars>>) => [bars.length, bars.at(-1)?.close]

test('the newest bars are found where the clock of the sandbox is ahead, and where the market was closed for long', async () => {
  const ahead = market(upTo(5_000), 4_999)
  assert.deepEqual(lastOf(await firstBars(ahead.readBars, '1m', START_MS)), [BARS_MAX, '4999'])
  const closed = market(upTo(1_000), 3_000)
  assert.deepEqual(lastOf(await firstBars(closed.readBars, '1m', START_MS + 3_000 * 60_000)), [BARS_MAX, '999'])
  const empty = market([], 3_000)
  assert.deepEqual(lastOf(await firstBars(empty.readBars, '1m', START_MS + 3_000 * 60_000)), [0, undefined])
})

test('they are read from the last one on, in bounded windows, and from the beginning where the clock has passed them over', async () => {
  const { readBars, windows, state } = market(upTo(200_000), 1_000)
  const first = await firstBars(readBars, '1m', START_MS + 1_000 * 60_000)
  state.presentMinute = 1_001
  const further = await furtherBars(readBars, '1m', first)
  assert.deepEqual([lastOf(further), windows.at(-1)?.[0]], [[BARS_MAX, '1001'], 1_000])
  state.presentMinute = 150_000
  assert.deepEqual(lastOf(await furtherBars(readBars, '1m', further)), [BARS_MAX, '150000'])
  // A symbol that was last traded long ago.
  const rare = market([0, 90_001], 90_000)
  rare.state.presentMinute = 90_001
  const old = { bars: [bar(0, '0')], asOf: new Date(START_MS + 90_000 * 60_000).toISOString() }
  assert.deepEqual(lastOf(await furtherBars(rare.readBars, '1m', old)), [2, '90001'])
  for (const [from, to] of [...windows, ...rare.windows]) assert.ok(to - from < 50_000, `a window of ${to - from} bars is refused`)
})

test('a bar is given to the chart as its texts came', () => {
  assert.deepEqual(wireBar({ ...bar(0, '227.620000001'), high: '228' }), {
    ...{ o: '1', h: '228', l: '1', c: '227.620000001', v: '0', ts: `${START_MS}000000`, st: 'c' }
  })
  assert.equal(wireBar(bar(0, '1', false)).st, 'o')
})
