import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fillsIn, refusalIn, STANDARD, World } from './world.ts'

const TODAY = '2026-03-02'

/** AAPL at 100.00 to the cent, with unlimited depth. */
function at(price: string): World {
  const world = new World()
  world.quote([[price, '100000']], [[price, '100000']])
  return world
}

function move(world: World, price: string): void {
  world.quote([[price, '100000']], [[price, '100000']])
}

test('buying on margin: half is needed, so twice the free funds can be bought', () => {
  const world = at('100')
  world.order({ quantity: '1000' })
  const balance = world.balance()
  assert.equal(balance.cash, '0.00')
  assert.equal(balance.equity, '100000.00')
  assert.equal(balance.initialMargin, '50000.00')
  assert.equal(balance.maintenanceMargin, '25000.00')
  assert.equal(balance.buyingPower, '100000.00')
  world.order({ quantity: '1000' })
  assert.equal(world.balance().cash, '-100000.00')
  assert.equal(world.balance().buyingPower, '0.00')
  assert.equal(world.reject({ quantity: '1' }), 'insufficient_buying_power')
  world.assertConserved()
})

test('a falling price reduces the excess first, then causes a margin call', () => {
  const world = at('100')
  world.order({ quantity: '2000' })
  move(world, '80')
  assert.equal(world.balance().equity, '60000.00')
  assert.equal(world.balance().excess, '-20000.00')
  assert.equal(world.balance().buyingPower, '0.00')
  assert.equal(world.balance().marginCall, false)
  move(world, '66')
  assert.equal(world.balance().marginCall, true)
  assert.equal(world.order({ side: 'SELL', quantity: '2000' }).state, 'filled', 'closing is always allowed')
})

test('a short sale: proceeds in cash, half of the value for initial margin, 30 % for maintenance', () => {
  const world = at('100')
  world.order({ side: 'SELL', quantity: '500' })
  const balance = world.balance()
  assert.equal(balance.cash, '149998.61')
  assert.equal(balance.shortMarketValue, '-50000.00')
  assert.equal(balance.equity, '99998.61')
  assert.equal(balance.initialMargin, '25000.00')
  assert.equal(balance.maintenanceMargin, '15000.00')
  assert.equal(world.position().quantity, '-500')
  assert.equal(world.position().averagePrice, '100')
  move(world, '90')
  assert.equal(world.position().unrealizedPl, '5000.00')
  world.order({ quantity: '200' })
  assert.equal(world.position().realizedPl, '2000.00')
  assert.equal(world.position().unrealizedPl, '3000.00')
  assert.equal(world.position().averagePrice, '100')
})

test('a sale beyond the position reverses it', () => {
  const world = at('100')
  world.order({ quantity: '100' })
  move(world, '110')
  world.order({ side: 'SELL', quantity: '150' })
  const position = world.position()
  assert.equal(position.quantity, '-50')
  assert.equal(position.averagePrice, '110')
  assert.equal(position.realizedPl, '0.00', 'the short position has realised nothing yet')
  assert.equal(world.balance().realizedPl, '1000.00')
})

test('average price, realised and unrealised profit', () => {
  const world = at('100')
  world.order({ quantity: '30' })
  move(world, '110')
  world.order({ quantity: '10' })
  assert.equal(world.position().averagePrice, '102.5')
  world.order({ side: 'SELL', quantity: '16' })
  const position = world.position()
  assert.equal(position.averagePrice, '102.5')
  assert.equal(position.realizedPl, '120.00')
  assert.equal(position.unrealizedPl, '180.00')
  assert.equal(position.totalPl, '300.00')
  assert.equal(position.costBasis, '2460.00')
  world.order({ side: 'SELL', quantity: '24' })
  assert.equal(world.position().costBasis, '0.00')
  assert.deepEqual(world.engine.positions('m1'), [])
  assert.equal(world.balance().realizedPl, '300.00')
})

test('costs that do not divide evenly are never lost', () => {
  const world = new World()
  world.quote([['33.33', '100000']], [['33.34', '1']])
  world.order({ quantity: '1' })
  world.quote([['33.33', '100000']], [['33.37', '100000']])
  world.order({ quantity: '2' })
  for (let left = 3; left > 0; left--) world.order({ side: 'SELL', quantity: '1' })
  assert.equal(world.position().costBasis, '0.00')
  assert.equal(world.balance().realizedPl, '-0.09')
  world.assertConserved()
})

test('daily profit counts from the previous day for positions, and from the price for trades', () => {
  const world = at('100')
  world.print('100')
  world.order({ quantity: '10' })
  world.print('104')
  assert.equal(world.position().dailyPl, '40.00')
  world.phase('closed', TODAY)
  world.phase('open', '2026-03-03')
  assert.equal(world.position().dailyPl, '0.00')
  assert.equal(world.position().previousClose, '104')
  world.quote([['105', '1000']], [['105', '1000']])
  world.order({ quantity: '10' })
  world.print('106')
  assert.equal(world.position().dailyPl, '30.00')
  assert.equal(world.balance().dailyPl, '30.00')
  assert.equal(world.position().unrealizedPl, '70.00')
})

test('a cash account can spend only settled cash, and sales settle on the next weekday', () => {
  const world = at('100')
  world.order({ accountId: 'c1', quantity: '100' })
  assert.equal(world.balance('c1').cash, '0.00')
  assert.equal(world.reject({ accountId: 'c1', quantity: '1' }), 'insufficient_buying_power')
  world.order({ accountId: 'c1', side: 'SELL', quantity: '50' })
  const balance = world.balance('c1')
  assert.equal(balance.cash, '4999.86')
  assert.equal(balance.settledCash, '0.00')
  assert.equal(balance.buyingPower, '0.00')
  assert.equal(balance.initialMargin, '0.00')
  assert.equal(world.reject({ accountId: 'c1', quantity: '1' }), 'insufficient_buying_power')
  assert.equal(refusalIn(world.do({ type: 'withdrawal', accountId: 'c1', amount: '1' })).code, 'insufficient_cash')
  world.phase('closed', TODAY)
  world.phase('open', '2026-03-03')
  assert.equal(world.balance('c1').settledCash, '4999.86')
  assert.equal(world.order({ accountId: 'c1', quantity: '49' }).state, 'filled')
  assert.equal(world.reject({ accountId: 'c1', side: 'SELL', quantity: '100' }), 'insufficient_position')
})

test('a trade on Friday settles on Monday', () => {
  const world = at('100')
  world.phase('open', '2026-03-06')
  world.order({ accountId: 'c1', quantity: '1' })
  assert.equal(world.engine.transactions('c1')[0]?.settlementDate, '2026-03-09')
})

test('a crypto account pays the fee on both sides, in cents, and has no margin', () => {
  const world = new World()
  world.quote([['60000', '5']], [['60000', '5']], 'BTC/USD')
  const ticket = { accountId: 'k1', symbol: 'BTC/USD', timeInForce: 'GTC' } as const
  const buy = world.order({ ...ticket, quantity: '0.123456789' })
  assert.equal(buy.fees, '18.52')
  assert.equal(world.balance('k1').cash, '42574.07266')
  assert.equal(world.reject({ ...ticket, quantity: '0.75' }), 'insufficient_buying_power')
  assert.equal(world.reject({ ...ticket, side: 'SELL', quantity: '0.2' }), 'insufficient_position')
  const sell = world.order({ ...ticket, side: 'SELL', quantity: '0.123456789' })
  assert.equal(sell.fees, '18.52')
  assert.equal(world.balance('k1').cash, '49962.96')
  assert.equal(world.balance('k1').fees, '37.04')
  assert.equal(world.engine.transactions('k1')[0]?.settlementDate, TODAY)
  world.assertConserved()
})

test('many small fills cost the same fee as one large one', () => {
  const world = new World()
  const levels = Array.from({ length: 50 }, () => ['100.00', '7'] as const)
  world.quote(levels, [['100.00', '350']])
  world.order({ quantity: '350' })
  const sell = world.order({ side: 'SELL', quantity: '350' })
  assert.equal(sell.fills.length, 50)
  // 35,000 at 27.80 per million is 0.973.
  assert.equal(sell.fees, '0.97')
  assert.equal(
    sell.fills.reduce((sum, fill) => sum + Number(fill.fee) * 100, 0),
    97
  )
})

test('open orders hold buying power, and release it', () => {
  const world = at('100')
  const resting = world.order({ limitPrice: '50', quantity: '1000' })
  assert.equal(world.balance().reserved, '25000.00')
  assert.equal(world.balance().buyingPower, '150000.00')
  assert.equal(world.balance().regTBuyingPower, '200000.00')
  assert.equal(world.reject({ quantity: '1501' }), 'insufficient_buying_power')
  world.cancel(resting)
  assert.equal(world.balance().buyingPower, '200000.00')
  world.order({ limitPrice: '99', quantity: '1000' })
  world.order({ side: 'SELL', limitPrice: '101', quantity: '1000' })
  assert.equal(world.balance().reserved, '50502.81', 'of two sides only the larger is held, and the fees of both')
})

test('a market order beyond the displayed book holds 5 % more', () => {
  const world = new World()
  world.quote([['100', '5']], [['100', '5']])
  world.order({ quantity: '10' })
  assert.equal(world.balance().reserved, '275.00')
})

test('units in open sales cannot be sold again', () => {
  const world = at('100')
  world.order({ accountId: 'c1', quantity: '10' })
  const first = world.order({ accountId: 'c1', side: 'SELL', limitPrice: '110', quantity: '6' })
  assert.equal(world.reject({ accountId: 'c1', side: 'SELL', limitPrice: '110', quantity: '5' }), 'insufficient_position')
  assert.equal(world.order({ accountId: 'c1', side: 'SELL', limitPrice: '110', quantity: '4' }).state, 'open')
  world.cancel(first)
  assert.equal(world.order({ accountId: 'c1', side: 'SELL', quantity: '6' }).state, 'filled')
})

test('positions are valued at the last print; at the middle of the quote only before any print', () => {
  const world = new World()
  world.quote([['100', '50']], [['101', '50']])
  world.order({ quantity: '1' })
  assert.equal(world.position().lastPrice, '100.5')
  world.print('100.9')
  world.quote([['90', '50']], [['91', '50']])
  assert.equal(world.position().lastPrice, '100.9')
  world.do({ type: 'mark', symbol: 'AAPL', price: '95' })
  assert.equal(world.position().lastPrice, '95')
})

test('dividends are paid to longs and by shorts', () => {
  const world = at('100')
  world.order({ quantity: '100' })
  world.order({ accountId: 'm2', side: 'SELL', quantity: '40' })
  assert.equal(world.balance('m2').cash, '103999.89')
  world.do({ type: 'dividend', symbol: 'AAPL', amountPerUnit: '0.255' })
  assert.equal(world.balance().cash, '90025.50')
  assert.equal(world.balance('m2').cash, '103989.69')
  const [paid] = world.engine.transactions('m2', { types: ['DIVIDEND'] })
  assert.equal(paid?.amount, '-10.20')
  assert.equal(paid?.description, 'Dividend of 0.255 on 40 AAPL sold short')
  world.assertConserved()
})

test('interest, deposits and withdrawals', () => {
  const world = new World()
  world.do({ type: 'interest', accountId: 'm1', amount: '-12.34', description: 'Margin interest' })
  world.do({ type: 'deposit', accountId: 'm1', amount: '100' })
  world.do({ type: 'withdrawal', accountId: 'm1', amount: '50000' })
  assert.equal(world.balance().cash, '50087.66')
  assert.deepEqual(
    world.engine.transactions('m1').map(({ type, amount, description }) => [type, amount, description]),
    [
      ['WITHDRAWAL', '-50000.00', 'Withdrawal'],
      ['DEPOSIT', '100.00', 'Deposit'],
      ['INTEREST', '-12.34', 'Margin interest'],
      ['DEPOSIT', '100000.00', 'First deposit']
    ]
  )
  assert.equal(refusalIn(world.do({ type: 'withdrawal', accountId: 'm1', amount: '50087.67' })).code, 'insufficient_cash')
  assert.equal(refusalIn(world.do({ type: 'deposit', accountId: 'nobody', amount: '1' })).code, 'unknown_account')
  world.assertConserved()
})

test('a trade is a transaction with its fill', () => {
  const world = new World()
  world.quote(STANDARD.bids, STANDARD.asks)
  world.order({ quantity: '10' })
  const events = world.submit({ side: 'SELL', quantity: '10' })
  const [fill] = fillsIn(events)
  const [transaction] = world.engine.transactions('m1', { types: ['SELL'] })
  assert.deepEqual(transaction, {
    transactionId: transaction?.transactionId,
    accountId: 'm1',
    at: world.now,
    type: 'SELL',
    symbol: 'AAPL',
    kind: 'STK',
    quantity: '10',
    price: '100',
    amount: '999.97',
    fees: '0.03',
    currency: 'USD',
    date: TODAY,
    settlementDate: '2026-03-03',
    orderId: fill?.orderId,
    execId: fill?.execId,
    description: 'Sold 10 AAPL at 100'
  })
  assert.deepEqual(world.engine.transactions('m1', { fromDate: '2026-03-03' }), [])
  assert.equal(world.engine.transactions('m1', { after: transaction?.transactionId ?? '', limit: 1 })[0]?.type, 'BUY')
})

test('the transaction history is bounded', () => {
  const world = new World({ transactionsMax: 8 })
  for (let times = 0; times < 50; times++) world.do({ type: 'deposit', accountId: 'm1', amount: '1' })
  const kept = world.engine.transactions('m1')
  assert.ok(kept.length >= 8 && kept.length <= 10)
  assert.equal(world.balance().cash, '100050.00')
})
