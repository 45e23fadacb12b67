// The page that shows a market live: its figures move, it says what is wrong and what to do, and it lets nothing in and nothing out.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { PATIENCE_MS } from '@trunkline/testkit/patience'
import { until } from '@trunkline/testkit/until'
import type { Page } from 'playwright-core'
import type { User } from '../acceptance/api.ts'
import { enterDemo, openStage, type Stage, walkToConsent } from './stage.ts'
import { visit } from './visit.ts'

describe('the live page', () => {
  let stage: Stage
  before(async () => {
    stage = await openStage()
  })
  after(() => stage[Symbol.asyncDispose]())

  const address = () => `${stage.service.url}/docs/live`

  test('in a browser in which the first page was opened it connects by itself, and everything on it moves', async () => {
    await using walk = await visit(stage.browser)
    const { page } = walk
    await enterDemo(page, stage.service)
    await page.goto(address())
    await shows(page, '#state', 'Live · SANDBOX')
    await untilBars(page, count => count >= 300)
    // The canvas is drawn with the next frame, which a busy machine shows late.
    await until(async () => (await drawn(page)).colors > 10, 'the candles are drawn', PATIENCE_MS)
    const [price, candles] = [await textOf(page, '#quote-last'), await drawn(page)]
    await until(async () => (await textOf(page, '#quote-last')) !== price, 'the price moves', PATIENCE_MS)
    await until(async () => (await drawn(page)).hash !== candles.hash, 'the chart moves', PATIENCE_MS)
    await until(async () => (await textOf(page, '#trades tr:first-child td:nth-child(2)')) !== '', 'a trade is sent', PATIENCE_MS)
  })

  test('depth stands beside the chart: ten levels a side, best in the middle', async () => {
    await using walk = await visit(stage.browser, { viewport: { width: 1440, height: 900 } })
    const { page } = walk
    await enterDemo(page, stage.service)
    await page.goto(address())
    await until(async () => (await prices(page, '#bids')).length === 10, 'the book is there', PATIENCE_MS)
    // Read at one moment: the book moves between two questions.
    const [asks, bids] = await page.evaluate<[string[], string[]]>(
      `['#asks', '#bids'].map(side => [...document.querySelectorAll(side + ' th')].map(cell => cell.textContent))`
    )
    const ladder = [...asks, ...bids].map(Number)
    assert.equal(ladder.length, 20)
    assert.deepEqual(
      ladder,
      [...new Set(ladder)].toSorted((a, b) => b - a)
    )
    const [chart, depth] = await Promise.all(['.chart-card', '.depth-card'].map(area => page.locator(area).boundingBox()))
    assert.ok(chart && depth && depth.x > chart.x + chart.width && Math.abs(depth.y - chart.y) < 1, 'beside it')
  })

  test('where the broker has no depth everything else is shown, and their card says why they are not', async () => {
    await using walk = await visit(stage.browser)
    const { page } = walk
    const { token } = await connected(page, stage, await stage.user(), 'TRADIER')
    await page.goto(address())
    await page.getByLabel('Access token').fill(token)
    await page.getByRole('button', { name: 'Connect' }).click()
    await shows(page, '#state', 'Live · TRADIER')
    await until(async () => (await textOf(page, '#depth-status')).startsWith('Tradier has no depth'), 'the card says so', PATIENCE_MS)
    await untilBars(page, count => count >= 300)
    assert.ok(await page.locator('#notice').isHidden())
    await page.getByLabel('Symbol').fill('NOSUCH')
    await page.keyboard.press('Enter')
    await shows(page, '#notice-title', 'NOSUCH cannot be shown like this')
    await until(async () => (await textOf(page, '#notice-text')).startsWith('Tradier has no market data of NOSUCH'), 'why', PATIENCE_MS)
  })

  test('a chain stands below, of the expiration that is written down', async () => {
    await using walk = await visit(stage.browser)
    const { page } = walk
    await enterDemo(page, stage.service)
    await page.goto(address())
    await until(async () => (await page.locator('#chain tr').count()) > 10, 'the chain is there', PATIENCE_MS)
    // No row is half behind the head that stays visible.
    const hidden = () =>
      page.evaluate<number>(`(() => {
        const below = document.querySelector('#chain-head').getBoundingClientRect().bottom
        const rows = [...document.querySelectorAll('#chain tr')].map(row => row.getBoundingClientRect())
        return Math.max(0, ...rows.filter(({ top, bottom }) => top < below && bottom > below).map(({ top, bottom }) => Math.min(below - top, bottom - below)))
      })()`)
    await until(async () => (await hidden()) <= 1, 'a whole row is below the head', PATIENCE_MS)
    const strikes = await prices(page, '#chain')
    assert.deepEqual(
      strikes,
      strikes.toSorted((a, b) => a - b)
    )
    await until(
      async () => /^0\.\d{3}$/.test(await textOf(page, '#chain tr:nth-child(5) td:nth-child(3)')),
      'greeks are there',
      PATIENCE_MS
    )
    await page.getByLabel('Greeks').uncheck()
    await until(async () => (await textOf(page, '#chain tr:nth-child(5) td:nth-child(3)')) === '–', 'greeks are gone', PATIENCE_MS)
    await page.getByLabel('Expiration').fill('2026-12-17')
    await page.getByRole('button', { name: 'Show chain' }).click()
    await until(
      async () => (await textOf(page, '#chain-status')).includes('no options that expire on 2026-12-17'),
      'it says so',
      PATIENCE_MS
    )
    assert.equal(await page.locator('#chain tr').count(), 0)
  })

  test('older bars come when one scrolls left, and keys do for a mouse', async () => {
    await using walk = await visit(stage.browser)
    const { page } = walk
    await enterDemo(page, stage.service)
    await page.goto(address())
    await scrollToOlder(page)
    await shows(page, '#older', 'Scroll left for older bars')
  })

  test('another symbol, interval or session is a matter of one field, and what cannot be shown is explained', async () => {
    await using walk = await visit(stage.browser)
    const { page } = walk
    await enterDemo(page, stage.service)
    await page.goto(address())
    await untilBars(page, count => count >= 300)
    await page.getByLabel('Interval').selectOption('1h')
    await chartOf(page, 'SPY, candles of 1h')
    await page.getByLabel('Symbol').fill('btc/usd')
    await page.keyboard.press('Enter')
    await chartOf(page, 'BTC/USD, candles of 1h')
    await shows(page, '#zone', 'Times are UTC')
    await page.getByLabel('Symbol').fill('NOSUCH')
    await page.keyboard.press('Enter')
    await shows(page, '#notice-title', 'NOSUCH cannot be shown like this')
    await until(async () => (await textOf(page, '#notice-text')).includes('spelling'), 'what to do', PATIENCE_MS)
    await page.getByLabel('Symbol').fill('AAPL')
    await page.getByLabel('Session').selectOption('USEqCore')
    await chartOf(page, 'AAPL, candles of 1h')
    await shows(page, '#older', 'Older bars are available for the broker’s default session only')
    assert.ok(await page.locator('#notice').isHidden())
  })

  test('in any other browser it asks for a token or the printed link, says when a token is wrong, and hides it', async () => {
    await using walk = await visit(stage.browser)
    const { page } = walk
    const { token } = await connected(page, stage, await stage.user())
    await page.goto(address())
    await shows(page, '#state', 'Not connected')
    assert.match(await textOf(page, '#token-form .hint'), /open the link that npm start printed \(home_url in demo-platform\.json\)/)
    await page.getByLabel('Access token').fill('mdt_wrong')
    await page.getByRole('button', { name: 'Connect' }).click()
    await shows(page, '#notice-title', 'The token was not accepted')
    assert.match(await textOf(page, '#notice-text'), /get a new one/)
    await page.getByLabel('Access token').fill(token)
    await page.getByRole('button', { name: 'Connect' }).click()
    await shows(page, '#state', 'Live · SANDBOX')
    assert.equal(page.url(), address())
    assert.ok(!(await page.content()).includes(token), 'nowhere on the page')
    assert.ok((await textOf(page, '#log')).includes('"access_token":"mdt_…"'), 'nor in the log of messages')
    assert.deepEqual(await page.evaluate('[localStorage.length, sessionStorage.length, document.cookie]'), [0, 0, ''])
    assert.equal(await page.getByLabel('Access token').inputValue(), '')
  })

  test('thrown out by another token it says why, stays out, and connects again when asked to', async () => {
    await using walk = await visit(stage.browser)
    const { page } = walk
    const user = await stage.user()
    const { token, another } = await connected(page, stage, user)
    await page.goto(address())
    await page.getByLabel('Access token').fill(token)
    await page.getByRole('button', { name: 'Connect' }).click()
    await shows(page, '#state', 'Live · SANDBOX')
    const socket = await used(stage.service.demo.market_data_stream_url, await another())
    await until(async () => (await textOf(page, '#state')).startsWith('Closed (4003'), 'it is closed', PATIENCE_MS)
    assert.match(await textOf(page, '#notice-text'), /Another access token of this user is in use now/)
    await page.getByRole('button', { name: 'Connect again' }).click()
    await shows(page, '#notice-title', 'Paste an access token')
    socket.close()
  })

  test('where it connects by itself it gets another token when the one it has is not good any more', async () => {
    await using walk = await visit(stage.browser)
    const { page } = walk
    await enterDemo(page, stage.service)
    await page.goto(address())
    await shows(page, '#state', 'Live · SANDBOX')
    const rotated = await stage.api.call('POST', '/users/live-page/rotate-secret', { headers: stage.api.platform })
    const user = { userId: 'live-page', secret: rotated.body['user-secret'] }
    const [connectionId] = await stage.connections(user)
    const { body } = await stage.api.call('GET', `/connections/${connectionId}/token`, { headers: stage.api.as(user) })
    const socket = await used(stage.service.demo.market_data_stream_url, body.access_token)
    await page.getByRole('button', { name: 'Connect again' }).click()
    await shows(page, '#state', 'Live · SANDBOX')
    assert.ok(await page.locator('#notice').isHidden())
    socket.close()
  })

  test('closed for being slow it says so, and begins again by itself', async () => {
    await using walk = await visit(stage.browser)
    const { page } = walk
    let cut = (): void => assert.fail('no socket was opened')
    await page.routeWebSocket(/\/market-data\/stream$/, route => {
      route.connectToServer()
      cut = () => void route.close({ code: 4008, reason: 'slow consumer' })
    })
    await enterDemo(page, stage.service)
    await page.goto(address())
    // The first look may have asked for older bars already: with these the view is far from the edge, and nothing asks again.
    await scrollToOlder(page)
    await shows(page, '#older', 'Scroll left for older bars')
    const bars = await barsOn(page)
    cut()
    await shows(page, '#notice-title', 'The connection was lost (4008: slow consumer)')
    assert.match(await textOf(page, '#notice-text'), /too many unread messages/)
    await shows(page, '#state', 'Live · SANDBOX')
    const price = await textOf(page, '#quote-last')
    await until(async () => (await textOf(page, '#quote-last')) !== price, 'the price moves again', PATIENCE_MS)
    // The backfill comes a second time; only the minutes that began meanwhile are new.
    assert.ok((await barsOn(page)) - bars < 10, 'no bar is drawn twice')
  })

  test('while the broker gives nothing it says so, leaves the figures, and goes on by itself', async () => {
    await using walk = await visit(stage.browser)
    const { page } = walk
    await enterDemo(page, stage.service)
    await page.goto(address())
    await untilBars(page, count => count >= 300)
    await control('POST', '/faults', { on: 'stream.connect', do: 'status', status: 503 })
    await control('POST', '/streams', { do: 'drop', on: 'market' })
    await shows(page, '#state', 'Interrupted')
    assert.match(await textOf(page, '#notice-text'), /interrupted/)
    assert.ok((await drawn(page)).colors > 10, 'the chart stays')
    await control('DELETE', '/faults')
    await shows(page, '#state', 'Live · SANDBOX')
    assert.ok(await page.locator('#notice').isHidden())
  })

  test('nothing moves from its place when the figures come', async () => {
    await using walk = await visit(stage.browser, {}, { isHurried: true })
    const { page } = walk
    await page.addInitScript(`
      globalThis.shifts = []
      new PerformanceObserver(list => shifts.push(...list.getEntries().map(entry => entry.value))).observe({ type: 'layout-shift', buffered: true })
    `)
    await enterDemo(page, stage.service)
    for (const width of [390, 1440]) {
      await page.setViewportSize({ width, height: 900 })
      await page.goto(address())
      await untilBars(page, count => count >= 300)
      await until(async () => (await page.locator('#chain tr').count()) > 10, 'the chain is there', PATIENCE_MS)
      const shift = await page.evaluate<number>('shifts.reduce((sum, value) => sum + value, 0)')
      assert.ok(shift < 0.02, `${shift} at ${width} px`)
      const heights = await page.evaluate<
        number[]
      >(`['Loading older bars', 'Scroll left for older bars', 'There are no older bars'].map(text => {
        document.querySelector('#older').textContent = text
        return document.querySelector('.chart-card').offsetHeight
      })`)
      assert.equal(new Set(heights).size, 1, `${heights} at ${width} px`)
    }
  })

  test('on a phone nothing of the request for a token is cut off, and no empty table is below it', async () => {
    await using walk = await visit(stage.browser, { viewport: { width: 390, height: 844 } })
    const { page } = walk
    await page.goto(address())
    await shows(page, '#notice-title', 'Paste an access token')
    const [height, content] = await page.evaluate<[number, number]>(
      `(({ clientHeight, scrollHeight }) => [clientHeight, scrollHeight])(document.querySelector('.notice-card'))`
    )
    assert.equal(height, content)
    const notice = await page.locator('.notice-card').boundingBox()
    const [above, next] = [await page.locator('.quote').boundingBox(), await page.locator('#trading').boundingBox()]
    assert.ok(notice && above && above.y + above.height <= notice.y, 'below what precedes')
    assert.ok(next && notice.y + notice.height <= next.y, 'above what follows')
    for (const table of ['#bids', '#trades', '#chain-box', '#log']) assert.ok(await page.locator(table).isHidden(), table)
  })

  test('its policy lets in no script but its own, and no line but to this service', async () => {
    const response = await fetch(address())
    const policy = response.headers.get('content-security-policy') ?? ''
    assert.ok(policy.includes("default-src 'none'") && policy.includes("script-src 'self'") && !policy.includes('unsafe'), policy)
    const html = await response.text()
    assert.ok(!/\son\w+=|style="|javascript:|<script(?![^>]*\ssrc="\/)/i.test(html))
    assert.ok(html.includes('https://www.tradingview.com/'), 'the notice that the licence of the charts asks for')
  })

  test('a service that goes away is waited for', async () => {
    const context = await stage.browser.newContext()
    const page = await context.newPage()
    await enterDemo(page, stage.service)
    await page.goto(address())
    await shows(page, '#state', 'Live · SANDBOX')
    stage.service.interrupt()
    await shows(page, '#state', 'Reconnecting')
    assert.match(await textOf(page, '#notice-text'), /Trying again in/)
    await context.close()
  })

  async function control(method: string, path: string, body?: Readonly<Record<string, unknown>>): Promise<void> {
    const json = body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    const response = await fetch(stage.service.demo.sandbox_control_url + path, { method, ...json })
    assert.ok(response.ok, await response.text())
  }
})

/** A connection of the user's, and tokens of it. */
async function connected(
  page: Page,
  stage: Stage,
  user: User,
  broker = 'SANDBOX'
): Promise<{ readonly token: string; readonly another: () => Promise<string> }> {
  await walkToConsent(page, stage, await stage.link(user, { connection_type: 'market_data', broker }))
  await page.getByRole('button', { name: 'Allow' }).click()
  await page.waitForURL(/\/connect\/result\/connected$/)
  const [connectionId] = await stage.connections(user)
  const another = async () => {
    const { status, body, text } = await stage.api.call('GET', `/connections/${connectionId}/token`, { headers: stage.api.as(user) })
    assert.equal(status, 200, text)
    return String(body.access_token)
  }
  return { token: await another(), another }
}

/** A socket on which the token was used. */
async function used(url: string, token: string): Promise<WebSocket> {
  const socket = new WebSocket(url)
  const answer = Promise.withResolvers<string>()
  socket.onopen = () => socket.send(JSON.stringify({ action: 'authenticate', access_token: token, request_id: 'a' }))
  socket.onmessage = ({ data }) => answer.resolve(String(data))
  socket.onclose = ({ code }) => answer.reject(new Error(`closed with ${code}`))
  assert.match(await answer.promise, /auth_success/)
  return socket
}

async function textOf(page: Page, selector: string): Promise<string> {
  return (await page.locator(selector).first().textContent())?.trim() ?? ''
}

async function shows(page: Page, selector: string, text: string): Promise<void> {
  await until(async () => (await textOf(page, selector)) === text, `${selector} says "${text}"`, PATIENCE_MS)
}

async function chartOf(page: Page, what: string): Promise<void> {
  await until(async () => (await labelOf(page)).startsWith(`Chart of ${what},`), `the chart is of ${what}`, PATIENCE_MS)
}

async function untilBars(page: Page, isEnough: (count: number) => boolean): Promise<number> {
  let count = 0
  const read = async () => {
    count = await barsOn(page)
    return isEnough(count)
  }
  await until(read, 'the bars are there', PATIENCE_MS)
  return count
}

async function scrollToOlder(page: Page): Promise<void> {
  const first = await untilBars(page, count => count >= 300)
  await page.locator('#chart').focus()
  const older = async () => {
    await page.keyboard.press('ArrowLeft')
    return (await barsOn(page)) > first + 100
  }
  await until(older, 'older bars are there', PATIENCE_MS)
}

async function barsOn(page: Page): Promise<number> {
  return Number(/, (\d+) bars/.exec(await labelOf(page))?.[1] ?? 0)
}

async function labelOf(page: Page): Promise<string> {
  return (await page.locator('#chart').getAttribute('aria-label')) ?? ''
}

async function prices(page: Page, selector: string): Promise<readonly number[]> {
  const texts = await page.locator(`${selector} th`).allTextContents()
  return texts.filter(text => /\d/.test(text)).map(text => Number(text.replaceAll(',', '')))
}

/** What stands on the chart's canvases: how many colours, and a sum of all that changes when a candle does. */
function drawn(page: Page): Promise<{ readonly colors: number; readonly hash: number }> {
  return page.evaluate(`(() => {
    const colors = new Set()
    const copy = document.createElement('canvas').getContext('2d', { willReadFrequently: true })
    let hash = 0
    for (const canvas of document.querySelectorAll('#chart canvas')) {
      if (canvas.width === 0 || canvas.height === 0) continue
      Object.assign(copy.canvas, { width: canvas.width, height: canvas.height })
      copy.drawImage(canvas, 0, 0)
      const { data } = copy.getImageData(0, 0, canvas.width, canvas.height)
      for (const pixel of new Uint32Array(data.buffer)) {
        colors.add(pixel)
        hash = (Math.imul(hash, 31) + pixel) | 0
      }
    }
    return { colors: colors.size, hash }
  })()`)
}
