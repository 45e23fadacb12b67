// Upgrades: what landed stays as it is, and what a released version stored is there and can be worked with afterwards, on both engines.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import type { Order } from '@trunkline/core/domain/order'
import type { Store } from '@trunkline/core/ports/store'
import { createDatabase, sharedPostgres } from '@trunkline/testkit/postgres/index'
import * as make from '@trunkline/testkit/store-contract/records'
import { CompiledQuery } from 'kysely'
import { copyTemplate } from '../../../../durable-pglite/test/template.ts'
import { buildStore, type Engine, openEngine, type StoreSettings } from '../../../src/store/index.ts'
import { migrate, readMigrations } from '../../../src/store/migrate.ts'
import { testDeps } from '../deps.ts'
import { fill, fillOperators, readBack } from './data-set.ts'
import { type DataSet, dataSets, dump, landed, lineOf, plain } from './files.ts'

test('migrations that landed are as they were, and each is entered in landed.txt', () => {
  const lines = readMigrations().map(lineOf)
  assert.deepEqual(
    lines,
    landed(),
    'A migration that landed was changed: put it back and write a new one. Or one is new: enter it with `npm run migrations`.'
  )
})

/** The migration that enters what orders of options are found by. */
const ORDER_SYMBOLS = 11
/** The migration that gives the values of orders their names. */
const NAMED_DOCUMENTS = 18
/** Broker text as JSON that `jsonb` refuses: an escaped NUL and half a surrogate pair. */
const ODD_TEXT = String.raw`"a \u0000 and \ud83d"`

/**
 * The order with a pending cancel as an early version wrote it: without `takenAt` and the last two values, and with odd text as its status.
 */
function asEarlyVersion(statement: string): string {
  if (!statement.startsWith('insert into orders') || !statement.includes('"pending_cancel"')) return statement
  return statement.replace(',"takenAt":null', '').replace(',null,null]', ']').replace('"b-1",null,', `"b-1",${ODD_TEXT},`)
}

/** The stored order with legs once more, as one that was filled. */
const ENDED_COPY = `insert into orders (order_id, user_key, account_id, connection_id, trading_day, cl_ord_id, broker_cl_ord_id, revision, status,
    is_open, side, entry_time, last_modified_time, last_exec_time, final_status, final_modified_time, final_exec_time, document)
  select gen_random_uuid(), user_key, account_id, connection_id, trading_day, 'ended', 'ended', revision, 'filled',
    false, side, entry_time, last_modified_time, last_exec_time, 'filled', last_modified_time, last_exec_time, document
  from orders where symbol is null`

interface Target extends AsyncDisposable {
  readonly settings: StoreSettings
}

async function embedded(): Promise<Target> {
  const folder = await mkdtemp(join(tmpdir(), 'trunkline-upgrade-'))
  const dataDir = join(folder, 'data')
  await copyTemplate(dataDir)
  return { settings: { kind: 'embedded', dataDir }, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) }
}

async function postgres(): Promise<Target> {
  const cluster = await sharedPostgres()
  const database = await createDatabase(cluster.url)
  return {
    settings: { kind: 'postgres', url: database.url, poolMax: 4 },
    async [Symbol.asyncDispose]() {
      await database.drop()
      await cluster.stop()
    }
  }
}

async function insert({ db }: Engine, { statements }: DataSet): Promise<void> {
  await db.transaction().execute(async trx => {
    for (const statement of statements) await trx.executeQuery(CompiledQuery.raw(statement))
  })
}

for (const [name, placed] of [
  ['PostgreSQL', postgres],
  ['the embedded engine', embedded]
] as const)
  suite(`upgrades on ${name}`, () => {
    for (const data of dataSets())
      test(`what schema ${data.schema} held reads back as it was, and goes on`, async () => {
        await using target = await placed()
        const engine = await openEngine(target.settings, testDeps())
        await migrate(engine.db, testDeps(), { migrations: readMigrations().slice(0, data.schema) })
        await insert(engine, data)
        await migrate(engine.db, testDeps())
        await using store = buildStore(engine, testDeps())
        const read = await readBack(store, data.read.keys)
        assertComplete(read)
        assert.partialDeepStrictEqual(plain(read), data.read.records)
        await goOn(store, data)
      })

    test('stored orders get names, whatever their texts hold, and early ones get the values they lack', async () => {
      await using target = await placed()
      const engine = await openEngine(target.settings, testDeps())
      const data = dataSets().findLast(({ schema }) => schema < NAMED_DOCUMENTS)
      assert.ok(data !== undefined)
      await migrate(engine.db, testDeps(), { migrations: readMigrations().slice(0, data.schema) })
      await insert(engine, { ...data, statements: data.statements.map(asEarlyVersion) })
      await migrate(engine.db, testDeps())
      await using store = buildStore(engine, testDeps())
      const readable = `select limit_price::text, broker_status from orders_readable where status = 'pending_cancel'`
      const { rows } = await engine.db.executeQuery(CompiledQuery.raw(readable))
      assert.deepEqual(rows, [{ limit_price: '10.10', broker_status: 'a \ufffd and \ufffd' }])
      const early = (await store.orders.unresolved(1))[0] ?? null
      assert.ok(early !== null)
      const order = await store.orders.findByBrokerIds(early.accountId, { brokerOrderId: 'b-1', brokerClOrdId: null })
      assert.equal(order?.brokerStatus, JSON.parse(ODD_TEXT))
      assert.deepEqual([order?.pendingRequest?.takenAt, order?.previouslyFilledQuantity, order?.rejectCode], [null, null, null])
    })

    test('stored orders of options are found by their legs and roots after the upgrade, whether they can still move or not', async () => {
      await using target = await placed()
      const engine = await openEngine(target.settings, testDeps())
      const data = dataSets().findLast(({ schema }) => schema < ORDER_SYMBOLS)
      assert.ok(data !== undefined)
      await migrate(engine.db, testDeps(), { migrations: readMigrations().slice(0, data.schema) })
      await insert(engine, data)
      await engine.db.executeQuery(CompiledQuery.raw(ENDED_COPY))
      await migrate(engine.db, testDeps())
      await using store = buildStore(engine, testDeps())
      const [any] = await store.orders.unresolved(1)
      assert.ok(any !== undefined)
      for (const symbol of ['AAPL', 'AAPL261218C00200000', 'AAPL261218C00210000'])
        for (const statuses of [['working'], ['filled']] as const) {
          const filter = { accountIds: [any.accountId], symbols: [symbol], statuses }
          const { rows } = await store.orders.list(filter, 'lastModifiedTime', { limit: 10, edge: null, descending: false })
          assert.deepEqual(
            rows.map(order => order.legs?.length),
            [2],
            `${symbol}, ${statuses}`
          )
        }
    })
  })

test('a data set holds a row of every table, and its webhooks are read back', async () => {
  await using target = await embedded()
  const engine = await openEngine(target.settings, testDeps())
  await migrate(engine.db, testDeps())
  await using store = buildStore(engine, testDeps())
  const read = await readBack(store, await fill(store))
  await fillOperators(store)
  assertComplete(read)
  const tried = { cursors: [{ seq: 14, tryingTo: 15, attempts: 1 }], lag: { users: 1, events: 1 }, deliveries: [{ failure: 'timeout' }] }
  assert.partialDeepStrictEqual(plain(read), { webhooks: [{ known: { endpoint: { filter: { topics: ['orders'] } } }, ...tried }] })
  const tables = new Set((await dump(engine.db)).map(line => /^insert into (\w+)/.exec(line)?.[1]))
  const known = await engine.db.introspection.getTables()
  // The last erases what a removed user leaves behind, in the background; the others are of the store itself, or of running nodes.
  const ofNodes = ['members', 'partitions', 'key_checks', 'submissions', 'market_slots']
  const beside = ['probes', 'audit_head', 'schema_migrations', 'erasures', ...ofNodes]
  assert.deepEqual(
    known.filter(({ name, isView }) => !isView && !beside.includes(name) && !tables.has(name)).map(({ name }) => name),
    [],
    'fill() in data-set.ts puts something into every table'
  )
})

// What an older version did not write is null: a member that reads as undefined is one that its reader forgot.
function assertComplete(value: unknown, path = 'read'): void {
  assert.notEqual(value, undefined, `${path} is undefined`)
  if (value === null || typeof value !== 'object' || Buffer.isBuffer(value)) return
  for (const [name, member] of Object.entries(value)) assertComplete(member, `${path}.${name}`)
}

// The records are not only read: an order moves, a login that was being renewed is renewed, and the audit chain goes on.
async function goOn(store: Store, { schema }: DataSet): Promise<void> {
  const orders = await store.orders.unresolved(10)
  const [pending] = orders
  assert.ok(pending !== undefined)
  await moves(store, pending)
  const claim = { revision: 1, holder: 'a new node', at: make.at(120_000), until: make.at(180_000) }
  const claimed = await store.connections.claimRefresh(pending.connectionId, claim)
  assert.deepEqual(claimed, { kind: 'taken', mayBeSpent: schema >= 5 })
  const before = (await store.audit.verify()).entries
  await store.audit.append(make.audit('after.the.upgrade'))
  while ((await store.audit.seal(100)) > 0);
  const after = await store.audit.verify()
  assert.equal(after.broken, null)
  assert.ok(after.entries > before)
}

async function moves(store: Store, order: Order): Promise<void> {
  const last = await store.events.last(order.userKey)
  const [moved] = await store.orders.record([make.moved(order, { status: 'rejected' })])
  assert.equal(moved?.kind === 'recorded' && moved.event?.seq, last + 1)
  const account = (await store.accounts.listByUser(order.userKey)).find(({ accountId }) => accountId === order.accountId)
  assert.ok(account !== undefined)
  const events = await store.accounts.putPositions(account, [make.position(account, 'SPY', '13', make.at(9))], make.at(9))
  assert.deepEqual(
    events.map(({ seq }) => seq),
    [last + 2]
  )
}
