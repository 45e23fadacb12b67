// The limits of time: what a quiet machine is not excused for, what a busy one is, and that a minute is too long on both.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allowedMs, Behind, Calm, LIMITS, type Now, TOO_LATE_MS, Wait } from './limits.ts'

const QUIET_MS = 20
const GAPS = [LIMITS.ownerless, LIMITS.behind, LIMITS.apart, LIMITS.answer]

function at(ms: number, lateMs = QUIET_MS): Now {
  return { ms, lateMs: () => lateMs }
}

test('a minute is too long on every machine on which time can be judged', () => {
  for (const limit of GAPS) for (const lateMs of [0, 500, 1_000, TOO_LATE_MS]) assert.ok(allowedMs(limit, lateMs) < 50_000)
  for (const limit of GAPS) assert.ok(allowedMs(limit, TOO_LATE_MS + 1) > 120_000)
})

test('a quiet machine excuses no user without an owner for eleven seconds, a busy one does', () => {
  const wait = () => new Wait(LIMITS.ownerless, 1_000)
  assert.equal(wait().isTooLong(at(11_000)), false)
  assert.equal(wait().isTooLong(at(12_000)), true)
  assert.equal(wait().isTooLong(at(22_000, 500)), false)
  assert.equal(wait().isTooLong(at(61_000, TOO_LATE_MS)), true)
  assert.equal(wait().isTooLong(at(61_000, 2_000)), false)
})

test('time in which something else may be the reason does not count', () => {
  const wait = new Wait(LIMITS.ownerless, 1_000)
  assert.equal(wait.isTooLong(at(20_000), true), false)
  assert.equal(wait.isTooLong(at(29_000)), false)
  assert.equal(wait.isTooLong(at(31_000)), true)
})

test('a live session that is behind the log for longer than three seconds is found, however the log grows', () => {
  const behind = new Behind()
  const tooLong = (has: number, target: number, now: Now) => behind.tooLongMs('u', has, target, LIMITS.behind, now)
  assert.equal(tooLong(5, 7, at(0)), null)
  assert.equal(tooLong(6, 9, at(3_000)), null)
  assert.equal(tooLong(6, 12, at(3_000, 500)), null)
  assert.equal(tooLong(6, 12, at(4_000)), 4_000)
  assert.equal(tooLong(7, 12, at(5_000)), null, 'it reached what it was behind, and is behind again')
  assert.equal(tooLong(12, 12, at(9_000)), null)
  assert.equal(tooLong(12, 13, at(20_000)), null)
  assert.equal(behind.tooLongMs('w', 0, 1, LIMITS.behind, at(20_000)), null)
})

test('it is calm since the last disturbance, or since the last node was ready', () => {
  let [nowMs, isReady] = [0, true]
  const calm = new Calm(
    () => isReady,
    () => nowMs
  )
  nowMs = 100
  assert.deepEqual([calm.look(), calm.since], [true, 0])
  calm.began()
  nowMs = 200
  calm.ended()
  assert.deepEqual([calm.look(), calm.since], [true, 100])
  isReady = false
  nowMs = 300
  assert.deepEqual([calm.look(), calm.since], [false, 300])
})
