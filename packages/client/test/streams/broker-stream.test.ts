import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Update } from '../../src/streams/broker/items.ts'
import { StreamError } from '../../src/streams/errors.ts'
import { began, caughtUp, next, streamOf, UNSUBSCRIBED, welcome } from './followed.ts'
import { orderUpdate } from './records.ts'
import { Network } from './scripted-socket.ts'

test('a user is followed from a snapshot on, and over a broken connection from the last update', async () => {
  const network = new Network()
  const items = streamOf(network).follow('ada')
  const first = welcome(network.last)
  assert.deepEqual(first.sentAs('authenticate')[0]?.client_secret, 'sk_secret')
  first.receive(began(7), orderUpdate(8))
  assert.deepEqual(await next(items, 3), ['begin 7', 'orders 8', 'live 8'])
  first.drop()
  network.pass(500)
  const second = welcome(network.last)
  assert.notEqual(first, second)
  // The last one is asked for again, and yielded once: its id shows that the log is the same.
  assert.equal(second.sentAs('subscribe_user')[0]?.after, 7)
  second.receive(began(7), orderUpdate(8), orderUpdate(9), caughtUp(9), orderUpdate(10))
  assert.deepEqual(await next(items, 4), ['interrupted', 'orders 9', 'orders 10', 'live 10'])
})

test('updates that arrive while the reader reads its snapshot come before live', async () => {
  const network = new Network()
  const items = streamOf(network).follow('ada')
  welcome(network.last).receive(began(1))
  assert.deepEqual(await next(items, 1), ['begin 1'])
  network.last.receive(orderUpdate(2), orderUpdate(3))
  assert.deepEqual(await next(items, 3), ['orders 2', 'orders 3', 'live 3'])
})

test('a missing number ends the session, and the next one resumes before it', async () => {
  const network = new Network()
  const items = streamOf(network).follow('ada', { after: 4 })
  const first = welcome(network.last)
  first.receive(began(4), orderUpdate(5), orderUpdate(7))
  assert.ok(first.isClosed)
  network.pass(500)
  const second = welcome(network.last)
  assert.equal(second.sentAs('subscribe_user')[0]?.after, 4)
  second.receive(began(4), orderUpdate(5), orderUpdate(6), orderUpdate(7), caughtUp(7))
  assert.deepEqual(await next(items, 5), ['interrupted', 'orders 5', 'orders 6', 'orders 7', 'live 7'])
})

test('what a closed socket still delivers is ignored', async () => {
  const network = new Network()
  const items = streamOf(network).follow('ada', { after: 0 })
  const first = welcome(network.last)
  first.receive(began(0), orderUpdate(2), orderUpdate(1))
  first.drop()
  network.pass(500)
  const second = welcome(network.last)
  assert.equal(second.sentAs('subscribe_user')[0]?.after, 0)
  second.receive(began(0), orderUpdate(1))
  assert.deepEqual(await next(items, 2), ['interrupted', 'orders 1'])
})

test('a reader that is behind is unsubscribed, and resumes when it has read what waits', async () => {
  const network = new Network()
  const items = streamOf(network, { waitingMax: 3 }).follow('ada', { after: 0 })
  const socket = welcome(network.last)
  socket.receive(began(0), ...[1, 2, 3, 4, 5].map(seq => orderUpdate(seq)))
  assert.equal(socket.sentAs('unsubscribe_user').length, 1)
  socket.receive(UNSUBSCRIBED)
  assert.deepEqual(await next(items, 4), ['interrupted', 'orders 1', 'orders 2', 'orders 3'])
  const rest = next(items, 3)
  assert.equal(socket.sentAs('subscribe_user').at(-1)?.after, 2)
  socket.receive(began(2), ...[3, 4, 5].map(seq => orderUpdate(seq)), caughtUp(5))
  assert.deepEqual(await rest, ['orders 4', 'orders 5', 'live 5'])
})

test('updates that the service does not replay are read from the log, in order', async () => {
  const network = new Network()
  const reads: number[] = []
  const readEvents = async function* (_: string, after: number): AsyncGenerator<Update> {
    reads.push(after)
    for (const seq of [3, 4, 5]) yield orderUpdate(seq)
  }
  const items = streamOf(network, { readEvents }).follow('ada', { after: 2 })
  const socket = welcome(network.last)
  socket.receive({ type: 'subscription_failed', user_id: 'ada', message: 'more than 10,000' })
  assert.deepEqual(await next(items, 3), ['orders 3', 'orders 4', 'orders 5'])
  const rest = next(items, 2)
  await new Promise(setImmediate)
  assert.equal(socket.sentAs('subscribe_user').at(-1)?.after, 4)
  socket.receive(began(4), orderUpdate(5), orderUpdate(6), caughtUp(6))
  assert.deepEqual(await rest, ['orders 6', 'live 6'])
  assert.deepEqual(reads, [2])
})

test('a log that no longer reaches back so far needs a new snapshot, and the reason is given', async () => {
  const network = new Network()
  const readEvents = async function* (): AsyncGenerator<Update> {
    yield orderUpdate(90)
  }
  const items = streamOf(network, { readEvents }).follow('ada', { after: 2 })
  const socket = welcome(network.last)
  socket.receive({ type: 'subscription_failed', user_id: 'ada', message: 'older than what is stored' })
  await new Promise(setImmediate)
  assert.deepEqual(socket.sentAs('subscribe_user').at(-1), { action: 'subscribe_user', user_id: 'ada' })
  socket.receive(began(95))
  assert.deepEqual((await items.next()).value, { type: 'begin', seq: 95, reason: 'older than what is stored' })
})

test('a log that cannot be read is read again', async () => {
  const network = new Network()
  let reads = 0
  const readEvents = async function* (): AsyncGenerator<Update> {
    reads += 1
    yield orderUpdate(3)
    if (reads === 1) throw new Error('no connection')
    yield orderUpdate(4)
  }
  const items = streamOf(network, { readEvents }).follow('ada', { after: 2 })
  const socket = welcome(network.last)
  const refused = { type: 'subscription_failed', user_id: 'ada', message: 'more than 10,000' }
  socket.receive(refused)
  assert.deepEqual(await next(items, 1), ['orders 3'])
  const rest = next(items, 2)
  await new Promise(setImmediate)
  network.pass(5_000)
  await new Promise(setImmediate)
  socket.receive(refused)
  assert.deepEqual(await rest, ['interrupted', 'orders 4'])
  assert.equal(reads, 2)
})

test('a subscription that the service cannot make just now is asked for again, and keeps its place', async () => {
  const network = new Network()
  const stream = streamOf(network)
  const [ada, bob] = [stream.follow('ada', { after: 2 }), stream.follow('bob')]
  const socket = welcome(network.last)
  const refused = (userId: string) => socket.receive({ type: 'subscription_failed', user_id: userId, message: 'not just now' })
  for (const waitMs of [1_000, 2_000]) {
    refused('ada')
    refused('bob')
    network.pass(waitMs)
  }
  assert.deepEqual(
    socket
      .sentAs('subscribe_user')
      .slice(-2)
      .map(({ user_id, after }) => [user_id, after]),
    [
      ['ada', 2],
      ['bob', undefined]
    ]
  )
  socket.receive(began(2), caughtUp(2), { type: 'user_subscribed', user_id: 'bob', seq: 4 })
  assert.deepEqual(
    [await next(ada, 2), await next(bob, 2)],
    [
      ['interrupted', 'live 2'],
      ['interrupted', 'begin 4']
    ]
  )
})

test('a user who cannot be followed ends the reader after five refusals', async () => {
  const network = new Network()
  const items = streamOf(network).follow('ada')
  const socket = welcome(network.last)
  for (let at = 0; at < 5; at += 1) {
    socket.receive({ type: 'subscription_failed', user_id: 'ada', message: 'There is no user with this user_id.' })
    network.pass(10_000)
    socket.receive({ type: 'pong' })
  }
  assert.equal(socket.sentAs('subscribe_user').length, 5)
  await assert.rejects(items.next(), { code: 'subscription_refused', message: 'There is no user with this user_id.' })
})

test('an error of REST that no repetition mends ends the reader', async () => {
  const network = new Network()
  const gone = Object.assign(new Error('There is no user with this user_id'), { retrySafe: false })
  const readEvents = async function* (): AsyncGenerator<Update> {
    yield await Promise.reject(gone)
  }
  const items = streamOf(network, { readEvents }).follow('ada', { after: 2 })
  welcome(network.last).receive({ type: 'subscription_failed', user_id: 'ada', message: '' })
  await assert.rejects(items.next(), gone)
})

test('three refusals of the credentials end every reader; two do not, also of one that begins afterwards', async () => {
  const network = new Network()
  const stream = streamOf(network)
  const [ada, bob] = [stream.follow('ada'), stream.follow('bob')]
  const refuse = (): void => {
    network.last.open()
    network.last.receive({ type: 'welcome' }, { type: 'auth_error', message: 'The client-id or the client-secret is wrong.' })
    network.pass(45_000)
  }
  for (const _ of [1, 2, 3]) refuse()
  const error = { code: 'credentials_refused', message: 'The client-id or the client-secret is wrong.' }
  await assert.rejects(ada.next(), error)
  await assert.rejects(bob.next(), error)
  assert.equal(network.sockets.length, 3)
  const again = stream.follow('ada')
  for (const _ of [1, 2, 3]) refuse()
  await assert.rejects(again.next(), error)
  assert.equal(network.sockets.length, 6)
})

test('a disabled platform is not connected again', async () => {
  const network = new Network()
  const items = streamOf(network).follow('ada')
  welcome(network.last).drop(4003, 'disabled')
  network.pass(60_000)
  assert.equal(network.sockets.length, 1)
  await assert.rejects(items.next(), new StreamError('ended_by_service', 'disabled'))
})

test('a silent service is asked for a sign of life after 15 seconds, and left after 30', () => {
  const network = new Network()
  void streamOf(network).follow('ada')
  const first = welcome(network.last)
  network.pass(15_000)
  assert.equal(first.sentAs('ping').length, 1)
  first.receive({ type: 'pong' })
  network.pass(25_000)
  assert.equal(network.sockets.length, 1)
  network.pass(5_500)
  assert.ok(first.isClosed)
  assert.equal(network.sockets.length, 2)
})

test('a page that was asleep asks for a sign of life before it gives a connection up', () => {
  const network = new Network()
  streamOf(network).follow('ada')
  const socket = welcome(network.last)
  network.sleep(60_000)
  network.pass(0)
  assert.deepEqual([socket.sentAs('ping').length, socket.isClosed], [1, false])
  socket.receive({ type: 'pong' })
  network.sleep(60_000)
  network.pass(5_000)
  assert.ok(socket.isClosed)
})

test('the wait between attempts doubles to 30 seconds, and is short again after a session that has lasted', () => {
  const network = new Network()
  void streamOf(network).follow('ada')
  const waits: number[] = []
  for (let at = 0; at < 9; at += 1) {
    const [sockets, sinceMs] = [network.sockets.length, network.nowMs()]
    network.last.drop()
    while (network.sockets.length === sockets) network.pass(250)
    waits.push(network.nowMs() - sinceMs)
  }
  assert.deepEqual(waits, [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
  // A service that takes the credentials and closes at once is not asked four times a second.
  welcome(network.last).drop()
  network.pass(29_999)
  assert.equal(network.sockets.length, 10)
  network.pass(1)
  welcome(network.last)
  network.pass(5_000)
  network.last.drop()
  network.pass(250)
  assert.equal(network.sockets.length, 12)
})

test('an attempt that fails without a close is repeated as soon as one with it', () => {
  const network = new Network()
  const items = streamOf(network).follow('ada')
  network.last.fail()
  assert.equal(items.interruption, 'closed with 1006')
  network.pass(250)
  assert.equal(network.sockets.length, 2)
  // Of an open connection, the close says more.
  welcome(network.last).fail()
  network.last.drop(4003, 'disabled')
  assert.equal(items.interruption, 'disabled')
})

test('a connection that opens just before it would be given up is asked first', () => {
  const network = new Network()
  streamOf(network).follow('ada')
  network.pass(29_000)
  network.last.open()
  network.pass(1_000)
  assert.deepEqual([network.last.isClosed, network.last.sentAs('ping').length], [false, 1])
  network.pass(5_000)
  assert.equal(network.sockets[0]?.isClosed, true)
})

test('clients whose credentials are refused do not return at the same moment', () => {
  const waits: number[] = []
  for (const chance of [0, 0.5, 1]) {
    const network = new Network()
    streamOf(network, { random: () => chance }).follow('ada')
    network.last.open()
    network.last.receive({ type: 'welcome' }, { type: 'auth_error', message: '' })
    while (network.sockets.length === 1) network.pass(500)
    waits.push(network.nowMs())
  }
  assert.deepEqual(waits, [30_000, 37_500, 45_000])
})

test('a deleted user ends the reader, and with the last reader the connection', async () => {
  const network = new Network()
  const items = streamOf(network).follow('ada', { after: 1 })
  welcome(network.last).receive(began(1), { type: 'user_unsubscribed', user_id: 'ada' })
  assert.deepEqual(await next(items, 2), ['deleted', 'end'])
  assert.ok(network.last.isClosed)
})

test('an aborted reader leaves; others of the stream stay', async () => {
  const network = new Network()
  const stream = streamOf(network)
  const over = new AbortController()
  const [ada, bob] = [stream.follow('ada', { signal: over.signal }), stream.follow('bob')]
  const socket = welcome(network.last)
  socket.receive(began(1), { type: 'user_subscribed', user_id: 'bob', seq: 5 })
  assert.deepEqual(await next(ada, 1), ['begin 1'])
  over.abort()
  assert.deepEqual(await next(ada, 1), ['end'])
  assert.deepEqual(socket.sentAs('unsubscribe_user'), [{ action: 'unsubscribe_user', user_id: 'ada' }])
  assert.deepEqual(await next(bob, 1), ['begin 5'])
  assert.equal(socket.isClosed, false)
})

test('what is no JSON object ends the session, not the stream', () => {
  const network = new Network()
  void streamOf(network).follow('ada')
  for (const data of ['[1]', '{', new Uint8Array(3)]) {
    welcome(network.last).receiveText(data)
    assert.ok(network.last.isClosed)
    network.pass(1_000)
  }
  assert.equal(network.sockets.length, 4)
})
