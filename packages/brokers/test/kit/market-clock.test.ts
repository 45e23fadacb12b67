// The market's current time: reported, carried on, and taken back only by a clock that was set back.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { epochMs } from '@trunkline/core/domain/timestamp'
import { MarketClock } from '../../src/kit/market-clock.ts'
import { VirtualClock } from '../support/clocks.ts'

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
