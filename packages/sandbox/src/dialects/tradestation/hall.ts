/** The open streams of one kind: let in past tokens, quotas, caps and faults; kept alive, made to misbehave, and sent home. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { DialectHouse } from '../../house/dialect.ts'
import { type Fault, NO_FACTS } from '../../house/faults.ts'
import type { Pass } from '../../house/oauth/grants.ts'
import type { Person } from '../../house/people.ts'
import { Problem } from '../../house/problems.ts'
import type { StreamOrder } from '../../house/stream/mischief.ts'
import { type DialectLine, DialectLines } from '../frame/lines.ts'
import { cutPipe } from './chunks.ts'
import { CODES, farewell, line } from './farewells.ts'
import { type Modes, shareOf } from './options.ts'
import { type Cap, capOf } from './resources.ts'
import { timeOf } from './times.ts'
import { type Access, shown } from './tongue.ts'

/** What is told on an open stream. */
export interface Voice {
  /** Something that happened. */
  event(frame: object): void
  /** Anything else, such as a snapshot. */
  say(frame: object): void
  /** The last that is said. */
  fail(frame: object): void
}

/** One reader of one stream. */
export interface Talk {
  /** Once, when the answer has begun. */
  begin(voice: Voice): void | Promise<void>
  /** Some times a second. */
  tick?(): void
  /** Once, when nobody reads any more. */
  end(): void
}

export interface StreamCall {
  readonly request: FastifyRequest
  readonly person: Person
}

export interface StreamRoute {
  readonly path: string
  /** @throws Problem, answered before a stream begins */
  readonly open: (call: StreamCall) => Talk | Promise<Talk>
}

export interface HallDeps {
  readonly house: DialectHouse
  readonly access: Access
  readonly modes: Modes
  readonly on: 'account' | 'market'
}

const HEARTBEAT_MS = 5_000
const TICK_MS_MAX = 250
const WAITING_MAX = 32 * 1024 * 1024

interface Seat {
  readonly talk: Talk
  readonly line: DialectLine
  readonly resource: string | null
  heartbeats: number
  saidAt: number
}

export class Hall {
  readonly #deps: HallDeps
  readonly #lines: DialectLines
  readonly #seats = new Set<Seat>()
  readonly #heartbeatMs: number
  #timer: NodeJS.Timeout | null = null
  #opened = 0

  constructor(deps: HallDeps) {
    this.#deps = deps
    this.#heartbeatMs = deps.house.heartbeatMs ?? HEARTBEAT_MS
    const codes = { going: CODES.goAway, tokenEnded: CODES.end, slow: CODES.end }
    this.#lines = new DialectLines({ now: deps.house.realNow, waitingMax: WAITING_MAX, garbled: '{"Heartbeat":}\r\n', codes })
  }

  mount(app: FastifyInstance, routes: readonly StreamRoute[]): void {
    for (const route of routes) {
      app.get(route.path, (request, reply) => {
        reply.hijack()
        return this.#enter(route, request, reply)
      })
    }
  }

  misbehave(order: StreamOrder): number {
    return this.#lines.misbehave(order)
  }

  endGrant(grant: string): void {
    this.#lines.endGrant(grant)
  }

  report(): readonly object[] {
    return this.#lines.report(this.#deps.on)
  }

  reset(): void {
    this.#lines.reset()
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#lines.close()
  }

  async #enter(route: StreamRoute, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { house, access } = this.#deps
    const fault = house.faults.none ? undefined : house.faults.take('stream.connect', NO_FACTS)
    if (fault !== undefined && fault.do !== 'delay') {
      house.counters.fault('stream.connect')
      return this.#strike(reply, fault)
    }
    if (fault !== undefined) await house.timers.wait(fault.ms)
    try {
      const pass = access.admit(request)
      const person = house.people.byId(pass.login)
      if (person === undefined) throw new Problem('token_invalid', 'Access token is invalid or expired')
      const cap = capOf(request.routeOptions.url ?? '')
      const headers = { ...access.headers(request), ...this.#headers(pass, cap) }
      const talk = await route.open({ request, person })
      await this.#seat({ pass, cap, talk, headers, reply })
    } catch (error) {
      await this.#refuse(reply, error)
    }
  }

  /** @throws Problem when the login has as many streams of this kind as it may have */
  #headers({ login }: Pass, cap: Cap | null): Readonly<Record<string, string>> {
    if (cap === null) return {}
    const limit = shareOf(cap.limit, this.#deps.modes.now.streamPercent)
    const open = [...this.#seats].filter(({ resource, line }) => resource === cap.resource && line.pass.login === login).length
    if (open >= limit) throw new Problem('slow_down', 'Stream quota exceeded', { retryAfter: 5 })
    return {
      'X-Concurrency-Limit': String(limit),
      'X-Concurrency-Remaining': String(limit - open - 1),
      'X-Concurrency-Resource': cap.resource
    }
  }

  async #seat(entry: {
    readonly pass: Pass
    readonly cap: Cap | null
    readonly talk: Talk
    readonly headers: Readonly<Record<string, string>>
    readonly reply: FastifyReply
  }): Promise<void> {
    const { house, modes, on } = this.#deps
    const { pass, cap, talk, headers, reply } = entry
    const response = reply.raw
    // Gone while the stream was being made: nobody would ever tell that it has closed.
    if (response.destroyed) return talk.end()
    house.counters.request('stream.connect')
    house.counters.answer('stream.connect', 200)
    const version = on === 'account' ? 'v3' : 'v2'
    response.writeHead(200, {
      ...headers,
      'content-type': `application/vnd.tradestation.streams.${version}+json`,
      'cache-control': 'no-store'
    })
    response.flushHeaders()
    const seed = `${house.seed} stream ${++this.#opened}`
    const pipe = cutPipe({ response, seed, cutChance: modes.now.cutChance, farewell: code => farewell(on, code) })
    const open = this.#lines.add(pass, pipe)
    const seat: Seat = { talk, line: open, resource: cap?.resource ?? null, heartbeats: 0, saidAt: house.realNow() }
    this.#seats.add(seat)
    response.on('error', () => undefined)
    response.on('close', () => {
      this.#seats.delete(seat)
      this.#lines.remove(open)
      talk.end()
    })
    this.#timer ??= setInterval(() => this.#tick(), Math.min(TICK_MS_MAX, this.#heartbeatMs / 2)).unref()
    try {
      await talk.begin(this.#voice(seat))
    } catch (error) {
      if (!(error instanceof Problem)) house.onTrouble(error)
      open.close(1011, 'trouble')
    }
  }

  #voice(seat: Seat): Voice {
    const told = () => {
      seat.saidAt = this.#deps.house.realNow()
    }
    return {
      event: frame => {
        told()
        seat.line.event(line(frame))
      },
      say: frame => {
        told()
        seat.line.say(line(frame))
      },
      fail: frame => {
        seat.line.say(line(frame))
        seat.line.close(CODES.end, 'failed')
      }
    }
  }

  #tick(): void {
    const { house } = this.#deps
    for (const seat of this.#seats) {
      seat.talk.tick?.()
      const now = house.realNow()
      if (now - seat.saidAt < this.#heartbeatMs) continue
      seat.saidAt = now
      seat.line.say(line({ Heartbeat: ++seat.heartbeats, Timestamp: timeOf(house.clock.now()) }))
    }
  }

  #strike({ raw }: FastifyReply, fault: Fault): Promise<void> {
    const carryOut = () => shown(new Problem('house_trouble', 'The house was told not to let anybody in.', { status: 503 }), null, 'read')
    return this.#deps.house.outlet.serve({
      operation: 'stream.connect',
      response: raw,
      fault,
      carryOut,
      problem: (problem, code) => shown(problem, code, 'read')
    })
  }

  #refuse({ raw }: FastifyReply, error: unknown): Promise<void> {
    const { house } = this.#deps
    if (!(error instanceof Problem)) house.onTrouble(error)
    const problem = error instanceof Problem ? error : new Problem('house_trouble', 'Something went wrong in the house')
    const carryOut = () => shown(problem, null, 'read')
    return house.outlet.serve({ operation: 'stream.connect', response: raw, fault: undefined, carryOut })
  }
}
