/** An Alpaca on a free port of which a test writes every answer and every message, and the adapter on it. */

import assert from 'node:assert/strict'
import type { Broker, Credentials } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import type { MarketSource } from '@trunkline/core/ports/market'
import { type WebSocket, WebSocketServer } from 'ws'
import type { AlpacaSettings } from '../../src/alpaca/definition.ts'
import { alpaca } from '../../src/alpaca/definition.ts'
import { systemClock } from '../support/clocks.ts'
import { MemoryHolder } from '../support/holder.ts'
import { MemoryLog } from '../support/log.ts'
import { MemoryMeter } from '../support/meter.ts'
import { ScriptedHost, type Seen } from '../support/scripted-host.ts'
import { bodyText, fixture } from './fixtures.ts'

export interface Answer {
  readonly status: number
  readonly body: string
  readonly headers?: Record<string, string>
}

/** An answer that is a fixture. */
export function as(name: string): Answer {
  return { status: fixture(name).status, body: bodyText(name) }
}

export function json(status: number, body: unknown): Answer {
  return { status, body: JSON.stringify(body) }
}

/** Null: the connection is cut without an answer. */
export type Route = (seen: Seen & { readonly query: URLSearchParams }) => Answer | null

/** The greeting of a socket of a stream's path, and the answers to it. */
export interface StreamScript {
  greet?(socket: WebSocket): void
  onFrame(data: Buffer, socket: WebSocket, isBinary: boolean): void
}

export class Venue implements AsyncDisposable {
  readonly sockets: { readonly path: string; readonly socket: WebSocket; readonly headers: Readonly<Record<string, unknown>> }[] = []
  readonly streams = new Map<string, StreamScript>()
  /** By method and path; `*` stands for the rest of a path. */
  readonly routes = new Map<string, Route>([['GET /api/v2/account', () => as('account')]])
  readonly #host: ScriptedHost
  readonly #server: WebSocketServer

  private constructor(host: ScriptedHost, autoPong: boolean) {
    this.#host = host
    this.#server = new WebSocketServer({ server: host.server, autoPong })
    this.#server.on('connection', (socket, request) => {
      const path = request.url ?? ''
      this.sockets.push({ path, socket, headers: request.headers })
      const script = this.streams.get(path)
      script?.greet?.(socket)
      socket.on('message', (data, isBinary) =>
        script?.onFrame(Buffer.isBuffer(data) ? data : Buffer.from(data.toString()), socket, isBinary)
      )
    })
  }

  static async start({ autoPong = true }: { readonly autoPong?: boolean } = {}): Promise<Venue> {
    const host = await ScriptedHost.start(() => undefined)
    const venue = new Venue(host, autoPong)
    host.script((seen, response) => {
      const { pathname, searchParams: query } = new URL(seen.path, 'http://venue')
      const answer = venue.#routeOf(`${seen.method} ${pathname}`)({ ...seen, query })
      if (answer === null) response.destroy()
      else response.writeHead(answer.status, answer.headers).end(answer.body)
    })
    return venue
  }

  get url(): string {
    return this.#host.origin
  }

  get seen(): readonly Seen[] {
    return this.#host.seen
  }

  /** The requests to a path, in order; `what` is a method and the beginning of a path. */
  requests(what: string): readonly Seen[] {
    return this.seen.filter(({ method, path }) => `${method} ${path}`.startsWith(what))
  }

  on(what: string, route: Route | Answer): void {
    this.routes.set(what, typeof route === 'function' ? route : () => route)
  }

  get last(): WebSocket {
    const last = this.sockets.at(-1)
    assert.ok(last !== undefined, 'no client has connected')
    return last.socket
  }

  get open(): number {
    return this.#server.clients.size
  }

  settings(more: Partial<AlpacaSettings> = {}): AlpacaSettings {
    return {
      environment: 'paper',
      tradingUrl: `${this.url}/api`,
      dataUrl: `${this.url}/data`,
      dataStreamUrl: `${this.url.replace('http', 'ws')}/streams`,
      authorizeUrl: `${this.url}/oauth/authorize`,
      tokenUrl: `${this.url}/oauth/token`,
      login: { clientId: 'trunkline', clientSecret: 'secret' },
      stockFeed: 'iex',
      optionFeed: 'indicative',
      pingMs: 10_000,
      hours: 'exchange',
      plain: true,
      ...more
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#server.clients) socket.terminate()
    await this.#host[Symbol.asyncDispose]()
  }

  #routeOf(what: string): Route {
    for (const [pattern, route] of this.routes)
      if (pattern.endsWith('*') ? what.startsWith(pattern.slice(0, -1)) : pattern === what) return route
    return () => json(404, { code: 40410000, message: `no answer is scripted for ${what}` })
  }
}

export interface Opened extends AsyncDisposable {
  readonly broker: Broker
  readonly market: MarketSource
  readonly log: MemoryLog
  readonly meter: MemoryMeter
  readonly definition: ReturnType<typeof alpaca>
}

export const TOKEN: Credentials = { access_token: 'token-1' }
export const KEYS: Credentials = { key_id: 'PKALPACA0001', secret_key: 'secret-of-the-key' }

export function openAt(
  venue: Venue,
  {
    settings,
    credentials = TOKEN,
    clock = systemClock
  }: { settings?: Partial<AlpacaSettings>; credentials?: Credentials; clock?: Clock } = {}
): Opened {
  const [log, meter] = [new MemoryLog(), new MemoryMeter()]
  const definition = alpaca(venue.settings(settings), { clock, fraction: () => 0, log, meter })
  const broker = definition.open(new MemoryHolder(credentials))
  assert.ok(broker.market !== null)
  return {
    ...{ broker, market: broker.market, log, meter, definition },
    async [Symbol.asyncDispose]() {
      await broker[Symbol.asyncDispose]()
      await definition[Symbol.asyncDispose]()
    }
  }
}
