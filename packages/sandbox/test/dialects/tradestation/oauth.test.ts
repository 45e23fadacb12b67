import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { House } from '../../../src/house/start.ts'
import { Browser, bearer, control, SECRET, send, type Wire } from '../../house/support.ts'
import { Client, openHouse, REDIRECT } from './support.ts'

const AUDIENCE = 'https://api.tradestation.com'
const SCOPES = 'openid offline_access profile MarketData ReadAccount Trade'

test('a person logs in and consents, and the code is exchanged once', async () => {
  await using house = await openHouse()
  const { code, state } = await walked(house)
  assert.equal(state, 'a-state')
  const form = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT }
  const { status, body } = await token(house, form)
  assert.equal(status, 200)
  assert.deepEqual([body.token_type, body.expires_in, body.scope], ['Bearer', 1200, SCOPES])
  assert.equal(body.id_token.split('.').length, 3)
  assert.equal((await accounts(house, body.access_token)).status, 200)
  const again = await token(house, form)
  assert.deepEqual([again.status, again.body.error], [403, 'invalid_grant'])
})

test('an authorization request is refused on the page, unless it is whole', async () => {
  await using house = await openHouse()
  const wrong: readonly Readonly<Record<string, string | null>>[] = [
    { audience: null },
    { audience: 'https://elsewhere.example' },
    { client_id: 'somebody' },
    { redirect_uri: 'https://elsewhere.example/callback' },
    { scope: 'MarketData' },
    { scope: 'openid marketdata' },
    { response_type: 'token' }
  ]
  for (const change of wrong) {
    const page = await new Browser().go(authorizeUrl(house, change))
    assert.equal(page.status, 400, JSON.stringify(change))
    assert.equal(page.location, null)
  }
  const anyPort = await new Browser().follow(authorizeUrl(house, { redirect_uri: 'http://127.0.0.1:31022/connect/callback/tradestation' }))
  assert.equal(anyPort.status, 200)
})

test('a click that comes twice: the login’s leads to the question, and the answer’s to the same code', async () => {
  await using house = await openHouse()
  const browser = new Browser()
  const loginPage = await browser.follow(authorizeUrl(house))
  const filled = { ...house.logins[0], decision: 'approve' }
  await browser.submit(loginPage, filled)
  const consent = await browser.submit(loginPage, filled)
  assert.match(consent.text, /Connect Trunkline\?/, 'nothing is allowed that was not seen')
  assert.match(consent.text, /<strong>TradeStation<\/strong>/)
  const first = await browser.submit(consent, { decision: 'approve' })
  const second = await browser.submit(consent, { decision: 'approve' })
  assert.ok(new URL(first.location ?? '').searchParams.get('code'))
  assert.equal(second.location, first.location)
})

test('a person who declines comes back with access_denied', async () => {
  await using house = await openHouse()
  const browser = new Browser()
  const page = await browser.follow(authorizeUrl(house))
  const { location } = await browser.submit(page, { decision: 'decline' })
  const { searchParams } = new URL(location ?? assert.fail('no redirect'))
  assert.deepEqual([searchParams.get('error'), searchParams.get('state')], ['access_denied', 'a-state'])
})

test('without offline_access there is no refresh token', async () => {
  await using house = await openHouse()
  const { code } = await walked(house, { scope: 'openid ReadAccount' })
  const { body } = await token(house, { grant_type: 'authorization_code', code, redirect_uri: REDIRECT })
  assert.equal(body.refresh_token, undefined)
})

test('a refresh keeps the refresh token, by default', async () => {
  await using house = await openHouse()
  const client = await Client.of(house)
  for (let nth = 0; nth < 3; nth++) {
    const { status, body } = await refresh(house, client.refreshToken)
    assert.equal(status, 200)
    assert.equal(body.refresh_token, undefined)
    assert.equal((await accounts(house, body.access_token)).status, 200)
  }
})

test('keys that rotate: each refresh brings another token, and one used twice ends the family', async () => {
  await using house = await openHouse({ options: { rotation: true } })
  const client = await Client.of(house)
  const first = await refresh(house, client.refreshToken)
  assert.ok(first.body.refresh_token)
  const second = await refresh(house, first.body.refresh_token)
  assert.notEqual(second.body.refresh_token, first.body.refresh_token)
  const stolen = await refresh(house, first.body.refresh_token)
  assert.deepEqual([stolen.status, stolen.body.error], [403, 'invalid_grant'])
  assert.equal((await refresh(house, second.body.refresh_token)).status, 403)
})

test('the control API switches the rotation of refresh tokens', async () => {
  await using house = await openHouse()
  const client = await Client.of(house)
  const { dialect } = await control(house, 'PUT', '/dialects/tradestation', { rotation: true, quota_percent: 100 })
  assert.deepEqual([dialect.limits.rotation, dialect.limits.quota_percent, dialect.limits.stream_percent], [true, 100, 100])
  const { body } = await refresh(house, client.refreshToken)
  assert.ok(body.refresh_token)
  assert.equal((await refresh(house, client.refreshToken)).status, 403)
  await assert.rejects(control(house, 'PUT', '/dialects/tradestation', { oddity_chance: 257 }), /400/)
  await control(house, 'POST', '/reset')
  const { items } = await control(house, 'GET', '/dialects')
  assert.deepEqual([items[0].limits.rotation, items[0].limits.quota_percent], [false, 2000])
})

test('wrong clients and unknown tokens are told apart', async () => {
  await using house = await openHouse()
  const client = await Client.of(house)
  const wrong = await post(house, 'token', { grant_type: 'refresh_token', refresh_token: client.refreshToken, client_secret: 'wrong' })
  assert.deepEqual([wrong.status, wrong.body.error], [401, 'access_denied'])
  const unknown = await refresh(house, 'nobody-has-this')
  assert.deepEqual(unknown.body, { error: 'invalid_grant', error_description: 'Unknown or invalid refresh token.' })
})

test('a revocation ends every refresh token of the login, and no access token', async () => {
  await using house = await openHouse()
  const client = await Client.of(house)
  const other = await Client.of(house)
  const stranger = await Client.of(house, 'robin')
  const url = `${house.url}/tradestation/oauth/revoke`
  const { status, text } = await send(url, 'POST', { client_id: house.clientId, client_secret: SECRET, token: client.refreshToken })
  assert.deepEqual([status, text], [200, ''])
  assert.equal((await refresh(house, client.refreshToken)).body.error, 'invalid_grant')
  assert.equal((await refresh(house, other.refreshToken)).body.error, 'invalid_grant')
  assert.equal((await refresh(house, stranger.refreshToken)).status, 200)
  assert.equal((await client.get('/brokerage/accounts')).status, 200)
})

test('an access token ends after its time; one that was never given is refused alike', async () => {
  let now = Date.UTC(2026, 9, 12, 15)
  await using house = await openHouse({ deps: { realNow: () => now } })
  const client = await Client.of(house)
  now += 1_199_000
  assert.equal((await client.get('/brokerage/accounts')).status, 200)
  now += 1_000
  const { status, body } = await client.get('/brokerage/accounts')
  assert.deepEqual([status, body.Error], [401, 'Unauthorized'])
  assert.equal((await accounts(house, 'eyJ-nobody')).status, 401)
  assert.equal((await send(client.url('/brokerage/accounts'), 'GET')).status, 401)
})

test('what a token was not granted for is forbidden', async () => {
  await using house = await openHouse()
  const reader = await Client.of(house, 'alex', ['read'])
  const { status, body } = await reader.place()
  assert.deepEqual([status, body.Error], [403, 'Forbidden'])
  assert.equal((await reader.get('/brokerage/accounts')).status, 200)
})

test('the control API can end a login, and make the token endpoint fail', async () => {
  await using house = await openHouse()
  const client = await Client.of(house)
  await control(house, 'POST', '/faults', { on: 'token', do: 'status', status: 503, times: 1 })
  assert.equal((await refresh(house, client.refreshToken)).status, 503)
  assert.equal((await refresh(house, client.refreshToken)).status, 200)
  await control(house, 'POST', '/logins/alex/revoke', { refresh_only: true })
  assert.equal((await refresh(house, client.refreshToken)).status, 403)
  assert.equal((await client.get('/brokerage/accounts')).status, 200)
  await control(house, 'POST', '/logins/alex/revoke', {})
  assert.equal((await client.get('/brokerage/accounts')).status, 401)
})

test('tokens live through a restart', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'tradestation-'))
  const first = await openHouse({ config: { dataDir } })
  const { refreshToken, token: access } = await Client.of(first)
  await first.close()
  await using second = await openHouse({ config: { dataDir } })
  assert.equal((await refresh(second, refreshToken)).status, 200)
  assert.equal((await accounts(second, access)).status, 200)
})

function authorizeUrl(house: House, change: Readonly<Record<string, string | null>> = {}): string {
  const parameters: Record<string, string | null> = {
    response_type: 'code',
    client_id: house.clientId,
    audience: AUDIENCE,
    redirect_uri: REDIRECT,
    scope: SCOPES,
    state: 'a-state',
    ...change
  }
  const query = new URLSearchParams(Object.entries(parameters).flatMap(([name, value]) => (value === null ? [] : [[name, value]])))
  return `${house.url}/tradestation/authorize?${query}`
}

async function walked(house: House, change: Readonly<Record<string, string | null>> = {}): Promise<{ code: string; state: string | null }> {
  const browser = new Browser()
  const { username = '', password = '' } = house.logins[0] ?? {}
  const login = await browser.follow(authorizeUrl(house, change))
  const consent = await browser.submit(login, { username, password, decision: 'approve' })
  const { location } = await browser.submit(consent, { decision: 'approve' })
  const { searchParams } = new URL(location ?? assert.fail('no redirect'))
  return { code: searchParams.get('code') ?? '', state: searchParams.get('state') }
}

async function post(house: House, path: string, form: Readonly<Record<string, string>>): Promise<{ status: number; body: Wire }> {
  const body = new URLSearchParams({ client_id: house.clientId, client_secret: SECRET, ...form })
  const response = await fetch(`${house.url}/tradestation/oauth/${path}`, { method: 'POST', body })
  return { status: response.status, body: await response.json().catch(() => undefined) }
}

const token = (house: House, form: Readonly<Record<string, string>>) => post(house, 'token', form)
const refresh = (house: House, refreshToken: string) => token(house, { grant_type: 'refresh_token', refresh_token: refreshToken })
const accounts = (house: House, access: string) => send(`${house.url}/tradestation/v3/brokerage/accounts`, 'GET', undefined, bearer(access))
