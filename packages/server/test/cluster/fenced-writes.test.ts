// A node that is not the owner any more writes nothing, whatever it believes; what it wrote before is seen by the next owner.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type Partition, partitionOf } from '@trunkline/core/domain/partition'
import type { Store } from '@trunkline/core/ports/store'
import { createDatabase, sharedPostgres } from '@trunkline/testkit/postgres/index'
import * as make from '@trunkline/testkit/store-contract/records'
import { Client } from 'pg'
import { openStore } from '../../src/store/index.ts'
import { FenceLost } from '../../src/store/writes/fences.ts'
import { testDeps } from '../store/deps.ts'

const cluster = await sharedPostgres()
const database = await createDatabase(cluster.url)
after(async () => {
  await database[Symbol.asyncDispose]()
  await cluster[Symbol.asyncDispose]()
})

/** A node that believes to own every user, with the fence that it was sent last. */
async function node() {
  const believed = new Map<Partition, number | null>()
  const store = await openStore(
    { kind: 'postgres', url: database.url, poolMax: 4 },
    { ...testDeps(), fenceOf: userKey => believed.get(partitionOf(userKey)) ?? null }
  )
  return { store, believed, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() }
}

async function claim(partition: Partition): Promise<number> {
  await using client = Object.assign(new Client(database.url), { [Symbol.asyncDispose]: () => client.end() })
  await client.connect()
  const { rows } = await client.query<{ fence: string }>(
    `update partitions set owner = gen_random_uuid(), fence = fence + 1 where partition = $1 returning fence`,
    [partition]
  )
  return Number(rows[0]?.fence)
}

test('a former owner writes nothing', async () => {
  await using former = await node()
  await using next = await node()
  const who = await make.owner(former.store)
  const partition = partitionOf(who.user.userKey)
  former.believed.set(partition, await claim(partition))
  const order = make.order(who)
  const [written] = await former.store.orders.record([make.created(order)])
  assert.equal(written?.kind, 'recorded')

  next.believed.set(partition, await claim(partition))
  const move = make.moved(order, { status: 'working' })
  await assert.rejects(former.store.orders.record([move]), FenceLost)
  await assert.rejects(former.store.orders.record([make.created(make.order(who))]), FenceLost)
  const [account] = who.accounts
  assert.ok(account !== undefined)
  await assert.rejects(former.store.accounts.putBalances(account, [make.balance(account, '1.00')], make.at(5)), FenceLost)
  assert.equal(await next.store.events.last(who.user.userKey), 1, 'nothing of it was written')

  const [moved] = await next.store.orders.record([move])
  assert.equal(moved?.kind, 'recorded')
  assert.equal((await next.store.accounts.putBalances(account, [make.balance(account, '1.00')], make.at(5))).length, 1)
})

test('what a former owner has read at a broker, or a removal that only the owner may make, is not written', async () => {
  await using former = await node()
  await using next = await node()
  const who = await make.owner(former.store)
  const partition = partitionOf(who.user.userKey)
  former.believed.set(partition, await claim(partition))
  next.believed.set(partition, await claim(partition))
  const { connectionId } = who.connection
  const [account] = who.accounts
  assert.ok(account !== undefined)
  const [at, until] = [make.at(5), make.at(6)]
  const writes = {
    'a time of confirmation of orders': ({ orders }: Store) => orders.confirmed(account, at),
    transactions: ({ accounts }: Store) =>
      accounts.putTransactions(account, [], { from: make.day('2026-03-02'), to: make.day('2026-03-02'), at }),
    'a claim to refresh credentials': ({ connections }: Store) =>
      connections.claimRefresh(connectionId, { revision: 1, holder: 'node', at, until }),
    'a rejected login': ({ connections }: Store) => connections.markBroken(connectionId, 'refused', at, make.audit()),
    'a removal of a connection': ({ connections }: Store) => connections.remove(connectionId, at, make.audit()),
    'a removal of a user': ({ users }: Store) => users.remove(who.user.userKey, at, make.audit())
  }
  for (const [what, write] of Object.entries(writes)) await assert.rejects(write(former.store), FenceLost, what)
  const { orders, transactions } = await next.store.accounts.freshness(account.accountId)
  assert.deepEqual([orders, transactions], [null, null])
  assert.equal((await next.store.connections.find(connectionId))?.status, 'ACTIVE')
  for (const write of Object.values(writes)) await write(next.store)
  assert.equal(await next.store.users.findByKey(who.user.userKey), null)
})

test('holdings that wait for the database while another owner stores newer ones do not replace them', async () => {
  await using slow = await node()
  await using between = await node()
  const who = await make.owner(slow.store)
  const [account] = who.accounts
  assert.ok(account !== undefined)
  const partition = partitionOf(who.user.userKey)
  slow.believed.set(partition, await claim(partition))
  await slow.store.accounts.putBalances(account, [make.balance(account, '1.00')])
  between.believed.set(partition, await claim(partition))
  await between.store.accounts.putBalances(account, [make.balance(account, '2.00')])
  const regained = await claim(partition)
  const late = Promise.allSettled([
    slow.store.accounts.putBalances(account, [make.balance(account, '1.50')]),
    slow.store.accounts.putPositions(account, [make.position(account, 'AAPL', '1')], make.at(5)),
    slow.store.accounts.putTransactions(account, [], { from: make.day('2026-03-02'), to: make.day('2026-03-02'), at: make.at(5) })
  ])
  slow.believed.set(partition, regained)
  for (const write of await late) assert.ok(write.status === 'rejected' && write.reason instanceof FenceLost)
  assert.equal((await slow.store.accounts.balances([account.accountId]))[0]?.cash, '2.00')
  await slow.store.accounts.putBalances(account, [make.balance(account, '3.00')])
  assert.equal((await slow.store.accounts.balances([account.accountId]))[0]?.cash, '3.00')
})

test('a user who is lost does not take the others of a batch along', async () => {
  await using owner = await node()
  const owners = [await make.owner(owner.store), await make.owner(owner.store), await make.owner(owner.store)]
  for (const { user } of owners) {
    const partition = partitionOf(user.userKey)
    if (!owner.believed.has(partition)) owner.believed.set(partition, await claim(partition))
  }
  const [lost, ...kept] = owners
  assert.ok(lost !== undefined)
  const partition = partitionOf(lost.user.userKey)
  await claim(partition)
  const outcomes = await Promise.allSettled(owners.map(who => owner.store.orders.record([make.created(make.order(who))])))
  const expected = [lost, ...kept].map(({ user }) => (partitionOf(user.userKey) === partition ? 'rejected' : 'fulfilled'))
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    expected
  )
})
