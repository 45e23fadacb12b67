// Nodes with other master keys than those before them are refused before they store anything.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createDatabase, sharedPostgres } from '@trunkline/testkit/postgres/index'
import { assertSameKeys, rewrapKeyCheck } from '../../src/admin/key-check.ts'
import { openStore } from '../../src/store/index.ts'
import { FixedKeyRing, type KeyRing, type MasterKey } from '../../src/vault/master-keys.ts'
import { cli } from '../cli/terminal.ts'
import { testDeps } from '../store/deps.ts'
import { key } from '../vault/rings.ts'

const cluster = await sharedPostgres()
const database = await createDatabase(cluster.url)
const store = await openStore({ kind: 'postgres', url: database.url, poolMax: 2 }, testDeps())
after(async () => {
  await store[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
  await cluster[Symbol.asyncDispose]()
})

const [first, second, other] = [key('k1'), key('k2'), key('k1')]
/** Adding a key must not change the instance key, so it is an item of its own. */
const instance = key('instance').key
const ring = (current: MasterKey, ...old: readonly MasterKey[]): KeyRing => new FixedKeyRing({ keys: [current, ...old], instance })
const { keyChecks } = store
const refused = (of: KeyRing, why: RegExp) => assert.rejects(assertSameKeys(keyChecks, of, true), why)

async function checked(keys: string): Promise<string> {
  const env = { TRUNKLINE_DATABASE_URL: database.url, TRUNKLINE_MASTER_KEYS: keys, TRUNKLINE_PORT: '0' }
  return (await cli(env, 'check-config')).out
}

test('a node with other master keys than the first one is refused, at the start and by check-config', async () => {
  const text = ({ id, key: bytes }: MasterKey) => `${id}:${Buffer.from(bytes).toString('base64')}`
  const all = (...keys: readonly MasterKey[]) => [...keys, { id: 'instance', key: instance }].map(text).join(',')
  await assertSameKeys(keyChecks, ring(other), false)
  assert.equal(await keyChecks.read(), null, 'a process alone stores nothing')

  await Promise.all([ring(first), ring(first, second), ring(first)].map(of => assertSameKeys(keyChecks, of, true)))
  await refused(ring(other), /The master keys are not those that the other nodes of this database use/)
  await refused(ring(second), /The nodes of this database use master key "k1", which is missing here/)
  await refused(new FixedKeyRing({ keys: [first], instance: null }), /The instance key is not the one/)
  assert.match(await checked(all(other)), /fault +TRUNKLINE_MASTER_KEYS +The master keys are not those that the other nodes/)
  assert.match(await checked(all(first)), /\n0 faults/)
  // A process alone on the database of a cluster would be as wrong.
  await assert.rejects(assertSameKeys(keyChecks, ring(other), false), /The master keys are not those/)
})

test('the check follows a rotation: once a node uses a new key, nodes without it are refused, and the old key can go', async () => {
  await assertSameKeys(keyChecks, ring(second, first), true)
  await refused(ring(first), /use master key "k2", which is missing here/)
  await assertSameKeys(keyChecks, ring(second), true)
  // A rotation while nodes run seals it too.
  const third = key('k3')
  await rewrapKeyCheck(keyChecks, ring(third, second))
  await assertSameKeys(keyChecks, ring(third), true)
})
