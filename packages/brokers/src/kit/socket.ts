/** A broker's stream as events for one reader: a reconnecting stream with a bounded queue. */

import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { GapCause } from '@trunkline/core/ports/gap'
import { BoundedQueue } from './bounded-queue.ts'
import { ReconnectingStream, type StreamListener } from './reconnecting-stream.ts'
import type { ConnectionOptions } from './stream-connection.ts'
import type { ProtocolFactory } from './stream-protocol.ts'

export interface SocketOptions extends ConnectionOptions {
  /** Events that may wait for the reader. Beyond it they are dropped for a gap. */
  readonly eventsMax: number
}

export const SOCKET_LIMITS = {
  backoff: { firstMs: 250, longestMs: 30_000 },
  steadyMs: 10_000,
  handshakeMs: 10_000,
  eventsMax: 10_000,
  frameMax: 4 * 1024 * 1024
} as const

/** What a session publishes besides its events. */
export type StreamStatus =
  | { readonly type: 'live'; readonly at: Timestamp }
  /** Also published when the first attempt to open fails, and again when the cause of the outage changes. */
  | { readonly type: 'gap'; readonly cause: GapCause; readonly reason: string; readonly at: Timestamp }

/**
 * Events for one reader, until `signal` aborts, the reader stops, or the session is closed. Thousands are open at once and mostly idle. An idle
 * one holds a socket, its protocol, a timer, and the reader's promise.
 */
export class SocketSession<Event> implements AsyncIterableIterator<Event | StreamStatus, undefined>, StreamListener<Event> {
  readonly #factory: ProtocolFactory<Event>
  readonly #options: SocketOptions
  readonly #signal: AbortSignal
  readonly #queue: BoundedQueue<Event | StreamStatus>
  readonly #stream: ReconnectingStream<Event>
  readonly #ended: () => void
  readonly #giveUp = () => this.#stream.stop()
  #running: Promise<void> | null = null

  /** `ended` is called once it is over and the socket is closed, if it was ever started. */
  constructor(
    factory: ProtocolFactory<Event>,
    options: SocketOptions,
    { signal, ended = () => undefined }: { readonly signal: AbortSignal; readonly ended?: () => void }
  ) {
    this.#factory = factory
    this.#options = options
    this.#signal = signal
    this.#ended = ended
    this.#stream = new ReconnectingStream(factory, options, this)
    this.#queue = queueOf(options)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** @throws BrokerFault of kind `credentials_rejected` only. */
  next(): Promise<IteratorResult<Event | StreamStatus, undefined>> {
    this.#running ??= this.#run()
    return this.#queue.next()
  }

  async return(): Promise<IteratorResult<Event | StreamStatus, undefined>> {
    await this.close()
    return { done: true, value: undefined }
  }

  /** Ends the events for the reader. Resolves once the socket is closed. */
  async close(): Promise<void> {
    this.#stream.stop()
    await this.#running
    this.#queue.end()
  }

  live(): void {
    this.#queue.put({ type: 'live', at: this.#options.clock.now() })
  }

  event(event: Event): void {
    this.#queue.put(event, this.#factory.stateOf?.(event) ?? null)
  }

  gap(cause: GapCause, reason: string): void {
    this.#queue.put({ type: 'gap', cause, reason, at: this.#options.clock.now() })
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    this.#signal.addEventListener('abort', this.#giveUp, { once: true })
    if (this.#signal.aborted) this.#stream.stop()
    try {
      await this.#stream.run()
      this.#queue.end()
    } catch (error) {
      this.#queue.fail(error)
    } finally {
      this.#signal.removeEventListener('abort', this.#giveUp)
      this.#ended()
    }
  }
}

/** The queue of events for the reader. Events are put only while live, so its own gap is followed by live. */
export function queueOf<Event>({ clock, eventsMax }: SocketOptions): BoundedQueue<Event | StreamStatus> {
  return new BoundedQueue<Event | StreamStatus>({
    itemsMax: eventsMax,
    overflow: () => [
      { type: 'gap', cause: 'overflow', reason: `more than ${eventsMax} events waited for their reader`, at: clock.now() },
      { type: 'live', at: clock.now() }
    ]
  })
}
