/** What is read beside the stream: symbols, past bars in pages, expirations, and the sandbox's time. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { epochMs, parseTimestamp, timestampOfMs } from '@trunkline/core/domain/timestamp'
import { BrokerFault } from '@trunkline/core/ports/broker'
import type { MarketSource } from '@trunkline/core/ports/market'
import { RecordingSink } from '../../support/recording-sink.ts'
import { brokerAt, error, FakeSandbox, SANDBOX_TIME } from './fake-sandbox.ts'

const never = new AbortController().signal
const START = epochMs(parseTimestamp('2026-12-01T14:30:00Z', 'start'))

function instrument(symbol: string, more: object = {}) {
  return { status: 200, body: { instrument: { symbol, class: 'share', hours: 'us_equity', option: null, future: null, ...more } } }
}

test('a symbol is requested once, whether the sandbox has it or not', async () => {
  await using sandbox = await FakeSandbox.start()
  await using stage = brokerAt(sandbox)
  sandbox.read = path => (path.endsWith('/SPY') ? instrument('SPY') : { status: 404, body: error('unknown_symbol') })
  for (let round = 0; round < 3; round += 1) {
    const found = await stage.market.instrument('SPY', never)
    assert.deepEqual([found?.symbol, found?.instrument, found?.calendar.zone], ['SPY', 'STK', 'America/New_York'])
    assert.equal(await stage.market.instrument('NOPE', never), null)
  }
  assert.deepEqual(sandbox.requests, ['/api/v1/instruments/SPY', '/api/v1/instruments/NOPE'])
})

test('each class of symbol has the calendar of its hours', async () => {
  await using sandbox = await FakeSandbox.start()
  await using stage = brokerAt(sandbox)
  const shown: (string | undefined)[] = []
  for (const [symbol, more] of [
    ['SPY', { hours: 'us_equity' }],
    ['QQQ', { hours: 'always' }],
    ['BTC/USD', { class: 'coin', hours: 'always_utc' }],
    ['SPY261218C00660000', { class: 'option', hours: 'us_option', option: { settlement: 'physical' } }],
    ['SPX261218C06600000', { class: 'option', hours: 'us_option', option: { settlement: 'cash' } }],
    ['ESZ26', { class: 'future', hours: 'cme' }]
  ] as const) {
    sandbox.read = () => instrument(symbol, more)
    const found = await stage.market.instrument(symbol, never)
    shown.push(`${found?.instrument} ${found?.calendar.id} ${found?.calendar.zone}`)
  }
  assert.deepEqual(shown, [
    'STK us-equity America/New_York',
    'STK continuous America/New_York',
    'CRYPTO continuous UTC',
    'OPT us-option America/New_York',
    'OPT us-option America/New_York',
    'FUT cme-equity-index America/New_York'
  ])
  assert.ok(sandbox.requests.includes('/api/v1/instruments/BTC%2FUSD'))
})

test('another symbol, another class, other hours or another kind of 404 are faults, not symbols', async () => {
  await using sandbox = await FakeSandbox.start()
  await using stage = brokerAt(sandbox)
  for (const answer of [
    instrument('QQQ'),
    instrument('SPY', { class: 'package' }),
    instrument('SPY', { hours: 'constructor' }),
    { status: 200, body: {} },
    { status: 404, body: error('unknown_route') },
    { status: 404, body: {} }
  ]) {
    sandbox.read = () => answer
    await assert.rejects(stage.market.instrument('SPY', never), BrokerFault)
  }
  sandbox.read = () => instrument('SPY')
  assert.equal((await stage.market.instrument('SPY', never))?.symbol, 'SPY')
})

/** Bars are requested of symbols that are known. */
async function knowsShare(sandbox: FakeSandbox, market: MarketSource): Promise<void> {
  sandbox.read = () => instrument('SPY')
  await market.instrument('SPY', never)
}

const bar = (index: number, more: object = {}) => ({
  start: timestampOfMs(START + index * 60_000),
  open: '500.10',
  high: '501',
  low: '499.5',
  close: '500.5',
  volume: '1000',
  closed: true,
  ...more
})

async function barsOf(market: MarketSource) {
  const pages = []
  for await (const page of market.bars({ symbol: 'SPY', interval: '1m', fromMs: START, toMs: START + 3_600_000 }, never)) pages.push(page)
  return pages
}

test('days of the core session are requested by name, other bars without a session', async () => {
  await using sandbox = await FakeSandbox.start()
  await using stage = brokerAt(sandbox)
  await knowsShare(sandbox, stage.market)
  const requested: string[] = []
  sandbox.read = path => {
    requested.push(path)
    return { status: 200, body: { items: [], next: null } }
  }
  const request = { symbol: 'SPY', interval: '1d', fromMs: START, toMs: START + 86_400_000 }
  for await (const page of stage.market.bars({ ...request, session: 'USEqCore' }, never)) assert.fail(`${page.length} bars`)
  for await (const page of stage.market.bars(request, never)) assert.fail(`${page.length} bars`)
  assert.deepEqual(
    requested.map(path => new URL(path, 'http://sandbox').searchParams.get('session')),
    ['core', null]
  )
})

test('past bars come in the pages of the sandbox, ascending', async () => {
  await using sandbox = await FakeSandbox.start()
  await using stage = brokerAt(sandbox)
  await knowsShare(sandbox, stage.market)
  sandbox.read = path => ({
    status: 200,
    body: path.includes('cursor=more')
      ? { items: [bar(2), bar(5, { closed: false })], next: null }
      : { items: [bar(0), bar(1)], next: 'more' }
  })
  const pages = await barsOf(stage.market)
  assert.deepEqual(
    pages.map(page => page.map(({ startMs, closed }) => [(startMs - START) / 60_000, closed])),
    [
      [
        [0, true],
        [1, true]
      ],
      [
        [2, true],
        [5, false]
      ]
    ]
  )
  const requested = new URL(sandbox.requests[1] ?? '', 'http://sandbox').searchParams
  assert.deepEqual(Object.fromEntries(requested), {
    symbol: 'SPY',
    interval: '1m',
    from: '2026-12-01T14:30:00.000000Z',
    to: '2026-12-01T15:30:00.000000Z',
    limit: '2000'
  })
})

test('bars that cannot be read, do not ascend or never end are faults', async () => {
  await using sandbox = await FakeSandbox.start()
  await using stage = brokerAt(sandbox)
  await knowsShare(sandbox, stage.market)
  for (const items of [
    [bar(1), bar(0)],
    [bar(1), bar(1)],
    [bar(0, { start: 'yesterday' })],
    [bar(0, { start: '2026-13-01T00:00:00Z' })],
    [bar(0, { open: 500 })],
    [bar(0, { closed: null })],
    [null],
    {},
    Array.from({ length: 10_001 }, (_, index) => bar(index))
  ]) {
    sandbox.read = () => ({ status: 200, body: { items, next: null } })
    await assert.rejects(barsOf(stage.market), (fault: unknown) => fault instanceof BrokerFault && fault.kind === 'malformed')
  }
  sandbox.read = path => ({ status: 200, body: { items: path.includes('cursor') ? [] : [bar(0)], next: 'more' } })
  await assert.rejects(barsOf(stage.market), (fault: unknown) => fault instanceof BrokerFault && fault.kind === 'malformed')
  sandbox.read = () => ({ status: 404, body: error('unknown_symbol') })
  await assert.rejects(barsOf(stage.market), (fault: unknown) => fault instanceof BrokerFault && fault.kind === 'refused')
  const far = stage.market.bars({ symbol: 'SPY', interval: '1m', fromMs: START, toMs: 1e18 }, never)
  await assert.rejects(Array.fromAsync(far), (fault: unknown) => fault instanceof BrokerFault && fault.kind === 'refused')
})

test('expirations, ascending as the sandbox lists them', async () => {
  await using sandbox = await FakeSandbox.start()
  await using stage = brokerAt(sandbox)
  sandbox.read = () => ({ status: 200, body: { items: [{ expiration: '2026-12-18' }, { expiration: '2027-01-15' }], next: null } })
  assert.deepEqual(await stage.market.expirations('SPY', never), ['2026-12-18', '2027-01-15'])
  assert.deepEqual(sandbox.requests, ['/api/v1/expirations?underlying=SPY'])
  sandbox.read = () => ({ status: 200, body: { items: [{ expiration: '2026-02-30' }], next: null } })
  await assert.rejects(stage.market.expirations('SPY', never), BrokerFault)
})

test('the current time is the sandbox’s, as its answers and its stream report it', async () => {
  await using sandbox = await FakeSandbox.start()
  await using stage = brokerAt(sandbox)
  const there = epochMs(parseTimestamp(SANDBOX_TIME, 'time'))
  assert.ok(Math.abs(stage.market.presentMs() - Date.now()) < 10_000)
  sandbox.read = () => instrument('SPY')
  await stage.market.instrument('SPY', never)
  const read = stage.market.presentMs()
  assert.ok(read >= there && read < there + 10_000, String(read))
  const sink = new RecordingSink()
  stage.market.stream({ channel: 'trades', symbol: 'SPY' }, sink)
  await sink.receives('live')
  sandbox.send({ ev: 'heartbeat', seq: 0, as_of: SANDBOX_TIME, sandbox_time: '2027-03-01T00:00:00.000000Z' })
  sandbox.items([{ t: 'trade', s: 'SPY', p: '1', z: '1', x: '', at: '1', k: 'all' }])
  await sink.receives('live', 'trade')
  assert.ok(stage.market.presentMs() >= Date.UTC(2027, 2, 1))
  const later = Date.UTC(2027, 2, 2)
  sandbox.items([{ t: 'trade', s: 'SPY', p: '1', z: '1', x: '', at: `${later}000001`, k: 'all' }])
  await sink.receives('live', 'trade', 'trade')
  assert.ok(stage.market.presentMs() >= later)
})
