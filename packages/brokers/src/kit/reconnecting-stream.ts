/** Keeps one stream from a broker open: connects, detects silence, reports the gap, reconnects, reports live. */

import { BrokerFault } from '@trunkline/core/ports/broker'
import type { GapCause } from '@trunkline/core/ports/gap'
import { pauseMs } from './retry.ts'
import { type ConnectionOptions, StreamConnection, type StreamConnectionOwner } from './stream-connection.ts'
import { gapOf } from './stream-fault.ts'
import type { ProtocolFactory } from './stream-protocol.ts'

/** Receives the events of a stream. Called synchronously, in the order of the frames. */
export interface StreamListener<Event> {
  live(): void
  event(event: Event): void
  /** Also called when the first connection fails, and again when the cause of the outage changes. */
  gap(cause: GapCause, reason: string): void
}

export class ReconnectingStream<Event> implements StreamConnectionOwner<Event> {
  readonly #factory: ProtocolFactory<Event>
  readonly #options: ConnectionOptions
  readonly #listener: StreamListener<Event>
  #isStopped = false
  #wasTried = false
  /** Aborts the wait between two connections. */
  #waiting: AbortController | null = null
  #connection: StreamConnection<Event> | null = null
  /** The cause of the outage as reported to the listener; null while the stream is live. */
  #outage: GapCause | null = null
  #isLost = false

  constructor(factory: ProtocolFactory<Event>, options: ConnectionOptions, listener: StreamListener<Event>) {
    this.#factory = factory
    this.#options = options
    this.#listener = listener
  }

  /** Called once. Resolves when it was stopped and the socket is closed. @throws BrokerFault of kind `credentials_rejected` only. */
  async run(): Promise<void> {
    const { clock, backoff, fraction, steadyMs } = this.#options
    for (let attempt = 0; !this.#isStopped; attempt += 1) {
      this.#isLost = false
      let livedMs = 0
      try {
        const connection = await this.#waited(signal => this.#connected(signal))
        await connection.over
        livedMs = connection.livedMs()
      } catch (error) {
        if (this.#isStopped) return
        if (error instanceof BrokerFault && error.kind === 'credentials_rejected') throw error
        livedMs = this.#connection?.livedMs() ?? 0
        this.lost(error)
      }
      this.#connection = null
      if (livedMs >= steadyMs) attempt = 0
      await this.#waited(signal => clock.sleep(pauseMs(backoff, attempt, fraction), signal)).catch(() => undefined)
    }
  }

  stop(): void {
    this.#isStopped = true
    this.#waiting?.abort(new Error('the stream was given up'))
    this.#connection?.end()
  }

  live(): void {
    this.#outage = null
    this.#isLost = false
    this.#listener.live()
  }

  event(event: Event): void {
    this.#listener.event(event)
  }

  /** Reports an outage once, and again only when its cause changes. Consequences of the first error of a connection are not reported. */
  lost(error: unknown): void {
    if (this.#isLost) return
    this.#isLost = true
    const { cause, reason } = gapOf(error)
    this.#options.log.info('broker stream lost', { cause, reason, livedMs: Math.round(this.#connection?.livedMs() ?? 0) })
    this.gap(cause, reason)
  }

  gap(cause: GapCause, reason: string): void {
    if (this.#outage === cause) return
    this.#outage = cause
    this.#listener.gap(cause, reason)
  }

  async #connected(signal: AbortSignal): Promise<StreamConnection<Event>> {
    const { first, again } = this.#options.connectLimiters
    await (this.#wasTried ? again : first).take('read', signal)
    this.#wasTried = true
    const protocol = await this.#factory.begin(signal)
    signal.throwIfAborted()
    this.#connection = new StreamConnection(protocol, this, this.#options)
    return this.#connection
  }

  /** Runs a wait that is aborted when the stream is stopped. */
  async #waited<T>(wait: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const waiting = new AbortController()
    this.#waiting = waiting
    if (this.#isStopped) waiting.abort(new Error('the stream was given up'))
    try {
      return await wait(waiting.signal)
    } finally {
      this.#waiting = null
    }
  }
}
