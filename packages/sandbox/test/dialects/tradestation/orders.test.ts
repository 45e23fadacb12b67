import assert from 'node:assert/strict'
import { test } from 'node:test'
import { beginningAt, Customer, control, type Wire } from '../../brokerage/support.ts'
import { Client, openBrokerage, refusedWith, taken } from './support.ts'

test('a limit order is received, and shown as TradeStation shows one', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const placed = await client.place({ TimeInForce: { Duration: 'GCP' } })
  const id = taken(placed)
  const { OpenedDateTime: opened, ...order } = await client.order(id)
  assert.match(opened, /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/)
  assert.deepEqual(order, {
    AccountID: client.account(),
    Duration: 'GTC+',
    FilledPrice: '0',
    Legs: [
      {
        AssetType: 'STOCK',
        BuyOrSell: 'Buy',
        ExecQuantity: '0',
        OpenOrClose: 'Open',
        QuantityOrdered: '10',
        QuantityRemaining: '10',
        Symbol: 'SPY'
      }
    ],
    LimitPrice: '490',
    OrderID: id,
    OrderType: 'Limit',
    Routing: 'Intelligent',
    Status: 'ACK',
    StatusDescription: 'Received'
  })
})

test('order types and durations, and how they are shown', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const cases: readonly (readonly [fields: Wire, type: string, duration: string, status: string])[] = [
    [{ TimeInForce: { Duration: 'DAY' } }, 'Limit', 'DAY', 'ACK'],
    [{ TimeInForce: { Duration: 'DYP' } }, 'Limit', 'DAY+', 'ACK'],
    [{ OrderType: 'StopMarket', LimitPrice: null, StopPrice: '510' }, 'StopMarket', 'GTC', 'ACK'],
    [{ OrderType: 'StopLimit', StopPrice: '510', LimitPrice: '511', TimeInForce: { Duration: 'GCP' } }, 'StopLimit', 'GTC+', 'ACK'],
    [{ TimeInForce: { Duration: 'OPG' } }, 'Limit', 'OPG', 'DON'],
    [{ TimeInForce: { Duration: 'CLO' } }, 'Limit', 'CLO', 'DON'],
    [{ TimeInForce: { Duration: 'IOC' } }, 'Limit', 'IOC', 'OUT'],
    [{ TimeInForce: { Duration: 'FOK' } }, 'Limit', 'FOK', 'OUT'],
    [{ OrderType: 'Market', LimitPrice: null, TimeInForce: { Duration: 'DAY' } }, 'Market', 'DAY', 'FLL']
  ]
  for (const [fields, type, duration, status] of cases) {
    const order = await client.order(taken(await client.place(fields)))
    assert.deepEqual([order.OrderType, order.Duration, order.Status], [type, duration, status], JSON.stringify(fields))
  }
})

test('a malformed order is a 400, a refused one a 200 with errors', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const malformed: readonly Wire[] = [
    { OrderType: 'Trailing' },
    { Quantity: 10 },
    { Quantity: null },
    { TradeAction: 'HOLD' },
    { TimeInForce: { Duration: 'ALWAYS' } },
    { TimeInForce: null },
    { LimitPrice: 'cheap' },
    { OrderConfirmID: 'longer-than-22-characters' }
  ]
  for (const fields of malformed) {
    const { status, body } = await client.place(fields)
    assert.deepEqual([status, body.Error], [400, 'BadRequest'], JSON.stringify(fields))
  }
  const refused: readonly (readonly [Wire, RegExp])[] = [
    [{ Symbol: 'NOPE' }, /Invalid symbol/],
    [{ Symbol: 'BTCUSD' }, /cannot be traded/],
    [{ Quantity: '1.5' }, /whole number/],
    [{ Quantity: '10000' }, /buying power/],
    [{ LimitPrice: '490.001' }, /tick/],
    [{ LimitPrice: null }, /limit price/]
  ]
  for (const [fields, words] of refused) assert.match(refusedWith(await client.place(fields)), words)
  const robin = await client.place({ AccountID: (await Client.of(brokerage, 'robin')).account() })
  assert.deepEqual([robin.status, robin.body.Error], [403, 'Forbidden'])
})

test('an OrderConfirmID is accepted once per user and never shown', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const id = taken(await client.place({ OrderConfirmID: 'once-and-only-once' }))
  assert.match(refusedWith(await client.place({ OrderConfirmID: 'once-and-only-once' })), /Duplicate OrderConfirmID/)
  const elsewhere = { OrderConfirmID: 'once-and-only-once', AccountID: client.account('Cash') }
  assert.match(refusedWith(await client.place(elsewhere)), /Duplicate/)
  assert.equal(JSON.stringify(await client.order(id)).includes('once-and'), false)
  assert.equal((await control(brokerage, 'GET', '/orders?client_order_id=once-and-only-once')).received, 3)
})

test('sides are checked against the position and the open orders', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const market = { OrderType: 'Market', LimitPrice: null, TimeInForce: { Duration: 'DAY' } }
  const refused = async (action: string, quantity: string) =>
    refusedWith(await client.place({ ...market, TradeAction: action, Quantity: quantity }))
  assert.match(await refused('SELL', '1'), /EC701/)
  assert.match(await refused('BUYTOCOVER', '1'), /EC602/)
  await client.trade('BUY', '10')
  assert.match(await refused('SELLSHORT', '5'), /EC702: you are long 10 SPY/)
  assert.match(await refused('SELL', '11'), /EC701/)
  const resting = taken(await client.place({ TradeAction: 'SELL', Quantity: '6', LimitPrice: '510' }))
  assert.match(await refused('SELL', '5'), /EC701: you are long 10 SPY; 4 can be sold/)
  await client.cancel(resting)
  await client.trade('SELL', '10')
  await client.trade('SELLSHORT', '10')
  assert.match(await refused('BUY', '5'), /EC601: you are short 10 SPY/)
  assert.match(await refused('BUYTOCOVER', '11'), /EC602/)
  await client.trade('BUYTOCOVER', '10')
})

test('a replaced order keeps its id and its fills', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  await control(brokerage, 'PUT', '/market/SPY', { asks: [['500', '3']], bids: [['499.99', '100']] })
  const id = taken(await client.place({ LimitPrice: '500' }))
  assert.deepEqual(filled(await client.order(id)), ['FPR', '3', '7', '500'])
  const replaced = await client.change(id, { LimitPrice: '501', Quantity: '12' })
  assert.deepEqual([replaced.status, replaced.body], [200, { Message: 'Cancel/Replace order sent.', OrderID: id }])
  const between = await client.order(id)
  assert.deepEqual(filled(between), ['FPR', '3', '9', '500'])
  assert.equal(between.LimitPrice, '501')
  await control(brokerage, 'PUT', '/market/SPY', { asks: [['501', '100']], bids: [['500.99', '100']] })
  const after = await client.order(id)
  assert.deepEqual(filled(after), ['FLL', '12', '0', '500.75'])
  assert.equal(after.Legs[0].ExecutionPrice, '500.75')
  const { body } = await client.get(`/brokerage/accounts/${client.account()}/orders`)
  assert.deepEqual(
    body.Orders.map((order: Wire) => order.OrderID),
    [id]
  )
})

const filled = ({ Status, Legs: [leg], FilledPrice }: Wire) => [Status, leg.ExecQuantity, leg.QuantityRemaining, FilledPrice]

test('a refused replace is a 400 with FAILED and changes nothing', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const id = taken(await client.place())
  const market = await client.change(id, { OrderType: 'Market' })
  assert.deepEqual([market.status, market.body.Error], [400, 'FAILED'])
  assert.equal((await client.change(id, {})).body.Error, 'BadRequest')
  assert.match((await client.change(id, { LimitPrice: '490.001' })).body.Message, /tick/)
  assert.equal((await client.order(id)).LimitPrice, '490')
  await client.cancel(id)
  const over = await client.change(id, { LimitPrice: '491' })
  assert.deepEqual([over.status, over.body.Message], [400, 'Failed to Cancel/Replace order: Not an open order.'])
})

test('cancels: of open orders, of closed ones, of other customers’', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const id = taken(await client.place())
  const { status, body } = await client.cancel(id)
  assert.deepEqual([status, body], [200, { Message: 'Cancel request sent', OrderID: id }])
  const order = await client.order(id)
  assert.equal(order.Status, 'OUT')
  assert.ok(order.ClosedDateTime)
  const again = await client.cancel(id)
  assert.deepEqual([again.status, again.body.Error, again.body.Message], [400, 'FAILED', 'Not an open order.'])
  for (const wrong of ['123', 'ord-1', '999999999999999']) assert.equal((await client.cancel(wrong)).body.Message, 'Invalid order ID.')
  const robin = await Client.of(brokerage, 'robin')
  assert.equal((await robin.cancel(id)).body.Message, 'Invalid order ID.')
})

test('FLP for a part cancelled, EXP with the whole quantity and no price', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  await control(brokerage, 'PUT', '/market/SPY', { asks: [['500', '3']], bids: [['499.99', '100']] })
  const partial = taken(await client.place({ LimitPrice: '500' }))
  await client.cancel(partial)
  assert.deepEqual(filled(await client.order(partial)), ['FLP', '3', '7', '500'])
  const day = taken(await client.place({ TimeInForce: { Duration: 'DAY' } }))
  await control(brokerage, 'PUT', '/market', { phase: 'closed' })
  assert.deepEqual(filled(await client.order(day)), ['EXP', '10', '0', '0'])
})

test('yesterday’s closed orders are historical only', async () => {
  // Half past eleven at night in New York.
  await using brokerage = await openBrokerage({ deps: { realNow: beginningAt('2026-10-15T03:30:00Z') } })
  const client = await Client.of(brokerage)
  const gone = taken(await client.place())
  const open = taken(await client.place())
  await client.cancel(gone)
  const { OpenedDateTime: opened } = await client.order(gone)
  const since = new Date(Date.parse(opened) - 86_400_000).toISOString().slice(0, 10)
  await control(brokerage, 'PUT', '/clock', { advance_ms: 3_600_000 })
  const listed = async (path: string) =>
    (await client.get(`/brokerage/accounts/${client.accounts}/${path}`)).body.Orders.map((order: Wire) => order.OrderID)
  assert.deepEqual(await listed('orders'), [open])
  assert.deepEqual(await listed(`historicalorders?since=${since}`), [gone])
  const { body } = await client.get(`/brokerage/accounts/${client.account()}/orders/${gone}`)
  assert.deepEqual([body.Orders, body.Errors[0].OrderID, body.Errors[0].Error], [[], gone, 'NotFound'])
  assert.equal((await client.order(open)).OrderID, open)
  assert.deepEqual(await listed(`historicalorders/${gone}?since=${since}`), [gone])
  assert.equal((await client.cancel(gone)).body.Message, 'Invalid order ID.')
  assert.equal((await client.get(`/brokerage/accounts/${client.account()}/historicalorders`)).status, 400)
  assert.equal((await client.get(`/brokerage/accounts/${client.account()}/historicalorders?since=2001-01-01`)).status, 400)
})

test('pages, newest first; a page token fits its query only', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const ids: string[] = []
  for (let nth = 0; nth < 7; nth++) {
    ids.unshift(taken(await client.place({ AccountID: client.account(nth % 2 === 0 ? 'Margin' : 'Cash') })))
    await control(brokerage, 'PUT', '/clock', { advance_ms: 1_000 })
  }
  const path = `/brokerage/accounts/${client.accounts}/orders?pageSize=3`
  const seen: string[] = []
  let next = ''
  for (let page = 0; page < 3; page++) {
    const { body } = await client.get(`${path}&nextToken=${encodeURIComponent(next)}`)
    seen.push(...body.Orders.map((order: Wire) => order.OrderID))
    next = body.NextToken ?? ''
  }
  assert.deepEqual(seen, ids)
  assert.equal(next, '')
  const token = (await client.get(path)).body.NextToken
  assert.equal((await client.get(`/brokerage/accounts/${client.account()}/orders?pageSize=3&nextToken=${token}`)).status, 400)
  assert.equal((await client.get(`${path}1000`)).status, 400)
  await control(brokerage, 'POST', '/faults', { on: 'orders.list', do: 'lose_page', page: 2, times: 1 })
  const { body } = await client.get(path)
  const after = (await client.get(`${path}&nextToken=${encodeURIComponent(body.NextToken)}`)).body.Orders
  assert.deepEqual(
    after.map((order: Wire) => order.OrderID),
    ids.slice(6)
  )
})

test('a preview has a cost and an OrderConfirmID', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  await control(brokerage, 'PUT', '/market/SPY', { asks: [['500.02', '100']], bids: [['499.99', '100']] })
  const order = {
    AccountID: client.account(),
    Symbol: 'SPY',
    Quantity: '10',
    OrderType: 'Market',
    TradeAction: 'BUY',
    TimeInForce: { Duration: 'DAY' }
  }
  const { body } = await client.call('POST', '/orderexecution/orderconfirm', order)
  const [confirmation] = body.Confirmations
  assert.equal(confirmation.EstimatedCost, '5000.2')
  assert.ok(confirmation.OrderConfirmID.length <= 22)
  taken(await client.place({ OrderConfirmID: confirmation.OrderConfirmID }))
  assert.deepEqual((await client.get(`/brokerage/accounts/${client.account()}/positions`)).body.Positions, [])
})

test('an order without a quantity is not shown', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const customer = await Customer.of(brokerage)
  assert.equal((await customer.submit({ quantity: '1.0123456789' })).status, 422)
  const id = taken(await client.place())
  const listed = (await client.get(`/brokerage/accounts/${client.account()}/orders`)).body.Orders
  assert.deepEqual(
    listed.map(({ OrderID }: Wire) => OrderID),
    [id]
  )
})
