import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Customer, control, type Wire } from '../../brokerage/support.ts'
import { Client, openBrokerage, refuses, StreamClient } from './support.ts'

test('a client order id is taken once, whatever became of the order and wherever it went', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  await client.buy('1', { client_order_id: 'once' })
  refuses(await client.place({ client_order_id: 'once' }), 422, 40010001, /client_order_id must be unique/)
  const crypto = { symbol: 'BTC/USD', qty: '0.01', limit_price: '1000', time_in_force: 'gtc', client_order_id: 'once' }
  refuses(await client.place(crypto), 422, 40010001, /client_order_id must be unique/)
  const { received, accepted } = await control(brokerage, 'GET', '/orders?client_order_id=once')
  assert.deepEqual({ received, accepted }, { received: 3, accepted: 1 })
})

test('what nobody has is not found, an order of somebody else included', async () => {
  await using brokerage = await openBrokerage()
  const [alex, robin] = [await Client.of(brokerage), await Client.of(brokerage, 'robin')]
  const { id } = await alex.placed({ client_order_id: 'mine' })
  for (const path of [`/v2/orders/${id}`, '/v2/orders:by_client_order_id?client_order_id=mine', '/v2/orders/nothing'])
    refuses(await robin.call('GET', path), 404, 40410000, /not found/)
  refuses(await robin.call('DELETE', `/v2/orders/${id}`), 404, 40410000, /not found/)
  refuses(await robin.call('PATCH', `/v2/orders/${id}`, { limit_price: '480' }), 404, 40410000, /not found/)
})

test('the replacement of a partly filled order is for the given quantity, and for the whole again when none is given', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  await control(brokerage, 'PUT', '/market/SPY', { bids: [['499.99', '5']], asks: [['500.01', '4']] })
  const old = await client.placed({ limit_price: '500.01' })
  assert.equal((await client.ok('GET', `/v2/orders/${old.id}`)).filled_qty, '4')
  const received = await client.ok('PATCH', `/v2/orders/${old.id}`, { qty: '6', limit_price: '495' })
  assert.deepEqual([received.qty, received.filled_qty], ['6', '0'])
  const untold = await client.ok('PATCH', `/v2/orders/${received.id}`, { limit_price: '494' })
  assert.deepEqual([untold.qty, untold.filled_qty], ['6', '0'])
  await control(brokerage, 'PUT', '/market/SPY', { bids: [['493.00', '5']], asks: [['493.50', '100']] })
  const done = await client.ok('GET', `/v2/orders/${untold.id}`)
  assert.deepEqual([done.status, done.filled_qty], ['filled', '6'])
  const [position] = await client.ok('GET', '/v2/positions')
  assert.equal(position.qty, '10')
})

test('orders are listed by state, time and symbol, newest first', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const first = await client.placed({ client_order_id: 'first' })
  await control(brokerage, 'PUT', '/clock', { advance_ms: 1_000 })
  const second = await client.placed({ symbol: 'BTC/USD', qty: '0.01', limit_price: '1000', time_in_force: 'gtc' })
  await control(brokerage, 'PUT', '/clock', { advance_ms: 1_000 })
  const third = await client.placed({ symbol: 'AAPL', side: 'sell', limit_price: '900', qty: '1' })
  await client.ok('DELETE', `/v2/orders/${first.id}`)
  const ids = async (query: string) => (await client.ok('GET', `/v2/orders?${query}`)).map(({ id }: Wire) => id)
  const all = [third.id, second.id, first.id]
  assert.deepEqual(await ids(''), [third.id, second.id])
  assert.deepEqual(await ids('status=closed'), [first.id])
  assert.deepEqual(await ids('status=all'), all)
  assert.deepEqual(await ids('status=all&direction=asc'), all.toReversed())
  assert.deepEqual(await ids('status=all&symbols=AAPL,BTCUSD'), [third.id, second.id])
  assert.deepEqual(await ids('status=all&limit=1'), [third.id])
  assert.deepEqual(await ids(`status=all&after=${second.submitted_at}`), [third.id])
  assert.deepEqual(await ids(`status=all&after_order_id=${second.id}`), [third.id])
  assert.deepEqual(await ids(`status=all&direction=asc&after_order_id=${first.id}`), [second.id, third.id])
  refuses(await client.call('GET', '/v2/orders?status=some'), 422, 40010001, /status/)
  refuses(await client.call('GET', '/v2/orders?limit=501'), 422, 40010001, /limit/)
})

const [PARAMETER, INVALID, FORBIDDEN] = [
  [422, 40010001],
  [422, 42210000],
  [403, 40310000]
] as const
const MARKET = { type: 'market', limit_price: null }
const CRYPTO = { symbol: 'BTC/USD', qty: '1', time_in_force: 'gtc' }
const REFUSED: readonly (readonly [ticket: Wire, answer: readonly [status: number, code: number], message: RegExp])[] = [
  [{ symbol: 'NOSUCH' }, INVALID, /asset "NOSUCH" not found/],
  [{ symbol: 'ESH27' }, INVALID, /not found/],
  [{ qty: null }, INVALID, /either a quantity or a notional/],
  [{ ...MARKET, notional: '5' }, INVALID, /either a quantity or a notional/],
  [{ qty: null, notional: '100' }, INVALID, /notional orders must be market orders/],
  [{ ...MARKET, qty: '0.5', time_in_force: 'gtc' }, INVALID, /DAY orders/],
  [{ limit_price: '490.005' }, INVALID, /sub-penny increment/],
  [{ qty: '1.0123456789' }, INVALID, /quantity/],
  [{ side: 'long' }, PARAMETER, /invalid side/],
  [{ type: 'trailing_stop', trail_percent: '1' }, PARAMETER, /invalid type/],
  [{ order_class: 'bracket' }, INVALID, /class bracket/],
  [{ type: 'stop', stop_price: '510', limit_price: null, extended_hours: true }, INVALID, /extended hours/],
  [{ ...CRYPTO, time_in_force: 'day' }, PARAMETER, /invalid time_in_force/],
  [{ ...CRYPTO, type: 'stop', stop_price: '1' }, PARAMETER, /invalid type/],
  [{ client_order_id: 'x'.repeat(65) }, PARAMETER, /client_order_id/],
  [{ symbol: 'THIN', side: 'sell', qty: '5', limit_price: '900' }, FORBIDDEN, /^insufficient qty available for order$/]
]

test('what is not taken is refused in Alpaca’s terms, and no order is open', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  for (const [ticket, answer, message] of REFUSED) refuses(await client.place(ticket), ...answer, message)
  refuses(await client.call('POST', '/v2/orders', 'nonsense'), ...PARAMETER, /invalid/)
  assert.deepEqual(await client.ok('GET', '/v2/orders'), [])
})

test('a notional order has no quantity of its own, and cannot be replaced; nor can a fraction', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const order = await client.buy('', { qty: null, notional: '1000' })
  assert.deepEqual([order.qty, order.notional, order.status], [null, '1000.00', 'filled'])
  await control(brokerage, 'PUT', '/market', { phase: 'closed', class: 'share' })
  const queued = await client.placed({ type: 'market', limit_price: null, qty: null, notional: '500' })
  assert.equal(queued.status, 'accepted')
  refuses(await client.call('PATCH', `/v2/orders/${queued.id}`, { qty: '1' }), 422, 42210000, /cannot replace order in accepted status/)
  await control(brokerage, 'PUT', '/market', { phase: 'open', class: 'share' })
})

test('while the market is closed orders are accepted only, and extended hours are for those who ask', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  await control(brokerage, 'PUT', '/market', { phase: 'pre', class: 'share' })
  const [regular, extended] = [await client.placed(), await client.placed({ extended_hours: true })]
  assert.deepEqual([regular.status, extended.status], ['accepted', 'pending_new'])
  assert.deepEqual([regular.extended_hours, extended.extended_hours], [false, true])
  assert.equal((await client.ok('GET', `/v2/orders/${extended.id}`)).status, 'new')
  const auction = await client.placed({ time_in_force: 'cls' })
  assert.equal((await client.ok('GET', `/v2/orders/${auction.id}`)).status, 'accepted')
})

test('an option is bought and sold by its intent', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const { option_contracts: contracts } = await client.ok('GET', '/v2/options/contracts?underlying_symbols=SPY&type=call&limit=1')
  const ticket = { symbol: contracts[0].symbol, qty: '2', type: 'market', limit_price: null, position_intent: 'buy_to_open' }
  const bought = await client.placed(ticket)
  assert.deepEqual([bought.asset_class, bought.position_intent], ['us_option', 'buy_to_open'])
  const mismatch = await client.place({ ...ticket, position_intent: 'sell_to_close' })
  refuses(mismatch, 422, 42210000, /position intent mismatch/)
  refuses(await client.place({ ...ticket, time_in_force: 'gtc' }), 422, 40010001, /invalid time_in_force/)
  refuses(await client.place({ ...ticket, type: 'stop', stop_price: '1' }), 422, 40010001, /invalid type/)
})

test('an order is the same by every way to the sandbox', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const customer = await Customer.of(brokerage)
  const { body } = await customer.submit({ client_order_id: 'by-the-sandbox', lifetime: 'gtc_ext', limit: '470.25' })
  const seen = await client.ok('GET', '/v2/orders:by_client_order_id?client_order_id=by-the-sandbox')
  assert.deepEqual([seen.time_in_force, seen.extended_hours, seen.limit_price, seen.status], ['gtc', true, '470.25', 'new'])
  await client.ok('DELETE', `/v2/orders/${seen.id}`)
  assert.equal((await customer.call('GET', `/orders/${body.order.id}`)).body.order.state, 'cancelled')
  const { id } = await client.placed({ client_order_id: 'by-alpaca' })
  assert.equal((await customer.find('by-alpaca')).body.order.limit, '490')
  await control(brokerage, 'POST', `/orders/${id}/fill`, { quantity: '4' })
  const partly = await client.ok('GET', `/v2/orders/${id}`)
  assert.deepEqual([partly.status, partly.filled_qty, partly.filled_avg_price], ['partially_filled', '4', '490'])
  const cash = await customer.submit({ account: customer.account('cash'), client_order_id: 'elsewhere' })
  assert.equal(cash.status, 201)
  refuses(await client.call('GET', '/v2/orders:by_client_order_id?client_order_id=elsewhere'), 404, 40410000, /not found/)
})

test('an order whose quantity nobody could read is refused, and shown nowhere', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const stream = await StreamClient.ofOrders(client)
  await client.place({ qty: '1.0123456789' })
  const { id } = await client.buy('1')
  await stream.waitForUpdates(id, 'fill')
  assert.ok(
    stream.updates.every(({ order }) => order.qty !== null),
    'nor does the stream report it'
  )
  const listed = await client.ok('GET', '/v2/orders?status=all')
  assert.deepEqual(
    listed.map(({ qty }: Wire) => qty),
    ['1']
  )
  stream.close()
})
