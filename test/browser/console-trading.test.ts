// Trading in the console: a whole trade by keyboard, what becomes of an order whose answer is lost, and users for whom nobody trades.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { PATIENCE_MS } from '@trunkline/testkit/patience'
import { until } from '@trunkline/testkit/until'
import type { BrowserContextOptions, Page } from 'playwright-core'
import type { Body } from '../acceptance/api.ts'
import { headed, judge, NO_SESSION, SharedConsole } from './console-stage.ts'
import { visit } from './visit.ts'

describe('trading in the console', () => {
  const at = new SharedConsole()

  // The page reads every few seconds, also at the moment at which it is left.
  const loggedIn = (options: BrowserContextOptions = {}, refusals = /^$/) => at.loggedIn(options, { isHurried: true, refusals })

  async function open(page: Page): Promise<void> {
    page.setDefaultTimeout(PATIENCE_MS)
    await page.goto(`${at.stage.service.url}/console/users/${at.userKey}`)
    await page.getByRole('link', { name: 'Trade in the sandbox' }).click()
    await headed(page, `Trade for ${at.trader.userId}`)
    await until(async () => (await labelOf(page)).startsWith('Chart of AAPL,'), 'the chart is there', PATIENCE_MS)
  }

  const ownOrders = async (): Promise<readonly Body[]> =>
    (await at.trader.orders()).filter(({ cl_order_id }) => cl_order_id.startsWith('console-'))

  test('a market order is estimated and placed by keyboard, its fill is on the chart, and the position and the money are there', async () => {
    await using walk = await loggedIn()
    const { page } = walk
    await open(page)
    // That of the order before, which is read beside the bars.
    await until(async () => (await labelOf(page)).endsWith('Fills marked: 1'), 'its mark', PATIENCE_MS)
    await page.getByLabel('Quantity').fill('3')
    await page.keyboard.press('Enter')
    await shows(page, '#ticket-result', /^BUY 3 AAPL: costs 300\.\d\d.* by the broker’s estimate/)
    await until(() => page.locator('#ticket-place:focus').isVisible(), 'the next key places it', PATIENCE_MS)
    await page.keyboard.press('Enter')
    await shows(page, '#ticket-result', /^BUY 3 AAPL \(market\): filled at 100\.01/)
    await until(async () => (await labelOf(page)).endsWith('Fills marked: 2'), 'the mark', PATIENCE_MS)
    await shows(page, '#fills tr:first-child td:nth-child(2)', /^BUY 3 AAPL$/)
    await shows(page, '#positions tr:first-child', /^AAPL5100\.01/)
    await shows(page, '#positions-as-of', /^as of \d+ \w+, [\d:]+, New York time$/)
    await shows(page, '#balances tr:first-child td:nth-child(2)', /^9,999,499\.95$/)
    const [order] = await ownOrders()
    assert.equal(order?.normalized_status, 'filled')
    assert.equal(await page.evaluate('sessionStorage.length'), 0, 'nothing is kept of an order whose outcome is known')
  })

  test('a limit order works until it is cancelled', async () => {
    await using walk = await loggedIn()
    const { page } = walk
    await open(page)
    await page.getByLabel('Quantity').fill('7')
    await page.getByLabel('Type').selectOption('LMT')
    await page.getByLabel('Limit price').fill('90.00')
    await place(page)
    const cancel = page.getByRole('button', { name: 'Cancel BUY 7 AAPL at limit 90.00' })
    await cancel.click()
    await shows(page, '#ticket-result', /^BUY 7 AAPL \(limit 90\.00\): cancelled/)
    await until(async () => (await cancel.count()) === 0, 'it works no more', PATIENCE_MS)
  })

  test('an order whose answer is lost is unknown, found again under its id, and never sent twice', async () => {
    await using walk = await loggedIn({}, /^502: .*\/orders$/)
    const { page } = walk
    await open(page)
    const texts: string[] = []
    await page.exposeFunction('received', (text: string) => void texts.push(text))
    await page.evaluate(`new MutationObserver(() => received(document.querySelector('#ticket-result').textContent))
      .observe(document.querySelector('#ticket-result'), { childList: true, characterData: true, subtree: true })`)
    let sent = 0
    // A list could have the order before its answer is lost: lists wait until that is shown.
    const lists = new Set<string>()
    const shown = Promise.withResolvers<void>()
    await page.route(/\/orders(\?(limit|status).*)?$/, async route => {
      if (route.request().method() !== 'POST') {
        lists.add(route.request().url())
        await shown.promise
        return route.continue()
      }
      sent += 1
      await route.fetch()
      await route.fulfill({ status: 502, body: 'Bad gateway' })
    })
    const before = (await ownOrders()).length
    await until(() => lists.size === 2, 'both lists wait', PATIENCE_MS)
    await page.getByLabel('Quantity').fill('11')
    await place(page)
    await until(() => texts.some(text => text.startsWith('Unknown, reading again')), 'it is shown as unknown', PATIENCE_MS)
    shown.resolve()
    await shows(page, '#ticket-result', /^BUY 11 AAPL \(market\): filled at/)
    assert.ok(!texts.some(text => /fail|not placed|refused/i.test(text)), texts.join('\n'))
    assert.deepEqual([sent, (await ownOrders()).length], [1, before + 1])
  })

  test('for a user who is not in the sandbox, or is disabled, the page says why and has no ticket', async () => {
    await using walk = await loggedIn({}, /^409: /)
    const { page } = walk
    const other = await at.stage.trader('disabled')
    const found = await page.context().request.get(`${at.stage.service.url}/admin/v1/search?q=${other.userId}`)
    const key = (await found.json()).data[0].user_key
    const { key: authorization } = await at.stage.operate('operator', 'key', 'create', '--name', 'manage', '--scope', 'manage')
    const headers = { authorization: `Bearer ${authorization}` }
    assert.equal((await fetch(`${at.stage.service.url}/admin/v1/users/${key}/disable`, { method: 'POST', headers })).status, 200)
    await page.goto(`${at.stage.service.url}/console/trade?user=${key}`)
    await page.getByRole('alert').getByText('user_not_tradable').waitFor()
    await page.getByText('Nothing can be placed here').waitFor()
    assert.equal(await page.locator('#ticket').count(), 0)
  })

  test('without the scope, and without a user, it says what is needed', async () => {
    await using walk = await visit(at.browser, {}, { refusals: NO_SESSION })
    const { page } = walk
    const { url } = await at.stage.operate('operator', 'link', '--scope', 'read')
    await page.goto(url.replace('/console/', `/console/trade?user=${at.userKey}`))
    await page.getByText('This page needs the scope sandbox').waitFor()
    await using able = await loggedIn()
    await able.page.goto(`${at.stage.service.url}/console/`)
    await able.page.getByRole('link', { name: 'Trade', exact: true }).click()
    await able.page.getByText('press Trade in the sandbox on the user’s page').waitFor()
  })

  test('it fits every width, and axe finds nothing', async () => {
    await using walk = await loggedIn({ bypassCSP: true, reducedMotion: 'reduce' })
    const { page } = walk
    await open(page)
    await shows(page, '#working tr td:nth-child(4)', /^working$/)
    await page.setViewportSize({ width: 375, height: 800 })
    const [box, button] = await Promise.all([
      page.locator('.account-box').first().boundingBox(),
      page.locator('#working button').first().boundingBox()
    ])
    if (box === null || button === null) return assert.fail('the table and its button are shown')
    assert.ok(button.x + button.width <= box.x + box.width, 'cancelling needs no scrolling')
    await judge(page, 'console-trade')
  })
})

async function place(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Preview' }).click()
  await page.getByRole('button', { name: 'Place order' }).click()
}

async function labelOf(page: Page): Promise<string> {
  return (await page.locator('#chart').getAttribute('aria-label')) ?? ''
}

async function shows(page: Page, selector: string, pattern: RegExp): Promise<void> {
  let last = ''
  const isShown = async () => {
    last =
      (await page.locator(selector).count()) === 0 ? '(not there)' : ((await page.locator(selector).first().textContent())?.trim() ?? '')
    return pattern.test(last)
  }
  try {
    await until(isShown, `${selector} says ${pattern}`, PATIENCE_MS)
  } catch (cause) {
    throw new Error(`${selector} says: ${last}`, { cause })
  }
}
