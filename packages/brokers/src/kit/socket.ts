/** A broker's stream as events that wait for one reader: a line that is kept, and a bounded box behind it. */

import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { GapCause } from '@trunkline/core/ports/broker'
import type { SocketProtocol } from './conversation.ts'
import { KeptLine, type LineHearer, type LineOptions } from './kept-line.ts'
import { Mailbox } from './mailbox.ts'

export interface SocketOptions extends LineOptions {
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

/** What a session tells beside its events. */
export type Told =
  | { readonly type: 'live'; readonly at: Timestamp }
  /** Also when it cannot be opened at first, and again when what keeps it down is another cause. */
  | { readonly type: 'gap'; readonly cause: GapCause; readonly reason: string; readonly at: Timestamp }

/**
 * Events for one reader until `signal` aborts, it stops reading, or the session is closed. Thousands are open at once, each mostly at rest:
 * what is at rest is a socket, its conversation and an alarm, and no promise beside that of the reader.
 */
export class SocketSession<Event> implements AsyncIterableIterator<Event | Told, undefined>, LineHearer<Event> {
  readonly #protocol: SocketProtocol<Event>
  readonly #options: SocketOptions
  readonly #signal: AbortSignal
  readonly #box: Mailbox<Event | Told>
  readonly #line: KeptLine<Event>
  readonly #ended: () => void
  readonly #giveUp = () => this.#line.stop()
  #running: Promise<void> | null = null

  /** `ended` is called once it is over and the socket gone, if it ever began. */
  constructor(
    protocol: SocketProtocol<Event>,
    options: SocketOptions,
    { signal, ended = () => undefined }: { readonly signal: AbortSignal; readonly ended?: () => void }
  ) {
    this.#protocol = protocol
    this.#options = options
    this.#signal = signal
    this.#ended = ended
    this.#line = new KeptLine(protocol, options, this)
    this.#box = boxOf(options)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** @throws BrokerFault of the kind `credentials_rejected`, nothing else. */
  next(): Promise<IteratorResult<Event | Told, undefined>> {
    this.#running ??= this.#run()
    return this.#box.next()
  }

  async return(): Promise<IteratorResult<Event | Told, undefined>> {
    await this.close()
    return { done: true, value: undefined }
  }

  /** Its reader gets the end. Resolves once the socket is gone. */
  async close(): Promise<void> {
    this.#line.stop()
    await this.#running
    this.#box.end()
  }

  live(): void {
    this.#box.put({ type: 'live', at: this.#options.clock.now() })
  }

  event(event: Event): void {
    this.#box.put(event, this.#protocol.stateOf?.(event) ?? null)
  }

  gap(cause: GapCause, reason: string): void {
    this.#box.put({ type: 'gap', cause, reason, at: this.#options.clock.now() })
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    this.#signal.addEventListener('abort', this.#giveUp, { once: true })
    if (this.#signal.aborted) this.#line.stop()
    try {
      await this.#line.run()
      this.#box.end()
    } catch (error) {
      this.#box.fail(error)
    } finally {
      this.#signal.removeEventListener('abort', this.#giveUp)
      this.#ended()
    }
  }
}

/** Where events wait for their reader. They are put while live only, so what follows a gap of its own is live again. */
export function boxOf<Event>({ clock, eventsMax }: SocketOptions): Mailbox<Event | Told> {
  return new Mailbox<Event | Told>({
    itemsMax: eventsMax,
    overflow: () => [
      { type: 'gap', cause: 'overflow', reason: `more than ${eventsMax} events waited for their reader`, at: clock.now() },
      { type: 'live', at: clock.now() }
    ]
  })
}
