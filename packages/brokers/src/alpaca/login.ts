/** Logging in at Alpaca: OAuth, or keys that the user made there. Both last until they are revoked. */

import type { BrokerLogin } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import { apiKeys } from '../kit/api-key.ts'
import type { HttpClient } from '../kit/http.ts'
import { oauthLogin, oauthToken } from '../kit/oauth.ts'
import type { TokenOptions } from '../kit/tokens.ts'
import type { AlpacaSettings } from './settings.ts'

/**
 * Alpaca asks for `auth` and calls `authenticate` deprecated (recorded 2026-09-18). Its documentation has `auth` for keys; for OAuth it is that of the market
 * streams, and where it is refused the older form decides.
 */
export interface AccountHello {
  readonly auth: object
  readonly authenticate: object
}

/** How a user logs in, and how a token of such credentials is shown. */
export interface AuthScheme extends Pick<TokenOptions, 'tokenOf' | 'refresh'> {
  readonly login: BrokerLogin
  /** Headers of a request, names and values alternating. */
  readonly authorize: (token: string) => readonly string[]
  /** The first messages of the account stream: the one to try, and an older form. */
  readonly accountHello: (token: string) => AccountHello
  /** The first message of a market stream. */
  readonly marketHello: (token: string) => object
}

export function authSchemeOf(
  settings: AlpacaSettings,
  { tokens, clock }: { readonly tokens: HttpClient; readonly clock: Clock }
): AuthScheme {
  const { login, environment, authorizeUrl, tokenUrl } = settings
  if (login === 'api_key') return WITH_KEYS
  const oauth = oauthLogin({
    http: tokens,
    clock,
    issuer: new URL(authorizeUrl).origin,
    issuerInRedirect: false,
    authorizationEndpoint: authorizeUrl,
    tokenEndpoint: tokenUrl,
    revocationEndpoint: null,
    ...login,
    clientAuthentication: 'post',
    pkce: false,
    scope: trading => (trading ? 'trading data' : 'data'),
    // Without it the user may choose an account of either kind, and the token would be for both.
    authorizationParameters: { env: environment === 'live' ? 'live' : 'paper' }
  })
  return {
    login: oauth,
    tokenOf: oauthToken,
    refresh: oauth.refresh,
    authorize: token => ['authorization', `Bearer ${token}`],
    accountHello: token => ({
      auth: { action: 'auth', key: 'oauth', secret: token },
      authenticate: { action: 'authenticate', data: { oauth_token: token } }
    }),
    marketHello: token => ({ action: 'auth', key: 'oauth', secret: token })
  }
}

const KEYS = apiKeys({
  parts: [
    {
      name: 'key_id',
      label: 'API key ID',
      secret: false,
      lengthMax: 64,
      header: 'apca-api-key-id',
      form: '8 to 64 letters and digits, such as those that begin with AK or PK',
      pattern: /^[A-Za-z0-9]{8,64}$/
    },
    {
      name: 'secret_key',
      label: 'Secret key',
      secret: true,
      lengthMax: 128,
      header: 'apca-api-secret-key',
      form: '16 to 128 letters, digits and signs, without spaces',
      pattern: /^[A-Za-z0-9/+=_-]{16,128}$/
    }
  ],
  helpUrl: 'https://app.alpaca.markets/dashboard/overview'
})

const WITH_KEYS: AuthScheme = {
  ...KEYS,
  accountHello(token) {
    const [id, secret] = KEYS.keysOf(token)
    return {
      auth: { action: 'auth', key: id, secret },
      authenticate: { action: 'authenticate', data: { key_id: id, secret_key: secret } }
    }
  },
  marketHello(token) {
    const [key, secret] = KEYS.keysOf(token)
    return { action: 'auth', key, secret }
  }
}
