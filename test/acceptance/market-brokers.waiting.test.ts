// The same market through each broker: what its connection offers comes, and the past is the same past.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { PATIENCE_MS } from '@trunkline/testkit/patience'
import type { Body } from './api.ts'
import { type Candle, closedOf, iso, past } from './market-bars.ts'
import type { MarketClient } from './market-client.ts'
import { MarketStage, type Viewer } from './market-stage.ts'

const BROKERS = ['SANDBOX', 'ALPACA', 'TRADIER', 'TRADESTATION'] as const
type Broker = (typeof BROKERS)[number]
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
/** Some brokers have to be asked again and again. */
const ACCOUNTS = [
  { kind: 'margin', cash: '100000' },
  { kind: 'coin', cash: '100000' },
  { kind: 'futures', cash: '100000' }
]

describe('market data of each broker', () => {
  let stage: MarketStage
  const viewers = new Map<Broker, Viewer>()
  const offers = new Map<Broker, readonly string[]>()
  before(async () => {
    stage = await MarketStage.open()
    const { body } = await stage.api.call('GET', '/brokers', { headers: stage.api.platform })
    for (const broker of BROKERS) {
      viewers.set(broker, await stage.viewer(broker.toLowerCase(), ACCOUNTS, broker))
      offers.set(broker, body.find((row: Body) => row.broker === broker).market_data.channels)
    }
  })
  after(() => stage?.[Symbol.asyncDispose]())

  const viewerOf = (broker: Broker): Viewer => viewers.get(broker) ?? assert.fail(broker)
  const session = (broker: Broker): Promise<MarketClient> => viewerOf(broker).session()
  const has = (broker: Broker, channel: string) => offers.get(broker)?.includes(channel) === true
  /** What a broker has a book of: shares, or coins where it has none of shares. */
  const bookOf = (broker: Broker) => (broker === 'ALPACA' ? 'BTC/USD' : 'AAPL')

  for (const broker of BROKERS) {
    test(`${broker}: quotes, trades and bars come and go on`, async () => {
      await using client = await session(broker)
      const quotes = await client.subscribe('quotes', 'AAPL')
      const trades = await client.subscribe('trades', 'AAPL')
      const bars = await client.subscribe('bars', 'AAPL', { interval: '1m', backfill_nbars: 5 })
      await client.updated(quotes, 3, PATIENCE_MS)
      await client.updated(trades, 3, PATIENCE_MS)
      await client.until(() => client.messages(bars).some(({ st }) => st !== 'c'), 'a bar is under way', PATIENCE_MS)
      await stage.advance(2 * MINUTE)
      const closed = () => closedOf(client, bars).map(({ startMs }) => startMs)
      await client.until(() => closed().length >= 7, 'bars close', PATIENCE_MS)
      const starts = closed()
      assert.deepEqual(
        starts,
        [...new Set(starts)].toSorted((a, b) => a - b),
        'each closes once, in order'
      )
    })

    test(`${broker}: depth and chains as far as they are offered`, async () => {
      await using client = await session(broker)
      if (has(broker, 'depth')) {
        const book = await client.subscribe('depth', bookOf(broker), { n_levels: 5 })
        const [first] = await client.updated(book, 2, PATIENCE_MS)
        assert.ok(first.b.length > 0 && first.a.length > 0 && first.b.length <= 5)
      } else {
        const refused = await client.ask({ action: 'subscribe', channel: 'depth', symbol: 'AAPL' })
        assert.equal(refused.error_code, 'unsupported_channel')
      }
      if (!has(broker, 'options_chain')) return
      const { items } = await stage.sandbox(viewerOf('SANDBOX'), '/expirations?underlying=SPY')
      const chain = await client.subscribe('options_chain', 'SPY', { expiration: items[1].expiration, greeks: true })
      const contracts = await client.updated(chain, 20, PATIENCE_MS)
      assert.ok(new Set(contracts.map(({ legs }) => `${legs[0].strike_price} ${legs[0].option_type}`)).size > 10)
    })
  }

  test('the past is the same past, in minutes and in days', async () => {
    const now = await stage.sandboxMs()
    const windows = [
      ['1m', now - 2 * DAY, now - 2 * DAY + 90 * MINUTE],
      ['5m', now - DAY, now - DAY + 300 * MINUTE]
    ] as const
    for (const [interval, fromMs, toMs] of windows) {
      const wanted = await figures('SANDBOX', interval, fromMs, toMs)
      assert.ok(wanted.length >= 50, `${interval}: ${wanted.length} bars`)
      for (const broker of BROKERS)
        assert.deepEqual(await figures(broker, interval, fromMs, toMs), wanted, `${broker} ${interval} from ${iso(fromMs)}`)
    }
  })

  async function figures(broker: Broker, interval: string, fromMs: number, toMs: number): Promise<readonly Candle[]> {
    await using client = await session(broker)
    return await past(client, 'AAPL', interval, fromMs, toMs)
  }
})
