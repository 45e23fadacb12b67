import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SharedRate } from '../../src/auth/shared-rate.ts'

const RATE = { perSecond: 40, burst: 80 }

/** How many of `count` requests of the key are granted at that moment. */
function granted(rate: SharedRate, key: string, nowMs: number, count: number): number {
  return Array.from({ length: count }, () => rate.take('platform', key, nowMs)).filter(left => left.retryAfterSeconds === null).length
}

test('a key alone has all of its platform’s bucket, and its rate', () => {
  const rate = new SharedRate(RATE)
  assert.equal(granted(rate, 'one', 0, 500), 80)
  let later = 0
  for (let ms = 50; ms <= 10_000; ms += 50) later += granted(rate, 'one', ms, 10)
  assert.ok(later >= 400 - 20 && later <= 400, `${later} in ten seconds at 40 a second: all but the quarter that fills up again`)
})

test('a key that runs wild leaves another a quarter of the rate, and its platform no more than it may', () => {
  const rate = new SharedRate(RATE)
  let [wild, quiet] = [granted(rate, 'wild', 0, 500), 0]
  assert.equal(granted(rate, 'quiet', 0, 1), 0, 'the wild one had the whole bucket before the other came')
  for (let ms = 50; ms <= 60_000; ms += 50) {
    wild += granted(rate, 'wild', ms, 20)
    if (ms > 1_000 && ms % 200 === 0) quiet += granted(rate, 'quiet', ms, 1)
  }
  assert.equal(quiet, 295, 'five a second of the ten that are its own, every one')
  assert.ok(wild + quiet <= 80 + 60 * 40)
})

test('a small bucket is shared too, and other platforms’ are their own', () => {
  const rate = new SharedRate({ perSecond: 1, burst: 1 })
  assert.equal(granted(rate, 'one', 0, 5), 1)
  assert.equal(rate.take('other', 'two', 0).retryAfterSeconds, null)
})

test('what is given back in the last quarter is the key’s own again', () => {
  const rate = new SharedRate(RATE)
  granted(rate, 'one', 0, 500)
  // A quarter of a second later: ten in the owner's bucket, and two and a half in the key's own.
  assert.equal(granted(rate, 'one', 250, 2), 2)
  rate.giveBack('platform', 'one', 250)
  assert.equal(granted(rate, 'one', 250, 5), 1)
})
