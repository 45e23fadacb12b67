// The market's time at Tradier: what it reports, carried on by a monotonic clock.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { epochMs } from '@trunkline/core/domain/timestamp'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import { MarketTime } from '../../src/kit/market-time.ts'

test('a wall clock that is set moves no market that is followed, and a market’s own time is respected', async () => {
  const clock = new VirtualClock()
  const start = epochMs(clock.now())
  const time = new MarketTime(clock)
  clock.setWall(-7_200_000)
  await clock.advance(1_000)
  assert.equal(time.nowMs(), start + 1_000)
  time.sync(start + 3_600_000)
  clock.setWall(300_000)
  await clock.advance(1_000)
  assert.equal(time.nowMs(), start + 3_601_000)
})
