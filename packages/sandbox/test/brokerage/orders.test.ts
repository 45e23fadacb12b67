import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bearer, Customer, control, openBrokerage, send, type Wire } from './support.ts'

test('a market order fills at once and is shown everywhere', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  const placed = await alex.buy('10', { client_order_id: 'first' })
  assert.equal(placed.status, 201)
  const { order } = placed.body
  assert.equal(placed.headers.get('location'), `/api/v1/orders/${order.id}`)
  assert.equal(order.state, 'done')
  assert.equal(order.filled, '10')
  assert.equal(order.remaining, '0')
  assert.equal(
    order.fills.reduce((sum: number, { quantity }: Wire) => sum + Number(quantity), 0),
    10
  )
  assert.deepEqual((await alex.call('GET', `/orders/${order.id}`)).body.order, order)
  assert.deepEqual((await alex.find('first')).body.order, order)
  const { items: positions } = (await alex.call('GET', '/positions')).body
  assert.deepEqual(
    positions.map(({ symbol, quantity, account }: Wire) => [symbol, quantity, account]),
    [['SPY', '10', alex.account('margin')]]
  )
  const { items: transactions } = (await alex.call('GET', `/transactions?account=${alex.account('margin')}`)).body
  assert.deepEqual(
    transactions.map(({ type }: Wire) => type),
    ['buy', 'deposit']
  )
  assert.equal(transactions[0].order, order.id)
})

test('every response has its time, by both clocks', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  const before = Date.now()
  for (const { body } of [
    await alex.call('GET', '/me'),
    await alex.call('GET', '/orders/nothing'),
    await send(`${brokerage.url}/api/v1/me`, 'GET')
  ]) {
    assert.ok(Date.parse(body.as_of) >= before)
    assert.match(body.sandbox_time, /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z$/)
  }
})

test('a resting order can be amended and cancelled, once', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  const { order } = (await alex.submit({ client_order_id: 'a' })).body
  assert.equal(order.state, 'open')
  const amended = await alex.call('POST', `/orders/${order.id}/amend`, { limit: '491.00', client_order_id: 'b' })
  assert.equal(amended.status, 200)
  assert.equal(amended.body.order.amends, order.id)
  assert.equal(amended.body.order.limit, '491')
  assert.equal(amended.body.superseded.state, 'superseded')
  assert.equal(amended.body.superseded.amended_by, amended.body.order.id)
  const cancelled = await alex.call('DELETE', `/orders/${amended.body.order.id}`)
  assert.equal(cancelled.body.order.state, 'cancelled')
  assert.equal(cancelled.body.order.reason.code, 'requested')
  const again = await alex.call('DELETE', `/orders/${amended.body.order.id}`)
  assert.equal(again.status, 409)
  assert.equal(again.body.error.code, 'order_not_open')
  assert.equal(again.body.order.state, 'cancelled')
})

test('a client order id can be used only once, whatever happened to the order', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  const { order } = (await alex.submit({ client_order_id: 'once' })).body
  await alex.call('DELETE', `/orders/${order.id}`)
  for (const ticket of [{ client_order_id: 'once' }, { client_order_id: 'once', quantity: '1', symbol: 'AAPL' }]) {
    const duplicate = await alex.submit(ticket)
    assert.equal(duplicate.status, 409)
    assert.equal(duplicate.body.error.code, 'duplicate_client_order_id')
    assert.equal(duplicate.body.order.id, order.id)
  }
  const { order: other } = (await alex.submit({ client_order_id: 'other' })).body
  const amendment = await alex.call('POST', `/orders/${other.id}/amend`, { limit: '480.00', client_order_id: 'once' })
  assert.equal(amendment.status, 409)
  assert.equal(amendment.body.order.id, order.id)
  assert.equal((await alex.submit({ account: alex.account('cash'), client_order_id: 'once' })).status, 201)
})

test('fifty simultaneous submits with one id make one order', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  const answers = await Promise.all(Array.from({ length: 50 }, () => alex.submit({ client_order_id: 'same' })))
  assert.equal(answers.filter(({ status }) => status === 201).length, 1)
  assert.equal(answers.filter(({ status }) => status === 409).length, 49)
  assert.deepEqual((await control(brokerage, 'GET', '/orders?client_order_id=same')).accepted, 1)
  assert.deepEqual((await control(brokerage, 'GET', '/orders?client_order_id=same')).received, 50)
})

test('refusals have a reason; those kept by the engine are orders too', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  const cases: readonly (readonly [Wire, string])[] = [
    [{ quantity: '1000000' }, 'insufficient_buying_power'],
    [{ symbol: 'NOPE' }, 'unknown_symbol'],
    [{ limit: '490.001' }, 'bad_tick'],
    [{ limit: null }, 'bad_price'],
    [{ quantity: '0' }, 'bad_quantity'],
    [{ notional: '100' }, 'bad_quantity'],
    [{ symbol: 'BTC/USD', limit: '100' }, 'instrument_not_permitted'],
    [{ account: alex.account('cash'), direction: 'sell', limit: '510.00' }, 'short_sale_not_allowed']
  ]
  for (const [nth, [ticket, code]] of cases.entries()) {
    const { status, body } = await alex.submit({ client_order_id: `r${nth}`, ...ticket })
    assert.equal(status, 422, `${code}: ${JSON.stringify(body)}`)
    assert.equal(body.error.code, code)
    assert.match(body.error.message, /^[A-Z].*\.$/)
    const found = await alex.find(`r${nth}`)
    if (body.order === null) assert.equal(found.status, 404)
    else {
      assert.equal(found.body.order.state, 'refused')
      assert.equal(found.body.order.reason.code, code)
    }
  }
})

test('a malformed submit is a 400 that names the field, and creates nothing', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  const cases: readonly (readonly [unknown, string | null])[] = [
    [{ quantity: 10 }, 'quantity'],
    [{ quantity: '1e3' }, 'quantity'],
    [{ quantity: '10 ' }, 'quantity'],
    [{ limit: 'NaN' }, 'limit'],
    [{ direction: 'BUY' }, 'direction'],
    [{ kind: null }, 'kind'],
    [{ lifetime: 'forever' }, 'lifetime'],
    [{ client_order_id: '' }, 'client_order_id'],
    [{ client_order_id: 'x'.repeat(65) }, 'client_order_id'],
    [{ client_order_id: 'a\u0000b' }, 'client_order_id'],
    [{ side: 'buy' }, 'side']
  ]
  for (const [ticket, field] of cases) {
    const { status, body } = await alex.submit(ticket)
    assert.equal(status, 400, JSON.stringify(ticket))
    assert.equal(body.error.field, field)
  }
  for (const raw of ['{', '[]', '"x"', 'null', '{"__proto__": {"a": 1}}']) {
    assert.equal((await alex.call('POST', '/orders', raw)).status, 400, raw)
  }
  assert.equal((await alex.call('POST', '/orders', JSON.stringify({ account: 'x'.repeat(70_000) }))).status, 413)
  assert.deepEqual((await alex.call('GET', '/orders')).body.items, [])
})

test('other customers’ orders and accounts can be neither read nor changed', async () => {
  await using brokerage = await openBrokerage()
  const [alex, robin] = [await Customer.of(brokerage, 'alex'), await Customer.of(brokerage, 'robin')]
  const { order } = (await alex.submit({ client_order_id: 'mine' })).body
  assert.equal((await robin.call('GET', `/orders/${order.id}`)).status, 404)
  assert.equal((await robin.call('DELETE', `/orders/${order.id}`)).status, 404)
  assert.equal((await robin.call('POST', `/orders/${order.id}/amend`, { limit: '480.00' })).status, 404)
  assert.equal((await robin.find('mine')).status, 404)
  assert.equal((await robin.submit({ account: alex.account('margin') })).body.error.code, 'unknown_account')
  for (const path of ['/orders', '/positions', '/balances', '/transactions'])
    assert.equal((await robin.call('GET', `${path}?account=${alex.account('margin')}`)).status, 404)
  assert.deepEqual((await robin.call('GET', '/orders')).body.items, [])
})

test('reading needs a token, and trading needs the scope', async () => {
  await using brokerage = await openBrokerage()
  const reader = await Customer.of(brokerage, 'alex', ['read'])
  assert.equal((await reader.call('GET', '/orders')).status, 200)
  const refused = await reader.submit()
  assert.equal(refused.status, 403)
  assert.equal(refused.body.error.code, 'scope_missing')
  const none = await send(`${brokerage.url}/api/v1/orders`, 'GET')
  assert.equal(none.body.error.code, 'token_missing')
  assert.match(String(none.headers.get('www-authenticate')), /^Bearer/)
  assert.equal((await send(`${brokerage.url}/api/v1/orders`, 'GET', undefined, bearer('x'))).body.error.code, 'token_invalid')
})

test('pages of orders neither skip nor repeat items while orders are added, in both directions', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  const accounts = [alex.account('margin'), alex.account('cash')]
  for (let nth = 0; nth < 25; nth++)
    await alex.submit({ account: accounts[nth % 2], client_order_id: `p${nth}`, quantity: '1', limit: '10.00' })
  for (const sort of ['desc', 'asc']) {
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const query = `sort=${sort}&state=open&limit=4${cursor === null ? '' : `&cursor=${cursor}`}`
      const { body } = await alex.call('GET', `/orders?${query}`)
      seen.push(...body.items.map((order: Wire) => order.client_order_id))
      cursor = body.next
      await alex.submit({ client_order_id: `late-${sort}-${seen.length}`, quantity: '1', limit: '10.00' })
    } while (cursor !== null && seen.length < 60)
    const old = seen.filter(id => id.startsWith('p'))
    assert.equal(old.length, 25)
    assert.equal(new Set(seen).size, seen.length)
  }
})

test('a cursor is bound to its query', async () => {
  await using brokerage = await openBrokerage()
  const [alex, robin] = [await Customer.of(brokerage), await Customer.of(brokerage, 'robin')]
  for (const customer of [alex, robin]) for (let nth = 0; nth < 3; nth++) await customer.submit({ quantity: '1' })
  const { next } = (await alex.call('GET', '/orders?limit=1&state=open')).body
  assert.equal((await alex.call('GET', `/orders?limit=2&state=open&cursor=${next}`)).body.items.length, 2)
  for (const [who, query] of [
    [alex, `limit=1&state=all&cursor=${next}`],
    [alex, `limit=1&state=open&cursor=${next}x`],
    [alex, `limit=1&state=open&cursor=x${next}`],
    [robin, `limit=1&state=open&cursor=${next}`]
  ] as const) {
    assert.equal((await who.call('GET', `/orders?${query}`)).body.error.code, 'bad_cursor')
  }
})

test('lists are filtered by state, symbol, time and client order id', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  await alex.buy('1', { client_order_id: 'over' })
  await control(brokerage, 'PUT', '/clock', { advance_ms: 60_000 })
  const { order } = (await alex.submit({ client_order_id: 'open' })).body
  const ids = async (query: string) => (await alex.call('GET', `/orders?${query}`)).body.items.map((found: Wire) => found.client_order_id)
  assert.deepEqual(await ids(''), ['open', 'over'])
  assert.deepEqual(await ids('state=open'), ['open'])
  assert.deepEqual(await ids('state=over'), ['over'])
  assert.deepEqual(await ids('symbol=AAPL'), [])
  assert.deepEqual(await ids(`since=${order.received}`), ['open'])
  assert.deepEqual(await ids(`until=${order.received}`), ['over'])
  assert.deepEqual(await ids('client_order_id=over'), ['over'])
  for (const query of ['state=done', 'since=yesterday', 'limit=0', 'limit=501', 'limit=x', 'stat=open', 'account=x', 'sort=up'])
    assert.ok([400, 404].includes((await alex.call('GET', `/orders?${query}`)).status), query)
})

test('a new price fills resting orders', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  const { order } = (await alex.submit({ limit: '490.00' })).body
  await control(brokerage, 'PUT', '/market/SPY', { price: '489.00' })
  assert.equal((await alex.call('GET', `/orders/${order.id}`)).body.order.state, 'done')
})

test('a thin book fills in part; the rest works on, and an amendment counts earlier fills', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  const asks = (size: string) => control(brokerage, 'PUT', '/market/SPY', { bids: [['499.00', '100']], asks: [['500.00', size]] })
  await asks('4')
  const { order } = (await alex.submit({ limit: '500.00', quantity: '10' })).body
  assert.deepEqual([order.state, order.filled, order.remaining, order.average_fill_price], ['partial', '4', '6', '500'])
  const low = await alex.call('POST', `/orders/${order.id}/amend`, { quantity: '4' })
  assert.deepEqual([low.status, low.body.error.code, low.body.order.id], [422, 'quantity_already_filled', order.id])
  const amended = (await alex.call('POST', `/orders/${order.id}/amend`, { quantity: '7' })).body
  assert.deepEqual([amended.order.quantity, amended.order.carried, amended.order.remaining], ['7', '4', '3'])
  assert.deepEqual([amended.superseded.state, amended.superseded.filled], ['superseded', '4'])
  await asks('50')
  const done = (await alex.call('GET', `/orders/${amended.order.id}`)).body.order
  assert.deepEqual([done.state, done.filled], ['done', '3'])
  assert.equal((await alex.call('GET', '/positions')).body.items[0].quantity, '7')
  const { order: ioc } = (await alex.submit({ limit: '500.00', quantity: '100', lifetime: 'ioc' })).body
  assert.deepEqual([ioc.state, ioc.reason.code], ['cancelled', 'immediate_remainder'])
})
