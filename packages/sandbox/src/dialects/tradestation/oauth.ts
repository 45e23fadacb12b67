/** TradeStation's identity provider: codes and refresh tokens for bearer tokens of twenty minutes, and revocation of all a login has given. */

import { createHmac } from 'node:crypto'
import formbody from '@fastify/formbody'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Answer } from '../../house/api/outlet.ts'
import type { DialectHouse } from '../../house/dialect.ts'
import { NO_FACTS, type Operation } from '../../house/faults.ts'
import { redirectAllowed, type Scope } from '../../house/oauth/provider.ts'
import type { Problem } from '../../house/problems.ts'
import type { Grant, Grants } from '../frame/grants.ts'
import { type Asked, AskedWrongly, redirectUrisOf, SignIn, texts } from '../frame/sign-in.ts'
import type { Modes } from './options.ts'
import { accountsHere } from './ownership.ts'
import { json } from './tongue.ts'

export const AUDIENCE = 'https://api.tradestation.com'
const ISSUER = 'https://signin.tradestation.com/'
const ACCESS_TTL_S = 1_200
const CODE_TTL_MS = 10 * 60_000
const ROTATED_TTL_S = 24 * 3_600

/** What the house grants by `read` and by `trade`, in TradeStation's words. */
const READ = ['openid', 'offline_access', 'profile', 'MarketData', 'ReadAccount', 'Matrix']
const TRADE = ['Trade', 'OptionSpreads']
const SCOPES = [...READ, ...TRADE, 'email', 'Crypto']

export interface OAuthDeps {
  readonly house: DialectHouse
  readonly grants: Grants
  readonly modes: Modes
}

export function mountOAuth(app: FastifyInstance, deps: OAuthDeps): void {
  const { house, grants } = deps
  new SignIn({
    house,
    name: 'tradestation',
    broker: 'TradeStation',
    accounts: person => accountsHere(house.people, person.id),
    authorizePath: '/tradestation/authorize',
    read: query => asked(house, query),
    code: ({ words, redirectUri }, person) => {
      const grant = { login: person.id, client: house.client.id, scopes: words.split(' '), words }
      return grants.code(grant, redirectUri, CODE_TTL_MS)
    }
  }).mount(app)
  app.register(async scope => {
    await scope.register(formbody, { bodyLimit: 16 * 1024 })
    endpoint(scope, deps, { path: '/tradestation/oauth/token', operation: 'token', act: form => token(deps, form) })
    endpoint(scope, deps, { path: '/tradestation/oauth/revoke', operation: 'revoke', act: form => revoke(deps, form) })
  })
}

interface Endpoint {
  readonly path: string
  readonly operation: Operation
  readonly act: (form: Readonly<Record<string, string>>) => Answer
}

function endpoint(app: FastifyInstance, { house }: OAuthDeps, { path, operation, act }: Endpoint): void {
  app.post(path, (request: FastifyRequest, reply) => {
    reply.hijack()
    const fault = house.faults.none ? undefined : house.faults.take(operation, NO_FACTS)
    const carryOut = () => {
      try {
        return act(texts(request.body))
      } catch (error) {
        // Nobody else would answer: the reply is ours.
        house.onTrouble(error)
        return refusal(500, 'server_error', 'Something went wrong in the house')
      }
    }
    return house.outlet.serve({ operation, response: reply.raw, fault, carryOut, problem })
  })
}

function problem(problem: Problem, code: string | null): Answer {
  return refusal(problem.status, code ?? (problem.status < 500 ? 'invalid_request' : 'server_error'), problem.message)
}

function asked(house: DialectHouse, query: Readonly<Record<string, string>>): Asked {
  const { response_type, client_id, audience, redirect_uri: redirectUri = '', scope = '', state = null } = query
  if (client_id !== house.client.id) throw new AskedWrongly('no application has this client_id')
  if (!redirectAllowed(redirectUri, redirectUrisOf(house, 'tradestation'))) throw new AskedWrongly('this redirect_uri is not registered')
  if (response_type !== 'code') throw new AskedWrongly('response_type must be code')
  if (audience !== AUDIENCE) throw new AskedWrongly(`audience must be ${AUDIENCE}`)
  const wanted = scope.split(' ').filter(word => word !== '')
  const strange = wanted.find(word => !SCOPES.includes(word))
  if (strange !== undefined) throw new AskedWrongly(`no scope ${strange.slice(0, 40)}; scopes are case sensitive: ${SCOPES.join(' ')}`)
  if (!wanted.includes('openid')) throw new AskedWrongly('the scope openid is required')
  const scopes: readonly Scope[] = wanted.includes('Trade') ? ['read', 'trade'] : ['read']
  return { redirectUri, state, scopes, words: wanted.join(' '), more: {} }
}

function token(deps: OAuthDeps, form: Readonly<Record<string, string>>): Answer {
  const { house, grants, modes } = deps
  const { rotation } = modes.now
  if (form.client_id !== house.client.id || form.client_secret !== house.client.secret) return refusal(401, 'access_denied', 'Unauthorized')
  if (form.grant_type === 'authorization_code') {
    const grant = grants.exchange(form.code ?? '', form.redirect_uri ?? null)
    return grant === null ? refusal(403, 'invalid_grant', 'Invalid authorization code') : issued(deps, grant, true)
  }
  if (form.grant_type !== 'refresh_token') return refusal(403, 'unauthorized_client', 'Grant type not allowed for the client.')
  const spent = { rotates: rotation, graceMs: house.oauth().refreshGraceMs }
  const grant = grants.refresh(form.refresh_token ?? '', spent)
  if (grant !== null) return issued(deps, grant, rotation)
  // A rotated token that comes again has been stolen, as far as the provider can tell: the family ends.
  if (rotation) grants.revoke(form.refresh_token ?? '')
  return refusal(403, 'invalid_grant', 'Unknown or invalid refresh token.')
}

function issued(deps: OAuthDeps, grant: Grant, withRefresh: boolean): Answer {
  const { house } = deps
  const { access, refresh, livesS } = issue(deps, grant, withRefresh)
  return json({
    access_token: access,
    ...(refresh === null ? {} : { refresh_token: refresh }),
    id_token: identity(house, grant, livesS),
    token_type: 'Bearer',
    scope: grant.words,
    expires_in: livesS
  })
}

function issue({ house, grants, modes }: OAuthDeps, grant: Grant, withRefresh: boolean) {
  const livesS = house.oauth().accessTtlS ?? ACCESS_TTL_S
  const { token: access } = grants.issue(grant, 'access', livesS, `eyJ${house.newId()}`)
  const lasts = withRefresh && grant.scopes.includes('offline_access')
  const refresh = lasts ? grants.issue(grant, 'refresh', modes.now.rotation ? ROTATED_TTL_S : null).token : null
  return { access, refresh, livesS }
}

/** Credentials as the adapter keeps them. */
export function mint(deps: OAuthDeps, login: string, scopes: readonly string[]): Readonly<Record<string, string>> {
  const words = [...READ, ...(scopes.includes('trade') ? TRADE : [])]
  const grant = deps.grants.open({ login, client: deps.house.client.id, scopes: words, words: words.join(' ') })
  const { access, refresh, livesS } = issue(deps, grant, true)
  const now = deps.house.realNow()
  return {
    access_token: access,
    issued_at: new Date(now).toISOString(),
    expires_at: new Date(now + livesS * 1_000).toISOString(),
    ...(refresh === null ? {} : { refresh_token: refresh }),
    scope: grant.words
  }
}

/** Every refresh token of the login goes, not only the one that is named; access tokens live to their end. */
function revoke({ house, grants }: OAuthDeps, form: Readonly<Record<string, string>>): Answer {
  if (form.client_id !== house.client.id || form.client_secret !== house.client.secret)
    return refusal(401, 'invalid_client', 'Client authentication failed')
  const grant = grants.refresh(form.token ?? '', { rotates: false, graceMs: 0 })
  if (grant !== null) grants.endLogin(grant.login, true)
  return { status: 200, headers: {}, text: '' }
}

function refusal(status: number, error: string, description: string): Answer {
  return json({ error, error_description: description }, status)
}

/** A signed identity, as the scope `openid` brings one. */
function identity(house: DialectHouse, { login, client }: Grant, livesS: number): string {
  const now = Math.floor(house.realNow() / 1_000)
  const claims = { iss: ISSUER, sub: `auth0|${login}`, aud: client, iat: now, exp: now + livesS }
  const text = [{ alg: 'HS256', typ: 'JWT' }, claims].map(part => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  return `${text}.${createHmac('sha256', house.client.secret).update(text).digest('base64url')}`
}
