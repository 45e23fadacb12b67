/** A broker's authorization server for tests, and a login at it. */

import { BrokerFault, type LoginAnswer } from '@trunkline/core/ports/broker'
import { HttpClient, type HttpLimits } from '../../src/kit/http.ts'
import { type OAuthOptions, oauthLogin } from '../../src/kit/oauth.ts'
import { VirtualClock } from '../support/clocks.ts'
import { json, type Script, ScriptedHost } from '../support/scripted-host.ts'

export { never as signal } from '@trunkline/testkit/patience'
export const REDIRECT = 'https://platform.example/connect/callback'
export const GRANT = { access_token: 'at', token_type: 'bearer', expires_in: 600, refresh_token: 'rt', scope: 'read trade' }

/** An authorization server whose token endpoint answers as scripted; `more` of its metadata is given the host's origin. */
export async function start(
  script: Script,
  more: Partial<OAuthOptions> | ((origin: string) => Partial<OAuthOptions>) = {},
  limits: Partial<HttpLimits> = {}
) {
  const host = await ScriptedHost.start(script)
  const http = new HttpClient({ origin: host.origin, plain: true, limits })
  const login = oauthLogin({
    http,
    clock: new VirtualClock(),
    issuer: 'https://broker.example',
    authorizationEndpoint: 'https://broker.example/authorize?env=paper',
    tokenEndpoint: `${host.origin}/token`,
    revocationEndpoint: `${host.origin}/revoke`,
    clientId: 'us',
    clientSecret: 'secret +/=',
    clientAuthentication: 'basic',
    issuerInRedirect: true,
    scope: trading => (trading ? 'read trade' : 'read'),
    ...(typeof more === 'function' ? more(host.origin) : more)
  })
  return {
    host,
    login,
    async [Symbol.asyncDispose]() {
      await http[Symbol.asyncDispose]()
      await host[Symbol.asyncDispose]()
    }
  }
}

export function answer(query: string): LoginAnswer {
  return { callbackUrl: `http://10.0.0.7:8080/connect/callback?${query}`, redirectUri: REDIRECT, state: 's1', verifier: 'v'.repeat(43) }
}

export const GOOD = `code=c1&state=s1&iss=${encodeURIComponent('https://broker.example')}`
export const grants: Script = (_, response) => json(response, 200, GRANT)

export function isFault(kind: BrokerFault['kind']): (error: unknown) => boolean {
  return error => error instanceof BrokerFault && error.kind === kind
}
