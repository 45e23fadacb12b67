// F25, F28, F29: what becomes of the database, on PostgreSQL of its own behind a line of its own.
import assert from 'node:assert/strict'
import { after } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { FaultProxy } from '@trunkline/testkit/fault-proxy/index'
import { createDatabase, followPostgres, startPostgres } from '@trunkline/testkit/postgres/index'
import { until } from '@trunkline/testkit/until'
import { Client } from 'pg'
import { FullDisk } from './full-disk.ts'
import { matrix } from './matrix.ts'
import { negativeControls } from './negative-controls.ts'
import { restartUnderLoad } from './process-faults.ts'
import type { Fault, Stage } from './stage.ts'

const resources = new AsyncDisposableStack()
const cluster = resources.use(await startPostgres())
const database = await createDatabase(cluster.url)
const line = resources.use(await FaultProxy.start())
line.leadTo(Number(new URL(database.url).port))
after(() => resources.disposeAsync())

function behindProxy(): string {
  const url = new URL(database.url)
  url.port = String(line.port)
  return url.href
}

/** A server process that dies takes all others with it: the server throws every connection out, recovers from its log and begins again. */
async function crashDatabase(): Promise<void> {
  const client = await connected()
  const gone = new Promise<void>(resolve => client.once('end', () => resolve()))
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const [own] = rows
  assert.ok(own !== undefined)
  process.kill(own.pid, 'SIGKILL')
  await gone
}

/** It may still be recovering from the last time. */
async function connected(): Promise<Client> {
  let client = new Client({ connectionString: database.url })
  await until(async () => {
    client = new Client({ connectionString: database.url })
    client.on('error', () => undefined)
    return await client.connect().then(
      () => true,
      () => false
    )
  }, 'the database takes connections')
  return client
}

async function ready(stage: Stage, isReady: boolean): Promise<void> {
  const status = isReady ? 200 : 503
  const what = isReady ? 'the service is ready again' : 'the service reports that it is not ready'
  await until(async () => (await fetch(`${stage.world.demo.base_url}/readyz`)).status === status, what)
}

/** While the database takes nothing: what is stored is read, and an order is refused as one that may be sent again. */
async function readsOnly(stage: Stage, name: string): Promise<void> {
  const [user] = stage.world.users
  assert.ok(user !== undefined)
  const read = await user.call('GET', '/connections')
  assert.equal(read.status, 200, JSON.stringify(read.body))
  // Those of accounts are refreshed first, which writes: the last stored ones are shown instead.
  for (const path of ['/accounts', '/balances', '/positions', '/orders'])
    await until(async () => (await user.call('GET', path)).status === 200, `${path} is answered from what is stored`)
  stage.world.ledger.requested.set(`${user.userId} ${name}`, null)
  const { status, body } = await user.place(name, { symbol: 'SPY', order_qty: '1' })
  assert.equal(status, 503, JSON.stringify(body))
}

const DATABASE: readonly Fault[] = [
  {
    id: 'F28',
    title: 'the database crashes under load and recovers, twice',
    async play(stage) {
      const load = stage.trade(10, 150)
      for (let crash = 0; crash < 2; crash += 1) {
        await delay(stage.chance.whole(200, 600))
        await crashDatabase()
        await until(
          async () => (await stage.world.platform.call('GET', '/users', stage.world.platform.headers())).status === 200,
          'it is back'
        )
      }
      await load
    }
  },
  {
    id: 'F28',
    title: 'the database cannot be reached for seconds under load',
    async play(stage) {
      const load = stage.trade(6, 500)
      line.refuse()
      line.reset('request')
      await ready(stage, false)
      await delay(1_500)
      line.clear()
      await load
      assert.ok(line.counts.refused > 0)
    }
  },
  {
    id: 'F29',
    title: 'the database is slow',
    async play(stage) {
      line.set('request', 'both', { latencyMs: 60, jitterMs: 50 })
      await stage.trade(3, 100)
      line.clear()
    }
  },
  {
    id: 'F29',
    title: 'the database takes up to two seconds for each answer',
    async play(stage) {
      line.set('request', 'both', { latencyMs: 500, jitterMs: 500 })
      await stage.trade(2, 200)
      line.clear()
      await ready(stage, true)
    }
  },
  ...(['statement', 'commit'] as const).map(
    (at): Fault => ({
      id: 'F31',
      title: `the database has no space left: it refuses each ${at} that writes`,
      async play(stage) {
        const client = await connected()
        const disk = await FullDisk.of(client)
        const load = stage.trade(8, 300)
        try {
          await disk.full(at)
          await ready(stage, false)
          await readsOnly(stage, `full-${at}`)
        } finally {
          await disk.roomy()
          await client.end()
        }
        await ready(stage, true)
        await load
      }
    })
  ),
  {
    id: 'F25',
    title: 'the service is killed under load, and starts again',
    play: stage => restartUnderLoad(stage, 'SIGKILL', 'SIGKILL')
  },
  {
    id: 'F28',
    // The last one: the first server does not come back.
    title: 'the database’s machine fails under load, and its replica takes over, at first for reads only',
    async play(stage) {
      const replica = resources.use(await followPostgres(cluster))
      const load = stage.trade(12, 300)
      await delay(stage.chance.whole(200, 600))
      line.refuse()
      replica.killFirst()
      line.reset('request')
      await ready(stage, false)
      line.leadTo(Number(new URL(replica.url).port))
      line.clear()
      const [user] = stage.world.users
      await until(async () => (await user?.call('GET', '/connections'))?.status === 200, 'reads are answered')
      await readsOnly(stage, 'read-only')
      await replica.promote()
      await ready(stage, true)
      await load
    }
  }
]

matrix({ name: 'database', env: { TRUNKLINE_DATABASE_URL: behindProxy() } }, DATABASE, negativeControls)
