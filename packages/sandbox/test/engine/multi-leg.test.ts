// Multi-leg orders: several option legs that fill together or not at all.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ContractWorld, contract, NEAR } from './contracts.ts'
import { fillsIn, orderOf, trades } from './world.ts'

function quoted(): ContractWorld {
  const world = new ContractWorld()
  world.offer('C100', '4.00', '4.10', '10')
  world.offer('C105', '2.00', '2.10', '10')
  return world
}

test('a multi-leg order fills at the quotes of its legs, its own fill first, each leg with its own id', () => {
  const world = quoted()
  const events = world.package(['+o C100', '-o2 C105'], { limitPrice: '0.10', quantity: '3' })
  const order = world.again(orderOf(events))
  assert.deepEqual([order.state, order.symbol, order.kind, order.averagePrice], ['filled', null, 'OPT', '0.1'])
  assert.deepEqual(trades(fillsIn(events)), ['3 @ 0.1'])
  const [fill] = order.fills
  const [near, far] = order.legs ?? []
  assert.deepEqual(
    [near, far].map(leg => [
      leg?.symbol,
      leg?.side,
      leg?.ratio,
      ...trades(leg?.fills ?? []),
      ...(leg?.fills ?? []).map(({ execId }) => execId)
    ]),
    [
      [contract('C100'), 'BUY_TO_OPEN', '1', '3 @ 4.1', `${fill?.execId}-1`],
      [contract('C105'), 'SELL_TO_OPEN', '2', '6 @ 2', `${fill?.execId}-2`]
    ]
  )
  assert.deepEqual(
    events.map(event => (event.type === 'order' ? event.change : event.type)),
    ['accepted', 'fill', 'transaction', 'transaction', 'account_changed']
  )
  assert.deepEqual(world.entries(events), [`BUY 3 ${contract('C100')} -1230.00`, `SELL 6 ${contract('C105')} 1200.00`])
  assert.deepEqual([world.units('C100'), world.units('C105')], ['3', '-6'])
  assert.deepEqual(world.engine.market(contract('C105'))?.bids, [['2', '4']], 'the size taken is gone')
  world.assertConserved()
})

test('only whole spreads fill, as many as every leg shows, level by level', () => {
  const world = quoted()
  world.quote(
    [
      ['2.00', '3'],
      ['1.95', '1'],
      ['1.90', '9']
    ],
    [['2.10', '9']],
    contract('C105')
  )
  const order = world.taken(['+o C100', '-o2 C105'], { limitPrice: '0.30', quantity: '4' })
  // 2.00 has enough for one spread, 1.95 for less than one and is skipped, 1.90 has the rest.
  assert.deepEqual(trades(order.fills), ['1 @ 0.1', '3 @ 0.3'])
  assert.equal(order.state, 'filled')
  const more = world.taken(['+o C100', '-o2 C105'], { limitPrice: '0.30', quantity: '4' })
  assert.deepEqual([more.state, trades(more.fills)], ['partial', ['1 @ 0.3']])
  assert.deepEqual(
    (more.legs ?? []).map(leg => trades(leg.fills)),
    [['1 @ 4.1'], ['2 @ 1.9']]
  )
})

test('a resting multi-leg order waits until its net price is available, and accepts no worse', () => {
  const world = quoted()
  const order = world.taken(['+o C100', '-o C105'], { limitPrice: '1.90', quantity: '2' })
  assert.equal(order.state, 'open')
  world.offer('C105', '2.15', '2.25')
  assert.equal(world.again(order).state, 'open', '4.10 less 2.15 is 1.95')
  world.offer('C100', '3.90', '4.00')
  assert.deepEqual(trades(world.again(order).fills), ['2 @ 1.85'])
})

test('a sale fills at no less than its limit; a net price may be zero or negative', () => {
  const world = quoted()
  assert.deepEqual(trades(world.taken(['-o C100', '+o C105'], { side: 'SELL', limitPrice: '1.90' }).fills), ['1 @ 1.9'])
  assert.equal(world.taken(['-o C100', '+o C105'], { accountId: 'm2', side: 'SELL', limitPrice: '1.95' }).state, 'open')
  // The same as a purchase: at most -1.90 is paid.
  const bought = world.taken(['-o C100', '+o C105'], { accountId: 'm3', side: 'BUY', limitPrice: '-1.90' })
  assert.deepEqual([trades(bought.fills), bought.averagePrice], [['1 @ -1.9'], '-1.9'])
})

test('IOC takes what is available, and FOK all or nothing', () => {
  const world = quoted()
  const none = world.taken(['+o C100', '-o C105'], { limitPrice: '2.10', quantity: '11', timeInForce: 'FOK' })
  assert.deepEqual([none.state, none.reason?.code, none.fills.length], ['canceled', 'not_fillable', 0])
  const some = world.taken(['+o C100', '-o C105'], { limitPrice: '2.10', quantity: '11', timeInForce: 'IOC' })
  assert.deepEqual([some.state, some.reason?.code, some.filledQuantity], ['canceled', 'immediate_remainder', '10'])
  assert.equal(world.balance().reserved, '0.00')
})

test("a market multi-leg order takes the current quotes within each leg's collar", () => {
  const world = quoted()
  world.quote(
    [
      ['2.00', '1'],
      ['1.50', '9']
    ],
    [['2.10', '9']],
    contract('C105')
  )
  const order = world.taken(['+o C100', '-o C105'], { quantity: '3' })
  assert.deepEqual([order.state, trades(order.fills)], ['partial', ['1 @ 2.1']], '1.50 is more than 5 % below 2.00')
  assert.equal(world.refusal(['+o C110', '-o C105']), 'no_price')
})

test('nothing fills while a leg is halted or its market closed; DAY ends with the session', () => {
  const world = quoted()
  world.do({ type: 'halt', symbol: contract('C100'), halted: true })
  const day = world.taken(['+o C100', '-o C105'], { limitPrice: '2.10' })
  const gtc = world.taken(['+o C100', '-o C105'], { limitPrice: '2.10', timeInForce: 'GTC' })
  assert.equal(world.refusal(['+o C100', '-o C105'], { limitPrice: '2.10', timeInForce: 'IOC' }), 'halted')
  assert.equal(day.state, 'open')
  world.phases('closed', '2026-03-02')
  assert.equal(world.again(day).state, 'expired')
  world.do({ type: 'halt', symbol: contract('C100'), halted: false })
  assert.equal(world.again(gtc).state, 'open')
  world.phases('open', '2026-03-03')
  assert.equal(world.again(gtc).state, 'filled')
})

test('a multi-leg order can be canceled, and replaced in quantity and limit', () => {
  const world = quoted()
  const legs = ['+o C100', '-o C105'] as const
  const first = world.taken(legs, { limitPrice: '1.50', quantity: '5' })
  assert.equal(world.balance().reserved, '750.00')
  const less = orderOf(world.replace(first, { quantity: '3' }))
  assert.deepEqual([less.quantity, less.limitPrice, less.legs?.length, world.again(first).state], ['3', '1.5', 2, 'replaced'])
  assert.equal(world.balance().reserved, '450.00')
  const dearer = orderOf(world.replace(less, { limitPrice: '2.10' }))
  assert.deepEqual(trades(world.again(dearer).fills), ['3 @ 2.1'])
  const rest = world.taken(legs, { limitPrice: '1.50', quantity: '5' })
  const [refused] = world.replace(rest, { stopPrice: '1' })
  assert.ok(refused?.type === 'refused' && refused.code === 'bad_price')
  world.cancel(rest)
  assert.equal(world.again(rest).state, 'canceled')
  assert.equal(world.balance().reserved, '0.00')
  world.offer('C100', '1.00', '1.10')
  assert.equal(world.again(rest).fills.length, 0, 'nothing fills after the cancel')
})

test('a partly filled multi-leg order carries its fills into the replacement', () => {
  const world = quoted()
  const order = world.taken(['+o C100', '-o C105'], { limitPrice: '2.10', quantity: '15' })
  assert.equal(order.filledQuantity, '10')
  const next = orderOf(world.replace(order, { quantity: '12' }))
  assert.deepEqual([next.carriedQuantity, next.remainingQuantity, next.legs?.[0]?.fills], ['10', '2', []])
  world.offer('C105', '2.00', '2.10')
  world.offer('C100', '4.00', '4.10')
  assert.deepEqual([world.again(next).state, world.units('C100')], ['filled', '12'])
})

test('invalid legs are refused by name', () => {
  const world = quoted()
  world.offer('C100', '1', '1.1', '9', 'NDX')
  const limit = { limitPrice: '1' }
  assert.equal(world.refusal(['+o C100'], limit), 'bad_legs')
  assert.equal(world.refusal(['+o C100', '-o C100'], limit), 'bad_legs')
  assert.equal(world.refusal(['+o0 C100', '-o C105'], limit), 'bad_legs')
  assert.equal(world.refusal(['+o C100', '-o C105', '+o C110', '-o P90', '+o P95'], limit), 'bad_legs')
  assert.equal(world.refusal(['+o C100', `-o ${contract('C100', 'NDX')}`], limit), 'bad_legs')
  assert.equal(world.refusal(['+o C100', '-o C111'], limit), 'unknown_symbol')
  assert.equal(world.refusal(['+o C100', '-c C105'], limit), 'insufficient_position')
  assert.equal(world.refusal(['+o C100', '-o C105'], { limitPrice: '1.005' }), 'bad_tick')
  assert.equal(world.refusal(['+o C100', '-o C105'], { ...limit, quantity: '1.5' }), 'bad_quantity')
  assert.equal(world.refusal(['+o C100', '-o C105'], { ...limit, timeInForce: 'OPEN' }), 'unsupported_time_in_force')
  assert.equal(world.refusal(['+o C100', '-o C105'], { orderType: 'LMT' }), 'bad_price')
  assert.equal(world.refusal(['+o C100', '-o C105'], { ...limit, accountId: 'k1' }), 'instrument_not_permitted')
})

test('a multi-leg order ends with the first of its contracts', () => {
  const world = quoted()
  world.offer('C105+', '5', '5.10')
  const order = world.taken(['+o C105+', '-o C105'], { limitPrice: '1.00', timeInForce: 'GTC' })
  world.now = NEAR.at
  world.do({ type: 'expire', symbol: contract('C105'), price: '100' })
  const { state, reason } = world.again(order)
  assert.deepEqual([state, reason?.code], ['expired', 'expired_contract'])
  assert.equal(world.refusal(['+o C105+', '-o C105'], { limitPrice: '1.00' }), 'expired_contract')
})
