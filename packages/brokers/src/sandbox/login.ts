/** Logging in at the sandbox: OAuth at the addresses its page names. */

import type { Clock } from '@trunkline/core/ports/clock'
import type { HttpClient } from '../kit/http.ts'
import { type OAuthLogin, oauthLogin } from '../kit/oauth.ts'

export interface SandboxLoginOptions {
  readonly http: HttpClient
  readonly clock: Clock
  /** Origin that browsers see; the issuer is below it. */
  readonly publicUrl: string
  readonly clientId: string
  readonly clientSecret: string
}

export function sandboxLogin({ http, clock, publicUrl, clientId, clientSecret }: SandboxLoginOptions): OAuthLogin {
  const issuer = `${publicUrl}/oauth`
  return oauthLogin({
    http,
    clock,
    issuer,
    authorizationEndpoint: `${issuer}/auth`,
    tokenEndpoint: `${http.origin}/oauth/token`,
    revocationEndpoint: `${http.origin}/oauth/token/revocation`,
    clientId,
    clientSecret,
    clientAuthentication: 'basic',
    issuerInRedirect: true,
    scope: trading => (trading ? 'read trade' : 'read')
  })
}
