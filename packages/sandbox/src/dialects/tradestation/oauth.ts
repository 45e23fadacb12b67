/** TradeStation's identity provider: codes and refresh tokens for bearer tokens of twenty minutes, and revocation of all a login has given. */

import { createHmac } from 'node:crypto'
import formbody from '@fastify/formbody'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Answer, NO_FACTS, type Operation, type Problem, redirectAllowed, type Scope } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import type { Grant, Grants } from '../frame/grants.ts'
import { type AuthorizationRequest, InvalidAuthorizationRequest, redirectUrisOf, SignIn, texts } from '../frame/sign-in.ts'
import type { Modes } from './options.ts'
import { accountsHere } from './ownership.ts'
import { json } from './protocol.ts'

export const AUDIENCE = 'https://api.tradestation.com'
const ISSUER = 'https://signin.tradestation.com/'
const ACCESS_TTL_S = 1_200
const CODE_TTL_MS = 10 * 60_000
const ROTATED_TTL_S = 24 * 3_600

/** The TradeStation scopes for `read` and `trade`. */
const READ = ['openid', 'offline_access', 'profile', 'MarketData', 'ReadAccount', 'Matrix']
const TRADE = ['Trade', 'OptionSpreads']
const SCOPES = [...READ, ...TRADE, 'email', 'Crypto']

export interface OAuthDeps {
  readonly brokerage: BrokerageView
  readonly grants: Grants
  readonly modes: Modes
}

export function mountOAuth(app: FastifyInstance, deps: OAuthDeps): void {
  const { brokerage, grants } = deps
  new SignIn({
    brokerage,
    name: 'tradestation',
    broker: 'TradeStation',
    accounts: customer => accountsHere(brokerage.customers, customer.id),
    authorizePath: '/tradestation/authorize',
    read: query => authorizationOf(brokerage, query),
    code: ({ brokerScope, redirectUri }, customer) => {
      const grant = { login: customer.id, client: brokerage.client.id, scopes: brokerScope.split(' '), words: brokerScope }
      return grants.code(grant, redirectUri, CODE_TTL_MS)
    }
  }).mount(app)
  app.register(async scope => {
    await scope.register(formbody, { bodyLimit: 16 * 1024 })
    endpoint(scope, deps, { path: '/tradestation/oauth/token', operation: 'token', handle: form => token(deps, form) })
    endpoint(scope, deps, { path: '/tradestation/oauth/revoke', operation: 'revoke', handle: form => revoke(deps, form) })
  })
}

interface Endpoint {
  readonly path: string
  readonly operation: Operation
  readonly handle: (form: Readonly<Record<string, string>>) => Answer
}

function endpoint(app: FastifyInstance, { brokerage }: OAuthDeps, { path, operation, handle }: Endpoint): void {
  app.post(path, (request: FastifyRequest, reply) => {
    reply.hijack()
    const fault = brokerage.faults.none ? undefined : brokerage.faults.take(operation, NO_FACTS)
    const carryOut = () => {
      try {
        return handle(texts(request.body))
      } catch (error) {
        // No other handler would answer: the reply is hijacked.
        brokerage.onError(error)
        return refusal(500, 'server_error', 'Something went wrong in the sandbox')
      }
    }
    return brokerage.responseWriter.serve({ operation, response: reply.raw, fault, carryOut, problem })
  })
}

function problem(problem: Problem, code: string | null): Answer {
  return refusal(problem.status, code ?? (problem.status < 500 ? 'invalid_request' : 'server_error'), problem.message)
}

function authorizationOf(brokerage: BrokerageView, query: Readonly<Record<string, string>>): AuthorizationRequest {
  const { response_type, client_id, audience, redirect_uri: redirectUri = '', scope = '', state = null } = query
  if (client_id !== brokerage.client.id) throw new InvalidAuthorizationRequest('no application has this client_id')
  if (!redirectAllowed(redirectUri, redirectUrisOf(brokerage, 'tradestation')))
    throw new InvalidAuthorizationRequest('this redirect_uri is not registered')
  if (response_type !== 'code') throw new InvalidAuthorizationRequest('response_type must be code')
  if (audience !== AUDIENCE) throw new InvalidAuthorizationRequest(`audience must be ${AUDIENCE}`)
  const wanted = scope.split(' ').filter(name => name !== '')
  const strange = wanted.find(name => !SCOPES.includes(name))
  if (strange !== undefined)
    throw new InvalidAuthorizationRequest(`no scope ${strange.slice(0, 40)}; scopes are case sensitive: ${SCOPES.join(' ')}`)
  if (!wanted.includes('openid')) throw new InvalidAuthorizationRequest('the scope openid is required')
  const scopes: readonly Scope[] = wanted.includes('Trade') ? ['read', 'trade'] : ['read']
  return { redirectUri, state, scopes, brokerScope: wanted.join(' '), more: {} }
}

function token(deps: OAuthDeps, form: Readonly<Record<string, string>>): Answer {
  const { brokerage, grants, modes } = deps
  const { rotation } = modes.now
  if (form.client_id !== brokerage.client.id || form.client_secret !== brokerage.client.secret)
    return refusal(401, 'access_denied', 'Unauthorized')
  if (form.grant_type === 'authorization_code') {
    const grant = grants.exchange(form.code ?? '', form.redirect_uri ?? null)
    return grant === null ? refusal(403, 'invalid_grant', 'Invalid authorization code') : issued(deps, grant, true)
  }
  if (form.grant_type !== 'refresh_token') return refusal(403, 'unauthorized_client', 'Grant type not allowed for the client.')
  const spent = { rotates: rotation, graceMs: brokerage.oauth().refreshGraceMs }
  const grant = grants.refresh(form.refresh_token ?? '', spent)
  if (grant !== null) return issued(deps, grant, rotation)
  // A rotated token that comes again counts as stolen: the token family ends.
  if (rotation) grants.revoke(form.refresh_token ?? '')
  return refusal(403, 'invalid_grant', 'Unknown or invalid refresh token.')
}

function issued(deps: OAuthDeps, grant: Grant, withRefresh: boolean): Answer {
  const { brokerage } = deps
  const { access, refresh, livesS } = issue(deps, grant, withRefresh)
  return json({
    access_token: access,
    ...(refresh === null ? {} : { refresh_token: refresh }),
    id_token: identity(brokerage, grant, livesS),
    token_type: 'Bearer',
    scope: grant.words,
    expires_in: livesS
  })
}

function issue({ brokerage, grants, modes }: OAuthDeps, grant: Grant, withRefresh: boolean) {
  const livesS = brokerage.oauth().accessTtlS ?? ACCESS_TTL_S
  const { token: access } = grants.issue(grant, 'access', livesS, `eyJ${brokerage.newId()}`)
  const lasts = withRefresh && grant.scopes.includes('offline_access')
  const refresh = lasts ? grants.issue(grant, 'refresh', modes.now.rotation ? ROTATED_TTL_S : null).token : null
  return { access, refresh, livesS }
}

/** Credentials as the adapter keeps them. */
export function mint(deps: OAuthDeps, login: string, scopes: readonly string[]): Readonly<Record<string, string>> {
  const names = [...READ, ...(scopes.includes('trade') ? TRADE : [])]
  const grant = deps.grants.open({ login, client: deps.brokerage.client.id, scopes: names, words: names.join(' ') })
  const { access, refresh, livesS } = issue(deps, grant, true)
  const now = deps.brokerage.realNow()
  return {
    access_token: access,
    issued_at: new Date(now).toISOString(),
    expires_at: new Date(now + livesS * 1_000).toISOString(),
    ...(refresh === null ? {} : { refresh_token: refresh }),
    scope: grant.words
  }
}

/** Revokes every refresh token of the login, not only the named one; access tokens live to their end. */
function revoke({ brokerage, grants }: OAuthDeps, form: Readonly<Record<string, string>>): Answer {
  if (form.client_id !== brokerage.client.id || form.client_secret !== brokerage.client.secret)
    return refusal(401, 'invalid_client', 'Client authentication failed')
  const grant = grants.refresh(form.token ?? '', { rotates: false, graceMs: 0 })
  if (grant !== null) grants.endLogin(grant.login, true)
  return { status: 200, headers: {}, text: '' }
}

function refusal(status: number, error: string, description: string): Answer {
  return json({ error, error_description: description }, status)
}

/** A signed identity, as the scope `openid` brings one. */
function identity(brokerage: BrokerageView, { login, client }: Grant, livesS: number): string {
  const now = Math.floor(brokerage.realNow() / 1_000)
  const claims = { iss: ISSUER, sub: `auth0|${login}`, aud: client, iat: now, exp: now + livesS }
  const text = [{ alg: 'HS256', typ: 'JWT' }, claims].map(part => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  return `${text}.${createHmac('sha256', brokerage.client.secret).update(text).digest('base64url')}`
}
