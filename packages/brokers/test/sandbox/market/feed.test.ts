/** One connection for all topics: what is asked and dropped, what is told of losses, and what is not told. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDay } from '@trunkline/core/domain/timestamp'
import { until } from '@trunkline/testkit/until'
import { brokerAt, FakeHouse, Told, tradeItem, trades } from './fake-house.ts'

const EXPIRATION = parseDay('2026-12-18', 'expiration')

test('topics of one turn are asked for together, over one connection', async () => {
  await using house = await FakeHouse.start()
  await using stage = brokerAt(house)
  const { market } = stage
  const sinks = [new Told(), new Told(), new Told(), new Told(), new Told()]
  const topics = [
    trades('SPY'),
    trades('BTC/USD'),
    { channel: 'bars', symbol: 'SPY', interval: '1m' },
    { channel: 'options_chain', symbol: 'SPY', expiration: EXPIRATION },
    { channel: 'depth', symbol: 'SPY' }
  ] as const
  for (const [index, topic] of topics.entries()) market.stream(topic, sinks[index] ?? new Told())
  for (const sink of sinks) await sink.hears('live')
  assert.equal(house.sockets.length, 1)
  assert.deepEqual(house.logins, ['token-1'])
  assert.deepEqual(
    house.heard.map(({ n, ...said }) => said),
    [
      { op: 'add', channel: 'trades', symbols: ['SPY', 'BTC/USD'] },
      { op: 'add', channel: 'bars', interval: '1m', symbols: ['SPY'] },
      { op: 'add', channel: 'chain', expiration: '2026-12-18', symbols: ['SPY'] },
      { op: 'add', channel: 'depth', symbols: ['SPY'] }
    ]
  )
  market.stream({ channel: 'quotes', symbol: 'SPY' }, new Told())
  await until(() => house.heard.length === 5, 'another topic is asked for on the same connection')
  assert.equal(house.sockets.length, 1)
  assert.throws(() => market.stream(trades('SPY'), new Told()), /streamed once/)
})

test('thousands of symbols are asked for in messages far below the bound of the house', async () => {
  await using house = await FakeHouse.start()
  await using stage = brokerAt(house)
  const sinks = Array.from({ length: 4_500 }, () => new Told())
  for (const [index, sink] of sinks.entries()) stage.market.stream(trades(`X${index}`), sink)
  await until(() => sinks.every(({ words }) => words.length === 1), 'all are live')
  assert.deepEqual(
    house.heard.map(({ symbols }) => symbols.length),
    [2_000, 2_000, 500]
  )
})

test('nothing is told after a topic was let go, and the house is told', async () => {
  await using house = await FakeHouse.start()
  await using stage = brokerAt(house)
  const [gone, stays] = [new Told(), new Told()]
  const lease = stage.market.stream(trades('SPY'), gone)
  stage.market.stream(trades('QQQ'), stays)
  await stays.hears('live')
  lease[Symbol.dispose]()
  lease[Symbol.dispose]()
  lease.renew()
  house.items([tradeItem('SPY'), tradeItem('QQQ')])
  await stays.hears('live', 'trade')
  await until(() => house.heard.at(-1)?.op === 'drop', 'the house is told')
  assert.deepEqual(house.heard.at(-1)?.symbols, ['SPY'])
  assert.deepEqual(gone.words, ['live'])
  const again = new Told()
  stage.market.stream(trades('SPY'), again)
  await again.hears('live')
})

test('let go and taken again in one turn is dropped and asked for, so that the present state comes', async () => {
  await using house = await FakeHouse.start()
  await using stage = brokerAt(house)
  const [first, second] = [new Told(), new Told()]
  const lease = stage.market.stream({ channel: 'quotes', symbol: 'SPY' }, first)
  await first.hears('live')
  lease[Symbol.dispose]()
  stage.market.stream({ channel: 'quotes', symbol: 'SPY' }, second)
  await second.hears('live')
  assert.deepEqual(
    house.heard.map(({ op }) => op),
    ['add', 'drop', 'add']
  )
  assert.deepEqual(first.words, ['live'])
})

test('a symbol that the house does not know is refused, and nothing follows', async () => {
  await using house = await FakeHouse.start()
  house.unknown = ['NOPE']
  await using stage = brokerAt(house)
  const [known, unknown, hourly] = [new Told(), new Told(), new Told()]
  stage.market.stream(trades('SPY'), known)
  const lease = stage.market.stream(trades('NOPE'), unknown)
  stage.market.stream({ channel: 'bars', symbol: 'SPY', interval: '1h' }, hourly)
  await known.hears('live')
  await unknown.hears('refused')
  await hourly.hears('refused')
  house.items([tradeItem('NOPE'), tradeItem('SPY')])
  await known.hears('live', 'trade')
  lease.renew()
  lease[Symbol.dispose]()
  house.last.terminate()
  await known.hears('live', 'trade', 'lost lost', 'live')
  assert.deepEqual(unknown.words, ['refused'])
  assert.deepEqual(house.heard.at(-1)?.symbols, ['SPY'])
})

test('what the house takes offence at is refused; an answer to nothing is passed over', async () => {
  await using house = await FakeHouse.start()
  await using stage = brokerAt(house)
  const [first, second] = [new Told(), new Told()]
  stage.market.stream(trades('SPY'), first)
  await first.hears('live')
  house.answer = ({ n }) => house.say({ ev: 'problem', n, code: 'too_many_symbols', message: 'at most 10,000 symbols' })
  stage.market.stream(trades('QQQ'), second)
  await second.hears('refused')
  assert.match(second.events[0], /10,000/)
  house.say({ ev: 'added', n: 99, symbols: ['SPY'], unknown: [] })
  house.say({ ev: 'problem', n: 99, code: 'bad_request', message: 'what?' })
  house.say({ ev: 'pong', n: 1 })
  house.say({ ev: 'news' })
  house.items([tradeItem('SPY')])
  await first.hears('live', 'trade')
})

test('a dropped connection is told to every topic, and all are asked for again', async () => {
  await using house = await FakeHouse.start()
  await using stage = brokerAt(house)
  const sinks = [new Told(), new Told()]
  stage.market.stream(trades('SPY'), sinks[0] ?? new Told())
  stage.market.stream({ channel: 'quotes', symbol: 'SPY' }, sinks[1] ?? new Told())
  for (const sink of sinks) await sink.hears('live')
  for (const [lose, cause] of [
    [() => house.last.terminate(), 'lost'],
    [() => house.last.close(4008), 'lost'],
    [() => house.last.send('{'), 'malformed'],
    [() => house.last.send('x'.repeat(5 * 1024 * 1024)), 'malformed'],
    [() => house.last.send(Buffer.from('{}'), { binary: true }), 'malformed'],
    [() => house.say({ ev: 'problem', n: null, code: 'bad_request', message: 'unreadable' }), 'malformed']
  ] as const) {
    const sockets = house.sockets.length
    const told = sinks.map(({ words }) => words.length)
    lose()
    await until(
      () => house.sockets.length > sockets && sinks.every(({ words }, index) => words.length === (told[index] ?? 0) + 2),
      `after ${cause}`
    )
    for (const sink of sinks) assert.deepEqual(sink.words.slice(-2), [`lost ${cause}`, 'live'])
  }
  house.items([tradeItem('SPY')])
  await until(() => sinks[0]?.words.at(-1) === 'trade', 'the stream goes on')
})

test('a message that did not come is told to every topic, which are asked for again on the same connection', async () => {
  await using house = await FakeHouse.start()
  await using stage = brokerAt(house)
  const sink = new Told()
  stage.market.stream(trades('SPY'), sink)
  await sink.hears('live')
  house.items([tradeItem('SPY')])
  await sink.hears('live', 'trade')
  house.say({ ev: 'heartbeat', seq: 3, as_of: '2026-12-01T15:00:00Z' })
  await sink.hears('live', 'trade', 'lost missing', 'live')
  assert.deepEqual(
    house.heard.map(({ op }) => op),
    ['add', 'drop', 'add']
  )
  house.items([tradeItem('SPY')], 4)
  await sink.hears('live', 'trade', 'lost missing', 'live', 'trade')
  assert.equal(house.sockets.length, 1)
})

test('messages that come twice, backwards or in disorder are put right', async () => {
  await using house = await FakeHouse.start()
  await using stage = brokerAt(house)
  const sink = new Told()
  stage.market.stream(trades('SPY'), sink)
  await sink.hears('live')
  const [a, b, c] = [tradeItem('SPY', { p: '1' }), tradeItem('SPY', { p: '2' }), tradeItem('SPY', { p: '3' })]
  house.items([a], 1)
  house.items([a], 1)
  house.items([c], 3)
  house.items([b], 2)
  house.items([a], -7)
  house.items([b], 2)
  house.items([tradeItem('SPY', { p: '4' })], 4)
  await until(() => sink.events.length === 4, 'four trades')
  assert.deepEqual(
    sink.events.map(({ price }) => price),
    ['1', '2', '3', '4']
  )
  assert.deepEqual(sink.words, ['live', 'trade', 'trade', 'trade', 'trade'])
})

test('a renewal is a loss and live again, and what came before the answer is passed over', async () => {
  await using house = await FakeHouse.start()
  await using stage = brokerAt(house)
  const [renewed, other] = [new Told(), new Told()]
  const lease = stage.market.stream(trades('SPY'), renewed)
  stage.market.stream(trades('QQQ'), other)
  await renewed.hears('live')
  house.answer = (message, socket) => {
    if (message.op === 'add') house.items([tradeItem('SPY'), tradeItem('QQQ')])
    house.usual(message, socket)
  }
  lease.renew()
  await renewed.hears('live', 'lost silence', 'live')
  house.items([tradeItem('SPY')])
  await renewed.hears('live', 'lost silence', 'live', 'trade')
  assert.deepEqual(other.words, ['live', 'trade'])
})

test('silence of two heartbeats is a loss', async () => {
  await using house = await FakeHouse.start()
  house.heartbeatMs = 40
  await using stage = brokerAt(house)
  const sink = new Told()
  stage.market.stream(trades('SPY'), sink)
  await until(() => sink.words.length >= 3, 'lost and live again')
  assert.deepEqual(sink.words.slice(0, 3), ['live', 'lost silence', 'live'])
})

test('a house that refuses the stream is told as an outage, also to those who come meanwhile', async () => {
  await using house = await FakeHouse.start()
  house.answer = (_message, socket) => socket.send(JSON.stringify({ ev: 'denied', code: 'too_many_streams', message: 'no' }))
  await using stage = brokerAt(house)
  const [first, second] = [new Told(), new Told()]
  stage.market.stream(trades('SPY'), first)
  await first.hears('lost refused')
  stage.market.stream(trades('QQQ'), second)
  await second.hears('lost refused')
  house.answer = (message, socket) => house.usual(message, socket)
  await first.hears('lost refused', 'live')
  await second.hears('lost refused', 'live')
})

test('a login that is over is told once, and tried again only when somebody asks', async () => {
  await using house = await FakeHouse.start()
  await using stage = brokerAt(house)
  house.read = () => ({ status: 400, body: { error: 'invalid_grant' } })
  house.answer = (_message, socket) => socket.close(4001)
  const [first, second] = [new Told(), new Told()]
  const lease = stage.market.stream(trades('SPY'), first)
  stage.market.stream(trades('QQQ'), second)
  await first.hears('lost token')
  await second.hears('lost token')
  const tried = house.sockets.length
  lease.renew()
  const third = new Told()
  stage.market.stream({ channel: 'quotes', symbol: 'SPY' }, third)
  await third.hears('lost token')
  assert.deepEqual(first.words, ['lost token'])
  assert.equal(house.sockets.length, tried)
})

test('closing the login ends the connection without a word', async () => {
  await using house = await FakeHouse.start()
  const stage = brokerAt(house)
  const sink = new Told()
  const lease = stage.market.stream(trades('SPY'), sink)
  await sink.hears('live')
  await stage[Symbol.asyncDispose]()
  await until(() => house.open === 0, 'the socket is gone')
  lease.renew()
  lease[Symbol.dispose]()
  stage.market.stream(trades('QQQ'), sink)
  assert.deepEqual(sink.words, ['live'])
})
