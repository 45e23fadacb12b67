// Holdings that share the commit of an order's change: who waits for whom, and what becomes of them when the change fails.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { StoreUnavailable } from '@trunkline/core/ports/store'
import { createDatabase, type PostgresServer, sharedPostgres, type TestDatabase } from '@trunkline/testkit/postgres/index'
import * as make from '@trunkline/testkit/store-contract/records'
import pg from 'pg'
import { openStore } from '../../src/store/index.ts'
import { Batches } from '../../src/store/writes/batches.ts'
import { testDeps } from './deps.ts'

let cluster: PostgresServer
let database: TestDatabase
let client: pg.Client

before(async () => {
  cluster = await sharedPostgres()
  database = await createDatabase(cluster.url)
  client = new pg.Client(database.url)
  await client.connect()
})
after(async () => {
  await client.end()
  await database.drop()
  await cluster.stop()
})

/** As long as it is set, holdings wait for company however long that takes: short alarms of the store do not ring. */
let isPatient = false

function open() {
  const deps = testDeps()
  const alarm = (ms: number, ring: () => void) => (isPatient && ms < 100 ? setTimeout(ring, 60_000) : deps.clock.alarm(ms, ring))
  return openStore({ kind: 'postgres', url: database.url, poolMax: 4 }, { ...deps, clock: { ...deps.clock, alarm } })
}

interface Unit {
  readonly name: string
  readonly size: number
}

test('what waits is taken along once; what is given back is written alone, in its turn', async () => {
  const written: string[][] = []
  const batches = new Batches<Unit, string>(
    async (units, settle) => {
      written.push(units.map(({ name }) => name))
      for (const unit of units) settle(unit, () => `${unit.name} alone`)
    },
    testDeps().clock,
    { batchMax: 10, waitingMax: 10, urgentMax: 1, waitMsMax: 1_000, companyMs: 5 }
  )
  const results = ['a', 'b', 'c'].map(name => batches.submit({ name, size: 1 }))
  const passengers = batches.takeAlong(({ name }) => name !== 'c')
  assert.deepEqual(
    passengers?.units.map(({ name }) => name),
    ['a', 'b']
  )
  const [a, b] = passengers.units
  assert.ok(a !== undefined && b !== undefined)
  passengers.settle(a, () => 'a along')
  passengers.giveBack(b)
  assert.equal(
    batches.takeAlong(({ name }) => name === 'b'),
    null
  )
  assert.deepEqual(await Promise.all(results), ['a along', 'b alone', 'c alone'])
  assert.deepEqual(written, [['b', 'c']])
  assert.equal(batches.stats().waiting, 0)
})

test('closing does not wait for company, and what had none is written', async () => {
  const batches = new Batches<Unit, string>(
    async (units, settle) => {
      for (const unit of units) settle(unit, () => 'written')
    },
    testDeps().clock,
    { batchMax: 10, waitingMax: 10, urgentMax: 1, waitMsMax: 1_000, companyMs: 60_000 }
  )
  const waiting = batches.submit({ name: 'a', size: 1 })
  await batches.close()
  assert.equal(await waiting, 'written')
})

test('the holdings of several users share the commit of a change, with numbers of their own', async () => {
  await using store = await open()
  const [one, other] = [await make.owner(store), await make.owner(store)]
  const put = (cash: string) => [one, other].map(who => store.accounts.putBalances(who.account, [make.balance(who.account, cash)]))
  // What is stored is known from now on, so that the next ones wait at once.
  await Promise.all(put('1.00'))
  await turn()
  const before = store.stats()
  isPatient = true
  const balances = put('2.00')
  const [result] = await store.orders.record([make.created(make.order(one))])
  assert.equal(result?.kind === 'recorded' && result.event?.seq, 2)
  isPatient = false
  const events = await Promise.all(balances)
  assert.deepEqual(
    events.map(of => of.map(({ seq }) => seq)),
    [[3], [2]]
  )
  const { orders, records } = store.stats()
  assert.equal(orders.batches - before.orders.batches, 1)
  assert.equal(records.batches, before.records.batches)
  assert.equal(records.changes - before.records.changes, 4)
})

test('holdings of a locked user neither delay the change nor fail: they wait alone', async () => {
  await using store = await open()
  const [held, free] = [await make.owner(store), await make.owner(store)]
  await store.accounts.putBalances(held.account, [make.balance(held.account, '1.00')])
  await turn()
  await client.query('begin')
  await client.query('select 1 from user_counters where user_key = $1 for update', [held.user.userKey])
  const balances = store.accounts.putBalances(held.account, [make.balance(held.account, '2.00')])
  const [result] = await store.orders.record([make.created(make.order(free))])
  assert.equal(result?.kind, 'recorded')
  await client.query('rollback')
  assert.deepEqual(
    (await balances).map(({ seq }) => seq),
    [2]
  )
})

test('a change that the database refuses fails alone, and holdings that it refuses do not fail the change', async () => {
  await using store = await open()
  const who = await make.owner(store)
  await store.accounts.putBalances(who.account, [make.balance(who.account, '1.00')])
  await turn()
  const poison = make.order(who, { revision: 3_000_000_000 })
  const balances = store.accounts.putBalances(who.account, [make.balance(who.account, '2.00')])
  await assert.rejects(store.orders.record([make.created(poison)]), error => !(error instanceof StoreUnavailable))
  assert.equal((await balances).length, 1)
  await turn()

  // The constraint refuses the next, which is in the same statement as the change.
  await client.query(`alter table account_records add constraint refused check (document not like '%66.60%')`)
  const refused = assert.rejects(store.accounts.putBalances(who.account, [make.balance(who.account, '66.60')]))
  const [result] = await store.orders.record([make.created(make.order(who))])
  assert.equal(result?.kind, 'recorded')
  await refused
  await client.query('alter table account_records drop constraint refused')
})
