/** What the tests of the Alpaca dialect share: a sandbox with it, a REST client, and a recording socket. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { decode } from '@msgpack/msgpack'
import { PATIENCE_MS } from '@trunkline/testkit/patience'
import { type ClientOptions, WebSocket } from 'ws'
import { type Brokerage, type BrokerageDeps, startBrokerage } from '../../../src/brokerage/start.ts'
import type { SandboxConfig } from '../../../src/config.ts'
import { alpaca } from '../../../src/dialects/alpaca/index.ts'
import { type Answer, control, SECRET, send, type Wire } from '../../brokerage/support.ts'

/** A sandbox whose market stands still until a test moves it. */
export async function openBrokerage(parts: Partial<SandboxConfig> = {}, deps: Partial<BrokerageDeps> = {}): Promise<Brokerage> {
  const redirectUris = ['http://127.0.0.1/connect/callback/sandbox']
  const brokerage = await startBrokerage({ clientSecret: SECRET, redirectUris, ...parts }, deps, [alpaca])
  await control(brokerage, 'PUT', '/clock', { frozen: true })
  await control(brokerage, 'PUT', '/market/SPY', { price: '500.00' })
  return brokerage
}

export class Client {
  readonly brokerage: Brokerage
  readonly headers: Readonly<Record<string, string>>
  /** Of the login's API key. */
  readonly keys: { readonly key_id: string; readonly secret_key: string }
  readonly token: string

  private constructor(brokerage: Brokerage, token: string, keys: Client['keys']) {
    this.brokerage = brokerage
    this.token = token
    this.keys = keys
    this.headers = { authorization: `Bearer ${token}` }
  }

  static async of(brokerage: Brokerage, username = 'alex', scopes: readonly string[] = ['read', 'trade']): Promise<Client> {
    const { credentials } = await control(brokerage, 'POST', `/logins/${username}/token`, { scopes, dialect: 'alpaca' })
    const { items } = await control(brokerage, 'GET', '/logins')
    const login = items.find((item: Wire) => item.username === username)
    return new Client(brokerage, credentials.access_token, login.keys.alpaca)
  }

  call(method: string, path: string, body?: unknown): Promise<Answer> {
    return send(`${this.brokerage.url}/alpaca/api${path}`, method, body, this.headers)
  }

  data(path: string): Promise<Answer> {
    return send(`${this.brokerage.url}/alpaca/data${path}`, 'GET', undefined, this.headers)
  }

  /** What must be answered with 200 (or another success). */
  async ok(method: string, path: string, body?: unknown): Promise<Wire> {
    const answer = await this.call(method, path, body)
    assert.ok(answer.status < 300, `${method} ${path} answered ${answer.status}: ${answer.text}`)
    return answer.body
  }

  async okData(path: string): Promise<Wire> {
    const answer = await this.data(path)
    assert.equal(answer.status, 200, `${path} answered ${answer.status}: ${answer.text}`)
    return answer.body
  }

  /** A limit order far below the market, unless specified otherwise. */
  place(ticket: Wire = {}): Promise<Answer> {
    const usual = { symbol: 'SPY', qty: '10', side: 'buy', type: 'limit', limit_price: '490.00', time_in_force: 'day' }
    return this.call('POST', '/v2/orders', { ...usual, ...ticket })
  }

  /** A market order for so many shares of SPY, and the order as it is then. */
  async buy(qty: string, ticket: Wire = {}): Promise<Wire> {
    const placed = await this.place({ type: 'market', limit_price: null, qty, ...ticket })
    assert.equal(placed.status, 200, placed.text)
    return this.ok('GET', `/v2/orders/${placed.body.id}`)
  }

  async placed(ticket: Wire = {}): Promise<Wire> {
    const answer = await this.place(ticket)
    assert.equal(answer.status, 200, answer.text)
    return answer.body
  }
}

/** A refusal in Alpaca's form. */
export function refuses(answer: Answer, status: number, code: number | undefined, message: RegExp): void {
  assert.equal(answer.status, status, answer.text)
  assert.equal(answer.body.code, code, answer.text)
  assert.match(answer.body.message, message)
}

/** A stream that keeps everything it was sent: objects of the account stream, items of a data stream. */
export class StreamClient {
  readonly messages: Wire[] = []
  /** Whether each frame was binary. */
  readonly binary: boolean[] = []
  closed: number | undefined
  pongs = 0
  readonly #socket: WebSocket
  #wake: () => void = () => undefined

  private constructor(socket: WebSocket, packs: boolean) {
    this.#socket = socket
    socket.on('message', (data: Buffer, isBinary) => {
      const message: unknown = packs ? decode(data) : JSON.parse(String(data))
      this.messages.push(...(Array.isArray(message) ? message : [message]))
      this.binary.push(isBinary)
      this.#wake()
    })
    socket.on('pong', () => {
      this.pongs++
      this.#wake()
    })
    socket.on('close', code => {
      this.closed = code
      this.#wake()
    })
    socket.on('error', () => undefined)
  }

  static async open(
    brokerage: Brokerage,
    path: string,
    { packs = false, ...options }: ClientOptions & { packs?: boolean } = {}
  ): Promise<StreamClient> {
    const socket = new WebSocket(`${brokerage.url.replace('http', 'ws')}/alpaca${path}`, options)
    const stream = new StreamClient(socket, packs)
    await once(socket, 'open')
    return stream
  }

  /** Opens the account stream and listens. */
  static async ofOrders(client: Client): Promise<StreamClient> {
    const stream = await StreamClient.open(client.brokerage, '/api/stream')
    stream.send({ action: 'authenticate', data: { oauth_token: client.token } })
    stream.send({ action: 'listen', data: { streams: ['trade_updates'] } })
    await stream.until(messages => messages.some(({ stream }) => stream === 'listening'))
    return stream
  }

  /** Opens a data stream and authenticates. */
  static async ofData(client: Client, path: string, options: ClientOptions & { packs?: boolean } = {}): Promise<StreamClient> {
    const stream = await StreamClient.open(client.brokerage, `/data-stream${path}`, options)
    stream.send({ action: 'auth', key: 'oauth', secret: client.token })
    await stream.until(messages => messages.some(({ msg }) => msg === 'authenticated'))
    return stream
  }

  send(message: unknown): void {
    this.#socket.send(typeof message === 'string' ? message : JSON.stringify(message))
  }

  sendBytes(bytes: Uint8Array): void {
    this.#socket.send(bytes, { binary: true })
  }

  ping(): void {
    this.#socket.ping()
  }

  /** The order updates. */
  get updates(): readonly Wire[] {
    return this.messages.filter(({ stream }) => stream === 'trade_updates').map(({ data }) => data)
  }

  async until(condition: (messages: readonly Wire[], stream: StreamClient) => boolean, withinMs = PATIENCE_MS): Promise<void> {
    const deadline = AbortSignal.timeout(withinMs)
    while (!condition(this.messages, this)) {
      if (deadline.aborted) assert.fail(`waited in vain; so far: ${JSON.stringify(this.messages).slice(-3_000)}, closed: ${this.closed}`)
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      deadline.addEventListener('abort', () => resolve(), { once: true })
      await promise
    }
  }

  /** Waits for events of an order, by their names. */
  async waitForUpdates(id: string, ...events: readonly string[]): Promise<readonly Wire[]> {
    const of = () => this.updates.filter(({ order }) => order.id === id)
    await this.until(() => events.every(event => of().some(update => update.event === event)))
    return of()
  }

  close(): void {
    this.#socket.terminate()
  }
}
