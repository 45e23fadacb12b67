/** The login flow of a broker, in the sandbox's pages: log in, consent, and back with a code. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Account, Customer } from '../../brokerage/customers.ts'
import { NO_FACTS } from '../../brokerage/faults.ts'
import { Answered } from '../../brokerage/oauth/answered.ts'
import { consentPage, errorPage, loginPage } from '../../brokerage/oauth/pages.ts'
import { CLIENT_NAME } from '../../brokerage/oauth/provider.ts'
import type { Scope } from '../../brokerage/oauth/scopes.ts'
import type { BrokerageView } from './brokerage-view.ts'

/** An authorization request, read from its query by the dialect. */
export interface AuthorizationRequest {
  /** Where the browser goes back to; must be registered already. */
  readonly redirectUri: string
  readonly state: string | null
  readonly scopes: readonly Scope[]
  /** The broker's scopes. */
  readonly names: readonly string[]
}

export interface SignInDeps {
  readonly brokerage: BrokerageView
  /** The dialect's name: the pages are below `/<name>/login`. */
  readonly name: string
  /** The broker's name as customers know it. */
  readonly broker: string
  /** What the user has there, by the numbers it has there. */
  readonly accounts: (customer: Customer) => readonly Pick<Account, 'name' | 'number'>[]
  readonly authorizePath: string
  /** @throws InvalidAuthorizationRequest with a message for the page */
  readonly read: (query: Readonly<Record<string, string>>) => AuthorizationRequest
  readonly code: (authorization: AuthorizationRequest, customer: Customer) => string
}

/** An invalid authorization request, which must not be answered by a redirect. */
export class InvalidAuthorizationRequest extends Error {
  override readonly name = 'InvalidAuthorizationRequest'
}

interface LoginFlow {
  readonly authorization: AuthorizationRequest
  readonly expiresAt: number
  customer: Customer | null
  /** What was last entered with a password that is not its own. */
  wrongUsername: string | null
}

const FLOW_MS = 30 * 60_000
const FLOWS_MAX = 1_000

const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  // No form-action: browsers hold the whole chain of redirects behind a form to it, and that ends at addresses we do not know.
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer'
}

export class SignIn {
  readonly #deps: SignInDeps
  readonly #flows = new Map<string, LoginFlow>()
  readonly #answered: Answered

  constructor(deps: SignInDeps) {
    this.#deps = deps
    this.#answered = new Answered(() => deps.brokerage.realNow())
  }

  /** `app` must read forms. */
  mount(app: FastifyInstance): void {
    const { name, authorizePath } = this.#deps
    app.get(authorizePath, (request, reply) => this.#authorize(request, reply))
    app.get(`/${name}/login/:flow`, (request, reply) => this.#show(request, reply))
    app.post(`/${name}/login/:flow`, (request, reply) => this.#decide(request, reply))
  }

  async #authorize(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { brokerage } = this.#deps
    const fault = brokerage.faults.none ? undefined : brokerage.faults.take('authorize', NO_FACTS)
    brokerage.counters.request('authorize')
    if (fault !== undefined) return page(reply, fault.status ?? 503, errorPage('out_of_order', 'the login does not work at the moment'))
    try {
      const authorization = this.#deps.read(texts(request.query))
      const flow = brokerage.newId()
      this.#flows.set(flow, { authorization, expiresAt: brokerage.realNow() + FLOW_MS, customer: null, wrongUsername: null })
      for (const oldest of this.#flows.keys()) {
        if (this.#flows.size <= FLOWS_MAX) break
        this.#flows.delete(oldest)
      }
      return reply.redirect(this.#pathOf(flow), 303)
    } catch (error) {
      if (!(error instanceof InvalidAuthorizationRequest)) throw error
      return page(reply, 400, errorPage('bad_request', error.message))
    }
  }

  async #show(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const [id, flow] = this.#flowOf(request)
    if (flow === undefined) return gone(reply)
    return page(reply, 200, flow.customer === null ? this.#login(id, flow) : this.#consent(id, flow.authorization, flow.customer))
  }

  async #decide(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const [id, flow] = this.#flowOf(request)
    const again = await this.#answered.of(id)
    if (again !== null) return reply.redirect(again, 303)
    if (flow === undefined) return gone(reply)
    const form = texts(request.body)
    const { state } = flow.authorization
    if (form.decision === 'decline')
      return this.#back(reply, id, flow, { error: 'access_denied', error_description: 'the user declined', state })
    if (form.decision !== 'approve') return page(reply, 400, errorPage('bad_request', 'the form was sent without a decision'))
    // The login form, clicked twice: the consent page must be seen before it is approved.
    if (flow.customer !== null && form.username !== undefined) return reply.redirect(this.#pathOf(id), 303)
    if (flow.customer !== null) return this.#back(reply, id, flow, { code: this.#deps.code(flow.authorization, flow.customer), state })
    const username = (form.username ?? '').slice(0, 64).trim()
    const customer = this.#deps.brokerage.customers.check(username, (form.password ?? '').slice(0, 128))
    // Right or wrong, what comes next is had by GET: no password is sent again when the page is loaded again.
    if (customer === undefined) flow.wrongUsername = username
    else flow.customer = customer
    return reply.redirect(this.#pathOf(id), 303)
  }

  #back(reply: FastifyReply, id: string, { authorization }: LoginFlow, parameters: Readonly<Record<string, string | null>>): FastifyReply {
    this.#flows.delete(id)
    const target = new URL(authorization.redirectUri)
    for (const [name, value] of Object.entries(parameters)) if (value !== null) target.searchParams.append(name, value)
    this.#answered.note(id, Promise.resolve(target.href))
    return reply.redirect(target.href, 303)
  }

  #flowOf(request: FastifyRequest): readonly [id: string, flow: LoginFlow | undefined] {
    const id = texts(request.params).flow ?? ''
    const flow = this.#flows.get(id)
    return [id, flow === undefined || flow.expiresAt <= this.#deps.brokerage.realNow() ? undefined : flow]
  }

  #pathOf(flow: string): string {
    return `/${this.#deps.name}/login/${flow}`
  }

  #login(flow: string, { authorization: { redirectUri }, wrongUsername }: LoginFlow): string {
    return loginPage({ action: this.#pathOf(flow), app: CLIENT_NAME, redirectUri, broker: this.#deps.broker, wrongUsername })
  }

  #consent(flow: string, { scopes, redirectUri }: AuthorizationRequest, customer: Customer): string {
    const { broker, accounts } = this.#deps
    const framed = { action: this.#pathOf(flow), app: CLIENT_NAME, redirectUri, broker }
    return consentPage({ ...framed, customer: customer.name, scopes, accounts: accounts(customer) })
  }
}

/** The text fields of a query, a form or parameters; of a field given twice the first. */
export function texts(value: unknown): Readonly<Record<string, string>> {
  const found: Record<string, string> = {}
  if (typeof value !== 'object' || value === null) return found
  for (const [name, given] of Object.entries(value)) {
    const first: unknown = Array.isArray(given) ? given[0] : given
    if (typeof first === 'string') found[name] = first
  }
  return found
}

/** The registered redirect addresses as a broker's app has them: those of the sandbox's client, with the broker's name at their end. */
export function redirectUrisOf({ client }: Pick<BrokerageView, 'client'>, name: string): readonly string[] {
  return client.redirectUris.map(uri => uri.replace(/\/[a-z]+$/, `/${name}`))
}

function gone(reply: FastifyReply): FastifyReply {
  return page(reply, 400, errorPage('login_unknown', 'it has expired, or was completed already'))
}

function page(reply: FastifyReply, status: number, html: string): FastifyReply {
  return reply.status(status).headers(PAGE_HEADERS).send(html)
}
