/** One transaction that contains many: each member behind a savepoint, all made durable by one commit. */
import { CommitUnknown } from '@trunkline/core/ports/store'
import { EngineMisuse, EngineUnavailable } from './errors.ts'
import type { Session } from './session.ts'
import type { Reply, Statement } from './wire.ts'

/** The result of a member, delivered only once everything it may have read is durable. */
interface Verdict {
  readonly deliver: () => void
  readonly fail: (reason: unknown) => void
}

/** Reserved: a savepoint of the same name inside a member would replace the member's own. */
const SAVEPOINT = '_trunkline_member'

/** read_only_sql_transaction */
const READ_ONLY = '25006'

export class Group {
  readonly #session: Session
  /** Refuses writes: the disk is nearly full. */
  readonly #readOnly: boolean
  readonly #verdicts: Verdict[] = []
  #open = false
  #completed = 0
  #savepoint = false
  #undo = ''
  #size = 0
  #broken: unknown = null

  constructor(session: Session, readOnly: boolean) {
    this.#session = session
    this.#readOnly = readOnly
  }

  /** Members so far, committed or undone. */
  get size(): number {
    return this.#size
  }

  /** Whether the group can take no more members: the engine was lost, or a statement ended the transaction. */
  get broken(): boolean {
    return this.#broken !== null
  }

  /** Begins a member: returns the script before its first statement. The first member needs no savepoint. */
  enter(alwaysUndone: boolean): string {
    this.#size += 1
    this.#session.begin()
    const steps = [this.#undo]
    this.#undo = ''
    if (!this.#open) steps.push(this.#readOnly ? 'BEGIN READ ONLY;' : 'BEGIN;')
    this.#open = true
    this.#savepoint = this.#completed > 0 || alwaysUndone
    if (this.#savepoint) steps.push(`SAVEPOINT ${SAVEPOINT};`)
    return steps.join('')
  }

  /** Ends the current member, keeping what it wrote. Resolves or rejects with the group's commit. */
  keep<T>(value: T): Promise<T> {
    this.#completed += 1
    return this.#verdict(resolve => resolve(value))
  }

  /** Ends the current member, undoing what it wrote; rejects with `reason`, or resolves when it is null, once the group is committed. */
  undo(reason: unknown): Promise<void> {
    this.#undo = this.#savepoint ? `ROLLBACK TO SAVEPOINT ${SAVEPOINT};` : 'ROLLBACK;'
    if (!this.#savepoint) this.#open = false
    this.#session.undo()
    return this.#verdict((resolve, reject) => (reason === null ? resolve() : reject(reason)))
  }

  /** A member of one statement. */
  async run(statement: Statement): Promise<{ readonly verdict: Promise<Reply> }> {
    const reply = await this.statement(this.enter(false), statement)
    return { verdict: reply.error === null ? this.keep(reply) : this.undo(this.errorOf(reply)).then(() => reply) }
  }

  /** Runs a statement of the current member. */
  async statement(before: string, statement: Statement): Promise<Reply> {
    try {
      const reply = await this.#session.statement(before, statement)
      if (reply.status === 'I' || reply.command === 'COMMIT')
        throw new EngineMisuse('a statement ended the transaction it ran in; end transactions through the client')
      return reply
    } catch (cause) {
      this.#broken ??= cause
      throw cause
    }
  }

  /** The error of a failed reply as callers should see it. */
  errorOf(reply: Reply): Error {
    if (this.#readOnly && reply.error?.code === READ_ONLY)
      return new EngineUnavailable('disk_full', 'the disk is nearly full: nothing is written until there is space again', {
        cause: reply.error
      })
    return reply.error ?? new Error('a statement that did not fail has no error')
  }

  /** Makes the group durable and settles its members. Never rejects. */
  async commit(): Promise<void> {
    try {
      await this.#commit()
    } catch (cause) {
      for (const { fail } of this.#verdicts) fail(cause)
      return
    }
    for (const { deliver } of this.#verdicts) deliver()
  }

  async #commit(): Promise<void> {
    if (this.#broken instanceof EngineUnavailable) throw this.#broken
    if (this.broken) {
      await this.#session.script('ROLLBACK') // nothing may stay open, whatever the statement did
      throw new CommitUnknown('the transaction this one shared a commit with was lost', { cause: this.#broken })
    }
    const script = this.#open ? `${this.#undo}COMMIT;` : this.#undo
    if (script === '') return
    const reply = await this.#session.script(script)
    const done = reply.error === null && reply.status === 'I' && reply.command === (this.#open ? 'COMMIT' : 'ROLLBACK')
    if (done) return
    if (reply.status !== 'I') await this.#session.script('ROLLBACK')
    throw new CommitUnknown('the database engine did not confirm the commit', { cause: reply.error })
  }

  #verdict<T>(settle: (resolve: (value: T | PromiseLike<T>) => void, reject: (reason: unknown) => void) => void): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    this.#verdicts.push({ deliver: () => settle(resolve, reject), fail: reject })
    return promise
  }
}
