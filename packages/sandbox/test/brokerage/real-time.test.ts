// Real time for a sandbox: it continues when the clock is set back, follows one that is set forward, and jitter adds nothing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { goingOn } from '../../src/brokerage/real-time.ts'

function stage() {
  const clocks = { wall: 1_000_000, monotonic: 50 }
  const now = goingOn(
    () => clocks.wall,
    () => clocks.monotonic
  )
  const pass = (ms: number, set = 0) => {
    clocks.wall += ms + set
    clocks.monotonic += ms
    return now()
  }
  return { now, pass }
}

test('a wall clock that is set back does not stop time; one that is set forward is followed', () => {
  const { pass } = stage()
  assert.equal(pass(1_000), 1_001_000)
  assert.equal(pass(1_000, -7_200_000), 1_002_000)
  assert.equal(pass(60_000), 1_062_000)
  assert.equal(pass(1_000, 7_200_000), 8_263_000)
})

test('readings that differ by less than a second adjust nothing, however often they occur', () => {
  const { pass } = stage()
  for (let reading = 0; reading < 1_000; reading += 1) pass(10, reading % 2 === 0 ? -5 : 5)
  assert.equal(pass(0), 1_010_000)
})
