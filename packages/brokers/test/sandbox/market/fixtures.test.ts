/** What the house really says of its market, captured, through the readers. */

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { parseDay } from '@trunkline/core/domain/timestamp'
import { parseBarsPage } from '../../../src/sandbox/market/bars.ts'
import { parseInstrument } from '../../../src/sandbox/market/instruments.ts'
import { dispatch } from '../../../src/sandbox/market/items.ts'
import { SinkTables } from '../../../src/sandbox/market/tables.ts'
import { saysUnknownSymbol } from '../../../src/sandbox/outcomes.ts'
import { readAnswer } from '../../../src/sandbox/parse.ts'
import { fixture, reply, unreadFixtures } from '../fixtures.ts'
import type { Json } from '../house.ts'
import { brokerAt, FakeHouse, Told } from './fake-house.ts'

after(() => assert.deepEqual(unreadFixtures('market'), [], 'fixtures that no test reads'))

const body = (name: string): Json => fixture(name).body

test('instruments of every class', () => {
  const shown = ['share', 'coin', 'option', 'future'].map(kind => {
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
  assert.ok(saysUnknownSymbol(readAnswer(reply('market.instrument.unknown').body)))
})

test('past bars', () => {
  const { bars, next } = parseBarsPage(reply('market.bars').body, 0)
  assert.deepEqual([bars.length, bars.at(-1)?.closed, next === null], [3, false, body('market.bars').next === null])
  assert.equal(new Date(bars[0]?.startMs ?? 0).toISOString(), new Date(body('market.bars').items[0].start).toISOString())
})

test('every kind of item', () => {
  const told = new Told()
  const tables = new SinkTables()
  const [option] = body('market.option').items
  for (const channel of ['trades', 'quotes', 'depth'] as const) tables.add({ channel, symbol: 'BTC/USD' }, told)
  tables.add({ channel: 'bars', symbol: 'BTC/USD', interval: '1m' }, told)
  tables.add({ channel: 'options_chain', symbol: 'SPY', expiration: parseDay(option.expiration, 'expiration') }, told)
  for (const kind of ['trade', 'quote', 'depth', 'bar', 'option']) dispatch(body(`market.${kind}`).items, tables)
  assert.deepEqual(told.words, ['trade', 'quote', 'depth', 'bar', 'chain'])
  const [trade, quote, depth, bar, entry] = told.events
  assert.equal(trade.venue, body('market.trade').items[0].x)
  assert.equal(quote.bidPrice, body('market.quote').items[0].b)
  assert.equal(depth.bids.length, body('market.depth').items[0].bids.length)
  assert.equal(String(bar.startMs), String(body('market.bar').items[0].at).slice(0, -6))
  assert.deepEqual([entry.symbol, entry.greeks.delta, entry.previousClose], [option.s, option.delta, option.pc])
})

test('a conversation in the house’s own words', async () => {
  await using house = await FakeHouse.start()
  house.answer = ({ op, n }) => {
    if (op === 'login') house.say(body('market.ready'))
    else if (n === 1) house.say({ ...body('market.added'), n })
    else if (op === 'drop') house.say({ ...body('market.dropped'), n })
    else house.say({ ...body('market.problem'), n })
  }
  house.read = () => ({ status: 200, body: body('market.expirations') })
  await using stage = brokerAt(house)
  const [known, unknown, refused] = [new Told(), new Told(), new Told()]
  const lease = stage.market.stream({ channel: 'trades', symbol: 'BTC/USD' }, known)
  stage.market.stream({ channel: 'trades', symbol: 'NOSUCH' }, unknown)
  await known.hears('live')
  await unknown.hears('refused')
  house.say({ ...body('market.trade'), seq: 1 })
  house.say({ ...body('market.heartbeat'), seq: 1 })
  await known.hears('live', 'trade')
  lease[Symbol.dispose]()
  stage.market.stream({ channel: 'quotes', symbol: 'BTC/USD' }, refused)
  await refused.hears('refused')
  const days = await stage.market.expirations('SPY', new AbortController().signal)
  assert.equal(days.length, body('market.expirations').items.length)
})
