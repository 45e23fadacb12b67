import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encode } from '@msgpack/msgpack'
import type { Brokerage } from '../../../src/brokerage/start.ts'
import { control, type Wire } from '../../brokerage/support.ts'
import { Client, openBrokerage, StreamClient } from './support.ts'

const IEX = '/v2/iex'
const CRYPTO = '/v1beta3/crypto/us'
const OPTIONS = '/v1beta1/indicative'

const price = (brokerage: Brokerage, symbol: string, value: string) =>
  control(brokerage, 'PUT', `/market/${encodeURIComponent(symbol)}`, { price: value })
const kinds = (stream: StreamClient, ...types: readonly string[]) => stream.messages.filter(({ T }) => types.includes(T))
const last = (stream: StreamClient) => stream.messages.at(-1)

test('a stream greets, and gives nothing before it knows who asks', async () => {
  await using brokerage = await openBrokerage()
  const { keys } = await Client.of(brokerage)
  const stream = await StreamClient.open(brokerage, `/data-stream${IEX}`)
  stream.send({ action: 'subscribe', trades: ['SPY'] })
  stream.send('nonsense')
  stream.send({ action: 'dance' })
  stream.send({ action: 'auth', key: keys.key_id, secret: keys.secret_key })
  stream.send({ action: 'auth', key: keys.key_id, secret: keys.secret_key })
  await stream.until(messages => messages.length === 6)
  assert.deepEqual(stream.messages, [
    { T: 'success', msg: 'connected' },
    { T: 'error', code: 401, msg: 'not authenticated' },
    { T: 'error', code: 400, msg: 'invalid syntax' },
    { T: 'error', code: 400, msg: 'invalid syntax' },
    { T: 'success', msg: 'authenticated' },
    { T: 'error', code: 403, msg: 'already authenticated' }
  ])
  assert.ok(stream.binary.every(isBinary => !isBinary))
  stream.close()
})

test('anyone who is not known is sent away', async () => {
  await using brokerage = await openBrokerage()
  const unauthenticated = await StreamClient.open(brokerage, `/data-stream${IEX}`)
  unauthenticated.send({ action: 'auth', key: 'PKNOBODY', secret: 'nothing' })
  await unauthenticated.until((_messages, { closed }) => closed !== undefined)
  assert.deepEqual(last(unauthenticated), { T: 'error', code: 402, msg: 'auth failed' })
})

test('subscriptions add up, and are always reported in full', async () => {
  await using brokerage = await openBrokerage()
  const stream = await StreamClient.ofData(await Client.of(brokerage), IEX)
  const asks = async (message: Wire) => {
    const before = stream.messages.length
    stream.send(message)
    await stream.until(messages => messages.length > before)
    return last(stream)
  }
  const none = { updatedBars: [], dailyBars: [], statuses: [], lulds: [], imbalances: [] }
  assert.deepEqual(await asks({ action: 'subscribe', trades: ['SPY'], bars: ['SPY'] }), {
    ...{ T: 'subscription', trades: ['SPY'], quotes: [], bars: ['SPY'], ...none },
    ...{ corrections: ['SPY'], cancelErrors: ['SPY'] }
  })
  const both = await asks({ action: 'subscribe', trades: ['AAPL', 'SPY'], quotes: ['AAPL', 'NOSUCH'] })
  assert.deepEqual(
    [both.trades, both.quotes, both.corrections],
    [
      ['SPY', 'AAPL'],
      ['AAPL', 'NOSUCH'],
      ['SPY', 'AAPL']
    ]
  )
  const less = await asks({ action: 'unsubscribe', trades: ['SPY'], quotes: ['AAPL', 'MSFT'] })
  assert.deepEqual([less.trades, less.quotes, less.cancelErrors], [['AAPL'], ['NOSUCH'], ['AAPL']])
  assert.equal((await asks({ action: 'subscribe', orderbooks: ['SPY'] })).code, 410)
  assert.equal((await asks({ action: 'subscribe', trades: 'SPY' })).code, 400)
  assert.equal((await asks({ action: 'subscribe', trades: ['no spaces'] })).code, 400)
  await control(brokerage, 'PUT', '/dialects/alpaca', { symbols_per_stream: 3 })
  stream.close()
  const small = await StreamClient.ofData(await Client.of(brokerage), IEX)
  small.send({ action: 'subscribe', trades: ['SPY', 'AAPL'], quotes: ['SPY'] })
  small.send({ action: 'subscribe', quotes: ['AAPL'] })
  await small.until(messages => messages.some(({ code }) => code === 405))
  small.send({ action: 'unsubscribe', trades: ['NOSUCH'] })
  await small.until(messages => last(small).T === 'subscription' && messages.length > 4)
  assert.deepEqual([last(small).trades, last(small).quotes], [['SPY', 'AAPL'], ['SPY']], 'a refused subscription changes nothing')
  small.close()
})

test('trades and quotes are sent as they happen, and past ones are not', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const [stream, other] = [await StreamClient.ofData(client, IEX), await StreamClient.ofData(client, '/v2/sip')]
  stream.send({ action: 'subscribe', trades: ['SPY'], quotes: ['SPY'] })
  other.send({ action: 'subscribe', trades: ['SPY', 'AAPL'] })
  for (const each of [stream, other]) await each.until(() => kinds(each, 'subscription').length === 1)
  await price(brokerage, 'SPY', '501.00')
  await stream.until(() => kinds(stream, 't').length === 1 && kinds(stream, 'q').length === 1)
  const [trade] = kinds(stream, 't')
  const { S, x, p, c, z } = trade
  assert.deepEqual({ S, x, p, c, z }, { S: 'SPY', x: 'P', p: 501, c: ['@'], z: 'C' })
  assert.ok(Number.isSafeInteger(trade.i) && trade.s > 0)
  assert.match(trade.t, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/)
  const [quote] = kinds(stream, 'q')
  assert.ok(quote.bp <= 501 && quote.ap >= 501 && quote.bs > 0 && quote.as > 0)
  assert.deepEqual([quote.bx, quote.ax, quote.z], ['P', 'P', 'C'])
  await price(brokerage, 'AAPL', '200.00')
  await other.until(() => kinds(other, 't').length === 2)
  assert.deepEqual(
    kinds(other, 't').map((item: Wire) => item.S),
    ['SPY', 'AAPL']
  )
  stream.send({ action: 'unsubscribe', trades: ['SPY'], quotes: ['SPY'] })
  await stream.until(() => kinds(stream, 'subscription').length === 2)
  await price(brokerage, 'SPY', '502.00')
  await other.until(() => kinds(other, 't').length === 3)
  assert.equal(kinds(stream, 't').length, 1)
  stream.close()
  other.close()
})

test('a book comes whole at first, then in levels that changed', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const set = (bids: Wire, asks: Wire) => control(brokerage, 'PUT', '/market/BTC%2FUSD', { bids, asks })
  await set(
    [
      ['90000', '1'],
      ['89999', '2']
    ],
    [['90001', '3']]
  )
  const [stream, later] = [await StreamClient.ofData(client, CRYPTO), await StreamClient.ofData(client, CRYPTO)]
  stream.send({ action: 'subscribe', orderbooks: ['BTC/USD'] })
  await stream.until(() => kinds(stream, 'o').length === 1)
  const [whole] = kinds(stream, 'o')
  assert.deepEqual(
    [whole.S, whole.b, whole.a, whole.r],
    [
      'BTC/USD',
      [
        { p: 90000, s: 1 },
        { p: 89999, s: 2 }
      ],
      [{ p: 90001, s: 3 }],
      true
    ]
  )
  await set(
    [
      ['90000', '4'],
      ['89998', '5']
    ],
    [['90001', '3']]
  )
  await stream.until(() => kinds(stream, 'o').length === 2)
  const { b, a, r } = kinds(stream, 'o')[1]
  assert.deepEqual(
    [b, a, r],
    [
      [
        { p: 90000, s: 4 },
        { p: 89998, s: 5 },
        { p: 89999, s: 0 }
      ],
      [],
      undefined
    ]
  )
  later.send({ action: 'subscribe', orderbooks: ['BTC/USD'] })
  await later.until(() => kinds(later, 'o').length === 1)
  assert.deepEqual(
    [kinds(later, 'o')[0].b, kinds(later, 'o')[0].r],
    [
      [
        { p: 90000, s: 4 },
        { p: 89998, s: 5 }
      ],
      true
    ]
  )
  stream.close()
  later.close()
})

test('options are sent in MessagePack only, and have no bars', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const { option_contracts: contracts } = await client.ok('GET', '/v2/options/contracts?underlying_symbols=SPY&limit=1')
  const { symbol } = contracts[0]
  const stream = await StreamClient.ofData(client, OPTIONS, { packs: true })
  stream.sendBytes(encode({ action: 'subscribe', quotes: [symbol], trades: [symbol] }))
  await stream.until(() => kinds(stream, 'subscription').length === 1)
  assert.deepEqual(kinds(stream, 'subscription'), [{ T: 'subscription', trades: [symbol], quotes: [symbol] }])
  stream.sendBytes(encode({ action: 'subscribe', bars: [symbol] }))
  await stream.until(messages => messages.some(({ code }) => code === 410))
  await control(brokerage, 'PUT', `/market/${symbol}`, { price: '12.50' })
  await stream.until(() => kinds(stream, 't').length === 1 && kinds(stream, 'q').length >= 1)
  const [trade] = kinds(stream, 't')
  assert.deepEqual([trade.S, trade.p, trade.x, trade.c], [symbol, 12.5, 'C', 'I'])
  assert.ok(stream.binary.every(isBinary => isBinary))
  stream.close()
})

test('a login has so many streams of one endpoint and no more; the place is free again when one ends', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  await control(brokerage, 'PUT', '/dialects/alpaca', { connections_per_stream: 1 })
  const first = await StreamClient.ofData(client, IEX)
  const second = await StreamClient.open(brokerage, `/data-stream${IEX}`)
  second.send({ action: 'auth', key: 'oauth', secret: client.token })
  await second.until((_messages, { closed }) => closed !== undefined)
  assert.deepEqual(last(second), { T: 'error', code: 406, msg: 'connection limit exceeded' })
  const [elsewhere, robin] = [
    await StreamClient.ofData(client, CRYPTO),
    await StreamClient.ofData(await Client.of(brokerage, 'robin'), IEX)
  ]
  for (const stream of [first, elsewhere, robin]) stream.close()
  const { items } = await control(brokerage, 'GET', '/streams')
  assert.ok(Array.isArray(items))
  let again: StreamClient | undefined
  for (let tries = 0; again === undefined && tries < 50; tries++) {
    const stream = await StreamClient.open(brokerage, `/data-stream${IEX}`)
    stream.send({ action: 'auth', key: 'oauth', secret: client.token })
    await stream.until(messages => messages.length === 2)
    if (last(stream).msg === 'authenticated') again = stream
  }
  assert.ok(again !== undefined)
  again.close()
})

test('faults of market data streams do not affect order streams', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const [stream, orders] = [await StreamClient.ofData(client, IEX), await StreamClient.ofOrders(client)]
  stream.send({ action: 'subscribe', trades: ['SPY'] })
  await stream.until(() => kinds(stream, 'subscription').length === 1)
  assert.equal((await control(brokerage, 'POST', '/streams', { dialect: 'alpaca', on: 'market', do: 'lose', times: 1 })).streams, 1)
  await price(brokerage, 'SPY', '501.00')
  await price(brokerage, 'SPY', '502.00')
  await stream.until(() => kinds(stream, 't').length === 1)
  assert.equal(kinds(stream, 't')[0].p, 502)
  await control(brokerage, 'POST', '/streams', { dialect: 'alpaca', on: 'market', do: 'drop', code: 4001 })
  await stream.until((_messages, { closed }) => closed === 4001)
  const { id } = await client.buy('1')
  await orders.waitForUpdates(id, 'fill')
  orders.close()
})
