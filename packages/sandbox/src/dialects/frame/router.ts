/** The path of a REST request of a dialect: authentication, fault injection, then the operation; all responses in the dialect's form. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Answer } from '../../brokerage/api/response-writer.ts'
import type { Customer } from '../../brokerage/customers.ts'
import { type Facts, type Fault, NO_FACTS, type Operation } from '../../brokerage/faults.ts'
import type { Pass } from '../../brokerage/oauth/grants.ts'
import { Problem } from '../../brokerage/problems.ts'
import type { BrokerageView } from './brokerage-view.ts'

/** A request that may be carried out. */
export interface Call {
  readonly request: FastifyRequest
  readonly customer: Customer
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
  readonly handle: (call: Call) => Answer | Promise<Answer>
  /** What faults can be narrowed by, besides the login; called only while faults are set. Must not throw. */
  readonly about?: (request: FastifyRequest, login: string) => Omit<Facts, 'login'>
}

/** What differs between dialects. */
export interface DialectProtocol {
  /** Authenticates. @throws Problem, shown by `problem`, for requests that are not allowed or exceed a rate limit */
  readonly admit: (request: FastifyRequest) => Pass
  /** The error body. `code`: one that a fault names. */
  readonly problem: (problem: Problem, code: string | null) => Answer
  /** Added to every answer, such as what is left of a rate limit. */
  readonly headers?: (request: FastifyRequest, pass: Pass | null) => Answer['headers']
  /** Status of a response that accepts an order. */
  readonly created: number
}

export class DialectRouter {
  readonly #brokerage: BrokerageView
  readonly #protocol: DialectProtocol

  constructor(brokerage: BrokerageView, protocol: DialectProtocol) {
    this.#brokerage = brokerage
    this.#protocol = protocol
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

  /**
   * Refusals of Fastify itself (a body that does not parse, a path that is not there), in this dialect; for the scope `app` of its routes.
   */
  addRefusals(app: FastifyInstance): void {
    app.setErrorHandler((error, _request, reply) => this.#write(reply, this.#failure(error)))
    app.setNotFoundHandler((request, reply) => {
      const path = request.url.split('?', 1)[0]?.slice(0, 100)
      this.#write(reply, this.#protocol.problem(new Problem('unknown_route', `there is no ${request.method} ${path} here`), null))
    })
  }

  async #handle(route: DialectRoute, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const entry = this.#admit(request)
    const admitted = entry instanceof Problem ? null : entry
    const { headers = {} } = { headers: this.#protocol.headers?.(request, admitted?.pass ?? null) }
    for (const [name, value] of Object.entries(headers)) reply.raw.setHeader(name, value)
    const fault = this.#fault(route, request, admitted?.customer)
    await this.#brokerage.responseWriter.serve({
      operation: operationOf(route, request),
      response: reply.raw,
      fault,
      problem: this.#protocol.problem,
      created: this.#protocol.created,
      carryOut: async () => {
        try {
          if (entry instanceof Problem) throw entry
          return await route.handle({ request, fault, ...entry })
        } catch (error) {
          return this.#failure(error)
        }
      }
    })
  }

  #admit(request: FastifyRequest): { readonly pass: Pass; readonly customer: Customer } | Problem {
    try {
      const pass = this.#protocol.admit(request)
      const customer = this.#brokerage.customers.byId(pass.login)
      return customer === undefined ? new Problem('token_invalid', 'the access token is of a login that is no more') : { pass, customer }
    } catch (error) {
      if (error instanceof Problem) return error
      throw error
    }
  }

  #fault(route: DialectRoute, request: FastifyRequest, customer: Customer | undefined): Fault | undefined {
    const { faults } = this.#brokerage
    if (faults.none) return undefined
    const about = route.about?.(request, customer?.id ?? '') ?? NO_FACTS
    return faults.take(operationOf(route, request), { ...about, login: customer?.username ?? null })
  }

  #failure(error: unknown): Answer {
    if (error instanceof Problem) return this.#protocol.problem(error, null)
    const status = error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : 500
    if (error instanceof Error && status >= 400 && status < 500)
      return this.#protocol.problem(new Problem('bad_request', error.message), null)
    this.#brokerage.onError(error)
    const message = 'Internal error in the sandbox; the request may have been carried out.'
    return this.#protocol.problem(new Problem('internal_error', message), null)
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
