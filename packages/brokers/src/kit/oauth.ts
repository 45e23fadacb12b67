/** OAuth 2 at a broker: authorization code (with PKCE where the broker supports it), checks of state and issuer, refresh, revocation. */

import { epochMs, parseTimestamp, timestampOfMs } from '@trunkline/core/domain/timestamp'
import {
  BrokerFault,
  type Credentials,
  type LoginAnswer,
  LoginDeclined,
  type LoginRequest,
  type OAuthBrokerLogin
} from '@trunkline/core/ports/broker'
import * as client from 'openid-client'
import type { LoginScheme } from './login-scheme.ts'
import { configuration, isGone, loginFault, type OAuthEndpoints, revokeByJson } from './oauth-endpoints.ts'
import type { AccessToken } from './tokens.ts'

export interface OAuthOptions extends OAuthEndpoints {
  readonly authorizationEndpoint: string
  /** The scope parameter, with the broker's names and separator. */
  readonly scope: (trading: boolean) => string
  /** Additional query parameters of the authorization URL; null removes a default one. */
  readonly authorizationParameters?: Readonly<Record<string, string | null>>
}

export interface OAuthLogin extends OAuthBrokerLogin {
  /** @throws BrokerFault; `credentials_rejected` when the broker refused the refresh token itself. */
  refresh(credentials: Credentials, signal: AbortSignal): Promise<Credentials>
}

/** The parameters of an authorization response that we use. A repeated one is an attack or a broken gateway. */
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

/** The access token of credentials that this module made. @throws Malformed */
export function oauthToken(credentials: Credentials): AccessToken {
  const { access_token: token = '', issued_at: issuedAt, expires_at: expiresAt } = credentials
  return {
    token,
    issuedAt: issuedAt === undefined ? null : parseTimestamp(issuedAt, 'issued_at'),
    expiresAt: expiresAt === undefined ? null : parseTimestamp(expiresAt, 'expires_at'),
    isRenewable: credentials.refresh_token !== undefined
  }
}

/** OAuth with its token in the `Authorization` header of every request. */
export function bearerLogin(options: OAuthOptions): LoginScheme & { readonly login: OAuthLogin } {
  const login = oauthLogin(options)
  return { login, tokenOf: oauthToken, refresh: login.refresh, authorize: token => ['authorization', `Bearer ${token}`] }
}

function hasPkce(options: OAuthOptions): boolean {
  return options.pkce ?? true
}

async function begin(options: OAuthOptions, request: LoginRequest): Promise<{ authorizationUrl: string; verifier: string }> {
  const verifier = hasPkce(options) ? client.randomPKCECodeVerifier() : ''
  const url = new URL(options.authorizationEndpoint)
  const parameters: Readonly<Record<string, string | null>> = {
    client_id: options.clientId,
    response_type: 'code',
    redirect_uri: options.sendRedirectUri === false ? null : request.redirectUri,
    scope: options.scope(request.trading),
    state: request.state,
    code_challenge: hasPkce(options) ? await client.calculatePKCECodeChallenge(verifier) : null,
    code_challenge_method: hasPkce(options) ? 'S256' : null,
    ...options.authorizationParameters
  }
  for (const [name, value] of Object.entries(parameters)) if (value !== null) url.searchParams.set(name, value)
  return { authorizationUrl: url.href, verifier }
}

async function complete(options: OAuthOptions, answer: LoginAnswer, signal: AbortSignal): Promise<Credentials> {
  const callback = callbackOf(answer)
  const issuedAtMs = epochMs(options.clock.now())
  let hasRequested = false
  const made = configuration(options, options.tokenEndpoint, signal, () => {
    hasRequested = true
  })
  try {
    const granted = await client.authorizationCodeGrant(made, callback, {
      expectedState: answer.state,
      ...(hasPkce(options) ? { pkceCodeVerifier: answer.verifier } : {})
    })
    return credentialsOf(granted, issuedAtMs, {})
  } catch (error) {
    if (error instanceof client.AuthorizationResponseError && error.error === 'access_denied')
      throw new LoginDeclined('the user declined at the broker')
    if (!hasRequested && !(error instanceof client.AuthorizationResponseError))
      throw new BrokerFault('refused', 'the redirect does not belong to this login')
    throw loginFault(error)
  }
}

/** The redirect URL as registered, with the returned query: the token request must repeat it exactly. */
function callbackOf(answer: LoginAnswer): URL {
  if (!URL.canParse(answer.callbackUrl) || !URL.canParse(answer.redirectUri))
    throw new BrokerFault('refused', 'the callback address cannot be read')
  const came = new URL(answer.callbackUrl).searchParams
  const twice = SINGLE.find(name => came.getAll(name).length > 1)
  if (twice !== undefined) throw new BrokerFault('refused', `the broker's redirect carries ${twice} more than once`)
  if (came.has('code') && came.has('error')) throw new BrokerFault('refused', "the broker's redirect carries both a code and an error")
  const callback = new URL(answer.redirectUri)
  // Other parameters of the broker are dropped: some names would select another flow in the library.
  for (const name of SINGLE) for (const value of came.getAll(name)) callback.searchParams.append(name, value)
  return callback
}

async function refresh(options: OAuthOptions, credentials: Credentials, signal: AbortSignal): Promise<Credentials> {
  const { refresh_token: refreshToken } = credentials
  if (refreshToken === undefined)
    throw new BrokerFault('credentials_rejected', 'the access token has expired and there is no refresh token')
  const issuedAtMs = epochMs(options.clock.now())
  try {
    const made = configuration(options, options.refreshEndpoint ?? options.tokenEndpoint, signal)
    return credentialsOf(await client.refreshTokenGrant(made, refreshToken), issuedAtMs, credentials)
  } catch (error) {
    throw loginFault(error)
  }
}

async function revoke(options: OAuthOptions, credentials: Credentials, signal: AbortSignal): Promise<void> {
  if (options.revocationEndpoint === null) return
  const { refresh_token: refreshToken, access_token: accessToken } = credentials
  const [token, hint] = refreshToken === undefined ? [accessToken, 'access_token'] : [refreshToken, 'refresh_token']
  if (token === undefined) return
  try {
    if (options.revocationBody === 'json') await revokeByJson(options, options.revocationEndpoint, token, signal)
    else await client.tokenRevocation(configuration(options, options.tokenEndpoint, signal), token, { token_type_hint: hint })
  } catch (error) {
    if (error instanceof client.ResponseBodyError && isGone(error.error)) return
    throw loginFault(error)
  }
}

function credentialsOf(
  granted: { readonly access_token: string; readonly refresh_token?: string; readonly expires_in?: number; readonly scope?: string },
  issuedAtMs: number,
  before: Credentials
): Credentials {
  // A broker that does not rotate omits the refresh token from its answer: the current one remains valid.
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
