/** Shared by the sandbox's tests: a separate sandbox, a customer's client, a recording stream, and an emulated browser. */

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { PATIENCE_MS } from '@trunkline/testkit/patience'
import { WebSocket } from 'ws'
import { type Brokerage, startBrokerage } from '../../src/brokerage/start.ts'
import type { SandboxConfig } from '../../src/config.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers are read as a client without types would read them; every test asserts what it needs.
export type Wire = any

export const SECRET = 'a-secret-for-the-tests-only'
export const REDIRECT = 'http://127.0.0.1/connect/callback/sandbox'

/** A real clock for a sandbox whose test needs a certain day: it begins on that day. */
export function beginningAt(time: string): () => number {
  const ahead = Date.parse(time) - Date.now()
  return () => Date.now() + ahead
}

/** A sandbox whose market does not move until a test moves it. */
export async function openBrokerage(parts: Partial<SandboxConfig> = {}): Promise<Brokerage> {
  const brokerage = await startBrokerage({ clientSecret: SECRET, redirectUris: [REDIRECT], heartbeatMs: 100, ...parts })
  await control(brokerage, 'PUT', '/clock', { frozen: true })
  await control(brokerage, 'PUT', '/market/SPY', { price: '500.00' })
  return brokerage
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: Wire
}

export async function send(url: string, method: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: { ...type, ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) })
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

/** A call of the control API that must succeed. */
export async function control(brokerage: Brokerage, method: string, path: string, body?: unknown): Promise<Wire> {
  const answer = await send(`${brokerage.controlUrl}${path}`, method, body)
  assert.ok(answer.status < 300, `${method} ${path} answered ${answer.status}: ${answer.text}`)
  return answer.body
}

/** A customer's client with its own token. */
export class Customer {
  readonly brokerage: Brokerage
  readonly token: string
  readonly refreshToken: string
  readonly accounts: readonly { readonly id: string; readonly kind: string }[]

  private constructor(brokerage: Brokerage, tokens: Wire, accounts: readonly { readonly id: string; readonly kind: string }[]) {
    this.brokerage = brokerage
    this.token = tokens.access_token
    this.refreshToken = tokens.refresh_token
    this.accounts = accounts
  }

  static async of(brokerage: Brokerage, username = 'alex', scopes: readonly string[] = ['read', 'trade']): Promise<Customer> {
    const tokens = await control(brokerage, 'POST', `/logins/${username}/token`, { scopes })
    const { items } = (await send(`${brokerage.url}/api/v1/accounts`, 'GET', undefined, bearer(tokens.access_token))).body
    return new Customer(brokerage, tokens, items)
  }

  account(kind: 'margin' | 'cash' | 'coin' | 'futures'): string {
    return this.accounts.find(account => account.kind === kind)?.id ?? assert.fail(`no ${kind} account`)
  }

  call(method: string, path: string, body?: unknown): Promise<Answer> {
    return send(`${this.brokerage.url}/api/v1${path}`, method, body, bearer(this.token))
  }

  /** Submits a limit order to buy far below the market, by default. */
  submit(ticket: Wire = {}): Promise<Answer> {
    const account = this.account('margin')
    return this.call('POST', '/orders', {
      account,
      symbol: 'SPY',
      direction: 'buy',
      kind: 'limit',
      lifetime: 'gtc',
      quantity: '10',
      limit: '490.00',
      ...ticket
    })
  }

  /** A market order for this many shares of SPY. */
  buy(quantity: string, ticket: Wire = {}): Promise<Answer> {
    return this.submit({ kind: 'market', lifetime: 'day', quantity, limit: null, ...ticket })
  }

  async find(clientOrderId: string): Promise<Answer> {
    return this.call('GET', `/orders/find?client_order_id=${encodeURIComponent(clientOrderId)}`)
  }
}

export function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` }
}

/** A stream that records everything it receives. */
export class Listener {
  readonly messages: Wire[] = []
  closed: number | undefined
  readonly #socket: WebSocket
  #wake: () => void = () => undefined

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on('message', data => {
      this.messages.push(parsed(String(data)) ?? String(data))
      this.#wake()
    })
    socket.on('close', code => {
      this.closed = code
      this.#wake()
    })
    socket.on('error', () => undefined)
  }

  static async open(brokerage: Brokerage, url = brokerage.streamUrl): Promise<Listener> {
    const socket = new WebSocket(url)
    const listener = new Listener(socket)
    await once(socket, 'open')
    return listener
  }

  /** Opens and logs in. */
  static async of(customer: Customer, resume: Wire = null): Promise<Listener> {
    const listener = await Listener.open(customer.brokerage)
    listener.send({ op: 'login', token: customer.token, resume })
    await listener.until(messages => messages.length > 0)
    return listener
  }

  /** Opens the market stream and logs in. */
  static async ofMarket(customer: Customer): Promise<Listener> {
    const listener = await Listener.open(customer.brokerage, customer.brokerage.marketStreamUrl)
    listener.send({ op: 'login', token: customer.token })
    await listener.until(messages => messages.length > 0)
    return listener
  }

  send(message: unknown): void {
    this.#socket.send(typeof message === 'string' ? message : JSON.stringify(message))
  }

  sendBytes(bytes: Buffer): void {
    this.#socket.send(bytes, { binary: true })
  }

  /** The events, without heartbeats and answers. */
  get events(): readonly Wire[] {
    return this.messages.filter(({ ev }) => ['order', 'fill', 'position', 'balance'].includes(ev))
  }

  /** The items of the market stream, one by one. */
  get items(): readonly Wire[] {
    return this.messages.flatMap(({ items }) => items ?? [])
  }

  get ready(): Wire {
    return this.messages.find(({ ev }) => ev === 'ready')
  }

  /** Waits for a condition on the received messages, or for the stream's close. */
  async until(condition: (messages: readonly Wire[], listener: Listener) => boolean, withinMs = PATIENCE_MS): Promise<void> {
    const deadline = AbortSignal.timeout(withinMs)
    while (!condition(this.messages, this)) {
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

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }
}

/** Polls until the answer is as expected. */
export async function eventually<T>(ask: () => Promise<T>, wanted: (answer: T) => boolean, withinMs = PATIENCE_MS): Promise<T> {
  const deadline = AbortSignal.timeout(withinMs)
  for (;;) {
    const answer = await ask()
    if (wanted(answer)) return answer
    if (deadline.aborted) assert.fail(`never as wanted; last: ${JSON.stringify(answer).slice(0, 1_000)}`)
    await new Promise(resolve => setImmediate(resolve))
  }
}

/** Follows links and forms like a browser: cookies by path, redirects by hand. */
export class Browser {
  readonly #cookies = new Map<string, { readonly value: string; readonly path: string }>()

  async go(url: string, form?: Record<string, string>): Promise<Answer & { readonly location: string | null; readonly url: string }> {
    const { pathname } = new URL(url)
    const cookie = [...this.#cookies].filter(([, { path }]) => pathname.startsWith(path)).map(([name, { value }]) => `${name}=${value}`)
    const response = await fetch(url, {
      redirect: 'manual',
      method: form === undefined ? 'GET' : 'POST',
      headers: { cookie: cookie.join('; ') },
      ...(form === undefined ? {} : { body: new URLSearchParams(form) })
    })
    for (const line of response.headers.getSetCookie()) this.#keep(line)
    const text = await response.text()
    const location = response.headers.get('location')
    const target = location === null ? null : new URL(location, url).href
    return { status: response.status, headers: response.headers, text, body: undefined, location: target, url }
  }

  /** Continues until a page is shown or another site is reached. */
  async follow(url: string, form?: Record<string, string>): ReturnType<Browser['go']> {
    let shown = await this.go(url, form)
    while (shown.location !== null && new URL(shown.location).origin === new URL(url).origin) shown = await this.go(shown.location)
    return shown
  }

  /** Sends the form of a page. */
  async submit(page: { readonly url: string; readonly text: string }, form: Record<string, string>): ReturnType<Browser['go']> {
    const action = /<form method="post" action="([^"]+)"/.exec(page.text)?.[1] ?? assert.fail(`no form in ${page.text.slice(0, 500)}`)
    return this.follow(new URL(action, page.url).href, form)
  }

  #keep(line: string): void {
    const [pair = '', ...attributes] = line.split(';').map(part => part.trim())
    const name = pair.slice(0, pair.indexOf('='))
    const path = attributes.find(attribute => /^path=/i.test(attribute))?.slice(5) ?? '/'
    if (attributes.some(attribute => /^expires=Thu, 01 Jan 1970/i.test(attribute))) this.#cookies.delete(name)
    else this.#cookies.set(name, { value: pair.slice(name.length + 1), path })
  }
}

export interface WalkStart {
  readonly url: string
  readonly verifier: string
  readonly state: string
}

/** The address to which an application sends its user. `change` overrides parameters; null omits one. */
export function authorizeUrl(brokerage: Brokerage, change: Record<string, string | null> = {}): WalkStart {
  const verifier = randomBytes(32).toString('base64url')
  const state = randomBytes(8).toString('hex')
  const parameters: Record<string, string | null> = {
    client_id: brokerage.clientId,
    response_type: 'code',
    redirect_uri: REDIRECT,
    scope: 'read trade',
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...change
  }
  const query = new URLSearchParams(Object.entries(parameters).flatMap(([name, value]) => (value === null ? [] : [[name, value]])))
  return { url: `${brokerage.url}/oauth/auth?${query}`, verifier, state }
}

/** A form to the token or revocation endpoint with the client's credentials. */
export async function tokenCall(brokerage: Brokerage, form: Record<string, string>, path = '/oauth/token'): Promise<Answer> {
  const credentials = Buffer.from(`${brokerage.clientId}:${SECRET}`).toString('base64')
  const response = await fetch(`${brokerage.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Basic ${credentials}` },
    body: new URLSearchParams(form)
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: parsed(text) }
}
