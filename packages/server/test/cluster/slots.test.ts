// Limits of sessions are exact over all nodes, and what a dead node held is free again.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type NodeId, parseUuid } from '@trunkline/core/domain/ids'
import type { Log } from '@trunkline/core/ports/log'
import { createDatabase, sharedPostgres } from '@trunkline/testkit/postgres/index'
import * as make from '@trunkline/testkit/store-contract/records'
import { until } from '@trunkline/testkit/until'
import { Client } from 'pg'
import { openStore } from '../../src/store/index.ts'
import { AccountSessionSlots } from '../../src/stream/account/session-slots.ts'
import { AddressSlots } from '../../src/stream/market/address-slots.ts'
import { testDeps } from '../store/deps.ts'

const quiet: Log = { debug() {}, info() {}, warn() {}, error() {} }
const deps = { ...testDeps(), log: quiet }
const cluster = await sharedPostgres()
const database = await createDatabase(cluster.url)
const store = await openStore({ kind: 'postgres', url: database.url, poolMax: 8 }, deps)
const client = new Client(database.url)
await client.connect()
const nodes = [await node(), await node(), await node()] as const
after(async () => {
  for (const { market, account } of nodes) {
    await market.stop()
    await account.stop()
  }
  await client.end()
  await store[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
  await cluster[Symbol.asyncDispose]()
})

async function node() {
  const nodeId = parseUuid<NodeId>(crypto.randomUUID(), 'node')
  await client.query(`select join_members($1, 'http://node', 'node', interval '1 hour')`, [nodeId])
  return {
    market: new AddressSlots({ ...deps, store: store.marketSlots, nodeId }),
    account: new AccountSessionSlots({ ...deps, slots: store.streamSlots }, { nodeId, limit: 10 }),
    lose: () => client.query('update members set lease_ends_at = clock_timestamp() where node_id = $1', [nodeId]),
    die: () => client.query('select leave_members($1)', [nodeId])
  }
}

const session = (address: string) => ({ sessionId: crypto.randomUUID(), address })
const counted = async () => Number((await client.query('select count(*) from market_slots')).rows[0].count)

test('200 sessions that connect at three nodes at once get exactly the 10 slots of their key, and of their address', async () => {
  const { platform } = await make.owner(store)
  const { platformId } = platform
  const [key] = await store.platformKeys.list(platformId)
  assert.ok(key !== undefined)
  const wanted = Array.from({ length: 200 }, (_, index) => ({ at: nodes[index % 3] ?? nodes[0], who: session('192.0.2.1') }))
  const account = await Promise.all(wanted.map(({ at, who }) => at.account.take(key, who.sessionId)))
  assert.equal(account.filter(isTaken => isTaken).length, 10)
  const market = await Promise.all(wanted.map(({ at, who }) => at.market.take(who, 10)))
  assert.equal(market.filter(isTaken => isTaken).length, 10)

  const [a, b, c] = nodes
  assert.equal(await a.market.take(session('192.0.2.2'), 10), true, 'another address has its own')
  for (const [index, { at, who }] of wanted.entries()) if (market[index]) at.market.release(who.sessionId)
  await until(async () => (await counted()) === 1, 'the slots are released')
  for (const at of [b, c]) assert.equal(await at.market.take(session('192.0.2.1'), 10), true)
})

test('what a dead node held is free once it is no living member, and its rows are removed', async () => {
  const dying = await node()
  for (const _ of [1, 2]) assert.equal(await dying.market.take(session('2001:db8::1'), 2), true)
  const [a] = nodes
  assert.equal(await a.market.take(session('2001:db8::2'), 2), false, 'one network of IPv6 is one address')
  await dying.die()
  await dying.account.stop()
  assert.equal(await a.market.take(session('2001:db8::2'), 2), true)
  const before = await counted()
  await store.marketSlots.sweep()
  assert.equal(await counted(), before - 2)
})

test('the broker stream sessions of a lost node can connect to another one as soon as its lease has ended', async () => {
  const { platform } = await make.owner(store)
  const [key] = await store.platformKeys.list(platform.platformId)
  assert.ok(key !== undefined)
  const ten = ({ account }: Awaited<ReturnType<typeof node>>) =>
    Promise.all(Array.from({ length: 10 }, () => account.take(key, crypto.randomUUID())))
  const [lost, next] = [await node(), nodes[0]]
  const all = Array.from({ length: 10 }, () => true)
  assert.deepEqual(await ten(lost), all)
  const living = (await store.members.living()).length
  assert.equal(await next.account.take(key, crypto.randomUUID()), false)
  await lost.lose()
  assert.equal((await store.members.living()).length, living - 1)
  assert.deepEqual(await ten(next), all)
  assert.equal(await next.account.take(key, crypto.randomUUID()), false, 'and never more than ten')
  await lost.account.stop()
})

test('a slot whose release fails is released later, and a session without a slot costs nothing', async () => {
  const nodeId = parseUuid<NodeId>(crypto.randomUUID(), 'node')
  await client.query(`select join_members($1, 'http://node', 'node', interval '1 hour')`, [nodeId])
  let calls = 0
  const failing = {
    take: store.marketSlots.take.bind(store.marketSlots),
    release: async (sessionIds: readonly string[]) => {
      calls += 1
      if (calls === 1) throw new Error('the database is away')
      await store.marketSlots.release(sessionIds)
    }
  }
  const clock = { ...deps.clock, sleep: async () => undefined }
  const slots = new AddressSlots({ ...deps, clock, store: failing, nodeId })
  slots.release(crypto.randomUUID())
  const before = await counted()
  const [one, two] = [session('198.51.100.1'), session('198.51.100.1')]
  for (const who of [one, two]) assert.equal(await slots.take(who, 2), true)
  for (const who of [one, two]) slots.release(who.sessionId)
  await until(async () => (await counted()) === before, 'both are released')
  await slots.stop()
  assert.equal(calls, 2, 'one statement, and one repetition')
})
