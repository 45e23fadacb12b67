// The market's current time: reported, carried on, and taken back only by a clock that was set back.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { epochMs } from '@trunkline/core/domain/timestamp'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import { MarketClock } from '../../src/kit/market-clock.ts'

const START = Date.UTC(2027, 2, 1, 15)

test('the present is carried on between answers, stands with a market that stands, and goes back only with it', async () => {
  const clock = new VirtualClock()
  const marketClock = new MarketClock(clock)
  assert.equal(marketClock.nowMs(), epochMs(clock.now()))
  marketClock.sync(START)
  await clock.advance(700)
  assert.equal(marketClock.nowMs(), START + 700)
  marketClock.sync(START)
  assert.equal(marketClock.nowMs(), START + 700)
  await clock.advance(300)
  assert.equal(marketClock.nowMs(), START + 700)
  marketClock.sync(START + 100_000)
  assert.equal(marketClock.nowMs(), START + 100_000)
  // An answer that was overtaken.
  marketClock.sync(START + 50_000)
  assert.equal(marketClock.nowMs(), START + 100_000)
  marketClock.sync(START)
  assert.equal(marketClock.nowMs(), START)
})

test('past events do not move the clock back, and what is older than the current time changes nothing', async () => {
  const clock = new VirtualClock()
  const marketClock = new MarketClock(clock)
  marketClock.sync(START)
  marketClock.happened(START + 3_600_000)
  assert.equal(marketClock.nowMs(), START + 3_600_000)
  await clock.advance(1_000)
  marketClock.happened(START + 3_600_000)
  marketClock.happened(START)
  assert.equal(marketClock.nowMs(), START + 3_601_000)
})

test('a wall clock that is set moves no market that is followed, and a market’s own time is respected', async () => {
  const clock = new VirtualClock()
  const start = epochMs(clock.now())
  const marketClock = new MarketClock(clock, 2_000)
  clock.setWall(-7_200_000)
  await clock.advance(1_000)
  assert.equal(marketClock.nowMs(), start + 1_000)
  marketClock.sync(start + 3_600_000)
  clock.setWall(300_000)
  await clock.advance(1_000)
  assert.equal(marketClock.nowMs(), start + 3_601_000)
  // What is as near as whole seconds tell changes nothing.
  marketClock.sync(start + 3_599_500)
  marketClock.happened(start + 3_602_500)
  assert.equal(marketClock.nowMs(), start + 3_601_000)
})
