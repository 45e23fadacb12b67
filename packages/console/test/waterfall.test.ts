import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waterfallOf } from '../src/waterfall.ts'

const at = (seconds: string) => `2026-11-27T14:03:${seconds}Z`
const UNPLACED = { start: null, from: null, end: null, offset: null, sincePrevious: null }

test('a step stands where it was recorded, and an instant has no length', () => {
  const { places, scale, total, isOutOfOrder } = waterfallOf([{ at: at('00') }, { at: at('01') }, { at: at('04'), took_ms: 1_000 }])
  assert.deepEqual(places, [
    { start: 0, from: null, end: null, offset: '+0 µs', sincePrevious: null },
    { start: 0.2, from: 0, end: null, offset: '+1 s', sincePrevious: '+1 s' },
    { start: 0.8, from: 0.2, end: 1, offset: '+4 s', sincePrevious: '+3 s' }
  ])
  assert.deepEqual([scale, total, isOutOfOrder], ['linear', '5 s', false])
})

test('a step without a recorded time has no place, and the one after it counts from the last known time', () => {
  const { places, total } = waterfallOf([{ at: at('00') }, { at: null, took_ms: 5_000 }, { at: at('02') }])
  assert.deepEqual(places[1], UNPLACED)
  assert.deepEqual([places[2]?.from, places[2]?.sincePrevious], [0, '+2 s'])
  assert.equal(total, '2 s')
})

test('without two known times there is no total', () => {
  assert.equal(waterfallOf([]).total, null)
  assert.deepEqual(waterfallOf([{ at: null }, { at: 'soon' }]).places, [UNPLACED, UNPLACED])
  const { places, total } = waterfallOf([{ at: at('00') }, { at: null }])
  assert.equal(total, null)
  assert.equal(places[0]?.start, 0)
})

test('times that run backwards are shown as recorded, and named', () => {
  const { places, isOutOfOrder, total } = waterfallOf([{ at: at('02') }, { at: at('01') }, { at: at('03') }])
  assert.equal(isOutOfOrder, true)
  assert.deepEqual(places, [
    { start: 0.5, from: null, end: null, offset: '+1 s', sincePrevious: null },
    { start: 0, from: 0.5, end: null, offset: '+0 µs', sincePrevious: '-1 s' },
    { start: 1, from: 0, end: null, offset: '+2 s', sincePrevious: '+2 s' }
  ])
  assert.equal(total, '2 s')
})

test('milliseconds beside a day are distinct on a logarithmic scale, in the same order', () => {
  const { places, scale, total } = waterfallOf([
    { at: '2026-11-26T14:00:00.000Z' },
    { at: '2026-11-26T14:00:00.005Z' },
    { at: '2026-11-26T14:00:00.020Z' },
    { at: '2026-11-27T14:00:00.000Z' }
  ])
  assert.equal(scale, 'logarithmic')
  assert.equal(total, '1 d')
  const starts = places.map(({ start }) => start ?? Number.NaN)
  assert.equal(starts[0], 0)
  assert.equal(starts[3], 1)
  for (const [index, start] of starts.entries()) if (index > 0) assert.ok(start - (starts[index - 1] ?? 1) > 0.05, `${starts}`)
})

test('steps at the same time stand at the same place, on a linear scale', () => {
  const { places, scale, total } = waterfallOf([{ at: at('00') }, { at: at('00') }])
  assert.deepEqual([places[0]?.start, places[1]?.start, scale, total], [0, 0, 'linear', '0 µs'])
})

test('a duration ends at the microsecond that was measured', () => {
  assert.equal(waterfallOf([{ at: at('00'), took_ms: 2.01 }]).total, '2.01 ms')
})

test('a duration that is no length is left out', () => {
  for (const took of [-1, Number.NaN, Number.POSITIVE_INFINITY])
    assert.equal(waterfallOf([{ at: at('00'), took_ms: took }, { at: at('01') }]).places[0]?.end, null)
})
