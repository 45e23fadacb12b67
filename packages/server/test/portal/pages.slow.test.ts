// S12 to S14 and S18 to S20: where links may lead, what every page carries, and what no page, address or log line does.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { BrokerId, PlatformId } from '@trunkline/core/domain/ids'
import { type AttemptStore, StoreUnavailable } from '@trunkline/core/ports/store'
import { withMethods } from '@trunkline/testkit/with-methods'
import { Sha256Hasher } from '../../src/vault/hasher.ts'
import { type Answer, Browser, freePort, openScene, type Platform, type Scene } from './support.ts'

const NAME = `"><script>alert('platform')</script>&amp;`
const USER = `<img src=x onerror="alert('user')">`
const ALLOWED = ['https://app.example.com/linked', 'https://app.example.com/failed?from=broker']

describe('the pages of the portal', () => {
  let scene: Scene
  let listed: Platform
  let attempts: Partial<AttemptStore> = {}
  before(async () => {
    scene = await openScene({
      store: real => ({ ...real, attempts: withMethods(real.attempts, { findByTokenHash: hash => find(hash) }) }),
      brokers: real =>
        new Map([
          ...real,
          ...[...real.values()].slice(0, 1).map(definition => {
            const marketData = {
              channels: [],
              historyIntervals: [],
              historyDays: {},
              dailyBars: 'all_hours' as const,
              dailySessions: [],
              liveIntervals: [],
              liveVolume: 'all' as const,
              symbolSearch: false,
              backfillMax: 0,
              historyLagMs: 0,
              everyTrade: true,
              streamNumbered: true,
              connections: 'one' as const
            }
            const capabilities = { ...definition.capabilities, id: 'QUIET' as BrokerId, name: 'Quiet <Brokers>', marketData }
            return [capabilities.id, { ...definition, capabilities }] as const
          })
        ])
    })
    listed = await platformWith(NAME, ALLOWED)
  })
  after(() => scene[Symbol.asyncDispose]())

  const find: AttemptStore['findByTokenHash'] = hash =>
    (attempts.findByTokenHash ?? (known => scene.store.attempts.findByTokenHash(known)))(hash)

  async function platformWith(name: string, redirectAllowList: readonly string[]): Promise<Platform> {
    const platformId = crypto.randomUUID() as PlatformId
    const [clientId, clientSecret, createdAt] = [
      `pk_${crypto.randomUUID()}`,
      `sk_${crypto.randomUUID()}`,
      (await scene.store.platforms.list())[0]?.createdAt
    ]
    assert.ok(createdAt !== undefined)
    const audit = {
      at: createdAt,
      actor: 'operator',
      action: 'platform.create',
      target: platformId,
      result: 'ok',
      ip: null,
      requestId: null,
      detail: {}
    } as const
    const hash = new Sha256Hasher(new Uint8Array()).hash(clientSecret)
    await scene.store.platforms.create({ platformId, clientId, name, redirectAllowList, claims: false, createdAt }, hash, audit)
    return { clientId, clientSecret }
  }

  function isGuarded(answer: Answer, what: string): void {
    const header = (name: string) => answer.headers.get(name) ?? ''
    const policy = new Map(
      header('content-security-policy')
        .split('; ')
        .map(rule => [rule.split(' ')[0], rule.split(' ').slice(1)])
    )
    assert.deepEqual(policy.get('default-src'), ["'none'"], what)
    assert.deepEqual(policy.get('style-src'), ["'self'"], what)
    assert.deepEqual(policy.get('frame-ancestors'), ["'none'"], what)
    assert.deepEqual(policy.get('base-uri'), ["'none'"], what)
    assert.ok(!policy.has('script-src') && !header('content-security-policy').includes('unsafe'), what)
    assert.equal(header('cache-control'), 'no-store', what)
    assert.equal(header('referrer-policy'), 'no-referrer', what)
    assert.equal(header('x-content-type-options'), 'nosniff', what)
    assert.equal(header('x-frame-options'), 'DENY', what)
    assert.equal(header('cross-origin-opener-policy'), 'same-origin', what)
    if (answer.location === '') assert.equal(header('content-type'), 'text/html; charset=utf-8', what)
    assert.ok(!/<script|<style|<iframe|\son\w+=|\sstyle=|javascript:/i.test(answer.html), what)
    for (const [, target = ''] of answer.html.matchAll(/\b(?:src|href|action)="([^"]*)"/g))
      assert.ok(target.startsWith('/connect/') || ['data:,', '/'].includes(target), `${what} names ${target}`)
  }

  test('every page and every redirect has the security headers [S16, S18]', async () => {
    const browser = new Browser()
    const link = await scene.link('s18')
    const shown = await browser.get(link)
    const departed = await browser.post(link, { decision: 'approve', broker: 'SANDBOX' })
    const returned = await browser.get(await browser.logIn(departed.location, scene.demo))
    const declined = await scene.link('s18')
    await browser.get(declined)
    const answers: readonly (readonly [string, Answer, number])[] = [
      ['the invitation', shown, 200],
      ['the redirect', departed, 303],
      ['the return', returned, 303],
      ['the refusal', await browser.post(declined, { decision: 'decline' }), 303],
      ['a used link', await browser.get(link), 303],
      ['another browser', await new Browser().post(await scene.link('s18'), { decision: 'approve', broker: 'SANDBOX' }), 400],
      ['an unknown link', await browser.get(`${scene.url}/connect/${'x'.repeat(43)}`), 400],
      ['a broken link', await browser.get(`${scene.url}/connect/short`), 400],
      ['an unknown answer', await browser.get(`${scene.url}/connect/callback/sandbox`), 400],
      ['no page', await browser.get(`${scene.url}/connect/a/b/c`), 404],
      ['no link', await browser.get(`${scene.url}/connect`), 404],
      ['no result', await browser.get(`${scene.url}/connect/result/constructor`), 404]
    ]
    for (const [what, answer, status] of answers) {
      assert.equal(answer.status, status, what)
      isGuarded(answer, what)
    }
    const statuses = {
      connected: 200,
      declined: 200,
      keys_refused: 400,
      expired: 400,
      used: 400,
      other_browser: 400,
      unknown_link: 400,
      bad_callback: 400,
      broker_down: 502
    }
    for (const [reason, status] of Object.entries(statuses)) {
      const answer = await browser.get(`${scene.url}/connect/result/${reason}`)
      assert.equal(answer.status, status, reason)
      isGuarded(answer, reason)
    }
  })

  test('pages load only stylesheets, which are compressed and cached [S18]', async () => {
    for (const name of ['portal.css', 'color/d9480f.css']) {
      const answer = await fetch(`${scene.url}/connect/assets/${name}`, { headers: { 'accept-encoding': 'br' } })
      assert.equal(answer.status, 200)
      assert.equal(answer.headers.get('content-type'), 'text/css; charset=utf-8')
      assert.equal(answer.headers.get('x-content-type-options'), 'nosniff')
      assert.match(answer.headers.get('cache-control') ?? '', /^public, max-age=\d+/)
      assert.ok(!/url\(|@import/.test(await answer.text()))
    }
    for (const name of ['/connect/assets/portal.css', '/home.css', '/home/open.js']) {
      const { headers } = await fetch(scene.url + name, { headers: { 'accept-encoding': 'br' } })
      if (name !== '/home/open.js') assert.equal(headers.get('content-encoding'), 'br', name)
      const known = { 'accept-encoding': 'br', 'if-none-match': headers.get('etag') ?? '' }
      assert.equal((await fetch(scene.url + name, { headers: known })).status, 304, name)
    }
    for (const name of ['color/D9480F.css', 'color/red.css', 'color/d9480f', 'color/d9480f%3B%7D.css'])
      assert.equal((await fetch(`${scene.url}/connect/assets/${name}`)).status, 404, name)
  })

  test('viewing a link does not use it up, deciding does [S14]', async () => {
    const browser = new Browser()
    const link = await scene.link('s14')
    await new Browser().get(link)
    assert.equal((await browser.get(link)).status, 200)
    assert.equal((await browser.post(link, { decision: 'decline' })).location, `${scene.url}/connect/result/declined`)
    for (const answer of [
      await browser.get(link),
      await new Browser().get(link),
      await browser.post(link, { decision: 'approve', broker: 'SANDBOX' })
    ])
      assert.equal(answer.location, `${scene.url}/connect/result/used`)
    assert.equal(await scene.connections('s14'), 0)
  })

  test('two browsers that decide at the same time: the link belongs to one of them', async () => {
    const link = await scene.link('two')
    const browsers = [new Browser(), new Browser(), new Browser()]
    for (const browser of browsers) await browser.get(link)
    const answers = await Promise.all(browsers.map(browser => browser.post(link, { decision: 'approve', broker: 'SANDBOX' })))
    assert.deepEqual(answers.map(({ status }) => status).sort(), [303, 400, 400])
  })

  test('a browser without cookies cannot decide', async () => {
    const link = await scene.link('no-cookie')
    for (const decision of ['approve', 'decline'])
      assert.equal((await new Browser().post(link, { decision, broker: 'SANDBOX' })).status, 400)
    assert.equal((await new Browser().get(link)).status, 200, 'and the link is as good as new')
  })

  test('the cookie is for this host, hidden from scripts and other sites, and renewed with each page', async () => {
    const browser = new Browser()
    const link = await scene.link('cookie')
    const first = await browser.get(link)
    const given = first.headers.getSetCookie()
    assert.equal(given.length, 2)
    assert.match(given[0] ?? '', /^trunkline-portal=[\w-]{43}\.[\w-]{43}; Max-Age=3600; Path=\/; HttpOnly; SameSite=Lax$/)
    assert.match(given[1] ?? '', /^trunkline-portal-app=[\w-]{36}\.[\w-]{43}; Max-Age=3600; Path=\/; HttpOnly; SameSite=Lax$/)
    assert.deepEqual((await browser.get(link)).headers.getSetCookie(), given, 'the same ones, renewed for another hour')
  })

  test('a broker that was not offered cannot be chosen', async () => {
    const browser = new Browser()
    const named = await scene.link('misfit')
    const channels = await scene.link('misfit', { broker: undefined, connection_type: 'market_data' })
    assert.ok(!(await browser.get(channels)).html.includes('Quiet'), 'a broker without market data is not offered for it')
    for (const [link, fields] of [
      [named, { decision: 'approve', broker: 'QUIET' }],
      [named, { decision: 'approve', broker: 'NOBODY' }],
      [named, { decision: 'approve', broker: 'no name' }],
      [named, { decision: 'approve' }],
      [named, { decision: 'perhaps', broker: 'SANDBOX' }],
      [named, {}],
      [channels, { decision: 'approve', broker: 'QUIET' }],
      [channels, { decision: 'approve' }]
    ] as const) {
      await browser.get(link)
      const answer = await browser.post(link, fields)
      assert.deepEqual([answer.status, answer.location], [303, link], JSON.stringify(fields))
    }
    // Also after a first choice, from a page that was left open.
    await browser.approve(named)
    assert.equal((await browser.post(named, { decision: 'approve', broker: 'QUIET' })).location, named)
    assert.ok((await browser.approve(named)).includes('/oauth/auth'))
  })

  test('the picker lists every available broker, with none preselected', async () => {
    const { html } = await new Browser().get(await scene.link('picker', { broker: undefined }))
    const choices = [...html.matchAll(/<input type="radio" name="broker" value="(\w+)" required( checked)?>/g)]
    assert.deepEqual(
      choices.map(([, id, checked]) => [id, checked]),
      ['SANDBOX', 'ALPACA', 'TRADIER', 'TRADESTATION', 'QUIET'].map(id => [id, undefined])
    )
    assert.ok(html.includes('Quiet &lt;Brokers&gt;'))
  })

  test('a choice leads to that broker’s consent page, which has a link back to the choice', async () => {
    const browser = new Browser()
    const link = await scene.link('chooser', { broker: undefined })
    await browser.get(link)
    const chosen = await browser.post(link, { decision: 'approve', broker: 'ALPACA' })
    assert.deepEqual([chosen.status, chosen.location], [303, `${link}/allow/alpaca`])
    const requested = await browser.get(chosen.location)
    assert.match(requested.html, /would like to connect to your <bdi>Alpaca<\/bdi> account/)
    assert.match(requested.html, /You are <strong><bdi>chooser<\/bdi><\/strong> at <strong><bdi>Demo platform<\/bdi><\/strong>\./)
    assert.ok(requested.html.includes(`<a class="back" href="${new URL(link).pathname}">`))
    const address = new URL((await browser.post(chosen.location, { decision: 'approve', broker: 'TRADIER' })).location)
    assert.match(address.pathname, /alpaca/, 'the page is about the broker of its address')
    // Nobody is bound by a choice alone, and what is not on offer has no page.
    const other = new Browser()
    const undecided = await scene.link('chooser', { broker: undefined })
    await browser.get(undecided)
    await browser.post(undecided, { decision: 'approve', broker: 'ALPACA' })
    assert.equal((await other.get(undecided)).status, 200)
    for (const [name, status] of Object.entries({ unknown: 303, 'no%20name': 400, keyed: 303 }))
      assert.equal((await other.get(`${undecided}/allow/${name}`)).status, status, name)
    assert.equal((await other.post(`${undecided}/allow/alpaca`, { decision: 'decline' })).location, `${scene.url}/connect/result/declined`)
  })

  test('without a choice the page says so, by GET, until a broker is chosen', async () => {
    const browser = new Browser()
    const link = await scene.link('unchosen', { broker: undefined })
    const alert = /<p role="alert"[^>]*>Choose your broker to continue\.<\/p>/
    assert.doesNotMatch((await browser.get(link)).html, alert)
    const repeated = await browser.send(link, { decision: 'approve' })
    assert.match(repeated.html, alert)
    assert.match(repeated.html, /<title>Not yet: Choose your broker<\/title>/)
    assert.match((await browser.get(link)).html, alert, 'the page that is loaded again says the same')
    assert.doesNotMatch((await browser.get(await scene.link('unchosen', { broker: undefined }))).html, alert, 'another link says nothing')
    await browser.post(link, { decision: 'approve', broker: 'SANDBOX' })
    assert.doesNotMatch((await browser.get(link)).html, alert)
  })

  test('brokers are searched by a plain query, which is shown as text', async () => {
    const browser = new Browser()
    const link = await scene.link('search', { broker: undefined })
    const found = async (search: string) => {
      const { html } = await browser.get(`${link}?${new URLSearchParams({ search })}`)
      return [...html.matchAll(/name="broker" value="(\w+)"/g)].map(([, id]) => id)
    }
    assert.deepEqual(await found('trad'), ['TRADIER', 'TRADESTATION'])
    assert.deepEqual(await found(' STATION '), ['TRADESTATION'])
    assert.equal((await found('')).length, 5)
    assert.deepEqual(await found('nobody'), [])
    const { html } = await browser.get(`${link}?${new URLSearchParams({ search: '"><script>' })}`)
    assert.match(html, /No broker matches “<bdi>&quot;&gt;&lt;script&gt;<\/bdi>”/)
    assert.ok(!html.includes('<script') && !html.includes('class="primary"'), 'nothing can be gone on with')
    assert.match(html, /<form id="find" method="get"/)
  })

  test('names are shown as text, whatever they contain [S19]', async () => {
    const { html } = await new Browser().get(await scene.link(USER, {}, listed))
    assert.ok(html.includes('&quot;&gt;&lt;script&gt;alert(&#39;platform&#39;)&lt;/script&gt;&amp;amp;'), html)
    assert.ok(html.includes('&lt;img src=x onerror=&quot;alert(&#39;user&#39;)&quot;&gt;'), html)
    assert.ok(!/<script|<img/.test(html))
  })

  test('a redirect that is not exactly on the list is refused, and nothing links there [S12, S13]', async () => {
    for (const target of ALLOWED) assert.ok((await scene.link('s13', { redirect_url: target }, listed)).startsWith(`${scene.url}/connect/`))
    for (const target of [
      ...ALLOWED.flatMap(known => [
        `${known}/`,
        `${known}?x=1`,
        `${known}&x=1`,
        known.replace('app.', ''),
        known.toUpperCase(),
        `${known}/../linked`
      ]),
      'https://app.example.com/',
      'https://app.example.com.evil.example/linked',
      'https://app.example.com@evil.example/linked',
      '//app.example.com/linked',
      'http://127.0.0.1/linked'
    ])
      for (const field of ['redirect_url', 'redirect_on_error_url'])
        await assert.rejects(scene.link('s13', { [field]: target }, listed), new RegExp(`400 .*${field} must`), target)
  })

  test('an error is shown on a page, briefly, and logged once', async () => {
    const browser = new Browser()
    const link = await scene.link('trouble')
    attempts = { findByTokenHash: () => Promise.reject(new StoreUnavailable('the database is away')) }
    const away = await browser.get(link)
    attempts = { findByTokenHash: () => Promise.reject(new TypeError(`no such thing at ${link}`)) }
    const lines = scene.log().length
    const unforeseen = await browser.get(link)
    attempts = {}
    const logged = scene.log().slice(lines)
    assert.equal(logged.match(/a page failed unexpectedly/g)?.length, 1)
    assert.ok(!logged.includes(new URL(link).pathname))
    const tooLong = await browser.post(link, { decision: 'approve', broker: 'x'.repeat(5_000) })
    const noForm = await fetch(link, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } })
    assert.deepEqual([away.status, unforeseen.status, tooLong.status, noForm.status], [503, 500, 413, 415])
    assert.equal(away.headers.get('retry-after'), '1')
    assert.ok((noForm.headers.get('content-type') ?? '').startsWith('text/html'))
    for (const answer of [away, unforeseen, tooLong]) {
      assert.ok(answer.html.includes('<h1>Something went wrong here</h1>'))
      assert.ok(!answer.html.includes('TypeError') && !answer.html.includes('database'))
      isGuarded(answer, 'a failure')
    }
    assert.equal((await browser.get(link)).status, 200)
  })
})

test('over TLS, HSTS is set and the cookie is bound to this host [S18]', async () => {
  const port = await freePort()
  await using scene = await openScene(
    {},
    { TRUNKLINE_PUBLIC_URL: 'https://connect.example.com', TRUNKLINE_ALLOW_KEYS_BESIDE_DATA: '1', TRUNKLINE_PORT: String(port) },
    `http://127.0.0.1:${port}`
  )
  const link = new URL(await scene.link('tls'))
  assert.equal(link.origin, 'https://connect.example.com')
  const browser = new Browser()
  const shown = await browser.get(scene.url + link.pathname)
  assert.match(
    shown.headers.getSetCookie()[0] ?? '',
    /^__Host-trunkline-portal=[\w-]{43}\.[\w-]{43}; Max-Age=3600; Path=\/; HttpOnly; Secure; SameSite=Lax$/
  )
  assert.match(shown.headers.get('strict-transport-security') ?? '', /^max-age=31536000/)
  const { location } = await browser.post(scene.url + link.pathname, { decision: 'approve', broker: 'SANDBOX' })
  assert.equal(new URL(location).searchParams.get('redirect_uri'), 'https://connect.example.com/connect/callback/sandbox')
})

test('no secret of a whole connection flow is in the log, in the audit log, or on a wrong page [S20]', async () => {
  await using scene = await openScene()
  const browser = new Browser()
  const secrets: string[] = [scene.demo.client_secret]
  for (const end of ['connected', 'declined', 'used']) {
    const link = await scene.link(`s20-${end}`)
    secrets.push(new URL(link).pathname.slice('/connect/'.length))
    const address = new URL(await browser.approve(link))
    secrets.push(address.searchParams.get('state') ?? '', address.searchParams.get('code_challenge') ?? '')
    const callback = new URL(await browser.logIn(address.href, scene.demo))
    secrets.push(callback.searchParams.get('code') ?? '')
    if (end === 'declined') await browser.post(link, { decision: 'decline' })
    const answer = await browser.get(callback.href)
    assert.equal(answer.status, end === 'declined' ? 400 : 303)
    for (const secret of secrets) assert.ok(!answer.html.includes(secret) && !answer.location.includes(secret))
    if (end === 'used') {
      const { status, html } = await browser.get(callback.href)
      assert.equal(status, 400)
      for (const secret of secrets) assert.ok(!html.includes(secret))
    }
  }
  secrets.push(
    /trunkline-portal=([^;]*)/.exec(browser.cookies(scene.url))?.[1] ?? '',
    ...scene.demo.sandbox_logins.map(({ password }) => password)
  )
  const audit = JSON.stringify(await scene.store.audit.list(1_000))
  const log = scene.log()
  assert.ok(log.includes('/connect/callback/:broker') && audit.includes('connection.create'), 'both were written')
  for (const secret of secrets) {
    assert.ok(secret.length >= 8, secret)
    assert.ok(!log.includes(secret) && !audit.includes(secret), secret)
  }
})
