/** Caches which statements the engine has parsed, so that the text of a frequent statement is sent and analysed once. */
import type { Column, Encoding, Reply } from './wire.ts'

/** A statement's use: how to send it, and what to do with the answer. */
export interface Use {
  readonly encoding: Encoding
  /** Columns known from an earlier use; null when the answer describes them. */
  readonly columns: readonly Column[] | null
  settle(reply: Reply): void
}

/** One prepared statement. A name is never reused, so dropping it is safe at any time. */
interface Prepared {
  readonly name: string
  state: 'sent' | 'ready'
  columns: readonly Column[] | null
}

/** A cache of prepared statements; the least recently used is dropped first. */
export class Statements {
  readonly #max: number
  readonly #prepared = new Map<string, Prepared>()
  #forgotten: string[] = []
  #made = 0

  constructor(max: number) {
    this.#max = max
  }

  get size(): number {
    return this.#prepared.size
  }

  use(sql: string): Use {
    const known = this.#prepared.get(sql)
    // A second use before the first answer cannot rely on the name: the parse may fail.
    if (known?.state === 'sent') return { encoding: { name: '', parse: true, forget: [] }, columns: null, settle: () => undefined }
    if (known !== undefined) {
      this.#prepared.delete(sql)
      this.#prepared.set(sql, known)
      return {
        encoding: { name: known.name, parse: false, forget: this.#take() },
        columns: known.columns,
        settle: reply => this.#check(reply)
      }
    }
    const made: Prepared = { name: `t${++this.#made}`, state: 'sent', columns: null }
    this.#prepared.set(sql, made)
    this.#evict()
    return {
      encoding: { name: made.name, parse: true, forget: this.#take() },
      columns: null,
      settle: reply => this.#settle(sql, made, reply)
    }
  }

  /** Drops everything: after a change of the schema a cached plan or column type may be wrong. */
  clear(): void {
    for (const { name, state } of this.#prepared.values()) if (state === 'ready') this.#forgotten.push(name)
    this.#prepared.clear()
  }

  #settle(sql: string, made: Prepared, reply: Reply): void {
    const current = this.#prepared.get(sql) === made
    if (reply.parsed && current && reply.error === null) {
      made.state = 'ready'
      made.columns = reply.columns ?? []
      return
    }
    if (current) this.#prepared.delete(sql)
    if (reply.parsed) this.#forgotten.push(made.name)
  }

  #check(reply: Reply): void {
    if (reply.error?.code === PLAN_CHANGED) this.clear()
  }

  #evict(): void {
    for (const [sql, { name, state }] of this.#prepared) {
      if (this.#prepared.size <= this.#max) return
      this.#prepared.delete(sql)
      if (state === 'ready') this.#forgotten.push(name)
    }
  }

  /** Names to close, a few at a time so that no single statement pays for a whole clear(). */
  #take(): readonly string[] {
    return this.#forgotten.splice(0, 8)
  }
}

/** feature_not_supported, with which PostgreSQL says that "cached plan must not change result type". */
const PLAN_CHANGED = '0A000'
