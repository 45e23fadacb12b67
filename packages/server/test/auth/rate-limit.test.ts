import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cpuTimeOf } from '@trunkline/testkit/cpu-time'
import fc from 'fast-check'
import { RateLimiter } from '../../src/auth/rate-limit.ts'

test('a burst is granted at once, then the rate', () => {
  const limiter = new RateLimiter({ perSecond: 10, burst: 20 })
  for (let at = 0; at < 20; at++) assert.equal(limiter.take('a', 0).retryAfterSeconds, null)
  const refused = limiter.take('a', 0)
  assert.deepEqual(refused, { limit: 20, remaining: 0, resetSeconds: 2, retryAfterSeconds: 1 })
  assert.equal(limiter.take('a', 99).retryAfterSeconds, 1)
  assert.equal(limiter.take('a', 100).retryAfterSeconds, null)
  assert.equal(limiter.take('a', 100).retryAfterSeconds, 1)
  assert.equal(limiter.take('b', 100).retryAfterSeconds, null, 'one caller does not pay for another')
})

test('what is left and when all is back are reported', () => {
  const limiter = new RateLimiter({ perSecond: 2, burst: 10 })
  assert.deepEqual(limiter.take('a', 0), { limit: 10, remaining: 9, resetSeconds: 1, retryAfterSeconds: null })
  limiter.take('a', 0)
  assert.deepEqual(limiter.take('a', 0), { limit: 10, remaining: 7, resetSeconds: 2, retryAfterSeconds: null })
  assert.deepEqual(limiter.peek('a', 1_000), { limit: 10, remaining: 9, resetSeconds: 1, retryAfterSeconds: null })
  assert.deepEqual(limiter.peek('nobody', 0), { limit: 10, remaining: 10, resetSeconds: 0, retryAfterSeconds: null })
})

test('over any span no more is granted than burst and rate allow', () => {
  const step = fc.tuple(fc.integer({ min: 0, max: 500 }), fc.integer({ min: 1, max: 8 }))
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 60 }),
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 1, max: 50 }),
      (steps, perSecond, burst) => {
        const limiter = new RateLimiter({ perSecond, burst })
        let now = 0
        let granted = 0
        for (const [wait, attempts] of steps) {
          now += wait
          for (let at = 0; at < attempts; at++) if (limiter.take('a', now).retryAfterSeconds === null) granted++
          assert.ok(granted <= burst + (now / 1_000) * perSecond + 1e-6)
        }
      }
    )
  )
})

test('memory is bounded, and a caller that is limited stays so below the bound', () => {
  const limiter = new RateLimiter({ perSecond: 1, burst: 2 }, 100)
  for (let at = 0; at < 2; at++) limiter.take('limited', 0)
  for (let at = 0; at < 99; at++) limiter.take(`idle-${at}`, 0)
  assert.notEqual(limiter.take('limited', 1).retryAfterSeconds, null)
  // The idle ones are full again after a second, so they are dropped.
  for (let at = 0; at < 50; at++) limiter.take(`new-${at}`, 1_001)
  assert.equal(limiter.take('limited', 1_001).retryAfterSeconds, null)
  assert.notEqual(limiter.take('limited', 1_002).retryAfterSeconds, null)
  const taken = cpuTimeOf(() => {
    for (let at = 0; at < 100_000; at++) limiter.take(`flood-${at}`, 1_003)
  })
  assert.ok(taken < 1_000, 'a flood of newcomers is cheap')
})
