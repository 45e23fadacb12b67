// What happens when the broker's market stream breaks or falls silent, when a reader does not read, and at the limits of a session.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { metricsPage } from '@trunkline/testkit/metrics'
import { PATIENCE_MS } from '@trunkline/testkit/patience'
import { until } from '@trunkline/testkit/until'
import type { Body } from './api.ts'
import { assertJoined, candle, exact, fromTrades, iso, msOf } from './market-bars.ts'
import type { MarketClient } from './market-client.ts'
import { MarketStage, type Viewer } from './market-stage.ts'

const MINUTE = 60_000
/** Long enough that a busy machine's are not late, which would be a silence of its own. */
const HEARTBEAT_MS = 2_000
const SUBSCRIPTIONS_MAX = 500
const SLOW_CONSUMER = 4008
/** What a reader finds that comes back after the service has waited for it to read its end. */
const RESET = 1006
const CLOSED_AS_SLOW = `trunkline_stream_closed_total{code="${SLOW_CONSUMER}"}`
const WAITING = 'trunkline_stream_waiting_bytes'

describe('the market data stream under faults', () => {
  let stage: MarketStage
  let viewer: Viewer
  before(async () => {
    stage = await MarketStage.open({ SANDBOX_HEARTBEAT_MS: String(HEARTBEAT_MS) })
    viewer = await stage.viewer()
  })
  after(() => stage[Symbol.asyncDispose]())

  const closedOf = (client: MarketClient, subId: string): readonly Body[] => client.messages(subId).filter(({ st }) => st === 'c')
  /** Until each of these was reported as interrupted. Gives the ids that were named. */
  const interrupted = async (client: MarketClient, ids: readonly string[]): Promise<readonly string[]> => {
    const named = new Set<string>()
    while (!ids.every(id => named.has(id))) {
      const notice = await client.notice(PATIENCE_MS)
      assert.deepEqual([notice.type, notice.error_code, notice.request_id], ['error', 'broker_unavailable', null])
      assert.ok(notice.sub_ids.length > 0)
      for (const id of notice.sub_ids) named.add(id)
    }
    return [...named]
  }

  describe('interruptions', () => {
    const problems: readonly (readonly [what: string, begin: Body])[] = [
      ['the stream is cut', { do: 'drop' }],
      ['the stream falls silent', { do: 'mute' }]
    ]
    for (const [what, begin] of problems) {
      test(`${what}: it is sent, it recovers by itself, and the bars have no gap`, async () => {
        await using client = await viewer.session()
        const quotes = await client.subscribe('quotes', 'SPY')
        const trades = await client.subscribe('trades', 'SPY')
        const depth = await client.subscribe('depth', 'SPY')
        const bars = await client.subscribe('bars', 'SPY', { interval: '1m', backfill_nbars: 2 })
        const all = [quotes, trades, depth, bars]
        for (const subId of all) await client.updated(subId, 2)
        // Nobody gets in again before the fault is over.
        await stage.control('POST', '/faults', { on: 'stream.connect', do: 'status', status: 503 })
        await stage.control('POST', '/streams', { on: 'market', login: viewer.userId, ...begin })
        const named = await interrupted(client, all)
        assert.deepEqual(named.toSorted(), all.toSorted(), 'each that is interrupted is named, and no other')
        const counts = all.map(subId => client.updates(subId).length)
        for (let minute = 0; minute < 5; minute++) await stage.advance(MINUTE)
        assert.deepEqual(
          (await client.list()).map(({ sub_id }) => sub_id),
          all,
          'the subscriptions stay'
        )
        await stage.control('POST', '/streams', { on: 'market', login: viewer.userId, do: 'normal' })
        await stage.control('DELETE', '/faults')
        for (const [index, subId] of all.entries()) await client.updated(subId, (counts[index] ?? 0) + 2, PATIENCE_MS)
        const before = closedOf(client, bars).length
        for (let count = 0; count < 240 && closedOf(client, bars).length < before + 2; count++) await stage.advance(1_000)
        await client.until(() => closedOf(client, bars).length >= before + 2, 'bars close again')
        const closed = closedOf(client, bars).map(candle)
        assertJoined(closed, MINUTE, what)
        assert.ok(closed.length >= 2 + 5 + 2)
        const [first, last] = [closed[0], closed.at(-1)]
        assert.ok(first !== undefined && last !== undefined)
        const known = await client.snapshot('SPY', '1m', iso(first.startMs), iso(last.startMs + MINUTE))
        assert.deepEqual(closed, known.map(candle), 'what was sent is the past')
        const times = client.messages(trades).map(({ ts }) => BigInt(ts))
        assert.ok(times.every((ts, index) => index === 0 || ts >= (times[index - 1] ?? 0n)))
      })
    }

    test('a reconnection that succeeds at once leaves no gap either, time after time', async () => {
      await using client = await viewer.session()
      const bars = await client.subscribe('bars', 'SPY', { interval: '1m', backfill_nbars: 1 })
      const long = await client.subscribe('bars', 'SPY', { interval: '3m', backfill_nbars: 1 })
      await client.updated(bars, 2)
      // Each loss doubles the pause before the next try.
      for (let round = 0; round < 3; round++) {
        await stage.control('POST', '/streams', { on: 'market', do: 'drop' })
        const before = closedOf(client, bars).length
        for (let count = 0; count < 600 && closedOf(client, bars).length < before + 2; count++) await stage.advance(1_000)
        await client.until(() => closedOf(client, bars).length >= before + 2, 'bars close again', PATIENCE_MS)
      }
      assertJoined(closedOf(client, bars).map(candle), MINUTE, 'the minutes')
      assertJoined(closedOf(client, long).map(candle), 3 * MINUTE, 'three at a time')
    })

    test('another user’s interruption is not reported, and somebody who joins meanwhile is served afterwards', async () => {
      const other = await stage.viewer()
      await using theirs = await other.session()
      const kept = await theirs.subscribe('quotes', 'SPY')
      await theirs.updated(kept)
      await using client = await viewer.session()
      const before = await client.subscribe('quotes', 'SPY')
      await client.updated(before)
      await stage.control('POST', '/streams', { on: 'market', login: viewer.userId, do: 'mute' })
      await interrupted(client, [before])
      const reply = await client.ask({ action: 'subscribe', channel: 'quotes', symbol: 'AAPL' })
      assert.ok(reply.type === 'subscription_success' || reply.error_code === 'broker_unavailable', JSON.stringify(reply))
      await stage.control('POST', '/streams', { on: 'market', login: viewer.userId, do: 'normal' })
      const count = client.updates(before).length
      await client.updated(before, count + 2, PATIENCE_MS)
      if (reply.type === 'subscription_success') await client.updated(reply.sub_id, 1, PATIENCE_MS)
      const seen = theirs.updates(kept).length
      await theirs.updated(kept, seen + 2)
      await theirs.quiet()
    })

    test('what the broker’s history cannot give now is broker_unavailable, and can be asked again', async () => {
      await using client = await viewer.session()
      await stage.control('POST', '/faults', { on: 'bars.list', do: 'status', status: 503 })
      const asked = {
        ...{ action: 'snapshot', symbol: 'SPY', data_type: 'bars', interval: '1m' },
        ...{ start_time: '2026-03-04T15:00:00Z', end_time: '2026-03-04T16:00:00Z' }
      }
      const refused = await client.ask(asked).finally(() => stage.control('DELETE', '/faults'))
      assert.equal(refused.error_code, 'broker_unavailable')
      assert.equal((await client.ask(asked)).data.length, 60)
    })
  })

  describe('slow readers', () => {
    const waiting = () => metric(stage, WAITING)
    /** A session with many subscriptions to the same thing, so that every update weighs much. */
    const heavy = async (channel: 'quotes' | 'trades', symbol: string, reader: Viewer): Promise<MarketClient> => {
      const client = await reader.session({ judges: false })
      for (let count = 0; count < SUBSCRIPTIONS_MAX; count++) await client.subscribe(channel, symbol)
      return client
    }

    test('quotes are passed over for newer ones: the session stays and ends with the newest', async () => {
      const reader = await stage.viewer('reader')
      await using client = await heavy('quotes', 'AAPL', reader)
      await using other = await viewer.session()
      const theirs = await other.subscribe('quotes', 'AAPL')
      await stage.pause()
      try {
        const receivedBefore = client.received
        client.pause()
        let [rounds, last] = [0, '']
        const move = async () => {
          last = (200 + rounds / 100).toFixed(2)
          await stage.quote('AAPL', [[last, '5']], [[(300 + rounds / 100).toFixed(2), '7']])
          rounds += 1
        }
        const several = async () => {
          for (let more = 0; more < 20; more += 1) await move()
        }
        // A reader may take nothing for eight seconds, so it does until something waits for it, and for a few quotes more. The metrics are
        // rendered once a second.
        while (rounds < 2_000 && (await waiting()) === 0) await several()
        await several()
        const isLast = (message: Body): boolean => message !== undefined && exact(message.bp) === exact(last)
        await other.until(() => isLast(other.messages(theirs).at(-1)), 'others have the newest at once')
        client.resume()
        await client.until(
          () =>
            Array.from({ length: SUBSCRIPTIONS_MAX }, (_, index) => String(index + 1)).every(id =>
              isLast(client.updates(id).at(-1)?.message)
            ),
          'every subscription ends with the newest',
          PATIENCE_MS
        )
        const received = client.received - receivedBefore
        assert.ok(received < rounds * SUBSCRIPTIONS_MAX, `${received} messages of ${rounds} quotes: nothing was passed over`)
        await client.quiet()
      } finally {
        await stage.pause(false)
      }
    })

    test('a reader that falls behind and catches up has missed quotes, but no trade and no closed bar', async () => {
      const reader = await stage.viewer('reader')
      await using client = await reader.session({ judges: false })
      const trades = await client.subscribe('trades', 'SPY')
      const bars = await client.subscribe('bars', 'SPY', { interval: '1m' })
      const quotes: string[] = []
      while (quotes.length < SUBSCRIPTIONS_MAX - 2) quotes.push(await client.subscribe('quotes', 'SPY'))
      await using other = await viewer.session()
      const theirs = { trades: await other.subscribe('trades', 'SPY'), bars: await other.subscribe('bars', 'SPY', { interval: '1m' }) }
      for (const subId of [trades, bars]) await client.updated(subId)
      for (const subId of Object.values(theirs)) await other.updated(subId)
      client.pause()
      // A reader may take nothing for eight seconds, so it does until something waits for it, and for a few minutes of the market more.
      let minutes = 0
      for (; minutes < 240 && (await waiting()) === 0; minutes++) await stage.advance(MINUTE)
      assert.ok((await waiting()) > 0, 'the reader has fallen behind')
      for (let more = 0; more < 3; more += 1, minutes++) await stage.advance(MINUTE)
      client.resume()
      await other.until(() => closedOf(other, theirs.bars).length >= minutes, 'bars close for the others')
      const newest = closedOf(other, theirs.bars).at(-1)?.ts
      await client.until(() => closedOf(client, bars).at(-1)?.ts >= newest, 'the reader has caught up', PATIENCE_MS)
      await client.quiet()
      await other.quiet()
      const mine = closedOf(client, bars).map(candle)
      assertJoined(mine, MINUTE, 'the slow reader’s bars')
      const shared = closedOf(other, theirs.bars)
        .map(candle)
        .filter(({ startMs }) => startMs >= (mine[0]?.startMs ?? 0))
      assert.deepEqual(mine.slice(mine.length - shared.length), shared)
      const [from, to] = [client.messages(trades)[0]?.ts, other.messages(theirs.trades).at(-1)?.ts]
      const between = (rows: readonly Body[], start: string) =>
        rows.filter(({ ts }) => BigInt(ts) >= BigInt(start) && BigInt(ts) <= BigInt(to)).map(({ p, s, ts }) => [ts, p, s])
      const start = BigInt(from) > BigInt(other.messages(theirs.trades)[0]?.ts) ? from : other.messages(theirs.trades)[0]?.ts
      assert.deepEqual(between(client.messages(trades), start), between(other.messages(theirs.trades), start), 'every trade, in its order')
      assert.ok(client.updates(trades).length >= minutes)
    })

    test('trades are never passed over: a reader that takes nothing is ended with 4008, and others do not feel it', async () => {
      const reader = await stage.viewer('reader')
      await using client = await heavy('trades', 'SPY', reader)
      await using other = await viewer.session()
      const trades = await other.subscribe('trades', 'SPY')
      const bars = await other.subscribe('bars', 'SPY', { interval: '1m' })
      const closedBefore = await metric(stage, CLOSED_AS_SLOW)
      client.pause()
      // In small steps: what is sent to a slow reader at its end is worth little when it is read late.
      for (let round = 0; round < 2_000 && (await waiting()) === 0; round++) await stage.advance(MINUTE)
      for (let round = 0; round < 2_000 && (await waiting()) > 0; round++) await stage.advance(MINUTE)
      assert.equal(await waiting(), 0, 'what waits is given up')
      client.resume()
      const { code } = await client.ended(PATIENCE_MS)
      assert.ok(code === SLOW_CONSUMER || code === RESET, `${code}`)
      await until(async () => (await metric(stage, CLOSED_AS_SLOW)) === closedBefore + 1, 'it is counted')
      const got = client.messages('1')
      const known = new Map(other.messages(trades).map(message => [message.ts, message]))
      assert.ok(got.length > 0 || code === RESET)
      // What it did get is gap-free from the first that both saw.
      const shared = got.filter(({ ts }) => known.has(ts))
      const from = msOf(shared[0]?.ts ?? '0000000')
      const to = msOf(shared.at(-1)?.ts ?? '0000000')
      const expected = other.messages(trades).filter(({ ts }) => msOf(ts) >= from && msOf(ts) <= to)
      assert.deepEqual(
        shared.map(({ ts, p, s }) => [ts, p, s]),
        expected.map(({ ts, p, s }) => [ts, p, s])
      )
      const made = fromTrades(other.messages(trades), MINUTE)
      const received = closedOf(other, bars).map(candle).slice(1)
      await other.until(() => closedOf(other, bars).length > 5, 'bars close')
      const whole = made.slice(1, -1)
      assert.deepEqual(
        received.filter(({ startMs }) => whole.some(bar => bar.startMs === startMs)),
        whole.filter(({ startMs }) => received.some(bar => bar.startMs === startMs)),
        'others miss nothing'
      )
      await other.quiet()
    })
  })

  test('a session has 500 subscriptions, the 501st is refused, and a place that is freed can be taken', async () => {
    await using client = await viewer.session()
    const symbols = ['SPY', 'AAPL', 'MSFT', 'BTC/USD', 'THIN']
    const channels = ['trades', 'quotes', 'depth'] as const
    const asked = Array.from({ length: SUBSCRIPTIONS_MAX }, (_, index) => ({
      action: 'subscribe',
      request_id: `many-${index}`,
      symbol: symbols[index % symbols.length],
      channel: channels[index % channels.length]
    }))
    for (const message of asked) client.begin(message)
    // They are counted in the order of their answers.
    const given: string[] = []
    for (const { request_id } of asked) given.push((await client.answer(request_id)).sub_id)
    assert.deepEqual(
      given.toSorted((a, b) => Number(a) - Number(b)),
      asked.map((_, index) => String(index + 1))
    )
    const refused = await client.ask({ action: 'subscribe', channel: 'quotes', symbol: 'SPY' })
    assert.equal(refused.error_code, 'subscription_limit')
    assert.match(refused.message, /\b500\b/)
    assert.equal((await client.list()).length, SUBSCRIPTIONS_MAX)
    await client.unsubscribe('250')
    assert.equal(await client.subscribe('quotes', 'SPY'), '501')
    assert.equal((await client.ask({ action: 'subscribe', channel: 'quotes', symbol: 'SPY' })).error_code, 'subscription_limit')
    await using other = await viewer.session()
    assert.equal(await other.subscribe('quotes', 'SPY'), '1', 'each session has its own')
    for (const id of ['1', '500', '501']) await client.updated(id)
  })
})

/** A figure of `/metrics`; 0 when there is none yet. */
async function metric(stage: MarketStage, name: string): Promise<number> {
  const page = await metricsPage(stage.service.url)
  const line = page.split('\n').find(one => one.startsWith(`${name} `))
  return Number(line?.slice(name.length) ?? 0)
}
