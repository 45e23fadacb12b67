// One endpoint, one filter or one platform takes nothing from others, and a late answer says nothing of what was changed meanwhile.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WebhookOutcome } from '../../src/webhooks/exchange.ts'
import { single } from './single-endpoint.ts'
import { RECEIVED, REFUSED, WebhookNode, WebhookWorld } from './webhook-world.ts'

const GONE: WebhookOutcome = { answer: { status: 410, body: '', isCut: false }, failure: 'status', retryAfter: null }

test('a late 410 of an address that was replaced disables nothing, and the new one is tried', async () => {
  const { promise, resolve } = Promise.withResolvers<WebhookOutcome>()
  const { world, node, requests, endpoint, userKey } = await single((_, at) => (at === 1 ? promise : RECEIVED))
  world.commit(userKey)
  await world.clock.settled()
  world.change(endpoint, { url: 'https://new.example/' })
  node.bus.publish({ type: 'webhooks_changed', platformId: world.platformId })
  await world.clock.settled()
  resolve(GONE)
  await world.clock.advance(10_000)
  assert.equal(world.endpoints.get(endpoint.endpointId)?.endpoint.disabled, null)
  assert.deepEqual(
    requests.map(({ url }) => url),
    ['https://hooks.example/', 'https://new.example/']
  )
  assert.equal(world.cursor(endpoint, userKey).seq, 1)
})

test('a 410 does not disable an endpoint that was changed at another node, which this one has not heard of', async () => {
  const { world, endpoint, userKey } = await single((_, at) => (at === 1 ? GONE : RECEIVED))
  world.change(endpoint, { url: 'https://new.example/' })
  world.commit(userKey)
  await world.clock.advance(60_000)
  assert.equal(world.endpoints.get(endpoint.endpointId)?.endpoint.disabled, null)
  assert.equal(world.cursor(endpoint, userKey).seq, 1)
})

test('what was tried before a change does not lengthen the wait after it', async () => {
  const { promise, resolve } = Promise.withResolvers<WebhookOutcome>()
  const { world, node, requests, endpoint, userKey } = await single((_, at) => (at === 3 ? promise : at > 3 ? RECEIVED : REFUSED))
  world.commit(userKey)
  await world.clock.advance(60_000)
  assert.equal(requests.length, 3)
  world.change(endpoint, { url: 'https://new.example/' })
  node.bus.publish({ type: 'webhooks_changed', platformId: world.platformId })
  await world.clock.settled()
  resolve(REFUSED)
  await world.clock.advance(7_000)
  assert.equal(requests.length, 4, 'the first wait again, and not the third')
})

test('users whose events a filter leaves out wait for nothing, take no place, and are written within seconds', async () => {
  const world = new WebhookWorld()
  const { promise } = Promise.withResolvers<WebhookOutcome>()
  const node = new WebhookNode(world, async () => await promise, { limits: { places: 1, waitingMax: 200 } })
  const filtered = world.addEndpoint('https://orders.example/', { topics: ['orders'], orderStatuses: null })
  const users = Array.from({ length: 200 }, () => world.addUser())
  await node.own()
  for (const userKey of users.slice(0, 40)) {
    world.commit(userKey)
    await world.clock.settled()
  }
  assert.equal(node.sender.waiting, 0)
  for (const userKey of users.slice(40)) {
    world.commit(userKey)
    await world.clock.settled()
  }
  assert.equal(node.sender.waiting, 0)
  await world.clock.advance(12_000)
  assert.deepEqual(
    users.map(userKey => world.cursor(filtered, userKey).seq),
    users.map(() => 1)
  )
})

test('a platform has so many attempts on their way, whatever its endpoints are; each of them has its turn', async () => {
  const world = new WebhookWorld()
  const open: ((outcome: WebhookOutcome) => void)[] = []
  const asked: string[] = []
  const node = new WebhookNode(
    world,
    ({ url }) => {
      asked.push(url)
      return new Promise(resolve => open.push(resolve))
    },
    { limits: { places: 8, platformPlaces: 2 } }
  )
  const urls = ['a', 'b', 'c', 'd'].map(name => `https://${name}.example/`)
  for (const url of urls) world.addEndpoint(url)
  const userKey = world.addUser()
  await node.own()
  world.commit(userKey)
  for (let turn = 0; turn < 4; turn += 1) {
    await world.clock.settled()
    assert.ok(node.sender.attempts <= 2)
    open.shift()?.(RECEIVED)
  }
  await world.clock.settled()
  assert.deepEqual(asked.toSorted(), urls)
})
