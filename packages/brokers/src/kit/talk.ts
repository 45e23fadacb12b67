/** One connection to a broker's stream, from its opening to its end. */

import type { Clock } from '@trunkline/core/ports/clock'
import { WebSocket } from 'ws'
import type { Conversation, Heard, Line } from './conversation.ts'
import type { LineOptions } from './kept-line.ts'
import { StreamFault } from './stream-fault.ts'

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
/** However seldom a broker says that it will be heard. */
const SILENCE_MS_MAX = 600_000
/** For the answer to a close frame. */
const CLOSE_MS = 1_000

export class Talk<Event> implements Line<Event> {
  /** Resolves when the talk was ended and the socket is gone. @throws what ended it otherwise. */
  readonly over: Promise<void>
  readonly #conversation: Conversation<Event>
  readonly #owner: TalkOwner<Event>
  readonly #clock: Clock
  readonly #socket: WebSocket
  readonly #settle: (outcome: Promise<void>) => void
  /** Made for those who ask for the signal. */
  #closing: AbortController | null = null
  #isOver = false
  #liveSinceMs: number | null = null
  #endedAtMs = 0
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
    this.#socket = new WebSocket(conversation.url, {
      headers: conversation.headers ?? {},
      perMessageDeflate: false,
      followRedirects: false,
      handshakeTimeout: options.handshakeMs,
      maxPayload: options.frameMax,
      rejectUnauthorized: true
    })
    this.#silence = this.#listen()
    this.#attend()
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

  say(frame: string): void {
    this.#socket.send(frame)
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

  #attend(): void {
    const socket = this.#socket
    socket.on('open', () => {
      for (const frame of this.#conversation.hello) socket.send(frame)
    })
    socket.on('message', (data, isBinary) => this.#hear(data.toString(), isBinary))
    socket.on('close', code => void this.#closed(code))
    socket.on('unexpected-response', (_request, { statusCode }) => {
      this.#fail(new StreamFault('refused', `the broker answered ${statusCode} to the stream`))
    })
    socket.on('error', error => {
      const isProtocol = 'code' in error && typeof error.code === 'string' && error.code.startsWith('WS_ERR_')
      this.#fail(new StreamFault(isProtocol ? 'malformed' : 'lost', error.message, error))
    })
  }

  #hear(frame: string, isBinary: boolean): void {
    this.#heardAtMs = this.#clock.monotonicMs()
    if (this.#isOver) return
    try {
      if (isBinary && this.#conversation.textIsBinary !== true) throw new Error('the broker sent a binary frame')
      for (const heard of this.#conversation.hear(frame)) this.tell(heard)
    } catch (error) {
      this.#fail(error instanceof StreamFault ? error : new StreamFault('malformed', messageOf(error), error))
    }
  }

  /** The gap is told before anything is mended: that may take a while. Never rejects. */
  async #closed(code: number): Promise<void> {
    if (this.#isOver) return
    const closing = this.#conversation.closed?.(code) ?? null
    const ended = new StreamFault(closing?.cause ?? 'lost', `the broker closed the stream (${code})`)
    try {
      if (closing?.mend !== undefined) {
        this.#owner.lost(ended)
        await closing.mend(this.signal)
      }
      this.#fail(ended)
    } catch (error) {
      this.#fail(error)
    }
  }

  /** A frame resets the patience; an open socket does not. */
  #listen(): Disposable {
    const leftMs = this.#heardAtMs + this.#silenceMaxMs - this.#clock.monotonicMs()
    return this.#clock.alarm(Math.max(0, leftMs), () => {
      if (this.#isOver) return
      if (this.#clock.monotonicMs() - this.#heardAtMs < this.#silenceMaxMs) this.#silence = this.#listen()
      else this.#fail(new StreamFault('silence', `nothing heard from the broker for ${Math.round(this.#silenceMaxMs)} ms`))
    })
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
    await Promise.all([ended(this.#socket, this.#clock, isPolite), this.#tending, this.#conversation.ended?.()])
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'the stream failed'
}

/** Resolves once the socket is really gone. A peer that does not answer the close frame in time is cut off. */
async function ended(socket: WebSocket, clock: Clock, isPolite: boolean): Promise<void> {
  if (socket.readyState === WebSocket.CLOSED) return
  const gone = new Promise<void>(resolve => socket.once('close', () => resolve()))
  if (isPolite && socket.readyState === WebSocket.OPEN) {
    socket.close(1000)
    const cut = clock.alarm(CLOSE_MS, () => socket.terminate())
    await gone
    cut[Symbol.dispose]()
    return
  }
  socket.terminate()
  await gone
}
