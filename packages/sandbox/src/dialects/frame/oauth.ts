/** A dialect's OAuth, from its definition: the sign-in pages, and endpoints that exchange codes, refresh and revoke. */

import { timingSafeEqual } from 'node:crypto'
import formbody from '@fastify/formbody'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Answer } from '../../brokerage/api/response-writer.ts'
import type { Dialect } from '../../brokerage/dialect.ts'
import { NO_FACTS, type Operation } from '../../brokerage/faults.ts'
import { redirectAllowed } from '../../brokerage/oauth/provider.ts'
import { SCOPES, type Scope } from '../../brokerage/oauth/scopes.ts'
import { Problem } from '../../brokerage/problems.ts'
import type { BrokerageView } from './brokerage-view.ts'
import { type Grant, Grants } from './grants.ts'
import { type AuthorizationRequest, InvalidAuthorizationRequest, redirectUrisOf, SignIn, type SignInDeps, texts } from './sign-in.ts'

type Form = Readonly<Record<string, string>>
type Refusal = 'client' | 'grantType' | 'code' | 'refreshToken'

/** New tokens of a grant. */
export interface Tokens {
  readonly grant: Grant
  /** The broker's scopes, with spaces between them. */
  readonly scope: string
  readonly access: string
  /** Life of the access token in seconds; null: no end. */
  readonly livesS: number | null
  /** Null: the broker gives none for these scopes. */
  readonly refresh: string | null
  readonly isNewRefresh: boolean
}

/** How a broker does OAuth. Without `redirect_uri` in its requests: the application has one that is registered. */
export interface OAuthDefinition extends Pick<SignInDeps, 'name' | 'broker' | 'accounts' | 'authorizePath'> {
  /** The broker's scopes with their meaning on the consent page. */
  readonly scopes: Readonly<Record<string, Scope>>
  readonly separator: ' ' | ','
  /** Scopes that credentials of the control API do not have. */
  readonly unminted: readonly string[]
  readonly sendsRedirectUri: boolean
  /** What else is wrong with an authorization request; null: nothing. */
  readonly objection: (query: Form, names: readonly string[]) => string | null
  /** Where a client shows its secret. */
  readonly clientIn: 'basic' | 'form'
  /** The endpoints for tokens, each with the grant types that it knows. */
  readonly endpoints: Readonly<Record<string, readonly ('authorization_code' | 'refresh_token')[]>>
  /** Where a refresh token ends all of its login. */
  readonly revokePath?: string
  /** Life of an access token in seconds where the control API sets none; null: no end. */
  readonly accessTtlS: number | null
  /** Whether these scopes come with a refresh token. */
  readonly refreshes: (names: readonly string[]) => boolean
  readonly granted: (tokens: Tokens) => Answer
  readonly refusals: Readonly<Record<Refusal, (form: Form) => Answer>>
  /** An injected failure, or one of the sandbox. */
  readonly problem: (problem: Problem, code: string | null) => Answer
}

const CODE_MS = 10 * 60_000

export class OAuth {
  readonly grants: Grants
  readonly #brokerage: BrokerageView
  readonly #definition: OAuthDefinition

  /** `onEnded`: a grant ended with its login. Not called when tokens merely expire. */
  constructor(brokerage: BrokerageView, definition: OAuthDefinition, onEnded: (grant: string) => void) {
    this.grants = new Grants(brokerage, definition.name, onEnded)
    this.#brokerage = brokerage
    this.#definition = definition
  }

  mount(app: FastifyInstance): void {
    const { client } = this.#brokerage
    const { endpoints, revokePath, sendsRedirectUri, ...definition } = this.#definition
    const signIn = new SignIn({
      ...definition,
      brokerage: this.#brokerage,
      read: query => this.#authorization(query),
      code: ({ names, redirectUri }, { id: login }) =>
        this.grants.code({ login, client: client.id, scopes: names }, sendsRedirectUri ? redirectUri : null, CODE_MS)
    })
    app.register(async scope => {
      await scope.register(formbody, { bodyLimit: 16 * 1024 })
      signIn.mount(scope)
      for (const [path, types] of Object.entries(endpoints)) {
        const known = new Set<string>(types)
        this.#endpoint(scope, path, 'token', form => this.#token(form, known))
      }
      if (revokePath !== undefined) this.#endpoint(scope, revokePath, 'revoke', form => this.#revoke(form))
    })
  }

  /** Credentials as adapters keep them, without the browser flow. */
  readonly mint: Dialect['mint'] = (login, scopes) => {
    const { scopes: meanings, unminted, accessTtlS } = this.#definition
    const isMeant = (meaning: Scope) => meaning === 'read' || scopes.includes(meaning)
    const names = Object.entries(meanings).filter(([name, meaning]) => isMeant(meaning) && !unminted.includes(name))
    const grant = this.grants.open({ login, client: this.#brokerage.client.id, scopes: names.map(([name]) => name) })
    const { access, livesS, refresh, scope } = this.#issue(grant)
    const now = this.#brokerage.realNow()
    return {
      access_token: access,
      issued_at: new Date(now).toISOString(),
      ...(accessTtlS === null || livesS === null ? {} : { expires_at: new Date(now + livesS * 1_000).toISOString() }),
      ...(refresh === null ? {} : { refresh_token: refresh }),
      scope
    }
  }

  #authorization(query: Form): AuthorizationRequest {
    const { scopes: meanings, separator, sendsRedirectUri, objection, name } = this.#definition
    const { client_id, scope = '', state = null } = query
    if (client_id !== this.#brokerage.client.id) throw new InvalidAuthorizationRequest('no application has this client_id')
    const registered = redirectUrisOf(this.#brokerage, name)
    // The sandbox's client may be at a port that was not known before: it may always name its address.
    const { redirect_uri: redirectUri = sendsRedirectUri ? '' : (registered[0] ?? '') } = query
    if (!redirectAllowed(redirectUri, registered))
      throw new InvalidAuthorizationRequest('redirect_uri is not one of the registered callbacks')
    const names = scope.split(separator).filter(name => name !== '')
    const unknown = names.find(name => !Object.hasOwn(meanings, name))
    if (unknown !== undefined)
      throw new InvalidAuthorizationRequest(`no scope ${unknown.slice(0, 40)}; there are ${Object.keys(meanings).join(separator)}`)
    const wrong = objection(query, names)
    if (wrong !== null) throw new InvalidAuthorizationRequest(wrong)
    const meant = SCOPES.filter(scope => scope === 'read' || names.some(name => meanings[name] === scope))
    return { redirectUri, state, scopes: meant, names }
  }

  #endpoint(app: FastifyInstance, path: string, operation: Operation, handle: (form: Form) => Answer): void {
    const { faults, responseWriter } = this.#brokerage
    const { problem, refusals } = this.#definition
    app.post(path, (request, reply) => {
      reply.hijack()
      const carryOut = () => {
        try {
          const form = texts(request.body)
          return this.#isClient(request, form) ? handle(form) : refusals.client(form)
        } catch (error) {
          // No other handler would answer: the reply is hijacked.
          this.#brokerage.onError(error)
          return problem(new Problem('internal_error', 'Something went wrong in the sandbox'), null)
        }
      }
      const fault = faults.none ? undefined : faults.take(operation, NO_FACTS)
      return responseWriter.serve({ operation, response: reply.raw, fault, problem, carryOut })
    })
  }

  #token(form: Form, types: ReadonlySet<string>): Answer {
    const { granted, refusals, sendsRedirectUri } = this.#definition
    const { grant_type: type = '', refresh_token: token = '' } = form
    if (!types.has(type)) return refusals.grantType(form)
    if (type === 'authorization_code') {
      const grant = this.grants.exchange(form.code ?? '', sendsRedirectUri ? (form.redirect_uri ?? null) : null)
      return grant === null ? refusals.code(form) : granted(this.#issue(grant))
    }
    const grant = this.grants.refresh(token)
    return grant === null ? refusals.refreshToken(form) : granted(this.#issue(grant, token))
  }

  /** Ends every refresh token of the login, not only the named one; access tokens live to their end. */
  #revoke({ token = '' }: Form): Answer {
    const grant = this.grants.refresh(token)
    if (grant !== null) this.grants.endLogin(grant.login, true)
    return { status: 200, headers: {}, text: '' }
  }

  /** `kept`: the refresh token that goes on living. */
  #issue(grant: Grant, kept?: string): Tokens {
    const { accessTtlS, refreshes } = this.#definition
    const livesS = this.#brokerage.oauth().accessTtlS ?? accessTtlS
    const isNewRefresh = kept === undefined && refreshes(grant.scopes)
    return {
      grant,
      scope: grant.scopes.join(' '),
      access: this.grants.issue(grant, 'access', livesS),
      livesS,
      refresh: isNewRefresh ? this.grants.issue(grant, 'refresh', null) : (kept ?? null),
      isNewRefresh
    }
  }

  #isClient({ headers }: FastifyRequest, form: Form): boolean {
    const { id, secret } = this.#brokerage.client
    if (this.#definition.clientIn === 'form') return form.client_id === id && isSame(form.client_secret ?? '', secret)
    const given = Buffer.from(/^Basic (\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? '', 'base64').toString()
    // As they are, or written as forms are, which RFC 6749 §2.3.1 asks for and few do.
    return [given, given.split(':', 2).map(formDecoded).join(':')].some(shown => isSame(shown, `${id}:${secret}`))
  }
}

function formDecoded(text: string): string {
  return new URLSearchParams(`text=${text.replaceAll('&', '%26')}`).get('text') ?? text
}

/** Constant-time comparison. */
export function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}
