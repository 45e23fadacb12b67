import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { parseDecimal } from '@trunkline/core/domain/decimal'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { Bar } from '@trunkline/core/domain/market/records'
import { parseDay } from '@trunkline/core/domain/timestamp'
import { BrokerFault } from '@trunkline/core/ports/broker'
import type { BarsRequest, MarketSource } from '@trunkline/core/ports/market'
import { soon } from '@trunkline/testkit/patience'
import { until } from '@trunkline/testkit/until'
import fc from 'fast-check'
import { chainEntry, contractsIn, parseBarsPage, parseContract, snapshotsIn } from '../../../src/alpaca/market.ts'
import { dispatch, isItem, parseLatestQuotes, quoteOf, tradeOf } from '../../../src/alpaca/market-stream.ts'
import { readObject } from '../../../src/kit/json.ts'
import { nested } from '../../../src/kit/parse.ts'
import { TopicSinks } from '../../../src/kit/runtime/topic-sinks.ts'
import { RecordingSink } from '../../support/recording-sink.ts'
import { fixture, reply, unread } from '../fixtures.ts'
import { as, json, openAt, Venue } from '../venue.ts'
import { knowsSymbols, ScriptedStream } from './streams.ts'

after(() =>
  assert.deepEqual(
    unread(name => name.startsWith('market.')),
    [],
    'fixtures that no test reads'
  )
)

const MINUTE = Date.UTC(2026, 10, 3, 15, 8)
const CALL = 'AAPL261218C00250000'
const EXPIRATION = parseDay('2026-12-18', 'day')

async function barsOf(market: MarketSource, request: BarsRequest): Promise<readonly Bar[]> {
  const bars: Bar[] = []
  for await (const page of market.bars(request, soon())) bars.push(...page)
  return bars
}

test('a symbol with its calendar, and the present; an unknown one is null', async () => {
  await using venue = await Venue.start()
  knowsSymbols(venue)
  await using opened = openAt(venue)
  const { market } = opened
  const found = await Promise.all(['AAPL', 'BTC/USD', 'AAPL261218C00250000', 'NOSUCH'].map(symbol => market.instrument(symbol, soon())))
  assert.deepEqual(
    found.map(each => [each?.instrument, each?.calendar.daysAWeek]),
    [
      ['STK', 5],
      ['CRYPTO', 7],
      ['OPT', 5],
      [undefined, undefined]
    ]
  )
  const behindMs = market.presentMs() - Date.parse('2026-11-03T15:10:17.660Z')
  assert.ok(behindMs >= 0 && behindMs < 5_000, String(behindMs))
  const requests = venue.seen.length
  await market.instrument('AAPL', soon())
  assert.equal(venue.seen.length, requests, 'it is remembered')
})

test('past bars: page by page, numbers as they are written, the one under way open', async () => {
  await using venue = await Venue.start()
  knowsSymbols(venue)
  venue.on('GET /data/v1beta3/crypto/us/bars', ({ query }) => {
    assert.deepEqual(
      [query.get('symbols'), query.get('timeframe'), query.get('start'), query.get('end')],
      ['BTC/USD', '1Min', '2026-11-03T15:08:00.000000Z', '2026-11-03T15:19:59.999000Z']
    )
    return query.get('page_token') === null ? as('market.bars') : json(200, { bars: null, next_page_token: null })
  })
  venue.on('GET /data/v1beta3/crypto/us/trades', () => assert.fail('the history has the minute'))
  await using opened = openAt(venue)
  const bars = await barsOf(opened.market, { symbol: 'BTC/USD', interval: '1m', fromMs: MINUTE, toMs: MINUTE + 720_000 })
  assert.deepEqual(bars[0], {
    startMs: MINUTE,
    open: '66051.6',
    high: '66060',
    low: '66050.25',
    close: '66055.1',
    volume: '0.00000015',
    closed: true
  })
  assert.deepEqual(
    bars.map(({ closed, high }) => [closed, high]),
    [
      [true, '66060'],
      [true, '66070.123456789'],
      [false, '66071']
    ]
  )
})

test('the minute under way, and one that history does not have yet, are made of trades', async () => {
  await using venue = await Venue.start()
  knowsSymbols(venue)
  let time = '2026-11-03T15:11:02Z'
  venue.on('GET /api/v2/clock', () => json(200, { timestamp: time }))
  venue.on(
    'GET /data/v1beta3/crypto/us/bars',
    json(200, { bars: { 'BTC/USD': fixture('market.bars').body.bars['BTC/USD'].slice(0, 2) }, next_page_token: null })
  )
  const trade = (t: string, p: number, s: number) => ({ t: `2026-11-03T15:${t}Z`, p, s, i: 1, tks: 'B' })
  const pages: Record<string, object> = {
    first: { trades: { 'BTC/USD': [trade('10:59.5', 5, 1), trade('10:59.9', 7, 0.5)] }, next_page_token: 'more' },
    more: { trades: { 'BTC/USD': [trade('11:00', 6, 2), trade('11:01', 4, 1e-7)] }, next_page_token: null }
  }
  venue.on('GET /data/v1beta3/crypto/us/trades', ({ query }) => {
    assert.equal(query.get('start'), '2026-11-03T15:10:00.000000Z')
    return json(200, pages[query.get('page_token') ?? 'first'])
  })
  const requested = { symbol: 'BTC/USD', interval: '1m', fromMs: MINUTE, toMs: MINUTE + 600_000 }
  await using opened = openAt(venue)
  const bars = await barsOf(opened.market, requested)
  assert.deepEqual(bars.slice(2), [
    { startMs: MINUTE + 120_000, open: '5', high: '7', low: '5', close: '7', volume: '1.5', closed: true },
    { startMs: MINUTE + 180_000, open: '6', high: '6', low: '4', close: '4', volume: '2.0000001', closed: false }
  ])
  // Well into the minute what history does not have did not trade.
  time = '2026-11-03T15:12:30Z'
  venue.on('GET /data/v1beta3/crypto/us/trades', ({ query }) => {
    assert.equal(query.get('start'), '2026-11-03T15:12:00.000000Z')
    return json(200, { trades: null, next_page_token: null })
  })
  await using later = openAt(venue)
  assert.equal((await barsOf(later.market, requested)).length, 2)
})

test('requests for bars of shares state the feed and the adjustment; unknown symbols and windows are refused', async () => {
  await using venue = await Venue.start()
  knowsSymbols(venue)
  venue.on('GET /data/v2/stocks/bars', ({ query }) => {
    assert.deepEqual([query.get('feed'), query.get('adjustment'), query.get('timeframe')], ['iex', 'split', '1Day'])
    return json(200, { bars: {}, next_page_token: null })
  })
  await using opened = openAt(venue)
  const request = { symbol: 'AAPL', interval: '1d', fromMs: MINUTE, toMs: MINUTE + 1 }
  assert.deepEqual(await barsOf(opened.market, request), [])
  const isRefused = (error: unknown) => error instanceof BrokerFault && error.kind === 'refused'
  await assert.rejects(barsOf(opened.market, { ...request, symbol: 'NOSUCH' }), isRefused)
  await assert.rejects(barsOf(opened.market, { ...request, interval: '2m' }), isRefused)
  await assert.rejects(barsOf(opened.market, { ...request, toMs: MINUTE - 1 }), isRefused)
  assert.deepEqual(await barsOf(opened.market, { ...request, toMs: MINUTE }), [])
})

test('bars that do not ascend, and what is no page, are malformed', async () => {
  await using venue = await Venue.start()
  knowsSymbols(venue)
  venue.on('GET /data/v1beta3/crypto/us/bars', ({ query }) =>
    json(200, { ...fixture('market.bars').body, next_page_token: query.get('page_token') === null ? 'again' : null })
  )
  await using opened = openAt(venue)
  const request = { symbol: 'BTC/USD', interval: '5m', fromMs: MINUTE, toMs: MINUTE + 720_000 }
  await assert.rejects(barsOf(opened.market, request), (error: unknown) => error instanceof BrokerFault && error.kind === 'malformed')
  for (const body of ['', '[]', '{"bars":{"BTC/USD":5}}', '{"bars":{"BTC/USD":[5]}}', '{"bars":{"BTC/USD":[{}]}}', '{"bars":[]}'])
    assert.throws(() => parseBarsPage({ body }, 'BTC/USD', MINUTE), Malformed, body)
})

test('expirations: each once, ascending; crypto has none', async () => {
  await using venue = await Venue.start()
  const { option_contracts: contracts } = fixture('market.contracts').body
  venue.on('GET /api/v2/options/contracts', ({ query }) => {
    assert.equal(query.get('underlying_symbols'), 'AAPL')
    const expiration = query.get('page_token') === null ? '2026-12-25' : '2026-12-18'
    return json(200, {
      option_contracts: contracts.map((each: object) => ({ ...each, expiration_date: expiration })),
      next_page_token: query.get('page_token') === null ? 'x' : null
    })
  })
  await using opened = openAt(venue)
  assert.deepEqual(await opened.market.expirations('AAPL', soon()), ['2026-12-18', '2026-12-25'])
  assert.deepEqual(await opened.market.expirations('BTC/USD', soon()), [])
  assert.equal(venue.seen.length, 2)
})

test('a contract and its market', () => {
  const [call, put] = contractsIn(reply('market.contracts')).records.map(parseContract)
  assert.ok(call !== undefined && put !== undefined)
  const [[symbol, snapshot] = ['', null]] = snapshotsIn(nested(readObject(reply('market.snapshots').body), 'snapshots'))
  assert.equal(symbol, call.symbol)
  const present = Date.UTC(2026, 10, 3, 16)
  assert.deepEqual(chainEntry(call, snapshot, present), {
    symbol: 'AAPL261218C00250000',
    right: 'C',
    strike: '250',
    expiration: EXPIRATION,
    bid: '3.05',
    ask: '3.15',
    last: '3.1',
    previousClose: '3',
    netChange: '0.1',
    bidSize: '12',
    askSize: '7',
    mid: '3.1',
    open: '3',
    high: '3.2',
    low: '2.95',
    close: null,
    netChangePct: '3.3333',
    volume: '140',
    greeks: { delta: '0.4123', gamma: '0.0151', theta: '-0.0812', rho: '0.1021', vega: '0.3102', iv: '0.2541' }
  })
  // Yesterday's bar is not today's.
  assert.equal(chainEntry(call, snapshot, present + 86_400_000).volume, null)
  const bare = chainEntry(put, null, present)
  assert.deepEqual([bare.bid, bare.greeks, bare.strike], [null, null, '250'])
})

test('the current quotes of an answer, as the stream would send them', () => {
  const tables = new TopicSinks()
  const sink = new RecordingSink()
  tables.add({ channel: 'quotes', symbol: 'AAPL' }, sink)
  const quote = parseLatestQuotes(reply('market.quotes')).get('AAPL') ?? assert.fail('no quote of AAPL')
  tables.present('AAPL', () => quoteOf(quote))
  assert.deepEqual([sink.history, sink.events[0].askPrice], [['quote'], '150.25'])
})

test('a chain is published whole at first, and then what changed', async () => {
  await using venue = await Venue.start()
  venue.on('GET /api/v2/options/contracts', as('market.contracts'))
  let looks = 0
  venue.on('GET /data/v1beta1/options/snapshots/AAPL', ({ query }) => {
    assert.deepEqual([query.get('expiration_date'), query.get('feed')], [EXPIRATION, 'indicative'])
    looks += 1
    const { snapshots } = fixture('market.snapshots').body
    const [[symbol, snapshot] = ['', {}]] = Object.entries<object>(snapshots)
    const trade = { p: looks === 1 ? 3.1 : 3.2 }
    return json(200, { snapshots: { [symbol]: { ...snapshot, latestTrade: trade } }, next_page_token: null })
  })
  await using opened = openAt(venue)
  const sink = new RecordingSink()
  const lease = opened.market.stream({ channel: 'options_chain', symbol: 'AAPL', expiration: EXPIRATION }, sink)
  await sink.receives('live', 'chain', 'chain')
  lease.renew()
  await until(() => sink.history.length >= 7, 'it is published again')
  assert.deepEqual(sink.history.slice(3), ['lost silence', 'live', 'chain', 'chain'])
  assert.deepEqual(
    sink.events.map(({ last }) => last),
    ['3.1', null, '3.2', null]
  )
  lease[Symbol.dispose]()
  // What a chain listed need not be requested.
  const requests = venue.seen.length
  assert.equal((await opened.market.instrument('AAPL261218P00250000', soon()))?.instrument, 'OPT')
  assert.equal(venue.seen.length, requests)
})

test('a chain’s quotes are streamed between two looks, beside a topic of the same contract, and given back with it', async () => {
  await using venue = await Venue.start()
  knowsSymbols(venue)
  venue.on('GET /api/v2/options/contracts', as('market.contracts'))
  venue.on('GET /data/v1beta1/options/snapshots/AAPL', as('market.snapshots'))
  const options = new ScriptedStream(venue, '/v1beta1/indicative', { isBytes: true })
  await using opened = openAt(venue)
  const [chain, topic] = [new RecordingSink(), new RecordingSink()]
  const lease = opened.market.stream({ channel: 'options_chain', symbol: 'AAPL', expiration: EXPIRATION }, chain)
  await chain.receives('live', 'chain', 'chain')
  const own = opened.market.stream({ channel: 'quotes', symbol: CALL }, topic)
  await topic.receives('live')
  const quote = (t: string, bp: number) => ({ T: 'q', S: CALL, bp, bs: 3, ap: bp + 1, as: 4, t: `2026-11-03T15:${t}Z` })
  // The snapshot's quote is of 15:10:17.
  options.send([quote('10:16', 1), quote('10:18', 4)])
  await chain.receives('live', 'chain', 'chain', 'chain')
  const [, , entry] = chain.events
  assert.deepEqual([entry.symbol, entry.bid, entry.ask, entry.mid, entry.askSize, entry.last], [CALL, '4', '5', '4.5', '4', '3.1'])
  await topic.receives('live', 'quote', 'quote')
  const unsubscribed = () => options.received.filter(({ action }) => action === 'unsubscribe').flatMap(({ quotes: list }) => list)
  lease[Symbol.dispose]()
  await until(() => unsubscribed().length === 1, 'the other contract is given back')
  assert.ok(!unsubscribed().includes(CALL))
  own[Symbol.dispose]()
  await until(() => unsubscribed().includes(CALL), 'it is no longer streamed')
})

test('a chain that is not listed is refused, and one that cannot be read is lost', async () => {
  await using venue = await Venue.start()
  venue.on('GET /api/v2/options/contracts', json(200, { option_contracts: [], next_page_token: null }))
  venue.on('GET /data/v1beta1/options/snapshots/AAPL', json(200, { snapshots: {}, next_page_token: null }))
  venue.on('GET /data/v1beta1/options/snapshots/KO', json(200, { snapshots: 5 }))
  await using opened = openAt(venue)
  const [none, unreadable] = [new RecordingSink(), new RecordingSink()]
  opened.market.stream({ channel: 'options_chain', symbol: 'AAPL', expiration: EXPIRATION }, none)
  opened.market.stream({ channel: 'options_chain', symbol: 'KO', expiration: EXPIRATION }, unreadable)
  await none.receives('refused')
  await unreadable.receives('lost malformed')
})

test('no item and no answer makes a reader throw anything but Malformed', () => {
  const samples: readonly object[] = [...fixture('market.stream').body, ...fixture('market.bars').body.bars['BTC/USD']]
  const keys = [...new Set(samples.flatMap(Object.keys))]
  const damaged = fc
    .tuple(fc.constantFrom(...samples), fc.dictionary(fc.constantFrom(...keys), fc.jsonValue(), { maxKeys: 3 }))
    .map(([sample, changes]) => ({ ...sample, ...changes }))
  const onlyMalformed = (read: () => unknown) => {
    try {
      read()
    } catch (error) {
      assert.ok(error instanceof Malformed, String(error))
    }
  }
  fc.assert(
    fc.property(damaged, item => {
      const tables = new TopicSinks()
      for (const symbol of ['AAPL', 'BTC/USD'])
        for (const channel of ['trades', 'quotes', 'depth'] as const) tables.add({ channel, symbol }, new RecordingSink())
      onlyMalformed(() => dispatch([item], tables))
      assert.ok(isItem(item))
      onlyMalformed(() => tradeOf(item))
      onlyMalformed(() => quoteOf(item))
      const body = JSON.stringify({ bars: { X: [item] }, option_contracts: [item], snapshots: { X: item }, quotes: { X: item } })
      const answer = { status: 200, headers: {}, body }
      onlyMalformed(() => parseBarsPage({ body }, 'X', 0))
      onlyMalformed(() => contractsIn(answer).records.map(parseContract))
      onlyMalformed(() => parseLatestQuotes(answer))
      onlyMalformed(() => {
        for (const [symbol, wire] of snapshotsIn({ X: item }))
          chainEntry({ symbol, right: 'C', strike: parseDecimal('250', 'strike'), expiration: EXPIRATION }, wire, 0)
      })
    }),
    { numRuns: 1_000 }
  )
})
