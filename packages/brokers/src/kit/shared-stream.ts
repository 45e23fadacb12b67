/** One connection for many topics: opened for the first, closed shortly after the last is released. */

import { BrokerFault } from '@trunkline/core/ports/broker'
import type { GapCause } from '@trunkline/core/ports/gap'
import { PendingTasks } from './flush-scheduler.ts'
import { ReconnectingStream } from './reconnecting-stream.ts'
import type { ConnectionOptions } from './stream-connection.ts'
import type { StreamProtocol } from './stream-protocol.ts'

/** The connection stays open this long after its last topic: a client that switches topics has none for a moment. */
const LINGER_MS = 5_000

/** Why there is no connection. */
export interface Outage {
  readonly cause: GapCause
  readonly reason: string
}

export interface SharedStreamOptions {
  readonly connection: ConnectionOptions
  readonly begin: (signal: AbortSignal) => Promise<StreamProtocol<never>>
  /** The connection was lost, and with it all topics. */
  readonly lost: (cause: GapCause, reason: string) => void
  /** The connection is being closed, because no topic is left. */
  readonly stopped: () => void
}

export class SharedStream implements AsyncDisposable {
  readonly #options: SharedStreamOptions
  readonly #underWay = new PendingTasks()
  #stream: ReconnectingStream<never> | null = null
  #linger: Disposable | null = null
  #outage: Outage | null = null
  /** The login was refused; it is tried again only on a new request. */
  #isRejected = false

  constructor(options: SharedStreamOptions) {
    this.#options = options
  }

  /** Null while there is a connection, and before the first has failed. */
  get outage(): Outage | null {
    return this.#outage
  }

  /** A new request: a login that was refused may be tried again. */
  mayOpen(): void {
    this.#isRejected = false
  }

  /** There is a topic: the connection stays open. */
  hold(): void {
    this.#linger?.[Symbol.dispose]()
    this.#linger = null
  }

  /** The last topic was released. */
  release(): void {
    this.#linger ??= this.#stream === null ? null : this.#options.connection.clock.alarm(LINGER_MS, () => this.#stop())
  }

  /** Unless it is open, or the login was refused. */
  open(): void {
    if (this.#stream !== null || this.#isRejected) return
    this.#outage = null
    const { begin, connection, lost } = this.#options
    const stream: ReconnectingStream<never> = new ReconnectingStream({ begin }, connection, {
      live: () => {
        this.#outage = null
      },
      event: () => undefined,
      gap: (cause, reason) => {
        if (this.#stream !== stream) return
        this.#outage = { cause, reason }
        lost(cause, reason)
      }
    })
    this.#stream = stream
    this.#underWay.add(stream.run().catch((error: unknown) => this.#ended(stream, error)))
  }

  /** Stops all publishing. Resolves once the sockets are closed. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop()
    await this.#underWay.over()
  }

  /** The login was refused, or failed in an unexpected way. */
  #ended(stream: ReconnectingStream<never>, error: unknown): void {
    if (this.#stream !== stream) return
    this.#stream = null
    this.#isRejected = true
    this.#outage = { cause: 'token', reason: error instanceof BrokerFault ? error.message : 'the market stream failed' }
    this.#options.lost(this.#outage.cause, this.#outage.reason)
  }

  #stop(): void {
    this.hold()
    this.#options.stopped()
    this.#stream?.stop()
    this.#stream = null
  }
}
