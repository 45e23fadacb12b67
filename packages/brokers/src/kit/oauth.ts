/** OAuth 2 at a broker: authorization code with PKCE, state and issuer checked, refresh, revocation. A confidential client. */

import { epochMs, parseTimestamp, timestampOfMs } from '@trunkline/core/domain/timestamp'
import {
  BrokerFault,
  type Credentials,
  type LoginAnswer,
  LoginDeclined,
  type LoginRequest,
  type OAuthBrokerLogin
} from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import * as client from 'openid-client'
import { faultOf } from './calls.ts'
import { type HttpClient, type HttpReply, header, retryAfterMs, TransportFault } from './http.ts'
import type { AccessToken } from './tokens.ts'

export interface OAuthOptions {
  /** For the token and revocation endpoints; only its origin is ever called. */
  readonly http: HttpClient
  readonly clock: Clock
  readonly issuer: string
  readonly authorizationEndpoint: string
  readonly tokenEndpoint: string
  /** Null: the broker cannot revoke. */
  readonly revocationEndpoint: string | null
  readonly clientId: string
  readonly clientSecret: string
  readonly clientAuthentication: 'basic' | 'post'
  /** Whether the redirect carries `iss`; then one that lacks it is refused (RFC 9207). */
  readonly issuerInRedirect: boolean
  readonly scope: (trading: boolean) => string
  /** More query parameters of the authorization address. */
  readonly authorizationParameters?: Readonly<Record<string, string>>
}

export interface OAuthLogin extends OAuthBrokerLogin {
  /** @throws BrokerFault; `credentials_rejected` when the broker refused the refresh token itself. */
  refresh(credentials: Credentials, signal: AbortSignal): Promise<Credentials>
}

/** Parameters that an authorization response may carry once at most; two of one kind are an attack or a broken gateway. */
const SINGLE = ['code', 'state', 'iss', 'error']

export function oauthLogin(options: OAuthOptions): OAuthLogin {
  return {
    kind: 'oauth',
    origin: new URL(options.authorizationEndpoint).origin,
    begin: request => begin(options, request),
    complete: (answer, signal) => complete(options, answer, signal),
    refresh: (credentials, signal) => refresh(options, credentials, signal),
    revoke: (credentials, signal) => revoke(options, credentials, signal)
  }
}

/** The access token of credentials made here. @throws Malformed */
export function oauthToken(credentials: Credentials): AccessToken {
  const { access_token: token = '', issued_at: issuedAt, expires_at: expiresAt } = credentials
  return {
    token,
    issuedAt: issuedAt === undefined ? null : parseTimestamp(issuedAt, 'issued_at'),
    expiresAt: expiresAt === undefined ? null : parseTimestamp(expiresAt, 'expires_at')
  }
}

async function begin(options: OAuthOptions, request: LoginRequest): Promise<{ authorizationUrl: string; verifier: string }> {
  const verifier = client.randomPKCECodeVerifier()
  const url = client.buildAuthorizationUrl(configuration(options, AbortSignal.abort()), {
    ...options.authorizationParameters,
    response_type: 'code',
    redirect_uri: request.redirectUri,
    scope: options.scope(request.trading),
    state: request.state,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256'
  })
  return { authorizationUrl: url.href, verifier }
}

async function complete(options: OAuthOptions, answer: LoginAnswer, signal: AbortSignal): Promise<Credentials> {
  const callback = callbackOf(answer)
  const issuedAtMs = epochMs(options.clock.now())
  let hasAsked = false
  const made = configuration(options, signal, () => {
    hasAsked = true
  })
  try {
    const granted = await client.authorizationCodeGrant(made, callback, { expectedState: answer.state, pkceCodeVerifier: answer.verifier })
    return credentialsOf(granted, issuedAtMs, {})
  } catch (error) {
    if (error instanceof client.AuthorizationResponseError && error.error === 'access_denied')
      throw new LoginDeclined('the user declined at the broker')
    if (!hasAsked && !(error instanceof client.AuthorizationResponseError))
      throw new BrokerFault('refused', 'the redirect does not belong to this login')
    throw loginFault(error)
  }
}

/** The redirect address as it was registered, with the query that came back: what the token request must repeat to the letter. */
function callbackOf(answer: LoginAnswer): URL {
  if (!URL.canParse(answer.callbackUrl) || !URL.canParse(answer.redirectUri))
    throw new BrokerFault('refused', 'the callback address cannot be read')
  const came = new URL(answer.callbackUrl).searchParams
  const twice = SINGLE.find(name => came.getAll(name).length > 1)
  if (twice !== undefined) throw new BrokerFault('refused', `the broker's redirect carries ${twice} more than once`)
  if (came.has('code') && came.has('error')) throw new BrokerFault('refused', "the broker's redirect carries both a code and an error")
  const callback = new URL(answer.redirectUri)
  for (const [name, value] of came) callback.searchParams.append(name, value)
  return callback
}

async function refresh(options: OAuthOptions, credentials: Credentials, signal: AbortSignal): Promise<Credentials> {
  const { refresh_token: refreshToken } = credentials
  if (refreshToken === undefined) throw new BrokerFault('credentials_rejected', 'the access token has ended and there is no refresh token')
  const issuedAtMs = epochMs(options.clock.now())
  try {
    return credentialsOf(await client.refreshTokenGrant(configuration(options, signal), refreshToken), issuedAtMs, credentials)
  } catch (error) {
    // Only this: a wrong client secret or a throttled endpoint says nothing about the user's consent.
    if (error instanceof client.ResponseBodyError && error.error === 'invalid_grant' && error.status >= 400 && error.status < 500)
      throw new BrokerFault('credentials_rejected', 'the broker refused the refresh token')
    throw loginFault(error)
  }
}

async function revoke(options: OAuthOptions, credentials: Credentials, signal: AbortSignal): Promise<void> {
  if (options.revocationEndpoint === null) return
  const { refresh_token: refreshToken, access_token: accessToken } = credentials
  const [token, hint] = refreshToken === undefined ? [accessToken, 'access_token'] : [refreshToken, 'refresh_token']
  if (token === undefined) return
  try {
    await client.tokenRevocation(configuration(options, signal), token, { token_type_hint: hint })
  } catch (error) {
    // RFC 7009 answers 200 for a token that is gone already; some brokers say it in an error instead.
    if (error instanceof client.ResponseBodyError && (error.error === 'invalid_grant' || error.error === 'invalid_token')) return
    throw loginFault(error)
  }
}

function credentialsOf(
  granted: { readonly access_token: string; readonly refresh_token?: string; readonly expires_in?: number; readonly scope?: string },
  issuedAtMs: number,
  before: Credentials
): Credentials {
  // A broker that does not rotate answers a refresh without a refresh token: the one at hand stays good.
  const refreshToken = granted.refresh_token ?? before.refresh_token
  const scope = granted.scope ?? before.scope
  return {
    access_token: granted.access_token,
    issued_at: timestampOfMs(issuedAtMs),
    ...(granted.expires_in === undefined ? {} : { expires_at: timestampOfMs(issuedAtMs + granted.expires_in * 1_000) }),
    ...(refreshToken === undefined ? {} : { refresh_token: refreshToken }),
    ...(scope === undefined ? {} : { scope })
  }
}

function configuration(options: OAuthOptions, signal: AbortSignal, onAsk?: () => void): client.Configuration {
  const { clientSecret } = options
  const authentication =
    options.clientAuthentication === 'basic' ? client.ClientSecretBasic(clientSecret) : client.ClientSecretPost(clientSecret)
  const made = new client.Configuration(
    {
      issuer: options.issuer,
      authorization_endpoint: options.authorizationEndpoint,
      token_endpoint: options.tokenEndpoint,
      ...(options.revocationEndpoint === null ? {} : { revocation_endpoint: options.revocationEndpoint }),
      authorization_response_iss_parameter_supported: options.issuerInRedirect,
      code_challenge_methods_supported: ['S256']
    },
    options.clientId,
    { client_secret: clientSecret },
    authentication
  )
  made[client.customFetch] = (url, init) => {
    onAsk?.()
    return fetched(options, url, init, signal)
  }
  if (options.http.origin.startsWith('http:')) client.allowInsecureRequests(made)
  return made
}

/** The library's requests through our own client, so that the bounds and the refusal of redirects hold for them too. */
async function fetched(options: OAuthOptions, url: string, init: client.CustomFetchOptions, signal: AbortSignal): Promise<Response> {
  const target = new URL(url)
  if (target.origin !== options.http.origin) throw new BrokerFault('refused', `${target.origin} is not this broker's token endpoint`)
  const { body } = init
  const reply = await options.http.send(
    {
      method: 'POST',
      path: `${target.pathname}${target.search}`,
      headers: Object.entries(init.headers).flat(),
      ...(body === undefined || body === null ? {} : { body: String(body) })
    },
    signal
  )
  const fault = faultOfStatus(options, reply)
  if (fault !== null) throw fault
  return new Response(reply.body, { status: reply.status, headers: { 'content-type': header(reply, 'content-type') ?? '' } })
}

function faultOfStatus(options: OAuthOptions, reply: HttpReply): BrokerFault | null {
  if (reply.status === 429)
    return new BrokerFault('rate_limited', 'the broker asked for a pause', {
      retryAfterMs: retryAfterMs(reply, epochMs(options.clock.now())) ?? 1_000
    })
  if (reply.status < 200 || reply.status >= 500 || (reply.status >= 300 && reply.status < 400))
    return new BrokerFault('unreachable', `the broker's token endpoint answered ${reply.status}`)
  return null
}

const UNREADABLE = new Set(['OAUTH_INVALID_RESPONSE', 'OAUTH_PARSE_ERROR', 'OAUTH_RESPONSE_IS_NOT_JSON', 'OAUTH_RESPONSE_IS_NOT_CONFORM'])

/** What went wrong, in the port's words. The library's own errors hold the code, the state or the answer, so they go no further. */
function loginFault(error: unknown): BrokerFault {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error
  for (const candidate of [error, inner]) {
    if (candidate instanceof BrokerFault) return candidate
    if (candidate instanceof TransportFault) return faultOf(candidate)
  }
  if (error instanceof client.ResponseBodyError || error instanceof client.AuthorizationResponseError)
    return new BrokerFault('refused', `the broker refused the login (${error.error.slice(0, 40)})`)
  const code = error instanceof client.ClientError ? error.code : undefined
  if (code !== undefined && UNREADABLE.has(code))
    return new BrokerFault('malformed', `the broker's answer to the login cannot be read (${code})`)
  return new BrokerFault('refused', `the broker's answer to the login was not acceptable${code === undefined ? '' : ` (${code})`}`)
}
