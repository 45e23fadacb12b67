// What is remembered of who is who: nothing that was read before a change and came after it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LocalBus } from '@trunkline/core/app/local-bus'
import type { BusMessage } from '@trunkline/core/ports/bus'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import { CredentialCache } from '../../src/auth/credential-cache.ts'

const LOG = { debug() {}, info() {}, warn() {}, error() {} }

/** Credentials whose look-up in the store is under way until `answer` is called. */
function stage() {
  const bus = new LocalBus(LOG)
  const found = Promise.withResolvers<object>()
  const store = {
    platforms: { findByClientId: () => found.promise },
    platformKeys: { used: async () => undefined },
    users: { find: () => found.promise }
  }
  return { bus, cache: new CredentialCache(Object(store), bus, new VirtualClock()), answer: found.resolve }
}

const PLATFORM = { platform: { platformId: 'p' }, secretHash: 'old' }
const USER = { user: { userKey: 'u' }, secretHash: 'old' }
const CHANGES: readonly (BusMessage | null)[] = [
  null,
  Object({ type: 'platform_secret_changed', platformId: 'p' }),
  { type: 'bus_resumed' }
]
const USER_CHANGES: readonly (BusMessage | null)[] = [null, Object({ type: 'user_secret_changed', userKey: 'u' }), { type: 'bus_resumed' }]

for (const change of CHANGES)
  test(`a platform's secret that was read ${change === null ? 'is remembered' : `before ${change.type} is not remembered after`}`, async () => {
    const { bus, cache, answer } = stage()
    const pending = cache.platform('client')
    if (change !== null) bus.publish(change)
    answer(PLATFORM)
    await pending
    assert.equal(cache.rememberedPlatform('client'), change === null ? PLATFORM : undefined)
  })

for (const change of USER_CHANGES)
  test(`a user's secret that was read ${change === null ? 'is remembered' : `before ${change.type} is not remembered after`}`, async () => {
    const { bus, cache, answer } = stage()
    const pending = cache.user(Object('p'), Object('ada'))
    if (change !== null) bus.publish(change)
    answer(USER)
    await pending
    assert.equal(cache.rememberedUser(Object('p'), Object('ada')), change === null ? USER : undefined)
  })
