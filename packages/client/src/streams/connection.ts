import { addressOf } from '../address.ts'
import { invalid, StreamError } from './errors.ts'

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
  /** Asks by HTTP what is at an address at which no WebSocket can be opened. */
  readonly fetch?: typeof fetch
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

const SYSTEM_TIMERS: Timers = {
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
/** So many attempts fail before it is asked what is at the address. */
const UNOPENED_MAX = 3
/** Close code: the platform, its key, the token or the connection has ended. What came before says why. */
const ENDED_BY_SERVICE = 4003

/** A WebSocket that is opened again whenever it ends, after a random wait that grows while nothing works. */
export interface StreamConnection {
  readonly timers: Timers
  /** Another one for each connection, so that what was begun in one is not sent in the next. */
  readonly session: object | null
  /** Authenticated: requests can be sent. */
  readonly isReady: boolean
  /** Milliseconds since the service was last received; null before the first message. */
  readonly ageMs: number | null
  /** A machine that slept, or a link that is dead, has a socket that is open all the same: until it is given up, this tells. */
  readonly isReceiving: boolean
  start(): void
  /** The handlers are not called any more. */
  stop(): void
  send(message: object): void
  /** The service took the credentials. */
  ready(): void
  /** Keeps what the service reported, as the reason if a close follows. */
  reported(why: string): void
  /** The service did not take the credentials. That may pass, so it is tried again, but only twice. */
  refused(why: string): void
  end(reason: string): void
  fail(error: unknown): void
  /** Calls after the random wait that follows so many failures in a row, unless the returned function was called before. */
  later(failures: number, run: () => void): () => void
}

/** @throws StreamError setting_invalid */
export function streamConnection(options: ConnectionOptions, handlers: ConnectionHandlers): StreamConnection {
  const { timers = SYSTEM_TIMERS, random = Math.random } = options
  const { Socket, address } = socketOf(options)
  let isRunning = false
  let socket: SocketLike | null = null
  let isOpen = false
  let isReady = false
  /** Of the timer that is set: the next look, or the next attempt. */
  let cancel: () => void = () => undefined
  let receivedMs: number | null = null
  /** Since something was received. */
  let isPinged = false
  let failures = 0
  let refusals = 0
  /** What the service reported last, if it was an error: a close may follow. */
  let report: string | null = null

  const clean = (why: string) => why.replaceAll(handlers.secret() || '\0', '***')
  const ageMs = () => (receivedMs === null ? null : timers.nowMs() - receivedMs)
  const isReceiving = () => (ageMs() ?? DEAD_AFTER_MS) < DEAD_AFTER_MS
  const end = (reason: string) => ended(1000, reason)

  function send(message: object): void {
    if (isOpen) socket?.send(JSON.stringify(message))
  }

  function stop(): void {
    isRunning = false
    forget()
  }

  function fail(error: unknown): void {
    if (!isRunning) return
    stop()
    handlers.failed(error)
  }

  function open(): void {
    report = null
    isPinged = false
    const openedMs = timers.nowMs()
    try {
      const opened = new Socket(options.url)
      socket = opened
      /** What an earlier socket still reports is ignored. */
      const guard = (run: () => void): void => {
        if (socket !== opened) return
        try {
          run()
        } catch (error) {
          if (socket === opened) end(error instanceof Error ? error.message : String(error))
        }
      }
      opened.addEventListener('open', () =>
        guard(() => {
          isOpen = true
          handlers.opened()
        })
      )
      opened.addEventListener('message', ({ data }) => guard(() => received(data)))
      opened.addEventListener('close', ({ code, reason }) => guard(() => ended(code, String(reason))))
      // A close follows, but in some versions of Node.js 22 none of an attempt that fails.
      opened.addEventListener('error', () => guard(() => isOpen || ended(1006, '')))
      look(openedMs)
    } catch (error) {
      // What the constructor refuses now it refuses always.
      fail(error)
    }
  }

  function received(data: unknown): void {
    const wasSilent = !isReceiving()
    receivedMs = timers.nowMs()
    isPinged = false
    report = null
    handlers.received(parsed(data), wasSilent)
  }

  function look(sinceMs: number): void {
    cancel = timers.after(LOOK_EVERY_MS, () => {
      const silentMs = timers.nowMs() - Math.max(sinceMs, receivedMs ?? sinceMs)
      // Of a page in the background, or a busy process, this may be the first look for long.
      if (silentMs >= DEAD_AFTER_MS && (isPinged || !isOpen)) {
        end('the service was silent for too long')
        return
      }
      // Not earlier: a service that takes the credentials and closes at once would be asked again and again.
      if (isReady) failures = 0
      if (silentMs >= PING_AFTER_MS && isOpen) {
        isPinged = true
        send(handlers.ping())
      }
      look(sinceMs)
    })
  }

  function ended(code: number, reason: string): void {
    if (!socket) return
    const why = clean(report ?? (reason || `closed with ${code}`))
    forget()
    const isOver = code === ENDED_BY_SERVICE && !handlers.renewable?.test(why)
    if (isOver) isRunning = false
    else openLater()
    // Last: a handler may stop, and start again.
    handlers.ended(why)
    if (isOver) handlers.failed(new StreamError('ended_by_service', why))
    else if (receivedMs === null && failures >= UNOPENED_MAX) void lookAt()
  }

  function openLater(): void {
    const bound = boundMs(failures)
    failures += 1
    // A first refusal may be due to credentials that have ended, and the next ones are new.
    const wasRefused = refusals > (handlers.renewable ? 1 : 0)
    const chance = random()
    cancel = timers.after(wasRefused ? WAIT_MS.max * (1 + chance / 2) : chance * bound, open)
  }

  /**
   * Ends it if something else is there: the service answers 426 where it has a stream. No answer, or one that may pass, says nothing.
   * Never rejects.
   */
  async function lookAt(): Promise<void> {
    const send = options.fetch ?? fetch
    const init: RequestInit = { redirect: 'manual', credentials: 'omit', signal: AbortSignal.timeout(PING_AFTER_MS) }
    const found = await send(address, init).catch(() => null)
    void found?.body?.cancel().catch(() => undefined)
    if (receivedMs === null && found && /^(2|3|404|405|410)/.test(String(found.status)))
      fail(invalid(`no stream at ${address}: it answers ${found.status}, not 426; they are at /stream and /market-data/stream`))
  }

  function forget(): void {
    const left = socket
    socket = null
    isOpen = false
    isReady = false
    cancel()
    try {
      left?.close()
    } catch {
      // A socket that cannot be closed is not used any more either.
    }
  }

  return {
    timers,
    get session() {
      return socket
    },
    get isReady() {
      return isReady
    },
    get ageMs() {
      return ageMs()
    },
    get isReceiving() {
      return isReceiving()
    },
    start() {
      if (isRunning) return
      isRunning = true
      // Those of a run that has ended count no more.
      refusals = 0
      open()
    },
    stop,
    send,
    ready() {
      isReady = true
      refusals = 0
    },
    reported(why) {
      report = clean(why)
    },
    refused(why) {
      refusals += 1
      if (refusals >= REFUSALS_MAX) fail(new StreamError('credentials_refused', clean(why)))
      else end(why)
    },
    end,
    fail,
    later: (after, run) => timers.after(random() * boundMs(after), run)
  }
}

/** The longest wait after so many failures in a row. */
function boundMs(failures: number): number {
  return Math.min(WAIT_MS.max, WAIT_MS.first * 2 ** Math.min(failures, 10))
}

/** What opens the sockets, and the address of a plain request at the same place. */
function socketOf({ url, allowHttp, socket = globalThis.WebSocket }: ConnectionOptions) {
  const found = addressOf(url, 'ws', allowHttp)
  if (typeof found === 'string') throw invalid(`url must be wss://…, or ws:// of this machine, and was ${found}: allowHttp permits ws://`)
  if (!socket) throw invalid('no WebSocket (Node.js 20): install ws, pass its WebSocket as `socket`')
  const { protocol, host, pathname } = found
  return { Socket: socket, address: `${protocol.replace('ws', 'http')}//${host}${pathname}` }
}

function parsed(data: unknown): Incoming {
  const message: unknown = typeof data === 'string' ? JSON.parse(data) : null
  if (typeof message !== 'object' || message === null || Array.isArray(message)) throw new Error('a message is not a JSON object')
  return { ...message }
}
