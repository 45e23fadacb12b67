/** What the tests of this dialect share: a sandbox with it, a client, and a recording stream. */

import assert from 'node:assert/strict'
import { PATIENCE_MS } from '@trunkline/testkit/patience'
import { type Brokerage, type BrokerageDeps, startBrokerage } from '../../../src/brokerage/start.ts'
import type { SandboxConfig } from '../../../src/config.ts'
import type { Options } from '../../../src/dialects/tradestation/access.ts'
import { tradestation } from '../../../src/dialects/tradestation/index.ts'
import { type Answer, bearer, control, SECRET, send, type Wire } from '../../brokerage/support.ts'

export const REDIRECT = 'http://127.0.0.1/connect/callback/tradestation'

export interface Stage {
  readonly options?: Partial<Options>
  readonly config?: Partial<SandboxConfig>
  readonly deps?: Partial<BrokerageDeps>
}

/** A sandbox whose market stands still until a test moves it, and whose streams are plain unless specified otherwise. */
export async function openBrokerage({ options = {}, config = {}, deps = {} }: Stage = {}): Promise<Brokerage> {
  const brokerage = await startBrokerage(
    { clientSecret: SECRET, redirectUris: ['http://127.0.0.1/connect/callback/sandbox'], heartbeatMs: 100, ...config },
    deps,
    [tradestation({ oddityChance: 0, ...options })]
  )
  await control(brokerage, 'PUT', '/clock', { frozen: true })
  await control(brokerage, 'PUT', '/market/SPY', { price: '500.00' })
  return brokerage
}

export class Client {
  readonly brokerage: Brokerage
  readonly token: string
  readonly refreshToken: string
  #accounts: Readonly<Record<string, string>> = {}

  private constructor(brokerage: Brokerage, credentials: Readonly<Record<string, string>>) {
    this.brokerage = brokerage
    this.token = credentials.access_token ?? ''
    this.refreshToken = credentials.refresh_token ?? ''
  }

  static async of(brokerage: Brokerage, username = 'alex', scopes: readonly string[] = ['read', 'trade']): Promise<Client> {
    const { credentials } = await control(brokerage, 'POST', `/logins/${username}/token`, { dialect: 'tradestation', scopes })
    const client = new Client(brokerage, credentials)
    const { body } = await client.get('/brokerage/accounts')
    client.#accounts = Object.fromEntries(body.Accounts.map((account: Wire) => [account.AccountType, account.AccountID]))
    return client
  }

  account(type: 'Margin' | 'Cash' | 'Futures' = 'Margin'): string {
    return this.#accounts[type] ?? assert.fail(`no ${type} account`)
  }

  get accounts(): string {
    return Object.values(this.#accounts).join(',')
  }

  call(method: string, path: string, body?: unknown): Promise<Answer> {
    return send(this.url(path), method, body, bearer(this.token))
  }

  get(path: string): Promise<Answer> {
    return this.call('GET', path)
  }

  url(path: string): string {
    return `${this.brokerage.url}/tradestation/v3${path}`
  }

  /** A limit order to buy far below the market, unless specified otherwise; null leaves a field out. */
  place(fields: Readonly<Record<string, unknown>> = {}): Promise<Answer> {
    const order: Record<string, unknown> = {
      AccountID: this.account(),
      Symbol: 'SPY',
      Quantity: '10',
      OrderType: 'Limit',
      LimitPrice: '490.00',
      TradeAction: 'BUY',
      TimeInForce: { Duration: 'GTC' },
      ...fields
    }
    return this.call('POST', '/orderexecution/orders', Object.fromEntries(Object.entries(order).filter(([, value]) => value !== null)))
  }

  /** A market order that must be taken. @returns its id */
  async trade(action: string, quantity: string, fields: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const market = { OrderType: 'Market', LimitPrice: null, TimeInForce: { Duration: 'DAY' } }
    return taken(await this.place({ ...market, TradeAction: action, Quantity: quantity, ...fields }))
  }

  /** The order as it stands. */
  async order(id: string): Promise<Wire> {
    const { body } = await this.get(`/brokerage/accounts/${this.accounts}/orders/${id}`)
    return body.Orders[0] ?? assert.fail(`no order ${id}: ${JSON.stringify(body)}`)
  }

  change(id: string, fields: Readonly<Record<string, unknown>>): Promise<Answer> {
    return this.call('PUT', `/orderexecution/orders/${id}`, fields)
  }

  cancel(id: string): Promise<Answer> {
    return this.call('DELETE', `/orderexecution/orders/${id}`)
  }
}

/** The id of an order that was taken. */
export function taken({ status, body, text }: Answer): string {
  assert.equal(status, 200, text)
  assert.deepEqual(body.Errors, [], text)
  return body.Orders[0].OrderID
}

/** The message of a refused order, in a response of 200. */
export function refusedWith({ status, body, text }: Answer): string {
  assert.equal(status, 200, text)
  assert.deepEqual(body.Orders, [], text)
  assert.equal(body.Errors[0].Error, 'FAILED')
  return body.Errors[0].Message
}

/** A stream that keeps every line it was sent. */
export class Stream implements AsyncDisposable {
  readonly frames: Wire[] = []
  /** As they came over the wire, which may differ from how they were sent. */
  readonly chunks: string[] = []
  readonly status: number
  readonly headers: Headers
  closed: 'ended' | 'broken' | null = null
  readonly #abort: AbortController
  #rest = ''
  #wake: () => void = () => undefined

  private constructor(response: Response, abort: AbortController) {
    this.status = response.status
    this.headers = response.headers
    this.#abort = abort
    void this.#read(response)
  }

  static async open(client: Client, path: string): Promise<Stream> {
    const abort = new AbortController()
    const response = await fetch(client.url(path), { headers: bearer(client.token), signal: abort.signal })
    return new Stream(response, abort)
  }

  /** Opened and past its snapshot. */
  static async live(client: Client, path: string): Promise<Stream> {
    const stream = await Stream.open(client, path)
    await stream.until(frames => frames.some(({ StreamStatus }) => StreamStatus === 'EndSnapshot'))
    return stream
  }

  /** Without heartbeats. */
  get received(): readonly Wire[] {
    return this.frames.filter(({ Heartbeat }) => Heartbeat === undefined)
  }

  /** What came after the snapshot. */
  get publisher(): readonly Wire[] {
    return this.received.slice(this.received.findIndex(({ StreamStatus }) => StreamStatus === 'EndSnapshot') + 1)
  }

  async until(condition: (frames: readonly Wire[], stream: Stream) => boolean, withinMs = PATIENCE_MS): Promise<void> {
    const deadline = AbortSignal.timeout(withinMs)
    while (!condition(this.frames, this)) {
      if (deadline.aborted) assert.fail(`waited in vain; so far: ${JSON.stringify(this.frames).slice(0, 3_000)}, closed: ${this.closed}`)
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      deadline.addEventListener('abort', () => resolve(), { once: true })
      await promise
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort()
    return Promise.resolve()
  }

  async #read({ body }: Response): Promise<void> {
    try {
      for await (const chunk of body ?? []) this.#receive(Buffer.from(chunk).toString())
      this.closed = 'ended'
    } catch {
      this.closed = 'broken'
    }
    this.#wake()
  }

  #receive(chunk: string): void {
    this.chunks.push(chunk)
    const lines = (this.#rest + chunk).split('\r\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.frames.push(readOr(line))
    this.#wake()
  }
}

function readOr(line: string): Wire {
  try {
    return JSON.parse(line)
  } catch {
    return { unreadable: line }
  }
}
