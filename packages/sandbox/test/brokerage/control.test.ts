import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Customer, control, eventually, openBrokerage, send, type Wire } from './support.ts'

test('logins and accounts are created on demand', async () => {
  await using brokerage = await openBrokerage()
  const { login } = await control(brokerage, 'POST', '/logins', { username: 'sam', accounts: [{ kind: 'cash', cash: '1000.00' }] })
  assert.equal(login.accounts.length, 1)
  const sam = await Customer.of(brokerage, 'sam')
  assert.equal((await sam.call('GET', '/balances')).body.items[0].cash, '1000.00')
  await control(brokerage, 'POST', '/logins/sam/accounts', { kind: 'margin' })
  assert.equal((await sam.call('GET', '/accounts')).body.items.length, 2)
  assert.equal((await send(`${brokerage.controlUrl}/logins`, 'POST', { username: 'sam' })).status, 409)
  assert.equal((await send(`${brokerage.controlUrl}/logins/nobody/revoke`, 'POST', {})).status, 404)
  const tooRich = { username: 'croesus', accounts: [{ kind: 'margin', cash: '900000000000' }] }
  assert.equal((await send(`${brokerage.controlUrl}/logins`, 'POST', tooRich)).status, 400)
  assert.equal(
    (await send(`${brokerage.controlUrl}/logins/croesus/revoke`, 'POST', {})).status,
    404,
    'a refused login leaves nothing behind'
  )
  for (const username of ['.', '..', '', 'a\u0000', 'é', 'x'.repeat(65)]) {
    const { status, body } = await send(`${brokerage.controlUrl}/logins`, 'POST', { username })
    assert.deepEqual([status, body.error.code, body.error.field], [400, 'bad_request', 'username'], username)
    assert.match(body.error.message, /must be 1 to 64 printable ASCII characters, and not "\." or "\.\.", was /)
  }
  for (const username of ['...', '.a', 'a@b.c'])
    assert.equal((await control(brokerage, 'POST', '/logins', { username })).login.username, username)
  const { login: guest } = await control(brokerage, 'POST', '/logins', {})
  assert.equal(guest.accounts.length, 3)
})

test('the clock can be frozen and jump forward, but not back; day orders end with the day', async () => {
  await using brokerage = await openBrokerage({ calendar: 'exchange' })
  const alex = await Customer.of(brokerage)
  const at = async () => (await control(brokerage, 'GET', '/clock')).clock.sandbox_time
  const standing = await at()
  assert.equal(await at(), standing)
  const { items: days } = (await alex.call('GET', '/calendar')).body
  const [, day] = days
  const open = day.opens.replace('00.000000Z', '59.000001Z')
  const { clock: morning } = await control(brokerage, 'PUT', '/clock', { set: open })
  assert.deepEqual([morning.sandbox_time, morning.share], [open, 'open'])
  const { order } = (await alex.submit({ lifetime: 'day', limit: '1.00' })).body
  assert.equal(order.received, open)
  const { clock: evening } = await control(brokerage, 'PUT', '/clock', { set: day.post_closes })
  assert.equal(evening.share, 'closed')
  assert.equal((await alex.call('GET', `/orders/${order.id}`)).body.order.state, 'lapsed')
  assert.equal((await send(`${brokerage.controlUrl}/clock`, 'PUT', { set: open })).status, 400)
  await control(brokerage, 'PUT', '/clock', { frozen: false })
  await eventually(at, time => time > evening.sandbox_time)
})

test('as_of stays real whatever the sandbox time', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  await control(brokerage, 'PUT', '/clock', { advance_ms: 3_600_000 })
  const before = Date.now()
  const { as_of, sandbox_time } = (await alex.call('GET', '/me')).body
  assert.ok(Date.parse(as_of) >= before - 1_000 && Date.parse(as_of) <= Date.now() + 1_000, as_of)
  assert.ok(Date.parse(sandbox_time) > Date.parse(as_of))
})

test('a price is read without a change, and the clock has whether prices pause', async () => {
  await using brokerage = await openBrokerage()
  await control(brokerage, 'PUT', '/market', { paused: true })
  assert.equal((await control(brokerage, 'GET', '/clock')).clock.paused, true)
  await control(brokerage, 'PUT', '/market/SPY', { bids: [['479.90', '7']], asks: [['480.10', '8']] })
  const { quote } = await control(brokerage, 'GET', '/market/SPY')
  assert.deepEqual([quote.bid, quote.bid_size, quote.ask, quote.ask_size], ['479.9', '7', '480.1', '8'])
  assert.deepEqual((await control(brokerage, 'GET', '/market/SPY')).quote, quote)
  assert.equal((await send(`${brokerage.controlUrl}/market/NOPE`, 'GET')).status, 404)
  await control(brokerage, 'PUT', '/market', { paused: false })
  assert.equal((await control(brokerage, 'GET', '/clock')).clock.paused, false)
})

test('a book whose bids reach its asks, or that has a price or size of nothing, is refused, and nothing of the request is done', async () => {
  await using brokerage = await openBrokerage()
  await control(brokerage, 'PUT', '/market', { paused: true })
  await control(brokerage, 'PUT', '/market/SPY', { bids: [['479.90', '7']], asks: [['480.10', '8']] })
  const before = (await control(brokerage, 'GET', '/market/SPY')).quote
  const bids = [
    ['480.00', '1'],
    ['480.2', '1']
  ]
  for (const [book, message] of [
    [{ bids, asks: [['480.20', '1']] }, 'bids must be below all asks, was 480.2 with an ask of 480.20'],
    [
      {
        bids: [['481', '1']],
        asks: [
          ['482', '1'],
          ['480', '1']
        ]
      },
      'bids must be below all asks, was 481 with an ask of 480'
    ],
    [{ asks: [['480', '0']] }, 'asks is a list of [price, size], best first, both positive and as text'],
    [{ bids: [['-480', '1']] }, 'bids is a list of [price, size], best first, both positive and as text']
  ] as const) {
    const { status, body } = await send(`${brokerage.controlUrl}/market/SPY`, 'PUT', { price: '300.00', halted: true, ...book })
    assert.deepEqual([status, body.error.code, body.error.message], [400, 'bad_request', message])
  }
  assert.deepEqual((await control(brokerage, 'GET', '/market/SPY')).quote, before)
})

test('a halted symbol does not trade, others do', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  const { order } = (await alex.submit({ client_order_id: 'waits' })).body
  await control(brokerage, 'PUT', '/market/SPY', { halted: true })
  assert.equal((await alex.call('GET', '/instruments/SPY')).body.instrument.halted, true)
  await control(brokerage, 'PUT', '/market/SPY', { price: '480.00' })
  assert.equal((await alex.call('GET', `/orders/${order.id}`)).body.order.state, 'open')
  assert.equal((await alex.buy('1', { symbol: 'AAPL' })).body.order.state, 'done')
  await control(brokerage, 'PUT', '/market/SPY', { halted: false })
  await control(brokerage, 'PUT', '/market/SPY', { price: '480.00' })
  assert.equal((await alex.call('GET', `/orders/${order.id}`)).body.order.state, 'done')
  assert.equal((await send(`${brokerage.controlUrl}/market/NOPE`, 'PUT', { halted: true })).status, 404)
  assert.equal((await send(`${brokerage.controlUrl}/market/SPY`, 'PUT', { price: '0' })).status, 400)
})

test('the share market is closed and opened by the control API', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  assert.equal((await control(brokerage, 'PUT', '/market', { phase: 'closed' })).clock.share, 'closed')
  const refused = await alex.buy('1', { lifetime: 'ioc', client_order_id: 'now' })
  assert.deepEqual([refused.status, refused.body.error.code], [422, 'market_closed'])
  assert.equal((await control(brokerage, 'PUT', '/market', { phase: 'calendar' })).clock.share, 'open')
  assert.equal((await alex.buy('1')).body.order.state, 'done')
})

test('dividends are paid to holders', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  await alex.buy('10')
  assert.deepEqual((await control(brokerage, 'POST', '/dividends', { symbol: 'SPY', per_share: '1.25' })).paid, 1)
  const { items } = (await alex.call('GET', '/transactions')).body
  assert.deepEqual([items[0].type, items[0].amount], ['dividend', '12.50'])
})

test('orders that the operator places and cancels are the customer’s too', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  const ticket = {
    account: alex.account('margin'),
    symbol: 'SPY',
    direction: 'buy',
    kind: 'limit',
    lifetime: 'gtc',
    quantity: '1',
    limit: '480.00'
  }
  const { order } = await control(brokerage, 'POST', '/orders', { login: 'alex', ...ticket })
  const { items } = (await alex.call('GET', '/orders')).body
  assert.deepEqual(
    items.map(({ id }: Wire) => id),
    [order.id]
  )
  assert.match(order.client_order_id, /^sandbox-/)
  await control(brokerage, 'POST', `/orders/${order.id}/cancel`)
  assert.equal((await alex.call('GET', `/orders/${order.id}`)).body.order.state, 'cancelled')
  assert.equal((await send(`${brokerage.controlUrl}/orders`, 'POST', { login: 'robin', ...ticket })).status, 404)
})

test('counters count requests and responses', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  await control(brokerage, 'DELETE', '/counters')
  await alex.submit({ client_order_id: 'c' })
  await alex.submit({ client_order_id: 'c' })
  await alex.find('c')
  const { operations } = await control(brokerage, 'GET', '/counters')
  assert.deepEqual(operations, {
    'orders.submit': { requests: 2, faults: 0, answers: { 201: 1, 409: 1 } },
    'orders.find': { requests: 1, faults: 0, answers: { 200: 1 } }
  })
})

test('a reset restores the initial state, and the demo logins’ grants stay', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  await control(brokerage, 'POST', '/logins', { username: 'sam' })
  const sam = await Customer.of(brokerage, 'sam')
  await alex.buy('5', { client_order_id: 'before' })
  await control(brokerage, 'POST', '/faults', { on: '*', do: 'status', status: 500 })
  await control(brokerage, 'POST', '/reset')
  assert.equal((await alex.find('before')).status, 404)
  assert.deepEqual((await alex.call('GET', '/positions')).body.items, [])
  assert.equal((await alex.call('GET', '/balances')).body.items[0].cash, '100000.00')
  assert.equal((await sam.call('GET', '/me')).status, 401)
  assert.equal((await alex.buy('5', { client_order_id: 'before' })).body.order.state, 'done')
})

test('a reset also ends halts, forced phases, a pause, a frozen clock and lifetimes of tokens, and answers the clock', async () => {
  await using brokerage = await openBrokerage()
  const { clock: before } = await control(brokerage, 'GET', '/clock')
  const lifetimesNow = async () => {
    const { accessTtlS, dialectTtlS, refreshGraceMs } = await control(brokerage, 'PUT', '/oauth', {})
    return [accessTtlS, dialectTtlS, refreshGraceMs]
  }
  const lifetimes = await lifetimesNow()
  const shown = async () => (await control(brokerage, 'GET', '/market/AAPL')).quote
  const { halted } = await shown()
  await control(brokerage, 'PUT', '/oauth', { access_ttl_s: 7, refresh_grace_ms: 8 })
  const phase = before.share === 'pre' ? 'post' : 'pre'
  for (const name of ['share', 'coin', 'option', 'future']) await control(brokerage, 'PUT', '/market', { phase, class: name })
  await control(brokerage, 'PUT', '/market/AAPL', { halted: true })
  assert.equal((await shown()).halted, true)
  await control(brokerage, 'PUT', '/market', { paused: true })
  await control(brokerage, 'PUT', '/clock', { frozen: true })
  const { clock } = await control(brokerage, 'POST', '/reset')
  const { sandbox_time: time, ...same } = before
  const { sandbox_time: later, ...after } = clock
  // These tests' clock stands still from the start on, which is a change too.
  assert.deepEqual(after, { ...same, frozen: false })
  assert.ok(later > time)
  assert.equal((await shown()).halted, halted)
  assert.deepEqual(await lifetimesNow(), lifetimes)
  await eventually(
    async () => (await control(brokerage, 'GET', '/clock')).clock.sandbox_time,
    now => now > later
  )
})

test('a clock is set or moved, not both, and the levels of a book are best first', async () => {
  await using brokerage = await openBrokerage()
  const { clock } = await control(brokerage, 'GET', '/clock')
  const refused = async (path: string, body: Wire) => {
    const { status, body: answer } = await send(`${brokerage.controlUrl}${path}`, 'PUT', body)
    return [status, answer.error?.field]
  }
  assert.deepEqual(await refused('/clock', { set: clock.sandbox_time, advance_ms: 3_600_000 }), [400, 'advance_ms'])
  const [low, high] = [
    ['100.00', '1'],
    ['101.00', '1']
  ]
  assert.deepEqual(await refused('/market/AAPL', { bids: [low, high] }), [400, 'bids'])
  assert.deepEqual(await refused('/market/AAPL', { asks: [high, low] }), [400, 'asks'])
  assert.deepEqual(await refused('/market/AAPL', { asks: [high, high] }), [400, 'asks'])
  assert.deepEqual(await refused('/market/AAPL', { bids: [low], asks: [high] }), [200, undefined])
})

test('the control API lists its routes and refuses invalid requests', async () => {
  await using brokerage = await openBrokerage()
  const { routes } = await control(brokerage, 'GET', '/')
  assert.ok(routes.includes('POST /faults'))
  assert.equal((await send(`${brokerage.controlUrl}/nothing`, 'GET')).status, 404)
  assert.equal((await send(`${brokerage.controlUrl}/clock`, 'PUT', { sett: 1 })).body.error.field, 'sett')
  assert.equal((await send(`${brokerage.controlUrl}/clock`, 'PUT', '{')).status, 400)
})
