// Keys of platforms, from the operator's command to the caller who is judged by them.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { authenticatePlatform, authenticateUser, demandScope } from '@trunkline/core/app/authenticate'
import { LocalBus } from '@trunkline/core/app/local-bus'
import { ServiceError } from '@trunkline/core/domain/errors'
import { parseUserId, type UserKey } from '@trunkline/core/domain/ids'
import { type Timestamp, timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { BusMessage } from '@trunkline/core/ports/bus'
import { until } from '@trunkline/testkit/until'
import { AddressList } from '../../src/auth/address-list.ts'
import { CredentialCache } from '../../src/auth/credential-cache.ts'
import { openStore, type SqlStore } from '../../src/store/index.ts'
import { adminOver, hasher, hurried, ids, quiet, run, clock as systemClock } from '../admin/support.ts'
import { copyStore } from '../store/template.ts'

const START_MS = Date.UTC(2026, 5, 1)
const HERE = '192.0.2.7'

let folder: string
let store: SqlStore
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-keys-'))
  await copyStore(join(folder, 'database'))
  store = await openStore({ kind: 'embedded', dataDir: join(folder, 'database') }, { clock: systemClock, ids, log: quiet })
})
after(async () => {
  await store[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

async function stage() {
  const bus = new LocalBus(quiet)
  const published: BusMessage[] = []
  bus.subscribe(message => void published.push(message))
  const time = { ms: START_MS }
  const clock = { ...hurried, now: (): Timestamp => timestampOfMs(time.ms) }
  const admin = adminOver(store, Object({}), { bus, clock })
  const lookup = new CredentialCache(store, bus, clock)
  const made = await admin.perform('platform.create', { name: 'App', redirects: [], claims: false }, run())
  const prove = async (key: { readonly clientId: string; readonly clientSecret: string }, address: string | null = HERE) => {
    try {
      return await authenticatePlatform({ hasher, clock }, lookup, { ...key, address })
    } catch (cause) {
      assert.ok(cause instanceof ServiceError && cause.code === 'credentials_invalid')
      return null
    }
  }
  const newKey = (more: object = {}) =>
    admin.perform(
      'key.create',
      { platform: made.clientId, name: 'Trading', scopes: ['trade'], addresses: [], expiresAt: null, ...more },
      run()
    )
  return { admin, lookup, published, time, clock, made, prove, newKey }
}

test('a key does what its scopes say and nothing else', async () => {
  const { made, prove, newKey } = await stage()
  const first = await prove(made)
  for (const scope of ['read', 'trade', 'users'] as const) assert.ok(first !== null && demandScope(first.key, scope) === undefined)
  const key = await newKey({ scopes: ['users', 'trade'] })
  const proven = await prove(key)
  assert.ok(proven !== null)
  assert.deepEqual([proven.platform.platformId, proven.key.scopes], [made.platformId, ['trade', 'users']])
  assert.throws(() => demandScope(proven.key, 'read'), { code: 'scope_missing', message: /scope read; this one has trade, users/ })
})

test('a key is good from its addresses only, until it expires, and nothing reveals why it is not', async () => {
  const { prove, newKey, time, admin } = await stage()
  const key = await newKey({ addresses: ['192.0.2.0/24', '2001:db8::/32'], expiresAt: timestampOfMs(START_MS + 60_000) })
  assert.deepEqual(
    await Promise.all(
      [HERE, '::ffff:192.0.2.9', '2001:db8::1', '198.51.100.7', '2001:db9::1', '', null].map(from => prove(key, from).then(Boolean))
    ),
    [true, true, true, false, false, false, false]
  )
  time.ms += 60_000
  assert.equal(await prove(key), null)
  await assert.rejects(newKey({ addresses: ['192.0.2.0/33'] }), /192\.0\.2\.0\/33/)
  await assert.rejects(newKey({ addresses: ['example.com'] }), /IP address/)
  await assert.rejects(newKey({ scopes: ['admin'] }), /read, trade, users/)
  await assert.rejects(newKey({ scopes: [] }), /one or more/)
  await assert.rejects(newKey({ expiresAt: timestampOfMs(START_MS) }), /in the future/)
  await assert.rejects(admin.perform('key.list', { platform: 'pk_nobody' }, run()), /no platform/)
})

test('a replaced secret is good as long as was said, beside the new one; with no overlap it ends at once [S30]', async () => {
  const { admin, made, prove, time } = await stage()
  const rotate = (overlapSeconds: number) => admin.perform('platform.rotate_secret', { platform: made.platformId, overlapSeconds }, run())
  assert.ok((await prove(made)) !== null)
  const second = await rotate(3_600)
  assert.equal(second.clientId, made.clientId)
  assert.equal((await prove(made))?.endsAt, second.previousUntil)
  assert.equal((await prove(second))?.endsAt, null)
  time.ms += 3_600_000 - 1
  assert.ok((await prove(made)) !== null)
  time.ms += 1
  assert.deepEqual([await prove(made), (await prove(second)) !== null], [null, true])
  const third = await rotate(3_600)
  const fourth = await rotate(3_600)
  assert.deepEqual(
    [await prove(second), (await prove(third)) !== null, (await prove(fourth)) !== null],
    [null, true, true],
    'two at a time'
  )
  const last = await rotate(0)
  assert.deepEqual([await prove(third), await prove(fourth), (await prove(last)) !== null], [null, null, true])
})

test('a secret is announced to the running service as it is issued, so that no flood in its name keeps it out', async () => {
  const { admin, made, newKey, published } = await stage()
  const key = await newKey()
  const rotated = await admin.perform('platform.rotate_secret', { platform: made.platformId, overlapSeconds: 0 }, run())
  const issued = published.flatMap(message => (message.type === 'secret_issued' ? [[message.of, message.name, message.secretHash]] : []))
  assert.deepEqual(
    issued,
    [made, key, rotated].map(({ clientId, clientSecret }) => ['key', clientId, hasher.hash(clientSecret)])
  )
})

test('what is disabled or revoked is out at that moment, and says so to the running service', async () => {
  const { admin, made, prove, newKey, published } = await stage()
  const key = await newKey()
  assert.ok((await prove(key)) !== null)
  await admin.perform('key.disable', { key: key.clientId }, run())
  assert.equal(await prove(key), null)
  await admin.perform('key.enable', { key: key.clientId }, run())
  assert.ok((await prove(key)) !== null)
  await admin.perform('platform.disable', { platform: made.clientId }, run())
  assert.deepEqual([await prove(key), await prove(made)], [null, null])
  const listed = (await admin.perform('platform.list', {}, run())).find(({ clientId }) => clientId === made.clientId)
  assert.notEqual(listed?.disabledAt, null)
  await admin.perform('platform.enable', { platform: made.clientId }, run())
  assert.ok((await prove(made)) !== null)
  await admin.perform('key.revoke', { key: key.clientId }, run())
  assert.equal(await prove(key), null)
  await assert.rejects(admin.perform('key.revoke', { key: made.clientId }, run()), /first key/)
  const { platformId } = made
  assert.deepEqual(
    published.filter(({ type }) => type === 'platform_access_ended'),
    [key.keyId, null, key.keyId].map(keyId => ({ type: 'platform_access_ended', platformId, keyId }))
  )
  const actions = (await admin.perform('audit.list', { limit: 7 }, run())).map(({ action }) => action)
  assert.deepEqual(actions.toReversed(), [
    ...['platform.create', 'key.create', 'key.disable', 'key.enable', 'platform.disable', 'platform.enable', 'key.revoke']
  ])
})

test('a disabled user is out at that moment, with the answer of a wrong secret, and in again when enabled', async () => {
  const { admin, lookup, made, prove, published } = await stage()
  const platform = (await prove(made))?.platform
  assert.ok(platform !== undefined)
  const user = { userKey: ids.uuid<UserKey>(), platformId: platform.platformId, userId: parseUserId('ada'), createdAt: platform.createdAt }
  const audit = {
    at: platform.createdAt,
    actor: 'service',
    action: 'x',
    target: '-',
    result: 'ok',
    ip: null,
    requestId: null,
    detail: {}
  } as const
  await store.users.create(user, hasher.hash('us_1'), audit)
  const enter = () =>
    authenticateUser({ hasher }, lookup, platform, { userId: 'ada', userSecret: 'us_1', address: null }).then(
      () => true,
      cause => (cause instanceof ServiceError && cause.code === 'credentials_invalid' ? false : assert.fail(String(cause)))
    )
  assert.equal(await enter(), true)
  await admin.perform('user.disable', { platform: made.clientId, userId: 'ada' }, run())
  assert.equal(await enter(), false)
  assert.ok(published.some(({ type }) => type === 'user_disabled'))
  await admin.perform('user.enable', { platform: made.clientId, userId: 'ada' }, run())
  assert.equal(await enter(), true)
  await assert.rejects(admin.perform('user.disable', { platform: made.clientId, userId: 'nobody' }, run()), /no user/)
})

test('when a key was last used is noted, to the minute', async () => {
  const { admin, made, prove } = await stage()
  for (let times = 0; times < 5; times += 1) await prove(made)
  const lastUse = async () => (await admin.perform('key.list', { platform: made.clientId }, run()))[0]?.lastUsedAt
  await until(async () => (await lastUse()) !== null, 'the use is noted')
  assert.equal(await lastUse(), timestampOfMs(START_MS))
})

test('networks are matched in both versions, and nonsense is refused by name', () => {
  const list = new AddressList(['192.0.2.128/25', '2001:db8:1::/48', '203.0.113.5'])
  const inside = ['192.0.2.128', '192.0.2.255', '::ffff:192.0.2.200', '2001:db8:1::9', '203.0.113.5']
  const outside = ['192.0.2.127', '203.0.113.4', '2001:db8:2::9', '::1', 'x', '']
  assert.deepEqual(
    [...inside, ...outside].filter(address => list.includes(address)),
    inside
  )
  for (const wrong of ['', '192.0.2', '192.0.2.0/33', '::/129', 'a/8', '192.0.2.1/', ' 192.0.2.1'])
    assert.throws(() => new AddressList([wrong]), /address/)
})
