// Which updates a session gets: topics choose the kinds, users choose whose.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Body } from './api.ts'
import type { StreamClient } from './stream-client.ts'
import { assertSameUpdates, isReceived } from './stream-ledger.ts'
import type { Stage, Trader } from './stream-stage.ts'

const TOPICS = ['orders', 'positions', 'balances'] as const
const REFUSED_TOPICS: readonly unknown[] = [
  [],
  ['orders', 'orders'],
  ['orders', 'trades'],
  ['Orders'],
  ['orders '],
  [''],
  ['ALL'],
  ['all', 'orders'],
  ['orders', 'all'],
  ['all', 'all'],
  ['orders', 1],
  [null],
  [['orders']],
  'orders',
  'all',
  { orders: true },
  null,
  undefined
]

export function subscriptionCases(open: () => Stage): void {
  /** Buys, and returns when the watcher has received everything that came of it. */
  const traded = async (trader: Trader, watcher: StreamClient): Promise<void> => {
    const seen = { positions: countOf(watcher, trader, 'positions'), balances: countOf(watcher, trader, 'balances') }
    const { cl_order_id } = await trader.buy()
    await watcher.until(() => isReceived(watcher.updates, cl_order_id, 'filled'), 'the order is filled')
    for (const topic of ['positions', 'balances'] as const)
      await watcher.until(() => countOf(watcher, trader, topic) > seen[topic], `${topic} have changed`)
  }

  test('topics are echoed as asked, each time with a new id', async () => {
    await using client = await open().session()
    const ids = new Set<string>()
    const asked: readonly (readonly string[])[] = [...TOPICS.map(topic => [topic]), ['balances', 'orders'], [...TOPICS], ['all'], ['all']]
    for (const topics of asked) {
      const reply = await client.subscribe(...topics)
      assert.deepEqual(reply.topics, topics)
      ids.add(reply.subscription_id)
    }
    assert.equal(ids.size, asked.length)
  })

  test('a session gets exactly its topics, of exactly its users', async () => {
    const stage = open()
    const [ada, bob] = [await stage.trader('ada'), await stage.trader('bob')]
    await using sessions = new AsyncDisposableStack()
    const session = async (topics: readonly string[], ...users: readonly Trader[]): Promise<StreamClient> => {
      const client = sessions.use(await stage.session(topics))
      for (const { userId } of users) await client.follow(userId)
      return client
    }
    const both = await session(['all'], ada, bob)
    const alone = await Promise.all(TOPICS.map(topic => session([topic], ada, bob)))
    const [adas, bobs, nobodys, unasked] = [
      await session([...TOPICS], ada),
      await session(['all'], bob),
      await session(['all']),
      await session([], ada, bob)
    ]
    await traded(ada, both)
    await traded(bob, both)
    for (const { userId } of [ada, bob]) {
      for (const [index, client] of alone.entries())
        await assertSameUpdates(client, both, userId, { topics: TOPICS.slice(index, index + 1) })
    }
    await assertSameUpdates(adas, both, ada.userId)
    await assertSameUpdates(bobs, both, bob.userId)
    assert.deepEqual([adas.of(bob.userId), bobs.of(ada.userId)], [[], []])
    for (const [index, client] of alone.entries()) assert.ok(client.updates.every(({ message }) => message.type === TOPICS[index]))
    for (const client of [nobodys, unasked]) {
      await client.quiet()
      assert.deepEqual(client.updates, [])
    }
  })

  test('each subscription adds to the topics, and one that is refused changes nothing', async () => {
    const stage = open()
    const ada = await stage.trader('ada')
    await using watcher = await stage.session(['all'])
    await using client = await stage.session()
    for (const one of [watcher, client]) await one.follow(ada.userId)
    for (const topics of REFUSED_TOPICS) {
      const reply = await client.ask({ action: 'subscribe', topics })
      assert.equal(reply.type, 'subscription_failed', JSON.stringify(topics))
      assert.ok(reply.message.length > 10)
    }
    const topics = async (): Promise<readonly string[]> => {
      const from = client.updates.length
      await traded(ada, watcher)
      await client.quiet()
      return [...new Set<string>(client.updates.slice(from).map(({ message }) => message.type))].toSorted()
    }
    assert.deepEqual(await topics(), [])
    await client.subscribe('positions')
    assert.deepEqual(await topics(), ['positions'])
    await client.subscribe('orders')
    assert.deepEqual(await topics(), ['orders', 'positions'])
    await client.subscribe('positions')
    assert.deepEqual(await topics(), ['orders', 'positions'])
    await client.ask({ action: 'subscribe', topics: ['balances', 'trades'] })
    assert.deepEqual(await topics(), ['orders', 'positions'])
    await client.subscribe('all')
    assert.deepEqual(await topics(), ['balances', 'orders', 'positions'])
  })

  test('a user that is not the platform’s cannot be subscribed to [S54]', async () => {
    const stage = open()
    const other = await stage.otherPlatform('Stranger')
    const foreign = await fetch(`${stage.service.url}/users`, {
      method: 'POST',
      headers: { 'client-id': other.client_id, 'client-secret': other.client_secret, 'content-type': 'application/json' },
      body: JSON.stringify({ user_id: 'theirs' })
    })
    assert.equal(foreign.status, 200)
    await using client = await stage.session(['all'])
    const refused: readonly Body[] = [
      { user_id: 'nobody' },
      { user_id: 'theirs' },
      {},
      { user_id: null },
      { user_id: '' },
      { user_id: 5 },
      { user_id: ['nobody'] },
      { user_id: 'x'.repeat(65) },
      { user_id: 'x'.repeat(30_000) },
      { user_id: 'a\u0000b' },
      { user_id: '\ud800' }
    ]
    const replies: Body[] = []
    for (const message of refused) {
      const reply = await client.ask({ action: 'subscribe_user', ...message })
      assert.equal(reply.type, 'subscription_failed', JSON.stringify(message).slice(0, 100))
      assert.ok(reply.message.length > 10 && reply.message.length < 1_000)
      replies.push(reply)
    }
    assert.equal(replies[0].message.replaceAll('nobody', ''), replies[1].message.replaceAll('theirs', ''), 'nothing can be enumerated')
    await using theirs = await stage.unauthenticated()
    await theirs.authenticate(other)
    await theirs.follow('theirs')
  })

  test('asking again for a user changes nothing; unsubscribing ends it, and does so again', async () => {
    const stage = open()
    const [ada, bob] = [await stage.trader('ada'), await stage.trader('bob')]
    await using watcher = await stage.session(['all'])
    await using client = await stage.session(['all'])
    for (const { userId } of [ada, bob]) {
      await watcher.follow(userId)
      for (let again = 0; again < 3; again++) await client.follow(userId)
    }
    await traded(ada, watcher)
    await assertSameUpdates(client, watcher, ada.userId)
    for (const userId of [ada.userId, ada.userId, 'nobody']) await client.unfollow(userId)
    await client.quiet()
    const known = client.of(ada.userId).length
    await traded(ada, watcher)
    await traded(bob, watcher)
    await assertSameUpdates(client, watcher, bob.userId)
    assert.equal(client.of(ada.userId).length, known)
    const from = await client.follow(ada.userId)
    assert.equal(from, watcher.of(ada.userId).at(-1)?.message.seq, 'what follows starts after the newest')
    await traded(ada, watcher)
    await assertSameUpdates(client, watcher, ada.userId, { after: from })
  })

  test('a session that ended left nothing behind: its successor must subscribe again', async () => {
    const stage = open()
    const ada = await stage.trader('ada')
    await using watcher = await stage.session(['all'])
    await watcher.follow(ada.userId)
    const first = await stage.session(['all'])
    await first.follow(ada.userId)
    await first.close()
    await using next = await stage.session()
    await traded(ada, watcher)
    await next.quiet()
    await next.subscribe('all')
    await traded(ada, watcher)
    await next.quiet()
    assert.deepEqual(next.updates, [])
  })

  test('when a user is deleted its sessions are sent, and a new one of the same name is somebody else [S37]', async () => {
    const stage = open()
    const ada = await stage.trader('ada')
    await using follower = await stage.session(['all'])
    await using bystander = await stage.session(['all'])
    await follower.follow(ada.userId)
    await ada.buy()
    assert.equal((await stage.api.call('DELETE', `/users/${ada.userId}`, { headers: stage.api.platform })).status, 200)
    assert.deepEqual(await follower.reply(), { type: 'user_unsubscribed', user_id: ada.userId })
    await bystander.quiet()
    const gone = await follower.ask({ action: 'subscribe_user', user_id: ada.userId })
    assert.equal(gone.type, 'subscription_failed')
    await stage.api.user(ada.userId)
    await follower.quiet()
    assert.equal(await follower.follow(ada.userId), 0)
  })
}

function countOf(client: StreamClient, { userId }: Trader, topic: string): number {
  return client.of(userId).filter(({ message }) => message.type === topic).length
}
