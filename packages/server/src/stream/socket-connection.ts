import type { Duplex } from 'node:stream'
import type { Clock } from '@trunkline/core/ports/clock'
import type { WebSocket } from 'ws'
import { RateLimiter } from '../auth/rate-limit.ts'
import { CLOSE, type ClientConnection, type Listener } from './client-connection.ts'
import type { FlushScheduler } from './flush-scheduler.ts'
import { pongFrame } from './frame.ts'
import { SendBuffer, type Sink } from './send-buffer.ts'
import type { SendBufferLimits } from './send-buffer-limits.ts'

/** Time for the close frame of a connection that ends now; then the socket is terminated. */
const CUT_MS = 1_000
/** Time for a slow reader to take what is under way, and the close frame behind it. Shorter than `ws` itself waits for an answer to it. */
export const SLOW_CUT_MS = 4_000
/** Pings of one client: far more than keeping a connection alive needs. */
const PINGS = { perSecond: 10, burst: 1_000 }
const PINGER = 'the client'

export interface SocketParts {
  readonly scheduler: FlushScheduler
  readonly clock: Pick<Clock, 'alarm'>
  readonly limits: SendBufferLimits
  /** Called once, with the close code. */
  readonly closed: (code: number) => void
}

/**
 * A client connection over a WebSocket. It reads and closes through `ws`; its frames, encoded once for all readers, are written to the
 * socket directly.
 */
export class SocketConnection implements ClientConnection, Sink {
  readonly #ws: WebSocket
  readonly #socket: Duplex
  readonly #sendBuffer: SendBuffer
  readonly #closed: (code: number) => void
  readonly #scheduler: FlushScheduler
  readonly #clock: Pick<Clock, 'alarm'>
  readonly #pings = new RateLimiter(PINGS)
  #listener: Listener | null = null
  #failed: (cause: unknown) => void = () => undefined
  #code: number | null = null
  #cutting: Disposable | null = null

  constructor(ws: WebSocket, socket: Duplex, { scheduler, clock, limits, closed }: SocketParts) {
    this.#ws = ws
    this.#socket = socket
    this.#closed = closed
    this.#scheduler = scheduler
    this.#clock = clock
    this.#sendBuffer = new SendBuffer(this, scheduler, limits)
  }

  /** `failed` receives what the listener throws; only this connection is closed then. */
  listen(listener: Listener, failed: (cause: unknown) => void): void {
    this.#listener = listener
    this.#failed = failed
    this.#ws.on('message', (data, isBinary) => {
      this.#guarded(() => {
        if (isBinary) this.#listener?.binary()
        else this.#listener?.text(data.toString())
      })
    })
    this.#ws.on('ping', data => this.#guarded(() => this.#pong(data)))
    this.#ws.on('close', code => this.#gone(code))
    // Any error of the socket closes it.
    this.#ws.on('error', () => undefined)
    this.#socket.on('drain', () => this.#guarded(() => this.#sendBuffer.drained()))
  }

  send(frame: Uint8Array): void {
    if (this.#code === null) this.#sendBuffer.push(frame)
  }

  sendText(message: string): void {
    if (this.#code === null) this.#sendBuffer.text(message)
  }

  get isBehind(): boolean {
    return this.#sendBuffer.isBehind
  }

  idle(): Promise<void> {
    return this.#sendBuffer.idle()
  }

  finish(code: number, reason: string): void {
    if (this.#code !== null) return
    this.#code = code
    this.#sendBuffer.flush()
    void this.#sendBuffer.idle().then(() => this.#ws.close(code, reason))
  }

  pause(): void {
    this.#ws.pause()
  }

  resume(): void {
    this.#ws.resume()
  }

  /** Closes the connection now, with a code if the reader reads it at once. Drops buffered frames. */
  drop(code: number, reason: string): void {
    if (this.#code !== null) return
    this.#code = code
    this.#sendBuffer.close()
    this.#ws.close(code, reason)
    this.#socket.end(() => this.#ws.terminate())
    this.#cutAfter(CUT_MS)
  }

  /** Closes the connection without waiting for anything. */
  cut(): void {
    this.#ws.terminate()
  }

  write(bytes: Uint8Array): boolean {
    if (this.#ws.readyState !== this.#ws.OPEN) return true
    return this.#socket.write(bytes)
  }

  overflowed(reason: string): void {
    this.#code = CLOSE.slowConsumer
    this.#ws.close(CLOSE.slowConsumer, `slow consumer: ${reason}`.slice(0, 120))
    this.#cutAfter(SLOW_CUT_MS)
  }

  caughtUp(): void {
    this.#listener?.caughtUp()
  }

  #cutAfter(ms: number): void {
    this.#cutting ??= this.#clock.alarm(ms, () => this.#ws.terminate())
  }

  /** Through the send buffer, so that a reader that pings without reading is noticed. */
  #pong(data: Buffer): void {
    if (this.#code !== null) return
    if (this.#pings.take(PINGER, this.#scheduler.nowMs()).retryAfterSeconds === null) this.#sendBuffer.push(pongFrame(data))
    else this.finish(CLOSE.tooManyFailures, 'too many pings')
  }

  /** An exception in an event handler would end the process. */
  #guarded(work: () => void): void {
    try {
      work()
    } catch (cause) {
      this.#failed(cause)
      this.finish(CLOSE.internal, 'internal error')
    }
  }

  #gone(code: number): void {
    const listener = this.#listener
    this.#listener = null
    this.#cutting?.[Symbol.dispose]()
    this.#sendBuffer.close()
    this.#closed(this.#code ?? code)
    this.#guarded(() => listener?.gone())
  }
}
