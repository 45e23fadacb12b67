import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TrunklineError } from '../../src/errors.ts'
import { BrokerStream } from '../../src/streams/broker/stream.ts'
import { LiveCopy, type LiveCopyOptions, type StoredCopy } from '../../src/streams/copy/live-copy.ts'
import { digestOf, Records, type Snapshot } from '../../src/streams/copy/records.ts'
import { balanceUpdate, orderUpdate, positionUpdate } from './records.ts'
import { Network } from './scripted-socket.ts'

const EMPTY: Snapshot = { orders: [], positions: [], balances: [] }
const UPDATES = [orderUpdate(1), positionUpdate(2, '5'), balanceUpdate(3, '100.00'), orderUpdate(4, 'b'), positionUpdate(5, '0')]

/** What REST would return after these updates. */
function snapshotAfter(...updates: typeof UPDATES): Snapshot {
  const records = new Records()
  for (const update of updates) records.apply(update)
  return records.toSnapshot()
}

function copyOf(network: Network, options: Partial<LiveCopyOptions> = {}) {
  const { socket } = network
  const stream = new BrokerStream({
    url: 'wss://service/stream',
    clientId: 'pk',
    clientSecret: 'sk',
    socket,
    timers: network,
    random: () => 1
  })
  const over = new AbortController()
  const copy = new LiveCopy({ stream, userId: 'ada', readSnapshot: async () => EMPTY, ...options })
  const changes = copy.run(over.signal)
  return { copy, changes, over }
}

async function begin(network: Network, seq: number): Promise<void> {
  await new Promise(setImmediate)
  network.last.open()
  network.last.receive({ type: 'welcome' }, { type: 'auth_success' }, { type: 'user_subscribed', user_id: 'ada', seq })
}

test('a snapshot and the updates during and after it give the records that REST returns', async () => {
  const network = new Network()
  // Two of the updates happen before the snapshot is read, and arrive after it.
  const readSnapshot = async () => {
    network.last.receive(...UPDATES.slice(1, 3))
    return snapshotAfter(...UPDATES.slice(0, 3))
  }
  const { copy, changes } = copyOf(network, { readSnapshot })
  const seen: unknown[] = []
  const running = (async () => {
    for await (const { type, seq } of changes) if (seen.push(`${type} ${seq}`) === 5) break
  })()
  await begin(network, 1)
  await copy.live()
  network.last.receive(...UPDATES.slice(3))
  await running
  assert.deepEqual(seen, ['begin 1', 'positions 2', 'balances 3', 'orders 4', 'positions 5'])
  assert.equal(copy.seq, 5)
  assert.deepEqual([...copy.orders.keys()], ['a', 'b'])
  assert.deepEqual(copy.positions, [])
  assert.equal(await copy.digest(), await digestOf(snapshotAfter(...UPDATES)))
  assert.equal(copy.isLive, false)
})

test('a stored copy goes on from its seq, and each change is saved before it is yielded', async () => {
  const network = new Network()
  const stored: StoredCopy = { seq: 3, ...snapshotAfter(...UPDATES.slice(0, 3)) }
  const saved: unknown[] = []
  const save: LiveCopyOptions['save'] = async change => void saved.push(change.seq)
  const { copy, changes } = copyOf(network, { load: async () => stored, save })
  const first = changes.next()
  await begin(network, 3)
  assert.equal(network.last.sentAs('subscribe_user')[0]?.after, 3)
  network.last.receive(orderUpdate(4, 'b'))
  assert.deepEqual((await first).value, orderUpdate(4, 'b'))
  assert.deepEqual(saved, [4])
  assert.equal(copy.orders.size, 2)
})

test('an older revision of an order never replaces a newer one', () => {
  const records = new Records()
  records.apply(orderUpdate(9, 'a', 'filled'))
  records.apply(orderUpdate(8, 'a', 'working'))
  assert.equal(records.orders.get('a')?.normalized_status, 'filled')
})

test('a digest ignores the order of records and fields and when they were confirmed, and nothing else', async () => {
  const [order, other] = [orderUpdate(1), orderUpdate(2, 'b')]
  assert.ok(order.type === 'orders' && other.type === 'orders')
  const digest = await digestOf({ ...EMPTY, orders: [order.data, other.data] })
  const reversed = Object.fromEntries(Object.entries({ ...order.data, system_time: 'later' }).reverse())
  assert.equal(await digestOf({ ...EMPTY, orders: [other.data, JSON.parse(JSON.stringify(reversed))] }), digest)
  assert.notEqual(await digestOf({ ...EMPTY, orders: [order.data] }), digest)
  assert.notEqual(await digestOf({ ...EMPTY, orders: [{ ...order.data, normalized_status: 'filled' }, other.data] }), digest)
})

test('a copy is verified at a moment in which REST and the copy have the same seq', async () => {
  const network = new Network()
  let rest = snapshotAfter(...UPDATES.slice(0, 3))
  let lastSeq = 3
  const { copy, changes } = copyOf(network, { readSnapshot: async () => rest, readLastSeq: async () => lastSeq })
  const first = changes.next()
  await begin(network, 3)
  await first
  const second = changes.next()
  const { signal } = new AbortController()
  assert.deepEqual(await copy.verify(signal), { isEqual: true, seq: 3, digest: await digestOf(rest) })
  // REST is ahead: the comparison waits for the update.
  rest = snapshotAfter(...UPDATES.slice(0, 4))
  lastSeq = 4
  const verified = copy.verify(signal)
  await new Promise(setImmediate)
  network.last.receive(orderUpdate(4, 'b'))
  await second
  assert.equal((await verified).isEqual, true)
  // A record that no update had.
  rest = { ...rest, orders: rest.orders.slice(1) }
  assert.equal((await copy.verify(signal)).isEqual, false)
})

test('records of a deleted connection are forgotten on request', () => {
  const records = new Records(snapshotAfter(...UPDATES.slice(0, 3)))
  records.forget('another')
  assert.deepEqual([records.orders.size, records.positions.size, records.balances.size], [1, 1, 1])
  records.forget('c')
  assert.deepEqual([records.orders.size, records.positions.size, records.balances.size], [0, 0, 0])
})

/** Runs a copy in the background. */
function started(network: Network, options: Partial<LiveCopyOptions> = {}) {
  const { copy, changes, over } = copyOf(network, options)
  const seen: string[] = []
  const running = (async () => {
    for await (const { type, seq } of changes) seen.push(`${type} ${seq}`)
  })()
  return { copy, over, seen, running }
}

const turn = () => new Promise(setImmediate)
const UNTIL_LIVE = [{ type: 'caught_up', user_id: 'ada', seq: 3 }]

test('a copy is not live while the connection is gone, however much waits for its store', async () => {
  const network = new Network()
  let saved: () => void = () => undefined
  const save = (change: { readonly seq: number }) =>
    new Promise<void>(resolve => {
      if (change.seq === 2) saved = resolve
      else resolve()
    })
  const { copy, over, running } = started(network, { save })
  await begin(network, 1)
  await copy.live()
  network.last.receive({
    type: 'stream_status',
    user_id: 'ada',
    connection_id: 'c',
    status: 'ACTIVE',
    health: 'live',
    since: '',
    reason: null
  })
  await turn()
  assert.equal(copy.health.get('c')?.health, 'live')
  copy.forget('c')
  assert.equal(copy.health.size, 0)
  network.last.receive(orderUpdate(2), orderUpdate(3))
  await turn()
  // The third has arrived, and is not in the copy.
  assert.equal(copy.isLive, false)
  network.last.drop()
  await turn()
  assert.deepEqual([copy.isLive, copy.health.size, copy.seq, copy.interruption], [false, 0, 2, 'closed with 1006'])
  saved()
  await turn()
  assert.deepEqual([copy.isLive, copy.seq], [false, 3])
  network.pass(250)
  await begin(network, 3)
  assert.equal(copy.isLive, false)
  network.last.receive(...UNTIL_LIVE)
  await copy.live()
  assert.equal(copy.interruption, null)
  over.abort()
  await running
})

test('a copy whose snapshot is ahead of the stream is live when it has what the snapshot has', async () => {
  const network = new Network()
  let read: () => void = () => undefined
  const own = orderUpdate(9, 'a', 'filled')
  const readSnapshot = () =>
    new Promise<Snapshot>(resolve => {
      read = () => resolve(snapshotAfter(orderUpdate(1), positionUpdate(2, '5'), positionUpdate(3, '0')))
    })
  const { copy, over, running } = started(network, { readSnapshot, readLastSeq: async () => 3 })
  await begin(network, 1)
  await turn()
  // The answer to a request of one's own is newer than the snapshot.
  if (own.type === 'orders') copy.putOrder(own.data)
  read()
  await turn()
  assert.deepEqual([copy.isLive, copy.seq, copy.orders.get('a')?.normalized_status], [false, 1, 'filled'])
  network.last.receive(positionUpdate(2, '5'))
  await turn()
  assert.deepEqual([copy.isLive, copy.positions.length], [false, 1])
  const live = copy.live()
  network.last.receive(positionUpdate(3, '0'))
  await live
  assert.deepEqual(copy.positions, [])
  over.abort()
  await running
})

test('a copy that is stopped while it reads its snapshot stops, and those that wait for it are released', async () => {
  const network = new Network()
  const readSnapshot = (signal: AbortSignal) =>
    new Promise<Snapshot>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  const { copy, changes, over } = copyOf(network, { readSnapshot, readLastSeq: async () => 0 })
  const first = changes.next()
  await begin(network, 1)
  await turn()
  const [live, verified] = [copy.live(), copy.live(AbortSignal.abort(new Error('no longer')))]
  await assert.rejects(verified, /no longer/)
  over.abort()
  assert.deepEqual(await first, { done: true, value: 'stopped' })
  await assert.rejects(live, /not kept any more/)
  await assert.rejects(copy.verify(new AbortController().signal), /a copy that is kept/)
})

test('a snapshot that cannot be read now is read again after the stream’s own waits, and nothing that came meanwhile is lost', async () => {
  const network = new Network()
  let reads = 0
  const readSnapshot = async () => {
    reads += 1
    if (reads < 3) throw new TrunklineError('network_error', 'no answer', { retrySafe: true })
    return snapshotAfter(orderUpdate(1))
  }
  const { copy, over, seen, running } = started(network, { readSnapshot })
  await begin(network, 1)
  await turn()
  assert.deepEqual([reads, copy.isLive, copy.seq, copy.interruption], [1, false, null, 'the records cannot be read: no answer'])
  const own = orderUpdate(9, 'a', 'filled')
  if (own.type === 'orders') copy.putOrder(own.data)
  network.last.receive(positionUpdate(2, '5'))
  for (const [wait, expected] of [
    [249, 1],
    [1, 2],
    [499, 2],
    [1, 3]
  ] as const) {
    network.pass(wait)
    await turn()
    assert.equal(reads, expected)
  }
  await copy.live()
  assert.deepEqual([seen, copy.interruption], [['begin 1', 'positions 2'], null])
  assert.deepEqual([copy.orders.get('a')?.normalized_status, copy.positions.length], ['filled', 1])
  over.abort()
  await running
})

test('a wait before a snapshot is read again ends with the copy; an error that no repetition mends ends the copy', async () => {
  const network = new Network()
  let error = new TrunklineError('network_error', 'no answer', { retrySafe: true })
  const readSnapshot = () => Promise.reject(error)
  const first = started(network, { readSnapshot })
  await begin(network, 1)
  await turn()
  assert.ok(first.copy.interruption)
  first.over.abort()
  await first.running
  assert.equal(first.copy.interruption, null)
  error = new TrunklineError('credentials_invalid', 'wrong')
  const { running, copy } = started(network, { readSnapshot })
  await begin(network, 1)
  await assert.rejects(running, { code: 'credentials_invalid' })
  assert.equal(copy.isLive, false)
})

test('a wait for a copy to be live ends after a silence, too', async () => {
  const network = new Network()
  const { copy, over, running } = started(network)
  await begin(network, 1)
  await copy.live()
  network.sleep(30_000)
  assert.equal(copy.isLive, false)
  const live = copy.live()
  await turn()
  network.pass(0)
  network.last.receive({ type: 'pong' })
  await live
  over.abort()
  await running
})

test('a copy that has ended is never waited for', async () => {
  const { copy, over, running } = started(new Network())
  over.abort()
  await running
  await assert.rejects(copy.live(), /not kept any more/)
})

test('a copy that is left while it waits for a change is left at once', async () => {
  const network = new Network()
  const { copy, changes } = copyOf(network)
  const first = changes.next()
  await begin(network, 1)
  await first
  const second = changes.next()
  await copy.live()
  await changes.return('stopped')
  assert.deepEqual(await second, { done: true, value: 'stopped' })
  assert.ok(network.last.isClosed)
})

test('a second run of a copy, and a second copy of its user, are refused, and the first one goes on', async () => {
  const network = new Network()
  const { copy, over, seen, running } = started(network)
  await begin(network, 1)
  await copy.live()
  await assert.rejects(copy.run(new AbortController().signal).next(), { code: 'followed_already' })
  network.last.receive(orderUpdate(2))
  await turn()
  assert.deepEqual([copy.isLive, seen], [true, ['begin 1', 'orders 2']])
  over.abort()
  await running
  const again = copy.run(AbortSignal.abort())
  assert.deepEqual(await again.next(), { done: true, value: 'stopped' })
})

test('a copy that has missed an update does not pass for one that equals an older snapshot', async () => {
  const network = new Network()
  let [lastSeq, reads] = [1, 0]
  // An update comes while the snapshot is read, and changes nothing in the copy.
  const readSnapshot = async () => {
    reads += 1
    if (reads === 2) {
      lastSeq = 2
      network.last.receive({ ...orderUpdate(2, 'b'), type: 'orders_of_later' })
    }
    return reads <= 2 ? snapshotAfter(orderUpdate(1)) : snapshotAfter(orderUpdate(1), orderUpdate(2, 'b'))
  }
  const { copy, over, running } = started(network, { readSnapshot, readLastSeq: async () => lastSeq })
  await begin(network, 1)
  await copy.live()
  assert.equal((await copy.verify(new AbortController().signal)).isEqual, false)
  over.abort()
  await running
})
