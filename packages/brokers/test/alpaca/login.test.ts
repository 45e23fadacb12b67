import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BrokerFault, LoginDeclined, LoginRefused } from '@trunkline/core/ports/broker'
import { soon } from '@trunkline/testkit/patience'
import { json, openAt, Venue } from './venue.ts'

const REDIRECT = 'http://127.0.0.1:8080/connect/callback/alpaca'

async function begun(venue: Venue, environment: 'paper' | 'live', trading: boolean) {
  await using opened = openAt(venue, { settings: { environment } })
  const { login } = opened.definition
  assert.ok(login.kind === 'oauth')
  return { login, ...(await login.begin({ redirectUri: REDIRECT, state: 'state-1', trading })) }
}

test('the user is sent to the environment’s page with the least that is needed, and no code challenge [S11]', async () => {
  await using venue = await Venue.start()
  const requested = async (environment: 'paper' | 'live', trading: boolean) => {
    const { authorizationUrl } = await begun(venue, environment, trading)
    return Object.fromEntries(new URL(authorizationUrl).searchParams)
  }
  const usual = { client_id: 'trunkline', response_type: 'code', redirect_uri: REDIRECT, state: 'state-1' }
  assert.deepEqual(await requested('live', true), { ...usual, scope: 'trading data', env: 'live' })
  assert.deepEqual(await requested('paper', false), { ...usual, scope: 'data', env: 'paper' })
})

test('a code is exchanged with the secret in the body; the token has no end', async () => {
  await using venue = await Venue.start()
  venue.on('POST /oauth/token', json(200, { access_token: 'token-9', token_type: 'bearer', scope: 'trading data' }))
  await using opened = openAt(venue)
  const { login } = opened.definition
  assert.ok(login.kind === 'oauth')
  const answer = { redirectUri: REDIRECT, state: 'state-1', verifier: 'v', callbackUrl: `${REDIRECT}?code=c0de&state=state-1` }
  const credentials = await login.complete(answer, soon())
  assert.deepEqual([credentials.access_token, credentials.expires_at, credentials.refresh_token], ['token-9', undefined, undefined])
  const sent = Object.fromEntries(new URLSearchParams(venue.requests('POST /oauth/token')[0]?.body))
  assert.deepEqual(sent, {
    grant_type: 'authorization_code',
    code: 'c0de',
    client_id: 'trunkline',
    client_secret: 'secret',
    redirect_uri: REDIRECT
  })
  await login.revoke(credentials, soon())
  assert.equal(venue.seen.length, 1)
  venue.on('POST /oauth/token', json(401, { code: 40110000, message: 'client is unknown' }))
  await assert.rejects(login.complete(answer, soon()), (error: unknown) => error instanceof BrokerFault && error.kind === 'refused')
  const declined = { ...answer, callbackUrl: `${REDIRECT}?error=access_denied&state=state-1` }
  await assert.rejects(login.complete(declined, soon()), LoginDeclined)
})

test('keys are checked by their form only, and never repeated', async () => {
  await using venue = await Venue.start()
  await using opened = openAt(venue, { settings: { login: 'api_key' } })
  const { login, capabilities } = opened.definition
  assert.equal(capabilities.login, 'api_key')
  assert.ok(login.kind === 'api_key')
  assert.deepEqual(
    login.fields.map(({ name, secret }) => [name, secret]),
    [
      ['key_id', false],
      ['secret_key', true]
    ]
  )
  const entered = { key_id: ' PKALPACA0001 ', secret_key: 'secret-of-the-key-0001' }
  assert.deepEqual(await login.complete(entered, soon()), { key_id: 'PKALPACA0001', secret_key: 'secret-of-the-key-0001' })
  for (const wrong of [{ key_id: 'PK ALPACA' }, { secret_key: 'short' }, { secret_key: 'with a space in between' }])
    await assert.rejects(
      login.complete({ ...entered, ...wrong }, soon()),
      (error: unknown) => error instanceof LoginRefused && Object.values(wrong).every(value => !error.message.includes(value))
    )
})
