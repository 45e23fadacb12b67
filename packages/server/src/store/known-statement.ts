// A statement that its connection has prepared and described before: only its values are sent, and only its rows come back.
import type { Connection, FieldDef } from 'pg'
import { TYPES } from './types.ts'

/** A column of a statement's rows, as the database described it. */
export interface Column {
  readonly name: string
  read(text: string): unknown
}

export function columnsOf(fields: readonly FieldDef[]): readonly Column[] {
  return fields.map(({ name, dataTypeID }) => ({ name, read: TYPES.getTypeParser(dataTypeID, 'text') }))
}

/** What a connection knows of a statement that it has prepared. */
export interface Known {
  /** Under which it is prepared. */
  readonly name: string
  readonly columns: readonly Column[]
  /** The longest wait for the answer. */
  readonly answerMs: number
}

/** A value as the protocol takes it: a text, or bytes in the type's binary form. */
export type Sent = string | Buffer | null

/** The values as the driver would send them; null if one needs the driver's own conversion, as lists of texts do. */
export function sentOf(values: readonly unknown[]): Sent[] | null {
  const sent: Sent[] = []
  for (const value of values) {
    if (value === null || typeof value === 'string' || Buffer.isBuffer(value)) sent.push(value)
    else if (typeof value === 'number' || typeof value === 'boolean') sent.push(String(value))
    // The fences of a node of a cluster are such lists.
    else if (Array.isArray(value) && value.every(member => typeof member === 'number')) sent.push(`{${value.join(',')}}`)
    else return null
  }
  return sent
}

export type Row = Record<string, unknown>

/**
 * The driver's protocol for a query of its user (as cursors are): it submits it when the connection is free, and reports what comes.
 * The database refuses a statement whose columns have changed since they were described.
 */
export class KnownStatement {
  readonly name: string
  /** Read by the driver: the longest wait for the answer, in milliseconds. */
  readonly query_timeout: number
  /** Called once, by the driver's limit too; the driver replaces it. */
  callback: (error: Error | null, rows?: readonly Row[]) => void
  readonly #columns: readonly Column[]
  readonly #values: Sent[]
  readonly #rows: Row[] = []
  #unreadable: Error | null = null

  constructor({ name, columns, answerMs }: Known, values: Sent[], callback: KnownStatement['callback']) {
    this.name = name
    this.query_timeout = answerMs
    this.callback = callback
    this.#columns = columns
    this.#values = values
  }

  /** One write for the three messages. */
  submit(connection: Connection): null {
    connection.stream.cork()
    try {
      connection.bind({ statement: this.name, values: this.#values }, false)
      connection.execute(null, false)
      connection.sync()
    } finally {
      connection.stream.uncork()
    }
    return null
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    if (this.#unreadable !== null) return
    try {
      const row: Row = {}
      for (const [at, { name, read }] of this.#columns.entries()) {
        const text = fields[at] ?? null
        row[name] = text === null ? null : read(text)
      }
      this.#rows.push(row)
    } catch (cause) {
      this.#unreadable = cause instanceof Error ? cause : new Error(String(cause))
    }
  }

  handleCommandComplete(): void {}

  handleEmptyQuery(): void {}

  handleError(error: Error): void {
    this.callback(error)
  }

  handleReadyForQuery(): void {
    if (this.#unreadable === null) this.callback(null, this.#rows)
    else this.callback(this.#unreadable)
  }
}
