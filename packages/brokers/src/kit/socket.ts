/** Keeps one WebSocket conversation with a broker going: connect, watch for silence, say `gap`, reconnect, say `live`. */

import type { Timestamp } from '@trunkline/core/domain/timestamp'
import { BrokerFault, type GapCause } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import type { RateBudget } from './budget.ts'
import type { SocketProtocol } from './conversation.ts'
import { Mailbox } from './mailbox.ts'
import { type Backoff, pauseMs } from './retry.ts'
import { gapOf } from './stream-fault.ts'
import { Talk } from './talk.ts'

export interface SocketOptions {
  readonly clock: Clock
  readonly fraction: () => number
  readonly log: Log
  /** Connections per second to the host, shared by all sessions with it: the first of each session, and those after. */
  readonly connects: { readonly first: RateBudget; readonly again: RateBudget }
  readonly backoff: Backoff
  /** A conversation that lived this long starts the backoff afresh; a shorter one is flapping. */
  readonly steadyMs: number
  /** From connecting to live. */
  readonly handshakeMs: number
  /** Events that may wait for the reader. Beyond it they are given up for a gap. */
  readonly eventsMax: number
  readonly frameMax: number
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
export class SocketSession<Event> implements AsyncIterableIterator<Event | Told, undefined> {
  readonly #protocol: SocketProtocol<Event>
  readonly #options: SocketOptions
  readonly #signal: AbortSignal
  readonly #box: Mailbox<Event | Told>
  readonly #ended: () => void
  readonly #giveUp = () => this.#stop()
  #running: Promise<void> | null = null
  #isStopped = false
  #wasTried = false
  /** Ends what waits between two conversations. */
  #waiting: AbortController | null = null
  #talk: Talk<Event> | null = null
  /** What keeps the line down, as far as the reader was told; null while it is live. */
  #outage: GapCause | null = null
  #isLost = false

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
    const { clock, eventsMax } = options
    this.#box = new Mailbox<Event | Told>({
      itemsMax: eventsMax,
      // Events arrive only while live, so what follows the gap is live again.
      overflow: () => [
        { type: 'gap', cause: 'overflow', reason: `more than ${eventsMax} events waited for their reader`, at: clock.now() },
        { type: 'live', at: clock.now() }
      ]
    })
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
    this.#stop()
    await this.#running
    this.#box.end()
  }

  live(): void {
    this.#outage = null
    this.#isLost = false
    this.#box.put({ type: 'live', at: this.#options.clock.now() })
  }

  event(event: Event): void {
    this.#box.put(event, this.#protocol.stateOf?.(event) ?? null)
  }

  /** An outage is told once, and again only when its cause is another one. What follows from the first end of a conversation is not told. */
  lost(error: unknown): void {
    if (this.#isLost) return
    this.#isLost = true
    const { cause, reason } = gapOf(error)
    this.#options.log.info('broker stream lost', { cause, reason, livedMs: Math.round(this.#talk?.livedMs() ?? 0) })
    this.gap(cause, reason)
  }

  gap(cause: GapCause, reason: string): void {
    if (this.#outage === cause) return
    this.#outage = cause
    this.#box.put({ type: 'gap', cause, reason, at: this.#options.clock.now() })
  }

  #stop(): void {
    this.#isStopped = true
    this.#waiting?.abort(new Error('the stream was given up'))
    this.#talk?.end()
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    this.#signal.addEventListener('abort', this.#giveUp, { once: true })
    if (this.#signal.aborted) this.#stop()
    try {
      await this.#keepGoing()
      this.#box.end()
    } catch (error) {
      this.#box.fail(error)
    } finally {
      this.#signal.removeEventListener('abort', this.#giveUp)
      this.#ended()
    }
  }

  /** @throws BrokerFault credentials_rejected */
  async #keepGoing(): Promise<void> {
    const { clock, backoff, fraction, steadyMs } = this.#options
    for (let attempt = 0; !this.#isStopped; attempt += 1) {
      this.#isLost = false
      let livedMs = 0
      try {
        const talk = await this.#waited(signal => this.#connected(signal))
        await talk.over
        livedMs = talk.livedMs()
      } catch (error) {
        if (this.#isStopped) return
        if (error instanceof BrokerFault && error.kind === 'credentials_rejected') throw error
        livedMs = this.#talk?.livedMs() ?? 0
        this.lost(error)
      }
      this.#talk = null
      if (livedMs >= steadyMs) attempt = 0
      await this.#waited(signal => clock.sleep(pauseMs(backoff, attempt, fraction), signal)).catch(() => undefined)
    }
  }

  async #connected(signal: AbortSignal): Promise<Talk<Event>> {
    const { first, again } = this.#options.connects
    await (this.#wasTried ? again : first).take('read', signal)
    this.#wasTried = true
    const conversation = await this.#protocol.begin(signal)
    signal.throwIfAborted()
    this.#talk = new Talk(conversation, this, this.#options)
    return this.#talk
  }

  /** Waits for something that ends with the session. */
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
