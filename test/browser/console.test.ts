// The console as an operator uses it, over the real API: the login, what is shown of an order, search by keyboard, and events as they come.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { chromiumLaunchOptions } from '@trunkline/testkit/chromium'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import type { Body } from '../acceptance/api.ts'
import { Stage, type Trader } from '../acceptance/stream-stage.ts'
import { WebhookReceiver } from '../acceptance/webhook-receiver.ts'
import { fits, passesAxe, RULES_OF_COLOR, SCHEMES, WIDTHS } from './fitness.ts'
import { headingOf } from './stage.ts'
import { visit } from './visit.ts'

/** Where nobody is logged in yet, the page asks and is refused. */
const NO_SESSION = /^401: .*\/admin\/v1\/session$/

describe('the console', () => {
  let stage: Stage
  let trader: Trader
  let browser: Browser
  let filled: Body
  let session: NonNullable<BrowserContextOptions['storageState']>
  let userKey: string
  before(async () => {
    stage = await Stage.open('embedded', { TRUNKLINE_WEBHOOK_NETWORKS: '127.0.0.0/8' })
    browser = await chromium.launch(chromiumLaunchOptions())
    trader = await stage.trader()
    filled = await trader.buy('2')
    await trader.rest()
    await using walk = await visit(browser, {}, { refusals: NO_SESSION })
    await walk.page.goto(await linkTo('/'))
    await headed(walk.page, 'Home')
    session = await walk.page.context().storageState()
    const { data } = await read(walk.page, `/search?q=${trader.userId}`)
    userKey = data[0].user_key
  })
  after(async () => {
    await browser?.close()
    await stage?.[Symbol.asyncDispose]()
  })

  const linkTo = async (path: string): Promise<string> => {
    const { url, code } = await stage.operate('operator', 'link')
    assert.equal(url, `${stage.service.url}/console/#code=${code}`)
    return url.replace('/console/', `/console${path}`)
  }
  const loggedIn = (options: BrowserContextOptions = {}) => visit(browser, { ...options, storageState: session })
  const open = (page: Page, path: string) => page.goto(`${stage.service.url}/console${path}`)

  test('a link logs in once and leaves no code in the address; a used one says what to do, and the address stays', async () => {
    const link = await linkTo('/orders?user=007')
    {
      await using walk = await visit(browser, {}, { isHurried: true, refusals: /^(401: .*\/session|422: .*\/orders\?user=007)$/ })
      await walk.page.goto(link)
      await headed(walk.page, 'Orders')
      assert.equal(walk.page.url(), `${stage.service.url}/console/orders?user=007`)
      await walk.page.goBack()
      assert.doesNotMatch(walk.page.url(), /code=/)
    }
    await using walk = await visit(browser, {}, { isHurried: true, refusals: /^(401: |422: .*\/orders\?user=007$)/ })
    const { page } = walk
    await page.goto(link)
    await page.getByRole('alert').getByText('Create another link').waitFor()
    assert.equal(page.url(), `${stage.service.url}/console/orders?user=007`)
    await page.getByLabel('Link or code').fill(await linkTo('/'))
    await page.keyboard.press('Enter')
    await headed(page, 'Orders')
  })

  test('a link that is pasted where the page asks for one logs in, and its code leaves the address', async () => {
    await using walk = await visit(browser, {}, { isHurried: true, refusals: NO_SESSION })
    const { page } = walk
    await open(page, '/platforms')
    await page.getByLabel('Link or code').waitFor()
    await page.goto(await linkTo('/platforms'))
    await headed(page, 'Platforms')
    assert.equal(page.url(), `${stage.service.url}/console/platforms`)
    await page.goto(await linkTo('/platforms'))
    await page.waitForURL(`${stage.service.url}/console/platforms`)
  })

  test('who logs out is asked to log in, and nothing that was shown is left', async () => {
    await using walk = await visit(browser, {}, { isHurried: true, refusals: NO_SESSION })
    const { page } = walk
    await page.goto(await linkTo(`/orders?connection=${trader.connectionId}`))
    await page.getByRole('link', { name: filled.cl_order_id }).click()
    await headed(page, `Order ${filled.cl_order_id}`)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Link or code').waitFor()
    assert.ok(!(await page.content()).includes(filled.cl_order_id))
    await page.goBack()
    await page.getByLabel('Link or code').waitFor()
    assert.ok(!(await page.content()).includes(filled.cl_order_id))
  })

  test('a session that was ended elsewhere shows the login at the next read', async () => {
    await using walk = await visit(browser, {}, { refusals: /^401: / })
    const { page } = walk
    await page.goto(await linkTo('/platforms'))
    await page.getByRole('button', { name: 'Read again' }).waitFor()
    const { session_id } = await read(page, '/session')
    await stage.operate('operator', 'end-session', session_id)
    await page.getByRole('button', { name: 'Read again' }).click()
    await page.getByLabel('Link or code').waitFor()
  })

  test('an order is shown step by step, with its amounts as they are recorded', async () => {
    await using walk = await loggedIn()
    const { page } = walk
    await open(page, `/orders/${filled.order_id}`)
    await headed(page, `Order ${filled.cl_order_id}`)
    const steps = page.locator('.waterfall > li strong')
    await steps.first().waitFor()
    const titles = await steps.allInnerTexts()
    assert.deepEqual(titles.slice(0, 5), ['Request', 'Checked and recorded', 'Sent to the broker', 'Answer of the broker', 'Change'])
    assert.equal(titles.at(-1), 'Change')
    const sent = page.locator('.waterfall > li').nth(2)
    assert.equal(await sent.getByText('time not recorded').count(), 1)
    assert.equal(await sent.locator('.mark').count(), 0)
    for (const { quantity, price } of filled.fills)
      await page.getByRole('row').filter({ hasText: price }).filter({ hasText: quantity }).waitFor()
  })

  test('the page of an order shows what became of it since, and says when it was read', async () => {
    await using walk = await visit(browser, { storageState: session }, { isHurried: true })
    const { page } = walk
    const order = await trader.rest()
    const id: string = order.order_id
    await page.clock.install()
    await open(page, `/orders/${id}`)
    await page.locator('.facts .status').getByText('working', { exact: true }).waitFor()
    await page.getByText(/^Read at \d/).waitFor()
    await trader.cancel(order)
    await page.clock.fastForward(11_000)
    await page.locator('.facts .status').getByText('cancelled', { exact: true }).waitFor()
    await page.locator('.waterfall .status').getByText('cancelled', { exact: true }).last().waitFor()
  })

  test('the traffic is that of the service’s last day, whatever the clock of the browser says', async () => {
    await using walk = await loggedIn()
    const { page } = walk
    await page.clock.setFixedTime(Date.now() + 25 * 3_600_000)
    await open(page, '/')
    await page.getByText(/^[1-9][\d,]* requests\. /).waitFor()
  })

  test('rows of a list have their own request, and two rows with one id are not drawn again and again', async () => {
    await using walk = await loggedIn({ permissions: ['clipboard-read', 'clipboard-write'] })
    const { page } = walk
    const rows = page.locator('.rows tbody tr')
    for (let requests = 0; requests < 2; requests++)
      await fetch(`${stage.service.url}/users`, { headers: { 'x-request-id': 'one-of-two' } })
    await open(page, '/requests?request_id=one-of-two')
    const again = page.getByRole('button', { name: 'Read again' })
    for (let reads = 0; reads < 3; reads++) {
      await again.click()
      await page.getByText('Requests: 2').waitFor()
    }
    assert.equal(await rows.count(), 2)
    await open(page, `/orders?user=${userKey}`)
    await page.getByRole('button', { name: `Copy as curl: order ${filled.cl_order_id}` }).focus()
    await page.keyboard.press('Tab')
    assert.equal(await page.evaluate('document.activeElement.ariaLabel'), `Copy as TS (TypeScript): order ${filled.cl_order_id}`)
    await page.keyboard.press('Enter')
    await page.getByRole('status').getByText('Copied', { exact: true }).waitFor({ state: 'attached' })
    const copied = await page.evaluate<string>('navigator.clipboard.readText()')
    assert.ok(copied.includes(`fetch("${stage.service.url}/admin/v1/orders/${filled.order_id}"`), copied)
  })

  test('a list of many pages is not read again because its window is used again; a list of one page is', async () => {
    await using walk = await loggedIn()
    const { page } = walk
    await page.clock.install()
    const asked: string[] = []
    await page.route('**/admin/v1/audit*', async route => {
      asked.push(new URL(route.request().url()).search)
      await route.fulfill({ json: { data: [], next_cursor: 'next', waiting: 0 } })
    })
    const returnToWindow = async () => {
      await page.clock.fastForward(60_000)
      await page.evaluate(`dispatchEvent(new Event('visibilitychange'))`)
    }
    await open(page, '/audit')
    await page.getByRole('button', { name: 'Show more' }).waitFor()
    const read = page.waitForResponse('**/admin/v1/audit')
    await returnToWindow()
    await read
    const readNext = async (button: string) => {
      const next = page.waitForResponse('**/admin/v1/audit?cursor=next')
      await page.getByRole('button', { name: button }).click()
      await next
      await page.getByText('Entries: 0').waitFor()
    }
    await readNext('Show more')
    await returnToWindow()
    await readNext('Read again')
    assert.deepEqual(asked, ['', '', '?cursor=next', '', '?cursor=next'])
  })

  test('filters show what is applied: no platform beside a user of deliveries, and nothing typed after Clear', async () => {
    // The user is given before the endpoints of the platform were read.
    await using walk = await visit(browser, { storageState: session }, { isHurried: true })
    const { page } = walk
    await open(page, '/deliveries')
    const { data } = await read(page, '/platforms')
    await open(page, `/deliveries?platform=${data[0].platform_id}`)
    await page.getByLabel('User (user_key)').fill(userKey)
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/deliveries?user=${userKey}`)
    await page.getByText('Nothing was sent').waitFor()
    assert.equal(await page.getByLabel('Platform').count(), 0)
    await open(page, '/requests')
    await page.getByLabel('Code').fill('rate_limited')
    await page.getByRole('button', { name: 'Clear' }).click()
    assert.equal(await page.getByLabel('Code').inputValue(), '')
  })

  test('on a phone the chart is laid out as its library does it, not as a list of ours', async () => {
    await using walk = await loggedIn({ viewport: { width: 375, height: 800 } })
    const { page } = walk
    await open(page, '/')
    await page.locator('.chart td').first().waitFor({ state: 'attached' })
    const displays: readonly string[] = await page.evaluate(
      `[...document.querySelectorAll('.chart td')].map(cell => getComputedStyle(cell).display)`
    )
    assert.deepEqual([...new Set(displays)], ['table-cell'])
  })

  test('a newcomer sees which of three steps are done, until all are', async () => {
    await using walk = await loggedIn()
    const { page } = walk
    await open(page, '/')
    await page.getByRole('heading', { name: 'Health' }).waitFor()
    assert.equal(await page.getByRole('heading', { name: 'First steps' }).count(), 0, 'the user has traded')
    await page.route('**/admin/v1/overview', async route => {
      const answer = await (await route.fetch()).json()
      await route.fulfill({ json: { ...answer, steps: { user_created: true, sandbox_connected: false, order_placed: false } } })
    })
    await page.reload()
    await page.getByRole('heading', { name: 'First steps' }).waitFor()
    const steps = await page.locator('.first-steps li').allInnerTexts()
    assert.deepEqual(
      steps.map(step => /(done|to do)$/.exec(step.trim())?.[0]),
      ['done', 'to do', 'to do']
    )
  })

  test('by keyboard alone an order is found by its id and opened', async () => {
    await using walk = await loggedIn()
    const { page } = walk
    await open(page, '/')
    await headed(page, 'Home')
    await page.keyboard.press('Control+k')
    await page.keyboard.type(filled.order_id)
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Show the order' }).waitFor()
    assert.equal(await page.evaluate('document.activeElement.id'), 'content')
    for (let presses = 0; (await page.evaluate('document.activeElement.textContent')) !== 'Show the order'; presses++) {
      assert.ok(presses < 10, 'the link is reached with Tab')
      await page.keyboard.press('Tab')
    }
    await page.keyboard.press('Enter')
    await headed(page, `Order ${filled.cl_order_id}`)
  })

  test('an event appears as it is logged, and a pause keeps what is there', async () => {
    // A pause ends the request that waits.
    await using walk = await visit(browser, { storageState: session }, { isHurried: true })
    const { page } = walk
    await open(page, `/events?user=${userKey}&type=orders`)
    await page.getByText('read to seq').waitFor()
    const placed = await trader.rest()
    await page.locator('.events > li').filter({ hasText: placed.cl_order_id }).first().waitFor()
    await page.getByRole('button', { name: 'Pause' }).click()
    const shown = await page.locator('.events > li').count()
    const later = await trader.rest()
    await page.getByRole('button', { name: 'Follow' }).click()
    await page.locator('.events > li').filter({ hasText: later.cl_order_id }).first().waitFor()
    assert.ok((await page.locator('.events > li').count()) > shown)
  })

  test('a page that nobody uses stops reading, so that its session ends as unused', async () => {
    await using walk = await visit(browser, { storageState: session }, { isHurried: true })
    const { page } = walk
    await page.clock.install()
    await open(page, `/events?user=${userKey}`)
    await page.getByText('Following: read to seq').waitFor()
    await page.clock.fastForward(16 * 60_000)
    await page.getByText('Paused, since the page was not used').waitFor()
    const asked: string[] = []
    page.on('request', request => asked.push(request.url()))
    await trader.rest()
    await page.clock.fastForward(60_000)
    assert.deepEqual(asked, [])
    await page.mouse.move(10, 10)
    await page.getByText('Following: read to seq').waitFor()
  })

  test('a session that ends while a page follows events shows the login', async () => {
    await using walk = await visit(browser, {}, { isHurried: true, refusals: /^401: / })
    const { page } = walk
    await page.goto(await linkTo(`/events?user=${userKey}`))
    await page.getByText('Following: read to seq').waitFor()
    const { session_id } = await read(page, '/session')
    await stage.operate('operator', 'end-session', session_id)
    await trader.rest()
    await page.getByLabel('Link or code').waitFor()
  })

  test('what is copied is the request of the page, without a credential', async () => {
    await using walk = await loggedIn({ permissions: ['clipboard-read', 'clipboard-write'] })
    const { page } = walk
    await open(page, `/orders?user=${userKey}`)
    await page.getByRole('button', { name: 'curl', exact: true }).click()
    await page.getByRole('status').getByText('Copied', { exact: true }).waitFor({ state: 'attached' })
    const copied = await page.evaluate<string>('navigator.clipboard.readText()')
    assert.ok(copied.includes(`${stage.service.url}/admin/v1/orders?user=${userKey}`), copied)
    assert.match(copied, /authorization: Bearer \$TRUNKLINE_OPERATOR_KEY/)
    assert.doesNotMatch(copied, /cookie|os_/)
  })

  test('an endpoint is made, tried and disabled by keyboard, and the page shows what became of it', async () => {
    await using receiver = await WebhookReceiver.open()
    await using walk = await loggedIn()
    const { page } = walk
    await open(page, '/endpoints')
    await page.getByRole('button', { name: 'Create an endpoint…' }).focus()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.getByText('From now on the updates of all users').waitFor()
    await dialog.getByLabel('Address').fill(receiver.url)
    await page.keyboard.press('Enter')
    await dialog.getByText('shown only this once').waitFor()
    const secret = await dialog.getByText(/^whsec_/).innerText()
    receiver.secrets = [secret]
    await page.keyboard.press('Escape')
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Create an endpoint…')
    assert.ok(!(await page.content()).includes(secret), 'the page forgets the secret')
    await page.getByRole('link', { name: new URL(receiver.url).host }).click()
    await headed(page, `Endpoint ${new URL(receiver.url).host}`)
    await page.getByRole('button', { name: 'Send a test message…' }).click()
    await dialog.getByRole('button', { name: 'Send a test message' }).click()
    await dialog.getByText('delivered').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('row').filter({ hasText: 'test message' }).filter({ hasText: 'delivered' }).waitFor()
    assert.equal(receiver.received.length, 1)
    await page.getByRole('button', { name: 'Disable…' }).click()
    await dialog.getByRole('button', { name: 'Disable' }).click()
    await dialog.getByText('The endpoint is disabled.').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('button', { name: 'Enable…' }).waitFor()
  })

  test('a change whose answer was lost is shown as unknown, and what is so is read again', async () => {
    await using walk = await visit(browser, { storageState: session }, { refusals: /^502: / })
    const { page } = walk
    // A proxy gives up; the service has done it.
    await page.route('**/admin/v1/users/*/disable', async route => {
      await route.fetch()
      await route.fulfill({ status: 502, contentType: 'text/html', body: 'Bad gateway' })
    })
    await open(page, `/users/${userKey}`)
    await page.getByRole('button', { name: 'Disable…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Disable' }).click()
    await dialog.getByText('Unknown: it may have been done, or not.').waitFor()
    assert.equal(await dialog.getByRole('button', { name: 'Disable' }).count(), 0, 'it is not offered again')
    await dialog.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('button', { name: 'Enable…' }).click()
    await dialog.getByRole('button', { name: 'Enable' }).click()
    await dialog.getByText(`${trader.userId} is enabled.`).waitFor()
  })

  test('a session that may not change anything sees every button, disabled, and why', async () => {
    await using walk = await visit(browser, {}, { refusals: NO_SESSION })
    const { page } = walk
    const { url } = await stage.operate('operator', 'link', '--scope', 'read')
    await page.goto(url.replace('/console/', '/console/platforms'))
    const button = page.getByRole('button', { name: 'Disable…' })
    await button.waitFor()
    assert.equal(await button.isDisabled(), true)
    await page.getByText('Changes need the scope manage').waitFor()
    assert.equal(await button.getAttribute('aria-describedby'), 'needs-manage')
  })

  test('the dialogs of changes are for everybody', async () => {
    await using walk = await visit(browser, { storageState: session, bypassCSP: true, reducedMotion: 'reduce' }, { isHurried: true })
    const { page } = walk
    for (const [path, button, screenshot] of [
      ['/platforms', 'Disable…', 'dialog-platform'],
      ['/endpoints', 'Create an endpoint…', 'dialog-endpoint'],
      ['/orders', 'End several as never received…', 'dialog-orders']
    ] as const) {
      await open(page, path)
      await page.getByRole('button', { name: button }).click()
      await page.getByRole('dialog').waitFor()
      await judge(page, screenshot)
    }
  })

  test('a fault is set and cleared by its button, and an order is replayed into a linked one', async () => {
    await using walk = await visit(browser, { storageState: session }, { isHurried: true })
    const { page } = walk
    await open(page, '/sandbox')
    const button = page.getByRole('button', { name: 'Refuse the next order', exact: true })
    await button.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Refuse the next order', exact: true, pressed: true }).waitFor()
    const refused = await trader.buy()
    assert.deepEqual([refused.normalized_status, refused.broker_message], ['rejected', 'Refused by an operator.'])
    await page.getByRole('button', { name: 'Refuse the next order', exact: true, pressed: false }).waitFor()
    await open(page, `/orders/${refused.order_id}`)
    await page.getByRole('button', { name: 'Replay in the sandbox' }).click()
    await page.getByText('A replay in the sandbox of order').waitFor()
    await page.getByText('Refused by an operator.').first().waitFor()
    await page.getByText('Steps of the original').click()
    assert.equal(await page.locator('.waterfall').count(), 2)
    await page.getByRole('link', { name: refused.order_id }).first().click()
    await headed(page, `Order ${refused.cl_order_id}`)
    await page.getByText('Replayed in the sandbox:').waitFor()
  })

  test('without the scope, the page of the sandbox and the replay say what is needed', async () => {
    const { url } = await stage.operate('operator', 'link', '--scope', 'read')
    await using walk = await visit(browser, {}, { isHurried: true, refusals: NO_SESSION })
    const { page } = walk
    await page.goto(url.replace('/console/', '/console/sandbox'))
    await page.getByText('This page needs the scope').waitFor()
    await open(page, `/orders/${filled.order_id}`)
    assert.ok(await page.getByRole('button', { name: 'Replay in the sandbox' }).isDisabled())
    await page.getByText('It needs the scope').waitFor()
  })

  test('each page, with and without rows and refused, is for everybody', async () => {
    const pages: readonly (readonly [path: string, heading: string])[] = [
      ['/', 'Home'],
      ['/orders', 'Orders'],
      [`/orders?user=${userKey}`, 'Orders'],
      ['/orders?user=none', 'Orders'],
      [`/orders/${filled.order_id}`, `Order ${filled.cl_order_id}`],
      ['/orders/0198f0c2-6c1e-7f10-8b3a-2d6f5c9e4a71', 'Order 0198f0c2-6c1e-7f10-8b3a-2d6f5c9e4a71'],
      ['/users', 'Users'],
      [`/users/${userKey}`, `User ${trader.userId}`],
      ['/connections', 'Connections'],
      [`/events?user=${userKey}`, 'Events'],
      ['/events', 'Events'],
      ['/endpoints', 'Endpoints'],
      [
        '/endpoints/0198f0c2-6c1e-7f10-8b3a-2d6f5c9e4a71/0198f0c2-6c1e-7f10-8b3a-2d6f5c9e4a71',
        'Endpoint 0198f0c2-6c1e-7f10-8b3a-2d6f5c9e4a71'
      ],
      ['/deliveries', 'Deliveries'],
      [`/deliveries?user=${userKey}`, 'Deliveries'],
      ['/requests', 'Requests'],
      ['/audit', 'Audit'],
      ['/platforms', 'Platforms'],
      ['/sandbox', 'Sandbox'],
      ['/search?q=nothing-has-this-id', 'Search for nothing-has-this-id'],
      ['/nowhere', 'There is no such page']
    ]
    await using walk = await visit(
      browser,
      { storageState: session, bypassCSP: true, reducedMotion: 'reduce' },
      { isHurried: true, refusals: /^4(04|22): / }
    )
    const { page } = walk
    for (const [path, heading] of pages) {
      await open(page, path)
      await headed(page, heading)
      await page.waitForFunction(`!document.querySelector('main').innerText.includes('Reading ')`)
      assert.equal(await page.getByRole('heading', { name: 'Steps' }).count(), heading === `Order ${filled.cl_order_id}` ? 1 : 0, path)
      await judge(page, path)
    }
  })

  test('the login is for everybody', async () => {
    await using walk = await visit(browser, { bypassCSP: true, reducedMotion: 'reduce' }, { refusals: NO_SESSION })
    await open(walk.page, '/')
    await walk.page.getByLabel('Link or code').waitFor()
    await judge(walk.page, 'the login')
  })
})

async function judge(page: Page, what: string): Promise<void> {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 })
    await fits(page, `${what} at ${width} px`)
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme })
      if (width !== 320) await passesAxe(page, `${what} at ${width} px, ${colorScheme}`, colorScheme === 'light' ? null : RULES_OF_COLOR)
    }
  }
  await page.setViewportSize({ width: 640, height: 400 })
  await page.addStyleTag({ content: 'html { font-size: 200% }' })
  await fits(page, `${what} with letters of twice the size`)
}

async function headed(page: Page, heading: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor()
  assert.equal(await headingOf(page), heading)
}

/** What the page's own session reads. */
function read(page: Page, path: string): Promise<Body> {
  return page.evaluate(`fetch('/admin/v1${path}').then(answer => answer.json())`)
}
