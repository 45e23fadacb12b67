// Links that connect.js opens: which windows keep their opener, to whom the outcome is sent, and who may frame what.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { PlatformId } from '@trunkline/core/domain/ids'
import { Sha256Hasher } from '../../src/vault/hasher.ts'
import { type Answer, Browser, openScene, type Platform, type Scene } from './support.ts'

const NONCE = 'b1QAr-y54PP9OiUGOBUjwV'
const POPUP = `?connect=popup.${NONCE}`
const REDIRECT = `https://app.example.com/linked?to=%22%3E%3Cscript%3E&connection_id=theirs&error=theirs`

describe('links that connect.js opens', () => {
  let scene: Scene
  before(async () => {
    scene = await openScene()
  })
  after(() => scene[Symbol.asyncDispose]())

  const keepsOpener = ({ headers }: Answer) => headers.get('cross-origin-opener-policy') === null
  const policyOf = ({ headers }: Answer) => headers.get('content-security-policy') ?? ''
  const link = (redirect_url: string | undefined = REDIRECT) => scene.link('ada', { redirect_url })

  /** What the page's script is given. */
  function scriptData({ html }: Answer): Readonly<Record<string, string>> {
    const [tag = ''] = /<script [^>]*>/.exec(html) ?? []
    const text = (value: string) => value.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
    return Object.fromEntries([...tag.matchAll(/ data-(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, text(value)]))
  }

  test('every response on the way keeps the opener, and the last page sends it what the redirect shows', async () => {
    const browser = new Browser()
    const opened = await link()
    const shown = await browser.get(opened + POPUP)
    const departed = await browser.post(opened, { decision: 'approve', broker: 'SANDBOX' })
    const callback = await browser.logIn(departed.location, scene.demo)
    const returned = await browser.get(callback)
    const last = await browser.get(returned.location)
    const again = await browser.get(callback)
    for (const answer of [shown, departed, returned, last, again]) assert.ok(keepsOpener(answer))
    for (const answer of [last, again]) {
      const { to, message = '', target = '' } = scriptData(answer)
      assert.equal(to, 'https://app.example.com')
      const { connection_id, ...others } = Object.fromEntries(new URL(target).searchParams)
      assert.deepEqual(others, { to: '"><script>' })
      assert.deepEqual(JSON.parse(message), { type: 'trunkline.connect', event: 'outcome', nonce: NONCE, result: { connection_id } })
      assert.match(policyOf(answer), /^default-src 'none'; .*frame-ancestors 'none'; .*; script-src 'self'$/)
      assert.match(answer.html, /<meta http-equiv="refresh" content="3;url=/)
      assert.equal(answer.html.match(/<script/g)?.length, 1)
    }
  })

  test('a user who declines, and a link that was used, are sent to the opener too', async () => {
    const browser = new Browser()
    const opened = await link('https://app.example.com/linked')
    await browser.get(opened + POPUP)
    const declined = await browser.send(opened, { decision: 'decline' })
    const used = await browser.get((await browser.get(opened + POPUP.replace('popup', 'frame'))).location)
    assert.deepEqual(
      [declined, used].map(scriptData).map(({ to, message = '' }) => [to, JSON.parse(message).result.error]),
      [
        ['https://app.example.com', '401'],
        ['', '400']
      ],
      'in a frame it is our own page that passes it on'
    )
  })

  test('a link that is opened in another way, or that leads nowhere, cuts its opener off and has no script', async () => {
    const browser = new Browser()
    await browser.get((await link()) + POPUP)
    const queries = ['', '?connect=popup', `?connect=popup.${NONCE}A`, `?connect=tab.${NONCE}`, `${POPUP}&connect=popup.${NONCE}`]
    for (const query of queries) assert.ok(!keepsOpener(await browser.get((await link()) + query)), query)
    const nowhere = await scene.link('ada')
    const shown = await browser.get(nowhere + POPUP)
    assert.ok(!keepsOpener(shown))
    const opened = await link()
    await browser.get(opened)
    const declined = await browser.post(opened, { decision: 'decline' })
    assert.ok(declined.location.startsWith('https://app.example.com/linked') && !keepsOpener(declined))
    assert.ok(!keepsOpener(await browser.get(`${scene.url}/connect/result/declined`)))
  })

  test('a browser remembers four links, and takes none from a cookie that is not ours', async () => {
    const browser = new Browser()
    const links = await Promise.all(Array.from({ length: 5 }, () => link('https://app.example.com/linked')))
    for (const opened of links) assert.ok(keepsOpener(await browser.get(opened + POPUP)))
    const kept = await Promise.all(links.map(async opened => keepsOpener(await browser.get(opened))))
    assert.deepEqual(kept, [false, true, true, true, true])
    const other = new Browser()
    other.plant(scene.url, 'trunkline-portal-opener', /trunkline-portal-opener=([\w-]+)/.exec(browser.cookies(scene.url))?.[1] ?? '')
    assert.ok(!keepsOpener(await other.get(links[4] ?? '')))
  })

  test('only the page at the registered address may frame a link, and in the frame nothing is decided [S16]', async () => {
    const registered = await registeredPlatform('https://app.example.com/linked')
    const framed = await scene.link('framed', { redirect_url: 'https://app.example.com/linked' }, registered)
    const address = `/frame?connect=frame.${NONCE}`
    const answer = await new Browser().get(framed + address)
    assert.equal(answer.status, 200)
    assert.match(policyOf(answer), /; form-action 'self'; frame-ancestors https:\/\/app\.example\.com; base-uri 'none'; script-src 'self'$/)
    assert.deepEqual([answer.headers.get('x-frame-options'), answer.headers.getSetCookie()], [null, []])
    assert.ok(!/<form|<input|name="decision"/.test(answer.html))
    const path = new URL(framed).pathname
    assert.deepEqual(scriptData(answer), { to: 'https://app.example.com', nonce: NONCE, link: `${path}?connect=frame.${NONCE}` })
    const elsewhere = await link()
    for (const refused of [
      elsewhere + address,
      `${framed}/frame`,
      `${framed}/frame${POPUP}`,
      `${scene.url}/connect/${'x'.repeat(43)}${address}`
    ]) {
      const { status, headers } = await new Browser().get(refused)
      assert.deepEqual([status, headers.get('x-frame-options')], [400, 'DENY'], refused)
      assert.match(headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/)
    }
    assert.match(policyOf(await new Browser().get(framed + POPUP)), /frame-ancestors 'none'/)
  })

  async function registeredPlatform(redirect: string): Promise<Platform> {
    const platformId = crypto.randomUUID() as PlatformId
    const [clientId, clientSecret] = [`pk_${crypto.randomUUID()}`, `sk_${crypto.randomUUID()}`]
    const createdAt = (await scene.store.platforms.list())[0]?.createdAt ?? assert.fail()
    const platform = { platformId, clientId, name: 'Framing', redirectAllowList: [redirect], claims: false, createdAt }
    const audit = { actor: 'operator', action: 'platform.create', result: 'ok', ip: null, requestId: null, detail: {} } as const
    const hash = new Sha256Hasher(new Uint8Array()).hash(clientSecret)
    await scene.store.platforms.create(platform, hash, { at: createdAt, target: platformId, ...audit })
    return { clientId, clientSecret }
  }
})
