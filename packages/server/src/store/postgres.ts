// PostgreSQL under Kysely: a bounded pool whose statements are prepared once per connection, and the check that commits are durable.
import { setTimeout } from 'node:timers/promises'
import type { Log } from '@trunkline/core/ports/log'
import { StoreUnavailable } from '@trunkline/core/ports/store'
import { type Dialect, type Kysely, PostgresDialect, type PostgresPoolClient, type PostgresQueryResult, sql } from 'kysely'
import { DatabaseError, Pool, type PoolClient, type QueryResult } from 'pg'
import type { Database } from './database.ts'
import { beforeCommit, endedIdle, isOutdated, isRefusal } from './faults.ts'
import { columnsOf, type Known, KnownStatement, type Row, sentOf } from './known-statement.ts'
import { TYPES } from './types.ts'

/** Callers that may wait for a connection, per connection of the pool; further ones are refused as unavailable. */
const WAITING_PER_CONNECTION_MAX = 200
const CONNECT_MS_MAX = 5_000
const STATEMENT_MS_MAX = 60_000
/**
 * How long a transaction may wait for the next statement of a node. While it is open, no other node can claim the user's partition, so it
 * ends before the lease of a node that is frozen or cut off does. The transaction of a node that was only busy is repeated.
 */
const NODE_IDLE_MS_MAX = 2_000
/**
 * When the server gives up a connection that nothing comes back on: where the link is cut between a statement and the end of its
 * transaction, or while an answer is being sent, the server is not idle. Where the server's system cannot do this, it ignores it.
 */
const NODE_TCP = '-c tcp_keepalives_idle=2 -c tcp_keepalives_interval=1 -c tcp_keepalives_count=2 -c tcp_user_timeout=3000'
/**
 * The longest wait for an answer, so that a silent connection is noticed. A read without an answer is unavailable; a write has then an
 * unknown outcome. Both are above the five seconds of `lock_timeout`, after which the server itself answers, and together far below the 60
 * s of HTTP clients and servers.
 */
const READ_MS_MAX = 10_000
const WRITE_MS_MAX = 15_000
/** Of other statements: above every limit of the server. */
const ANSWER_MS_MAX = 70_000
/** Of a migration's statement, which may rewrite a large table. It is marked by a comment. */
const MIGRATION_MS_MAX = 6 * 3_600_000
const READS =
  /^\s*(?:select|values|table|show|begin|start|rollback|savepoint|release|set|with\b(?![\s\S]*\b(?:insert|update|delete|merge)\b))\b/i
const MIGRATES = /^\/\* migration \*\//
const WRITES = /^\s*(?:\/\* writes \*\/|insert|update|delete|merge|with|lock|commit)/i

/** @returns the longest wait for the answer to a statement, in milliseconds. */
export function answerMsOf(sql: string): number {
  if (READS.test(sql)) return READ_MS_MAX
  if (MIGRATES.test(sql)) return MIGRATION_MS_MAX
  return WRITES.test(sql) ? WRITE_MS_MAX : ANSWER_MS_MAX
}
/** How the query builder begins and ends transactions. */
const TRANSACTION = /^(?:begin|start transaction|commit$|rollback$)/i
const BEGINS = /^(?:begin|start)/i
/** How long connections may take to close at the end. */
const END_MS_MAX = 5_000
/**
 * Different statement texts prepared on one connection. Ours are far fewer; the bound limits the effect of a mistake on the server's
 * memory.
 */
const PREPARED_MAX = 500
/** Free connections that stay out of the driver's pool, which sets and clears two timers whenever one is taken and given back. */
const KEPT_MAX = 4

export interface PoolStats {
  readonly connections: number
  readonly idle: number
  readonly waiting: number
}

/** Runs a handwritten statement as it is, by itself. The caller is responsible for the rows' type. */
export type RunStatement = <Found>(sql: string, parameters: readonly unknown[]) => Promise<readonly Found[]>

export interface PostgresEngine {
  readonly dialect: Dialect
  readonly run: RunStatement
  stats(): PoolStats
}

export interface PostgresOptions {
  readonly url: string
  readonly poolMax: number
  /** Whether it is for a node of a cluster, which others must be able to follow soon. */
  readonly isNode?: boolean
}

export function createPostgresEngine(options: PostgresOptions & { readonly log: Log }): PostgresEngine {
  const { isNode = false } = options
  const pool = new Pool({
    connectionString: options.url,
    max: options.poolMax,
    application_name: 'trunkline',
    // Instants and days are exchanged as texts, so their form must not depend on the server's settings. JIT costs more than any of our
    // statements.
    options: `-c timezone=UTC -c datestyle=ISO -c jit=off -c extra_float_digits=1${isNode ? ` ${NODE_TCP}` : ''}`,
    types: TYPES,
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    statement_timeout: STATEMENT_MS_MAX,
    lock_timeout: 5_000,
    idle_in_transaction_session_timeout: isNode ? NODE_IDLE_MS_MAX : STATEMENT_MS_MAX,
    // Each statement names its own.
    query_timeout: ANSWER_MS_MAX
  })
  // An idle connection that is lost is replaced at its next use; without a listener it would end the process.
  pool.on('error', cause => options.log.warn('an idle database connection was lost', { cause: cause.message }))
  const waitingMax = options.poolMax * WAITING_PER_CONNECTION_MAX
  const prepared = new PreparingPool(pool, { waitingMax, keptMax: Math.min(KEPT_MAX, Math.floor(options.poolMax / 2)) })
  return {
    dialect: new PostgresDialect({ pool: prepared }),
    run: (sql, parameters) => prepared.run(sql, parameters),
    stats: () => ({ connections: pool.totalCount, idle: pool.idleCount + prepared.kept, waiting: pool.waitingCount })
  }
}

const DURABILITY = ['fsync', 'full_page_writes', 'synchronous_commit']

/** Settings of our sessions that may lose a confirmed commit: `fsync is off`. Empty if there are none. */
export async function durabilityFaults(db: Kysely<Database>): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string; setting: string }>`
    select name, setting from pg_settings where name = any (${DURABILITY}::text[])`.execute(db)
  return DURABILITY.flatMap(name => {
    const setting = rows.find(row => row.name === name)?.setting ?? 'unknown'
    return setting === 'off' || setting === 'unknown' ? [`${name} is ${setting}`] : []
  })
}

class PreparingPool {
  readonly options: object
  readonly #pool: Pool
  readonly #waitingMax: number
  readonly #keptMax: number
  readonly #clients = new WeakMap<PoolClient, PreparingClient>()
  readonly #names = new StatementNames()
  /** The last one is the last that was used. */
  readonly #kept: PreparingClient[] = []
  #ended = false

  constructor(pool: Pool, limits: { readonly waitingMax: number; readonly keptMax: number }) {
    this.#pool = pool
    this.#waitingMax = limits.waitingMax
    this.#keptMax = limits.keptMax
    this.options = pool.options
    // At once, because it listens for the loss of its connection: a server that stops may end one right behind its greeting, before the
    // caller that waits for it goes on.
    pool.on('connect', client => this.#prepare(client))
  }

  get kept(): number {
    return this.#kept.length
  }

  async connect(): Promise<PreparingClient> {
    return this.#kept.pop() ?? (await this.#connect())
  }

  /** A statement by itself, past the query builder. */
  async run<Found>(sql: string, parameters: readonly unknown[]): Promise<readonly Found[]> {
    const client = this.#kept.pop() ?? (await this.#connect())
    try {
      return (await client.rows(sql, parameters)) as readonly Found[]
    } finally {
      client.release()
    }
  }

  /** Closes all connections. A silent one never closes, and ends with the process. */
  async end(): Promise<void> {
    this.#ended = true
    for (const client of this.#kept.splice(0)) client.release()
    await Promise.race([this.#pool.end(), setTimeout(END_MS_MAX, undefined, { ref: false })])
  }

  async #connect(): Promise<PreparingClient> {
    if (this.#pool.waitingCount >= this.#waitingMax) throw new StoreUnavailable('Too many requests are waiting for the database.')
    const client = await this.#pool.connect().catch((cause: unknown) => {
      throw beforeCommit(cause)
    })
    return this.#clients.get(client) ?? this.#prepare(client)
  }

  #prepare(client: PoolClient): PreparingClient {
    const made = new PreparingClient(client, {
      names: this.#names,
      keep: () => this.#keep(made),
      lost: () => this.#drop(made)
    })
    this.#clients.set(client, made)
    return made
  }

  /** Whether the connection stays here. The pool must have it if somebody waits there. */
  #keep(client: PreparingClient): boolean {
    if (this.#ended || this.#kept.length >= this.#keptMax || this.#pool.waitingCount > 0) return false
    this.#kept.push(client)
    return true
  }

  /** A kept connection that was lost goes back to the pool, which replaces it. */
  #drop(client: PreparingClient): void {
    const at = this.#kept.indexOf(client)
    if (at === -1) return
    this.#kept.splice(at, 1)
    client.release()
  }
}

/** The names under which the connections of a pool prepare statements. */
class StatementNames {
  readonly #names = new Map<string, string>()
  #count = 0
  /** Grows when all names are replaced. */
  generation = 0

  of(sql: string): string | undefined {
    const known = this.#names.get(sql)
    if (known !== undefined || this.#names.size >= PREPARED_MAX) return known
    this.#count += 1
    const name = `t${this.#count}`
    this.#names.set(sql, name)
    return name
  }

  /** Every statement is prepared again, on each connection. What is prepared under earlier names stays there, unused. */
  renew(): void {
    this.#names.clear()
    this.generation += 1
  }
}

/** What a connection reports to its pool. */
interface ClientsPool {
  readonly names: StatementNames
  /** It is free: whether it stays out of the driver's pool. */
  keep(): boolean
  lost(): void
}

/** One connection: a statement with parameters is parsed and planned once, under a name that follows from its text. */
class PreparingClient implements PostgresPoolClient {
  readonly #client: PoolClient
  readonly #pool: ClientsPool
  /** The statements that it has prepared, by their texts. */
  readonly #known = new Map<string, Known>()
  /** Those are of these names. */
  #generation = 0
  #lost = false
  /** Why, if the server has said so while nothing was asked. */
  #lostBecause: DatabaseError | null = null
  #isInTransaction = false

  constructor(client: PoolClient, pool: ClientsPool) {
    this.#client = client
    this.#pool = pool
    // The query fails as well, and reports the loss to its caller.
    client.on('error', cause => {
      this.#lost = true
      if (cause instanceof DatabaseError) this.#lostBecause ??= cause
      pool.lost()
    })
  }

  query<R>(sql: string, parameters: ReadonlyArray<unknown>): Promise<PostgresQueryResult<R>>
  query(): never
  async query(sql?: string, parameters?: ReadonlyArray<unknown>): Promise<unknown> {
    if (sql === undefined || parameters === undefined) throw new TypeError('cursors are not used')
    return await this.#guarded(() => this.#query(sql, parameters))
  }

  /** The rows of a statement, with the least work: once it is known here, nothing but its values is sent. */
  async rows(sql: string, parameters: readonly unknown[]): Promise<readonly Row[]> {
    return await this.#guarded(async () => {
      const { generation } = this.#pool.names
      if (generation !== this.#generation) {
        this.#generation = generation
        this.#known.clear()
      }
      const known = this.#known.get(sql)
      const values = known === undefined ? null : sentOf(parameters)
      if (known !== undefined && values !== null)
        return await new Promise<readonly Row[]>((resolve, reject) => {
          this.#client.query(
            new KnownStatement(known, values, (error, rows = []) => {
              if (error === null) resolve(rows)
              else reject(error)
            })
          )
        })
      const { rows, fields } = await this.#query(sql, parameters)
      const name = parameters.length === 0 || generation !== this.#pool.names.generation ? undefined : this.#pool.names.of(sql)
      if (name !== undefined) this.#known.set(sql, { name, columns: columnsOf(fields), answerMs: answerMsOf(sql) })
      return rows
    })
  }

  release(destroy = false): void {
    if (destroy || this.#lost || !this.#pool.keep()) this.#client.release(destroy || this.#lost)
  }

  #query(sql: string, parameters: readonly unknown[]): Promise<QueryResult<Row>> {
    if (parameters.length === 0 && TRANSACTION.test(sql)) this.#isInTransaction = BEGINS.test(sql)
    const name = parameters.length === 0 ? undefined : this.#pool.names.of(sql)
    // The driver's types lack a statement's own time limit.
    const limited = { text: sql, query_timeout: answerMsOf(sql) }
    return this.#client.query(name === undefined ? limited : { ...limited, name, values: [...parameters] })
  }

  async #guarded<T>(work: () => Promise<T>, isAgain = false): Promise<T> {
    // Otherwise the rollback on a lost connection would wait as long again.
    if (this.#lost) throw this.#lostBecause ?? new Error('Connection terminated: an earlier statement had no answer')
    try {
      return await work()
    } catch (error) {
      if (isOutdated(error)) {
        this.#pool.names.renew()
        // A transaction has failed; who began it begins it again.
        if (!isAgain && !this.#isInTransaction) return await this.#guarded(work, true)
      }
      // Anything but a plain refusal ends the session, or leaves it in an unknown state.
      if (!isRefusal(error)) this.#lost = true
      if (endedIdle(error)) this.#lostBecause ??= error
      // The driver makes it where the answer is read. Its callers are known only here.
      if (error instanceof DatabaseError) Error.captureStackTrace(error)
      throw error
    }
  }
}
