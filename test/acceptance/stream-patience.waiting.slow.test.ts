// What only time or much data shows: the window for authentication, a reader that reads nothing, and the longest replay.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { until } from '@trunkline/testkit/until'
import { StreamClient } from './stream-client.ts'
import { assertLawful, isReceived } from './stream-ledger.ts'
import { Stage, type Trader } from './stream-stage.ts'

const WINDOW_MS = 30_000
const REPLAY_MAX = 10_000
const AT_ONCE = 40
const SLOW_CONSUMER = 4008
/** What a reader finds that comes back after the service has waited for it to read its end. */
const RESET = 1006
const CLOSED_AS_SLOW = `trunkline_stream_closed_total{code="${SLOW_CONSUMER}"}`
const WAITING = 'trunkline_stream_waiting_bytes'

// Most of it is waiting, so the tests wait side by side.
describe('the patience of the broker stream', { concurrency: true }, () => {
  let stage: Stage
  let veteran: Trader
  let last = 0
  before(async () => {
    // What is tested is the stream; PostgreSQL writes and replays its long log for less.
    stage = await Stage.open('postgres')
    veteran = await stage.trader('veteran')
    last = await longLog(stage, veteran)
  })
  after(() => stage[Symbol.asyncDispose]())

  test('who has not authenticated within 30 seconds is closed with 4001, and nobody is ever pinged [S47]', async () => {
    const from = performance.now()
    await using silent = await stage.unauthenticated()
    await using wrong = await stage.unauthenticated()
    await using busy = await stage.unauthenticated()
    await using known = await stage.session(['all'])
    await wrong.ask({ action: 'authenticate', client_id: 'pk_nobody', client_secret: 'sk_nothing' })
    for (let count = 0; count < 5; count++) busy.send({ action: 'ping', seq: count })
    for (const client of [silent, wrong, busy]) {
      assert.equal((await client.ended()).code, 4001)
      const tookMs = performance.now() - from
      assert.ok(tookMs > WINDOW_MS - 1_000, `after ${tookMs} ms`)
    }
    assert.equal(silent.received.length, 1, 'nothing but the welcome')
    await known.quiet()
    assert.deepEqual(
      [silent, wrong, busy, known].map(({ pings }) => pings),
      [0, 0, 0, 0]
    )
  })

  test('ten thousand updates are replayed, one more is refused', async () => {
    await using client = await stage.session(['all'])
    const refused = await client.ask({ action: 'subscribe_user', user_id: veteran.userId, after: last - REPLAY_MAX - 1 })
    assert.equal(refused.type, 'subscription_failed')
    assert.match(refused.message, /snapshot.*REST|REST.*snapshot/i)
    client.send({ action: 'subscribe_user', user_id: veteran.userId, after: last - REPLAY_MAX })
    assert.equal((await client.reply()).type, 'user_subscribed')
    await client.until(() => client.updates.length >= REPLAY_MAX, 'all is replayed')
    assert.equal(await client.caughtUp(veteran.userId), last)
    assertLawful(client.updates, last - REPLAY_MAX)
  })

  test('a reader that reads nothing is closed with 4008 and counted; others do not feel it, and it can go on where it was [S53]', async () => {
    const ada = await stage.trader('ada')
    await using other = await stage.session(['all'])
    await other.follow(ada.userId)
    // A client that checks each message in detail is too slow a reader for this.
    const sleeper = StreamClient.connect(stage.service.demo.stream_url, null)
    await using _ = sleeper
    await sleeper.welcomed()
    await sleeper.authenticate(stage.credentials)
    await sleeper.subscribe('all')
    const after = last - REPLAY_MAX
    // Before the reader stalls: on a busy machine the session may be over when a metric is read after that.
    const counted = await stage.metric(CLOSED_AS_SLOW)
    for (let count = 0; count < 10; count++) sleeper.send({ action: 'subscribe_user', user_id: veteran.userId, after })
    sleeper.pause()
    const isCounted = async () => (await stage.metric(CLOSED_AS_SLOW)) > counted
    await until(async () => (await stage.metric(WAITING)) > 0 || (await isCounted()), 'updates wait for the reader')
    const { cl_order_id } = await ada.buy()
    await other.until(() => isReceived(other.updates, cl_order_id, 'filled'), 'the order is sent to the others')
    await until(async () => (await stage.metric(WAITING)) === 0, 'what waits is given up')
    sleeper.resume()
    const { code } = await sleeper.ended()
    assert.ok(code === SLOW_CONSUMER || code === RESET, `${code}`)
    await until(isCounted, 'it is counted')
    const received = sleeper.of(veteran.userId).slice(0, REPLAY_MAX)
    const reached = received.at(-1)?.message.seq
    await using next = await stage.session(['all'])
    await next.follow(veteran.userId, reached)
    assertLawful([...received, ...next.updates], after)
    assert.equal(next.updates.at(-1)?.message.seq ?? reached, last)
    await other.quiet()
  })
})

/** Trades until the log is longer than can be replayed, and gives its length once nothing is added any more. */
async function longLog(stage: Stage, trader: Trader): Promise<number> {
  await using watcher = await stage.session(['all'])
  await watcher.follow(trader.userId)
  const length = () => watcher.updates.at(-1)?.message.seq ?? 0
  while (length() < REPLAY_MAX + 10) {
    const orders = await Promise.all(Array.from({ length: AT_ONCE }, () => trader.buyElsewhere()))
    const hasUpdate = () => {
      const received = new Set(watcher.updates.slice(-10 * AT_ONCE).flatMap(({ message }) => [message.data.cl_order_id]))
      return orders.every(({ client_order_id, id }) => received.has(client_order_id) || received.has(id))
    }
    await watcher.until(hasUpdate, 'the orders are sent')
  }
  const total = async () => (await trader.call('GET', '/positions')).body[0]?.quantity
  const held = await total()
  await watcher.until(
    () => watcher.updates.findLast(({ message }) => message.type === 'positions')?.message.data[0]?.quantity === held,
    'all is sent'
  )
  const newest = async () =>
    (await stage.api.call('GET', `/events?user_id=${trader.userId}&after=${length()}`, { headers: stage.api.platform })).body.last_seq
  // A broker's holdings come some time after an order, and are spaced; a read brings the newest.
  for (let before = -1; before !== length(); ) {
    before = length()
    for (const path of ['/positions', '/balances']) await trader.call('GET', path)
    await until(async () => (await newest()) === length(), 'nothing more is added')
  }
  return length()
}
