/** A client of the Tradier dialect as its documentation describes one: forms out, JSON or text back. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { PATIENCE_MS } from '@trunkline/testkit/patience'
import { WebSocket } from 'ws'
import { type Brokerage, type BrokerageDeps, startBrokerage } from '../../../src/brokerage/start.ts'
import type { SandboxConfig } from '../../../src/config.ts'
import type { Options } from '../../../src/dialects/tradier/access.ts'
import { tradier } from '../../../src/dialects/tradier/index.ts'
import { type Answer, control, SECRET, type Wire } from '../../brokerage/support.ts'

export interface Stage {
  readonly options?: Partial<Options>
  readonly config?: Partial<SandboxConfig>
  readonly deps?: Partial<BrokerageDeps>
}

/** A sandbox with the Tradier dialect, whose market stands still until a test moves it. */
export async function openBrokerage({ options = {}, config = {}, deps = {} }: Stage = {}): Promise<Brokerage> {
  const brokerage = await startBrokerage(
    { clientSecret: SECRET, redirectUris: ['http://127.0.0.1/connect/callback/sandbox'], heartbeatMs: 100, ...config },
    deps,
    [tradier({ swapChance: 0, lateChance: 0, ...options })]
  )
  await control(brokerage, 'PUT', '/clock', { frozen: true })
  await control(brokerage, 'PUT', '/market/SPY', { price: '500.00' })
  return brokerage
}

export type Fields = Readonly<Record<string, string | number>>

/** One request; `json` false leaves the Accept header as fetch makes it. */
export async function send(url: string, method: string, fields: Fields | null, headers: Record<string, string>): Promise<Answer> {
  const form = new URLSearchParams(Object.entries(fields ?? {}).map(([name, value]) => [name, String(value)]))
  const isQuery = method === 'GET' || method === 'DELETE'
  const response = await fetch(isQuery && fields !== null ? `${url}?${form}` : url, {
    method,
    redirect: 'manual',
    headers,
    ...(isQuery || fields === null ? {} : { body: form })
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: parsed(text) }
}

function parsed(text: string): Wire {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export class Client {
  readonly brokerage: Brokerage
  readonly token: string
  readonly refreshToken: string
  #margin = ''
  #cash = ''

  private constructor(brokerage: Brokerage, credentials: Wire) {
    this.brokerage = brokerage
    this.token = credentials.access_token
    this.refreshToken = credentials.refresh_token
  }

  static async of(brokerage: Brokerage, username = 'alex', scopes: readonly string[] = ['read', 'trade']): Promise<Client> {
    const { credentials } = await control(brokerage, 'POST', `/logins/${username}/token`, { scopes, dialect: 'tradier' })
    const client = new Client(brokerage, credentials)
    const { body } = await client.get('/user/profile')
    const accounts: Wire[] = [body.profile.account].flat()
    client.#margin = accounts.find(({ type }) => type === 'margin').account_number
    client.#cash = accounts.find(({ type }) => type === 'cash').account_number
    return client
  }

  get margin(): string {
    return this.#margin
  }

  get cash(): string {
    return this.#cash
  }

  call(method: string, path: string, fields: Fields | null = null, headers: Record<string, string> = {}): Promise<Answer> {
    return send(`${this.brokerage.url}/tradier/v1${path}`, method, fields, {
      authorization: `Bearer ${this.token}`,
      accept: 'application/json',
      ...headers
    })
  }

  get(path: string, query: Fields | null = null): Promise<Answer> {
    return this.call('GET', path, query)
  }

  /** A limit order far below the market, unless specified otherwise. */
  order(fields: Fields = {}, account = this.margin): Promise<Answer> {
    return this.call('POST', `/accounts/${account}/orders`, {
      ...{ class: 'equity', symbol: 'SPY', side: 'buy', quantity: 10, type: 'limit', duration: 'day', price: '490.00' },
      ...fields
    })
  }

  buy(quantity: number, fields: Fields = {}, account = this.margin): Promise<Answer> {
    return this.call('POST', `/accounts/${account}/orders`, {
      ...{ class: 'equity', symbol: 'SPY', side: 'buy', quantity, type: 'market', duration: 'day' },
      ...fields
    })
  }

  /** The id of an order that must have been taken. */
  async placed(answer: Promise<Answer>): Promise<number> {
    const { body, text } = await answer
    assert.equal(body?.order?.status, 'ok', text)
    return body.order.id
  }

  async find(id: number, query: Fields = { includeTags: 'true' }, account = this.margin): Promise<Wire> {
    const { body, text } = await this.get(`/accounts/${account}/orders/${id}`, query)
    return body?.order ?? assert.fail(text)
  }

  async list(query: Fields = {}, account = this.margin): Promise<readonly Wire[]> {
    const { body } = await this.get(`/accounts/${account}/orders`, query)
    return body.orders === 'null' ? [] : [body.orders.order].flat()
  }
}

/** A socket that keeps everything it was sent. */
export class Stream {
  readonly messages: Wire[] = []
  closed: number | undefined
  pongs = 0
  readonly #socket: WebSocket
  #wake: () => void = () => undefined

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on('message', data => {
      this.messages.push(
        ...String(data)
          .split('\n')
          .filter(line => line !== '')
          .map(line => parsed(line) ?? line)
      )
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

  static async open(brokerage: Brokerage, kind: 'accounts' | 'markets'): Promise<Stream> {
    const socket = new WebSocket(`${brokerage.url.replace('http', 'ws')}/tradier/ws/v1/${kind}/events`)
    const stream = new Stream(socket)
    await once(socket, 'open')
    return stream
  }

  /** An account stream that has begun. */
  static async ofAccounts(client: Client, message: Wire = {}): Promise<Stream> {
    const { body } = await client.call('POST', '/accounts/events/session')
    const stream = await Stream.open(client.brokerage, 'accounts')
    stream.send({ events: ['order'], sessionid: body.stream.sessionid, excludeAccounts: [], ...message })
    await stream.until(() => stream.messages.some(({ event }) => event === 'heartbeat'))
    return stream
  }

  get orders(): readonly Wire[] {
    return this.messages.filter(({ event }) => event === 'order')
  }

  send(message: unknown): void {
    this.#socket.send(typeof message === 'string' ? message : JSON.stringify(message))
  }

  ping(): void {
    this.#socket.ping()
  }

  async until(condition: (stream: Stream) => boolean, withinMs = PATIENCE_MS): Promise<void> {
    const deadline = AbortSignal.timeout(withinMs)
    while (!condition(this)) {
      if (deadline.aborted) assert.fail(`waited in vain; so far: ${JSON.stringify(this.messages).slice(0, 2_000)}, closed: ${this.closed}`)
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      deadline.addEventListener('abort', () => resolve(), { once: true })
      await promise
    }
  }

  close(): void {
    this.#socket.terminate()
  }
}
