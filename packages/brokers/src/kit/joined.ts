/** Several lines of one broker as one stream of events for one reader: live when all of them are, a gap as soon as one is not. */

import type { GapCause } from '@trunkline/core/ports/broker'
import type { SocketProtocol } from './conversation.ts'
import { KeptLine, type LineHearer } from './kept-line.ts'
import type { Mailbox } from './mailbox.ts'
import { boxOf, type SocketOptions, type Told } from './socket.ts'

export class JoinedSession<Event> implements AsyncIterableIterator<Event | Told, undefined> {
  readonly #options: SocketOptions
  readonly #signal: AbortSignal
  readonly #box: Mailbox<Event | Told>
  readonly #lines: readonly KeptLine<Event>[]
  readonly #ended: () => void
  readonly #giveUp = () => this.#stop()
  /** Lines that are live now. */
  readonly #live = new Set<number>()
  /** What the reader was told keeps it down; null while live, and before anything was told. */
  #outage: GapCause | null = null
  #running: Promise<void> | null = null

  /** `ended` is called once it is over and every socket gone, if it ever began. */
  constructor(
    protocols: readonly SocketProtocol<Event>[],
    options: SocketOptions,
    { signal, ended = () => undefined }: { readonly signal: AbortSignal; readonly ended?: () => void }
  ) {
    this.#options = options
    this.#signal = signal
    this.#ended = ended
    this.#lines = protocols.map((protocol, index) => new KeptLine(protocol, options, this.#hearer(protocol, index)))
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

  /** Its reader gets the end. Resolves once the sockets are gone. */
  async close(): Promise<void> {
    this.#stop()
    await this.#running
    this.#box.end()
  }

  #hearer(protocol: SocketProtocol<Event>, index: number): LineHearer<Event> {
    return {
      live: () => this.#isUp(index),
      event: event => {
        // What one line tells while another is down is in the snapshot that follows.
        if (this.#live.size === this.#lines.length) this.#box.put(event, protocol.stateOf?.(event) ?? null)
      },
      gap: (cause, reason) => this.#isDown(index, cause, reason)
    }
  }

  #isUp(index: number): void {
    const wereAll = this.#live.size === this.#lines.length
    this.#live.add(index)
    if (wereAll || this.#live.size < this.#lines.length) return
    this.#outage = null
    this.#box.put({ type: 'live', at: this.#options.clock.now() })
  }

  #isDown(index: number, cause: GapCause, reason: string): void {
    this.#live.delete(index)
    if (this.#outage === cause) return
    this.#outage = cause
    this.#box.put({ type: 'gap', cause, reason, at: this.#options.clock.now() })
  }

  #stop(): void {
    for (const line of this.#lines) line.stop()
  }

  /** Never rejects. What ends one line for good ends all. */
  async #run(): Promise<void> {
    this.#signal.addEventListener('abort', this.#giveUp, { once: true })
    if (this.#signal.aborted) this.#stop()
    const ends = await Promise.all(
      this.#lines.map(async line => {
        try {
          await line.run()
          return null
        } catch (error) {
          this.#stop()
          return { error }
        }
      })
    )
    const failure = ends.find(end => end !== null)
    if (failure === undefined) this.#box.end()
    else this.#box.fail(failure.error)
    this.#signal.removeEventListener('abort', this.#giveUp)
    this.#ended()
  }
}
