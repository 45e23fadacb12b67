import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Topic } from '@trunkline/core/ports/market'
import { soon } from '@trunkline/testkit/patience'
import { until } from '@trunkline/testkit/until'
import { bodyText } from '../fixtures.ts'
import { as, json, openAt, TOKEN, Venue } from '../venue.ts'
import { knowsSymbols, ScriptedStream } from './streams.ts'
import { Told } from './told.ts'

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

test('one connection an endpoint; what a turn asks for goes in one message, and each kind of item reaches its own', async () => {
  await using venue = await Venue.start()
  knowsSymbols(venue)
  const stocks = new ScriptedStream(venue, '/v2/iex')
  await using opened = openAt(venue)
  const told = { trades: new Told(), quotes: new Told(), other: new Told() }
  opened.market.stream(trades('AAPL'), told.trades)
  opened.market.stream(quotes('AAPL'), told.quotes)
  opened.market.stream(trades('MSFT'), told.other)
  for (const each of Object.values(told)) await each.hears('live')
  assert.equal(venue.sockets.length, 1)
  const [auth, ...subscribes] = stocks.heard
  assert.deepEqual(auth, { action: 'auth', key: 'oauth', secret: TOKEN.access_token })
  assert.deepEqual(subscribes.flatMap(({ trades: list = [] }) => list).toSorted(), ['AAPL', 'MSFT'])
  stocks.say(bodyText('market.stream'))
  await told.quotes.hears('live', 'quote')
  assert.deepEqual(told.trades.events, [{ price: '126.55', size: '1', venue: 'D', at: '1793721104208000001', effect: 'volume' }])
  assert.deepEqual(told.quotes.events, [{ bidPrice: null, bidSize: null, askPrice: '126.6', askSize: '300', at: '1793721105335689322' }])
  await told.other.hears('live')
  assert.ok(opened.market.presentMs() >= Date.UTC(2026, 10, 3, 15, 51, 45))
})

test('coins: trades, and the book from its whole and its changes', async () => {
  await using venue = await Venue.start()
  knowsSymbols(venue)
  const coins = new ScriptedStream(venue, '/v1beta3/crypto/us')
  await using opened = openAt(venue)
  const [book, traded] = [new Told(), new Told()]
  opened.market.stream({ channel: 'depth', symbol: 'BTC/USD' }, book)
  opened.market.stream(trades('BTC/USD'), traded)
  await book.hears('live')
  await traded.hears('live')
  coins.say(bodyText('market.stream'))
  await traded.hears('live', 'trade')
  assert.deepEqual(traded.events, [{ price: '66052.25', size: '0.000378', venue: '', at: '1793721106250000000', effect: 'all' }])
  const [whole, changed] = book.events.map(({ bids, asks }) =>
    [bids, asks].map(side => side.map((level: { price: string; size: string }) => `${level.size} at ${level.price}`))
  )
  assert.deepEqual(whole, [['0.5 at 66051.6', '0.0000002 at 66050'], ['1 at 66053.5']])
  assert.deepEqual(changed, [['0.1 at 66052', '0.0000002 at 66050'], ['2 at 66053.5']])
})

test('options speak MessagePack', async () => {
  await using venue = await Venue.start()
  knowsSymbols(venue)
  const options = new ScriptedStream(venue, '/v1beta1/indicative', { isBytes: true })
  await using opened = openAt(venue)
  const [traded, quoted] = [new Told(), new Told()]
  opened.market.stream(trades(OPTION), traded)
  opened.market.stream(quotes(OPTION), quoted)
  await traded.hears('live')
  await quoted.hears('live')
  assert.equal(venue.sockets[0]?.headers['content-type'], 'application/msgpack')
  options.say([{ T: 't', S: OPTION, p: 3.1, s: 2, t: '1793721104208000001', x: 'C', c: 'I' }])
  options.say([quote(OPTION, 3.05)])
  await traded.hears('live', 'trade')
  await quoted.hears('live', 'quote')
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
  const told = new Told()
  opened.market.stream(quotes('AAPL'), told)
  await told.hears('live', 'quote')
  assert.deepEqual(told.events[0], { bidPrice: '150.2', bidSize: '100', askPrice: '150.25', askSize: '300', at: '1793718617123456789' })
  const fast = new Told()
  let release = () => {}
  venue.on('GET /data/v2/stocks/quotes/latest', () => {
    stocks.say([quote('MSFT', 300)])
    release()
    return json(200, { quotes: { MSFT: { ...quote('MSFT', 200), T: undefined } } })
  })
  const asked = new Promise<void>(resolve => {
    release = resolve
  })
  opened.market.stream(quotes('MSFT'), fast)
  await asked
  await until(() => fast.events.length > 0, 'the quote')
  assert.deepEqual([fast.words, fast.events[0].bidPrice], [['live', 'quote'], '300'])
})

test('a trade told twice counts once', async () => {
  await using venue = await Venue.start()
  knowsSymbols(venue)
  const stocks = new ScriptedStream(venue, '/v2/iex')
  await using opened = openAt(venue)
  const told = new Told()
  opened.market.stream(trades('AAPL'), told)
  await told.hears('live')
  for (const item of [trade('AAPL', 1), trade('AAPL', 2), trade('AAPL', 1), trade('AAPL', 1, { x: 'D' })]) stocks.say([item])
  await told.hears('live', 'trade', 'trade', 'trade')
})

test('a symbol that Alpaca does not know is refused without asking the stream', async () => {
  await using venue = await Venue.start()
  knowsSymbols(venue)
  new ScriptedStream(venue, '/v2/iex')
  await using opened = openAt(venue)
  const told = new Told()
  opened.market.stream(trades('NOSUCH'), told)
  await told.hears('refused')
  assert.equal(venue.sockets.length, 0)
})

test('of many symbols only the one that is not taken is refused', async () => {
  await using venue = await Venue.start()
  knowsSymbols(venue)
  const stocks = new ScriptedStream(venue, '/v2/iex')
  stocks.refuses = ({ trades: list = [] }) => (list.includes('MSFT') ? { code: 405, msg: 'symbol limit exceeded' } : null)
  await using opened = openAt(venue)
  const [good, bad] = [new Told(), new Told()]
  // Both are known before either is asked for, so that they go together.
  await Promise.all(['AAPL', 'MSFT'].map(symbol => opened.market.instrument(symbol, soon())))
  opened.market.stream(trades('AAPL'), good)
  opened.market.stream(trades('MSFT'), bad)
  await good.hears('live')
  await bad.hears('refused')
  assert.match(bad.events[0], /symbol limit exceeded/)
})

test('what is let go is unsubscribed and told no more; the last one closes the connection', async () => {
  await using venue = await Venue.start()
  knowsSymbols(venue)
  const stocks = new ScriptedStream(venue, '/v2/iex')
  await using opened = openAt(venue)
  const [gone, stays] = [new Told(), new Told()]
  const lease = opened.market.stream(trades('AAPL'), gone)
  const other = opened.market.stream(trades('MSFT'), stays)
  await gone.hears('live')
  await stays.hears('live')
  lease[Symbol.dispose]()
  await until(() => stocks.heard.some(({ action }) => action === 'unsubscribe'), 'it is unsubscribed')
  stocks.say([trade('AAPL', 1), trade('MSFT', 1)])
  await stays.hears('live', 'trade')
  assert.deepEqual(gone.words, ['live'])
  assert.throws(() => opened.market.stream(trades('MSFT'), new Told()), /streamed once/)
  other[Symbol.dispose]()
  await until(() => venue.open === 0, 'the connection is closed')
})

test('a renewal is a loss and live again for that topic alone', async () => {
  await using venue = await Venue.start()
  knowsSymbols(venue)
  const stocks = new ScriptedStream(venue, '/v2/iex')
  await using opened = openAt(venue)
  const [renewed, other] = [new Told(), new Told()]
  const lease = opened.market.stream(trades('AAPL'), renewed)
  opened.market.stream(trades('MSFT'), other)
  await renewed.hears('live')
  await other.hears('live')
  lease.renew()
  await renewed.hears('live', 'lost silence', 'live')
  assert.deepEqual(stocks.heard.slice(-2), [
    { action: 'unsubscribe', trades: ['AAPL'] },
    { action: 'subscribe', trades: ['AAPL'] }
  ])
  await other.hears('live')
})

test('a lost connection, and one that says what cannot be read, are losses of every topic, and mended', async () => {
  await using venue = await Venue.start()
  knowsSymbols(venue)
  const stocks = new ScriptedStream(venue, '/v2/iex')
  await using opened = openAt(venue)
  const told = new Told()
  opened.market.stream(trades('AAPL'), told)
  await told.hears('live')
  venue.last.terminate()
  await told.hears('live', 'lost lost', 'live')
  stocks.say('[{"T":"t","S":"AAPL","p":"nonsense"}]')
  await told.hears('live', 'lost lost', 'live', 'lost malformed', 'live')
  stocks.say([{ T: 'error', code: 407, msg: 'slow client' }])
  await told.hears('live', 'lost lost', 'live', 'lost malformed', 'live', 'lost overflow', 'live')
})

test('another connection in our place is told as refused, until it is gone', async () => {
  await using venue = await Venue.start()
  knowsSymbols(venue)
  const stocks = new ScriptedStream(venue, '/v2/iex')
  stocks.admits = () => ({ T: 'error', code: 406, msg: 'connection limit exceeded' })
  await using opened = openAt(venue)
  const told = new Told()
  opened.market.stream(trades('AAPL'), told)
  await told.hears('lost refused')
  await until(() => venue.sockets.length >= 2, 'tried again')
  assert.deepEqual(told.words, ['lost refused'])
  stocks.admits = () => ({ T: 'success', msg: 'authenticated' })
  await told.hears('lost refused', 'live')
})

test('credentials that the stream refuses are asked of the account; its word ends it until somebody asks anew', async () => {
  await using venue = await Venue.start()
  knowsSymbols(venue)
  const stocks = new ScriptedStream(venue, '/v2/iex')
  await using opened = openAt(venue)
  const told = new Told()
  await opened.market.instrument('AAPL', soon())
  stocks.admits = () => ({ T: 'error', code: 402, msg: 'auth failed' })
  venue.on('GET /api/v2/account', as('error.unauthorized'))
  opened.market.stream(trades('AAPL'), told)
  await told.hears('lost token')
  await until(() => venue.asked('GET /api/v2/account').length === 1, 'the account is asked')
  await until(() => venue.open === 0, 'the socket is gone')
  assert.equal(venue.sockets.length, 1)
})

test('bars and books that Alpaca does not stream are refused', async () => {
  await using venue = await Venue.start()
  await using opened = openAt(venue)
  const [bars, book] = [new Told(), new Told()]
  opened.market.stream({ channel: 'bars', symbol: 'AAPL', interval: '1m' }, bars)
  opened.market.stream({ channel: 'depth', symbol: 'AAPL' }, book)
  await bars.hears('refused')
  await book.hears('refused')
})
