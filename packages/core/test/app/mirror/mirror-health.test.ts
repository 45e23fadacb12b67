// The reported health of a connection: immediate, with its cause, and never better than the truth.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { listConnections } from '@trunkline/core/app/connections/list-connections'
import { BrokerFault, type BrokerFaultKind } from '@trunkline/core/ports/broker'
import { GAP_CAUSES } from '@trunkline/core/ports/gap'
import { StoreUnavailable } from '@trunkline/core/ports/store'
import { Bench, type World } from '@trunkline/testkit/bench'

let bench: Bench
before(async () => {
  bench = await Bench.open()
})
after(() => bench[Symbol.asyncDispose]())

function statesOf(world: World): readonly string[] {
  return world.healths.map(({ state }) => state)
}

/** Held, and live. Returns the virtual time from which the rest is measured. */
async function held(world: World): Promise<number> {
  world.app.mirrors.hold(world.connection)
  await world.clock.until(() => world.health.state === 'live', 'live')
  world.healths.length = 0
  return world.clock.monotonicMs()
}

test('a connection without followers, then with one', async () => {
  await using world = await bench.world()
  assert.deepEqual([world.health.state, world.app.mirrors.count], ['polling', 0])
  assert.match(world.health.reason ?? '', /is not followed/)
  world.app.mirrors.hold(world.connection)
  await world.clock.until(() => world.health.state === 'live', 'live')
  assert.deepEqual(statesOf(world), ['polling', 'live'])
  assert.match(world.healths[0]?.health.reason ?? '', /being opened/)
  assert.equal(world.health.reason, null)
  assert.deepEqual([world.app.mirrors.countOf('live'), world.app.mirrors.countOf('polling')], [1, 0])
})

for (const cause of GAP_CAUSES) {
  test(`a gap (${cause}): stale at once, polled within ten seconds, live with the next snapshot, and nothing published without a change`, async () => {
    await using world = await bench.world()
    const order = await world.given(world.place())
    const from = await held(world)
    const before = (await world.events()).length
    world.broker.streams.down(true, cause)
    await world.clock.settled()
    assert.deepEqual(
      world.healths.map(({ state, atMs }) => [state, atMs - from]),
      [['stale', 0]]
    )
    assert.equal(world.counted.get(`stream_gaps_total SANDBOX ${cause}`), 1)
    await world.clock.advance(10_000)
    assert.deepEqual(statesOf(world), ['stale', 'polling'])
    assert.match(world.health.reason ?? '', /is down: .+ Until it is back the broker is polled/)
    const since = world.health.since
    await world.clock.advance(20_000)
    assert.deepEqual([statesOf(world), world.health.since], [['stale', 'polling'], since])
    world.broker.streams.up()
    await world.clock.settled()
    assert.deepEqual([statesOf(world), world.health.reason], [['stale', 'polling', 'live'], null])
    assert.equal((await world.events()).length, before)

    world.broker.streams.down(true, cause)
    assert.ok(order.brokerOrderId)
    world.ledger.fill(order.brokerOrderId, '10')
    await world.clock.advance(10_000)
    assert.equal((await world.stored(order)).status, 'filled')
    const newEvents = (await world.events()).slice(before)
    assert.deepEqual(newEvents.map(({ topic }) => topic).toSorted(), ['balances', 'orders', 'positions'])
  })
}

test('a broker that does not answer: stale since the gap, polling once it answers, live once it streams', async () => {
  await using world = await bench.world()
  await held(world)
  world.broker.readPlan = () => ({ fault: 'unreachable' })
  world.broker.streams.down(true, 'silence')
  await world.clock.settled()
  const { since } = world.health
  await world.clock.advance(3_600_000)
  assert.deepEqual([world.health.state, world.health.since], ['stale', since])
  assert.match(world.health.reason ?? '', /does not answer: it cannot be reached/)
  world.broker.readPlan = () => ({})
  await world.clock.advance(15_000)
  assert.equal(world.health.state, 'polling')
  assert.ok(world.health.since > since)
  world.broker.streams.up()
  await world.clock.settled()
  assert.deepEqual(statesOf(world).slice(-2), ['polling', 'live'])
})

test('a stream that opens while the broker does not answer is not live before a snapshot, and stays open', async () => {
  await using world = await bench.world()
  await held(world)
  world.broker.streams.down(true)
  world.broker.readPlan = kind => (kind === 'positions' ? { fault: 'malformed' } : {})
  world.broker.streams.up()
  await world.clock.advance(60_000)
  assert.equal(world.health.state, 'stale')
  assert.match(world.health.reason ?? '', /its answer cannot be read/)
  assert.equal(world.logged.filter(({ message }) => message.includes('opened again')).length, 0)
  world.broker.readPlan = () => ({})
  await world.clock.advance(15_000)
  assert.equal(world.health.state, 'live')
})

test('a snapshot that hangs does not prevent a stream that reconnected from being live', async () => {
  await using world = await bench.world()
  await held(world)
  world.broker.streams.down(true)
  world.broker.readPlan = () => ({ hangs: 'deadline' })
  await world.clock.advance(8_000)
  world.broker.readPlan = () => ({})
  const from = world.clock.monotonicMs()
  world.broker.streams.up()
  await world.clock.until(() => world.health.state === 'live', 'live')
  assert.ok(world.clock.monotonicMs() - from < 1_000, `${world.clock.monotonicMs() - from} ms`)
})

test('a broker without a stream is polled, and unanswered polls end nothing', async () => {
  await using world = await bench.world({ capabilities: { accountStream: false }, accounts: 2 })
  world.app.mirrors.hold(world.connection)
  await world.clock.advance(1_000)
  assert.equal(world.health.state, 'polling')
  assert.match(world.health.reason ?? '', /no account stream/)
  world.broker.reads.orders = 0
  await world.clock.advance(60_000)
  // Two accounts, each at least every five seconds, and not much more often.
  assert.ok(world.broker.reads.orders >= 24 && world.broker.reads.orders <= 32, String(world.broker.reads.orders))
  const order = await world.given(world.place())
  for (const fault of ['unreachable', 'rate_limited', 'malformed', 'refused'] satisfies BrokerFaultKind[]) {
    world.broker.readPlan = () => ({ fault })
    await world.clock.advance(30 * 60_000)
    assert.equal(world.health.state, 'stale')
  }
  assert.ok(order.brokerOrderId)
  world.ledger.fill(order.brokerOrderId, '10')
  world.broker.readPlan = () => ({})
  await world.clock.advance(15_000)
  assert.deepEqual([(await world.stored(order)).status, world.health.state], ['filled', 'polling'])
  assert.equal(world.broker.streams.readers, 0)
})

test('an account that cannot be read does not affect the other, but makes the connection stale', async () => {
  await using world = await bench.world({ capabilities: { accountStream: false }, accounts: 2 })
  const [, second] = world.accounts
  assert.ok(second)
  let reads = 0
  world.broker.readPlan = kind => {
    if (kind !== 'orders') return {}
    reads += 1
    return reads % 2 === 1 ? { fault: 'refused' } : {}
  }
  world.app.mirrors.hold(world.connection)
  await world.clock.advance(20_000)
  assert.equal(world.health.state, 'stale')
  assert.notEqual((await bench.store.accounts.freshness(second.accountId)).orders, null)
})

test('a live stream is checked: every minute while orders change, otherwise every five minutes', async () => {
  await using world = await bench.world()
  await held(world)
  await world.clock.advance(600_000)
  world.broker.reads.orders = 0
  await world.clock.advance(600_000)
  assert.ok(world.broker.reads.orders >= 2 && world.broker.reads.orders <= 3, `quiet: ${world.broker.reads.orders}`)
  await world.given(world.place())
  world.broker.reads.orders = 0
  await world.clock.advance(600_000)
  assert.ok(world.broker.reads.orders >= 10 && world.broker.reads.orders <= 14, `busy: ${world.broker.reads.orders}`)
  assert.deepEqual(statesOf(world), [])
})

test('an event that the store cannot write does not reopen the stream', async () => {
  await using world = await bench.world()
  const order = await world.given(world.place())
  await held(world)
  world.watched.intercept = call => (call.name === 'orders.record' ? Promise.reject(new StoreUnavailable('no room')) : call.go())
  assert.ok(order.brokerOrderId)
  world.ledger.fill(order.brokerOrderId, '3')
  await world.clock.advance(120_000)
  assert.deepEqual([world.health.state, world.broker.streams.readers], ['stale', 1])
  assert.match(world.health.reason ?? '', /could not be stored/)
  world.watched.intercept = null
  await world.clock.advance(15_000)
  assert.deepEqual([world.health.state, (await world.stored(order)).fills.length], ['live', 1])
  assert.equal(world.logged.filter(({ message }) => message.includes('opened again')).length, 0)
})

test('an adapter whose stream keeps ending is opened again with growing pauses, up to half a minute', async () => {
  await using world = await bench.world()
  await held(world)
  const opened: number[] = []
  const read = world.broker.streams.read.bind(world.broker.streams)
  world.broker.streams.read = async function* (signal) {
    opened.push(world.clock.monotonicMs())
    yield { type: 'gap', cause: 'refused', reason: 'no', at: world.clock.now() }
    if (opened.length <= 12) throw new Error('it ends')
    yield* read(signal)
  }
  world.broker.readPlan = () => ({ fault: 'unreachable' })
  world.broker.streams.fail(new Error('it ends'))
  await world.clock.until(() => opened.length === 13, 'the last one')
  const pauses = opened.slice(1).map((atMs, index) => atMs - (opened[index] ?? 0))
  assert.deepEqual(pauses, [1_500, 3_000, 6_000, 12_000, 22_500, 22_500, 22_500, 22_500, 22_500, 22_500, 22_500, 22_500])
  world.broker.readPlan = () => ({})
  await world.clock.advance(15_000)
  assert.equal(world.health.state, 'live')
})

test('reads of a connection without a mirror show whether the broker answers', async () => {
  await using world = await bench.world()
  const freshen = () => world.given(world.app.mirrors.freshen([world.connection], world.accounts, 'balances'))
  world.broker.readPlan = () => ({ fault: 'rate_limited' })
  await freshen()
  assert.deepEqual([world.health.state, world.app.mirrors.count], ['stale', 0])
  assert.match(world.health.reason ?? '', /limiting the request rate/)
  world.broker.readPlan = () => ({ hangs: 'deadline' })
  await freshen()
  assert.match(world.health.reason ?? '', /takes too long/)
  world.broker.readPlan = () => ({})
  await world.clock.advance(60_000)
  await freshen()
  assert.deepEqual(statesOf(world), ['stale', 'stale', 'polling'])
  assert.match(world.health.reason ?? '', /is not followed/)
})

for (const [who, isHeld] of [
  ['a followed connection', true],
  ['a connection nobody follows', false]
] as const) {
  test(`${who} is reported broken as soon as its credentials are rejected, and every read shows it`, async () => {
    await using world = await bench.world()
    if (isHeld) await held(world)
    await world.app.directory.connections(world.caller.user.userKey)
    world.broker.readPlan = () => ({ fault: 'credentials_rejected' })
    if (isHeld) world.broker.streams.fail(new BrokerFault('credentials_rejected', 'the broker refused the refresh token'))
    else await world.given(world.app.mirrors.freshen([world.connection], world.accounts, 'balances'))
    await world.clock.settled()
    assert.deepEqual(statesOf(world), ['broken'])
    const [row] = await listConnections(world.app, world.caller, null)
    assert.deepEqual([row?.connection.status, row?.health.state, row?.health.since], ['BROKEN', 'broken', row?.connection.updatedAt])
    assert.equal(row?.health.reason, row?.connection.brokenReason)
    assert.equal(world.health.state, 'broken')
    const [known] = await world.app.directory.connections(world.caller.user.userKey)
    assert.equal(known?.status, 'BROKEN')
    assert.equal(world.counted.get('connections_broken_total SANDBOX'), 1)
    await world.clock.advance(600_000)
    assert.deepEqual([statesOf(world), world.app.mirrors.count, world.broker.streams.readers], [['broken'], 0, 0])
  })
}

test('only rejected credentials break a connection, however long another fault lasts', async () => {
  await using world = await bench.world()
  await held(world)
  for (const fault of ['unreachable', 'rate_limited', 'malformed', 'refused'] satisfies BrokerFaultKind[]) {
    world.broker.readPlan = () => ({ fault })
    world.broker.streams.down(true, 'refused')
    world.broker.streams.fail(new BrokerFault(fault, 'for an hour'))
    await world.clock.advance(3_600_000)
    assert.equal((await bench.store.connections.find(world.connection.connectionId))?.status, 'ACTIVE', fault)
    assert.equal(world.health.state, 'stale')
    world.broker.heal()
    await world.clock.advance(60_000)
    assert.equal(world.health.state, 'live', fault)
  }
})

test('a break that the store cannot record is recorded at the broker’s next rejection', async () => {
  await using world = await bench.world()
  await held(world)
  let refusals = 0
  world.watched.intercept = call => {
    if (call.name !== 'connections.markBroken' || refusals >= 2) return call.go()
    refusals += 1
    return Promise.reject(new StoreUnavailable('no room'))
  }
  world.broker.readPlan = () => ({ fault: 'credentials_rejected' })
  world.broker.streams.fail(new BrokerFault('credentials_rejected', 'gone'))
  await world.clock.settled()
  assert.equal(world.health.state, 'stale')
  await world.clock.advance(30_000)
  assert.deepEqual([refusals, world.health.state], [2, 'broken'])
})

test('a mirror that is stopped during a snapshot leaves no alarm', async () => {
  await using world = await bench.world()
  await held(world)
  world.broker.streams.down(true)
  world.broker.readPlan = () => ({ hangs: 'deadline' })
  await world.clock.advance(10_000)
  await world.stop()
  assert.equal(world.clock.sleepers, 0)
})

test('a snapshot started before a gap makes nothing live', async () => {
  await using world = await bench.world()
  const order = await world.given(world.place())
  await held(world)
  world.broker.readPlan = kind => (kind === 'orders' ? { travelsMs: 3_000 } : {})
  const reads = world.broker.reads.orders
  await world.clock.until(() => world.broker.reads.orders > reads, 'the orders are checked')
  // The answer was given before this and is in transit; the store accepts nothing of it.
  let failed = 0
  world.watched.intercept = call => {
    if (call.name !== 'orders.record' || failed > 0) return call.go()
    failed += 1
    return Promise.reject(new StoreUnavailable('no room'))
  }
  assert.ok(order.brokerOrderId)
  world.ledger.fill(order.brokerOrderId, '10')
  await world.clock.settled()
  assert.deepEqual([failed, world.health.state], [1, 'stale'])
  await world.clock.until(() => world.health.state === 'live', 'live again')
  assert.equal((await world.stored(order)).status, 'filled')
})

test('while a stream is down, another cause of that does not make polled records stale', async () => {
  await using world = await bench.world()
  const { clock } = world
  const from = clock.monotonicMs()
  world.broker.streams.read = async function* (signal) {
    yield { type: 'live', at: clock.now() }
    await clock.sleep(10_000, signal)
    yield { type: 'gap', cause: 'lost', reason: 'gone', at: clock.now() }
    await clock.sleep(8_000, signal)
    yield { type: 'gap', cause: 'refused', reason: 'no', at: clock.now() }
    await clock.sleep(3_600_000, signal).catch(() => undefined)
  }
  world.app.mirrors.hold(world.connection)
  await clock.advance(17_900)
  assert.match(world.health.reason ?? '', /its connection was lost/)
  await clock.advance(12_000)
  assert.match(world.health.reason ?? '', /the broker refuses it/)
  assert.deepEqual(
    world.healths.map(({ state, atMs }) => [state, Math.floor((atMs - from) / 1_000)]),
    [
      ['polling', 0],
      ['live', 0],
      ['stale', 10],
      ['polling', 14],
      ['polling', 19]
    ]
  )
})
