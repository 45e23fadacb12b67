import assert from 'node:assert/strict'
import { test } from 'node:test'
import { control, type Wire } from '../../brokerage/support.ts'
import { Client, openBrokerage, refuses } from './support.ts'

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

test('positions are long or short, crypto without their slash', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  await client.buy('10')
  await client.placed({ symbol: 'AAPL', side: 'sell', type: 'market', limit_price: null, qty: '4' })
  await client.placed({ symbol: 'BTC/USD', type: 'market', limit_price: null, qty: '0.1', time_in_force: 'gtc' })
  const positions = await client.ok('GET', '/v2/positions')
  const shown = positions.map(({ symbol, side, qty, asset_class }: Wire) => [symbol, side, qty, asset_class])
  assert.deepEqual(shown, [
    ['AAPL', 'short', '-4', 'us_equity'],
    ['SPY', 'long', '10', 'us_equity'],
    ['BTCUSD', 'long', '0.1', 'crypto']
  ])
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

test('activities are paged by the last one seen', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  for (let count = 0; count < 7; count++) await client.buy('1')
  await client.buy('0.01', { symbol: 'ETH/USD', time_in_force: 'gtc' })
  const whole = await client.ok('GET', '/v2/account/activities')
  const seen: Wire[] = []
  for (let page: Wire[] = [{}]; page.length > 0; seen.push(...page)) {
    const token = seen.length === 0 ? '' : `&page_token=${encodeURIComponent(seen.at(-1).id)}`
    page = await client.ok('GET', `/v2/account/activities?page_size=3${token}`)
  }
  assert.deepEqual(seen, whole)
  refuses(await client.call('GET', '/v2/account/activities?page_token=nothing'), 422, 40010001, /page_token/)
  assert.deepEqual(await client.ok('GET', '/v2/account/activities?after=2100-01-01T00:00:00Z'), [])
  assert.equal((await client.ok('GET', '/v2/account/activities?until=2100-01-01T00:00:00Z')).length, whole.length)
})

test('assets and the clock are served', async () => {
  await using brokerage = await openBrokerage({ calendar: 'exchange' })
  const client = await Client.of(brokerage)
  const shares = await client.ok('GET', '/v2/assets?status=active')
  assert.ok(shares.every(({ class: kind }: Wire) => kind === 'us_equity'))
  const coin = await client.ok('GET', '/v2/assets/BTC%2FUSD')
  assert.deepEqual(await client.ok('GET', '/v2/assets/BTCUSD'), coin)
  assert.deepEqual(
    (await client.ok('GET', '/v2/assets?asset_class=crypto')).find(({ id }: Wire) => id === coin.id),
    coin
  )
  refuses(await client.call('GET', '/v2/assets/NOSUCH'), 404, 40410000, /asset not found/)
  const clock = await client.ok('GET', '/v2/clock')
  assert.match(clock.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}-0[45]:00$/)
})
