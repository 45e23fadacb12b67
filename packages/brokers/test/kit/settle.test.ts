// A command that was taken and is carried out later.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BrokerFault, type Outcome } from '@trunkline/core/ports/broker'
import { refused, settled } from '../../src/kit/settle.ts'
import { VirtualClock } from '../support/clocks.ts'

const never = new AbortController().signal

async function looked(answers: readonly (Outcome<string> | null)[]) {
  const clock = new VirtualClock()
  const seenMs: number[] = []
  const startMs = clock.monotonicMs()
  const look = async () => {
    seenMs.push(clock.monotonicMs() - startMs)
    return answers[seenMs.length - 1] ?? null
  }
  const outcome = settled({ clock, pausesMs: [0, 200, 800] }, look, never)
  await clock.advance(5_000)
  return { outcome: await outcome, seenMs }
}

test('it is looked at after each pause until it is known what became of it', async () => {
  const accepted: Outcome<string> = { kind: 'accepted', value: 'new' }
  assert.deepEqual(await looked([null, accepted]), { outcome: accepted, seenMs: [0, 200] })
  assert.deepEqual(await looked([refused('no', 'duplicate', 'dead')]), {
    outcome: { kind: 'refused', message: 'no', rejectCode: 'duplicate', brokerStatus: 'dead' },
    seenMs: [0]
  })
})

test('not to know in the end, or not to be able to look, leaves what was taken to the broker; why it could not look is returned', async () => {
  const { outcome, seenMs } = await looked([])
  assert.deepEqual(seenMs, [0, 200, 1_000])
  assert.deepEqual(outcome, { kind: 'accepted', value: null })
  const fault = new BrokerFault('credentials_rejected', 'the login has ended')
  const lost = () => Promise.reject(fault)
  assert.deepEqual(await settled({ clock: new VirtualClock(), pausesMs: [0] }, lost, never), { kind: 'accepted', value: null, fault })
})
