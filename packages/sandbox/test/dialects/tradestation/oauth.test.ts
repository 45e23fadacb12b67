import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Brokerage } from '../../../src/brokerage/start.ts'
import { Browser, bearer, SECRET, send, type Wire } from '../../brokerage/support.ts'
import { Client, openBrokerage, REDIRECT } from './support.ts'

const AUDIENCE = 'https://api.tradestation.com'
const SCOPES = 'openid offline_access profile MarketData ReadAccount Trade'

test('an invalid authorization request shows an error page', async () => {
  await using brokerage = await openBrokerage()
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
    const page = await new Browser().go(authorizeUrl(brokerage, change))
    assert.equal(page.status, 400, JSON.stringify(change))
    assert.equal(page.location, null)
  }
  const anyPort = await new Browser().follow(
    authorizeUrl(brokerage, { redirect_uri: 'http://127.0.0.1:31022/connect/callback/tradestation' })
  )
  assert.equal(anyPort.status, 200)
})

test('without offline_access there is no refresh token', async () => {
  await using brokerage = await openBrokerage()
  const { code } = await walked(brokerage, { scope: 'openid ReadAccount' })
  const { body } = await token(brokerage, { grant_type: 'authorization_code', code, redirect_uri: REDIRECT })
  assert.equal(body.refresh_token, undefined)
})

test('wrong clients and unknown tokens are distinguished', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const wrong = await post(brokerage, 'token', { grant_type: 'refresh_token', refresh_token: client.refreshToken, client_secret: 'wrong' })
  assert.deepEqual([wrong.status, wrong.body.error], [401, 'access_denied'])
  const unknown = await refresh(brokerage, 'nobody-has-this')
  assert.deepEqual(unknown.body, { error: 'invalid_grant', error_description: 'Unknown or invalid refresh token.' })
})

test('a revocation ends every refresh token of the login, and no access token', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const other = await Client.of(brokerage)
  const robin = await Client.of(brokerage, 'robin')
  const url = `${brokerage.url}/tradestation/oauth/revoke`
  const { status, text } = await send(url, 'POST', { client_id: brokerage.clientId, client_secret: SECRET, token: client.refreshToken })
  assert.deepEqual([status, text], [200, ''])
  assert.equal((await refresh(brokerage, client.refreshToken)).body.error, 'invalid_grant')
  assert.equal((await refresh(brokerage, other.refreshToken)).body.error, 'invalid_grant')
  assert.equal((await refresh(brokerage, robin.refreshToken)).status, 200)
  assert.equal((await client.get('/brokerage/accounts')).status, 200)
})

test('expired and unknown access tokens are refused alike', async () => {
  let now = Date.UTC(2026, 9, 12, 15)
  await using brokerage = await openBrokerage({ deps: { realNow: () => now } })
  const client = await Client.of(brokerage)
  now += 1_199_000
  assert.equal((await client.get('/brokerage/accounts')).status, 200)
  now += 1_000
  const { status, body } = await client.get('/brokerage/accounts')
  assert.deepEqual([status, body.Error], [401, 'Unauthorized'])
  assert.equal((await accounts(brokerage, 'eyJ-nobody')).status, 401)
  assert.equal((await send(client.url('/brokerage/accounts'), 'GET')).status, 401)
})

test('missing scopes are forbidden', async () => {
  await using brokerage = await openBrokerage()
  const reader = await Client.of(brokerage, 'alex', ['read'])
  const { status, body } = await reader.place()
  assert.deepEqual([status, body.Error], [403, 'Forbidden'])
  assert.equal((await reader.get('/brokerage/accounts')).status, 200)
})

function authorizeUrl(brokerage: Brokerage, change: Readonly<Record<string, string | null>> = {}): string {
  const parameters: Record<string, string | null> = {
    response_type: 'code',
    client_id: brokerage.clientId,
    audience: AUDIENCE,
    redirect_uri: REDIRECT,
    scope: SCOPES,
    state: 'a-state',
    ...change
  }
  const query = new URLSearchParams(Object.entries(parameters).flatMap(([name, value]) => (value === null ? [] : [[name, value]])))
  return `${brokerage.url}/tradestation/authorize?${query}`
}

async function walked(
  brokerage: Brokerage,
  change: Readonly<Record<string, string | null>> = {}
): Promise<{ code: string; state: string | null }> {
  const browser = new Browser()
  const { username = '', password = '' } = brokerage.logins[0] ?? {}
  const login = await browser.follow(authorizeUrl(brokerage, change))
  const consent = await browser.submit(login, { username, password, decision: 'approve' })
  const { location } = await browser.submit(consent, { decision: 'approve' })
  const { searchParams } = new URL(location ?? assert.fail('no redirect'))
  return { code: searchParams.get('code') ?? '', state: searchParams.get('state') }
}

async function post(brokerage: Brokerage, path: string, form: Readonly<Record<string, string>>): Promise<{ status: number; body: Wire }> {
  const body = new URLSearchParams({ client_id: brokerage.clientId, client_secret: SECRET, ...form })
  const response = await fetch(`${brokerage.url}/tradestation/oauth/${path}`, { method: 'POST', body })
  return { status: response.status, body: await response.json().catch(() => undefined) }
}

const token = (brokerage: Brokerage, form: Readonly<Record<string, string>>) => post(brokerage, 'token', form)
const refresh = (brokerage: Brokerage, refreshToken: string) =>
  token(brokerage, { grant_type: 'refresh_token', refresh_token: refreshToken })
const accounts = (brokerage: Brokerage, access: string) =>
  send(`${brokerage.url}/tradestation/v3/brokerage/accounts`, 'GET', undefined, bearer(access))
