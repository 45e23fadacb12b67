import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Brokerage } from '../../../src/brokerage/start.ts'
import { Browser, control, SECRET, type Wire } from '../../brokerage/support.ts'
import { Client, openBrokerage, send } from './support.ts'

const REQUEST = { client_id: 'trunkline', scope: 'read,write,trade,market,stream', state: 'my-state' }

function authorizeUrl(brokerage: Brokerage, change: Readonly<Record<string, string>> = {}): string {
  return `${brokerage.url}/tradier/v1/oauth/authorize?${new URLSearchParams({ ...REQUEST, ...change })}`
}

/** Where the browser ends up when alex logs in and approves. */
async function walk(brokerage: Brokerage, change: Readonly<Record<string, string>> = {}): Promise<URL> {
  const browser = new Browser()
  const [alex] = brokerage.logins
  const login = await browser.follow(authorizeUrl(brokerage, change))
  const consent = await browser.submit(login, { username: alex?.username ?? '', password: alex?.password ?? '', decision: 'approve' })
  assert.match(consent.text, /<header><strong>Tradier<\/strong>/)
  assert.equal(consent.text.match(/VA\d+/g)?.length, 2, 'its accounts and no others, by the numbers they have there')
  assert.ok(!consent.text.includes('SB'))
  const { location } = await browser.submit(consent, { decision: 'approve' })
  return new URL(location ?? assert.fail(consent.text))
}

function basic(id = 'trunkline', secret = SECRET): string {
  return `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`
}

function token(brokerage: Brokerage, endpoint: 'accesstoken' | 'refreshtoken', form: Record<string, string>, authorization = basic()) {
  return send(`${brokerage.url}/tradier/v1/oauth/${endpoint}`, 'POST', form, { authorization })
}

const profile = (brokerage: Brokerage, accessToken: string) =>
  send(`${brokerage.url}/tradier/v1/user/profile`, 'GET', null, { authorization: `Bearer ${accessToken}`, accept: 'application/json' })

test('after a wrong password the page is shown by GET, with the username only', async () => {
  await using brokerage = await openBrokerage()
  const browser = new Browser()
  const login = await browser.follow(authorizeUrl(brokerage))
  const wrong = await browser.submit(login, { username: 'alex', password: 'not-this', decision: 'approve' })
  assert.deepEqual([wrong.status, wrong.url], [200, login.url])
  for (const page of [wrong, await browser.follow(login.url)]) {
    assert.match(page.text, /role="alert"/)
    assert.match(page.text, /name="username" value="alex"/)
    assert.doesNotMatch(page.text, /not-this/)
  }
  const consent = await browser.submit(wrong, { ...brokerage.logins[0], decision: 'approve' })
  assert.match(consent.text, /<header><strong>Tradier<\/strong>/)
})

test('the callback may use another port of the loopback host only', async () => {
  await using brokerage = await openBrokerage()
  const elsewhere = 'http://127.0.0.1:4711/connect/callback/tradier'
  const callback = await walk(brokerage, { redirect_uri: elsewhere })
  assert.equal(`${callback.origin}${callback.pathname}`, elsewhere)
  const { status, text } = await new Browser().go(authorizeUrl(brokerage, { redirect_uri: 'https://elsewhere.example/callback/tradier' }))
  assert.equal(status, 400)
  assert.match(text, /not one of the registered callbacks/)
})

test('an invalid authorization request shows an error page', async () => {
  await using brokerage = await openBrokerage()
  for (const change of [{ client_id: 'somebody' }, { scope: 'read trade' }, { scope: '' }, { scope: 'read,everything' }]) {
    const { status } = await new Browser().go(authorizeUrl(brokerage, change))
    assert.equal(status, 400, JSON.stringify(change))
  }
  const { scope, client_id } = REQUEST
  const { status } = await new Browser().go(`${brokerage.url}/tradier/v1/oauth/authorize?${new URLSearchParams({ scope, client_id })}`)
  assert.equal(status, 400)
})

test('codes live ten minutes', async () => {
  let now = Date.now()
  await using brokerage = await openBrokerage({ deps: { realNow: () => now } })
  const code = (await walk(brokerage)).searchParams.get('code') ?? ''
  now += 10 * 60_000
  assert.equal((await token(brokerage, 'accesstoken', { grant_type: 'authorization_code', code })).status, 400)
})

test('access tokens expire after a day; the refresh token stays the same', async () => {
  let now = Date.now()
  await using brokerage = await openBrokerage({ deps: { realNow: () => now } })
  const client = await Client.of(brokerage)
  now += 86_399_000
  const { status, body } = await profile(brokerage, client.token)
  assert.equal(status, 401)
  const expired = { faultstring: 'Access Token expired', detail: { errorcode: 'keymanagement.service.access_token_expired' } }
  assert.deepEqual(body, { fault: expired })
  const form = { grant_type: 'refresh_token', refresh_token: client.refreshToken }
  const renewed = await token(brokerage, 'refreshtoken', form)
  assert.equal(renewed.body.refresh_token, client.refreshToken)
  assert.equal((await profile(brokerage, renewed.body.access_token)).status, 200)
  assert.equal((await token(brokerage, 'refreshtoken', form)).status, 200)
  await control(brokerage, 'POST', '/logins/alex/revoke', {})
  const refused = await token(brokerage, 'refreshtoken', form)
  assert.deepEqual([refused.status, refused.body.fault.faultstring], [401, 'Invalid Refresh Token'])
  const invalid = await profile(brokerage, renewed.body.access_token)
  assert.deepEqual([invalid.status, invalid.body.fault.faultstring], [401, 'Invalid Access Token'])
})

test('the control API shortens the life of tokens', async () => {
  await using brokerage = await openBrokerage()
  await control(brokerage, 'PUT', '/oauth', { access_ttl_s: 30 })
  const { credentials } = await control(brokerage, 'POST', '/logins/alex/token', { dialect: 'tradier' })
  assert.equal(Date.parse(credentials.expires_at) - Date.parse(credentials.issued_at), 30_000)
  assert.equal(credentials.scope, 'read trade market stream')
})

test('client authentication by HTTP Basic, plain or form-encoded', async () => {
  await using brokerage = await openBrokerage({ config: { clientSecret: 'a secret-with_&=%+:signs' } })
  const secret = 'a secret-with_&=%+:signs'
  const { credentials } = await control(brokerage, 'POST', '/logins/alex/token', { dialect: 'tradier' })
  const form = { grant_type: 'refresh_token', refresh_token: credentials.refresh_token }
  const statuses: Record<string, number> = {}
  for (const [name, authorization] of Object.entries({
    plain: basic('trunkline', secret),
    encoded: basic('trunkline', new URLSearchParams({ '': secret }).toString().slice(1)),
    wrong: basic('trunkline', `${secret}.`),
    other: basic('somebody', secret),
    none: 'Bearer x'
  }))
    statuses[name] = (await token(brokerage, 'refreshtoken', form, authorization)).status
  assert.deepEqual(statuses, { plain: 200, encoded: 200, wrong: 401, other: 401, none: 401 })
})

test('missing scopes are refused', async () => {
  await using brokerage = await openBrokerage()
  const { credentials } = await control(brokerage, 'POST', '/logins/alex/token', { scopes: ['read'], dialect: 'tradier' })
  const [account]: Wire[] = (await profile(brokerage, credentials.access_token)).body.profile.account
  const headers = { authorization: `Bearer ${credentials.access_token}` }
  const { status, text } = await send(`${brokerage.url}/tradier/v1/accounts/${account.account_number}/orders`, 'POST', {}, headers)
  assert.deepEqual([status, text], [401, 'Unauthorized: the scope trade is missing'])
})

test('tokens survive a restart', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'tradier-'))
  try {
    let token = ''
    {
      await using brokerage = await openBrokerage({ config: { dataDir } })
      token = (await Client.of(brokerage)).token
    }
    await using brokerage = await openBrokerage({ config: { dataDir } })
    assert.equal((await profile(brokerage, token)).status, 200)
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
})
