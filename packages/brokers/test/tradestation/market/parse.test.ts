import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { cmeCalendar, continuousCalendar, usEquityCalendar } from '@trunkline/core/domain/calendar/index'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { Bar } from '@trunkline/core/domain/market/records'
import { parseDay } from '@trunkline/core/domain/timestamp'
import type { TopicSink } from '@trunkline/core/ports/market'
import { readObject } from '../../../src/kit/json.ts'
import { MarketClock } from '../../../src/kit/market-clock.ts'
import type { Wire } from '../../../src/kit/parse.ts'
import { PartialQuote } from '../../../src/kit/partial-quotes.ts'
import {
  barsRequest,
  INTERVALS,
  parseBar,
  parseBars,
  parseDepth,
  parseEntry,
  parseExpirations,
  parseInstrument,
  parseStrikes,
  templateOf
} from '../../../src/tradestation/market.ts'
import { barReader, barsPath, chainPath, QUOTE_FIELDS, readFrame } from '../../../src/tradestation/market-stream.ts'
import { VirtualClock } from '../../support/clocks.ts'
import { assertOnlyMalformed, fixture, reply, unread, wire } from '../fixtures.ts'

after(() => {
  // Read over the wire, in reads.test.ts.
  const elsewhere = ['market.bars.refused', 'market.symbols.unknown']
  const missing = unread(name => name.startsWith('market.') && !elsewhere.includes(name))
  assert.deepEqual(missing, [], 'fixtures that no test reads')
})

const EXPIRATION = parseDay('2026-12-18', 'day')
const EVERYTHING = { fromMs: 0, toMs: Date.UTC(2100, 0, 1) }
const at = (text: string) => Date.parse(text)

const barsIn = (name: string, interval: keyof typeof INTERVALS, window = EVERYTHING) =>
  parseBars(wire(name), INTERVALS[interval], usEquityCalendar(), window)

test('bars of minutes are identified by their end, and begin one length before it', () => {
  const bars = barsIn('market.bars', '1m')
  assert.deepEqual(bars, [
    { startMs: at('2026-11-20T14:30:00Z'), open: '400.5', high: '401.2', low: '400.1', close: '401.0', volume: '120034', closed: true },
    { startMs: at('2026-11-20T14:31:00Z'), open: '401.0', high: '401.3', low: '400.9', close: '401.1', volume: '20034', closed: false }
  ])
  assert.equal(barsIn('market.bars', '5m')[0]?.startMs, at('2026-11-20T14:26:00Z'))
  const between = at('2026-11-20T14:31:00Z')
  assert.deepEqual(barsIn('market.bars', '1m', { ...EVERYTHING, fromMs: between }), bars.slice(1))
  assert.deepEqual(barsIn('market.bars', '1m', { ...EVERYTHING, toMs: between }), bars.slice(0, 1))
  const [first] = fixture('market.bars').body.Bars
  assert.throws(() => parseBars({ Bars: [first, first] }, INTERVALS['1m'], usEquityCalendar(), EVERYTHING), Malformed)
})

test('a day begins at its midnight, whatever time of it, or the midnight after it, identifies it', () => {
  assert.deepEqual(
    barsIn('market.bars.daily', '1d').map(({ startMs, close }) => [new Date(startMs).toISOString(), close]),
    [
      ['2026-11-19T05:00:00.000Z', '404'],
      ['2026-11-20T05:00:00.000Z', '405']
    ]
  )
  const [day] = fixture('market.bars.daily').body.Bars
  const start = (stamp: string, calendar = continuousCalendar()) =>
    new Date(parseBar({ ...day, TimeStamp: stamp }, INTERVALS['1d'], calendar).startMs).toISOString()
  assert.equal(start('2026-11-20T00:00:00Z'), '2026-11-19T00:00:00.000Z')
  assert.equal(start('2026-11-20T22:00:00Z', cmeCalendar()).slice(0, 10), '2026-11-20')
})

test('a window is requested with the bars that end after it, of shares with every hour of the exchange', () => {
  const fromMs = at('2026-01-01T00:00:00Z')
  const path = (symbol: string, interval: keyof typeof INTERVALS, template: string | null) =>
    barsRequest(symbol, INTERVALS[interval], template, { fromMs, toMs: fromMs + 60_000 }).path
  const template = (interval: keyof typeof INTERVALS, instrument: 'STK' | 'FUT') => templateOf(INTERVALS[interval], instrument, 'exchange')
  assert.equal(
    path('MSFT', '1m', template('1m', 'STK')),
    '/marketdata/barcharts/MSFT?interval=1&unit=Minute&firstdate=2026-01-01T00%3A00%3A00Z&lastdate=2026-01-01T00%3A02%3A00Z&sessiontemplate=USEQPreAndPost'
  )
  assert.match(path('MSFT', '1h', null), /interval=60&unit=Minute&.*&lastdate=2026-01-01T01%3A01%3A00Z$/)
  assert.match(path('$SPX.X', '1d', template('1d', 'STK')), /^\/marketdata\/barcharts\/%24SPX\.X\?interval=1&unit=Daily&.*Z$/)
  assert.equal(barsPath('ESZ26', template('1m', 'FUT')), '/marketdata/stream/barcharts/ESZ26?interval=1&unit=Minute&barsback=1')
})

function listening() {
  const bars: Bar[] = []
  const nothing = () => undefined
  const sink: TopicSink = {
    live: nothing,
    lost: nothing,
    refused: nothing,
    trade: nothing,
    quote: nothing,
    depth: nothing,
    chain: nothing,
    bar: bar => void bars.push(bar)
  }
  return { bars, sink }
}

test('a stream ends with an error that passes or lasts, or because the broker is about to close it', () => {
  const endOf = (line: Wire) => {
    const { type, ...end } = readFrame(JSON.stringify(line))
    return 'passes' in end ? `${type} ${end.passes ? 'passes' : 'lasts'}` : type
  }
  for (const code of ['DualLogon', 'InternalServerError', 'ServiceUnavailable', 'GatewayTimeout', 'TooManyRequests'])
    assert.equal(endOf({ Error: code, Message: 'no' }), 'error passes', code)
  for (const code of ['Forbidden', 'BadRequest', 'FAILED', 'NotFound']) assert.equal(endOf({ Error: code }), 'error lasts', code)
  for (const line of [{ Error: 'GoAway' }, { StreamStatus: 'GoAway' }]) assert.equal(endOf(line), 'closing')
})

test('streamed bars: the past is passed over, and each is closed once', () => {
  const { bars, sink } = listening()
  const marketClock = new MarketClock(new VirtualClock())
  const read = barReader(sink, marketClock)
  const [bar] = fixture('market.bars').body.Bars
  const line = (minute: number, BarStatus: string, more: object = {}): Wire => ({
    ...bar,
    TimeStamp: `2026-11-20T14:${minute}:00Z`,
    BarStatus,
    IsRealtime: true,
    ...more
  })
  read(line(30, 'Closed', { IsRealtime: false }))
  read(line(31, 'Closed', { IsRealtime: false, IsEndOfHistory: true }))
  read(line(32, 'Open'))
  read(line(32, 'Open', { Close: '402' }))
  read(line(32, 'Closed', { Close: '403' }))
  read(line(32, 'Closed', { Close: '403' }))
  read(line(32, 'Open'))
  read(line(33, 'Open'))
  assert.deepEqual(
    bars.map(({ startMs, close, closed }) => [new Date(startMs).getUTCMinutes(), close, closed]),
    [
      [31, '401.0', false],
      [31, '402', false],
      [31, '403', true],
      [32, '401.0', false]
    ]
  )
  assert.ok(marketClock.nowMs() >= at('2026-11-20T14:32:00Z'))
})

test('a bar that is under way when the stream begins is published', () => {
  const { bars, sink } = listening()
  barReader(sink, new MarketClock(new VirtualClock()))(fixture('market.bars').body.Bars[1])
  assert.deepEqual([bars.length, bars[0]?.closed], [1, false])
})

test('quotes are put together of what changed, and trades are derived', () => {
  const symbol = new PartialQuote(QUOTE_FIELDS)
  const updates = (fixture('market.quotes').body as readonly Wire[]).map((line, index) => symbol.apply(line, 1_000 + index))
  assert.deepEqual(
    updates.map(({ quote }) => quote),
    [
      { bidPrice: '400.10', bidSize: '100', askPrice: '400.12', askSize: '200', at: '1000000000' },
      { bidPrice: '400.11', bidSize: '300', askPrice: '400.12', askSize: '200', at: '1001000000' },
      null,
      null,
      { bidPrice: '400.11', bidSize: '300', askPrice: null, askSize: null, at: '1004000000' }
    ]
  )
  const second = Date.UTC(2026, 10, 20, 15) / 1_000 + 1
  assert.deepEqual(
    updates.map(({ trade }) => trade),
    [
      null,
      null,
      { price: '400.13', size: '20', venue: 'NSDQ', at: `${second}250000000`, effect: 'all' },
      // Several between two lines become one of their sum.
      { price: '400.13', size: '70', venue: 'NSDQ', at: `${second}250000000`, effect: 'all' },
      null
    ]
  )
})

test('order books, chains and expirations', () => {
  const depth = parseDepth(wire('market.depth'))
  const seconds = Date.UTC(2026, 10, 20, 15) / 1_000
  assert.deepEqual(depth.bids, [
    { price: '400.10', size: '500', orders: '3', venue: '', at: `${seconds + 2}500000000` },
    { price: '400.09', size: '700', orders: '1', venue: '', at: `${seconds + 1}000000000` }
  ])
  assert.equal(depth.asks.length, 1)
  assert.deepEqual(parseEntry(wire('market.chain'), EXPIRATION), {
    symbol: 'MSFT261218C00450000',
    right: 'C',
    strike: '450',
    expiration: '2026-12-18',
    bid: '4.30',
    bidSize: '10',
    ask: '4.40',
    askSize: '12',
    mid: '4.35',
    last: '4.35',
    open: '4.20',
    high: '4.60',
    low: '4.10',
    close: '4.35',
    previousClose: '4.20',
    netChange: '0.15',
    netChangePct: '3.5714',
    volume: '532',
    greeks: { delta: '0.5123', gamma: '0.0123', theta: '-0.0412', rho: '0.0801', vega: '0.2210', iv: '0.2034' }
  })
  assert.equal(parseEntry(wire('market.chain'), parseDay('2026-12-24', 'day')), null)
  const odd = parseEntry({ ...wire('market.chain'), Delta: 'NaN', Gamma: '1E-05' }, EXPIRATION)
  assert.deepEqual([odd?.greeks?.delta, odd?.greeks?.gamma, odd?.greeks?.iv], [null, null, '0.2034'])
  assert.deepEqual(parseExpirations(readObject(reply('market.expirations').body)).toSorted(), ['2026-11-27', '2026-12-18'])
  assert.match(chainPath('$SPX.X', EXPIRATION), /\/%24SPX\.X\?expiration=12-18-2026&/)
})

test('the strikes are those of single contracts', () => {
  assert.deepEqual(parseStrikes({ SpreadType: 'Single', Strikes: [['145'], ['147.5']] }), ['145', '147.5'])
  for (const Strikes of [undefined, 'x', ['145'], [[]], [['145', '150']], [['1e3']], [[null]]])
    assert.throws(() => parseStrikes({ Strikes }), { name: 'Malformed' }, JSON.stringify(Strikes))
})

test('a symbol is known by its class', () => {
  const [share] = fixture('market.symbols').body.Symbols
  const classOf = (AssetType: string) => parseInstrument({ ...share, AssetType }, 'X', 'exchange')?.instrument ?? null
  assert.deepEqual(['STOCK', 'Stock', 'INDEX', 'STOCKOPTION', 'INDEXOPTION', 'FUTURE', 'CRYPTO', 'FOREX'].map(classOf), [
    'STK',
    'STK',
    'STK',
    'OPT',
    'OPT',
    'FUT',
    'CRYPTO',
    null
  ])
})

const READERS: readonly ((value: Wire) => unknown)[] = [
  value => parseBars(value, INTERVALS['1m'], usEquityCalendar(), EVERYTHING),
  value => parseBars(value, INTERVALS['1d'], usEquityCalendar(), EVERYTHING),
  value => parseBar(value, INTERVALS['1m'], usEquityCalendar()),
  value => readFrame(JSON.stringify(value)),
  parseDepth,
  value => parseEntry(value, EXPIRATION),
  parseExpirations,
  value => parseInstrument(value, 'X', 'exchange'),
  value => {
    const symbol = new PartialQuote(QUOTE_FIELDS)
    symbol.apply(fixture('market.quotes').body[0], 0)
    symbol.apply(value, 0)
  }
]

test('no input makes a reader throw anything but Malformed', () => assertOnlyMalformed(READERS, name => name.startsWith('market.')))
