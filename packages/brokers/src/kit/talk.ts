/** One connection to a broker's stream, from its opening to its end. */

import type { Clock } from '@trunkline/core/ports/clock'
import type { Closing, Conversation, Frame, Heard, Line } from './conversation.ts'
import type { HttpReply } from './http.ts'
import type { LineOptions } from './kept-line.ts'
import { LineTransport } from './lines.ts'
import { StreamFault } from './stream-fault.ts'
import type { Transport, TransportHearer } from './transport.ts'
import { WebSocketTransport } from './web-socket.ts'

/** Who is told what comes of a talk. */
export interface TalkOwner<Event> {
  live(): void
  event(event: Event): void
  gap(cause: StreamFault['gap'], reason: string): void
  /** The talk has ended by this; called at once, before the socket is gone. */
  lost(error: unknown): void
}

/** Silence longer than this many heartbeats is a dead line, not a quiet market. */
const HEARTBEATS_MISSED = 2
/** A line that is heard and never becomes live is given up after so many handshakes: what should make it live was lost, and will not come. */
const HANDSHAKES = 3
/** However seldom a broker says that it will be heard. */
const SILENCE_MS_MAX = 600_000
const UTF8 = new TextDecoder('utf-8', { fatal: true })

export class Talk<Event> implements Line<Event>, TransportHearer {
  /** Resolves when the talk was ended and the socket is gone. @throws what ended it otherwise. */
  readonly over: Promise<void>
  readonly #conversation: Conversation<Event>
  readonly #owner: TalkOwner<Event>
  readonly #clock: Clock
  readonly #transport: Transport
  readonly #settle: (outcome: Promise<void>) => void
  /** Made for those who ask for the signal. */
  #closing: AbortController | null = null
  #isOver = false
  #liveSinceMs: number | null = null
  #endedAtMs = 0
  readonly #liveDueMs: number
  #heardAtMs: number
  #silenceMaxMs: number
  #silence: Disposable
  #next: Disposable | null = null
  #tending: Promise<void> | null = null

  constructor(conversation: Conversation<Event>, owner: TalkOwner<Event>, options: LineOptions) {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.over = promise
    this.#settle = resolve
    this.#conversation = conversation
    this.#owner = owner
    this.#clock = options.clock
    this.#heardAtMs = options.clock.monotonicMs()
    this.#silenceMaxMs = options.handshakeMs
    this.#liveDueMs = this.#heardAtMs + HANDSHAKES * options.handshakeMs
    const { lines } = conversation
    this.#transport =
      lines === undefined
        ? new WebSocketTransport(conversation, this, options, options.clock)
        : new LineTransport({ ...lines, url: conversation.url, headers: conversation.headers ?? {} }, this, options)
    this.#silence = this.#listen()
  }

  get signal(): AbortSignal {
    this.#closing ??= new AbortController()
    if (this.#isOver) this.#closing.abort(new Error('the stream ended'))
    return this.#closing.signal
  }

  livedMs(): number {
    if (this.#liveSinceMs === null) return 0
    return (this.#isOver ? this.#endedAtMs : this.#clock.monotonicMs()) - this.#liveSinceMs
  }

  say(frame: Frame): void {
    this.#transport.say(frame)
  }

  tell(heard: Heard<Event>): void {
    if (this.#isOver) return
    switch (heard.type) {
      case 'live':
        this.#liveSinceMs = this.#clock.monotonicMs()
        this.#silenceMaxMs = Math.min(heard.heartbeatMs * HEARTBEATS_MISSED, SILENCE_MS_MAX)
        // The handshake's patience may be longer than two heartbeats.
        this.#silence[Symbol.dispose]()
        this.#silence = this.#listen()
        this.#owner.live()
        this.#tend()
        return
      case 'event':
        this.#owner.event(heard.event)
        return
      case 'gap':
        this.#owner.gap(heard.cause, heard.reason)
        this.#owner.live()
        return
      case 'over':
        this.#fail(heard.fault ?? new StreamFault(heard.cause, heard.reason))
    }
  }

  /** Ends it politely. */
  end(): void {
    if (!this.#isOver) this.#settle(this.#end(true))
  }

  opened(): void {
    if (this.#isOver) return
    try {
      this.#conversation.opened?.(this)
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Before the line is live an open socket is not an answer. */
  beat(): void {
    if (this.#liveSinceMs !== null) this.#heardAtMs = this.#clock.monotonicMs()
  }

  frame(frame: string): void {
    this.#hear(() => this.#conversation.hear(frame))
  }

  bytes(frame: Uint8Array): void {
    const conversation = this.#conversation
    this.#hear(() => {
      if (conversation.hearBytes !== undefined) return conversation.hearBytes(frame)
      if (conversation.textIsBinary !== true) throw new Error('the broker sent a binary frame')
      return conversation.hear(UTF8.decode(frame))
    })
  }

  #hear(read: () => readonly Heard<Event>[]): void {
    this.#heardAtMs = this.#clock.monotonicMs()
    if (this.#isOver) return
    try {
      for (const heard of read()) this.tell(heard)
    } catch (error) {
      this.#fail(error instanceof StreamFault ? error : new StreamFault('malformed', messageOf(error), error))
    }
  }

  closed(code: number | null): void {
    if (this.#isOver) return
    const closing = code === null ? null : (this.#conversation.closed?.(code) ?? null)
    const what = code === null ? 'ended the stream' : `closed the stream (${code})`
    void this.#closed(closing, new StreamFault(closing?.cause ?? 'lost', `the broker ${what}`))
  }

  refused(answer: HttpReply): void {
    if (this.#isOver) return
    const closing = this.#conversation.refused?.(answer) ?? null
    void this.#closed(closing, new StreamFault(closing?.cause ?? 'refused', `the broker answered ${answer.status} to the stream`))
  }

  failed(fault: StreamFault): void {
    this.#fail(fault)
  }

  /** The gap is told before anything is mended: that may take a while. Never rejects. */
  async #closed(closing: Closing | null, fault: StreamFault): Promise<void> {
    try {
      if (closing?.mend !== undefined) {
        this.#owner.lost(fault)
        await closing.mend(this.signal)
      }
      this.#fail(fault)
    } catch (error) {
      this.#fail(error)
    }
  }

  /** A frame resets the patience; an open socket does not, and before the line is live no frame does for long. */
  #listen(): Disposable {
    return this.#clock.alarm(Math.max(0, this.#dueMs() - this.#clock.monotonicMs()), () => {
      if (this.#isOver) return
      // Alarms come before sockets are read: after a pause of this process what was said meanwhile is heard in between.
      this.#silence = this.#isDue() ? this.#clock.alarm(0, () => this.#judge()) : this.#listen()
    })
  }

  #judge(): void {
    if (this.#isOver) return
    if (!this.#isDue()) this.#silence = this.#listen()
    else if (this.#clock.monotonicMs() - this.#heardAtMs < this.#silenceMaxMs)
      this.#fail(new StreamFault('silence', 'the broker is heard, and does not begin what was asked for'))
    else this.#fail(new StreamFault('silence', `nothing heard from the broker for ${Math.round(this.#silenceMaxMs)} ms`))
  }

  #isDue(): boolean {
    return this.#clock.monotonicMs() >= this.#dueMs()
  }

  #dueMs(): number {
    const silentMs = this.#heardAtMs + this.#silenceMaxMs
    return this.#liveSinceMs === null ? Math.min(silentMs, this.#liveDueMs) : silentMs
  }

  #tend(): void {
    const { tend } = this.#conversation
    if (tend === undefined || this.#isOver) return
    this.#tending = tend.call(this.#conversation, this).then(
      ms => {
        this.#tending = null
        if (!this.#isOver) this.#next = this.#clock.alarm(ms, () => this.#tend())
      },
      (error: unknown) => this.#fail(error)
    )
  }

  #fail(error: unknown): void {
    if (this.#isOver) return
    this.#owner.lost(error)
    this.#settle(
      this.#end(false).then(() => {
        throw error
      })
    )
  }

  async #end(isPolite: boolean): Promise<void> {
    this.#isOver = true
    this.#endedAtMs = this.#clock.monotonicMs()
    this.#silence[Symbol.dispose]()
    this.#next?.[Symbol.dispose]()
    this.#closing?.abort(new Error('the stream ended'))
    await Promise.all([this.#transport.end(isPolite), this.#tending, this.#conversation.ended?.()])
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'the stream failed'
}
