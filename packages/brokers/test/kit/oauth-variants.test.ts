// What brokers do otherwise than the standard has it: each was seen at one of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LoginDeclined } from '@trunkline/core/ports/broker'
import type { OAuthOptions } from '../../src/kit/oauth.ts'
import { oauthToken } from '../../src/kit/oauth.ts'
import { json } from '../support/scripted-host.ts'
import { answer, GRANT, grants, isFault, REDIRECT, signal, start } from './oauth-provider.ts'

const ASK = { redirectUri: REDIRECT, state: 's1', trading: true }
const PLAIN: Partial<OAuthOptions> = { pkce: false, issuerInRedirect: false, authorizationEndpoint: 'https://broker.example/authorize' }
const BACK = 'code=c1&state=s1'
const form = (body: string | undefined) => Object.fromEntries(new URLSearchParams(body))

test('a broker without PKCE and with one fixed callback is sent neither challenge nor address', async () => {
  await using provider = await start(grants, { ...PLAIN, sendRedirectUri: false, scope: () => 'read,trade' })
  const { authorizationUrl } = await provider.login.begin(ASK)
  assert.deepEqual(Object.fromEntries(new URL(authorizationUrl).searchParams), {
    client_id: 'us',
    response_type: 'code',
    scope: 'read,trade',
    state: 's1'
  })
  await provider.login.complete(answer(BACK), signal)
  const [seen] = provider.host.seen
  assert.deepEqual(form(seen?.body), { grant_type: 'authorization_code', code: 'c1' })
  assert.equal(seen?.headers.authorization, `Basic ${Buffer.from('us:secret+%2B%2F%3D').toString('base64')}`)
})

test('more parameters are sent, and one that the broker does not want is left out', async () => {
  await using provider = await start(grants, {
    ...PLAIN,
    authorizationParameters: { audience: 'https://api.broker.example', env: 'paper', response_type: null }
  })
  const { authorizationUrl } = await provider.login.begin(ASK)
  const { audience, env, response_type: type, redirect_uri: uri } = Object.fromEntries(new URL(authorizationUrl).searchParams)
  assert.deepEqual([audience, env, type, uri], ['https://api.broker.example', 'paper', undefined, REDIRECT])
})

test('a callback may carry more parameters, and a refusal is recognized nevertheless', async () => {
  await using provider = await start(grants, PLAIN)
  await provider.login.complete(answer(`${BACK}&session=x&session=y&id_token=z&response=w&token=v&code_challenge=u`), signal)
  assert.deepEqual(form(provider.host.seen[0]?.body), { grant_type: 'authorization_code', code: 'c1', redirect_uri: REDIRECT })
  await assert.rejects(provider.login.complete(answer('error=access_denied&error_description=no&state=s1&more=1'), signal), LoginDeclined)
})

test('a secret in the body, and a token that lives until it is revoked', async () => {
  const uuid = '11112222-3333-4444-5555-666677778888'
  await using provider = await start((_, response) => json(response, 200, { access_token: uuid, token_type: 'bearer', scope: 'trading' }), {
    ...PLAIN,
    clientAuthentication: 'post',
    revocationEndpoint: null
  })
  const credentials = await provider.login.complete(answer(BACK), signal)
  assert.deepEqual(form(provider.host.seen[0]?.body), {
    grant_type: 'authorization_code',
    code: 'c1',
    redirect_uri: REDIRECT,
    client_id: 'us',
    client_secret: 'secret +/='
  })
  assert.deepEqual(credentials, { access_token: uuid, issued_at: '2026-01-05T15:00:00.000000Z', scope: 'trading' })
  assert.deepEqual(oauthToken(credentials), { token: uuid, issuedAt: credentials.issued_at, expiresAt: null, isRenewable: false })
  await provider.login.revoke(credentials, signal)
  assert.equal(provider.host.seen.length, 1)
})

test('an answer may lack the type of its token, and its identity is not used', async () => {
  const { token_type: _, ...untyped } = GRANT
  const more = { id_token: 'not.a.token', refresh_token_expires_in: 'never', issued_at: 1, status: 'approved' }
  await using provider = await start((_seen, response) => json(response, 200, { ...untyped, ...more }), PLAIN)
  assert.equal((await provider.login.complete(answer(BACK), signal)).access_token, 'at')
  assert.equal((await provider.login.refresh({ access_token: 'x', refresh_token: 'old' }, signal)).refresh_token, 'rt')
  provider.host.script((_seen, response) => json(response, 200, { ...GRANT, refresh_token: null, token_type: 'mac' }))
  await assert.rejects(provider.login.refresh({ access_token: 'x', refresh_token: 'old' }, signal))
  provider.host.script((_seen, response) => json(response, 200, { ...GRANT, refresh_token: null }))
  assert.equal((await provider.login.refresh({ access_token: 'x', refresh_token: 'old' }, signal)).refresh_token, 'old')
})

test('a refresh goes where the broker wants it', async () => {
  await using provider = await start(grants, origin => ({ ...PLAIN, refreshEndpoint: `${origin}/refresh` }))
  await provider.login.complete(answer(BACK), signal)
  await provider.login.refresh({ access_token: 'x', refresh_token: 'old' }, signal)
  assert.deepEqual(
    provider.host.seen.map(({ path }) => path),
    ['/token', '/refresh']
  )
})

test('a refusal in another form than the standard’s is a refusal, and the broker’s adapter names the definitive one', async () => {
  const body = { code: 42210000, message: 'redirect uri is invalid' }
  await using provider = await start((_, response) => json(response, 422, body), PLAIN)
  await assert.rejects(provider.login.complete(answer(BACK), signal), isFault('refused'))
  const credentials = { access_token: 'x', refresh_token: 'old' }
  await assert.rejects(provider.login.refresh(credentials, signal), isFault('refused'))

  const expired = { fault: { faultstring: 'Refresh Token expired', detail: { errorcode: 'keymanagement.service.refresh_token_expired' } } }
  const isGrantRefused = (status: number, text: string) => status === 401 && text.includes('refresh_token_expired')
  await using named = await start((_, response) => json(response, 401, expired), { ...PLAIN, isGrantRefused })
  await assert.rejects(named.login.refresh(credentials, signal), isFault('credentials_rejected'))
  // A code is no grant that a user could withdraw, and a failing server proves nothing whatever its message.
  await assert.rejects(named.login.complete(answer(BACK), signal), isFault('refused'))
  named.host.script((_, response) => json(response, 503, expired))
  await assert.rejects(named.login.refresh(credentials, signal), isFault('unreachable'))
  named.host.script((_, response) => json(response, 400, { error: 'invalid_grant' }))
  await assert.rejects(named.login.refresh(credentials, signal), isFault('refused'))
})

test('an invalid_grant counts with the statuses that are seen with it, and no other', async () => {
  for (const [status, kind] of [
    [400, 'credentials_rejected'],
    [401, 'credentials_rejected'],
    [403, 'credentials_rejected'],
    [404, 'refused'],
    [409, 'refused']
  ] as const) {
    await using provider = await start((_, response) => json(response, status, { error: 'invalid_grant' }))
    await assert.rejects(provider.login.refresh({ access_token: 'x', refresh_token: 'old' }, signal), isFault(kind), String(status))
  }
})

test('a revocation by JSON carries the client and the refresh token, and is content with an empty success', async () => {
  await using provider = await start((_, response) => void response.writeHead(200).end(), { revocationBody: 'json' })
  await provider.login.revoke({ access_token: 'at', refresh_token: 'rt' }, signal)
  const [seen] = provider.host.seen
  assert.equal(seen?.path, '/revoke')
  assert.equal(seen?.headers['content-type'], 'application/json')
  assert.deepEqual(JSON.parse(seen?.body ?? ''), { client_id: 'us', client_secret: 'secret +/=', token: 'rt' })
  for (const [status, body, kind] of [
    [400, { error: 'invalid_request' }, 'refused'],
    [503, {}, 'unreachable'],
    [429, {}, 'rate_limited']
  ] as const) {
    provider.host.script((_, response) => json(response, status, body))
    await assert.rejects(provider.login.revoke({ access_token: 'at', refresh_token: 'rt' }, signal), isFault(kind), String(status))
  }
  provider.host.script((_, response) => json(response, 400, { error: 'invalid_grant' }))
  await provider.login.revoke({ access_token: 'at', refresh_token: 'rt' }, signal)
})
