// The practice account on the live page: orders by its ticket, their fills on the chart, and what becomes of one whose answer is lost.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { PATIENCE_MS } from '@trunkline/testkit/patience'
import { until } from '@trunkline/testkit/until'
import type { Page, Request } from 'playwright-core'
import { fits, passesAxe, SCHEMES } from './fitness.ts'
import { enterDemo, openStage, type Stage } from './stage.ts'
import { visit } from './visit.ts'

describe('the practice account of the live page', () => {
  let stage: Stage
  before(async () => {
    stage = await openStage()
  })
  after(() => stage[Symbol.asyncDispose]())

  async function open(page: Page, symbol = 'AAPL'): Promise<void> {
    page.setDefaultTimeout(PATIENCE_MS)
    await enterDemo(page, stage.service)
    await page.goto(`${stage.service.url}/docs/live`)
    await page.getByLabel('Symbol', { exact: true }).fill(symbol)
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await shows(page, '#trading-status', /^Live/)
    await until(async () => (await labelOf(page)).startsWith(`Chart of ${symbol},`), 'the chart is there', PATIENCE_MS)
  }

  test('a market order is estimated, placed by keyboard, filled, and marked on the chart at its bar', async () => {
    await using walk = await visit(stage.browser)
    const { page } = walk
    await open(page)
    assert.equal(await textOf(page, '#ticket-symbol'), 'AAPL')
    assert.ok(!(await labelOf(page)).includes('Fills marked'))
    assert.equal(await hasMark(page), false)
    await page.getByLabel('Quantity').fill('3')
    await page.keyboard.press('Enter')
    await shows(page, '#ticket-result', /^BUY 3 AAPL: costs [\d,.]+.* by the broker’s estimate/)
    await until(() => page.locator('#ticket-place:focus').isVisible(), 'the next key places it', PATIENCE_MS)
    await page.keyboard.press('Enter')
    await shows(page, '#ticket-result', /^BUY 3 AAPL \(market\): filled at \d+\.\d\d/)
    await until(async () => (await labelOf(page)).includes('Fills marked: 1'), 'the mark', PATIENCE_MS)
    await until(() => hasMark(page), 'its colour is on the chart', PATIENCE_MS)
    await shows(page, '#fills tr:first-child td:nth-child(2)', /^BUY 3 AAPL$/)
    const position = page.locator('#positions tr', { has: page.getByRole('rowheader', { name: 'AAPL', exact: true }) })
    await until(async () => (await position.count()) === 1, 'the position', PATIENCE_MS)
    assert.match((await position.locator('td').first().textContent()) ?? '', /^\d+$/)
    await shows(page, '#balances tr:first-child td:nth-child(2)', /^-?[\d,]+\.\d\d$/)
    assert.deepEqual(await page.evaluate('sessionStorage.length'), 0, 'nothing is kept of an order whose outcome is known')
  })

  test('a limit order works until it is cancelled, and a stop order has a stop price', async () => {
    await using walk = await visit(stage.browser)
    const { page } = walk
    await open(page)
    for (const [type, label, price, shown] of [
      ['LMT', 'Limit price', '100.00', /^BUY 2 AAPL \(limit 100\.00\): cancelled/],
      ['STP', 'Stop price', '900.00', /^BUY 2 AAPL \(stop 900\.00\): cancelled/]
    ] as const) {
      await page.getByLabel('Quantity').fill('2')
      await page.getByLabel('Type').selectOption(type)
      await page.getByLabel(label).fill(price)
      await place(page)
      await shows(page, '#working tr td:nth-child(4)', /^working$/)
      assert.equal(await textOf(page, '#working-count'), '1')
      await page.getByRole('button', { name: /^Cancel BUY 2 AAPL/ }).click()
      await shows(page, '#ticket-result', shown)
      await until(async () => (await page.locator('#working tr').count()) === 0, 'it works no more', PATIENCE_MS)
    }
  })

  test('what the broker would refuse is not placed, and an estimate is of the terms in the form', async () => {
    await using walk = await visit(stage.browser)
    const { page } = walk
    await open(page)
    await page.getByLabel('Quantity').fill('90000000')
    await page.getByRole('button', { name: 'Preview' }).click()
    await shows(page, '#ticket-result', /^The broker would refuse BUY 90,000,000 AAPL: ./)
    assert.ok(await page.locator('#ticket-place').isHidden())
    await page.getByLabel('Quantity').fill('1')
    await page.getByRole('button', { name: 'Preview' }).click()
    await page.locator('#ticket-place').waitFor()
    await page.getByLabel('Quantity').fill('2')
    assert.ok(await page.locator('#ticket-place').isHidden())
    await page.getByLabel('Symbol', { exact: true }).fill('BTC/USD')
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await shows(page, '#ticket-symbol', /^BTC\/USD$/)
    const account = page.locator('#ticket-account')
    await until(async () => ((await account.locator('option:checked').textContent()) ?? '').endsWith('crypto'), 'its account', PATIENCE_MS)
  })

  test('an order whose answer is lost is unknown, never refused, and known as soon as an update has it; there is one of it', async () => {
    await using walk = await visit(stage.browser, {}, { isHurried: true, refusals: /^502: .*\/orders/ })
    const { page } = walk
    const held: (() => void)[] = []
    let isHeld = false
    await page.routeWebSocket(/\/stream$/, socket => {
      const server = socket.connectToServer()
      server.onMessage(message => {
        if (isHeld) held.push(() => socket.send(message))
        else socket.send(message)
      })
    })
    await open(page, 'MSFT')
    const received: string[] = []
    await page.exposeFunction('received', (text: string) => void received.push(text))
    await page.evaluate(`new MutationObserver(() => received(document.querySelector('#ticket-result').textContent))
      .observe(document.querySelector('#ticket-result'), { childList: true, characterData: true, subtree: true })`)
    const ids = new Set<string>()
    // Neither the answer to the order nor that of a search for it ever comes: only the stream has it.
    await page.route(/\/orders(\?cl_order_id=.*)?$/, async route => {
      if (route.request().method() === 'POST') {
        ids.add(route.request().postDataJSON().cl_order_id)
        await route.fetch()
      }
      await route.fulfill({ status: 502, body: 'Bad gateway' })
    })
    isHeld = true
    await place(page)
    await shows(page, '#ticket-result', /^Unknown, reading again/)
    isHeld = false
    for (const release of held.splice(0)) release()
    await shows(page, '#ticket-result', /^BUY 10 MSFT \(market\): filled at/)
    assert.equal(ids.size, 1)
    assert.ok(!received.some(text => /fail|not placed|refused/i.test(text)), received.join('\n'))
    assert.equal(await page.evaluate('sessionStorage.length'), 0)
    await shows(page, '#fills-count', /^\d+$/)
    const fills = await page.locator('#fills td:nth-child(2)').allTextContents()
    assert.equal(fills.filter(text => text.endsWith(' MSFT')).length, 1, fills.join())
  })

  test('a page that is left before the answer finds its order again, and sends nothing', async () => {
    await using walk = await visit(stage.browser, {}, { isHurried: true })
    const { page } = walk
    await open(page, 'SPY')
    const sent: Request[] = []
    await page.route(/\/orders$/, route => (route.request().method() === 'POST' ? void sent.push(route.request()) : route.continue()))
    await place(page)
    await until(() => sent.length === 1, 'it was sent', PATIENCE_MS)
    const [order] = sent
    if (order === undefined) return assert.fail('it was sent')
    // It arrives once nobody is there to see it.
    await page.goto(`${stage.service.url}/docs`)
    const arrived = await page.request.post(order.url(), { headers: await order.allHeaders(), data: order.postData() ?? '' })
    assert.equal(arrived.status(), 201)
    await page.goto(`${stage.service.url}/docs/live`)
    await shows(page, '#ticket-result', /^BUY 10 SPY \(market\): filled at/)
    assert.equal(sent.length, 1)
    assert.equal(await page.evaluate('sessionStorage.length'), 0)
  })

  test('a user’s secret that was replaced is asked for again', async () => {
    await using walk = await visit(stage.browser, {}, { refusals: /^401: / })
    const { page } = walk
    await open(page)
    await stage.api.call('POST', '/users/reference/rotate-secret', { headers: stage.api.platform })
    await page.getByRole('button', { name: 'Preview' }).click()
    await shows(page, '#ticket-result', /^There is no estimate, and nothing was placed/)
    const isEstimated = async () => {
      await page.getByRole('button', { name: 'Preview' }).click()
      await shows(page, '#ticket-result', /^(?!Estimating)/)
      return page.locator('#ticket-place').isVisible()
    }
    await until(isEstimated, 'it goes on', PATIENCE_MS)
  })

  test('an estimate cannot be placed once the account is closed, and the account is opened again', async () => {
    await using walk = await visit(stage.browser, {}, { refusals: /^40[14]: / })
    const { page } = walk
    await open(page)
    await page.getByRole('button', { name: 'Preview' }).click()
    await page.locator('#ticket-place').waitFor()
    await stage.api.call('DELETE', '/users/reference', { headers: stage.api.platform })
    await shows(page, '#ticket-result', /^The account is not connected at the moment. Nothing was placed/)
    assert.ok(await page.locator('#ticket-place').isHidden())
    await shows(page, '#trading-status', /^Live/)
  })

  test('an account that the service cannot open at first is asked for again', async () => {
    await using walk = await visit(stage.browser, {}, { refusals: /^503: / })
    const { page } = walk
    let isDown = true
    await page.route('**/demo-credentials', route => (isDown ? route.fulfill({ status: 503 }) : route.continue()))
    await enterDemo(page, stage.service)
    await page.goto(`${stage.service.url}/docs/live`)
    await shows(page, '#trading-status', /^Not connected: The service has no practice account at the moment \(503\)/)
    isDown = false
    await shows(page, '#trading-status', /^Live/)
  })

  test('a browser that may not see the demo platform shows why there is no ticket, and asks for a token in letters to be read', async () => {
    await using walk = await visit(stage.browser)
    const { page } = walk
    await page.goto(`${stage.service.url}/docs/live`)
    await shows(page, '#trading-status', /demo platform only: open the link that npm start printed/)
    assert.ok(await page.locator('#ticket').isHidden())
    assert.equal(await page.getByRole('button', { name: 'Preview' }).count(), 0)
    const [hint, label] = await page.evaluate<[string, string]>(
      `[getComputedStyle(document.querySelector('#token'), '::placeholder'), getComputedStyle(document.querySelector('#token-form label'))]
        .map(({ color, opacity }) => color + ' ' + opacity)`
    )
    assert.equal(hint, label)
  })

  test('fits a phone, and axe finds nothing', async () => {
    for (const colorScheme of SCHEMES) {
      await using walk = await visit(stage.browser, { colorScheme, bypassCSP: true, viewport: { width: 375, height: 800 } })
      const { page } = walk
      await open(page)
      await page.getByLabel('Type').selectOption('LMT')
      await page.getByLabel('Limit price').fill('100')
      await place(page)
      await shows(page, '#working tr td:nth-child(4)', /^working$/)
      for (const width of [320, 375, 1024, 1440]) {
        await page.setViewportSize({ width, height: 900 })
        await fits(page, `${width} px`)
      }
      await passesAxe(page, colorScheme)
      await page.getByRole('button', { name: /^Cancel BUY/ }).click()
      await until(async () => (await page.locator('#working tr').count()) === 0, 'it works no more', PATIENCE_MS)
    }
  })
})

async function place(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Preview' }).click()
  await page.getByRole('button', { name: 'Place order' }).click()
}

async function textOf(page: Page, selector: string): Promise<string> {
  return (await page.locator(selector).first().textContent())?.trim() ?? ''
}

async function shows(page: Page, selector: string, pattern: RegExp): Promise<void> {
  let last = ''
  const isShown = async () => {
    last = (await page.locator(selector).count()) === 0 ? '(not there)' : await textOf(page, selector)
    return pattern.test(last)
  }
  try {
    await until(isShown, `${selector} says ${pattern}`, PATIENCE_MS)
  } catch (cause) {
    throw new Error(`${selector} says: ${last}`, { cause })
  }
}

async function labelOf(page: Page): Promise<string> {
  return (await page.locator('#chart').getAttribute('aria-label')) ?? ''
}

/** Whether the chart has a pixel of the colour that marks purchases. */
function hasMark(page: Page): Promise<boolean> {
  return page.evaluate(`(() => {
    const probe = document.createElement('span')
    probe.style.color = 'var(--buy)'
    document.body.append(probe)
    const wanted = getComputedStyle(probe).color.match(/\\d+/g).map(Number)
    probe.remove()
    const copy = document.createElement('canvas').getContext('2d', { willReadFrequently: true })
    for (const canvas of document.querySelectorAll('#chart canvas')) {
      if (canvas.width === 0 || canvas.height === 0) continue
      Object.assign(copy.canvas, { width: canvas.width, height: canvas.height })
      copy.drawImage(canvas, 0, 0)
      const { data } = copy.getImageData(0, 0, canvas.width, canvas.height)
      for (let at = 0; at < data.length; at += 4) if (wanted.every((value, part) => data[at + part] === value)) return true
    }
    return false
  })()`)
}
