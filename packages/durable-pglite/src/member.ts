/** An interactive transaction in a group. */
import { EngineUnavailable } from './errors.ts'
import type { Group } from './group.ts'
import type { Reply, SessionStatus, Statement } from './wire.ts'

/** Options of a member. */
export interface MemberSettings {
  /** Read only: it is undone at its end. */
  readonly readOnly: boolean
  /** How long it may leave the engine idle between two statements, in milliseconds. */
  readonly idleMs: number
  /** A script before the end, so that a deferred constraint fails this member and not the whole group. */
  readonly lastScript: string
}

/** The transaction was rolled back instead of committed: an earlier statement of it had failed. */
export class TransactionAborted extends Error {
  override readonly name = 'TransactionAborted'
}

export class Member {
  readonly #group: Group
  readonly #settings: MemberSettings
  readonly #ended = Promise.withResolvers<void>()
  #status: SessionStatus = 'T'
  #begun = false
  #over: Error | null = null
  #running = 0
  #last: Promise<unknown> = Promise.resolve()
  #idle: NodeJS.Timeout | null = null

  constructor(group: Group, settings: MemberSettings) {
    this.#group = group
    this.#settings = settings
    this.#watch()
  }

  /** Resolves when it releases the engine. */
  get ended(): Promise<void> {
    return this.#ended.promise
  }

  async query(statement: Statement): Promise<Reply> {
    if (this.#over !== null) throw this.#over
    const reply = await this.#send(statement)
    if (reply.error !== null) throw this.#group.errorOf(reply)
    return reply
  }

  /** Resolves when its writes are durable. @throws TransactionAborted, CommitUnknown, EngineUnavailable */
  async commit(): Promise<void> {
    if (this.#over !== null) throw this.#over
    this.#over = new Error('the transaction is over')
    await this.#last // a statement that is not awaited may still fail, and must then fail this member alone
    const { lastScript, readOnly } = this.#settings
    if (this.#begun && this.#status === 'T' && lastScript !== '') {
      const error = await this.#refusal(lastScript)
      if (error !== null) return this.#end(error)
    }
    if (this.#status === 'E') return this.#end(new TransactionAborted('the transaction was rolled back: one of its statements had failed'))
    if (readOnly || !this.#begun) return this.#end(null)
    this.#finish()
    return this.#group.keep(undefined)
  }

  /** Resolves when it is undone and everything it may have read is durable. */
  async rollback(): Promise<void> {
    if (this.#over !== null) return
    this.#over = new Error('the transaction is over')
    await this.#end(null)
  }

  async #send(statement: Statement): Promise<Reply> {
    const before = this.#begun ? '' : this.#before()
    this.#begun = true
    this.#running += 1
    const sent = this.#group.statement(before, statement)
    this.#last = sent.catch(() => undefined)
    try {
      const reply = await sent
      this.#status = reply.status
      return reply
    } finally {
      this.#running -= 1
      this.#idle?.refresh()
    }
  }

  async #refusal(script: string): Promise<Error | null> {
    try {
      return (await this.#send({ sql: script, values: [] })).error
    } catch (cause) {
      return cause instanceof Error ? cause : new Error('the engine was lost', { cause })
    }
  }

  #before(): string {
    const before = this.#group.enter(this.#settings.readOnly)
    return this.#settings.readOnly ? `${before}SET TRANSACTION READ ONLY;` : before
  }

  /** Ends it without keeping anything. */
  #end(reason: Error | null): Promise<void> {
    this.#finish()
    if (this.#begun) return this.#group.undo(reason)
    return reason === null ? Promise.resolve() : Promise.reject(reason)
  }

  #finish(): void {
    if (this.#idle !== null) clearTimeout(this.#idle)
    this.#idle = null
    this.#ended.resolve()
  }

  /** No other request is served meanwhile, so a caller that waits for something else loses the engine. */
  #watch(): void {
    const { idleMs } = this.#settings
    this.#idle = setTimeout(() => {
      if (this.#running > 0) return this.#watch()
      const reason = new EngineUnavailable('idle_in_transaction', `a transaction sent nothing for ${idleMs} ms and was rolled back`)
      this.#over = reason
      this.#end(reason).catch(() => undefined) // the caller gets the error at its next call
    }, idleMs)
  }
}
