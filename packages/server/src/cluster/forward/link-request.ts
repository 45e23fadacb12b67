/** A request that came over a link, as the HTTP server's routing takes requests, and the response that is sent back over it. */
import { IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { PassedRequest } from './passed-codec.ts'

const WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

export function requestOf(socket: Socket, { method, url, headers, body }: PassedRequest): IncomingMessage {
  const request = new IncomingMessage(socket)
  const all = body.length > 0 || WITH_BODY.has(method) ? { ...headers, 'content-length': String(body.length) } : headers
  Object.assign(request, { method, url, httpVersion: '1.1', httpVersionMajor: 1, httpVersionMinor: 1, complete: true })
  request.headers = all
  request.rawHeaders = Object.entries(all).flat()
  if (body.length > 0) request.push(body)
  request.push(null)
  return request
}

/** Collects what is written; `answer` is called with the whole, once. */
export class LinkResponse extends ServerResponse {
  readonly #chunks: Buffer[] = []
  readonly #answer: (status: number, headers: OutgoingHttpHeaders, body: readonly Buffer[]) => void
  #isOver = false

  constructor(request: IncomingMessage, answer: (status: number, headers: OutgoingHttpHeaders, body: readonly Buffer[]) => void) {
    super(request)
    this.#answer = answer
  }

  override writeHead(
    statusCode: number,
    reason?: string | OutgoingHttpHeaders | OutgoingHttpHeader[],
    headers?: OutgoingHttpHeaders | OutgoingHttpHeader[]
  ): this {
    const given = typeof reason === 'object' ? reason : headers
    this.statusCode = statusCode
    if (Array.isArray(given)) throw new TypeError('headers are to be an object')
    for (const [name, value] of Object.entries(given ?? {})) if (value !== undefined) this.setHeader(name, value)
    return this
  }

  override write(chunk: unknown, encoding?: unknown, done?: unknown): boolean {
    this.#take(chunk)
    const callback = typeof encoding === 'function' ? encoding : done
    if (typeof callback === 'function') process.nextTick(() => callback())
    return true
  }

  override end(chunk?: unknown, encoding?: unknown, done?: unknown): this {
    if (this.finished) return this
    this.finished = true
    const callback = [chunk, encoding, done].find(one => typeof one === 'function')
    if (typeof callback === 'function') this.once('finish', () => callback())
    if (typeof chunk !== 'function') this.#take(chunk)
    this.#answer(this.statusCode, this.getHeaders(), this.#chunks)
    process.nextTick(() => {
      this.emit('finish')
      this.abandon()
    })
    return this
  }

  /** Nobody waits for it any more. */
  abandon(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.destroyed = true
    this.emit('close')
  }

  #take(chunk: unknown): void {
    if (chunk === undefined || chunk === null) return
    if (typeof chunk === 'string') this.#chunks.push(Buffer.from(chunk))
    else if (Buffer.isBuffer(chunk)) this.#chunks.push(chunk)
    else if (chunk instanceof Uint8Array) this.#chunks.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))
    else throw new TypeError('a response has text or bytes')
  }
}
