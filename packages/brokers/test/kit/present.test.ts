// The market's present: told, carried on, and taken back only by a clock that was set back.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { epochMs } from '@trunkline/core/domain/timestamp'
import { Present } from '../../src/kit/present.ts'
import { VirtualClock } from '../support/clocks.ts'

const START = Date.UTC(2027, 2, 1, 15)

test('the present is carried on between answers, stands with a market that stands, and goes back only with it', async () => {
  const clock = new VirtualClock()
  const present = new Present(clock)
  assert.equal(present.nowMs(), epochMs(clock.now()))
  present.tell(START)
  await clock.advance(700)
  assert.equal(present.nowMs(), START + 700)
  present.tell(START)
  assert.equal(present.nowMs(), START + 700)
  await clock.advance(300)
  assert.equal(present.nowMs(), START + 700)
  present.tell(START + 100_000)
  assert.equal(present.nowMs(), START + 100_000)
  // An answer that was overtaken.
  present.tell(START + 50_000)
  assert.equal(present.nowMs(), START + 100_000)
  present.tell(START)
  assert.equal(present.nowMs(), START)
})

test('what happened is past, and what is older than the present says nothing', async () => {
  const clock = new VirtualClock()
  const present = new Present(clock)
  present.tell(START)
  present.happened(START + 3_600_000)
  assert.equal(present.nowMs(), START + 3_600_000)
  await clock.advance(1_000)
  present.happened(START + 3_600_000)
  present.happened(START)
  assert.equal(present.nowMs(), START + 3_601_000)
})
