/** Handles a REST request: authentication, authorization, fault injection, then the operation. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Customer, Customers } from '../customers.ts'
import { type Fault, type Faults, NO_FACTS, type Operation } from '../faults.ts'
import type { Pass } from '../oauth/grants.ts'
import type { Scope } from '../oauth/scopes.ts'
import { Problem } from '../problems.ts'
import type { Envelope } from './envelope.ts'
import type { Answer, ResponseWriter } from './response-writer.ts'

export const API_PATH = '/api/v1'

/** An authorized request. */
export interface Call {
  readonly request: FastifyRequest
  readonly customer: Customer
  readonly pass: Pass
  /** A fault that the operation itself must handle. */
  readonly fault: Fault | undefined
}

export interface Reply {
  /** 200 by default. */
  readonly status?: number
  readonly body: object
  readonly headers?: Answer['headers']
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Below {@link API_PATH}. */
  readonly path: string
  readonly operation: Operation
  readonly scope: Scope
  readonly handle: (call: Call) => Reply | Promise<Reply>
  /** The facts for matching faults, besides the login; called only while faults are set. */
  readonly about?: (request: FastifyRequest, login: string) => { readonly symbol: string | null; readonly clientOrderId: string | null }
}

export interface RouterDeps {
  readonly faults: Faults
  readonly customers: Customers
  readonly responseWriter: ResponseWriter
  readonly envelope: Envelope
  readonly pass: (token: string) => Pass | undefined
  /** Receives internal errors. */
  readonly onError: (error: unknown) => void
}

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/

export class Router {
  readonly #deps: RouterDeps

  constructor(deps: RouterDeps) {
    this.#deps = deps
  }

  add(app: FastifyInstance, route: Route): void {
    app.route({
      method: route.method,
      url: `${API_PATH}${route.path}`,
      handler: (request, reply) => {
        reply.hijack()
        return this.#handle(route, request, reply)
      }
    })
  }

  /** Refusals by Fastify itself (a body that does not parse, an unknown path), in the sandbox's shape. */
  addRefusals(app: FastifyInstance): void {
    app.setErrorHandler((error, request, reply) => this.#write(request, reply, this.#failure(error)))
    app.setNotFoundHandler((request, reply) => {
      const problem = new Problem('unknown_route', `there is no ${request.method} ${request.url.split('?', 1)[0]?.slice(0, 100)} here`)
      this.#write(request, reply, this.#deps.envelope.problem(problem))
    })
  }

  async #handle(route: Route, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const response = reply.raw
    response.setHeader('x-request-id', requestId(request))
    const entry = this.#admit(route, request)
    const fault = this.#fault(route, request, entry instanceof Problem ? undefined : entry.customer)
    const carryOut = () =>
      this.#answer(() => {
        if (entry instanceof Problem) throw entry
        return route.handle({ request, fault, ...entry })
      })
    await this.#deps.responseWriter.serve({ operation: route.operation, response, fault, carryOut })
  }

  #fault(route: Route, request: FastifyRequest, customer: Customer | undefined): Fault | undefined {
    if (this.#deps.faults.none) return undefined
    const about = route.about?.(request, customer?.id ?? '') ?? NO_FACTS
    return this.#deps.faults.take(route.operation, { ...about, login: customer?.username ?? null })
  }

  #admit({ scope }: Route, request: FastifyRequest): { readonly pass: Pass; readonly customer: Customer } | Problem {
    const token = /^Bearer ([\x21-\x7e]+)$/i.exec(request.headers.authorization ?? '')?.[1]
    if (token === undefined) return new Problem('token_missing', 'send Authorization: Bearer <access token>')
    const pass = this.#deps.pass(token)
    const customer = pass === undefined ? undefined : this.#deps.customers.byId(pass.login)
    if (pass === undefined || customer === undefined)
      return new Problem('token_invalid', 'the access token is expired, revoked or unknown; refresh it')
    if (!pass.scopes.has(scope)) return new Problem('scope_missing', `this needs the scope ${scope}, which was not granted`)
    return { pass, customer }
  }

  async #answer(handle: () => Reply | Promise<Reply>): Promise<Answer> {
    try {
      const { status = 200, body, headers } = await handle()
      return this.#deps.envelope.wrap(status, body, headers)
    } catch (error) {
      return this.#failure(error)
    }
  }

  #failure(error: unknown): Answer {
    if (error instanceof Problem) return this.#deps.envelope.problem(error)
    const status = error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : 500
    if (status === 413) return this.#deps.envelope.problem(new Problem('too_large', 'a body may have at most 64 KiB'))
    if (error instanceof Error && status >= 400 && status < 500)
      return this.#deps.envelope.problem(new Problem('bad_request', error.message))
    this.#deps.onError(error)
    return this.#deps.envelope.problem(
      new Problem('internal_error', 'Internal error in the sandbox; the request may have been carried out.')
    )
  }

  #write(request: FastifyRequest, reply: FastifyReply, { status, headers, text }: Answer): void {
    reply.hijack()
    reply.raw.setHeader('x-request-id', requestId(request))
    reply.raw.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(text) })
    reply.raw.end(text)
  }
}

function requestId(request: FastifyRequest): string {
  const given = request.headers['x-request-id']
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : request.id
}
