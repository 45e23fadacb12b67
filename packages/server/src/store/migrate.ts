// Migrations: numbered SQL files, forward only, each in a transaction under a lock, recorded with a checksum.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import { CompiledQuery, type Kysely, sql, type Transaction } from 'kysely'
import type { Database } from './database.ts'
import { splitStatements } from './statements.ts'

export interface Migration {
  readonly number: number
  readonly name: string
  /** Whether programs that do not know it can no longer use the database. */
  readonly breaking: boolean
  readonly sql: string
  readonly checksum: string
}

/** The database and this program are incompatible. Nothing was changed; the message says what to do. */
export class SchemaMismatch extends Error {
  override readonly name = 'SchemaMismatch'
}

const FOLDER = fileURLToPath(new URL('./migrations/', import.meta.url))
const FILE_NAME = /^(\d{4})-([a-z0-9-]+)\.sql$/
/** The number of the lock; nothing else in the database uses it. */
const LOCK = 7_305_941_228

/**
 * The program's migrations, in order.
 * @throws Error if a file breaks the rules: numbers without gaps, a first line that says breaking or compatible
 */
export function readMigrations(folder = FOLDER): readonly Migration[] {
  const files = readdirSync(folder)
    .filter(file => file.endsWith('.sql'))
    .sort()
  return files.map((file, index) => {
    const [, digits, name] = FILE_NAME.exec(file) ?? []
    if (digits === undefined || name === undefined) throw new Error(`a migration must be named NNNN-name.sql, was ${file}`)
    if (Number(digits) !== index + 1) throw new Error(`migrations must be numbered without gaps; ${file} is number ${index + 1}`)
    return migrationOf(index + 1, name, readFileSync(`${folder}/${file}`, 'utf8'))
  })
}

/** A migration from its text. */
export function migrationOf(number: number, name: string, text: string): Migration {
  const [, kind] = /^-- (breaking|compatible)\r?\n/.exec(text) ?? []
  if (kind === undefined) throw new Error(`migration ${number} must begin with the line "-- breaking" or "-- compatible"`)
  const sql = text.replaceAll('\r\n', '\n')
  return { number, name, breaking: kind === 'breaking', sql, checksum: createHash('sha256').update(sql).digest('hex') }
}

/**
 * Migrates the database to the newest of `migrations`. Several processes may do so at once. After an error, or if the process ends, the
 * schema is that of a whole number of migrations.
 * @throws SchemaMismatch if a newer, incompatible program created the database, or a recorded migration differs from the one known here
 */
export async function migrate(
  db: Kysely<Database>,
  deps: { readonly clock: Clock; readonly log: Log },
  migrations = readMigrations()
): Promise<void> {
  await check(db, migrations)
  for (const migration of migrations) {
    const done = await db.transaction().execute(async trx => {
      await lock(trx)
      if (await isRecorded(trx, migration)) return false
      for (const statement of splitStatements(migration.sql)) await trx.executeQuery(CompiledQuery.raw(`/* migration */ ${statement}`))
      const { number, name, checksum, breaking } = migration
      await trx.insertInto('schema_migrations').values({ number, name, checksum, breaking, applied_at: deps.clock.now() }).execute()
      return true
    })
    if (done) deps.log.info('migrated the database', { number: migration.number, name: migration.name })
  }
}

/** The migrations that the database does not have yet. Changes nothing. */
export async function pendingMigrations(db: Kysely<Database>, migrations = readMigrations()): Promise<readonly Migration[]> {
  if (!(await isThere(db))) return migrations
  const recorded = new Set((await db.selectFrom('schema_migrations').select('number').execute()).map(({ number }) => number))
  return migrations.filter(({ number }) => !recorded.has(number))
}

async function isThere(db: Kysely<Database>): Promise<boolean> {
  const { rows } = await sql<{ there: boolean }>`select to_regclass('schema_migrations') is not null as there`.execute(db)
  return rows[0]?.there === true
}

async function check(db: Kysely<Database>, migrations: readonly Migration[]): Promise<void> {
  const recorded = await db.transaction().execute(async trx => {
    await lock(trx)
    // A role may lack the right to create tables.
    if (!(await isThere(trx))) await trx.executeQuery(CompiledQuery.raw(TABLE))
    return trx.selectFrom('schema_migrations').select(['number', 'name', 'checksum', 'breaking']).orderBy('number').execute()
  })
  for (const row of recorded) {
    const known = migrations.find(({ number }) => number === row.number)
    if (known === undefined && row.breaking)
      throw new SchemaMismatch(
        `The database has migration ${row.number} (${row.name}) of a newer version, which this version cannot work with. Run that version or a newer one.`
      )
    if (known !== undefined && known.checksum !== row.checksum)
      throw new SchemaMismatch(
        `Migration ${row.number} (${row.name}) of the database is not the one of this version: its text was changed after it was applied.`
      )
  }
}

async function isRecorded(trx: Transaction<Database>, { number }: Migration): Promise<boolean> {
  return (await trx.selectFrom('schema_migrations').select('number').where('number', '=', number).executeTakeFirst()) !== undefined
}

async function lock(trx: Transaction<Database>): Promise<void> {
  // A migration may rewrite large tables, and another process may be doing so: neither has a time limit.
  await sql`select set_config('lock_timeout', '0', true), set_config('statement_timeout', '0', true)`.execute(trx)
  await sql`/* migration */ select pg_advisory_xact_lock(${sql.lit(LOCK)})`.execute(trx)
}

const TABLE = `create table schema_migrations (
  number int primary key,
  name text not null,
  checksum text not null,
  breaking boolean not null,
  applied_at timestamptz not null
)`
