// Composes the service in this process with replaceable dependencies, and simulates a browser with requests and cookies.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PlatformId } from '@trunkline/core/domain/ids'
import type { Store } from '@trunkline/core/ports/store'
import { compose, type Service, type Wraps } from '../../src/compose.ts'
import { settingsOf } from '../../src/config/settings.ts'
import { SystemClock } from '../../src/ops/clock.ts'
import type { DemoPlatform } from '../../src/ops/demo-platform.ts'
import { RandomIds } from '../../src/ops/ids.ts'
import { PinoLog } from '../../src/ops/log.ts'
import { Sha256Hasher } from '../../src/vault/hasher.ts'
import { copyStore } from '../store/template.ts'

export interface Scene extends AsyncDisposable {
  readonly url: string
  /** The demo platform, or another one if the service has no demo platform. */
  readonly demo: DemoPlatform
  readonly dataDir: string
  readonly newLink: (listener: (link: string) => void) => void
  readonly store: Store
  /** Every line of the log so far, at all levels. */
  readonly log: () => string
  /** Creates a user and returns a portal link. */
  readonly link: (userId: string, body?: object, platform?: Platform) => Promise<string>
  /** The headers of a user's requests to the API. */
  readonly as: (userId: string) => Readonly<Record<string, string>>
  /** The number of the user's connections. */
  readonly connections: (userId: string) => Promise<number>
  /** The number of requests for this operation that the sandbox received. */
  readonly requested: (operation: string) => Promise<number>
}

export interface Platform {
  readonly clientId: string
  readonly clientSecret: string
}

/** Opens the service on a new embedded database with the schema. `reached`: its real address, if the public URL is only a name. */
export async function openScene(wraps: Wraps = {}, env: Readonly<Record<string, string>> = {}, reached?: string): Promise<Scene> {
  const dataDir = await mkdtemp(join(tmpdir(), 'trunkline-portal-'))
  await copyStore(join(dataDir, 'database'))
  const lines: string[] = []
  let store: Store | undefined
  const keep = (opened: Store) => {
    store = opened
    return wraps.store?.(opened) ?? opened
  }
  const settings = settingsOf({ TRUNKLINE_PORT: '0', TRUNKLINE_DATA_DIR: dataDir, ...env })
  const log = new PinoLog('debug', { write: line => void lines.push(line) })
  const service = await compose(settings, log, env, { ...wraps, store: keep })
  assert.ok(store !== undefined)
  return {
    ...sceneOf(reached ?? service.url, service.demo?.demo ?? (await ownPlatform(store, service.url)), store),
    newLink: listener => service.onNewLink(listener),
    dataDir: settings.dataDir,
    log: () => lines.join(''),
    [Symbol.asyncDispose]: () => close(service, dataDir)
  }
}

/** A local port without a listener. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  assert.ok(typeof address === 'object' && address !== null)
  return address.port
}

async function close(service: Service, dataDir: string): Promise<void> {
  await service.stop()
  await rm(dataDir, { recursive: true })
}

async function ownPlatform(store: Store, url: string): Promise<DemoPlatform> {
  const [ids, at] = [new RandomIds(), new SystemClock().now()]
  const [clientId, clientSecret] = [ids.secret('pk_').slice(0, 27), ids.secret('sk_')]
  const platform = { platformId: ids.uuid<PlatformId>(), clientId, name: 'Scene', redirectAllowList: [], claims: false, createdAt: at }
  const audit = { actor: 'operator', action: 'platform.create', result: 'ok', ip: null, requestId: null, detail: {} } as const
  const hash = new Sha256Hasher(new Uint8Array()).hash(clientSecret)
  await store.platforms.create(platform, hash, { at, target: platform.platformId, ...audit })
  const addresses = { base_url: url, stream_url: '', market_data_stream_url: '', portal_url: `${url}/connect`, home_url: '' }
  return { client_id: clientId, client_secret: clientSecret, ...addresses, sandbox_control_url: null, sandbox_logins: [] }
}

function sceneOf(url: string, demo: DemoPlatform, store: Store): Omit<Scene, 'log' | 'newLink' | 'dataDir' | typeof Symbol.asyncDispose> {
  const secrets = new Map<string, string>()
  const own = { clientId: demo.client_id, clientSecret: demo.client_secret }
  const headersOf = ({ clientId, clientSecret }: Platform) => ({ 'client-id': clientId, 'client-secret': clientSecret })
  const asUser = (userId: string) => ({ ...headersOf(own), 'user-id': latin1(userId), 'user-secret': secrets.get(userId) ?? '' })
  return {
    ...{ url, demo, store },
    async link(userId, body = {}, platform = own) {
      const headers = headersOf(platform)
      if (!secrets.has(userId)) secrets.set(userId, String((await json(`${url}/users`, headers, { user_id: userId }))['user-secret']))
      const user = { ...headers, 'user-id': latin1(userId), 'user-secret': secrets.get(userId) ?? '' }
      const requested = { connection_type: 'trade', broker: 'SANDBOX', ...body }
      return String((await json(`${url}/connections`, user, requested)).authorization_url)
    },
    as: asUser,
    connections: async userId => {
      const answer: unknown = await (await fetch(`${url}/connections`, { headers: asUser(userId) })).json()
      assert.ok(Array.isArray(answer))
      return answer.length
    },
    requested: async operation => {
      const { operations } = await json(`${demo.sandbox_control_url}/counters`, {})
      return countOf(operations, operation)
    }
  }
}

function countOf(operations: unknown, operation: string): number {
  assert.ok(typeof operations === 'object' && operations !== null)
  const tally: unknown = new Map(Object.entries(operations)).get(operation)
  return typeof tally === 'object' && tally !== null && 'requests' in tally ? Number(tally.requests) : 0
}

/** UTF-8 in a header, as clients send it. */
function latin1(text: string): string {
  return Buffer.from(text).toString('latin1')
}

/** Sends JSON or no body, and requires a successful response. */
export async function json(url: string, headers: Readonly<Record<string, string>>, body?: object): Promise<Record<string, unknown>> {
  const sent =
    body === undefined ? {} : { method: 'POST', body: JSON.stringify(body), headers: { ...headers, 'content-type': 'application/json' } }
  const response = await fetch(url, { headers, ...sent })
  const text = await response.text()
  assert.ok(response.ok, `${url}: ${response.status} ${text}`)
  return JSON.parse(text)
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly html: string
  /** The absolute redirect target; empty if there is none. */
  readonly location: string
}

/** A cookie jar, and requests that do not follow redirects. */
export class Browser {
  readonly #jars = new Map<string, Map<string, string>>()

  get(url: string): Promise<Answer> {
    return this.#send(url, { method: 'GET' })
  }

  post(url: string, fields: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.#send(url, { method: 'POST', body: new URLSearchParams(fields), headers })
  }

  /** Sets a cookie as if another page of the host had set it. */
  plant(url: string, name: string, value: string): void {
    this.#jars.set(new URL(url).host, new Map([[name, value]]))
  }

  /** The cookie header for an origin. */
  cookies(url: string): string {
    return [...(this.#jars.get(new URL(url).host) ?? [])].map(([name, value]) => `${name}=${value}`).join('; ')
  }

  /** Submits a form and follows its redirect. */
  async send(url: string, fields: Readonly<Record<string, string>>): Promise<Answer> {
    const { status, location } = await this.post(url, fields)
    assert.equal(status, 303)
    return this.get(location)
  }

  /** Opens the link's page and approves. Returns the broker's address. */
  async approve(link: string, broker = 'SANDBOX'): Promise<string> {
    const shown = await this.get(link)
    assert.equal(shown.status, 200, shown.html)
    const { status, location } = await this.post(link, { decision: 'approve', broker })
    assert.equal(status, 303)
    if (!location.includes('/allow/')) return location
    // With several brokers, the chosen broker's consent page follows.
    assert.equal((await this.get(location)).status, 200)
    return (await this.post(location, { decision: 'approve', broker })).location
  }

  /** Logs in at the sandbox and approves. Returns the callback address without requesting it. */
  async logIn(address: string, { sandbox_logins: [login] }: DemoPlatform): Promise<string> {
    assert.ok(login !== undefined)
    const requested = await this.#follow(await this.get(address))
    await this.post(requested, { ...login, decision: 'approve' })
    return this.#follow(await this.post(requested, { decision: 'approve' }))
  }

  /** Follows redirects up to the first page or the service's callback. */
  async #follow(answer: Answer): Promise<string> {
    let at = answer
    for (;;) {
      const { location } = at
      assert.notEqual(location, '', `a page where none was expected: ${at.html}`)
      if (location.includes('/connect/callback/') || location.includes('/login/')) return location
      at = await this.get(location)
    }
  }

  async #send(url: string, init: RequestInit & { readonly headers?: Readonly<Record<string, string>> }): Promise<Answer> {
    const response = await fetch(url, { ...init, redirect: 'manual', headers: { ...init.headers, cookie: this.cookies(url) } })
    const { host } = new URL(url)
    const jar = this.#jars.get(host) ?? new Map<string, string>()
    this.#jars.set(host, jar)
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (/;\s*max-age=0/i.test(line)) jar.delete(name)
      else jar.set(name, value)
    }
    const location = response.headers.get('location')
    return {
      status: response.status,
      headers: response.headers,
      html: await response.text(),
      location: location === null ? '' : new URL(location, url).href
    }
  }
}
