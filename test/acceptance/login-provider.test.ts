// Operators log in by a provider: what the service sends and takes for it, from outside, with one and without.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { CLIENT, TestLoginProvider } from '@trunkline/testkit/login-provider'
import type { Body } from './api.ts'
import { type RunningService, startService } from './harness.ts'

const LOGIN_COOKIE = /^trunkline-login-\d+=[\w-]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Strict$/
const SESSION_COOKIE = /^trunkline-operator-\d+=os_[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/

async function post(service: RunningService, path: string, body: unknown, cookie = '') {
  const response = await fetch(`${service.url}/admin/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: service.url, 'x-trunkline-operator': '1', cookie },
    body: JSON.stringify(body)
  })
  const answer: Body = await response.json()
  return {
    status: response.status,
    body: answer,
    cookies: response.headers.getSetCookie(),
    retryAfter: response.headers.get('retry-after')
  }
}

const options = async (service: RunningService): Promise<Body> => (await fetch(`${service.url}/admin/v1/login-options`)).json()

describe('a service with a login provider', () => {
  let kit: TestLoginProvider
  let service: RunningService
  before(async () => {
    kit = await TestLoginProvider.start()
    service = await startService('embedded', {
      ...{ TRUNKLINE_OIDC_ISSUER: kit.issuer, TRUNKLINE_OIDC_CLIENT_ID: CLIENT.id, TRUNKLINE_OIDC_CLIENT_SECRET: CLIENT.secret },
      ...{ TRUNKLINE_OIDC_REQUEST: 'openid email groups', TRUNKLINE_OIDC_OPERATOR_CLAIM: 'email' },
      ...{ TRUNKLINE_OIDC_GRANT_CLAIM: 'groups', TRUNKLINE_OIDC_GRANTS: 'traders=read' }
    })
  })
  after(async () => {
    await service?.[Symbol.asyncDispose]()
    await kit[Symbol.asyncDispose]()
  })

  test('a login becomes a session whose cookie no script reads, and nothing of it is logged [S20] [S80]', async () => {
    assert.deepEqual(await options(service), { provider: { name: new URL(kit.issuer).host } })
    const begun = await post(service, '/oidc/logins', { return_to: '/console/orders' })
    assert.equal(begun.status, 201)
    const [pending = ''] = begun.cookies
    assert.match(pending, LOGIN_COOKIE)
    const back = new URL(await kit.logIn(begun.body.authorization_url))
    assert.equal(`${back.origin}${back.pathname}`, `${service.url}/admin/v1/oidc/callback`)

    const page = await fetch(back)
    assert.deepEqual(
      ['cache-control', 'referrer-policy', 'content-type'].map(name => page.headers.get(name)),
      ['no-store', 'no-referrer', 'text/html; charset=utf-8']
    )
    assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'.*frame-ancestors 'none'/)
    assert.deepEqual(page.headers.getSetCookie(), [], 'a link to the callback alone does nothing')

    const completed = await post(service, '/oidc/sessions', { answer: back.search }, pending.split(';', 1)[0])
    assert.equal(completed.status, 201)
    assert.equal(completed.body.return_to, '/console/orders')
    assert.deepEqual(
      [completed.body.session.operator, completed.body.session.scopes],
      [`ada@example.com (${new URL(kit.issuer).host})`, ['read']]
    )
    const session = completed.cookies.find(cookie => cookie.startsWith('trunkline-operator')) ?? ''
    assert.match(session, SESSION_COOKIE)
    const cookie = session.split(';', 1)[0] ?? ''
    const overview = await fetch(`${service.url}/admin/v1/overview`, { headers: { cookie } })
    assert.equal(overview.status, 200)
    const code = back.searchParams.get('code') ?? 'none'
    for (const secret of [code, CLIENT.secret, cookie.split('=')[1] ?? 'none', back.searchParams.get('state') ?? 'none'])
      assert.ok(!service.output().includes(secret))
  })

  test('a page to return to that is elsewhere is refused with the field', async () => {
    const { status, body } = await post(service, '/oidc/logins', { return_to: 'https://evil.example/console/' })
    assert.deepEqual([status, body.code, body.details[0].path], [400, 'field_invalid', 'return_to'])
  })

  test('while the provider cannot be used, the answer says so and when to try again', async () => {
    const begun = await post(service, '/oidc/logins', { return_to: '/console/' })
    const [pending = ''] = begun.cookies
    const back = new URL(await kit.logIn(begun.body.authorization_url))
    kit.twists.set('token', () => ({ filler: 'x'.repeat(300_000) }))
    const { status, body, retryAfter } = await post(service, '/oidc/sessions', { answer: back.search }, pending.split(';', 1)[0])
    assert.deepEqual([status, body.code, retryAfter], [503, 'login_provider_unavailable', '5'])
    assert.match(body.message, /Nobody was logged in/)
  })
})

test('without a login provider there is nothing at its addresses, and codes are the way in', async () => {
  await using service = await startService('embedded')
  assert.deepEqual(await options(service), { provider: null })
  assert.equal((await fetch(`${service.url}/admin/v1/oidc/callback?code=x&state=x`)).status, 404)
  for (const [path, body] of [
    ['/oidc/logins', { return_to: '/console/' }],
    ['/oidc/sessions', { answer: '?code=x' }]
  ] as const) {
    const answer = await post(service, path, body)
    assert.deepEqual([answer.status, answer.body.code], [404, 'route_not_found'])
    assert.match(answer.body.message, /operator link/)
  }
})
