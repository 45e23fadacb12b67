// The portal's steps where the user chooses the broker: search, choice, and the way back at each.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { goOn, headingOf, logIn, openStage, type Stage } from './stage.ts'
import { visit } from './visit.ts'

describe('the steps of the portal', () => {
  let stage: Stage
  before(async () => {
    stage = await openStage()
  })
  after(() => stage[Symbol.asyncDispose]())

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
