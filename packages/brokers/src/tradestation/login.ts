/** Logging in at TradeStation: OAuth for confidential clients, without PKCE, whose refresh tokens live on unless the key has them rotate. */

import type { Clock } from '@trunkline/core/ports/clock'
import type { HttpClient } from '../kit/http.ts'
import { type OAuthLogin, oauthLogin } from '../kit/oauth.ts'
import type { TradestationSettings } from './settings.ts'

/** What an access token is for, which the broker wants named whichever of its hosts it is used at. */
const AUDIENCE = 'https://api.tradestation.com'
const READING = 'openid offline_access profile MarketData ReadAccount Matrix'
const TRADING = `${READING} Trade OptionSpreads`

/** `http` goes to the host of the token endpoint. */
export function tradestationLogin(settings: TradestationSettings, http: HttpClient, clock: Clock): OAuthLogin {
  const { authorizeUrl, tokenUrl, revokeUrl, clientId, clientSecret } = settings
  return oauthLogin({
    http,
    clock,
    issuer: new URL(tokenUrl).origin,
    authorizationEndpoint: authorizeUrl,
    tokenEndpoint: tokenUrl,
    revocationEndpoint: revokeUrl,
    revocationBody: 'json',
    clientId,
    clientSecret,
    clientAuthentication: 'post',
    issuerInRedirect: false,
    pkce: false,
    scope: trading => (trading ? TRADING : READING),
    authorizationParameters: { audience: AUDIENCE }
  })
}
