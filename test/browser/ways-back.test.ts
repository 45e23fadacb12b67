// Ways through the portal and out of it: back at each step, and on from every end, also for those who come without a link or click twice.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { goOn, headingOf, logIn, openStage, type Stage } from './stage.ts'
import { visit } from './visit.ts'

describe('the ways through the portal and back', () => {
  let stage: Stage
  before(async () => {
    stage = await openStage()
  })
  after(() => stage[Symbol.asyncDispose]())

  const own = (reason: string) => `${stage.service.url}/connect/result/${reason}`

  test('who stays on our page has a way back to the application', async () => {
    await using walk = await visit(stage.browser)
    const { page } = walk
    await page.goto(await stage.link(await stage.user()))
    await page.getByRole('button', { name: 'Decline' }).click()
    await page.waitForURL(own('declined'))
    await page.getByText('start again from Demo platform').waitFor()
    for (const address of [
      own('declined'),
      own('broker_down'),
      `${stage.service.url}/connect/${'x'.repeat(43)}`,
      `${stage.service.url}/connect`
    ]) {
      await page.goto(address)
      await page.getByRole('link', { name: 'Back to Demo platform' }).click()
      assert.equal(await headingOf(page), 'Trunkline is running')
    }
  })

  test('a user who opens the portal without a link reads what to do, and finds the start page', async () => {
    await using walk = await visit(stage.browser)
    const { page } = walk
    await page.goto(`${stage.service.url}/connect`)
    assert.equal(await headingOf(page), 'Open your connection link')
    await page.getByText('Request a link in the application you came from, and open it in this browser.').waitFor()
    await page.getByRole('link', { name: 'Go to the start page' }).click()
    assert.equal(await headingOf(page), 'Trunkline is running')
  })

  for (const broker of ['SANDBOX', 'TRADESTATION'])
    test(`every button clicked twice, at ${broker} too: each question is seen, and the user arrives`, async () => {
      await using walk = await visit(stage.browser, {}, { isHurried: true })
      const { page } = walk
      const user = await stage.user()
      await page.goto(await stage.link(user, { broker, redirect_url: stage.site.linked }))
      await page.getByRole('button', { name: /^Continue/ }).dblclick()
      await page.getByLabel('Username').fill(stage.service.demo.sandbox_logins[0]?.username ?? '')
      await page.getByLabel('Password').fill(stage.service.demo.sandbox_logins[0]?.password ?? '')
      await page.getByRole('button', { name: 'Log in' }).dblclick()
      await page.getByRole('button', { name: 'Allow' }).waitFor()
      await page.waitForLoadState('networkidle')
      assert.deepEqual(await stage.connections(user), [], 'nothing was allowed unseen')
      await page.getByRole('button', { name: 'Allow' }).dblclick()
      await page.getByRole('heading', { name: 'Back at the platform' }).waitFor()
      assert.deepEqual(await stage.connections(user), [new URL(page.url()).searchParams.get('connection_id')])
    })

  test('a broker is searched for, chosen and connected in steps, with the way back at each', async () => {
    for (const javaScriptEnabled of [true, false]) {
      await using walk = await visit(stage.browser, { javaScriptEnabled })
      const { page } = walk
      const user = await stage.user()
      await page.goto(await stage.link(user, { broker: undefined, redirect_url: stage.site.linked }))
      assert.equal(await headingOf(page), 'Choose your broker')
      assert.ok(await page.getByText(user.userId, { exact: true }).isVisible(), 'the page names the user')
      await page.getByRole('button', { name: 'Continue' }).click()
      await page.getByText('Choose your broker to continue.').waitFor()
      await page.getByLabel('Search by name').fill('trad')
      await page.keyboard.press('Enter')
      await page.getByText('2 of 4 brokers match').waitFor()
      await page.getByRole('radio', { name: 'TradeStation' }).check()
      await page.getByRole('button', { name: 'Continue' }).click()
      assert.equal(await headingOf(page), 'Demo platform would like to connect to your TradeStation account')
      await page.goBack()
      await page.getByRole('link', { name: 'Show all' }).click()
      await page.getByRole('radio', { name: 'Tradier' }).check()
      await page.getByRole('button', { name: 'Continue' }).click()
      await page.getByRole('link', { name: 'Back' }).click()
      await page.getByRole('radio', { name: 'Trunkline Sandbox' }).check()
      await page.getByRole('button', { name: 'Continue' }).click()
      await goOn(page)
      await logIn(page, stage)
      await page.getByRole('button', { name: 'Allow' }).click()
      await page.getByRole('heading', { name: 'Back at the platform' }).waitFor()
      assert.deepEqual([new URL(page.url()).searchParams.get('connection_id')], await stage.connections(user))
    }
  })
})
