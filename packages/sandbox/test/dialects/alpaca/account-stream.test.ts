import assert from 'node:assert/strict'
import { test } from 'node:test'
import { control, type Wire } from '../../brokerage/support.ts'
import { Client, openBrokerage, refuses, StreamClient } from './support.ts'

test('the stream is silent until somebody has authenticated and listens', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const stream = await StreamClient.open(brokerage, '/api/stream')
  stream.send({ action: 'listen', data: { streams: ['trade_updates'] } })
  stream.send({ action: 'authenticate', data: { oauth_token: 'stranger' } })
  stream.send({ action: 'authenticate', data: { key_id: client.keys.key_id, secret_key: client.keys.secret_key } })
  stream.send('nonsense')
  await stream.until(messages => messages.length === 4)
  assert.deepEqual(stream.messages, [
    { stream: 'authorization', data: { status: 'unauthorized', action: 'listen' } },
    { stream: 'authorization', data: { status: 'unauthorized', action: 'authenticate' } },
    { stream: 'authorization', data: { status: 'authorized', action: 'authenticate' } },
    { stream: 'error', data: { error_message: 'invalid command' } }
  ])
  await client.buy('1')
  stream.send({ action: 'listen', data: { streams: ['trade_updates', 'account_updates'] } })
  await stream.until(messages => messages.length === 5)
  assert.deepEqual(stream.messages[4], { stream: 'listening', data: { streams: ['trade_updates'] } })
  const { id } = await client.buy('1')
  await stream.waitForUpdates(id, 'fill')
  assert.ok(
    stream.updates.every(({ order }) => order.id === id),
    'nothing of before is sent'
  )
  stream.send({ action: 'listen', data: { streams: [] } })
  await stream.until(messages => messages.at(-1).stream === 'listening')
  const count = stream.updates.length
  await client.buy('1')
  stream.send({ action: 'listen', data: { streams: ['trade_updates'] } })
  await stream.until(messages => messages.at(-1).data.streams?.length === 1)
  assert.equal(stream.updates.length, count, 'listen replaces what was listened to before')
  stream.close()
})

test('an order is reported from its acceptance to its end, each execution with its own id, price and quantity', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const stream = await StreamClient.ofOrders(client)
  await control(brokerage, 'PUT', '/market/SPY', {
    bids: [['499.99', '5']],
    asks: [
      ['500.01', '4'],
      ['500.02', '50']
    ]
  })
  const { id } = await client.buy('10')
  const received = await stream.waitForUpdates(id, 'fill')
  assert.deepEqual(
    received.map(({ event, price, qty, position_qty, order }) => [event, order.status, order.filled_qty, price, qty, position_qty]),
    [
      ['pending_new', 'pending_new', '0', undefined, undefined, undefined],
      ['new', 'new', '0', undefined, undefined, undefined],
      ['partial_fill', 'partially_filled', '4', '500.01', '4', '4'],
      ['fill', 'filled', '10', '500.02', '6', '10']
    ]
  )
  assert.ok(
    stream.binary.every(isBinary => isBinary),
    'frames are binary'
  )
  const ids = received.slice(1).map(({ execution_id: execution }) => execution)
  assert.equal(new Set(ids).size, 3, 'even `new` may carry an execution id')
  const fills = (await client.ok('GET', '/v2/account/activities/FILL')).toReversed()
  assert.deepEqual(
    fills.map((row: Wire) => row.id.split('::')[1]),
    ids.slice(1),
    'the activity of a fill has its execution id'
  )
  assert.equal(received.at(-1)?.order.filled_avg_price, '500.016')
  stream.close()
})

test('the events of an order come before the response to its submit', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const stream = await StreamClient.ofOrders(client)
  await control(brokerage, 'POST', '/faults', { on: 'orders.submit', do: 'delay', ms: 60_000, after: true, times: 1 })
  const asked = new AbortController()
  const submit = fetch(`${brokerage.url}/alpaca/api/v2/orders`, {
    method: 'POST',
    signal: asked.signal,
    headers: { ...client.headers, 'content-type': 'application/json' },
    body: JSON.stringify({ symbol: 'SPY', qty: '1', side: 'buy', type: 'market', time_in_force: 'day', client_order_id: 'early' })
  })
  await stream.until(() => stream.updates.some(({ event, order }) => event === 'fill' && order.client_order_id === 'early'))
  asked.abort()
  await assert.rejects(submit)
  stream.close()
})

test('a day order that is left at the close is reported as expired, a refused one as rejected', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const stream = await StreamClient.ofOrders(client)
  const order = await client.placed()
  await control(brokerage, 'PUT', '/market', { phase: 'closed', class: 'share' })
  await stream.waitForUpdates(order.id, 'expired')
  await control(brokerage, 'PUT', '/market', { phase: 'open', class: 'share' })
  refuses(await client.place({ qty: '100000', limit_price: '500' }), 403, 40310000, /buying power/)
  await control(brokerage, 'POST', '/faults', { on: 'orders.submit', do: 'refuse_later', times: 1 })
  const { id } = await client.placed()
  await stream.waitForUpdates(id, 'new', 'rejected')
  assert.equal(
    stream.updates.filter(({ event }) => event === 'rejected').length,
    1,
    'what was refused in the response is not reported again'
  )
  assert.equal((await client.ok('GET', `/v2/orders/${id}`)).status, 'rejected')
  stream.close()
})

test('where the sandbox is slow a cancel is pending first, and rejected when the order fills meanwhile', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const stream = await StreamClient.ofOrders(client)
  await control(brokerage, 'POST', '/faults', { on: 'orders.cancel', do: 'slow', ms: 300 })
  const first = await client.placed()
  assert.equal((await client.call('DELETE', `/v2/orders/${first.id}`)).status, 204)
  assert.equal((await client.ok('GET', `/v2/orders/${first.id}`)).status, 'pending_cancel')
  refuses(await client.call('DELETE', `/v2/orders/${first.id}`), 422, 42210000, /pending cancel/)
  refuses(await client.call('PATCH', `/v2/orders/${first.id}`, { qty: '1' }), 422, 42210000, /order is pending cancel/)
  assert.deepEqual(
    (await stream.waitForUpdates(first.id, 'canceled')).map(({ event }) => event),
    ['pending_new', 'new', 'pending_cancel', 'canceled']
  )
  const second = await client.placed()
  await client.call('DELETE', `/v2/orders/${second.id}`)
  await control(brokerage, 'PUT', '/market/SPY', { bids: [['485', '5']], asks: [['485.01', '50']] })
  const events = (await stream.waitForUpdates(second.id, 'order_cancel_rejected')).map(({ event, order }) => [event, order.status])
  assert.deepEqual(events.slice(-3), [
    ['pending_cancel', 'pending_cancel'],
    ['fill', 'filled'],
    ['order_cancel_rejected', 'filled']
  ])
  stream.close()
})

test('where the sandbox is slow a replacement has its id at once and becomes an order later', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const stream = await StreamClient.ofOrders(client)
  await control(brokerage, 'POST', '/faults', { on: 'orders.amend', do: 'slow', ms: 300, times: 1 })
  const old = await client.placed()
  const promised = await client.ok('PATCH', `/v2/orders/${old.id}`, { qty: '4', limit_price: '480', client_order_id: 'promised' })
  assert.deepEqual([promised.status, promised.replaces, promised.qty, promised.limit_price], ['pending_new', old.id, '4', '480'])
  assert.equal((await client.ok('GET', `/v2/orders/${old.id}`)).status, 'pending_replace')
  assert.deepEqual(await client.ok('GET', `/v2/orders/${promised.id}`), promised)
  assert.deepEqual(await client.ok('GET', '/v2/orders:by_client_order_id?client_order_id=promised'), promised)
  refuses(await client.place({ client_order_id: 'promised' }), 422, 40010001, /must be unique/)
  await stream.waitForUpdates(promised.id, 'new')
  await stream.waitForUpdates(old.id, 'pending_replace', 'replaced')
  const next = await client.ok('GET', `/v2/orders/${promised.id}`)
  assert.deepEqual([next.status, next.qty, next.limit_price, next.client_order_id, next.replaces], ['new', '4', '480', 'promised', old.id])
  assert.equal((await client.ok('GET', `/v2/orders/${old.id}`)).replaced_by, promised.id)
  assert.equal((await client.call('DELETE', `/v2/orders/${promised.id}`)).status, 204)
  stream.close()
})

test('a replacement that comes too late is rejected, and the old order fills', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const stream = await StreamClient.ofOrders(client)
  await control(brokerage, 'POST', '/faults', { on: 'orders.amend', do: 'slow', ms: 300, times: 1 })
  const old = await client.placed()
  const promised = await client.ok('PATCH', `/v2/orders/${old.id}`, { limit_price: '480', qty: '10' })
  await control(brokerage, 'PUT', '/market/SPY', { bids: [['485', '5']], asks: [['485.01', '50']] })
  const events = (await stream.waitForUpdates(old.id, 'order_replace_rejected')).map(({ event, order }) => [event, order.status])
  assert.deepEqual(events.slice(-3), [
    ['pending_replace', 'pending_replace'],
    ['fill', 'filled'],
    ['order_replace_rejected', 'filled']
  ])
  await stream.waitForUpdates(promised.id, 'rejected')
  assert.equal((await client.ok('GET', `/v2/orders/${promised.id}`)).status, 'rejected')
  refuses(await client.call('DELETE', `/v2/orders/${promised.id}`), 422, 42210000, /already in "rejected" state/)
  stream.close()
})

test('an end of the grant ends the stream; so does a vanished line, and others go on', async () => {
  await using brokerage = await openBrokerage()
  const [alex, robin] = [await Client.of(brokerage), await Client.of(brokerage, 'robin')]
  const [first, second, other] = [await StreamClient.ofOrders(alex), await StreamClient.ofOrders(alex), await StreamClient.ofOrders(robin)]
  const { items } = await control(brokerage, 'GET', '/streams')
  assert.deepEqual(
    items.filter(({ dialect }: Wire) => dialect === 'alpaca').map(({ on, waiting }: Wire) => [on, waiting.length]),
    [
      ['account', 2],
      ['account', 1]
    ]
  )
  second.close()
  const { id } = await alex.buy('1')
  await first.waitForUpdates(id, 'fill')
  await control(brokerage, 'POST', '/logins/alex/revoke')
  await first.until((_messages, stream) => stream.closed === 1008)
  const order = await robin.buy('1')
  await other.waitForUpdates(order.id, 'fill')
  assert.ok(
    other.updates.every(update => update.order.id === order.id),
    'no client receives the orders of others'
  )
  other.close()
})
