import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ROOT_FACTS } from '../../src/market/futures/roots.ts'
import { type FeedCommand, openSynthetic, UnknownSymbol } from '../../src/market/index.ts'
import { always, NOW, newYork, of } from './contracts.ts'
import { paced } from './paced.ts'
import { playAll, same, tradeBars } from './rebuild.ts'

const SECOND = 1_000_000
const MINUTE = 60 * SECOND
const DETAILED = ['ESZ26', 'ESZ27', 'NQH27', 'CLF27', 'GCX26']

test('months are listed with their terms, found by symbol, and only while they trade', () => {
  const market = always()
  const listed = market.futures(NOW)
  assert.equal(listed.length, 25)
  for (const instrument of listed) {
    assert.deepEqual(market.find(instrument.symbol, NOW), instrument)
    const { future, symbol } = instrument
    assert.ok(future !== undefined && future.lastTradeAt > NOW && instrument.kind === 'FUT' && instrument.market === 'cme')
    assert.equal(market.find(symbol, future.lastTradeAt), null, symbol)
    assert.equal(market.find(symbol, future.lastTradeAt - 1)?.symbol, symbol)
  }
  const es = market.find('ESZ26', NOW)
  assert.deepEqual(es, {
    kind: 'FUT',
    symbol: 'ESZ26',
    name: 'E-mini S&P 500 Dec 2026',
    exchange: 'CME',
    currency: 'USD',
    market: 'cme',
    hours: 'always',
    tick: '0.25',
    tickBelowOne: null,
    lot: '1',
    fraction: '1',
    multiplier: '50',
    shortable: true,
    auctions: false,
    settlementDays: 0,
    margin: { initial: 0, maintenanceLong: 0, maintenanceShort: 0 },
    fees: { buy: 0, sell: 0 },
    future: {
      root: 'ES',
      month: '2026-12',
      lastTradeAt: newYork('2026-12-18T09:30'),
      initialMargin: ROOT_FACTS.ES.initialMargin,
      maintenanceMargin: ROOT_FACTS.ES.maintenanceMargin
    }
  })
  assert.equal(openSynthetic({ seed: '7', calendar: 'exchange' }).find('ESZ26', NOW)?.hours, 'cme')
  for (const symbol of ['ESF27', 'ESU26', 'ESZ28', 'RTYZ26', 'ESZ', 'CLV27']) assert.equal(market.find(symbol, NOW), null, symbol)
})

test('bars of months equal those of their prints, for every interval', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer(), fc.constantFrom('2026-11-20T10:00', '2026-11-01T00:00', '2026-03-08T01:00'), async (seed, from) => {
      const market = always(String(seed))
      const begin = newYork(from)
      await market.next(begin - 1)
      const months = market.futures(begin).map(({ symbol }) => symbol)
      const followed = ['ES', 'NQ', 'CL', 'GC'].flatMap(root =>
        months.filter(symbol => symbol.startsWith(root)).filter((_, at) => at % 3 === 0)
      )
      market.follow(followed)
      const end = begin + 15 * MINUTE
      const commands = await paced(market, begin, { until: end, keep: ({ type }) => type === 'trade' })
      for (const symbol of followed)
        for (const [interval, length] of [
          ['1s', SECOND],
          ['1m', MINUTE],
          ['5m', 5 * MINUTE],
          ['15m', 15 * MINUTE]
        ] as const) {
          const bars = await market.bars({ symbol, interval, from: begin, to: end, now: end })
          const rebuilt = tradeBars(commands, symbol, length)
          assert.equal(bars.length, rebuilt.size)
          for (const bar of bars) assert.ok(same(rebuilt.get(bar.start), bar), `${symbol} ${interval} ${bar.start}`)
        }
    }),
    { numRuns: 3 }
  )
})

test('days equal their hours, also over a change of the carry at midnight', async () => {
  const market = always()
  for (const symbol of DETAILED) {
    const query = { symbol, from: newYork('2026-11-16T00:00'), to: newYork('2026-11-20T00:00'), now: NOW }
    const days = await market.bars({ ...query, interval: '1d' })
    const hours = await market.bars({ ...query, interval: '1h' })
    assert.deepEqual([days.length, hours.length], [4, 96])
    for (const [index, day] of days.entries()) {
      const parts = hours.slice(index * 24, index * 24 + 24)
      assert.equal(day.open, parts[0]?.open)
      assert.equal(day.close, parts.at(-1)?.close)
      assert.equal(Number(day.high), Math.max(...parts.map(({ high }) => Number(high))))
      assert.equal(
        Number(day.volume),
        parts.reduce((sum, { volume }) => sum + Number(volume), 0)
      )
    }
  }
})

test('prints and order books are on the tick, prints are at the quotes, and later months differ by the cost of carry', async () => {
  const market = always()
  await market.next(NOW)
  const listed = market.futures(NOW)
  market.follow(listed.map(({ symbol }) => symbol))
  const commands = await playAll(market, NOW + 2 * MINUTE)
  const last = new Map<string, number>()
  for (const { symbol, tick } of listed) {
    let touch: readonly (string | undefined)[] = []
    let prints = 0
    for (const command of of(commands, symbol)) {
      if (command.type === 'quote') {
        assert.ok(command.bids.length === 10 && command.asks.length === 10)
        for (const [price, size] of [...command.bids, ...command.asks]) {
          assert.ok(Number.isInteger(Math.round((Number(price) / Number(tick)) * 1e6) / 1e6), `${symbol} ${price}`)
          assert.ok(Number.isInteger(Number(size)) && Number(size) > 0)
        }
        touch = [command.bids[0]?.[0], command.asks[0]?.[0]]
      } else if (command.type === 'trade') {
        assert.ok(touch.includes(command.price), `${symbol} printed ${command.price} beside ${touch.join(' and ')}`)
        last.set(symbol, Number(command.price))
        prints++
      }
    }
    assert.ok(prints >= 8, symbol)
  }
  for (const root of ['ES', 'NQ', 'GC', 'CL']) {
    const months = listed.filter(({ future }) => future?.root === root).map(({ symbol }) => last.get(symbol) ?? Number.NaN)
    for (const [index, price] of months.entries()) {
      const before = months[index - 1]
      if (before !== undefined) assert.ok(root === 'CL' ? price < before * 1.001 : price > before, `${root}: ${months.join(' ')}`)
    }
  }
  const spot = Number(market.priceOf('SPX', NOW + 2 * MINUTE))
  const front = last.get('ESZ26') ?? 0
  assert.ok(front > spot * 0.999 && front < spot * 1.006, `${front} with the index at ${spot}`)
})

test('a month is settled at each close and ends at its last trade, and the next one is listed', async () => {
  const market = always()
  const begin = newYork('2026-12-15T12:00')
  await market.next(begin - 1)
  market.follow(['ESZ26', 'ESH27'])
  const commands = await playAll(market, newYork('2026-12-18T12:00'))
  assert.deepEqual(
    commands.flatMap(command =>
      command.type === 'settle' || command.type === 'expire' ? [[command.type, command.symbol, command.at]] : []
    ),
    [
      ['settle', 'ESZ26', newYork('2026-12-15T16:00')],
      ['settle', 'ESH27', newYork('2026-12-15T16:00')],
      ['settle', 'ESZ26', newYork('2026-12-16T16:00')],
      ['settle', 'ESH27', newYork('2026-12-16T16:00')],
      ['settle', 'ESZ26', newYork('2026-12-17T16:00')],
      ['settle', 'ESH27', newYork('2026-12-17T16:00')],
      ['expire', 'ESZ26', newYork('2026-12-18T09:30')]
    ]
  )
  // At the current price: the close of the previous bar.
  for (const command of commands) {
    if (command.type !== 'settle') continue
    const [bar] = await market.bars({
      symbol: 'ESH27',
      interval: '1m',
      from: command.at - MINUTE,
      to: command.at,
      now: newYork('2026-12-18T12:00')
    })
    if (command.symbol === 'ESH27') assert.equal(command.price, bar?.close)
  }
  assert.ok(of(commands, 'ESZ26').every(({ at }) => at <= newYork('2026-12-18T09:30')))
  assert.equal(of(commands, 'ESZ26').at(-1)?.type, 'expire')
  const now = newYork('2026-12-18T12:00')
  assert.equal(market.find('ESZ26', now), null)
  assert.equal(market.find('ESH28', now)?.symbol, 'ESH28')
  await assert.rejects(market.bars({ symbol: 'ESZ26', interval: '1m', from: begin, to: now, now }), UnknownSymbol)
  assert.ok(of(await playAll(market, now + MINUTE), 'ESH27').length > 0)
})

test('with the exchange calendar, futures trade from evening to afternoon, with the next day’s date', async () => {
  const market = openSynthetic({ seed: '7', calendar: 'exchange' })
  const begin = newYork('2026-11-20T16:50')
  await market.next(begin - 1)
  market.follow(['ESZ26'])
  const keep = (command: FeedCommand): boolean => !('symbol' in command) || command.symbol === 'ESZ26'
  const friday = await paced(market, begin, { until: newYork('2026-11-20T17:10'), keep })
  const weekend = await playAll(market, newYork('2026-11-22T17:50'))
  const sunday = await paced(market, newYork('2026-11-22T17:50'), { until: newYork('2026-11-22T18:10'), keep })
  const monday = await playAll(market, newYork('2026-11-23T18:30'))
  const commands = [...friday, ...weekend, ...sunday, ...monday]
  assert.deepEqual(
    commands.flatMap(command =>
      command.type === 'session' && command.market === 'cme' ? [[command.at, command.phase, command.tradingDate]] : []
    ),
    [
      [newYork('2026-11-20T17:00'), 'closed', '2026-11-23'],
      [newYork('2026-11-22T18:00'), 'open', '2026-11-23'],
      [newYork('2026-11-23T17:00'), 'closed', '2026-11-24'],
      [newYork('2026-11-23T18:00'), 'open', '2026-11-24']
    ]
  )
  const es = of(commands, 'ESZ26')
  const pauses = es.filter(({ at }) => at > newYork('2026-11-20T17:00') + 1_000 && at < newYork('2026-11-22T18:00'))
  assert.deepEqual(pauses, [])
  assert.ok(es.some(({ at }) => at > newYork('2026-11-22T18:00') && at < newYork('2026-11-22T18:10')))
  const now = newYork('2026-11-23T18:30')
  const [day] = await market.bars({ symbol: 'ESZ26', interval: '1d', from: newYork('2026-11-23T00:00'), to: now, now })
  const hours = await market.bars({
    symbol: 'ESZ26',
    interval: '1h',
    from: newYork('2026-11-22T18:00'),
    to: newYork('2026-11-23T17:00'),
    now
  })
  assert.equal(hours.length, 23)
  assert.deepEqual([day?.open, day?.close], [hours[0]?.open, hours.at(-1)?.close])
  assert.equal(
    Number(day?.volume),
    hours.reduce((sum, { volume }) => sum + Number(volume), 0)
  )
  assert.equal(market.phaseAt('cme', newYork('2026-11-22T20:00')).nextChange, newYork('2026-11-23T17:00'))
})

test('control actions: index futures follow the fund; a month is moved and halted separately', async () => {
  const market = always()
  await market.next(NOW)
  market.follow(['ESZ26', 'ESH27', 'CLF27'])
  market.control.setPrice('SPY', '700.00', NOW + SECOND)
  market.control.setPrice('CLF27', '80.00', NOW + 2 * SECOND)
  const commands = await playAll(market, NOW + 5 * MINUTE)
  const prints = (symbol: string): readonly number[] =>
    of(commands, symbol).flatMap(command => (command.type === 'trade' && command.at > NOW + 3 * SECOND ? [Number(command.price)] : []))
  assert.ok(prints('ESZ26').every(price => Math.abs(price - 7_015) < 60) && prints('ESZ26').length > 10)
  assert.ok(prints('CLF27').every(price => Math.abs(price - 80) < 2) && prints('CLF27').length > 10)
  for (const symbol of ['ESZ26', 'ESH27', 'CLF27']) {
    const end = NOW + 5 * MINUTE
    const bars = await market.bars({ symbol, interval: '1m', from: NOW, to: end, now: end })
    const rebuilt = tradeBars(commands, symbol, MINUTE)
    assert.equal(bars.length, 5)
    // The first minute had begun when it was followed.
    for (const bar of bars.slice(1)) assert.ok(same(rebuilt.get(bar.start), bar), `${symbol} ${bar.start}`)
  }
  market.control.setHalted('ESZ26', true, NOW + 6 * MINUTE)
  const halted = await playAll(market, NOW + 8 * MINUTE)
  assert.deepEqual(
    of(halted, 'ESZ26').filter(({ at }) => at > NOW + 6 * MINUTE + SECOND),
    []
  )
  assert.ok(of(halted, 'ESH27').length > 100)
  assert.throws(() => market.control.setPrice('ESZ26', '7000.10', NOW + 9 * MINUTE), { name: 'Malformed' })
})
