/** PostgreSQL's wire protocol: statements to bytes, bytes to results, with node-postgres' own codecs so that values equal a server's. */
import pg, { type CustomTypesConfig } from 'pg'
import { prepareValue } from 'pg/lib/utils.js'
import { serialize } from 'pg-protocol'
import {
  CommandCompleteMessage,
  DatabaseError,
  DataRowMessage,
  type Field,
  ReadyForQueryMessage,
  RowDescriptionMessage
} from 'pg-protocol/dist/messages.js'
import { Parser } from 'pg-protocol/dist/parser.js'

/** One SQL statement with its encoded parameters ($1, $2 …). */
export interface Statement {
  readonly sql: string
  readonly values: readonly (string | Buffer | null)[]
}

/** How a statement is sent: under a name that the engine keeps, or once. */
export interface Encoding {
  /** '' parses the statement for this one use. */
  readonly name: string
  /** Whether the engine needs the text; false if it knows the name already. */
  readonly parse: boolean
  /** Names the engine should drop. */
  readonly forget: readonly string[]
}

/** Idle, in a transaction, or in a transaction that failed. */
export type SessionStatus = 'I' | 'T' | 'E'

export type Row = Record<string, unknown>

/** A result column and the parser of its text. */
export interface Column {
  readonly name: string
  readonly read: (text: string) => unknown
}

/** The engine's answer to one script or one statement. */
export interface Reply {
  /** First word of the last command tag: SELECT, INSERT … Empty if it failed. */
  readonly command: string
  /** The tag's row count; null for commands without one. */
  readonly rowCount: number | null
  readonly rows: Row[]
  /** The columns; null if the engine was not asked to describe them. */
  readonly columns: readonly Column[] | null
  readonly error: DatabaseError | null
  readonly status: SessionStatus
  /** Whether a statement was parsed under its name. */
  readonly parsed: boolean
}

/** Column types, in the form that node-postgres takes, so that one object serves both engines. */
export type Types = CustomTypesConfig

/** node-postgres' defaults: int8 and numeric as text, json parsed, bytea as Buffer, timestamps as Date. */
export const DEFAULT_TYPES: Types = { getTypeParser: pg.types.getTypeParser }

/** A statement with parameters of any type that node-postgres accepts, encoded at once: later changes of an object have no effect. */
export function statement(sql: string, values: readonly unknown[]): Statement {
  return { sql, values: values.map(value => prepareValue(value)) }
}

/** A script of statements without parameters, answered by one reply; outside a transaction it runs as one. */
export function encodeScript(sql: string): Uint8Array {
  return serialize.query(sql)
}

/** One statement with parameters, answered by exactly one reply. */
export function encodeStatement({ sql, values }: Statement, { name, parse, forget }: Encoding): readonly Uint8Array[] {
  const parts: Uint8Array[] = forget.map(old => serialize.close({ type: 'S', name: old }))
  if (parse) parts.push(serialize.parse({ name, text: sql }))
  parts.push(serialize.bind({ statement: name, values: [...values] }))
  if (parse) parts.push(serialize.describe({ type: 'P' }))
  parts.push(serialize.execute(), serialize.sync())
  return parts
}

/** Joins parts into one message with separate memory, so that it can be passed to another thread without a copy. */
export function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const message = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0))
  let at = 0
  for (const part of parts) {
    message.set(part, at)
    at += part.byteLength
  }
  return message
}

/**
 * Reads the replies in `bytes`.
 * @param known columns of the statements that were sent without asking for a description, by place in the answer
 */
export function decodeReplies(bytes: Uint8Array, types: Types, known: readonly (readonly Column[] | null)[] = []): readonly Reply[] {
  const replies: Reply[] = []
  let reply = new ReplyReader(types, known[0] ?? null)
  new Parser().parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), message => {
    if (message instanceof DataRowMessage) reply.row(message.fields)
    else if (message instanceof CommandCompleteMessage) reply.complete(message.text)
    else if (message instanceof ReadyForQueryMessage) {
      replies.push(reply.finish(statusOf(message.status)))
      reply = new ReplyReader(types, known[replies.length] ?? null)
    } else if (message instanceof RowDescriptionMessage) reply.describe(message.fields)
    else if (message instanceof DatabaseError) reply.fail(message)
    else if (message.name === 'parseComplete') reply.parsed = true
    else if (message.name === 'noData') reply.describe([])
  })
  return replies
}

const TAG = /^([A-Z]+)(?: (\d+))?(?: (\d+))?/

class ReplyReader {
  parsed = false
  readonly #types: Types
  #columns: readonly Column[]
  #described: readonly Column[] | null = null
  #rows: Row[] = []
  #command = ''
  #rowCount: number | null = null
  #error: DatabaseError | null = null

  constructor(types: Types, known: readonly Column[] | null) {
    this.#types = types
    this.#columns = known ?? []
  }

  describe(fields: readonly Field[]): void {
    this.#columns = fields.map(field => ({ name: field.name, read: this.#types.getTypeParser(field.dataTypeID, 'text') }))
    this.#described = this.#columns
    this.#rows = []
  }

  row(fields: readonly (string | null)[]): void {
    const row: Row = {}
    let at = 0
    for (const column of this.#columns) {
      const text = fields[at++] ?? null
      row[column.name] = text === null ? null : column.read(text)
    }
    this.#rows.push(row)
  }

  complete(tag: string): void {
    const [, command = '', first, second] = TAG.exec(tag) ?? []
    this.#command = command
    const count = second ?? first
    this.#rowCount = count === undefined ? null : Number.parseInt(count, 10)
  }

  fail(error: DatabaseError): void {
    this.#error ??= error
  }

  finish(status: SessionStatus): Reply {
    return {
      command: this.#error === null ? this.#command : '',
      rowCount: this.#rowCount,
      rows: this.#rows,
      columns: this.#described,
      error: this.#error,
      status,
      parsed: this.parsed
    }
  }
}

function statusOf(letter: string): SessionStatus {
  if (letter === 'I' || letter === 'T' || letter === 'E') return letter
  throw new Error(`the engine's session status must be I, T or E, was ${JSON.stringify(letter)}`)
}
