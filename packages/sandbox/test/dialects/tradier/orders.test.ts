import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { beginningAt, control, eventually } from '../../brokerage/support.ts'
import { Client, openBrokerage, Stream } from './support.ts'

/** Half past eleven at night in New York: the next day is near. */
const LATE = '2026-11-24T04:30:00Z'

test('a market order is taken, filled, listed and reported', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const stream = await Stream.ofAccounts(client)
  const id = await client.placed(client.buy(8, { tag: 'first-1' }))
  const order = await client.find(id)
  assert.equal(order.status, 'filled')
  assert.equal(order.exec_quantity, 8)
  assert.equal(order.tag, 'first-1')
  assert.deepEqual(
    (await client.list()).map(listed => listed.id),
    [id]
  )
  await stream.until(({ orders }) => orders.some(({ status }) => status === 'filled'))
  assert.deepEqual(
    stream.orders.map(({ status, remaining_quantity: left }) => [status, left]),
    [
      ['pending', 8],
      ['open', 8],
      ['filled', 0]
    ]
  )
  const { position } = (await client.get(`/accounts/${client.margin}/positions`)).body.positions
  assert.deepEqual([position.symbol, position.quantity, position.cost_basis], ['SPY', 8, 8 * order.avg_fill_price])
})

test('an order refused at once does not exist', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const { status, body } = await client.order({ quantity: 1_000_000, tag: 'too-much' })
  assert.equal(status, 200)
  assert.deepEqual(body, { errors: { error: ['Backoffice rejected override of the order.', 'InitialMargin'] } })
  assert.deepEqual(await client.list(), [])
})

test('an order that cannot be traded is accepted, then rejected', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const stream = await Stream.ofAccounts(client)
  const id = await client.placed(client.order({ quantity: 1, price: '90000.00' }))
  const order = await client.find(id)
  assert.equal(order.status, 'rejected')
  assert.match(order.reason_description, /too far through the market/)
  await stream.until(({ orders }) => orders.length > 0)
  assert.deepEqual(
    stream.orders.map(({ status, reason_description: reason }) => [status, reason]),
    [['rejected', undefined]]
  )
  await control(brokerage, 'POST', '/faults', { on: 'orders.submit', do: 'refuse_later', message: 'Not today.', times: 1 })
  const later = await client.find(await client.placed(client.order()))
  assert.deepEqual([later.status, later.reason_description], ['rejected', 'Not today.'])
})

test('sides are checked against the position and the open orders', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const refusal = async (fields: Parameters<Client['order']>[0], account = client.margin) => {
    const { body, text } = await client.order(fields, account)
    return body.errors === undefined ? text : [body.errors.error].flat().at(-1)
  }
  assert.match(await refusal({ side: 'sell' }), /^Sell order cannot be placed unless you are closing a long position/)
  assert.equal(await refusal({ side: 'buy_to_cover' }), 'UnexpectedBuyToCoverOrder')
  assert.equal(await refusal({ side: 'sell_short' }, client.cash), 'ShortStockTradingDeniedForAccount')
  assert.equal(await refusal({ side: 'sell_short', duration: 'gtc', price: '510.00' }), 'ShortOrderIsGtc')
  await client.placed(client.buy(10))
  assert.equal(await refusal({ side: 'sell_short', price: '510.00' }), 'UnexpectedSellShortOrder')
  await client.placed(client.order({ side: 'sell', quantity: 6, price: '510.00' }))
  assert.equal(await refusal({ side: 'sell', quantity: 5, price: '510.00' }), 'LongPositionCrossZero')
  await client.placed(client.order({ side: 'sell', quantity: 4, price: '510.00' }))
  await control(brokerage, 'PUT', '/market/SPY', { price: '511.00' })
  assert.equal((await client.get(`/accounts/${client.margin}/positions`)).text, '{"positions":"null"}')
  const short = await client.find(await client.placed(client.buy(5, { side: 'sell_short' })))
  assert.deepEqual([short.side, short.status], ['sell_short', 'filled'])
  assert.equal(await refusal({ side: 'buy' }), 'UnexpectedBuyOrder')
  assert.equal(await refusal({ side: 'buy_to_cover', quantity: 6 }), 'ShortPositionCrossZero')
  const cover = await client.find(await client.placed(client.buy(5, { side: 'buy_to_cover' })))
  assert.deepEqual([cover.side, cover.status], ['buy_to_cover', 'filled'])
  assert.equal(await refusal({ type: 'market', duration: 'gtc' }), 'MarketOrderIsGtc')
})

test('a tag is a label: shown on request, and not unique', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const long = 'a'.repeat(255)
  for (const tag of ['same', 'same', long]) await client.placed(client.order({ tag }))
  assert.deepEqual(
    (await client.list()).map(({ tag }) => tag),
    [undefined, undefined, undefined]
  )
  assert.deepEqual(
    (await client.list({ includeTags: 'true' })).map(({ tag }) => tag),
    [long, 'same', 'same']
  )
  const { status, text } = await client.order({ tag: 'no_underscores' })
  assert.deepEqual([status, text], [400, 'Invalid parameter, tag: must be at most 255 letters, digits and dashes, was "no_underscores".'])
  const { received } = await control(brokerage, 'GET', '/orders?client_order_id=same')
  assert.equal(received, 2)
})

test('a change keeps the id and the fills', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const stream = await Stream.ofAccounts(client)
  const id = await client.placed(client.order({ quantity: 10, price: '490.00', tag: 'changed' }))
  await control(brokerage, 'POST', `/orders/${id}/fill`, { quantity: '4' })
  const path = `/accounts/${client.margin}/orders/${id}`
  const changed = await client.call('PUT', path, { type: 'limit', duration: 'day', price: '491.00' })
  assert.deepEqual(changed.body, { order: { id, status: 'ok' } })
  const between = await client.find(id)
  assert.deepEqual([between.status, between.price, between.exec_quantity, between.remaining_quantity], ['partially_filled', 491, 4, 6])
  await client.call('PUT', path, { price: '492.00' })
  await control(brokerage, 'POST', `/orders/${id}/fill`, { quantity: '6' })
  const order = await client.find(id)
  assert.deepEqual(
    [order.id, order.status, order.quantity, order.exec_quantity, order.avg_fill_price, order.tag],
    [id, 'filled', 10, 10, 491.2, 'changed']
  )
  assert.equal((await client.list()).length, 1)
  await stream.until(({ orders }) => orders.some(({ status }) => status === 'filled'))
  assert.deepEqual(
    stream.orders.map(event => [event.id, event.status, event.price, event.exec_quantity]),
    [
      [id, 'pending', 490, 0],
      [id, 'open', 490, 0],
      [id, 'partially_filled', 490, 4],
      [id, 'partially_filled', 491, 4],
      [id, 'partially_filled', 492, 4],
      [id, 'filled', 492, 10]
    ]
  )
})

test('changes and cancels that are refused', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const id = await client.placed(client.order())
  const path = `/accounts/${client.margin}/orders/${id}`
  for (const field of ['quantity', 'symbol', 'side']) {
    const { status, text } = await client.call('PUT', path, { price: '480.00', [field]: '7' })
    assert.deepEqual([status, text], [400, `Invalid parameter, ${field}: cannot be changed.`])
  }
  assert.deepEqual((await client.call('DELETE', path)).body, { order: { id, status: 'ok' } })
  assert.equal((await client.find(id)).status, 'canceled')
  for (const method of ['DELETE', 'PUT']) {
    const { status, text } = await client.call(method, path, method === 'PUT' ? { price: '480.00' } : null)
    assert.deepEqual([status, text], [400, 'order already in finalized state: canceled'])
  }
  const filled = await client.placed(client.buy(1))
  const { text } = await client.call('DELETE', `/accounts/${client.margin}/orders/${filled}`)
  assert.equal(text, 'order already in finalized state: filled')
  for (const unknown of ['644922000000999', 'nonsense', '1']) {
    const answer = await client.get(`/accounts/${client.margin}/orders/${unknown}`)
    assert.deepEqual([answer.status, answer.text], [401, `Unauthorized Account: ${client.margin}`])
  }
  const elsewhere = await client.get(`/accounts/${client.cash}/orders/${id}`)
  assert.equal(elsewhere.status, 401)
})

test('stops and stop limits, changed and read back', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  await client.placed(client.buy(5))
  const id = await client.placed(
    client.order({ side: 'sell', quantity: 5, type: 'stop_limit', stop: '495.00', price: '494.00', duration: 'gtc' })
  )
  await client.call('PUT', `/accounts/${client.margin}/orders/${id}`, {
    type: 'stop_limit',
    duration: 'gtc',
    stop: '496.00',
    price: '494.00'
  })
  const order = await client.find(id)
  assert.deepEqual([order.type, order.status, order.duration, order.stop_price, order.price], ['stop_limit', 'open', 'gtc', 496, 494])
  const other = await client.call('PUT', `/accounts/${client.margin}/orders/${id}`, { type: 'limit', price: '494.00' })
  assert.deepEqual([other.status, other.text], [400, 'Invalid parameter, type: cannot be changed here.'])
})

test('pages of orders, newest first; a list of one is the order itself', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  assert.equal((await client.get(`/accounts/${client.margin}/orders`)).text, '{"orders":"null"}')
  const ids: number[] = []
  for (let nth = 0; nth < 5; nth++) ids.push(await client.placed(client.order({ quantity: nth + 1 })))
  const page = async (number: number) => (await client.list({ limit: 2, page: number })).map(({ id }) => id)
  assert.deepEqual([await page(1), await page(2), await page(3), await page(4)], [[ids[4], ids[3]], [ids[2], ids[1]], [ids[0]], []])
  assert.equal((await client.get(`/accounts/${client.margin}/orders`, { limit: 2, page: 3 })).body.orders.order.id, ids[0])
  const { status, text } = await client.get(`/accounts/${client.margin}/orders`, { page: 'one' })
  assert.deepEqual([status, text], [400, 'Invalid parameter, page: must be a whole number from 1 to 999999999, was "one".'])
})

test('yesterday’s orders are listed only while open, and found by id', async () => {
  await using brokerage = await openBrokerage({ deps: { realNow: beginningAt(LATE) } })
  const client = await Client.of(brokerage)
  const [working, over] = [await client.placed(client.order({ duration: 'gtc' })), await client.placed(client.buy(1))]
  await control(brokerage, 'PUT', '/clock', { advance_ms: 3_600_000 })
  await control(brokerage, 'PUT', '/market/SPY', { price: '500.00' })
  assert.deepEqual(
    (await client.list()).map(({ id }) => id),
    [working]
  )
  assert.equal((await client.find(over)).status, 'filled')
})

test('a tag survives a restart', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'tradier-'))
  try {
    {
      await using brokerage = await openBrokerage({ config: { dataDir } })
      const client = await Client.of(brokerage)
      await client.placed(client.order({ tag: 'kept' }))
    }
    await using brokerage = await openBrokerage({ config: { dataDir } })
    const [order] = await (await Client.of(brokerage)).list({ includeTags: 'true' })
    assert.equal(order.tag, 'kept')
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
})

test('an order may be filled before its price is known', async () => {
  await using brokerage = await openBrokerage({ options: { lateChance: 256, lateMs: 60 } })
  const client = await Client.of(brokerage)
  const id = await client.placed(client.buy(2))
  const early = await client.find(id)
  assert.deepEqual([early.status, early.avg_fill_price], ['filled', 0])
  const order = await eventually(
    () => client.find(id),
    ({ avg_fill_price: price }) => price > 0
  )
  assert.equal(order.exec_quantity, 2)
})

test('pre and post orders are accepted in their sessions only', async () => {
  await using brokerage = await openBrokerage({ config: { calendar: 'exchange' } })
  const client = await Client.of(brokerage)
  await control(brokerage, 'PUT', '/market', { phase: 'pre' })
  const id = await client.placed(client.order({ duration: 'pre' }))
  const order = await client.find(id)
  assert.deepEqual([order.duration, order.status], ['pre', 'open'])
  const { status, text } = await client.order({ duration: 'post' })
  assert.deepEqual([status, text], [400, 'Invalid parameter, duration: post market no longer available.'])
  const market = await client.order({ duration: 'pre', type: 'market' })
  assert.equal(market.text, 'Invalid parameter, type: must be limit for duration pre.')
})
