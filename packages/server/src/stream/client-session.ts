/** What sessions of both streams have in common: messages in order, the wait for the authentication, failed attempts, and the end. */
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import { CLOSE, type ClientConnection, type Listener } from './client-connection.ts'
import { Inbox, type InboxLimits, type InboxOwner } from './inbox.ts'

/** Limits that both streams have. */
export interface ClientSessionLimits {
  /** How long a session may be unauthenticated. */
  readonly authenticateMs: number
  /** Failed authentications; the last one ends the session. */
  readonly failuresMax: number
  readonly inbox: InboxLimits
}

/** What differs between the streams. */
export interface SessionHandlers {
  /** Handles a message. If it throws or rejects, the session is closed. Not called after the end. */
  handle(message: string): Promise<void> | undefined
  /** Sends an error about a message that was dropped. */
  reject(message: string): void
  caughtUp(): void
  /** Releases what the session holds. Called once, when it ends. */
  release(): void
  /** The connection is gone; called once, after {@link release}. */
  gone(): void
}

interface Parts {
  readonly sessionId: string
  readonly client: ClientConnection
  readonly limits: ClientSessionLimits
  readonly clock: Clock
  readonly log: Log
}

export class ClientSession implements Listener, InboxOwner {
  readonly #parts: Parts
  readonly #handlers: SessionHandlers
  readonly #inbox: Inbox
  #failures = 0
  #isOver = false
  /** Ends the wait for the authentication; null once it has ended. */
  #waiting: AbortController | null = new AbortController()

  constructor(parts: Parts, handlers: SessionHandlers) {
    this.#parts = parts
    this.#handlers = handlers
    this.#inbox = new Inbox(this, parts.clock, parts.limits.inbox)
  }

  /** Whether the session has ended, or will once everything pending is sent. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Ends the session unless {@link authenticated} is called in time. */
  async awaitAuthentication(): Promise<void> {
    const { clock, limits } = this.#parts
    const isLate = await clock.sleep(limits.authenticateMs, this.#waiting?.signal).then(
      () => true,
      () => false
    )
    if (isLate) this.finish(CLOSE.unauthenticated, 'no authentication in time')
  }

  authenticated(): void {
    this.#waiting?.abort()
    this.#waiting = null
  }

  /** Counts a failed authentication that was answered. Ends the session after too many, or at once if the address has `tooMany`. */
  authenticationFailed(tooMany: boolean): void {
    this.#failures += 1
    if (this.#failures >= this.#parts.limits.failuresMax || tooMany) this.finish(CLOSE.tooManyFailures, 'too many failed authentications')
  }

  /** Ends the session once everything pending is sent. */
  finish(code: number, reason: string): void {
    if (this.#isOver) return
    this.#end()
    this.#parts.client.finish(code, reason)
  }

  text(message: string): void {
    if (!this.#isOver) this.#inbox.put(message)
  }

  binary(): void {
    this.text('')
  }

  caughtUp(): void {
    this.#handlers.caughtUp()
  }

  gone(): void {
    this.#end()
    this.#handlers.gone()
  }

  handle(message: string): Promise<void> | undefined {
    return this.#isOver ? undefined : this.#handlers.handle(message)
  }

  failed(cause: unknown): void {
    this.#parts.log.error('a session failed and is closed', { sessionId: this.#parts.sessionId, cause })
    this.finish(CLOSE.internal, 'internal error')
  }

  tooMany(isLast: boolean): void {
    if (this.#isOver) return
    const { burst, perSecond } = this.#parts.limits.inbox
    this.#handlers.reject(`Too many messages: at most ${burst} at once and ${perSecond} a second. This one was dropped.`)
    if (isLast) this.finish(CLOSE.tooManyFailures, 'too many messages')
  }

  pause(): void {
    this.#parts.client.pause()
  }

  resume(): void {
    this.#parts.client.resume()
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.authenticated()
    this.#inbox.close()
    this.#handlers.release()
  }
}
