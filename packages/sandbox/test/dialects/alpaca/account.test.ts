import assert from 'node:assert/strict'
import { test } from 'node:test'
import { control, type Wire } from '../../brokerage/support.ts'
import { Client, openBrokerage } from './support.ts'

test('the account is the margin account and that of crypto together', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const account = await client.ok('GET', '/v2/account')
  assert.match(account.account_number, /^PA\d{8}$/)
  const { status, currency, cash, equity, buying_power, regt_buying_power, multiplier } = account
  assert.deepEqual(
    { status, currency, cash, equity, buying_power, regt_buying_power, multiplier },
    {
      status: 'ACTIVE',
      currency: 'USD',
      cash: '150000',
      equity: '150000',
      buying_power: '200000.00',
      regt_buying_power: '200000.00',
      multiplier: '2'
    }
  )
  await client.buy('10')
  await client.buy('0.1', { symbol: 'BTC/USD', time_in_force: 'gtc' })
  const after = await client.ok('GET', '/v2/account')
  const worth = (await client.ok('GET', '/v2/positions')).reduce((sum: number, { market_value: value }: Wire) => sum + Number(value), 0)
  assert.ok(Math.abs(worth - Number(after.position_market_value)) < 0.01)
  assert.equal(Number(after.equity).toFixed(6), (Number(after.cash) + worth).toFixed(6))
  assert.equal(after.id, account.id)
  assert.notEqual((await (await Client.of(brokerage, 'robin')).ok('GET', '/v2/account')).id, account.id)
})

test('activities are fills by execution, fees apart, and money', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  await control(brokerage, 'PUT', '/market/SPY', {
    bids: [['499.99', '5']],
    asks: [
      ['500.01', '4'],
      ['500.02', '50']
    ]
  })
  const order = await client.buy('10', { client_order_id: 'two-fills' })
  const fills = (await client.ok('GET', '/v2/account/activities/FILL')).toReversed()
  assert.deepEqual(
    fills.map(({ order_id, symbol, side, qty, price }: Wire) => [order_id, symbol, side, qty, price]),
    [
      [order.id, 'SPY', 'buy', '4', '500.01'],
      [order.id, 'SPY', 'buy', '6', '500.02']
    ]
  )
  for (const { id, transaction_time } of fills) {
    const [, wall] = /^(\d{17})::[0-9a-f-]{36}$/.exec(id) ?? assert.fail(id)
    const there = Temporal.Instant.from(transaction_time).toZonedDateTimeISO('America/New_York')
    assert.equal(wall?.slice(0, 12), there.toPlainDateTime().toString().replace(/\D/g, '').slice(0, 12))
  }
  await client.placed({ side: 'sell', type: 'market', limit_price: null, qty: '5' })
  await control(brokerage, 'POST', '/dividends', { symbol: 'SPY', per_share: '0.5' })
  const all = await client.ok('GET', '/v2/account/activities')
  const others = all.filter(({ activity_type: type }: Wire) => type !== 'FILL')
  assert.deepEqual(others.map(({ activity_type: type }: Wire) => type).sort(), ['CSD', 'CSD', 'DIV', 'FEE'])
  const fee = others.find(({ activity_type: type }: Wire) => type === 'FEE')
  assert.ok(Number(fee.net_amount) < 0)
  const dividend = others.find(({ activity_type: type }: Wire) => type === 'DIV')
  assert.deepEqual([dividend.symbol, dividend.net_amount], ['SPY', '2.50'])
  const sum = [...others, ...(await client.ok('GET', '/v2/account/activities/FILL'))].reduce(
    (cash: number, { net_amount, side, qty, price }: Wire) =>
      cash + (net_amount === undefined ? (side === 'buy' ? -1 : 1) * qty * price : Number(net_amount)),
    0
  )
  assert.equal(sum.toFixed(2), Number((await client.ok('GET', '/v2/account')).cash).toFixed(2), 'they add up to the cash')
})
