/** A broker's stream as events that wait for one reader: a reconnecting stream, and a bounded queue behind it. */

import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { GapCause } from '@trunkline/core/ports/broker'
import { BoundedQueue } from './bounded-queue.ts'
import { type ConnectionOptions, ReconnectingStream, type StreamListener } from './reconnecting-stream.ts'
import type { ProtocolFactory } from './stream-protocol.ts'

export interface SocketOptions extends ConnectionOptions {
  /** Events that may wait for the reader. Beyond it they are given up for a gap. */
  readonly eventsMax: number
}

export const SOCKET_LIMITS = {
  backoff: { firstMs: 250, longestMs: 30_000 },
  steadyMs: 10_000,
  handshakeMs: 10_000,
  eventsMax: 10_000,
  frameMax: 4 * 1024 * 1024
} as const

/** What a session publishes beside its events. */
export type StreamStatus =
  | { readonly type: 'live'; readonly at: Timestamp }
  /** Also when it cannot be opened at first, and again when what keeps it down is another cause. */
  | { readonly type: 'gap'; readonly cause: GapCause; readonly reason: string; readonly at: Timestamp }

/**
 * Events for one reader until `signal` aborts, it stops reading, or the session is closed. Thousands are open at once, each mostly at rest:
 * what is at rest is a socket, its protocol and a timer, and no promise beside that of the reader.
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

  /** `ended` is called once it is over and the socket gone, if it ever began. */
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

  /** @throws BrokerFault of the kind `credentials_rejected`, nothing else. */
  next(): Promise<IteratorResult<Event | StreamStatus, undefined>> {
    this.#running ??= this.#run()
    return this.#queue.next()
  }

  async return(): Promise<IteratorResult<Event | StreamStatus, undefined>> {
    await this.close()
    return { done: true, value: undefined }
  }

  /** Its reader gets the end. Resolves once the socket is gone. */
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

/** Where events wait for their reader. They are put while live only, so what follows its own gap is live again. */
export function queueOf<Event>({ clock, eventsMax }: SocketOptions): BoundedQueue<Event | StreamStatus> {
  return new BoundedQueue<Event | StreamStatus>({
    itemsMax: eventsMax,
    overflow: () => [
      { type: 'gap', cause: 'overflow', reason: `more than ${eventsMax} events waited for their reader`, at: clock.now() },
      { type: 'live', at: clock.now() }
    ]
  })
}
