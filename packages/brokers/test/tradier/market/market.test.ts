/** Market data against a scripted host. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BrokerFault } from '@trunkline/core/ports/broker'
import type { Topic } from '@trunkline/core/ports/market'
import { Watcher } from '@trunkline/testkit/market-contract/contract-case'
import { PATIENCE_MS } from '@trunkline/testkit/patience'
import { until } from '@trunkline/testkit/until'
import { WebSocketServer } from 'ws'
import { settled, VirtualClock } from '../../support/clocks.ts'
import { reply } from '../fixtures.ts'
import { type Answers, answering, raw, ScriptedTradier, soon } from '../support.ts'

const QUOTES = JSON.parse(reply('quotes.several').body).quotes.quote

/** Quotes of the requested symbols, as far as the fixture has them. */
function quotesOf(change: (quote: { symbol: string }) => object = quote => quote): Answers[string] {
  return ({ body }, response) => {
    const symbols = new URLSearchParams(body).get('symbols')?.split(',') ?? []
    const quote = QUOTES.filter((known: { symbol: string }) => symbols.includes(known.symbol)).map(change)
    const unknown = symbols.filter(symbol => !QUOTES.some((known: { symbol: string }) => known.symbol === symbol))
    const unmatched = unknown.length === 0 ? {} : { unmatched_symbols: { symbol: unknown.length === 1 ? unknown[0] : unknown } }
    const known = quote.length === 0 ? {} : { quote: quote.length === 1 ? quote[0] : quote }
    raw(response, 200, JSON.stringify({ quotes: { ...known, ...unmatched } }))
  }
}

function watch(tradier: ScriptedTradier, topic: Topic): Watcher {
  return new Watcher({ market: tradier.market, patienceMs: PATIENCE_MS }, topic)
}

test('one list of symbols for all topics, sent again when it changes; an unknown symbol is refused', async () => {
  await using tradier = await ScriptedTradier.start({ 'POST /markets/events/session': 'session', 'POST /markets/quotes': quotesOf() })
  const sent: { symbols: string[]; filter: string[]; sessionid: string }[] = []
  const server = new WebSocketServer({ server: tradier.host.server, path: '/ws/markets/events' })
  server.on('connection', socket => {
    socket.on('message', data => sent.push(JSON.parse(String(data))))
  })
  using share = watch(tradier, { channel: 'quotes', symbol: 'AAPL' })
  using unknown = watch(tradier, { channel: 'trades', symbol: 'NOSUCH' })
  await share.receives('quote')
  await unknown.receives('refused')
  assert.deepEqual(share.history, ['live', 'quote'])
  using limiters = watch(tradier, { channel: 'trades', symbol: 'BRK.B' })
  await limiters.receives('live')
  await until(() => sent.at(-1)?.symbols.join() === 'AAPL,BRK/B', 'the list has what is wanted now')
  assert.deepEqual([sent[0]?.filter, sent[0]?.sessionid], [['quote', 'timesale'], 'a1b2c3d4-0000-4000-8000-000000000000'])
  const [socket] = server.clients
  socket?.send(
    '{"type":"timesale","symbol":"BRK/B","exch":"Q","last":"480.10","size":"50","date":"1793718000790","seq":1,"cancel":false,"correction":false}\n'
  )
  await limiters.receives('trade')
  assert.equal(limiters.trades[0]?.price, '480.10')
  socket?.send('{"error":"session not found"}')
  await share.receives('lost refused')
  await share.receives('live', 2)
  server.close()
})

test('without a stream quotes are requested together, and published when they change', async () => {
  const clock = new VirtualClock()
  let bid = 242.09
  const quotes = quotesOf(quote => (quote.symbol === 'AAPL' ? { ...quote, bid } : quote))
  await using tradier = await ScriptedTradier.start({ 'POST /markets/quotes': quotes }, { clock, settings: { marketStream: false } })
  assert.deepEqual(tradier.definition.capabilities.marketData.channels, ['bars', 'quotes', 'options_chain'])
  using one = watch(tradier, { channel: 'quotes', symbol: 'AAPL' })
  using other = watch(tradier, { channel: 'quotes', symbol: 'BRK.B' })
  using unknown = watch(tradier, { channel: 'quotes', symbol: 'NOSUCH' })
  using trades = watch(tradier, { channel: 'trades', symbol: 'AAPL' })
  const passes = async (isDone: () => boolean) =>
    await until(async () => {
      await clock.advance(50)
      return isDone()
    }, 'the rounds go on')
  await passes(() => one.quotes.length === 1 && other.quotes.length === 1 && unknown.history.length === 1)
  assert.deepEqual([unknown.history, trades.history], [['refused'], ['refused']])
  assert.equal(tradier.requests.length, 1, 'one request for all of them')
  bid = 242.08
  await passes(() => one.quotes.length === 2)
  assert.deepEqual([one.history.join(), other.history.join()], ['live,quote,quote', 'live,quote'])
  tradier.answer({ 'POST /markets/quotes': 'html.maintenance' })
  await passes(() => one.losses === 1)
  tradier.answer({ 'POST /markets/quotes': quotes })
  await passes(() => one.quotes.length === 3)
  assert.deepEqual(one.history.slice(-2), ['live', 'quote'], 'everything again after a loss')
  one[Symbol.dispose]()
  await settled()
})

test('a bar that ends while the answer is on its way is open in it', async () => {
  const clock = new VirtualClock()
  const startMs = Date.parse('2026-11-20T14:31:00Z')
  let onItsWayMs = 5_000
  await using tradier = await ScriptedTradier.start(
    {
      'GET /markets/clock': answering({ clock: { timestamp: startMs / 1_000 + 58, state: 'open' } }),
      'POST /markets/quotes': quotesOf(),
      'GET /markets/timesales?symbol=AAPL&interval=1min': async (_seen, response) => {
        await clock.advance(onItsWayMs)
        const bar = { time: '2026-11-20T09:31:00', timestamp: startMs / 1_000, price: 1, open: 1, high: 1, low: 1, close: 1, volume: 1 }
        raw(response, 200, JSON.stringify({ series: { data: bar } }))
      }
    },
    { clock }
  )
  const closed = async () => {
    const all = []
    const requested = { symbol: 'AAPL', interval: '1m', fromMs: startMs, toMs: startMs + 120_000 }
    for await (const page of tradier.market.bars(requested, soon())) all.push(...page)
    return all.map(bar => bar.closed)
  }
  assert.deepEqual(await closed(), [false])
  onItsWayMs = 0
  assert.deepEqual(await closed(), [true])
})

test('bars that are older than Tradier keeps are none, an unknown symbol is refused, and so is an interval', async () => {
  const nowMs = Date.now()
  await using tradier = await ScriptedTradier.start({
    'GET /markets/clock': answering({ clock: { timestamp: Math.floor(nowMs / 1_000), state: 'open' } }),
    'POST /markets/quotes': quotesOf(),
    'GET /markets/timesales?symbol=AAPL&interval=1min': 'bars.old',
    'GET /markets/timesales?symbol=AAPL&interval=5min': 'bars.none',
    'GET /markets/options/expirations?symbol=SPY': 'expirations.dates'
  })
  const bars = async (symbol: string, interval: string) => {
    const all = []
    for await (const page of tradier.market.bars({ symbol, interval, fromMs: nowMs - 3_600_000, toMs: nowMs }, soon())) all.push(...page)
    return all
  }
  assert.deepEqual([await bars('AAPL', '1m'), await bars('AAPL', '5m')], [[], []])
  const refused = (error: unknown) => error instanceof BrokerFault && error.kind === 'refused'
  await assert.rejects(bars('NOSUCH', '1m'), refused)
  await assert.rejects(bars('AAPL', '1h'), refused)
  assert.deepEqual(await tradier.market.expirations('SPY', soon()), ['2026-11-27', '2026-12-18'])
})

test('a login that is over is published as a loss of the token', async () => {
  const clock = new VirtualClock()
  await using tradier = await ScriptedTradier.start(
    { 'POST /markets/events/session': 'fault.expired', 'GET /user/profile': 'fault.expired' },
    { clock }
  )
  using watcher = watch(tradier, { channel: 'quotes', symbol: 'AAPL' })
  await until(async () => {
    await clock.advance(500)
    return watcher.history.includes('lost token')
  }, 'the loss is reported')
})
