// Webhook endpoints by operators: what they do for a platform, and what is written about it.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { parseUserId, type UserKey, type WebhookDeliveryId } from '@trunkline/core/domain/ids'
import type { BusMessage } from '@trunkline/core/ports/bus'
import type { WebhookReplay } from '@trunkline/core/ports/webhook-requests'
import type { WebhookDelivery } from '@trunkline/core/ports/webhook-store'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import { AdminRefused } from '../../src/admin/operations.ts'
import type { SqlStore } from '../../src/store/index.ts'
import { EnvelopeVault } from '../../src/vault/envelope.ts'
import { SentOnRequest } from '../../src/webhooks/requests.ts'
import { adminOver, directory, embedded, entry, hasher, ids, keysIn, quiet, run, webhooksWith } from './support.ts'

const ALL = { topics: null, orderStatuses: null }
const UNKNOWN = '01a1fc40-bac8-7000-9fad-169d6cee0b61'

/** One store for all tests of the file: it takes longer to start than all of them. */
async function opened(context: TestContext) {
  const dataDir = directory(context)
  const store = await embedded(context, dataDir)
  const keys = keysIn(dataDir)
  const clock = new VirtualClock()
  const published: BusMessage[] = []
  const replayed: WebhookReplay[] = []
  const vault = new EnvelopeVault(keys.ring)
  const outcome = { answer: { status: 204, body: '', isCut: false }, failure: null, retryAfter: null }
  const sent = new SentOnRequest({ store, clock, ids, vault, log: quiet, meter: { count() {} }, exchange: async () => outcome })
  const requests = {
    countTest: sent.countTest.bind(sent),
    test: sent.test.bind(sent),
    bodyOf: sent.bodyOf.bind(sent),
    replay: (_: unknown, events: WebhookReplay) => replayed.push(events) > 0
  }
  const bus = { publish: (message: BusMessage) => void published.push(message) }
  const admin = adminOver(store, keys, { bus, webhooks: { ...webhooksWith(() => keys), requests } })
  return { store, keys, clock, admin, published, replayed }
}

/** A new platform, and what an endpoint of it is made of. */
async function platformIn({ admin }: Pick<Awaited<ReturnType<typeof opened>>, 'admin'>) {
  const { platformId: platform } = await admin.perform('platform.create', { name: 'App', redirects: [], claims: false }, run())
  return { platform, fields: { platform, url: 'https://hooks.example.com/in?token=1', description: 'books', filter: ALL } }
}

const actionsOf = async (store: SqlStore, platform: string) =>
  (await store.audit.list(50))
    .filter(({ action, detail }) => action.startsWith('webhook') && detail.platform_id === platform)
    .map(({ actor, action, detail }) => ({ actor, action, detail }))

test('webhook endpoints by operators', async context => {
  const world = await opened(context)
  const { store, keys, clock, admin, published, replayed } = world

  await context.test('an endpoint is created, listed, disabled and enabled, and given new keys; the operator is on record', async () => {
    const { platform, fields } = await platformIn(world)
    const { endpoint, secret, publicKeys } = await admin.perform('webhook.create', fields, run())
    assert.match(secret, /^whsec_/)
    assert.equal(publicKeys.length, 1)
    const named = { platform, endpointId: endpoint.endpointId }
    assert.equal((await admin.perform('webhook.disable', named, run())).disabled?.reason, 'requested')
    assert.equal((await admin.perform('webhook.enable', named, run())).disabled, null)
    const rotated = await admin.perform('webhook.rotate', { ...named, overlapHours: 1 }, run())
    assert.notEqual(rotated.secret, secret)
    assert.equal(rotated.publicKeys[1], publicKeys[0])
    const [listed] = await admin.perform('webhook.list', { platform }, run())
    assert.deepEqual([listed?.endpoint.url, listed?.lag], [fields.url, { users: 0, events: 0, isLowerBound: false, oldestAt: null }])
    const by = { by: 'tester@here', platform_id: platform }
    assert.deepEqual(await actionsOf(store, platform), [
      { actor: 'operator', action: 'webhook_endpoint.rotate_keys', detail: { ...by, overlap_hours: 1 } },
      { actor: 'operator', action: 'webhook_endpoint.enable', detail: by },
      { actor: 'operator', action: 'webhook_endpoint.disable', detail: by },
      { actor: 'operator', action: 'webhook_endpoint.create', detail: { ...by, host: 'hooks.example.com' } }
    ])
    assert.equal(published.filter(({ type }) => type === 'webhooks_changed').length, 4)
  })

  await context.test('what cannot be is refused, and of another platform nothing is found', async () => {
    const { platform, fields } = await platformIn(world)
    const refuses = (work: Promise<unknown>, why: RegExp) =>
      assert.rejects(work, (cause: unknown) => cause instanceof AdminRefused && why.test(cause.message))
    await refuses(admin.perform('webhook.create', { ...fields, url: 'https://10.0.0.1/' }, run()), /url/)
    await refuses(admin.perform('webhook.disable', { platform, endpointId: UNKNOWN }, run()), /no webhook endpoint/)
    const { endpoint } = await admin.perform('webhook.create', fields, run())
    const other = await admin.perform('platform.create', { name: 'Other', redirects: [], claims: false }, run())
    const stray = { platform: other.platformId, endpointId: endpoint.endpointId }
    await refuses(admin.perform('webhook.rotate', { ...stray, overlapHours: 0 }, run()), /no webhook endpoint/)
    await refuses(admin.perform('webhook.list', { platform: 'pk_nobody' }, run()), /no platform/)
    await admin.perform('platform.disable', { platform }, run())
    await refuses(admin.perform('webhook.create', fields, run()), /platform is disabled/)
  })

  await context.test('attempts are shown with their users, and a message is sent again; a range that is not there is refused', async () => {
    const { platform, fields } = await platformIn(world)
    const { endpoint } = await admin.perform('webhook.create', fields, run())
    const { platformId, endpointId } = endpoint
    const user = { userKey: ids.uuid<UserKey>(), platformId, userId: parseUserId('ada'), createdAt: endpoint.createdAt }
    await store.users.create(user, hasher.hash('y'), entry('user.create'))
    const delivery: WebhookDelivery = {
      ...{ deliveryId: ids.uuid<WebhookDeliveryId>(), endpointId, messageId: 'msg_1', userKey: user.userKey, reason: 'event', attempt: 1 },
      ...{ events: { from: 3, to: 5, firstEventId: null, count: 3 }, startedAt: endpoint.createdAt, tookMs: 7, requestHeaders: {} },
      ...{ requestBytes: 2, answer: null, failure: 'timeout', retryAt: null }
    }
    await store.webhooks.deliveries.add(delivery)
    const wanted = { platform, endpointId, userId: null, messageId: null, outcome: null, limit: 10 }
    assert.deepEqual(await admin.perform('webhook.deliveries', wanted, run()), [{ delivery, userId: 'ada' }])
    assert.deepEqual(await admin.perform('webhook.deliveries', { ...wanted, outcome: 'succeeded' }, run()), [])
    const again = { platform, endpointId }
    assert.deepEqual(await admin.perform('webhook.replay', { ...again, wanted: { messageId: 'msg_1' } }, run()), { from: 3, to: 5 })
    const beyond = { ...again, wanted: { userId: 'ada', from: 1, to: 2 } }
    await assert.rejects(admin.perform('webhook.replay', beyond, run()), /from_seq must be at most 0/)
    assert.deepEqual(replayed, [{ userKey: user.userKey, from: 3, to: 5 }])
  })

  await context.test('an endpoint is sent six test messages at once, and then one in ten seconds', async () => {
    const { platform, fields } = await platformIn(world)
    const [first, second] = [await admin.perform('webhook.create', fields, run()), await admin.perform('webhook.create', fields, run())]
    const send = (endpointId: string) => admin.perform('webhook.test', { platform, endpointId }, run())
    const refused = /6 test messages a minute/
    for (let count = 0; count < 6; count++) assert.equal((await send(first.endpoint.endpointId)).delivery.failure, null)
    await assert.rejects(send(first.endpoint.endpointId), refused)
    assert.equal((await send(second.endpoint.endpointId)).delivery.reason, 'test')
    await clock.advance(10_000)
    await send(first.endpoint.endpointId)
    await assert.rejects(send(first.endpoint.endpointId), refused)
    assert.equal((await actionsOf(store, platform)).filter(({ action }) => action === 'webhook_endpoint.test').length, 8)
  })

  await context.test('without a service nothing is sent, and nothing is written about it', async () => {
    const { platform, fields } = await platformIn(world)
    const { endpoint } = await admin.perform('webhook.create', fields, run())
    const before = (await actionsOf(store, platform)).length
    const alone = adminOver(store, keys)
    const named = { platform, endpointId: endpoint.endpointId }
    await assert.rejects(alone.perform('webhook.test', named, run()), /Start it, and run this again/)
    await assert.rejects(alone.perform('webhook.replay', { ...named, wanted: { messageId: 'msg_1' } }, run()), /Start it/)
    assert.equal((await actionsOf(store, platform)).length, before)
    assert.equal((await alone.perform('webhook.list', { platform }, run())).length, 1)
  })
})
