// Followers that come, go and wait at moments that do not suit.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { began, caughtUp, next, refused, streamOf, UNSUBSCRIBED, welcome } from './followed.ts'
import { orderUpdate } from './records.ts'
import { Network } from './scripted-socket.ts'

const turn = () => new Promise(setImmediate)
const health = (state: string, connection = 'c') => ({
  ...{ type: 'stream_status', user_id: 'ada', connection_id: connection, status: 'ACTIVE', health: state, since: '', reason: null }
})

/** What an iterator yields next, or null if nothing has come. */
async function soon<T>(promise: Promise<T>): Promise<T | null> {
  return Promise.race([promise, turn().then(() => null)])
}

test('answers to a follower that has left are not taken for those to the next one', async () => {
  const network = new Network()
  const stream = streamOf(network)
  const over = new AbortController()
  stream.follow('bob')
  const gone = stream.follow('ada', { signal: over.signal })
  const socket = welcome(network.last)
  over.abort()
  assert.deepEqual(await next(gone, 1), ['end'])
  // At once, while the answer to the first is under way.
  const items = stream.follow('ada', { after: 4 })
  socket.receive(began(2), orderUpdate(3))
  assert.deepEqual(socket.sent.slice(-1), [{ action: 'unsubscribe_user', user_id: 'ada' }])
  socket.receive(orderUpdate(4), UNSUBSCRIBED)
  assert.deepEqual(socket.sent.slice(-1), [{ action: 'subscribe_user', user_id: 'ada', after: 4 }])
  socket.receive(began(4), orderUpdate(5), caughtUp(5))
  assert.deepEqual(await next(items, 2), ['orders 5', 'live 5'])
  // Now without a request of ours.
  socket.receive(UNSUBSCRIBED)
  assert.deepEqual(await next(items, 2), ['deleted', 'end'])
})

test('a follower that leaves before its first item, or while it waits for one, is gone', async () => {
  const network = new Network()
  const stream = streamOf(network)
  const early = stream.follow('ada')
  await early.return()
  assert.ok(network.last.isClosed)
  const late = stream.follow('ada')
  const waiting = late.next()
  await late.return()
  assert.equal((await waiting).done, true)
  assert.ok(network.last.isClosed)
  const sockets = network.sockets.length
  assert.deepEqual(await next(stream.follow('ada', { signal: AbortSignal.abort() }), 1), ['end'])
  assert.equal(network.sockets.length, sockets)
})

test('a user who was deleted and created again begins with a snapshot, however long the new log is', async () => {
  for (const again of [[], [{ ...orderUpdate(3), event_id: 'another' }, orderUpdate(4)]]) {
    const network = new Network()
    const items = streamOf(network).follow('ada', { after: 2 })
    welcome(network.last).receive(began(2), orderUpdate(3), caughtUp(3))
    assert.deepEqual(await next(items, 2), ['orders 3', 'live 3'])
    network.last.drop()
    network.pass(500)
    const second = welcome(network.last)
    assert.equal(second.sentAs('subscribe_user')[0]?.after, 2)
    // Of as many updates as were known before the last one, or more.
    second.receive(began(2), ...again, caughtUp(2 + again.length))
    assert.ok(second.isClosed)
    network.pass(1_000)
    const third = welcome(network.last)
    assert.deepEqual(third.sentAs('subscribe_user'), [{ action: 'subscribe_user', user_id: 'ada' }])
    third.receive(began(5))
    assert.deepEqual((await items.next()).value, { type: 'interrupted', reason: 'ada was deleted and created again' })
    assert.deepEqual((await items.next()).value, { type: 'begin', seq: 5, reason: 'ada was deleted and created again' })
  }
})

test('a log that begins after the last update goes on from it', async () => {
  const network = new Network()
  const items = streamOf(network).follow('ada', { after: 2 })
  const socket = welcome(network.last)
  socket.receive(began(2), orderUpdate(3))
  network.last.drop()
  network.pass(500)
  const second = welcome(network.last)
  second.receive(refused('the oldest seq in the log is 4'))
  network.pass(1_000)
  assert.deepEqual(
    second.sentAs('subscribe_user').map(({ after }) => after),
    [2, 3]
  )
  second.receive(began(3), caughtUp(3))
  assert.deepEqual(await next(items, 3), ['interrupted', 'orders 3', 'live 3'])
})

test('a reader is not live while the service is silent, whatever its socket says, and yields live again after it', async () => {
  const network = new Network()
  const items = streamOf(network).follow('ada', { after: 2 })
  welcome(network.last).receive(began(2), caughtUp(2))
  assert.deepEqual(await next(items, 1), ['live 2'])
  const another = next(items, 1)
  network.pass(20_000)
  network.last.receive({ type: 'pong' })
  assert.equal(items.isLive, true)
  // The machine sleeps; no timer has run yet when it wakes.
  network.sleep(30_000)
  assert.equal(items.isLive, false)
  network.pass(0)
  assert.equal(items.isLive, false)
  network.last.receive({ type: 'pong' })
  assert.equal(items.isLive, true)
  assert.deepEqual(await another, ['live 2'])
})

test('a second follower of a user, and what is no user or seq, is refused with a code of its own', () => {
  const stream = streamOf(new Network())
  stream.follow('ada')
  assert.throws(() => stream.follow('ada'), { code: 'followed_already' })
  for (const userId of ['', ' ada', 'a'.repeat(65), 'a\n']) assert.throws(() => stream.follow(userId), { code: 'setting_invalid' })
  for (const waitingMax of [0, Number.NaN])
    assert.throws(() => streamOf(new Network(), { waitingMax }).follow('ada'), { code: 'setting_invalid' })
  for (const after of [-1, 0.5, Number.NaN]) assert.throws(() => stream.follow('bob', { after }), { code: 'setting_invalid' })
})

test('a snapshot that is read over an interruption is not live before the replay has ended', async () => {
  const network = new Network()
  const items = streamOf(network).follow('ada')
  welcome(network.last).receive(began(1))
  assert.deepEqual(await next(items, 1), ['begin 1'])
  network.last.drop()
  network.pass(500)
  welcome(network.last).receive(began(3))
  assert.deepEqual(await next(items, 1), ['interrupted'])
  const following = next(items, 3)
  network.last.receive(orderUpdate(2))
  await turn()
  assert.equal(items.isLive, false)
  network.last.receive(orderUpdate(3), caughtUp(3))
  assert.deepEqual(await following, ['orders 2', 'orders 3', 'live 3'])
  assert.equal(items.isLive, true)
  network.last.receive(orderUpdate(4))
  assert.equal(items.isLive, false)
})

test('a replay that ends before its end is no replay', () => {
  const network = new Network()
  streamOf(network).follow('ada', { after: 1 })
  welcome(network.last).receive(began(1), orderUpdate(2), caughtUp(3))
  assert.ok(network.last.isClosed)
})

test('a reader that reads nothing has only the newest of what is no update waiting', async () => {
  const network = new Network()
  const items = streamOf(network, { waitingMax: 100, random: () => 0 }).follow('ada', { after: 0 })
  for (let at = 0; at < 50; at += 1) {
    welcome(network.last).receive(began(0), caughtUp(0))
    for (let change = 0; change < 10; change += 1) network.last.receive(health(change % 2 ? 'live' : 'stale'))
    network.last.drop(1006, `${at}`)
    network.pass(1)
  }
  assert.equal(items.health.size, 0)
  welcome(network.last).receive(began(0), caughtUp(0), health('live'), health('stale', 'd'))
  assert.deepEqual((await items.next()).value, { type: 'interrupted', reason: '49' })
  assert.deepEqual(await next(items, 3), ['stream_status', 'stream_status', 'live 0'])
  assert.equal(await soon(items.next()), null)
  assert.deepEqual(
    [...items.health].map(([id, { health }]) => `${id} ${health}`),
    ['c live', 'd stale']
  )
})

test('connections without end are no way to fill the memory', () => {
  const network = new Network()
  streamOf(network, { waitingMax: 3 }).follow('ada', { after: 0 })
  welcome(network.last).receive(began(0), ...['a', 'b', 'c', 'd'].map(id => health('live', id)))
  assert.equal(network.last.sentAs('unsubscribe_user').length, 1)
})

test('a reader learns why nothing comes before there was a connection, and each other reason once', async () => {
  const network = new Network()
  const items = streamOf(network).follow('ada')
  network.last.drop()
  assert.equal(items.interruption, 'closed with 1006')
  assert.deepEqual((await items.next()).value, { type: 'interrupted', reason: 'closed with 1006' })
  network.pass(500)
  network.last.drop()
  const another = items.next()
  network.pass(1_000)
  network.last.open()
  network.last.receive({ type: 'welcome' }, { type: 'auth_error', message: 'The client_secret sk_secret is wrong.' })
  assert.deepEqual((await another).value, { type: 'interrupted', reason: 'The client_secret *** is wrong.' })
  network.pass(45_000)
  welcome(network.last).receive(began(1))
  assert.equal(items.interruption, null)
})

test('a user that does not exist is known at once where the log can be read', async () => {
  const network = new Network()
  const unknown = Object.assign(new Error('There is no user with this user_id'), { code: 'user_not_found', retrySafe: false })
  const reads: number[] = []
  const readEvents = async function* (_: string, after: number) {
    reads.push(after)
    yield await Promise.reject(unknown)
  }
  const items = streamOf(network, { readEvents }).follow('ada')
  welcome(network.last).receive(refused('There is no user'))
  await assert.rejects(items.next(), unknown)
  assert.ok(network.last.isClosed)
  assert.deepEqual(reads, [Number.MAX_SAFE_INTEGER])
  // Without it, the reason is yielded before the error.
  const other = streamOf(network).follow('ada')
  welcome(network.last).receive(refused('There is no user'))
  assert.deepEqual((await other.next()).value, { type: 'interrupted', reason: 'There is no user' })
})

test('a log that is longer than what may wait is read to its end, however slow the reader is', async () => {
  const network = new Network()
  const reads: number[] = []
  const readEvents = async function* (_: string, after: number) {
    reads.push(after)
    for (let seq = after + 1; seq <= 12; seq += 1) yield orderUpdate(seq)
  }
  const items = streamOf(network, { readEvents, waitingMax: 3 }).follow('ada', { after: 0 })
  const socket = welcome(network.last)
  const found: (readonly string[])[] = []
  let first = next(items, 1)
  for (const count of [4, 3, 3]) {
    socket.receive(refused('more than 10,000'))
    await turn()
    found.push(await first, await next(items, count))
    // The reader comes back only now.
    first = next(items, 1)
  }
  socket.receive(began(12), caughtUp(12))
  assert.deepEqual(await first, ['live 12'])
  const orders = found.flat().filter(item => item !== 'interrupted')
  assert.deepEqual(
    orders,
    Array.from({ length: 12 }, (_, at) => `orders ${at + 1}`)
  )
  assert.deepEqual(reads, [0, 4, 8])
})

test('what the service could not read ends the session, so that no answer is awaited in vain', () => {
  const network = new Network()
  streamOf(network).follow('ada')
  for (const type of ['error', 'subscription_failed']) {
    welcome(network.last).receive({ type, message: 'too many messages' })
    assert.ok(network.last.isClosed)
    network.pass(1_000)
  }
})
