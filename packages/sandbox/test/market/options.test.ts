import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { QuoteCommand } from '../../src/engine/types.ts'
import { type FeedCommand, type Market, openSynthetic, UnknownSymbol } from '../../src/market/index.ts'
import { UNDERLYINGS } from '../../src/market/synthetic/underlyings.ts'
import { always, NOW, newYork, prices, shown, symbolsOf } from './contracts.ts'
import { paced } from './paced.ts'
import { playAll, same, tradeBars } from './rebuild.ts'

const SECOND = 1_000_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
test('a followed chain is listed, quoted, printed at its quotes, and ends; contracts that are not followed cost nothing', async () => {
  const market = always()
  const end = newYork('2026-11-20T16:00')
  const begin = end - 12 * MINUTE
  const idle = (await market.next(begin)).commands.length
  const [expiration = ''] = market.expirations('SPY', begin)
  const chain = symbolsOf(market.chain('SPY', expiration, begin))
  market.follow([...chain, 'SPY', 'NOPE', 'SPY261217C00660000'])
  assert.equal(idle, 22)
  const commands = await paced(market, begin, { until: end + 2 * MINUTE })
  assert.ok(commands.every((command, index) => index === 0 || command.at >= (commands[index - 1]?.at ?? 0)))
  const followed = commands.filter(command => 'symbol' in command && chain.includes(command.symbol))
  assert.deepEqual(
    commands.flatMap(command => (command.type === 'list_instrument' ? [command.spec.symbol] : [])),
    chain
  )
  const books = new Map<string, QuoteCommand>()
  let prints = 0
  for (const command of followed) {
    if (command.type === 'quote') {
      books.set(command.symbol, command)
      assertBook(command)
    } else if (command.type === 'trade') {
      const book = books.get(command.symbol)
      const level = [book?.bids[0], book?.asks[0]].find(side => side?.[0] === command.price)
      assert.ok(level !== undefined && Number(command.size) <= Number(level[1]), `${command.symbol} ${command.at}`)
      prints++
    }
  }
  assert.ok(prints > 50, `${prints} prints`)
  const ends = followed.filter(({ type }) => type === 'expire')
  assert.equal(ends.length, chain.length)
  assert.deepEqual(new Set(ends.map(({ at }) => at)), new Set([end]))
  const [settled] = ends
  assert.ok(settled?.type === 'expire')
  const spy = commands.filter(command => command.type === 'quote' && command.symbol === 'SPY' && command.at < end).at(-1)
  assert.ok(spy?.type === 'quote' && [spy.bids[0]?.[0], spy.asks[0]?.[0]].includes(settled.price))
  assert.equal(followed.at(-1)?.type, 'expire')
})

function assertBook({ symbol, bids, asks }: QuoteCommand): void {
  assert.ok(asks.length === 10 && bids.length <= 10, symbol)
  for (const [index, [price, size]] of [...bids, ...asks].entries()) {
    assert.ok(Number(price) > 0 && Number(size) > 0 && Number.isInteger(Number(size)))
    assert.match(price, /^\d+(?:\.\d{1,2})?$/)
    if (index > 0 && index < bids.length) assert.ok(Number(price) < Number(bids[index - 1]?.[0]))
    if (index > bids.length) assert.ok(Number(price) > Number(asks[index - bids.length - 1]?.[0]))
  }
}

test('the bars and the day of a contract are made of its prints', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer(),
      fc.constantFrom('SPY', 'SPX', 'TSLA'),
      fc.integer({ min: 0, max: 5 }),
      async (seed, underlying, which) => {
        // Shares at their slowest rate, because the test is about the options.
        const market = always(String(seed), 0.2)
        const begin = newYork('2026-11-20T00:00')
        await market.next(begin - 1)
        const expiration = market.expirations(underlying, begin)[which] ?? ''
        const chain = symbolsOf(market.chain(underlying, expiration, begin)).slice(30, 50)
        market.follow(chain)
        const end = begin + 62 * MINUTE
        const commands = await paced(market, begin, { until: end, keep: ({ type }) => type === 'trade' })
        for (const symbol of chain) {
          for (const [interval, length] of [
            ['1s', SECOND],
            ['1m', MINUTE],
            ['15m', 15 * MINUTE],
            ['1h', HOUR]
          ] as const) {
            const bars = await market.bars({ symbol, interval, from: begin, to: end, now: end })
            const rebuilt = tradeBars(commands, symbol, length)
            assert.deepEqual(
              bars.map(({ start }) => start),
              [...rebuilt.keys()],
              `${symbol} ${interval}`
            )
            for (const bar of bars) assert.ok(same(rebuilt.get(bar.start), bar), `${symbol} ${interval} ${bar.start}`)
          }
          const [day] = await market.bars({ symbol, interval: '1d', from: begin, to: end, now: end })
          const figures = market.figures(symbol, end)
          assert.deepEqual(
            [figures?.open, figures?.high, figures?.low, day === undefined ? null : figures?.last, figures?.volume],
            day === undefined ? [null, null, null, null, '0'] : [day.open, day.high, day.low, day.close, day.volume]
          )
          assert.deepEqual(market.figures(symbol, end), always(String(seed), 0.2).figures(symbol, end), 'followed or not')
        }
      }
    ),
    { numRuns: 3 }
  )
})

test('a long time is skipped with the same prints', async () => {
  const market = always()
  const begin = NOW - (NOW % HOUR) - DAY
  await market.next(begin - 1)
  const chain = symbolsOf(market.chain('QQQ', '2026-11-27', begin)).slice(36, 46)
  market.follow(chain)
  const commands = await playAll(market, NOW)
  assert.ok(commands.every((command, index) => index === 0 || command.at >= (commands[index - 1]?.at ?? 0)))
  for (const symbol of chain) {
    const rebuilt = tradeBars(commands, symbol, HOUR)
    const bars = await market.bars({ symbol, interval: '1h', from: begin, to: NOW, now: NOW })
    assert.equal(bars.length, rebuilt.size)
    for (const bar of bars) assert.ok(same(rebuilt.get(bar.start), bar), `${symbol} ${bar.start}`)
  }
  const last = shown(commands)
  const fresh = always()
  await fresh.next(NOW - 1)
  fresh.follow(chain)
  const now = shown((await fresh.next(NOW)).commands)
  for (const symbol of chain) assert.deepEqual(prices(last.get(symbol)), prices(now.get(symbol)), symbol)
})

test('a delivery is bounded for any number of followed contracts and any jump', async () => {
  const market = openSynthetic({ seed: '7', calendar: 'exchange' })
  // From Friday's last half hour over the close and the weekend to Monday's first.
  const [from, to] = [NOW + 5.5 * HOUR, NOW + 3 * DAY - 0.25 * HOUR]
  await market.next(from)
  const all = market.expirations('SPY', from).flatMap(expiration => symbolsOf(market.chain('SPY', expiration, from)))
  market.follow(all)
  let [most, deliveries] = [0, 0]
  for (let through = from; through < to; deliveries += 1) {
    const delivery = await market.next(to)
    through = delivery.through
    most = Math.max(most, delivery.commands.length)
  }
  assert.ok(most < 40_000 && deliveries > 1, `${most} commands at once, ${deliveries} deliveries`)
})

test('control actions still apply when a contract is followed again', async () => {
  const market = always()
  const symbol = 'SPY261218C00660000'
  await market.next(NOW)
  market.follow([symbol, 'ESZ26'])
  await playAll(market, NOW + SECOND)
  market.control.setPrice(symbol, '12.34', NOW + 2 * SECOND)
  market.control.setHalted('ESZ26', true, NOW + 2 * SECOND)
  await playAll(market, NOW + 5 * SECOND)
  market.unfollow([symbol, 'ESZ26'])
  await playAll(market, NOW + 10 * SECOND)
  market.follow([symbol, 'ESZ26'])
  const commands = await playAll(market, NOW + 20 * SECOND)
  assert.ok(commands.some(command => command.type === 'quote' && command.symbol === symbol))
  // Only the current quote.
  assert.equal(commands.filter(command => 'symbol' in command && command.symbol === 'ESZ26').length, 1)
  const bars = await market.bars({ symbol, interval: '1s', from: NOW, to: NOW + 20 * SECOND, now: NOW + 20 * SECOND })
  assert.ok(bars.some(({ low }) => low === '12.34'))
})

test('following later, again or in other portions gives the same data', async () => {
  const chainOf = (market: Market) => symbolsOf(market.chain('AAPL', '2026-12-18', NOW)).slice(30, 50)
  const early = always()
  await early.next(NOW)
  early.follow(chainOf(early))
  const whole = await playAll(early, NOW + 3 * MINUTE)
  const late = always()
  await late.next(NOW + MINUTE)
  late.follow(chainOf(late))
  const pieces: FeedCommand[] = []
  for (let until = NOW + MINUTE; until < NOW + 3 * MINUTE; until += 333_333) pieces.push(...(await late.next(until)).commands)
  pieces.push(...(await playAll(late, NOW + 3 * MINUTE)))
  const after = NOW + MINUTE + SECOND
  assert.deepEqual(
    pieces.filter(({ at }) => at > after),
    whole.filter(({ at }) => at > after)
  )
  late.unfollow(chainOf(late))
  const silent = await playAll(late, NOW + 4 * MINUTE)
  assert.ok(silent.length > 0 && silent.every(command => !('symbol' in command) || command.symbol.length < 10))
  late.follow(chainOf(late))
  assert.equal((await playAll(late, NOW + 5 * MINUTE)).filter(({ type }) => type === 'list_instrument').length, 20)
})

test('a contract that ended before it was followed ends at once', async () => {
  const market = always()
  const at = newYork('2026-11-23T12:00')
  market.follow(['SPY261120C00660000', 'ESU26'])
  const { commands } = await market.next(at)
  const ends = commands.filter(({ type }) => type === 'expire')
  assert.deepEqual(
    ends.map(({ type, at: when }) => [type, when]),
    [
      ['expire', at],
      ['expire', at]
    ]
  )
  const [option] = ends
  assert.ok(option?.type === 'expire' && option.price === always().priceOf('SPY', newYork('2026-11-20T16:00') - 1))
  assert.deepEqual(
    commands.filter(({ type }) => type === 'list_instrument'),
    []
  )
})

test('with the exchange calendar, options are silent outside its hours and shown again at the open', async () => {
  const market = openSynthetic({ seed: '7', calendar: 'exchange' })
  await market.next(newYork('2026-11-20T15:50') - 1)
  const chain = symbolsOf(market.chain('SPY', '2026-12-18', NOW)).slice(36, 46)
  market.follow(chain)
  const friday = await paced(market, newYork('2026-11-20T15:50'), { until: newYork('2026-11-20T16:05') })
  const weekend = await playAll(market, newYork('2026-11-23T09:29'))
  const commands = [...friday, ...weekend, ...(await paced(market, newYork('2026-11-23T09:29'), { until: newYork('2026-11-23T09:35') }))]
  const followed = commands.filter(command => 'symbol' in command && chain.includes(command.symbol))
  const [close, open] = [newYork('2026-11-20T16:00'), newYork('2026-11-23T09:30')]
  assert.ok(followed.some(({ at }) => at < close) && followed.some(({ at }) => at >= open))
  // The last print belongs to a quote of the session's last second.
  assert.deepEqual(
    followed.filter(({ at }) => at > close + 1_000 && at < open),
    []
  )
  assert.deepEqual(
    new Set(
      followed.flatMap(command => (command.type === 'quote' && command.at < open + SECOND && command.at >= open ? [command.symbol] : []))
    ),
    new Set(chain)
  )
  assert.deepEqual(
    commands.flatMap(command =>
      command.type === 'session' && command.market === 'us-option' ? [[command.phase, command.tradingDate]] : []
    ),
    [
      ['closed', '2026-11-23'],
      ['open', '2026-11-23']
    ]
  )
  const [symbol = ''] = chain
  const evening = market.figures(symbol, newYork('2026-11-20T18:00'))
  const monday = market.figures(symbol, newYork('2026-11-23T09:35'))
  assert.ok(evening?.close != null && monday?.close === null)
  assert.equal(monday.previousClose, evening.close)
})

test('control actions: an option follows its underlying, is quoted and printed at a price once, and is halted', async () => {
  const market = always()
  await market.next(NOW)
  const symbol = 'SPY261218C00660000'
  market.follow([symbol])
  const before = prices(shown(await playAll(market, NOW + SECOND)).get(symbol))
  market.control.setPrice('SPY', '700.00', NOW + 2 * SECOND)
  const after = prices(shown(await playAll(market, NOW + 5 * SECOND)).get(symbol))
  assert.ok(after.bid > before.ask + 20, `${before.ask} to ${after.bid}`)
  assert.ok(symbolsOf(market.chain('SPY', '2026-12-18', NOW + 5 * SECOND)).includes('SPY261218C00720000'))
  market.control.setPrice(symbol, '12.34', NOW + 6 * SECOND)
  const commands = (await playAll(market, NOW + 10 * SECOND)).filter(command => 'symbol' in command && command.symbol === symbol)
  const print = commands.find(({ type }) => type === 'trade')
  assert.deepEqual(print, { type: 'trade', at: NOW + 6 * SECOND, symbol, price: '12.34', size: '1', auction: null })
  assert.deepEqual(prices(commands.find(command => command.type === 'quote' && command.at === NOW + 6 * SECOND) as QuoteCommand), {
    bid: 12.33,
    ask: 12.35
  })
  assert.ok(Math.abs(prices(shown(commands).get(symbol)).bid - after.bid) < 1)
  const [bar] = await market.bars({ symbol, interval: '1s', from: NOW + 6 * SECOND, to: NOW + 7 * SECOND, now: NOW + 10 * SECOND })
  assert.equal(bar?.low, '12.34')
  market.control.setHalted(symbol, true, NOW + 11 * SECOND)
  const halted = (await playAll(market, NOW + 3 * MINUTE)).filter(command => 'symbol' in command && command.symbol === symbol)
  assert.equal(halted.filter(({ type }) => type === 'halt').length, 1)
  assert.deepEqual(
    halted.filter(({ at }) => at > NOW + 12 * SECOND),
    []
  )
  assert.throws(() => market.control.setPrice('SPY261218C00661000', '1', NOW + 4 * MINUTE), UnknownSymbol)
  await assert.rejects(market.bars({ symbol: 'SPY261218C00661000', interval: '1m', from: 0, to: NOW, now: NOW }), UnknownSymbol)
})

test('following 2,000 contracts costs a few percent of a core, and no more than 20,000 are followed', async t => {
  const market = always()
  await market.next(NOW)
  const all = UNDERLYINGS.flatMap(({ symbol }) =>
    market.expirations(symbol, NOW).flatMap(expiration => symbolsOf(market.chain(symbol, expiration, NOW)))
  )
  market.follow(all.slice(0, 2_000))
  await market.next(NOW + 1)
  const began = process.cpuUsage()
  let count = 0
  for (let until = NOW; until <= NOW + 2 * MINUTE; until += 50_000) count += (await market.next(until)).commands.length
  const { user, system } = process.cpuUsage(began)
  const share = (user + system) / (2 * MINUTE)
  t.diagnostic(`${count} commands in two minutes with 2,000 contracts, pulled every 50 ms: ${(share * 100).toFixed(2)} % of one core`)
  assert.ok(share < 0.05, `${share}`)
  const more = Array.from({ length: 20_000 }, (_, index) => `SPY261218C${String((60 + 2 * index) * 1_000).padStart(8, '0')}`)
  const strikes = more.filter(symbol => market.find(symbol, NOW) !== null)
  assert.ok(strikes.length > 2_000)
  assert.throws(() => {
    for (const { symbol } of UNDERLYINGS)
      for (const expiration of market.expirations(symbol, NOW)) {
        const date = expiration.slice(2).replaceAll('-', '')
        for (let strike = 100; strike < 1_200; strike += 10)
          for (const right of 'CP') market.follow([`${symbol}${date}${right}${String(strike * 1_000).padStart(8, '0')}`])
        for (let strike = 1_200; strike < 6_000; strike += 100)
          for (const right of 'CP') market.follow([`${symbol}${date}${right}${String(strike * 1_000).padStart(8, '0')}`])
      }
  }, RangeError)
})
