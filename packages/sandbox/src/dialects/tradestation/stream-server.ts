/** The open streams of one kind: admitted by token, quota, cap and fault; kept alive, with fault injection. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Customer, type Fault, NO_FACTS, type Pass, Problem, type StreamFaultSpec } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import { type DialectConnection, DialectConnections } from '../frame/connections.ts'
import { cutPipe } from './chunks.ts'
import { CODES, closeReason, textLine } from './close-reasons.ts'
import { type Modes, shareOf } from './options.ts'
import { type Access, shown } from './protocol.ts'
import { type Cap, capOf } from './resources.ts'
import { timeOf } from './times.ts'

/** Sends on an open stream. */
export interface StreamEmitter {
  /** Something that happened. */
  event(frame: object): void
  /** Anything else, such as a snapshot. */
  send(frame: object): void
}

/** One reader of one stream. */
export interface StreamProtocol {
  /** Once, when the answer has begun. */
  begin(emitter: StreamEmitter): void | Promise<void>
  /** Some times a second. */
  tick?(): void
  /** Once, when the reader has gone. */
  end(): void
}

export interface StreamCall {
  readonly request: FastifyRequest
  readonly customer: Customer
}

export interface StreamRoute {
  readonly path: string
  /** @throws Problem, answered before a stream begins */
  readonly open: (call: StreamCall) => StreamProtocol | Promise<StreamProtocol>
}

export interface StreamServerDeps {
  readonly brokerage: BrokerageView
  readonly access: Access
  readonly modes: Modes
  readonly on: 'account' | 'market'
}

const HEARTBEAT_MS = 5_000
const TICK_MS_MAX = 250
const WAITING_MAX = 32 * 1024 * 1024

interface StreamClient {
  readonly protocol: StreamProtocol
  readonly connection: DialectConnection
  readonly resource: string | null
  heartbeats: number
  lastSentAt: number
}

export class StreamServer {
  readonly #deps: StreamServerDeps
  readonly #connections: DialectConnections
  readonly #clients = new Set<StreamClient>()
  readonly #heartbeatMs: number
  #timer: NodeJS.Timeout | null = null
  #opened = 0

  constructor(deps: StreamServerDeps) {
    this.#deps = deps
    this.#heartbeatMs = deps.brokerage.heartbeatMs ?? HEARTBEAT_MS
    const codes = { going: CODES.goAway, tokenEnded: CODES.end, slow: CODES.end }
    this.#connections = new DialectConnections({
      now: deps.brokerage.realNow,
      waitingMax: WAITING_MAX,
      garbled: '{"Heartbeat":}\r\n',
      codes
    })
  }

  mount(app: FastifyInstance, routes: readonly StreamRoute[]): void {
    for (const route of routes) {
      app.get(route.path, (request, reply) => {
        reply.hijack()
        return this.#enter(route, request, reply)
      })
    }
  }

  injectFault(order: StreamFaultSpec): number {
    return this.#connections.injectFault(order)
  }

  endGrant(grant: string): void {
    this.#connections.endGrant(grant)
  }

  report(): readonly object[] {
    return this.#connections.report(this.#deps.on)
  }

  reset(): void {
    this.#connections.reset()
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#connections.close()
  }

  async #enter(route: StreamRoute, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { brokerage, access } = this.#deps
    const fault = brokerage.faults.none ? undefined : brokerage.faults.take('stream.connect', NO_FACTS)
    if (fault !== undefined && fault.do !== 'delay') {
      brokerage.counters.fault('stream.connect')
      return this.#strike(reply, fault)
    }
    if (fault !== undefined) await brokerage.timers.wait(fault.ms)
    try {
      const pass = access.admit(request)
      const customer = brokerage.customers.byId(pass.login)
      if (customer === undefined) throw new Problem('token_invalid', 'Access token is invalid or expired')
      const cap = capOf(request.routeOptions.url ?? '')
      const headers = { ...access.headers(request), ...this.#headers(pass, cap) }
      const protocol = await route.open({ request, customer })
      await this.#start({ pass, cap, protocol, headers, reply })
    } catch (error) {
      await this.#refuse(reply, error)
    }
  }

  /** @throws Problem when the login has as many streams of this kind as it may have */
  #headers({ login }: Pass, cap: Cap | null): Readonly<Record<string, string>> {
    if (cap === null) return {}
    const limit = shareOf(cap.limit, this.#deps.modes.now.streamPercent)
    const open = [...this.#clients].filter(
      ({ resource, connection }) => resource === cap.resource && connection.pass.login === login
    ).length
    if (open >= limit) throw new Problem('slow_down', 'Stream quota exceeded', { retryAfter: 5 })
    return {
      'X-Concurrency-Limit': String(limit),
      'X-Concurrency-Remaining': String(limit - open - 1),
      'X-Concurrency-Resource': cap.resource
    }
  }

  async #start(entry: {
    readonly pass: Pass
    readonly cap: Cap | null
    readonly protocol: StreamProtocol
    readonly headers: Readonly<Record<string, string>>
    readonly reply: FastifyReply
  }): Promise<void> {
    const { brokerage, modes, on } = this.#deps
    const { pass, cap, protocol, headers, reply } = entry
    const response = reply.raw
    // Closed while the stream was being opened: no close event would follow.
    if (response.destroyed) return protocol.end()
    brokerage.counters.request('stream.connect')
    brokerage.counters.answer('stream.connect', 200)
    const version = on === 'account' ? 'v3' : 'v2'
    response.writeHead(200, {
      ...headers,
      'content-type': `application/vnd.tradestation.streams.${version}+json`,
      'cache-control': 'no-store'
    })
    response.flushHeaders()
    const seed = `${brokerage.seed} stream ${++this.#opened}`
    const pipe = cutPipe({ response, seed, cutChance: modes.now.cutChance, closeReason: code => closeReason(on, code) })
    const open = this.#connections.add(pass, pipe)
    const client: StreamClient = {
      protocol,
      connection: open,
      resource: cap?.resource ?? null,
      heartbeats: 0,
      lastSentAt: brokerage.realNow()
    }
    this.#clients.add(client)
    response.on('error', () => undefined)
    response.on('close', () => {
      this.#clients.delete(client)
      this.#connections.remove(open)
      protocol.end()
    })
    this.#timer ??= setInterval(() => this.#tick(), Math.min(TICK_MS_MAX, this.#heartbeatMs / 2)).unref()
    try {
      await protocol.begin(this.#emitter(client))
    } catch (error) {
      if (!(error instanceof Problem)) brokerage.onError(error)
      open.close(1011, 'internal error')
    }
  }

  #emitter(client: StreamClient): StreamEmitter {
    const touch = () => {
      client.lastSentAt = this.#deps.brokerage.realNow()
    }
    return {
      event: frame => {
        touch()
        client.connection.event(textLine(frame))
      },
      send: frame => {
        touch()
        client.connection.send(textLine(frame))
      }
    }
  }

  #tick(): void {
    const { brokerage } = this.#deps
    for (const client of this.#clients) {
      client.protocol.tick?.()
      const now = brokerage.realNow()
      if (now - client.lastSentAt < this.#heartbeatMs) continue
      client.lastSentAt = now
      client.connection.send(textLine({ Heartbeat: ++client.heartbeats, Timestamp: timeOf(brokerage.clock.now()) }))
    }
  }

  #strike({ raw }: FastifyReply, fault: Fault): Promise<void> {
    const carryOut = () => shown(new Problem('internal_error', 'The control API refuses connections.', { status: 503 }), null, 'read')
    return this.#deps.brokerage.responseWriter.serve({
      operation: 'stream.connect',
      response: raw,
      fault,
      carryOut,
      problem: (problem, code) => shown(problem, code, 'read')
    })
  }

  #refuse({ raw }: FastifyReply, error: unknown): Promise<void> {
    const { brokerage } = this.#deps
    if (!(error instanceof Problem)) brokerage.onError(error)
    const problem = error instanceof Problem ? error : new Problem('internal_error', 'Something went wrong in the sandbox')
    const carryOut = () => shown(problem, null, 'read')
    return brokerage.responseWriter.serve({ operation: 'stream.connect', response: raw, fault: undefined, carryOut })
  }
}
