// Writers and claims, on real connections: a claim waits for a write under the old fence, and none passes after it.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { until } from '@trunkline/testkit/until'
import type { Client } from 'pg'
import { SceneDatabase } from './scene.ts'

const database = await SceneDatabase.open()
after(() => database[Symbol.asyncDispose]())

const [A, B] = ['0192f0c1-7a3e-7b52-9c1d-00000000aaaa', '0192f0c1-7a3e-7b52-9c1d-00000000bbbb'] as const

const WAITING = `select count(*)::int from pg_locks where locktype = 'advisory' and not granted
  and database = (select oid from pg_database where datname = current_database())`

/** The only value that a statement gives. */
async function rowOf(client: Client, text: string, values: readonly unknown[] = []): Promise<unknown> {
  const { rows } = await client.query<Record<string, unknown>>(text, [...values])
  return Object.values(rows[0] ?? {})[0]
}

/** A connection that uses the database's own clock. */
async function connected(): Promise<Client & AsyncDisposable> {
  const client = await database.client()
  await client.query('set search_path = public')
  return client
}

const joins = (client: Client, nodeId: string) => client.query(`select join_members($1, 'http://x', 'x', interval '1 hour')`, [nodeId])
const claims = (client: Client, nodeId: string, ...partitions: readonly number[]) =>
  rowOf(client, 'select claim_partitions($1, $2, array[]::uuid[], array[]::bigint[])', [nodeId, partitions])
const holds = (client: Client, partition: number, fence: number) => rowOf(client, 'select holds_fence($1, $2)', [partition, fence])
const ends = (client: Client, nodeId: string) =>
  client.query('update members set lease_ends_at = clock_timestamp() where node_id = $1', [nodeId])

test('a claim leaves out a partition that is being written to, and gets it once the write has ended; later writes are refused', async () => {
  await database.reset()
  await using writer = await connected()
  await using claimer = await connected()
  for (const nodeId of [A, B]) await joins(claimer, nodeId)
  assert.equal(await claims(claimer, A, 1, 2), 2)
  await ends(claimer, A)
  await writer.query('begin')
  assert.equal(await holds(writer, 1, 1), true)
  assert.equal(await claims(claimer, B, 1, 2), 1, 'only the other one')
  assert.equal(await holds(writer, 1, 1), true, 'the same write goes on')
  await writer.query('commit')
  assert.equal(await claims(claimer, B, 1, 2), 1)
  assert.equal(await holds(writer, 1, 1), false)
  assert.equal(await holds(writer, 1, 2), true)
})

test('a write that waits for a claim sees the new fence', async () => {
  await database.reset()
  await using writer = await connected()
  await using claimer = await connected()
  for (const nodeId of [A, B]) await joins(claimer, nodeId)
  await claims(claimer, A, 1)
  await ends(claimer, A)
  await claimer.query('begin')
  await claims(claimer, B, 1)
  const waiting = holds(writer, 1, 1)
  // It waits for the lock, which the claim has until it is committed.
  await using watcher = await connected()
  const waits = async () => (await rowOf(watcher, WAITING)) === 1
  await until(waits, 'the write waits', undefined, 1)
  await claimer.query('commit')
  assert.equal(await waiting, false)
})

test('a lease that is being renewed has not ended', async () => {
  await database.reset()
  await using owner = await database.client()
  await using claimer = await database.client()
  const isAt = (client: Client, ms: number) => rowOf(client, `select set_config('virtual.ms', $1, false)`, [String(ms)])
  await isAt(owner, 0)
  await joins(owner, B)
  await owner.query(`select join_members($1, 'http://x', 'x', interval '3 seconds')`, [A])
  await claims(owner, A, 1)
  await isAt(owner, 2_999)
  await owner.query('begin')
  assert.equal(await rowOf(owner, `select renew_lease($1, interval '3 seconds')`, [A]), true)
  await isAt(claimer, 3_001)
  assert.equal(await claims(claimer, B, 1), 0, 'although the last committed end has passed')
  await owner.query('commit')
  assert.equal(await claims(claimer, B, 1), 0)
  await isAt(claimer, 6_000)
  assert.equal(await claims(claimer, B, 1), 1)
})

test('a lease that is being claimed from is not renewed', async () => {
  await database.reset()
  await using owner = await connected()
  await using claimer = await connected()
  for (const nodeId of [A, B]) await joins(claimer, nodeId)
  await claims(claimer, A, 1)
  await ends(claimer, A)
  await claimer.query('begin')
  assert.equal(await claims(claimer, B, 1), 1)
  const renewal = rowOf(owner, `select renew_lease($1, interval '1 hour')`, [A])
  await claimer.query('commit')
  assert.equal(await renewal, false)
})

test('of two claims at once one gets each partition, and the fence grows by one', async () => {
  await database.reset()
  await using a = await connected()
  await using b = await connected()
  for (const nodeId of [A, B]) await joins(a, nodeId)
  const all = Array.from({ length: 256 }, (_, index) => index)
  const [first, second] = await Promise.all([claims(a, A, ...all), claims(b, B, ...all)])
  assert.equal(Number(first) + Number(second), 256)
  assert.deepEqual(await rowOf(a, 'select array_agg(distinct fence::int) from partitions'), [1])
})

test('a process that runs alone writes under fence 0, which is never looked up', async () => {
  await using client = await connected()
  assert.equal(await holds(client, 1, 0), true)
})
