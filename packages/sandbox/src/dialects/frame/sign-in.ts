/** The walk of a person through a broker's own login page, in the house's pages: log in, consent, and back with a code. */

import formbody from '@fastify/formbody'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { DialectHouse } from '../../house/dialect.ts'
import { NO_FACTS } from '../../house/faults.ts'
import { Answered } from '../../house/oauth/answered.ts'
import { consentPage, errorPage, loginPage } from '../../house/oauth/pages.ts'
import { CLIENT_NAME, type Scope } from '../../house/oauth/provider.ts'
import type { Account, Person } from '../../house/people.ts'

/** What an authorization request asks for, read from its query by the dialect. */
export interface Asked {
  /** Where the browser goes back to; must be registered already. */
  readonly redirectUri: string
  readonly state: string | null
  readonly scopes: readonly Scope[]
  /** The scopes in the broker's own words. */
  readonly words: string
  /** Whatever the dialect needs when the code is made. */
  readonly more: Readonly<Record<string, string>>
}

export interface SignInDeps {
  readonly house: DialectHouse
  /** The dialect's name: the pages are below `/<name>/login`. */
  readonly name: string
  /** The broker's name as people know it. */
  readonly broker: string
  /** What the person has there, by the numbers it has there. */
  readonly accounts: (person: Person) => readonly Pick<Account, 'name' | 'number'>[]
  readonly authorizePath: string
  /** @throws AskedWrongly with words for whoever sees the page */
  readonly read: (query: Readonly<Record<string, string>>) => Asked
  readonly code: (asked: Asked, person: Person) => string
}

/** An authorization request that must not be answered by a redirect. */
export class AskedWrongly extends Error {
  override readonly name = 'AskedWrongly'
}

interface Walk {
  readonly asked: Asked
  readonly expiresAt: number
  person: Person | null
  /** What was last entered with a password that is not its own. */
  wrongUsername: string | null
}

const WALK_MS = 30 * 60_000
const WALKS_MAX = 1_000

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
  readonly #walks = new Map<string, Walk>()
  readonly #answered: Answered

  constructor(deps: SignInDeps) {
    this.#deps = deps
    this.#answered = new Answered(() => deps.house.realNow())
  }

  mount(app: FastifyInstance): void {
    const { name, authorizePath } = this.#deps
    app.register(async scope => {
      await scope.register(formbody, { bodyLimit: 16 * 1024 })
      scope.get(authorizePath, (request, reply) => this.#authorize(request, reply))
      scope.get(`/${name}/login/:walk`, (request, reply) => this.#show(request, reply))
      scope.post(`/${name}/login/:walk`, (request, reply) => this.#decide(request, reply))
    })
  }

  async #authorize(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { house } = this.#deps
    const fault = house.faults.none ? undefined : house.faults.take('authorize', NO_FACTS)
    house.counters.request('authorize')
    if (fault !== undefined) return page(reply, fault.status ?? 503, errorPage('out_of_order', 'the login does not work at the moment'))
    try {
      const asked = this.#deps.read(texts(request.query))
      const walk = house.newId()
      this.#walks.set(walk, { asked, expiresAt: house.realNow() + WALK_MS, person: null, wrongUsername: null })
      for (const oldest of this.#walks.keys()) {
        if (this.#walks.size <= WALKS_MAX) break
        this.#walks.delete(oldest)
      }
      return reply.redirect(this.#pathOf(walk), 303)
    } catch (error) {
      if (!(error instanceof AskedWrongly)) throw error
      return page(reply, 400, errorPage('bad_request', error.message))
    }
  }

  async #show(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const [id, walk] = this.#walkOf(request)
    if (walk === undefined) return gone(reply)
    return page(reply, 200, walk.person === null ? this.#login(id, walk) : this.#consent(id, walk.asked, walk.person))
  }

  async #decide(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const [id, walk] = this.#walkOf(request)
    const again = await this.#answered.of(id)
    if (again !== null) return reply.redirect(again, 303)
    if (walk === undefined) return gone(reply)
    const form = texts(request.body)
    const { state } = walk.asked
    if (form.decision === 'decline')
      return this.#back(reply, id, walk, { error: 'access_denied', error_description: 'the person declined', state })
    if (form.decision !== 'approve') return page(reply, 400, errorPage('bad_request', 'the form was sent without a decision'))
    // The login's form, clicked twice: what is asked must be seen before it is allowed.
    if (walk.person !== null && form.username !== undefined) return reply.redirect(this.#pathOf(id), 303)
    if (walk.person !== null) return this.#back(reply, id, walk, { code: this.#deps.code(walk.asked, walk.person), state })
    const username = (form.username ?? '').slice(0, 64).trim()
    const person = this.#deps.house.people.check(username, (form.password ?? '').slice(0, 128))
    // Right or wrong, what comes next is had by GET: no password is sent again when the page is loaded again.
    if (person === undefined) walk.wrongUsername = username
    else walk.person = person
    return reply.redirect(this.#pathOf(id), 303)
  }

  #back(reply: FastifyReply, id: string, { asked }: Walk, parameters: Readonly<Record<string, string | null>>): FastifyReply {
    this.#walks.delete(id)
    const target = new URL(asked.redirectUri)
    for (const [name, value] of Object.entries(parameters)) if (value !== null) target.searchParams.append(name, value)
    this.#answered.note(id, Promise.resolve(target.href))
    return reply.redirect(target.href, 303)
  }

  #walkOf(request: FastifyRequest): readonly [id: string, walk: Walk | undefined] {
    const id = texts(request.params).walk ?? ''
    const walk = this.#walks.get(id)
    return [id, walk === undefined || walk.expiresAt <= this.#deps.house.realNow() ? undefined : walk]
  }

  #pathOf(walk: string): string {
    return `/${this.#deps.name}/login/${walk}`
  }

  #login(walk: string, { asked: { redirectUri }, wrongUsername }: Walk): string {
    return loginPage({ action: this.#pathOf(walk), app: CLIENT_NAME, redirectUri, broker: this.#deps.broker, wrongUsername })
  }

  #consent(walk: string, { scopes, redirectUri }: Asked, person: Person): string {
    const { broker, accounts } = this.#deps
    const framed = { action: this.#pathOf(walk), app: CLIENT_NAME, redirectUri, broker }
    return consentPage({ ...framed, person: person.name, scopes, accounts: accounts(person) })
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

/** The registered redirect addresses as a broker's app has them: those of the house's client, with the broker's name at their end. */
export function redirectUrisOf({ client }: Pick<DialectHouse, 'client'>, name: string): readonly string[] {
  return client.redirectUris.map(uri => uri.replace(/\/[a-z]+$/, `/${name}`))
}

function gone(reply: FastifyReply): FastifyReply {
  return page(reply, 400, errorPage('login_unknown', 'it has expired, or was completed already'))
}

function page(reply: FastifyReply, status: number, html: string): FastifyReply {
  return reply.status(status).headers(PAGE_HEADERS).send(html)
}
