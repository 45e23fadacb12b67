import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BrokerFault, type Credentials, LoginDeclined } from '@trunkline/core/ports/broker'
import { oauthToken } from '../../src/kit/oauth.ts'
import { json, type Script, ScriptedHost } from '../support/scripted-host.ts'
import { answer, GOOD, GRANT, grants, isFault, REDIRECT, signal, start } from './oauth-provider.ts'

test('the authorization address carries PKCE S256, state and scope, and the verifier is new every time [S10]', async () => {
  await using provider = await start(grants)
  const verifiers = new Set<string>()
  for (const trading of [true, false]) {
    const { authorizationUrl, verifier } = await provider.login.begin({ redirectUri: REDIRECT, state: 's1', trading })
    const url = new URL(authorizationUrl)
    const { code_challenge: challenge, ...rest } = Object.fromEntries(url.searchParams)
    assert.equal(`${url.origin}${url.pathname}`, 'https://broker.example/authorize')
    assert.match(challenge ?? '', /^[\w-]{43}$/)
    assert.match(verifier, /^[\w.~-]{43,128}$/)
    assert.ok(!authorizationUrl.includes(verifier))
    assert.deepEqual(rest, {
      env: 'paper',
      client_id: 'us',
      response_type: 'code',
      redirect_uri: REDIRECT,
      scope: trading ? 'read trade' : 'read',
      state: 's1',
      code_challenge_method: 'S256'
    })
    verifiers.add(verifier)
  }
  assert.equal(verifiers.size, 2)
  assert.equal(provider.login.origin, 'https://broker.example')
  assert.equal(provider.host.seen.length, 0)
})

test('the code is exchanged once, with the verifier and the registered redirect address', async () => {
  await using provider = await start(grants)
  const credentials = await provider.login.complete(answer(GOOD), signal)
  assert.deepEqual(credentials, {
    access_token: 'at',
    refresh_token: 'rt',
    scope: 'read trade',
    issued_at: '2026-01-05T15:00:00.000000Z',
    expires_at: '2026-01-05T15:10:00.000000Z'
  })
  assert.equal(oauthToken(credentials).token, 'at')
  const [seen, ...more] = provider.host.seen
  assert.deepEqual(Object.fromEntries(new URLSearchParams(seen?.body)), {
    grant_type: 'authorization_code',
    code: 'c1',
    redirect_uri: REDIRECT,
    code_verifier: 'v'.repeat(43)
  })
  assert.match(seen?.headers.authorization ?? '', /^Basic /)
  assert.deepEqual(more, [])
})

test('a refusal by the user is distinguished', async () => {
  await using provider = await start(grants)
  const declined = answer(`error=access_denied&state=s1&iss=${encodeURIComponent('https://broker.example')}`)
  await assert.rejects(provider.login.complete(declined, signal), LoginDeclined)
})

test('a redirect that is not ours is refused before any token request', async () => {
  await using provider = await start(grants)
  const cases = [
    'code=c1&state=s2&iss=https://broker.example',
    'code=c1&iss=https://broker.example',
    'code=c1&state=s1',
    'code=c1&state=s1&iss=https://broker.example/',
    'code=c1&state=s1&iss=https://evil.example',
    `${GOOD}&code=c2`,
    `${GOOD}&state=s1`,
    `${GOOD}&error=access_denied`,
    'state=s1&iss=https://broker.example',
    'error=server_error&state=s1&iss=https://broker.example',
    'error=access_denied&state=s2&iss=https://broker.example',
    ''
  ]
  for (const query of cases) await assert.rejects(provider.login.complete(answer(query), signal), isFault('refused'), query)
  await assert.rejects(provider.login.complete({ ...answer(GOOD), callbackUrl: 'not a url' }, signal), isFault('refused'))
  assert.equal(provider.host.seen.length, 0)
})

test('a refresh keeps the refresh token of a broker that does not rotate, and takes the new one of one that does', async () => {
  const { refresh_token: _, ...rest } = GRANT
  for (const [grant, expected] of [
    [rest, 'old'],
    [GRANT, 'rt']
  ] as const) {
    await using provider = await start((_seen, response) => json(response, 200, grant))
    const renewed = await provider.login.refresh({ access_token: 'x', refresh_token: 'old' }, signal)
    assert.equal(renewed.refresh_token, expected)
    assert.equal(new URLSearchParams(provider.host.seen[0]?.body).get('refresh_token'), 'old')
  }
})

test('only the refusal of the grant itself is a rejection of the credentials', async () => {
  const cases: readonly (readonly [Script, BrokerFault['kind']])[] = [
    [(_, response) => json(response, 400, { error: 'invalid_grant' }), 'credentials_rejected'],
    [
      (_, response) => json(response, 403, { error: 'invalid_grant', error_description: 'Unknown or invalid refresh token.' }),
      'credentials_rejected'
    ],
    [(_, response) => json(response, 401, { error: 'invalid_client' }), 'refused'],
    [(_, response) => json(response, 400, { error: 'invalid_request' }), 'refused'],
    [(_, response) => json(response, 429, { error: 'invalid_grant' }, { 'retry-after': '7' }), 'rate_limited'],
    [(_, response) => json(response, 500, { error: 'invalid_grant' }), 'unreachable'],
    [(_, response) => json(response, 503, {}), 'unreachable'],
    [(_, response) => json(response, 307, { error: 'invalid_grant' }, { location: 'https://evil.example' }), 'unreachable'],
    [(_, response, request) => void (response.headersSent || request.socket.resetAndDestroy()), 'unreachable'],
    [(_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'), 'malformed'],
    [(_, response) => void response.writeHead(403, { 'content-type': 'text/html' }).end('<html>'), 'malformed'],
    [(_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{"access_tok'), 'malformed'],
    [(_, response) => json(response, 200, { token_type: 'bearer' }), 'malformed']
  ]
  for (const [index, [script, kind]] of cases.entries()) {
    await using provider = await start(script)
    await assert.rejects(provider.login.refresh({ access_token: 'x', refresh_token: 'r-secret' }, signal), (error: unknown) => {
      assert.ok(isFault(kind)(error), `case ${index}: ${error instanceof BrokerFault ? error.kind : String(error)}`)
      assert.ok(error instanceof Error && !error.message.includes('r-secret'))
      return true
    })
    assert.equal(provider.host.seen.length, 1, `case ${index}`)
  }
  await using silent = await start(() => undefined, {}, { headersMs: 100 })
  await assert.rejects(silent.login.refresh({ access_token: 'x', refresh_token: 'r' }, signal), isFault('unreachable'))
  await using provider = await start(grants)
  await assert.rejects(provider.login.refresh({ access_token: 'x' }, signal), isFault('credentials_rejected'))
})

test('revoking can be repeated without harm and reports what should be tried again', async () => {
  const credentials: Credentials = { access_token: 'at', refresh_token: 'rt' }
  await using provider = await start((_, response) => void response.writeHead(200).end())
  await provider.login.revoke(credentials, signal)
  await provider.login.revoke(credentials, signal)
  assert.deepEqual(
    provider.host.seen.map(seen => [seen.path, new URLSearchParams(seen.body).get('token')]),
    [
      ['/revoke', 'rt'],
      ['/revoke', 'rt']
    ]
  )
  provider.host.script((_, response) => json(response, 400, { error: 'invalid_token' }))
  await provider.login.revoke(credentials, signal)
  provider.host.script((_, response) => json(response, 503, {}))
  await assert.rejects(provider.login.revoke(credentials, signal), isFault('unreachable'))
  await using without = await start(grants, { revocationEndpoint: null })
  await without.login.revoke(credentials, signal)
  assert.equal(without.host.seen.length, 0)
})

test('a token endpoint on another host is never called', async () => {
  await using elsewhere = await ScriptedHost.start(grants)
  await using provider = await start(grants, { tokenEndpoint: `${elsewhere.origin}/token` })
  await assert.rejects(provider.login.complete(answer(GOOD), signal), isFault('refused'))
  assert.equal(elsewhere.seen.length, 0)
})
