// Whom a login provider proves, and what it cannot make us believe: a real provider, whose answers are changed.
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { after, before, beforeEach, describe, test } from 'node:test'
import { CLIENT, type Claims, TestLoginProvider } from '@trunkline/testkit/login-provider'
import { PATIENCE_MS } from '@trunkline/testkit/patience'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import { LoginRefused, ProviderUnavailable } from '../../src/oidc/faults.ts'
import type { ProviderOptions } from '../../src/oidc/options.ts'
import { LoginProvider, type LoginSecrets } from '../../src/oidc/provider.ts'
import { ProviderHttp } from '../../src/oidc/provider-http.ts'
import { RandomIds } from '../../src/ops/ids.ts'
import { providerClock } from './clock.ts'

const REDIRECT = 'http://127.0.0.1:8080/admin/v1/oidc/callback'
const ids = new RandomIds()
const secrets = (): LoginSecrets => ({ state: ids.secret(''), nonce: ids.secret(''), verifier: ids.secret('') })
const over = (issuer: string, more: Partial<ProviderOptions> = {}) => ({
  ...{ issuer, clientId: CLIENT.id, clientSecret: CLIENT.secret, request: 'openid email groups' },
  requestMs: PATIENCE_MS,
  ...{ operatorClaim: 'email', grantClaim: 'groups', ...more }
})
const unavailable = (message: RegExp) => (error: unknown) => error instanceof ProviderUnavailable && message.test(error.message)
const refused = (message: RegExp) => (error: unknown) => error instanceof LoginRefused && message.test(error.message)

describe('a login provider', () => {
  let kit: TestLoginProvider
  let provider: LoginProvider
  let clock: VirtualClock
  const ADA: Claims = { sub: 'ada', email: 'ada@example.com', email_verified: true, groups: ['traders', 'staff'] }
  before(async () => {
    kit = await TestLoginProvider.start()
  })
  after(() => kit[Symbol.asyncDispose]())
  beforeEach(context => {
    kit.identity = ADA
    kit.twists.clear()
    kit.requested.length = 0
    clock = new VirtualClock()
    provider = new LoginProvider(over(kit.issuer), providerClock(clock))
    if ('after' in context) context.after(() => provider[Symbol.asyncDispose]())
  })

  /** What the provider sends a browser back with. */
  async function answered(login: LoginSecrets): Promise<string> {
    return new URL(await kit.logIn(await provider.begin(REDIRECT, login))).search
  }

  /** A whole login. */
  async function loggedIn(login = secrets()) {
    return provider.complete(REDIRECT, await answered(login), login)
  }

  test('proves a person by the claims of the ID token', async () => {
    assert.deepEqual(await loggedIn(), {
      ...{ host: new URL(kit.issuer).host, subject: 'ada', name: 'ada@example.com' },
      ...{ grantClaim: 'groups', values: ['traders', 'staff'] }
    })
    assert.ok(!kit.requested.includes('/me'))
  })

  test('sends the code challenge and never the verifier, the nonce and the exact address', async () => {
    const login = secrets()
    const url = new URL(await provider.begin(REDIRECT, login))
    const { searchParams: sent } = url
    assert.deepEqual(
      [sent.get('response_type'), sent.get('code_challenge_method'), sent.get('redirect_uri'), sent.get('nonce'), sent.get('state')],
      ['code', 'S256', REDIRECT, login.nonce, login.state]
    )
    assert.ok(!url.href.includes(login.verifier))
  })

  test('refuses what belongs to another login: the state, the nonce, the verifier, and a code that was used [S88]', async () => {
    const login = secrets()
    const answer = await answered(login)
    await assert.rejects(provider.complete(REDIRECT, answer, { ...login, state: secrets().state }), LoginRefused)
    assert.ok(!kit.requested.includes('/token'), 'a wrong state is seen before the code is sent anywhere')
    await assert.rejects(provider.complete(REDIRECT, await answered(login), { ...login, verifier: secrets().verifier }), LoginRefused)
    await assert.rejects(provider.complete(REDIRECT, await answered(login), { ...login, nonce: secrets().nonce }), refused(/JWT_CLAIM/))
    await provider.complete(REDIRECT, answer, login)
    await assert.rejects(provider.complete(REDIRECT, answer, login), refused(/invalid_grant/))
  })

  test('refuses an answer of another issuer, and one without an issuer where the provider names it [S89]', async () => {
    const login = secrets()
    const answer = new URLSearchParams(await answered(login))
    for (const iss of ['https://evil.example', `${kit.issuer}/`, null]) {
      const other = new URLSearchParams(answer)
      if (iss === null) other.delete('iss')
      else other.set('iss', iss)
      await assert.rejects(provider.complete(REDIRECT, `?${other}`, login), LoginRefused)
    }
    assert.ok(!kit.requested.includes('/token'))
  })

  test('refuses a parameter sent twice, a code with an error, and neither', async () => {
    const login = secrets()
    const answer = await answered(login)
    for (const wrong of [`${answer}&code=x`, `${answer}&state=x`, `${answer}&iss=x`])
      await assert.rejects(provider.complete(REDIRECT, wrong, login), refused(/more than once/))
    for (const wrong of [`${answer}&error=x`, `?state=${login.state}`, ''])
      await assert.rejects(provider.complete(REDIRECT, wrong, login), refused(/neither a code nor an error alone/))
    await assert.rejects(
      provider.complete(REDIRECT, `?error=access_denied&state=${login.state}&iss=${kit.issuer}`, login),
      refused(/access_denied/)
    )
  })

  const now = () => Math.floor(Date.now() / 1_000)
  const { privateKey: otherKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const lies: readonly (readonly [what: string, code: RegExp, lie: (claims: Claims) => string])[] = [
    ['of another issuer', /CLAIM_COMPARISON/, claims => kit.idToken({ ...claims, iss: 'https://evil.example' })],
    ['for another client', /CLAIM_COMPARISON/, claims => kit.idToken({ ...claims, aud: 'another-client' })],
    ['that expired', /TIMESTAMP/, claims => kit.idToken({ ...claims, iat: now() - 7_200, exp: now() - 3_600 })],
    ['that is of the future', /issued in the future/, claims => kit.idToken({ ...claims, iat: now() + 3_600, exp: now() + 7_200 })],
    ['that does not say when it was issued', /INVALID_RESPONSE|issued in the future/, ({ iat: _, ...claims }) => kit.idToken(claims)],
    ['issued to another client', /another client/, claims => kit.idToken({ ...claims, azp: 'another-client' })],
    ['issued to no client that has a name', /another client/, claims => kit.idToken({ ...claims, azp: 7 })],
    ['without a nonce', /INVALID_RESPONSE/, ({ nonce: _, ...claims }) => kit.idToken(claims)],
    ['without a signature (alg none)', /UNSUPPORTED/, claims => kit.idToken(claims, { alg: 'none' }, null)],
    ['signed with the client secret (HS256)', /UNSUPPORTED/, claims => kit.idToken(claims, { alg: 'HS256' }, CLIENT.secret)],
    ['signed by another key', /INVALID_RESPONSE/, claims => kit.idToken(claims, { alg: 'ES256', kid: 'first' }, otherKey)],
    ['of a key that is not the provider’s', /./, claims => kit.idToken(claims, { alg: 'ES256', kid: 'other' }, otherKey)],
    ['whose claims were changed', /INVALID_RESPONSE/, claims => withOtherClaims(kit.idToken(claims), { ...claims, groups: ['admins'] })],
    ['that is none', /PARSE_ERROR|INVALID_RESPONSE/, () => 'none']
  ]
  for (const [what, code, lie] of lies) {
    test(`refuses an ID token ${what} [S90]`, async () => {
      // The provider may even announce such signatures.
      kit.twists.set('discovery', body => ({ ...body, id_token_signing_alg_values_supported: ['ES256', 'HS256', 'none'] }))
      kit.lieInToken(lie)
      await assert.rejects(loggedIn(), refused(code))
    })
  }

  test('an ID token may be half a minute late, or early, as clocks differ', async () => {
    kit.lieInToken(claims => kit.idToken({ ...claims, iat: now() - 600, exp: now() - 10 }))
    assert.equal((await loggedIn()).subject, 'ada')
    kit.lieInToken(claims => kit.idToken({ ...claims, iat: now() + 10, exp: now() + 600, azp: CLIENT.id }))
    assert.equal((await loggedIn()).subject, 'ada')
  })

  test('refuses an answer without an ID token', async () => {
    kit.twists.set('token', ({ id_token: _, ...body }) => body)
    await assert.rejects(loggedIn(), LoginRefused)
  })

  test('refuses an email address that is not verified, and a person without the claim that names operators [S93]', async () => {
    kit.identity = { ...ADA, email_verified: false }
    await assert.rejects(loggedIn(), refused(/verified/))
    for (const email of [undefined, 7, 'a\nb', ''] as const) {
      kit.identity = { ...ADA, email }
      await assert.rejects(loggedIn(), refused(/claim email/))
    }
    kit.identity = { ...ADA, groups: undefined }
    assert.deepEqual((await loggedIn()).values, [])
    kit.identity = { ...ADA, groups: { admins: true } }
    assert.deepEqual((await loggedIn()).values, [])
  })

  test('gives up on an answer that is too large, wherever it is [S91]', async () => {
    const huge = () => ({ filler: 'x'.repeat(300_000) })
    for (const answer of ['token', 'jwks'] as const) {
      kit.twists.clear()
      kit.twists.set(answer, huge)
      await using fresh = new LoginProvider(over(kit.issuer), providerClock(clock))
      const login = secrets()
      const { search } = new URL(await kit.logIn(await fresh.begin(REDIRECT, login)))
      await assert.rejects(fresh.complete(REDIRECT, search, login), unavailable(/more than 262144 bytes/))
    }
    kit.twists.set('discovery', huge)
    await using fresh = new LoginProvider(over(kit.issuer), providerClock(clock))
    await assert.rejects(fresh.begin(REDIRECT, secrets()), unavailable(/more than 262144 bytes/))
  })

  test('does not take a discovery document of another issuer, or one that leads off https [S91]', async () => {
    for (const [twist, message] of [
      [{ issuer: 'https://evil.example' }, /JSON_ATTRIBUTE/],
      [{ authorization_endpoint: 'http://evil.example/auth' }, /authorization_endpoint/]
    ] as const) {
      kit.twists.set('discovery', body => ({ ...body, ...twist }))
      await using fresh = new LoginProvider(over(kit.issuer), providerClock(clock))
      await assert.rejects(fresh.begin(REDIRECT, secrets()), unavailable(message))
    }
    kit.twists.clear()
    await using slash = new LoginProvider(over(`${kit.issuer}/`), providerClock(clock))
    await assert.rejects(slash.begin(REDIRECT, secrets()), unavailable(/calls itself/))
  })

  const ADDRESSES = ['authorization_endpoint', 'token_endpoint', 'jwks_uri', 'userinfo_endpoint', 'end_session_endpoint']
  for (const name of ADDRESSES) {
    test(`does not keep a discovery document whose ${name} cannot be used [S91]`, async () => {
      const isNeeded = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'].includes(name)
      for (const address of ['http://evil.example/x', 'javascript:x', '/token', '', 7, null, ...(isNeeded ? [undefined] : [])]) {
        kit.twists.set('discovery', body => ({ ...body, [name]: address }))
        await assert.rejects(
          provider.begin(REDIRECT, secrets()),
          unavailable(/sent an answer|names no address that can be used/),
          String(address)
        )
        await clock.advance(2_000)
      }
      kit.twists.clear()
      assert.equal((await loggedIn()).subject, 'ada')
    })
  }

  test('takes a discovery document without addresses that are not needed', async () => {
    kit.twists.set('discovery', ({ userinfo_endpoint: _, end_session_endpoint: _more, ...body }) => body)
    assert.equal((await loggedIn()).subject, 'ada')
  })

  test('reads discovery once an hour, and a provider that fails once in two seconds', async () => {
    const reads = () => kit.requested.filter(path => path.startsWith('/.well-known/')).length
    await Promise.all([1, 2, 3].map(() => provider.begin(REDIRECT, secrets())))
    await loggedIn()
    assert.equal(reads(), 1)
    await clock.advance(3_600_000)
    kit.twists.set('discovery', () => ({}))
    await assert.rejects(provider.begin(REDIRECT, secrets()), ProviderUnavailable)
    await assert.rejects(provider.begin(REDIRECT, secrets()), ProviderUnavailable)
    assert.equal(reads(), 2)
    kit.twists.clear()
    await clock.advance(2_000)
    await provider.begin(REDIRECT, secrets())
    assert.equal(reads(), 3)
  })

  test('says what is wrong when the client secret is', async () => {
    await using wrong = new LoginProvider(over(kit.issuer, { clientSecret: 'wrong' }), providerClock(clock))
    const login = secrets()
    const { search } = new URL(await kit.logIn(await wrong.begin(REDIRECT, login)))
    await assert.rejects(wrong.complete(REDIRECT, search, login), unavailable(/TRUNKLINE_OIDC_CLIENT_SECRET/))
  })
})

test('claims that only UserInfo has are read there, of the same person only', async context => {
  const kit = await TestLoginProvider.start('userinfo')
  const provider = new LoginProvider(over(kit.issuer), providerClock(new VirtualClock()))
  context.after(async () => {
    await provider[Symbol.asyncDispose]()
    await kit[Symbol.asyncDispose]()
  })
  const loggedIn = async () => {
    const login = secrets()
    const { search } = new URL(await kit.logIn(await provider.begin(REDIRECT, login)))
    return provider.complete(REDIRECT, search, login)
  }
  assert.deepEqual((await loggedIn()).values, ['traders'])
  kit.twists.set('userinfo', body => ({ ...body, sub: 'somebody else' }))
  await assert.rejects(loggedIn(), LoginRefused)
})

test('a provider that says nothing, answers with an error, redirects or is not there cannot be used [S91]', async context => {
  let answer: 'silence' | '500' | 'redirect' = 'silence'
  const server = createServer((_request, response) => {
    if (answer === '500') response.writeHead(500).end()
    else if (answer === 'redirect') response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  context.after(() => server.closeAllConnections())
  context.after(() => server.close())
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  const why = async (port: number, requestMs = PATIENCE_MS) => {
    await using provider = new LoginProvider(over(`http://127.0.0.1:${port}`, { requestMs }), providerClock(new VirtualClock()))
    return await provider.begin(REDIRECT, secrets()).then(
      () => 'began',
      (error: unknown) => (error instanceof ProviderUnavailable ? error.message : error)
    )
  }
  assert.equal(await why(address.port, 50), 'did not answer in time')
  answer = '500'
  assert.equal(await why(address.port), 'answered with the status 500')
  answer = 'redirect'
  assert.equal(await why(address.port), 'sent an answer that cannot be used (OAUTH_RESPONSE_IS_NOT_CONFORM)')
  assert.equal(await why(9), 'did not answer (ECONNREFUSED)')
})

test('an answer is read as it came: one that is said to be encoded, or is no text, is not taken [S91]', async context => {
  let [encoding, body]: [string | null, Uint8Array] = [null, Buffer.from('{}')]
  const server = createServer((_request, response) =>
    response.writeHead(200, encoding === null ? {} : { 'content-encoding': encoding }).end(body)
  ).listen(0, '127.0.0.1')
  await once(server, 'listening')
  await using http = new ProviderHttp(PATIENCE_MS)
  context.after(() => server.closeAllConnections())
  context.after(() => server.close())
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  const url = `http://127.0.0.1:${address.port}/`
  const asked = () => http.fetch(url, { method: 'GET', headers: {}, body: undefined, redirect: 'manual' })
  assert.equal(await (await asked()).text(), '{}')
  encoding = 'gzip'
  await assert.rejects(asked(), unavailable(/encoded answer/))
  ;[encoding, body] = [null, Uint8Array.of(0x7b, 0xff, 0x7d)]
  await assert.rejects(asked(), unavailable(/encoded answer/))
})

/** The token with its signature, and other claims. */
function withOtherClaims(token: string, claims: Claims): string {
  const [header = '', , signature = ''] = token.split('.')
  return `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${signature}`
}
