import assert from 'node:assert/strict'
import { test } from 'node:test'
import { backoffMs } from '@trunkline/core/app/backoff'
import fc from 'fast-check'

const LIMITS = { firstMs: 1_000, longestMs: 30_000 }

test('pauses double up to the longest, and jitter takes off half at most', () => {
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6, 7, 1_000].map(failures => backoffMs(LIMITS, failures, 1)),
    [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]
  )
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10_000 }), fc.double({ min: 0, max: 1, noNaN: true }), (failures, fraction) => {
      const [most, ms] = [backoffMs(LIMITS, failures, 1), backoffMs(LIMITS, failures, fraction)]
      assert.ok(ms >= most / 2 && ms <= most)
    })
  )
})
