// A stub of the sandbox: just enough of its protocol for an account to be followed, with fault injection.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Certificate } from '@trunkline/testkit/certificate'
import { type WebSocket, WebSocketServer } from 'ws'

/** Handles a request instead of answering it. */
export type FaultHandler = (request: IncomingMessage, response: ServerResponse) => void

/** The endpoints that can fail. */
export type Endpoint = 'token' | 'read' | 'stream'

const HEARTBEAT_MS = 5_000
/** Turns of the event loop without a byte after which the stub is idle; all of it happens in this process. */
const QUIET_TICKS = 10

export class StubSandbox implements AsyncDisposable {
  readonly requests: Record<Endpoint, number> = { token: 0, read: 0, stream: 0 }
  readonly #server: Server
  readonly #sockets = new WebSocketServer({ noServer: true })
  readonly #clock: Clock
  readonly #account: string
  readonly #scheme: string
  #handlers: { readonly [endpoint in Endpoint]?: FaultHandler } = {}
  #tokens = new Set<string>()
  #issued = 0
  #activity = 0
  #beat: Disposable | null = null

  private constructor(clock: Clock, account: string, certificate: Certificate | null) {
    this.#clock = clock
    this.#account = account
    this.#scheme = certificate === null ? 'http' : 'https'
    const listener: RequestListener = (request, response) => this.#answer(request, response)
    this.#server = certificate === null ? createServer(listener) : createTlsServer(certificate, listener)
    this.#server.on('connection', () => this.#note())
    this.#server.on('upgrade', (request, socket, head) => {
      socket.on('error', () => this.#note())
      this.#note()
      this.requests.stream += 1
      const handler = this.#handlers.stream
      if (handler !== undefined) return void socket.end('HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n')
      this.#sockets.handleUpgrade(request, socket, head, opened => this.#opened(opened))
    })
  }

  static async start(clock: Clock, account: string, certificate: Certificate | null = null): Promise<StubSandbox> {
    const stub = new StubSandbox(clock, account, certificate)
    stub.#server.listen(0, '127.0.0.1')
    await once(stub.#server, 'listening')
    return stub
  }

  get url(): string {
    const address: AddressInfo | string | null = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('the stub does not listen')
    return `${this.#scheme}://127.0.0.1:${address.port}`
  }

  /** A token that the stub accepts. */
  token(): string {
    this.#issued += 1
    const token = `at-${this.#issued}`
    this.#tokens.add(token)
    return token
  }

  /** From now on; an endpoint that is left out answers normally. A fault of the stream cuts open streams. */
  injectFaults(handlers: { readonly [endpoint in Endpoint]?: FaultHandler }): void {
    this.#handlers = handlers
    if (handlers.stream !== undefined) for (const socket of this.#sockets.clients) socket.terminate()
  }

  /** No token that was issued counts any more. */
  forgetTokens(): void {
    this.#tokens.clear()
  }

  /** Closes every stream. */
  close(code: number): void {
    for (const socket of this.#sockets.clients) socket.close(code)
  }

  /** Resolves when nothing is on its way between the stub and its clients. Gives whether anything was. */
  async idle(): Promise<boolean> {
    const before = this.#activity
    for (let quiet = 0; quiet < QUIET_TICKS; ) {
      const seen = this.#activity
      await new Promise<void>(resolve => setImmediate(resolve))
      quiet = this.#activity === seen ? quiet + 1 : 0
    }
    return this.#activity !== before
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#beat?.[Symbol.dispose]()
    for (const socket of this.#sockets.clients) socket.terminate()
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #note(): void {
    this.#activity += 1
  }

  /** Only while streams are open: without them there is no reason to wake each few seconds. */
  #beats(): void {
    this.#beat = null
    if (this.#sockets.clients.size === 0) return
    for (const socket of this.#sockets.clients) this.#send(socket, { ev: 'heartbeat', seq: 0 })
    this.#beat = this.#clock.alarm(HEARTBEAT_MS, () => this.#beats())
  }

  #send(socket: WebSocket, message: object): void {
    this.#note()
    socket.send(JSON.stringify({ ...message, as_of: this.#clock.now() }))
  }

  #opened(socket: WebSocket): void {
    this.#note()
    this.#beat ??= this.#clock.alarm(HEARTBEAT_MS, () => this.#beats())
    socket.on('close', () => this.#note())
    socket.on('error', () => this.#note())
    socket.on('message', data => {
      this.#note()
      const { op, token } = JSON.parse(data.toString())
      if (!this.#tokens.has(token)) {
        this.#send(socket, { ev: 'denied', code: 'token_invalid', message: 'no' })
        socket.close(4001)
      } else if (op === 'login') {
        const ready = { ev: 'ready', login: 'l', epoch: 'e', seq: 0, resumed: false, heartbeat_ms: HEARTBEAT_MS }
        this.#send(socket, { ...ready, accounts: [this.#account] })
      } else this.#send(socket, { ev: 'token_ok' })
    })
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    this.#note()
    response.on('close', () => this.#note())
    const endpoint: Endpoint = request.url === '/oauth/token' ? 'token' : 'read'
    this.requests[endpoint] += 1
    const handler = this.#handlers[endpoint]
    if (handler !== undefined) handler(request, response)
    else if (endpoint === 'token') this.#issue(response)
    else this.#read(request, response)
  }

  #issue(response: ServerResponse): void {
    const granted = { access_token: this.token(), refresh_token: 'rt', token_type: 'Bearer', expires_in: 3_600 }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(granted))
  }

  #read(request: IncomingMessage, response: ServerResponse): void {
    const token = request.headers.authorization?.slice('Bearer '.length) ?? ''
    const times = { as_of: this.#clock.now(), sandbox_time: this.#clock.now() }
    const isKnown = this.#tokens.has(token)
    const items = request.url?.startsWith('/api/v1/balances') === true ? [this.#balance()] : []
    const body = isKnown ? { items, next: null } : { error: { code: 'token_invalid', message: 'no' } }
    response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' }).end(JSON.stringify({ ...body, ...times }))
  }

  #balance(): object {
    return { account: this.#account, currency: 'USD', cash: '1000.00', buying_power: '1000.00' }
  }
}

export function answers(status: number, body: string, headers: Readonly<Record<string, string>> = {}): FaultHandler {
  return (_request, response) => void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
}

export const html: FaultHandler = answers(200, '<!doctype html><title>Welcome</title>', { 'content-type': 'text/html' })

/** The beginning of an answer of which the rest never comes. */
export const truncated: FaultHandler = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' }).write('{"items":[{"acc')
  setImmediate(() => response.destroy())
}

/** An answer that ends in the middle, and says that this is all. */
export const cutShort: FaultHandler = answers(200, '{"items":[{"account":"')

export const reset: FaultHandler = request => void request.socket.resetAndDestroy()

export const hangs: FaultHandler = () => undefined
