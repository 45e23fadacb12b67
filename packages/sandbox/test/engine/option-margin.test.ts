// Every margin rule by an example calculated by hand. AAPL is at 100.00, options are counted per 100 shares, m1 begins with 100,000.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ContractWorld, contract } from './contracts.ts'

function excess(world: ContractWorld, accountId = 'm1'): string {
  return world.balance(accountId).excess
}

test('a long option is paid in full and has no loan value', () => {
  const world = new ContractWorld()
  world.offer('C105', '2.00', '2.10')
  world.order({ symbol: contract('C105'), side: 'BUY_TO_OPEN', limitPrice: '2.10', quantity: '1' })
  const { cash, equity, initialMargin } = world.balance()
  // 210 paid; worth 205 in the middle of its quote, all of it required.
  assert.deepEqual([cash, equity, initialMargin, excess(world)], ['99790.00', '99995.00', '205.00', '99790.00'])
})

test('a naked short needs its premium, and 20 % of the underlying less the out-of-the-money amount', () => {
  const world = new ContractWorld()
  world.offer('P95', '1.50', '1.60')
  world.order({ symbol: contract('P95'), side: 'SELL_TO_OPEN', limitPrice: '1.50', quantity: '1' })
  // 100,150 in cash, less 155 premium, less 20.00 - 5.00 = 15.00 a share.
  assert.equal(excess(world), '98495.00')
  assert.equal(world.balance().initialMargin, '1500.00')
})

test('far out of the money, 10 % remain: of the strike for a put, of the underlying for a call', () => {
  const world = new ContractWorld()
  world.offer('P90', '0.10', '0.12')
  world.offer('C110', '0.10', '0.12')
  world.do({ type: 'mark', symbol: 'AAPL', price: '108' })
  world.order({ symbol: contract('P90'), side: 'SELL_TO_OPEN', limitPrice: '0.10', quantity: '1' })
  // 21.60 - 18.00 = 3.60 is less than 9.00. Premium 11, received 10.
  assert.equal(excess(world), '99099.00')
  world.do({ type: 'mark', symbol: 'AAPL', price: '90' })
  world.order({ symbol: contract('C110'), accountId: 'm2', side: 'SELL_TO_OPEN', limitPrice: '0.10', quantity: '1' })
  // 18.00 - 20.00 is less than 9.00.
  assert.equal(excess(world, 'm2'), '99099.00')
})

test('an index option needs 15 %, of strike and premium while the index has no price here', () => {
  const world = new ContractWorld()
  world.offer('C100', '3.00', '3.00', '50', 'NDX')
  world.order({ symbol: contract('C100', 'NDX'), side: 'SELL_TO_OPEN', limitPrice: '3.00', quantity: '1' })
  // 300 received, 300 premium, 15 % of 103.00 a unit.
  assert.equal(excess(world), '98455.00')
})

test('a vertical needs the difference of its strikes, not the margin of a naked short', () => {
  const world = new ContractWorld()
  world.offer('C105', '2.00', '2.10')
  world.offer('C110', '0.90', '1.00')
  const order = world.taken(['-o C105', '+o C110'], { side: 'SELL', limitPrice: '1.00' })
  assert.equal(order.state, 'filled')
  // 100 received, 500 needed.
  assert.equal(excess(world), '99600.00')
  const poor = new ContractWorld()
  poor.account('p', 'margin', '450')
  poor.offer('C105', '2.00', '2.10')
  poor.offer('C110', '0.90', '1.00')
  assert.equal(
    poor.reject({ accountId: 'p', symbol: contract('C105'), side: 'SELL_TO_OPEN', limitPrice: '2.00', quantity: '1' }),
    'insufficient_buying_power'
  )
  assert.equal(poor.taken(['-o C105', '+o C110'], { accountId: 'p', side: 'SELL', limitPrice: '1.00' }).state, 'filled')
  assert.equal(excess(poor, 'p'), '50.00')
})

test('a vertical that is bought needs its cost', () => {
  const world = new ContractWorld()
  world.offer('C100', '4.00', '4.10')
  world.offer('C105', '2.00', '2.10')
  world.taken(['+o C100', '-o C105'], { limitPrice: '2.10' })
  assert.equal(excess(world), '99790.00')
})

test('a short is covered by a long that expires no earlier, never by one that ends before it', () => {
  const world = new ContractWorld()
  world.offer('C105', '2.00', '2.00')
  world.offer('C105+', '3.00', '3.00')
  world.taken(['-o C105', '+o C105+'], { limitPrice: '1.00' })
  assert.equal(excess(world), '99900.00', 'a calendar spread needs what it costs')
  world.taken(['+o C105', '-o C105+'], { accountId: 'm2', side: 'SELL', limitPrice: '1.00' })
  // The far short is naked: premium 300 and 20.00 - 5.00 a share; 100 received net.
  assert.equal(excess(world, 'm2'), '98300.00')
})

test('an iron condor needs only its wider side', () => {
  const world = new ContractWorld()
  for (const [name, price] of [
    ['P90', '0.50'],
    ['P95', '1.50'],
    ['C105', '2.00'],
    ['C110', '1.00']
  ] as const)
    world.offer(name, price, price)
  const order = world.taken(['+o P90', '-o P95', '-o C105', '+o C110'], { side: 'SELL', limitPrice: '2.00' })
  assert.equal(order.state, 'filled')
  // 200 received; either side can cost 500, not both.
  assert.equal(excess(world), '99700.00')
})

test('if prices can go against both sides, both are required', () => {
  const world = new ContractWorld()
  for (const [name, price] of [
    ['P105', '6.00'],
    ['P100', '3.00'],
    ['C95', '6.00'],
    ['C100', '3.00']
  ] as const)
    world.offer(name, price, price)
  world.taken(['+o P100', '-o P105', '-o C95', '+o C100'], { side: 'SELL', limitPrice: '6.00' })
  assert.equal(excess(world), '99600.00')
})

test('a call covered by held shares needs only its premium, up to the number of shares', () => {
  const world = new ContractWorld()
  world.order({ quantity: '100', limitPrice: '100.01' })
  world.offer('C105', '2.00', '2.10')
  const call = { symbol: contract('C105'), side: 'SELL_TO_OPEN', limitPrice: '2.00', quantity: '1' } as const
  world.order(call)
  // Cash 100,000 - 10,001 + 200 less 205 premium, and half of 10,000 in shares.
  assert.equal(excess(world), '94994.00')
  world.order(call)
  // The second is naked: 200 received, 205 premium, 15.00 a share.
  assert.equal(excess(world), '93489.00')
})

test('selling the shares, or the long leg, is refused if the short then lacks margin', () => {
  const world = new ContractWorld()
  world.account('p', 'margin', '5200')
  world.order({ accountId: 'p', quantity: '100', limitPrice: '100.01' })
  world.offer('C105', '2.00', '2.10')
  world.offer('C110', '0.90', '1.00')
  world.order({ accountId: 'p', symbol: contract('C105'), side: 'SELL_TO_OPEN', limitPrice: '2.00', quantity: '1' })
  // Without the shares 1,500 are needed and 5,000 become free: this sale is accepted.
  assert.equal(world.order({ accountId: 'p', side: 'SELL', quantity: '100', limitPrice: '100.50' }).state, 'open')
  world.account('q', 'margin', '500')
  world.taken(['-o C105', '+o C110'], { accountId: 'q', side: 'SELL', limitPrice: '1.00' })
  const close = { accountId: 'q', symbol: contract('C110'), side: 'SELL_TO_CLOSE', limitPrice: '0.90', quantity: '1' } as const
  assert.equal(world.reject(close), 'insufficient_buying_power')
  assert.equal(world.taken(['+c C105', '-c C110'], { accountId: 'q', limitPrice: '1.20' }).state, 'filled')
  assert.equal(world.balance('q').cash, '480.00')
})

test('a cash account buys options, writes covered calls and cash-secured puts, and nothing else', () => {
  const world = new ContractWorld()
  world.offer('C105', '2.00', '2.10')
  world.offer('C110', '0.90', '1.00')
  world.offer('P95', '1.50', '1.60')
  const ticket = { accountId: 'c1', quantity: '1' } as const
  const call = { ...ticket, symbol: contract('C105'), side: 'SELL_TO_OPEN', limitPrice: '2.00' } as const
  assert.equal(world.reject(call), 'short_sale_not_allowed')
  assert.equal(world.refusal(['-o C105', '+o C110'], { accountId: 'c1', side: 'SELL', limitPrice: '1.00' }), 'short_sale_not_allowed')
  const put = { ...ticket, symbol: contract('P95'), side: 'SELL_TO_OPEN', limitPrice: '1.50' } as const
  world.order(put)
  // 9,500 of 10,000 are reserved; the premium of 150 is settled tomorrow.
  assert.equal(excess(world, 'c1'), '500.00')
  assert.equal(world.reject(put), 'insufficient_buying_power')
  world.order({ ...ticket, symbol: contract('C110'), side: 'BUY_TO_OPEN', limitPrice: '1.00' })
  assert.equal(excess(world, 'c1'), '400.00')
  world.order({ ...ticket, symbol: contract('P95'), side: 'BUY_TO_CLOSE', limitPrice: '1.60' })
  assert.equal(world.units('P95', 'c1'), '0')
  world.order({ ...ticket, quantity: '90', limitPrice: '100.01' })
  assert.equal(world.reject(call), 'short_sale_not_allowed', '90 shares do not cover a contract')
})

test('shares under a covered call of a cash account cannot be sold', () => {
  const world = new ContractWorld()
  world.account('c2', 'cash', '20000')
  world.order({ accountId: 'c2', quantity: '150', limitPrice: '100.01' })
  world.offer('C105', '2.00', '2.10')
  world.order({ accountId: 'c2', symbol: contract('C105'), side: 'SELL_TO_OPEN', limitPrice: '2.00', quantity: '1' })
  assert.equal(world.reject({ accountId: 'c2', side: 'SELL', quantity: '51', limitPrice: '100' }), 'insufficient_position')
  assert.equal(world.order({ accountId: 'c2', side: 'SELL', quantity: '50', limitPrice: '99.99' }).state, 'filled')
})

test('an accepted resting multi-leg order stays accepted: its legs need no more when they fill', () => {
  const world = new ContractWorld()
  world.account('p', 'margin', '400')
  world.offer('C105', '1.90', '2.10')
  world.offer('C110', '0.90', '1.00')
  const order = world.taken(['-o C105', '+o C110'], { accountId: 'p', side: 'SELL', limitPrice: '1.00', timeInForce: 'GTC' })
  assert.equal(order.state, 'open')
  // 500 at risk, of which 100 are received with the fill.
  assert.deepEqual([world.balance('p').reserved, excess(world, 'p')], ['400.00', '0.00'])
  assert.equal(
    world.reject({ accountId: 'p', symbol: contract('C110'), side: 'BUY_TO_OPEN', limitPrice: '0.50', quantity: '1' }),
    'insufficient_buying_power'
  )
  world.offer('C105', '2.00', '2.10')
  assert.equal(world.again(order).state, 'filled')
  assert.deepEqual([world.balance('p').reserved, excess(world, 'p')], ['0.00', '0.00'])
})

test('several live orders count in the worst way that they can fill', () => {
  const world = new ContractWorld()
  world.account('p', 'margin', '700')
  world.offer('C105', '2.00', '2.10')
  world.offer('C110', '0.90', '1.00')
  world.taken(['-o C105', '+o C110'], { accountId: 'p', side: 'SELL', limitPrice: '1.00' })
  // Spread held: 800 less 500. A second multi-leg order that relies on the same long needs its own cover.
  assert.equal(excess(world, 'p'), '300.00')
  const close = { accountId: 'p', symbol: contract('C105'), side: 'BUY_TO_CLOSE', limitPrice: '1.00', quantity: '1' } as const
  assert.equal(world.order(close).state, 'open', 'closing is taken whatever else is reserved')
  assert.equal(world.reject({ ...close, side: 'BUY_TO_CLOSE' }), 'insufficient_position')
  assert.equal(
    world.reject({ accountId: 'p', symbol: contract('C110'), side: 'SELL_TO_CLOSE', limitPrice: '5.00', quantity: '1' }),
    'insufficient_buying_power'
  )
})
