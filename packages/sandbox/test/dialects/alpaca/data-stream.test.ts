import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pack } from '../../../src/dialects/alpaca/msgpack.ts'
import type { House } from '../../../src/house/start.ts'
import { beginningAt, control, type Wire } from '../../house/support.ts'
import { Client, Line, openHouse } from './support.ts'

const IEX = '/v2/iex'
const COINS = '/v1beta3/crypto/us'
const OPTIONS = '/v1beta1/indicative'

const price = (house: House, symbol: string, value: string) =>
  control(house, 'PUT', `/market/${encodeURIComponent(symbol)}`, { price: value })
const kinds = (line: Line, ...types: readonly string[]) => line.messages.filter(({ T }) => types.includes(T))
const last = (line: Line) => line.messages.at(-1)

test('a stream greets, and gives nothing before it knows who asks', async () => {
  await using house = await openHouse()
  const { keys } = await Client.of(house)
  const line = await Line.open(house, `/data-stream${IEX}`)
  line.say({ action: 'subscribe', trades: ['SPY'] })
  line.say('nonsense')
  line.say({ action: 'dance' })
  line.say({ action: 'auth', key: keys.key_id, secret: keys.secret_key })
  line.say({ action: 'auth', key: keys.key_id, secret: keys.secret_key })
  await line.until(messages => messages.length === 6)
  assert.deepEqual(line.messages, [
    { T: 'success', msg: 'connected' },
    { T: 'error', code: 401, msg: 'not authenticated' },
    { T: 'error', code: 400, msg: 'invalid syntax' },
    { T: 'error', code: 400, msg: 'invalid syntax' },
    { T: 'success', msg: 'authenticated' },
    { T: 'error', code: 403, msg: 'already authenticated' }
  ])
  assert.ok(line.binary.every(isBinary => !isBinary))
  line.close()
})

test('whoever is not known is sent away; so is a token without the scope', async () => {
  await using house = await openHouse()
  const stranger = await Line.open(house, `/data-stream${IEX}`)
  stranger.say({ action: 'auth', key: 'PKNOBODY', secret: 'nothing' })
  await stranger.until((_messages, { closed }) => closed !== undefined)
  assert.deepEqual(last(stranger), { T: 'error', code: 402, msg: 'auth failed' })
  const { token } = await Client.of(house)
  const known = await Line.open(house, `/data-stream${IEX}`, { headers: { authorization: `Bearer ${token}` } })
  await known.until(messages => messages.length === 2)
  assert.deepEqual(known.messages, [
    { T: 'success', msg: 'connected' },
    { T: 'success', msg: 'authenticated' }
  ])
  known.close()
  const wrong = await Line.open(house, `/data-stream${IEX}`, { headers: { 'apca-api-key-id': 'PKNOBODY', 'apca-api-secret-key': 'x' } })
  await wrong.until((_messages, { closed }) => closed !== undefined)
  assert.equal(last(wrong).code, 402)
})

test('subscriptions add up, and are always told whole', async () => {
  await using house = await openHouse()
  const line = await Line.ofData(await Client.of(house), IEX)
  const asks = async (message: Wire) => {
    const before = line.messages.length
    line.say(message)
    await line.until(messages => messages.length > before)
    return last(line)
  }
  const none = { updatedBars: [], dailyBars: [], statuses: [], lulds: [], imbalances: [] }
  assert.deepEqual(await asks({ action: 'subscribe', trades: ['SPY'], bars: ['*'] }), {
    ...{ T: 'subscription', trades: ['SPY'], quotes: [], bars: ['*'], ...none },
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
  await control(house, 'PUT', '/dialects/alpaca', { symbols_per_stream: 3 })
  line.close()
  const small = await Line.ofData(await Client.of(house), IEX)
  small.say({ action: 'subscribe', trades: ['SPY', 'AAPL'], quotes: ['SPY'] })
  small.say({ action: 'subscribe', quotes: ['AAPL'] })
  await small.until(messages => messages.some(({ code }) => code === 405))
  small.say({ action: 'unsubscribe', trades: ['NOSUCH'] })
  await small.until(messages => last(small).T === 'subscription' && messages.length > 4)
  assert.deepEqual([last(small).trades, last(small).quotes], [['SPY', 'AAPL'], ['SPY']], 'a refused subscription changes nothing')
  small.close()
})

test('trades and quotes are told as they happen, and those of before are not', async () => {
  await using house = await openHouse()
  const client = await Client.of(house)
  const [line, other] = [await Line.ofData(client, IEX), await Line.ofData(client, '/v2/sip')]
  line.say({ action: 'subscribe', trades: ['SPY'], quotes: ['SPY'] })
  other.say({ action: 'subscribe', trades: ['*'] })
  for (const each of [line, other]) await each.until(() => kinds(each, 'subscription').length === 1)
  await price(house, 'SPY', '501.00')
  await line.until(() => kinds(line, 't').length === 1 && kinds(line, 'q').length === 1)
  const [trade] = kinds(line, 't')
  const { S, x, p, c, z } = trade
  assert.deepEqual({ S, x, p, c, z }, { S: 'SPY', x: 'P', p: 501, c: ['@'], z: 'C' })
  assert.ok(Number.isSafeInteger(trade.i) && trade.s > 0)
  assert.match(trade.t, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/)
  const [quote] = kinds(line, 'q')
  assert.ok(quote.bp <= 501 && quote.ap >= 501 && quote.bs > 0 && quote.as > 0)
  assert.deepEqual([quote.bx, quote.ax, quote.z], ['P', 'P', 'C'])
  await price(house, 'AAPL', '200.00')
  await other.until(() => kinds(other, 't').length === 2)
  assert.deepEqual(
    kinds(other, 't').map((item: Wire) => item.S),
    ['SPY', 'AAPL']
  )
  line.say({ action: 'unsubscribe', trades: ['SPY'], quotes: ['SPY'] })
  await line.until(() => kinds(line, 'subscription').length === 2)
  await price(house, 'SPY', '502.00')
  await other.until(() => kinds(other, 't').length === 3)
  assert.equal(kinds(line, 't').length, 1)
  line.close()
  other.close()
})

test('a bar is told when its minute is over, and the day with it', async () => {
  await using house = await openHouse({}, { realNow: beginningAt('2027-01-05T15:00:00Z') })
  const client = await Client.of(house)
  await control(house, 'PUT', '/clock', { set: '2027-01-05T15:10:30Z' })
  const line = await Line.ofData(client, IEX)
  line.say({ action: 'subscribe', bars: ['SPY'], dailyBars: ['SPY'] })
  await line.until(() => kinds(line, 'subscription').length === 1)
  await control(house, 'PUT', '/clock', { set: '2027-01-05T15:12:01Z' })
  await line.until(() => kinds(line, 'b').length === 2 && kinds(line, 'd').length >= 1)
  const told = kinds(line, 'b')
  const { bars } = await client.okData('/v2/stocks/SPY/bars?timeframe=1Min&start=2027-01-05T15:10:00Z&end=2027-01-05T15:11:00Z')
  assert.deepEqual(
    told.map(({ T: _T, S: _S, ...bar }: Wire) => bar),
    bars
  )
  assert.equal(kinds(line, 'd').at(-1).t, '2027-01-05T05:00:00Z')
  line.close()
})

test('a book comes whole at first, then in levels that changed', async () => {
  await using house = await openHouse()
  const client = await Client.of(house)
  const set = (bids: Wire, asks: Wire) => control(house, 'PUT', '/market/BTC%2FUSD', { bids, asks })
  await set(
    [
      ['90000', '1'],
      ['89999', '2']
    ],
    [['90001', '3']]
  )
  const [line, later] = [await Line.ofData(client, COINS), await Line.ofData(client, '/v1beta3/crypto/us-1')]
  line.say({ action: 'subscribe', orderbooks: ['BTC/USD'] })
  await line.until(() => kinds(line, 'o').length === 1)
  const [whole] = kinds(line, 'o')
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
  await line.until(() => kinds(line, 'o').length === 2)
  const { b, a, r } = kinds(line, 'o')[1]
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
  later.say({ action: 'subscribe', orderbooks: ['BTC/USD'] })
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
  line.close()
  later.close()
})

test('options are told in MessagePack only, and have neither bars nor everything', async () => {
  await using house = await openHouse()
  const client = await Client.of(house)
  const { option_contracts: contracts } = await client.ok('GET', '/v2/options/contracts?underlying_symbols=SPY&limit=1')
  const { symbol } = contracts[0]
  const line = await Line.ofData(client, OPTIONS, { packs: true })
  line.sayBytes(pack({ action: 'subscribe', quotes: [symbol], trades: [symbol] }))
  await line.until(() => kinds(line, 'subscription').length === 1)
  assert.deepEqual(kinds(line, 'subscription'), [{ T: 'subscription', trades: [symbol], quotes: [symbol] }])
  line.sayBytes(pack({ action: 'subscribe', bars: [symbol] }))
  await line.until(messages => messages.some(({ code }) => code === 410))
  line.sayBytes(pack({ action: 'subscribe', quotes: ['*'] }))
  await line.until(messages => messages.some(({ code }) => code === 400))
  await control(house, 'PUT', `/market/${symbol}`, { price: '12.50' })
  await line.until(() => kinds(line, 't').length === 1 && kinds(line, 'q').length >= 1)
  const [trade] = kinds(line, 't')
  assert.deepEqual([trade.S, trade.p, trade.x, trade.c], [symbol, 12.5, 'C', 'I'])
  assert.ok(line.binary.every(isBinary => isBinary))
  line.close()
})

test('a login has so many streams of one endpoint and no more; the place is free again when one ends', async () => {
  await using house = await openHouse()
  const client = await Client.of(house)
  await control(house, 'PUT', '/dialects/alpaca', { connections_per_stream: 1 })
  const first = await Line.ofData(client, IEX)
  const second = await Line.open(house, `/data-stream${IEX}`)
  second.say({ action: 'auth', key: 'oauth', secret: client.token })
  await second.until((_messages, { closed }) => closed !== undefined)
  assert.deepEqual(last(second), { T: 'error', code: 406, msg: 'connection limit exceeded' })
  const [elsewhere, robin] = [await Line.ofData(client, COINS), await Line.ofData(await Client.of(house, 'robin'), IEX)]
  for (const line of [first, elsewhere, robin]) line.close()
  const { items } = await control(house, 'GET', '/streams')
  assert.ok(Array.isArray(items))
  let again: Line | undefined
  for (let tries = 0; again === undefined && tries < 50; tries++) {
    const line = await Line.open(house, `/data-stream${IEX}`)
    line.say({ action: 'auth', key: 'oauth', secret: client.token })
    await line.until(messages => messages.length === 2)
    if (last(line).msg === 'authenticated') again = line
  }
  assert.ok(again !== undefined)
  again.close()
})

test('streams of market data misbehave apart from those of orders', async () => {
  await using house = await openHouse()
  const client = await Client.of(house)
  const [line, orders] = [await Line.ofData(client, IEX), await Line.ofOrders(client)]
  line.say({ action: 'subscribe', trades: ['SPY'] })
  await line.until(() => kinds(line, 'subscription').length === 1)
  assert.equal((await control(house, 'POST', '/streams', { dialect: 'alpaca', on: 'market', do: 'lose', times: 1 })).streams, 1)
  await price(house, 'SPY', '501.00')
  await price(house, 'SPY', '502.00')
  await line.until(() => kinds(line, 't').length === 1)
  assert.equal(kinds(line, 't')[0].p, 502)
  await control(house, 'POST', '/streams', { dialect: 'alpaca', on: 'market', do: 'drop', code: 4001 })
  await line.until((_messages, { closed }) => closed === 4001)
  const { id } = await client.buy('1')
  await orders.hears(id, 'fill')
  orders.close()
})
