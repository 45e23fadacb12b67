/** What is done through the sandbox’s own API, seen through Tradier’s. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Customer } from '../../brokerage/support.ts'
import { Client, openBrokerage, Stream } from './support.ts'

test('orders of other dialects have their client order id as tag', async () => {
  await using brokerage = await openBrokerage()
  const [client, customer] = [await Client.of(brokerage), await Customer.of(brokerage)]
  await customer.submit({ client_order_id: 'from-elsewhere' })
  await customer.submit({ client_order_id: 'no tag: spaces', lifetime: 'gtc_ext' })
  await customer.submit({ account: customer.account('coin'), symbol: 'BTC/USD', quantity: '0.1', limit: '100.00' })
  assert.deepEqual(
    (await client.list({ includeTags: 'true' })).map(({ tag, duration, side, status }) => [tag, duration, side, status]),
    [
      [undefined, 'gtc', 'buy', 'open'],
      ['from-elsewhere', 'gtc', 'buy', 'open']
    ]
  )
})

test('an order amended elsewhere keeps its id', async () => {
  await using brokerage = await openBrokerage()
  const [client, customer] = [await Client.of(brokerage), await Customer.of(brokerage)]
  const stream = await Stream.ofAccounts(client)
  const { order } = (await customer.submit({ client_order_id: 'amended' })).body
  await customer.call('POST', `/orders/${order.id}/amend`, { quantity: '12', limit: '491.00', client_order_id: 'again' })
  const [listed, ...others] = await client.list({ includeTags: 'true' })
  assert.deepEqual([listed.tag, listed.price, listed.quantity, listed.remaining_quantity, others.length], ['amended', 491, 12, 12, 0])
  await stream.until(({ orders }) => orders.length === 3)
  assert.deepEqual(new Set(stream.orders.map(({ id }) => id)), new Set([listed.id]))
})

test('a short position of another dialect can be covered', async () => {
  await using brokerage = await openBrokerage()
  const [client, customer] = [await Client.of(brokerage), await Customer.of(brokerage)]
  await customer.submit({ direction: 'sell', kind: 'market', lifetime: 'day', quantity: '7', limit: null })
  const { position } = (await client.get(`/accounts/${client.margin}/positions`)).body.positions
  assert.equal(position.quantity, -7)
  assert.ok(position.cost_basis < 0)
  await client.placed(client.buy(7, { side: 'buy_to_cover' }))
  assert.equal((await client.get(`/accounts/${client.margin}/positions`)).body.positions, 'null')
})

test('share classes have a slash at Tradier and a dot in the sandbox', async () => {
  await using brokerage = await openBrokerage()
  const [client, customer] = [await Client.of(brokerage), await Customer.of(brokerage)]
  const id = await client.placed(client.buy(1, { symbol: 'brk/b', tag: 'class' }))
  assert.equal((await client.find(id)).symbol, 'BRK/B')
  assert.equal((await customer.find('class')).body.order.symbol, 'BRK.B')
})

test('an order refused elsewhere for buying power does not exist', async () => {
  await using brokerage = await openBrokerage()
  const [client, customer] = [await Client.of(brokerage), await Customer.of(brokerage)]
  const stream = await Stream.ofAccounts(client)
  assert.equal((await customer.buy('1000000')).status, 422)
  const id = await client.placed(client.order())
  await stream.until(({ orders }) => orders.length === 2)
  assert.deepEqual(
    (await client.list()).map(order => order.id),
    [id]
  )
  assert.deepEqual(new Set(stream.orders.map(event => event.id)), new Set([id]))
})
