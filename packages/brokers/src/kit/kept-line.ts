/** Keeps one WebSocket conversation with a broker going: connect, watch for silence, tell the gap, reconnect, tell live. */

import { BrokerFault, type GapCause } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import type { RateBudget } from './budget.ts'
import type { SocketProtocol } from './conversation.ts'
import { type Backoff, pauseMs } from './retry.ts'
import { gapOf } from './stream-fault.ts'
import { Talk, type TalkOwner } from './talk.ts'

export interface LineOptions {
  readonly clock: Clock
  readonly fraction: () => number
  readonly log: Log
  /** Connections per second to the host, shared by all lines to it: the first of each line, and those after. */
  readonly connects: { readonly first: RateBudget; readonly again: RateBudget }
  readonly backoff: Backoff
  /** A conversation that lived this long starts the backoff afresh; a shorter one is flapping. */
  readonly steadyMs: number
  /** Silence that is borne until the line is live; three times that it may take in all. */
  readonly handshakeMs: number
  readonly frameMax: number
}

/** Who hears what comes of a line. Called synchronously, in the order of the frames. */
export interface LineHearer<Event> {
  live(): void
  event(event: Event): void
  /** Also when the line cannot be had at first, and again when what keeps it down is another cause. */
  gap(cause: GapCause, reason: string): void
}

export class KeptLine<Event> implements TalkOwner<Event> {
  readonly #protocol: SocketProtocol<Event>
  readonly #options: LineOptions
  readonly #hearer: LineHearer<Event>
  #isStopped = false
  #wasTried = false
  /** Ends what waits between two conversations. */
  #waiting: AbortController | null = null
  #talk: Talk<Event> | null = null
  /** What keeps the line down, as far as the hearer was told; null while it is live. */
  #outage: GapCause | null = null
  #isLost = false

  constructor(protocol: SocketProtocol<Event>, options: LineOptions, hearer: LineHearer<Event>) {
    this.#protocol = protocol
    this.#options = options
    this.#hearer = hearer
  }

  /** Once. Resolves when it was stopped and the socket is gone. @throws BrokerFault of the kind `credentials_rejected`, nothing else. */
  async run(): Promise<void> {
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

  stop(): void {
    this.#isStopped = true
    this.#waiting?.abort(new Error('the stream was given up'))
    this.#talk?.end()
  }

  live(): void {
    this.#outage = null
    this.#isLost = false
    this.#hearer.live()
  }

  event(event: Event): void {
    this.#hearer.event(event)
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
    this.#hearer.gap(cause, reason)
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

  /** Waits for something that ends with the line. */
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
