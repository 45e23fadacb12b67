// Migrations: each whole or not at all, once, in order, and never under a program that is too old for them.
import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createDatabase, type PostgresServer, sharedPostgres } from '@trunkline/testkit/postgres/index'
import { until } from '@trunkline/testkit/until'
import { CompiledQuery, type Kysely } from 'kysely'
import type { Database } from '../../src/store/database.ts'
import { openEngine } from '../../src/store/index.ts'
import { MIGRATION_LOCK, type Migration, migrate, migrationOf, readMigrations, SchemaMismatch } from '../../src/store/migrate.ts'
import { splitStatements } from '../../src/store/statements.ts'
import { testDeps } from './deps.ts'

let cluster: PostgresServer

before(async () => {
  cluster = await sharedPostgres()
})
after(() => cluster.stop())

type Db = Kysely<Database>

async function withDatabase(work: (open: () => Promise<Db>) => Promise<void>): Promise<void> {
  await using database = await createDatabase(cluster.url)
  const opened: Db[] = []
  const open = async () => {
    const { db } = await openEngine({ kind: 'postgres', url: database.url, poolMax: 2 }, testDeps())
    opened.push(db)
    return db
  }
  try {
    await work(open)
  } finally {
    for (const db of opened) await db.destroy()
  }
}

async function rows(db: Db, text: string): Promise<readonly unknown[]> {
  return (await db.executeQuery(CompiledQuery.raw(text))).rows
}

const tables = (db: Db) => rows(db, `select tablename from pg_tables where schemaname = 'public' and tablename like 'm_%' order by 1`)
const recorded = (db: Db) => rows(db, 'select number, name, breaking from schema_migrations order by number')

const ONE = migrationOf(1, 'one', '-- breaking\ncreate table m_one (id int);')
const TWO = migrationOf(2, 'two', '-- compatible\ncreate table m_two (id int); insert into m_one values (2);')
const BAD = migrationOf(
  2,
  'bad',
  '-- compatible\ncreate table m_two (id int); insert into m_one values (2); insert into m_nowhere values (1);'
)

test('every migration of the program runs once, however many processes start at the same time', async () => {
  await withDatabase(async open => {
    const own = readMigrations()
    const starting = await Promise.all(Array.from({ length: 4 }, open))
    await Promise.all(starting.map(db => migrate(db, testDeps())))
    const [db] = starting
    assert.ok(db !== undefined)
    assert.deepEqual(
      await recorded(db),
      own.map(({ number, name, breaking }) => ({ number, name, breaking }))
    )
    await migrate(db, testDeps())
    assert.equal((await recorded(db)).length, own.length)
  })
})

test('a migration that fails leaves nothing of itself and all of those before it; the next start goes on', async () => {
  await withDatabase(async open => {
    const db = await open()
    await assert.rejects(migrate(db, testDeps(), { migrations: [ONE, BAD] }), /m_nowhere/)
    assert.deepEqual(await tables(db), [{ tablename: 'm_one' }])
    assert.deepEqual(await rows(db, 'select * from m_one'), [])
    assert.equal((await recorded(db)).length, 1)
    await migrate(db, testDeps(), { migrations: [ONE, TWO] })
    assert.deepEqual(await tables(db), [{ tablename: 'm_one' }, { tablename: 'm_two' }])
    assert.deepEqual(await rows(db, 'select * from m_one'), [{ id: 2 }])
  })
})

test('a process that dies within a migration leaves the old schema', async () => {
  await withDatabase(async open => {
    const [dying, watcher] = [await open(), await open()]
    await migrate(watcher, testDeps(), { migrations: [ONE] })
    await watcher.transaction().execute(async holder => {
      await holder.executeQuery(CompiledQuery.raw('lock table m_one in access exclusive mode'))
      const migrating = migrate(dying, testDeps(), { migrations: [ONE, TWO] })
      const killed = assert.rejects(migrating, /terminat/)
      const waiting = `select pid from pg_stat_activity where wait_event_type = 'Lock' and query like '/* migration */ insert into m_one%'`
      await until(async () => (await rows(watcher, waiting)).length === 1, 'the migration waits in its second statement')
      await rows(watcher, `select pg_terminate_backend(pid) from (${waiting}) w`)
      await killed
    })
    assert.deepEqual(await tables(watcher), [{ tablename: 'm_one' }])
    assert.equal((await recorded(watcher)).length, 1)
    await migrate(await open(), testDeps(), { migrations: [ONE, TWO] })
    assert.equal((await recorded(watcher)).length, 2)
  })
})

test('a program without a breaking migration of the database refuses, one without a compatible one serves', async () => {
  await withDatabase(async open => {
    const db = await open()
    await migrate(db, testDeps(), { migrations: [ONE, TWO] })
    await migrate(db, testDeps(), { migrations: [ONE] })
    const THREE = migrationOf(3, 'three', '-- breaking\ncreate table m_three (id int);')
    await migrate(db, testDeps(), { migrations: [ONE, TWO, THREE] })
    await assert.rejects(
      migrate(db, testDeps(), { migrations: [ONE, TWO] }),
      error => error instanceof SchemaMismatch && /migration 3 \(three\)/.test(error.message)
    )
  })
})

const NEXT = migrationOf(3, 'next', '-- breaking\nalter table m_two add column next int;')
/** Whether a process waits for the lock of migrations. */
const WAITING = `select 1 from pg_locks where locktype = 'advisory' and not granted
  and database = (select oid from pg_database where datname = current_database())`

test('before a breaking migration it is asked, first before anything is changed, then while every other program that starts waits', async () => {
  await withDatabase(async open => {
    const [db, old] = [await open(), await open()]
    await migrate(db, testDeps(), { migrations: [ONE] })
    const refuse = async () => Promise.reject(new SchemaMismatch('an old node lives'))
    await assert.rejects(migrate(db, testDeps(), { migrations: [ONE, TWO, NEXT], beforeBreaking: refuse }), /an old node lives/)
    assert.equal((await recorded(db)).length, 1, 'nothing was changed')
    const asked: string[] = []
    let starting: Promise<unknown> = Promise.resolve()
    const beforeBreaking = async ({ name }: Migration) => {
      asked.push(`${name} after ${(await recorded(old)).length}`)
      if (asked.length < 2) return
      // It comes too late to be seen, and must not begin under the schema that it knows.
      starting = migrate(old, testDeps(), { migrations: [ONE, TWO] }).catch((cause: unknown) => cause)
      await until(async () => (await rows(old, WAITING)).length === 1, 'the old program waits')
    }
    await migrate(db, testDeps(), { migrations: [ONE, TWO, NEXT], beforeBreaking })
    assert.deepEqual(asked, ['next after 1', 'next after 2'])
    assert.match(String(await starting), /SchemaMismatch: The database has migration 3 \(next\)/)
  })
})

test('a process waits for another one that migrates, says so, and not for ever', async () => {
  await withDatabase(async open => {
    const [holder, waiting] = [await open(), await open()]
    const lines: string[] = []
    const note = (message: string, fields?: object) => void lines.push(`${message} ${JSON.stringify(fields)}`)
    const deps = testDeps({ debug: note, info: note, warn: note, error: note })
    await holder.transaction().execute(async trx => {
      await trx.executeQuery(CompiledQuery.raw(`select pg_advisory_xact_lock(${MIGRATION_LOCK})`))
      const short = migrate(waiting, deps, { migrations: [ONE], patience: { times: 2, ms: 500 } })
      await assert.rejects(short, { name: 'StoreUnavailable', message: /has been migrating the database for 1 seconds/ })
    })
    assert.deepEqual(lines, ['waiting for another process that migrates the database {"seconds":1}'])
    await migrate(waiting, deps, { migrations: [ONE] })
    assert.equal((await recorded(waiting)).length, 1)
  })
})

test('a migration whose text was changed after it was applied is refused; line ends are no change', async () => {
  await withDatabase(async open => {
    const db = await open()
    await migrate(db, testDeps(), { migrations: [ONE] })
    const altered: Migration = migrationOf(1, 'one', '-- breaking\ncreate table m_one (id bigint);')
    await assert.rejects(migrate(db, testDeps(), { migrations: [altered] }), SchemaMismatch)
    await migrate(db, testDeps(), { migrations: [migrationOf(1, 'one', '-- breaking\r\ncreate table m_one (id int);')] })
  })
})

test("the files' rules are checked: names, numbers without gaps, the first line", () => {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-migrations-'))
  try {
    cpSync(fileURLToPath(new URL('../../src/store/migrations/', import.meta.url)), folder, { recursive: true })
    const count = readMigrations(folder).length
    assert.equal(count, readdirSync(folder).length)
    const name = (number: number, rest: string) => join(folder, `${String(number).padStart(4, '0')}-${rest}.sql`)
    for (const [file, text, complaint] of [
      [name(count + 2, 'gap'), '-- compatible\n', /without gaps/],
      [name(count + 1, 'Bad_Name'), '-- compatible\n', /NNNN-name/],
      [name(count + 1, 'silent'), 'create table x (id int);', /must begin with/]
    ] as const) {
      writeFileSync(file, text)
      assert.throws(() => readMigrations(folder), complaint)
      rmSync(file)
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('a text is split at the semicolons that end statements, and at no others', () => {
  const text = `-- a; comment
    select ';' as "a;b", 'it''s;'; /* ; */
    create function f() returns int language plpgsql as $body$ begin perform ';'; return 1; -- ; $$
    end $body$;
    select $$;$$, 1 - 2, 3 / 4, $1`
  assert.deepEqual(
    splitStatements(text).map(statement => statement.replaceAll(/\s+/g, ' ')),
    [
      `select ';' as "a;b", 'it''s;'`,
      `create function f() returns int language plpgsql as $body$ begin perform ';'; return 1; -- ; $$ end $body$`,
      'select $$;$$, 1 - 2, 3 / 4, $1'
    ]
  )
  assert.deepEqual(splitStatements(' ; ;\n-- nothing\n'), [])
})
