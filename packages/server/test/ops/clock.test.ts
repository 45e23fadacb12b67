// The wall clock of a machine whose clock is set while the service runs.
import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { epochMs } from '@trunkline/core/domain/timestamp'
import { SystemClock } from '../../src/ops/clock.ts'

const NEAR_MS = 900

/** Sets the machine's clock ahead for the test. */
function machine(): { setAhead(ms: number): void } & Disposable {
  const realNow = Date.now
  let aheadMs = 0
  const now = mock.method(Date, 'now', () => realNow() + aheadMs)
  return {
    setAhead: ms => {
      aheadMs = ms
    },
    [Symbol.dispose]: () => now.mock.restore()
  }
}

function errorMs(clock: SystemClock): number {
  return epochMs(clock.now()) - (performance.timeOrigin + performance.now())
}

test('a clock that is set changes wall time, unless it is kept', () => {
  using here = machine()
  const clock = new SystemClock()
  here.setAhead(300_000)
  assert.ok(Math.abs(errorMs(clock) - 300_000) < NEAR_MS)
  here.setAhead(0)
  clock.keepWhenSet()
  for (const minutes of [7, -7, 0, -10]) {
    here.setAhead(minutes * 60_000)
    assert.ok(Math.abs(errorMs(clock)) < NEAR_MS, `set ${minutes} minutes ahead`)
    assert.ok(Math.abs(clock.correctionMs + minutes * 60_000) < NEAR_MS)
  }
})

test('a correction replaces what was kept, and a machine that is set right again needs none', () => {
  using here = machine()
  const clock = new SystemClock()
  clock.keepWhenSet()
  here.setAhead(420_000)
  clock.correctBy(-420_000)
  assert.ok(Math.abs(errorMs(clock)) < NEAR_MS)
  here.setAhead(0)
  assert.ok(Math.abs(errorMs(clock)) < NEAR_MS)
  assert.ok(Math.abs(clock.correctionMs) < NEAR_MS)
})
