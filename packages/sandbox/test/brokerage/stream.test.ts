import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startBrokerage } from '../../src/brokerage/start.ts'
import { Customer, control, eventually, Listener, openBrokerage, SECRET, type Wire } from './support.ts'

const inOrder = (events: readonly Wire[]) => events.every(({ seq }, nth) => nth === 0 || seq === events[nth - 1].seq + 1)

test('the events of an order are reported in order, without a gap', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  const stream = await Listener.of(alex)
  assert.equal(stream.ready.resumed, false)
  assert.deepEqual(
    stream.ready.accounts,
    alex.accounts.map(({ id }) => id)
  )
  const { order } = (await alex.buy('3', { client_order_id: 'streamed' })).body
  await stream.until(() => stream.events.some(({ ev }) => ev === 'balance'))
  const kinds = stream.events.map(({ ev }) => ev)
  assert.equal(kinds[0], 'order')
  assert.ok(kinds.indexOf('fill') < kinds.indexOf('position') && kinds.indexOf('position') < kinds.indexOf('balance'))
  assert.ok(inOrder(stream.events))
  assert.equal(stream.events[0].seq, stream.ready.seq + 1)
  assert.deepEqual(stream.events.findLast(({ ev }) => ev === 'order').order, order)
  const fills = stream.events.filter(({ ev }) => ev === 'fill')
  assert.deepEqual(
    fills.map(({ fill }) => fill),
    order.fills
  )
  assert.equal(fills[0].client_order_id, 'streamed')
  assert.equal(stream.events.find(({ ev }) => ev === 'position').position.quantity, '3')
})

test('a closed position is reported with quantity 0', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  await alex.buy('3')
  const stream = await Listener.of(alex)
  await alex.buy('3', { direction: 'sell' })
  await stream.until(() => stream.events.some(({ ev }) => ev === 'position'))
  const { position } = stream.events.findLast(({ ev }) => ev === 'position')
  assert.deepEqual([position.symbol, position.quantity], ['SPY', '0'])
})

test('events go only to the streams of their login, and to all of them equally', async () => {
  await using brokerage = await openBrokerage()
  const [alex, robin] = [await Customer.of(brokerage), await Customer.of(brokerage, 'robin')]
  const [one, two, other] = [await Listener.of(alex), await Listener.of(alex), await Listener.of(robin)]
  await alex.submit()
  await robin.submit()
  for (const stream of [one, two, other]) await stream.until(() => stream.events.some(({ ev }) => ev === 'balance'))
  assert.deepEqual(one.events, two.events)
  const accounts = new Set(other.events.map(event => event.order?.account ?? event.balance?.account ?? event.position?.account))
  assert.deepEqual([...accounts], [robin.account('margin')])
})

test('a stream resumes where another ended', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  const first = await Listener.of(alex)
  await alex.submit({ client_order_id: 'seen' })
  await first.until(() => first.events.length >= 2)
  const { epoch } = first.ready
  const after = first.events[0].seq
  first.close()
  await alex.submit({ client_order_id: 'missed' })
  const second = await Listener.of(alex, { epoch, after })
  assert.equal(second.ready.resumed, true)
  await second.until(() => second.events.at(-1)?.seq === second.ready.seq)
  assert.equal(second.events[0].seq, after + 1)
  assert.ok(inOrder(second.events))
  assert.ok(second.events.some(({ order }) => order?.client_order_id === 'missed'))
  await alex.submit({ client_order_id: 'live' })
  await second.until(() => second.events.some(({ order }) => order?.client_order_id === 'live'))
  assert.ok(inOrder(second.events))
})

test('a position that cannot be resumed is reported as such', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  const first = await Listener.of(alex)
  await alex.submit()
  await first.until(() => first.events.length > 0)
  for (const resume of [
    { epoch: 'another', after: 0 },
    { epoch: first.ready.epoch, after: 10_000 }
  ]) {
    const second = await Listener.of(alex, resume)
    assert.equal(second.ready.resumed, false)
    assert.deepEqual(second.events, [])
  }
})

test('heartbeats have the last number, and pings are answered', async () => {
  await using brokerage = await openBrokerage({ heartbeatMs: 50 })
  const alex = await Customer.of(brokerage)
  const stream = await Listener.of(alex)
  assert.equal(stream.ready.heartbeat_ms, 50)
  await alex.submit()
  await stream.until(() => stream.events.length > 0 && stream.messages.at(-1)?.ev === 'heartbeat')
  assert.equal(stream.messages.at(-1).seq, stream.events.at(-1)?.seq)
  stream.send({ op: 'ping', n: 7 })
  await stream.until(messages => messages.some(({ ev, n }) => ev === 'pong' && n === 7))
})

test('without a valid token there is no stream', async () => {
  await using brokerage = await openBrokerage()
  for (const message of [{ op: 'login', token: 'wrong' }, { op: 'ping' }]) {
    const stream = await Listener.open(brokerage)
    stream.send(message)
    await stream.until(() => stream.closed !== undefined)
    assert.equal(stream.messages[0].ev, 'denied')
    assert.equal(stream.closed, 4001)
  }
})

test('malformed and oversized messages end the stream, not the sandbox', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  for (const [message, code] of [
    ['{', 1008],
    [{ op: 'dance' }, 1008],
    [{ op: 'login', token: 'x', extra: 1 }, 1008],
    [{ op: 'login', token: 'x'.repeat(20_000) }, 1009]
  ] as const) {
    const stream = await Listener.open(brokerage)
    stream.send(message)
    await stream.until(() => stream.closed !== undefined)
    assert.equal(stream.closed, code)
  }
  assert.equal((await alex.call('GET', '/me')).status, 200)
})

test('the end of a grant ends its streams', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  const stream = await Listener.of(alex)
  await control(brokerage, 'POST', '/logins/alex/revoke')
  await stream.until(() => stream.closed !== undefined)
  assert.equal(stream.closed, 4003)
})

test('an expired token ends the stream after a minute, a new one keeps it open', async () => {
  let now = Date.now()
  await using brokerage = await startBrokerage({ clientSecret: SECRET, accessTtlS: 5, heartbeatMs: 50 }, { realNow: () => now })
  const [careless, careful] = [await Customer.of(brokerage), await Customer.of(brokerage)]
  const [dies, lives] = [await Listener.of(careless), await Listener.of(careful)]
  now += 60_000
  lives.send({ op: 'token', token: (await Customer.of(brokerage)).token })
  await lives.until(messages => messages.some(({ ev }) => ev === 'token_ok'))
  now += 6_000
  await dies.until(() => dies.closed !== undefined)
  assert.equal(dies.closed, 4003)
  assert.equal(lives.closed, undefined)
})

test('the twenty-first stream of a login is denied', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  for (let nth = 0; nth < 20; nth++) await Listener.of(alex)
  const more = await Listener.of(alex)
  assert.equal(more.messages[0].code, 'too_many_streams')
})

test('a reader that does not read is disconnected, and others are not delayed', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  const [lazy, eager] = [await Listener.of(alex), await Listener.of(alex)]
  lazy.pause()
  const open = async () => (await control(brokerage, 'GET', '/streams')).items[0]?.waiting.length
  assert.equal(await open(), 2)
  let placed = 0
  while ((await open()) === 2 && placed < 20_000) {
    const wave = Array.from({ length: 100 }, () => alex.submit({ quantity: '1', limit: '1.00', lifetime: 'ioc' }))
    placed += wave.length
    await Promise.all(wave)
  }
  assert.equal(await eventually(open, count => count === 1), 1)
  assert.ok(inOrder(eager.events))
  assert.equal(eager.closed, undefined)
})

test('an upgrade to any other path is refused', async () => {
  await using brokerage = await openBrokerage()
  const { WebSocket } = await import('ws')
  for (const path of ['/', '/stream', '/api/v1/orders']) {
    const status = await new Promise(resolve => {
      const socket = new WebSocket(`${brokerage.url.replace('http', 'ws')}${path}`)
      socket.on('unexpected-response', (_request, answer) => resolve(answer.statusCode))
      socket.on('error', () => undefined)
    })
    assert.equal(status, 404)
  }
})
