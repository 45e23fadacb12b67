// Futures: margin by contract, no cash at opening, settlement every day. 50 a point, 12,000 to open, 10,000 to keep; f1 has 50,000.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ContractWorld, FUTURE, NEAR } from './contracts.ts'
import { refusalIn } from './world.ts'

function market(bid = '5000.00', ask = '5000.25'): ContractWorld {
  const world = new ContractWorld()
  world.quote([[bid, '50']], [[ask, '50']], FUTURE)
  return world
}

const LONG = { accountId: 'f1', symbol: FUTURE, side: 'BUY', limitPrice: '5000.25', quantity: '1' } as const

test('opening pays nothing and holds the initial margin; keeping the position needs the maintenance margin', () => {
  const world = market()
  world.print('5000.25', '1', FUTURE)
  world.order({ ...LONG, quantity: '2' })
  const { cash, equity, initialMargin, maintenanceMargin, buyingPower, marketValue } = world.balance('f1')
  assert.deepEqual([cash, equity, marketValue], ['50000.00', '50000.00', '0.00'])
  assert.deepEqual([initialMargin, maintenanceMargin, buyingPower], ['24000.00', '20000.00', '26000.00'])
  const { averagePrice, costBasis, quantity } = world.position(FUTURE, 'f1')
  assert.deepEqual([quantity, averagePrice, costBasis], ['2', '5000.25', '500025.00'])
})

test('no more contracts than the initial margin allows, including open orders, and both sides open', () => {
  const world = market()
  assert.equal(world.reject({ ...LONG, quantity: '5' }), 'insufficient_buying_power')
  const resting = world.order({ ...LONG, limitPrice: '4990', quantity: '4' })
  assert.equal(resting.state, 'open')
  // 4 x 12,000; a purchase below the market has no loss.
  assert.equal(world.balance('f1').reserved, '48000.00')
  assert.equal(world.reject(LONG), 'insufficient_buying_power')
  world.cancel(resting)
  assert.equal(world.order({ ...LONG, side: 'SELL', limitPrice: '5000', quantity: '4' }).state, 'filled')
  assert.equal(world.position(FUTURE, 'f1').quantity, '-4')
})

test('gains and losses since the last settlement count at once, and are paid when the position is closed', () => {
  const world = market()
  world.print('5000.25', '1', FUTURE)
  world.order({ ...LONG, quantity: '2' })
  world.print('5010.25', '1', FUTURE)
  const { cash, equity, buyingPower, unrealizedPl } = world.balance('f1')
  assert.deepEqual([cash, equity, buyingPower, unrealizedPl], ['50000.00', '51000.00', '27000.00', '1000.00'])
  world.quote([['5010.00', '9']], [['5010.25', '9']], FUTURE)
  const events = world.submit({ ...LONG, side: 'SELL', limitPrice: '5010', quantity: '1' })
  assert.deepEqual(world.entries(events, 'f1'), [`SELL 1 ${FUTURE} 487.50`])
  assert.deepEqual([world.balance('f1').cash, world.balance('f1').realizedPl], ['50487.50', '487.50'])
  world.assertConserved()
})

test('the daily settlement pays the difference in cash and starts again from there', () => {
  const world = market()
  world.order({ ...LONG, quantity: '2' })
  world.order({ ...LONG, accountId: 'f2', side: 'SELL', limitPrice: '5000', quantity: '1' })
  const events = world.do({ type: 'settle', symbol: FUTURE, price: '4990.25' })
  assert.deepEqual(world.entries(events, 'f1'), [`ADJUSTMENT 2 ${FUTURE} -1000.00`])
  assert.deepEqual(world.entries(events, 'f2'), [`ADJUSTMENT 1 ${FUTURE} 487.50`])
  const { cash, equity, unrealizedPl, realizedPl, dailyPl } = world.balance('f1')
  assert.deepEqual([cash, equity, unrealizedPl, realizedPl, dailyPl], ['49000.00', '49000.00', '0.00', '-1000.00', '-1000.00'])
  assert.equal(world.position(FUTURE, 'f1').averagePrice, '4990.25')
  assert.deepEqual(world.entries(world.do({ type: 'settle', symbol: FUTURE, price: '4990.25' }), 'f1'), [`ADJUSTMENT 2 ${FUTURE} 0.00`])
  world.assertConserved()
})

test('losses below the maintenance margin are a margin call', () => {
  const world = market()
  world.order({ ...LONG, quantity: '4' })
  world.print('4950.25', '1', FUTURE)
  // 4 x 50 x 50 lost: 40,000 left, 40,000 needed to keep.
  assert.deepEqual([world.balance('f1').equity, world.balance('f1').marginCall], ['40000.00', false])
  world.print('4950.00', '1', FUTURE)
  assert.equal(world.balance('f1').marginCall, true)
})

test('a month ends with a final settlement, and the position is gone', () => {
  const world = market()
  world.order({ ...LONG, quantity: '2' })
  const order = world.order({ ...LONG, limitPrice: '4000', timeInForce: 'GTC' })
  world.now = NEAR.at
  const events = world.do({ type: 'expire', symbol: FUTURE, price: '5001.25' })
  assert.equal(world.again(order).state, 'expired')
  assert.deepEqual(world.entries(events, 'f1'), [`ADJUSTMENT 2 ${FUTURE} 100.00`, `EXPIRATION 2 ${FUTURE} 0.00`])
  assert.deepEqual(world.engine.positions('f1'), [])
  const { cash, equity, initialMargin } = world.balance('f1')
  assert.deepEqual([cash, equity, initialMargin], ['50100.00', '50100.00', '0.00'])
  assert.equal(world.reject(LONG), 'expired_contract')
  world.assertConserved()
})

test('futures require accounts with margin, and by default only futures accounts may trade them', () => {
  const world = market()
  assert.equal(world.reject({ ...LONG, accountId: 'm1' }), 'instrument_not_permitted')
  assert.equal(world.reject({ ...LONG, symbol: 'AAPL' }), 'instrument_not_permitted')
  world.do({
    type: 'open_account',
    accountId: 'x',
    number: 'x',
    accountType: 'cash',
    currency: 'USD',
    deposit: '99999',
    permitted: ['FUT']
  })
  assert.equal(world.reject({ ...LONG, accountId: 'x' }), 'instrument_not_permitted')
  assert.equal(world.reject({ ...LONG, side: 'BUY_TO_OPEN' }), 'unsupported_side')
  assert.equal(refusalIn(world.do({ type: 'settle', symbol: 'AAPL', price: '1' })).code, 'bad_instrument')
  assert.equal(refusalIn(world.do({ type: 'expire', symbol: 'AAPL', price: '1' })).code, 'bad_instrument')
})
