import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accountDate } from '../../src/engine/sessions.ts'
import type { OrderView } from '../../src/engine/types.ts'
import { fillsIn, refusalIn, STANDARD, START, trades, World } from './world.ts'

const TODAY = '2026-03-02'
const TOMORROW = '2026-03-03'

function states(world: World, orders: readonly OrderView[]): string[] {
  return orders.map(order => world.again(order).state)
}

test('DAY ends with the session, DAY+ with the day, GTC and GTC+ with neither', () => {
  const world = new World()
  const orders = (['DAY', 'DAY+', 'GTC', 'GTC+'] as const).map(timeInForce => world.order({ limitPrice: '50', timeInForce }))
  world.phase('post', TODAY)
  assert.deepEqual(states(world, orders), ['expired', 'open', 'open', 'open'])
  world.phase('closed', TODAY)
  assert.deepEqual(states(world, orders), ['expired', 'expired', 'open', 'open'])
  world.phase('open', TOMORROW)
  assert.deepEqual(states(world, orders), ['expired', 'expired', 'open', 'open'])
})

test('in a market that never closes a new date ends the day', () => {
  const world = new World()
  const orders = (['DAY', 'DAY+', 'GTC', 'OPEN', 'CLOSE'] as const).map(timeInForce => world.order({ limitPrice: '50', timeInForce }))
  world.phase('open', TOMORROW)
  assert.deepEqual(states(world, orders), ['expired', 'expired', 'open', 'expired', 'expired'])
})

test('a DAY order placed after hours is for the next session', () => {
  const world = new World()
  world.phase('post', TODAY)
  const order = world.order({ limitPrice: '101' })
  world.quote(STANDARD.bids, STANDARD.asks)
  world.phase('closed', TODAY)
  world.phase('pre', TOMORROW)
  assert.equal(world.again(order).state, 'open')
  world.phase('open', TOMORROW)
  assert.equal(world.again(order).state, 'filled')
})

test('a DAY+ order placed while the market is closed lives through the next day', () => {
  const world = new World()
  world.phase('closed', TODAY)
  const order = world.order({ limitPrice: '50', timeInForce: 'DAY+' })
  world.phase('pre', TOMORROW)
  assert.equal(world.again(order).state, 'open')
  world.phase('closed', TOMORROW)
  assert.equal(world.again(order).state, 'expired')
})

test('in extended hours only limit orders with a + trade', () => {
  const world = new World()
  world.phase('post', TODAY)
  world.quote(STANDARD.bids, STANDARD.asks)
  const day = world.order({ limitPrice: '101', timeInForce: 'GTC' })
  const plus = world.order({ limitPrice: '101', timeInForce: 'DAY+' })
  const market = world.order({ timeInForce: 'GTC+' })
  assert.deepEqual(states(world, [day, plus, market]), ['open', 'filled', 'open'])
  assert.equal(world.reject({ timeInForce: 'IOC' }), 'market_closed')
  world.phase('closed', TODAY)
  world.phase('open', TOMORROW)
  assert.deepEqual(states(world, [day, market]), ['filled', 'filled'])
})

test('a halted symbol does not trade; trading resumes when the halt ends', () => {
  const world = new World()
  world.quote(STANDARD.bids, STANDARD.asks)
  world.do({ type: 'halt', symbol: 'AAPL', halted: true })
  const market = world.order()
  const stop = world.order({ orderType: 'STP', stopPrice: '100.50' })
  assert.equal(world.reject({ timeInForce: 'FOK' }), 'halted')
  world.print('101.00')
  assert.deepEqual(states(world, [market, stop]), ['open', 'held'])
  world.do({ type: 'halt', symbol: 'AAPL', halted: false })
  assert.deepEqual(states(world, [market, stop]), ['filled', 'filled'])
})

test('OPEN orders trade at the first print of the next opening', () => {
  const world = new World()
  world.phase('closed', TODAY)
  world.quote(STANDARD.bids, STANDARD.asks)
  const market = world.order({ timeInForce: 'OPEN' })
  const limit = world.order({ timeInForce: 'OPEN', limitPrice: '99.00' })
  assert.equal(market.state, 'held')
  world.phase('open', TOMORROW)
  assert.equal(world.again(market).state, 'held')
  const fills = fillsIn(world.print('99.50', '10'))
  assert.deepEqual(trades(fills), ['10 @ 99.5'])
  assert.equal(fills[0]?.venue, 'OPEN')
  assert.deepEqual(states(world, [market, limit]), ['filled', 'expired'])
  const late = world.order({ timeInForce: 'OPEN' })
  world.print('99.60')
  assert.equal(world.again(late).state, 'held', 'the opening is over; it waits for the next one')
  world.phase('closed', TOMORROW)
  world.phase('open', '2026-03-04')
  world.print('98.00')
  assert.equal(world.again(late).averagePrice, '98')
})

test('CLOSE orders trade at the closing print, marked or last', () => {
  const world = new World()
  world.quote(STANDARD.bids, STANDARD.asks)
  const unmarked = world.order({ timeInForce: 'CLOSE' })
  const tooLow = world.order({ timeInForce: 'CLOSE', limitPrice: '99.00' })
  world.print('100.03')
  world.print('100.07')
  world.phase('post', TODAY)
  assert.deepEqual(trades(world.again(unmarked).fills), ['10 @ 100.07'])
  assert.equal(world.again(tooLow).reason?.code, 'auction_over')
  world.phase('closed', TODAY)
  world.phase('open', TOMORROW)
  const marked = world.order({ timeInForce: 'CLOSE' })
  world.print('101.00', '100', 'AAPL', 'close')
  assert.deepEqual(trades(world.again(marked).fills), ['10 @ 101'])
})

test('CLOSE orders of a session without a print expire', () => {
  const world = new World()
  world.quote(STANDARD.bids, STANDARD.asks)
  const order = world.order({ timeInForce: 'CLOSE' })
  world.phase('post', TODAY)
  assert.equal(world.again(order).state, 'expired')
})

test('a good-till-canceled order expires after its days', () => {
  const world = new World({ gtcDays: 2 })
  const order = world.order({ limitPrice: '50', timeInForce: 'GTC' })
  const day = 86_400_000_000
  world.engine.handle({ type: 'tick', at: START + day })
  assert.equal(world.again(order).state, 'open')
  world.engine.handle({ type: 'tick', at: START + 3 * day })
  assert.equal(world.again(order).reason?.code, 'too_old')
})

test('time never runs backwards', () => {
  const world = new World()
  const at = world.now
  world.now = START - 5_000_000
  assert.equal(world.order({ limitPrice: '50' }).acceptedAt, at)
})

test('a split cancels live orders and keeps value and cost', () => {
  const world = new World()
  world.quote(STANDARD.bids, STANDARD.asks)
  world.order({ quantity: '7' })
  world.print('100.00')
  const resting = world.order({ limitPrice: '50' })
  const before = world.position()
  world.do({ type: 'split', symbol: 'AAPL', numerator: 3, denominator: 2 })
  const after = world.position()
  assert.equal(world.again(resting).reason?.code, 'split')
  assert.equal(after.quantity, '10.5')
  assert.equal(after.costBasis, before.costBasis)
  assert.equal(after.lastPrice, '66.666666666')
  assert.deepEqual(world.engine.market('AAPL')?.bids, [])
  assert.equal(world.engine.transactions('m1', { types: ['SPLIT'] })[0]?.quantity, '3.5')
  world.assertConserved()
})

test('a specification may change except for its fixed fields, and unknown kinds are refused', () => {
  const world = new World()
  const spec = world.engine.instruments()[0]
  assert.ok(spec !== undefined)
  world.do({ type: 'list_instrument', spec: { ...spec, tick: '0.05' } })
  assert.equal(world.reject({ limitPrice: '50.01' }), 'bad_tick')
  assert.equal(refusalIn(world.do({ type: 'list_instrument', spec: { ...spec, multiplier: '10' } })).code, 'bad_instrument')
  assert.equal(refusalIn(world.do({ type: 'list_instrument', spec: { ...spec, symbol: 'ESZ26', kind: 'FUT' } })).code, 'bad_instrument')
  assert.equal(refusalIn(world.quote([], [], 'NOPE')).code, 'unknown_symbol')
})

test('account changes have New York’s date, like trades, also in its evening', () => {
  assert.equal(accountDate(Date.UTC(2026, 2, 3, 2) * 1_000), '2026-03-02')
  assert.equal(accountDate(Date.UTC(2026, 2, 3, 12) * 1_000), '2026-03-03')
})
