/** The way of a REST request in another tongue: who asks, is it to go wrong, then the operation itself; all answers in that tongue's shape. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Answer } from '../../house/api/outlet.ts'
import type { DialectHouse } from '../../house/dialect.ts'
import { type Facts, type Fault, NO_FACTS, type Operation } from '../../house/faults.ts'
import type { Pass } from '../../house/oauth/grants.ts'
import type { Person } from '../../house/people.ts'
import { Problem } from '../../house/problems.ts'

/** A request that may be carried out. */
export interface Call {
  readonly request: FastifyRequest
  readonly person: Person
  readonly pass: Pass
  /** A fault that the operation itself must know of, such as `hide`, `slow` or `empty`. */
  readonly fault: Fault | undefined
}

export interface DialectRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Absolute, as Fastify reads it. */
  readonly path: string
  /** What the control API knows it as, for faults and counters; where one path serves two, by the request. */
  readonly operation: Operation | ((request: FastifyRequest) => Operation)
  readonly act: (call: Call) => Answer | Promise<Answer>
  /** What faults can be narrowed by, besides the login; asked only while faults are set. Must not throw. */
  readonly about?: (request: FastifyRequest, login: string) => Omit<Facts, 'login'>
}

/** What sets one tongue apart from another. */
export interface Tongue {
  /** Who asks. @throws Problem, shown by `problem`, for whoever may not; for requests beyond a rate limit too */
  readonly admit: (request: FastifyRequest) => Pass
  /** The error body. `code`: one that a fault names. */
  readonly problem: (problem: Problem, code: string | null) => Answer
  /** Added to every answer, such as what is left of a rate limit. */
  readonly headers?: (request: FastifyRequest, pass: Pass | null) => Answer['headers']
  /** Status of an answer that says that an order was taken. */
  readonly created: number
}

export class DialectRouter {
  readonly #house: DialectHouse
  readonly #tongue: Tongue

  constructor(house: DialectHouse, tongue: Tongue) {
    this.#house = house
    this.#tongue = tongue
  }

  add(app: FastifyInstance, route: DialectRoute): void {
    app.route({
      method: route.method,
      url: route.path,
      handler: (request, reply) => {
        reply.hijack()
        return this.#handle(route, request, reply)
      }
    })
  }

  /** Refusals of Fastify itself (a body that does not parse, a path that is not there), in this tongue; for the scope `app` of its routes. */
  addRefusals(app: FastifyInstance): void {
    app.setErrorHandler((error, _request, reply) => this.#write(reply, this.#failure(error)))
    app.setNotFoundHandler((request, reply) => {
      const path = request.url.split('?', 1)[0]?.slice(0, 100)
      this.#write(reply, this.#tongue.problem(new Problem('unknown_route', `there is no ${request.method} ${path} here`), null))
    })
  }

  async #handle(route: DialectRoute, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const entry = this.#admit(request)
    const admitted = entry instanceof Problem ? null : entry
    const { headers = {} } = { headers: this.#tongue.headers?.(request, admitted?.pass ?? null) }
    for (const [name, value] of Object.entries(headers)) reply.raw.setHeader(name, value)
    const fault = this.#fault(route, request, admitted?.person)
    await this.#house.outlet.serve({
      operation: operationOf(route, request),
      response: reply.raw,
      fault,
      problem: this.#tongue.problem,
      created: this.#tongue.created,
      carryOut: async () => {
        try {
          if (entry instanceof Problem) throw entry
          return await route.act({ request, fault, ...entry })
        } catch (error) {
          return this.#failure(error)
        }
      }
    })
  }

  #admit(request: FastifyRequest): { readonly pass: Pass; readonly person: Person } | Problem {
    try {
      const pass = this.#tongue.admit(request)
      const person = this.#house.people.byId(pass.login)
      return person === undefined ? new Problem('token_invalid', 'the access token is of a login that is no more') : { pass, person }
    } catch (error) {
      if (error instanceof Problem) return error
      throw error
    }
  }

  #fault(route: DialectRoute, request: FastifyRequest, person: Person | undefined): Fault | undefined {
    const { faults } = this.#house
    if (faults.none) return undefined
    const about = route.about?.(request, person?.id ?? '') ?? NO_FACTS
    return faults.take(operationOf(route, request), { ...about, login: person?.username ?? null })
  }

  #failure(error: unknown): Answer {
    if (error instanceof Problem) return this.#tongue.problem(error, null)
    const status = error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : 500
    if (error instanceof Error && status >= 400 && status < 500)
      return this.#tongue.problem(new Problem('bad_request', error.message), null)
    this.#house.onTrouble(error)
    const words = 'Something went wrong in the house; what was asked for may have been done.'
    return this.#tongue.problem(new Problem('house_trouble', words), null)
  }

  #write(reply: FastifyReply, { status, headers, text }: Answer): void {
    reply.hijack()
    reply.raw.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(text) })
    reply.raw.end(text)
  }
}

function operationOf({ operation }: DialectRoute, request: FastifyRequest): Operation {
  return typeof operation === 'function' ? operation(request) : operation
}
