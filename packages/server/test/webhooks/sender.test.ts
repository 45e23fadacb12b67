import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { epochMs, timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { WebhookOutcome, WebhookRequest } from '../../src/webhooks/exchange.ts'
import { DAY_MS } from '../../src/webhooks/retries.ts'
import { itemsOf, seqsOf, single } from './single-endpoint.ts'
import { RECEIVED, REFUSED, SILENT, WebhookNode, WebhookWorld } from './webhook-world.ts'

test('an event is sent at once, and the cursor moves when it is received', async () => {
  const { world, requests, endpoint, userKey } = await single()
  world.commit(userKey)
  await world.clock.settled()
  world.commit(userKey)
  await world.clock.settled()
  assert.deepEqual(requests.map(seqsOf), [[1], [2]])
  assert.deepEqual(world.cursor(endpoint, userKey), { seq: 2, tryingTo: null, attempts: 0, retryAt: null })
  assert.deepEqual(
    world.deliveries.map(({ reason, attempt, failure }) => [reason, attempt, failure]),
    [
      ['event', 1, null],
      ['event', 1, null]
    ]
  )
})

test('what was just committed is sent without a read of the log, and what was not at hand is read', async () => {
  const { world, requests, endpoint, userKey } = await single()
  world.commit(userKey)
  await world.clock.settled()
  for (let count = 0; count < 3; count++) world.commit(userKey)
  await world.clock.settled()
  assert.deepEqual([requests.map(seqsOf), world.logReads], [[[1], [2, 3, 4]], 0])
  // Not received: the next one leaves a gap.
  world.unheard(() => world.commit(userKey))
  world.commit(userKey)
  await world.clock.settled()
  assert.deepEqual([requests.slice(2).map(seqsOf), world.logReads], [[[5, 6]], 1])
  assert.equal(world.cursor(endpoint, userKey).seq, 6)
})

test('little more is read than a message has, and it is gone while the answer is waited for', async () => {
  const { promise, resolve } = Promise.withResolvers<WebhookOutcome>()
  const { world, requests, userKey } = await single(() => promise)
  const read: WeakRef<object>[] = []
  const { events } = world.store
  const { read: readLog } = events
  Object.assign(events, {
    read: async (...request: Parameters<typeof readLog>) => {
      const found = (await readLog(...request)).map(event => ({ ...event }))
      read.push(...found.map(event => new WeakRef(event)))
      return found
    }
  })
  world.unheard(() => world.commit(userKey))
  world.unheard(() => world.commit(userKey))
  await world.clock.advance(61_000)
  assert.deepEqual([requests.map(seqsOf), read.length, world.bytesMax], [[[1, 2]], 2, 512 * 1024])
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  await setImmediate()
  collect()
  assert.deepEqual(
    read.map(event => event.deref()),
    [undefined, undefined]
  )
  resolve(RECEIVED)
})

test('of commits that are received in another order, the newest counts', async () => {
  const { world, node, requests, userKey } = await single()
  world.unheard(() => world.commit(userKey))
  world.commit(userKey)
  await world.clock.settled()
  world.unheard(() => world.commit(userKey))
  const [first, , third] = await world.store.events.read(userKey, 0, 3)
  for (const event of [third, first]) if (event !== undefined) node.bus.publish({ type: 'events', userKey, events: [event] })
  await world.clock.settled()
  assert.deepEqual(requests.map(seqsOf), [[1, 2], [3]])
})

test('what is committed during an attempt follows in one message, in order', async () => {
  const { promise, resolve } = Promise.withResolvers<WebhookOutcome>()
  const { world, requests, userKey } = await single((_, at) => (at === 1 ? promise : RECEIVED))
  for (let count = 0; count < 4; count++) {
    world.commit(userKey)
    await world.clock.settled()
  }
  assert.equal(requests.length, 1)
  resolve(RECEIVED)
  await world.clock.settled()
  assert.deepEqual(requests.map(seqsOf), [[1], [2, 3, 4]])
})

test('a message that failed is tried again as it was, after 5 s, 30 s and 2 min, and later events wait', async () => {
  const { world, requests, endpoint, userKey } = await single((_, at) => (at < 4 ? REFUSED : RECEIVED))
  world.commit(userKey)
  await world.clock.settled()
  world.commit(userKey)
  await world.clock.advance(200_000)
  assert.deepEqual(requests.map(seqsOf), [[1], [1], [1], [1], [2]])
  const ids = requests.map(({ headers }) => headers['webhook-id'])
  assert.equal(new Set(ids.slice(0, 4)).size, 1)
  assert.notEqual(ids[3], ids[4])
  const waits = requests.slice(1, 4).map(({ atMs }, at) => Math.round((atMs - (requests[at]?.atMs ?? 0)) / 1_000))
  assert.deepEqual(waits, [5, 30, 120])
  assert.equal(world.cursor(endpoint, userKey).seq, 2)
})

test('Retry-After is obeyed when it is later', async () => {
  const { world, requests, userKey } = await single((_, at) => (at === 1 ? { ...REFUSED, retryAfter: '60' } : RECEIVED))
  world.commit(userKey)
  await world.clock.advance(59_000)
  assert.equal(requests.length, 1)
  await world.clock.advance(3_000)
  assert.equal(requests.length, 2)
})

test('an endpoint that answers 410 is disabled; enabled again, it receives what it missed', async () => {
  const gone: WebhookOutcome = { ...REFUSED, answer: { status: 410, body: '', isCut: false } }
  const { world, requests, endpoint, userKey } = await single((_, at) => (at === 1 ? gone : RECEIVED))
  world.commit(userKey)
  await world.clock.advance(60_000)
  world.commit(userKey)
  await world.clock.advance(3_600_000)
  assert.equal(requests.length, 1)
  assert.equal(world.endpoints.get(endpoint.endpointId)?.endpoint.disabled?.reason, 'gone')
  world.change(endpoint, { disabled: null })
  await world.clock.advance(11_000)
  assert.deepEqual(requests.slice(1).map(seqsOf), [[1], [2]])
})

for (const isKnown of [true, false])
  test(`an answer of the old address says nothing of the new one, which ${isKnown ? 'was' : 'was not yet'} known`, async () => {
    const { promise, resolve } = Promise.withResolvers<WebhookOutcome>()
    const { world, node, requests, endpoint, userKey } = await single((_, at) => (at < 4 ? REFUSED : at === 4 ? promise : RECEIVED))
    world.commit(userKey)
    await world.clock.advance(190_000)
    assert.deepEqual([requests.length, world.cursor(endpoint, userKey).attempts], [4, 3])
    world.change(endpoint, { url: 'https://moved.example/' })
    if (isKnown) node.bus.publish({ type: 'webhooks_changed', platformId: world.platformId })
    await world.clock.settled()
    resolve({ ...REFUSED, answer: { status: 410, body: '', isCut: false }, retryAfter: '3600' })
    await world.clock.settled()
    assert.equal(world.endpoints.get(endpoint.endpointId)?.endpoint.disabled, null)
    assert.equal(world.cursor(endpoint, userKey).attempts, 1)
    await world.clock.advance(16_000)
    assert.deepEqual([requests.at(-1)?.url, world.cursor(endpoint, userKey).seq], ['https://moved.example/', 1])
  })

test('an endpoint without a success for five days is disabled', async () => {
  const { world, endpoint, userKey } = await single(() => SILENT)
  world.commit(userKey)
  await world.clock.settled()
  world.change(endpoint, { failingSince: timestampOfMs(epochMs(world.clock.now()) - 5 * DAY_MS + 60_000) })
  await world.clock.advance(59_000)
  assert.equal(world.endpoints.get(endpoint.endpointId)?.endpoint.disabled ?? null, null)
  await world.clock.advance(120_000)
  assert.equal(world.endpoints.get(endpoint.endpointId)?.endpoint.disabled?.reason, 'failing')
})

test('events that retention erased before they were sent are stated in their place', async () => {
  const { world, requests, endpoint, userKey } = await single((_, at) => (at === 1 ? REFUSED : RECEIVED))
  for (let count = 0; count < 5; count++) world.commit(userKey)
  await world.clock.settled()
  world.erase(userKey, 1)
  await world.clock.advance(20_000)
  assert.deepEqual(requests.map(seqsOf), [
    [1, 2, 3, 4, 5],
    ['events_erased 1-4', 5]
  ])
  const other = world.addUser()
  world.unheard(() => {
    for (let count = 0; count < 3; count++) world.commit(other)
  })
  world.erase(other, 0)
  // The search for users who are behind.
  await world.clock.advance(60_000)
  assert.deepEqual(requests.slice(2).map(seqsOf), [['events_erased 1-3']])
  assert.equal(world.cursor(endpoint, other).seq, 3)
})

test('events that do not pass the filter move the cursor without being sent', async () => {
  const { world, requests, endpoint, userKey } = await single()
  world.change(endpoint, { filter: { topics: ['balances'], orderStatuses: null } })
  await world.clock.advance(11_000)
  for (const topic of ['positions', 'balances', 'positions', 'positions'] as const) {
    world.commit(userKey, topic)
    await world.clock.settled()
  }
  assert.deepEqual(requests.map(seqsOf), [[2]])
  assert.equal(world.cursor(endpoint, userKey).seq, 2)
  await world.clock.advance(11_000)
  assert.equal(world.cursor(endpoint, userKey).seq, 4)
})

test('a message has at most 100 events', async () => {
  const { world, requests, userKey } = await single()
  for (let count = 0; count < 250; count++) world.commit(userKey)
  await world.clock.settled()
  assert.deepEqual(
    requests.map(request => itemsOf(request).length),
    [100, 100, 50]
  )
})

test('a message that is tried first while its endpoint fails has ten events at most', async () => {
  let isFailing = true
  const { world, requests, userKey } = await single(() => (isFailing ? REFUSED : RECEIVED))
  for (let count = 0; count < 10; count++) world.commit(world.addUser())
  await world.clock.settled()
  for (let count = 0; count < 25; count++) world.commit(userKey)
  await world.clock.advance(1_000)
  isFailing = false
  await world.clock.advance(40_000)
  const userId = world.users.get(userKey)?.userId
  const own = requests.filter(request => itemsOf(request)[0]?.user_id === userId).map(request => itemsOf(request).length)
  assert.deepEqual(own, [10, 10, 15])
})

test('a release waits for the attempt on its way and writes how it ended; the next owner goes on', async () => {
  const { promise, resolve } = Promise.withResolvers<WebhookOutcome>()
  const { world, node, requests, endpoint, userKey } = await single(() => promise)
  world.commit(userKey)
  await world.clock.settled()
  const released = node.release()
  world.commit(userKey)
  let isReleased = false
  void released.then(() => (isReleased = true))
  await world.clock.settled()
  assert.equal(isReleased, false)
  resolve(RECEIVED)
  await released
  assert.equal(world.cursor(endpoint, userKey).seq, 1)
  const next: WebhookRequest[] = []
  await new WebhookNode(world, async request => {
    next.push(request)
    return RECEIVED
  }).own()
  await world.clock.settled()
  assert.deepEqual([requests.map(seqsOf), next.map(seqsOf)], [[[1]], [[2]]])
})

test('while the store is down nothing is sent; afterwards it goes on', async () => {
  const { world, requests, userKey } = await single()
  world.isDown = true
  world.commit(userKey)
  await world.clock.advance(30_000)
  assert.equal(requests.length, 0)
  world.isDown = false
  await world.clock.advance(5_000)
  assert.deepEqual(requests.map(seqsOf), [[1]])
})

test('the age of the oldest update that waits is known of each endpoint that is behind, also after another node took over', async () => {
  const world = new WebhookWorld()
  let isFailing = true
  const exchange = async ({ url }: WebhookRequest) => (isFailing && url.includes('dead') ? REFUSED : RECEIVED)
  const node = new WebhookNode(world, exchange)
  world.addEndpoint('https://dead.example/')
  world.addEndpoint('https://healthy.example/')
  const users = [world.addUser(), world.addUser()]
  await node.own()
  for (const userKey of users) {
    world.commit(userKey)
    await world.clock.advance(60_000)
  }
  assert.deepEqual(node.sender.lags(), [120])
  await node.release()
  const next = new WebhookNode(world, exchange)
  await next.own()
  await world.clock.advance(3_600_000)
  assert.deepEqual([node.sender.lags(), next.sender.lags()], [[], [3_720]])
  isFailing = false
  await world.clock.advance(7_200_000)
  assert.deepEqual(next.sender.lags(), [])
})

test('an update that is passed over does not count as waiting, and what comes after it does from then on', async () => {
  const { world, node, endpoint, userKey } = await single(() => REFUSED)
  world.change(endpoint, { filter: { topics: ['balances'], orderStatuses: null } })
  await world.clock.advance(11_000)
  world.commit(userKey, 'positions')
  await world.clock.advance(5_000)
  assert.deepEqual(node.sender.lags(), [])
  world.commit(userKey, 'balances')
  await world.clock.advance(4_000)
  assert.deepEqual(node.sender.lags(), [4])
})

test('stopped, it begins nothing more', async () => {
  const { world, node, requests, userKey } = await single()
  await node.sender.stop()
  world.commit(userKey)
  await world.clock.advance(120_000)
  assert.deepEqual([requests.length, world.clock.sleepers], [0, 0])
})
