// A late answer says nothing of what was changed meanwhile.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WebhookOutcome } from '../../src/webhooks/exchange.ts'
import { single } from './single-endpoint.ts'
import { RECEIVED, REFUSED } from './webhook-world.ts'

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

test('a 410 does not disable an endpoint that was changed at another node, which this one does not know of yet', async () => {
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
