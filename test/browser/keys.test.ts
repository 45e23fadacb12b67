// A broker whose users enter keys of their own, in a real browser: the way there, a mistake, the way back, and the end.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { GOOD_KEYS } from './keyed-login.ts'
import { headingOf, openStage, type Stage } from './stage.ts'
import { visit } from './visit.ts'

describe('keys in a browser', () => {
  let stage: Stage
  before(async () => {
    stage = await openStage('packages/server/test/portal/program.ts')
  })
  after(() => stage[Symbol.asyncDispose]())

  async function toForm(page: Page, link: string): Promise<void> {
    await page.goto(link)
    await page.getByRole('button', { name: 'Continue to Keyed Trading' }).click()
    await page.getByLabel('Secret key').waitFor()
  }

  async function enter(page: Page, secret: string): Promise<void> {
    await page.getByLabel('API key').fill(GOOD_KEYS.key_id)
    await page.getByLabel('Secret key').fill(secret)
    await page.getByRole('button', { name: 'Connect' }).click()
  }

  for (const javaScriptEnabled of [true, false]) {
    test(`a mistake, and then a connection, ${javaScriptEnabled ? 'with' : 'without'} JavaScript`, async () => {
      await using walk = await visit(stage.browser, { javaScriptEnabled })
      const { page } = walk
      const user = await stage.user()
      const before = stage.site.arrivals.length
      await toForm(page, await stage.link(user, { broker: 'KEYED', redirect_url: `${stage.site.linked}?session=7` }))
      assert.equal(await headingOf(page), 'Enter your Keyed Trading keys')
      await enter(page, 'not-this-one')
      await page.getByRole('alert').waitFor()
      assert.equal(await page.getByLabel('API key').inputValue(), '', 'nothing entered comes back')
      assert.equal(await page.getByLabel('Secret key').inputValue(), '')
      await enter(page, GOOD_KEYS.secret_key)
      await page.getByRole('heading', { name: 'Back at the platform' }).waitFor()
      const [connection] = await stage.connections(user)
      assert.deepEqual(Object.fromEntries(new URL(page.url()).searchParams), { session: '7', connection_id: connection })
      for (const { headers } of stage.site.arrivals.slice(before)) assert.equal(headers.referer, undefined)
    })
  }

  test('a user who chooses sees which brokers only practise, can turn back, and can end it on our page', async () => {
    await using walk = await visit(stage.browser)
    const { page } = walk
    const user = await stage.user()
    await page.goto(await stage.link(user, { broker: undefined }))
    assert.ok(await page.getByRole('radio', { name: 'Trunkline Sandbox sandbox' }).isVisible())
    await page.getByRole('radio', { name: 'Keyed Trading paper' }).check()
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: 'Continue to Keyed Trading' }).click()
    await page.getByLabel('Secret key').waitFor()
    await page.getByRole('link', { name: 'Back' }).click()
    assert.match(await headingOf(page), /would like to connect to your Keyed Trading account/)
    await page.getByRole('link', { name: 'Back' }).click()
    assert.equal(await headingOf(page), 'Choose your broker')
    await page.getByRole('radio', { name: 'Keyed Trading paper' }).check()
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: 'Continue to Keyed Trading' }).click()
    await enter(page, GOOD_KEYS.secret_key)
    await page.waitForURL(`${stage.service.url}/connect/result/connected`)
    assert.equal((await stage.connections(user)).length, 1)
  })

  test('after a mistake, loading the page again and Back send nothing again', async () => {
    await using walk = await visit(stage.browser)
    const { page } = walk
    const link = await stage.link(await stage.user(), { broker: 'KEYED' })
    await toForm(page, link)
    const posts: string[] = []
    page.on('request', request => {
      if (request.method() === 'POST') posts.push(request.url())
    })
    await enter(page, 'not-this-one')
    await page.getByText('You have 4 more attempts with this link.').waitFor()
    assert.equal(posts.length, 1)
    assert.equal(await page.locator('input:focus').getAttribute('name'), 'key_id')
    for (const go of [() => page.reload(), () => page.goBack(), () => page.goForward()]) {
      await go()
      await page.getByText('You have 4 more attempts with this link.').waitFor()
    }
    assert.equal(posts.length, 1)
    assert.equal(await page.getByRole('alert').count(), 1)
  })

  test('an empty form is answered on the page, not by a bubble of the browser', async () => {
    await using walk = await visit(stage.browser)
    const { page } = walk
    await toForm(page, await stage.link(await stage.user(), { broker: 'KEYED' }))
    await page.getByRole('button', { name: 'Connect' }).click()
    await page.getByRole('alert').filter({ hasText: 'API key is missing.' }).waitFor()
    for (const label of ['API key', 'Secret key']) {
      const field = page.getByLabel(label)
      assert.equal(await field.getAttribute('aria-invalid'), 'true')
      const described = await field.getAttribute('aria-describedby')
      assert.equal(await page.locator(`#${described}`).innerText(), `${label} is missing.`)
    }
    await page.getByLabel('API key').fill(GOOD_KEYS.key_id)
    await page.getByRole('button', { name: 'Connect' }).click()
    await page.getByRole('alert').filter({ hasText: 'API key is missing.' }).waitFor({ state: 'detached' })
    assert.deepEqual(await page.getByRole('alert').allInnerTexts(), ['Secret key is missing.'])
    await page.getByRole('button', { name: 'Decline' }).click()
    await page.waitForURL(`${stage.service.url}/connect/result/declined`)
  })

  test('a form that was left open until the link expired, and keys that never fit', async () => {
    await using walk = await visit(stage.browser)
    const { page } = walk
    const user = await stage.user()
    await toForm(page, await stage.link(user, { broker: 'KEYED', redirect_url: stage.site.linked }))
    await stage.expireLinks()
    await enter(page, GOOD_KEYS.secret_key)
    await page.getByRole('heading', { name: 'Back at the platform' }).waitFor()
    assert.equal(new URL(page.url()).searchParams.get('error'), '400')
    await toForm(page, await stage.link(user, { broker: 'KEYED' }))
    for (let tries = 1; tries < 5; tries++) {
      await enter(page, `wrong-${tries}`)
      await page.getByRole('alert').waitFor()
    }
    await enter(page, 'wrong-5')
    await page.waitForURL(`${stage.service.url}/connect/result/keys_refused`)
    assert.deepEqual(await stage.connections(user), [])
  })
})
