// A login with keys as it comes over HTTP: the form, what its page allows, and what is left of what was entered.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { GOOD_KEYS, KeyedBroker } from '@trunkline/testkit/scripted-broker/keyed-broker'
import { SystemClock } from '../../src/ops/clock.ts'
import { type Answer, Browser, openScene, type Scene } from './support.ts'

const REDIRECT = `https://app.example.com/linked?a=1&b='"<x>`
const WRONG = { ...GOOD_KEYS, secret_key: 'canary-wrong-secret-0123' }

describe('keys in the portal', () => {
  let scene: Scene
  let keyed: KeyedBroker
  before(async () => {
    keyed = new KeyedBroker(new SystemClock())
    const { definition } = keyed
    scene = await openScene({ brokers: real => new Map([...real, [definition.capabilities.id, definition]]) })
  })
  after(() => scene[Symbol.asyncDispose]())

  /** A browser whose user said yes, and the address of the form. */
  async function approved(userId: string, body: object = {}): Promise<{ browser: Browser; link: string; form: string }> {
    const browser = new Browser()
    const link = await scene.link(userId, { broker: 'KEYED', ...body })
    const form = await browser.approve(link, 'KEYED')
    assert.equal(form, `${link}/keys/keyed`)
    return { browser, link, form }
  }

  const secrets = /canary|PKGOOD/
  function isGuarded({ headers, html }: Answer): void {
    const policy = headers.get('content-security-policy') ?? ''
    assert.match(
      policy,
      /^default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'$/
    )
    assert.equal(headers.get('cache-control'), 'no-store')
    assert.equal(headers.get('referrer-policy'), 'no-referrer')
    assert.ok(!/<script|<style|<iframe|\son\w+=|javascript:/i.test(html))
    assert.ok(!secrets.test(html) && !/<input[^>]*\svalue="/.test(html), 'nothing entered is on the page')
  }

  test('the form has the broker’s fields, hides secrets, and its page allows submissions to this origin only', async () => {
    const { browser, form, link } = await approved('form')
    const shown = await browser.get(form)
    assert.equal(shown.status, 200)
    isGuarded(shown)
    const inputs = [...shown.html.matchAll(/<input [^>]*>/g)].map(([input]) => input)
    assert.equal(inputs.length, 2)
    for (const input of inputs) assert.match(input, / required autocomplete="off" autocapitalize="none" spellcheck="false">/)
    assert.match(inputs[0] ?? '', /name="key_id" type="text" maxlength="64"/)
    assert.match(inputs[1] ?? '', /name="secret_key" type="password" maxlength="128"/)
    assert.ok(shown.html.includes('href="https://keyed.example/keys?for=api&amp;new" target="_blank" rel="noopener noreferrer"'))
    assert.ok(shown.html.includes(`href="${new URL(link).pathname}"`), 'there is a way back')
    assert.ok(shown.html.includes('<span class="tag">paper</span>'))
  })

  test('valid keys lead to the platform, through a page of ours', async () => {
    const { browser, form } = await approved('good', { redirect_url: REDIRECT })
    // Clicked twice: the browser shows the second answer.
    const [first, answer] = await Promise.all([browser.post(form, GOOD_KEYS), browser.post(form, GOOD_KEYS)])
    for (const { status, location } of [first, answer]) assert.deepEqual([status, location], [303, `${scene.url}/connect/onward`])
    const shown = await browser.get(answer.location)
    assert.equal(shown.status, 200)
    isGuarded(shown)
    assert.equal((await browser.get(answer.location)).html, shown.html, 'loaded again it says the same')
    const [, target = ''] = /<meta http-equiv="refresh" content="0;url=([^"]*)">/.exec(shown.html) ?? []
    const plain = target
      .replaceAll('&quot;', '"')
      .replaceAll('&#39;', "'")
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&amp;', '&')
    assert.match(plain, /^https:\/\/app\.example\.com\/linked\?a=1&b='"<x>&connection_id=[\w-]{36}$/)
    assert.equal(await scene.connections('good'), 1)
    assert.equal((await browser.send(form, GOOD_KEYS)).html, shown.html)
    const used = await browser.send(form, { ...GOOD_KEYS, secret_key: 'another' })
    assert.match(used.html, /error=400/)
    assert.equal(await scene.connections('good'), 1)
    const other = new Browser()
    other.plant(scene.url, 'trunkline-portal-outcome', /trunkline-portal-outcome=([^;]*)/.exec(browser.cookies(scene.url))?.[1] ?? '')
    const elsewhere = await other.get(answer.location)
    assert.ok(!elsewhere.html.includes('app.example.com'), 'in another browser it leads nowhere')
    assert.match(elsewhere.html, /<h1>This link was already used<\/h1>/)
  })

  test('a redirect that is too long for a cookie still works', async () => {
    const long = `https://app.example.com/linked?a=${'x'.repeat(2_000)}`
    const { browser, form } = await approved('long', { redirect_url: long })
    const { status, html } = await browser.post(form, GOOD_KEYS)
    if (status === 200) assert.ok(html.includes(long))
    else assert.ok((await browser.get(`${scene.url}/connect/onward`)).html.includes(long))
    assert.equal(await scene.connections('long'), 1)
  })

  test('without a redirect address the user stays on our page', async () => {
    const { browser, form } = await approved('stay')
    const { status, location } = await browser.post(form, GOOD_KEYS)
    assert.deepEqual([status, location], [303, `${scene.url}/connect/result/connected`])
  })

  test('invalid keys are requested again with a message, and no part of them is stored', async () => {
    const { browser, form, link } = await approved('wrong')
    const lines = scene.log().length
    for (const [entered, pattern, faulty, left] of [
      [WRONG, /role="alert"[^>]*>Keyed Trading did not accept these keys\./, ['key_id', 'secret_key'], '4 more attempts'],
      [{ ...GOOD_KEYS, key_id: 'canary' }, /role="alert"[^>]*>An API key of Keyed Trading begins with PK\./, ['key_id'], '4 more attempts'],
      [{ key_id: GOOD_KEYS.key_id }, /role="alert"[^>]*>Secret key is missing\./, ['secret_key'], '4 more attempts'],
      [
        {},
        /role="alert"[^>]*>API key is missing\.[\s\S]*role="alert"[^>]*>Secret key is missing\./,
        ['key_id', 'secret_key'],
        '4 more attempts'
      ],
      [
        { ...GOOD_KEYS, decision: 'approve', broker: 'SANDBOX', secret_key: '<script>canary' },
        /Keyed Trading did not accept these keys\./,
        ['key_id', 'secret_key'],
        '3 more attempts'
      ]
    ] as const) {
      const answer = await browser.send(form, entered)
      // Back, and the page loaded again, are the same GET: nothing is sent again, and the same is said.
      for (const shown of [answer, await browser.get(form)]) {
        assert.equal(shown.status, 200)
        assert.match(shown.html, pattern)
        assert.ok(shown.html.includes(`${left} with this link.`), shown.html)
        const marked = [...shown.html.matchAll(/<input[^>]* name="(\w+)"[^>]* aria-invalid="true"/g)].map(([, name]) => name)
        assert.deepEqual(marked, faulty)
        isGuarded(shown)
      }
    }
    keyed.fault = 'unreachable'
    const silent = await browser.send(form, GOOD_KEYS)
    assert.match(silent.html, /Keyed Trading did not respond\./)
    assert.match(silent.html, /2 more attempts with this link\./)
    assert.ok(!silent.html.includes('aria-invalid'), 'the keys may be right')
    keyed.fault = null
    assert.match((await browser.get(link)).html, /would like to connect/)
    assert.doesNotMatch((await browser.get(link)).html, /role="alert"/, 'another page of the link says nothing of it')
    // A form bigger than any key, and one that is none.
    const statuses = [
      (await browser.post(form, { ...GOOD_KEYS, secret_key: 'canary'.repeat(1_000) })).status,
      (await fetch(form, { method: 'POST', body: JSON.stringify(WRONG), headers: { 'content-type': 'application/json' } })).status
    ]
    assert.deepEqual(statuses, [413, 415])
    assert.equal((await browser.post(form, GOOD_KEYS)).location, `${scene.url}/connect/result/connected`)
    assert.equal((await browser.get(link)).location, `${scene.url}/connect/result/used`)
    const left = scene.log().slice(lines) + JSON.stringify(await scene.store.audit.list(1_000))
    assert.ok(left.includes('/connect/:token/keys/:broker') && left.includes('connection.keys'), 'both were written')
    assert.ok(!secrets.test(left) && !left.includes(new URL(link).pathname.slice('/connect/'.length)))
  })

  test('five wrong pairs end the link, in the portal and at the platform', async () => {
    const { browser, form } = await approved('five')
    for (let tries = 1; tries < 5; tries++) assert.equal((await browser.post(form, WRONG)).location, form)
    assert.match((await browser.get(form)).html, /one more attempt with this link\./)
    const last = await browser.post(form, WRONG)
    assert.equal(last.location, `${scene.url}/connect/result/keys_refused`)
    assert.ok((await browser.get(last.location)).html.includes('<h1>Your broker did not accept the keys</h1>'))
    assert.equal(await scene.connections('five'), 0)
    const declined = await approved('five', { redirect_url: REDIRECT })
    for (let tries = 1; tries < 5; tries++) await declined.browser.post(declined.form, WRONG)
    assert.match((await declined.browser.send(declined.form, WRONG)).html, /error=401&amp;error_details=/)
  })

  test('a user who declines at the form has declined: no entered key is tried', async () => {
    const requested = keyed.requested.length
    const { browser, form, link } = await approved('declines')
    assert.match((await browser.get(form)).html, /<button name="decision" value="decline">Decline<\/button>/)
    const declined = { ...GOOD_KEYS, decision: 'decline' }
    const [first, second] = await Promise.all([browser.post(form, declined), browser.post(form, declined)])
    for (const { location } of [first, second]) assert.equal(location, `${scene.url}/connect/result/declined`)
    assert.equal((await browser.get(link)).location, `${scene.url}/connect/result/used`)
    const platforms = await approved('declines', { redirect_url: REDIRECT })
    assert.match((await platforms.browser.send(platforms.form, declined)).html, /error=401&amp;error_details=/)
    assert.equal((await new Browser().post(platforms.form, declined)).status, 400, 'not without the browser’s cookie')
    assert.deepEqual([keyed.requested.length, await scene.connections('declines')], [requested, 0])
  })

  test('another browser, a browser without the cookie, and a user who was not asked are refused', async () => {
    const { form } = await approved('mine')
    const requested = keyed.requested.length
    for (const browser of [new Browser(), await lookedAt(await scene.link('theirs', { broker: 'KEYED' }))])
      for (const answer of [await browser.get(form), await browser.post(form, GOOD_KEYS)]) {
        assert.equal(answer.status, 400)
        assert.ok(answer.html.includes('<h1>This link belongs to another browser</h1>'))
      }
    const link = await scene.link('unasked', { broker: 'KEYED' })
    const browser = await lookedAt(link)
    for (const answer of [await browser.get(`${link}/keys/keyed`), await browser.post(`${link}/keys/keyed`, GOOD_KEYS)])
      assert.deepEqual([answer.status, answer.location], [303, link])
    assert.equal(keyed.requested.length, requested)
    assert.equal(await scene.connections('mine'), 0)
  })

  test('invalid addresses are refused', async () => {
    const { browser, link } = await approved('nowhere')
    for (const [address, status] of [
      [`${link}/keys/sandbox`, 303],
      [`${link}/keys/nobody`, 303],
      [`${link}/keys/no%20name`, 400],
      [`${link}/keys/__proto__`, 400],
      [`${link}/keys/`, 400],
      [`${link}/keys`, 404],
      [`${scene.url}/connect/short/keys/keyed`, 400],
      [`${scene.url}/connect/${'x'.repeat(43)}/keys/keyed`, 400]
    ] as const) {
      assert.equal((await browser.get(address)).status, status, address)
      if (!address.endsWith('/keys')) assert.equal((await browser.post(address, GOOD_KEYS)).status, status, `POST ${address}`)
    }
    assert.equal(await scene.connections('nowhere'), 0)
  })

  test('GET /brokers shows the kind of login and the environment', async () => {
    const { client_id, client_secret } = scene.demo
    const answer = await fetch(`${scene.url}/brokers`, { headers: { 'client-id': client_id, 'client-secret': client_secret } })
    const rows: unknown = await answer.json()
    assert.ok(Array.isArray(rows))
    const shown = rows.map(({ broker, login, environment }) => [broker, login, environment])
    assert.deepEqual(shown.at(-1), ['KEYED', 'api_key', 'paper'])
    assert.deepEqual(shown[0], ['SANDBOX', 'oauth', 'sandbox'])
  })

  async function lookedAt(link: string): Promise<Browser> {
    const browser = new Browser()
    assert.equal((await browser.get(link)).status, 200)
    return browser
  }
})
