/** Streams over chunked HTTP, one JSON object a line: admitted by token, quota, cap and fault; kept alive, with fault injection. */

import type { ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Customer, draw, keyOf, NO_FACTS, Problem } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import { answerPipe, type DialectConnection, DialectConnections, type Pipe } from '../frame/connections.ts'
import { type Access, resourceOf, shareOf } from './access.ts'
import { problemAnswer, timeOf } from './answers.ts'

/** One open stream. */
export interface LineStream {
  /** Sends something that happened. */
  readonly event: (frame: object) => void
  /** Sends anything else, such as a snapshot. */
  readonly send: (frame: object) => void
  /** Keeps something until the reader has gone. */
  readonly hold: (held: Disposable) => void
  /** Called some times a second. */
  onTick: (() => void) | null
}

export interface StreamRoute {
  readonly path: string
  /** @throws Problem, answered before a stream begins. @returns what is called once the answer has begun */
  readonly open: (call: StreamCall) => Begin | Promise<Begin>
}
export type Begin = (stream: LineStream) => void | Promise<void>

export interface StreamCall {
  readonly request: FastifyRequest
  readonly customer: Customer
}

interface Open {
  readonly stream: LineStream
  readonly connection: DialectConnection
  readonly resource: string | undefined
  heartbeats: number
  sentAt: number
}

const HEARTBEAT_MS = 5_000
const TICK_MS_MAX = 250
const WAITING_MAX = 32 * 1024 * 1024
const GO_AWAY = 1001
const END = 1000
/** The errors that streams end with, by the codes of the control API's `drop`. Without a code the connection is reset. */
const ERRORS: Readonly<Record<number, string>> = {
  ...{ 1011: 'InternalServerError', 1012: 'ServiceUnavailable', 1013: 'Failed', 4403: 'Forbidden', 4404: 'NotFound' },
  ...{ 4409: 'DualLogon', 4500: 'InternalServerError', 4503: 'ServiceUnavailable', 4504: 'GatewayTimeout' }
}

export class Streams {
  readonly connections: DialectConnections
  readonly #brokerage: BrokerageView
  readonly #access: Access
  readonly #on: 'account' | 'market'
  readonly #open = new Set<Open>()
  readonly #heartbeatMs: number
  #timer: NodeJS.Timeout | undefined
  #opened = 0

  constructor(brokerage: BrokerageView, access: Access, on: 'account' | 'market') {
    this.#brokerage = brokerage
    this.#access = access
    this.#on = on
    this.#heartbeatMs = brokerage.heartbeatMs ?? HEARTBEAT_MS
    this.connections = new DialectConnections({
      ...{ now: brokerage.realNow, waitingMax: WAITING_MAX, garbled: '{"Heartbeat":}\r\n' },
      codes: { going: GO_AWAY, tokenEnded: END, slow: END }
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

  close(): void {
    clearInterval(this.#timer)
    this.connections.close()
  }

  async #enter(route: StreamRoute, request: FastifyRequest, { raw: response }: FastifyReply): Promise<void> {
    const { faults, timers, counters, customers, responseWriter, onError } = this.#brokerage
    const fault = faults.none ? undefined : faults.take('stream.connect', NO_FACTS)
    const refuse = (error: unknown) => {
      if (!(error instanceof Problem)) onError(error)
      const problem = error instanceof Problem ? error : new Problem('internal_error', 'Something went wrong in the sandbox')
      const injected = fault?.do === 'delay' ? undefined : fault
      const carryOut = () => problemAnswer(problem, null)
      return responseWriter.serve({ operation: 'stream.connect', response, fault: injected, carryOut, problem: problemAnswer })
    }
    if (fault?.do === 'delay') await timers.wait(fault.ms)
    else if (fault !== undefined) {
      counters.fault('stream.connect')
      return refuse(new Problem('internal_error', 'The control API refuses connections.', { status: 503 }))
    }
    try {
      const pass = this.#access.admit(request)
      const customer = customers.byId(pass.login)
      if (customer === undefined) throw new Problem('token_invalid', 'Access token is invalid or expired')
      const resource = resourceOf(request.routeOptions.url ?? '')
      const isSame = (open: Open) => open.resource === resource?.name && open.connection.pass.login === pass.login
      const most = shareOf(resource?.open ?? Number.POSITIVE_INFINITY, this.#access.options.streamPercent)
      if ([...this.#open].filter(isSame).length >= most) throw new Problem('slow_down', 'Stream quota exceeded', { retryAfter: 5 })
      const begin = await route.open({ request, customer })
      // Closed while the stream was being opened: no close event would follow.
      if (response.destroyed) return
      const pipe = this.#answer(response, this.#access.headers(request))
      await this.#run(begin, response, { connection: this.connections.add(pass, pipe), resource: resource?.name })
    } catch (error) {
      await refuse(error)
    }
  }

  #answer(response: ServerResponse, headers: Readonly<Record<string, string>>): Pipe {
    const { counters, seed } = this.#brokerage
    counters.request('stream.connect')
    counters.answer('stream.connect', 200)
    const version = this.#on === 'account' ? 'v3' : 'v2'
    response.writeHead(200, {
      ...headers,
      'content-type': `application/vnd.tradestation.streams.${version}+json`,
      'cache-control': 'no-store'
    })
    response.flushHeaders()
    const key = keyOf(`${seed} stream ${++this.#opened}`)
    return cutPipe(response, { key, chance: this.#access.options.cutChance, lastOf: code => this.#lastOf(code) })
  }

  async #run(begin: Begin, response: ServerResponse, of: Pick<Open, 'connection' | 'resource'>): Promise<void> {
    const { connection } = of
    const held = new DisposableStack()
    const touched = (send: (text: string) => void) => (frame: object) => {
      open.sentAt = this.#brokerage.realNow()
      send(lineOf(frame))
    }
    const stream: LineStream = {
      event: touched(text => connection.event(text)),
      send: touched(text => connection.send(text)),
      hold: one => (held.disposed ? one[Symbol.dispose]() : held.use(one)),
      onTick: null
    }
    const open: Open = { ...of, stream, heartbeats: 0, sentAt: this.#brokerage.realNow() }
    this.#open.add(open)
    response.on('error', () => undefined)
    response.on('close', () => {
      this.#open.delete(open)
      this.connections.remove(connection)
      held.dispose()
    })
    this.#timer ??= setInterval(() => this.#tick(), Math.min(TICK_MS_MAX, this.#heartbeatMs / 2)).unref()
    try {
      await begin(stream)
    } catch (error) {
      if (!(error instanceof Problem)) this.#brokerage.onError(error)
      connection.close(1011, 'internal error')
    }
  }

  #tick(): void {
    const { realNow, clock } = this.#brokerage
    for (const open of this.#open) {
      open.stream.onTick?.()
      if (realNow() - open.sentAt >= this.#heartbeatMs) open.stream.send({ Heartbeat: ++open.heartbeats, Timestamp: timeOf(clock.now()) })
    }
  }

  /** The last frame of a close with this code; null: the stream simply ends. */
  #lastOf(code: number): object | null {
    if (code === GO_AWAY)
      return this.#on === 'account' ? { StreamStatus: 'GoAway' } : { Error: 'GoAway', Message: 'The server is draining' }
    const error = ERRORS[code]
    return error === undefined ? null : { Error: error, Message: 'The control API ended this stream' }
  }
}

interface Cuts {
  readonly key: number
  /** In 256. */
  readonly chance: number
  readonly lastOf: (code: number) => object | null
}

/** Frames of one turn leave together. Where one is cut, the rest leaves a turn later: Node joins what is written in one turn. */
function cutPipe(response: ServerResponse, { key, chance, lastOf }: Cuts): Pipe {
  const inner = answerPipe(response)
  let draws = 0
  let waiting = ''
  const flush = (): void => {
    if (waiting === '' || !inner.isOpen) return
    const drawn = draw(key, ++draws)
    const isCut = (drawn & 0xff) < chance && waiting.length > 1
    const end = isCut ? 1 + ((drawn >>> 8) % (waiting.length - 1)) : waiting.length
    inner.send(waiting.slice(0, end))
    waiting = waiting.slice(end)
    if (waiting !== '') setImmediate(flush)
  }
  return {
    get isOpen() {
      return inner.isOpen
    },
    get waiting() {
      return inner.waiting + waiting.length
    },
    get peer() {
      return inner.peer
    },
    send: frame => {
      if (waiting === '') setImmediate(flush)
      waiting += frame
    },
    close: (code, reason) => {
      const last = lastOf(code)
      const rest = waiting + (last === null ? '' : lineOf(last))
      waiting = ''
      if (rest !== '' && inner.isOpen) inner.send(rest)
      inner.close(code, reason)
    },
    cut: () => inner.cut()
  }
}

function lineOf(frame: object): string {
  return `${JSON.stringify(frame)}\r\n`
}
