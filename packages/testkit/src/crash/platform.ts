// A platform over REST, and the portal walk that connects a user: only HTTP, nothing of the service's code.

import assert from 'node:assert/strict'
import { soon } from '../patience.ts'
import type { Json, Login } from './sandbox-process.ts'

/** An order as the service's REST API shows it. */
export type OrderRecord = Json

export interface Answer {
  readonly status: number
  readonly body: Json
}

/** The service's present address, and the platform's credentials. */
export interface Demo {
  readonly base_url: string
  readonly client_id: string
  readonly client_secret: string
}

const HOPS_MAX = 20

/** A platform of a service that moves to another address at every start. */
export class CrashPlatform {
  readonly #demo: () => Demo

  constructor(demo: () => Demo) {
    this.#demo = demo
  }

  headers(): Readonly<Record<string, string>> {
    const { client_id: id, client_secret: secret } = this.#demo()
    return { 'client-id': id, 'client-secret': secret }
  }

  get url(): string {
    return this.#demo().base_url
  }

  /** Creates a user and connects its login at the sandbox. */
  async user(userId: string, login: Login): Promise<CrashUser> {
    const created = await this.call('POST', '/users', this.headers(), { user_id: userId })
    assert.equal(created.status, 200, JSON.stringify(created.body))
    const credentials = { 'user-id': userId, 'user-secret': String(created.body['user-secret']) }
    const headers = () => ({ ...this.headers(), ...credentials })
    const link = await this.call('POST', '/connections', headers(), { connection_type: 'trade', broker: 'SANDBOX' })
    assert.equal(link.status, 201, JSON.stringify(link.body))
    await walk(link.body.authorization_url, login)
    const accounts = await this.call('GET', '/accounts', headers())
    assert.equal(accounts.body.length, login.accounts.length, JSON.stringify(accounts.body))
    const accountIds = login.accounts.map(({ number }) => accountNumbered(accounts.body, number))
    return new CrashUser(this, userId, { headers, login, accountIds })
  }

  async call(method: string, path: string, headers: Readonly<Record<string, string>>, body?: object): Promise<Answer> {
    const response = await fetch(this.url + path, {
      method,
      headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: soon()
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? null : JSON.parse(text) }
  }
}

function accountNumbered(accounts: Json, number: string): string {
  const found = accounts.find((account: Json) => account.account_number === number)
  assert.ok(found, `there is no account ${number} in ${JSON.stringify(accounts)}`)
  return found.account_id
}

interface UserParts {
  readonly headers: () => Readonly<Record<string, string>>
  readonly login: Login
  /** In the order of the login's accounts. */
  readonly accountIds: readonly string[]
}

/** One user. Without an account, operations are about the first one. */
export class CrashUser {
  readonly userId: string
  readonly login: Login
  readonly headers: () => Readonly<Record<string, string>>
  readonly #accountIds: readonly string[]
  readonly platform: CrashPlatform

  constructor(platform: CrashPlatform, userId: string, { headers, login, accountIds }: UserParts) {
    this.platform = platform
    this.userId = userId
    this.headers = headers
    this.login = login
    this.#accountIds = accountIds
  }

  get accountId(): string {
    return this.#account(0)
  }

  place(clOrdId: string, more: Readonly<Record<string, unknown>> = {}): Promise<Answer> {
    return this.placeFor(0, clOrdId, more)
  }

  placeFor(account: number, clOrdId: string, more: Readonly<Record<string, unknown>> = {}): Promise<Answer> {
    return this.call('POST', '/orders', this.ticket(clOrdId, { account_id: this.#account(account), ...more }))
  }

  ticket(clOrdId: string, more: Readonly<Record<string, unknown>> = {}): object {
    const ticket = { side: 'BUY', order_type: 'MKT', order_tif: 'DAY', symbol: 'SPY', order_qty: '2', ...more }
    return { account_id: this.accountId, cl_order_id: clOrdId, broker: 'SANDBOX', ...ticket }
  }

  cancel(orderId: string): Promise<Answer> {
    return this.cancelIn(0, orderId)
  }

  cancelIn(account: number, orderId: string): Promise<Answer> {
    return this.call('DELETE', `/accounts/${this.#account(account)}/orders/${orderId}`)
  }

  modify(orderId: string, newClOrdId: string, changes: Readonly<Record<string, unknown>>): Promise<Answer> {
    return this.modifyIn(0, orderId, newClOrdId, changes)
  }

  modifyIn(account: number, orderId: string, newClOrdId: string, changes: Readonly<Record<string, unknown>>): Promise<Answer> {
    return this.call('PATCH', `/accounts/${this.#account(account)}/orders/${orderId}`, {
      new_cl_order_id: newClOrdId,
      broker: 'SANDBOX',
      ...changes
    })
  }

  get url(): string {
    return this.platform.url
  }

  call(method: string, path: string, body?: object): Promise<Answer> {
    return this.platform.call(method, path, this.headers(), body)
  }

  /** Every order of the user, newest first. */
  async orders(): Promise<readonly OrderRecord[]> {
    const rows: OrderRecord[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const next = cursor === '' ? '' : `&next_cursor=${encodeURIComponent(cursor)}`
      const { status, body }: Answer = await this.call('GET', `/orders?limit=500${next}`)
      assert.equal(status, 200, JSON.stringify(body))
      rows.push(...body.data)
      cursor = body.next_cursor
    }
    return rows
  }

  /** The present answers of all reads. */
  async records(): Promise<{ readonly orders: readonly OrderRecord[]; readonly positions: Json; readonly balances: Json }> {
    const [orders, positions, balances] = await Promise.all([this.orders(), this.call('GET', '/positions'), this.call('GET', '/balances')])
    for (const { status, body } of [positions, balances]) assert.equal(status, 200, JSON.stringify(body))
    return { orders, positions: positions.body, balances: balances.body }
  }

  /** The orders with that client order id: one, or none. */
  async named(clOrdId: string): Promise<OrderRecord | null> {
    const found = (await this.orders()).filter(order => order.cl_order_id === clOrdId)
    assert.ok(found.length <= 1, `${found.length} orders are called ${clOrdId}`)
    return found[0] ?? null
  }

  #account(index: number): string {
    const accountId = this.#accountIds[index]
    if (accountId === undefined) throw new Error(`the user has no account number ${index}`)
    return accountId
  }
}

/** Completes a portal link: approve, log in at the sandbox, approve there. */
async function walk(link: string, login: Login): Promise<void> {
  const cookies = new Map<string, Map<string, string>>()
  const portal = new URL(link).origin
  let page = await go(cookies, link, { method: 'GET' })
  for (let step = 0; step < 5; step += 1) {
    const form = /<form[^>]*\saction="([^"]*)"/.exec(page.html)?.[1]
    const isOver = new URL(page.url).origin === portal && !page.html.includes('name="decision"')
    if (isOver || form === undefined) return
    const fields = [...page.html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [
      name,
      value
    ])
    const loginFields = page.html.includes('name="password"') ? { username: login.username, password: login.password } : {}
    const body = new URLSearchParams({ ...Object.fromEntries(fields), ...loginFields, decision: 'approve' })
    page = await go(cookies, new URL(form.replaceAll('&amp;', '&'), page.url).href, { method: 'POST', body })
  }
  throw new Error(`the login did not end; it is at ${page.url}`)
}

async function go(
  cookies: Map<string, Map<string, string>>,
  start: string,
  first: RequestInit
): Promise<{ readonly url: string; readonly html: string }> {
  let [url, init] = [start, first]
  for (let hop = 0; hop < HOPS_MAX; hop += 1) {
    const { host } = new URL(url)
    const jar = cookies.get(host) ?? new Map<string, string>()
    cookies.set(host, jar)
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { ...init, redirect: 'manual', headers: { cookie }, signal: soon() })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      jar.set(name, value)
    }
    const location = response.headers.get('location')
    if (location === null) return { url, html: await response.text() }
    await response.arrayBuffer()
    url = new URL(location, url).href
    init = { method: 'GET' }
  }
  throw new Error(`more than ${HOPS_MAX} redirects from ${new URL(start).origin}`)
}
