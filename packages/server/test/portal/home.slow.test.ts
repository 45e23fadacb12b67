// The first page in a browser: everything for whoever sits at this machine, nothing for anybody who only reaches it.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { demoLink } from '../../src/ops/demo-link.ts'
import { openScene, type Scene } from './support.ts'

describe('the first page', () => {
  let scene: Scene
  before(async () => {
    scene = await openScene()
  })
  after(() => scene[Symbol.asyncDispose]())

  async function ask(method: string, path: string, headers: Readonly<Record<string, string>>) {
    const sent = request(scene.url + path, { method, headers }).end()
    const [response]: IncomingMessage[] = await once(sent, 'response')
    assert.ok(response !== undefined)
    return {
      status: response.statusCode,
      location: response.headers.location,
      policy: response.headers['content-security-policy'],
      html: await text(response)
    }
  }

  const own = () => ({ host: new URL(scene.url).host })
  const isKept = (what: string) => {
    const { client_id: clientId, client_secret: clientSecret, sandbox_logins: logins } = scene.demo
    for (const secret of [clientId, clientSecret, ...logins.map(({ password }) => password)]) assert.ok(!what.includes(secret))
  }

  test('shows credentials, logins and lines to paste, and runs no script', async () => {
    const { status, html, policy } = await ask('GET', '/', own())
    assert.equal(status, 200)
    const { client_id: clientId, client_secret: clientSecret, sandbox_logins: logins } = scene.demo
    for (const shown of [scene.url, clientId, clientSecret, ...logins.flatMap(({ username, password }) => [username, password])])
      assert.ok(html.includes(shown), shown)
    assert.match(html, /<dt>Brokers<\/dt><dd>[^<]*Trunkline Sandbox \(sandbox\)/)
    assert.ok(policy?.includes("default-src 'none'") && !policy.includes('unsafe'))
  })

  test('shows none of it under another name or through a proxy', async () => {
    for (const headers of [
      { host: 'evil.example' },
      { host: 'localhost.evil.example' },
      { host: '127.0.0.1.evil.example:80' },
      { ...own(), 'x-forwarded-for': '192.0.2.1' }
    ])
      isKept((await ask('GET', '/', headers)).html)
  })

  test('makes a portal link at a press of its button, as often as it is pressed', async () => {
    const press = () =>
      ask('POST', '/demo-link', { ...own(), 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' })
    const links = [await press(), await press()].map(({ location = '' }) => location)
    assert.equal(new Set(links).size, 2)
    for (const link of links) {
      const { status, html } = await ask('GET', new URL(link).pathname, own())
      assert.equal(status, 200)
      assert.ok(html.includes('first-user'))
    }
  })

  test('hands its own pages a market data token, the same to all of them, and nobody else one', async () => {
    const token = async (headers: Readonly<Record<string, string>>, path = '/demo-token') => {
      const { status, html } = await ask('POST', path, headers)
      return status === 200 ? String(JSON.parse(html).access_token) : status
    }
    const page = { ...own(), 'sec-fetch-site': 'same-origin' }
    const [first, second] = await Promise.all([token(page), token(page)])
    assert.match(String(first), /^mdt_[\w-]{43}$/)
    assert.deepEqual([second, await token(page)], [first, first])
    const another = await token(page, '/demo-token/new')
    assert.match(String(another), /^mdt_/)
    assert.notEqual(another, first)
    assert.equal(await token(page), another)
    for (const headers of [
      { ...own(), 'sec-fetch-site': 'cross-site' },
      { ...own(), 'sec-fetch-site': 'same-site' },
      { host: 'evil.example', 'sec-fetch-site': 'same-origin' },
      { ...page, 'x-forwarded-for': '192.0.2.1' }
    ]) {
      assert.equal(await token(headers), 204)
      assert.equal(await token(headers, '/demo-token/new'), 204)
    }
  })

  test('a link that nobody answers for is left out', async () => {
    assert.equal(await demoLink({ ...scene.demo, base_url: 'http://127.0.0.1:1' }), null)
    assert.equal(await demoLink({ ...scene.demo, client_secret: 'wrong' }), null)
  })

  test('makes none for a page of another site, another name or a proxy', async () => {
    for (const headers of [
      { ...own(), 'sec-fetch-site': 'cross-site' },
      { ...own(), 'sec-fetch-site': 'same-site' },
      { host: 'evil.example', 'sec-fetch-site': 'same-origin' },
      { ...own(), 'sec-fetch-site': 'same-origin', 'x-forwarded-for': '192.0.2.1' }
    ])
      assert.equal((await ask('POST', '/demo-link', headers)).location, '/')
  })
})
