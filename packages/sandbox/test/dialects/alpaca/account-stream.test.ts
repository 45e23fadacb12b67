import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pack } from '../../../src/dialects/alpaca/msgpack.ts'
import { control, type Wire } from '../../house/support.ts'
import { Client, Line, openHouse, refuses } from './support.ts'

test('the stream is silent until somebody has authenticated and listens', async () => {
  await using house = await openHouse()
  const client = await Client.of(house)
  const line = await Line.open(house, '/api/stream')
  line.say({ action: 'listen', data: { streams: ['trade_updates'] } })
  line.say({ action: 'authenticate', data: { oauth_token: 'stranger' } })
  line.say({ action: 'authenticate', data: { key_id: client.keys.key_id, secret_key: client.keys.secret_key } })
  line.say('nonsense')
  await line.until(messages => messages.length === 4)
  assert.deepEqual(line.messages, [
    { stream: 'authorization', data: { status: 'unauthorized', action: 'listen' } },
    { stream: 'authorization', data: { status: 'unauthorized', action: 'authenticate' } },
    { stream: 'authorization', data: { status: 'authorized', action: 'authenticate' } },
    { stream: 'error', data: { error_message: 'invalid command' } }
  ])
  await client.buy('1')
  line.say({ action: 'listen', data: { streams: ['trade_updates', 'account_updates'] } })
  await line.until(messages => messages.length === 5)
  assert.deepEqual(line.messages[4], { stream: 'listening', data: { streams: ['trade_updates'] } })
  const { id } = await client.buy('1')
  await line.hears(id, 'fill')
  assert.ok(
    line.updates.every(({ order }) => order.id === id),
    'nothing of before is told'
  )
  line.say({ action: 'listen', data: { streams: [] } })
  await line.until(messages => messages.at(-1).stream === 'listening')
  const told = line.updates.length
  await client.buy('1')
  line.say({ action: 'listen', data: { streams: ['trade_updates'] } })
  await line.until(messages => messages.at(-1).data.streams?.length === 1)
  assert.equal(line.updates.length, told, 'listen replaces what was listened to before')
  line.close()
})

test('the newer words of authentication are understood too', async () => {
  await using house = await openHouse()
  const { keys, token } = await Client.of(house)
  for (const [key, secret] of [
    [keys.key_id, keys.secret_key],
    ['oauth', token]
  ]) {
    const line = await Line.open(house, '/api/stream')
    line.say({ action: 'auth', key, secret })
    await line.until(messages => messages.length === 1)
    assert.deepEqual(line.messages[0].data, { status: 'authorized', action: 'auth' })
    line.close()
  }
})

test('an order is told from its coming to its end, each execution with its own id, price and quantity', async () => {
  await using house = await openHouse()
  const client = await Client.of(house)
  const line = await Line.ofOrders(client)
  await control(house, 'PUT', '/market/SPY', {
    bids: [['499.99', '5']],
    asks: [
      ['500.01', '4'],
      ['500.02', '50']
    ]
  })
  const { id } = await client.buy('10')
  const heard = await line.hears(id, 'fill')
  assert.deepEqual(
    heard.map(({ event, price, qty, position_qty, order }) => [event, order.status, order.filled_qty, price, qty, position_qty]),
    [
      ['pending_new', 'pending_new', '0', undefined, undefined, undefined],
      ['new', 'new', '0', undefined, undefined, undefined],
      ['partial_fill', 'partially_filled', '4', '500.01', '4', '4'],
      ['fill', 'filled', '10', '500.02', '6', '10']
    ]
  )
  assert.ok(
    line.binary.every(isBinary => isBinary),
    'frames are binary'
  )
  const ids = heard.slice(1).map(({ execution_id: execution }) => execution)
  assert.equal(new Set(ids).size, 3, 'even `new` may carry an execution id')
  const fills = await client.ok('GET', '/v2/account/activities/FILL?direction=asc')
  assert.deepEqual(
    fills.map((row: Wire) => row.id.split('::')[1]),
    ids.slice(1),
    'the activity of a fill has its execution id'
  )
  assert.equal(heard.at(-1)?.order.filled_avg_price, '500.016')
  const eventIds = heard.map(({ event_id: event }) => event)
  assert.deepEqual(eventIds, eventIds.toSorted())
  line.close()
})

test('what is told of an order is told before its submit is answered', async () => {
  await using house = await openHouse()
  const client = await Client.of(house)
  const line = await Line.ofOrders(client)
  await control(house, 'POST', '/faults', { on: 'orders.submit', do: 'delay', ms: 60_000, after: true, times: 1 })
  const asked = new AbortController()
  const submit = fetch(`${house.url}/alpaca/api/v2/orders`, {
    method: 'POST',
    signal: asked.signal,
    headers: { ...client.headers, 'content-type': 'application/json' },
    body: JSON.stringify({ symbol: 'SPY', qty: '1', side: 'buy', type: 'market', time_in_force: 'day', client_order_id: 'early' })
  })
  await line.until(() => line.updates.some(({ event, order }) => event === 'fill' && order.client_order_id === 'early'))
  asked.abort()
  await assert.rejects(submit)
  line.close()
})

test('a replacement is told as a new order and the old one as replaced', async () => {
  await using house = await openHouse()
  const client = await Client.of(house)
  const line = await Line.ofOrders(client)
  const old = await client.placed()
  const next = await client.ok('PATCH', `/v2/orders/${old.id}`, { qty: '5' })
  const [replaced] = (await line.hears(old.id, 'replaced')).slice(-1)
  assert.deepEqual([replaced.order.status, replaced.order.replaced_by], ['replaced', next.id])
  const [fresh] = (await line.hears(next.id, 'new')).slice(-1)
  assert.deepEqual([fresh.order.replaces, fresh.order.qty], [old.id, '5'])
  await client.ok('DELETE', `/v2/orders/${next.id}`)
  const [over] = (await line.hears(next.id, 'canceled')).slice(-1)
  assert.equal(over.order.status, 'canceled')
  line.close()
})

test('a day order that is left at the close is told as expired, one turned down as rejected', async () => {
  await using house = await openHouse()
  const client = await Client.of(house)
  const line = await Line.ofOrders(client)
  const order = await client.placed()
  await control(house, 'PUT', '/market', { phase: 'closed', class: 'share' })
  await line.hears(order.id, 'expired')
  await control(house, 'PUT', '/market', { phase: 'open', class: 'share' })
  refuses(await client.place({ qty: '100000', limit_price: '500' }), 403, 40310000, /buying power/)
  await control(house, 'POST', '/faults', { on: 'orders.submit', do: 'refuse_later', times: 1 })
  const { id } = await client.placed()
  await line.hears(id, 'new', 'rejected')
  assert.equal(line.updates.filter(({ event }) => event === 'rejected').length, 1, 'what was refused in the answer is not told again')
  assert.equal((await client.ok('GET', `/v2/orders/${id}`)).status, 'rejected')
  line.close()
})

test('where the house is slow a cancel is pending first, and rejected when the order fills meanwhile', async () => {
  await using house = await openHouse()
  const client = await Client.of(house)
  const line = await Line.ofOrders(client)
  await control(house, 'POST', '/faults', { on: 'orders.cancel', do: 'slow', ms: 300 })
  const first = await client.placed()
  assert.equal((await client.call('DELETE', `/v2/orders/${first.id}`)).status, 204)
  assert.equal((await client.ok('GET', `/v2/orders/${first.id}`)).status, 'pending_cancel')
  refuses(await client.call('DELETE', `/v2/orders/${first.id}`), 422, 42210000, /pending cancel/)
  refuses(
    await client.call('PATCH', `/v2/orders/${first.id}`, { qty: '1' }),
    422,
    42210000,
    /cannot replace order in pending_cancel status/
  )
  assert.deepEqual(
    (await line.hears(first.id, 'canceled')).map(({ event }) => event),
    ['pending_new', 'new', 'pending_cancel', 'canceled']
  )
  const second = await client.placed()
  await client.call('DELETE', `/v2/orders/${second.id}`)
  await control(house, 'PUT', '/market/SPY', { bids: [['485', '5']], asks: [['485.01', '50']] })
  const events = (await line.hears(second.id, 'order_cancel_rejected')).map(({ event, order }) => [event, order.status])
  assert.deepEqual(events.slice(-3), [
    ['pending_cancel', 'pending_cancel'],
    ['fill', 'filled'],
    ['order_cancel_rejected', 'filled']
  ])
  line.close()
})

test('where the house is slow a replacement has its id at once and becomes an order later', async () => {
  await using house = await openHouse()
  const client = await Client.of(house)
  const line = await Line.ofOrders(client)
  await control(house, 'POST', '/faults', { on: 'orders.amend', do: 'slow', ms: 300, times: 1 })
  const old = await client.placed()
  const promised = await client.ok('PATCH', `/v2/orders/${old.id}`, { qty: '4', limit_price: '480', client_order_id: 'promised' })
  assert.deepEqual([promised.status, promised.replaces, promised.qty, promised.limit_price], ['pending_new', old.id, '4', '480'])
  assert.equal((await client.ok('GET', `/v2/orders/${old.id}`)).status, 'pending_replace')
  assert.deepEqual(await client.ok('GET', `/v2/orders/${promised.id}`), promised)
  assert.deepEqual(await client.ok('GET', '/v2/orders:by_client_order_id?client_order_id=promised'), promised)
  refuses(await client.place({ client_order_id: 'promised' }), 422, 40010001, /must be unique/)
  await line.hears(promised.id, 'new')
  await line.hears(old.id, 'pending_replace', 'replaced')
  const next = await client.ok('GET', `/v2/orders/${promised.id}`)
  assert.deepEqual([next.status, next.qty, next.limit_price, next.client_order_id, next.replaces], ['new', '4', '480', 'promised', old.id])
  assert.equal((await client.ok('GET', `/v2/orders/${old.id}`)).replaced_by, promised.id)
  assert.equal((await client.call('DELETE', `/v2/orders/${promised.id}`)).status, 204)
  line.close()
})

test('a replacement that comes too late is rejected, and the old order fills', async () => {
  await using house = await openHouse()
  const client = await Client.of(house)
  const line = await Line.ofOrders(client)
  await control(house, 'POST', '/faults', { on: 'orders.amend', do: 'slow', ms: 300, times: 1 })
  const old = await client.placed()
  const promised = await client.ok('PATCH', `/v2/orders/${old.id}`, { limit_price: '480', qty: '10' })
  await control(house, 'PUT', '/market/SPY', { bids: [['485', '5']], asks: [['485.01', '50']] })
  const events = (await line.hears(old.id, 'order_replace_rejected')).map(({ event, order }) => [event, order.status])
  assert.deepEqual(events.slice(-3), [
    ['pending_replace', 'pending_replace'],
    ['fill', 'filled'],
    ['order_replace_rejected', 'filled']
  ])
  await line.hears(promised.id, 'rejected')
  assert.equal((await client.ok('GET', `/v2/orders/${promised.id}`)).status, 'rejected')
  refuses(await client.call('DELETE', `/v2/orders/${promised.id}`), 422, 42210000, /already in "rejected" state/)
  line.close()
})

test('an order of several legs is told with its legs', async () => {
  await using house = await openHouse()
  const client = await Client.of(house)
  const line = await Line.ofOrders(client)
  const { option_contracts: contracts } = await client.ok('GET', '/v2/options/contracts?underlying_symbols=SPY&type=call&limit=500')
  const near = contracts.filter(({ strike_price: strike }: Wire) => Number(strike) >= 490)
  const legs = near.slice(0, 2).map(({ symbol }: Wire, at: number) => {
    const side = at === 0 ? 'sell' : 'buy'
    return { symbol, ratio_qty: '1', side, position_intent: `${side}_to_open` }
  })
  const order = await client.ok('POST', '/v2/orders', { order_class: 'mleg', qty: '2', type: 'market', time_in_force: 'day', legs })
  const heard = (await line.hears(order.id, 'fill')).at(-1)
  assert.equal(heard.qty, '2')
  assert.deepEqual(
    heard.order.legs.map((leg: Wire) => [leg.symbol, leg.filled_qty, leg.qty]),
    legs.map(({ symbol }: Wire) => [symbol, '2', '2'])
  )
  const [first, second] = heard.order.legs
  assert.ok(
    Math.abs(Number(second.filled_avg_price) - Number(first.filled_avg_price) - Number(heard.price)) < 1e-6,
    'the price is what is paid, all in all'
  )
  line.close()
})

test('an end of the grant ends the stream; so does a vanished line, and others go on', async () => {
  await using house = await openHouse()
  const [alex, robin] = [await Client.of(house), await Client.of(house, 'robin')]
  const [first, second, other] = [await Line.ofOrders(alex), await Line.ofOrders(alex), await Line.ofOrders(robin)]
  const { items } = await control(house, 'GET', '/streams')
  assert.deepEqual(
    items.filter(({ dialect }: Wire) => dialect === 'alpaca').map(({ on, waiting }: Wire) => [on, waiting.length]),
    [
      ['account', 2],
      ['account', 1]
    ]
  )
  second.close()
  const { id } = await alex.buy('1')
  await first.hears(id, 'fill')
  await control(house, 'POST', '/logins/alex/revoke')
  await first.until((_messages, line) => line.closed === 1008)
  const order = await robin.buy('1')
  await other.hears(order.id, 'fill')
  assert.ok(
    other.updates.every(update => update.order.id === order.id),
    'nobody is told of the orders of others'
  )
  other.close()
})

test('streams misbehave when told to, the answers to pings included', async () => {
  await using house = await openHouse()
  const client = await Client.of(house)
  const line = await Line.ofOrders(client)
  const order = (what: Wire) => control(house, 'POST', '/streams', { dialect: 'alpaca', login: 'alex', ...what })
  line.ping()
  await line.until((_messages, { pongs }) => pongs === 1)
  assert.equal((await order({ do: 'mute' })).streams, 1)
  line.ping()
  await client.buy('1')
  await order({ do: 'normal' })
  line.ping()
  await line.until((_messages, { pongs }) => pongs === 2)
  assert.equal(line.updates.length, 0)
  await order({ do: 'duplicate', times: 1 })
  const twice = await client.buy('1')
  const heard = await line.hears(twice.id, 'fill')
  assert.equal(heard.filter(({ event }) => event === 'pending_new').length, 2)
  await order({ do: 'drop', code: 4500 })
  await line.until((_messages, { closed }) => closed === 4500)
})

test('whoever asks for MessagePack is told in it', async () => {
  await using house = await openHouse()
  const client = await Client.of(house)
  const line = await Line.open(house, '/api/stream', { packs: true, headers: { 'content-type': 'application/msgpack' } })
  line.sayBytes(pack({ action: 'authenticate', data: { oauth_token: client.token } }))
  line.sayBytes(pack({ action: 'listen', data: { streams: ['trade_updates'] } }))
  await line.until(messages => messages.length === 2)
  const { id } = await client.buy('1')
  await line.hears(id, 'fill')
  line.close()
})
