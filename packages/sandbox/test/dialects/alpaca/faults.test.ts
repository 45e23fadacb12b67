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

function failing(fault: Wire, expected: readonly [status: number, code: number | undefined, message: RegExp]): () => Promise<void> {
  return () => withFault(fault, async client => refuses(await client.call('GET', '/v2/account'), ...expected))
}

test(
  'a fault answers as Alpaca does: unauthorized',
  failing({ on: 'balances.list', do: 'status', status: 401 }, [401, 40110000, /not authorized/])
)
test('a fault answers as Alpaca does: forbidden', failing({ on: 'balances.list', do: 'status', status: 403 }, [403, 40110000, /scope/]))
test('a fault answers as Alpaca does: too many', failing({ on: '*', do: 'status', status: 429 }, [429, 42910000, /rate limit/]))
test(
  'a fault answers as Alpaca does: out of order',
  failing({ on: '*', do: 'status', status: 503 }, [503, 50310000, /internal server error/])
)
test('a fault can name a code of its own', failing({ on: '*', do: 'status', status: 403, code: '40310000' }, [403, 40310000, /./]))

test('a lost response does not lose the order', async () => {
  await withFault({ on: 'orders.submit', do: 'lose_answer', times: 1, client_order_id: 'lost' }, async client => {
    await assert.rejects(client.place({ client_order_id: 'lost' }))
    assert.equal((await client.ok('GET', '/v2/orders:by_client_order_id?client_order_id=lost')).status, 'new')
    refuses(await client.place({ client_order_id: 'lost' }), 422, 40010001, /must be unique/)
  })
})

test('a page of HTML comes from a gateway, not from Alpaca', async () => {
  await withFault({ on: 'orders.list', do: 'html', status: 403, times: 1 }, async client => {
    const answer = await client.call('GET', '/v2/orders')
    assert.equal(answer.status, 403)
    assert.match(answer.headers.get('content-type') ?? '', /html/)
  })
})

test('a submit is refused, answered with nonsense, or cut short', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const once = (fault: Wire) => control(brokerage, 'POST', '/faults', { on: 'orders.submit', times: 1, ...fault })
  await once({ do: 'refuse', message: 'not today' })
  refuses(await client.place({ client_order_id: 'one' }), 422, 42210000, /^not today$/)
  assert.equal((await client.place({ client_order_id: 'one' })).status, 200, 'nothing was made of it')
  await once({ do: 'garbage' })
  const { status, body } = await client.place()
  assert.deepEqual([status, body], [200, { ok: true }])
  await once({ do: 'truncate' })
  assert.equal((await client.place({ client_order_id: 'two' })).body, undefined)
  assert.equal((await client.ok('GET', '/v2/orders:by_client_order_id?client_order_id=two')).status, 'new')
})

test('an order that is hidden shows nowhere until it is revealed, and is reported then', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const stream = await StreamClient.ofOrders(client)
  await control(brokerage, 'POST', '/faults', { on: 'orders.submit', do: 'hide', ms: 3_600_000, times: 1 })
  await assert.rejects(client.place({ type: 'market', limit_price: null, qty: '5', client_order_id: 'hidden' }))
  const find = () => client.call('GET', '/v2/orders:by_client_order_id?client_order_id=hidden')
  refuses(await find(), 404, 40410000, /not found/)
  assert.deepEqual(await client.ok('GET', '/v2/orders?status=all'), [])
  assert.deepEqual(await client.ok('GET', '/v2/account/activities/FILL'), [])
  assert.equal(stream.updates.length, 0)
  refuses(await client.place({ client_order_id: 'hidden' }), 422, 40010001, /must be unique/)
  const { orders } = await control(brokerage, 'GET', '/orders?client_order_id=hidden')
  await control(brokerage, 'POST', `/orders/${orders[0].id}/reveal`)
  const found = await find()
  const received = await stream.waitForUpdates(found.body.id, 'fill')
  assert.equal(received.at(-1)?.position_qty, '5')
  stream.close()
})

test('lists are empty, or lose a page, on command', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  for (let count = 0; count < 6; count++) await client.placed()
  const all = await client.ok('GET', '/v2/orders?status=all&direction=asc')
  await control(brokerage, 'POST', '/faults', { on: 'orders.list', do: 'lose_page' })
  const first = await client.ok('GET', '/v2/orders?status=all&direction=asc&limit=2')
  const second = await client.ok('GET', `/v2/orders?status=all&direction=asc&limit=2&after_order_id=${first[1].id}`)
  assert.deepEqual([...first, ...second], [all[0], all[1], all[4], all[5]])
  await control(brokerage, 'POST', '/faults', { on: 'bars.list', do: 'lose_page' })
  const path = '/v2/stocks/bars?symbols=SPY&timeframe=1Min&limit=5&start=2026-01-05T15:00:00Z&end=2026-01-05T15:19:00Z'
  const bars = await client.okData(path)
  const further = await client.okData(`${path}&page_token=${bars.next_page_token}`)
  assert.equal(bars.bars.SPY.at(-1).t, '2026-01-05T15:04:00Z')
  assert.equal(further.bars.SPY[0].t, '2026-01-05T15:10:00Z')
  await control(brokerage, 'DELETE', '/faults')
  await control(brokerage, 'POST', '/faults', { on: '*', do: 'empty' })
  for (const list of ['/v2/orders', '/v2/positions', '/v2/account/activities', '/v2/assets'])
    assert.deepEqual(await client.ok('GET', list), [])
  assert.deepEqual((await client.okData(path)).bars, {})
})

test('the token endpoint fails as injected', async () => {
  await using brokerage = await openBrokerage()
  await control(brokerage, 'POST', '/faults', { on: 'token', do: 'status', status: 503, times: 1 })
  const response = await fetch(`${brokerage.url}/alpaca/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'authorization_code' })
  })
  assert.equal(response.status, 503)
  assert.equal(Object(await response.json()).code, 50310000)
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
