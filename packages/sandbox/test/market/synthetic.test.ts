import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare, parseDecimal, sum } from '@trunkline/core/domain/decimal'
import type { MarketCommand, QuoteCommand, QuoteLevel } from '../../src/engine/types.ts'
import { type BarInterval, type Market, openSynthetic, UnknownSymbol } from '../../src/market/index.ts'
import { billionths } from '../../src/market/lean/numbers.ts'
import { PROFILES } from '../../src/market/synthetic/profiles.ts'
import { joined, playAll, same, tradeBars } from './rebuild.ts'

const SECOND = 1_000_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** A Friday, 10:00 in New York. */
const NOW = Date.UTC(2026, 10, 20, 15) * 1_000

function always(seed = '7'): Market {
  return openSynthetic({ seed, calendar: 'always' })
}

async function since(market: Market, from: number, until: number): Promise<readonly MarketCommand[]> {
  await market.next(from)
  return playAll(market, until)
}

test('the same seed gives the same market in portions of any size, another seed another market', async () => {
  const whole = await since(always(), NOW - 1, NOW + 3 * MINUTE)
  const market = always()
  await market.next(NOW - 1)
  const pieces: MarketCommand[] = []
  for (let until = NOW; until < NOW + 3 * MINUTE; until += 333_333) pieces.push(...(await playAll(market, until)))
  pieces.push(...(await playAll(market, NOW + 3 * MINUTE)))
  assert.deepEqual(pieces, whole)
  assert.ok(whole.length > 5_000)
  assert.ok(whole.every((command, index) => index === 0 || command.at >= (whole[index - 1]?.at ?? 0)))
  assert.notDeepEqual(await since(always('8'), NOW - 1, NOW + 3 * MINUTE), whole)
})

test('a later start has the same market', async () => {
  const early = await since(always(), NOW - 1, NOW + 2 * MINUTE)
  const late = await since(always(), NOW + MINUTE, NOW + 2 * MINUTE)
  assert.deepEqual(
    late,
    early.filter(({ at }) => at > NOW + MINUTE)
  )
})

test('the first delivery has the phases and an order book of every instrument', async () => {
  const market = always()
  const { commands } = await market.next(NOW)
  assert.deepEqual(
    commands.filter(({ type }) => type === 'session'),
    [
      { type: 'session', at: NOW, market: 'us-equity', phase: 'open', tradingDate: '2026-11-20' },
      { type: 'session', at: NOW, market: 'us-option', phase: 'open', tradingDate: '2026-11-20' },
      { type: 'session', at: NOW, market: 'cme', phase: 'open', tradingDate: '2026-11-20' },
      { type: 'session', at: NOW, market: 'crypto', phase: 'open', tradingDate: '2026-11-20' }
    ]
  )
  const quoted = commands.flatMap(command => (command.type === 'quote' ? [command.symbol] : []))
  assert.deepEqual(
    quoted,
    market.instruments.map(({ symbol }) => symbol)
  )
  assert.ok(quoted.length >= 16)
})

test('order books have ten levels a side on the tick grid, uncrossed; prints are at the touch and for no more than is shown', async () => {
  const market = always()
  const commands = await since(market, NOW, NOW + 10 * MINUTE)
  const ticks = new Map(market.instruments.map(({ symbol, tick }) => [symbol, billionths(tick)]))
  const books = new Map<string, QuoteCommand>()
  let prints = 0
  for (const command of commands) {
    if (command.type === 'quote') {
      books.set(command.symbol, command)
      assertLadder(command, ticks.get(command.symbol) ?? 0n)
    } else if (command.type === 'trade') {
      const book = books.get(command.symbol)
      assert.ok(book !== undefined)
      const level = [book.bids[0], book.asks[0]].find(side => side?.[0] === command.price)
      assert.ok(level !== undefined, `${command.symbol} printed ${command.price} away from the touch`)
      assert.ok(
        compare(parseDecimal(command.size, 'size'), parseDecimal(level[1], 'shown')) <= 0,
        `${command.symbol} ${command.size} of ${level[1]}`
      )
      prints++
    }
  }
  assert.ok(prints > 5_000, `${prints} prints`)
})

function assertLadder({ symbol, bids, asks }: QuoteCommand, tick: bigint): void {
  assert.equal(bids.length, 10, symbol)
  assert.equal(asks.length, 10, symbol)
  const price = (level: QuoteLevel | undefined): bigint => billionths(level?.[0] ?? '0')
  assert.ok(price(bids[0]) < price(asks[0]), `${symbol} is crossed`)
  for (const [index, level] of [...bids, ...asks].entries()) {
    assert.equal(price(level) % tick, 0n, `${symbol} ${level[0]}`)
    assert.ok(price(level) > 0n && billionths(level[1]) > 0n)
    if (index > 0 && index < 10) assert.ok(price(level) < price(bids[index - 1]))
    if (index > 10) assert.ok(price(level) > price(asks[index - 11]))
  }
}

test('the thin symbol shows 3 to 12 shares at the touch (or the traded size) and less than 400 in total', async () => {
  const commands = await pacedPlay(always(), NOW, NOW + 10 * MINUTE)
  const books = commands.flatMap(command => (command.type === 'quote' && command.symbol === 'THIN' ? [command] : []))
  const traded = new Set(commands.flatMap(command => (command.type === 'trade' && command.symbol === 'THIN' ? [command.size] : [])))
  assert.equal(books.length, 120)
  for (const { bids, asks } of books)
    for (const side of [bids, asks]) {
      const touch = side[0]?.[1] ?? '0'
      assert.ok((Number(touch) >= 3 && Number(touch) <= 12) || traded.has(touch), touch)
      assert.ok(compare(sum(side.map(([, size]) => parseDecimal(size, 'size'))), parseDecimal('400', 'size')) < 0)
    }
})

test('bars of every interval equal those of the updates', async () => {
  const market = always()
  const begin = NOW - (NOW % HOUR)
  const end = begin + HOUR
  const commands = await pacedPlay(market, begin, end)
  for (const symbol of ['AAPL', 'THIN', 'BTC/USD', 'DOGE/USD'])
    for (const [interval, length] of [
      ['1s', SECOND],
      ['1m', MINUTE],
      ['5m', 5 * MINUTE],
      ['1h', HOUR]
    ] as const) {
      const bars = await market.bars({ symbol, interval, from: begin, to: end, now: end })
      const rebuilt = tradeBars(commands, symbol, length)
      assert.equal(bars.length, rebuilt.size, `${symbol} ${interval}`)
      for (const bar of bars) assert.ok(same(rebuilt.get(bar.start), bar) && bar.closed, `${symbol} ${interval} ${bar.start}`)
    }
})

test('bars are consistent: an hour equals its minutes, a day its hours, also on days of 23 and of 25 hours', async () => {
  const market = always()
  for (const date of ['2026-11-20', '2026-03-08', '2026-11-01', '2003-05-05'])
    for (const [symbol, zone] of [
      ['SPY', 'America/New_York'],
      ['ETH/USD', 'UTC']
    ] as const) {
      const start = Temporal.PlainDate.from(date).toZonedDateTime(zone).epochMilliseconds * 1_000
      const end = Temporal.PlainDate.from(date).add({ days: 1 }).toZonedDateTime(zone).epochMilliseconds * 1_000
      const bars = (interval: BarInterval) => market.bars({ symbol, interval, from: start, to: end, now: end })
      const [day, ...more] = await bars('1d')
      assert.ok(day !== undefined && more.length === 0)
      for (const [interval, length] of [
        ['1h', HOUR],
        ['30m', HOUR / 2],
        ['15m', HOUR / 4],
        ['1m', MINUTE]
      ] as const) {
        const parts = await bars(interval)
        assert.equal(parts.length, (end - start) / length, `${symbol} ${date} ${interval}`)
        assert.ok(same(joined(parts), day), `${symbol} ${date} ${interval}`)
      }
    }
})

test('generating a long time takes few updates and gives the same bars', async () => {
  const market = always()
  const begin = NOW - (NOW % HOUR) - 3 * DAY
  const commands = await since(market, begin - 1, NOW)
  assert.ok(commands.length < 100_000, `${commands.length} commands for three days`)
  assert.ok(commands.every((command, index) => index === 0 || command.at >= (commands[index - 1]?.at ?? 0)))
  for (const [symbol, interval, length] of [
    ['AAPL', '1h', HOUR],
    ['THIN', '1h', HOUR],
    ['SOL/USD', '1h', HOUR]
  ] as const) {
    const rebuilt = tradeBars(commands, symbol, length)
    const bars = await market.bars({ symbol, interval, from: begin, to: NOW - (NOW % HOUR), now: NOW })
    assert.equal(bars.length, 72)
    for (const bar of bars) assert.ok(same(rebuilt.get(bar.start), bar), `${symbol} ${bar.start}`)
  }
  const dates = commands.flatMap(command => (command.type === 'session' && command.market === 'crypto' ? [command.tradingDate] : []))
  assert.deepEqual(dates, ['2026-11-18', '2026-11-19', '2026-11-20'])
})

test('bars end with the current one, which is open', async () => {
  const market = always()
  const now = NOW + 30 * SECOND
  const bars = await market.bars({ symbol: 'AAPL', interval: '1m', from: 0, to: now + 1, now, limit: 3 })
  assert.deepEqual(
    bars.map(bar => [(bar.start - NOW) / MINUTE, bar.closed]),
    [
      [-2, true],
      [-1, true],
      [0, false]
    ]
  )
  const later = await market.bars({ symbol: 'AAPL', interval: '1m', from: NOW, to: NOW + MINUTE, now: NOW + HOUR })
  assert.ok(compare(bars[2]?.volume ?? parseDecimal('0', 'x'), later[0]?.volume ?? parseDecimal('0', 'x')) < 0)
  assert.deepEqual(await market.bars({ symbol: 'AAPL', interval: '1m', from: NOW + HOUR, to: NOW + DAY, now }), [])
  assert.equal((await market.bars({ symbol: 'AAPL', interval: '1m', from: 0, to: now, now })).length, 5_000)
  assert.deepEqual(await market.bars({ symbol: 'AAPL', interval: '1d', from: 0, to: Date.UTC(1999, 0) * 1_000, now }), [])
  await assert.rejects(market.bars({ symbol: 'NOPE', interval: '1m', from: 0, to: 1, now }), UnknownSymbol)
})

test('control actions: a price continues from where it was set, and bars remember it', async () => {
  const market = always()
  await market.next(NOW)
  market.control.setPrice('AAPL', '500.00', NOW)
  const commands = await playAll(market, NOW + 10 * MINUTE)
  const apple = commands.filter(command => 'symbol' in command && command.symbol === 'AAPL')
  const [quote, print] = apple
  assert.ok(quote?.type === 'quote' && [quote.bids[0]?.[0], quote.asks[0]?.[0]].includes('500'))
  assert.deepEqual(print, { type: 'trade', at: NOW + 1, symbol: 'AAPL', price: '500', size: '1', auction: null })
  for (const command of apple) if (command.type === 'trade') assert.ok(Math.abs(Number(command.price) - 500) < 10, command.price)
  const until = NOW + 10 * MINUTE
  const rebuilt = tradeBars(apple, 'AAPL', MINUTE)
  const bars = await market.bars({ symbol: 'AAPL', interval: '1m', from: NOW, to: until, now: until })
  assert.equal(bars.length, 10)
  for (const bar of bars) assert.ok(same(rebuilt.get(bar.start), bar), `${bar.start}`)
  const [before] = await market.bars({ symbol: 'AAPL', interval: '1m', from: NOW - MINUTE, to: NOW, now: until })
  assert.ok(Number(before?.close) < 400)
  for (const price of ['0', '-5', '1.001', '1e3', 'x', ''])
    assert.throws(() => market.control.setPrice('AAPL', price, NOW), { name: 'Malformed' }, price)
  assert.throws(() => market.control.setPrice('NOPE', '1', NOW), UnknownSymbol)
})

test('control actions: however low a price is set, the book stays above zero', async () => {
  const market = always()
  await market.next(NOW)
  market.control.setPrice('F', '0.01', NOW)
  for (const command of await playAll(market, NOW + 10 * MINUTE))
    if (command.type === 'quote' && command.symbol === 'F') {
      assert.ok(command.asks.length === 10 && command.bids.length < 10)
      assert.ok([...command.bids, ...command.asks].every(([price]) => billionths(price) > 0n))
    }
})

test('control actions: a halted symbol is silent until it is resumed, a paused market entirely, and bars have the gap', async () => {
  const market = always()
  await market.next(NOW)
  market.control.setHalted('MSFT', true, NOW + 10 * SECOND)
  market.control.setHalted('MSFT', false, NOW + 70 * SECOND)
  market.control.setPaused(true, NOW + 100 * SECOND)
  market.control.setPaused(false, NOW + 160 * SECOND)
  const commands = await playAll(market, NOW + 4 * MINUTE)
  const within = (from: number, to: number) =>
    commands.filter(({ at }) => at > NOW + from * SECOND + SECOND / 100 && at < NOW + to * SECOND)
  assert.ok(within(10, 70).length > 1_000)
  assert.ok(within(10, 70).every(command => !('symbol' in command) || command.symbol !== 'MSFT'))
  assert.deepEqual(
    commands.filter(({ type }) => type === 'halt').map(({ at }) => at - NOW),
    [10 * SECOND, 70 * SECOND]
  )
  const resumed = commands.findIndex(command => command.type === 'halt' && !command.halted)
  assert.equal(commands[resumed + 1]?.type, 'quote')
  assert.equal(within(100, 160).length, 0)
  const until = NOW + 4 * MINUTE
  for (const symbol of ['MSFT', 'SPY']) {
    const rebuilt = tradeBars(commands, symbol, MINUTE)
    const bars = await market.bars({ symbol, interval: '1m', from: NOW, to: until, now: until })
    assert.deepEqual(
      bars.map(({ start }) => start),
      [...rebuilt.keys()]
    )
    for (const bar of bars) assert.ok(same(rebuilt.get(bar.start), bar), `${symbol} ${bar.start}`)
  }
})

test('with the exchange calendar, shares are silent outside its hours, crypto never; bars follow the hours', async () => {
  const market = openSynthetic({ seed: '7', calendar: 'exchange' })
  const at = (text: string): number => Temporal.ZonedDateTime.from(`${text}[America/New_York]`).epochMilliseconds * 1_000
  // From the early close of the day after Thanksgiving over the weekend to Monday's opening.
  const commands = await since(market, at('2026-11-27T12:50'), at('2026-11-30T09:40'))
  assert.deepEqual(
    commands.flatMap(command =>
      command.type === 'session' && command.market === 'us-equity' ? [[command.at, command.phase, command.tradingDate]] : []
    ),
    [
      [at('2026-11-27T13:00'), 'post', '2026-11-27'],
      [at('2026-11-27T17:00'), 'closed', '2026-11-30'],
      [at('2026-11-30T04:00'), 'pre', '2026-11-30'],
      [at('2026-11-30T09:30'), 'open', '2026-11-30']
    ]
  )
  const silent = commands.filter(command => command.at > at('2026-11-27T17:00') + SECOND && command.at < at('2026-11-30T04:00'))
  assert.ok(
    silent.length > 1_000 &&
      silent.every(command =>
        command.type === 'session' ? command.market !== 'us-equity' : 'symbol' in command && command.symbol.includes('/')
      )
  )
  const now = at('2026-11-30T09:40')
  const days = await market.bars({ symbol: 'SPY', interval: '1d', from: at('2026-11-23T00:00'), to: now, now })
  assert.deepEqual(
    days.map(({ start, closed }) => [start, closed]),
    [
      [at('2026-11-23T00:00'), true],
      [at('2026-11-24T00:00'), true],
      [at('2026-11-25T00:00'), true],
      [at('2026-11-27T00:00'), true],
      [at('2026-11-30T00:00'), false]
    ]
  )
  const friday = await market.bars({ symbol: 'SPY', interval: '1m', from: at('2026-11-27T09:30'), to: at('2026-11-27T13:00'), now })
  assert.equal(friday.length, 210)
  const session = days[3]
  assert.ok(session !== undefined && same(joined(friday), session))
  assert.equal(market.phaseAt('us-equity', at('2026-11-26T12:00')).phase, 'closed')
  assert.equal(market.phaseAt('us-equity', at('2026-11-27T12:00')).nextChange, at('2026-11-27T13:00'))
})

test('control actions: a forced phase holds until it is returned to the calendar', async () => {
  const market = always()
  await market.next(NOW)
  market.control.forcePhase('us-equity', 'closed', NOW + SECOND)
  market.control.forcePhase('us-equity', null, NOW + MINUTE)
  const commands = await playAll(market, NOW + 2 * MINUTE)
  assert.deepEqual(
    commands.flatMap(command => (command.type === 'session' ? [[command.at - NOW, command.phase]] : [])),
    [
      [SECOND, 'closed'],
      [MINUTE, 'open']
    ]
  )
  const shares = commands.filter(
    ({ at, ...command }) => 'symbol' in command && !command.symbol.includes('/') && at > NOW + 2 * SECOND && at < NOW + MINUTE
  )
  assert.deepEqual(shares, [])
})

test('the rate is as configured, and an idle market costs almost nothing', async t => {
  const quotes = async (updatesPerSecond: number) => {
    const commands = await since(openSynthetic({ seed: '7', calendar: 'always', updatesPerSecond }), NOW, NOW + MINUTE)
    return commands.filter(command => command.type === 'quote' && command.symbol === 'AAPL').length
  }
  assert.deepEqual([await quotes(0.2), await quotes(2), await quotes(20)], [12, 120, 1_200])
  for (const rate of [0, 0.1, 21, Number.NaN])
    assert.throws(() => openSynthetic({ seed: '7', calendar: 'always', updatesPerSecond: rate }), RangeError)
  const market = always()
  await market.next(NOW)
  const began = process.cpuUsage()
  let count = 0
  for (let until = NOW; until <= NOW + 5 * MINUTE; until += 50_000) count += (await market.next(until)).commands.length
  const { user, system } = process.cpuUsage(began)
  const share = (user + system) / (5 * MINUTE)
  t.diagnostic(`${count} commands in five minutes, pulled every 50 ms: ${(share * 100).toFixed(3)} % of one core`)
  assert.ok(share < 0.02)
})

test('every instrument has a profile on its own grid', () => {
  const market = always()
  assert.deepEqual(new Set(PROFILES.map(({ symbol }) => symbol)), new Set(market.instruments.map(({ symbol }) => symbol)))
  for (const { symbol, price, unit, volume } of PROFILES) {
    const instrument = market.instruments.find(listed => listed.symbol === symbol)
    assert.equal(billionths(price) % billionths(instrument?.tick ?? '1'), 0n, symbol)
    assert.equal(billionths(unit) % billionths(instrument?.lot ?? '1'), 0n, symbol)
    assert.ok(volume * 0.6 >= 5_760, symbol)
    assert.match(`${instrument?.tick} ${unit}`, /^(?:1|0\.0*1) (?:1|0\.0*1)$/, 'powers of ten')
  }
})

/** Plays in steps of ten minutes, so that nothing is summarised. */
async function pacedPlay(market: Market, from: number, until: number): Promise<readonly MarketCommand[]> {
  await market.next(from - 1)
  const commands: MarketCommand[] = []
  for (let step = from; step < until; ) {
    step = Math.min(step + 10 * MINUTE, until)
    commands.push(...(await playAll(market, step)))
  }
  return commands
}
