// What platforms ask for besides: test messages while the store takes no writes, and how many replays run at once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PlatformId } from '@trunkline/core/domain/ids'
import type { WebhookEndpoint } from '@trunkline/core/domain/webhook'
import { CommitUnknown, StoreUnavailable } from '@trunkline/core/ports/store'
import type { KnownWebhookEndpoint, WebhookDelivery } from '@trunkline/core/ports/webhook-store'
import type { WebhookOutcome, WebhookRequest } from '../../src/webhooks/exchange.ts'
import { SentOnRequest } from '../../src/webhooks/requests.ts'
import { EVERYTHING, RECEIVED, uuidOf, WebhookWorld } from './webhook-world.ts'

/** What is asked for of one node. `keep` is the store's write of an attempt. */
function requestsIn(
  world: WebhookWorld,
  exchange: (request: WebhookRequest) => Promise<WebhookOutcome>,
  keep: (delivery: WebhookDelivery) => void = () => {}
) {
  const warnings: string[] = []
  const log = { debug() {}, info() {}, error() {}, warn: (message: string) => void warnings.push(message) }
  const requests = new SentOnRequest({
    ...{ clock: world.clock, vault: world.vault, log, exchange, ids: { uuid: uuidOf }, meter: { count() {} } },
    store: {
      ...world.store,
      webhooks: {
        endpoints: { find: async (_, endpointId) => world.endpoints.get(endpointId) ?? null },
        deliveries: { add: async delivery => keep(delivery) }
      }
    }
  })
  return { requests, warnings }
}

function known(world: WebhookWorld, { endpointId }: WebhookEndpoint): KnownWebhookEndpoint {
  return world.endpoints.get(endpointId) ?? assert.fail('the world has no such endpoint')
}

test('a test message that was sent is answered as such, whether it could be kept, could not, or nobody knows', async () => {
  const world = new WebhookWorld()
  let failure: Error | null = null
  const kept: WebhookDelivery[] = []
  const { requests, warnings } = requestsIn(
    world,
    async () => RECEIVED,
    delivery => {
      if (failure !== null) throw failure
      kept.push(delivery)
    }
  )
  const endpoint = known(world, world.addEndpoint('https://hooks.example/'))
  const first = await requests.test(endpoint)
  assert.deepEqual([first.isKept, kept, warnings.length], [true, [first.delivery], 0])
  for (const [cause, isKept] of [
    [new StoreUnavailable('down'), false],
    [new CommitUnknown('lost'), null]
  ] as const) {
    failure = cause
    const { delivery, ...rest } = await requests.test(endpoint)
    assert.deepEqual([delivery.answer?.status, delivery.failure, rest], [204, null, { isKept }])
  }
  assert.equal(warnings.length, 2)
  failure = new Error('a fault of the program')
  await assert.rejects(requests.test(endpoint), failure)
})

test('a platform has two of the four replays that run at once', async () => {
  const world = new WebhookWorld()
  const answers: (() => void)[] = []
  const { requests } = requestsIn(world, () => {
    const { promise, resolve } = Promise.withResolvers<WebhookOutcome>()
    answers.push(() => resolve(RECEIVED))
    return promise
  })
  const platforms = [world.platformId, uuidOf<PlatformId>(), uuidOf<PlatformId>()]
  const parts = platforms.map(platformId => {
    const userKey = world.addUser(platformId)
    const endpoint = known(world, world.addEndpoint(`https://${platformId}.example/`, EVERYTHING, platformId))
    world.commit(userKey)
    return { endpoint, wanted: { userKey, from: 1, to: 1 } }
  })
  const begin = (at: number) => {
    const { endpoint, wanted } = parts[at] ?? assert.fail('no such platform')
    return requests.replay(endpoint, wanted)
  }
  assert.deepEqual([begin(0), begin(0), begin(0)], [true, true, false])
  assert.deepEqual([begin(1), begin(2), begin(2)], [true, true, false])
  await world.clock.settled()
  for (const answer of answers.splice(0)) answer()
  await world.clock.settled()
  assert.deepEqual([begin(0), begin(2)], [true, true])
  await world.clock.settled()
  for (const answer of answers.splice(0)) answer()
  await requests.stop()
})
