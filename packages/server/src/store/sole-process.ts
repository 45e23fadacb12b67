/**
 * One process per PostgreSQL database, or the nodes of a cluster: a session-level advisory lock, on a separate connection, which nodes
 * share with each other and not with a process that runs alone. The server frees it when that session ends. This process then takes it
 * again, or ends if another process has it.
 *
 * The server ends a session that is silent for {@link SILENCE_MS}. Otherwise the session of a process that ended behind a silent network
 * connection would stay as long as the network, or a proxy in between, keeps the connection. This process stops writing before that, by its
 * own clock.
 */
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import { StoreUnavailable } from '@trunkline/core/ports/store'
import { Client, DatabaseError } from 'pg'
import { beforeCommit } from './faults.ts'
import { MIGRATION_LOCK, type Migration, SchemaMismatch, tooNew } from './migrate.ts'
import { SESSION_NAME_MAX, schemaOf } from './process-name.ts'

/** Locks are numbered per database; ours by these two. */
const LOCK = [0x74726b6c, 1] as const
const CONNECT_MS_MAX = 5_000
/** How long an answer may take, so that a vanished server is noticed. */
const ANSWER_MS_MAX = 10_000
const RETRY_MS = 1_000
/** How long the server keeps the lock of a silent process. A start waits longer by default, and tries once a second. */
export const SILENCE_MS = 20_000
/** Fractions of it: how often this process sends a query, and when it considers the lock lost, with a margin for uneven clocks. */
const BEAT_SHARE = 0.25
const HELD_SHARE = 0.9
/** How long the session may take to end; on a silent connection it never ends, and is left to the server. */
const END_MS_MAX = 2_000
/** How often the log repeats that the database cannot be locked. */
const LOG_MS = 60_000

export interface SoleOptions {
  readonly url: string
  /** Identifies this process among all others, including earlier ones with the same number: see `processName`. */
  readonly name: string
  /** The newest migration that this program knows. */
  readonly schema: number
  /** Whether other nodes of a cluster use the database too. */
  readonly isShared?: boolean
  /** How long to wait for a database that is down or that another process has. */
  readonly waitMs: number
  /**
   * Called once, if another process has the database although this one had it, or has migrated it to what this version cannot work with.
   * Nothing may be served then.
   */
  readonly onTaken: (cause: Error) => void
  readonly clock: Clock
  readonly log: Pick<Log, 'info' | 'warn'>
  /** Default: {@link SILENCE_MS}. */
  readonly silenceMs?: number
}

/** A connection that holds the lock, and when that was last confirmed, on the monotonic clock. */
interface Hold {
  readonly client: Client
  readonly atMs: number
}

/** Another process has the database. The message names it. */
export class DatabaseHeld extends Error {
  override readonly name = 'DatabaseHeld'
}

/** A PostgreSQL's address for messages, without user and password. */
export function databaseAddressOf(url: string): string {
  const { hostname = '', port = '', pathname = '' } = URL.parse(url) ?? {}
  return `${hostname === '' ? 'a local socket' : hostname}:${port === '' ? '5432' : port}${pathname}`
}

/** This process's hold of the database: alone, or (`isShared`) with the other nodes of a cluster, each of which has one. */
export class SoleProcess implements AsyncDisposable {
  readonly #options: SoleOptions
  readonly #closing = new AbortController()
  #client: Client
  #holding: Promise<void>
  #isLost = false
  /** When the last answered query was sent; the server counts its silence from a later time. */
  #provedMs: number

  private constructor(options: SoleOptions, { client, atMs }: Hold) {
    this.#options = options
    this.#client = client
    this.#provedMs = atMs
    this.#holding = this.#hold()
  }

  /** Waits for the database and the lock, within `waitMs`. @throws DatabaseHeld, StoreUnavailable, and lasting refusals of the server */
  static async take(options: SoleOptions): Promise<SoleProcess> {
    const { clock, log, waitMs, url } = options
    const deadline = clock.monotonicMs() + waitMs
    let logged = ''
    for (;;) {
      const found = await attempt(options).catch((cause: unknown) => {
        if (!isTransient(cause)) throw refused(url, cause)
        return unreachable(url, cause)
      })
      if ('client' in found) return new SoleProcess(options, found)
      if (clock.monotonicMs() + RETRY_MS > deadline) throw found
      if (found.message !== logged) log.warn('waiting for the database', { why: found.message, seconds: Math.ceil(waitMs / 1_000) })
      logged = found.message
      await clock.sleep(RETRY_MS)
    }
  }

  /**
   * False while the connection that holds the lock is lost, or while the server may have ended it because this process was paused: another
   * process may take the lock meanwhile.
   */
  get isHeld(): boolean {
    return !this.#isLost && this.#options.clock.monotonicMs() - this.#provedMs < HELD_SHARE * silenceOf(this.#options)
  }

  /**
   * Ends with an error if the migration would break nodes that have the database now: they are of an older version, and checked the schema
   * when they started. Nodes of this version that start at the same time know the migration.
   * @throws SchemaMismatch that names them; StoreUnavailable while the database is not held
   */
  async demandNoOlder({ number, name }: Pick<Migration, 'number' | 'name'>): Promise<void> {
    if (!this.isHeld) throw new StoreUnavailable('The connection that holds the database was lost. Start again.')
    const { rows } = await this.#client.query<{ name: string }>(OTHERS, [...LOCK])
    const older = rows.flatMap(row => {
      const schema = schemaOf(row.name)
      return schema !== null && schema >= number ? [] : [`${row.name} (${schema === null ? 'an unknown schema' : `schema ${schema}`})`]
    })
    if (older.length === 0) return
    throw new SchemaMismatch(
      `Migration ${number} (${name}) breaks nodes of older versions that are running: ${older.join(', ')}. Stop them first; until then nothing but compatible migrations is applied.`
    )
  }

  /** Releases the database. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort()
    const over = new AbortController()
    const ended = this.#holding
      .then(() => this.#client.end())
      .catch(() => undefined)
      .finally(() => over.abort())
    await Promise.race([ended, this.#options.clock.sleep(END_MS_MAX, over.signal).catch(() => undefined)])
  }

  async #hold(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      await this.#lost()
      if (signal.aborted) return
      this.#isLost = true
      this.#options.log.warn('the connection that holds the database was lost; it is taken again')
      void this.#client.end().catch(() => undefined)
      if (!(await this.#takeAgain())) return
    }
  }

  /** Resolves when the connection is gone or silent, or when this is being closed. */
  async #lost(): Promise<void> {
    const { clock } = this.#options
    const over = AbortSignal.any([this.#closing.signal, endOf(this.#client)])
    while (!over.aborted) {
      await clock.sleep(BEAT_SHARE * silenceOf(this.#options), over).catch(() => undefined)
      if (over.aborted) return
      const sentMs = clock.monotonicMs()
      const answered = await this.#client.query('select 1').then(
        () => true,
        () => false
      )
      if (!answered) return
      this.#provedMs = sentMs
    }
  }

  /**
   * Whether the lock is held again. An unreachable database is awaited without limit, one try a second: nothing can be written there
   * meanwhile, the service reports that it is not ready, and a process that ended would have to be started again. Another process with the
   * lock ends this one at once, and so does a schema that it cannot work with.
   */
  async #takeAgain(): Promise<boolean> {
    const { clock, log, onTaken } = this.#options
    const { signal } = this.#closing
    const lostMs = clock.monotonicMs()
    let loggedMs = Number.NEGATIVE_INFINITY
    while (!signal.aborted) {
      const found = await attemptAgain(this.#options).catch((cause: unknown) => unreachable(this.#options.url, cause))
      if ('client' in found) {
        this.#client = found.client
        this.#provedMs = found.atMs
        this.#isLost = false
        log.info('the database is held again')
        return true
      }
      if (found instanceof DatabaseHeld || found instanceof SchemaMismatch) {
        onTaken(found)
        return false
      }
      const now = clock.monotonicMs()
      if (now - loggedMs >= LOG_MS) {
        loggedMs = now
        log.warn('the database cannot be held again yet', { why: found.message, seconds: Math.round((now - lostMs) / 1_000) })
      }
      await clock.sleep(RETRY_MS, signal).catch(() => undefined)
    }
    return false
  }
}

function silenceOf({ silenceMs = SILENCE_MS }: SoleOptions): number {
  return silenceMs
}

/** One try: a connection that holds the lock, or the reason why not. */
async function attempt(options: SoleOptions): Promise<Hold | DatabaseHeld> {
  const client = new Client({
    connectionString: options.url,
    application_name: options.name.slice(0, SESSION_NAME_MAX),
    options: `-c idle_session_timeout=${silenceOf(options)}`,
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    query_timeout: ANSWER_MS_MAX
  })
  client.on('error', () => undefined) // its end is listened for
  try {
    await client.connect()
    let atMs = options.clock.monotonicMs()
    if (await locks(client, options)) return { client, atMs }
    const holder = await holderOf(client)
    if (holder?.name === options.name.slice(0, SESSION_NAME_MAX)) {
      // Our own earlier session, which the server has not ended yet.
      await client.query('select pg_terminate_backend($1)', [holder.pid])
      atMs = options.clock.monotonicMs()
      if (await locks(client, options, RETRY_MS)) return { client, atMs }
    }
    await client.end()
    return new DatabaseHeld(
      `The database at ${databaseAddressOf(options.url)} is held by another process${holder === null ? '' : ` (${holder.name}${holder.from === null ? '' : `, from ${holder.from}`}, since ${holder.since})`}. ` +
        (options.isShared === true
          ? 'That process runs alone: start it with TRUNKLINE_NATS_URL, or stop it first.'
          : 'Stop that one first, or start all with TRUNKLINE_NATS_URL, as nodes of a cluster.')
    )
  } catch (cause) {
    await client.end().catch(() => undefined)
    throw cause
  }
}

/** The same for a process that had the lock. The database may have been migrated meanwhile, by a newer one that did not see this one. */
async function attemptAgain(options: SoleOptions): Promise<Hold | DatabaseHeld | SchemaMismatch> {
  const found = await attempt(options)
  if (!('client' in found)) return found
  const { client } = found
  try {
    const newer = await breakingSince(client, options.schema)
    if (newer === null) return found
    await client.end()
    return tooNew(newer)
  } catch (cause) {
    await client.end().catch(() => undefined)
    throw cause
  }
}

const NO_SUCH_TABLE = '42P01'

/** The first migration of newer programs that this one cannot work with. Waits for a migration that is under way. */
async function breakingSince(client: Client, schema: number): Promise<Pick<Migration, 'number' | 'name'> | null> {
  await client.query('select pg_advisory_lock_shared($1)', [MIGRATION_LOCK])
  const newer = 'select number, name from schema_migrations where breaking and number > $1 order by number limit 1'
  const found = await client.query<Pick<Migration, 'number' | 'name'>>(newer, [schema]).catch((cause: unknown) => {
    // It was lost before this process made the schema.
    if (cause instanceof DatabaseError && cause.code === NO_SUCH_TABLE) return { rows: [] }
    throw cause
  })
  await client.query('select pg_advisory_unlock_shared($1)', [MIGRATION_LOCK])
  return found.rows[0] ?? null
}

const TRY = { sole: 'select pg_try_advisory_lock($1, $2) as held', shared: 'select pg_try_advisory_lock_shared($1, $2) as held' } as const
const WAIT = { sole: 'select pg_advisory_lock($1, $2)', shared: 'select pg_advisory_lock_shared($1, $2)' } as const

async function locks(client: Client, { isShared = false }: SoleOptions, waitMs = 0): Promise<boolean> {
  const kind = isShared ? 'shared' : 'sole'
  if (waitMs === 0) {
    const { rows } = await client.query<{ held: boolean }>(TRY[kind], [...LOCK])
    return rows[0]?.held === true
  }
  await client.query(`set lock_timeout = ${waitMs}`)
  return client.query(WAIT[kind], [...LOCK]).then(
    () => true,
    (cause: unknown) => {
      if (cause instanceof DatabaseError && cause.code === LOCK_NOT_AVAILABLE) return false
      throw cause
    }
  )
}
const LOCK_NOT_AVAILABLE = '55P03'

interface Holder {
  readonly pid: number
  readonly name: string
  readonly from: string | null
  readonly since: string
}

async function holderOf(client: Client): Promise<Holder | null> {
  const { rows } = await client.query<Holder>(
    `select a.pid, coalesce(nullif(a.application_name, ''), 'unnamed') as name, host(a.client_addr) as from, to_char(a.backend_start at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since
       from pg_locks l join pg_stat_activity a on a.pid = l.pid
      where l.locktype = 'advisory' and l.granted and l.classid = $1 and l.objid = $2 and l.objsubid = 2
        and l.database = (select oid from pg_database where datname = current_database())`,
    [...LOCK]
  )
  return rows[0] ?? null
}

const OTHERS = `select coalesce(nullif(a.application_name, ''), 'unnamed') as name
  from pg_locks l join pg_stat_activity a on a.pid = l.pid
  where l.locktype = 'advisory' and l.granted and l.classid = $1 and l.objid = $2 and l.objsubid = 2 and l.pid <> pg_backend_pid()
    and l.database = (select oid from pg_database where datname = current_database())
  order by 1`

function endOf(client: Client): AbortSignal {
  const ended = new AbortController()
  client.once('end', () => ended.abort())
  return ended.signal
}

/** Whether waiting can help: the server is unreachable, starting, or full. A wrong password or name stays wrong. */
function isTransient(cause: unknown): boolean {
  if (cause instanceof DatabaseError) return /^(?:08|53|57P)/.test(cause.code ?? '')
  return beforeCommit(cause) instanceof StoreUnavailable
}

function unreachable(url: string, cause: unknown): StoreUnavailable {
  return new StoreUnavailable(`PostgreSQL at ${databaseAddressOf(url)} (TRUNKLINE_DATABASE_URL) cannot be reached: ${messageOf(cause)}`, {
    cause
  })
}

function refused(url: string, cause: unknown): Error {
  return new StoreUnavailable(`PostgreSQL at ${databaseAddressOf(url)} (TRUNKLINE_DATABASE_URL) refuses the service: ${messageOf(cause)}`, {
    cause
  })
}

/** An address with several IP addresses fails once for each; the message is in the first failure. */
function messageOf(cause: unknown): string {
  const first: unknown = cause instanceof AggregateError ? cause.errors[0] : cause
  return first instanceof Error ? first.message : String(first)
}
