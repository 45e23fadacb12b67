// The log behind the stream: replays from any point of it, joined to what is live, and the same log by REST.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { until } from '@trunkline/testkit/until'
import type { Body } from './api.ts'
import type { StreamClient } from './stream-client.ts'
import { accumulated, assertLawful, assertSameUpdates, isReceived } from './stream-ledger.ts'
import type { Stage, Trader } from './stream-stage.ts'

export function replayCases(open: () => Stage): void {
  /** A trader with some history, and a session that has received all of it. */
  const history = async (orders: number): Promise<{ readonly ada: Trader; readonly watcher: StreamClient }> => {
    const ada = await open().trader('ada')
    const watcher = await open().session(['all'])
    await watcher.follow(ada.userId, 0)
    for (let count = 0; count < orders; count++) {
      const order = count % 2 === 0 ? await ada.buy() : await ada.rest()
      await watcher.until(() => isReceived(watcher.updates, order.cl_order_id, 'filled', 'working'), 'the order is sent')
    }
    await rested(ada, watcher)
    return { ada, watcher }
  }
  /** Returns when the watcher has received everything, and gives the newest `seq`. */
  const rested = async (trader: Trader, watcher: StreamClient): Promise<number> => {
    const read = async (path: string): Promise<readonly Body[]> => (await trader.call('GET', path)).body.map(undated)
    const isComplete = async () => {
      const streamed = accumulated(watcher.updates)
      return (
        isDeepStrictEqual(await read('/balances'), [...streamed.balances.values()].map(undated)) &&
        isDeepStrictEqual(await read('/positions'), [...streamed.positions.values()].map(undated))
      )
    }
    await until(isComplete, 'what was sent is what REST shows')
    const { page } = await trader.events()
    await watcher.until(() => lastSeq(watcher, trader) >= page.last_seq, `update ${page.last_seq} is sent`)
    return page.last_seq
  }

  test('from 0 the whole log comes, then it is caught up, then live', async () => {
    const { ada, watcher } = await history(4)
    await using _ = watcher
    await using client = await open().session(['all'])
    assert.equal(await client.follow(ada.userId, 0), 0)
    const types = client.received.slice(3).map(({ message }) => message.type)
    assert.deepEqual([types[0], types.at(-1)], ['user_subscribed', 'caught_up'])
    assert.equal(client.received.at(-1)?.message.seq, client.of(ada.userId).at(-1)?.message.seq)
    const { cl_order_id } = await ada.buy()
    await client.until(() => isReceived(client.updates, cl_order_id, 'filled'), 'the order is sent')
    assertLawful(client.updates, 0)
    await watcher.quiet()
    await assertSameUpdates(client, watcher, ada.userId)
  })

  test('from the middle the rest comes, from the newest nothing, and beyond it is refused', async () => {
    const { ada, watcher } = await history(3)
    await using _ = watcher
    await using client = await open().session(['all'])
    const last = await rested(ada, watcher)
    const middle = Math.floor(last / 2)
    const ask = (after: unknown): Promise<Body> => client.ask({ action: 'subscribe_user', user_id: ada.userId, after })
    for (const after of [last + 1, last + 1_000_000, -1, 1.5, '1', true, Number.MAX_SAFE_INTEGER, 1e300]) {
      const reply = await ask(after)
      assert.deepEqual([reply.type, reply.user_id ?? ada.userId], ['subscription_failed', ada.userId], `after ${after}`)
    }
    assert.match((await ask(last + 1)).message, /snapshot|REST/i)
    const { cl_order_id } = await ada.rest()
    await watcher.until(() => isReceived(watcher.updates, cl_order_id, 'working'), 'the order is sent')
    await client.quiet()
    assert.deepEqual(client.updates, [], 'a refusal subscribes to nothing')
    assert.equal(await client.follow(ada.userId, middle), middle)
    assertLawful(client.updates, middle)
    await assertSameUpdates(client, watcher, ada.userId, { after: middle })
    await using newest = await open().session(['all'])
    const now = await rested(ada, watcher)
    assert.equal(await newest.follow(ada.userId, now), now)
    assert.deepEqual(newest.updates, [])
  })

  test('a place in the log that is refused leaves a subscription as it was', async () => {
    const { ada, watcher } = await history(2)
    await using _ = watcher
    const after = await rested(ada, watcher)
    for (const wrong of [after + 1_000, -1]) {
      assert.equal((await watcher.ask({ action: 'subscribe_user', user_id: ada.userId, after: wrong })).type, 'subscription_failed')
    }
    const { cl_order_id } = await ada.buy()
    await watcher.until(() => isReceived(watcher.updates, cl_order_id, 'filled'), 'the order is sent')
    assertLawful(watcher.updates, 0)
  })

  test('a user to whom nothing has happened is caught up at once', async () => {
    const idle = await open().api.user(`quiet-${performance.now()}`)
    await using client = await open().session(['all'])
    assert.equal(await client.follow(idle.userId, 0), 0)
    assert.equal(client.received.at(-1)?.message.seq, 0)
    assert.equal(await client.follow(idle.userId), 0)
  })

  test('a replay sends only the session’s topics', async () => {
    const { ada, watcher } = await history(3)
    await using _ = watcher
    for (const topics of [['orders'], ['positions', 'balances']]) {
      await using client = await open().session(topics)
      await client.follow(ada.userId, 0)
      assert.ok(client.updates.every(({ message }) => topics.includes(message.type)))
      await assertSameUpdates(client, watcher, ada.userId, { topics })
    }
    await using none = await open().session()
    await none.follow(ada.userId, 0)
    assert.deepEqual(none.updates, [])
  })

  test('asking again with a place in the log delivers again from there, and what is new comes once', async () => {
    const { ada, watcher } = await history(3)
    await using _ = watcher
    await using client = await open().session(['all'])
    await client.follow(ada.userId, 0)
    const once = client.texts(ada.userId)
    await client.follow(ada.userId, 1)
    assert.deepEqual(client.texts(ada.userId), [...once, ...once.slice(1)])
    const { cl_order_id } = await ada.buy()
    await watcher.until(() => isReceived(watcher.updates, cl_order_id, 'filled'), 'the order is sent')
    const wanted = watcher.texts(ada.userId)
    await client.quiet()
    const fresh = client.texts(ada.userId).slice(2 * once.length - 1)
    assert.deepEqual(fresh.slice(0, wanted.length - once.length), wanted.slice(once.length))
    assert.equal(new Set(fresh).size, fresh.length)
  })

  test('replays joined to a busy stream have no gap and no repeat, wherever they begin', async () => {
    const { ada, watcher } = await history(2)
    await using _ = watcher
    await using sessions = new AsyncDisposableStack()
    const trading = Promise.all(
      Array.from({ length: 4 }, async () => {
        for (let count = 0; count < 10; count++) await ada.cancel(await ada.rest())
      })
    )
    const joined: { readonly client: StreamClient; readonly after: number }[] = []
    for (let count = 0; count < 8; count++) {
      const client = sessions.use(await open().session(['all']))
      const newest = lastSeq(watcher, ada)
      const after = [0, 1, Math.floor(newest / 2), newest][count % 4] ?? 0
      assert.equal(await client.follow(ada.userId, after), after)
      joined.push({ client, after })
    }
    await trading
    await rested(ada, watcher)
    assertLawful(watcher.updates, 0)
    for (const { client, after } of joined) {
      await assertSameUpdates(client, watcher, ada.userId, { after })
      assertLawful(client.of(ada.userId), after)
    }
  })

  test('the log by REST holds the very bytes that were sent', async () => {
    const { ada, watcher } = await history(4)
    await using _ = watcher
    await rested(ada, watcher)
    const { text, page } = await ada.events()
    await watcher.until(() => lastSeq(watcher, ada) >= page.last_seq, 'all is sent')
    const streamed = watcher.texts(ada.userId).slice(0, page.last_seq)
    assert.ok(text.includes(`[${streamed.join(',')}]`), 'the rows are the updates, byte for byte')
    assert.deepEqual([page.oldest_seq, page.last_seq, page.next_after], [1, streamed.length, null])
    const pages: Body[] = []
    for (let after: number | null = 0; after !== null; ) {
      const address: string = `/events?user_id=${ada.userId}&after=${after}&limit=3`
      const { body } = await open().api.call('GET', address, { headers: open().api.platform })
      assert.ok(body.data.length <= 3)
      pages.push(...body.data)
      after = body.next_after
    }
    assert.deepEqual(
      pages.slice(0, streamed.length),
      streamed.map(one => JSON.parse(one))
    )
  })
}

function lastSeq(client: StreamClient, { userId }: Trader): number {
  return client.of(userId).reduce((last, { message }) => Math.max(last, message.seq), 0)
}

function undated({ system_time: _, ...record }: Body): Body {
  return record
}
