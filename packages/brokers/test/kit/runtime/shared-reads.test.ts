import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BrokerFault, type PositionReport } from '@trunkline/core/ports/broker'
import { SharedReads } from '../../../src/kit/runtime/shared-reads.ts'
import { settled, VirtualClock } from '../../support/clocks.ts'

const never = new AbortController().signal
const EMPTY: { readonly known: readonly PositionReport[] } = { known: [] }

function scripted() {
  const reads: {
    readonly account: string
    readonly signal: AbortSignal
    readonly answer: PromiseWithResolvers<typeof EMPTY>
  }[] = []
  const clock = new VirtualClock()
  const holdings = new SharedReads({
    clock,
    read: (account, signal) => {
      const answer = Promise.withResolvers<typeof EMPTY>()
      signal.addEventListener('abort', () => answer.reject(new BrokerFault('unreachable', 'late')))
      reads.push({ account, signal, answer })
      return answer.promise
    }
  })
  return { reads, clock, holdings }
}

test('orders that come together share a read, and one that comes later gets one that began after it', async () => {
  const { reads, holdings } = scripted()
  const first = [1, 2, 3].map(() => holdings.now('A', never))
  await settled()
  assert.equal(reads.length, 1)
  const later = [4, 5].map(() => holdings.now('A', never))
  const other = holdings.now('B', never)
  await settled()
  assert.deepEqual(
    reads.map(({ account }) => account),
    ['A', 'B'],
    'no account is read twice at a time'
  )
  reads[0]?.answer.resolve(EMPTY)
  await Promise.all(first)
  await settled()
  assert.deepEqual(
    reads.map(({ account }) => account),
    ['A', 'B', 'A']
  )
  for (const { answer } of reads) answer.resolve(EMPTY)
  await Promise.all([...later, other])
})

test('a read that fails fails for those who share it, and not for the next', async () => {
  const { reads, holdings } = scripted()
  const first = assert.rejects(holdings.now('A', never), BrokerFault)
  await settled()
  const second = holdings.now('A', never)
  reads[0]?.answer.reject(new BrokerFault('unreachable', 'down'))
  await first
  await settled()
  reads[1]?.answer.resolve(EMPTY)
  assert.equal(await second, EMPTY)
  const third = holdings.now('A', never)
  await settled()
  reads[2]?.answer.resolve(EMPTY)
  await third
})

test('one who gives up does not end the read of the others; one that takes too long ends', async () => {
  const { reads, clock, holdings } = scripted()
  const stop = new AbortController()
  const given = assert.rejects(holdings.now('A', stop.signal), /enough/)
  const patient = assert.rejects(holdings.now('A', never), BrokerFault)
  await settled()
  stop.abort(new Error('enough'))
  await given
  assert.equal(reads[0]?.signal.aborted, false)
  await clock.advance(10_000)
  await patient
  await assert.rejects(holdings.now('A', AbortSignal.abort(new Error('enough'))), /enough/)
})
