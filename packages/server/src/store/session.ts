// Access of all parts of the store to the database: reads, transactions and single writing statements, with classified errors.
import type { UserKey } from '@trunkline/core/domain/ids'
import { StoreUnavailable } from '@trunkline/core/ports/store'
import type { Kysely, Transaction } from 'kysely'
import type { Database } from './database.ts'
import { aroundCommit, beforeCommit, isTransient } from './faults.ts'
import type { RunStatement } from './postgres.ts'
import { FenceLost, type FenceOf, type Fences, fenced, fencedWrite, fencesOf, holdsFences } from './writes/fences.ts'

const TRIES_MAX = 4

export class Session {
  readonly #db: Kysely<Database>
  /** Runs handwritten statements, past the query builder. */
  readonly #run: RunStatement
  readonly #assertMayWrite: () => void
  readonly #fenceOf: FenceOf | null
  /** Statements with their condition, by the statement without. */
  readonly #fenced = new Map<string, string>()
  #closed = false

  /**
   * @param assertMayWrite throws StoreUnavailable while another process may have the database
   * @param fenceOf null: this process owns every user
   */
  constructor(
    { db, run }: { readonly db: Kysely<Database>; readonly run: RunStatement },
    assertMayWrite: () => void = () => undefined,
    fenceOf: FenceOf | null = null
  ) {
    this.#fenceOf = fenceOf
    this.#db = db
    this.#run = run
    this.#assertMayWrite = assertMayWrite
  }

  /** @throws StoreUnavailable if the database does not answer. */
  async read<T>(work: (db: Kysely<Database>) => Promise<T>): Promise<T> {
    this.#assertOpen()
    try {
      return await work(this.#db)
    } catch (cause) {
      throw beforeCommit(cause)
    }
  }

  /** Rows of a handwritten reading statement. The caller is responsible for the row's type. */
  rows<Row>(sql: string, parameters: readonly unknown[]): Promise<readonly Row[]> {
    return this.read(() => this.#run<Row>(sql, parameters))
  }

  /** A single statement as a transaction. @throws CommitUnknown, StoreUnavailable */
  async statement<Row>(sql: string, parameters: readonly unknown[]): Promise<readonly Row[]> {
    this.#assertOpen()
    this.#assertMayWrite()
    try {
      return await this.#run<Row>(sql, parameters)
    } catch (cause) {
      throw aroundCommit(cause)
    }
  }

  /**
   * A statement that calls a function which writes for these users, as their owner.
   * @throws FenceLost if another node owns one of them, CommitUnknown, StoreUnavailable
   */
  async ownedStatement<Row>(sql: string, parameters: readonly unknown[], users: readonly UserKey[]): Promise<readonly Row[]> {
    if (this.#fenceOf === null) return this.statement(sql, parameters)
    return this.#fencedStatement(sql, parameters, fencesOf(users, this.#fenceOf), fenced)
  }

  /**
   * A statement that writes for the user by itself, as its owner, with the condition {@link OWNED}.
   * @throws FenceLost if another node owns the user, CommitUnknown, StoreUnavailable
   */
  async ownedWrite(sql: string, parameters: readonly unknown[], userKey: UserKey): Promise<void> {
    if (this.#fenceOf === null) await this.statement(sql, parameters)
    else await this.#fencedStatement(sql, parameters, fencesOf([userKey], this.#fenceOf), fencedWrite)
  }

  async #fencedStatement<Row>(
    sql: string,
    parameters: readonly unknown[],
    { partitions, fences }: Fences,
    make: typeof fenced
  ): Promise<readonly Row[]> {
    const text = this.#fenced.get(sql) ?? make(sql, parameters.length)
    this.#fenced.set(sql, text)
    const rows = await this.statement<Row>(text, [...parameters, partitions, fences])
    if (rows.length === 0) throw new FenceLost()
    return rows
  }

  /**
   * One transaction; repeated after a conflict with another. `work` touches nothing but the database.
   * @throws CommitUnknown, StoreUnavailable
   */
  async write<T>(work: (trx: Transaction<Database>) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      this.#assertOpen()
      this.#assertMayWrite()
      let worked = false
      try {
        return await this.#db.transaction().execute(async trx => {
          const value = await work(trx)
          // The database lock may have been lost meanwhile: then nothing is committed.
          this.#assertMayWrite()
          worked = true
          return value
        })
      } catch (cause) {
        if (isTransient(cause) && tries < TRIES_MAX) continue
        throw worked ? aroundCommit(cause) : beforeCommit(cause)
      }
    }
  }

  /** The fence under which this node writes for the user now; null if it may not. */
  fenceOf(userKey: UserKey): number | null {
    return this.#fenceOf === null ? 0 : this.#fenceOf(userKey)
  }

  /**
   * Within a transaction of {@link write} that this node may make only as the user's owner: nobody else becomes the owner before the
   * transaction ends, or has become it since the node had `fence`. @throws FenceLost
   */
  async demandOwned(trx: Transaction<Database>, userKey: UserKey, fence = this.fenceOf(userKey)): Promise<void> {
    if (this.#fenceOf === null) return
    if (
      !(await holdsFences(
        trx,
        fencesOf([userKey], () => fence)
      ))
    )
      throw new FenceLost()
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await this.#db.destroy()
  }

  #assertOpen(): void {
    if (this.#closed) throw new StoreUnavailable('The store is closed.')
  }
}
