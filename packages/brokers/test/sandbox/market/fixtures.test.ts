/** The sandbox's real market messages, captured, through the readers. */

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { parseDay } from '@trunkline/core/domain/timestamp'
import { isUnknown, readAnswer } from '../../../src/sandbox/codecs.ts'
import { parseBarsPage } from '../../../src/sandbox/market.ts'
import { dispatch, SinkTables } from '../../../src/sandbox/market-stream.ts'
import { parseInstrument } from '../../../src/sandbox/symbols.ts'
import { RecordingSink } from '../../support/recording-sink.ts'
import { fixture, reply, unreadFixtures } from '../fixtures.ts'
import type { Json } from '../sandbox-process.ts'
import { brokerAt, FakeSandbox } from './fake-sandbox.ts'

after(() => assert.deepEqual(unreadFixtures('market'), [], 'fixtures that no test reads'))

const body = (name: string): Json => fixture(name).body

test('instruments of every class', () => {
  const shown = ['share', 'crypto', 'option', 'future'].map(kind => {
    const name = `market.instrument.${kind}`
    const { symbol, instrument } = parseInstrument(readAnswer(reply(name).body), body(name).instrument.symbol)
    return [symbol, instrument]
  })
  assert.deepEqual(shown, [
    ['SPY', 'STK'],
    ['BTC/USD', 'CRYPTO'],
    [body('market.instrument.option').instrument.symbol, 'OPT'],
    ['ESZ26', 'FUT']
  ])
  assert.ok(isUnknown('symbol', readAnswer(reply('market.instrument.unknown').body)))
})

test('past bars', () => {
  const { bars, next } = parseBarsPage(reply('market.bars').body)
  assert.deepEqual([bars.length, bars.at(-1)?.closed, next === null], [3, false, body('market.bars').next === null])
  assert.equal(new Date(bars[0]?.startMs ?? 0).toISOString(), new Date(body('market.bars').items[0].start).toISOString())
})

test('every kind of item', () => {
  const sink = new RecordingSink()
  const tables = new SinkTables()
  const [option] = body('market.option').items
  for (const channel of ['trades', 'quotes', 'depth'] as const) tables.add({ channel, symbol: 'BTC/USD' }, sink)
  tables.add({ channel: 'bars', symbol: 'BTC/USD', interval: '1m' }, sink)
  tables.add({ channel: 'options_chain', symbol: 'SPY', expiration: parseDay(option.expiration, 'expiration') }, sink)
  for (const kind of ['trade', 'quote', 'depth', 'bar', 'option']) dispatch(body(`market.${kind}`).items, tables)
  assert.deepEqual(sink.history, ['trade', 'quote', 'depth', 'bar', 'chain'])
  const [trade, quote, depth, bar, entry] = sink.events
  assert.equal(trade.venue, body('market.trade').items[0].x)
  assert.equal(quote.bidPrice, body('market.quote').items[0].b)
  assert.equal(depth.bids.length, body('market.depth').items[0].bids.length)
  assert.equal(String(bar.startMs), String(body('market.bar').items[0].at).slice(0, -6))
  assert.deepEqual([entry.symbol, entry.greeks.delta, entry.previousClose], [option.s, option.delta, option.pc])
})

test('a session in the sandbox’s own messages', async () => {
  await using sandbox = await FakeSandbox.start()
  sandbox.answer = ({ op, n }) => {
    if (op === 'login') sandbox.send(body('market.ready'))
    else if (n === 1) sandbox.send({ ...body('market.added'), n })
    else if (op === 'drop') sandbox.send({ ...body('market.dropped'), n })
    else sandbox.send({ ...body('market.problem'), n })
  }
  sandbox.read = () => ({ status: 200, body: body('market.expirations') })
  await using stage = brokerAt(sandbox)
  const [known, unknown, refused] = [new RecordingSink(), new RecordingSink(), new RecordingSink()]
  const lease = stage.market.stream({ channel: 'trades', symbol: 'BTC/USD' }, known)
  stage.market.stream({ channel: 'trades', symbol: 'NOSUCH' }, unknown)
  await known.receives('live')
  await unknown.receives('refused')
  sandbox.send({ ...body('market.trade'), seq: 1 })
  sandbox.send({ ...body('market.heartbeat'), seq: 1 })
  await known.receives('live', 'trade')
  lease[Symbol.dispose]()
  stage.market.stream({ channel: 'quotes', symbol: 'BTC/USD' }, refused)
  await refused.receives('refused')
  const days = await stage.market.expirations('SPY', new AbortController().signal)
  assert.equal(days.length, body('market.expirations').items.length)
})
