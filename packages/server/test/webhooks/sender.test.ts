import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { epochMs, timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { WebhookOutcome, WebhookRequest } from '../../src/webhooks/exchange.ts'
import { DAY_MS } from '../../src/webhooks/retries.ts'
import { itemsOf, seqsOf, single } from './single-endpoint.ts'
import { EVERYTHING, RECEIVED, REFUSED, SILENT, uuidOf, WebhookNode, WebhookWorld } from './webhook-world.ts'

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
  // Not heard of: the next one leaves a gap.
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

test('of commits that are heard of in another order, the newest counts', async () => {
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

for (const isHeard of [true, false])
  test(`an answer of the old address says nothing of the new one, which ${isHeard ? 'was' : 'was not yet'} heard of`, async () => {
    const { promise, resolve } = Promise.withResolvers<WebhookOutcome>()
    const { world, node, requests, endpoint, userKey } = await single((_, at) => (at < 4 ? REFUSED : at === 4 ? promise : RECEIVED))
    world.commit(userKey)
    await world.clock.advance(190_000)
    assert.deepEqual([requests.length, world.cursor(endpoint, userKey).attempts], [4, 3])
    world.change(endpoint, { url: 'https://moved.example/' })
    if (isHeard) node.bus.publish({ type: 'webhooks_changed', platformId: world.platformId })
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

test('users whose events are passed over take no space from others, and are written together, without places', async () => {
  const world = new WebhookWorld()
  const received: string[] = []
  const exchange = async ({ url }: WebhookRequest) => {
    received.push(url)
    return RECEIVED
  }
  const node = new WebhookNode(world, exchange, { limits: { waitingMax: 60, places: 2 } })
  const filtered = world.addEndpoint('https://filtered.example/', { topics: ['balances'], orderStatuses: null })
  const users = Array.from({ length: 30 }, () => world.addUser())
  await node.own()
  for (const userKey of users) world.commit(userKey)
  await world.clock.settled()
  world.addEndpoint('https://healthy.example/')
  await world.clock.advance(9_000)
  assert.deepEqual([node.sender.waiting, world.cursors.size], [0, 30])
  let writes = 0
  const { promise, resolve } = Promise.withResolvers<void>()
  world.beforeWrite = () => {
    writes += 1
    return promise
  }
  await world.clock.advance(2_000)
  assert.deepEqual([writes, node.sender.attempts, node.sender.waiting], [30, 0, 0])
  resolve()
  await world.clock.settled()
  for (const userKey of users) {
    world.commit(userKey)
    assert.equal(world.cursor(filtered, userKey).seq, 1)
  }
  await world.clock.settled()
  assert.deepEqual([received.length, node.sender.waiting], [30, 0])
})

test('beyond the bound, users whose events are passed over are left to the next searches', async () => {
  const world = new WebhookWorld()
  const node = new WebhookNode(world, async () => RECEIVED, { limits: { waitingMax: 10 } })
  const endpoint = world.addEndpoint('https://hooks.example/', { topics: ['balances'], orderStatuses: null })
  const users = Array.from({ length: 25 }, () => world.addUser())
  await node.own()
  const written = () => users.filter(userKey => world.cursor(endpoint, userKey).seq === 1).length
  for (const userKey of users) {
    world.commit(userKey)
    await world.clock.settled()
  }
  await world.clock.advance(11_000)
  assert.equal(written(), 10)
  await world.clock.advance(150_000)
  assert.equal(written(), 25)
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

test('an endpoint that fails has one place and an attempt a second, until one succeeds; others keep theirs', async () => {
  const world = new WebhookWorld()
  const open = new Map<string, ((outcome: WebhookOutcome) => void)[]>()
  const node = new WebhookNode(world, ({ url }) => {
    const { promise, resolve } = Promise.withResolvers<WebhookOutcome>()
    open.set(url, [...(open.get(url) ?? []), resolve])
    return promise
  })
  const [dead, healthy] = [world.addEndpoint('https://dead.example/'), world.addEndpoint('https://healthy.example/')]
  const users = Array.from({ length: 50 }, () => world.addUser())
  await node.own()
  for (const userKey of users) world.commit(userKey)
  await world.clock.settled()
  const answer = async (url: string, outcome: WebhookOutcome) => {
    const waiting = open.get(url) ?? []
    open.set(url, [])
    for (const resolve of waiting) resolve(outcome)
    await world.clock.settled()
    return waiting.length
  }
  assert.equal(await answer(dead.url, SILENT), 32)
  assert.equal(await answer(healthy.url, RECEIVED), 32)
  assert.equal(await answer(healthy.url, RECEIVED), 18)
  assert.equal(await answer(dead.url, REFUSED), 0)
  await world.clock.advance(1_000)
  assert.equal(await answer(dead.url, REFUSED), 1)
  assert.equal(await answer(dead.url, REFUSED), 0)
  await world.clock.advance(1_000)
  assert.equal(await answer(dead.url, RECEIVED), 1)
  assert.equal(open.get(dead.url)?.length, 16)
})

test('a platform holds 64 places at most, of all its endpoints, and each of these has its turn', async () => {
  const world = new WebhookWorld()
  const open: { url: string; answer: (outcome: WebhookOutcome) => void }[] = []
  const node = new WebhookNode(world, ({ url }) => {
    const { promise, resolve } = Promise.withResolvers<WebhookOutcome>()
    open.push({ url, answer: resolve })
    return promise
  })
  for (let at = 0; at < 4; at++) world.addEndpoint(`https://held.example/${at}`)
  const other = uuidOf<typeof world.platformId>()
  world.addEndpoint('https://other.example/', EVERYTHING, other)
  const users = Array.from({ length: 40 }, () => world.addUser())
  await node.own()
  for (const userKey of users) world.commit(userKey)
  await world.clock.settled()
  const held = (part: string) => open.filter(({ url }) => url.includes(part)).length
  assert.equal(held('held.example'), 64)
  world.commit(world.addUser(other))
  await world.clock.settled()
  assert.equal(held('other.example'), 1)
  for (let round = 0; open.length > 0; round++) {
    assert.ok(held('held.example') <= 64 && round < 10, `${held('held.example')} at once`)
    for (const { answer } of open.splice(0)) answer(RECEIVED)
    await world.clock.settled()
  }
  assert.equal(node.sender.waiting, 0)
})

test('slow endpoints have 16 places each, and half of all together', async () => {
  const world = new WebhookWorld()
  const atOnce = new Map<string, number>()
  const node = new WebhookNode(
    world,
    async ({ url }) => {
      atOnce.set(url, (atOnce.get(url) ?? 0) + 1)
      await world.clock.sleep(2_000)
      atOnce.set(url, (atOnce.get(url) ?? 0) - 1)
      return RECEIVED
    },
    { limits: { places: 40 } }
  )
  const platforms = [world.platformId, uuidOf<typeof world.platformId>()]
  const users = platforms.flatMap(platformId => {
    world.addEndpoint(`https://${platformId}.example/`, EVERYTHING, platformId)
    return Array.from({ length: 120 }, () => world.addUser(platformId))
  })
  await node.own()
  for (const userKey of users) world.commit(userKey)
  await world.clock.advance(7_000)
  const each = [...atOnce.values()]
  assert.deepEqual([each.length, each.every(count => count > 0 && count <= 16), node.sender.attempts], [2, true, 20])
  await world.clock.advance(40_000)
  assert.equal(node.sender.waiting, 0)
})

test('another description leaves a failing endpoint its one place, another address gives it all', async () => {
  const { world, node, requests, endpoint } = await single(() => REFUSED)
  for (let count = 0; count < 60; count++) world.commit(world.addUser())
  await world.clock.advance(60_000)
  const tried = async (next: Parameters<typeof world.change>[1]) => {
    const before = requests.length
    world.change(endpoint, next)
    node.bus.publish({ type: 'webhooks_changed', platformId: world.platformId })
    await world.clock.settled()
    return requests.length - before
  }
  const [described, moved] = [await tried({ description: 'other' }), await tried({ url: 'https://moved.example/' })]
  assert.ok(described <= 1 && moved >= 10, `${described} and ${moved} attempts`)
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

test('beyond the bound, users of the endpoint with most are left out, and found again', async () => {
  const world = new WebhookWorld()
  let isFailing = true
  const received = new Set<string>()
  const exchange = async (request: WebhookRequest) => {
    if (request.url.includes('dead') && isFailing) return REFUSED
    for (const { user_id } of itemsOf(request)) received.add(`${request.url} ${user_id}`)
    return RECEIVED
  }
  const node = new WebhookNode(world, exchange, { limits: { waitingMax: 10 } })
  world.addEndpoint('https://dead.example/')
  world.addEndpoint('https://healthy.example/')
  const users = Array.from({ length: 30 }, () => world.addUser())
  await node.own()
  for (const userKey of users) {
    world.commit(userKey)
    await world.clock.settled()
    assert.ok(node.sender.waiting <= 10, `${node.sender.waiting} wait`)
  }
  await world.clock.advance(120_000)
  assert.equal([...received].filter(name => name.includes('healthy')).length, 30)
  isFailing = false
  await world.clock.advance(3_600_000)
  assert.equal([...received].filter(name => name.includes('dead')).length, 30)
  assert.equal(node.sender.waiting, 0)
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
