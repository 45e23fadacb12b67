import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client, openBrokerage, Stream } from './support.ts'

/** Two neighbouring calls of the second expiration, the lower strike first. */
async function calls(client: Client): Promise<readonly [string, string, string]> {
  const { date } = (await client.get('/markets/options/expirations', { symbol: 'SPY' })).body.expirations
  const { option } = (await client.get('/markets/options/chains', { symbol: 'SPY', expiration: date[1] })).body.options
  const near = option.filter(
    ({ option_type: type, strike }: { option_type: string; strike: number }) => type === 'call' && strike >= 500 && strike <= 504
  )
  return [near[0].symbol, near[1].symbol, near[2].symbol]
}

const spread = ([long, short]: readonly string[], quantity = 2) => ({
  ...{ class: 'multileg', symbol: 'SPY', duration: 'day' },
  ...{ 'side[0]': 'buy_to_open', 'quantity[0]': quantity, 'option_symbol[0]': long ?? '' },
  ...{ 'side[1]': 'sell_to_open', 'quantity[1]': quantity, 'option_symbol[1]': short ?? '' }
})

test('a spread: one order, a separate id and events for each leg', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const legs = await calls(client)
  const stream = await Stream.ofAccounts(client)
  const id = await client.placed(
    client.call('POST', `/accounts/${client.margin}/orders`, { ...spread(legs), type: 'market', tag: 'spread' })
  )
  const order = await client.find(id)
  assert.deepEqual([order.class, order.type, order.side, order.status], ['multileg', 'market', 'buy', 'filled'])
  assert.deepEqual([order.quantity, order.exec_quantity], [2, 2])
  assert.deepEqual(
    order.leg.map((leg: Record<string, unknown>) => [leg.side, leg.option_symbol, leg.quantity, leg.exec_quantity, leg.status]),
    [
      ['buy_to_open', legs[0], 2, 2, 'filled'],
      ['sell_to_open', legs[1], 2, 2, 'filled']
    ]
  )
  const [long, short] = order.leg
  assert.equal(new Set([id, long.id, short.id]).size, 3)
  assert.ok(Math.abs(order.avg_fill_price - (long.avg_fill_price - short.avg_fill_price)) < 1e-6)
  await stream.until(({ orders }) => orders.filter(({ status }) => status === 'filled').length === 3)
  const filled = stream.orders.filter(({ status }) => status === 'filled')
  assert.deepEqual(
    filled.map(event => [event.id, event.parent_id]),
    [
      [id, undefined],
      [long.id, id],
      [short.id, id]
    ]
  )
})

test('unequal legs are counted by their greatest common divisor', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const [long, short] = await calls(client)
  const form = { ...spread([long, short]), 'quantity[0]': 4, 'quantity[1]': 2, type: 'market' }
  const order = await client.find(await client.placed(client.call('POST', `/accounts/${client.margin}/orders`, form)))
  assert.equal(order.quantity, 2)
  assert.deepEqual(
    order.leg.map((leg: Record<string, unknown>) => leg.exec_quantity),
    [4, 2]
  )
})

test('a net price is a debit or a credit, and can be changed and canceled by the parent’s id', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const [low, middle, high] = await calls(client)
  const path = `/accounts/${client.margin}/orders`
  const debit = await client.placed(client.call('POST', path, { ...spread([low, middle]), type: 'debit', price: '0.01' }))
  const credit = await client.placed(client.call('POST', path, { ...spread([high, middle]), type: 'credit', price: '9.00' }))
  assert.deepEqual(
    (await client.list()).map(({ id, type, price, side, status }) => [id, type, price, side, status]),
    [
      [credit, 'credit', 9, 'sell', 'open'],
      [debit, 'debit', 0.01, 'buy', 'open']
    ]
  )
  await client.call('PUT', `${path}/${credit}`, { type: 'credit', duration: 'day', price: '8.00' })
  assert.equal((await client.find(credit)).price, 8)
  await client.call('DELETE', `${path}/${credit}`)
  const canceled = await client.find(credit)
  assert.deepEqual([canceled.status, canceled.leg.map(({ status }: { status: string }) => status)], ['canceled', ['canceled', 'canceled']])
  assert.equal((await client.find(debit)).status, 'open')
})

test('unsupported order classes are refused', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  for (const kind of ['combo', 'oco', 'oto', 'otoco']) {
    const { status, text } = await client.order({ class: kind })
    assert.deepEqual([status, text], [400, `Invalid parameter, class: must be one of equity, option, multileg, was "${kind}".`])
  }
})
