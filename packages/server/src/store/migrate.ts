// Migrations: numbered SQL files, forward only, each in a transaction under a lock, recorded with a checksum.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import { StoreUnavailable } from '@trunkline/core/ports/store'
import { CompiledQuery, type Kysely, sql, type Transaction } from 'kysely'
import { DatabaseError } from 'pg'
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

/** What a program migrates with, if it differs from the usual. */
export interface MigrateOptions {
  readonly migrations?: readonly Migration[]
  /**
   * Called before a breaking migration, and may refuse it. While it is called nobody else migrates, and no other program begins to use the
   * database: each checks the schema first, which waits. If absent, nothing else uses the database.
   */
  readonly beforeBreaking?: (migration: Migration) => Promise<void>
  /** How long to wait for another process that migrates: how often, and how long each time. */
  readonly patience?: { readonly times: number; readonly ms: number }
}

const FOLDER = fileURLToPath(new URL('./migrations/', import.meta.url))
const FILE_NAME = /^(\d{4})-([a-z0-9-]+)\.sql$/
/** The number of the lock that a migration holds; nothing else in the database uses it. */
export const MIGRATION_LOCK = 7_305_941_228
/** A process that waits for longer ends, and is started again. The log says each minute that it waits. */
const PATIENCE = { times: 15, ms: 60_000 }

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
 * Migrates the database to the newest of `migrations`. Several processes may do so at once: one does it, and the others wait. After an
 * error, or if the process ends, the schema is that of a whole number of migrations.
 * @throws SchemaMismatch if a newer, incompatible program created the database, or a recorded migration differs from the one known here;
 * StoreUnavailable if another process migrates for very long
 */
export async function migrate(db: Kysely<Database>, deps: MigrateDeps, options: MigrateOptions = {}): Promise<void> {
  const { migrations = readMigrations(), beforeBreaking = () => Promise.resolve(), patience = PATIENCE } = options
  const recorded = await locked(db, deps, patience, trx => recordedBy(trx))
  check(recorded, migrations)
  const pending = migrations.filter(({ number }) => !recorded.some(row => row.number === number))
  // Refused before anything is changed, if it can be. A program that starts meanwhile is found below.
  const [breaking] = pending.filter(migration => migration.breaking)
  if (breaking !== undefined) await beforeBreaking(breaking)
  for (const migration of pending) {
    const done = await locked(db, deps, patience, async trx => {
      if (await isRecorded(trx, migration)) return false
      if (migration.breaking) await beforeBreaking(migration)
      await apply(trx, migration, deps)
      return true
    })
    if (done) deps.log.info('migrated the database', { number: migration.number, name: migration.name })
  }
}

interface MigrateDeps {
  readonly clock: Pick<Clock, 'now'>
  readonly log: Pick<Log, 'info' | 'warn'>
}

async function apply(trx: Transaction<Database>, migration: Migration, { clock }: MigrateDeps): Promise<void> {
  for (const statement of splitStatements(migration.sql)) await trx.executeQuery(CompiledQuery.raw(`/* migration */ ${statement}`))
  const { number, name, checksum, breaking } = migration
  await trx.insertInto('schema_migrations').values({ number, name, checksum, breaking, applied_at: clock.now() }).execute()
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

type Recorded = Pick<Migration, 'number' | 'name' | 'checksum' | 'breaking'>

async function recordedBy(trx: Transaction<Database>): Promise<readonly Recorded[]> {
  // A role may lack the right to create tables.
  if (!(await isThere(trx))) await trx.executeQuery(CompiledQuery.raw(TABLE))
  return trx.selectFrom('schema_migrations').select(['number', 'name', 'checksum', 'breaking']).orderBy('number').execute()
}

function check(recorded: readonly Recorded[], migrations: readonly Migration[]): void {
  for (const row of recorded) {
    const known = migrations.find(({ number }) => number === row.number)
    if (known === undefined && row.breaking) throw tooNew(row)
    if (known !== undefined && known.checksum !== row.checksum)
      throw new SchemaMismatch(
        `Migration ${row.number} (${row.name}) of the database is not the one of this version: its text was changed after it was applied.`
      )
  }
}

/** The database has a breaking migration that this program does not know. */
export function tooNew({ number, name }: Pick<Migration, 'number' | 'name'>): SchemaMismatch {
  return new SchemaMismatch(
    `The database has migration ${number} (${name}) of a newer version, which this version cannot work with. Run that version or a newer one, or restore the backup from before.`
  )
}

async function isRecorded(trx: Transaction<Database>, { number }: Migration): Promise<boolean> {
  return (await trx.selectFrom('schema_migrations').select('number').where('number', '=', number).executeTakeFirst()) !== undefined
}

/** `work` in a transaction that holds the lock. @throws StoreUnavailable if another process has it for too long */
async function locked<T>(
  db: Kysely<Database>,
  { log }: MigrateDeps,
  { times, ms }: typeof PATIENCE,
  work: (trx: Transaction<Database>) => Promise<T>
): Promise<T> {
  for (let count = 1; ; count += 1) {
    try {
      return await db.transaction().execute(async trx => {
        await lock(trx, ms)
        return work(trx)
      })
    } catch (cause) {
      if (!(cause instanceof LockHeld)) throw cause
      const seconds = Math.round((count * ms) / 1_000)
      if (count >= times)
        throw new StoreUnavailable(
          `Another process has been migrating the database for ${seconds} seconds. Start this one again when that has ended.`,
          { cause }
        )
      log.warn('waiting for another process that migrates the database', { seconds })
    }
  }
}

/** Another process migrates, or checks the schema. */
class LockHeld extends Error {
  override readonly name = 'LockHeld'
}
const LOCK_NOT_AVAILABLE = '55P03'

async function lock(trx: Transaction<Database>, ms: number): Promise<void> {
  // A migration may rewrite large tables, which has no time limit.
  await sql`select set_config('lock_timeout', ${String(ms)}, true), set_config('statement_timeout', '0', true)`.execute(trx)
  // Nobody waits for it to end but those that migrate. It asks for older nodes on another connection.
  await sql`select set_config('idle_in_transaction_session_timeout', '60000', true)`.execute(trx)
  await sql`/* migration */ select pg_advisory_xact_lock(${sql.lit(MIGRATION_LOCK)})`.execute(trx).catch((cause: unknown) => {
    if (cause instanceof DatabaseError && cause.code === LOCK_NOT_AVAILABLE) throw new LockHeld('the lock is held', { cause })
    throw cause
  })
  await sql`select set_config('lock_timeout', '0', true)`.execute(trx)
}

const TABLE = `create table schema_migrations (
  number int primary key,
  name text not null,
  checksum text not null,
  breaking boolean not null,
  applied_at timestamptz not null
)`
