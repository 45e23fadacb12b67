// The start page in a browser: it shows secrets only with the code that only the owner can read, and never without it.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { PATIENCE_MS } from '@trunkline/testkit/patience'
import { until } from '@trunkline/testkit/until'
import { demoLink } from '../../src/ops/demo-link.ts'
import { copyStore } from '../store/template.ts'
import { freePort, json, openScene, type Scene } from './support.ts'

type Headers = Readonly<Record<string, string>>
const FORM = 'application/x-www-form-urlencoded'

async function ask(url: string, method: string, path: string, headers: Headers, body = '') {
  const sent = request(url + path, { method, headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) } }).end(body)
  const [response]: IncomingMessage[] = await once(sent, 'response')
  assert.ok(response !== undefined)
  const { location, 'set-cookie': cookies = [], 'content-security-policy': policy, 'retry-after': retryAfter } = response.headers
  return { status: response.statusCode, location, cookies, policy, retryAfter, html: await text(response) }
}

function codeOf(link: string): string {
  return new URL(link).searchParams.get('code') ?? ''
}

describe('the first page', () => {
  let scene: Scene
  const links: string[] = []
  before(async () => {
    scene = await openScene()
    scene.newLink(link => links.push(link))
  })
  after(() => scene[Symbol.asyncDispose]())

  const own = () => ({ host: new URL(scene.url).host, 'sec-fetch-site': 'same-origin' })
  const page = (headers: Headers, path = '/') => ask(scene.url, 'GET', path, headers)
  const post = (path: string, headers: Headers, body = '') => ask(scene.url, 'POST', path, { 'content-type': FORM, ...headers }, body)
  const demoFile = () => JSON.parse(readFileSync(join(scene.dataDir, 'demo-platform.json'), 'utf8'))
  const enter = (code: string, headers: Headers = own()) => post('/demo-session', headers, `code=${code}`)
  /** Headers of a browser that opened the page with the code. */
  async function opened(): Promise<Headers> {
    const { cookies } = await enter(codeOf(demoFile().home_url))
    return { ...own(), cookie: cookies[0]?.split(';')[0] ?? '' }
  }
  const isUndisclosed = (what: string) => {
    const { client_id: clientId, client_secret: clientSecret, sandbox_logins: logins } = scene.demo
    for (const secret of [clientId, clientSecret, codeOf(demoFile().home_url), ...logins.map(({ password }) => password)])
      assert.ok(!what.includes(secret))
  }

  test('shows no secret at its plain address, and says where to find the link', async () => {
    const { status, html, policy } = await page(own())
    assert.equal(status, 200)
    isUndisclosed(html)
    assert.match(html, /home_url<\/code> in <code>demo-platform\.json/)
    assert.ok(html.includes(`process.argv[1]).home_url" ${join(scene.dataDir, 'demo-platform.json')}</code>`), 'in the directory in use')
    assert.match(html, /<dt>Brokers<\/dt><dd>[^<]*Trunkline Sandbox \(sandbox\)/)
    assert.ok(policy?.includes("default-src 'none'") && !policy.includes('unsafe'))
  })

  test('the link’s code is exchanged once, for a cookie hidden from scripts and other sites', async () => {
    const link = demoFile().home_url
    const shown = await page(own(), `/?code=${codeOf(link)}`)
    assert.match(shown.html, /<form method="post" action="\/demo-session">/)
    assert.deepEqual(shown.cookies, [], 'looking at the link does not spend it')
    assert.ok(!shown.html.includes(scene.demo.client_secret))
    assert.ok(shown.policy?.includes("script-src 'self'") && !shown.policy.includes('unsafe'))
    const entered = await enter(codeOf(link))
    assert.deepEqual([entered.status, entered.location], [303, '/'])
    assert.match(entered.cookies[0] ?? '', /^trunkline-first-page-\d+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/)
    assert.ok(!JSON.stringify(entered).includes(codeOf(link)))
    const { html } = await page({ ...own(), cookie: entered.cookies[0]?.split(';')[0] ?? '' })
    const { client_id: clientId, client_secret: clientSecret, sandbox_logins: logins } = scene.demo
    for (const secret of [scene.url, clientId, clientSecret, ...logins.flatMap(({ username, password }) => [username, password])])
      assert.ok(html.includes(secret), secret)
    const again = await enter(codeOf(link))
    assert.deepEqual([again.status, again.cookies], [403, []])
    isUndisclosed(again.html)
    assert.match(again.html, /already used/)
  })

  test('after a code is used, the file and the terminal have the next one, and the file stays private', async () => {
    const link = demoFile().home_url
    await opened()
    assert.notEqual(demoFile().home_url, link)
    assert.equal(links.at(-1), demoFile().home_url)
    assert.equal(demoFile().client_secret, scene.demo.client_secret)
    if (process.platform !== 'win32') assert.equal(statSync(join(scene.dataDir, 'demo-platform.json')).mode & 0o777, 0o600)
  })

  test('shows no secret under another host name or through a proxy, even with a cookie, and accepts no code there', async () => {
    const browser = await opened()
    for (const headers of [
      { host: 'evil.example' },
      { host: 'localhost.evil.example' },
      { host: '127.0.0.1.evil.example:80' },
      { 'x-forwarded-for': '192.0.2.1' },
      { 'x-forwarded-host': 'evil.example' },
      { forwarded: 'for=192.0.2.1' }
    ]) {
      isUndisclosed((await page({ ...browser, ...headers })).html)
      assert.deepEqual((await enter(codeOf(demoFile().home_url), { ...own(), ...headers })).cookies, [])
    }
    for (const site of ['cross-site', 'same-site'])
      assert.deepEqual((await enter(codeOf(demoFile().home_url), { ...own(), 'sec-fetch-site': site })).cookies, [])
  })

  test('its button creates a portal link each time, and only for this browser', async () => {
    const browser = await opened()
    const press = () => post('/demo-link', browser)
    const links = [await press(), await press()].map(({ location = '' }) => location)
    assert.equal(new Set(links).size, 2)
    for (const link of links) {
      const { status, html } = await page(own(), new URL(link).pathname)
      assert.equal(status, 200)
      assert.ok(html.includes('first-user'))
    }
    for (const headers of [
      own(),
      { ...browser, cookie: browser.cookie?.replace(/=.*/, `=${'x'.repeat(43)}`) ?? '' },
      { ...browser, 'sec-fetch-site': 'cross-site' },
      { ...browser, 'sec-fetch-site': 'same-site' },
      { ...browser, origin: 'https://evil.example' },
      { ...withoutSite(browser), origin: 'https://evil.example' },
      { ...withoutSite(browser), origin: 'http://localhost:1' },
      { ...browser, host: 'evil.example' },
      { ...browser, 'x-forwarded-for': '192.0.2.1' }
    ])
      assert.equal((await post('/demo-link', headers)).location, '/')
  })

  test('gives its own pages one shared market data token, and nobody else', async () => {
    const browser = await opened()
    const token = async (headers: Headers, path = '/demo-token') => {
      const { status, html } = await post(path, headers)
      return status === 200 ? String(JSON.parse(html).access_token) : status
    }
    const [first, second] = await Promise.all([token(browser), token(browser)])
    assert.match(String(first), /^mdt_[\w-]{43}$/)
    assert.deepEqual([second, await token(browser)], [first, first])
    const another = await token(browser, '/demo-token/new')
    assert.match(String(another), /^mdt_/)
    assert.notEqual(another, first)
    assert.equal(await token(browser), another)
    for (const headers of [
      own(),
      { ...browser, 'sec-fetch-site': 'cross-site' },
      { ...browser, host: 'evil.example' },
      { ...withoutSite(browser), origin: 'https://evil.example' }
    ]) {
      assert.equal(await token(headers), 204)
      assert.equal(await token(headers, '/demo-token/new'), 204)
    }
  })

  test('gives its own pages the credentials of a practice account, valid ones, and nobody else', async () => {
    const browser = await opened()
    const credentials = async (headers: Headers) => {
      const { status, html } = await post('/demo-credentials', headers)
      return status === 200 ? JSON.parse(html) : status
    }
    const [first, second] = await Promise.all([credentials(browser), credentials(browser)])
    assert.deepEqual(second, first)
    const { client_id, client_secret, user_id, user_secret } = first
    assert.deepEqual([client_id, client_secret, user_id], [scene.demo.client_id, scene.demo.client_secret, 'reference'])
    const platform = { 'client-id': client_id, 'client-secret': client_secret }
    const accounts = (secret: string) =>
      fetch(`${scene.url}/accounts`, {
        headers: { ...platform, 'user-id': user_id, 'user-secret': secret }
      })
    assert.equal((await accounts(user_secret)).status, 200)
    assert.equal((await fetch(`${scene.url}/users/reference/rotate-secret`, { method: 'POST', headers: platform })).status, 200)
    assert.equal((await accounts(user_secret)).status, 401)
    const renewed = await credentials(browser)
    assert.equal((await accounts(renewed.user_secret)).status, 200)
    for (const headers of [
      own(),
      { ...browser, 'sec-fetch-site': 'cross-site' },
      { ...browser, host: 'evil.example' },
      { ...browser, 'x-forwarded-for': '192.0.2.1' },
      { ...withoutSite(browser), origin: 'https://evil.example' }
    ])
      assert.equal(await credentials(headers), 204)
  })

  test('a practice account that broke, or could not be connected at first, is connected again: 503 until then, never 204', async () => {
    const browser = await opened()
    const { sandbox_control_url: control, sandbox_logins: logins } = scene.demo
    const credentials = async () => {
      const { status, retryAfter, html } = await post('/demo-credentials', browser)
      return { status, retryAfter, headers: status === 200 ? headersOf(JSON.parse(html)) : {} }
    }
    const active = async (headers: Headers) => {
      const rows: unknown = await (await fetch(`${scene.url}/connections?status=ACTIVE`, { headers })).json()
      return Array.isArray(rows) ? rows.length : null
    }
    const first = await credentials()
    assert.equal(await active(first.headers), 1)
    await json(`${control}/logins/${logins[0]?.username}/revoke`, {}, {})
    const isBroken = async () => {
      await fetch(`${scene.url}/balances`, { headers: first.headers })
      return (await active(first.headers)) === 0
    }
    await until(isBroken, 'the connection is broken', PATIENCE_MS)
    const { fault } = await json(`${control}/faults`, {}, { on: '*', do: 'status', status: 503 })
    const refused = await credentials()
    assert.deepEqual([refused.status, refused.retryAfter], [503, '5'])
    assert.equal(await active(first.headers), 0, 'the page’s credentials are valid all the while')
    const id: unknown = typeof fault === 'object' && fault !== null && 'id' in fault ? fault.id : null
    assert.equal((await fetch(`${control}/faults/${id}`, { method: 'DELETE' })).status, 200)
    const again = await credentials()
    assert.deepEqual([again.status, again.headers, await active(again.headers)], [200, first.headers, 1])
  })

  test('sends requests of the reference’s pages to its own API, and nobody else’s', async () => {
    const browser = await opened()
    const send = (headers: Headers, method: string, path: string, body = '') =>
      post('/demo-request', headers, new URLSearchParams({ method, path, body }).toString())
    const { status, text: body } = JSON.parse((await send(browser, 'GET', '/accounts')).html)
    assert.equal(status, 200)
    const [{ account_id: accountId }] = JSON.parse(body)
    assert.equal(JSON.parse((await post('/demo-request/ids', browser)).html).account_id, accountId)
    // The next request has the new secret.
    assert.equal(JSON.parse((await send(browser, 'POST', '/users/reference/rotate-secret')).html).status, 200)
    assert.equal(JSON.parse((await send(browser, 'GET', '/accounts')).html).status, 200)
    for (const path of ['//evil.example/', '@evil.example/', 'http://evil.example/', '', '/ a', `/${'a'.repeat(2_048)}`]) {
      const { refused, ...answered } = JSON.parse((await send(browser, 'GET', path)).html)
      assert.match(refused, /^A path begins with one slash/, path)
      assert.deepEqual(answered, {}, path)
    }
    assert.equal((await send(browser, 'CONNECT', '/accounts')).status, 204)
    for (const headers of [
      own(),
      { ...browser, 'sec-fetch-site': 'cross-site' },
      { ...browser, host: 'evil.example' },
      { ...withoutSite(browser), origin: 'https://evil.example' }
    ]) {
      assert.equal((await page(headers, '/demo-request')).status, 204)
      assert.equal((await send(headers, 'GET', '/accounts')).status, 204)
      assert.equal((await post('/demo-request/ids', headers)).status, 204)
    }
  })

  test('an expired link is not shown', async () => {
    assert.equal(await demoLink({ ...scene.demo, base_url: 'http://127.0.0.1:1' }), null)
    assert.equal(await demoLink({ ...scene.demo, client_secret: 'wrong' }), null)
  })
})

test('an old demo platform is not shown once the public URL is not a loopback address', async context => {
  const dataDir = mkdtempSync(join(tmpdir(), 'trunkline-home-'))
  context.after(() => rmSync(dataDir, { recursive: true }))
  const file = join(dataDir, 'demo-platform.json')
  await copyStore(join(dataDir, 'database'))
  const before = await openScene({}, { TRUNKLINE_DATA_DIR: dataDir })
  await before[Symbol.asyncDispose]()
  const left = JSON.parse(readFileSync(file, 'utf8'))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const env = {
    TRUNKLINE_DATA_DIR: dataDir,
    TRUNKLINE_PUBLIC_URL: 'https://connect.example.com',
    TRUNKLINE_ALLOW_KEYS_BESIDE_DATA: '1',
    TRUNKLINE_PORT: String(port)
  }
  await using scene = await openScene({}, env, url)
  assert.match(scene.log(), /a demo platform exists on a service that is not for practice/)
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), left, 'the file is left as it was')
  const headers = { host: `127.0.0.1:${port}`, 'sec-fetch-site': 'same-origin', 'content-type': FORM }
  const { html } = await ask(url, 'GET', '/', headers)
  assert.ok(!html.includes(left.client_secret) && !html.includes('demo-platform.json'))
  const { cookies } = await ask(url, 'POST', '/demo-session', headers, `code=${codeOf(left.home_url)}`)
  assert.deepEqual(cookies, [])
})

function headersOf(credentials: Readonly<Record<string, string>>): Headers {
  return Object.fromEntries(Object.entries(credentials).map(([name, value]) => [name.replace('_', '-'), value]))
}

/** As a browser sends it that does not say where a form comes from but by \`Origin\`. */
function withoutSite({ 'sec-fetch-site': _, ...headers }: Headers): Headers {
  return headers
}
