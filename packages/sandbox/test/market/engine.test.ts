import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare, parseDecimal, sum } from '@trunkline/core/domain/decimal'
import { Engine } from '../../src/engine/engine.ts'
import type { EngineEvent, FillView, SubmitCommand } from '../../src/engine/types.ts'
import { type Market, openCatalog, openMarket, openSynthetic, recordedQuoteBars } from '../../src/market/index.ts'
import { MORNING, madeFolder } from './made.ts'
import { playAll } from './rebuild.ts'
import { recordedFolder } from './recorded.ts'

const SECOND = 1_000_000
const NOW = Date.UTC(2026, 10, 20, 15) * 1_000

/** An engine with the market's instruments and one rich account. */
function engineFor(market: Market, at: number): Engine {
  const engine = Engine.create()
  for (const { exchange, ...spec } of market.instruments) {
    assert.ok(exchange.length > 0)
    assert.deepEqual(engine.handle({ type: 'list_instrument', at, spec }), [])
  }
  engine.handle({
    type: 'open_account',
    at,
    accountId: 'a',
    number: '1',
    accountType: 'margin',
    currency: 'USD',
    deposit: '10000000',
    permitted: null
  })
  engine.handle({
    type: 'open_account',
    at,
    accountId: 'c',
    number: '2',
    accountType: 'crypto',
    currency: 'USD',
    deposit: '10000000',
    permitted: null
  })
  return engine
}

async function feed(engine: Engine, market: Market, until: number): Promise<readonly EngineEvent[]> {
  return (await playAll(market, until)).flatMap(command => engine.handle(command))
}

function order(symbol: string, at: number, more: Partial<SubmitCommand>): SubmitCommand {
  return {
    type: 'submit',
    at,
    accountId: symbol.includes('/') ? 'c' : 'a',
    clientOrderId: `${symbol} ${at}`,
    symbol,
    side: 'BUY',
    orderType: 'MKT',
    timeInForce: 'DAY',
    quantity: '100',
    notional: null,
    limitPrice: null,
    stopPrice: null,
    ...more
  }
}

function fillsOf(events: readonly EngineEvent[]): readonly FillView[] {
  return events.flatMap(event => (event.type === 'order' && event.fill !== null ? [event.fill] : []))
}

test('every symbol of the synthetic market fills a market order against its book', async () => {
  const market = openSynthetic({ seed: '3', calendar: 'always' })
  const engine = engineFor(market, NOW)
  await feed(engine, market, NOW)
  await feed(engine, market, NOW + 10 * SECOND)
  for (const { symbol } of market.instruments) {
    const events = engine.handle(order(symbol, NOW + 10 * SECOND, { quantity: '1' }))
    assert.equal(sum(fillsOf(events).map(({ quantity }) => parseDecimal(quantity, 'quantity'))), '1', symbol)
  }
})

test('followed contracts fill against their quotes, are settled and end, and leave nothing behind', async () => {
  const market = openSynthetic({ seed: '3', calendar: 'always', updatesPerSecond: 0.2 })
  // The last minutes of a Friday on which December's index futures and a week's options expire.
  const begin = Date.UTC(2026, 11, 18, 14, 20) * 1_000
  const engine = engineFor(market, begin)
  const account = { type: 'open_account', at: begin, number: '3', currency: 'USD', deposit: '100000000', permitted: null } as const
  engine.handle({ ...account, accountId: 'f', accountType: 'futures' })
  await feed(engine, market, begin)
  const chain = ['SPY', 'SPX'].flatMap(underlying =>
    market
      .chain(underlying, '2026-12-18', begin)
      .slice(36, 46)
      .map(({ symbol }) => symbol)
  )
  const months = ['ESZ26', 'ESH27', 'CLF27', 'GCZ26']
  market.follow([...chain, ...months])
  const at = begin + 5 * SECOND
  await feed(engine, market, at)
  for (const symbol of chain) {
    const events = engine.handle(order(symbol, at, { side: 'BUY_TO_OPEN', quantity: '1' }))
    assert.equal(fillsOf(events).length, 1, `${symbol} ${JSON.stringify(events)}`)
  }
  for (const symbol of months) {
    const events = engine.handle({ ...order(symbol, at, { quantity: '2' }), accountId: 'f' })
    assert.equal(sum(fillsOf(events).map(({ quantity }) => parseDecimal(quantity, 'quantity'))), '2', symbol)
  }
  await feed(engine, market, Date.UTC(2026, 11, 18, 21, 5) * 1_000)
  assert.deepEqual(
    engine.positions('f').map(({ symbol }) => symbol),
    months.slice(1).toSorted()
  )
  // Contracts in the money became shares or cash.
  assert.ok(engine.positions('a').every(({ symbol }) => symbol === 'SPY'))
  assert.ok(engine.transactions('f', {}).length >= 4)
})

test('an order for more than the thin symbol shows fills in parts as its book replenishes', async () => {
  const market = openSynthetic({ seed: '3', calendar: 'always' })
  const engine = engineFor(market, NOW)
  await feed(engine, market, NOW + SECOND)
  const at = NOW + 2 * SECOND
  const events = [...engine.handle(order('THIN', at, { orderType: 'LMT', quantity: '400', limitPrice: '40.00' }))]
  const first = fillsOf(events)
  assert.ok(first.length > 1)
  const before = sum(first.map(({ quantity }) => parseDecimal(quantity, 'quantity')))
  assert.ok(compare(before, parseDecimal('400', 'all')) < 0)
  const later = fillsOf(await feed(engine, market, at + 120 * SECOND))
  assert.equal(sum([...first, ...later].map(({ quantity }) => parseDecimal(quantity, 'quantity'))), '400')
})

test('orders in a replay fill within the recorded spread of that moment', async t => {
  const folder = recordedFolder(t)
  const [from, symbol, date, open] =
    folder === null
      ? ([madeFolder(t, MORNING), 'ABC', '2024-07-08', Date.UTC(2024, 6, 8, 13, 30)] as const)
      : ([folder, 'SPY', '2013-10-07', Date.UTC(2013, 9, 7, 13, 30)] as const)
  await using market = await openMarket(`replay:${from}?symbols=${symbol}&date=${date}&at=09:30`, { seed: '3', calendar: 'exchange' })
  const engine = engineFor(market, market.startsAt ?? 0)
  const quotes = new Map(
    (await recordedQuoteBars(await openCatalog(from), { symbol, resolution: 'second', date })).map(bar => [bar.start, bar])
  )
  let fills = 0
  const count = folder === null ? 1 : 300
  for (let index = 0; index < count; index++) {
    const at = open * 1_000 + (folder === null ? 500_000 : index * 60 * SECOND + 500_000)
    await feed(engine, market, at)
    for (const side of ['BUY', 'SELL'] as const) {
      const events = engine.handle(order(symbol, at, { side, clientOrderId: `${side} ${index}`, quantity: '10' }))
      for (const fill of fillsOf(events)) {
        // A second without a change of the quote has no bar: the previous one applies.
        let second = at - (at % SECOND)
        while (!quotes.has(second)) second -= SECOND
        const bar = quotes.get(second)
        assert.ok(bar?.bid != null && bar.ask !== null)
        const price = parseDecimal(fill.price, 'price')
        assert.ok(compare(price, bar.bid.low) >= 0 && compare(price, bar.ask.high) <= 0, `${side} ${fill.price} at ${at}`)
        fills++
      }
    }
  }
  t.diagnostic(`${fills} fills inside the recorded spread`)
  assert.ok(fills >= 2 * count)
})
