// Whether somebody exists must not be seen in how long a refusal takes: the work is counted, since time is no measure on a busy machine.
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { authenticatePlatform, authenticateUser } from '@trunkline/core/app/authenticate'
import { LocalBus } from '@trunkline/core/app/local-bus'
import { ServiceError } from '@trunkline/core/domain/errors'
import type { KeyId } from '@trunkline/core/domain/ids'
import { type PlatformKey, SCOPES } from '@trunkline/core/domain/platform-key'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { Hasher } from '@trunkline/core/ports/vault'
import * as make from '@trunkline/testkit/store-contract/records'
import { CredentialCache } from '../../src/auth/credential-cache.ts'
import { Sha256Hasher } from '../../src/vault/hasher.ts'

const SECRET = 'sk_4zXW8sJq0hT2rVb6nYdL1mCpE7uKfG9wA3iQoRtBxN5'
const platform = make.platform()
const user = make.user(platform, 'ada')
const key: PlatformKey = {
  ...{ keyId: make.uuid<KeyId>(), platformId: platform.platformId, clientId: platform.clientId, name: 'First key' },
  ...{ scopes: SCOPES, addresses: [], createdAt: make.at(0), expiresAt: null, lastUsedAt: null, disabledAt: null }
}
const clock = { now: () => make.at(0), monotonicMs: () => 0 }
const sound = new Sha256Hasher(new Uint8Array(32))
const secretHash = sound.hash(SECRET)

/** What was done since, one word a step. */
let work: string[] = []
const hasher: Hasher = {
  hash: secret => {
    work.push('hash')
    return sound.hash(secret)
  },
  equal: (a, b) => {
    work.push(`compare ${a.length} with ${b.length}`)
    return sound.equal(a, b)
  },
  derive: text => sound.derive(text)
}
/** What is otherwise with the key, the platform and the user than it should be. */
let keyIs: Partial<PlatformKey> = {}
let isPlatformDisabled = false
let userDisabledAt: Timestamp | null = null
const stored = {
  platforms: {
    async findByClientId(clientId: string) {
      assert.doesNotMatch(clientId, /[\p{Cc}\p{Cs}]/u)
      work.push('look platform up')
      return clientId === platform.clientId ? { platform, key: { ...key, ...keyIs }, secretHash, previous: null, isPlatformDisabled } : null
    }
  },
  platformKeys: { used: async () => undefined },
  users: {
    async find(platformId: string, userId: string) {
      assert.doesNotMatch(userId, /[\p{Cc}\p{Cs}]/u)
      work.push('look user up')
      return platformId === platform.platformId && userId === 'ada' ? { user, secretHash, disabledAt: userDisabledAt } : null
    }
  }
}
let cache: CredentialCache
beforeEach(() => {
  keyIs = {}
  isPlatformDisabled = false
  userDisabledAt = null
  cache = new CredentialCache(stored, new LocalBus({ debug() {}, info() {}, warn() {}, error() {} }), clock)
})

/** The work that one attempt takes. */
async function workOf(isLetIn: boolean, attempt: () => Promise<unknown>): Promise<readonly string[]> {
  work = []
  const outcome = await attempt().catch((error: unknown) => error)
  assert.equal(outcome instanceof ServiceError && outcome.code === 'credentials_invalid', !isLetIn)
  return work
}

const asPlatform = (clientId: string, secret: string) => () =>
  authenticatePlatform({ hasher, clock }, cache, { clientId, clientSecret: secret, address: null })
const asUser = (userId: string, secret: string) => () =>
  authenticateUser({ hasher }, cache, platform, { userId, userSecret: secret, address: null })

const COMPARED = 'compare 64 with 64'
for (const { who, known, ask, rightWork } of [
  { who: 'client', known: platform.clientId, ask: asPlatform, rightWork: ['hash', COMPARED, COMPARED] },
  { who: 'user', known: 'ada', ask: asUser, rightWork: ['hash', COMPARED] }
]) {
  test(`an unknown ${who} and a wrong secret take the same work, whatever is remembered of the ${who} [S27]`, async () => {
    const unknown = await workOf(false, ask('nobody', SECRET))
    assert.deepEqual(await workOf(false, ask(known, 'wrong')), unknown, 'when nothing is remembered')
    for (const impossible of ['', '\0', `${known}\0`, `${known}\ud800`, `${known}\r\n`, 'x'.repeat(1_000_000)])
      assert.deepEqual(await workOf(false, ask(impossible, SECRET)), unknown, JSON.stringify(impossible.slice(0, 20)))
    await workOf(true, ask(known, SECRET))
    assert.deepEqual(await workOf(true, ask(known, SECRET)), rightWork, 'the right secret is known without a look-up')
    assert.deepEqual(await workOf(false, ask(known, 'wrong')), unknown, 'while the right one is remembered')
    assert.deepEqual(await workOf(false, ask('nobody', SECRET)), unknown)
  })

  test(`a secret of the ${who} that is wrong in one place takes the same work at each place, its comparison too [S28]`, async () => {
    await workOf(true, ask(known, SECRET))
    const usual = await workOf(false, ask(known, 'wrong'))
    for (let at = 0; at < SECRET.length; at++) {
      const spoilt = `${SECRET.slice(0, at)}${SECRET[at] === 'A' ? 'B' : 'A'}${SECRET.slice(at + 1)}`
      assert.deepEqual(await workOf(false, ask(known, spoilt)), usual, `place ${at}`)
    }
  })
}

const refusedThoughRight: readonly (readonly [
  why: string,
  spoil: () => void,
  ask: () => Promise<unknown>,
  wrong: () => Promise<unknown>
])[] = [
  [
    'of a disabled key',
    () => (keyIs = { disabledAt: make.at(-1) }),
    asPlatform(platform.clientId, SECRET),
    asPlatform(platform.clientId, 'wrong')
  ],
  [
    'of a key that has ended',
    () => (keyIs = { expiresAt: make.at(-1) }),
    asPlatform(platform.clientId, SECRET),
    asPlatform(platform.clientId, 'wrong')
  ],
  [
    'from a foreign address',
    () => (keyIs = { addresses: ['192.0.2.1'] }),
    asPlatform(platform.clientId, SECRET),
    asPlatform(platform.clientId, 'wrong')
  ],
  [
    'of a disabled platform',
    () => (isPlatformDisabled = true),
    asPlatform(platform.clientId, SECRET),
    asPlatform(platform.clientId, 'wrong')
  ],
  ['of a disabled user', () => (userDisabledAt = make.at(-1)), asUser('ada', SECRET), asUser('ada', 'wrong')]
]
for (const [why, spoil, ask, wrong] of refusedThoughRight) {
  test(`a right secret ${why} takes the same work as a wrong one, the second time too [S27]`, async () => {
    spoil()
    const usual = await workOf(false, wrong)
    assert.deepEqual(await workOf(false, ask), usual)
    assert.deepEqual(await workOf(false, ask), usual, 'while it is remembered')
  })
}
