import assert from 'node:assert/strict'
import { test } from 'node:test'
import { control, type Wire } from '../../brokerage/support.ts'
import { Client, openBrokerage, refuses, StreamClient } from './support.ts'

async function withFault(fault: Wire, action: (client: Client) => Promise<void>): Promise<void> {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  await control(brokerage, 'POST', '/faults', fault)
  await action(client)
}

const ANSWERS = [
  ['unauthorized', { on: 'balances.list', do: 'status', status: 401 }, 401, 40110000, /not authorized/],
  ['forbidden', { on: 'balances.list', do: 'status', status: 403 }, 403, 40110000, /scope/],
  ['too many', { on: '*', do: 'status', status: 429 }, 429, 42910000, /rate limit/],
  ['out of order', { on: '*', do: 'status', status: 503 }, 503, 50310000, /internal server error/],
  ['a code that the fault names', { on: '*', do: 'status', status: 403, code: '40310000' }, 403, 40310000, /./]
] as const

for (const [what, fault, status, code, message] of ANSWERS)
  test(`a fault answers as Alpaca does: ${what}`, () =>
    withFault(fault, async client => refuses(await client.call('GET', '/v2/account'), status, code, message)))

test('lists are empty on command', async () => {
  await withFault({ on: '*', do: 'empty' }, async client => {
    await client.buy('1')
    for (const list of ['/v2/orders?status=all', '/v2/positions']) assert.deepEqual(await client.ok('GET', list), [])
  })
})

test('after a reset the state is others, and so are their ids', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const stream = await StreamClient.ofOrders(client)
  const { id } = await client.buy('1', { client_order_id: 'same' })
  await control(brokerage, 'POST', '/reset')
  await stream.until((_messages, { closed }) => closed !== undefined)
  refuses(await client.call('GET', `/v2/orders/${id}`), 404, 40410000, /not found/)
  await control(brokerage, 'PUT', '/market/SPY', { price: '500.00' })
  const again = await client.buy('1', { client_order_id: 'same' })
  assert.notEqual(again.id, id)
})
