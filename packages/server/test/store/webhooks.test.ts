// What webhooks ask of a large database: nobody waits for a new endpoint, and reading and erasing goes on where it ended.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { ALL_PARTITIONS } from '@trunkline/core/domain/partition'
import { LAG_EVENTS_MAX, LAG_USERS_MAX, type WebhookBacklog } from '@trunkline/core/ports/webhook-store'
import { createDatabase, sharedPostgres } from '@trunkline/testkit/postgres/index'
import * as make from '@trunkline/testkit/store-contract/records'
import { Client } from 'pg'
import { openStore } from '../../src/store/index.ts'
import { testDeps } from './deps.ts'

/** A store of its own: others would be pruned, too. */
async function opened(t: TestContext) {
  const stack = new AsyncDisposableStack()
  t.after(() => stack.disposeAsync())
  const cluster = stack.use(await sharedPostgres())
  const { url } = stack.use(await createDatabase(cluster.url))
  return { url, store: stack.use(await openStore({ kind: 'postgres', url, poolMax: 2 }, testDeps())) }
}

test('an endpoint is created while a user of its platform is being created', async t => {
  const { url, store } = await opened(t)
  const { platform } = await make.owner(store)
  const creating = new Client(url)
  await creating.connect()
  try {
    await creating.query('begin')
    // As a new user refers to its platform.
    await creating.query('select 1 from platforms where platform_id = $1 for key share', [platform.platformId])
    const { endpoints } = store.webhooks
    assert.equal(await endpoints.create(make.webhookEndpoint(platform), make.sealed(), 16, make.audit()), true)
  } finally {
    await creating.end()
  }
})

test('who is behind is read over the ends of pages and of endpoints, each once', async t => {
  const { store } = await opened(t)
  const { platform } = await make.owner(store)
  const ids = []
  for (let count = 0; count < 3; count++) {
    const endpoint = make.webhookEndpoint(platform)
    await store.webhooks.endpoints.create(endpoint, make.sealed(), 16, make.audit())
    ids.push(endpoint.endpointId)
  }
  const users = await Promise.all(Array.from({ length: 3 }, () => make.owner(store, { platform })))
  for (const who of users) await store.orders.record([make.created(make.order(who))])
  const read: WebhookBacklog[] = []
  for (let isMore = true; isMore; ) {
    const page = await store.webhooks.cursors.behind(new Set(ALL_PARTITIONS), read.at(-1) ?? null, 2)
    read.push(...page)
    isMore = page.length > 0
  }
  const keys = users.map(({ user }) => user.userKey).sort()
  assert.deepEqual(
    read.map(({ endpointId, userKey }) => `${endpointId} ${userKey}`),
    ids.sort().flatMap(id => keys.map(key => `${id} ${key}`))
  )
})

test('all but the newest deliveries of each endpoint are erased, step by step', async t => {
  const { store } = await opened(t)
  const { platform } = await make.owner(store)
  const { deliveries, endpoints } = store.webhooks
  const made = [make.webhookEndpoint(platform), make.webhookEndpoint(platform), make.webhookEndpoint(platform)]
  for (const [at, endpoint] of made.entries()) {
    await endpoints.create(endpoint, make.sealed(), 16, make.audit())
    for (let count = 0; count < 7 - 2 * at; count++)
      await deliveries.add(make.webhookDelivery(endpoint.endpointId, null, { startedAt: make.at(count) }))
  }
  const steps: number[] = []
  while (steps.at(-1) !== 0) steps.push(await deliveries.prune(make.at(-1), 3, 4))
  assert.deepEqual(steps, [4, 2, 0])
  const left = made.map(async ({ endpointId }) => {
    const { rows } = await deliveries.list(endpointId, {}, { limit: 100, edge: null, descending: false })
    return rows.map(({ startedAt }) => startedAt)
  })
  const at = (...ms: number[]) => ms.map(make.at)
  assert.deepEqual(await Promise.all(left), [at(4, 5, 6), at(2, 3, 4), at(0, 1, 2)])
})

test('what an endpoint is behind by is counted up to a bound of users, and with a filter of events, and is then a lower bound', async t => {
  const { url, store } = await opened(t)
  const { platform, user } = await make.owner(store)
  const { cursors, endpoints } = store.webhooks
  const endpoint = make.webhookEndpoint(platform)
  await endpoints.create(endpoint, make.sealed(), 16, make.audit())
  const filtered = { ...endpoint, filter: { topics: ['orders' as const], orderStatuses: null } }
  const database = new Client(url)
  await database.connect()
  try {
    const log = async (last: number) => {
      await database.query(
        `insert into events (user_key, seq, event_id, account_id, topic, at, data)
        select $1, seq, gen_random_uuid(), $1, case when seq > 3 then 'orders' else 'positions' end, $2, '{}'
        from generate_series((select coalesce(max(seq), 0) + 1 from events where user_key = $1), $3::int) seq`,
        [user.userKey, make.at(5), last]
      )
      await database.query(
        'insert into user_counters (user_key, last_seq) values ($1, $2) on conflict (user_key) do update set last_seq = $2',
        [user.userKey, last]
      )
    }
    const oldest = { users: 1, oldestAt: make.at(5) }
    await log(LAG_EVENTS_MAX)
    assert.deepEqual(await cursors.lag(filtered), { ...oldest, events: LAG_EVENTS_MAX - 3, isLowerBound: false })
    await log(LAG_EVENTS_MAX + 5)
    assert.deepEqual(await cursors.lag(filtered), { ...oldest, events: LAG_EVENTS_MAX - 3, isLowerBound: true })
    assert.deepEqual(
      await cursors.lag(endpoint),
      { ...oldest, events: LAG_EVENTS_MAX + 5, isLowerBound: false },
      'without a filter none is read'
    )
    await database.query(
      `with made as (
        insert into users (user_key, platform_id, user_id, secret_hash, created_at)
        select gen_random_uuid(), $1, 'user ' || number, 'hash ' || number, now() from generate_series(1, $2::int) number returning user_key
      ) insert into user_counters (user_key, last_seq) select user_key, 1 from made`,
      [platform.platformId, LAG_USERS_MAX]
    )
    const { users, isLowerBound } = await cursors.lag(endpoint)
    assert.deepEqual({ users, isLowerBound }, { users: LAG_USERS_MAX, isLowerBound: true })
  } finally {
    await database.end()
  }
})
