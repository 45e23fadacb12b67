// What is asked of the thread of the lease soon after a renewal.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import { LEASE_TIMING, LeaseKeeper } from '../../../src/cluster/members/lease-keeper.ts'
import { SharedLease } from '../../../src/cluster/members/shared-lease.ts'

test('a release comes without another renewal before it, and one that fails is not tried again and again at once', async () => {
  const clock = new VirtualClock()
  const lease = new SharedLease()
  const calls: string[] = []
  let isFailing = true
  const database = {
    join: async () => undefined,
    renew: async () => {
      lease.mainIsSeen(clock.monotonicMs())
      calls.push('renew')
      return { view: { members: [], owners: [], fences: [] }, wallMs: 0 }
    },
    execute: async () => {
      calls.push('execute')
      // As long as an answer takes.
      await clock.sleep(1)
      if (isFailing) throw new Error('refused')
    },
    close: () => undefined,
    onChanged: () => undefined
  }
  lease.mainIsSeen(clock.monotonicMs())
  const keeper = new LeaseKeeper({
    ...{ database, lease, timing: LEASE_TIMING, post: () => undefined },
    clock: { nowMs: () => clock.monotonicMs(), sleep: (ms, signal) => clock.sleep(ms, signal) }
  })
  const running = keeper.run()
  await clock.advance(10)
  assert.deepEqual(calls.splice(0), ['renew'])
  keeper.request({ kind: 'release', id: 1, partitions: [] })
  await clock.advance(LEASE_TIMING.retryMs - 20)
  assert.deepEqual(calls.splice(0), ['execute'])
  isFailing = false
  await clock.advance(LEASE_TIMING.renewEveryMs)
  assert.ok(calls.includes('execute'))
  keeper.abort()
  await running
})
