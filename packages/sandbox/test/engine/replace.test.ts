import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fillsIn, orderOf, refusalIn, STANDARD, trades, World } from './world.ts'

test('a replacement is a new order; the old one points to it', () => {
  const world = new World()
  const old = world.order({ limitPrice: '50.00', quantity: '10' })
  const events = world.replace(old, { limitPrice: '51.00', quantity: '12', newClientOrderId: 'new' })
  assert.deepEqual(
    events.map(event => (event.type === 'order' ? event.change : event.type)),
    ['accepted', 'replaced', 'account_changed']
  )
  const next = world.again(orderOf(events))
  assert.equal(next.replaces, old.orderId)
  assert.equal(next.clientOrderId, 'new')
  assert.equal(next.limitPrice, '51')
  assert.equal(next.quantity, '12')
  assert.equal(world.again(old).state, 'replaced')
  assert.equal(world.again(old).replacedBy, next.orderId)
  assert.equal(refusalIn(world.replace(old, { quantity: '20' })).code, 'order_not_open')
  assert.equal(refusalIn(world.replace(next, { newClientOrderId: 'new' })).code, 'duplicate_client_order_id')
})

test('the quantity of a replacement is the total, including earlier fills', () => {
  const world = new World()
  world.quote([['99.90', '100']], [['100.00', '6']])
  const old = world.order({ limitPrice: '100.00', quantity: '10' })
  assert.equal(refusalIn(world.replace(old, { quantity: '6' })).code, 'quantity_already_filled')
  const next = orderOf(world.replace(old, { quantity: '8' }))
  assert.equal(next.carriedQuantity, '6')
  assert.equal(next.filledQuantity, '0')
  assert.equal(next.remainingQuantity, '2')
  world.quote([['99.90', '100']], [['100.00', '100']])
  assert.equal(world.again(next).state, 'filled')
  assert.deepEqual(trades(world.again(next).fills), ['2 @ 100'])
  assert.equal(world.position().quantity, '8')
})

test('a fill between the decision and the replace wins: the replace is refused and nothing more is bought', () => {
  const world = new World()
  world.quote([['99.90', '100']], [['100.10', '100']])
  const order = world.order({ limitPrice: '100.00', quantity: '10' })
  world.quote([['99.90', '100']], [['100.00', '100']])
  assert.equal(refusalIn(world.replace(order, { quantity: '20' })).code, 'order_not_open')
  assert.equal(refusalIn(world.cancel(order)).code, 'order_not_open')
  assert.equal(world.position().quantity, '10')
})

test('lowering the quantity keeps the queue position; raising it or changing the price does not', () => {
  const world = new World()
  const first = world.order({ accountId: 'm2', limitPrice: '50.00', quantity: '10' })
  const second = world.order({ accountId: 'm3', limitPrice: '50.00', quantity: '10' })
  const lowered = orderOf(world.replace(first, { quantity: '4' }))
  assert.deepEqual(
    fillsIn(world.submit({ side: 'SELL', limitPrice: '50.00', quantity: '4' })).map(fill => fill.orderId === lowered.orderId),
    [false, true]
  )
  const third = world.order({ accountId: 'm2', limitPrice: '50.00', quantity: '10' })
  const raised = orderOf(world.replace(second, { quantity: '11' }))
  const served = fillsIn(world.submit({ side: 'SELL', limitPrice: '50.00', quantity: '10' })).map(fill => fill.orderId)
  assert.ok(served.includes(third.orderId))
  assert.ok(!served.includes(raised.orderId))
})

test('a replacement that reaches the other side trades at once', () => {
  const world = new World()
  world.quote(STANDARD.bids, STANDARD.asks)
  const order = world.order({ limitPrice: '99.00' })
  const events = world.replace(order, { limitPrice: '100.10' })
  assert.equal(world.again(orderOf(events)).state, 'filled')
})

test('a refused replacement leaves the old order and its hold unchanged', () => {
  const world = new World()
  world.quote(STANDARD.bids, STANDARD.asks)
  const order = world.order({ limitPrice: '99.00', quantity: '100' })
  const [before, balance] = [world.again(order), world.balance()]
  for (const [change, code] of [
    [{ quantity: '100000' }, 'insufficient_buying_power'],
    [{ limitPrice: '99.001' }, 'bad_tick'],
    [{ stopPrice: '99.00' }, 'bad_price'],
    [{ notional: '100' }, 'bad_quantity'],
    [{ quantity: '0' }, 'bad_quantity']
  ] as const) {
    const refused = refusalIn(world.replace(order, change))
    assert.equal(refused.code, code)
    assert.deepEqual(refused.refers, before)
  }
  assert.deepEqual(world.again(order), before)
  assert.deepEqual(world.balance(), balance)
})

test('a stop can be moved by its stop price until it is reached', () => {
  const world = new World()
  world.quote(STANDARD.bids, STANDARD.asks)
  const stop = world.order({ orderType: 'STPLMT', stopPrice: '101.00', limitPrice: '100.50' })
  const moved = orderOf(world.replace(stop, { stopPrice: '102.00' }))
  assert.equal(moved.state, 'held')
  world.quote([['101.00', '10']], [['101.10', '10']])
  assert.equal(world.again(moved).state, 'held')
  world.print('102.00')
  assert.equal(world.again(moved).triggered, true)
  assert.equal(refusalIn(world.replace(moved, { stopPrice: '103.00' })).code, 'bad_price')
  const limit = orderOf(world.replace(moved, { limitPrice: '101.10' }))
  assert.equal(limit.triggered, true)
  assert.equal(world.again(limit).state, 'filled')
})

test('a notional order is replaced by its amount', () => {
  const world = new World()
  world.quote(STANDARD.bids, STANDARD.asks)
  const order = world.order({ limitPrice: '50', notional: '1000' })
  const next = orderOf(world.replace(order, { notional: '500' }))
  assert.equal(next.quantity, '10')
  assert.equal(next.notional, '500.00')
  assert.equal(refusalIn(world.replace(next, { quantity: '5' })).code, 'bad_quantity')
})
