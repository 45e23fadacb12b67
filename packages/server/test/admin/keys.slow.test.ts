// Rotating master keys: everything ends under the current key, nothing is lost, and what was cut short is finished.
import assert from 'node:assert/strict'
import { readFileSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openCredentials, sealCredentials } from '@trunkline/core/app/broker-access/credentials'
import type { ConnectionId, UserKey } from '@trunkline/core/domain/ids'
import type { RewrapItem } from '@trunkline/core/ports/store'
import { StoreUnavailable } from '@trunkline/core/ports/store'
import { assertKeysFit } from '../../src/admin/keys-fit.ts'
import { AdminRefused } from '../../src/admin/operations.ts'
import { rewrapAll } from '../../src/admin/rewrap.ts'
import { EnvelopeVault, sealedKeyId } from '../../src/vault/envelope.ts'
import { openKeys } from '../../src/vault/index.ts'
import { key, ring } from '../vault/rings.ts'
import {
  adminOver,
  clock,
  connect,
  createUsers,
  directory,
  ENDPOINT,
  embedded,
  entry,
  hurried,
  ids,
  keysIn,
  quiet,
  run
} from './support.ts'

const NO_ENDPOINTS = { sealedUnderOtherKeys: async () => [], rewrapped: async () => false }

const HOUR_AGO = () => new Date(clock.monotonicMs() + performance.timeOrigin - 3_600_000)

test('a rotation re-wraps connections and pending revocations with a new key, and writes an audit entry', async context => {
  const dataDir = directory(context)
  const store = await embedded(context, dataDir)
  const keys = keysIn(dataDir)
  const [user] = await createUsers(store, 1)
  assert.ok(user !== undefined)
  const vault = new EnvelopeVault(keys.ring)
  const connections = [await connect(store, vault, user), await connect(store, vault, user), await connect(store, vault, user)]
  const [, , removed] = connections
  assert.ok(removed !== undefined)
  await store.connections.remove(removed.connectionId, clock.now(), entry('connection.delete'))
  const before = keys.ring.current().id

  const counts: number[] = []
  const admin = adminOver(store, keys)
  const done = await admin.perform(
    'keys.rotate',
    { mode: 'add', retire: 'no' },
    run({ progress: ({ rewrapped }) => counts.push(rewrapped) })
  )
  assert.deepEqual(
    { ...done, keyId: '', retireAfter: '' },
    { source: 'file', keyId: '', added: true, resumed: false, rewrapped: 3, unreadable: [], retired: [], retireAfter: '' }
  )
  assert.equal(counts.at(-1), 3)
  assert.notEqual(done.keyId, before)
  const status = await admin.perform('keys.status', {}, run())
  assert.deepEqual(status.keys, [
    { id: done.keyId, state: 'current', sealed: 3 },
    { id: before, state: 'old', sealed: 0 }
  ])
  const [revocation] = await store.connections.dueRevocations(clock.now(), 10)
  assert.ok(revocation !== undefined)
  assert.equal(sealedKeyId(revocation.credentials.sealed), done.keyId)
  assert.deepEqual(openCredentials(vault, revocation, revocation.credentials, ENDPOINT), { refreshToken: 'rt-1' })
  const actions = (await store.audit.list(50))
    .filter(({ actor }) => actor === 'operator')
    .map(({ action, detail }) => `${action} ${detail.by}`)
  assert.deepEqual(actions.toReversed(), ['keys.rotate tester@here', 'keys.add tester@here', 'keys.rewrap tester@here'])
})

test('old keys are removed once no login in progress can need them, not before, unless forced', async context => {
  const dataDir = directory(context)
  const store = await embedded(context, dataDir)
  const keys = keysIn(dataDir)
  const admin = adminOver(store, keys)
  const first = keys.ring.current().id
  const { keyId } = await admin.perform('keys.rotate', { mode: 'add', retire: 'no' }, run())
  const early = await admin.perform('keys.rotate', { mode: 'finish', retire: 'when_safe' }, run())
  assert.deepEqual(early.retired, [])
  assert.ok(early.retireAfter !== null && early.retireAfter > clock.now())
  assert.deepEqual(keys.ring.ids(), [keyId, first])

  utimesSync(join(dataDir, 'master-keys'), HOUR_AGO(), HOUR_AGO())
  const late = await admin.perform('keys.rotate', { mode: 'finish', retire: 'when_safe' }, run())
  assert.deepEqual(late.retired, [first])
  assert.deepEqual(keys.ring.ids(), [keyId])

  const again = await admin.perform('keys.rotate', { mode: 'add', retire: 'now' }, run())
  assert.deepEqual(again.retired, [keyId])
  assert.equal(readFileSync(join(dataDir, 'master-keys'), 'utf8').match(/^k/gm)?.length, 1)
  const retirements = (await store.audit.list(50)).filter(({ action }) => action === 'keys.retire').map(({ target }) => target)
  assert.deepEqual(retirements.toReversed(), [first, keyId])
})

test('a credential that cannot be opened is reported, stops nothing else, and keeps the old keys', async context => {
  const dataDir = directory(context)
  const store = await embedded(context, dataDir)
  const keys = keysIn(dataDir)
  const [user] = await createUsers(store, 1)
  assert.ok(user !== undefined)
  const vault = new EnvelopeVault(keys.ring)
  const [sound, moved] = [await connect(store, vault, user), await connect(store, vault, user)]
  // Another connection's bytes, put into this one.
  const stolen = await store.connections.credentials(sound.connectionId)
  assert.ok(stolen !== null)
  await store.connections.replaceCredentials(moved.connectionId, 1, { ...stolen, revision: 2 })
  const admin = adminOver(store, keys)
  const done = await admin.perform('keys.rotate', { mode: 'add', retire: 'no' }, run())
  assert.equal(done.rewrapped, 1)
  assert.deepEqual(
    done.unreadable.map(({ id }) => id),
    [moved.connectionId]
  )
  await assert.rejects(admin.perform('keys.rotate', { mode: 'finish', retire: 'now' }, run()), AdminRefused)
  assert.equal(keys.ring.ids().length, 2)
})

test('with keys from the environment a rotation only re-wraps; the operator removes the old key', async context => {
  const dataDir = directory(context)
  const store = await embedded(context, dataDir)
  const [user] = await createUsers(store, 1)
  assert.ok(user !== undefined)
  const [old, fresh] = [key('old'), key('fresh')]
  const connection = await connect(store, new EnvelopeVault(ring(old)), user)
  const text = [fresh, old].map(({ id, key: bytes }) => `${id}:${Buffer.from(bytes).toString('base64')}`).join(',')
  const keys = openKeys({ masterKeys: text, dataDir, create: true }, { clock, log: quiet })
  const admin = adminOver(store, keys)
  await assert.rejects(admin.perform('keys.rotate', { mode: 'finish', retire: 'now' }, run()), /TRUNKLINE_MASTER_KEYS/)
  const done = await admin.perform('keys.rotate', { mode: 'add', retire: 'no' }, run())
  assert.deepEqual([done.source, done.keyId, done.added, done.rewrapped], ['environment', 'fresh', false, 1])
  const value = await store.connections.credentials(connection.connectionId)
  assert.ok(value !== null)
  assert.deepEqual(openCredentials(new EnvelopeVault(ring(fresh)), connection, value, ENDPOINT), { refreshToken: 'rt-1' })
})

test('a second concurrent rotation is refused', async context => {
  const dataDir = directory(context)
  const store = await embedded(context, dataDir)
  const admin = adminOver(store, keysIn(dataDir))
  const first = admin.perform('keys.rotate', { mode: 'add', retire: 'no' }, run())
  await assert.rejects(admin.perform('keys.rotate', { mode: 'add', retire: 'no' }, run()), /rotation is already running/)
  assert.equal((await first).added, true)
})

test('a late write under the old key is re-wrapped, too', async () => {
  const [old, fresh] = [key('old'), key('fresh')]
  const table = new FakeTable()
  const vault = new EnvelopeVault(ring(fresh, old))
  table.put(new EnvelopeVault(ring(old)))
  let pauses = 0
  const sleeping = {
    ...hurried,
    sleep: async () => {
      pauses += 1
      if (pauses === 1) table.put(new EnvelopeVault(ring(old)))
    }
  }
  const done = await rewrapAll({ connections: table, endpoints: NO_ENDPOINTS, vault, clock: sleeping }, run())
  assert.equal(done.rewrapped, 2)
  assert.deepEqual(table.keyIds(), ['fresh', 'fresh'])
})

test('a steady stream of writes under the current key does not prevent a rotation from finishing', async () => {
  const [old, fresh] = [key('old'), key('fresh')]
  const table = new FakeTable()
  const vault = new EnvelopeVault(ring(fresh, old))
  table.put(new EnvelopeVault(ring(old)))
  table.onList = () => {
    if (table.rows.size < 5_000) table.put(vault)
  }
  const done = await rewrapAll({ connections: table, endpoints: NO_ENDPOINTS, vault, clock: hurried }, run())
  assert.equal(done.rewrapped, 1)
  assert.ok(table.keyIds().every(id => id === 'fresh'))
})

test('a store that is unavailable for a while is retried', async () => {
  const [old, fresh] = [key('old'), key('fresh')]
  const table = new FakeTable()
  for (let i = 0; i < 30; i++) table.put(new EnvelopeVault(ring(old)))
  let calls = 0
  table.onList = () => {
    calls += 1
    if (calls <= 3) throw new StoreUnavailable('busy')
  }
  const done = await rewrapAll(
    { connections: table, endpoints: NO_ENDPOINTS, vault: new EnvelopeVault(ring(fresh, old)), clock: hurried },
    run()
  )
  assert.equal(done.rewrapped, 30)
  table.onList = () => {
    throw new StoreUnavailable('gone')
  }
  await assert.rejects(
    rewrapAll({ connections: table, endpoints: NO_ENDPOINTS, vault: new EnvelopeVault(ring(fresh, old)), clock: hurried }, run()),
    StoreUnavailable
  )
})

test('if almost nothing can be opened, a key is missing, and the rotation stops and says so', async () => {
  const table = new FakeTable()
  const lost = new EnvelopeVault(ring(key('lost')))
  for (let i = 0; i < 1_100; i++) table.put(lost)
  const vault = new EnvelopeVault(ring(key('fresh')))
  await assert.rejects(
    rewrapAll({ connections: table, endpoints: NO_ENDPOINTS, vault, clock: hurried }, run()),
    error => error instanceof AdminRefused && error.message.includes('"lost"')
  )
})

test('an operator who disconnects ends the rotation at the next step', async () => {
  const table = new FakeTable()
  const [old, fresh] = [key('old'), key('fresh')]
  for (let i = 0; i < 1_200; i++) table.put(new EnvelopeVault(ring(old)))
  const gone = new AbortController()
  const work = rewrapAll(
    { connections: table, endpoints: NO_ENDPOINTS, vault: new EnvelopeVault(ring(fresh, old)), clock: hurried },
    run({ signal: gone.signal, progress: () => gone.abort(new AdminRefused('gone')) })
  )
  await assert.rejects(work, /gone/)
  const rewrapped = table.keyIds().filter(id => id === 'fresh').length
  assert.ok(rewrapped >= 500 && rewrapped < 1_200, String(rewrapped))
})

test('a service with the wrong master keys does not start, and the message names what is missing [S62]', async context => {
  const dataDir = directory(context)
  const store = await embedded(context, dataDir)
  const [right, wrong] = [key('k1'), key('k1')]
  await assertKeysFit(store.connections, ring(wrong), quiet)
  const [user] = await createUsers(store, 1)
  assert.ok(user !== undefined)
  const connection = await connect(store, new EnvelopeVault(ring(right)), user)
  const before = await store.connections.credentials(connection.connectionId)
  await assertKeysFit(store.connections, ring(right), quiet)
  await assertKeysFit(store.connections, ring(key('k2'), right), quiet)
  await assert.rejects(assertKeysFit(store.connections, ring(key('k2')), quiet), /master key "k1", which is missing/)
  await assert.rejects(assertKeysFit(store.connections, ring(wrong), quiet), /do not open any of the stored broker credentials/)
  assert.deepEqual(await store.connections.credentials(connection.connectionId), before)

  // One that is damaged among others that open is logged and does not stop the service.
  const damaged = await connect(store, new EnvelopeVault(ring(right)), user)
  await store.connections.replaceCredentials(damaged.connectionId, 1, { sealed: before?.sealed ?? new Uint8Array(), revision: 2 })
  const counts: string[] = []
  await assertKeysFit(store.connections, ring(right), { ...quiet, error: (_, fields) => void counts.push(String(fields?.connectionId)) })
  assert.deepEqual(new Set(counts), new Set([damaged.connectionId]))
})

test('status names missing keys that credentials need, and counts damaged values', async context => {
  const dataDir = directory(context)
  const store = await embedded(context, dataDir)
  const keys = keysIn(dataDir)
  const [user] = await createUsers(store, 1)
  assert.ok(user !== undefined)
  await connect(store, new EnvelopeVault(ring(key('lost'))), user)
  const connection = await connect(store, new EnvelopeVault(keys.ring), user)
  await store.connections.replaceCredentials(connection.connectionId, 1, { sealed: Buffer.from('not a seal'), revision: 2 })
  const status = await adminOver(store, keys).perform('keys.status', {}, run())
  assert.deepEqual(status.keys, [
    { id: keys.ring.current().id, state: 'current', sealed: 0 },
    { id: 'lost', state: 'missing', sealed: 1 }
  ])
  assert.equal(status.damaged, 1)
})

/** The two methods of a table of connections that rotation needs. */
class FakeTable {
  readonly rows = new Map<string, { readonly item: RewrapItem; readonly notedKey: string | null }>()
  onList: () => void = () => {}

  put(vault: EnvelopeVault): void {
    const connection = { connectionId: ids.uuid<ConnectionId>(), userKey: ids.uuid<UserKey>() }
    const credentials = sealCredentials(vault, connection, { credentials: { refreshToken: 'rt' }, endpoint: ENDPOINT }, 1)
    this.rows.set(connection.connectionId, { item: { place: 'connection', ...connection, credentials }, notedKey: null })
  }

  keyIds(): readonly string[] {
    return [...this.rows.values()].map(({ item }) => sealedKeyId(item.credentials.sealed))
  }

  async sealedUnderOtherKeys(keyId: string, limit: number): Promise<readonly RewrapItem[]> {
    this.onList()
    const others = [...this.rows.values()].filter(({ notedKey }) => notedKey !== keyId)
    return others.slice(0, limit).map(({ item }) => item)
  }

  async rewrapped(item: RewrapItem, sealed: Uint8Array, keyId: string): Promise<boolean> {
    this.rows.set(item.connectionId, { item: { ...item, credentials: { ...item.credentials, sealed } }, notedKey: keyId })
    return true
  }
}
