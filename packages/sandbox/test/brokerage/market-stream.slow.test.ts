import assert from 'node:assert/strict'
import { test } from 'node:test'
import { add, answered, assertSame, bars, barsOf, numbersOf, ofKind, toMinute } from './market-reader.ts'
import { Customer, control, eventually, Listener, openBrokerage, type Wire } from './support.ts'

const MINUTE = 60_000_000_000n

test('the stream’s trades, its bars and the history agree, over jumps of any length', async () => {
  await using brokerage = await openBrokerage({ seed: 'three views of one market' })
  const alex = await Customer.of(brokerage)
  const symbols = ['SPY', 'THIN', 'BTC/USD', 'F']
  const from = await toMinute(brokerage)
  const stream = await Listener.ofMarket(alex)
  stream.send(add(1, 'trades', symbols))
  stream.send(bars(2, ...symbols))
  await answered(stream, 2)
  for (const ms of [1, 999, 250, 30_000, 61_000, 5_000, 600_000, 2_000_000, 100_000, 9 * 3_600_000, 3_000]) {
    await control(brokerage, 'PUT', '/clock', { advance_ms: ms })
    await control(brokerage, 'PUT', '/market/SPY', { price: `${500 + (ms % 7)}.00` })
  }
  const to = await toMinute(brokerage)
  await control(brokerage, 'PUT', '/clock', { advance_ms: 1_000 })
  const closed = (symbol: string) => ofKind(stream, 'bar', symbol).filter(bar => bar.closed && BigInt(bar.at) < to)
  await stream.until(() => ofKind(stream, 'bar', 'SPY').some(bar => BigInt(bar.at) >= to))
  for (const symbol of symbols) {
    const history = await barsOf(alex, symbol, from, to)
    assert.ok(history.length > 400, `${symbol} has ${history.length} bars`)
    assert.equal(closed(symbol).length, history.length, symbol)
    for (const [nth, bar] of history.entries()) assertSame(closed(symbol)[nth], bar)
    assert.deepEqual(
      closed(symbol).map(({ at, o, h, l, c }) => [at, o, h, l, c]),
      fromTrades(ofKind(stream, 'trade', symbol), to)
    )
  }
  assert.deepEqual(
    numbersOf(stream),
    numbersOf(stream).map((_, nth) => nth + 1)
  )
})

/** Start, open, high, low and close of each minute, from trades only. */
function fromTrades(trades: readonly Wire[], to: bigint): readonly (readonly string[])[] {
  const made: string[][] = []
  for (const { at, p } of trades) {
    if (BigInt(at) >= to) continue
    const start = String(BigInt(at) - (BigInt(at) % MINUTE))
    const last = made.at(-1)
    if (last?.[0] !== start) made.push([start, p, p, p, p])
    else {
      if (Number(p) > Number(last[2])) last[2] = p
      if (Number(p) < Number(last[3])) last[3] = p
      last[4] = p
    }
  }
  return made
}

test('a reader that pauses gets the newest of every state, and every trade', async () => {
  await using brokerage = await openBrokerage({ heartbeatMs: 5_000 })
  const alex = await Customer.of(brokerage)
  const [lazy, eager] = [await Listener.ofMarket(alex), await Listener.ofMarket(alex)]
  for (const stream of [lazy, eager]) {
    stream.send(add(1, 'depth', ['SPY', 'AAPL', 'BTC/USD']))
    stream.send(add(2, 'trades', ['SPY']))
    await answered(stream, 2)
  }
  lazy.pause()
  const waiting = async (): Promise<number[]> =>
    (await control(brokerage, 'GET', '/streams')).items.find(({ on }: Wire) => on === 'market').waiting
  // Continues until the system's buffers for a reader are full and the sandbox has begun to buffer.
  for (let rounds = 0; ((await waiting())[0] ?? 0) < 1_500_000 && rounds < 200; rounds++)
    await control(brokerage, 'PUT', '/clock', { advance_ms: 600_000 })
  assert.ok(((await waiting())[0] ?? 0) >= 1_000_000, 'nothing was held back')
  await control(brokerage, 'PUT', '/market/SPY', { price: '612.00' })
  lazy.resume()
  for (const stream of [lazy, eager]) await stream.until(() => ofKind(stream, 'trade', 'SPY').some(({ p }) => p === '612'))
  assert.deepEqual(ofKind(lazy, 'trade'), ofKind(eager, 'trade'))
  for (const symbol of ['SPY', 'AAPL', 'BTC/USD'])
    assert.deepEqual(ofKind(lazy, 'depth', symbol).at(-1), ofKind(eager, 'depth', symbol).at(-1))
  assert.ok(ofKind(lazy, 'depth').length < ofKind(eager, 'depth').length, 'nothing was passed over')
  assert.deepEqual(
    numbersOf(lazy),
    numbersOf(lazy).map((_, nth) => nth + 1)
  )
})

test('a reader that never reads is closed with 4008 before its buffer exceeds the bound', async () => {
  await using brokerage = await openBrokerage({ heartbeatMs: 5_000 })
  const alex = await Customer.of(brokerage)
  const [lazy, eager] = [await Listener.ofMarket(alex), await Listener.ofMarket(alex)]
  const symbols = (await alex.call('GET', '/instruments?limit=500')).body.items.map(({ symbol }: Wire) => symbol)
  for (const stream of [lazy, eager]) {
    stream.send(add(1, 'trades', symbols))
    await answered(stream, 1)
  }
  lazy.pause()
  const open = async () => (await control(brokerage, 'GET', '/streams')).items.find(({ on }: Wire) => on === 'market').waiting as number[]
  let most = 0
  for (let rounds = 0; (await open()).length === 2 && rounds < 400; rounds++) {
    most = Math.max(most, ...(await open()))
    await control(brokerage, 'PUT', '/clock', { advance_ms: 4 * 3_600_000 })
  }
  assert.equal(await eventually(open, streams => streams.length === 1).then(streams => streams.length), 1)
  assert.ok(most < 17 * 1024 * 1024, `${most} waited`)
  assert.equal(eager.closed, undefined)
  lazy.resume()
  await lazy.until(() => lazy.closed !== undefined)
})
