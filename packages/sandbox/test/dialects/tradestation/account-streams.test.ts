import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Brokerage } from '../../../src/brokerage/start.ts'
import { control, eventually, type Wire } from '../../brokerage/support.ts'
import { Client, openBrokerage, Stream, taken } from './support.ts'

const orders = (client: Client) => `/brokerage/stream/accounts/${client.account()}/orders`
const positions = (client: Client) => `/brokerage/stream/accounts/${client.account()}/positions`
const statuses = (frames: readonly Wire[]) => frames.map(({ Status }) => Status)

test('the order stream begins with today’s orders, then sends every change', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const old = taken(await client.place())
  await client.cancel(old)
  const open = taken(await client.place())
  await using stream = await Stream.live(client, orders(client))
  assert.equal(stream.headers.get('content-type'), 'application/vnd.tradestation.streams.v3+json')
  const snapshot = stream.received.slice(0, 2).map(({ OrderID, Status }) => [OrderID, Status])
  assert.deepEqual(Object.fromEntries(snapshot), { [open]: 'ACK', [old]: 'OUT' })
  const id = taken(await client.place({ OrderType: 'StopLimit', StopPrice: '501', LimitPrice: '502' }))
  await control(brokerage, 'PUT', '/market/SPY', { price: '501.00' })
  await stream.until(() => stream.publisher.some(({ Status }) => Status === 'FLL'))
  assert.deepEqual(statuses(stream.publisher), ['OPN', 'ACK', 'STP', 'ACK', 'FLL'])
  assert.ok(stream.publisher[2].ClosedDateTime, 'a stop that was hit has a closing time and lives on')
  assert.ok(stream.publisher.every(({ OrderID }) => OrderID === id))
  assert.equal(stream.publisher.at(-1).Legs[0].ExecQuantity, '10')
  assert.ok(stream.publisher.at(-1).ClosedDateTime)
  await client.cancel(open)
  await stream.until(() => stream.publisher.some(({ Status }) => Status === 'OUT'))
  assert.deepEqual(statuses(stream.publisher.slice(5)), ['UCN', 'OUT'])
})

test('a refused order is reported as sent, then rejected', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  await using stream = await Stream.live(client, orders(client))
  await client.place({ Quantity: '100000' })
  await stream.until(() => stream.publisher.length >= 2)
  assert.deepEqual(statuses(stream.publisher), ['OPN', 'REJ'])
  assert.match(stream.publisher[1].RejectReason, /buying power/)
})

test('oddities: a fill before its status, an end without its time, a replace that shows the end of the old terms', async () => {
  await using brokerage = await openBrokerage({ options: { oddityChance: 256 } })
  const client = await Client.of(brokerage)
  await using stream = await Stream.live(client, orders(client))
  const id = taken(await client.place())
  await client.change(id, { LimitPrice: '491' })
  await client.cancel(id)
  await client.trade('BUY', '1')
  await stream.until(() => stream.publisher.some(({ Status }) => Status === 'FLL'))
  const received = stream.publisher.map(({ Status, LimitPrice = null, ClosedDateTime, Legs: [leg] }) => [
    Status,
    LimitPrice,
    ClosedDateTime !== undefined,
    leg.ExecQuantity
  ])
  assert.deepEqual(received, [
    ['OPN', '490', false, '0'],
    ['ACK', '490', false, '0'],
    ['RSN', '490', false, '0'],
    ['OUT', '490', false, '0'],
    ['ACK', '491', false, '0'],
    ['UCN', '491', false, '0'],
    ['OUT', '491', false, '0'],
    ['OUT', '491', true, '0'],
    ['OPN', null, false, '0'],
    ['ACK', null, false, '0'],
    ['ACK', null, false, '1'],
    ['FLL', null, true, '1']
  ])
})

test('accounts of other customers: 403 alone, an error frame beside one’s own', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const robin = (await Client.of(brokerage, 'robin')).account()
  await using none = await Stream.open(client, `/brokerage/stream/accounts/${robin}/orders`)
  assert.equal(none.status, 403)
  await using stream = await Stream.live(client, `/brokerage/stream/accounts/${client.account()},${robin}/orders`)
  assert.deepEqual([stream.received[0].Error, stream.received[0].AccountID], ['Forbidden', robin])
})

test('frames are cut across chunks, and joined in chunks', async () => {
  await using brokerage = await openBrokerage({ options: { cutChance: 256 } })
  const client = await Client.of(brokerage)
  await using stream = await Stream.live(client, orders(client))
  for (let nth = 0; nth < 10; nth++) taken(await client.place())
  await stream.until(() => stream.publisher.length >= 20)
  assert.ok(
    stream.chunks.some(chunk => !chunk.endsWith('\r\n')),
    'a chunk ends within a frame'
  )
  assert.ok(
    stream.chunks.some(chunk => chunk.split('\r\n').length > 2),
    'a chunk has more than one frame'
  )
  assert.ok(stream.frames.every(({ unreadable }) => unreadable === undefined))
})

test('heartbeats, and none on a muted stream', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  await using stream = await Stream.live(client, orders(client))
  await stream.until(frames => frames.filter(({ Heartbeat }) => Heartbeat !== undefined).length >= 3)
  const beats = stream.frames.filter(({ Heartbeat }) => Heartbeat !== undefined)
  assert.deepEqual(
    beats.slice(0, 3).map(({ Heartbeat }) => Heartbeat),
    [1, 2, 3]
  )
  assert.match(beats[0].Timestamp, /Z$/)
  await faults(brokerage, { do: 'mute' })
  const before = stream.frames.length
  taken(await client.place())
  await using other = await Stream.open(client, positions(client))
  await faults(brokerage, { do: 'normal' })
  await other.until(frames => frames.length > 0)
  assert.ok(
    stream.frames.slice(before).every(({ OrderID }) => OrderID === undefined),
    'what happened while mute is lost'
  )
})

test('injected ends: reset, GoAway, errors, a plain end', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const ends: readonly (readonly [code: number | null, how: string, last: Wire])[] = [
    [null, 'broken', undefined],
    [1000, 'ended', undefined],
    [1001, 'ended', { StreamStatus: 'GoAway' }],
    [1011, 'ended', 'InternalServerError'],
    [4403, 'ended', 'Forbidden'],
    [4503, 'ended', 'ServiceUnavailable'],
    [4504, 'ended', 'GatewayTimeout'],
    [1013, 'ended', 'Failed']
  ]
  for (const [code, how, last] of ends) {
    await using stream = await Stream.live(client, orders(client))
    assert.equal((await faults(brokerage, { do: 'drop', ...(code === null ? {} : { code }) })).streams, 1)
    await stream.until(() => stream.closed !== null)
    assert.equal(stream.closed, how, String(code))
    const [received] = stream.publisher
    if (typeof last === 'string') assert.equal(received.Error, last)
    else assert.deepEqual(received, last)
  }
})

test('the limit on open streams of one kind', async () => {
  await using brokerage = await openBrokerage({ options: { streamPercent: 5 } })
  const client = await Client.of(brokerage)
  const first = await Stream.live(client, orders(client))
  await using second = await Stream.live(client, orders(client))
  assert.equal(second.status, 200)
  const { status, body } = await client.get(orders(client))
  assert.deepEqual([status, body], [429, { Error: 'TooManyRequests', Message: 'Stream quota exceeded' }])
  await using other = await Stream.live(client, positions(client))
  assert.equal(other.status, 200)
  await first[Symbol.asyncDispose]()
  // The sandbox learns of a reader that has gone when its connection closes.
  await using third = await eventually(
    () => Stream.open(client, orders(client)),
    ({ status: answered }) => answered === 200
  )
  assert.equal(third.status, 200)
  const { items } = await control(brokerage, 'GET', '/streams')
  assert.ok(items.some(({ dialect, on }: Wire) => dialect === 'tradestation' && on === 'account'))
})

test('a stream can be refused; an open one outlives its token', async () => {
  let now = Date.UTC(2026, 9, 12, 15)
  await using brokerage = await openBrokerage({ deps: { realNow: () => now } })
  const client = await Client.of(brokerage)
  await control(brokerage, 'POST', '/faults', { on: 'stream.connect', do: 'status', status: 503, times: 1 })
  assert.equal((await client.get(orders(client))).body.Error, 'ServiceUnavailable')
  await control(brokerage, 'POST', '/faults', { on: 'stream.connect', do: 'reset', times: 1 })
  await assert.rejects(client.get(orders(client)))
  await using stream = await Stream.live(client, orders(client))
  now += 1_300_000
  assert.equal((await client.get('/brokerage/accounts')).status, 401)
  const fresh = await Client.of(brokerage)
  taken(await fresh.place())
  await stream.until(() => stream.publisher.length >= 2)
  await control(brokerage, 'POST', '/logins/alex/revoke', {})
  await stream.until(() => stream.closed !== null)
})

test('GoAway on shutdown', async () => {
  const brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  await using stream = await Stream.live(client, orders(client))
  await brokerage.close()
  await stream.until(() => stream.closed !== null)
  assert.deepEqual(stream.publisher.at(-1), { StreamStatus: 'GoAway' })
})

function faults(brokerage: Brokerage, order: Wire): Promise<Wire> {
  return control(brokerage, 'POST', '/streams', { dialect: 'tradestation', on: 'account', ...order })
}
