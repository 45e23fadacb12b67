// Where a stream is opened, and with what: each mistake is named, at once or as soon as it shows.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BrokerStream } from '../../src/streams/broker/stream.ts'
import { MarketStream } from '../../src/streams/market/stream.ts'
import { streamOf, welcome } from './followed.ts'
import { streamOf as marketOf } from './market.ts'
import { Network } from './scripted-socket.ts'

test('credentials go to another machine only encrypted, and a runtime without WebSocket is named', () => {
  const network = new Network()
  for (const url of ['ws://trunkline.example.com/stream', 'http://127.0.0.1/stream', 'ws://127.0.0.1.example.com', '/stream'])
    assert.throws(() => streamOf(network, { url }), { code: 'setting_invalid', message: /^url must be wss:.* and was / })
  for (const more of [{ url: 'ws://[::1]:8080/stream' }, { url: 'ws://10.0.0.1/stream', allowHttp: true }]) streamOf(network, more)
  const { WebSocket } = globalThis
  try {
    Reflect.deleteProperty(globalThis, 'WebSocket')
    assert.throws(
      () => new BrokerStream({ url: 'wss://service/stream', clientId: 'pk', clientSecret: 'sk' }),
      /Node\.js 20\): install ws, pass its WebSocket/
    )
  } finally {
    Object.defineProperty(globalThis, 'WebSocket', { value: WebSocket, configurable: true, writable: true })
  }
})

test('a stream at an address of something else ends with what is there; where nobody or a stream answers it goes on', async () => {
  const wrong = new Network()
  const asked: unknown[] = []
  const fetch = async (address: unknown) => {
    asked.push(address)
    return new Response('{}', { status: 404 })
  }
  const items = streamOf(wrong, { url: 'wss://service/strm?x=1', fetch }).follow('ada')
  for (let count = 0; count < 3; count += 1) {
    wrong.last.drop()
    wrong.pass(1_000)
  }
  await assert.rejects(
    async () => {
      for await (const _ of items);
    },
    { code: 'setting_invalid', message: /^no stream at https:\/\/service\/strm: it answers 404, not 426.* \/stream/ }
  )
  assert.deepEqual(asked, ['https://service/strm'])
  const opened = wrong.sockets.length
  wrong.pass(60_000)
  assert.equal(wrong.sockets.length, opened)

  for (const status of [426, 401, 429, 503, null]) {
    const network = new Network()
    const answer = async () => {
      if (status === null) throw new TypeError('offline')
      return new Response(null, { status })
    }
    void streamOf(network, { fetch: answer }).follow('ada').next()
    for (let count = 0; count < 5; count += 1) {
      network.last.drop()
      await new Promise(setImmediate)
      network.pass(30_000)
    }
    assert.equal(network.sockets.length, 6, String(status))
  }
})

test('a stream that was received once is opened again whatever is at its address meanwhile', async () => {
  const network = new Network()
  const fetch = () => assert.fail('the address was asked')
  void streamOf(network, { fetch }).follow('ada').next()
  welcome(network.last)
  for (let count = 0; count < 5; count += 1) {
    network.last.drop()
    await new Promise(setImmediate)
    network.pass(30_000)
  }
  assert.equal(network.sockets.length, 6)
})

test('the address of market data, no user, no seq and no bound are refused at once, each by its name', () => {
  const network = new Network()
  assert.throws(() => streamOf(network, { url: 'wss://service/market-data/stream' }), { message: /the broker stream is at \/stream/ })
  assert.throws(() => streamOf(network, { waitingMax: 0 }), { code: 'setting_invalid', message: /^waitingMax .* was 0/ })
  const stream = streamOf(network)
  assert.throws(() => stream.follow(' ada'), { code: 'setting_invalid', message: /^a user_id has 1 to 64/ })
  for (const after of [-1, 0.5])
    assert.throws(() => stream.follow('ada', { after }), { code: 'setting_invalid', message: /^after is the seq/ })
})

test('a stream without its token, or without anything, is refused at once', () => {
  const network = new Network()
  assert.throws(() => marketOf(network, Object({ token: undefined })), {
    code: 'setting_invalid',
    message: /^token must be a function .* undefined/
  })
  assert.throws(() => Reflect.construct(MarketStream, []), { code: 'setting_invalid' })
  assert.throws(() => Reflect.construct(BrokerStream, []), { code: 'setting_invalid', message: /^url must be wss:.* was nothing/ })
})

test('the broker stream at the address of market data ends every reader with where that is', async () => {
  const network = new Network()
  const quotes = marketOf(network, { url: 'wss://service/stream' }).quotes({ symbol: 'SPY' })
  network.last.open()
  network.last.receive({ type: 'welcome', session_id: 's', message: '' })
  await assert.rejects(quotes.next(), { code: 'setting_invalid', message: /market data is at \/market-data\/stream/ })
  network.pass(60_000)
  assert.equal(network.sockets.length, 1)
})
