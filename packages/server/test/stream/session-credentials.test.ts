// What a session of the broker stream stands on: a key, for as long as it is good.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { epochMs, timestampOfMs } from '@trunkline/core/domain/timestamp'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import { FailedAttempts } from '../../src/auth/failed-attempts.ts'
import { SessionCredentials } from '../../src/stream/account/session-credentials.ts'

const HOUR_MS = 3_600_000

function stage(scopes: readonly string[] = ['read']) {
  const clock = new VirtualClock()
  const inMs = (ms: number) => timestampOfMs(epochMs(clock.now()) + ms)
  const known = {
    now: {
      ...{ platform: { platformId: 'p' }, key: { clientId: 'c', keyId: 'k', scopes, addresses: [], expiresAt: null, disabledAt: null } },
      ...{ secretHash: 'one', previous: null, isPlatformDisabled: false }
    } as object | null
  }
  const ended: string[] = []
  const lookup = {
    rememberedPlatform: () => undefined,
    platform: async () => (known.now === undefined ? assert.fail('gone') : known.now),
    admits: () => true
  }
  const hasher = { hash: (text: string) => text, equal: (a: string, b: string) => a === b }
  const log = { debug() {}, info() {}, warn() {}, error() {} }
  const credentials = new SessionCredentials(Object({ lookup, hasher, clock, log }), '192.0.2.1', reason => void ended.push(reason))
  const change = (more: object) => {
    known.now = { ...known.now, ...more }
    return credentials.recheck()
  }
  return { clock, inMs, known, ended, credentials, change }
}

test('a key without the scope read cannot follow a user', async () => {
  await assert.rejects(stage(['trade', 'users']).credentials.of('c', 'one'), { code: 'scope_missing' })
  await assert.rejects(stage().credentials.of('c', 'two'), { code: 'credentials_invalid' })
})

test('a session on a replaced secret goes on while that one is good, and ends with it', async () => {
  const { clock, inMs, ended, credentials, change } = stage()
  credentials.hold(await credentials.of('c', 'one'))
  await change({ secretHash: 'two', previous: { secretHash: 'one', until: inMs(24 * HOUR_MS) } })
  await clock.advance(24 * HOUR_MS - 1)
  assert.deepEqual(ended, [])
  await clock.advance(60_000)
  assert.deepEqual(ended, ['the client secret has ended'])
})

test('it ends at once when the secret was replaced without an overlap, the key is gone, or it cannot be checked', async () => {
  for (const after of [{ secretHash: 'two' }, { isPlatformDisabled: true }, null, undefined]) {
    const { known, ended, credentials } = stage()
    credentials.hold(await credentials.of('c', 'one'))
    known.now = after === undefined ? Object(undefined) : after === null ? null : { ...known.now, ...after }
    await credentials.recheck()
    assert.equal(ended.length, 1)
  }
})

test('a session that is over ends no second time', async () => {
  const { clock, inMs, ended, credentials, change } = stage()
  credentials.hold(await credentials.of('c', 'one'))
  await change({ secretHash: 'two', previous: { secretHash: 'one', until: inMs(HOUR_MS) } })
  credentials.stop()
  await clock.advance(2 * HOUR_MS)
  await change({ previous: null })
  assert.deepEqual(ended, [])
})

test('a client whose address has failed too often is refused before anything is looked up', async () => {
  let lookUps = 0
  const lookup = {
    rememberedPlatform: () => undefined,
    platform: async () => {
      lookUps += 1
      return null
    }
  }
  const clock = new VirtualClock()
  const attempts = new FailedAttempts({ perSecond: 1, burst: 3 }, () => clock.monotonicMs())
  const hasher = { hash: (text: string) => text, equal: (a: string, b: string) => a === b }
  const codes: unknown[] = []
  for (let session = 0; session < 10; session++) {
    const credentials = new SessionCredentials(Object({ lookup, hasher, clock, attempts }), '192.0.2.1', () => assert.fail())
    await assert.rejects(credentials.of('c', `wrong-${session}`), (cause: { readonly code?: unknown }) => codes.push(cause.code) > 0)
  }
  assert.equal(lookUps, 3)
  assert.deepEqual(codes, [...Array(3).fill('credentials_invalid'), ...Array(7).fill('rate_limited')])
})
