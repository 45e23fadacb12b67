// Webhooks: endpoints of a platform, cursors that never move back, and the attempts that were made.
import assert from 'node:assert/strict'
import type { Platform } from '@trunkline/core/domain/account'
import type { WebhookEndpointId } from '@trunkline/core/domain/ids'
import { ALL_PARTITIONS, type Partition, partitionOf } from '@trunkline/core/domain/partition'
import type { WebhookCursor, WebhookEndpoint, WebhookFilter } from '@trunkline/core/domain/webhook'
import type { Store } from '@trunkline/core/ports/store'
import type { WebhookDelivery } from '@trunkline/core/ports/webhook-store'
import type { DefineCase } from './harness.ts'
import * as make from './records.ts'

const LIMIT = 16
const ALL: ReadonlySet<Partition> = new Set(ALL_PARTITIONS)
const ALL_EVENTS: WebhookFilter = { topics: null, orderStatuses: null }
const FILLED: WebhookFilter = { topics: null, orderStatuses: ['filled'] }

export function webhookCases(contractCase: DefineCase): void {
  contractCase('W10', 'an endpoint is found by its own platform only, and lists are in order of creation', async ({ store, beside }) => {
    const [platform, other] = [await platformIn(store), await platformIn(store)]
    const [second, first] = [
      make.webhookEndpoint(platform, { createdAt: make.at(20) }),
      make.webhookEndpoint(platform, { createdAt: make.at(10) })
    ]
    const keys = make.sealed()
    for (const each of [second, first]) assert.equal(await store.webhooks.endpoints.create(each, keys, LIMIT, make.audit()), true)
    const { endpointId } = first
    assert.deepEqual(await beside.webhooks.endpoints.find(platform.platformId, endpointId), { endpoint: first, keys })
    assert.equal(await beside.webhooks.endpoints.find(other.platformId, endpointId), null)
    assert.deepEqual(await beside.webhooks.endpoints.list(platform.platformId), [first, second])
    assert.deepEqual(await beside.webhooks.endpoints.list(other.platformId), [])
  })

  contractCase(
    'W20',
    'a platform has no more endpoints than the limit, however many come at once; a disabled one gets none',
    async ({ store, beside }) => {
      const platform = await platformIn(store)
      const made = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          (index % 2 === 0 ? store : beside).webhooks.endpoints.create(make.webhookEndpoint(platform), make.sealed(), 3, make.audit())
        )
      )
      assert.equal(made.filter(Boolean).length, 3)
      const disabled = await platformIn(store)
      await store.platforms.setDisabled(disabled.platformId, make.at(1), make.audit())
      assert.equal(await store.webhooks.endpoints.create(make.webhookEndpoint(disabled), make.sealed(), 3, make.audit()), false)
      assert.equal(await store.webhooks.endpoints.create(make.webhookEndpoint(make.platform()), make.sealed(), 3, make.audit()), false)
    }
  )

  contractCase('W30', 'an edit is made over one revision; keys are replaced once; both are audited', async ({ store }) => {
    const platform = await platformIn(store)
    const { endpoints } = store.webhooks
    const made = await created(store, platform)
    const next = { url: 'https://b.example/in', description: 'new', filter: { topics: ['orders'], orderStatuses: ['filled'] } } as const
    const tries = await Promise.all([1, 1].map(over => endpoints.edit(made.endpointId, over, next, make.audit('webhook.edited'))))
    assert.deepEqual(tries.toSorted(), [false, true])
    assert.deepEqual((await endpoints.find(platform.platformId, made.endpointId))?.endpoint, { ...made, ...next, revision: 2 })
    const keys = make.sealed(2)
    assert.equal(await endpoints.replaceKeys(made.endpointId, keys, make.audit()), true)
    assert.equal(await endpoints.replaceKeys(made.endpointId, make.sealed(2), make.audit()), false)
    assert.deepEqual((await endpoints.find(platform.platformId, made.endpointId))?.keys, keys)
    assert.equal(await endpoints.edit(make.uuid(), 1, next, make.audit()), false)
    assert.equal(await endpoints.remove(made.endpointId, make.audit()), true)
    assert.equal(await endpoints.remove(made.endpointId, make.audit()), false)
  })

  contractCase('W35', 'an edit ends the waits for retries, and no other', async ({ store }) => {
    const { platform, user } = await make.owner(store)
    const { endpoints, cursors } = store.webhooks
    const [{ endpointId }, other] = [await created(store, platform), await created(store, platform)]
    const waiting: WebhookCursor = { seq: 0, tryingTo: 3, attempts: 9, retryAt: make.at(500) }
    for (const id of [endpointId, other.endpointId])
      await cursors.progress({ endpointId: id, userKey: user.userKey, cursor: waiting, delivery: null })
    const next = { url: 'https://b.example/in', description: '', filter: { topics: null, orderStatuses: null } }
    assert.equal(await endpoints.edit(endpointId, 7, next, make.audit()), false)
    assert.deepEqual(await cursors.find(endpointId, user.userKey), waiting)
    assert.equal(await endpoints.edit(endpointId, 1, next, make.audit()), true)
    assert.deepEqual(await cursors.find(endpointId, user.userKey), { ...waiting, attempts: 0, retryAt: null })
    assert.deepEqual(await cursors.find(other.endpointId, user.userKey), waiting)
  })

  contractCase(
    'W37',
    'what was found of a revision says nothing of the next: neither how often it was tried, nor to disable it',
    async ({ store }) => {
      const { platform, user } = await make.owner(store)
      const { endpoints, cursors } = store.webhooks
      const { endpointId } = await created(store, platform)
      const waiting: WebhookCursor = { seq: 0, tryingTo: 3, attempts: 9, retryAt: make.at(9_000) }
      const otherwise = { attempts: 1, retryAt: make.at(500) }
      const step = { endpointId, userKey: user.userKey, cursor: waiting, delivery: null, tried: { revision: 1, otherwise } }
      assert.equal(await cursors.progress(step), true)
      assert.deepEqual(await cursors.find(endpointId, user.userKey), waiting)
      const next = { url: 'https://b.example/in', description: '', filter: { topics: null, orderStatuses: null } }
      assert.equal(await endpoints.edit(endpointId, 1, next, make.audit()), true)
      assert.equal(await cursors.progress(step), true)
      assert.deepEqual(await cursors.find(endpointId, user.userKey), { ...waiting, ...otherwise })
      const gone = { at: make.at(200), reason: 'gone' } as const
      assert.equal(await endpoints.setDisabled(endpointId, gone, make.audit(), 1), false)
      assert.equal((await endpoints.find(platform.platformId, endpointId))?.endpoint.disabled, null)
      assert.equal(await endpoints.setDisabled(endpointId, gone, make.audit(), 2), true)
    }
  )

  contractCase('W40', 'only enabled endpoints of enabled platforms are active; enabling begins the tries again', async ({ store }) => {
    const { platform, user } = await make.owner(store)
    const { endpoints, cursors } = store.webhooks
    const { endpointId } = await created(store, platform)
    const isActive = async () => (await endpoints.active()).some(({ endpoint: { endpointId: id } }) => id === endpointId)
    const waiting: WebhookCursor = { seq: 0, tryingTo: 3, attempts: 2, retryAt: make.at(500) }
    const failed = make.webhookDelivery(endpointId, user.userKey, { failure: 'timeout', startedAt: make.at(100) })
    await cursors.progress({ endpointId, userKey: user.userKey, cursor: waiting, delivery: failed })
    assert.equal((await endpoints.find(platform.platformId, endpointId))?.endpoint.failingSince, make.at(100))
    const gone = { at: make.at(200), reason: 'gone' } as const
    assert.equal(await endpoints.setDisabled(endpointId, gone, make.audit(), 7), false, 'it has another revision')
    assert.equal(await endpoints.setDisabled(endpointId, gone, make.audit(), 1), true)
    assert.equal(await endpoints.setDisabled(endpointId, { at: make.at(201), reason: 'failing' }, make.audit()), false)
    assert.deepEqual((await endpoints.find(platform.platformId, endpointId))?.endpoint.disabled, gone)
    assert.equal(await isActive(), false)
    assert.equal(await endpoints.setDisabled(endpointId, null, make.audit()), true)
    assert.equal((await endpoints.find(platform.platformId, endpointId))?.endpoint.failingSince, null)
    assert.deepEqual(await cursors.find(endpointId, user.userKey), { ...waiting, attempts: 0, retryAt: null })
    assert.equal(await isActive(), true)
    await store.platforms.setDisabled(platform.platformId, make.at(300), make.audit())
    assert.equal(await isActive(), false)
    assert.deepEqual(await own(store, endpointId), [])
  })

  contractCase('W50', 'a new endpoint is behind by what comes after it; a newer user by all there is', async ({ store }) => {
    const early = await make.owner(store)
    await store.orders.record([make.created(make.order(early))])
    const { endpointId } = await created(store, early.platform)
    assert.deepEqual(await own(store, endpointId), [])
    const late = await userOf(store, early.platform)
    for (const who of [early, late]) await store.orders.record([make.created(make.order(who))])
    const backlog = await own(store, endpointId)
    const expected = [
      { userKey: early.user.userKey, userId: early.user.userId, seq: 1, last: 2 },
      { userKey: late.user.userKey, userId: late.user.userId, seq: 0, last: 1 }
    ]
    assert.deepEqual(
      backlog.map(({ userKey, userId, cursor: { seq }, last }) => ({ userKey, userId, seq, last })),
      expected.toSorted((a, b) => (a.userKey < b.userKey ? -1 : 1))
    )
    for (const { userKey, cursor, oldestAt } of backlog)
      assert.equal(oldestAt, (await store.events.read(userKey, cursor.seq, 1))[0]?.at ?? assert.fail())
    const { users, events, oldestAt } = await store.webhooks.cursors.lag({ endpointId, filter: ALL_EVENTS })
    assert.deepEqual([users, events, oldestAt === null], [2, 2, false])
    const nothing = { users: 0, events: 0, isLowerBound: false, oldestAt: null }
    for (const filter of [ALL_EVENTS, FILLED])
      assert.deepEqual(await store.webhooks.cursors.lag({ endpointId: make.uuid(), filter }), nothing)
  })

  contractCase('W55', 'an endpoint is behind by what passes its filter, and by a gap in the log', async ({ store }) => {
    const who = await make.owner(store)
    const { endpointId } = await created(store, who.platform)
    const quiet = await userOf(store, who.platform)
    // A text that has what a status looks like, quotes and all, is none.
    const misleading = { brokerMessage: '"status":"filled"', brokerStatus: 'filled' }
    const [working, filled] = [make.order(who, { ...misleading, status: 'working' }), make.order(who, { status: 'filled' })]
    await store.orders.record([make.created(working)])
    await store.orders.record([make.created(filled)])
    await store.orders.record([make.created(make.order(quiet, { ...misleading, status: 'working' }))])
    await store.accounts.putBalances(who.account, [make.balance(who.account, '1.00')])
    const lag = async (filter: WebhookFilter) => {
      const { oldestAt, ...counts } = await store.webhooks.cursors.lag({ endpointId, filter })
      return { ...counts, isDated: oldestAt !== null }
    }
    const exactly = { isLowerBound: false, isDated: true }
    assert.deepEqual(await lag(ALL_EVENTS), { users: 2, events: 4, ...exactly })
    assert.deepEqual(await lag(FILLED), { users: 1, events: 2, ...exactly })
    assert.deepEqual(await lag({ topics: ['orders'], orderStatuses: null }), { users: 2, events: 3, ...exactly })
    assert.deepEqual(await lag({ topics: ['orders'], orderStatuses: ['filled', 'rejected'] }), { users: 1, events: 1, ...exactly })
    assert.deepEqual(await lag({ topics: ['positions'], orderStatuses: null }), {
      users: 0,
      events: 0,
      isLowerBound: false,
      isDated: false
    })
    const oldest = (await store.events.read(who.user.userKey, 1, 1))[0]?.at
    assert.equal((await store.webhooks.cursors.lag({ endpointId, filter: FILLED })).oldestAt, oldest)
    // Erased events count as one, whatever the filter.
    while ((await store.events.prune(make.time('9999-01-01T00:00:00Z'), 1_000)) > 0);
    for (const filter of [ALL_EVENTS, FILLED])
      assert.deepEqual(await lag(filter), { users: 2, events: 2, isLowerBound: false, isDated: false })
  })

  contractCase('W60', 'who is behind is read page by page, of some partitions only', async ({ store }) => {
    const platform = await platformIn(store)
    const { endpointId } = await created(store, platform)
    const owners = await Promise.all(Array.from({ length: 5 }, () => userOf(store, platform)))
    for (const who of owners) await store.orders.record([make.created(make.order(who))])
    const keys = owners.map(({ user }) => user.userKey).sort()
    const partitions = new Set(keys.slice(0, 3).map(partitionOf))
    assert.deepEqual(
      (await own(store, endpointId, partitions)).map(({ userKey }) => userKey),
      keys.filter(userKey => partitions.has(partitionOf(userKey)))
    )
    assert.deepEqual(await store.webhooks.cursors.behind(new Set(), null, 10), [])
    const [first = assert.fail()] = keys
    const rest = await store.webhooks.cursors.behind(ALL, { endpointId, userKey: first }, 2)
    assert.deepEqual(
      rest.filter(({ endpointId: id }) => id === endpointId).map(({ userKey }) => userKey),
      keys.slice(1, 3)
    )
  })

  contractCase('W70', 'a cursor moves, and never back; each attempt is kept once', async ({ store, beside }) => {
    const { platform, user } = await make.owner(store)
    const { endpointId } = await created(store, platform)
    const { cursors, deliveries } = store.webhooks
    const at = (seq: number): WebhookCursor => ({ seq, tryingTo: null, attempts: 0, retryAt: null })
    const sent = make.webhookDelivery(endpointId, user.userKey)
    const { userKey } = user
    assert.equal(await cursors.find(endpointId, userKey), null)
    const steps = [at(3), at(2), at(5)].map(cursor => ({ endpointId, userKey, cursor, delivery: sent }))
    assert.deepEqual(await Promise.all(steps.map(step => cursors.progress(step))), [true, true, true])
    assert.deepEqual(await beside.webhooks.cursors.find(endpointId, userKey), at(5))
    await cursors.progress({ endpointId, userKey, cursor: at(4), delivery: null })
    assert.deepEqual(await cursors.find(endpointId, userKey), at(5))
    assert.deepEqual(await deliveries.find(endpointId, sent.deliveryId), sent)
    assert.deepEqual((await deliveries.list(endpointId, {}, page())).rows, [sent])
    assert.equal((await store.webhooks.endpoints.find(platform.platformId, endpointId))?.endpoint.lastSuccessAt, sent.startedAt)
  })

  contractCase(
    'W80',
    'an endpoint or a user that is gone takes its cursors and deliveries along, and progress says so',
    async ({ store }) => {
      const { platform, user } = await make.owner(store)
      const { endpoints, cursors, deliveries } = store.webhooks
      const { endpointId } = await created(store, platform)
      const step = { endpointId, userKey: user.userKey, cursor: { seq: 1, tryingTo: null, attempts: 0, retryAt: null } }
      const [ofUser, ofTest] = [make.webhookDelivery(endpointId, user.userKey), make.webhookDelivery(endpointId, null)]
      await deliveries.add(ofTest)
      await cursors.progress({ ...step, delivery: ofUser })
      await store.users.remove(user.userKey, make.at(1), make.audit())
      const [left, right] = await Promise.all([
        cursors.progress({ ...step, delivery: make.webhookDelivery(endpointId, user.userKey) }),
        cursors.progress({ ...step, endpointId: make.uuid(), delivery: null })
      ])
      assert.deepEqual([left, right], [false, false])
      await deliveries.add(make.webhookDelivery(endpointId, user.userKey))
      assert.equal(await cursors.find(endpointId, user.userKey), null)
      assert.deepEqual((await deliveries.list(endpointId, {}, page())).rows, [ofTest])
      await endpoints.remove(endpointId, make.audit())
      assert.deepEqual((await deliveries.list(endpointId, {}, page())).rows, [])
      await deliveries.add(make.webhookDelivery(endpointId, null))
      assert.deepEqual((await deliveries.list(endpointId, {}, page())).rows, [])
    }
  )

  contractCase('W90', 'deliveries are listed newest first, by page and by filter', async ({ store }) => {
    const { platform, user } = await make.owner(store)
    const { endpointId } = await created(store, platform)
    const { deliveries } = store.webhooks
    const all = [0, 1, 2, 3, 4].map(index =>
      make.webhookDelivery(endpointId, index < 3 ? user.userKey : null, {
        startedAt: make.at(index * 1_000),
        messageId: `msg_${index % 2}`,
        failure: index === 2 ? 'status' : null
      })
    )
    for (const each of all) await deliveries.add(each)
    const ids = (rows: readonly WebhookDelivery[]) => rows.map(({ deliveryId }) => all.findIndex(each => each.deliveryId === deliveryId))
    const list = async (filter: Parameters<typeof deliveries.list>[1]) => ids((await deliveries.list(endpointId, filter, page())).rows)
    assert.deepEqual(await list({}), [4, 3, 2, 1, 0])
    assert.deepEqual(await list({ userKey: user.userKey }), [2, 1, 0])
    assert.deepEqual(await list({ messageId: 'msg_0' }), [4, 2, 0])
    assert.deepEqual(await list({ outcome: 'failed' }), [2])
    assert.deepEqual(await list({ outcome: 'succeeded', from: make.at(1_000), to: make.at(3_000) }), [3, 1])
    const first = await deliveries.list(endpointId, {}, page(2))
    assert.deepEqual([ids(first.rows), first.prev], [[4, 3], null])
    const edge = { side: 'after', key: first.next ?? assert.fail() } as const
    const second = await deliveries.list(endpointId, {}, { ...page(2), edge })
    assert.deepEqual([ids(second.rows), second.prev === null], [[2, 1], false])
  })

  contractCase('W95', 'old deliveries are erased, and all but the newest of an endpoint, in steps', async ({ store }) => {
    const platform = await platformIn(store)
    const { endpointId } = await created(store, platform)
    const { deliveries } = store.webhooks
    // Far before those of other cases, which are left alone.
    for (let day = 0; day < 6; day += 1)
      await deliveries.add(make.webhookDelivery(endpointId, null, { startedAt: make.at((day - 400) * 86_400_000) }))
    const left = async () => (await deliveries.list(endpointId, {}, page())).rows.length
    assert.equal(await deliveries.prune(make.at(-398 * 86_400_000), 1_000, 1), 1)
    assert.equal(await left(), 5)
    assert.equal(await deliveries.prune(make.at(-398 * 86_400_000), 1_000, 10), 1)
    assert.equal(await left(), 4)
  })

  contractCase(
    'W97',
    'keys under another master key are found until they are re-wrapped, and only what was read is replaced',
    async ({ store }) => {
      const platform = await platformIn(store)
      const made = await created(store, platform)
      const { endpoints } = store.webhooks
      const found = async (keyId: string) =>
        (await endpoints.sealedUnderOtherKeys(keyId, 1_000)).find(({ endpoint: { endpointId } }) => endpointId === made.endpointId)
      const known = (await found('k2')) ?? assert.fail()
      const next = make.sealed(known.keys.revision)
      assert.equal(await endpoints.rewrapped(known, next.sealed, 'k2'), true)
      assert.equal(await endpoints.rewrapped(known, make.sealed().sealed, 'k2'), false)
      assert.equal(await found('k2'), undefined)
      assert.deepEqual((await endpoints.find(platform.platformId, made.endpointId))?.keys, next)
      await endpoints.replaceKeys(made.endpointId, make.sealed(2), make.audit())
      assert.notEqual(await found('k2'), undefined)
    }
  )
}

async function platformIn(store: Store): Promise<Platform> {
  const platform = make.platform()
  await store.platforms.create(platform, make.hash(), make.audit())
  return platform
}

async function created(store: Store, platform: Platform): Promise<WebhookEndpoint> {
  const made = make.webhookEndpoint(platform)
  assert.equal(await store.webhooks.endpoints.create(made, make.sealed(), LIMIT, make.audit()), true)
  return made
}

function page(limit = 100) {
  return { limit, edge: null, descending: true } as const
}

/** The backlog of one endpoint: other cases have theirs in the same database. */
async function own(store: Store, endpointId: WebhookEndpointId, partitions = ALL) {
  return (await store.webhooks.cursors.behind(partitions, null, 10_000)).filter(each => each.endpointId === endpointId)
}

/** Another user of the platform, with a connection and an account. */
async function userOf(store: Store, platform: Platform) {
  return await make.owner(store, { platform })
}
