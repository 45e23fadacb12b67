import { StreamError } from './errors.ts'

/** What is needed of a WebSocket: browsers, Bun, Deno and Node.js 22 have it; for Node.js 20, pass the one of the package `ws`. */
export interface SocketLike {
  send(text: string): void
  close(code?: number, reason?: string): void
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void
  addEventListener(type: 'close', listener: (event: { readonly code: number; readonly reason: string }) => void): void
  addEventListener(type: 'open' | 'error', listener: () => void): void
}

export type SocketConstructor = new (url: string) => SocketLike

/** A message of the service, of which only the form is known. */
export type Incoming = Readonly<Record<string, unknown>>

export interface Timers {
  /** Milliseconds that never run backwards. */
  nowMs(): number
  /** Calls once after the time, unless the returned function was called before. */
  after(ms: number, run: () => void): () => void
}

export interface ConnectionOptions {
  readonly url: string
  /** Sends credentials unencrypted to another machine, with a `url` that begins with `ws:`. */
  readonly allowHttp?: boolean
  readonly socket?: SocketConstructor
  readonly timers?: Timers
  readonly random?: () => number
}

export interface ConnectionHandlers {
  /** Messages can be sent; authenticate. */
  opened(): void
  /**
   * What it throws ends the connection, with its message as the reason.
   * @param wasSilent before it, {@link StreamConnection.isReceiving} was false
   */
  received(message: Incoming, wasSilent: boolean): void
  /** The connection is gone, or there was none; another one follows after a while. */
  ended(reason: string): void
  /** None follows: a person has to act first. */
  failed(error: unknown): void
  ping(): object
  /** What was sent as credentials, which no reason may repeat; empty before that. */
  secret(): string
  /** Reasons of the service after which new credentials may do. Without it, the same ones are sent each time. */
  readonly renewable?: RegExp
}

let sleptMs = 0

export const SYSTEM_TIMERS: Timers = {
  /** While the machine sleeps, `performance` stands still on some systems, and connections end all the same. */
  nowMs() {
    const nowMs = performance.now()
    sleptMs = Math.max(sleptMs, Date.now() - performance.timeOrigin - nowMs)
    return nowMs + sleptMs
  },
  after(ms, run) {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  }
}

/** Nothing received for so long: the service is asked for a sign of life. It answers, and never asks. */
const PING_AFTER_MS = 15_000
/** … and after so long without an answer the connection is dead, whatever the operating system believes. */
const DEAD_AFTER_MS = 30_000
const LOOK_EVERY_MS = 5_000
const WAIT_MS = { first: 250, max: 30_000 }
const REFUSALS_MAX = 3
/** Close code: the platform, its key, the token or the connection has ended. What came before says why. */
const ENDED_BY_SERVICE = 4003

/** A WebSocket that is opened again whenever it ends, after a random wait that grows while nothing works. */
export class StreamConnection {
  readonly timers: Timers
  readonly #options: ConnectionOptions
  readonly #handlers: ConnectionHandlers
  readonly #Socket: SocketConstructor
  #isRunning = false
  #socket: SocketLike | null = null
  #isOpen = false
  #isReady = false
  /** Of the timer that is set: the next look, or the next attempt. */
  #cancel: () => void = () => undefined
  #receivedMs: number | null = null
  /** Since something was received. */
  #isPinged = false
  #failures = 0
  #refusals = 0
  /** What the service reported last, if it was an error: a close may follow. */
  #reported: string | null = null

  /** @throws StreamError setting_invalid */
  constructor(options: ConnectionOptions, handlers: ConnectionHandlers) {
    this.#options = options
    this.#Socket = socketOf(options)
    this.#handlers = handlers
    this.timers = options.timers ?? SYSTEM_TIMERS
  }

  /** Another one for each connection, so that what was begun in one is not sent in the next. */
  get session(): object | null {
    return this.#socket
  }

  /** Authenticated: requests can be sent. */
  get isReady(): boolean {
    return this.#isReady
  }

  /** Milliseconds since the service was last received; null before the first message. */
  get ageMs(): number | null {
    return this.#receivedMs === null ? null : this.timers.nowMs() - this.#receivedMs
  }

  /** A machine that slept, or a link that is dead, has a socket that is open all the same: until it is given up, this tells. */
  get isReceiving(): boolean {
    const { ageMs } = this
    return ageMs !== null && ageMs < DEAD_AFTER_MS
  }

  start(): void {
    if (this.#isRunning) return
    this.#isRunning = true
    this.#open()
  }

  /** The handlers are not called any more. */
  stop(): void {
    this.#isRunning = false
    this.#forget()
  }

  send(message: object): void {
    if (this.#isOpen) this.#socket?.send(JSON.stringify(message))
  }

  /** The service took the credentials. */
  ready(): void {
    this.#isReady = true
    this.#refusals = 0
  }

  /** Keeps what the service reported, as the reason if a close follows. */
  reported(why: string): void {
    this.#reported = this.#clean(why)
  }

  /** The service did not take the credentials. That may pass, so it is tried again, but only twice. */
  refused(why: string): void {
    this.#refusals += 1
    if (this.#refusals >= REFUSALS_MAX) this.fail(new StreamError('credentials_refused', this.#clean(why)))
    else this.end(why)
  }

  end(reason: string): void {
    this.#ended(1000, reason)
  }

  fail(error: unknown): void {
    if (!this.#isRunning) return
    this.stop()
    this.#handlers.failed(error)
  }

  #open(): void {
    this.#reported = null
    this.#isPinged = false
    const openedMs = this.timers.nowMs()
    try {
      const socket = new this.#Socket(this.#options.url)
      this.#socket = socket
      socket.addEventListener('open', () => this.#guard(socket, () => this.#opened()))
      socket.addEventListener('message', ({ data }) => this.#guard(socket, () => this.#received(data)))
      socket.addEventListener('close', ({ code, reason }) => this.#guard(socket, () => this.#ended(code, String(reason))))
      // A close follows, but in some versions of Node.js 22 none of an attempt that fails.
      socket.addEventListener('error', () => this.#guard(socket, () => this.#isOpen || this.#ended(1006, '')))
      this.#look(openedMs)
    } catch (error) {
      // What the constructor refuses now it refuses always.
      this.fail(error)
    }
  }

  #opened(): void {
    this.#isOpen = true
    this.#handlers.opened()
  }

  #received(data: unknown): void {
    const wasSilent = !this.isReceiving
    this.#receivedMs = this.timers.nowMs()
    this.#isPinged = false
    this.#reported = null
    this.#handlers.received(parsed(data), wasSilent)
  }

  /** What an earlier socket still reports is ignored. */
  #guard(socket: SocketLike, run: () => void): void {
    if (this.#socket !== socket) return
    try {
      run()
    } catch (error) {
      if (this.#socket === socket) this.end(error instanceof Error ? error.message : String(error))
    }
  }

  #look(sinceMs: number): void {
    this.#cancel = this.timers.after(LOOK_EVERY_MS, () => {
      const silentMs = this.timers.nowMs() - Math.max(sinceMs, this.#receivedMs ?? sinceMs)
      // Of a page in the background, or a busy process, this may be the first look for long.
      if (silentMs >= DEAD_AFTER_MS && (this.#isPinged || !this.#isOpen)) {
        this.end('the service was silent for too long')
        return
      }
      // Not earlier: a service that takes the credentials and closes at once would be asked again and again.
      if (this.#isReady) this.#failures = 0
      if (silentMs >= PING_AFTER_MS && this.#isOpen) {
        this.#isPinged = true
        this.send(this.#handlers.ping())
      }
      this.#look(sinceMs)
    })
  }

  #ended(code: number, reason: string): void {
    if (this.#socket === null) return
    const { renewable } = this.#handlers
    const why = this.#clean(this.#reported ?? (reason === '' ? `closed with ${code}` : reason))
    this.#forget()
    const isOver = code === ENDED_BY_SERVICE && renewable?.test(why) !== true
    if (isOver) this.#isRunning = false
    else this.#openLater()
    // Last: a handler may stop, and start again.
    this.#handlers.ended(why)
    if (isOver) this.#handlers.failed(new StreamError('ended_by_service', why))
  }

  #openLater(): void {
    const bound = Math.min(WAIT_MS.max, WAIT_MS.first * 2 ** Math.min(this.#failures, 10))
    this.#failures += 1
    // A first refusal may be due to credentials that have ended, and the next ones are new.
    const wasRefused = this.#refusals > (this.#handlers.renewable ? 1 : 0)
    const chance = (this.#options.random ?? Math.random)()
    const waitMs = wasRefused ? WAIT_MS.max * (1 + chance / 2) : chance * bound
    this.#cancel = this.timers.after(waitMs, () => this.#open())
  }

  #clean(why: string): string {
    const secret = this.#handlers.secret()
    return secret === '' ? why : why.replaceAll(secret, '***')
  }

  #forget(): void {
    const socket = this.#socket
    this.#socket = null
    this.#isOpen = false
    this.#isReady = false
    this.#cancel()
    try {
      socket?.close()
    } catch {
      // A socket that cannot be closed is not used any more either.
    }
  }
}

function socketOf({ url, allowHttp, socket = globalThis.WebSocket }: ConnectionOptions): SocketConstructor {
  const { protocol, hostname } = URL.canParse(url) ? new URL(url) : new URL('x:')
  const isLocal = allowHttp || /^(localhost|127(\.\d+){3}|\[::1])$/.test(hostname)
  if (protocol !== 'wss:' && !(protocol === 'ws:' && isLocal)) throw new StreamError('setting_invalid', 'url must be wss, or this machine')
  if (!socket) throw new StreamError('setting_invalid', 'this runtime has no WebSocket: pass that of the package ws as `socket`')
  return socket
}

function parsed(data: unknown): Incoming {
  const message: unknown = typeof data === 'string' ? JSON.parse(data) : null
  if (typeof message !== 'object' || message === null || Array.isArray(message)) throw new Error('a message is not a JSON object')
  return { ...message }
}
