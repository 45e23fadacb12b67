// The console as an operator uses it, over the real API: the login, what is shown of an order, search by keyboard, and events as they come.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { headed, judge, NO_SESSION, read, SharedConsole } from './console-stage.ts'
import { visit } from './visit.ts'

describe('the console', () => {
  const at = new SharedConsole()

  test('a link logs in once and leaves no code in the address; a used one says what to do, and the address stays', async () => {
    const link = await at.linkTo('/orders?user=007')
    {
      await using walk = await visit(at.browser, {}, { isHurried: true, refusals: /^(401: .*\/session|422: .*\/orders\?user=007)$/ })
      await walk.page.goto(link)
      await headed(walk.page, 'Orders')
      assert.equal(walk.page.url(), `${at.stage.service.url}/console/orders?user=007`)
      await walk.page.goBack()
      assert.doesNotMatch(walk.page.url(), /code=/)
    }
    await using walk = await visit(at.browser, {}, { isHurried: true, refusals: /^(401: |422: .*\/orders\?user=007$)/ })
    const { page } = walk
    await page.goto(link)
    await page.getByRole('alert').getByText('Create another link').waitFor()
    assert.equal(page.url(), `${at.stage.service.url}/console/orders?user=007`)
    await page.getByLabel('Link or code').fill(await at.linkTo('/'))
    await page.keyboard.press('Enter')
    await headed(page, 'Orders')
  })

  test('a link that is pasted where the page asks for one logs in, and its code leaves the address', async () => {
    await using walk = await visit(at.browser, {}, { isHurried: true, refusals: NO_SESSION })
    const { page } = walk
    await at.open(page, '/platforms')
    await page.getByLabel('Link or code').waitFor()
    await page.goto(await at.linkTo('/platforms'))
    await headed(page, 'Platforms')
    assert.equal(page.url(), `${at.stage.service.url}/console/platforms`)
    await page.goto(await at.linkTo('/platforms'))
    await page.waitForURL(`${at.stage.service.url}/console/platforms`)
  })

  test('who logs out is asked to log in, and nothing that was shown is left', async () => {
    await using walk = await visit(at.browser, {}, { isHurried: true, refusals: NO_SESSION })
    const { page } = walk
    await page.goto(await at.linkTo(`/orders?connection=${at.trader.connectionId}`))
    await page.getByRole('link', { name: at.filled.cl_order_id }).click()
    await headed(page, `Order ${at.filled.cl_order_id}`)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Link or code').waitFor()
    assert.ok(!(await page.content()).includes(at.filled.cl_order_id))
    await page.goBack()
    await page.getByLabel('Link or code').waitFor()
    assert.ok(!(await page.content()).includes(at.filled.cl_order_id))
  })

  test('a session that was ended elsewhere shows the login at the next read', async () => {
    await using walk = await visit(at.browser, {}, { refusals: /^401: / })
    const { page } = walk
    await page.goto(await at.linkTo('/platforms'))
    await page.getByRole('button', { name: 'Read again' }).waitFor()
    const { session_id } = await read(page, '/session')
    await at.stage.operate('operator', 'end-session', session_id)
    await page.getByRole('button', { name: 'Read again' }).click()
    await page.getByLabel('Link or code').waitFor()
  })

  test('an order is shown step by step, with its amounts as they are recorded', async () => {
    await using walk = await at.loggedIn()
    const { page } = walk
    await at.open(page, `/orders/${at.filled.order_id}`)
    await headed(page, `Order ${at.filled.cl_order_id}`)
    const steps = page.locator('.waterfall > li strong')
    await steps.first().waitFor()
    const titles = await steps.allInnerTexts()
    assert.deepEqual(titles.slice(0, 5), ['Request', 'Checked and recorded', 'Sent to the broker', 'Answer of the broker', 'Change'])
    assert.equal(titles.at(-1), 'Change')
    const sent = page.locator('.waterfall > li').nth(2)
    assert.equal(await sent.getByText('time not recorded').count(), 1)
    assert.equal(await sent.locator('.mark').count(), 0)
    for (const { quantity, price } of at.filled.fills)
      await page.getByRole('row').filter({ hasText: price }).filter({ hasText: quantity }).waitFor()
  })

  test('the page of an order shows what became of it since, and says when it was read', async () => {
    await using walk = await at.loggedIn({}, { isHurried: true })
    const { page } = walk
    const order = await at.trader.rest()
    const id: string = order.order_id
    await page.clock.install()
    await at.open(page, `/orders/${id}`)
    await page.locator('.facts .status').getByText('working', { exact: true }).waitFor()
    await page.getByText(/^Read at \d/).waitFor()
    await at.trader.cancel(order)
    await page.clock.fastForward(11_000)
    await page.locator('.facts .status').getByText('cancelled', { exact: true }).waitFor()
    await page.locator('.waterfall .status').getByText('cancelled', { exact: true }).last().waitFor()
  })

  test('the traffic is that of the service’s last day, whatever the clock of the browser says', async () => {
    await using walk = await at.loggedIn()
    const { page } = walk
    await page.clock.setFixedTime(Date.now() + 25 * 3_600_000)
    await at.open(page, '/')
    await page.getByText(/^[1-9][\d,]* requests\. /).waitFor()
  })

  test('rows of a list have their own request, and two rows with one id are not drawn again and again', async () => {
    await using walk = await at.loggedIn({ permissions: ['clipboard-read', 'clipboard-write'] })
    const { page } = walk
    const rows = page.locator('.rows tbody tr')
    for (let requests = 0; requests < 2; requests++)
      await fetch(`${at.stage.service.url}/users`, { headers: { 'x-request-id': 'one-of-two' } })
    await at.open(page, '/requests?request_id=one-of-two')
    const again = page.getByRole('button', { name: 'Read again' })
    for (let reads = 0; reads < 3; reads++) {
      const answer = page.waitForResponse('**/admin/v1/requests?*')
      await again.click()
      await (await answer).finished()
      await page.getByText('Requests: 2').waitFor()
    }
    assert.equal(await rows.count(), 2)
    await at.open(page, `/orders?user=${at.userKey}`)
    await page.getByRole('button', { name: `Copy as curl: order ${at.filled.cl_order_id}` }).focus()
    await page.keyboard.press('Tab')
    assert.equal(await page.evaluate('document.activeElement.ariaLabel'), `Copy as TS (TypeScript): order ${at.filled.cl_order_id}`)
    await page.keyboard.press('Enter')
    await page.getByRole('status').getByText('Copied', { exact: true }).waitFor({ state: 'attached' })
    const copied = await page.evaluate<string>('navigator.clipboard.readText()')
    assert.ok(copied.includes(`fetch("${at.stage.service.url}/admin/v1/orders/${at.filled.order_id}"`), copied)
  })

  test('a list of many pages is not read again because its window is used again; a list of one page is', async () => {
    await using walk = await at.loggedIn()
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
    await at.open(page, '/audit')
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
    await using walk = await at.loggedIn({}, { isHurried: true })
    const { page } = walk
    await at.open(page, '/deliveries')
    const { data } = await read(page, '/platforms')
    await at.open(page, `/deliveries?platform=${data[0].platform_id}`)
    await page.getByLabel('User (user_key)').fill(at.userKey)
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/deliveries?user=${at.userKey}`)
    await page.getByText('Nothing was sent').waitFor()
    assert.equal(await page.getByLabel('Platform').count(), 0)
    await at.open(page, '/requests')
    await page.getByLabel('Code').fill('rate_limited')
    await page.getByRole('button', { name: 'Clear' }).click()
    assert.equal(await page.getByLabel('Code').inputValue(), '')
  })

  test('on a phone the chart is laid out as its library does it, not as a list of ours', async () => {
    await using walk = await at.loggedIn({ viewport: { width: 375, height: 800 } })
    const { page } = walk
    await at.open(page, '/')
    await page.locator('.chart td').first().waitFor({ state: 'attached' })
    const displays: readonly string[] = await page.evaluate(
      `[...document.querySelectorAll('.chart td')].map(cell => getComputedStyle(cell).display)`
    )
    assert.deepEqual([...new Set(displays)], ['table-cell'])
  })

  test('on a long page that is scrolled, the places stay, and nothing lies on them', async () => {
    await using walk = await at.loggedIn({ viewport: { width: 1280, height: 700 } })
    const { page } = walk
    await at.open(page, '/sandbox')
    await page.getByRole('button', { name: 'Reset the sandbox…' }).scrollIntoViewIfNeeded()
    const [places, note] = await Promise.all(['.places ul', '.places .hint'].map(part => page.locator(part).boundingBox()))
    assert.ok(places != null && note != null)
    assert.ok(places.y >= 0 && places.y + places.height <= note.y, `${JSON.stringify(places)} ${JSON.stringify(note)}`)
  })

  test('a newcomer sees which of three steps are done, until all are', async () => {
    await using walk = await at.loggedIn()
    const { page } = walk
    await at.open(page, '/')
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
    await using walk = await at.loggedIn()
    const { page } = walk
    await at.open(page, '/')
    await headed(page, 'Home')
    await page.keyboard.press('Control+k')
    await page.keyboard.type(at.filled.order_id)
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Show the order' }).waitFor()
    assert.equal(await page.evaluate('document.activeElement.id'), 'content')
    for (let presses = 0; (await page.evaluate('document.activeElement.textContent')) !== 'Show the order'; presses++) {
      assert.ok(presses < 10, 'the link is reached with Tab')
      await page.keyboard.press('Tab')
    }
    await page.keyboard.press('Enter')
    await headed(page, `Order ${at.filled.cl_order_id}`)
  })

  test('an event appears as it is logged, and a pause keeps what is there', async () => {
    // A pause ends the request that waits.
    await using walk = await at.loggedIn({}, { isHurried: true })
    const { page } = walk
    await at.open(page, `/events?user=${at.userKey}&type=orders`)
    await page.getByText('read to seq').waitFor()
    const placed = await at.trader.rest()
    await page.locator('.events > li').filter({ hasText: placed.cl_order_id }).first().waitFor()
    await page.getByRole('button', { name: 'Pause' }).click()
    const shown = await page.locator('.events > li').count()
    const later = await at.trader.rest()
    await page.getByRole('button', { name: 'Follow' }).click()
    await page.locator('.events > li').filter({ hasText: later.cl_order_id }).first().waitFor()
    assert.ok((await page.locator('.events > li').count()) > shown)
  })

  test('a page that nobody uses stops reading, so that its session ends as unused', async () => {
    await using walk = await at.loggedIn({}, { isHurried: true })
    const { page } = walk
    await page.clock.install()
    await at.open(page, `/events?user=${at.userKey}`)
    await page.getByText('Following: read to seq').waitFor()
    await page.clock.fastForward(16 * 60_000)
    await page.getByText('Paused, since the page was not used').waitFor()
    const asked: string[] = []
    page.on('request', request => asked.push(request.url()))
    await at.trader.rest()
    await page.clock.fastForward(60_000)
    assert.deepEqual(asked, [])
    await page.mouse.move(10, 10)
    await page.getByText('Following: read to seq').waitFor()
  })

  test('a session that ends while a page follows events shows the login', async () => {
    await using walk = await visit(at.browser, {}, { isHurried: true, refusals: /^401: / })
    const { page } = walk
    await page.goto(await at.linkTo(`/events?user=${at.userKey}`))
    await page.getByText('Following: read to seq').waitFor()
    const { session_id } = await read(page, '/session')
    await at.stage.operate('operator', 'end-session', session_id)
    await at.trader.rest()
    await page.getByLabel('Link or code').waitFor()
  })

  test('what is copied is the request of the page, without a credential', async () => {
    await using walk = await at.loggedIn({ permissions: ['clipboard-read', 'clipboard-write'] })
    const { page } = walk
    await at.open(page, `/orders?user=${at.userKey}`)
    await page.getByRole('button', { name: 'curl', exact: true }).click()
    await page.getByRole('status').getByText('Copied', { exact: true }).waitFor({ state: 'attached' })
    const copied = await page.evaluate<string>('navigator.clipboard.readText()')
    assert.ok(copied.includes(`${at.stage.service.url}/admin/v1/orders?user=${at.userKey}`), copied)
    assert.match(copied, /authorization: Bearer \$TRUNKLINE_OPERATOR_KEY/)
    assert.doesNotMatch(copied, /cookie|os_/)
  })

  test('each page, with and without rows and refused, is for everybody', async () => {
    const pages: readonly (readonly [path: string, heading: string])[] = [
      ['/', 'Home'],
      ['/orders', 'Orders'],
      [`/orders?user=${at.userKey}`, 'Orders'],
      ['/orders?user=none', 'Orders'],
      [`/orders/${at.filled.order_id}`, `Order ${at.filled.cl_order_id}`],
      ['/orders/0198f0c2-6c1e-7f10-8b3a-2d6f5c9e4a71', 'Order 0198f0c2-6c1e-7f10-8b3a-2d6f5c9e4a71'],
      ['/users', 'Users'],
      [`/users/${at.userKey}`, `User ${at.trader.userId}`],
      ['/connections', 'Connections'],
      [`/events?user=${at.userKey}`, 'Events'],
      ['/events', 'Events'],
      ['/endpoints', 'Endpoints'],
      [
        '/endpoints/0198f0c2-6c1e-7f10-8b3a-2d6f5c9e4a71/0198f0c2-6c1e-7f10-8b3a-2d6f5c9e4a71',
        'Endpoint 0198f0c2-6c1e-7f10-8b3a-2d6f5c9e4a71'
      ],
      ['/deliveries', 'Deliveries'],
      [`/deliveries?user=${at.userKey}`, 'Deliveries'],
      ['/requests', 'Requests'],
      ['/audit', 'Audit'],
      ['/platforms', 'Platforms'],
      ['/sandbox', 'Sandbox'],
      ['/search?q=nothing-has-this-id', 'Search for nothing-has-this-id'],
      ['/nowhere', 'There is no such page']
    ]
    await using walk = await at.loggedIn({ bypassCSP: true, reducedMotion: 'reduce' }, { isHurried: true, refusals: /^4(04|22): / })
    const { page } = walk
    for (const [path, heading] of pages) {
      await at.open(page, path)
      await headed(page, heading)
      await page.waitForFunction(`!document.querySelector('main').innerText.includes('Reading ')`)
      await page.setViewportSize({ width: 1280, height: 800 })
      for (const list of await page.locator('.scroll').all()) {
        const [wide, seen] = await list.evaluate(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth] as const)
        assert.ok(wide <= seen, `${path} at 1,280 px: columns of ${wide} px, ${seen} px seen`)
      }
      assert.equal(await page.getByRole('heading', { name: 'Steps' }).count(), heading === `Order ${at.filled.cl_order_id}` ? 1 : 0, path)
      await judge(page, path)
    }
  })

  test('the login is for everybody', async () => {
    await using walk = await visit(at.browser, { bypassCSP: true, reducedMotion: 'reduce' }, { refusals: NO_SESSION })
    await at.open(walk.page, '/')
    await walk.page.getByLabel('Link or code').waitFor()
    await judge(walk.page, 'the login')
  })
})
