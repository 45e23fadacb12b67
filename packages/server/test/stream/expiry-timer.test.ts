import assert from 'node:assert/strict'
import { test } from 'node:test'
import { epochMs, timestampOfMs } from '@trunkline/core/domain/timestamp'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import { ExpiryTimer } from '../../src/stream/expiry-timer.ts'

const DAY_MS = 86_400_000

test('a wall clock that is set forward past the end is noticed within a minute', async () => {
  const clock = new VirtualClock()
  let calls = 0
  const expiry = new ExpiryTimer(clock, () => {
    calls += 1
  })
  expiry.endAt(timestampOfMs(epochMs(clock.now()) + 40 * DAY_MS))
  await clock.advance(60_000)
  assert.equal(calls, 0)
  clock.setWall(41 * DAY_MS)
  await clock.advance(60_000)
  assert.equal(calls, 1)
})
