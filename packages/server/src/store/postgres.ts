// PostgreSQL under Kysely: a bounded pool whose statements are prepared once per connection, and the check that commits are durable.
import { setTimeout } from 'node:timers/promises'
import type { Log } from '@trunkline/core/ports/log'
import { StoreUnavailable } from '@trunkline/core/ports/store'
import { type Dialect, type Kysely, PostgresDialect, type PostgresPoolClient, type PostgresQueryResult, sql } from 'kysely'
import { Pool, type PoolClient } from 'pg'
import type { Database } from './database.ts'
import { beforeCommit, isRefusal } from './faults.ts'
import { TYPES } from './types.ts'

/** Callers that may wait for a connection, per connection of the pool; further ones are refused as unavailable. */
const WAITING_PER_CONNECTION_MAX = 200
const CONNECT_MS_MAX = 5_000
const STATEMENT_MS_MAX = 60_000
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
/** How long connections may take to close at the end. */
const END_MS_MAX = 5_000
/**
 * Different statement texts prepared on one connection. Ours are far fewer; the bound limits the effect of a mistake on the server's
 * memory.
 */
const PREPARED_MAX = 500

export interface PoolStats {
  readonly connections: number
  readonly idle: number
  readonly waiting: number
}

export interface PostgresEngine {
  readonly dialect: Dialect
  stats(): PoolStats
}

export function createPostgresEngine(options: { readonly url: string; readonly poolMax: number; readonly log: Log }): PostgresEngine {
  const pool = new Pool({
    connectionString: options.url,
    max: options.poolMax,
    application_name: 'trunkline',
    // Instants and days are exchanged as texts, so their form must not depend on the server's settings. JIT costs more than any of our
    // statements.
    options: '-c timezone=UTC -c datestyle=ISO -c jit=off -c extra_float_digits=1',
    types: TYPES,
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    statement_timeout: STATEMENT_MS_MAX,
    lock_timeout: 5_000,
    idle_in_transaction_session_timeout: STATEMENT_MS_MAX,
    // Each statement names its own.
    query_timeout: ANSWER_MS_MAX
  })
  // An idle connection that is lost is replaced at its next use; without a listener it would end the process.
  pool.on('error', cause => options.log.warn('an idle database connection was lost', { cause: cause.message }))
  const prepared = new PreparingPool(pool, options.poolMax * WAITING_PER_CONNECTION_MAX)
  return {
    dialect: new PostgresDialect({ pool: prepared }),
    stats: () => ({ connections: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount })
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
  readonly #clients = new WeakMap<PoolClient, PreparingClient>()
  readonly #names = new Map<string, string>()

  constructor(pool: Pool, waitingMax: number) {
    this.#pool = pool
    this.#waitingMax = waitingMax
    this.options = pool.options
  }

  async connect(): Promise<PostgresPoolClient> {
    if (this.#pool.waitingCount >= this.#waitingMax) throw new StoreUnavailable('Too many requests are waiting for the database.')
    const client = await this.#pool.connect().catch((cause: unknown) => {
      throw beforeCommit(cause)
    })
    const known = this.#clients.get(client)
    if (known !== undefined) return known
    const made = new PreparingClient(client, this.#names)
    this.#clients.set(client, made)
    return made
  }

  /** Closes all connections. A silent one never closes, and ends with the process. */
  async end(): Promise<void> {
    await Promise.race([this.#pool.end(), setTimeout(END_MS_MAX, undefined, { ref: false })])
  }
}

/** One connection: a statement with parameters is parsed and planned once, under a name that follows from its text. */
class PreparingClient implements PostgresPoolClient {
  readonly #client: PoolClient
  readonly #names: Map<string, string>
  #lost = false

  constructor(client: PoolClient, names: Map<string, string>) {
    this.#client = client
    this.#names = names
    // The query fails as well, and reports the loss to its caller.
    client.on('error', () => {
      this.#lost = true
    })
  }

  query<R>(sql: string, parameters: ReadonlyArray<unknown>): Promise<PostgresQueryResult<R>>
  query(): never
  async query(sql?: string, parameters?: ReadonlyArray<unknown>): Promise<unknown> {
    if (sql === undefined || parameters === undefined) throw new TypeError('cursors are not used')
    // Otherwise the rollback on a lost connection would wait as long again.
    if (this.#lost) throw new Error('Connection terminated: an earlier statement had no answer')
    const name = parameters.length === 0 ? undefined : this.#nameOf(sql)
    // The driver's types lack a statement's own time limit.
    const limited = { text: sql, query_timeout: answerMsOf(sql) }
    const configured = name === undefined ? limited : { ...limited, name, values: [...parameters] }
    try {
      return await this.#client.query(configured)
    } catch (error) {
      // Anything but a plain refusal ends the session, or leaves it in an unknown state.
      if (!isRefusal(error)) this.#lost = true
      throw error
    }
  }

  release(destroy = false): void {
    this.#client.release(destroy || this.#lost)
  }

  #nameOf(sql: string): string | undefined {
    const known = this.#names.get(sql)
    if (known !== undefined || this.#names.size >= PREPARED_MAX) return known
    const name = `t${this.#names.size + 1}`
    this.#names.set(sql, name)
    return name
  }
}
