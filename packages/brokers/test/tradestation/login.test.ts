import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HttpClient } from '../../src/kit/http.ts'
import { bearerLogin } from '../../src/kit/oauth.ts'
import { tradestationLogin } from '../../src/tradestation/definition.ts'
import { systemClock } from '../support/clocks.ts'
import { settingsAt } from './harness.ts'

const REDIRECT = 'https://us.example/connect/callback/tradestation'

test('the authorization address names the audience, and requests the scopes that the login needs', async () => {
  await using http = new HttpClient({ origin: 'https://signin.example', plain: false })
  const client = tradestationLogin(
    settingsAt('https://signin.example', 'https://signin.example', { clientId: 'us', clientSecret: 'secret' })
  )
  const { login } = bearerLogin({ ...client, http, clock: systemClock })
  const parameters = async (trading: boolean) =>
    new URL((await login.begin({ redirectUri: REDIRECT, state: 's', trading })).authorizationUrl).searchParams
  assert.deepEqual(Object.fromEntries(await parameters(true)), {
    client_id: 'us',
    response_type: 'code',
    redirect_uri: REDIRECT,
    scope: 'openid offline_access profile MarketData ReadAccount Matrix Trade OptionSpreads',
    state: 's',
    audience: 'https://api.tradestation.com'
  })
  const { tokenEndpoint, clientAuthentication, revocationEndpoint, revocationBody } = client
  assert.deepEqual([tokenEndpoint, clientAuthentication], ['https://signin.example/tradestation/oauth/token', 'post'])
  assert.deepEqual([revocationEndpoint, revocationBody], ['https://signin.example/tradestation/oauth/revoke', 'json'])
  assert.equal((await parameters(false)).get('scope'), 'openid offline_access profile MarketData ReadAccount Matrix')
})
