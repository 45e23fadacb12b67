// A node that is frozen or cut off within a transaction does not keep its users from others; one that was only busy loses no work.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { partitionOf } from '@trunkline/core/domain/partition'
import { StoreUnavailable } from '@trunkline/core/ports/store'
import { FaultProxy } from '@trunkline/testkit/fault-proxy/index'
import { createDatabase, type PostgresServer, sharedPostgres, type TestDatabase } from '@trunkline/testkit/postgres/index'
import * as make from '@trunkline/testkit/store-contract/records'
import { until } from '@trunkline/testkit/until'
import { type Kysely, sql } from 'kysely'
import { Client } from 'pg'
import type { Database } from '../../src/store/database.ts'
import { buildStore, openEngine, openStore } from '../../src/store/index.ts'
import { Session } from '../../src/store/session.ts'
import { testDeps } from '../store/deps.ts'

let cluster: PostgresServer
let database: TestDatabase
let watcher: Client

before(async () => {
  cluster = await sharedPostgres()
  database = await createDatabase(cluster.url)
  await (await openStore({ kind: 'postgres', url: database.url, poolMax: 2 }, testDeps()))[Symbol.asyncDispose]()
  watcher = new Client(database.url)
  await watcher.connect()
})
after(async () => {
  await watcher.end()
  await database[Symbol.asyncDispose]()
  await cluster[Symbol.asyncDispose]()
})

/** A member whose lease ends after `seconds`. */
async function member(seconds: number): Promise<string> {
  const nodeId = crypto.randomUUID()
  await watcher.query(
    `insert into members (node_id, url, name, joined_at, lease_ends_at) values ($1, 'url', 'name', now(), now() + $2 * interval '1 s')`,
    [nodeId, seconds]
  )
  return nodeId
}

/** A node that owns the users of all partitions, over a link of its own. */
async function node() {
  const proxy = await FaultProxy.start()
  const url = new URL(database.url)
  proxy.leadTo(Number(url.port))
  url.port = String(proxy.port)
  url.hostname = '127.0.0.1'
  const nodeId = await member(3_600)
  await watcher.query('update partitions set owner = $1, fence = fence + 1', [nodeId])
  const { rows } = await watcher.query<{ fence: string }>('select fence from partitions where partition = 0')
  const fence = Number(rows[0]?.fence)
  const deps = { ...testDeps(), fenceOf: () => fence }
  const engine = await openEngine({ kind: 'postgres', url: url.href, poolMax: 4 }, deps)
  return {
    ...{ proxy, nodeId, store: buildStore(engine, deps), session: new Session(engine, undefined, deps.fenceOf) },
    async [Symbol.asyncDispose]() {
      await engine.db.destroy()
      await proxy[Symbol.asyncDispose]()
    }
  }
}

function hold(proxy: FaultProxy, held: boolean): void {
  for (const kind of ['stream', 'request'] as const) proxy.set(kind, 'both', { held })
}

async function pidOf(db: Kysely<Database>): Promise<number> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)
  return rows[0]?.pid ?? 0
}

const isGone = async (pid: number) => (await watcher.query('select from pg_stat_activity where pid = $1', [pid])).rowCount === 0

test('the users of a node whose link is dead within a transaction are claimed soon', async () => {
  await using owner = await node()
  const who = await make.owner(owner.store)
  const partition = partitionOf(who.user.userKey)
  const held = Promise.withResolvers<void>()
  const writing = owner.session.write(async trx => {
    await owner.session.demandOwned(trx, who.user.userKey)
    hold(owner.proxy, true)
    held.resolve()
    await pidOf(trx)
  })
  const lost = assert.rejects(writing, StoreUnavailable)
  await held.promise
  const next = await member(3_600)
  await watcher.query('update members set lease_ends_at = now() where node_id = $1', [owner.nodeId])
  const { rows } = await watcher.query<{ at: Date }>('select clock_timestamp() as at')
  const claim = async () =>
    (await watcher.query('select claim_partitions($1, $2, $3, $4) as n', [next, [partition], [], []])).rows[0].n === 1
  await until(claim, 'the partition is claimed')
  const took = await watcher.query('select claimed_at - $1 < $2::interval as soon from partitions where partition = $3', [
    rows[0]?.at,
    // Without the limit it took a minute at least.
    '50 s',
    partition
  ])
  assert.equal(took.rows[0].soon, true)
  hold(owner.proxy, false)
  await lost
})

test('the transaction of a node that was busy for long is ended, and done once all the same', async () => {
  await using owner = await node()
  const { platform } = await make.owner(owner.store)
  const pids: number[] = []
  await owner.session.write(async trx => {
    const pid = await pidOf(trx)
    const isFirst = pids.push(pid) === 1
    await trx
      .updateTable('platforms')
      .set({ name: `renamed at try ${pids.length}` })
      .where('platform_id', '=', platform.platformId)
      .execute()
    if (isFirst) await until(() => isGone(pid), 'the server has ended the session')
  })
  assert.equal(new Set(pids).size, 2, 'another session did it again')
  assert.equal((await owner.store.platforms.find(platform.platformId))?.name, 'renamed at try 2')
})

test('a commit that was sent when the server had ended the transaction is known not to have happened', async () => {
  await using owner = await node()
  const { platform } = await make.owner(owner.store)
  let tries = 0
  await owner.session.write(async trx => {
    tries += 1
    await trx
      .updateTable('platforms')
      .set({ name: `try ${tries}` })
      .where('platform_id', '=', platform.platformId)
      .execute()
    if (tries > 1) return
    const pid = await pidOf(trx)
    // A node whose thread is blocked has not read what the server says before it sends the commit.
    hold(owner.proxy, true)
    await until(() => isGone(pid), 'the server has ended the session')
    owner.proxy.onSent = (_, chunk) => {
      if (chunk.toString('latin1').includes('commit')) hold(owner.proxy, false)
    }
  })
  assert.equal((await owner.store.platforms.find(platform.platformId))?.name, 'try 2')
})

const SETTINGS = `select name, setting from pg_settings where name in ('idle_in_transaction_session_timeout',
  'tcp_keepalives_idle', 'tcp_keepalives_interval', 'tcp_keepalives_count', 'tcp_user_timeout') order by name`

test('the sessions of a node are given up soon, and those of a process that is alone after a minute, as they were', async () => {
  await using owner = await node()
  const alone = await openEngine({ kind: 'postgres', url: database.url, poolMax: 1 }, testDeps())
  const [idle, ...tcp] = (await watcher.query<{ name: string; setting: string }>(SETTINGS)).rows
  assert.deepEqual(await alone.run(SETTINGS, []), [{ ...idle, setting: '60000' }, ...tcp])
  await alone.db.destroy()
  const settings = await owner.session.rows<{ name: string; setting: string }>(SETTINGS, [])
  assert.deepEqual(
    settings.map(({ setting }) => setting),
    ['2000', '2', '2', '1', '3000']
  )
})

test('a time of confirmation of orders is written without a transaction of several round trips', async () => {
  await using owner = await node()
  const who = await make.owner(owner.store)
  const [account] = who.accounts
  assert.ok(account !== undefined)
  let sent = ''
  owner.proxy.onSent = (_, chunk) => {
    sent += chunk.toString('latin1')
  }
  await owner.store.orders.confirmed(account, make.at(5))
  assert.match(sent, /account_records/)
  assert.doesNotMatch(sent, /begin|commit/i)
  assert.equal((await owner.store.accounts.freshness(account.accountId)).orders, make.at(5))
})
