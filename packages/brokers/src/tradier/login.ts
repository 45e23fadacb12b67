/** Logging in at Tradier: OAuth without PKCE, scopes between commas, a separate endpoint for refreshing. */

import type { Clock } from '@trunkline/core/ports/clock'
import type { HttpClient } from '../kit/http.ts'
import { type OAuthLogin, oauthLogin } from '../kit/oauth.ts'

export interface TradierLoginOptions {
  readonly http: HttpClient
  readonly clock: Clock
  readonly apiUrl: string
  readonly authorizeUrl: string
  readonly clientId: string
  readonly clientSecret: string
  readonly sendRedirectUri: boolean
}

const READING = ['read', 'market', 'stream']
const TRADING = ['read', 'write', 'trade', 'market', 'stream']

export function tradierLogin({
  http,
  clock,
  apiUrl,
  authorizeUrl,
  clientId,
  clientSecret,
  sendRedirectUri
}: TradierLoginOptions): OAuthLogin {
  return oauthLogin({
    http,
    clock,
    issuer: new URL(apiUrl).origin,
    authorizationEndpoint: authorizeUrl,
    tokenEndpoint: `${apiUrl}/oauth/accesstoken`,
    refreshEndpoint: `${apiUrl}/oauth/refreshtoken`,
    // None is documented: what was granted ends with its token.
    revocationEndpoint: null,
    clientId,
    clientSecret,
    clientAuthentication: 'basic',
    issuerInRedirect: false,
    pkce: false,
    sendRedirectUri,
    authorizationParameters: { response_type: null },
    scope: trading => (trading ? TRADING : READING).join(','),
    isGrantRefused
  })
}

/** As RFC 6749 defines it, or as the gateway's own message, of which only the subject is known. */
export function isGrantRefused(status: number, body: string): boolean {
  return status < 500 && (/"invalid_grant"/.test(body) || /invalid_refresh_token|refresh_token_expired/.test(body) || REFUSED.test(body))
}

const REFUSED = /(?:invalid|expired|revoked) refresh token|refresh token (?:is )?(?:invalid|expired|revoked)/i
