// The store port on PostgreSQL, or on the embedded engine, with the same SQL.
import type { Clock } from '@trunkline/core/ports/clock'
import type { Ids } from '@trunkline/core/ports/ids'
import type { Log } from '@trunkline/core/ports/log'
import type { Store } from '@trunkline/core/ports/store'
import { type EmbeddedStats, embeddedDialect, embeddedRows, openEmbedded } from '@trunkline/durable-pglite/index'
import { Kysely, sql } from 'kysely'
import { RecordWriter } from './account-records.ts'
import { SqlAccountStore } from './accounts.ts'
import { SqlAttemptStore } from './attempts.ts'
import { SqlAuditStore } from './audit.ts'
import { SqlConnectionStore } from './connections.ts'
import type { Database } from './database.ts'
import { Eraser } from './eraser.ts'
import { SqlEventStore } from './events.ts'
import { beforeCommit, isDenied } from './faults.ts'
import { SqlKeyCheckStore } from './key-checks.ts'
import { SqlMarketSlotStore } from './market-slots.ts'
import { SqlMemberStore } from './members.ts'
import { type MigrateOptions, type Migration, migrate, pendingMigrations, readMigrations, SchemaMismatch } from './migrate.ts'
import { SqlOperatorReads } from './operator-reads.ts'
import { SqlOperatorStore } from './operators.ts'
import { Recorder } from './orders/recorder.ts'
import { SqlOrderStore } from './orders/store.ts'
import { SqlPlatformKeyStore } from './platform-keys.ts'
import { SqlPlatformStore } from './platforms.ts'
import { createPostgresEngine, durabilityFaults, type PoolStats, type RunStatement } from './postgres.ts'
import { grantTo, lacking, roleOf } from './roles.ts'
import { Session } from './session.ts'
import { SqlStreamSlotStore } from './stream-slots.ts'
import { SqlSubmissionStore } from './submissions.ts'
import { SqlTokenStore } from './tokens.ts'
import { TYPES } from './types.ts'
import { SqlUserStore } from './users.ts'
import { SqlWebhookCursorStore } from './webhooks/cursors.ts'
import { SqlWebhookDeliveryStore } from './webhooks/deliveries.ts'
import { SqlWebhookEndpointStore } from './webhooks/endpoints.ts'
import type { BatchStats } from './writes/batches.ts'
import type { FenceOf } from './writes/fences.ts'

export type StoreSettings =
  | {
      readonly kind: 'postgres'
      readonly url: string
      readonly poolMax: number
      /** The address with another role, which owns the schema: that role migrates, and grants the service's role its rights. */
      readonly ownerUrl?: string | null
    }
  | { readonly kind: 'embedded'; readonly dataDir: string; readonly filesMax?: number }

export interface StoreDeps {
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  /** Serve even if the database may lose confirmed commits. */
  readonly unsafeDurability?: boolean
  /**
   * Throws StoreUnavailable while nothing may be written, because another process may have the database. If absent, writing is always
   * allowed.
   */
  readonly assertMayWrite?: () => void
  /** Of nodes of a cluster: orders, balances and positions are written only while this node owns the user. */
  readonly fenceOf?: FenceOf
  /** Called with the migration of an older schema; it may refuse, and then nothing is changed. If absent, the migration runs. */
  readonly migrating?: (work: (beforeBreaking: BeforeBreaking) => Promise<void>) => Promise<void>
  /** Default: those of this program. */
  readonly migrations?: readonly Migration[]
}

/** See `MigrateOptions`. */
export type BeforeBreaking = NonNullable<MigrateOptions['beforeBreaking']>

/** Figures for the operator. */
export interface StoreStats {
  readonly engine: 'postgres' | 'embedded'
  /** Order changes: how many wait, were written, and in how many commits. */
  readonly orders: BatchStats
  /** The same for balances and positions, with their events. */
  readonly records: BatchStats
  /** Connections of the pool; null on the embedded engine. */
  readonly pool: PoolStats | null
  /** The embedded engine's own figures; null on PostgreSQL. */
  readonly embedded: EmbeddedStats | null
}

export interface SqlStore extends Store {
  readonly audit: SqlAuditStore
  readonly keyChecks: SqlKeyCheckStore
  readonly submissions: SqlSubmissionStore
  readonly marketSlots: SqlMarketSlotStore
  readonly members: SqlMemberStore
  readonly operators: SqlOperatorStore
  readonly operatorReads: SqlOperatorReads
  stats(): StoreStats
}

/** The database does not commit durably, and the setting that allows it is not set. */
export class UnsafeDurability extends Error {
  override readonly name = 'UnsafeDurability'
}

/** An open engine. */
export interface Engine {
  readonly db: Kysely<Database>
  /** Runs handwritten statements, past the query builder. */
  readonly run: RunStatement
  readonly kind: StoreSettings['kind']
  stats(): Pick<StoreStats, 'pool' | 'embedded'>
}

/** Opens the store and migrates its schema. @throws SchemaMismatch, UnsafeDurability, EngineRefused, StoreUnavailable */
export async function openStore(settings: StoreSettings, deps: StoreDeps): Promise<SqlStore> {
  const engine = await openEngine(settings, deps)
  try {
    await prepare(engine, deps, settings.kind === 'postgres' ? (settings.ownerUrl ?? null) : null)
  } catch (cause) {
    await engine.db.destroy()
    throw beforeCommit(cause)
  }
  return buildStore(engine, deps)
}

/** Opens the engine, without a query. With fences it is for a node of a cluster. */
export async function openEngine(settings: StoreSettings, { log, fenceOf }: Pick<StoreDeps, 'log' | 'fenceOf'>): Promise<Engine> {
  if (settings.kind === 'postgres') {
    const { dialect, run, stats } = createPostgresEngine({ ...settings, isNode: fenceOf !== undefined, log })
    return { db: new Kysely({ dialect }), run, kind: 'postgres', stats: () => ({ pool: stats(), embedded: null }) }
  }
  const embedded = await openEmbedded({
    dataDir: settings.dataDir,
    ...(settings.filesMax !== undefined && { filesMax: settings.filesMax }),
    types: TYPES,
    onWarning: warning => log.warn(warning),
    onMaintenanceFailed: cause => log.warn('the embedded database maintenance failed', { cause: String(cause) })
  })
  return {
    db: new Kysely({ dialect: embeddedDialect(embedded) }),
    run: async <Found>(text: string, parameters: readonly unknown[]) =>
      (await embeddedRows(embedded, text, parameters)) as readonly unknown[] as readonly Found[],
    kind: 'embedded',
    stats: () => ({ pool: null, embedded: embedded.stats() })
  }
}

/** The parts of the store over an engine whose schema is up to date. */
export function buildStore(engine: Engine, deps: StoreDeps): SqlStore {
  const session = new Session(engine, deps.assertMayWrite, deps.fenceOf ?? null)
  const records = new RecordWriter(session, deps)
  const recorder = new Recorder(session, records, deps)
  const cursors = new SqlWebhookCursorStore(session, deps)
  const eraser = new Eraser(session, deps)
  eraser.start()
  return {
    platforms: new SqlPlatformStore(session),
    platformKeys: new SqlPlatformKeyStore(session),
    users: new SqlUserStore(session, eraser),
    attempts: new SqlAttemptStore(session),
    connections: new SqlConnectionStore(session, eraser),
    accounts: new SqlAccountStore(session, { clock: deps.clock, records }),
    orders: new SqlOrderStore(session, { recorder, records }),
    events: new SqlEventStore(session),
    streamSlots: new SqlStreamSlotStore(session),
    tokens: new SqlTokenStore(session),
    audit: new SqlAuditStore(session),
    webhooks: { endpoints: new SqlWebhookEndpointStore(session), cursors, deliveries: new SqlWebhookDeliveryStore(session) },
    keyChecks: new SqlKeyCheckStore(session),
    submissions: new SqlSubmissionStore(session),
    marketSlots: new SqlMarketSlotStore(session),
    members: new SqlMemberStore(session),
    operators: new SqlOperatorStore(session),
    operatorReads: new SqlOperatorReads(session),
    probe: () => probe(session, engine.kind),
    stats: () => ({ engine: engine.kind, orders: recorder.stats(), records: records.stats(), ...engine.stats() }),
    async [Symbol.asyncDispose]() {
      await recorder.close()
      await records.close()
      await cursors.close()
      await eraser.close()
      await session.close()
    }
  }
}

/** The tables that an order is written to. */
const WRITTEN = 'users, user_counters, orders, order_broker_ids, order_symbols, events, audit_pending'
/** Below the server's `deadlock_timeout`, so that a probe never ends the work of others that hold the tables. */
const PROBE_LOCK = `set local lock_timeout = '500ms'`

/**
 * Writes durably, and takes and releases the locks that writing an order takes: this finds a locked table before the next order does. No
 * other process has the embedded engine.
 */
async function probe(session: Session, kind: StoreSettings['kind']): Promise<void> {
  const count = 'update probes set count = count + 1 where id = 1'
  if (kind === 'embedded') return void (await session.statement(count, []))
  await session.write(async trx => {
    for (const statement of [PROBE_LOCK, `lock table ${WRITTEN} in row exclusive mode`, count]) await sql.raw(statement).execute(trx)
  })
}

async function prepare({ db, kind }: Engine, deps: StoreDeps, ownerUrl: string | null): Promise<void> {
  if (kind === 'postgres') {
    const faults = await durabilityFaults(db)
    if (faults.length > 0) {
      const message = `PostgreSQL would lose confirmed orders when it crashes: ${faults.join(', ')}.`
      if (deps.unsafeDurability !== true)
        throw new UnsafeDurability(`${message} Turn these settings on, or allow unsafe durability where losing orders does not matter.`)
      deps.log.warn(message)
    }
  }
  await upToDate(db, deps, ownerUrl)
  if (kind === 'postgres') await assertGranted(db)
  // The engine has one process, and this is a new one: every session that held a slot has ended.
  if (kind === 'embedded') await db.deleteFrom('stream_slots').execute()
}

async function upToDate(db: Kysely<Database>, deps: StoreDeps, ownerUrl: string | null): Promise<void> {
  const { migrating, migrations = readMigrations() } = deps
  const work = (options: MigrateOptions) =>
    (ownerUrl === null ? migrate(db, deps, options) : asOwner(ownerUrl, db, deps, options)).catch(asMismatch)
  const pending = migrating === undefined ? [] : await pendingMigrations(db, migrations).catch(unreadable(migrations))
  if (migrating === undefined || pending.length === 0) await work({ migrations })
  else await migrating(beforeBreaking => work({ migrations, beforeBreaking }))
}

/** A role without grants cannot read the record of migrations: all may be missing. */
function unreadable(all: readonly Migration[]): (cause: unknown) => readonly Migration[] {
  return cause => {
    if (isDenied(cause)) return all
    throw cause
  }
}

async function asOwner(url: string, db: Kysely<Database>, deps: StoreDeps, options: MigrateOptions): Promise<void> {
  const { db: owner } = await openEngine({ kind: 'postgres', url, poolMax: 1 }, deps)
  try {
    await migrate(owner, deps, options)
    const role = await roleOf(db)
    if (role !== (await roleOf(owner))) await grantTo(owner, role)
  } finally {
    await owner.destroy()
  }
}

function asMismatch(cause: unknown): never {
  if (!isDenied(cause)) throw cause
  throw new SchemaMismatch(
    `The role of TRUNKLINE_DATABASE_URL may not bring the schema up to date (${cause.message}). ${PREPARE_WITH_OWNER}`,
    { cause }
  )
}

async function assertGranted(db: Kysely<Database>): Promise<void> {
  const missing = await lacking(db)
  if (missing.length === 0) return
  const [first] = missing
  const more = missing.length === 1 ? '' : `, and ${missing.length - 1} more`
  throw new SchemaMismatch(
    `The role of TRUNKLINE_DATABASE_URL lacks a right that the service needs: ${first}${more}. ${PREPARE_WITH_OWNER}`
  )
}

const PREPARE_WITH_OWNER =
  'Run "npm run cli -- database migrate" with TRUNKLINE_DATABASE_OWNER_URL set to the role that owns the schema; it also grants this role what it needs.'
