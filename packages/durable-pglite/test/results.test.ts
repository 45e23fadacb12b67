/** Results equal node-postgres' results for the same statement, so that one store runs on both engines; and Kysely works on top. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Generated, Kysely, sql } from 'kysely'
import pg from 'pg'
import { type EmbeddedDatabase, embeddedDialect, openEmbedded } from '../src/index.ts'
import { copyTemplate } from './template.ts'

interface Schema {
  readonly thing: { readonly id: Generated<string>; readonly name: string; readonly body: unknown }
}

const folder = mkdtempSync(join(tmpdir(), 'trunkline-embedded-'))
let database: EmbeddedDatabase
let db: Kysely<Schema>

before(async () => {
  const dataDir = join(folder, 'data')
  await copyTemplate(dataDir)
  database = await openEmbedded({ dataDir, maintenanceMs: 0 })
  db = new Kysely<Schema>({ dialect: embeddedDialect(database) })
  await database.exec('CREATE TABLE thing (id bigserial PRIMARY KEY, name text NOT NULL UNIQUE, body jsonb)')
})
after(async () => {
  await db.destroy()
  rmSync(folder, { recursive: true, force: true })
})

const VALUES: readonly (readonly [string, unknown])[] = [
  [`9007199254740993::int8`, '9007199254740993'],
  [`1.10::numeric`, '1.10'],
  [`7::int4`, 7],
  [`7::int2`, 7],
  [`1.5::float8`, 1.5],
  [`true`, true],
  [`null::text`, null],
  [`'é✓'::text`, 'é✓'],
  [`'x'::char(3)`, 'x  '],
  [`'{"a": [1, "2"]}'::json`, { a: [1, '2'] }],
  [`'{"a": [1, "2"]}'::jsonb`, { a: [1, '2'] }],
  [`'\\x00ff10'::bytea`, Buffer.from([0, 255, 16])],
  [`'2026-03-02 14:30:00.123456+00'::timestamptz`, new Date('2026-03-02T14:30:00.123Z')],
  [`'2026-03-02'::date::text`, '2026-03-02'],
  [`'0d9e2f6e-5c4b-4b39-9a51-4ad4f5b4a5c6'::uuid`, '0d9e2f6e-5c4b-4b39-9a51-4ad4f5b4a5c6'],
  [`array['a', null, 'b,"c']::text[]`, ['a', null, 'b,"c']],
  [`array[1, 2]::int8[]`, ['1', '2']],
  [`array[1.10, 2]::numeric[]`, [1.1, 2]],
  [`array[true, false]`, [true, false]],
  [`''::text`, '']
]

for (const [expression, expected] of VALUES) {
  test(`${expression} reads as node-postgres reads it`, async () => {
    // Twice: the second use of a statement is prepared and takes its columns from the first.
    for (let n = 0; n < 2; n++) assert.deepEqual((await database.query(`SELECT ${expression} AS value`)).rows, [{ value: expected }])
  })
}

const PARAMETERS: readonly (readonly [string, unknown, unknown])[] = [
  ['int8', 9007199254740993n, '9007199254740993'],
  ['int8', '12', '12'],
  ['numeric', '0.30', '0.30'],
  ['text', 'a\u2028b', 'a\u2028b'],
  ['text', null, null],
  ['text', undefined, null],
  ['bool', false, false],
  ['jsonb', { a: [1, null] }, { a: [1, null] }],
  ['bytea', Buffer.from([1, 0, 2]), Buffer.from([1, 0, 2])],
  ['bytea', new Uint8Array([1, 0, 2]), Buffer.from([1, 0, 2])],
  ['text[]', ['a', null, 'b"c'], ['a', null, 'b"c']],
  ['timestamptz', new Date('2026-03-02T14:30:00.123Z'), new Date('2026-03-02T14:30:00.123Z')]
]

for (const [type, given, expected] of PARAMETERS) {
  test(`a ${type} parameter goes there and comes back (${typeof given})`, async () => {
    for (let n = 0; n < 2; n++) assert.deepEqual((await database.query(`SELECT $1::${type} AS value`, [given])).rows, [{ value: expected }])
  })
}

test('column types can be chosen as for node-postgres', async () => {
  const dataDir = join(folder, 'types')
  await copyTemplate(dataDir)
  const types = { getTypeParser: (oid: number) => (oid === pg.types.builtins.TIMESTAMPTZ ? (text: string) => `at ${text}` : String) }
  await using own = await openEmbedded({ dataDir, types, maintenanceMs: 0 })
  const { rows } = await own.query(`SELECT '2026-03-02 00:00:00+00'::timestamptz AS at, 1::int4 AS n`)
  assert.deepEqual(rows, [{ at: 'at 2026-03-02 00:00:00+00', n: '1' }])
})

test('an error is the one node-postgres throws, with the stack of who asked', async () => {
  await db.insertInto('thing').values({ name: 'twice', body: null }).execute()
  const error: unknown = await db
    .insertInto('thing')
    .values({ name: 'twice', body: null })
    .execute()
    .catch((caught: unknown) => caught)
  assert.ok(error instanceof pg.DatabaseError)
  assert.equal(error.code, '23505')
  assert.equal(error.constraint, 'thing_name_key')
  assert.match(error.stack ?? '', /EmbeddedConnection\.executeQuery/)
})

test('Kysely counts what it changes and reads what it wrote', async () => {
  const inserted = await db
    .insertInto('thing')
    .values([
      { name: 'a', body: JSON.stringify({ n: 1 }) },
      { name: 'b', body: null }
    ])
    .returning(['name', 'body'])
    .execute()
  assert.deepEqual(inserted, [
    { name: 'a', body: { n: 1 } },
    { name: 'b', body: null }
  ])
  const { numUpdatedRows } = await db
    .updateTable('thing')
    .set({ body: '[]' })
    .where('name', 'in', ['a', 'b', 'c'])
    .executeTakeFirstOrThrow()
  assert.equal(numUpdatedRows, 2n)
  const { numDeletedRows } = await db.deleteFrom('thing').where('name', 'in', ['a', 'b']).executeTakeFirstOrThrow()
  assert.equal(numDeletedRows, 2n)
})

test('a Kysely transaction commits, rolls back, and keeps its savepoints apart', async () => {
  await db.transaction().execute(trx => trx.insertInto('thing').values({ name: 'kept', body: null }).execute())
  const failure = new Error('of our own')
  const failed = db.transaction().execute(async trx => {
    await trx.insertInto('thing').values({ name: 'lost', body: null }).execute()
    throw failure
  })
  await assert.rejects(failed, failure)
  const trx = await db.startTransaction().execute()
  await trx.insertInto('thing').values({ name: 'outer', body: null }).execute()
  const inner = await trx.savepoint('inner').execute()
  await assert.rejects(inner.insertInto('thing').values({ name: 'outer', body: null }).execute(), /duplicate key/)
  await inner.rollbackToSavepoint('inner').execute()
  await trx.commit().execute()
  const names = await db.selectFrom('thing').select('name').where('name', 'in', ['kept', 'lost', 'outer']).orderBy('name').execute()
  assert.deepEqual(names, [{ name: 'kept' }, { name: 'outer' }])
})

test('a read-only Kysely transaction reads and cannot write', async () => {
  const count = await db
    .transaction()
    .setAccessMode('read only')
    .execute(trx => trx.selectFrom('thing').select(sql<number>`count(*)::int`.as('n')).execute())
  assert.ok((count[0]?.n ?? 0) > 0)
  const writing = db
    .transaction()
    .setAccessMode('read only')
    .execute(trx => trx.deleteFrom('thing').execute())
  await assert.rejects(writing, /read-only transaction/)
  await db.insertInto('thing').values({ name: 'after a read-only one', body: null }).execute()
})

test('streaming says that it is not there', async () => {
  await assert.rejects(async () => {
    for await (const _ of db.selectFrom('thing').selectAll().stream()) assert.fail('nothing can be streamed')
  }, /does not stream/)
})

test('more statements than are remembered, and results larger than any buffer', async () => {
  for (let n = 0; n < 600; n++) assert.deepEqual((await database.query(`SELECT ${n} AS n`)).rows, [{ n }])
  assert.ok(database.stats().preparedStatements <= 256)
  const { rows } = await database.query(`SELECT repeat('x', 5000000) AS a, n FROM generate_series(1, 4) AS n`)
  assert.deepEqual(
    rows.map(row => [String(row.a).length, row.n]),
    [1, 2, 3, 4].map(n => [5_000_000, n])
  )
})
