import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BrokerFault, LoginDeclined } from '@trunkline/core/ports/broker'
import { soon } from '@trunkline/testkit/patience'
import { HttpClient } from '../../src/kit/http.ts'
import { bearerLogin } from '../../src/kit/oauth.ts'
import { tradestationLogin } from '../../src/tradestation/definition.ts'
import { systemClock } from '../support/clocks.ts'
import { json, ScriptedHost } from '../support/scripted-host.ts'
import type { Json } from './fixtures.ts'

const REDIRECT = 'https://us.example/connect/callback/tradestation'
const GRANT = {
  access_token: 'a1',
  refresh_token: 'r1',
  id_token: 'x.y.z',
  token_type: 'Bearer',
  scope: 'openid offline_access',
  expires_in: 1_200
}

async function begun(answer: (form: URLSearchParams, response: Json, path: string) => void) {
  const host = await ScriptedHost.start((seen, response) =>
    answer(seen.path === '/oauth/revoke' ? new URLSearchParams() : new URLSearchParams(seen.body), response, seen.path)
  )
  const http = new HttpClient({ origin: host.origin, plain: true })
  const { login, refresh } = bearerLogin({
    ...tradestationLogin({
      environment: 'sandbox',
      apiUrl: `${host.origin}/v3`,
      authorizeUrl: `${host.origin}/authorize`,
      oauthUrl: `${host.origin}/oauth`,
      hours: 'exchange',
      clientId: 'us',
      clientSecret: 'secret',
      plain: true
    }),
    ...{ http, clock: systemClock }
  })
  return {
    host,
    login,
    refresh,
    async [Symbol.asyncDispose]() {
      await http[Symbol.asyncDispose]()
      await host[Symbol.asyncDispose]()
    }
  }
}

const fault = (kind: BrokerFault['kind']) => (error: unknown) => error instanceof BrokerFault && error.kind === kind

test('the authorization address names the audience, and requests the scopes that the login needs', async () => {
  await using at = await begun((_form, response) => json(response, 200, GRANT))
  const url = async (trading: boolean) =>
    new URL((await at.login.begin({ redirectUri: REDIRECT, state: 's', trading })).authorizationUrl).searchParams
  const trading = await url(true)
  assert.deepEqual(Object.fromEntries(trading), {
    client_id: 'us',
    response_type: 'code',
    redirect_uri: REDIRECT,
    scope: 'openid offline_access profile MarketData ReadAccount Matrix Trade OptionSpreads',
    state: 's',
    audience: 'https://api.tradestation.com'
  })
  assert.ok(!(await url(false)).get('scope')?.includes('Trade'))
})

test('a code is exchanged with the client’s secret; a refusal at the page is a refusal', async () => {
  await using at = await begun((_form, response) => json(response, 200, GRANT))
  const answer = { redirectUri: REDIRECT, state: 's', verifier: '' }
  const credentials = await at.login.complete({ ...answer, callbackUrl: `${REDIRECT}?code=c1&state=s` }, soon())
  assert.deepEqual([credentials.access_token, credentials.refresh_token], ['a1', 'r1'])
  assert.equal(Date.parse(credentials.expires_at ?? '') - Date.parse(credentials.issued_at ?? ''), 1_200_000)
  const form = new URLSearchParams(at.host.seen[0]?.body)
  assert.deepEqual(
    ['grant_type', 'code', 'client_id', 'client_secret', 'redirect_uri', 'code_verifier'].map(name => form.get(name)),
    ['authorization_code', 'c1', 'us', 'secret', REDIRECT, null]
  )
  const declined = `${REDIRECT}?error=access_denied&error_description=no&state=s`
  await assert.rejects(at.login.complete({ ...answer, callbackUrl: declined }, soon()), LoginDeclined)
})

test('a refresh keeps the refresh token unless the key has it rotate', async () => {
  let rotates = false
  await using at = await begun((_form, response) =>
    json(response, 200, { access_token: 'a2', token_type: 'Bearer', expires_in: 1_200, ...(rotates ? { refresh_token: 'r2' } : {}) })
  )
  const before = { access_token: 'a1', refresh_token: 'r1' }
  assert.equal((await at.refresh(before, soon())).refresh_token, 'r1')
  rotates = true
  assert.equal((await at.refresh(before, soon())).refresh_token, 'r2')
})

test('only a refused refresh token ends a login', async () => {
  const answers: readonly (readonly [number, object, BrokerFault['kind']])[] = [
    [403, { error: 'invalid_grant', error_description: 'Unknown or invalid refresh token.' }, 'credentials_rejected'],
    [400, { error: 'invalid_grant' }, 'credentials_rejected'],
    [401, { error: 'access_denied', error_description: 'Unauthorized' }, 'refused'],
    [403, { error: 'invalid_client' }, 'refused'],
    [429, { error: 'too_many_requests' }, 'rate_limited'],
    [500, { error: 'invalid_grant' }, 'unreachable']
  ]
  for (const [status, body, kind] of answers) {
    await using at = await begun((_form, response) => json(response, status, body))
    await assert.rejects(at.refresh({ access_token: 'a1', refresh_token: 'r1' }, soon()), fault(kind), `${status}`)
  }
})

test('a revocation is one JSON object, answered with nothing', async () => {
  await using at = await begun((_form, response) => response.writeHead(200).end())
  await at.login.revoke({ access_token: 'a1', refresh_token: 'r1' }, soon())
  const [seen] = at.host.seen
  assert.deepEqual([seen?.path, seen?.headers['content-type']], ['/oauth/revoke', 'application/json'])
  assert.deepEqual(JSON.parse(seen?.body ?? ''), { client_id: 'us', client_secret: 'secret', token: 'r1' })
})
