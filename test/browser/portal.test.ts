// The portal as its user meets it: every way through it and out of it, in a real browser.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { APIResponse, Page } from 'playwright-core'
import { enterDemo, goOn, headingOf, logIn, openStage, type Stage, walkToConsent } from './stage.ts'
import { visit } from './visit.ts'

describe('the portal in a browser', () => {
  let stage: Stage
  before(async () => {
    stage = await openStage()
  })
  after(() => stage[Symbol.asyncDispose]())

  const allow = (page: Page) => page.getByRole('button', { name: 'Allow' }).click()
  const decline = (page: Page) => page.getByRole('button', { name: 'Decline' }).click()
  const own = (reason: string) => `${stage.service.url}/connect/result/${reason}`

  /** The query with which the user came back to the platform. */
  async function arrival(page: Page, address: string): Promise<Readonly<Record<string, string>>> {
    await page.getByRole('heading', { name: 'Back at the platform' }).waitFor()
    const url = new URL(page.url())
    assert.equal(url.origin + url.pathname, address)
    return Object.fromEntries(url.searchParams)
  }

  test('who approves and logs in is back at the platform with a connection', async () => {
    await using walk = await visit(stage.browser)
    const { page } = walk
    const user = await stage.user()
    await page.goto(await stage.link(user, { redirect_url: `${stage.site.linked}?session=a%20b~c&sig=x%2Fy` }))
    assert.equal(await headingOf(page), 'Demo platform would like to connect to your Trunkline Sandbox account')
    assert.ok(await page.getByText(user.userId, { exact: true }).isVisible(), 'the page names the user')
    await goOn(page)
    await logIn(page, stage)
    assert.deepEqual(await stage.connections(user), [], 'nothing is connected before the broker says so')
    await allow(page)
    const { connection_id: connectionId, ...theirs } = await arrival(page, stage.site.linked)
    assert.deepEqual(theirs, { session: 'a b~c', sig: 'x/y' })
    assert.ok(new URL(page.url()).search.startsWith('?session=a%20b~c&sig=x%2Fy&connection_id='), 'the platform’s own text is untouched')
    assert.deepEqual(await stage.connections(user), [connectionId])
    for (const { headers } of stage.site.arrivals) assert.equal(headers.referer, undefined)
  })

  test('where there is no redirect address, the user stays on our page', async () => {
    await using walk = await visit(stage.browser)
    const { page } = walk
    const user = await stage.user()
    await walkToConsent(page, stage, await stage.link(user))
    await allow(page)
    await page.waitForURL(own('connected'))
    assert.equal(await headingOf(page), 'Your account is connected')
    assert.equal((await stage.connections(user)).length, 1)
  })

  test('who declines on our page is sent to the error address, else to the other one, else to our page', async () => {
    await using walk = await visit(stage.browser)
    const { page } = walk
    const user = await stage.user()
    const { linked, failed } = stage.site
    for (const [body, address] of [
      [{ redirect_url: linked, redirect_on_error_url: failed }, failed],
      [{ redirect_url: linked }, linked]
    ] as const) {
      await page.goto(await stage.link(user, body))
      await decline(page)
      const { error, error_details: details = '' } = await arrival(page, address)
      assert.equal(error, '401')
      assert.match(details, /declined/)
    }
    await page.goto(await stage.link(user))
    await decline(page)
    await page.waitForURL(own('declined'))
    assert.equal(await headingOf(page), 'Nothing was connected')
    assert.deepEqual(await stage.connections(user), [])
  })

  test('a platform whose address leads on to another host gets its user all the same', async () => {
    await using walk = await visit(stage.browser)
    const { page } = walk
    const elsewhere = new URL(stage.site.linked)
    elsewhere.hostname = 'localhost'
    await page.goto(await stage.link(await stage.user(), { redirect_url: stage.site.moved }))
    await decline(page)
    assert.equal((await arrival(page, elsewhere.href)).error, '401')
    await walkToConsent(page, stage, await stage.link(await stage.user(), { redirect_url: stage.site.moved }))
    await allow(page)
    assert.ok('connection_id' in (await arrival(page, elsewhere.href)))
  })

  test('who declines at the broker, before or after logging in, has declined', async () => {
    await using walk = await visit(stage.browser)
    const { page } = walk
    const user = await stage.user()
    await page.goto(await stage.link(user, { redirect_url: stage.site.linked }))
    await goOn(page)
    await page.getByRole('button', { name: 'Cancel' }).click()
    assert.equal((await arrival(page, stage.site.linked)).error, '401')
    await walkToConsent(page, stage, await stage.link(user, { redirect_url: stage.site.linked }))
    await decline(page)
    assert.equal((await arrival(page, stage.site.linked)).error, '401')
    assert.deepEqual(await stage.connections(user), [])
  })

  test('after a wrong password, loading the page again and Back send nothing again', async () => {
    for (const broker of ['SANDBOX', 'TRADIER']) {
      await using walk = await visit(stage.browser)
      const { page } = walk
      await page.goto(await stage.link(await stage.user(), { broker }))
      await goOn(page)
      const posts: string[] = []
      page.on('request', request => {
        if (request.method() === 'POST') posts.push(request.url())
      })
      await page.getByLabel('Username').fill('alex')
      await page.getByLabel('Password').fill('wrong')
      await page.getByRole('button', { name: 'Log in' }).click()
      await page.getByRole('alert').waitFor()
      await page.reload()
      await page.getByRole('alert').waitFor()
      assert.deepEqual([await page.getByLabel('Username').inputValue(), await page.getByLabel('Password').inputValue()], ['alex', ''])
      for (const go of [() => page.goBack(), () => page.goForward()]) {
        await go()
        await page.getByRole('alert').waitFor()
      }
      assert.equal(posts.length, 1)
    }
  })

  test('a wrong password is asked for again', async () => {
    await using walk = await visit(stage.browser)
    const { page } = walk
    const user = await stage.user()
    await page.goto(await stage.link(user))
    await goOn(page)
    await page.getByLabel('Username').fill('nobody')
    await page.getByLabel('Password').fill('wrong')
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByRole('alert').waitFor()
    await logIn(page, stage)
    await allow(page)
    await page.waitForURL(own('connected'))
  })

  test('an expired link says so, here or at the platform, also when it expires during the login', async () => {
    await using walk = await visit(stage.browser)
    const { page } = walk
    const user = await stage.user()
    const [quiet, returning] = [await stage.link(user), await stage.link(user, { redirect_url: stage.site.linked })]
    await stage.expireLinks()
    await page.goto(quiet)
    assert.equal(page.url(), own('expired'))
    assert.equal(await headingOf(page), 'This link has expired')
    await page.goto(returning)
    assert.equal((await arrival(page, stage.site.linked)).error, '400')

    await page.goto(await stage.link(user, { redirect_url: stage.site.linked }))
    await stage.expireLinks()
    await page.getByRole('button', { name: /^Continue/ }).click()
    assert.equal((await arrival(page, stage.site.linked)).error, '400')

    await walkToConsent(page, stage, await stage.link(user, { redirect_url: stage.site.linked }))
    await stage.expireLinks()
    await allow(page)
    assert.match((await arrival(page, stage.site.linked)).error_details ?? '', /expired/)
    assert.deepEqual(await stage.connections(user), [])
  })

  test('a link is used up by a connection and by a refusal', async () => {
    await using walk = await visit(stage.browser)
    const { page } = walk
    const user = await stage.user()
    const returning = await stage.link(user, { redirect_url: stage.site.linked })
    await walkToConsent(page, stage, returning)
    await allow(page)
    const { connection_id: connectionId } = await arrival(page, stage.site.linked)
    await page.goto(returning)
    const again = await arrival(page, stage.site.linked)
    assert.equal(again.error, '400')
    assert.equal(again.connection_id, undefined)
    const quiet = await stage.link(user)
    await page.goto(quiet)
    await decline(page)
    await page.waitForURL(own('declined'))
    await page.goto(quiet)
    assert.equal(page.url(), own('used'))
    assert.equal(await headingOf(page), 'This link was already used')
    assert.deepEqual(await stage.connections(user), [connectionId])
  })

  test('a link belongs to the browser that decided on it', async () => {
    await using first = await visit(stage.browser)
    await using second = await visit(stage.browser)
    const user = await stage.user()
    const link = await stage.link(user, { redirect_url: stage.site.linked })
    await second.page.goto(link)
    await first.page.goto(link)
    await goOn(first.page)
    for (const action of [() => second.page.getByRole('button', { name: /^Continue/ }).click(), () => second.page.goto(link)]) {
      await action()
      assert.equal(await headingOf(second.page), 'This link belongs to another browser')
      assert.equal(new URL(second.page.url()).origin, stage.service.url, 'nobody else learns where it leads')
    }
    await logIn(first.page, stage)
    await allow(first.page)
    assert.ok('connection_id' in (await arrival(first.page, stage.site.linked)))
    assert.equal((await stage.connections(user)).length, 1)
  })

  test('the broker’s answer counts once, and only in the browser that asked', async () => {
    await using first = await visit(stage.browser)
    await using second = await visit(stage.browser)
    const user = await stage.user()
    await walkToConsent(first.page, stage, await stage.link(user))
    const callback = await heldBack(first.page, () => allow(first.page))
    await second.page.goto(callback)
    assert.equal(await headingOf(second.page), 'This login is not the current one')
    assert.deepEqual(await stage.connections(user), [])
    await first.page.goto(callback)
    assert.equal(first.page.url(), own('connected'))
    await first.page.goto(callback)
    await first.page.waitForURL(own('connected'))
    assert.equal((await stage.connections(user)).length, 1)
  })

  test('an answer nobody asked for changes nothing', async () => {
    await using walk = await visit(stage.browser)
    const { page } = walk
    const state = 'A'.repeat(43)
    for (const query of ['', `?code=x&state=${state}`, `?error=access_denied&state=${state}`, '?state=', '?code=x']) {
      const answer = await page.goto(`${stage.service.url}/connect/callback/sandbox${query}`)
      assert.equal(answer?.status(), 400, query)
      assert.equal(await headingOf(page), 'This login is not the current one')
    }
  })

  for (const [broker, name] of [
    ['ALPACA', 'Alpaca'],
    ['TRADIER', 'Tradier'],
    ['TRADESTATION', 'TradeStation']
  ] as const) {
    test(`${name}, which the sandbox brokerage stands in for, is declined and connected like any other`, async () => {
      await using walk = await visit(stage.browser)
      const { page } = walk
      const user = await stage.user()
      await page.goto(await stage.link(user, { broker, redirect_url: stage.site.linked }))
      assert.equal(await headingOf(page), `Demo platform would like to connect to your ${name} account`)
      assert.ok(await page.getByText('sandbox', { exact: true }).isVisible(), 'nobody takes it for the real one')
      await goOn(page)
      await page.getByRole('button', { name: 'Cancel' }).click()
      assert.equal((await arrival(page, stage.site.linked)).error, '401')
      await walkToConsent(page, stage, await stage.link(user, { broker, redirect_url: stage.site.linked }))
      await allow(page)
      const { connection_id: connectionId } = await arrival(page, stage.site.linked)
      assert.deepEqual(await stage.connections(user), [connectionId])
    })
  }

  test('a broker that fails sends the user back with 500', async () => {
    await using walk = await visit(stage.browser)
    const { page } = walk
    const user = await stage.user()
    const { linked, failed } = stage.site
    for (const [fault, body, address] of [
      [{ on: 'token', do: 'status', status: 503, times: 1 }, { redirect_url: linked, redirect_on_error_url: failed }, failed],
      [{ on: 'token', do: 'garbage', times: 1 }, { redirect_url: linked }, linked],
      [{ on: 'accounts.list', do: 'reset', times: 3 }, { redirect_url: linked }, linked]
    ] as const) {
      await walkToConsent(page, stage, await stage.link(user, body))
      await control(stage, 'POST', '/faults', fault)
      await allow(page)
      assert.equal((await arrival(page, address)).error, '500', JSON.stringify(fault))
      await control(stage, 'DELETE', '/faults')
    }
    await walkToConsent(page, stage, await stage.link(user))
    await control(stage, 'POST', '/faults', { on: 'token', do: 'reset', times: 1 })
    await allow(page)
    await page.waitForURL(own('broker_down'))
    assert.equal(await headingOf(page), 'Your broker did not answer')
    await control(stage, 'DELETE', '/faults')
    assert.deepEqual(await stage.connections(user), [])
  })

  test('the first page of the service opens the portal at a press of its button', async () => {
    await using walk = await visit(stage.browser)
    const { page } = walk
    await enterDemo(page, stage.service)
    await page.getByRole('button', { name: 'Open the portal' }).click()
    await page.getByRole('radio', { name: 'Trunkline Sandbox' }).check()
    await page.getByRole('button', { name: 'Continue', exact: true }).click()
    await goOn(page)
    await logIn(page, stage)
    await allow(page)
    await page.waitForURL(own('connected'))
  })

  test('the whole way works without JavaScript', async () => {
    await using walk = await visit(stage.browser, { javaScriptEnabled: false })
    const { page } = walk
    const user = await stage.user()
    await walkToConsent(page, stage, await stage.link(user, { redirect_url: stage.site.linked }))
    await allow(page)
    assert.ok('connection_id' in (await arrival(page, stage.site.linked)))
  })

  test('the whole way works with the keyboard alone, and shows where one is', async () => {
    await using walk = await visit(stage.browser)
    const { page } = walk
    const { username = '', password = '' } = stage.service.demo.sandbox_logins[0] ?? {}
    const press = async (name: string) => {
      await tabTo(page, name)
      await page.keyboard.press('Enter')
    }
    await page.goto(await stage.link(await stage.user(), { redirect_url: stage.site.linked }))
    await press('Continue to Trunkline Sandbox')
    await page.getByRole('heading', { name: 'Log in' }).waitFor()
    await tabTo(page, 'Username')
    await page.keyboard.type(username)
    await tabTo(page, 'Password')
    await page.keyboard.type(password)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Allow' }).waitFor()
    await press('Allow')
    assert.ok('connection_id' in (await arrival(page, stage.site.linked)))
  })
})

/** Does `act`, which ends the broker's part, and gives the address the browser would go to next without letting it go there. */
async function heldBack(page: Page, work: () => Promise<void>): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  await page.route('**/login/**', async route => {
    let answer = await route.fetch({ maxRedirects: 0 })
    let next = nextOf(answer)
    while (!next.includes('/connect/callback/')) {
      answer = await page.request.get(next, { maxRedirects: 0 })
      next = nextOf(answer)
    }
    await route.fulfill({ status: 200, contentType: 'text/html', body: '<link rel="icon" href="data:,">held back' })
    resolve(next)
  })
  await work()
  const next = await promise
  await page.unroute('**/login/**')
  return next
}

function nextOf(answer: APIResponse): string {
  const { location } = answer.headers()
  assert.ok(location !== undefined, `${answer.status()} of ${answer.url()} leads nowhere`)
  return new URL(location, answer.url()).href
}

async function control({ service }: Stage, method: string, path: string, body?: object): Promise<void> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  const answer = await fetch(service.demo.sandbox_control_url + path, { method, ...sent })
  assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${await answer.text()}`)
}

const STOPS_MAX = 12

/** Presses Tab until the focus is on the element of that name, which must then be outlined. */
async function tabTo(page: Page, name: string): Promise<void> {
  const passed: string[] = []
  for (let stop = 0; stop < STOPS_MAX; stop++) {
    await page.keyboard.press('Tab')
    const [label, outline] = await page.evaluate<[string, number]>(`(() => {
      const at = document.activeElement
      return [at.labels?.[0]?.innerText ?? at.innerText ?? '', Number(getComputedStyle(at).outlineWidth.replace('px', ''))]
    })()`)
    assert.ok(outline >= 2, `nothing shows that "${label}" has the focus`)
    if (label.replace(/\s+/g, ' ').trim() === name) return
    passed.push(label)
  }
  assert.fail(`no way with Tab to "${name}": ${passed.join(', ')}`)
}
