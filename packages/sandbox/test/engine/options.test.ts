// Option orders, and the end of contracts: exercise, assignment, expiration.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EngineEvent } from '../../src/engine/types.ts'
import { ContractWorld, contract, NEAR } from './contracts.ts'
import { refusalIn } from './world.ts'

function holding(side: 'BUY_TO_OPEN' | 'SELL_TO_OPEN', name: string, quantity: string, accountId = 'm1', world = new ContractWorld()) {
  world.offer(name, '2.00', '2.00', '500')
  world.order({ accountId, symbol: contract(name), side, limitPrice: '2.00', quantity })
  return world
}

function expire(world: ContractWorld, name: string, price: string, root = 'AAPL'): EngineEvent[] {
  world.now = Math.max(world.now, NEAR.at)
  return world.do({ type: 'expire', symbol: contract(name, root), price })
}

function exercise(world: ContractWorld, name: string, quantity: string, accountId = 'm1'): EngineEvent[] {
  return world.do({ type: 'exercise', accountId, symbol: contract(name), quantity })
}

test('option orders open or close explicitly, and closing is bounded by the position', () => {
  const world = new ContractWorld()
  world.offer('C105', '2.00', '2.10')
  const ticket = { symbol: contract('C105'), quantity: '3', limitPrice: '2.10' } as const
  assert.equal(world.reject({ ...ticket, side: 'BUY' }), 'unsupported_side')
  assert.equal(world.reject({ ...ticket, side: 'SELL' }), 'unsupported_side')
  assert.equal(world.reject({ side: 'BUY_TO_OPEN' }), 'unsupported_side')
  assert.equal(world.reject({ ...ticket, side: 'SELL_TO_CLOSE' }), 'insufficient_position')
  assert.equal(world.reject({ ...ticket, side: 'BUY_TO_OPEN', quantity: '1.5' }), 'bad_quantity')
  assert.equal(world.reject({ symbol: contract('C105'), side: 'BUY_TO_OPEN', notional: '500' }), 'bad_notional')
  assert.equal(world.order({ ...ticket, side: 'BUY_TO_OPEN' }).state, 'filled')
  assert.equal(world.reject({ ...ticket, side: 'SELL_TO_OPEN' }), 'unsupported_side')
  const close = world.order({ ...ticket, side: 'SELL_TO_CLOSE', quantity: '2', limitPrice: '9.00' })
  assert.equal(world.reject({ ...ticket, side: 'SELL_TO_CLOSE', quantity: '2' }), 'insufficient_position')
  world.cancel(close)
  assert.equal(world.order({ ...ticket, side: 'SELL_TO_CLOSE', limitPrice: '2.00' }).state, 'filled')
  assert.equal(world.order({ ...ticket, side: 'SELL_TO_OPEN', limitPrice: '9.00' }).state, 'open')
  assert.equal(world.reject({ ...ticket, side: 'BUY_TO_OPEN' }), 'unsupported_side', 'not on both sides, not even in open orders')
})

test('an expired contract accepts no orders, even before its expiry is reported', () => {
  const world = holding('BUY_TO_OPEN', 'C105', '1')
  world.now = NEAR.at
  assert.equal(world.reject({ symbol: contract('C105'), side: 'SELL_TO_CLOSE', limitPrice: '2.00', quantity: '1' }), 'expired_contract')
})

test('an early exercise moves shares at the strike, between the two customers', () => {
  const world = holding('BUY_TO_OPEN', 'C95', '3')
  holding('SELL_TO_OPEN', 'C95', '3', 'm2', world)
  const events = exercise(world, 'C95', '2')
  assert.deepEqual(world.entries(events), [`EXERCISE 2 ${contract('C95')} 0.00`, 'BUY 200 AAPL -19000.00'])
  assert.deepEqual(world.entries(events, 'm2'), [`ASSIGNMENT 2 ${contract('C95')} 0.00`, 'SELL 200 AAPL 19000.00'])
  assert.deepEqual([world.units('C95'), world.units('C95', 'm2')], ['1', '-1'])
  assert.deepEqual([world.position('AAPL').averagePrice, world.position('AAPL', 'm2').quantity], ['95', '-200'])
  // The premium of two contracts is lost, and the shares are worth 5.00 more than the strike.
  assert.deepEqual([world.balance().realizedPl, world.position('AAPL').unrealizedPl], ['-400.00', '1000.00'])
  world.assertConserved()
})

test('assignment is drawn by lot, including the external market, with the same result for the same seed', () => {
  const run = (seed: string) => {
    const world = new ContractWorld({ seed })
    holding('BUY_TO_OPEN', 'C95', '10', 'm1', world)
    for (const id of ['m2', 'm3', 'x1', 'x2', 'x3']) {
      if (id.startsWith('x')) world.account(id, 'margin', '100000')
      holding('SELL_TO_OPEN', 'C95', '1', id, world)
    }
    exercise(world, 'C95', '3')
    world.assertConserved()
    return ['m2', 'm3', 'x1', 'x2', 'x3'].map(id => world.units('C95', id)).join(' ')
  }
  const outcomes = new Set(Array.from({ length: 100 }, (_, at) => run(`seed ${at}`)))
  assert.equal(run('seed 1'), run('seed 1'))
  assert.ok(outcomes.size > 5, `only ${outcomes.size} outcomes`)
  // Five of ten shorts are the external market's, which has one lot: if drawn first, it takes all three.
  assert.ok(outcomes.has('-1 -1 -1 -1 -1'), [...outcomes].join(' | '))
})

test('an impossible exercise is refused and changes nothing', () => {
  const world = holding('BUY_TO_OPEN', 'C95', '2')
  holding('BUY_TO_OPEN', 'P105', '1', 'c1', world)
  holding('BUY_TO_OPEN', 'C95', '1', 'c1', world)
  const code = (events: readonly EngineEvent[]) => refusalIn(events).code
  assert.equal(code(exercise(world, 'C95', '3')), 'insufficient_position')
  assert.equal(code(exercise(world, 'C95', '0.5')), 'bad_quantity')
  assert.equal(code(exercise(world, 'C110', '1')), 'insufficient_position')
  assert.equal(code(exercise(world, 'P105', '1', 'c1')), 'insufficient_position', 'a cash account delivers what it has')
  world.do({ type: 'withdrawal', accountId: 'c1', amount: '500' })
  assert.equal(code(exercise(world, 'C95', '1', 'c1')), 'insufficient_buying_power')
  assert.equal(code(world.do({ type: 'exercise', accountId: 'm1', symbol: contract('C100', 'NDX'), quantity: '1' })), 'bad_instrument')
  const close = world.order({ symbol: contract('C95'), side: 'SELL_TO_CLOSE', quantity: '2', limitPrice: '9' })
  assert.equal(code(exercise(world, 'C95', '1')), 'insufficient_position', 'what is about to be sold is not free')
  world.cancel(close)
  world.now = NEAR.at
  assert.equal(code(exercise(world, 'C95', '1')), 'expired_contract')
  assert.equal(world.units('C95'), '2')
})

test('an assignment ends the orders that would close more than is left', () => {
  const world = holding('BUY_TO_OPEN', 'C95', '2')
  holding('SELL_TO_OPEN', 'C95', '2', 'm2', world)
  const ticket = { accountId: 'm2', symbol: contract('C95'), side: 'BUY_TO_CLOSE', limitPrice: '1.00', quantity: '1' } as const
  const [first, second] = [world.order(ticket), world.order(ticket)]
  exercise(world, 'C95', '1')
  assert.deepEqual([world.again(first).state, world.again(second).state], ['open', 'canceled'])
  world.offer('C95', '0.90', '1.00')
  assert.equal(world.units('C95', 'm2'), '0')
})

test('at expiration, contracts in the money by a cent become shares, the others expire, and orders end first', () => {
  const world = holding('BUY_TO_OPEN', 'C100', '2')
  holding('SELL_TO_OPEN', 'P105', '1', 'm1', world)
  holding('SELL_TO_OPEN', 'C105', '1', 'm1', world)
  const order = world.order({ symbol: contract('C100'), side: 'SELL_TO_CLOSE', limitPrice: '9', quantity: '2', timeInForce: 'GTC' })
  const events = expire(world, 'C100', '100.01')
  const [first] = events
  assert.ok(first?.type === 'order' && first.change === 'expired' && first.order.orderId === order.orderId)
  assert.deepEqual(world.entries(events), [`EXERCISE 2 ${contract('C100')} 0.00`, 'BUY 200 AAPL -20000.00'])
  assert.deepEqual(world.entries(expire(world, 'P105', '100.01')), [`ASSIGNMENT 1 ${contract('P105')} 0.00`, 'BUY 100 AAPL -10500.00'])
  assert.deepEqual(world.entries(expire(world, 'C105', '105')), [`EXPIRATION 1 ${contract('C105')} 0.00`])
  assert.equal(world.position('AAPL').quantity, '300')
  assert.deepEqual(
    world.engine.positions('m1').map(({ symbol }) => symbol),
    ['AAPL']
  )
  // Premiums: 400 paid, 200 and 200 received.
  assert.equal(world.balance().realizedPl, '0.00')
  assert.deepEqual(world.do({ type: 'expire', symbol: contract('C100'), price: '100.01' }), [], 'a contract ends once')
  world.assertConserved()
})

test('less than a cent in the money is not exercised', () => {
  const world = holding('BUY_TO_OPEN', 'C100', '1')
  assert.deepEqual(world.entries(expire(world, 'C100', '100.009')), [`EXPIRATION 1 ${contract('C100')} 0.00`])
})

test('contracts settled in cash pay their intrinsic value', () => {
  const world = new ContractWorld()
  const symbol = contract('C100', 'NDX')
  world.offer('C100', '3.00', '3.00', '50', 'NDX')
  world.order({ symbol, side: 'BUY_TO_OPEN', limitPrice: '3.00', quantity: '2' })
  world.order({ accountId: 'm2', symbol, side: 'SELL_TO_OPEN', limitPrice: '3.00', quantity: '1' })
  const events = expire(world, 'C100', '104.50', 'NDX')
  assert.deepEqual(world.entries(events), [`EXERCISE 2 ${symbol} 900.00`])
  assert.deepEqual(world.entries(events, 'm2'), [`ASSIGNMENT 1 ${symbol} -450.00`])
  assert.deepEqual([world.balance().cash, world.balance().realizedPl], ['100300.00', '300.00'])
  assert.deepEqual([world.balance('m2').cash, world.balance('m2').realizedPl], ['99850.00', '-150.00'])
  world.assertConserved()
})

test('a cash account takes delivery as far as it can, and gets cash for the rest', () => {
  const world = holding('BUY_TO_OPEN', 'C95', '2', 'c1')
  // 9,600 are left of 10,000: enough for one contract at 9,500.
  const events = expire(world, 'C95', '97')
  assert.deepEqual(world.entries(events, 'c1'), [
    `EXERCISE 1 ${contract('C95')} 0.00`,
    'BUY 100 AAPL -9500.00',
    `EXERCISE 1 ${contract('C95')} 200.00`
  ])
  const puts = holding('BUY_TO_OPEN', 'P105', '1', 'c1')
  assert.deepEqual(puts.entries(expire(puts, 'P105', '100'), 'c1'), [`EXERCISE 1 ${contract('P105')} 500.00`], 'no shares to deliver')
  world.assertConserved()
})

test('a put of a cash account does not deliver shares that cover an open order to sell a call', () => {
  const world = new ContractWorld()
  world.account('c2', 'cash', '20000')
  world.order({ accountId: 'c2', quantity: '100', limitPrice: '100.01' })
  holding('BUY_TO_OPEN', 'P105', '1', 'c2', world)
  world.offer('C110', '1.00', '1.10')
  const call = { accountId: 'c2', symbol: contract('C110'), side: 'SELL_TO_OPEN', limitPrice: '1.05', quantity: '1' } as const
  assert.equal(world.order(call).state, 'open')
  assert.deepEqual(world.entries(expire(world, 'P105', '100'), 'c2'), [`EXERCISE 1 ${contract('P105')} 500.00`])
})

test('ended contracts are forgotten when they have no holdings and orders', () => {
  const world = new ContractWorld({ closedOrdersMax: 0 })
  world.offer('C105', '2.00', '2.00')
  world.submit({ symbol: contract('C105'), side: 'BUY_TO_OPEN', limitPrice: '2.00', quantity: '1' })
  assert.equal(world.units('C105'), '1')
  expire(world, 'C105', '100')
  assert.equal(world.position(contract('C105')).quantity, '0')
  world.now += 2 * 86_400_000_000
  world.do({ type: 'tick' })
  assert.equal(world.engine.position('m1', contract('C105')), undefined)
  assert.equal(world.engine.market(contract('C105')), undefined)
  assert.notEqual(world.engine.market(contract('C105+')), undefined)
  world.assertConserved()
})

test('a specification must have the terms of its kind, and terms do not change', () => {
  const world = new ContractWorld()
  const spec = world.engine.instrument(contract('C105'))
  assert.ok(spec?.option !== undefined)
  const { option, ...bare } = spec
  const list = (row: typeof spec | typeof bare) => world.do({ type: 'list_instrument', spec: row })
  assert.deepEqual(list(spec), [])
  assert.equal(refusalIn(list(bare)).code, 'bad_instrument')
  assert.equal(refusalIn(list({ ...spec, option: { ...option, strike: '106' } })).code, 'bad_instrument')
  assert.equal(refusalIn(list({ ...spec, symbol: 'X', lot: '0.1', fraction: '0.1' })).code, 'bad_instrument')
  assert.equal(refusalIn(list({ ...spec, symbol: 'X', option: { ...option, underlying: 'NONE' } })).code, 'bad_instrument')
  holding('BUY_TO_OPEN', 'C105', '1', 'm1', world)
  assert.equal(refusalIn(world.do({ type: 'split', symbol: 'AAPL', numerator: 2, denominator: 1 })).code, 'bad_instrument')
})
