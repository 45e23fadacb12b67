/** The engine's only session, shared by all callers: scripts and statements in, replies out. */
import { EngineMisuse } from './errors.ts'
import type { Link } from './link.ts'
import { Statements, type Use } from './statements.ts'
import { decodeReplies, encodeScript, encodeStatement, joined, type Reply, type Statement, type Types } from './wire.ts'

/** Commands after which cached plans and column types may be wrong. */
const SCHEMA_COMMANDS = new Set(['CREATE', 'ALTER', 'DROP', 'DO', 'CALL'])

export class Session {
  readonly #link: Link
  readonly #types: Types
  readonly #statements: Statements
  readonly #onSchemaChange: () => void
  #schemaTouched = false

  constructor(options: {
    readonly link: Link
    readonly types: Types
    readonly statementsMax: number
    readonly onSchemaChange: () => void
  }) {
    this.#link = options.link
    this.#types = options.types
    this.#statements = new Statements(options.statementsMax)
    this.#onSchemaChange = options.onSchemaChange
  }

  get prepared(): number {
    return this.#statements.size
  }

  /** A transaction begins: a rollback does not undo earlier schema changes. */
  begin(): void {
    this.#schemaTouched = false
  }

  /** After a rollback, which may have undone a schema change that statements were prepared against. */
  undo(): void {
    if (this.#schemaTouched) this.forget()
  }

  /** Forgets every prepared statement. */
  forget(): void {
    this.#statements.clear()
  }

  /** Runs statements without parameters; the reply is that of the last one, or of the first that failed. */
  async script(sql: string): Promise<Reply> {
    const answer = await this.#link.send(joined([encodeScript(sql)]))
    return only(decodeReplies(answer, this.#types), 1)
  }

  /**
   * Runs `before`, a script, and then the statement, in one message.
   * When `before` fails, its reply is the answer.
   */
  async statement(before: string, statement: Statement): Promise<Reply> {
    const prefixed = before !== ''
    const use = this.#statements.use(statement.sql)
    const parts = encodeStatement(statement, use.encoding)
    const answer = await this.#link.send(joined(prefixed ? [encodeScript(before), ...parts] : parts))
    const replies = decodeReplies(answer, this.#types, prefixed ? [null, use.columns] : [use.columns])
    const reply = only(replies, prefixed ? 2 : 1)
    this.#settle(use, reply)
    const [first] = replies
    return prefixed && first !== undefined && first.error !== null ? { ...first, status: reply.status } : reply
  }

  /** Runs independent statements in one message; each commits by itself. */
  async batch(statements: readonly Statement[]): Promise<readonly Reply[]> {
    const uses = statements.map(({ sql }) => this.#statements.use(sql))
    const parts = uses.flatMap((use, at) => {
      const statement = statements[at]
      return statement === undefined ? [] : encodeStatement(statement, use.encoding)
    })
    const replies = decodeReplies(
      await this.#link.send(joined(parts)),
      this.#types,
      uses.map(use => use.columns)
    )
    const last = only(replies, uses.length)
    for (const [at, reply] of replies.entries()) {
      const use = uses[at]
      if (use !== undefined) this.#settle(use, reply)
    }
    if (last.status !== 'I') {
      await this.script('ROLLBACK') // or every later commit would be reported without being one
      throw new EngineMisuse('a statement began a transaction; begin transactions through the client')
    }
    return replies
  }

  #settle(use: Use, reply: Reply): void {
    use.settle(reply)
    if (reply.command === 'ROLLBACK') this.undo()
    if (!SCHEMA_COMMANDS.has(reply.command)) return
    this.forget()
    this.#schemaTouched = true
    this.#onSchemaChange()
  }
}

function only(replies: readonly Reply[], count: number): Reply {
  const last = replies.at(-1)
  if (last === undefined || replies.length !== count) throw new Error(`the engine must answer ${count} times, answered ${replies.length}`)
  return last
}
