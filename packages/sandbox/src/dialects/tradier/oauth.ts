/** OAuth at Tradier: one callback that is registered, scopes with commas, and two endpoints for tokens. */

import { timingSafeEqual } from 'node:crypto'
import formbody from '@fastify/formbody'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Answer, isoOf, NO_FACTS, redirectAllowed, SCOPES, type Scope } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import type { Grant, Grants } from '../frame/grants.ts'
import { type AuthorizationRequest, InvalidAuthorizationRequest, redirectUrisOf, SignIn, texts } from '../frame/sign-in.ts'
import { Accounts, numberOf } from './accounts.ts'
import { faultAnswer, jsonAnswer, problemAnswer } from './answers.ts'
import type { TradierOptions } from './options.ts'
import { BASE } from './protocol.ts'

export interface OAuthDeps {
  readonly brokerage: BrokerageView
  readonly grants: Grants
  readonly options: TradierOptions
}

export const NAME = 'tradier'
const CODE_MS = 10 * 60_000
/** Each with its meaning on the sandbox's consent page. */
const SCOPE_OF = { read: 'read', write: 'trade', trade: 'trade', market: 'read', stream: 'read' } as const satisfies Record<string, Scope>

/** The sign-in pages and the endpoints for tokens. */
export function mountOAuth(app: FastifyInstance, deps: OAuthDeps): void {
  const { brokerage, grants } = deps
  const signIn = new SignIn({
    brokerage,
    name: NAME,
    broker: 'Tradier',
    accounts: ({ id }) => new Accounts(brokerage).of(id).map(account => ({ ...account, number: numberOf(account) })),
    authorizePath: `${BASE}/oauth/authorize`,
    read: query => read(brokerage, query),
    code: ({ redirectUri: _, brokerScope, scopes }, { id }) =>
      grants.code(
        { login: id, client: brokerage.client.id, scopes: [...scopes, ...brokerScope.split(',')], words: brokerScope.replaceAll(',', ' ') },
        null,
        CODE_MS
      )
  })
  signIn.mount(app)
  app.register(async scope => {
    await scope.register(formbody, { bodyLimit: 16 * 1024 })
    scope.post(`${BASE}/oauth/accesstoken`, (request, reply) => serve(deps, request, reply, exchange))
    scope.post(`${BASE}/oauth/refreshtoken`, (request, reply) => serve(deps, request, reply, refresh))
  })
}

/** Credentials as the adapter keeps them, for the sandbox's scopes. */
export function mint(deps: OAuthDeps, login: string, scopes: readonly string[]): Readonly<Record<string, string>> {
  const names = Object.entries(SCOPE_OF)
    .filter(([name, scope]) => scopes.includes(scope) && name !== 'write')
    .map(([name]) => name)
  const grant = deps.grants.open({ login, client: deps.brokerage.client.id, scopes: [...scopes, ...names], words: names.join(' ') })
  const now = deps.brokerage.realNow()
  const { access, livesS, refreshToken } = tokens(deps, grant)
  return {
    access_token: access,
    issued_at: isoOf(now * 1000),
    expires_at: isoOf((now + livesS * 1000) * 1000),
    refresh_token: refreshToken,
    scope: grant.words
  }
}

function read(brokerage: BrokerageView, query: Readonly<Record<string, string>>): AuthorizationRequest {
  const { client_id: client = '', scope = '', state, redirect_uri: wanted } = query
  if (client !== brokerage.client.id) throw new InvalidAuthorizationRequest('no application has this client_id')
  if (state === undefined) throw new InvalidAuthorizationRequest('state is missing')
  const names = scope.split(',').map(name => name.trim())
  const meant = names.map(name => (isScopeName(name) ? SCOPE_OF[name] : undefined))
  if (meant.includes(undefined))
    throw new InvalidAuthorizationRequest(`scope must be some of ${Object.keys(SCOPE_OF).join(',')}, with commas between them`)
  return {
    redirectUri: callback(brokerage, wanted),
    state,
    scopes: SCOPES.filter(name => meant.includes(name)),
    brokerScope: names.join(','),
    more: {}
  }
}

/** Tradier knows one callback for an application. The sandbox's may be on a port that was not known before, so the request may name it. */
function callback(brokerage: BrokerageView, wanted: string | undefined): string {
  const registered = redirectUrisOf(brokerage, NAME)
  const [first] = registered
  if (first === undefined) throw new InvalidAuthorizationRequest('the application has no callback')
  if (wanted === undefined) return first
  if (!redirectAllowed(wanted, registered)) throw new InvalidAuthorizationRequest('redirect_uri is not one of the registered callbacks')
  return wanted
}

function isScopeName(name: string): name is keyof typeof SCOPE_OF {
  return Object.hasOwn(SCOPE_OF, name)
}

type Handler = (deps: OAuthDeps, form: Readonly<Record<string, string>>) => Answer

async function serve(deps: OAuthDeps, request: FastifyRequest, reply: FastifyReply, handle: Handler): Promise<void> {
  reply.hijack()
  const { brokerage } = deps
  await brokerage.responseWriter.serve({
    operation: 'token',
    response: reply.raw,
    fault: brokerage.faults.none ? undefined : brokerage.faults.take('token', NO_FACTS),
    problem: problemAnswer,
    carryOut: () =>
      isClient(brokerage, request.headers.authorization)
        ? handle(deps, texts(request.body))
        : faultAnswer(401, 'Invalid client identifier', 'oauth.v2.InvalidClientIdentifier')
  })
}

function exchange({ grants, ...deps }: OAuthDeps, form: Readonly<Record<string, string>>): Answer {
  if (form.grant_type !== 'authorization_code') return wrongGrantType(form)
  const grant = grants.exchange(form.code ?? '', null)
  if (grant === null)
    return faultAnswer(400, 'Invalid Authorization Code', 'keymanagement.service.invalid_request-authorization_code_invalid')
  return granted({ grants, ...deps }, grant)
}

function refresh({ grants, ...deps }: OAuthDeps, form: Readonly<Record<string, string>>): Answer {
  if (form.grant_type !== 'refresh_token') return wrongGrantType(form)
  const token = form.refresh_token ?? ''
  const grant = grants.refresh(token, { rotates: false, graceMs: 0 })
  if (grant === null) return faultAnswer(401, 'Invalid Refresh Token', 'keymanagement.service.invalid_refresh_token')
  return granted({ grants, ...deps }, grant, token)
}

function wrongGrantType({ grant_type: type = '' }: Readonly<Record<string, string>>): Answer {
  return faultAnswer(400, `Unsupported grant type : ${type.slice(0, 40)}`, 'oauth.v2.UnsupportedGrantType')
}

function granted(deps: OAuthDeps, grant: Grant, refreshToken?: string): Answer {
  const { access, livesS, refreshToken: newRefreshToken } = tokens(deps, grant, refreshToken)
  return jsonAnswer(200, {
    access_token: access,
    expires_in: livesS,
    issued_at: isoOf(deps.brokerage.realNow() * 1000),
    scope: grant.words,
    status: 'approved',
    refresh_token: newRefreshToken
  })
}

/** A new access token; the refresh token stays the same for the life of the grant. */
function tokens(
  { brokerage, grants, options }: OAuthDeps,
  grant: Grant,
  refreshToken: string = grants.issue(grant, 'refresh', null).token
) {
  const livesS = brokerage.oauth().accessTtlS ?? options.accessTtlS
  return { access: grants.issue(grant, 'access', livesS).token, livesS, refreshToken }
}

/** Id and secret as they are, or written as forms are, which RFC 6749 §2.3.1 asks for and few do. */
function isClient({ client }: BrokerageView, authorization = ''): boolean {
  const given = Buffer.from(/^Basic (\S+)$/i.exec(authorization)?.[1] ?? '', 'base64').toString()
  const due = `${client.id}:${client.secret}`
  return isSame(given, due) || isSame(given.split(':', 2).map(formDecoded).join(':'), due)
}

function formDecoded(text: string): string {
  return new URLSearchParams(`text=${text.replaceAll('&', '%26')}`).get('text') ?? text
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}
