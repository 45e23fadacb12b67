import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Malformed } from '@trunkline/core/domain/malformed'
import { readObject } from '../../../src/kit/json.ts'
import {
  barsWindows,
  instrumentOf,
  isTooOld,
  parseChain,
  parseClock,
  parseExpirations,
  parseQuotes,
  quoteOf
} from '../../../src/tradier/market.ts'
import { dispatch, newSymbolSinks } from '../../../src/tradier/market-stream.ts'
import { answer, reply, unreadFixtures } from '../fixtures.ts'

after(() => assert.deepEqual(unreadFixtures('market'), [], 'fixtures that no test reads'))

test('bars of minutes and days', () => {
  const window = (interval: string, fromMs: number, toMs: number) =>
    barsWindows({ symbol: 'BRK.B', interval, fromMs, toMs }, Date.parse('2026-11-20T14:31:30Z'))[0] ?? assert.fail()
  const read = ({ page }: ReturnType<typeof window>, name: string, presentMs: number) => page(reply(name), presentMs).bars
  const minutes = window('1m', Date.parse('2026-11-20T14:30:00Z'), Date.parse('2026-11-20T15:00:00Z'))
  assert.equal(
    minutes.request(null).path,
    '/markets/timesales?symbol=BRK%2FB&interval=1min&start=2026-11-20+09%3A30&end=2026-11-20+09%3A32&session_filter=all'
  )
  const bars = read(minutes, 'bars.minutes', Date.parse('2026-11-20T14:31:30Z'))
  assert.deepEqual(
    bars.map(({ startMs, close, closed }) => [new Date(startMs).toISOString(), close, closed]),
    [
      ['2026-11-20T14:30:00.000Z', '600.1', true],
      ['2026-11-20T14:31:00.000Z', '600.2', false]
    ]
  )
  assert.deepEqual(read(minutes, 'bars.none', 0), [])
  const days = window('1d', Date.parse('2026-11-20T05:00:00Z'), Date.parse('2026-11-21T05:00:00Z'))
  assert.deepEqual(
    read(days, 'bars.days', Date.parse('2026-11-21T15:00:00Z')).map(({ startMs, closed }) => [new Date(startMs).toISOString(), closed]),
    [['2026-11-20T05:00:00.000Z', true]]
  )
  assert.equal(isTooOld(reply('bars.old')), true)
  // So far back as Tradier has them, in pieces.
  const far = barsWindows(
    { symbol: 'F', interval: '1m', fromMs: 0, toMs: Date.parse('2026-11-20T14:31:30Z') },
    Date.parse('2026-11-20T14:31:30Z')
  )
  assert.equal(far.length, 4)
})

test('a chain, its expirations, the clock, and what a symbol is', () => {
  const [call, put] = parseChain(answer('chain'))
  assert.deepEqual(
    [call?.symbol, call?.right, call?.strike, call?.mid, call?.netChange, call?.netChangePct, call?.greeks?.rho, call?.greeks?.iv],
    ['SPY261218C00600000', 'C', '600.0', '3.2', '0.25', '8.6207', '0.000010', '0.155']
  )
  assert.deepEqual([put?.right, put?.last, put?.netChange, put?.greeks], ['P', null, null, null])
  assert.deepEqual(parseExpirations(answer('expirations.dates')), ['2026-12-18', '2026-11-27'])
  assert.deepEqual(parseExpirations(answer('expirations.one')), ['2026-12-18'])
  assert.deepEqual(parseExpirations(readObject('{"expirations":null}')), [])
  assert.ok(parseClock(answer('clock')) > 0)
  const quotes = parseQuotes(answer('quotes.several'))
  const known = (symbol: string, hours: 'exchange' | 'always' = 'exchange') => instrumentOf(quotes.get(symbol) ?? assert.fail(), hours)
  assert.deepEqual([known('BRK/B').symbol, known('BRK/B').instrument, known('BRK/B').calendar.id], ['BRK.B', 'STK', 'us-equity'])
  assert.equal(known('SPY261218C00600000').calendar.id, 'us-option')
  assert.equal(known('AAPL', 'always').calendar.phaseAt(Date.parse('2026-11-22T09:00:00Z')), 'open')
  assert.deepEqual(quoteOf(quotes.get('AAPL') ?? assert.fail()), {
    bidPrice: '242.09',
    bidSize: '300',
    askPrice: '242.11',
    askSize: '400',
    at: '1793718000789000000'
  })
  assert.equal(quoteOf(quotes.get('SPY261218C00600000') ?? assert.fail()).bidSize, '12')
  assert.equal(parseQuotes(answer('quotes.none')).size, 0)
})

test('frames of the market stream; a trade sent again or long ago is passed over', () => {
  const events: unknown[] = []
  const nothing = () => undefined
  const sink = { live: nothing, lost: nothing, refused: nothing, depth: nothing, bar: nothing, chain: nothing }
  const sinks = {
    ...newSymbolSinks({ symbol: 'SPY' }),
    trades: { ...sink, trade: dispatched, quote: nothing },
    quotes: { ...sink, trade: nothing, quote: dispatched }
  }
  function dispatched(event: unknown): void {
    events.push(event)
  }
  const frame = reply('market.frames').body
  assert.equal(dispatch(frame, new Map([['SPY', sinks]])), 1793718000790)
  assert.deepEqual(events, [
    { bidPrice: '600.11', bidSize: '1200', askPrice: '600.13', askSize: '900', at: '1793718000456000000' },
    { price: '600.12', size: '50', venue: 'Q', at: '1793718000790000000', effect: 'all' }
  ])
  const [, trade = ''] = frame.split('\n')
  const again = (change: object) => dispatch(JSON.stringify({ ...JSON.parse(trade), ...change }), new Map([['SPY', sinks]]))
  for (const change of [
    {},
    { size: '0', seq: 1 },
    { cancel: true, seq: 2 },
    { correction: true, seq: 3 },
    { date: '1793717980000', seq: 4 }
  ])
    again(change)
  assert.equal(events.length, 2)
  again({ seq: 4412, date: '1793718000791' })
  assert.equal(events.length, 3)
  // Every trade of an index has no size, and is its new level.
  const index = { ...newSymbolSinks({ symbol: 'SPY', type: 'index' }), trades: sinks.trades }
  dispatch(JSON.stringify({ ...JSON.parse(trade), size: '0' }), new Map([['SPY', index]]))
  assert.equal(events.length, 4)
  assert.throws(() => dispatch('{"type":"quo', new Map()), Malformed)
  assert.throws(() => dispatch('{"error":"too many sessions"}', new Map()), /too many sessions/)
})
