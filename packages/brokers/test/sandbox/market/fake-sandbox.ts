/** A sandbox of which a test writes every message of the market stream, and the sandbox's market data on it. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { Broker, BrokerDefinition } from '@trunkline/core/ports/broker'
import type { MarketSource, Topic } from '@trunkline/core/ports/market'
import { type WebSocket, WebSocketServer } from 'ws'
import { sandbox } from '../../../src/sandbox/definition.ts'
import { systemClock } from '../../support/clocks.ts'
import { MemoryHolder } from '../../support/holder.ts'
import { MemoryLog } from '../../support/log.ts'
import { MemoryMeter } from '../../support/meter.ts'
import type { Json } from '../sandbox-process.ts'

export const SANDBOX_TIME = '2026-12-01T15:00:00.000000Z'

export class FakeSandbox implements AsyncDisposable {
  readonly sockets: WebSocket[] = []
  /** What the client sent, except login messages. */
  readonly received: Json[] = []
  readonly logins: string[] = []
  readonly requests: string[] = []
  heartbeatMs = 60_000
  /** How each message is answered; a test may replace it. */
  answer: (message: Json, socket: WebSocket) => void = (message, socket) => this.usual(message, socket)
  /** How each read is answered: a status and a body beside the clocks. */
  read: (path: string) => { readonly status: number; readonly body: object } = () => ({ status: 404, body: error('unknown_symbol') })
  unknown: readonly string[] = []
  readonly #server: Server
  readonly #streams: WebSocketServer
  #seq = 0

  static async start(): Promise<FakeSandbox> {
    const fake = new FakeSandbox()
    fake.#server.listen(0, '127.0.0.1')
    await once(fake.#server, 'listening')
    return fake
  }

  private constructor() {
    this.#server = createServer((request, response) => {
      const path = request.url ?? ''
      this.requests.push(path)
      const { status, body } = this.read(path)
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ as_of: SANDBOX_TIME, sandbox_time: SANDBOX_TIME, ...body }))
    })
    this.#streams = new WebSocketServer({ server: this.#server, path: '/market/v1' })
    this.#streams.on('connection', socket => {
      this.sockets.push(socket)
      socket.on('message', data => this.answer(JSON.parse(data.toString()), socket))
    })
  }

  get url(): string {
    const address = this.#server.address()
    assert.ok(typeof address === 'object' && address !== null)
    return `http://127.0.0.1:${address.port}`
  }

  get last(): WebSocket {
    const socket = this.sockets.at(-1)
    assert.ok(socket !== undefined, 'no client has connected')
    return socket
  }

  get open(): number {
    return this.#streams.clients.size
  }

  usual(message: Json, socket: WebSocket): void {
    if (message.op === 'login') {
      this.logins.push(message.token)
      this.#seq = 0
      socket.send(
        JSON.stringify({ ev: 'ready', login: 'log_1', heartbeat_ms: this.heartbeatMs, as_of: SANDBOX_TIME, sandbox_time: SANDBOX_TIME })
      )
      return
    }
    this.received.push(message)
    const { n, symbols } = message
    if (message.op === 'add')
      this.send({
        ev: 'added',
        n,
        symbols: symbols.filter((symbol: string) => !this.unknown.includes(symbol)),
        unknown: symbols.filter((symbol: string) => this.unknown.includes(symbol))
      })
    if (message.op === 'drop') this.send({ ev: 'dropped', n })
    if (message.op === 'token') this.send({ ev: 'token_ok' })
  }

  send(message: object): void {
    this.last.send(JSON.stringify(message))
  }

  /** A message of items with the next number, or with `seq`. */
  items(items: readonly unknown[], seq = this.#seq + 1): void {
    this.#seq = seq
    this.send({ seq, items })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#streams.clients) socket.terminate()
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

export function error(code: string): object {
  return { error: { code, message: `no: ${code}`, field: null } }
}

/** `livesMs` is how long the access token at hand is good for. */
export function brokerAt(
  fake: FakeSandbox,
  { livesMs = 600_000 }: { readonly livesMs?: number } = {}
): { readonly broker: Broker; readonly market: MarketSource } & AsyncDisposable {
  const definition: BrokerDefinition & AsyncDisposable = sandbox(
    { baseUrl: fake.url, clientId: 'trunkline', clientSecret: 'secret' },
    { clock: systemClock, fraction: () => 0, log: new MemoryLog(), meter: new MemoryMeter() }
  )
  const nowMs = performance.timeOrigin + performance.now()
  const credentials = {
    access_token: 'token-1',
    refresh_token: 'refresh-1',
    issued_at: timestampOfMs(nowMs),
    expires_at: timestampOfMs(nowMs + livesMs)
  }
  const broker = definition.open(new MemoryHolder(credentials))
  assert.ok(broker.market !== null)
  return {
    broker,
    market: broker.market,
    async [Symbol.asyncDispose]() {
      await broker[Symbol.asyncDispose]()
      await definition[Symbol.asyncDispose]()
    }
  }
}

export const trades = (symbol: string): Topic => ({ channel: 'trades', symbol })

let prints = 0

/** A trade of a symbol, each with another price. */
export function tradeItem(symbol: string, more: object = {}): object {
  prints += 1
  return { t: 'trade', s: symbol, p: `${prints}.25`, z: '100', x: 'Q', at: '1796137200000000001', k: 'all', ...more }
}
