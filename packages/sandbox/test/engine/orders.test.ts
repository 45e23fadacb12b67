import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fillsIn, orderOf, refusalIn, STANDARD, trades, World } from './world.ts'

function quoted(): World {
  const world = new World()
  world.quote(STANDARD.bids, STANDARD.asks)
  return world
}

test('a market order takes the quote, level by level, and reports it in order', () => {
  const world = new World()
  world.quote(
    [['99.90', '100']],
    [
      ['100.00', '4'],
      ['100.05', '100']
    ]
  )
  const events = world.submit({ quantity: '10' })
  assert.deepEqual(
    events.map(event => (event.type === 'order' ? `order ${event.change} ${event.order.state}` : event.type)),
    ['order accepted open', 'order fill partial', 'transaction', 'order fill filled', 'transaction', 'account_changed']
  )
  const order = world.again(orderOf(events))
  assert.deepEqual(trades(order.fills), ['4 @ 100', '6 @ 100.05'])
  assert.equal(order.averagePrice, '100.03')
  assert.equal(order.remainingQuantity, '0')
  assert.deepEqual(
    events.map(event => event.seq),
    events.map((_, at) => (events[0]?.seq ?? 0) + at)
  )
})

test('taken size is gone until the next quote, and a market order waits for it', () => {
  const world = new World()
  world.quote([['99.90', '100']], [['100.00', '6']])
  const first = world.order({ quantity: '10' })
  assert.equal(first.state, 'partial')
  assert.equal(first.remainingQuantity, '4')
  assert.deepEqual(world.engine.market('AAPL')?.asks, [])
  world.quote([['99.90', '100']], [['100.02', '50']])
  assert.deepEqual(trades(world.again(first).fills), ['6 @ 100', '4 @ 100.02'])
})

test('a market order does not trade more than 5 % beyond the touch', () => {
  const world = new World()
  world.quote(
    [['99.90', '100']],
    [
      ['100.00', '5'],
      ['105.00', '5'],
      ['105.01', '100']
    ]
  )
  const order = world.order({ quantity: '20' })
  assert.deepEqual(trades(order.fills), ['5 @ 100', '5 @ 105'])
  assert.equal(order.state, 'partial')
})

test('a symbol without a price refuses market orders and accepts limits', () => {
  const world = new World()
  assert.equal(world.reject({ quantity: '1' }), 'no_price')
  assert.equal(world.order({ limitPrice: '50' }).state, 'open')
})

test('a limit order fills at the quote if that is better, and never beyond its limit', () => {
  const world = quoted()
  assert.deepEqual(trades(world.order({ limitPrice: '101' }).fills), ['10 @ 100.1'])
  const resting = world.order({ limitPrice: '99.50' })
  assert.equal(resting.state, 'open')
  world.quote([['99.55', '100']], [['99.60', '100']])
  assert.equal(world.again(resting).state, 'open')
  world.quote([['99.30', '100']], [['99.40', '7']])
  assert.deepEqual(trades(world.again(resting).fills), ['7 @ 99.4'], 'a crossed order trades inside the quotes of the moment')
})

test('a print beyond a resting limit fills it up to the printed size, a print at the limit does not', () => {
  const world = quoted()
  const order = world.order({ limitPrice: '100.05', quantity: '10' })
  world.print('100.05', '100')
  assert.equal(world.again(order).filledQuantity, '0')
  world.print('100.04', '4')
  assert.deepEqual(trades(world.again(order).fills), ['4 @ 100.05'])
  world.print('100.04', '100')
  assert.equal(world.again(order).state, 'filled')
})

test('a print that contradicts the quotes fills nothing', () => {
  const world = quoted()
  const order = world.order({ limitPrice: '99.90' })
  world.print('99.80', '100')
  assert.equal(world.again(order).filledQuantity, '0')
})

test('without quotes a market order waits for a print and trades at it', () => {
  const world = new World()
  world.print('50.00', '1')
  const order = world.order({ quantity: '10' })
  assert.equal(order.state, 'open')
  world.print('50.10', '6')
  world.print('50.20', '6')
  assert.deepEqual(trades(world.again(order).fills), ['6 @ 50.1', '4 @ 50.2'])
})

test('IOC fills what it can and never rests; FOK fills all or nothing', () => {
  const world = new World()
  world.quote([['99.90', '100']], [['100.00', '6']])
  const fok = world.order({ timeInForce: 'FOK', quantity: '7' })
  assert.equal(fok.state, 'canceled')
  assert.equal(fok.reason?.code, 'not_fillable')
  assert.equal(fok.filledQuantity, '0')
  const ioc = world.order({ timeInForce: 'IOC', limitPrice: '100.00', quantity: '7' })
  assert.equal(ioc.state, 'canceled')
  assert.equal(ioc.filledQuantity, '6')
  assert.equal(ioc.reason?.code, 'immediate_remainder')
  world.quote([['99.90', '100']], [['100.00', '7']])
  assert.equal(world.order({ timeInForce: 'FOK', quantity: '7' }).state, 'filled')
})

test('customers trade with each other by price, then time, at the resting order’s price', () => {
  const world = new World()
  const late = world.order({ accountId: 'm2', limitPrice: '50.00', quantity: '5' })
  const later = world.order({ accountId: 'm3', limitPrice: '50.00', quantity: '5' })
  const best = world.order({ accountId: 'm2', limitPrice: '50.10', quantity: '5' })
  const events = world.submit({ side: 'SELL', limitPrice: '49.00', quantity: '12' })
  assert.deepEqual(trades(orderOf(events.filter(event => event.type === 'order' && event.order.state === 'filled')).fills), ['5 @ 50.1'])
  assert.deepEqual(
    fillsIn(events).map(fill => [fill.orderId, fill.quantity, fill.price, fill.venue]),
    [
      [orderOf(events).orderId, '5', '50.1', 'HOUSE'],
      [best.orderId, '5', '50.1', 'HOUSE'],
      [orderOf(events).orderId, '5', '50', 'HOUSE'],
      [late.orderId, '5', '50', 'HOUSE'],
      [orderOf(events).orderId, '2', '50', 'HOUSE'],
      [later.orderId, '2', '50', 'HOUSE']
    ]
  )
  world.assertConserved()
})

test('at one price the displayed market comes before customers', () => {
  const world = quoted()
  const bid = world.order({ accountId: 'm2', limitPrice: '100.00', quantity: '5' })
  world.quote([['100.00', '3']], [['100.10', '500']])
  const sell = world.order({ side: 'SELL', quantity: '4' })
  assert.deepEqual(
    sell.fills.map(fill => `${fill.quantity} ${fill.venue}`),
    ['3 STREET', '1 HOUSE']
  )
  assert.equal(world.again(bid).filledQuantity, '1')
})

test('an account does not trade with itself', () => {
  const world = new World()
  const own = world.order({ limitPrice: '50.00' })
  const other = world.order({ accountId: 'm2', limitPrice: '49.99' })
  const sell = world.order({ side: 'SELL', limitPrice: '49.00' })
  assert.deepEqual(trades(sell.fills), ['10 @ 49.99'])
  assert.equal(world.again(own).filledQuantity, '0')
  assert.equal(world.again(other).state, 'filled')
})

test('a customer’s order outside the quotes trades at their edge or not at all', () => {
  const world = new World()
  world.quote([['100.00', '10']], [['100.10', '10']])
  const high = world.order({ accountId: 'm2', limitPrice: '101.00', quantity: '15' })
  assert.equal(high.remainingQuantity, '5')
  const low = world.order({ accountId: 'm2', limitPrice: '99.00', quantity: '5' })
  const sell = world.order({ side: 'SELL', limitPrice: '98.00', quantity: '30' })
  assert.deepEqual(trades(sell.fills), ['5 @ 100.1', '10 @ 100'])
  assert.equal(world.again(low).filledQuantity, '0')
})

test('a waiting market order takes the first opposite limit order', () => {
  const world = new World()
  world.print('50.00')
  const buyer = world.order({ quantity: '10' })
  const seller = world.order({ accountId: 'm2', side: 'SELL', limitPrice: '50.20', quantity: '4' })
  assert.deepEqual(trades(world.again(buyer).fills), ['4 @ 50.2'])
  assert.equal(world.again(seller).state, 'filled')
})

test('a stop waits for a print or the near quote, then is a market order', () => {
  const world = quoted()
  world.print('100.05')
  const stop = world.order({ orderType: 'STP', stopPrice: '101.00' })
  assert.equal(stop.state, 'held')
  world.quote([['100.00', '500']], [['101.50', '500']])
  assert.equal(world.again(stop).state, 'held', 'a wide spread alone sets nothing off')
  const events = world.print('101.00')
  assert.ok(events.some(event => event.type === 'order' && event.change === 'triggered'))
  assert.deepEqual(trades(world.again(stop).fills), ['10 @ 101.5'])
  assert.equal(world.again(stop).triggered, true)
})

test('a stop-limit becomes a limit order that may rest', () => {
  const world = quoted()
  world.order({ quantity: '10' })
  const stop = world.order({ side: 'SELL', orderType: 'STPLMT', stopPrice: '99.00', limitPrice: '98.90' })
  world.quote([['98.50', '500']], [['98.95', '500']])
  assert.equal(world.again(stop).state, 'open')
  assert.equal(world.again(stop).triggered, true)
  world.quote([['98.90', '500']], [['98.95', '500']])
  assert.equal(world.again(stop).state, 'filled')
})

test('stops trigger nearest first', () => {
  const world = quoted()
  const far = world.order({ orderType: 'STP', stopPrice: '102.00' })
  const near = world.order({ orderType: 'STP', stopPrice: '101.00' })
  const set = world.print('103.00').flatMap(event => (event.type === 'order' && event.change === 'triggered' ? [event.order.orderId] : []))
  assert.deepEqual(set, [near.orderId, far.orderId])
})

test('notional orders spend at most the amount, in fractions', () => {
  const world = quoted()
  const buy = world.order({ notional: '1000' })
  assert.equal(buy.state, 'filled')
  assert.equal(buy.filledQuantity, '9.99000999')
  assert.ok(Number(world.balance().cash) >= 99_000)
  const sell = world.order({ side: 'SELL', notional: '500' })
  assert.deepEqual(trades(sell.fills), ['5 @ 100'])
  const waiting = world.order({ symbol: 'MSFT', limitPrice: '10', notional: '100' })
  assert.equal(waiting.quantity, '10')
})

test('a notional order whose price moved away while it waited buys less, and is filled', () => {
  const world = new World()
  world.print('50.00')
  const order = world.order({ notional: '1000' })
  assert.equal(order.quantity, '20')
  world.quote([['51.90', '100']], [['52.00', '100']])
  const after = world.again(order)
  assert.equal(after.state, 'filled')
  assert.equal(after.quantity, after.filledQuantity)
  assert.equal(after.filledQuantity, '19.23076923')
  world.assertConserved()
})

test('cancel ends a live order once; a second cancel and a cancel of a filled order are refused', () => {
  const world = quoted()
  const order = world.order({ limitPrice: '99.00' })
  assert.equal(orderOf(world.cancel(order)).state, 'canceled')
  const again = refusalIn(world.cancel(order))
  assert.equal(again.code, 'order_not_open')
  assert.equal(again.refers?.state, 'canceled')
  assert.equal(refusalIn(world.cancel(world.order())).code, 'order_not_open')
  assert.equal(refusalIn(world.cancel({ ...order, orderId: 'nobody' })).code, 'unknown_order')
  assert.equal(refusalIn(world.cancel({ ...order, accountId: 'm2' })).code, 'unknown_order', "another account's order is not there")
})

test('client order ids are never reused, whatever happened to the order', () => {
  const world = new World({ closedOrdersMax: 1 })
  world.quote(STANDARD.bids, STANDARD.asks)
  const first = world.order({ clientOrderId: 'a' })
  assert.equal(world.reject({ clientOrderId: 'a' }), 'duplicate_client_order_id')
  assert.equal(refusalIn(world.submit({ clientOrderId: 'a' })).refers?.orderId, first.orderId)
  world.order({ clientOrderId: 'b' })
  assert.equal(world.engine.order('m1', { clientOrderId: 'a' }), 'forgotten')
  assert.equal(world.engine.order('m1', { orderId: first.orderId }), 'unknown')
  assert.equal(refusalIn(world.submit({ clientOrderId: 'a' })).refers, null)
  assert.equal(world.engine.order('m1', { clientOrderId: 'never' }), 'unknown')
  assert.equal(world.order({ accountId: 'm2', clientOrderId: 'a' }).state, 'filled', 'another account has its own ids')
  assert.ok(
    world.fresh().some(([, events]) => events.some(event => event.type === 'order_forgotten' && event.order.orderId === first.orderId))
  )
  assert.equal(world.reject({ clientOrderId: '' }), 'bad_client_order_id')
  assert.equal(world.reject({ clientOrderId: 'x'.repeat(65) }), 'bad_client_order_id')
  assert.equal(world.reject({ clientOrderId: 'é' }), 'bad_client_order_id')
})

const REJECTIONS = [
  ['unknown_symbol', { symbol: 'NOPE' }],
  ['instrument_not_permitted', { symbol: 'BTC/USD' }],
  ['unsupported_side', { side: 'BUY_TO_OPEN' }],
  ['unsupported_time_in_force', { orderType: 'STP', stopPrice: '101', timeInForce: 'IOC' }],
  ['unsupported_time_in_force', { accountId: 'k1', symbol: 'BTC/USD', timeInForce: 'OPEN' }],
  ['bad_price', { orderType: 'LMT', limitPrice: null }],
  ['bad_price', { orderType: 'MKT', limitPrice: '100' }],
  ['bad_price', { orderType: 'LMT', limitPrice: '-1' }],
  ['bad_price', { orderType: 'LMT', limitPrice: '1e3' }],
  ['bad_price', { orderType: 'STPLMT', limitPrice: '100' }],
  ['bad_tick', { limitPrice: '100.001' }],
  ['bad_tick', { limitPrice: '0.00001' }],
  ['price_out_of_band', { limitPrice: '1000.51' }],
  ['price_out_of_band', { side: 'SELL', limitPrice: '10.00' }],
  ['bad_quantity', { quantity: '0' }],
  ['bad_quantity', { quantity: 'ten' }],
  ['bad_quantity', { limitPrice: '100', quantity: '1.5' }],
  ['bad_quantity', { quantity: '1000000001' }],
  ['bad_quantity', { quantity: '10', notional: '100' }],
  ['bad_quantity', { quantity: null, notional: null }],
  ['bad_notional', { notional: '0.99' }],
  ['bad_notional', { orderType: 'STP', stopPrice: '101', notional: '100' }],
  ['insufficient_buying_power', { quantity: '100000' }],
  ['short_sale_not_allowed', { symbol: 'MSFT', side: 'SELL', limitPrice: '10' }],
  ['short_sale_not_allowed', { accountId: 'c1', side: 'SELL' }],
  ['short_sale_not_allowed', { side: 'SELL', quantity: '0.5' }]
] as const

for (const [code, ticket] of REJECTIONS) {
  test(`rejected as ${code}: ${JSON.stringify(ticket)}`, () => {
    const world = quoted()
    const before = world.balance()
    assert.equal(world.reject(ticket), code)
    assert.deepEqual(world.balance(), before)
    const listed = world.engine.orders('m1')
    assert.ok(listed.every(order => order.state === 'rejected' && order.reason?.code === code && order.remainingQuantity === '0'))
  })
}

test('the number of an account’s open orders is limited', () => {
  const world = new World({ openOrdersMax: 2 })
  const first = world.order({ limitPrice: '1' })
  world.order({ limitPrice: '1' })
  assert.equal(world.reject({ limitPrice: '1' }), 'too_many_open_orders')
  world.cancel(first)
  assert.equal(world.order({ limitPrice: '1' }).state, 'open')
})

test('malformed commands of the market throw and change nothing', () => {
  const world = quoted()
  const before = world.engine.snapshot()
  assert.throws(() => world.quote([['x', '1']], []), { name: 'Malformed' })
  assert.throws(() => world.print('0'), { name: 'Malformed' })
  assert.throws(() => world.phase('closed', '2026-02-30'), { name: 'Malformed' })
  assert.throws(() => world.phase('closed', '2026-03-01'), { name: 'Malformed' })
  assert.throws(() => world.engine.handle({ type: 'tick', at: 1.5 }), { name: 'Malformed' })
  assert.equal(world.engine.snapshot(), before)
})

test('orders are listed by account, state, symbol and time, newest first, page by page', () => {
  const world = quoted()
  const made = Array.from({ length: 25 }, (_, at) => world.order({ limitPrice: at % 5 === 0 ? '101' : '99' }))
  const ids = made.map(order => order.orderId)
  const seen: string[] = []
  for (let after: string | undefined; ; ) {
    const page = world.engine.orders('m1', { limit: 7, ...(after === undefined ? {} : { after }) })
    if (page.length === 0) break
    seen.push(...page.map(order => order.orderId))
    after = page.at(-1)?.orderId
  }
  assert.deepEqual(seen, ids.toReversed())
  assert.equal(world.engine.orders('m1', { live: true }).length, 20)
  assert.equal(world.engine.orders('m1', { states: ['filled'] }).length, 5)
  assert.equal(world.engine.orders('m1', { symbols: ['MSFT'] }).length, 0)
  const from = made[10]?.acceptedAt ?? 0
  assert.deepEqual(
    world.engine.orders('m1', { from, oldestFirst: true, limit: 2 }).map(order => order.orderId),
    [ids[10], ids[11]]
  )
  assert.equal(world.engine.orders('m1', { until: from }).length, 10)
  const after = ids[10] ?? ''
  assert.deepEqual(
    world.engine.orders('m1', { live: true, after, limit: 2 }).map(order => order.orderId),
    [ids[9], ids[8]]
  )
})
