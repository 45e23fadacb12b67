import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Bar, ChainEntry, Quote, Trade } from '@trunkline/core/domain/market/records'
import { parseDay } from '@trunkline/core/domain/timestamp'
import type { MarketSource, Topic, TopicLease } from '@trunkline/core/ports/market'
import { soon } from '@trunkline/testkit/patience'
import { until } from '@trunkline/testkit/until'
import { RecordingSink } from '../../support/recording-sink.ts'
import { json } from '../../support/scripted-host.ts'
import { fixture, type Json } from '../fixtures.ts'
import { Venue } from '../venue.ts'

/** With the content of what is received, and its lease. */
class Sink extends RecordingSink implements Disposable {
  readonly lease: TopicLease

  constructor(market: MarketSource | null, topic: Topic) {
    super()
    assert.ok(market !== null)
    this.lease = market.stream(topic, this)
  }

  override refused(message: string): void {
    this.history.push(`refused ${message}`)
  }

  override trade({ price, size }: Trade): void {
    this.history.push(`${size} at ${price}`)
  }

  override quote({ bidPrice, askPrice }: Quote): void {
    this.history.push(`${bidPrice}/${askPrice}`)
  }

  override bar({ closed }: Bar): void {
    this.history.push(closed ? 'closed' : 'open')
  }

  override chain({ symbol }: ChainEntry): void {
    this.history.push(symbol)
  }

  [Symbol.dispose](): void {
    this.lease[Symbol.dispose]()
  }
}

const quotes = (symbol: string): Topic => ({ channel: 'quotes', symbol })
const trades = (symbol: string): Topic => ({ channel: 'trades', symbol })
const line = (symbol: string, bid: string, volume = '100'): Json => ({
  Symbol: symbol,
  Bid: bid,
  BidSize: '1',
  Ask: '9',
  AskSize: '1',
  Last: bid,
  LastSize: '5',
  Volume: volume,
  TradeTime: '2026-11-20T15:00:00Z'
})
/** What each quote stream that is open has, in the order they were opened. */
const streamed = (venue: Venue) => venue.open('/quotes/').map(path => decodeURIComponent(path.split('/').at(-1) ?? ''))
const isOpen = (venue: Venue, count: number) => until(() => venue.streams.length >= count, `${count} streams were opened`)

test('what is requested in one turn goes over one stream, and a symbol once', async () => {
  await using venue = await Venue.start()
  const { market } = venue.broker
  using a = new Sink(market, quotes('MSFT'))
  using b = new Sink(market, trades('MSFT'))
  using c = new Sink(market, quotes('BRK.B'))
  await isOpen(venue, 1)
  assert.deepEqual(streamed(venue), ['MSFT,BRK.B'])
  venue.send('BRK.B', line('MSFT', '1'), line('brk.b', '2'), { Symbol: 'MSFT', Bid: '1.5' }, { Symbol: 'MSFT', Volume: '107' })
  await a.receives('live', '1/9', '1.5/9')
  await b.receives('live', '7 at 1')
  await c.receives('live', '2/9')
  // What is streamed already begins with the present quote, and sends no request.
  b[Symbol.dispose]()
  using again = new Sink(market, trades('MSFT'))
  await again.receives('live')
  assert.equal(venue.streams.length, 1)
})

test('more symbols than a stream has get another one, and each is closed with its last', async () => {
  await using venue = await Venue.start()
  const names = Array.from(
    { length: 150 },
    (_, index) => `S${String.fromCharCode(65 + (index % 26))}${String.fromCharCode(65 + Math.floor(index / 26))}`
  )
  const sinks = names.map(name => new Sink(venue.broker.market, quotes(name)))
  await isOpen(venue, 2)
  assert.deepEqual(
    streamed(venue).map(symbols => symbols.split(',').length),
    [100, 50]
  )
  for (const sink of sinks.slice(100)) sink[Symbol.dispose]()
  await until(() => venue.open().length === 1, 'one is closed')
  for (const sink of sinks) sink[Symbol.dispose]()
  await until(() => venue.open().length === 0, 'both are closed')
})

test('streams that do not fit together stay as they are, however many there are', async () => {
  await using venue = await Venue.start()
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
  const names = letters.flatMap(first => letters.map(second => first + second))
  for (let group = 0; group < 5; group += 1) {
    const [first = '', ...others] = names.slice(group * 60, group * 60 + 60)
    const sink = new Sink(venue.broker.market, quotes(first))
    for (const name of others) new Sink(venue.broker.market, quotes(name))
    await isOpen(venue, group + 1)
    venue.send(streamed(venue)[group] ?? '', line(first, '1'))
    await sink.receives('live', '1/9')
  }
  // One more symbol fits into one of them: its own stream, and then one with both.
  const last = new Sink(venue.broker.market, quotes('ZZ'))
  await isOpen(venue, 7)
  const joined = streamed(venue).find(symbols => symbols.includes(',ZZ') || symbols.startsWith('ZZ,')) ?? ''
  assert.equal(joined.split(',').length, 61)
  venue.send(joined, line('ZZ', '1'))
  await last.receives('live', '1/9')
  assert.equal(venue.streams.length, 7)
})

test('many small streams are put together symbol by symbol, without a loss or a trade twice', async () => {
  await using venue = await Venue.start()
  const names = ['AA', 'BB', 'CC', 'DD', 'EE']
  const sinks: [Sink, Sink][] = []
  for (const [index, name] of names.slice(0, 4).entries()) {
    sinks.push([new Sink(venue.broker.market, quotes(name)), new Sink(venue.broker.market, trades(name))])
    await isOpen(venue, index + 1)
    venue.send(name, line(name, '1'))
    await sinks.at(-1)?.[0].receives('live', '1/9')
  }
  // The fifth has a small stream and the joined one at once, which arrive in any order; the joined one counts.
  sinks.push([new Sink(venue.broker.market, quotes('EE')), new Sink(venue.broker.market, trades('EE'))])
  await isOpen(venue, 6)
  const joined = streamed(venue).find(symbols => symbols.includes(',')) ?? ''
  assert.deepEqual(joined.split(',').toSorted(), names)
  venue.send(joined, line('EE', '1'))
  await sinks[4]?.[0].receives('live', '1/9')
  // Until it delivers a symbol, the other stream does.
  venue.send('AA', { Symbol: 'AA', Volume: '103' })
  await sinks[0]?.[1].receives('live', '3 at 1')
  venue.send(joined, line('AA', '1', '110'))
  await sinks[0]?.[1].receives('live', '3 at 1', '7 at 1')
  for (const name of names.slice(1, 4)) venue.send(joined, line(name, '1'))
  await until(() => venue.open().length === 1, 'the small ones are closed')
  venue.send(joined, { Symbol: 'EE', Bid: '2' })
  await sinks[4]?.[0].receives('live', '1/9', '2/9')
  for (const [quote, trade] of sinks) assert.ok(![...quote.history, ...trade.history].some(kind => kind.startsWith('lost')))
})

test('a loss is published to every topic of the stream, and no trade is derived across it', async () => {
  await using venue = await Venue.start()
  using quote = new Sink(venue.broker.market, quotes('MSFT'))
  using trade = new Sink(venue.broker.market, trades('MSFT'))
  using other = new Sink(venue.broker.market, quotes('AA'))
  await isOpen(venue, 1)
  venue.send('AA', line('MSFT', '1'), line('AA', '1'))
  await other.receives('live', '1/9')
  venue.send('AA', { Error: 'GoAway', Message: 'draining' })
  await isOpen(venue, 2)
  venue.send('AA', line('MSFT', '3', '500'), line('AA', '3'))
  await other.receives('live', '1/9', 'lost lost', 'live', '3/9')
  assert.deepEqual(quote.history, ['live', '1/9', 'lost lost', 'live', '3/9'])
  assert.deepEqual(trade.history, ['live', 'lost lost', 'live'])
})

test('a renewal gives the symbol a separate stream, and leaves the others alone', async () => {
  await using venue = await Venue.start()
  using renewed = new Sink(venue.broker.market, quotes('MSFT'))
  using other = new Sink(venue.broker.market, quotes('AA'))
  await isOpen(venue, 1)
  venue.send('AA', line('MSFT', '1'), line('AA', '1'))
  await other.receives('live', '1/9')
  renewed.lease.renew()
  await isOpen(venue, 2)
  venue.send('MSFT,AA', { Symbol: 'MSFT', Bid: '7' }, { Symbol: 'AA', Bid: '2' })
  await other.receives('live', '1/9', '2/9')
  venue.send('MSFT', line('MSFT', '2'))
  await renewed.receives('live', '1/9', 'lost silence', 'live', '2/9')
})

test('a symbol that the broker will not stream is refused, alone', async () => {
  await using venue = await Venue.start()
  using unknown = new Sink(venue.broker.market, quotes('NOSUCH'))
  using known = new Sink(venue.broker.market, quotes('MSFT'))
  using impossible = new Sink(venue.broker.market, quotes('6JZ26'))
  await impossible.receives('refused the broker has no quotes of 6JZ26')
  await isOpen(venue, 1)
  venue.send('MSFT', { Symbol: 'NOSUCH', Error: 'FAILED, INVALID SYMBOL' }, line('MSFT', '1'), line('NOSUCH', '1'))
  await known.receives('live', '1/9')
  await unknown.receives('refused FAILED, INVALID SYMBOL')
})

test('a stream refused as a whole is requested symbol by symbol, to find out which', async () => {
  await using venue = await Venue.start()
  venue.answer('GET /stream/quotes', (seen: Json, response: Json) => {
    if (seen.path.includes('BAD')) {
      json(response, 400, { Error: 'BadRequest', Message: 'Invalid symbol' })
      return
    }
    response.writeHead(200, { 'content-type': 'application/vnd.tradestation.streams.v2+json' })
    response.write(`${JSON.stringify(line('MSFT', '1'))}\n`)
  })
  using bad = new Sink(venue.broker.market, quotes('BAD'))
  using good = new Sink(venue.broker.market, quotes('MSFT'))
  await bad.receives('refused Invalid symbol')
  await good.receives('live', '1/9')
})

test('a symbol without a quote is live with the first heartbeat', async () => {
  await using venue = await Venue.start()
  using quiet = new Sink(venue.broker.market, quotes('MSFT'))
  await isOpen(venue, 1)
  venue.send('MSFT', { Heartbeat: 1, Timestamp: '2027-01-01T00:00:00Z' })
  await quiet.receives('live')
  assert.ok((venue.broker.market?.presentMs() ?? 0) >= Date.UTC(2027, 0, 1))
  venue.send('MSFT', line('MSFT', '1'))
  await quiet.receives('live', '1/9')
})

test('a scope that the login lacks is a refusal of that stream, and not the end of the login', async () => {
  await using venue = await Venue.start()
  venue.answer('GET /stream/marketdepth', fixture('error.token').body, 401)
  using depth = new Sink(venue.broker.market, { channel: 'depth', symbol: 'MSFT' })
  await depth.receives('lost token', 'refused Token is expired')
  assert.equal(venue.holder.renewals, 0)
  assert.ok((await venue.broker.accounts(soon())).items.length > 0)
})

test('bars, order books and chains have a stream each, as many as the broker allows', async () => {
  await using venue = await Venue.start()
  const { market } = venue.broker
  const expiration = parseDay('2026-12-18', 'day')
  using bars = new Sink(market, { channel: 'bars', symbol: 'MSFT', interval: '1m' })
  using chain = new Sink(market, { channel: 'options_chain', symbol: 'MSFT', expiration })
  const depths = Array.from(
    { length: 11 },
    (_, index) => new Sink(market, { channel: 'depth', symbol: `B${String.fromCharCode(65 + index)}` })
  )
  await isOpen(venue, 12)
  await depths[10]?.receives('refused TradeStation streams at most 10 depth at once; let another one go first.')
  venue.send('/barcharts/MSFT', ...fixture('market.bars').body.Bars)
  venue.send('/chains/MSFT', fixture('market.chain').body, fixture('market.chain').body)
  venue.send('/aggregates/BA', fixture('market.depth').body)
  await bars.receives('live', 'open')
  await chain.receives('live', 'MSFT261218C00450000', 'MSFT261218C00450000')
  await depths[0]?.receives('live', 'depth')
  depths[0]?.[Symbol.dispose]()
  using next = new Sink(market, { channel: 'depth', symbol: 'MSFT' })
  await isOpen(venue, 13)
  venue.send('/aggregates/MSFT', fixture('market.depth').body)
  await next.receives('live', 'depth')
  next.lease.renew()
  await isOpen(venue, 14)
  venue.send('/aggregates/MSFT', fixture('market.depth').body)
  await next.receives('live', 'depth', 'lost silence', 'live', 'depth')
  using fives = new Sink(market, { channel: 'bars', symbol: 'MSFT', interval: '5m' })
  await fives.receives('refused the broker has no bars of MSFT')
})

test('an error of a stream ends the topic when it lasts, and is a loss when it passes', async () => {
  await using venue = await Venue.start()
  using chain = new Sink(venue.broker.market, { channel: 'options_chain', symbol: 'MSFT', expiration: parseDay('2026-12-18', 'day') })
  await isOpen(venue, 1)
  venue.send('/chains/MSFT', { Error: 'DualLogon', Message: 'streaming elsewhere' })
  await isOpen(venue, 2)
  venue.send('/chains/MSFT', { Error: 'FAILED', Message: 'NOT ENTITLED' })
  await chain.receives('lost refused', 'refused NOT ENTITLED')
  await until(() => venue.open().length === 0, 'the stream is closed')
})

test('closing the login ends every stream silently', async () => {
  await using venue = await Venue.start()
  const quote = new Sink(venue.broker.market, quotes('MSFT'))
  const depth = new Sink(venue.broker.market, { channel: 'depth', symbol: 'MSFT' })
  await isOpen(venue, 2)
  await venue.broker[Symbol.asyncDispose]()
  await until(() => venue.open().length === 0, 'both are closed')
  quote.lease.renew()
  depth.lease.renew()
  assert.deepEqual([...quote.history, ...depth.history], [])
})
