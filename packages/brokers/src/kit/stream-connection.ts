/** One connection to a broker's stream, from open to close. */

import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import type { HttpReply } from './http.ts'
import { LineTransport } from './line-transport.ts'
import type { RateLimiter } from './rate-limiter.ts'
import type { Backoff } from './retry.ts'
import { StreamFault } from './stream-fault.ts'
import type { Closing, Connection, Frame, StreamMessage, StreamProtocol } from './stream-protocol.ts'
import type { Transport, TransportListener } from './transport.ts'
import { WebSocketTransport } from './web-socket.ts'

export interface ConnectionOptions {
  readonly clock: Clock
  readonly fraction: () => number
  readonly log: Log
  /** Connection rates to the host, shared by all its streams: for the first connection of each stream, and for later ones. */
  readonly connectLimiters: { readonly first: RateLimiter; readonly again: RateLimiter }
  readonly backoff: Backoff
  /** A connection that was live this long resets the backoff; a shorter one counts as flapping. */
  readonly steadyMs: number
  /** Silence tolerated until the connection is live; in total the handshake may take three times as long. */
  readonly handshakeMs: number
  readonly frameMax: number
}

/** Receives the events of a connection. */
export interface StreamConnectionOwner<Event> {
  live(): void
  event(event: Event): void
  gap(cause: StreamFault['gap'], reason: string): void
  /** The cause that ended the connection; called at once, before the socket is closed. */
  lost(error: unknown): void
}

/** After this many heartbeats of silence the connection counts as dead: a quiet market still sends heartbeats. */
const HEARTBEATS_MISSED = 2
/**
 * A connection that receives data but never becomes live is closed after this many handshake timeouts: the message that makes it live was
 * lost.
 */
const HANDSHAKES = 3
/** Upper bound, whatever heartbeat interval the broker announces. */
const SILENCE_MS_MAX = 600_000
const UTF8 = new TextDecoder('utf-8', { fatal: true })

export class StreamConnection<Event> implements Connection<Event>, TransportListener {
  /** Resolves when we ended the connection and the socket is closed. @throws any other cause that ended it. */
  readonly over: Promise<void>
  readonly #protocol: StreamProtocol<Event>
  readonly #owner: StreamConnectionOwner<Event>
  readonly #clock: Clock
  readonly #transport: Transport
  readonly #settle: (outcome: Promise<void>) => void
  /** Created when the signal is first read. */
  #closing: AbortController | null = null
  #isOver = false
  #liveSinceMs: number | null = null
  #endedAtMs = 0
  readonly #liveDueMs: number
  #lastReceivedMs: number
  #silenceMaxMs: number
  #silence: Disposable
  #nextMaintenance: Disposable | null = null
  #maintaining: Promise<void> | null = null

  constructor(protocol: StreamProtocol<Event>, owner: StreamConnectionOwner<Event>, options: ConnectionOptions) {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.over = promise
    this.#settle = resolve
    this.#protocol = protocol
    this.#owner = owner
    this.#clock = options.clock
    this.#lastReceivedMs = options.clock.monotonicMs()
    this.#silenceMaxMs = options.handshakeMs
    this.#liveDueMs = this.#lastReceivedMs + HANDSHAKES * options.handshakeMs
    const { lines } = protocol
    this.#transport =
      lines === undefined
        ? new WebSocketTransport(protocol, this, options, options.clock)
        : new LineTransport({ ...lines, url: protocol.url, headers: protocol.headers ?? {} }, this, options)
    this.#silence = this.#watchSilence()
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

  send(frame: Frame): void {
    this.#transport.send(frame)
  }

  emit(message: StreamMessage<Event>): void {
    if (this.#isOver) return
    switch (message.type) {
      case 'live':
        this.#liveSinceMs = this.#clock.monotonicMs()
        this.#silenceMaxMs = Math.min(message.heartbeatMs * HEARTBEATS_MISSED, SILENCE_MS_MAX)
        // The handshake timeout may be longer than two heartbeats.
        this.#silence[Symbol.dispose]()
        this.#silence = this.#watchSilence()
        this.#owner.live()
        this.#maintain()
        return
      case 'event':
        this.#owner.event(message.event)
        return
      case 'gap':
        this.#owner.gap(message.cause, message.reason)
        this.#owner.live()
        return
      case 'over':
        this.#fail(message.fault ?? new StreamFault(message.cause, message.reason))
    }
  }

  /** Closes with a close frame. */
  end(): void {
    if (!this.#isOver) this.#settle(this.#end(true))
  }

  opened(): void {
    if (this.#isOver) return
    try {
      this.#protocol.opened?.(this)
    } catch (error) {
      this.#fail(error)
    }
  }

  /** An open socket alone does not count as an answer; only a live stream does. */
  beat(): void {
    if (this.#liveSinceMs !== null) this.#lastReceivedMs = this.#clock.monotonicMs()
  }

  frame(frame: string): void {
    this.#receive(() => this.#protocol.onFrame(frame))
  }

  bytes(frame: Uint8Array): void {
    const protocol = this.#protocol
    this.#receive(() => {
      if (protocol.onBinaryFrame !== undefined) return protocol.onBinaryFrame(frame)
      if (protocol.textIsBinary !== true) throw new Error('the broker sent a binary frame')
      return protocol.onFrame(UTF8.decode(frame))
    })
  }

  #receive(read: () => readonly StreamMessage<Event>[]): void {
    this.#lastReceivedMs = this.#clock.monotonicMs()
    if (this.#isOver) return
    try {
      for (const message of read()) this.emit(message)
    } catch (error) {
      this.#fail(error instanceof StreamFault ? error : new StreamFault('malformed', messageOf(error), error))
    }
  }

  closed(code: number | null): void {
    if (this.#isOver) return
    const closing = code === null ? null : (this.#protocol.closed?.(code) ?? null)
    const what = code === null ? 'ended the stream' : `closed the stream (${code})`
    void this.#closed(closing, new StreamFault(closing?.cause ?? 'lost', `the broker ${what}`))
  }

  refused(answer: HttpReply): void {
    if (this.#isOver) return
    const closing = this.#protocol.refused?.(answer) ?? null
    void this.#closed(closing, new StreamFault(closing?.cause ?? 'refused', `the broker answered ${answer.status} to the stream`))
  }

  failed(fault: StreamFault): void {
    this.#fail(fault)
  }

  /** The gap is reported before recovery begins, because recovery may take a while. Never rejects. */
  async #closed(closing: Closing | null, fault: StreamFault): Promise<void> {
    try {
      if (closing?.recover !== undefined) {
        this.#owner.lost(fault)
        await closing.recover(this.signal)
      }
      this.#fail(fault)
    } catch (error) {
      this.#fail(error)
    }
  }

  /** A frame resets the silence timer; an open socket does not. Before the stream is live, frames extend the wait only up to a bound. */
  #watchSilence(): Disposable {
    return this.#clock.alarm(Math.max(0, this.#dueMs() - this.#clock.monotonicMs()), () => {
      if (this.#isOver) return
      // Timers run before sockets are read: after a pause of this process, frames that have arrived must be read first.
      this.#silence = this.#isDue() ? this.#clock.alarm(0, () => this.#checkSilence()) : this.#watchSilence()
    })
  }

  #checkSilence(): void {
    if (this.#isOver) return
    if (!this.#isDue()) this.#silence = this.#watchSilence()
    else if (this.#clock.monotonicMs() - this.#lastReceivedMs < this.#silenceMaxMs)
      this.#fail(new StreamFault('silence', 'the broker sends data, but does not start the requested stream'))
    else this.#fail(new StreamFault('silence', `nothing received from the broker for ${Math.round(this.#silenceMaxMs)} ms`))
  }

  #isDue(): boolean {
    return this.#clock.monotonicMs() >= this.#dueMs()
  }

  #dueMs(): number {
    const silentMs = this.#lastReceivedMs + this.#silenceMaxMs
    return this.#liveSinceMs === null ? Math.min(silentMs, this.#liveDueMs) : silentMs
  }

  #maintain(): void {
    const { maintain } = this.#protocol
    if (maintain === undefined || this.#isOver) return
    this.#maintaining = maintain.call(this.#protocol, this).then(
      ms => {
        this.#maintaining = null
        if (!this.#isOver) this.#nextMaintenance = this.#clock.alarm(ms, () => this.#maintain())
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
    this.#nextMaintenance?.[Symbol.dispose]()
    this.#closing?.abort(new Error('the stream ended'))
    await Promise.all([this.#transport.end(isPolite), this.#maintaining, this.#protocol.ended?.()])
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'the stream failed'
}
