// The sandbox as a separate process, which outlives a killed service, and its control API.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { PATIENCE_MS, soon } from '../patience.ts'
import { INHERITED } from '../short-lived.ts'
import { within } from '../within.ts'

/** A loosely typed answer: tests assert what they use. */
// biome-ignore lint/suspicious/noExplicitAny: the tests assert what they use of it
export type Json = any

export interface Login {
  readonly username: string
  readonly password: string
  readonly accounts: readonly { readonly id: string; readonly number: string; readonly kind: string }[]
}

/** The sandbox's record of a client order id. */
export interface SandboxOrders {
  /** Submit and amend requests with the id, and their orders. */
  readonly received: number
  readonly accepted: number
  readonly orders: readonly Json[]
}

/** On a loopback address any port is accepted. */
const REDIRECT_URIS = ['http://127.0.0.1/connect/callback/sandbox']
export const CLIENT_SECRET = 'a-client-secret-for-tests'

export class SandboxProcess implements AsyncDisposable {
  readonly port: number
  readonly #controlUrl: string
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, port: number, controlUrl: string) {
    this.#child = child
    this.port = port
    this.#controlUrl = controlUrl
  }

  /** Starts a sandbox on free ports. `publicUrl` is the origin that its clients use; null: its own. */
  static async start(publicUrl: string | null, redirectUris: readonly string[] = REDIRECT_URIS): Promise<SandboxProcess> {
    // The sandbox prints its public address only, so its port is chosen here.
    const port = await freePort()
    const child = spawn(process.execPath, [fileURLToPath(import.meta.resolve('@trunkline/sandbox/main'))], {
      env: {
        ...INHERITED,
        SANDBOX_PORT: String(port),
        ...(publicUrl !== null && { SANDBOX_PUBLIC_URL: publicUrl }),
        SANDBOX_REDIRECT_URIS: redirectUris.join(','),
        SANDBOX_HEARTBEAT_MS: '500',
        SANDBOX_CLIENT_SECRET: CLIENT_SECRET,
        SANDBOX_END_WITH_STDIN: '1'
      },
      stdio: ['pipe', 'pipe', 'inherit']
    })
    const died = once(child, 'exit').then(([code]) => Promise.reject(new Error(`the sandbox ended with ${code} before it was ready`)))
    died.catch(() => undefined)
    try {
      const ready = Promise.race([once(createInterface({ input: child.stdout }), 'line'), died])
      const [line] = await within(PATIENCE_MS, ready, () => 'the sandbox was ready')
      return new SandboxProcess(child, port, JSON.parse(String(line)).control_url)
    } catch (cause) {
      child.kill('SIGKILL')
      throw cause
    }
  }

  /** Calls the control API. @throws AssertionError unless it succeeds. */
  async control(method: string, path: string, body?: object): Promise<Json> {
    const answer = await fetch(`${this.#controlUrl}${path}`, {
      method,
      signal: soon(),
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
    })
    const text = await answer.text()
    assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`)
    return JSON.parse(text)
  }

  /** A customer with this number of margin accounts, funded for any order. */
  async login(accounts = 1): Promise<Login> {
    const wanted = Array.from({ length: accounts }, () => ({ kind: 'margin', cash: '10000000' }))
    const { login } = await this.control('POST', '/logins', { accounts: wanted })
    return login
  }

  /** A login's records in the sandbox's own state, read with a separate token, past any proxy. */
  async records(login: Login): Promise<{ readonly orders: Json; readonly positions: Json; readonly balances: Json }> {
    const { access_token: token } = await this.control('POST', `/logins/${login.username}/token`, {})
    const [orders, positions, balances] = await Promise.all(['orders?', 'positions?', 'balances?'].map(list => this.#items(list, token)))
    return { orders, positions, balances }
  }

  async ordersOf(clientOrderId: string): Promise<SandboxOrders> {
    return await this.control('GET', `/orders?client_order_id=${encodeURIComponent(clientOrderId)}`)
  }

  /** Sets a fault; the names are those of the sandbox's own page. */
  async fault(fault: Readonly<Record<string, unknown>>): Promise<void> {
    await this.control('POST', '/faults', fault)
  }

  /** A price a tenth below the market: a limit at which a buy order rests. */
  async restingPrice(login: Login, symbol: string): Promise<string> {
    const { access_token: token } = await this.control('POST', `/logins/${login.username}/token`, {})
    const answer = await fetch(`http://127.0.0.1:${this.port}/api/v1/quotes?symbols=${symbol}`, {
      headers: { authorization: `Bearer ${token}` },
      signal: soon()
    })
    const { items }: Json = await answer.json()
    assert.ok(typeof items[0]?.bid === 'string', JSON.stringify(items))
    return `${(BigInt(items[0].bid.split('.')[0]) * 9n) / 10n}.00`
  }

  /** All pages. Balances have no pages and no limit. */
  async #items(list: string, token: string): Promise<readonly Json[]> {
    const items: Json[] = []
    const limit = list === 'balances?' ? '' : 'limit=500'
    for (let cursor: string | null = ''; cursor !== null; ) {
      const next: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
      const url: string = `http://127.0.0.1:${this.port}/api/v1/${list}${limit}${next}`
      const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` }, signal: soon() })
      const page: Json = await answer.json()
      assert.ok(answer.ok, `${url}: ${answer.status} ${JSON.stringify(page)}`)
      items.push(...page.items)
      cursor = page.next
    }
    return items
  }

  async requests(operation: string): Promise<number> {
    const { operations } = await this.control('GET', '/counters')
    return operations[operation]?.requests ?? 0
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const child = this.#child
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.stdin?.end()
    try {
      await within(PATIENCE_MS, ended, () => 'the sandbox had ended after its input did')
    } catch (cause) {
      child.kill('SIGKILL')
      throw cause
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  assert.ok(typeof address === 'object' && address !== null)
  return address.port
}
