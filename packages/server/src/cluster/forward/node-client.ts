/** HTTP to one other node: bounded in size and time, without redirects and retries, and able to prove that nothing was sent. */
import type { IncomingHttpHeaders } from 'node:http'
import { type Dispatcher, Pool } from 'undici'

export interface NodeClientLimits {
  /** Sockets to the node; each carries one request at a time. */
  readonly connections: number
  readonly connectMs: number
  /** From the request's last byte to the answer's headers. */
  readonly headersMs: number
  /** Between two pieces of a body. */
  readonly bodyMs: number
  /** Bytes of an answer's body. The largest answers have a few MiB. */
  readonly bodyMax: number
}

export interface NodeRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Null: the request has no body. */
  readonly body: Buffer | null
}

export interface NodeAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** No complete answer. `nothing`: the request did not leave this process as a whole, so the node has not begun it. */
export class NodeFault extends Error {
  override readonly name = 'NodeFault'
  readonly sent: 'nothing' | 'maybe'

  constructor(sent: 'nothing' | 'maybe', message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.sent = sent
  }
}

/** Longer than a burst's pauses, shorter than the receiver's limit: so it is this end that closes, and no request meets a closed socket. */
const KEEP_ALIVE_MS = 20_000

export class NodeClient {
  readonly #pool: Pool
  readonly #limits: NodeClientLimits

  constructor(url: string, limits: NodeClientLimits) {
    this.#limits = limits
    this.#pool = new Pool(url, {
      connections: limits.connections,
      pipelining: 1,
      // HTTP/1.1 only: HTTP/2 would put a request on another connection after a GOAWAY, so a dead one would prove nothing.
      allowH2: false,
      headersTimeout: limits.headersMs,
      bodyTimeout: limits.bodyMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      connect: { timeout: limits.connectMs, rejectUnauthorized: true }
    })
  }

  /** Sends once. Any status is an answer. @throws NodeFault */
  send({ method, path, headers, body }: NodeRequest, signal: AbortSignal): Promise<NodeAnswer> {
    return new Promise<NodeAnswer>((resolve, reject) => {
      const exchange = new Exchange(signal, this.#limits.bodyMax, (fault, answer) => (answer === null ? reject(fault) : resolve(answer)))
      try {
        this.#pool.dispatch({ method, path, headers, body }, exchange)
      } catch (cause) {
        exchange.onResponseError(null, cause)
      }
    })
  }

  /** Requests that were sent are still answered. */
  async close(): Promise<void> {
    await this.#pool.close()
  }

  /** Requests end as faults. */
  async cut(): Promise<void> {
    await this.#pool.destroy()
  }
}

type Settle = (fault: NodeFault | null, answer: NodeAnswer | null) => void

/** One request in the pool. Settles once. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #signal: AbortSignal
  readonly #bodyMax: number
  readonly #settle: Settle
  readonly #onAbort = () => this.#giveUp('given up while waiting for the node')
  #controller: Dispatcher.DispatchController | null = null
  #isSettled = false
  #status = 0
  #headers: IncomingHttpHeaders = {}
  #chunks: Buffer[] = []
  #length = 0

  constructor(signal: AbortSignal, bodyMax: number, settle: Settle) {
    this.#signal = signal
    this.#bodyMax = bodyMax
    this.#settle = settle
    signal.addEventListener('abort', this.#onAbort, { once: true })
  }

  /** The pool calls this right before the first byte; until then nothing can have been sent. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    // A request that was given up while it waited, or that the pool starts a second time on another socket, must not be written.
    if (this.#isSettled || this.#controller !== null) {
      controller.abort(new Error('this request is over'))
      return
    }
    this.#controller = controller
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.#status = status
    this.#headers = headers
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#length += chunk.length
    if (this.#length > this.#bodyMax) this.#giveUp(`the answer is longer than ${this.#bodyMax} bytes`)
    else this.#chunks.push(chunk)
  }

  onResponseEnd(): void {
    const body = Buffer.concat(this.#chunks, this.#length)
    this.#end(null, { status: this.#status, headers: this.#headers, body })
  }

  onResponseError(_controller: unknown, cause: unknown): void {
    const message = this.#controller === null ? 'no connection to the node' : 'the node gave no complete answer'
    this.#fail(message, cause)
  }

  #giveUp(message: string): void {
    this.#fail(message)
    this.#controller?.abort(new Error(message))
  }

  #fail(message: string, cause?: unknown): void {
    this.#end(new NodeFault(this.#controller === null ? 'nothing' : 'maybe', message, cause), null)
  }

  #end(fault: NodeFault | null, answer: NodeAnswer | null): void {
    if (this.#isSettled) return
    this.#isSettled = true
    this.#chunks = []
    this.#signal.removeEventListener('abort', this.#onAbort)
    this.#settle(fault, answer)
  }
}
