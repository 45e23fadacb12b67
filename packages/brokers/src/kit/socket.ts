/** A broker's streams as events for one reader: reconnecting streams with a bounded queue. */

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
 * The events of one or several streams of a broker, for one reader: live while all streams are live, a gap as soon as one is not. Ends when
 * `signal` aborts, the reader stops, or the session is closed. Thousands are open at once and mostly idle. An idle one holds its sockets,
 * their protocols and timers, and the reader's promise.
 */
export class SocketSession<Event> implements AsyncIterableIterator<Event | StreamStatus, undefined> {
  readonly #options: SocketOptions
  readonly #signal: AbortSignal
  readonly #queue: BoundedQueue<Event | StreamStatus>
  readonly #streams: readonly ReconnectingStream<Event>[]
  readonly #ended: () => void
  readonly #giveUp = () => this.#stop()
  /** Streams that are live now. */
  readonly #live = new Set<number>()
  /** The cause of the outage that was published to the reader; null while live, and before anything was published. */
  #outage: GapCause | null = null
  #running: Promise<void> | null = null

  /** `ended` is called once it is over and every socket is closed, if it was ever started. */
  constructor(
    factories: readonly ProtocolFactory<Event>[],
    options: SocketOptions,
    { signal, ended = () => undefined }: { readonly signal: AbortSignal; readonly ended?: () => void }
  ) {
    this.#options = options
    this.#signal = signal
    this.#ended = ended
    this.#streams = factories.map((factory, index) => new ReconnectingStream(factory, options, this.#listener(factory, index)))
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

  /** Ends the events for the reader. Resolves once the sockets are closed. */
  async close(): Promise<void> {
    this.#stop()
    await this.#running
    this.#queue.end()
  }

  #listener(factory: ProtocolFactory<Event>, index: number): StreamListener<Event> {
    return {
      live: () => this.#isUp(index),
      event: event => {
        // Events of one stream while another is down are covered by the snapshot that follows.
        if (this.#live.size === this.#streams.length) this.#queue.put(event, factory.stateOf?.(event) ?? null)
      },
      gap: (cause, reason) => this.#isDown(index, cause, reason)
    }
  }

  #isUp(index: number): void {
    const wereAll = this.#live.size === this.#streams.length
    this.#live.add(index)
    if (wereAll || this.#live.size < this.#streams.length) return
    this.#outage = null
    this.#queue.put({ type: 'live', at: this.#options.clock.now() })
  }

  #isDown(index: number, cause: GapCause, reason: string): void {
    this.#live.delete(index)
    if (this.#outage === cause) return
    this.#outage = cause
    this.#queue.put({ type: 'gap', cause, reason, at: this.#options.clock.now() })
  }

  #stop(): void {
    for (const stream of this.#streams) stream.stop()
  }

  /** Never rejects. A lasting failure of one stream ends all. */
  async #run(): Promise<void> {
    this.#signal.addEventListener('abort', this.#giveUp, { once: true })
    if (this.#signal.aborted) this.#stop()
    const ends = await Promise.all(
      this.#streams.map(async stream => {
        try {
          await stream.run()
          return null
        } catch (error) {
          this.#stop()
          return { error }
        }
      })
    )
    const failure = ends.find(end => end !== null)
    if (failure === undefined) this.#queue.end()
    else this.#queue.fail(failure.error)
    this.#signal.removeEventListener('abort', this.#giveUp)
    this.#ended()
  }
}

/** The queue of events for the reader. Events are put only while live, so its own gap is followed by live. */
function queueOf<Event>({ clock, eventsMax }: SocketOptions): BoundedQueue<Event | StreamStatus> {
  return new BoundedQueue<Event | StreamStatus>({
    itemsMax: eventsMax,
    overflow: () => [
      { type: 'gap', cause: 'overflow', reason: `more than ${eventsMax} events waited for their reader`, at: clock.now() },
      { type: 'live', at: clock.now() }
    ]
  })
}
