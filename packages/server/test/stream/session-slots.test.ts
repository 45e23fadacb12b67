import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KeyId, PlatformId } from '@trunkline/core/domain/ids'
import { CommitUnknown, StoreUnavailable } from '@trunkline/core/ports/store'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import { AccountSessionSlots } from '../../src/stream/account/session-slots.ts'
import { SceneSlots } from '../simulation/scene-slots.ts'

const KEY = { platformId: '00000000-0000-7000-8000-000000000001' as PlatformId, keyId: '00000000-0000-7000-8000-000000000002' as KeyId }
const quiet = { debug() {}, info() {}, warn() {}, error() {} }

test('a slot that was taken although the answer was lost is released', async () => {
  const clock = new VirtualClock()
  const stored = new SceneSlots(clock)
  const lost = {
    take: async (...given: Parameters<SceneSlots['take']>) => {
      await stored.take(...given)
      throw new CommitUnknown('lost at the commit')
    },
    renew: (...given: Parameters<SceneSlots['renew']>) => stored.renew(...given),
    release: (sessionId: string) => stored.release(sessionId)
  }
  const slots = new AccountSessionSlots({ slots: lost, clock, log: quiet }, { nodeId: 'node' })
  await assert.rejects(slots.take(KEY, 'session'), CommitUnknown)
  await clock.settled()
  assert.equal(stored.held, 0)
  await Promise.all([slots.stop(), clock.advance(10_000)])
})

test('a slot that could not be released is not held for ever', async () => {
  const clock = new VirtualClock()
  const stored = new SceneSlots(clock)
  const outage = { isOver: false }
  const failing = {
    take: (...given: Parameters<SceneSlots['take']>) => stored.take(...given),
    renew: (...given: Parameters<SceneSlots['renew']>) => stored.renew(...given),
    release: async (sessionId: string) => {
      if (!outage.isOver) throw new StoreUnavailable('away')
      await stored.release(sessionId)
    }
  }
  const slots = new AccountSessionSlots({ slots: failing, clock, log: quiet }, { nodeId: 'node' })
  assert.deepEqual([await slots.take(KEY, 'gone'), await slots.take(KEY, 'here')], [true, true])
  slots.release('gone')
  await clock.advance(60_000)
  assert.equal(stored.held, 2)
  outage.isOver = true
  await clock.advance(10_000)
  assert.equal(stored.held, 1)
  await Promise.all([slots.stop(), clock.advance(10_000)])
})
