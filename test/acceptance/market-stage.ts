// A running service and users with market data at the sandbox, for the tests of the market data stream.
import assert from 'node:assert/strict'
import { Api, type Body, type User } from './api.ts'
import { type Engine, type RunningService, startService } from './harness.ts'
import { begin, link } from './linking.ts'
import { MarketClient, type Options } from './market-client.ts'
import { Walker } from './walker.ts'

/** Limits of REST are not what is tested here; the tests say where each client comes from. */
const SETTINGS = { TRUNKLINE_RATE_LIMIT_USER: '100000', TRUNKLINE_RATE_LIMIT_PLATFORM: '100000', TRUNKLINE_TRUSTED_PROXIES: 'loopback' }

export interface Login {
  readonly username: string
  readonly password: string
  readonly accounts: readonly { readonly id: string; readonly kind: string }[]
}

export class MarketStage implements AsyncDisposable {
  readonly service: RunningService
  readonly api: Api
  #users = 0
  #addresses = 0
  #sandboxUrl: string | null = null

  private constructor(service: RunningService, api: Api) {
    this.service = service
    this.api = api
  }

  static async open(env: Readonly<Record<string, string>> = {}, engine: Engine = 'embedded'): Promise<MarketStage> {
    const service = await startService(engine, { ...SETTINGS, ...env })
    try {
      return new MarketStage(service, await Api.of(service))
    } catch (cause) {
      await service[Symbol.asyncDispose]()
      throw cause
    }
  }

  get url(): string {
    return `${this.service.url.replace(/^http/, 'ws')}/market-data/stream`
  }

  /** An address that no client has come from yet. */
  address(): string {
    const number = ++this.#addresses
    return `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`
  }

  /** A socket that has sent nothing. */
  knock(options: Options = {}): Promise<MarketClient> {
    return MarketClient.connect(this.url, options)
  }

  /** Somebody with one connection, and a login of their own at the sandbox, which emulates every broker. */
  async viewer(name = 'viewer', accounts: readonly Body[] = [{ kind: 'margin', cash: '10000000' }], broker = 'SANDBOX'): Promise<Viewer> {
    const userId = `${name}-${++this.#users}`
    const user = await this.api.user(userId)
    const { login } = await this.control('POST', '/logins', { username: userId, password: `practice-${userId}`, accounts })
    return new Viewer(this, user, login, await link(this.api, user, 'trade', login, broker))
  }

  /** The sandbox's control API. */
  async control(method: string, path: string, body?: unknown): Promise<Body> {
    const response = await fetch(this.service.demo.sandbox_control_url + path, {
      method,
      ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
    })
    const text = await response.text()
    assert.ok(response.ok, `${method} ${path} of the sandbox's control API: ${response.status} ${text}`)
    return text === '' ? null : JSON.parse(text)
  }

  /** Lets the market live through so much time at once. */
  async advance(ms: number): Promise<void> {
    await this.control('PUT', '/clock', { advance_ms: ms })
  }

  /** Jumps to a moment of sandbox time, which must not be over. */
  async jump(time: string): Promise<void> {
    await this.control('PUT', '/clock', { set: time })
  }

  /** The market's own time in milliseconds since the epoch. */
  async sandboxMs(): Promise<number> {
    return Date.parse((await this.control('GET', '/clock')).clock.sandbox_time)
  }

  /** Stops all prices, or lets them go on. */
  async pause(isPaused = true): Promise<void> {
    await this.control('PUT', '/market', { paused: isPaused })
  }

  /** What stands in a book from now on, best first. */
  async quote(symbol: string, bids: readonly Level[], asks: readonly Level[]): Promise<void> {
    await this.control('PUT', `/market/${encodeURIComponent(symbol)}`, { bids, asks })
  }

  /** An answer of the sandbox itself, in a viewer's name. */
  async sandbox(viewer: Viewer, path: string): Promise<Body> {
    this.#sandboxUrl ??= await this.#findSandboxUrl(viewer)
    const { access_token } = await this.control('POST', `/logins/${viewer.login.username}/token`, {})
    const response = await fetch(`${this.#sandboxUrl}/api/v1${path}`, { headers: { authorization: `Bearer ${access_token}` } })
    const text = await response.text()
    assert.ok(response.ok, `${path} of the sandbox: ${response.status} ${text}`)
    return JSON.parse(text)
  }

  /** A user's way to the broker's login leads there. */
  async #findSandboxUrl({ user }: Viewer): Promise<string> {
    const walker = new Walker('nowhere:')
    const page = await walker.open(await begin(this.api, user, { connection_type: 'trade', broker: 'SANDBOX' }))
    return new URL((await walker.submit(page, { decision: 'approve' })).url).origin
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.service[Symbol.asyncDispose]()
  }
}

export type Level = readonly [price: string, size: string]

/** A user with a connection, and what is done in the user's name. */
export class Viewer {
  readonly user: User
  readonly login: Login
  readonly connectionId: string
  readonly #stage: MarketStage
  #token: Promise<string> | null = null
  #address: string | null = null
  #orders = 0

  constructor(stage: MarketStage, user: User, login: Login, connectionId: string) {
    this.#stage = stage
    this.user = user
    this.login = login
    this.connectionId = connectionId
  }

  get userId(): string {
    return this.user.userId
  }

  /** Another connection of the same login. Gives its id. */
  connect(connectionType = 'trade'): Promise<string> {
    return link(this.#stage.api, this.user, connectionType, this.login)
  }

  call(method: string, address: string, body?: unknown): ReturnType<Api['call']> {
    return this.#stage.api.call(method, address, { headers: this.#stage.api.as(this.user), ...(body !== undefined && { body }) })
  }

  /** A new token, which supersedes the connection's one before. */
  token(connectionId = this.connectionId): Promise<string> {
    const token = this.#issued(connectionId)
    if (connectionId === this.connectionId) this.#token = token
    return token
  }

  async #issued(connectionId: string): Promise<string> {
    const { status, body, text } = await this.call('GET', `/connections/${connectionId}/token`)
    assert.equal(status, 200, text)
    return body.access_token
  }

  /** A session with the viewer's one token, from the viewer's one address. */
  async session(options: Options = {}): Promise<MarketClient> {
    const token = await (this.#token ?? this.token())
    this.#address ??= this.#stage.address()
    const client = await this.#stage.knock({ address: this.#address, ...options })
    await client.authenticate(token)
    return client
  }

  /** Gives a ticket what every order has, with a client order id of its own. */
  ticket(change: Body): Body {
    return { cl_order_id: `${this.userId}-${++this.#orders}`, broker: 'SANDBOX', order_type: 'MKT', order_tif: 'DAY', ...change }
  }
}
