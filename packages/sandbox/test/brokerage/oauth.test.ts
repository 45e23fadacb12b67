import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Answered } from '../../src/brokerage/oauth/answered.ts'
import { WrongLogins } from '../../src/brokerage/oauth/wrong-logins.ts'
import type { Brokerage } from '../../src/brokerage/start.ts'
import { authorizeUrl, Browser, bearer, Customer, control, openBrokerage, REDIRECT, SECRET, send, tokenCall, type Wire } from './support.ts'

async function walk(brokerage: Brokerage, login = brokerage.logins[0]): Promise<Wire> {
  const start = authorizeUrl(brokerage)
  const browser = new Browser()
  const loginPage = await browser.follow(start.url)
  const consent = await browser.submit(loginPage, { username: login?.username ?? '', password: login?.password ?? '', decision: 'approve' })
  const back = await browser.submit(consent, { decision: 'approve' })
  const arrived = new URL(back.location ?? assert.fail(back.text))
  assert.equal(arrived.searchParams.get('state'), start.state)
  const code = arrived.searchParams.get('code') ?? assert.fail(arrived.href)
  const answer = await tokenCall(brokerage, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: REDIRECT,
    code_verifier: start.verifier
  })
  assert.equal(answer.status, 200, answer.text)
  return answer.body
}

const refresh = (brokerage: Brokerage, token: string) => tokenCall(brokerage, { grant_type: 'refresh_token', refresh_token: token })
const me = (brokerage: Brokerage, token: string) => send(`${brokerage.url}/api/v1/me`, 'GET', undefined, bearer(token))

test('a user logs in and consents, and the application gets valid tokens', async () => {
  await using brokerage = await openBrokerage()
  const tokens = await walk(brokerage)
  assert.equal(tokens.token_type, 'Bearer')
  assert.equal(tokens.expires_in, 600)
  assert.equal(tokens.scope, 'read trade')
  const { status, body } = await me(brokerage, tokens.access_token)
  assert.equal(status, 200)
  assert.equal(body.login.username, 'alex')
  assert.deepEqual(body.scopes, ['read', 'trade'])
})

test('the pages show who requests what, and work without a script', async () => {
  await using brokerage = await openBrokerage()
  const browser = new Browser()
  const loginPage = await browser.follow(authorizeUrl(brokerage, { scope: 'read' }).url)
  assert.match(loginPage.text, /<html lang="en">[\s\S]*<strong>Trunkline<\/strong> wants to connect/)
  assert.match(loginPage.text, /<button name="decision" value="approve">[\s\S]*<button name="decision" value="decline"/)
  assert.match(String(loginPage.headers.get('content-security-policy')), /default-src 'none'.*frame-ancestors 'none'/)
  const [login] = brokerage.logins
  const consent = await browser.submit(loginPage, { username: login?.username ?? '', password: login?.password ?? '', decision: 'approve' })
  assert.match(consent.text, /See your accounts/)
  assert.doesNotMatch(consent.text, /Place, modify and cancel orders/)
  for (const page of [loginPage, consent]) {
    assert.doesNotMatch(page.text, /<script|javascript:/i)
    assert.match(page.text, /you return to Trunkline at <span class="host">127\.0\.0\.1<\/span>/)
  }
})

test('a repeated click: the login’s leads to the consent page, and the consent’s to the same code', async () => {
  await using brokerage = await openBrokerage()
  const [login] = brokerage.logins
  const filled = { username: login?.username ?? '', password: login?.password ?? '', decision: 'approve' }
  const start = authorizeUrl(brokerage)
  const browser = new Browser()
  const loginPage = await browser.follow(start.url)
  await browser.submit(loginPage, filled)
  const consent = await browser.submit(loginPage, filled)
  assert.match(consent.text, /Connect Trunkline\?/, 'nothing is allowed that was not seen')
  const [first, second] = await Promise.all([
    browser.submit(consent, { decision: 'approve' }),
    browser.submit(consent, { decision: 'approve' })
  ])
  const third = await browser.submit(consent, { decision: 'approve' })
  for (const { location } of [second, third]) assert.equal(location, first.location)
  const code = new URL(third.location ?? assert.fail(third.text)).searchParams.get('code') ?? ''
  const form = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT, code_verifier: start.verifier }
  assert.equal((await tokenCall(brokerage, form)).status, 200)
  const elsewhere = await new Browser().go(consent.url, { decision: 'approve' })
  assert.equal(elsewhere.status, 400, 'another browser is not led to the code')
})

test('a login that was completed some time ago is not answered again', () => {
  let now = 0
  const answered = new Answered(() => now)
  answered.note('old', Promise.resolve('https://app.example/'))
  assert.notEqual(answered.of('old'), null)
  now = 10_000
  assert.equal(answered.of('old'), null)
  for (let login = 0; login <= 1_000; login++) answered.note(`login-${login}`, Promise.resolve(null))
  assert.deepEqual([answered.of('login-0') === null, answered.of('login-1') === null], [true, false])
})

test('a wrong password is reported and can be corrected; the entered text is escaped', async () => {
  await using brokerage = await openBrokerage()
  const browser = new Browser()
  const loginPage = await browser.follow(authorizeUrl(brokerage).url)
  const again = await browser.submit(loginPage, { username: '"><b>alex', password: 'wrong', decision: 'approve' })
  assert.match(again.text, /role="alert"[^>]*>The username or the password is wrong/)
  assert.match(again.text, /value="&quot;&gt;&lt;b&gt;alex"/)
  const [login] = brokerage.logins
  const consent = await browser.submit(again, { username: login?.username ?? '', password: login?.password ?? '', decision: 'approve' })
  assert.match(consent.text, /Connect Trunkline\?/)
})

test('a wrong password leads to a page loaded by GET, so that a reload sends no password', async () => {
  await using brokerage = await openBrokerage()
  const browser = new Browser()
  const loginPage = await browser.follow(authorizeUrl(brokerage).url)
  const other = await new Browser().follow(authorizeUrl(brokerage).url)
  const again = await browser.submit(loginPage, { username: 'alex', password: 'wrong', decision: 'approve' })
  assert.deepEqual([again.status, again.url], [200, loginPage.url])
  for (const page of [again, await browser.follow(loginPage.url)]) {
    assert.match(page.text, /role="alert"/)
    assert.match(page.text, /name="username" value="alex"/)
    assert.doesNotMatch(page.text, /wrong"/, 'the password is on no page')
  }
  assert.doesNotMatch(other.text, /role="alert"/, 'another login flow shows nothing of it')
})

test('of many failed login flows, the oldest are forgotten', () => {
  const wrong = new WrongLogins()
  for (let walk = 0; walk <= 1_000; walk++) wrong.note(`walk-${walk}`, `name-${walk}`)
  assert.deepEqual([wrong.of('walk-0'), wrong.of('walk-1'), wrong.of('walk-1000')], [null, 'name-1', 'name-1000'])
})

test('declining on either page sends the user back with access_denied', async () => {
  await using brokerage = await openBrokerage()
  for (const logsInFirst of [false, true]) {
    const start = authorizeUrl(brokerage)
    const browser = new Browser()
    let page = await browser.follow(start.url)
    const [login] = brokerage.logins
    if (logsInFirst)
      page = await browser.submit(page, { username: login?.username ?? '', password: login?.password ?? '', decision: 'approve' })
    const back = new URL((await browser.submit(page, { decision: 'decline' })).location ?? '')
    assert.equal(`${back.origin}${back.pathname}`, REDIRECT)
    assert.equal(back.searchParams.get('error'), 'access_denied')
    assert.equal(back.searchParams.get('state'), start.state)
  }
})

test('a browser that has connected before must log in again, and may be another user', async () => {
  await using brokerage = await openBrokerage()
  const browser = new Browser()
  for (const login of brokerage.logins) {
    const loginPage = await browser.follow(authorizeUrl(brokerage).url)
    const consent = await browser.submit(loginPage, { ...login, decision: 'approve' })
    assert.match(consent.text, login.username === 'alex' ? /Alex Morgan/ : /Robin Okafor/)
    const back = await browser.submit(consent, { decision: 'approve' })
    assert.ok(new URL(back.location ?? '').searchParams.get('code'))
  }
})

test('PKCE with S256 is required [S11]', async () => {
  await using brokerage = await openBrokerage()
  const without = { code_challenge: null, code_challenge_method: null }
  for (const change of [without, { code_challenge_method: 'plain' }]) {
    const back = new URL((await new Browser().follow(authorizeUrl(brokerage, change).url)).location ?? '')
    assert.equal(back.searchParams.get('error'), 'invalid_request')
  }
  const start = authorizeUrl(brokerage)
  const browser = new Browser()
  const consent = await browser.submit(await browser.follow(start.url), { ...brokerage.logins[0], decision: 'approve' })
  const code = new URL((await browser.submit(consent, { decision: 'approve' })).location ?? '').searchParams.get('code') ?? ''
  const wrong = await tokenCall(brokerage, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: REDIRECT,
    code_verifier: 'x'.repeat(43)
  })
  assert.equal(wrong.status, 400)
  assert.equal(wrong.body.error, 'invalid_grant')
})

test('redirect addresses must match exactly, except for the port on loopback', async () => {
  await using brokerage = await openBrokerage({ redirectUris: [REDIRECT, 'https://platform.example/callback'] })
  const outcome = async (uri: string) => (await new Browser().follow(authorizeUrl(brokerage, { redirect_uri: uri }).url)).status
  assert.equal(await outcome('http://127.0.0.1:4567/connect/callback/sandbox'), 200)
  assert.equal(await outcome('https://platform.example/callback'), 200)
  for (const uri of [
    'http://127.0.0.1/connect/callback/sandbox/more',
    'http://127.0.0.1/connect/callback/sandbox?x=1',
    'https://127.0.0.1/connect/callback/sandbox',
    'http://127.0.0.2/connect/callback/sandbox',
    'https://platform.example:444/callback',
    'https://platform.example.evil/callback',
    'javascript:alert(1)'
  ]) {
    assert.equal(await outcome(uri), 400, uri)
  }
})

test('a code works once; a second use ends the grant', async () => {
  await using brokerage = await openBrokerage()
  const start = authorizeUrl(brokerage)
  const browser = new Browser()
  const consent = await browser.submit(await browser.follow(start.url), { ...brokerage.logins[0], decision: 'approve' })
  const code = new URL((await browser.submit(consent, { decision: 'approve' })).location ?? '').searchParams.get('code') ?? ''
  const form = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT, code_verifier: start.verifier }
  const tokens = (await tokenCall(brokerage, form)).body
  assert.equal((await tokenCall(brokerage, form)).body.error, 'invalid_grant')
  assert.equal((await me(brokerage, tokens.access_token)).status, 401)
})

test('each refresh rotates the token; a spent refresh token ends the grant', async () => {
  await using brokerage = await openBrokerage()
  const first = await walk(brokerage)
  const second = (await refresh(brokerage, first.refresh_token)).body
  assert.notEqual(second.refresh_token, first.refresh_token)
  assert.equal((await me(brokerage, second.access_token)).status, 200)
  const reused = await refresh(brokerage, first.refresh_token)
  assert.equal(reused.status, 400)
  assert.equal(reused.body.error, 'invalid_grant')
  assert.equal((await me(brokerage, second.access_token)).status, 401)
  assert.equal((await refresh(brokerage, second.refresh_token)).body.error, 'invalid_grant')
})

test('within the grace period a refresh can be repeated after a lost answer', async () => {
  await using brokerage = await openBrokerage({ refreshGraceMs: 60_000 })
  const first = await walk(brokerage)
  await control(brokerage, 'POST', '/faults', { on: 'token', do: 'lose_answer', times: 1 })
  await assert.rejects(refresh(brokerage, first.refresh_token))
  const second = await refresh(brokerage, first.refresh_token)
  assert.equal(second.status, 200)
  assert.equal((await me(brokerage, second.body.access_token)).status, 200)
})

test('without a grace period, a lost refresh answer ends the grant', async () => {
  await using brokerage = await openBrokerage()
  const first = await walk(brokerage)
  await control(brokerage, 'POST', '/faults', { on: 'token', do: 'lose_answer', times: 1 })
  await assert.rejects(refresh(brokerage, first.refresh_token))
  assert.equal((await refresh(brokerage, first.refresh_token)).body.error, 'invalid_grant')
})

test('revoking a refresh token ends the access tokens of its grant and no others', async () => {
  await using brokerage = await openBrokerage()
  const [mine, other] = [await walk(brokerage), await walk(brokerage)]
  assert.equal((await tokenCall(brokerage, { token: mine.refresh_token }, '/oauth/token/revocation')).status, 200)
  assert.equal((await me(brokerage, mine.access_token)).body.error.code, 'token_invalid')
  assert.equal((await me(brokerage, other.access_token)).status, 200)
})

test('the control API revokes a login at once, or only its refresh tokens', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  await control(brokerage, 'POST', '/logins/alex/revoke', { refresh_only: true })
  assert.equal((await me(brokerage, alex.token)).status, 200)
  assert.equal((await refresh(brokerage, alex.refreshToken)).body.error, 'invalid_grant')
  await control(brokerage, 'POST', '/logins/alex/revoke')
  assert.equal((await me(brokerage, alex.token)).status, 401)
})

test('access tokens expire', async () => {
  let now = Date.now()
  const { startBrokerage } = await import('../../src/brokerage/start.ts')
  await using brokerage = await startBrokerage({ clientSecret: SECRET, accessTtlS: 5 }, { realNow: () => now })
  const alex = await Customer.of(brokerage)
  assert.equal((await me(brokerage, alex.token)).status, 200)
  now += 5_001
  assert.equal((await me(brokerage, alex.token)).body.error.code, 'token_invalid')
})

test('a wrong client secret is refused and the discovery document is served', async () => {
  await using brokerage = await openBrokerage()
  const form = new URLSearchParams({
    grant_type: 'refresh_token',
    refresh_token: 'x',
    client_id: brokerage.clientId,
    client_secret: 'not-the-secret'
  })
  const refused = await fetch(`${brokerage.url}/oauth/token`, { method: 'POST', body: form })
  assert.equal(refused.status, 401)
  const found = (await send(`${brokerage.url}/oauth/.well-known/openid-configuration`, 'GET')).body
  assert.equal(found.issuer, `${brokerage.url}/oauth`)
  assert.equal(found.token_endpoint, `${brokerage.url}/oauth/token`)
  assert.equal(found.revocation_endpoint, `${brokerage.url}/oauth/token/revocation`)
  assert.deepEqual(found.code_challenge_methods_supported, ['S256'])
})

test('a login flow belongs to the browser that began it', async () => {
  await using brokerage = await openBrokerage()
  const loginPage = await new Browser().follow(authorizeUrl(brokerage).url)
  const elsewhere = await new Browser().go(loginPage.url)
  assert.equal(elsewhere.status, 400)
  assert.match(elsewhere.text, /Login failed/)
})
