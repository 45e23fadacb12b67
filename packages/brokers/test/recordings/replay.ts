/** A broker that answers from recordings: one host on a free port for every broker, and the adapter of the registry opened at it. */

import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { Broker, Credentials } from '@trunkline/core/ports/broker'
import type { MarketSource } from '@trunkline/core/ports/market'
import { type WebSocket, WebSocketServer } from 'ws'
import { ADAPTERS, openBrokers } from '../../src/registry.ts'
import { systemClock } from '../support/clocks.ts'
import { MemoryHolder } from '../support/holder.ts'
import { MemoryLog } from '../support/log.ts'
import { MemoryMeter } from '../support/meter.ts'
import { ScriptedHost, type Seen } from '../support/scripted-host.ts'

/** What stands before the paths of a broker's own documents. */
const BASES = /^\/(?:alpaca\/(?:api|data)|tradestation|tradier)(?=\/)/

export interface Call extends Seen {
  /** As in a recording: without the base, with its query. */
  readonly path: string
  readonly query: URLSearchParams
}

export interface Reply {
  readonly status: number
  readonly body: string
}

/** Null: the route wrote the answer itself. */
export type Route = (call: Call, response: ServerResponse) => Reply | null

export class Replay implements AsyncDisposable {
  readonly holder: MemoryHolder
  readonly log = new MemoryLog()
  readonly calls: Call[] = []
  readonly broker: Broker
  readonly #host: ScriptedHost
  readonly #sockets: WebSocketServer
  readonly #brokers: ReturnType<typeof openBrokers>
  /** By method and path without query; `*` stands for the rest of a path. The longest counts. */
  readonly #routes = new Map<string, Route>()

  private constructor(id: string, host: ScriptedHost, credentials: Credentials) {
    this.#host = host
    this.holder = new MemoryHolder(credentials)
    host.script((seen, response) => this.#answer(seen, response))
    this.#sockets = new WebSocketServer({ server: host.server })
    const adapter = ADAPTERS.find(({ capabilities }) => capabilities.id === id)
    assert.ok(adapter !== undefined, `no adapter is called ${id}`)
    const access = { url: host.origin, publicUrl: host.origin, clientId: 'us', clientSecret: 'secret', hours: 'exchange' } as const
    const offer = adapter.offer(env => adapter.settings.find(setting => setting.env === env)?.fallback ?? '')
    this.#brokers = openBrokers([offer], { clock: systemClock, fraction: () => 0, log: this.log, meter: new MemoryMeter() }, access)
    const definition = this.#brokers.get(adapter.capabilities.id)
    assert.ok(definition !== undefined)
    this.broker = definition.open(this.holder)
  }

  static async open(id: string, credentials: Credentials = refreshable()): Promise<Replay> {
    return new Replay(id, await ScriptedHost.start(() => undefined), credentials)
  }

  get market(): MarketSource {
    assert.ok(this.broker.market !== null)
    return this.broker.market
  }

  on(what: string, route: Route | Reply): void {
    this.#routes.set(what, typeof route === 'function' ? route : () => route)
  }

  /** Calls of a method to a path, queries left aside. */
  seen(what: string): readonly Call[] {
    return this.calls.filter(call => matches(what, `${call.method} ${pathOf(call.path)}`))
  }

  /** What a client of a WebSocket sends, and how it is greeted. */
  onSocket(
    onMessage: (text: string, socket: WebSocket) => void,
    greet: (socket: WebSocket, request: IncomingMessage) => void = () => {}
  ): void {
    this.#sockets.on('connection', (socket, request) => {
      socket.on('message', data => onMessage(data.toString(), socket))
      greet(socket, request)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.broker[Symbol.asyncDispose]()
    await this.#brokers[Symbol.asyncDispose]()
    for (const socket of this.#sockets.clients) socket.terminate()
    await this.#host[Symbol.asyncDispose]()
  }

  #answer(seen: Seen, response: ServerResponse): void {
    const path = decodeURIComponent(seen.path.replace(BASES, ''))
    const call: Call = { ...seen, path, query: new URL(seen.path, 'http://host').searchParams }
    this.calls.push(call)
    const asked = `${call.method} ${pathOf(path)}`
    const [found] = [...this.#routes].filter(([what]) => matches(what, asked)).toSorted(([a], [b]) => b.length - a.length)
    const reply = found === undefined ? { status: 404, body: `nothing was recorded for ${asked}` } : found[1](call, response)
    if (reply === null) return
    const type = /^\s*[{[]/.test(reply.body) ? 'application/json' : 'text/plain'
    response.writeHead(reply.status, { 'content-type': type }).end(reply.body)
  }
}

/** A reply that is JSON. */
export function reply(value: unknown, status = 200): Reply {
  return { status, body: JSON.stringify(value) }
}

export function pathOf(path: string): string {
  return path.split('?')[0] ?? ''
}

function matches(what: string, asked: string): boolean {
  return what.endsWith('*') ? asked.startsWith(what.slice(0, -1)) : asked === what
}

function refreshable(): Credentials {
  const nowMs = Date.now()
  const times = { issued_at: timestampOfMs(nowMs), expires_at: timestampOfMs(nowMs + 3_600_000) }
  return { access_token: 'token-1', refresh_token: 'refresh-1', ...times }
}
