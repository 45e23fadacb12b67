/** One connection for all topics: what is requested and dropped, and which losses are published. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDay } from '@trunkline/core/domain/timestamp'
import { until } from '@trunkline/testkit/until'
import { RecordingSink } from '../../support/recording-sink.ts'
import { brokerAt, FakeSandbox, tradeItem, trades } from './fake-sandbox.ts'

const EXPIRATION = parseDay('2026-12-18', 'expiration')

test('topics of one turn are requested together, over one connection', async () => {
  await using sandbox = await FakeSandbox.start()
  await using stage = brokerAt(sandbox)
  const { market } = stage
  const sinks = [new RecordingSink(), new RecordingSink(), new RecordingSink(), new RecordingSink(), new RecordingSink()]
  const topics = [
    trades('SPY'),
    trades('BTC/USD'),
    { channel: 'bars', symbol: 'SPY', interval: '1m' },
    { channel: 'options_chain', symbol: 'SPY', expiration: EXPIRATION },
    { channel: 'depth', symbol: 'SPY' }
  ] as const
  for (const [index, topic] of topics.entries()) market.stream(topic, sinks[index] ?? new RecordingSink())
  for (const sink of sinks) await sink.receives('live')
  assert.equal(sandbox.sockets.length, 1)
  assert.deepEqual(sandbox.logins, ['token-1'])
  assert.deepEqual(
    sandbox.received.map(({ n, ...sent }) => sent),
    [
      { op: 'add', channel: 'trades', symbols: ['SPY', 'BTC/USD'] },
      { op: 'add', channel: 'bars', interval: '1m', symbols: ['SPY'] },
      { op: 'add', channel: 'chain', expiration: '2026-12-18', symbols: ['SPY'] },
      { op: 'add', channel: 'depth', symbols: ['SPY'] }
    ]
  )
  market.stream({ channel: 'quotes', symbol: 'SPY' }, new RecordingSink())
  await until(() => sandbox.received.length === 5, 'another topic is requested on the same connection')
  assert.equal(sandbox.sockets.length, 1)
  assert.throws(() => market.stream(trades('SPY'), new RecordingSink()), /streamed once/)
})

test('thousands of symbols are requested in messages far below the bound of the sandbox', async () => {
  await using sandbox = await FakeSandbox.start()
  await using stage = brokerAt(sandbox)
  const sinks = Array.from({ length: 4_500 }, () => new RecordingSink())
  for (const [index, sink] of sinks.entries()) stage.market.stream(trades(`X${index}`), sink)
  await until(() => sinks.every(({ history }) => history.length === 1), 'all are live')
  assert.deepEqual(
    sandbox.received.map(({ symbols }) => symbols.length),
    [2_000, 2_000, 500]
  )
})

test('nothing is published after a topic was released, and the sandbox is informed', async () => {
  await using sandbox = await FakeSandbox.start()
  await using stage = brokerAt(sandbox)
  const [gone, stays] = [new RecordingSink(), new RecordingSink()]
  const lease = stage.market.stream(trades('SPY'), gone)
  stage.market.stream(trades('QQQ'), stays)
  await stays.receives('live')
  lease[Symbol.dispose]()
  lease[Symbol.dispose]()
  lease.renew()
  sandbox.items([tradeItem('SPY'), tradeItem('QQQ')])
  await stays.receives('live', 'trade')
  await until(() => sandbox.received.at(-1)?.op === 'drop', 'the sandbox is informed')
  assert.deepEqual(sandbox.received.at(-1)?.symbols, ['SPY'])
  assert.deepEqual(gone.history, ['live'])
  const again = new RecordingSink()
  stage.market.stream(trades('SPY'), again)
  await again.receives('live')
})

test('released and taken again in one turn is dropped and requested, so that the current state comes', async () => {
  await using sandbox = await FakeSandbox.start()
  await using stage = brokerAt(sandbox)
  const [first, second] = [new RecordingSink(), new RecordingSink()]
  const lease = stage.market.stream({ channel: 'quotes', symbol: 'SPY' }, first)
  await first.receives('live')
  lease[Symbol.dispose]()
  stage.market.stream({ channel: 'quotes', symbol: 'SPY' }, second)
  await second.receives('live')
  assert.deepEqual(
    sandbox.received.map(({ op }) => op),
    ['add', 'drop', 'add']
  )
  assert.deepEqual(first.history, ['live'])
})

test('a symbol that the sandbox does not know is refused, and nothing follows', async () => {
  await using sandbox = await FakeSandbox.start()
  sandbox.unknown = ['NOPE']
  await using stage = brokerAt(sandbox)
  const [known, unknown, hourly] = [new RecordingSink(), new RecordingSink(), new RecordingSink()]
  stage.market.stream(trades('SPY'), known)
  const lease = stage.market.stream(trades('NOPE'), unknown)
  stage.market.stream({ channel: 'bars', symbol: 'SPY', interval: '1h' }, hourly)
  await known.receives('live')
  await unknown.receives('refused')
  await hourly.receives('refused')
  sandbox.items([tradeItem('NOPE'), tradeItem('SPY')])
  await known.receives('live', 'trade')
  lease.renew()
  lease[Symbol.dispose]()
  sandbox.last.terminate()
  await known.receives('live', 'trade', 'lost lost', 'live')
  assert.deepEqual(unknown.history, ['refused'])
  assert.deepEqual(sandbox.received.at(-1)?.symbols, ['SPY'])
})

test('what the sandbox objects to is refused; an answer without a request is skipped', async () => {
  await using sandbox = await FakeSandbox.start()
  await using stage = brokerAt(sandbox)
  const [first, second] = [new RecordingSink(), new RecordingSink()]
  stage.market.stream(trades('SPY'), first)
  await first.receives('live')
  sandbox.answer = ({ n }) => sandbox.send({ ev: 'problem', n, code: 'too_many_symbols', message: 'at most 10,000 symbols' })
  stage.market.stream(trades('QQQ'), second)
  await second.receives('refused')
  assert.match(second.events[0], /10,000/)
  sandbox.send({ ev: 'added', n: 99, symbols: ['SPY'], unknown: [] })
  sandbox.send({ ev: 'problem', n: 99, code: 'bad_request', message: 'what?' })
  sandbox.send({ ev: 'pong', n: 1 })
  sandbox.send({ ev: 'news' })
  sandbox.items([tradeItem('SPY')])
  await first.receives('live', 'trade')
})

test('a dropped connection is published to every topic, and all are requested again', async () => {
  await using sandbox = await FakeSandbox.start()
  await using stage = brokerAt(sandbox)
  const sinks = [new RecordingSink(), new RecordingSink()]
  stage.market.stream(trades('SPY'), sinks[0] ?? new RecordingSink())
  stage.market.stream({ channel: 'quotes', symbol: 'SPY' }, sinks[1] ?? new RecordingSink())
  for (const sink of sinks) await sink.receives('live')
  for (const [lose, cause] of [
    [() => sandbox.last.terminate(), 'lost'],
    [() => sandbox.last.close(4008), 'lost'],
    [() => sandbox.last.send('{'), 'malformed'],
    [() => sandbox.last.send('x'.repeat(5 * 1024 * 1024)), 'malformed'],
    [() => sandbox.last.send(Buffer.from('{}'), { binary: true }), 'malformed'],
    [() => sandbox.send({ ev: 'problem', n: null, code: 'bad_request', message: 'unreadable' }), 'malformed']
  ] as const) {
    const sockets = sandbox.sockets.length
    const before = sinks.map(({ history }) => history.length)
    lose()
    await until(
      () => sandbox.sockets.length > sockets && sinks.every(({ history }, index) => history.length === (before[index] ?? 0) + 2),
      `after ${cause}`
    )
    for (const sink of sinks) assert.deepEqual(sink.history.slice(-2), [`lost ${cause}`, 'live'])
  }
  sandbox.items([tradeItem('SPY')])
  await until(() => sinks[0]?.history.at(-1) === 'trade', 'the stream goes on')
})

test('a renewal is a loss and live again, and what came before the answer is passed over', async () => {
  await using sandbox = await FakeSandbox.start()
  await using stage = brokerAt(sandbox)
  const [renewed, other] = [new RecordingSink(), new RecordingSink()]
  const lease = stage.market.stream(trades('SPY'), renewed)
  stage.market.stream(trades('QQQ'), other)
  await renewed.receives('live')
  sandbox.answer = (message, socket) => {
    if (message.op === 'add') sandbox.items([tradeItem('SPY'), tradeItem('QQQ')])
    sandbox.usual(message, socket)
  }
  lease.renew()
  await renewed.receives('live', 'lost silence', 'live')
  sandbox.items([tradeItem('SPY')])
  await renewed.receives('live', 'lost silence', 'live', 'trade')
  assert.deepEqual(other.history, ['live', 'trade'])
})

test('a sandbox that refuses the stream is reported as an outage, also to topics added meanwhile', async () => {
  await using sandbox = await FakeSandbox.start()
  sandbox.answer = (_message, socket) => socket.send(JSON.stringify({ ev: 'denied', code: 'too_many_streams', message: 'no' }))
  await using stage = brokerAt(sandbox)
  const [first, second] = [new RecordingSink(), new RecordingSink()]
  stage.market.stream(trades('SPY'), first)
  await first.receives('lost refused')
  stage.market.stream(trades('QQQ'), second)
  await second.receives('lost refused')
  sandbox.answer = (message, socket) => sandbox.usual(message, socket)
  await first.receives('lost refused', 'live')
  await second.receives('lost refused', 'live')
})

test('a login that is over is reported once, and tried again only on a new request', async () => {
  await using sandbox = await FakeSandbox.start()
  await using stage = brokerAt(sandbox)
  sandbox.read = () => ({ status: 400, body: { error: 'invalid_grant' } })
  sandbox.answer = (_message, socket) => socket.close(4001)
  const [first, second] = [new RecordingSink(), new RecordingSink()]
  const lease = stage.market.stream(trades('SPY'), first)
  stage.market.stream(trades('QQQ'), second)
  await first.receives('lost token')
  await second.receives('lost token')
  const tried = sandbox.sockets.length
  lease.renew()
  const third = new RecordingSink()
  stage.market.stream({ channel: 'quotes', symbol: 'SPY' }, third)
  await third.receives('lost token')
  assert.deepEqual(first.history, ['lost token'])
  assert.equal(sandbox.sockets.length, tried)
})

test('closing the login ends the connection silently', async () => {
  await using sandbox = await FakeSandbox.start()
  const stage = brokerAt(sandbox)
  const sink = new RecordingSink()
  const lease = stage.market.stream(trades('SPY'), sink)
  await sink.receives('live')
  await stage[Symbol.asyncDispose]()
  await until(() => sandbox.open === 0, 'the socket is gone')
  lease.renew()
  lease[Symbol.dispose]()
  stage.market.stream(trades('QQQ'), sink)
  assert.deepEqual(sink.history, ['live'])
})
