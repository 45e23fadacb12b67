import assert from 'node:assert/strict'
import { test } from 'node:test'
import { usEquityCalendar } from '@trunkline/core/domain/calendar/index'
import { parseDecimal } from '@trunkline/core/domain/decimal'
import type { MarketCommand } from '../../src/engine/types.ts'
import {
  type CalendarChoice,
  type Market,
  openCatalog,
  openMarket,
  recordedQuoteBars,
  recordedTradeBars,
  UnknownSymbol
} from '../../src/market/index.ts'
import { MORNING, madeFolder } from './made.ts'
import { playAll, quoteBars, same, tradeBars } from './rebuild.ts'
import { recordedFolder } from './recorded.ts'

const SECOND = 1_000_000
const MINUTE = 60 * SECOND
const OPEN = Date.UTC(2024, 6, 8, 13, 30) * 1_000
/** After midnight in New York. */
const OPEN_MS = 34_200_000

function replay(folder: string, query = '', calendar: CalendarChoice = 'exchange'): Promise<Market> {
  return openMarket(`replay:${folder}${query}`, { seed: 'x', calendar })
}

async function played(folder: string, query: string): Promise<readonly MarketCommand[]> {
  await using market = await replay(folder, query)
  return await playAll(market, market.endsAt ?? 0)
}

test('a generated morning is played with its finest recordings, phases first, quotes before trades', async t => {
  await using market = await replay(madeFolder(t, MORNING), '?symbols=ABC')
  assert.equal(market.startsAt, OPEN)
  assert.deepEqual(
    market.instruments.map(({ symbol, kind, exchange }) => ({ symbol, kind, exchange })),
    [{ symbol: 'ABC', kind: 'STK', exchange: 'USA' }]
  )
  const quote = (at: number, bid: readonly [string, string], ask: readonly [string, string] | null) =>
    ({ type: 'quote', at: OPEN + at, symbol: 'ABC', bids: [bid], asks: ask === null ? [] : [ask] }) as const
  const trade = (at: number, price: string, size: string, venue: string) =>
    ({ type: 'trade', at: OPEN + at, symbol: 'ABC', price, size, auction: null, venue }) as const
  // The quote bar rises from its open to its high and falls back to its close: three quotes; the next one has no asks yet.
  assert.deepEqual(await playAll(market, OPEN + 120 * SECOND), [
    { type: 'session', at: OPEN, market: 'us-equity', phase: 'open', tradingDate: '2024-07-08' },
    quote(0, ['99.99', '300'], ['100.01', '400']),
    trade(0, '100.00', '100', 'P'),
    trade(250_000, '100.05', '50', 'P'),
    quote(499_500, ['100.01', '300'], ['100.03', '400']),
    quote(999_000, ['100.00', '300'], ['100.02', '400']),
    quote(60_000_000, ['99.98', '500'], null),
    trade(60_000_000, '99.99', '200', 'Q')
  ])
})

test('portions of any size give the same commands in the same order', async t => {
  const folder = madeFolder(t, MORNING)
  const whole = await played(folder, '')
  await using market = await replay(folder)
  const pieces: MarketCommand[] = []
  for (let until = OPEN - SECOND; until < (market.endsAt ?? 0); until += until < OPEN + MINUTE * 3 ? 77_777 : 3_600 * SECOND) {
    const { commands, through } = await market.next(until)
    assert.ok(commands.every(({ at }) => at <= through))
    pieces.push(...commands)
  }
  pieces.push(...(await playAll(market, market.endsAt ?? 0)))
  assert.deepEqual(pieces, whole)
})

test('crypto has UTC days, nine places and its pair’s name', async t => {
  const commands = await played(madeFolder(t, MORNING), '?symbols=ABC/USDT&date=2024-07-08')
  const start = Date.UTC(2024, 6, 8) * 1_000
  assert.deepEqual(commands.slice(0, 2), [
    { type: 'session', at: start, market: 'crypto', phase: 'open', tradingDate: '2024-07-08' },
    { type: 'quote', at: start, symbol: 'ABC/USDT', bids: [['0.5', '2.5833652']], asks: [['0.51', '3']] }
  ])
  const bars = tradeBars(commands, 'ABC/USDT', MINUTE)
  const [open, high, low, close, volume] = ['0.5', '0.7', '0.4', '0.6', '1.00000001'].map(text => parseDecimal(text, 'figure'))
  assert.deepEqual(bars.get(start), { open, high, low, close, volume })
})

test('it begins at the configured time, with the market as of then', async t => {
  await using market = await replay(madeFolder(t, MORNING), '?symbols=ABC&at=09:31')
  assert.equal(market.startsAt, OPEN + MINUTE)
  assert.deepEqual((await market.next(OPEN + MINUTE - 1)).commands, [])
  const { commands } = await market.next(OPEN + MINUTE)
  assert.deepEqual(
    commands.map(({ type, at }) => [type, at - OPEN]),
    [
      ['session', MINUTE],
      ['quote', MINUTE],
      ['quote', MINUTE],
      ['trade', MINUTE]
    ]
  )
  assert.deepEqual(commands[1]?.type === 'quote' && commands[1].bids, [['100.00', '300']])
})

test('control actions: a price is shown until the next recorded quote, a halt and a pause withhold prices and resume them', async t => {
  await using market = await replay(madeFolder(t, MORNING), '?symbols=ABC')
  const { control } = market
  await playAll(market, OPEN + 2 * SECOND)
  control.setPrice('ABC', '50.00', OPEN + 3 * SECOND)
  control.setHalted('ABC', true, OPEN + 30 * SECOND)
  control.setPaused(true, OPEN + 40 * SECOND)
  control.setHalted('ABC', false, OPEN + 90 * SECOND)
  control.setPaused(false, OPEN + 100 * SECOND)
  control.forcePhase('us-equity', 'closed', OPEN + 110 * SECOND)
  const commands = await playAll(market, OPEN + 120 * SECOND)
  assert.deepEqual(
    commands.map(command => [command.type, (command.at - OPEN) / SECOND]),
    [
      ['quote', 3],
      ['trade', 3],
      ['halt', 30],
      ['halt', 90],
      ['quote', 100],
      ['session', 110]
    ]
  )
  assert.deepEqual(commands[0], {
    type: 'quote',
    at: OPEN + 3 * SECOND,
    symbol: 'ABC',
    bids: [['49.99', '1000']],
    asks: [['50.01', '1000']]
  })
  assert.deepEqual(commands[4]?.type === 'quote' && commands[4].bids, [['99.98', '500']])
  assert.equal(market.phaseAt('us-equity', OPEN + 120 * SECOND).phase, 'closed')
  for (const price of ['0', '-1', '50.001', '1e3', '', 'x'])
    assert.throws(() => control.setPrice('ABC', price, 0), { name: 'Malformed' }, price)
  assert.throws(() => control.setPrice('XYZ', '1', 0), UnknownSymbol)
})

test('bars are the recorded ones that have ended, then the open one, and never the future', async t => {
  await using market = await replay(madeFolder(t, MORNING), '?symbols=ABC')
  await playAll(market, OPEN + MINUTE + SECOND)
  const bars = async (interval: '1m' | '1d', now: number) =>
    (await market.bars({ symbol: 'ABC', interval, from: 0, to: now + 1, now })).map(bar => [bar.open, bar.close, bar.volume, bar.closed])
  assert.deepEqual(await bars('1m', OPEN + MINUTE - 1), [['100', '100.05', '150', false]])
  assert.deepEqual(await bars('1m', OPEN + MINUTE + SECOND), [
    ['100', '100.05', '150', true],
    ['99.99', '99.99', '200', false]
  ])
  assert.deepEqual(await bars('1d', OPEN + MINUTE + SECOND), [
    ['99', '100', '5000', true],
    ['100', '99.99', '350', false]
  ])
  await assert.rejects(market.bars({ symbol: 'XYZ', interval: '1m', from: 0, to: 1, now: 1 }), UnknownSymbol)
})

test('a request without a recording is refused with a message', async t => {
  const folder = madeFolder(t, MORNING)
  for (const query of ['?date=2024-07-10', '?symbols=XYZ', '?date=2024-02-30', '?resolution=daily', '?speed=0', '?colour=red', '?at=25:00'])
    await assert.rejects(replay(folder, query), { name: 'Malformed' }, query)
})

test('recorded bars and those rebuilt from the replay are equal in every number', async t => {
  const folder = recordedFolder(t)
  const made = madeFolder(t, MORNING)
  const table = [
    ...(folder === null
      ? []
      : ([
          [folder, 'SPY', 'minute', '2013-10-07'],
          [folder, 'SPY', 'second', '2013-10-07'],
          [folder, 'SPY', 'minute', '2013-10-04'],
          [folder, 'AAPL', 'minute', '2014-06-06'],
          [folder, 'AAPL', 'minute', '2014-06-09'],
          [folder, 'GOOG', 'minute', '2015-12-23'],
          [folder, 'BTC/USD', 'minute', '2018-04-04'],
          [folder, 'BTC/USD', 'minute', '2018-04-05'],
          [folder, 'BTC/USD', 'second', '2016-10-07']
        ] as const)),
    [made, 'ABC', 'minute', '2024-07-08'] as const,
    [made, 'ABC/USDT', 'minute', '2024-07-08'] as const
  ]
  let compared = 0
  for (const [from, symbol, resolution, date] of table) {
    const length = resolution === 'minute' ? MINUTE : SECOND
    const commands = await played(from, `?symbols=${symbol}&date=${date}&resolution=${resolution}`)
    const catalog = await openCatalog(from)
    const trades = await recordedTradeBars(catalog, { symbol, resolution, date })
    const rebuilt = tradeBars(commands, symbol, length)
    assert.equal(rebuilt.size, trades.length, `${symbol} ${date}`)
    for (const bar of trades) assert.ok(same(rebuilt.get(bar.start), bar), `${symbol} ${date} ${bar.start}`)
    const quotes = await recordedQuoteBars(catalog, { symbol, resolution, date })
    for (const [side, name] of [
      ['bid', 'bids'],
      ['ask', 'asks']
    ] as const) {
      const sides = quoteBars(commands, symbol, name, length)
      for (const bar of quotes) {
        const wanted = bar[side]
        if (wanted === null) continue
        // Sizes of crypto are cut to the engine's nine places.
        const volume = parseDecimal(wanted.lastSize.replace(/(\.\d{9})\d+$/, '$1'), 'size')
        assert.ok(same(sides.get(bar.start), { ...wanted, volume }), `${symbol} ${date} ${side} ${bar.start}`)
      }
    }
    compared += trades.length + quotes.length
    t.diagnostic(`${symbol} ${date} ${resolution}: ${trades.length} trade bars and ${quotes.length} quote bars equal`)
  }
  assert.ok(compared >= (folder === null ? 3 : 50_000), `${compared} bars`)
})

test('minutes rebuilt from replayed seconds equal the recorded minutes', async t => {
  const folder = recordedFolder(t)
  if (folder === null) return
  const commands = await played(folder, '?symbols=SPY&date=2013-10-07&resolution=second')
  const catalog = await openCatalog(folder)
  const query = { symbol: 'SPY', resolution: 'minute', date: '2013-10-07' } as const
  const trades = await recordedTradeBars(catalog, query)
  const rebuilt = tradeBars(commands, 'SPY', MINUTE)
  const equal = trades.filter(bar => same(rebuilt.get(bar.start), bar))
  const unequal = trades.filter(bar => !same(rebuilt.get(bar.start), bar))
  // The recording's own second and minute files disagree in these: one file counts trades at the turn of a minute in the one minute, the
  // other in the next. So sums over the day agree, and each minute that differs has a neighbour that does.
  assert.equal(equal.length, 770)
  const total = (volumes: Iterable<{ readonly volume: string }>) => [...volumes].reduce((sum, { volume }) => sum + BigInt(volume), 0n)
  t.diagnostic(`trade bars: ${equal.length} of ${trades.length} equal, ${unequal.length} differ in the recording itself`)
  assert.equal(total(rebuilt.values()), total(trades))
  const starts = new Set(unequal.map(({ start }) => start))
  for (const { start } of unequal) assert.ok(starts.has(start - MINUTE) || starts.has(start + MINUTE), `${start} differs alone`)
  const quotes = await recordedQuoteBars(catalog, query)
  const bids = quoteBars(commands, 'SPY', 'bids', MINUTE)
  const asks = quoteBars(commands, 'SPY', 'asks', MINUTE)
  for (const { start, bid, ask } of quotes) {
    assert.ok(bid !== null && same(bids.get(start), { ...bid, volume: bid.lastSize }), `bid of ${start}`)
    assert.ok(ask !== null && same(asks.get(start), { ...ask, volume: ask.lastSize }), `ask of ${start}`)
  }
  t.diagnostic(`quote bars: ${quotes.length} of ${quotes.length} equal`)
})

test('every recorded tick is played except repetitions of the auctions, and the exchange calendar has every recorded day', async t => {
  const folder = recordedFolder(t)
  if (folder === null) return
  const began = performance.now()
  const commands = await played(folder, '?date=2013-10-07')
  const seconds = (performance.now() - began) / 1_000
  const trades = commands.filter(({ type }) => type === 'trade')
  assert.equal(trades.length, 250_601 - 558)
  assert.ok(commands.every((command, index) => index === 0 || command.at >= (commands[index - 1]?.at ?? 0)))
  t.diagnostic(`${commands.length} commands in ${seconds.toFixed(2)} s: ${Math.round(commands.length / seconds)} a second`)
  const calendar = usEquityCalendar()
  const daily = await recordedTradeBars(await openCatalog(folder), { symbol: 'SPY', resolution: 'daily', date: null })
  let day = '1998-01-01'
  for (const { start } of daily) {
    day = calendar.nextTradingDay(day)
    assert.equal(calendar.dateAt(start / 1_000), day)
  }
  t.diagnostic(`${daily.length} recorded days are exactly the calendar's from 1998-01-02 to ${day}`)
})

test('ticks count by their sale conditions, live and in the open bar', async t => {
  const ticks = [
    [0, 1_000_000, 100, 'P', 1],
    // An intermarket sweep before the first price of its minute, and one far away.
    [60_000, 1_200_000, 7, 'Q', 2],
    [60_100, 1_000_100, 10, 'P', 1],
    [60_200, 800_000, 5, 'Q', 2],
    // The opening auction, printed twice, and the official price that repeats it.
    [90_000, 1_000_300, 1_000, 'P', 40],
    [90_001, 1_000_300, 1_000, 'Q', 40],
    [90_002, 1_000_300, 1_000, 'P', 4_000_000],
    // A minute with volume only is not a bar.
    [120_000, 900_000, 9, 'Q', 2]
  ].map(([ms, price, size, venue, condition]) => `${OPEN_MS + Number(ms)},${price},${size},${venue},${condition},0`)
  const folder = madeFolder(t, { 'equity/usa/tick/abc/20240708_trade.zip': `${ticks.join('\n')}\n` })
  await using market = await replay(folder, '?date=2024-07-08')
  const now = OPEN + 100 * SECOND
  const commands = [...(await playAll(market, now))]
  const open = await market.bars({ symbol: 'ABC', interval: '1m', from: 0, to: now, now })
  const minute = { high: '100.03', low: '100.01', close: '100.03', volume: '1022' }
  assert.deepEqual(
    open.map(({ start, high, low, close, volume, closed }) => [start - OPEN, { high, low, close, volume }, closed]),
    [
      [0, { high: '100', low: '100', close: '100', volume: '100' }, true],
      [MINUTE, minute, false]
    ]
  )
  const end = OPEN + 200 * SECOND
  commands.push(...(await playAll(market, end)))
  assert.deepEqual(
    commands.flatMap(command => (command.type === 'trade' ? [[command.price, command.effect ?? 'all', command.venue]] : [])),
    [
      ['100.00', 'all', 'P'],
      ['120.00', 'volume', 'Q'],
      ['100.01', 'all', 'P'],
      ['80.00', 'volume', 'Q'],
      ['100.03', 'all', 'P'],
      ['90.00', 'volume', 'Q']
    ]
  )
  const closed = await market.bars({ symbol: 'ABC', interval: '5m', from: 0, to: end, now: OPEN + 400 * SECOND })
  assert.deepEqual(
    closed.map(({ open: first, high, low, close, volume }) => [first, high, low, close, volume]),
    [['100', '100.03', '100', '100.03', '1131']]
  )
})

test('the recorded minutes equal those of the played ticks, except for three that are explained elsewhere', async t => {
  const folder = recordedFolder(t)
  if (folder === null) return
  const commands = await played(folder, '?date=2013-10-07&symbols=SPY')
  const rebuilt = tradeBars(commands, 'SPY', MINUTE)
  const minutes = await recordedTradeBars(await openCatalog(folder), { symbol: 'SPY', resolution: 'minute', date: '2013-10-07' })
  const differ = minutes.filter(bar => !same(rebuilt.get(bar.start), bar))
  t.diagnostic(`${minutes.length} recorded minutes, ${differ.length} differ from the ticks played`)
  assert.equal(rebuilt.size, minutes.length)
  assert.ok(differ.length <= 3)
})
