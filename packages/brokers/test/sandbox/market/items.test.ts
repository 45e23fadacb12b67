/** Items in the core's terms; what cannot be read is a fault, never an event. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Malformed } from '@trunkline/core/domain/malformed'
import { parseDay } from '@trunkline/core/domain/timestamp'
import fc from 'fast-check'
import { dispatch, SinkTables } from '../../../src/sandbox/market-stream.ts'
import { RecordingSink } from '../../support/recording-sink.ts'
import type { Json } from '../sandbox-process.ts'

const EXPIRATION = parseDay('2026-12-18', 'expiration')
const AT = '1796137200123456789'

function dispatched(items: readonly unknown[]): RecordingSink {
  const sink = new RecordingSink()
  const tables = new SinkTables()
  for (const channel of ['trades', 'quotes', 'depth'] as const) tables.add({ channel, symbol: 'SPY' }, sink)
  tables.add({ channel: 'bars', symbol: 'SPY', interval: '1m' }, sink)
  tables.add({ channel: 'options_chain', symbol: 'SPY', expiration: EXPIRATION }, sink)
  // As it comes over the wire, so that what JSON cannot represent is not tested and what it can is.
  dispatch(JSON.parse(JSON.stringify(items)), tables)
  return sink
}

const TRADE: Json = { t: 'trade', s: 'SPY', p: '500.10', z: '100', x: 'XNAS', at: AT, k: 'all' }
const QUOTE: Json = { t: 'quote', s: 'SPY', b: '500.1', bz: '3', a: null, az: null, at: AT }
const DEPTH: Json = { t: 'depth', s: 'SPY', bids: [['500.1', '3', '2', 'XNAS', AT]], asks: [], at: AT }
const BAR: Json = { t: 'bar', s: 'SPY', i: '1m', at: '1796137200000000000', o: '1', h: '3', l: '0.5', c: '2', v: '700', closed: true }
const OPTION: Json = {
  t: 'option',
  u: 'SPY',
  s: 'SPY261218C00660000',
  right: 'call',
  strike: '660',
  expiration: '2026-12-18',
  b: '4.10',
  bz: '12',
  a: '4.15',
  az: '9',
  last: '4.20',
  o: '4.00',
  h: '4.40',
  l: '3.95',
  c: null,
  pc: '4.00',
  v: '1200',
  delta: '0.45',
  gamma: '0.01',
  theta: '-0.12',
  vega: '0.33',
  rho: '0.10',
  iv: '0.18'
}

test('every kind of item, in order', () => {
  const sink = dispatched([TRADE, QUOTE, DEPTH, BAR, OPTION, { ...TRADE, k: 'volume' }])
  assert.deepEqual(sink.history, ['trade', 'quote', 'depth', 'bar', 'chain', 'trade'])
  assert.deepEqual(sink.events, [
    { price: '500.10', size: '100', venue: 'XNAS', at: AT, effect: 'all' },
    { bidPrice: '500.1', bidSize: '3', askPrice: null, askSize: null, at: AT },
    { bids: [{ price: '500.1', size: '3', orders: '2', venue: 'XNAS', at: AT }], asks: [] },
    { startMs: 1_796_137_200_000, open: '1', high: '3', low: '0.5', close: '2', volume: '700', closed: true },
    {
      symbol: 'SPY261218C00660000',
      right: 'C',
      strike: '660',
      expiration: '2026-12-18',
      bid: '4.10',
      bidSize: '12',
      ask: '4.15',
      askSize: '9',
      mid: '4.125',
      last: '4.20',
      open: '4.00',
      high: '4.40',
      low: '3.95',
      close: null,
      previousClose: '4.00',
      netChange: '0.2',
      netChangePct: '5',
      volume: '1200',
      greeks: { delta: '0.45', gamma: '0.01', theta: '-0.12', rho: '0.10', vega: '0.33', iv: '0.18' }
    },
    { price: '500.10', size: '100', venue: 'XNAS', at: AT, effect: 'volume' }
  ])
})

test('a message shows how late it is at least: its last event, or the end of a bar that is over', () => {
  const tables = new SinkTables()
  const sink = new RecordingSink()
  for (const channel of ['trades', 'quotes', 'depth'] as const) tables.add({ channel, symbol: 'SPY' }, sink)
  tables.add({ channel: 'bars', symbol: 'SPY', interval: '1m' }, sink)
  const atMs = (...items: readonly unknown[]) => dispatch(items, tables)
  assert.equal(atMs(TRADE), 1_796_137_200_123)
  assert.equal(atMs(TRADE, { ...QUOTE, at: '1796137200999000000' }), 1_796_137_200_999)
  assert.equal(atMs(BAR, TRADE), 1_796_137_260_000)
  assert.equal(atMs({ ...BAR, closed: false }), 1_796_137_200_000)
  assert.equal(atMs({ ...TRADE, s: 'QQQ' }, DEPTH), 0)
})

test('a contract without a market or greeks has none', () => {
  const nothing = Object.fromEntries(
    ['b', 'bz', 'a', 'az', 'last', 'o', 'h', 'l', 'pc', 'v', 'delta', 'gamma', 'theta', 'vega', 'rho', 'iv'].map(key => [key, null])
  )
  const [entry] = dispatched([{ ...OPTION, ...nothing, right: 'put' }]).events
  assert.deepEqual(
    [entry.right, entry.mid, entry.netChange, entry.netChangePct, entry.greeks, entry.bid],
    ['P', null, null, null, null, null]
  )
  const [unmoved] = dispatched([{ ...OPTION, pc: '0' }]).events
  assert.deepEqual([unmoved.netChange, unmoved.netChangePct], ['4.2', null])
})

test('what is not streamed is skipped unread, and so are unknown kinds', () => {
  const sink = dispatched([
    { ...TRADE, s: 'QQQ', p: 'nonsense' },
    { ...BAR, i: '5m' },
    { ...OPTION, expiration: '2027-01-15' },
    { ...OPTION, u: 'QQQ' },
    { t: 'imbalance', s: 'SPY' },
    { ...TRADE, s: '__proto__' },
    { ...OPTION, u: 'constructor' }
  ])
  assert.deepEqual(sink.history, [])
})

test('a venue that could not be written down as it is becomes an unknown one', () => {
  for (const venue of ['"', '\\', 'a\u0000', 'é', 'x'.repeat(17), 7, null, {}, ['XNAS']])
    assert.equal(dispatched([{ ...TRADE, x: venue }]).events[0].venue, '')
  assert.equal(dispatched([{ ...DEPTH, bids: [['1', '1', null, '"', AT]] }]).events[0].bids[0].venue, '')
})

const HOSTILE: readonly unknown[] = [
  null,
  7,
  'trade',
  [],
  [TRADE],
  {},
  { t: null },
  { t: 7, s: 'SPY' },
  { t: ['trade'], s: 'SPY' },
  JSON.parse('{"__proto__":{"t":"trade","s":"SPY","p":"1","z":"1","x":"","at":"1","k":"all"}}'),
  { ...TRADE, s: 7 },
  { ...TRADE, s: null },
  { ...TRADE, p: 500.1 },
  { ...TRADE, p: '5e2' },
  { ...TRADE, p: '١' },
  { ...TRADE, p: ' 1' },
  { ...TRADE, p: 'NaN' },
  { ...TRADE, p: 'Infinity' },
  { ...TRADE, p: '' },
  { ...TRADE, p: null },
  { ...TRADE, p: '9'.repeat(39) },
  { ...TRADE, p: '9'.repeat(1_000_000) },
  { ...TRADE, p: { toString: '1' } },
  { ...TRADE, z: undefined },
  { ...TRADE, z: true },
  { ...TRADE, at: 1_796_137_200 },
  { ...TRADE, at: '-1' },
  { ...TRADE, at: '1.5' },
  { ...TRADE, at: '9'.repeat(21) },
  { ...TRADE, at: undefined },
  { ...TRADE, k: 'some' },
  { ...TRADE, k: 'constructor' },
  { ...TRADE, k: undefined },
  { ...QUOTE, b: undefined },
  { ...QUOTE, a: 0 },
  { ...QUOTE, az: [] },
  { ...DEPTH, bids: null },
  { ...DEPTH, bids: {} },
  { ...DEPTH, bids: { length: 1, 0: ['1', '1', '1', 'X', AT] } },
  { ...DEPTH, asks: [{ price: '1' }] },
  { ...DEPTH, asks: [['1', '1']] },
  { ...DEPTH, asks: [['1', 1, '1', 'X', AT]] },
  { ...DEPTH, asks: Array.from({ length: 11 }, () => ['1', '1', '1', 'X', AT]) },
  { ...BAR, closed: 'true' },
  { ...BAR, closed: 1 },
  { ...BAR, o: null },
  { ...BAR, v: 700 },
  { ...BAR, at: 'soon' },
  { ...OPTION, right: 'C' },
  { ...OPTION, strike: null },
  { ...OPTION, s: '' },
  { ...OPTION, s: 'SPY"' },
  { ...OPTION, s: 'S'.repeat(33) },
  { ...OPTION, u: undefined },
  { ...OPTION, expiration: 20_261_218 },
  { ...OPTION, b: 4.1 },
  { ...OPTION, iv: 'high' }
]

test('an item that cannot be read is Malformed, and those before it have been published', () => {
  for (const hostile of HOSTILE) {
    const sink = new RecordingSink()
    const tables = new SinkTables()
    for (const channel of ['trades', 'quotes', 'depth'] as const) tables.add({ channel, symbol: 'SPY' }, sink)
    tables.add({ channel: 'bars', symbol: 'SPY', interval: '1m' }, sink)
    tables.add({ channel: 'options_chain', symbol: 'SPY', expiration: EXPIRATION }, sink)
    const items: readonly unknown[] = [TRADE, hostile, TRADE]
    assert.throws(() => dispatch(items, tables), Malformed, JSON.stringify(hostile)?.slice(0, 100))
    assert.deepEqual(sink.history, ['trade'])
  }
})

test('any JSON is an event with plain fields, or Malformed', () => {
  const value = fc.oneof(fc.jsonValue(), fc.constantFrom('1', '1.5', AT, 'call', 'all', null, true))
  const item = fc
    .tuple(
      fc.constantFrom(TRADE, QUOTE, DEPTH, BAR, OPTION),
      fc.dictionary(fc.constantFrom(...Object.keys({ ...OPTION, ...BAR, ...TRADE, ...DEPTH })), value)
    )
    .map(([base, more]) => ({ ...base, ...more, t: base.t, s: 'SPY', u: 'SPY' }))
  fc.assert(
    fc.property(item, hostile => {
      try {
        for (const event of dispatched([hostile]).events) assert.ok(!JSON.stringify(event).includes('{}'))
      } catch (error) {
        assert.ok(error instanceof Malformed, String(error))
      }
    }),
    { numRuns: 2_000 }
  )
})
