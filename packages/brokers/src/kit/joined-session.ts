/** Joins several streams of one broker into one stream of events for one reader: live while all are live, a gap as soon as one is not. */

import type { GapCause } from '@trunkline/core/ports/gap'
import type { BoundedQueue } from './bounded-queue.ts'
import { ReconnectingStream, type StreamListener } from './reconnecting-stream.ts'
import { queueOf, type SocketOptions, type StreamStatus } from './socket.ts'
import type { ProtocolFactory } from './stream-protocol.ts'

export class JoinedSession<Event> implements AsyncIterableIterator<Event | StreamStatus, undefined> {
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
