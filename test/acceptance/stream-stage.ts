// A running service with a market that stands still, and users who trade on it, for the tests of the broker stream.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { metricsPage } from '@trunkline/testkit/metrics'
import { INHERITED } from '@trunkline/testkit/short-lived'
import { type Answer, Api, type Body, type User } from './api.ts'
import { type Engine, type RunningService, startService } from './harness.ts'
import { link } from './linking.ts'
import { type Credentials, StreamClient } from './stream-client.ts'
import { StreamContract } from './stream-contract.ts'

const ROOT = resolve(import.meta.dirname, '..', '..')
/** Limits of REST are not what is tested here. */
const UNLIMITED = { TRUNKLINE_RATE_LIMIT_USER: '100000', TRUNKLINE_RATE_LIMIT_PLATFORM: '100000' }

/** What AAPL is bought and sold at, in any quantity. */
export const ASK = '100.01'
export const BID = '99.99'

export class Stage implements AsyncDisposable {
  readonly service: RunningService
  readonly api: Api
  readonly contract: StreamContract
  #users = 0

  private constructor(service: RunningService, api: Api, contract: StreamContract) {
    this.service = service
    this.api = api
    this.contract = contract
  }

  static async open(engine: Engine, env: Readonly<Record<string, string>> = {}): Promise<Stage> {
    const service = await startService(engine, { ...UNLIMITED, ...env })
    try {
      const stage = new Stage(service, await Api.of(service), await StreamContract.of(service.url))
      await stage.control('PUT', '/market/AAPL', { price: '100.00' })
      await stage.control('PUT', '/market', { paused: true })
      await stage.quote([[BID, '1000000']], [[ASK, '1000000']])
      return stage
    } catch (cause) {
      await service[Symbol.asyncDispose]()
      throw cause
    }
  }

  get credentials(): Credentials {
    const { client_id, client_secret } = this.service.demo
    return { client_id, client_secret }
  }

  /** A socket that may not be let in. */
  knock(): StreamClient {
    return StreamClient.connect(this.service.demo.stream_url, this.contract)
  }

  /** A session that is connected and welcomed, and nothing else. */
  async unauthenticated(): Promise<StreamClient> {
    const client = this.knock()
    await client.welcomed()
    return client
  }

  /** An authenticated session, subscribed to `topics`. */
  async session(topics: readonly string[] = [], more: Body = {}): Promise<StreamClient> {
    const client = await this.unauthenticated()
    await client.authenticate(this.credentials, more)
    if (topics.length > 0) await client.subscribe(...topics)
    return client
  }

  /** A user with an account of ten million at the sandbox. */
  async trader(name = 'trader'): Promise<Trader> {
    const userId = `${name}-${++this.#users}`
    const user = await this.api.user(userId)
    const { login } = await this.control('POST', '/logins', {
      username: userId,
      password: `practice-${userId}`,
      accounts: [{ kind: 'margin', cash: '10000000' }]
    })
    const connectionId = await link(this.api, user, 'trade', login)
    const { body } = await this.api.call('GET', '/accounts', { headers: this.api.as(user) })
    const trader = new Trader(this, user, { connectionId, accountId: body[0].account_id, sandboxAccount: login.accounts[0].id })
    // From here on only what the trader does is new.
    for (const path of ['/balances', '/positions']) assert.equal((await trader.call('GET', path)).status, 200)
    return trader
  }

  /** What stands in the book of AAPL from now on, best first. */
  async quote(bids: readonly (readonly [string, string])[], asks: readonly (readonly [string, string])[]): Promise<void> {
    await this.control('PUT', '/market/AAPL', { bids, asks })
  }

  /** A figure of `/metrics`; 0 when there is none yet. */
  async metric(name: string): Promise<number> {
    const page = await metricsPage(this.service.url)
    const line = page.split('\n').find(one => one.startsWith(`${name} `))
    return Number(line?.slice(name.length) ?? 0)
  }

  /** The sandbox's control API. */
  async control(method: string, path: string, body?: unknown): Promise<Body> {
    const response = await fetch(this.service.demo.sandbox_control_url + path, {
      method,
      ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
    })
    const text = await response.text()
    assert.ok(response.ok, `${method} ${path} of the sandbox's control API: ${response.status} ${text}`)
    return JSON.parse(text)
  }

  /** Another platform, made as the operator makes one. */
  otherPlatform(name: string): Promise<Credentials> {
    return this.operate('platform', 'create', '--claim', 'off', '--name', name)
  }

  /** Replaces a platform's client secret, as the operator does. */
  rotateSecret({ client_id }: Credentials): Promise<Credentials> {
    return this.operate('platform', 'rotate-secret', client_id, '--overlap', '0')
  }

  /** What a command of the operator's answers. Throws what it wrote when it fails. */
  async operate(...command: readonly string[]): Promise<Body> {
    const args = [join(ROOT, 'packages/server/src/cli.ts'), ...command, '--json']
    const env = { ...INHERITED, TRUNKLINE_DATA_DIR: this.service.dataDir }
    const { stdout } = await promisify(execFile)(process.execPath, args, { env, cwd: this.service.dataDir })
    return JSON.parse(stdout)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.service[Symbol.asyncDispose]()
  }
}

/** One user and what is done in the user's name. */
export class Trader {
  readonly user: User
  readonly connectionId: string
  readonly accountId: string
  readonly #stage: Stage
  readonly #sandboxAccount: string
  #orders = 0

  constructor(
    stage: Stage,
    user: User,
    at: { readonly connectionId: string; readonly accountId: string; readonly sandboxAccount: string }
  ) {
    this.#stage = stage
    this.user = user
    this.connectionId = at.connectionId
    this.accountId = at.accountId
    this.#sandboxAccount = at.sandboxAccount
  }

  get userId(): string {
    return this.user.userId
  }

  call(method: string, address: string, body?: unknown): Promise<Answer> {
    return this.#stage.api.call(method, address, { headers: this.#stage.api.as(this.user), body })
  }

  /** Buys at the market, which fills at once. */
  buy(quantity = '1', change: Body = {}): Promise<Body> {
    return this.place({ order_type: 'MKT', order_tif: 'DAY', order_qty: quantity, ...change })
  }

  /** An order far from the market, which stays open. */
  rest(change: Body = {}): Promise<Body> {
    return this.place({ order_type: 'LMT', order_tif: 'GTC', order_limit_price: '1.00', order_qty: '3', ...change })
  }

  /** Places an order and gives the record answered. */
  async place(change: Body): Promise<Body> {
    const ticket = { account_id: this.accountId, broker: 'SANDBOX', side: 'BUY', symbol: 'AAPL', cl_order_id: this.name(), ...change }
    const { status, body, text } = await this.call('POST', '/orders', ticket)
    assert.equal(status, 201, text)
    return body
  }

  async modify(order: Body, change: Body): Promise<Body> {
    const body = { new_cl_order_id: this.name(), broker: 'SANDBOX', ...change }
    const answer = await this.call('PATCH', `/accounts/${this.accountId}/orders/${order.order_id}`, body)
    assert.equal(answer.status, 200, answer.text)
    return answer.body
  }

  async cancel(order: Body): Promise<Body> {
    const answer = await this.call('DELETE', `/accounts/${this.accountId}/orders/${order.order_id}`)
    assert.equal(answer.status, 200, answer.text)
    return answer.body
  }

  /** Buys at the broker by other means than this service. Gives the broker's own record. */
  async buyElsewhere(quantity = '1', change: Body = {}): Promise<Body> {
    const ticket = { account: this.#sandboxAccount, symbol: 'AAPL', direction: 'buy', kind: 'market', lifetime: 'day', quantity, ...change }
    return (await this.#stage.control('POST', '/orders', { login: this.userId, ...ticket })).order
  }

  /** The newest 500 orders by REST. */
  async orders(): Promise<readonly Body[]> {
    return (await this.call('GET', '/orders?limit=500')).body.data
  }

  async connection(): Promise<Body> {
    const { body } = await this.call('GET', '/connections')
    return body.find((row: Body) => row.connection_id === this.connectionId)
  }

  /** The whole log by REST. */
  async events(): Promise<{ readonly rows: readonly Body[]; readonly text: string; readonly page: Body }> {
    const answer = await this.#stage.api.call('GET', `/events?user_id=${this.userId}&after=0&limit=1000`, {
      headers: this.#stage.api.platform
    })
    assert.equal(answer.status, 200, answer.text)
    return { rows: answer.body.data, text: answer.text, page: answer.body }
  }

  name(): string {
    return `${this.userId}-${++this.#orders}`
  }
}
