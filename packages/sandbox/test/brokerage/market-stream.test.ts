import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Brokerage, startBrokerage } from '../../src/brokerage/start.ts'
import { add, answered, assertSame, bars, barsOf, numbersOf, ofKind, toMinute } from './market-reader.ts'
import { Customer, control, Listener, openBrokerage, SECRET, send, type Wire } from './support.ts'

/** Moves a price through the control API. @returns the best bid then */
const moved = async (brokerage: Brokerage, symbol: string, price: string): Promise<string> =>
  (await control(brokerage, 'PUT', `/market/${symbol}`, { price })).quote.bid

test('the login’s answer has the current times, heartbeats have the last number and sandbox time', async () => {
  await using brokerage = await openBrokerage({ heartbeatMs: 50 })
  const alex = await Customer.of(brokerage)
  const stream = await Listener.ofMarket(alex)
  assert.deepEqual(Object.keys(stream.ready), ['ev', 'login', 'heartbeat_ms', 'as_of', 'sandbox_time'])
  stream.send(add(1, 'quotes', ['SPY']))
  await stream.until(() => stream.items.length > 0 && stream.messages.at(-1)?.ev === 'heartbeat')
  const beat = stream.messages.at(-1)
  assert.equal(beat.seq, numbersOf(stream).at(-1))
  assert.match(beat.sandbox_time, /^\d{4}-.*Z$/)
  stream.send({ op: 'ping', n: 7 })
  await stream.until(messages => messages.some(({ ev, n }) => ev === 'pong' && n === 7))
})

test('adding sends the answer first, then the current state, then changes', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  const stream = await Listener.ofMarket(alex)
  stream.send(add(1, 'quotes', ['SPY', 'NOPE', 'SPY']))
  assert.deepEqual(await answered(stream, 1), { ev: 'added', n: 1, symbols: ['SPY'], unknown: ['NOPE'] })
  await stream.until(() => stream.items.length > 0)
  const [quote] = stream.items
  const [now] = (await alex.call('GET', '/quotes?symbols=SPY')).body.items
  assert.deepEqual([quote.t, quote.s], ['quote', 'SPY'])
  assert.deepEqual([quote.b, quote.bz, quote.a, quote.az], [now.bid, now.bid_size, now.ask, now.ask_size])
  assert.match(quote.at, /^\d{19}$/)
  stream.send(add(2, 'trades', ['SPY']))
  await answered(stream, 2)
  assert.deepEqual(ofKind(stream, 'trade'), [])
  await control(brokerage, 'PUT', '/market/SPY', { price: '501.00' })
  await stream.until(() => ofKind(stream, 'trade').length > 0 && ofKind(stream, 'quote').length > 1)
  const [trade] = ofKind(stream, 'trade')
  assert.deepEqual([trade.s, trade.p, trade.k], ['SPY', '501', 'all'])
  assert.ok(trade.x.length > 0 && BigInt(trade.at) > BigInt(quote.at))
  assert.deepEqual(
    numbersOf(stream),
    numbersOf(stream).map((_, nth) => nth + 1)
  )
})

test('the book has order counts, venues and times, at once and after every change', async () => {
  await using brokerage = await openBrokerage()
  const stream = await Listener.ofMarket(await Customer.of(brokerage))
  stream.send(add(1, 'depth', ['SPY', 'BTC/USD']))
  await stream.until(() => ofKind(stream, 'depth').length === 2)
  const [book] = ofKind(stream, 'depth', 'BTC/USD')
  assert.equal(book.bids.length, 10)
  for (const level of [...book.bids, ...book.asks]) {
    assert.equal(level.length, 5)
    assert.ok(level.every((field: unknown) => typeof field === 'string' && field.length > 0))
  }
  const mine = {
    bids: [
      ['499.50', '5'],
      ['499.40', '1']
    ],
    asks: [['500.50', '3']]
  }
  await control(brokerage, 'PUT', '/market/SPY', mine)
  await stream.until(() => ofKind(stream, 'depth', 'SPY').length > 1)
  const last = ofKind(stream, 'depth', 'SPY').at(-1)
  assert.deepEqual(
    last.bids.map(([price, size]: Wire) => [price, size]),
    mine.bids
  )
  assert.deepEqual(
    last.asks.map(([price, size]: Wire) => [price, size]),
    mine.asks
  )
})

test('adding twice and dropping what is absent are not errors; a dropped subscription is silent', async () => {
  await using brokerage = await openBrokerage()
  const stream = await Listener.ofMarket(await Customer.of(brokerage))
  stream.send(add(1, 'quotes', ['SPY']))
  stream.send(add(2, 'quotes', ['SPY']))
  assert.deepEqual((await answered(stream, 2)).symbols, ['SPY'])
  stream.send({ op: 'drop', n: 3, channel: 'trades', symbols: ['SPY', 'NOPE'] })
  assert.equal((await answered(stream, 3)).ev, 'dropped')
  stream.send({ op: 'drop', n: 4, channel: 'quotes', symbols: ['SPY'] })
  stream.send(add(5, 'quotes', ['AAPL']))
  await answered(stream, 5)
  await moved(brokerage, 'SPY', '490.00')
  const bid = await moved(brokerage, 'AAPL', '200.00')
  await stream.until(() => ofKind(stream, 'quote', 'AAPL').some(({ b }) => b === bid))
  assert.equal(ofKind(stream, 'quote', 'SPY').length, 1)
})

test('an invalid request is answered with its number, and changes nothing', async () => {
  await using brokerage = await openBrokerage()
  const stream = await Listener.ofMarket(await Customer.of(brokerage))
  const wrong: readonly [object, number | null][] = [
    [{ op: 'add', channel: 'quotes', symbols: ['SPY'] }, null],
    [{ op: 'add', n: -1, channel: 'quotes', symbols: ['SPY'] }, null],
    [{ op: 'add', n: 'one', channel: 'quotes', symbols: ['SPY'] }, null],
    [{ op: 'add', n: 11, symbols: ['SPY'] }, 11],
    [add(12, 'news', ['SPY']), 12],
    [add(13, 'quotes', []), 13],
    [{ op: 'add', n: 14, channel: 'quotes' }, 14],
    [{ op: 'add', n: 15, channel: 'quotes', symbols: 'SPY' }, 15],
    [{ op: 'add', n: 16, channel: 'quotes', symbols: [5] }, 16],
    [{ op: 'add', n: 17, channel: 'quotes', symbols: [''] }, 17],
    [{ op: 'add', n: 18, channel: 'quotes', symbols: ['x'.repeat(65)] }, 18],
    [add(19, 'bars', ['SPY']), 19],
    [add(20, 'bars', ['SPY'], { interval: '5m' }), 20],
    [add(21, 'trades', ['SPY'], { interval: '1m' }), 21],
    [add(22, 'chain', ['SPY']), 22],
    [add(23, 'chain', ['SPY'], { expiration: '2026-13-01' }), 23],
    [add(24, 'quotes', ['SPY'], { expiration: '2026-12-18' }), 24],
    [add(25, 'quotes', ['SPY'], { depth: 5 }), 25],
    [{ op: 'drop', n: 26 }, 26]
  ]
  for (const [message] of wrong) stream.send(message)
  const problems = () => stream.messages.filter(({ ev }) => ev === 'problem')
  await stream.until(() => problems().length === wrong.length)
  assert.deepEqual(
    problems().map(({ n }) => n),
    wrong.map(([, n]) => n)
  )
  assert.ok(problems().every(({ code, message }) => code === 'bad_request' && message.length > 5))
  assert.deepEqual(stream.items, [])
})

test('malformed messages, binary frames and other operations end the stream, not the sandbox', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  for (const [message, code] of [
    ['{', 1008],
    ['[]', 1008],
    [{ op: 'dance' }, 1008],
    [{ op: 'login', token: 'x', resume: null }, 1008],
    [{ op: 'add', n: 1, channel: 'quotes', symbols: ['SPY'] }, 4001],
    [{ op: 'login', token: 'wrong' }, 4001],
    [`"${'x'.repeat(300_000)}"`, 1009]
  ] as const) {
    const stream = await Listener.open(brokerage, brokerage.marketStreamUrl)
    stream.send(message)
    await stream.until(() => stream.closed !== undefined)
    assert.equal(stream.closed, code, JSON.stringify(message).slice(0, 80))
  }
  const binary = await Listener.ofMarket(alex)
  binary.sendBytes(Buffer.from(JSON.stringify(add(1, 'quotes', ['SPY']))))
  await binary.until(() => binary.closed !== undefined)
  assert.equal(binary.closed, 1008)
  const twice = await Listener.ofMarket(alex)
  twice.send({ op: 'login', token: alex.token })
  await twice.until(() => twice.closed !== undefined)
  assert.equal(twice.closed, 1008)
  assert.equal((await alex.call('GET', '/me')).status, 200)
})

test('hostile names are unknown symbols, and numbers beyond the exact range are refused', async () => {
  await using brokerage = await openBrokerage()
  const stream = await Listener.ofMarket(await Customer.of(brokerage))
  const hostile = [
    '__proto__',
    'constructor',
    '\u0000',
    'SPY\u0000',
    'spy',
    ' SPY',
    '"',
    '\\',
    '../SPY',
    'SPY261218C99999999',
    '💸',
    'BTC%2FUSD'
  ]
  for (const [nth, channel] of ['trades', 'quotes', 'depth'].entries()) stream.send(add(nth, channel, hostile))
  stream.send(bars(3, ...hostile))
  stream.send(add(4, 'chain', hostile, { expiration: '2026-12-18' }))
  for (const n of [0, 1, 2, 3, 4]) assert.deepEqual((await answered(stream, n)).unknown, hostile)
  for (const number of ['1e400', '-0.5', '9007199254740993', '4294967296', 'true'])
    stream.send(`{"op":"add","n":${number},"channel":"quotes","symbols":["SPY"]}`)
  const problems = () => stream.messages.filter(({ ev }) => ev === 'problem')
  await stream.until(() => problems().length === 5)
  assert.deepEqual(
    problems().map(({ n }) => n),
    [null, null, null, null, null]
  )
  stream.send(`{"op":"add","n":9,"channel":"quotes","symbols":${'['.repeat(5_000)}${']'.repeat(5_000)}}`)
  await stream.until(() => stream.closed !== undefined)
  assert.equal(stream.closed, 1008)
  assert.deepEqual(stream.items, [])
})

test('a stream may have ten thousand symbols, and one more is refused', async () => {
  await using brokerage = await openBrokerage()
  const stream = await Listener.ofMarket(await Customer.of(brokerage))
  const symbols = Array.from({ length: 10_001 }, (_, nth) => `NONE${nth}`)
  stream.send(add(1, 'quotes', symbols))
  assert.equal((await answered(stream, 1)).code, 'too_many_symbols')
  stream.send(add(2, 'quotes', symbols.slice(1)))
  assert.equal((await answered(stream, 2)).unknown.length, 10_000)
})

test('an open bar includes the earlier trades of its minute, and closes once when sandbox time has passed it', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  await control(brokerage, 'PUT', '/clock', { advance_ms: 61_000 })
  await control(brokerage, 'PUT', '/market', { paused: true })
  const start = await toMinute(brokerage)
  await control(brokerage, 'PUT', '/market', { paused: false })
  for (const price of ['500.00', '507.00', '493.00']) await control(brokerage, 'PUT', '/market/SPY', { price })
  const stream = await Listener.ofMarket(alex)
  stream.send(bars(1, 'SPY'))
  await stream.until(() => ofKind(stream, 'bar').length > 0)
  const shown = async () => (await barsOf(alex, 'SPY', start)).at(-1)
  assertSame(ofKind(stream, 'bar').at(-1), await shown())
  await control(brokerage, 'PUT', '/market/SPY', { price: '501.00' })
  await stream.until(() => ofKind(stream, 'bar').at(-1)?.c === '501')
  assert.deepEqual([ofKind(stream, 'bar').at(-1).h, ofKind(stream, 'bar').at(-1).l], ['507', '493'])
  const late = await Listener.ofMarket(alex)
  late.send(bars(1, 'SPY'))
  await late.until(() => ofKind(late, 'bar').length > 0)
  assertSame(ofKind(late, 'bar').at(-1), await shown())
  // Without further trades, only the clock ends the minute.
  await control(brokerage, 'PUT', '/market', { paused: true })
  await control(brokerage, 'PUT', '/clock', { advance_ms: 120_000 })
  for (const reader of [stream, late]) {
    await reader.until(() => ofKind(reader, 'bar').some(({ closed }) => closed))
    assert.equal(ofKind(reader, 'bar').filter(({ closed }) => closed).length, 1)
    assert.equal(ofKind(reader, 'bar').at(-1).closed, true)
  }
  const [history] = await barsOf(alex, 'SPY', start)
  assertSame(ofKind(stream, 'bar').at(-1), history)
})

test('an open bar is sent at most four times a second', async () => {
  let now = Date.now()
  await using brokerage = await startBrokerage({ clientSecret: SECRET, heartbeatMs: 50 }, { realNow: () => now })
  await control(brokerage, 'PUT', '/clock', { frozen: true })
  const stream = await Listener.ofMarket(await Customer.of(brokerage))
  stream.send(bars(1, 'SPY'))
  await answered(stream, 1)
  // The first bar comes at once if the minute had no trade yet, and waits otherwise. The bar of 500 comes at the present `now` in both
  // cases.
  await control(brokerage, 'PUT', '/market/SPY', { price: '499.00' })
  now += 300
  await stream.until(() => ofKind(stream, 'bar').at(-1)?.c === '499')
  now += 300
  await control(brokerage, 'PUT', '/market/SPY', { price: '500.00' })
  await stream.until(() => ofKind(stream, 'bar').at(-1)?.c === '500')
  const before = ofKind(stream, 'bar').length
  for (const price of ['501.00', '502.00', '503.00']) await control(brokerage, 'PUT', '/market/SPY', { price })
  assert.equal(ofKind(stream, 'bar').length, before)
  now += 300
  await stream.until(() => ofKind(stream, 'bar').at(-1)?.c === '503')
  assert.equal(ofKind(stream, 'bar').length, before + 1)
})

test('tokens, grants and limits are those of the account stream', async () => {
  let now = Date.now()
  await using brokerage = await startBrokerage({ clientSecret: SECRET, accessTtlS: 5, heartbeatMs: 50 }, { realNow: () => now })
  const [careless, careful] = [await Customer.of(brokerage), await Customer.of(brokerage)]
  const [dies, lives] = [await Listener.ofMarket(careless), await Listener.ofMarket(careful)]
  now += 60_000
  lives.send({ op: 'token', token: (await Customer.of(brokerage)).token })
  await lives.until(messages => messages.some(({ ev }) => ev === 'token_ok'))
  now += 6_000
  await dies.until(() => dies.closed !== undefined)
  assert.equal(dies.closed, 4003)
  const robin = await Customer.of(brokerage, 'robin')
  for (let nth = 0; nth < 20; nth++) await Listener.ofMarket(robin)
  assert.equal((await Listener.ofMarket(robin)).messages[0].code, 'too_many_streams')
  // The other kind of stream has a separate count.
  assert.equal((await Listener.of(robin)).ready.ev, 'ready')
  await control(brokerage, 'POST', '/logins/alex/revoke')
  await lives.until(() => lives.closed !== undefined)
  assert.equal(lives.closed, 4003)
})

test('faults of connecting apply to market streams too', async () => {
  await using brokerage = await openBrokerage()
  await control(brokerage, 'POST', '/faults', { on: 'stream.connect', do: 'reset', times: 1 })
  await assert.rejects(Listener.open(brokerage, brokerage.marketStreamUrl))
  await Listener.ofMarket(await Customer.of(brokerage))
})

test('market streams apply their faults, account streams do not', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  const [market, account] = [await Listener.ofMarket(alex), await Listener.of(alex)]
  market.send(add(1, 'quotes', ['SPY']))
  await market.until(() => market.items.length === 1)
  const order = (what: object) => control(brokerage, 'POST', '/streams', { on: 'market', ...what })
  const bids = () => ofKind(market, 'quote').map(({ b }) => b)
  const arrived = (bid: string) => market.until(() => bids().at(-1) === bid)
  await order({ do: 'lose', times: 1 })
  const lost = await moved(brokerage, 'SPY', '510.00')
  await arrived(await moved(brokerage, 'SPY', '511.00'))
  assert.ok(!bids().includes(lost))
  assert.deepEqual(numbersOf(market), [1, 3])
  await order({ do: 'duplicate', times: 1 })
  await moved(brokerage, 'SPY', '512.00')
  await market.until(() => numbersOf(market).length === 4)
  assert.deepEqual(numbersOf(market), [1, 3, 4, 4])
  await order({ do: 'mute' })
  await moved(brokerage, 'SPY', '513.00')
  await order({ do: 'normal' })
  await arrived(await moved(brokerage, 'SPY', '514.00'))
  assert.deepEqual(numbersOf(market), [1, 3, 4, 4, 6])
  await order({ do: 'delay', ms: 40, login: 'alex' })
  await arrived(await moved(brokerage, 'SPY', '515.00'))
  await order({ do: 'normal' })
  await order({ do: 'garble' })
  await market.until(messages => messages.some(message => typeof message === 'string'))
  assert.equal((await order({ do: 'drop', code: 4999 })).streams, 1)
  await market.until(() => market.closed !== undefined)
  assert.equal(market.closed, 4999)
  assert.equal(account.closed, undefined)
  await account.until(messages => messages.at(-1)?.ev === 'heartbeat')
  const refused = await send(`${brokerage.controlUrl}/streams`, 'POST', { on: 'news', do: 'drop' })
  assert.equal(refused.status, 400)
})

test('after a reset, streams are closed and new ones have the current market', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  const before = await Listener.ofMarket(alex)
  await control(brokerage, 'POST', '/reset')
  await before.until(() => before.closed !== undefined)
  assert.equal(before.closed, 1001)
  const [now] = (await alex.call('GET', '/quotes?symbols=SPY')).body.items
  const after = await Listener.ofMarket(alex)
  after.send(add(1, 'quotes', ['SPY']))
  await after.until(() => after.items.length > 0)
  assert.equal(after.items[0].b, now.bid)
})
