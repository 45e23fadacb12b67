// A statement that a connection knows gives the same rows and errors as one that the driver sends in full.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { createDatabase, sharedPostgres, type TestDatabase } from '@trunkline/testkit/postgres/index'
import { until } from '@trunkline/testkit/until'
import { Kysely, sql } from 'kysely'
import pg from 'pg'
import type { Database } from '../../src/store/database.ts'
import { isRefusal } from '../../src/store/faults.ts'
import { createPostgresEngine } from '../../src/store/postgres.ts'
import { Session } from '../../src/store/session.ts'
import { testDeps } from './deps.ts'

let database: TestDatabase

before(async () => {
  database = await createDatabase((await sharedPostgres()).url)
})

function engine(poolMax = 2) {
  const { run, stats, dialect } = createPostgresEngine({ url: database.url, poolMax, log: testDeps().log })
  const driver = dialect.createDriver()
  const end = async () => {
    await driver.init()
    await driver.destroy()
  }
  return { run, stats, dialect, [Symbol.asyncDispose]: end }
}

function rowsOf(list: readonly unknown[]) {
  return list.map(n => ({ n }))
}

const VALUES = `select $1::text as text, $2::int as number, $3::boolean as yes, $4::timestamptz as at, $5::date as day, $6::int8 as big,
  $7::bytea as bytes, $8::text as nothing, '{1,2}'::int[] as list`

test('the second run has the rows of the first, in every type that the store uses', async () => {
  await using db = engine()
  const parameters = ['é "', -7, true, '2026-11-24 10:00:00.5+00', '2026-11-24', '9007199254740991', Buffer.from([0, 255]), null]
  const first = await db.run<{ text: string; at: string }>(VALUES, parameters)
  const second = await db.run<{ text: string; at: string }>(VALUES, parameters)
  assert.deepEqual(second, first)
  assert.equal(second[0]?.text, 'é "')
  assert.equal(second[0]?.at, '2026-11-24T10:00:00.500000Z')
})

test('several rows, none, and lists as parameters', async () => {
  await using db = engine()
  const series = 'select n from generate_series(1, $1::int) n'
  for (const count of [3, 3, 0]) assert.equal((await db.run(series, [count])).length, count)
  const listed = 'select n from unnest($1::int[]) n'
  for (const list of [[1], [2, -3], []]) assert.deepEqual(await db.run(listed, [list]), rowsOf(list))
  const texts = 'select n from unnest($1::text[]) n'
  for (const list of [['a'], ['b,"', '{}']]) assert.deepEqual(await db.run(texts, [list]), rowsOf(list))
})

test('a refusal of the database, and a value that cannot be read, reach the caller and nobody else', async () => {
  await using db = engine(1)
  const divided = 'select (8 / $1::int)::int8 * $2::int8 as big'
  assert.deepEqual(await db.run(divided, [4, 1]), [{ big: 2 }])
  await assert.rejects(db.run(divided, [0, 1]), error => isRefusal(error) && error.code === '22012')
  await assert.rejects(db.run(divided, [1, '9007199254740991']), RangeError)
  assert.deepEqual(await db.run(divided, [2, 1]), [{ big: 4 }])
})

test('a free connection that was ended is replaced', async () => {
  await using db = engine()
  const pid = 'select pg_backend_pid() as pid, $1::int as number'
  const [first] = await db.run<{ pid: number }>(pid, [1])
  assert.equal(db.stats().idle, 1)
  const other = new pg.Client(database.url)
  await other.connect()
  await other.query('select pg_terminate_backend($1)', [first?.pid])
  await other.end()
  await until(async () => db.stats().connections === 0, 'the loss is noticed')
  const [second] = await db.run<{ pid: number }>(pid, [1])
  assert.notEqual(second?.pid, first?.pid)
})

test('who waits for a connection gets one that is given back', async () => {
  await using db = engine(2)
  const slow = 'select pg_sleep(0.01), $1::int as number'
  const found = await Promise.all(Array.from({ length: 9 }, (_, number) => db.run<{ number: number }>(slow, [number])))
  assert.deepEqual(
    found.map(([row]) => row?.number),
    [0, 1, 2, 3, 4, 5, 6, 7, 8]
  )
})

test('a statement goes on after a newer version has added a column to its table: alone, in a transaction, on every connection', async () => {
  await using db = engine(4)
  const session = new Session({ db: new Kysely<Database>({ dialect: db.dialect }), run: db.run })
  await db.run('create table widened (id int)', [])
  await db.run('insert into widened values ($1)', [1])
  const all = 'select * from widened where id = $1'
  const builder = () => session.read(reader => sql`select * from widened where id = ${1}`.execute(reader))
  const changing = () =>
    session.write(async trx => {
      await sql`update widened set id = id where id = ${1}`.execute(trx)
      return (await sql`select * from widened where id = ${1} for update`.execute(trx)).rows
    })
  const everywhere = <T>(work: () => Promise<T>) => Promise.all(Array.from({ length: 4 }, work))
  for (const column of ['first', 'second']) {
    // Twice each, so that the connections know the statements.
    for (let round = 0; round < 2; round += 1)
      for (const work of [() => db.run(all, [1]), builder, changing]) await everywhere<unknown>(work)
    await db.run(`alter table widened add column ${column} int`, [])
    const expected = { id: 1, first: null, ...(column === 'second' && { second: null }) }
    for (const rows of await everywhere(changing)) assert.deepEqual(rows, [expected])
    await db.run(`alter table widened alter column ${column} type bigint`, [])
    for (const rows of await everywhere(() => db.run(all, [1]))) assert.deepEqual(rows, [expected])
    for (const { rows } of await everywhere(builder)) assert.deepEqual(rows, [expected])
  }
})
