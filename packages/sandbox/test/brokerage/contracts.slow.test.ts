import assert from 'node:assert/strict'
import { test } from 'node:test'
import { held, near, option, stage } from './contract-stage.ts'
import { Customer, control, Listener, openBrokerage, type Wire } from './support.ts'

test('the clock passes an expiration: contracts in the money become shares, the others expire, shorts are assigned', async () => {
  await using brokerage = await openBrokerage()
  const { alex, calls, puts } = await stage(brokerage)
  const stream = await Listener.of(alex)
  const [inTheMoney, outside, shortPut] = [near(calls, 470).s, near(calls, 535).s, near(puts, 535).s]
  for (const symbol of [inTheMoney, outside]) assert.equal((await option(alex, symbol, { quantity: '1' })).body.order?.state, 'done')
  assert.equal((await option(alex, shortPut, { direction: 'sell', quantity: '1' })).body.order?.state, 'done')
  // At a price that the contract has nowhere on the way to its end.
  const far = { direction: 'sell', effect: 'close', kind: 'limit', limit: '900.00', lifetime: 'gtc', quantity: '1' }
  const resting = (await option(alex, inTheMoney, far)).body.order
  assert.equal(resting.state, 'open')
  const { instrument } = (await alex.call('GET', `/instruments/${inTheMoney}`)).body
  const before = new Date(Date.parse(instrument.option.last_trade) - 2_000).toISOString()
  await control(brokerage, 'PUT', '/clock', { set: before })
  await control(brokerage, 'PUT', '/market/SPY', { price: '500.00' })
  await control(brokerage, 'PUT', '/market', { paused: true })
  await control(brokerage, 'PUT', '/clock', { advance_ms: 60_000 })
  assert.deepEqual(await held(alex), { SPY: '200' })
  const types = (await alex.call('GET', '/transactions')).body.items.map(({ type, symbol }: Wire) => `${type} ${symbol}`)
  for (const due of [`exercise ${inTheMoney}`, `expiration ${outside}`, `assignment ${shortPut}`]) assert.ok(types.includes(due), due)
  const ended = (await alex.call('GET', `/orders/${resting.id}`)).body.order
  assert.deepEqual([ended.state, ended.reason.code], ['lapsed', 'expired_contract'])
  await stream.until(() => stream.events.some(({ position }) => position?.symbol === shortPut && position.quantity === '0'))
  assert.ok(['unknown_symbol', 'expired_contract'].includes((await option(alex, inTheMoney)).body.error.code))
})

test('futures: a separate margin, settled in cash every day', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  const [month] = (await alex.call('GET', '/instruments?class=future&search=ES')).body.items
  const ticket = { symbol: month.symbol, account: alex.account('futures'), kind: 'market', lifetime: 'day', limit: null, quantity: '1' }
  assert.equal((await alex.submit({ ...ticket, account: alex.account('margin') })).body.error.code, 'instrument_not_permitted')
  assert.equal((await alex.submit({ ...ticket, symbol: 'SPY' })).body.error.code, 'instrument_not_permitted')
  assert.equal((await alex.submit(ticket)).body.order.state, 'done')
  const balance = async () => (await alex.call('GET', `/balances?account=${alex.account('futures')}`)).body.items[0]
  const first = await balance()
  assert.equal(Number(first.initial_margin), Number(month.future.initial_margin))
  assert.equal(Number(first.cash), 100_000)
  // Over any weekend followed by a holiday.
  await control(brokerage, 'PUT', '/clock', { advance_ms: 5 * 24 * 3_600_000 })
  const settled = (await alex.call('GET', `/transactions?account=${alex.account('futures')}`)).body.items.filter(
    ({ type }: Wire) => type === 'settlement'
  )
  assert.ok(settled.length >= 1)
  const sum = settled.reduce((total: number, { amount }: Wire) => total + Number(amount), 0)
  assert.equal((Number((await balance()).cash) - 100_000).toFixed(2), sum.toFixed(2))
})
