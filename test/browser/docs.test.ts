// The documentation in a browser: what its script adds, by keyboard and by mouse, and what stays without it.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { enterDemo, openStage, type Stage } from './stage.ts'
import { visit } from './visit.ts'

describe('the documentation', () => {
  let stage: Stage
  before(async () => {
    stage = await openStage()
  })
  after(() => stage[Symbol.asyncDispose]())

  const entry = (page: Page, operation: string) => page.locator(`article#${operation}`)
  const open = (page: Page, path = '/docs') => page.goto(stage.service.url + path)

  test('shows every call one below the other without scripts', async () => {
    await using walk = await visit(stage.browser, { javaScriptEnabled: false })
    const { page } = walk
    await open(page)
    const calls = entry(page, 'placeOrder').locator('pre.call')
    const shown = (await calls.all()).map(async each => [await each.getAttribute('data-language'), await each.isVisible()])
    assert.deepEqual(await Promise.all(shown), [
      ['curl', true],
      ['TypeScript', true]
    ])
  })

  test('shows calls in the language that was chosen once, on every page from then on', async () => {
    await using walk = await visit(stage.browser)
    const { page } = walk
    await open(page)
    const tab = (operation: string, name: string) => entry(page, operation).getByRole('tab', { name })
    await tab('placeOrder', 'curl').focus()
    await page.keyboard.press('ArrowRight')
    for (const operation of ['placeOrder', 'listEvents']) {
      assert.equal(await tab(operation, 'TypeScript').getAttribute('aria-selected'), 'true')
      assert.equal(await entry(page, operation).getByText('curl -X', { exact: false }).first().isVisible(), false)
    }
    await page.reload()
    await entry(page, 'placeOrder').getByText('await ada.orders.place(').waitFor()
  })

  test('copies a call', async () => {
    await using walk = await visit(stage.browser, { permissions: ['clipboard-read', 'clipboard-write'] })
    const { page } = walk
    await open(page)
    const copied = entry(page, 'listBrokers').locator('.copied').first()
    await copied.hover()
    await copied.getByRole('button', { name: 'Copy' }).click()
    await copied.getByRole('button', { name: 'Copied' }).waitFor()
    const text = await page.evaluate('navigator.clipboard.readText()')
    assert.match(String(text), new RegExp(`^curl '${stage.service.url}/brokers' `))
  })

  test('is searched by keyboard, from any page', async () => {
    await using walk = await visit(stage.browser)
    const { page } = walk
    await open(page, '/docs/errors/internal')
    await page.getByRole('combobox').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('cancel order')
    await page.getByRole('option', { name: 'Cancel an open order' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.getByRole('option', { selected: true }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(url => url.pathname === '/docs' && url.hash !== '')
    await page.getByRole('combobox').waitFor()
    await page.keyboard.press('/')
    await page.getByRole('combobox').fill('zyzzyva')
    await page.getByText('Nothing found').waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('Nothing found').waitFor({ state: 'hidden' })
  })

  test('is searched again at the next key when what is searched could not be read', async () => {
    await using walk = await visit(stage.browser, {}, { refusals: /^503: .*\/docs\/search\.json$/ })
    const { page } = walk
    await page.route('**/docs/search.json', route => route.fulfill({ status: 503, json: { code: 'store_unavailable', message: 'Later.' } }))
    await open(page, '/docs/errors/internal')
    const field = page.getByRole('combobox')
    await field.pressSequentially('cance')
    await page.getByText('could not be read').waitFor()
    await page.unroute('**/docs/search.json')
    await field.press('l')
    await page.getByRole('option', { name: 'Cancel an open order' }).waitFor()
  })

  test('has the meaning of a field below its name on a phone, as wide as the page', async () => {
    await using walk = await visit(stage.browser, { viewport: { width: 375, height: 800 } })
    const { page } = walk
    await open(page)
    const row = entry(page, 'listUsers').locator('table.fields tbody tr').first()
    const [name, meaning, whole] = [
      await row.locator('th').boundingBox(),
      await row.locator('td').last().boundingBox(),
      await row.boundingBox()
    ]
    assert.ok(name && meaning && whole)
    assert.ok(meaning.y >= name.y + name.height && meaning.width > whole.width - 1, `${meaning.width} of ${whole.width}`)
  })

  test('lets nobody send requests with the demo platform but the browser that opened the printed link', async () => {
    await using walk = await visit(stage.browser)
    const { page } = walk
    const offered = page.waitForResponse(`${stage.service.url}/demo-request`)
    await open(page)
    assert.equal((await offered).status(), 204)
    assert.equal(await page.getByText('Try it with the demo platform').count(), 0)
  })

  test('places an order with the demo platform, and finds it again', async () => {
    await using walk = await visit(stage.browser)
    const { page } = walk
    await enterDemo(page, stage.service)
    await open(page)
    const place = entry(page, 'placeOrder')
    await place.getByText('Try it with the demo platform').click()
    await place.getByRole('button', { name: 'Send' }).click()
    await place.getByText('Answered 201').waitFor()
    const [, orderId = ''] = /"order_id": "([^"]+)"/.exec((await place.locator('.trial .answer').textContent()) ?? '') ?? []
    const read = entry(page, 'readOrder')
    await read.getByText('Try it with the demo platform').click()
    await read.getByRole('button', { name: 'Send' }).waitFor()
    assert.equal(await read.locator('.trial input').inputValue(), `/orders/${orderId}`)
    await read.locator('.trial input').fill('//other.example/orders')
    await read.getByRole('button', { name: 'Send' }).click()
    await read.getByText('Not sent').waitFor()
    await read.locator('.trial input').fill('/orders/nothing')
    await read.getByRole('button', { name: 'Send' }).click()
    await read.getByText('Answered 400').waitFor()
    await read.locator('.trial .answer').getByText('path_invalid').waitFor()
  })
})
