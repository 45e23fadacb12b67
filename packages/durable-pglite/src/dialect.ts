/** Kysely over the embedded database: transactions share commits, and results equal those of `pg`. */
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryCompiler,
  type QueryResult,
  type TransactionSettings
} from 'kysely'
import type { EmbeddedDatabase, EmbeddedTransaction, Result } from './database.ts'
import { TransactionAborted } from './member.ts'

/** A dialect over an open database; destroying the Kysely closes it. */
export function embeddedDialect(database: EmbeddedDatabase): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new EmbeddedDriver(database),
    createIntrospector: (db: Kysely<unknown>) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler()
  }
}

/** The rows of a single statement, past the query builder. */
export async function embeddedRows(database: EmbeddedDatabase, sql: string, values: readonly unknown[]): Promise<Result['rows']> {
  try {
    return (await database.query(sql, values)).rows
  } catch (error) {
    throw withCaller(error)
  }
}

class EmbeddedDriver implements Driver {
  readonly #database: EmbeddedDatabase

  constructor(database: EmbeddedDatabase) {
    this.#database = database
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<EmbeddedConnection> {
    return new EmbeddedConnection(this.#database)
  }

  async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    own(connection).begin(settings.accessMode === 'read only')
  }

  commitTransaction(connection: DatabaseConnection): Promise<void> {
    return own(connection).commit()
  }

  rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    return own(connection).rollback()
  }

  async savepoint(connection: DatabaseConnection, name: string, _compile: QueryCompiler['compileQuery']): Promise<void> {
    await own(connection).query(`savepoint ${quoted(name)}`)
  }

  async rollbackToSavepoint(connection: DatabaseConnection, name: string, _compile: QueryCompiler['compileQuery']): Promise<void> {
    await own(connection).query(`rollback to ${quoted(name)}`)
  }

  async releaseSavepoint(connection: DatabaseConnection, name: string, _compile: QueryCompiler['compileQuery']): Promise<void> {
    await own(connection).query(`release ${quoted(name)}`)
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    await own(connection).rollback()
  }

  destroy(): Promise<void> {
    return this.#database.close()
  }
}

/** A connection costs nothing: the engine is shared, only an open transaction is not. */
class EmbeddedConnection implements DatabaseConnection {
  readonly #database: EmbeddedDatabase
  #transaction: EmbeddedTransaction | null = null

  constructor(database: EmbeddedDatabase) {
    this.#database = database
  }

  begin(readOnly: boolean): void {
    this.#transaction = this.#database.transaction({ readOnly })
  }

  query(sql: string, values: readonly unknown[] = []): Promise<Result> {
    return (this.#transaction ?? this.#database).query(sql, values)
  }

  async commit(): Promise<void> {
    const transaction = this.#transaction
    this.#transaction = null
    try {
      await transaction?.commit()
    } catch (error) {
      throw error instanceof TransactionAborted ? Object.assign(error, { [KYSELY_ABORTED]: true }) : error
    }
  }

  async rollback(): Promise<void> {
    const transaction = this.#transaction
    this.#transaction = null
    await transaction?.rollback()
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>>
  async executeQuery(query: CompiledQuery): Promise<QueryResult<unknown>> {
    try {
      const { command, rowCount, rows } = await this.query(query.sql, query.parameters)
      return COUNTED.has(command) && rowCount !== null ? { numAffectedRows: BigInt(rowCount), rows } : { rows }
    } catch (error) {
      throw withCaller(error)
    }
  }

  // biome-ignore lint/correctness/useYield: the interface wants a generator, and there is nothing to give
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('the embedded database does not stream results; page through them by key')
  }
}

/** The error was read in another turn of the event loop; otherwise its stack would lack the caller. */
function withCaller(error: unknown): unknown {
  if (error instanceof Error) error.stack = `${error.stack ?? error.message}\n${new Error().stack?.split('\n').slice(2).join('\n') ?? ''}`
  return error
}

const COUNTED = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE'])

/** Tells Kysely that a commit rolled back, so that it does not roll back again. */
const KYSELY_ABORTED = Symbol.for('kysely.AbortedTransactionError')

function own(connection: DatabaseConnection): EmbeddedConnection {
  if (connection instanceof EmbeddedConnection) return connection
  throw new Error('a connection of another driver was given to the embedded driver')
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
