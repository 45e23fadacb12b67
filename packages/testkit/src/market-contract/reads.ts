/** Cases about what is read beside the stream: symbols, past bars, expirations, the present. */

import assert from 'node:assert/strict'
import type { Bar } from '@trunkline/core/domain/market/records'
import { parseDay } from '@trunkline/core/domain/timestamp'
import { BrokerFault } from '@trunkline/core/ports/broker'
import { SYMBOLS_FOUND_MAX } from '@trunkline/core/ports/market'
import { until } from '../until.ts'
import { barsOf, type ContractCase, MINUTE_MS, offers, soon, Watcher } from './contract-case.ts'
import type { MarketHarness } from './harness.ts'

const hasHistory: ContractCase['notOffered'] = ({ historyIntervals }) =>
  historyIntervals.includes('1m') ? null : 'the broker has no past minutes'
const WEEK_MS = 7 * 24 * 60 * MINUTE_MS

/** A stretch of the past that begins and ends with a whole minute. */
async function stretch({ market, symbols }: MarketHarness, ms: number): Promise<{ readonly fromMs: number; readonly toMs: number }> {
  assert.ok((await market.instrument(symbols.busy, soon())) !== null)
  const toMs = Math.floor(market.presentMs() / MINUTE_MS) * MINUTE_MS
  return { fromMs: toMs - ms, toMs }
}

function ascends(bars: readonly Bar[], { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number }): void {
  for (const [index, { startMs }] of bars.entries()) {
    assert.ok(startMs >= fromMs && startMs < toMs, `a bar outside the window: ${new Date(startMs).toISOString()}`)
    const before = bars[index - 1]
    assert.ok(before === undefined || before.startMs < startMs, `bars that do not ascend at ${new Date(startMs).toISOString()}`)
  }
}

export const READS: readonly ContractCase[] = [
  {
    id: 'M10',
    title: 'a known symbol has its calendar, an unknown one is null',
    run: async ({ market, symbols }) => {
      for (const symbol of [symbols.busy, symbols.other]) {
        const found = await market.instrument(symbol, soon())
        assert.equal(found?.symbol, symbol)
        assert.notEqual(found.calendar.phaseAt(market.presentMs()), 'closed')
      }
      assert.equal(await market.instrument(symbols.unknown, soon()), null)
    }
  },
  {
    id: 'M12',
    title: 'the market’s time is the broker’s, and advances with it',
    run: async ({ market, symbols, venue }) => {
      await market.instrument(symbols.busy, soon())
      const before = market.presentMs()
      await venue.advance(10 * MINUTE_MS)
      await market.instrument(symbols.other, soon())
      // Some brokers report their time in whole seconds.
      assert.ok(market.presentMs() - before >= 10 * MINUTE_MS - 1_000)
    }
  },
  {
    id: 'M20',
    title: 'past bars ascend, begin with the window and end before its end, and more than a page of them is complete',
    notOffered: hasHistory,
    run: async harness => {
      const { market, symbols } = harness
      const window = await stretch(harness, WEEK_MS + 60 * MINUTE_MS)
      const request = { symbol: symbols.busy, interval: '1m', ...window }
      const bars = await barsOf(market, request)
      ascends(bars, window)
      assert.equal(bars.length, (window.toMs - window.fromMs) / MINUTE_MS, 'a market that always trades has a bar each minute')
      const middleMs = window.fromMs + 3 * 24 * 60 * MINUTE_MS + 17 * MINUTE_MS
      const halves = [await barsOf(market, { ...request, toMs: middleMs }), await barsOf(market, { ...request, fromMs: middleMs })]
      assert.deepEqual(halves.flat(), bars)
    }
  },
  {
    id: 'M22',
    title: 'a window of one bar has that bar, an empty one has none, and the current bar is included and open',
    notOffered: hasHistory,
    run: async harness => {
      const { market, symbols } = harness
      const { toMs } = await stretch(harness, MINUTE_MS)
      const request = { symbol: symbols.busy, interval: '1m', fromMs: toMs - MINUTE_MS, toMs }
      const [only, ...more] = await barsOf(market, request)
      assert.deepEqual([only?.startMs, only?.closed, more.length], [toMs - MINUTE_MS, true, 0])
      assert.deepEqual(await barsOf(market, { ...request, fromMs: toMs }), [])
      assert.deepEqual(await barsOf(market, { ...request, fromMs: toMs - MINUTE_MS + 1 }), [])
      // The present minute has no bar before its first trade.
      await until(async () => {
        const upToNow = await barsOf(market, { ...request, toMs: market.presentMs() + 10 * MINUTE_MS })
        return upToNow.at(-1)?.closed === false
      }, 'the present bar is there')
    }
  },
  {
    id: 'M24',
    title: 'every offered interval has bars',
    run: async harness => {
      const { market, symbols, capabilities } = harness
      const window = await stretch(harness, WEEK_MS)
      for (const interval of capabilities.historyIntervals) {
        const bars = await barsOf(market, { symbol: symbols.busy, interval, ...window })
        ascends(bars, window)
        assert.ok(bars.length >= 6, `${interval}: ${bars.length} bars in a week`)
      }
    }
  },
  {
    id: 'M26',
    title: 'bars of an unknown symbol are refused',
    notOffered: hasHistory,
    run: async harness => {
      const window = await stretch(harness, MINUTE_MS)
      const requested = barsOf(harness.market, { symbol: harness.symbols.unknown, interval: '1m', ...window })
      await assert.rejects(requested, (error: unknown) => error instanceof BrokerFault && error.kind === 'refused')
    }
  },
  {
    id: 'M30',
    title: 'the expirations of an underlying ascend; a symbol without options has none',
    notOffered: offers('options_chain'),
    run: async ({ market, symbols }) => {
      assert.ok(symbols.underlying !== null)
      const days = await market.expirations(symbols.underlying, soon())
      assert.ok(days.length > 0)
      assert.deepEqual(days, [...new Set(days)].toSorted())
      assert.deepEqual(await market.expirations(symbols.busy, soon()), [])
    }
  },
  {
    id: 'M32',
    title: 'a chain read in one request has every contract that is streamed for its day, each once; without options it is empty',
    notOffered: offers('options_chain'),
    run: async harness => {
      const { market, symbols } = harness
      assert.ok(symbols.underlying !== null)
      const [expiration] = await market.expirations(symbols.underlying, soon())
      assert.ok(expiration !== undefined)
      const read = await market.chain(symbols.underlying, expiration, soon())
      const contracts = new Set(read.map(({ symbol }) => symbol))
      assert.equal(contracts.size, read.length)
      assert.deepEqual([...new Set(read.map(({ right }) => right))].toSorted(), ['C', 'P'])
      assert.ok(read.every(entry => entry.expiration === expiration))
      assert.ok(
        read.some(({ bid, ask }) => bid !== null && ask !== null),
        'contracts have their market'
      )
      using watcher = new Watcher(harness, { channel: 'options_chain', symbol: symbols.underlying, expiration })
      const streamed = () => new Set(watcher.entries.map(({ symbol }) => symbol))
      await watcher.reaches(() => streamed().size >= contracts.size, 'every contract is streamed')
      assert.deepEqual([...streamed()].toSorted(), [...contracts].toSorted())
      assert.deepEqual(await market.chain(symbols.busy, expiration, soon()), [])
      assert.deepEqual(await market.chain(symbols.underlying, parseDay('1999-12-31', 'day'), soon()), [])
    }
  },
  {
    id: 'M34',
    title: 'a search finds a symbol by its ticker and by a word of its name, returns only known symbols, and none for unknown text',
    notOffered: ({ symbolSearch }) => (symbolSearch ? null : 'the broker does not search symbols'),
    run: async ({ market, symbols }) => {
      for (const symbol of [symbols.busy, symbols.other]) {
        const found = await market.search(symbol, soon())
        const entry = found.find(each => each.symbol === symbol)
        assert.ok(entry !== undefined, symbol)
        assert.equal(entry.instrument, (await market.instrument(symbol, soon()))?.instrument)
        const [kind] = entry.name?.split(' ') ?? []
        assert.ok(kind !== undefined && kind !== '')
        const named = await market.search(kind.toLowerCase(), soon())
        assert.ok(named.length <= SYMBOLS_FOUND_MAX && named.some(each => each.symbol === symbol), kind)
        for (const { symbol: other } of named.slice(0, 5)) assert.notEqual(await market.instrument(other, soon()), null, other)
      }
      assert.deepEqual(await market.search(symbols.unknown, soon()), [])
    }
  }
]
