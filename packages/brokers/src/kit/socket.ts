/** Keeps one WebSocket conversation with a broker going: connect, watch for silence, say `gap`, reconnect, say `live`. */

import type { Timestamp } from '@trunkline/core/domain/timestamp'
import { BrokerFault, type GapCause } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import { WebSocket } from 'ws'
import type { RateBudget } from './budget.ts'
import { Mailbox } from './mailbox.ts'
import { type Backoff, pauseMs } from './retry.ts'
import { gapOf, StreamFault } from './stream-fault.ts'

/** What a conversation makes of a frame. */
export type Heard<Event> =
  /** The broker has accepted us and says how often it makes itself heard. */
  | { readonly type: 'live'; readonly heartbeatMs: number }
  | { readonly type: 'event'; readonly event: Event }
  /** Something was missed, but the line is good from here on. */
  | { readonly type: 'gap'; readonly cause: GapCause; readonly reason: string }
  /** This conversation is over. With `fault` the session ends with it. */
  | { readonly type: 'over'; readonly cause: GapCause; readonly reason: string; readonly fault?: BrokerFault }

/** One connection's worth of talk; made anew for each. */
export interface Conversation<Event> {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  /** Some brokers send their text in binary frames. Without this a binary frame ends the conversation. */
  readonly textIsBinary?: boolean
  /** Frames to send as soon as the socket is open. */
  readonly hello: readonly string[]
  /** Reads one frame. What it throws ends the conversation: a frame that cannot be read may have been an execution. */
  hear(frame: string): readonly Heard<Event>[]
  /** Runs beside the conversation once it is live, until `signal` aborts; its failure ends the conversation. */
  tend?(line: Line<Event>, signal: AbortSignal): Promise<void>
  /** What a close code means, for brokers that close a socket to say something. Null: the line was lost. */
  closed?(code: number): Closing | null
}

export interface Closing {
  readonly cause: GapCause
  /** What has to be done before the next connection, such as getting another token. @throws BrokerFault */
  mend?(signal: AbortSignal): Promise<void>
}

export interface Line<Event> {
  say(frame: string): void
  tell(heard: Heard<Event>): void
}

export interface SocketProtocol<Event> {
  /** Gets what a connection needs. @throws BrokerFault, of which `credentials_rejected` ends the session; StreamFault to name the cause. */
  begin(signal: AbortSignal): Promise<Conversation<Event>>
  /** Names what an event is the newest state of, so that a slow reader gets only the newest; null for events that each count. */
  stateOf?(event: Event): string | null
}

export interface SocketOptions {
  readonly clock: Clock
  readonly fraction: () => number
  readonly log: Log
  /** Connections per second to the host, shared by all sessions with it. */
  readonly connects: RateBudget
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

export type Told<Event> =
  | { readonly type: 'live'; readonly at: Timestamp }
  /** Also when it cannot be opened at first, and again when what keeps it down is another cause. */
  | { readonly type: 'gap'; readonly cause: GapCause; readonly reason: string; readonly at: Timestamp }
  | { readonly type: 'event'; readonly event: Event }

/** Silence longer than this many heartbeats is a dead line, not a quiet market. */
const HEARTBEATS_MISSED = 2
/** For the answer to a close frame. */
const CLOSE_MS = 1_000

/** Events for one reader until `signal` aborts. @throws BrokerFault of the kind `credentials_rejected`, nothing else. */
export async function* socketEvents<Event>(
  protocol: SocketProtocol<Event>,
  options: SocketOptions,
  signal: AbortSignal
): AsyncGenerator<Told<Event>, void, undefined> {
  const stop = new AbortController()
  const end = AbortSignal.any([signal, stop.signal])
  const at = () => options.clock.now()
  const box = new Mailbox<Told<Event>>({
    itemsMax: options.eventsMax,
    keyOf: told => (told.type === 'event' ? (protocol.stateOf?.(told.event) ?? null) : null),
    // Events arrive only while live, so what follows the gap is live again.
    overflow: () => [
      { type: 'gap', cause: 'overflow', reason: `more than ${options.eventsMax} events waited for their reader`, at: at() },
      { type: 'live', at: at() }
    ]
  })
  const running = keepGoing(protocol, options, box, end).then(
    () => box.end(),
    (error: unknown) => box.fail(error)
  )
  try {
    yield* box
  } finally {
    stop.abort()
    await running
  }
}

async function keepGoing<Event>(
  protocol: SocketProtocol<Event>,
  options: SocketOptions,
  box: Mailbox<Told<Event>>,
  signal: AbortSignal
): Promise<void> {
  const { clock } = options
  const continuity = new Continuity(clock, box)
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    const talk = new Talk(options, box, continuity)
    try {
      await options.connects.take('read', signal)
      await talk.run(await protocol.begin(signal), signal)
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof BrokerFault && error.kind === 'credentials_rejected') throw error
      talk.lost(error)
    }
    if (signal.aborted) return
    if (talk.livedMs() >= options.steadyMs) attempt = 0
    await clock.sleep(pauseMs(options.backoff, attempt, options.fraction), signal).catch(() => undefined)
  }
}

/** What the reader knows of the line: an outage is told once, and again only when its cause is another one. */
class Continuity<Event> {
  readonly #clock: Clock
  readonly #box: Mailbox<Told<Event>>
  #outage: GapCause | null = null

  constructor(clock: Clock, box: Mailbox<Told<Event>>) {
    this.#clock = clock
    this.#box = box
  }

  live(): void {
    this.#outage = null
    this.#box.put({ type: 'live', at: this.#clock.now() })
  }

  lost(cause: GapCause, reason: string): void {
    if (this.#outage === cause) return
    this.#outage = cause
    this.#box.put({ type: 'gap', cause, reason, at: this.#clock.now() })
  }
}

/** One connection from its opening to its end. */
class Talk<Event> {
  readonly #options: SocketOptions
  readonly #box: Mailbox<Told<Event>>
  readonly #continuity: Continuity<Event>
  readonly #over = Promise.withResolvers<void>()
  readonly #closing = new AbortController()
  #liveSinceMs: number | null = null
  #heardAtMs: number
  #silenceMaxMs: number
  #isLost = false
  /** What runs beside the conversation; none of it rejects. */
  readonly #tasks: Promise<void>[] = []

  constructor(options: SocketOptions, box: Mailbox<Told<Event>>, continuity: Continuity<Event>) {
    this.#options = options
    this.#box = box
    this.#continuity = continuity
    this.#heardAtMs = options.clock.monotonicMs()
    this.#silenceMaxMs = options.handshakeMs
  }

  livedMs(): number {
    return this.#liveSinceMs === null ? 0 : this.#options.clock.monotonicMs() - this.#liveSinceMs
  }

  /** Ends when the conversation does. @throws what ended it, unless `signal` did. */
  async run(conversation: Conversation<Event>, signal: AbortSignal): Promise<void> {
    const { handshakeMs, frameMax } = this.#options
    const socket = new WebSocket(conversation.url, {
      headers: conversation.headers ?? {},
      perMessageDeflate: false,
      followRedirects: false,
      handshakeTimeout: handshakeMs,
      maxPayload: frameMax,
      rejectUnauthorized: true
    })
    const giveUp = () => this.#over.resolve()
    signal.addEventListener('abort', giveUp, { once: true })
    this.#heardAtMs = this.#options.clock.monotonicMs()
    this.#tasks.push(this.#watch())
    this.#attend(socket, conversation)
    try {
      await this.#over.promise
    } finally {
      signal.removeEventListener('abort', giveUp)
      this.#closing.abort()
      await end(socket, this.#options.clock, signal.aborted)
      await Promise.all(this.#tasks)
    }
  }

  /** The conversation's first end counts; what follows from it is not told. */
  lost(error: unknown): void {
    if (this.#isLost) return
    this.#isLost = true
    const { cause, reason } = gapOf(error)
    this.#continuity.lost(cause, reason)
    this.#options.log.info('broker stream lost', { cause, reason, livedMs: Math.round(this.livedMs()) })
  }

  #attend(socket: WebSocket, conversation: Conversation<Event>): void {
    const line: Line<Event> = { say: frame => socket.send(frame), tell: heard => this.#take(heard, conversation, line) }
    socket.on('open', () => {
      for (const frame of conversation.hello) socket.send(frame)
    })
    socket.on('message', (data, isBinary) => {
      this.#heardAtMs = this.#options.clock.monotonicMs()
      try {
        if (isBinary && conversation.textIsBinary !== true) throw new Error('the broker sent a binary frame')
        for (const heard of conversation.hear(data.toString())) this.#take(heard, conversation, line)
      } catch (error) {
        this.#fail(error instanceof StreamFault ? error : new StreamFault('malformed', messageOf(error), error))
      }
    })
    socket.on('close', code => void this.#closed(code, conversation))
    socket.on('unexpected-response', (_request, { statusCode }) => {
      this.#fail(new StreamFault('refused', `the broker answered ${statusCode} to the stream`))
    })
    socket.on('error', error => {
      const isProtocol = 'code' in error && typeof error.code === 'string' && error.code.startsWith('WS_ERR_')
      this.#fail(new StreamFault(isProtocol ? 'malformed' : 'lost', error.message, error))
    })
  }

  /** The gap is told before anything is mended: that may take a while. Never rejects. */
  async #closed(code: number, conversation: Conversation<Event>): Promise<void> {
    const closing = conversation.closed?.(code) ?? null
    const ended = new StreamFault(closing?.cause ?? 'lost', `the broker closed the stream (${code})`)
    try {
      if (closing?.mend !== undefined && !this.#closing.signal.aborted) {
        this.lost(ended)
        await closing.mend(this.#closing.signal)
      }
      this.#fail(ended)
    } catch (error) {
      this.#fail(error)
    }
  }

  #take(heard: Heard<Event>, conversation: Conversation<Event>, line: Line<Event>): void {
    if (this.#isLost || this.#closing.signal.aborted) return
    switch (heard.type) {
      case 'live':
        this.#liveSinceMs = this.#options.clock.monotonicMs()
        this.#silenceMaxMs = heard.heartbeatMs * HEARTBEATS_MISSED
        this.#continuity.live()
        // The watch over the handshake sleeps for longer than a heartbeat takes, so a second one begins.
        this.#tasks.push(this.#watch())
        this.#tend(conversation, line)
        return
      case 'event':
        this.#box.put(heard)
        return
      case 'gap':
        this.#continuity.lost(heard.cause, heard.reason)
        this.#continuity.live()
        return
      case 'over':
        this.#fail(heard.fault ?? new StreamFault(heard.cause, heard.reason))
    }
  }

  #tend(conversation: Conversation<Event>, line: Line<Event>): void {
    if (conversation.tend === undefined) return
    this.#tasks.push(conversation.tend(line, this.#closing.signal).catch((error: unknown) => this.#fail(error)))
  }

  #fail(error: unknown): void {
    if (this.#closing.signal.aborted) return
    this.lost(error)
    this.#over.reject(error)
    this.#over.promise.catch(() => undefined)
  }

  /** Never rejects. A frame resets the patience; an open socket does not. */
  async #watch(): Promise<void> {
    const { clock } = this.#options
    while (!this.#closing.signal.aborted) {
      const leftMs = this.#heardAtMs + this.#silenceMaxMs - clock.monotonicMs()
      if (leftMs <= 0)
        return this.#fail(new StreamFault('silence', `nothing heard from the broker for ${Math.round(this.#silenceMaxMs)} ms`))
      await clock.sleep(Math.min(leftMs, this.#silenceMaxMs), this.#closing.signal).catch(() => undefined)
    }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'the stream failed'
}

/** Resolves once the socket is really gone. A peer that does not answer the close frame in time is cut off. */
async function end(socket: WebSocket, clock: Clock, isPolite: boolean): Promise<void> {
  if (socket.readyState === WebSocket.CLOSED) return
  const gone = new Promise<void>(resolve => socket.once('close', () => resolve()))
  if (isPolite && socket.readyState === WebSocket.OPEN) {
    socket.close(1000)
    const waited = new AbortController()
    await Promise.race([gone.then(() => waited.abort()), clock.sleep(CLOSE_MS, waited.signal).catch(() => undefined)])
  }
  socket.terminate()
  await gone
}
