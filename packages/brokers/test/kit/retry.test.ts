import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BrokerFault, type BrokerFaultKind } from '@trunkline/core/ports/broker'
import { pauseMs, READ_RETRIES, withRetries } from '../../src/kit/retry.ts'
import { VirtualClock } from '../support/clocks.ts'

const never = new AbortController().signal

/** Runs against faults one after another; then it answers. Returns the outcome and the pauses between the attempts. */
async function run(
  faults: readonly BrokerFault[],
  fraction = 0.5,
  signal = never
): Promise<{ outcome: string; pauses: readonly number[] }> {
  const clock = new VirtualClock()
  const at: number[] = []
  const running = withRetries(
    READ_RETRIES,
    { clock, fraction: () => fraction },
    () => {
      at.push(clock.monotonicMs())
      const fault = faults[at.length - 1]
      return fault === undefined ? Promise.resolve('answer') : Promise.reject(fault)
    },
    signal
  ).catch((error: unknown) => (error instanceof BrokerFault ? error.message : String(error)))
  await clock.advance(60_000)
  return { outcome: await running, pauses: at.slice(1).map((ms, index) => ms - (at[index] ?? 0)) }
}

test('what passes is repeated with growing jitter, a bounded number of times', async () => {
  assert.deepEqual(await run([fault('unreachable')]), { outcome: 'answer', pauses: [125] })
  assert.deepEqual(await run([fault('malformed'), fault('unreachable')]), { outcome: 'answer', pauses: [125, 250] })
  assert.deepEqual(await run([fault('unreachable', '1'), fault('unreachable', '2'), fault('unreachable', '3')]), {
    outcome: '3',
    pauses: [125, 250]
  })
})

test('what lasts is not repeated', async () => {
  for (const kind of ['credentials_rejected', 'refused'] as const)
    assert.deepEqual(await run([fault(kind, kind)]), { outcome: kind, pauses: [] })
})

test('Retry-After is the least pause, and one beyond the bound is reported instead', async () => {
  assert.deepEqual(await run([fault('rate_limited', '', 3_000)]), { outcome: 'answer', pauses: [3_125] })
  assert.deepEqual(await run([fault('rate_limited', 'later', 6_000)]), { outcome: 'later', pauses: [] })
})

test('giving up ends the repetition with the fault that was seen', async () => {
  const clock = new VirtualClock()
  const giveUp = new AbortController()
  let attempts = 0
  const running = withRetries(
    READ_RETRIES,
    { clock, fraction: () => 1 },
    () => {
      attempts += 1
      return Promise.reject(fault('unreachable', 'gone'))
    },
    giveUp.signal
  )
  const ended = assert.rejects(running, /gone/)
  await clock.advance(10)
  giveUp.abort()
  await ended
  assert.equal(attempts, 1)
})

test('a pause lies between nothing and its bound', () => {
  const backoff = { firstMs: 250, longestMs: 30_000 }
  assert.deepEqual(
    [0, 1, 2, 7, 8, 1_000].map(attempt => pauseMs(backoff, attempt, () => 1)),
    [250, 500, 1_000, 30_000, 30_000, 30_000]
  )
  assert.equal(
    pauseMs(backoff, 5, () => 0),
    0
  )
})

function fault(kind: BrokerFaultKind, message = '', retryAfterMs?: number): BrokerFault {
  return new BrokerFault(kind, message, retryAfterMs === undefined ? {} : { retryAfterMs })
}
