// One endpoint, one filter or one platform takes nothing from others, and a late answer says nothing of what was changed meanwhile.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WebhookOutcome } from '../../src/webhooks/exchange.ts'
import { single } from './single-endpoint.ts'
import { EVERYTHING, RECEIVED, REFUSED, uuidOf, WebhookNode, WebhookWorld } from './webhook-world.ts'

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
