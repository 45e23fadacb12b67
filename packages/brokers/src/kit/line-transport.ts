/** A connection over the response to one GET that never ends: each line is a frame. */

import { isUtf8 } from 'node:buffer'
import { Client, type Dispatcher, errors } from 'undici'
import { type HttpReply, header } from './http.ts'
import { StreamFault } from './stream-fault.ts'
import type { Transport, TransportLimits, TransportListener } from './transport.ts'

/** How a stream of lines is requested. */
export interface LineStream {
  /** The content type of a stream; any other answer is unreadable. */
  readonly mediaType: RegExp
}

export interface LineAddress extends LineStream {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Bytes kept of an answer that is not a stream. */
const REFUSAL_MAX = 8_192
const NEWLINE = 10
const RETURN = 13
const NOTHING: Buffer = Buffer.alloc(0)

/** Each stream has its own socket, so that the end of the stream closes the socket. */
export class LineTransport implements Transport, Dispatcher.DispatchHandler {
  readonly #listener: TransportListener
  readonly #mediaType: RegExp
  readonly #frameMax: number
  readonly #client: Client
  #isOver = false
  #controller: Dispatcher.DispatchController | null = null
  /** Head of an answer that turned out not to be a stream. */
  #refusal: Omit<HttpReply, 'body'> | null = null
  /** Bytes of an incomplete line or refusal, and their number. */
  #parts: Buffer[] = []
  #length = 0

  constructor({ url, headers, mediaType }: LineAddress, listener: TransportListener, { handshakeMs, frameMax }: TransportLimits) {
    const { origin, pathname, search } = new URL(url)
    this.#listener = listener
    this.#mediaType = mediaType
    this.#frameMax = frameMax
    this.#client = new Client(origin, {
      pipelining: 1,
      allowH2: false,
      // The connection's owner detects silence from the start; a limit here would end streams of quiet markets.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { timeout: handshakeMs, rejectUnauthorized: true }
    })
    this.#client.dispatch({ method: 'GET', path: `${pathname}${search}`, headers: { ...headers, 'accept-encoding': 'identity' } }, this)
  }

  send(): void {
    throw new StreamFault('refused', 'nothing can be sent on a stream of lines')
  }

  /** HTTP has no close frame: the socket is closed. */
  async end(): Promise<void> {
    this.#isOver = true
    this.#parts = []
    this.#controller?.abort(new Error('the stream ended'))
    await this.#client.destroy()
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // A second start would be a retry on another socket, which the listener does not expect.
    if (this.#isOver || this.#controller !== null) controller.abort(new Error('this stream is over'))
    else this.#controller = controller
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: HttpReply['headers']): void {
    if (status < 200 || this.#isOver) return
    if (status !== 200) {
      this.#refusal = { status, headers }
      return
    }
    const mediaType = header({ headers }, 'content-type') ?? ''
    const coding = header({ headers }, 'content-encoding') ?? 'identity'
    if (!this.#mediaType.test(mediaType))
      this.#fail(`the broker answered with ${mediaType.slice(0, 60) || 'no media type'}, not with a stream`)
    else if (coding !== 'identity') this.#fail(`the stream is encoded as ${coding.slice(0, 40)}`)
    else this.#listener.opened()
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return
    if (this.#refusal !== null) {
      if (this.#length < REFUSAL_MAX) this.#keep(chunk.subarray(0, REFUSAL_MAX - this.#length))
      return
    }
    let from = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1 && !this.#isOver; end = chunk.indexOf(NEWLINE, from)) {
      this.#keep(chunk.subarray(from, end))
      from = end + 1
      this.#line()
    }
    if (from < chunk.length && !this.#isOver) this.#keep(chunk.subarray(from))
    if (this.#length > this.#frameMax) this.#fail(`a line is longer than ${this.#frameMax} bytes`)
  }

  onResponseEnd(): void {
    if (this.#isOver) return
    if (this.#refusal === null) this.#listener.closed(null)
    else this.#listener.refused({ ...this.#refusal, body: this.#taken().toString('utf8') })
  }

  onResponseError(_controller: unknown, cause: Error): void {
    if (this.#isOver) return
    if (this.#refusal !== null) {
      this.#listener.refused({ ...this.#refusal, body: '' })
      return
    }
    const isProtocol = cause instanceof errors.HTTPParserError
    this.#listener.failed(new StreamFault(isProtocol ? 'malformed' : 'lost', cause.message || 'the connection was lost', cause))
  }

  /** An empty line is not a frame: some gateways send them to keep a connection open although its upstream is dead. */
  #line(): void {
    if (this.#length > this.#frameMax) {
      this.#fail(`a line is longer than ${this.#frameMax} bytes`)
      return
    }
    const bytes = this.#taken()
    const line = bytes.at(-1) === RETURN ? bytes.subarray(0, -1) : bytes
    if (line.length === 0) return
    if (isUtf8(line)) this.#listener.frame(line.toString('utf8'))
    else this.#fail('a line is not UTF-8')
  }

  #keep(part: Buffer): void {
    this.#parts.push(part)
    this.#length += part.length
  }

  #taken(): Buffer {
    const [first = NOTHING] = this.#parts
    const bytes = this.#parts.length <= 1 ? first : Buffer.concat(this.#parts, this.#length)
    this.#parts = []
    this.#length = 0
    return bytes
  }

  #fail(message: string): void {
    this.#listener.failed(new StreamFault('malformed', message))
  }
}
