/** Cases about the stream: the present state first, everything once, and no silent loss. */

import assert from 'node:assert/strict'
import { compare } from '@trunkline/core/domain/decimal'
import { msOfNanos } from '@trunkline/core/domain/market/records'
import type { Topic } from '@trunkline/core/ports/market'
import { until } from '../until.ts'
import { barsFrom, barsOf, type ContractCase, MINUTE_MS, offers, sameFigures, soon, Watcher } from './contract-case.ts'
import type { InjectedMarketFault, MarketHarness } from './harness.ts'

const trades = ({ symbols }: MarketHarness): Topic => ({ channel: 'trades', symbol: symbols.busy })
const quotes = ({ symbols }: MarketHarness): Topic => ({ channel: 'quotes', symbol: symbols.busy })
const hasMinutes: ContractCase['notOffered'] = ({ liveIntervals }) =>
  liveIntervals.includes('1m') ? null : 'the broker streams no one-minute bars'

const numbered: ContractCase['notOffered'] = capabilities =>
  offers('quotes')(capabilities) ?? (capabilities.streamNumbered ? null : 'its market stream does not number its messages')

/** Trades of whole minutes that were streamed without a loss are what the history's bars of them are made of. */
async function agreesWithHistory({ market, symbols, capabilities }: MarketHarness, watcher: Watcher): Promise<void> {
  // What is only seen at changes of the last price makes no bars.
  if (!capabilities.everyTrade) return
  const [first, last] = [watcher.trades[0], watcher.trades.at(-1)]
  assert.ok(first !== undefined && last !== undefined)
  const fromMs = (Math.floor(msOfNanos(first.at) / MINUTE_MS) + 1) * MINUTE_MS
  const toMs = Math.floor(msOfNanos(last.at) / MINUTE_MS) * MINUTE_MS
  assert.ok(toMs > fromMs, 'at least one whole minute was streamed')
  const made = barsFrom(watcher.trades)
  const past = await barsOf(market, { symbol: symbols.busy, interval: '1m', fromMs, toMs })
  assert.deepEqual(
    past.map(({ startMs }) => startMs),
    [...made.keys()].filter(startMs => startMs >= fromMs && startMs < toMs)
  )
  for (const bar of past) {
    const own = made.get(bar.startMs)
    assert.ok(own !== undefined)
    sameFigures(bar, own, 'the history and the trades')
  }
}

/** Streams trades until some whole minutes have gone by. */
async function minutesPass(harness: MarketHarness, watcher: Watcher, minutes = 3): Promise<void> {
  for (let minute = 0; minute <= minutes; minute += 1) {
    const count = watcher.trades.length
    await harness.venue.advance(MINUTE_MS)
    await watcher.reaches(() => watcher.trades.length > count, 'trades come as time goes on')
  }
}

/** A disturbed stream publishes the loss and goes on: the events that are left are right. */
function disturbed(
  { id, title, notOffered = offers('quotes') }: Pick<ContractCase, 'id' | 'title' | 'notOffered'>,
  fault: InjectedMarketFault,
  causes: readonly string[]
): ContractCase {
  return {
    id,
    title,
    notOffered,
    run: async harness => {
      using quote = new Watcher(harness, quotes(harness))
      using trade = new Watcher(harness, trades(harness))
      await quote.receives('quote')
      await trade.receives('live')
      await harness.venue.stream(fault)
      await quote.reaches(() => quote.losses > 0, 'the loss is reported')
      await harness.venue.stream('normal')
      await quote.reaches(() => quote.history.at(-1) === 'quote' && quote.history.lastIndexOf('live') > 0, 'the present quote comes again')
      await trade.reaches(() => trade.losses > 0 && trade.history.lastIndexOf('live') > 0, 'every topic receives it')
      // What follows while the venue is being put right may have another cause.
      assert.ok(causes.includes(quote.history.find(kind => kind.startsWith('lost')) ?? ''), quote.history.join(', '))
      const back = quote.history.lastIndexOf('live')
      const lost = quote.history.findIndex(kind => kind.startsWith('lost'))
      assert.ok(
        lost < back && !quote.history.slice(lost, quote.history.indexOf('live', lost)).includes('quote'),
        'nothing between lost and live'
      )
      const isSettled = async () => (harness.capabilities.connections === 'one' ? 1 : 2) >= (await harness.venue.open())
      await until(isSettled, 'no connection is left over', harness.patienceMs)
    }
  }
}

export const STREAM: readonly ContractCase[] = [
  {
    id: 'M50',
    title: 'live is followed at once by the current quote and order book',
    notOffered: offers('depth'),
    run: async harness => {
      using quote = new Watcher(harness, quotes(harness))
      using orderBook = new Watcher(harness, { channel: 'depth', symbol: harness.symbols.busy })
      await quote.receives('quote')
      await orderBook.receives('depth')
      assert.deepEqual([quote.history[0], quote.history[1], orderBook.history[0], orderBook.history[1]], ['live', 'quote', 'live', 'depth'])
      const [present] = orderBook.depths
      assert.ok(present !== undefined && present.bids.length > 0 && present.bids.length <= 10)
      for (const [side, sign] of [
        [present.bids, -1],
        [present.asks, 1]
      ] as const)
        for (const [index, level] of side.entries()) {
          const before = side[index - 1]
          assert.ok(before === undefined || compare(before.price, level.price) === -sign, 'best prices come first')
        }
    }
  },
  {
    id: 'M52',
    title: 'every contract of a chain is first sent once, and again when it changes',
    notOffered: offers('options_chain'),
    run: async harness => {
      const { market, symbols, venue } = harness
      assert.ok(symbols.underlying !== null)
      const [, expiration] = await market.expirations(symbols.underlying, soon())
      assert.ok(expiration !== undefined)
      using chain = new Watcher(harness, { channel: 'options_chain', symbol: symbols.underlying, expiration })
      await chain.receives('chain', 10)
      await venue.advance(MINUTE_MS)
      await chain.reaches(
        () => new Set(chain.entries.map(({ symbol }) => symbol)).size < chain.entries.length,
        'a contract that changed comes again'
      )
      const contracts = new Map(chain.entries.map(entry => [entry.symbol, entry]))
      for (const entry of contracts.values()) {
        assert.equal(entry.expiration, expiration)
        const known = await market.instrument(entry.symbol, soon())
        assert.equal(known?.instrument, 'OPT')
        if (contracts.size > 40) break
      }
      const sides = new Set([...contracts.values()].map(({ right, strike }) => `${right} ${strike}`))
      assert.equal(sides.size, contracts.size)
      assert.ok([...contracts.values()].some(({ greeks, bid, ask }) => greeks?.delta !== null && bid !== null && ask !== null))
    }
  },
  {
    id: 'M54',
    title: 'a symbol that the broker does not know is refused, and nothing follows',
    notOffered: offers('trades'),
    run: async harness => {
      using unknown = new Watcher(harness, { channel: 'trades', symbol: harness.symbols.unknown })
      using known = new Watcher(harness, trades(harness))
      await unknown.receives('refused')
      await known.receives('live')
      await harness.venue.stream('drop')
      await known.receives('live', 2)
      assert.deepEqual(unknown.history, ['refused'])
    }
  },
  {
    id: 'M60',
    title: 'trades arrive in order, each once, and where every trade is streamed they make the bars of the history',
    notOffered: offers('trades'),
    run: async harness => {
      using watcher = new Watcher(harness, trades(harness))
      await watcher.receives('live')
      await minutesPass(harness, watcher)
      const times = watcher.trades.map(({ at }) => BigInt(at))
      assert.ok(
        times.every((at, index) => index === 0 || at >= (times[index - 1] ?? at)),
        'trades in the order of their times'
      )
      await agreesWithHistory(harness, watcher)
      assert.equal(watcher.losses, 0)
    }
  },
  {
    id: 'M62',
    title: 'bars are streamed as they grow, each is closed once, and equals the bar of the history',
    notOffered: hasMinutes,
    run: async harness => {
      const { market, symbols } = harness
      using watcher = new Watcher(harness, { channel: 'bars', symbol: symbols.busy, interval: '1m' })
      using traded = new Watcher(harness, trades(harness))
      await watcher.receives('live')
      await traded.receives('live')
      await minutesPass(harness, traded)
      await watcher.reaches(() => watcher.bars.filter(({ closed }) => closed).length >= 2, 'bars are closed')
      const closed = watcher.bars.filter(bar => bar.closed)
      assert.equal(new Set(closed.map(({ startMs }) => startMs)).size, closed.length, 'each is closed once')
      const [first, last] = [closed[0], closed.at(-1)]
      assert.ok(first !== undefined && last !== undefined)
      const past = await barsOf(market, { symbol: symbols.busy, interval: '1m', fromMs: first.startMs, toMs: last.startMs + MINUTE_MS })
      assert.deepEqual(
        past.map(({ startMs }) => startMs),
        closed.map(({ startMs }) => startMs)
      )
      for (const [index, bar] of past.entries()) sameFigures(bar, closed[index] ?? bar, 'the history and the stream')
      const startsOfOpen = watcher.bars.map(({ startMs }) => startMs)
      assert.ok(startsOfOpen.every((startMs, index) => index === 0 || startMs >= (startsOfOpen[index - 1] ?? startMs)))
    }
  },
  {
    id: 'M64',
    title: 'messages sent twice or out of order do not change the trades',
    notOffered: offers('trades'),
    run: async harness => {
      using watcher = new Watcher(harness, trades(harness))
      await watcher.receives('live')
      await harness.venue.stream('duplicate')
      await minutesPass(harness, watcher, 2)
      assert.equal(watcher.losses, 0, 'what comes twice is no loss')
      await agreesWithHistory(harness, watcher)
      await harness.venue.stream('normal')
      // Without numbers it cannot be known that a message overtook another.
      if (!harness.capabilities.streamNumbered) return
      await harness.venue.stream('reorder')
      await minutesPass(harness, watcher, 2)
      await harness.venue.stream('normal')
      if (watcher.losses === 0) await agreesWithHistory(harness, watcher)
    }
  },
  disturbed(
    { id: 'M70', title: 'a dropped connection is published as a loss, then live with the current state, for every topic' },
    'drop',
    ['lost lost']
  ),
  disturbed(
    { id: 'M72', title: 'a missing message is published as a loss, then live with the current state', notOffered: numbered },
    'lose',
    ['lost missing']
  ),
  disturbed({ id: 'M74', title: 'a silent stream is published as a loss, and is live when it sends again' }, 'mute', ['lost silence']),
  disturbed({ id: 'M76', title: 'an unreadable message is published as a loss, then live' }, 'garble', ['lost malformed']),
  {
    id: 'M80',
    title: 'a renewal is published as a loss, then live with the current state, for that topic alone',
    notOffered: offers('quotes'),
    run: async harness => {
      using renewed = new Watcher(harness, quotes(harness))
      using other = new Watcher(harness, { channel: 'quotes', symbol: harness.symbols.other })
      await renewed.receives('quote')
      await other.receives('quote')
      renewed.lease.renew()
      await renewed.receives('live', 2)
      await renewed.reaches(() => renewed.history.at(-1) === 'quote', 'the present quote comes again')
      assert.equal(renewed.losses, 1)
      assert.equal(other.losses, 0)
    }
  },
  {
    id: 'M82',
    title: 'after a topic is released it publishes nothing, and it can be requested again',
    notOffered: offers('trades'),
    run: async harness => {
      const gone = new Watcher(harness, trades(harness))
      using stays = new Watcher(harness, { channel: 'trades', symbol: harness.symbols.other })
      await gone.receives('trade')
      gone[Symbol.dispose]()
      const count = gone.history.length
      const other = stays.trades.length
      await harness.venue.advance(MINUTE_MS)
      await stays.reaches(() => stays.trades.length > other, 'the other one goes on')
      using again = new Watcher(harness, trades(harness))
      await again.receives('trade')
      assert.equal(gone.history.length, count)
      assert.equal(stays.losses, 0)
    }
  },
  {
    id: 'M84',
    title: 'one connection, or a few by kind, serve every topic, and none is left when the last topic is released',
    notOffered: offers('quotes'),
    run: async harness => {
      const watchers = [
        new Watcher(harness, trades(harness)),
        new Watcher(harness, quotes(harness)),
        new Watcher(harness, { channel: 'quotes', symbol: harness.symbols.other })
      ]
      for (const watcher of watchers) await watcher.receives('live')
      const open = await harness.venue.open()
      assert.ok(harness.capabilities.connections === 'one' ? open === 1 : open > 0 && open <= watchers.length, `${open} connections`)
      for (const watcher of watchers) watcher[Symbol.dispose]()
      await until(async () => (await harness.venue.open()) === 0, 'the connection is closed', harness.patienceMs)
    }
  },
  {
    id: 'M90',
    title: 'the end of a login is published as a loss of the token, and closing the session ends the stream silently',
    notOffered: offers('quotes'),
    run: async harness => {
      const watcher = new Watcher(harness, quotes(harness))
      await watcher.receives('live')
      await harness.venue.revoke()
      await watcher.reaches(() => watcher.history.some(kind => kind === 'lost token'), 'the end of the token is reported')
      const count = watcher.history.length
      await harness.close()
      watcher.lease.renew()
      watcher[Symbol.dispose]()
      assert.equal(watcher.history.length, count)
      assert.equal(await harness.venue.open(), 0)
    }
  }
]
