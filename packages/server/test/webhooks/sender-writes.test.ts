// Successes are written while what is next is sent.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StoreUnavailable } from '@trunkline/core/ports/store'
import { EndpointQueue } from '../../src/webhooks/endpoint-queue.ts'
import type { WebhookRequest } from '../../src/webhooks/exchange.ts'
import { newWebhookKeys, WebhookSigner } from '../../src/webhooks/signing-keys.ts'
import { seqsOf, single } from './single-endpoint.ts'
import { RECEIVED, WebhookNode, WebhookWorld } from './webhook-world.ts'

test('what is next is sent while a success is being written, and one success is written at a time', async () => {
  const { world, node, requests, endpoint, userKey } = await single()
  const writes: (() => void)[] = []
  world.beforeWrite = () => new Promise(resolve => void writes.push(resolve))
  for (let count = 0; count < 3; count++) {
    world.commit(userKey)
    await world.clock.settled()
  }
  assert.deepEqual([requests.map(seqsOf), writes.length, world.cursor(endpoint, userKey).seq], [[[1], [2]], 1, 0])
  const write = async () => {
    writes.shift()?.()
    await world.clock.settled()
    return [requests.length, writes.length, world.cursor(endpoint, userKey).seq]
  }
  assert.deepEqual(
    [await write(), await write(), await write()],
    [
      [3, 1, 1],
      [3, 1, 2],
      [3, 0, 3]
    ]
  )
  assert.deepEqual([world.deliveries.length, node.sender.waiting], [3, 0])
})

test('a success that was not written is sent again, from where the store is', async () => {
  const { world, node, requests, endpoint, userKey } = await single()
  let isLost = true
  world.beforeWrite = async () => {
    if (isLost) throw new StoreUnavailable('the write was lost')
  }
  world.commit(userKey)
  await world.clock.advance(1_000)
  isLost = false
  await world.clock.advance(3_000)
  const [first, second] = requests.map(({ headers }) => headers['webhook-id'])
  assert.equal(first, second)
  assert.equal(world.cursor(endpoint, userKey).seq, 1)
  assert.deepEqual([world.deliveries.length, node.sender.waiting], [1, 0])
})

test('while the store is slow, no more successes wait to be written than twice the places', async () => {
  const world = new WebhookWorld()
  const requests: WebhookRequest[] = []
  const node = new WebhookNode(
    world,
    async request => {
      requests.push(request)
      return RECEIVED
    },
    { limits: { places: 3 } }
  )
  world.addEndpoint('https://hooks.example/')
  const users = Array.from({ length: 20 }, () => world.addUser())
  const { promise, resolve } = Promise.withResolvers<void>()
  world.beforeWrite = () => promise
  await node.own()
  for (const userKey of users) world.commit(userKey)
  await world.clock.advance(5_000)
  assert.ok(requests.length >= 3 && requests.length <= 6, `${requests.length} were sent`)
  resolve()
  await world.clock.settled()
  assert.deepEqual([requests.length, node.sender.waiting], [20, 0])
})

test('an endpoint that is changed while a success is being written is not sent it again', async () => {
  const { world, requests, endpoint, userKey } = await single()
  const { promise, resolve } = Promise.withResolvers<void>()
  world.beforeWrite = () => promise
  world.commit(userKey)
  await world.clock.settled()
  world.change(endpoint, { description: 'other' })
  await world.clock.advance(11_000)
  resolve()
  await world.clock.advance(11_000)
  world.commit(userKey)
  await world.clock.settled()
  assert.deepEqual(requests.map(seqsOf), [[1], [2]])
})

test('a user whose success is being written is not left out in favour of others', async () => {
  const world = new WebhookWorld()
  const { endpointId } = world.addEndpoint('https://hooks.example/')
  const known = world.endpoints.get(endpointId) ?? assert.fail()
  const queue = new EndpointQueue(known, new WebhookSigner(newWebhookKeys()))
  queue.add(world.addUser(), 2, world.clock.now())
  const chain = queue.take() ?? assert.fail()
  assert.equal(queue.evictable(), null)
  chain.writing = Promise.resolve()
  queue.end(chain, 'ready', world.clock.now())
  assert.equal(queue.evictable(), null)
  chain.writing = null
  assert.equal(queue.evictable(), chain)
})

test('a release waits for a success that is being written', async () => {
  const { world, node, endpoint, userKey } = await single()
  const { promise, resolve } = Promise.withResolvers<void>()
  world.beforeWrite = () => promise
  world.commit(userKey)
  await world.clock.settled()
  const released = node.release()
  let isReleased = false
  void released.then(() => (isReleased = true))
  await world.clock.settled()
  assert.equal(isReleased, false)
  resolve()
  await released
  assert.equal(world.cursor(endpoint, userKey).seq, 1)
})
