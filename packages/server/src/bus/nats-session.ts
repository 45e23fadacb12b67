import type { NatsConnection, Subscription } from '@nats-io/transport-node'
import type { Clock } from '@trunkline/core/ports/clock'

export interface SessionLimits {
  /** Sent and not confirmed by the server, in bytes; what is published beyond it is dropped. It is all that a slow server can fill. */
  readonly unconfirmedBytes: number
  /** Beyond it the server is asked to confirm at once, and not only with the next heartbeat. */
  readonly confirmBytes: number
  readonly heartbeatMs: number
  /** A server that confirms nothing for this long is disconnected. */
  readonly stalledMs: number
}

export type Published = 'sent' | 'disconnected' | 'full' | 'refused'

/** One connection to NATS, from its beginning to its end. It does not reconnect. */
export class NatsSession {
  readonly #connection: NatsConnection
  readonly #clock: Pick<Clock, 'sleep'>
  readonly #limits: SessionLimits
  readonly #ended = new AbortController()
  readonly #closed: Promise<void>
  /** Bytes published, and how many of them the server confirmed. */
  #published = 0
  #confirmed = 0
  #confirming: Promise<boolean> | null = null

  constructor(connection: NatsConnection, clock: Pick<Clock, 'sleep'>, limits: SessionLimits) {
    this.#connection = connection
    this.#clock = clock
    this.#limits = limits
    const end = () => this.#ended.abort()
    this.#closed = connection.closed().then(end, end)
  }

  get isEnded(): boolean {
    return this.#ended.signal.aborted
  }

  /** Never throws and never waits. */
  publish(subject: string, data: Uint8Array): Published {
    if (this.isEnded) return 'disconnected'
    if (this.#published - this.#confirmed + data.byteLength > this.#limits.unconfirmedBytes) return 'full'
    try {
      this.#connection.publish(subject, data)
    } catch {
      // Larger than the server takes, or closed in this moment.
      return 'refused'
    }
    this.#published += data.byteLength
    if (this.#published - this.#confirmed > this.#limits.confirmBytes && this.#confirming === null) void this.confirm()
    return 'sent'
  }

  /** Null if the connection is just being closed. `receive` must not throw: the client would stop reading. */
  subscribe(subject: string, receive: (error: Error | null, subject: string, data: Uint8Array) => void): Subscription | null {
    try {
      return this.#connection.subscribe(subject, { callback: (error, message) => receive(error, message.subject, message.data) })
    } catch {
      return null
    }
  }

  /** Whether the server has handled everything that was sent before. If it does not answer in time, the session ends. */
  async confirm(): Promise<boolean> {
    // One at a time: a call during another needs one that begins after it.
    while (this.#confirming !== null) await this.#confirming
    this.#confirming = this.#confirm().finally(() => {
      this.#confirming = null
    })
    return await this.#confirming
  }

  /** Returns when the session has ended: whether it lasted for a heartbeat. */
  async keepAlive(): Promise<boolean> {
    let hasLasted = false
    while (!this.isEnded) {
      await this.#clock.sleep(this.#limits.heartbeatMs, this.#ended.signal).catch(() => undefined)
      hasLasted = (await this.confirm()) || hasLasted
    }
    await this.#closed
    return hasLasted
  }

  /** Drops what the server has not taken yet. */
  close(): void {
    this.#ended.abort()
    void this.#connection.close().catch(() => undefined)
  }

  async #confirm(): Promise<boolean> {
    if (this.isEnded) return false
    const before = this.#published
    const over = new AbortController()
    const answer = Promise.withResolvers<boolean>()
    const lost = () => answer.resolve(false)
    this.#ended.signal.addEventListener('abort', lost, { once: true })
    this.#connection.flush().then(() => answer.resolve(true), lost)
    this.#clock.sleep(this.#limits.stalledMs, over.signal).then(lost, lost)
    const isConfirmed = await answer.promise
    over.abort()
    this.#ended.signal.removeEventListener('abort', lost)
    if (isConfirmed) this.#confirmed = before
    else this.close()
    return isConfirmed
  }
}
