import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Topic } from '@trunkline/core/ports/market'
import { soon } from '@trunkline/testkit/patience'
import { until } from '@trunkline/testkit/until'
import { RecordingSink } from '../../support/recording-sink.ts'
import { bodyText } from '../fixtures.ts'
import { as, json, openAt, TOKEN, Venue } from '../venue.ts'
import { knowsSymbols, ScriptedStream } from './streams.ts'

const trades = (symbol: string): Topic => ({ channel: 'trades', symbol })
const quotes = (symbol: string): Topic => ({ channel: 'quotes', symbol })
const OPTION = 'AAPL261218C00250000'
const trade = (symbol: string, i: number, more: object = {}) => ({
  T: 't',
  S: symbol,
  i,
  x: 'V',
  p: 100.5,
  s: 10,
  t: '2026-11-03T15:51:44.5Z',
  ...more
})
const quote = (symbol: string, bp: number) => ({ T: 'q', S: symbol, bp, bs: 1, ap: bp + 1, as: 2, t: '2026-11-03T15:51:44.5Z' })

test('one connection an endpoint; what one turn requests goes in one message, and each kind of item reaches its own', async () => {
  await using venue = await Venue.start()
  knowsSymbols(venue)
  const stocks = new ScriptedStream(venue, '/v2/iex')
  await using opened = openAt(venue)
  const sinks = { trades: new RecordingSink(), quotes: new RecordingSink(), other: new RecordingSink() }
  opened.market.stream(trades('AAPL'), sinks.trades)
  opened.market.stream(quotes('AAPL'), sinks.quotes)
  opened.market.stream(trades('MSFT'), sinks.other)
  for (const each of Object.values(sinks)) await each.receives('live')
  assert.equal(venue.sockets.length, 1)
  const [auth, ...subscribes] = stocks.received
  assert.deepEqual(auth, { action: 'auth', key: 'oauth', secret: TOKEN.access_token })
  assert.deepEqual(subscribes.flatMap(({ trades: list = [] }) => list).toSorted(), ['AAPL', 'MSFT'])
  stocks.send(bodyText('market.stream'))
  await sinks.quotes.receives('live', 'quote')
  assert.deepEqual(sinks.trades.events, [{ price: '126.55', size: '1', venue: 'D', at: '1793721104208000001', effect: 'volume' }])
  assert.deepEqual(sinks.quotes.events, [{ bidPrice: null, bidSize: null, askPrice: '126.6', askSize: '300', at: '1793721105335689322' }])
  await sinks.other.receives('live')
  assert.ok(opened.market.presentMs() >= Date.UTC(2026, 10, 3, 15, 51, 45))
})

test('crypto: trades, and the order book from its full state and its changes', async () => {
  await using venue = await Venue.start()
  knowsSymbols(venue)
  const crypto = new ScriptedStream(venue, '/v1beta3/crypto/us')
  await using opened = openAt(venue)
  const [depth, traded] = [new RecordingSink(), new RecordingSink()]
  opened.market.stream({ channel: 'depth', symbol: 'BTC/USD' }, depth)
  opened.market.stream(trades('BTC/USD'), traded)
  await depth.receives('live')
  await traded.receives('live')
  crypto.send(bodyText('market.stream'))
  await traded.receives('live', 'trade')
  assert.deepEqual(traded.events, [{ price: '66052.25', size: '0.000378', venue: '', at: '1793721106250000000', effect: 'all' }])
  const [whole, changed] = depth.events.map(({ bids, asks }) =>
    [bids, asks].map(side => side.map((level: { price: string; size: string }) => `${level.size} at ${level.price}`))
  )
  assert.deepEqual(whole, [['0.5 at 66051.6', '0.0000002 at 66050'], ['1 at 66053.5']])
  assert.deepEqual(changed, [['0.1 at 66052', '0.0000002 at 66050'], ['2 at 66053.5']])
})

test('options use MessagePack', async () => {
  await using venue = await Venue.start()
  knowsSymbols(venue)
  const options = new ScriptedStream(venue, '/v1beta1/indicative', { isBytes: true })
  await using opened = openAt(venue)
  const [traded, quoted] = [new RecordingSink(), new RecordingSink()]
  opened.market.stream(trades(OPTION), traded)
  opened.market.stream(quotes(OPTION), quoted)
  await traded.receives('live')
  await quoted.receives('live')
  assert.equal(venue.sockets[0]?.headers['content-type'], 'application/msgpack')
  options.send([{ T: 't', S: OPTION, p: 3.1, s: 2, t: '1793721104208000001', x: 'C', c: 'I' }])
  options.send([quote(OPTION, 3.05)])
  await traded.receives('live', 'trade')
  await quoted.receives('live', 'quote')
  assert.deepEqual(traded.events, [{ price: '3.1', size: '2', venue: 'C', at: '1793721104208000001', effect: 'all' }])
})

test('the present quote is read, unless the stream was faster', async () => {
  await using venue = await Venue.start()
  knowsSymbols(venue)
  venue.on('GET /data/v2/stocks/quotes/latest', ({ query }) => {
    assert.equal(query.get('feed'), 'iex')
    return as('market.quotes')
  })
  const stocks = new ScriptedStream(venue, '/v2/iex')
  await using opened = openAt(venue)
  const sink = new RecordingSink()
  opened.market.stream(quotes('AAPL'), sink)
  await sink.receives('live', 'quote')
  assert.deepEqual(sink.events[0], { bidPrice: '150.2', bidSize: '100', askPrice: '150.25', askSize: '300', at: '1793718617123456789' })
  const fast = new RecordingSink()
  let release = () => {}
  venue.on('GET /data/v2/stocks/quotes/latest', () => {
    stocks.send([quote('MSFT', 300)])
    release()
    return json(200, { quotes: { MSFT: { ...quote('MSFT', 200), T: undefined } } })
  })
  const requested = new Promise<void>(resolve => {
    release = resolve
  })
  opened.market.stream(quotes('MSFT'), fast)
  await requested
  await until(() => fast.events.length > 0, 'the quote')
  assert.deepEqual([fast.history, fast.events[0].bidPrice], [['live', 'quote'], '300'])
})

test('a trade sent twice counts once', async () => {
  await using venue = await Venue.start()
  knowsSymbols(venue)
  const stocks = new ScriptedStream(venue, '/v2/iex')
  await using opened = openAt(venue)
  const sink = new RecordingSink()
  opened.market.stream(trades('AAPL'), sink)
  await sink.receives('live')
  for (const item of [trade('AAPL', 1), trade('AAPL', 2), trade('AAPL', 1), trade('AAPL', 1, { x: 'D' })]) stocks.send([item])
  await sink.receives('live', 'trade', 'trade', 'trade')
})

test('of many symbols only the one that is not taken is refused', async () => {
  await using venue = await Venue.start()
  knowsSymbols(venue)
  const stocks = new ScriptedStream(venue, '/v2/iex')
  stocks.refuses = ({ trades: list = [] }) => (list.includes('MSFT') ? { code: 405, msg: 'symbol limit exceeded' } : null)
  await using opened = openAt(venue)
  const [good, bad] = [new RecordingSink(), new RecordingSink()]
  // Both are known before either is requested, so that they go together.
  await Promise.all(['AAPL', 'MSFT'].map(symbol => opened.market.instrument(symbol, soon())))
  opened.market.stream(trades('AAPL'), good)
  opened.market.stream(trades('MSFT'), bad)
  await good.receives('live')
  await bad.receives('refused')
  assert.match(bad.events[0], /symbol limit exceeded/)
})

test('what is released is unsubscribed and published no more; the last one closes the connection', async () => {
  await using venue = await Venue.start()
  knowsSymbols(venue)
  const stocks = new ScriptedStream(venue, '/v2/iex')
  await using opened = openAt(venue)
  const [gone, stays] = [new RecordingSink(), new RecordingSink()]
  const lease = opened.market.stream(trades('AAPL'), gone)
  const other = opened.market.stream(trades('MSFT'), stays)
  await gone.receives('live')
  await stays.receives('live')
  lease[Symbol.dispose]()
  await until(() => stocks.received.some(({ action }) => action === 'unsubscribe'), 'it is unsubscribed')
  stocks.send([trade('AAPL', 1), trade('MSFT', 1)])
  await stays.receives('live', 'trade')
  assert.deepEqual(gone.history, ['live'])
  assert.throws(() => opened.market.stream(trades('MSFT'), new RecordingSink()), /streamed once/)
  other[Symbol.dispose]()
  await until(() => venue.open === 0, 'the connection is closed')
})

test('a renewal is a loss and live again for that topic alone', async () => {
  await using venue = await Venue.start()
  knowsSymbols(venue)
  const stocks = new ScriptedStream(venue, '/v2/iex')
  await using opened = openAt(venue)
  const [renewed, other] = [new RecordingSink(), new RecordingSink()]
  const lease = opened.market.stream(trades('AAPL'), renewed)
  opened.market.stream(trades('MSFT'), other)
  await renewed.receives('live')
  await other.receives('live')
  lease.renew()
  await renewed.receives('live', 'lost silence', 'live')
  assert.deepEqual(stocks.received.slice(-2), [
    { action: 'unsubscribe', trades: ['AAPL'] },
    { action: 'subscribe', trades: ['AAPL'] }
  ])
  await other.receives('live')
})

test('a stream that is too slow for Alpaca is a loss, and recovered', async () => {
  await using venue = await Venue.start()
  knowsSymbols(venue)
  const stocks = new ScriptedStream(venue, '/v2/iex')
  await using opened = openAt(venue)
  const sink = new RecordingSink()
  opened.market.stream(trades('AAPL'), sink)
  await sink.receives('live')
  stocks.send([{ T: 'error', code: 407, msg: 'slow client' }])
  await sink.receives('live', 'lost overflow', 'live')
})

test('another connection in our place is reported as refused, until it is gone', async () => {
  await using venue = await Venue.start()
  knowsSymbols(venue)
  const stocks = new ScriptedStream(venue, '/v2/iex')
  stocks.admits = () => ({ T: 'error', code: 406, msg: 'connection limit exceeded' })
  await using opened = openAt(venue)
  const sink = new RecordingSink()
  opened.market.stream(trades('AAPL'), sink)
  await sink.receives('lost refused')
  await until(() => venue.sockets.length >= 2, 'tried again')
  assert.deepEqual(sink.history, ['lost refused'])
  stocks.admits = () => ({ T: 'success', msg: 'authenticated' })
  await sink.receives('lost refused', 'live')
})

test('after the stream refuses the credentials the account is requested; its refusal ends the stream until a new subscription', async () => {
  await using venue = await Venue.start()
  knowsSymbols(venue)
  const stocks = new ScriptedStream(venue, '/v2/iex')
  await using opened = openAt(venue)
  const sink = new RecordingSink()
  await opened.market.instrument('AAPL', soon())
  stocks.admits = () => ({ T: 'error', code: 402, msg: 'auth failed' })
  venue.on('GET /api/v2/account', as('error.unauthorized'))
  opened.market.stream(trades('AAPL'), sink)
  await sink.receives('lost token')
  await until(() => venue.requests('GET /api/v2/account').length === 1, 'the account is requested')
  await until(() => venue.open === 0, 'the socket is gone')
  assert.equal(venue.sockets.length, 1)
})

test('bars and order books that Alpaca does not stream are refused', async () => {
  await using venue = await Venue.start()
  await using opened = openAt(venue)
  const [bars, depth] = [new RecordingSink(), new RecordingSink()]
  opened.market.stream({ channel: 'bars', symbol: 'AAPL', interval: '1m' }, bars)
  opened.market.stream({ channel: 'depth', symbol: 'AAPL' }, depth)
  await bars.receives('refused')
  await depth.receives('refused')
})
