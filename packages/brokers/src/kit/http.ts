/** HTTP to one broker host: bounded in size and time, without redirects and retries, and able to prove that nothing was sent. */

import { isUtf8 } from 'node:buffer'
import { type Dispatcher, Pool } from 'undici'
import { type BrokerLimits, RESET_MS_MAX } from './rate-limiter.ts'

export interface HttpLimits {
  /** Sockets to the host; each carries one request at a time. */
  readonly connections: number
  /** Requests in flight plus those that wait for a socket; another one is refused before it is sent. */
  readonly requestsMax: number
  /** Bytes of an answer's body. */
  readonly bodyMax: number
  readonly connectMs: number
  /** From the request's last byte to the answer's headers. */
  readonly headersMs: number
  /** Between two pieces of a body. */
  readonly bodyMs: number
}

export const HTTP_LIMITS: HttpLimits = {
  connections: 64,
  requestsMax: 2_000,
  bodyMax: 4 * 1024 * 1024,
  connectMs: 5_000,
  headersMs: 15_000,
  bodyMs: 15_000
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Absolute path and query, already encoded. */
  readonly path: string
  /** Names and values alternating. */
  readonly headers: readonly string[]
  readonly body?: string
}

export interface HttpReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: string
}

/** `not_connected`, `busy` and `forbidden` always have `sent: 'none'`; the others may have either. */
export type TransportReason = 'not_connected' | 'busy' | 'forbidden' | 'aborted' | 'lost' | 'timeout' | 'too_large' | 'unreadable'

/** No answer, or an unreadable one. `sent: 'none'` proves that no byte of the request left this process. */
export class TransportFault extends Error {
  override readonly name = 'TransportFault'
  readonly sent: 'none' | 'maybe'
  readonly reason: TransportReason

  constructor(sent: 'none' | 'maybe', reason: TransportReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.sent = sent
    this.reason = reason
  }
}

export interface HttpOptions {
  /** Scheme, host and port. Plain `http:` is refused unless `plain` allows it. */
  readonly origin: string
  readonly limits?: Partial<HttpLimits>
  /** Allows `http:`, for a broker that runs on the same machine. */
  readonly plain?: boolean
  /** PEM certificates to trust in addition to the system's. There is no way to trust all. */
  readonly ca?: string
}

/** A pool of sockets to one origin. */
export class HttpClient implements AsyncDisposable {
  readonly origin: string
  readonly #pool: Pool
  readonly #limits: HttpLimits
  #underWay = 0

  /** @throws TypeError for a URL that is more than an origin, or not encrypted. */
  constructor(options: HttpOptions) {
    const url = new URL(options.origin)
    if (url.protocol !== 'https:' && !(options.plain === true && url.protocol === 'http:'))
      throw new TypeError(`a broker's address must be https, was ${url.protocol}//${url.host}`)
    this.origin = url.origin
    this.#limits = { ...HTTP_LIMITS, ...options.limits }
    this.#pool = new Pool(url.origin, {
      connections: this.#limits.connections,
      pipelining: 1,
      // HTTP/1.1 only: HTTP/2 would share a socket among orders and re-queue them after a GOAWAY, so a dead socket would prove nothing.
      allowH2: false,
      headersTimeout: this.#limits.headersMs,
      bodyTimeout: this.#limits.bodyMs,
      // Explicit, because an environment variable could otherwise turn verification off for the whole process.
      connect: { timeout: this.#limits.connectMs, rejectUnauthorized: true, ...(options.ca === undefined ? {} : { ca: options.ca }) }
    })
  }

  /**
   * Sends once. Any status is an answer. `mayBegin` is asked right before the first byte; if it is false, nothing is sent.
   * @throws TransportFault
   */
  send(request: HttpRequest, signal: AbortSignal, mayBegin?: () => boolean): Promise<HttpReply> {
    if (signal.aborted) return Promise.reject(new TransportFault('none', 'aborted', 'given up before sending', signal.reason))
    if (this.#underWay >= this.#limits.requestsMax)
      return Promise.reject(new TransportFault('none', 'busy', `${this.#underWay} requests to the broker are under way already`))
    this.#underWay += 1
    return new Promise<HttpReply>((resolve, reject) => {
      const exchange = new Exchange({ signal, mayBegin }, this.#limits.bodyMax, (fault, reply) => {
        this.#underWay -= 1
        if (reply === undefined) reject(fault)
        else resolve(reply)
      })
      try {
        this.#pool.dispatch(
          { path: request.path, method: request.method, headers: [...request.headers], body: request.body ?? null },
          exchange
        )
      } catch (cause) {
        exchange.onResponseError(null, cause)
      }
    })
  }

  /** Aborts the requests in flight: they end as faults. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.destroy()
  }
}

/** What ends an exchange, or keeps it from beginning. */
interface Limits {
  readonly signal: AbortSignal
  readonly mayBegin: (() => boolean) | undefined
}

type Settle = (fault: TransportFault | undefined, reply: HttpReply | undefined) => void

/** One request in the pool. Settles once. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #signal: AbortSignal
  readonly #mayBegin: (() => boolean) | undefined
  readonly #bodyMax: number
  readonly #settle: Settle
  readonly #onAbort = () => this.#giveUp('aborted', 'given up while waiting for the broker', this.#signal.reason)
  #controller: Dispatcher.DispatchController | null = null
  #settled = false
  #status = 0
  #headers: HttpReply['headers'] = {}
  #chunks: Buffer[] = []
  #length = 0

  constructor({ signal, mayBegin }: Limits, bodyMax: number, settle: Settle) {
    this.#signal = signal
    this.#mayBegin = mayBegin
    this.#bodyMax = bodyMax
    this.#settle = settle
    signal.addEventListener('abort', this.#onAbort, { once: true })
  }

  /** The pool calls this right before the first byte; until then nothing can have been sent. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    // A request that was aborted while it waited, or that the pool starts a second time on another socket, must not be written.
    if (this.#settled || this.#controller !== null) {
      controller.abort(new Error('this request is over'))
      return
    }
    if (this.#mayBegin?.() === false) {
      this.#fail('forbidden', 'this process may not send it any more')
      controller.abort(new Error('this request may not be sent'))
      return
    }
    this.#controller = controller
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: HttpReply['headers']): void {
    this.#status = status
    this.#headers = headers
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#length += chunk.length
    if (this.#length > this.#bodyMax) this.#giveUp('too_large', `the answer is longer than ${this.#bodyMax} bytes`)
    else this.#chunks.push(chunk)
  }

  onResponseEnd(): void {
    const [first] = this.#chunks
    const bytes = first !== undefined && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks, this.#length)
    const coding = this.#headers['content-encoding']
    if (coding !== undefined && coding !== 'identity') this.#fail('unreadable', `the answer is encoded as ${String(coding).slice(0, 40)}`)
    else if (!isUtf8(bytes)) this.#fail('unreadable', 'the answer is not UTF-8')
    else this.#end(undefined, { status: this.#status, headers: this.#headers, body: bytes.toString('utf8') })
  }

  onResponseError(_controller: unknown, cause: unknown): void {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
    if (this.#controller === null) this.#fail('not_connected', 'no connection to the broker', cause)
    else if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT')
      this.#fail('timeout', 'the broker did not answer in time', cause)
    else this.#fail('lost', 'the connection to the broker was lost before its answer was complete', cause)
  }

  #giveUp(reason: TransportReason, message: string, cause?: unknown): void {
    this.#fail(reason, message, cause)
    this.#controller?.abort(new Error(message))
  }

  #fail(reason: TransportReason, message: string, cause?: unknown): void {
    this.#end(new TransportFault(this.#controller === null ? 'none' : 'maybe', reason, message, cause), undefined)
  }

  #end(fault: TransportFault | undefined, reply: HttpReply | undefined): void {
    if (this.#settled) return
    this.#settled = true
    this.#chunks = []
    this.#signal.removeEventListener('abort', this.#onAbort)
    this.#settle(fault, reply)
  }
}

/** A header's value, the first of several; null when absent. */
export function header(reply: Pick<HttpReply, 'headers'>, name: string): string | null {
  const value = reply.headers[name]
  return (typeof value === 'string' ? value : value?.[0]) ?? null
}

/** The `Date` of the answer: the broker's clock, to the second; null when absent or invalid. */
export function brokerNowMs(reply: Pick<HttpReply, 'headers'>): number | null {
  const value = header(reply, 'date') ?? ''
  const ms = /GMT$/.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(ms) ? null : ms
}

/** A whole number in a header; null where there is none. */
export function countIn(reply: Pick<HttpReply, 'headers'>, name: string): number | null {
  const value = header(reply, name)?.trim() ?? ''
  return /^\d{1,15}$/.test(value) ? Number(value) : null
}

/**
 * The remaining quota as three headers have it, of which the last may be missing; null without the others. `inMs`: the time until the
 * reset.
 */
export function limitsIn(
  reply: Pick<HttpReply, 'headers'>,
  [remaining, reset, limit]: readonly [remaining: string, reset: string, limit: string],
  inMs: (reset: number) => number
): BrokerLimits | null {
  const [left, end, most] = [countIn(reply, remaining), countIn(reply, reset), countIn(reply, limit)]
  if (left === null || end === null) return null
  return { remaining: left, resetInMs: Math.min(Math.max(0, inMs(end)), RESET_MS_MAX), ...(most === null ? {} : { limit: most }) }
}

const RETRY_AFTER_MS_MAX = 3_600_000

/** The pause of `Retry-After` in milliseconds, in either of its two forms, at most an hour; null when absent or invalid. */
export function retryAfterMs(reply: Pick<HttpReply, 'headers'>, nowMs: number): number | null {
  const value = header(reply, 'retry-after')?.trim() ?? ''
  const ms = /^\d{1,9}(?:\.\d{1,3})?$/.test(value) ? Number(value) * 1_000 : /GMT$/.test(value) ? Date.parse(value) - nowMs : Number.NaN
  return Number.isNaN(ms) ? null : Math.min(Math.max(Math.ceil(ms), 0), RETRY_AFTER_MS_MAX)
}
