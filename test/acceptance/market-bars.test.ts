// Bars: live, from the past, and both joined, in every interval and session; each equals what the test makes of the trades or of smaller
// bars.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Body } from './api.ts'
import { assertJoined, type Candle, candle, closedOf, fromTrades, grouped, iso, msOf, past } from './market-bars.ts'
import { MarketStage, type Viewer } from './market-stage.ts'

const MINUTE = 60_000

/** Fails unless every bar closes once, no open bar is sent of a bar that is over, and all ascend. */
function assertLife(messages: readonly Body[], what: string): void {
  let closed = -1
  let current = -1
  for (const { ts, st } of messages) {
    const startMs = msOf(ts)
    assert.ok(startMs > closed, `${what}: ${st} of ${iso(startMs)} after the close of ${iso(closed)}`)
    assert.ok(startMs >= current, `${what}: ${st} of ${iso(startMs)} after ${iso(current)}`)
    current = startMs
    if (st === 'c') closed = startMs
  }
}

describe('bars', () => {
  let stage: MarketStage
  let viewer: Viewer
  let future = ''
  before(async () => {
    stage = await MarketStage.open()
    viewer = await stage.viewer()
    const { items } = await stage.sandbox(viewer, '/instruments?class=future')
    future = items.find((row: Body) => row.symbol.startsWith('ES')).symbol
  })
  after(() => stage[Symbol.asyncDispose]())

  /** Lets the market live on in small steps until it is enough. */
  const live = async (steps: number, isEnough: () => boolean = () => false, stepMs = 1_000): Promise<void> => {
    for (let step = 0; step < steps && !isEnough(); step++) await stage.advance(stepMs)
  }
  test('live: open bars at most four times a second, each minute closes once, and all equals the trades and the past', async () => {
    await using client = await viewer.session()
    for (const symbol of ['SPY', 'BTC/USD', future]) {
      const trades = await client.subscribe('trades', symbol)
      const bars = await client.subscribe('bars', symbol, { interval: '1m' })
      const two = await client.subscribe('bars', symbol, { interval: '2m' })
      const countOf = (state: 'c' | 'o') => client.updates(bars).filter(({ message }) => message.st === state).length
      const closes = () => countOf('c')
      // Open bars are limited by real time: a fast machine lives through six minutes in less than it takes to send six of them.
      await live(60_000, () => closes() >= 6 && countOf('o') >= 6, 100)
      await client.until(() => closes() >= 6, 'six minutes have closed')
      const messages = client.messages(bars)
      assertLife(messages, symbol)
      assertLife(client.messages(two), `2m of ${symbol}`)
      const opens = client.updates(bars).filter(({ message }) => message.st === 'o')
      assert.ok(opens.length >= 6, 'open bars are sent as they change')
      for (const [index, { atMs }] of opens.entries()) {
        const later = opens[index + 20]
        // Twenty steps of a quarter of a second, less what a busy machine may hold back on the way to here.
        if (later !== undefined) assert.ok(later.atMs - atMs > 4_000, `twenty-one open bars within ${later.atMs - atMs} ms`)
      }
      const closed = closedOf(client, bars)
      assertJoined(closed, MINUTE, symbol)
      // The first minute was under way when the trades began.
      const [first, last] = [closed[1]?.startMs ?? 0, closed.at(-1)?.startMs ?? 0]
      const within = (bar: Candle) => bar.startMs >= first && bar.startMs <= last
      await client.until(() => msOf(client.messages(trades).at(-1)?.ts ?? '0000000') >= last, 'the trades are sent')
      assert.deepEqual(
        closed.filter(within),
        fromTrades(client.messages(trades), MINUTE).filter(within),
        `${symbol}: live bars are the trades`
      )
      assert.deepEqual(
        await past(client, symbol, '1m', first, last + MINUTE),
        closed.filter(within),
        `${symbol}: the past is what was sent`
      )
      const pairs = closedOf(client, two)
      for (const pair of pairs) {
        const parts = closed.filter(({ startMs }) => startMs >= pair.startMs && startMs < pair.startMs + 2 * MINUTE)
        if (parts.length === 2)
          assert.deepEqual(
            [pair],
            grouped(parts, () => 0),
            `2m of ${symbol} at ${iso(pair.startMs)}`
          )
      }
      assert.ok(pairs.length >= 2)
      for (const subId of [trades, bars, two]) await client.unsubscribe(subId)
    }
  })

  test('the last open bar before a close leads to it: the figures only widen and the volume only grows', async () => {
    await using client = await viewer.session()
    const bars = await client.subscribe('bars', 'SPY', { interval: '1m' })
    await live(200, () => closedOf(client, bars).length >= 3)
    await client.until(() => closedOf(client, bars).length >= 3, 'three minutes have closed')
    const all = client.messages(bars).map(candle)
    for (const [index, bar] of all.entries()) {
      const before = all[index - 1]
      if (before === undefined || before.startMs !== bar.startMs) continue
      const at = iso(bar.startMs)
      assert.ok(bar.h >= before.h && bar.l <= before.l && bar.v >= before.v && bar.o === before.o, `${at} widens only`)
    }
  })

  test('a backfill brings so many past bars and joins what is live without a gap or a repeat', async () => {
    await using client = await viewer.session()
    for (const [count, symbol, interval, lengthMs] of [
      [0, 'SPY', '1m', MINUTE],
      [1, 'SPY', '1m', MINUTE],
      [2, 'BTC/USD', '1m', MINUTE],
      [7, 'SPY', '5m', 5 * MINUTE],
      [60, 'SPY', '1m', MINUTE],
      [20, future, '1m', MINUTE],
      [1000, 'BTC/USD', '1m', MINUTE]
    ] as const) {
      const what = `${count} bars of ${interval} of ${symbol}`
      const from = await stage.sandboxMs()
      const subId = await client.subscribe('bars', symbol, { interval, backfill_nbars: count })
      await client.updated(subId, count)
      const backfill = client.messages(subId).slice(0, count)
      assert.ok(
        backfill.every(({ st }) => st === 'c'),
        what
      )
      assert.ok(backfill.length === 0 || msOf(backfill[0]?.ts) >= from - (count + 2) * lengthMs, `${what} begins ${backfill[0]?.ts}`)
      const enough = () => closedOf(client, subId).length >= count + 3
      await live(240, enough, lengthMs / 60)
      await client.until(enough, `${what} go on`)
      assertLife(client.messages(subId), what)
      const closed = closedOf(client, subId)
      assertJoined(closed, lengthMs, what)
      const [first, last] = [closed[count === 0 ? 1 : 0], closed.at(-1)]
      assert.ok(first !== undefined && last !== undefined)
      const known = await past(client, symbol, interval, first.startMs, last.startMs + lengthMs)
      assert.deepEqual(closed.slice(count === 0 ? 1 : 0), known, `${what}: what was sent is the past`)
      await client.unsubscribe(subId)
    }
  })

  test('a backfill joins whenever it is asked for, also while bars close', async () => {
    await using client = await viewer.session()
    const running = new AbortController()
    const market = (async () => {
      while (!running.signal.aborted) await stage.advance(3_000)
    })()
    const ids: string[] = []
    for (let count = 0; count < 40; count++) {
      ids.push(await client.subscribe('bars', 'SPY', { interval: '1m', backfill_nbars: count % 5 }))
      await client.updated(ids[0] ?? '', client.updates(ids[0] ?? '').length + 1)
    }
    const last = ids.at(-1) ?? ''
    await client.until(() => closedOf(client, last).length >= 4 + 3, 'the last one goes on')
    running.abort()
    await market
    await client.quiet()
    for (const [index, subId] of ids.entries()) {
      assertLife(client.messages(subId), `subscription ${subId}`)
      assertJoined(closedOf(client, subId), MINUTE, `subscription ${subId} with ${index % 5} past bars`)
    }
    const reference = closedOf(client, ids[0] ?? '')
    for (const subId of ids) {
      const closed = closedOf(client, subId)
      const shared = reference.filter(({ startMs }) => closed.some(bar => bar.startMs === startMs))
      assert.deepEqual(closed.slice(-shared.length), shared, `subscription ${subId} gets the same as the first`)
    }
  })

  test('a market that runs ahead by hours leaves no gap', async () => {
    await using client = await viewer.session()
    const minutes = await client.subscribe('bars', 'SPY', { interval: '1m' })
    const hours = await client.subscribe('bars', 'SPY', { interval: '1h' })
    await client.updated(minutes)
    for (const jumpMs of [11 * MINUTE, 180 * MINUTE, 30 * MINUTE]) {
      const before = closedOf(client, minutes).length
      const count = jumpMs / MINUTE - 1
      await stage.advance(jumpMs)
      await live(120, () => closedOf(client, minutes).length > before + count)
      await client.until(() => closedOf(client, minutes).length > before + count, `${count} minutes have closed`)
    }
    for (const [subId, lengthMs] of [
      [minutes, MINUTE],
      [hours, 60 * MINUTE]
    ] as const) {
      assertLife(client.messages(subId), `${lengthMs / MINUTE} minutes`)
      assertJoined(closedOf(client, subId), lengthMs, `${lengthMs / MINUTE} minutes`)
    }
    for (const hour of closedOf(client, hours)) {
      const parts = closedOf(client, minutes).filter(({ startMs }) => startMs >= hour.startMs && startMs < hour.startMs + 60 * MINUTE)
      if (parts.length === 60)
        assert.deepEqual(
          [hour],
          grouped(parts, () => 0),
          iso(hour.startMs)
        )
    }
  })

  test('the largest backfill is given, a larger one refused', async () => {
    await using client = await viewer.session()
    const request = { action: 'subscribe', channel: 'bars', symbol: 'SPY', interval: '1m' }
    const refused = await client.ask({ ...request, backfill_nbars: 1_000_000 })
    assert.equal(refused.error_code, 'invalid_request')
    const [largest = 0] = (refused.message.match(/\d[\d,]*/g) ?? [])
      .map((text: string) => Number(text.replaceAll(',', '')))
      .filter((value: number) => value !== 1_000_000)
    assert.ok(largest >= 100, `the message says how many: ${refused.message}`)
    assert.equal((await client.ask({ ...request, backfill_nbars: largest + 1 })).error_code, 'invalid_request')
    assert.deepEqual(await client.list(), [])
    const { sub_id } = await client.ask({ ...request, backfill_nbars: largest })
    await client.updated(sub_id, largest, 60_000)
    await client.until(() => closedOf(client, sub_id).length >= largest, 'all closed bars have come')
    assertJoined(closedOf(client, sub_id), MINUTE, `${largest} bars`)
  })

  test('a late joiner of running bars gets the open bar at once', async () => {
    await using client = await viewer.session()
    const first = await client.subscribe('bars', 'SPY', { interval: '1m' })
    await client.updated(first, 2)
    await stage.pause()
    try {
      const second = await client.subscribe('bars', 'SPY', { interval: '1m' })
      await using other = await viewer.session()
      const third = await other.subscribe('bars', 'SPY', { interval: '1m' })
      const [own] = await client.updated(second)
      const [theirs] = await other.updated(third)
      for (const bar of [own, theirs]) {
        assert.equal(bar.st, 'o')
        assert.deepEqual(candle(bar), candle(client.messages(first).at(-1)), 'it is the one that the others have')
      }
    } finally {
      await stage.pause(false)
    }
  })
})
