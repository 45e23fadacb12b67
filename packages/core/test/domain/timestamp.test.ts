import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTimestamp, timestampOfMs, tradingDay } from '../../src/domain/timestamp.ts'

test('milliseconds become a timestamp with microseconds, whatever came before', () => {
  const cases = [
    [0, '1970-01-01T00:00:00.000000Z'],
    [0.0009, '1970-01-01T00:00:00.000000Z'],
    [0.001, '1970-01-01T00:00:00.000001Z'],
    [999.9996, '1970-01-01T00:00:00.999999Z'],
    [1_000, '1970-01-01T00:00:01.000000Z'],
    [-1, '1969-12-31T23:59:59.999000Z'],
    [-0.5, '1969-12-31T23:59:59.999500Z'],
    [Date.UTC(2026, 10, 21, 14, 30) + 123.456, '2026-11-21T14:30:00.123456Z'],
    [Date.UTC(2026, 10, 21, 14, 30), '2026-11-21T14:30:00.000000Z']
  ] as const
  for (const [ms, text] of [...cases, ...cases.toReversed()]) assert.equal(timestampOfMs(ms), text)
  assert.throws(() => timestampOfMs(Number.NaN), RangeError)
  assert.equal(timestampOfMs(0), '1970-01-01T00:00:00.000000Z')
})

test('the trading day changes at midnight in New York, in summer and in winter', () => {
  const cases = [
    ['2026-07-02T03:59:59.999999Z', '2026-07-01'],
    ['2026-07-02T04:00:00.000000Z', '2026-07-02'],
    ['2026-12-02T04:59:59.999999Z', '2026-12-01'],
    ['2026-12-02T05:00:00.000000Z', '2026-12-02'],
    ['2026-12-03T05:00:00.000000Z', '2026-12-03']
  ] as const
  for (const [at, day] of [...cases, ...cases.toReversed()]) assert.equal(tradingDay(parseTimestamp(at, 'at')), day)
})
