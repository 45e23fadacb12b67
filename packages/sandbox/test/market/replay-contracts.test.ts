import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare, parseDecimal } from '@trunkline/core/domain/decimal'
import { parseFutureSymbol } from '../../src/market/futures/months.ts'
import { type FeedCommand, type Market, openCatalog, openMarket, type RecordedQuoteBar, UnknownSymbol } from '../../src/market/index.ts'
import { quoteBarOf } from '../../src/market/lean/recorded-bars.ts'
import { quoteBars as recordedRows } from '../../src/market/lean/rows.ts'
import { zipEntries } from '../../src/market/lean/zip.ts'
import { madeFolder, zipped } from './made.ts'
import { playAll, quoteBars, same, tradeBars } from './rebuild.ts'
import { recordedFolder } from './recorded.ts'

const SECOND = 1_000_000
const MINUTE = 60 * SECOND
const OPEN_MS = 34_200_000
/** Monday, 8 July 2024, 09:30 in New York. */
const OPEN = Date.UTC(2024, 6, 8, 13, 30) * 1_000
const CALL = 'ABC240712C00100000'
const PUT = 'ABC240712P00100000'
const EXPIRING = 'ABC240708C00099500'

function entry(name: string, ...lines: readonly string[]) {
  return { name: `20240708_${name}.csv`, text: `${lines.join('\n')}\n` }
}

/** A share, three of its options and a future, on two days. */
const CONTRACTS = {
  'equity/usa/minute/abc/20240708_trade.zip': `${OPEN_MS},1000000,1000000,1000000,1000000,100\n${OPEN_MS + 60_000},1000500,1010000,1000500,1010000,100\n`,
  'option/usa/minute/abc/20240708_quote_american.zip': zipped([
    entry('abc_minute_quote_american_call_1000000_20240712', `${OPEN_MS},10000,10000,10000,10000,5,12000,12000,12000,12000,6`),
    entry('abc_minute_quote_american_put_1000000_20240712', `${OPEN_MS},,,,,,9000,9000,9000,9000,3`),
    entry('abc_minute_quote_american_call_995000_20240708', `${OPEN_MS},6000,6000,6000,6000,1,7000,7000,7000,7000,1`)
  ]),
  'option/usa/minute/abc/20240708_trade_american.zip': zipped([
    entry(
      'abc_minute_trade_american_call_1000000_20240712',
      `${OPEN_MS},11000,12000,10500,11500,8`,
      `${OPEN_MS + 120_000},11500,11500,11500,11500,2`
    )
  ]),
  'option/usa/minute/abc/20240708_openinterest_american.zip': zipped([
    entry('abc_minute_openinterest_american_call_1000000_20240712', '23520000,1604')
  ]),
  'future/cme/minute/es/20240708_trade.zip': zipped([
    entry('es_minute_trade_202409', '48600000,5600.25,5601,5600,5600.5,100', '71940000,5610,5610,5610,5610,10'),
    entry('es_minute_trade_202412', '48600000,5660,5660,5660,5660,1')
  ]),
  'future/cme/minute/es/20240708_quote.zip': zipped([
    entry('es_minute_quote_202409', '48600000,5600,5600,5600,5600,20,5600.25,5600.25,5600.25,5600.25,30')
  ]),
  'future/cme/margins/ES.csv': Buffer.from(
    'date,initial,maintenance\n# as announced\n20200101,6000,5500\n20240701,13200,12000\n20240709,14300,13000\n'
  )
}

function replay(folder: string, query = ''): Promise<Market> {
  return openMarket(`replay:${folder}${query}`, { seed: 'x', calendar: 'exchange' })
}

function of(commands: readonly FeedCommand[], symbol: string): readonly FeedCommand[] {
  return commands.filter(command => 'symbol' in command && command.symbol === symbol)
}

test('recorded contracts are found with their terms, with the margins of the date', async t => {
  await using market = await replay(madeFolder(t, CONTRACTS), '?date=2024-07-08')
  assert.deepEqual(
    market.instruments.map(({ symbol }) => symbol),
    ['ABC']
  )
  assert.deepEqual(market.expirations('ABC', OPEN), ['2024-07-08', '2024-07-12'])
  assert.deepEqual(
    market.chain('ABC', '2024-07-12', OPEN).map(({ symbol }) => symbol),
    [CALL, PUT]
  )
  assert.deepEqual(market.find(CALL, OPEN)?.option, {
    underlying: 'ABC',
    right: 'call',
    strike: '100',
    expiration: '2024-07-12',
    lastTradeAt: Date.UTC(2024, 6, 12, 20) * 1_000,
    style: 'american',
    settlement: 'physical'
  })
  assert.equal(market.find(EXPIRING, OPEN)?.option?.strike, '99.5')
  assert.equal(market.find(EXPIRING, Date.UTC(2024, 6, 8, 20) * 1_000), null)
  assert.deepEqual(
    market
      .futures(OPEN)
      .map(({ symbol, multiplier, future }) => [symbol, multiplier, future?.month, future?.initialMargin, future?.maintenanceMargin]),
    [
      ['ESU24', '50', '2024-09', '13200', '12000'],
      ['ESZ24', '50', '2024-12', '13200', '12000']
    ]
  )
  assert.equal(market.find('ESH25', OPEN), null)
  assert.deepEqual(market.expirations('XYZ', OPEN), [])
})

test('at= is New York’s time of day, even beside a future recorded in UTC days', async t => {
  for (const [symbols, startsAt] of [
    ['ABC,ES', OPEN],
    ['ABC', OPEN],
    ['ES', Date.UTC(2024, 6, 8, 9, 30) * 1_000]
  ] as const) {
    await using market = await replay(madeFolder(t, CONTRACTS), `?date=2024-07-08&at=09:30&symbols=${symbols}`)
    assert.equal(market.startsAt, startsAt, symbols)
  }
})

test('symbols= selects contracts one by one, or by underlying and root', async t => {
  const folder = madeFolder(t, CONTRACTS)
  const found = async (symbols: string): Promise<readonly string[]> => {
    await using market = await replay(folder, `?date=2024-07-08&symbols=${symbols}`)
    const options = market.expirations('ABC', OPEN).flatMap(expiration => market.chain('ABC', expiration, OPEN))
    return [...market.instruments, ...options, ...market.futures(OPEN)].map(({ symbol }) => symbol)
  }
  assert.deepEqual(await found('ABC'), ['ABC', EXPIRING, CALL, PUT])
  assert.deepEqual(await found(`ABC,${PUT}`), ['ABC', EXPIRING, CALL, PUT])
  assert.deepEqual(await found(PUT), [PUT])
  assert.deepEqual(await found('ES'), ['ESU24', 'ESZ24'])
  assert.deepEqual(await found(`ESZ24,${CALL}`), [CALL, 'ESZ24'])
  await assert.rejects(replay(folder, '?date=2024-07-08&symbols=NQ'), { name: 'Malformed' })
})

test('a followed contract begins with its specification and its quote, whenever it is followed, and is played to its end', async t => {
  const folder = madeFolder(t, CONTRACTS)
  await using market = await replay(folder, '?date=2024-07-08&at=09:30')
  const silent = await playAll(market, OPEN + MINUTE + 30 * SECOND)
  assert.ok(silent.every(command => !('symbol' in command) || command.symbol === 'ABC'))
  market.follow([CALL, EXPIRING, 'ESU24', 'NOPE', 'ABC'])
  const commands = await playAll(market, market.endsAt ?? 0)
  assert.ok(commands.every((command, index) => index === 0 || command.at >= (commands[index - 1]?.at ?? 0)))
  const at = OPEN + MINUTE + 30 * SECOND + 1
  const rows = commands.filter(({ type }) => type === 'list_instrument')
  assert.deepEqual(
    rows.map(command => (command.type === 'list_instrument' ? [command.spec.symbol, command.at] : [])),
    [
      [CALL, at],
      [EXPIRING, at],
      ['ESU24', at]
    ]
  )
  assert.deepEqual(of(commands, CALL), [
    { type: 'quote', at, symbol: CALL, bids: [['1.00', '5']], asks: [['1.20', '6']] },
    { type: 'trade', at: OPEN + 2 * MINUTE, symbol: CALL, price: '1.15', size: '2', auction: null }
  ])
  const close = Date.UTC(2024, 6, 8, 20) * 1_000
  // The share's last print was 101.
  assert.deepEqual(of(commands, EXPIRING).at(-1), { type: 'expire', at: close, symbol: EXPIRING, price: '101.00' })
  assert.deepEqual(
    of(commands, 'ESU24').filter(({ type }) => type === 'settle'),
    [{ type: 'settle', at: close, symbol: 'ESU24', price: '5610' }]
  )
  market.follow([EXPIRING])
  assert.deepEqual((await market.next((market.endsAt ?? 0) + 1)).commands.filter(({ type }) => type === 'expire').length, 1)
})

test('the figures of a followed option come from its quote, its prints and the share', async t => {
  await using market = await replay(madeFolder(t, CONTRACTS), '?date=2024-07-08&at=09:30')
  market.follow([CALL, PUT])
  const now = OPEN + 3 * MINUTE
  await playAll(market, now)
  assert.equal(market.priceOf('ABC', now), '101.00')
  const figures = market.figures(CALL, now)
  assert.deepEqual(
    [
      figures?.open,
      figures?.high,
      figures?.low,
      figures?.last,
      figures?.volume,
      figures?.openInterest,
      figures?.close,
      figures?.previousClose
    ],
    ['1.10', '1.20', '1.05', '1.15', '10', '1604', null, null]
  )
  assert.ok(Number(figures?.iv) > 0 && Number(figures?.delta) > 0.5, JSON.stringify(figures))
  assert.equal(figures?.theoretical, '1.1')
  const put = market.figures(PUT, now)
  assert.deepEqual([put?.iv, put?.delta, put?.open, put?.volume], [null, null, null, '0'])
  assert.equal(market.figures(EXPIRING, now), null, 'not followed')
  assert.equal(market.figures('ABC', now), null)
})

test('bars of recorded contracts, and prices set through the control API', async t => {
  await using market = await replay(madeFolder(t, CONTRACTS), '?date=2024-07-08&at=09:30')
  const now = OPEN + 2 * MINUTE + 30 * SECOND
  await playAll(market, now)
  const query = { interval: '1m', from: 0, to: now, now } as const
  const unfollowed = await market.bars({ ...query, symbol: CALL })
  assert.deepEqual(
    unfollowed.map(({ start, open, volume, closed }) => [start - OPEN, open, volume, closed]),
    [[0, '1.1', '8', true]]
  )
  market.follow([CALL])
  market.control.setPrice(CALL, '2.00', now + 5 * SECOND)
  const commands = await playAll(market, now + 10 * SECOND)
  assert.deepEqual(of(commands, CALL).slice(-2), [
    { type: 'quote', at: now + 5 * SECOND, symbol: CALL, bids: [['1.99', '10']], asks: [['2.01', '10']] },
    { type: 'trade', at: now + 5 * SECOND, symbol: CALL, price: '2', size: '1', auction: null }
  ])
  const bars = await market.bars({ ...query, symbol: CALL, to: now + 10 * SECOND, now: now + 10 * SECOND })
  assert.deepEqual(
    bars.map(({ start, close, volume, closed }) => [start - OPEN, close, volume, closed]),
    [
      [0, '1.15', '8', true],
      [2 * MINUTE, '2', '3', false]
    ]
  )
  market.unfollow([CALL])
  market.follow([CALL])
  await playAll(market, now + 15 * SECOND)
  const again = await market.bars({ ...query, symbol: CALL, to: now + 15 * SECOND, now: now + 15 * SECOND })
  assert.deepEqual([again.length, again[1]?.volume], [2, '2'], 'recorded prints count once, however often it is followed')
  await assert.rejects(market.bars({ ...query, symbol: 'ABC240712C00105000' }), UnknownSymbol)
  assert.throws(() => market.control.setPrice('ABC240712C00105000', '1', now), UnknownSymbol)
})

test('a damaged archive or table of margins is reported by name', async t => {
  const broken = { ...CONTRACTS, 'option/usa/minute/abc/20240708_quote_american.zip': Buffer.from('no zip') }
  await assert.rejects(replay(madeFolder(t, broken), '?date=2024-07-08'), { name: 'BadMarketData', reason: 'zip_damaged' })
  const table = { ...CONTRACTS, 'future/cme/margins/ES.csv': Buffer.from('date,initial,maintenance\n20240701,many,12000\n') }
  await assert.rejects(replay(madeFolder(t, table), '?date=2024-07-08'), { name: 'BadMarketData', reason: 'columns', line: 2 })
  const late = { ...CONTRACTS, 'future/cme/margins/ES.csv': Buffer.from('date,initial,maintenance\n20240701,1,1\n20240601,1,1\n') }
  await assert.rejects(replay(madeFolder(t, late), '?date=2024-07-08'), { name: 'BadMarketData', reason: 'unsorted' })
})

test('the recorded options of GOOG: the whole chain, its quotes as recorded, consistent volatilities', async t => {
  const folder = recordedFolder(t)
  if (folder === null) return
  await using market = await replay(folder, '?date=2015-12-23..2015-12-24&at=09:30')
  const at = market.startsAt ?? 0
  const chain = market.chain('GOOG', '2015-12-24', at)
  assert.equal(chain.length, 118)
  market.follow(chain.map(({ symbol }) => symbol))
  const noon = Date.UTC(2015, 11, 23, 17) * 1_000
  const commands = [...(await playAll(market, noon))]
  const spot = Number(market.priceOf('GOOG', noon))
  assert.ok(spot > 740 && spot < 760)
  let known = 0
  for (const { symbol, option } of chain) {
    const figures = market.figures(symbol, noon)
    if (option === undefined || figures?.iv == null) continue
    known++
    const away = Math.abs(Number(option.strike) - spot)
    const delta = Math.abs(Number(figures.delta))
    const inside = option.right === 'call' ? Number(option.strike) < spot : Number(option.strike) > spot
    if (away > 1) assert.equal(delta > 0.5, inside, `${symbol} delta ${figures.delta}`)
    if (away < 10) assert.ok(Number(figures.iv) > 0.15 && Number(figures.iv) < 0.3, `${symbol} ${figures.iv}`)
  }
  t.diagnostic(`${known} of ${chain.length} contracts have an implied volatility at noon`)
  // Options quoted below their exercise value, or without a bid, have none.
  assert.ok(known > 20)
  commands.push(...(await playAll(market, market.endsAt ?? 0)))
  const atm = 'GOOG151224C00750000'
  const end = market.endsAt ?? 0
  const bars = await market.bars({ symbol: atm, interval: '1m', from: 0, to: end, now: end })
  const rebuilt = tradeBars(commands, atm, MINUTE)
  assert.ok(bars.length > 30 && bars.length === rebuilt.size)
  for (const bar of bars) assert.ok(same(rebuilt.get(bar.start), bar), `${bar.start}`)
  const ends = commands.filter(({ type }) => type === 'expire')
  assert.equal(ends.length, 118)
  // The 24th was an early day.
  assert.ok(ends.every(command => command.at === Date.UTC(2015, 11, 24, 18) * 1_000))
})

test('the recorded ES: several months, quotes and bars as recorded, settled daily, with the margins of the day', async t => {
  const folder = recordedFolder(t)
  if (folder === null) return
  await using market = await replay(folder, '?date=2013-10-07..2013-10-08&symbols=ES,SPY&resolution=minute')
  const at = market.startsAt ?? 0
  assert.deepEqual(
    market.futures(at).map(({ symbol, future }) => [symbol, future?.initialMargin, future?.maintenanceMargin]),
    ['ESZ13', 'ESH14', 'ESM14', 'ESU14', 'ESZ14'].map(symbol => [symbol, '4180', '3800'])
  )
  assert.deepEqual(
    market.instruments.map(({ symbol }) => symbol),
    ['SPY']
  )
  const months = ['ESZ13', 'ESH14', 'ESM14']
  market.follow(months)
  const end = market.endsAt ?? 0
  const commands = await playAll(market, end)
  const sides = {
    bids: remembered(symbol => quoteBars(commands, symbol, 'bids', MINUTE)),
    asks: remembered(symbol => quoteBars(commands, symbol, 'asks', MINUTE))
  }
  for (const symbol of months) {
    // It is recorded from midnight UTC, hours before the share with which the replay begins.
    const bars = await market.bars({ symbol, interval: '1m', from: at, to: end, now: end })
    const rebuilt = tradeBars(commands, symbol, MINUTE)
    assert.equal(bars.length, rebuilt.size)
    for (const bar of bars) assert.ok(same(rebuilt.get(bar.start), bar), `${symbol} ${bar.start}`)
    let quoted = 0
    for (const { start, bid, ask } of await recordedQuotes(folder, symbol)) {
      // The first minute begins with the current quote.
      if (start <= at) continue
      for (const [side, recorded] of [
        ['bids', bid],
        ['asks', ask]
      ] as const) {
        if (recorded === null || recorded.lastSize === '0') continue
        const played = sides[side](symbol).get(start)
        assert.ok(same(played, { ...recorded, volume: recorded.lastSize }), `${symbol} ${side} ${start}`)
        quoted++
      }
    }
    t.diagnostic(`${symbol}: ${bars.length} minutes with trades, ${quoted} bid and ask bars`)
    assert.ok(quoted > 1_000)
  }
  const settled = commands.flatMap(command => (command.type === 'settle' && command.symbol === 'ESZ13' ? [command] : []))
  assert.deepEqual(
    settled.map(command => command.at),
    [Date.UTC(2013, 9, 7, 20) * 1_000, Date.UTC(2013, 9, 8, 20) * 1_000]
  )
  for (const command of settled) {
    const before = commands.findLast(other => other.type === 'trade' && other.symbol === 'ESZ13' && other.at < command.at)
    assert.ok(before?.type === 'trade' && compare(parseDecimal(command.price, 'settled'), parseDecimal(before.price, 'last')) === 0)
  }
  const days = await market.bars({ symbol: 'ESZ13', interval: '1d', from: 0, to: end, now: end, limit: 2 })
  assert.equal(days.length, 2)
})

test('the recorded bitcoin is played by either spelling, beside others', async t => {
  const folder = recordedFolder(t)
  if (folder === null) return
  for (const spelling of ['BTCUSD', 'BTC/USD']) {
    await using market = await replay(folder, `?date=2018-04-04&symbols=${spelling}`)
    assert.deepEqual(
      market.instruments.map(({ symbol, exchange, hours }) => [symbol, exchange, hours]),
      [['BTC/USD', 'COINBASE', 'always_utc']]
    )
    const begin = market.startsAt ?? 0
    const commands = await playAll(market, begin + 60 * MINUTE)
    const bars = await market.bars({ symbol: 'BTC/USD', interval: '1m', from: begin, to: begin + 60 * MINUTE, now: begin + 60 * MINUTE })
    const rebuilt = tradeBars(commands, 'BTC/USD', MINUTE)
    assert.ok(bars.length > 50)
    for (const bar of bars) assert.ok(same(rebuilt.get(bar.start), bar), `${bar.start}`)
    assert.ok(commands.some(({ type }) => type === 'quote'))
  }
  await using both = await replay(folder, '?date=2013-10-07..2018-04-05&symbols=BTCUSD,SPY&resolution=minute')
  assert.deepEqual(
    both.instruments.map(({ symbol }) => symbol),
    ['BTC/USD', 'SPY']
  )
})

function remembered<Value>(make: (symbol: string) => Value): (symbol: string) => Value {
  const known = new Map<string, Value>()
  return symbol => {
    const value = known.get(symbol) ?? make(symbol)
    known.set(symbol, value)
    return value
  }
}

/** A month's quote bars of both days, read directly from the archives. */
async function recordedQuotes(folder: string, symbol: string) {
  const month = parseFutureSymbol(symbol)?.month.replace('-', '')
  const bars: RecordedQuoteBar[] = []
  for (const { data, resolution, rows } of (await openCatalog(folder)).archives) {
    if (rows.asset !== 'future' || data !== 'quote' || resolution !== 'minute') continue
    for (const entry of await zipEntries(rows.file))
      if (entry.fileName.endsWith(`_${month}.csv`))
        for await (const batch of recordedRows({ ...rows, entry })) for (const row of batch) bars.push(quoteBarOf(row))
  }
  return bars
}
