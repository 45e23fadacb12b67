import assert from 'node:assert/strict'
import { test } from 'node:test'
import { control, type Wire } from '../../brokerage/support.ts'
import { Client, openBrokerage, Stream } from './support.ts'

/** A Thursday, 11:00 in New York. */
const MORNING = Date.UTC(2026, 9, 15, 15)

test('changes of a quote, merged, are the quote', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  await using stream = await Stream.open(client, '/marketdata/stream/quotes/SPY,NOPE')
  assert.equal(stream.headers.get('content-type'), 'application/vnd.tradestation.streams.v2+json')
  await stream.until(() => stream.received.length >= 2)
  assert.deepEqual(stream.received[1], { Symbol: 'NOPE', Error: 'FAILED, INVALID SYMBOL' })
  await control(brokerage, 'PUT', '/market/SPY', { price: '505.00' })
  await stream.until(() => stream.received.some(({ Last, Bid }) => Last === '505' && Bid === undefined))
  await control(brokerage, 'PUT', '/market/SPY', { bids: [['504.9', '7']], asks: [['505.1', '8']] })
  await stream.until(() => stream.received.some(({ BidSize }) => BidSize === '7'))
  const merged: Wire = Object.assign({}, ...stream.received.filter(({ Error: error }) => error === undefined))
  await using later = await Stream.open(client, '/marketdata/stream/quotes/SPY')
  await later.until(() => later.received.length > 0)
  const [quote] = later.received
  for (const name of ['Last', 'Bid', 'Ask', 'BidSize', 'AskSize']) assert.equal(merged[name], quote[name], name)
})

test('the timestamp of a bar is its end, of a day that of its session', async () => {
  await using brokerage = await openBrokerage({ config: { calendar: 'exchange' }, deps: { realNow: () => MORNING } })
  const client = await Client.of(brokerage)
  const bars = async (query: string): Promise<readonly Wire[]> => (await client.get(`/marketdata/barcharts/SPY?${query}`)).body.Bars
  const minutes = await bars('unit=Minute&interval=1&firstdate=2026-10-14T13:30:01Z&lastdate=2026-10-14T20:00:00Z')
  assert.equal(minutes.length, 390)
  assert.equal(minutes[0].TimeStamp, '2026-10-14T13:31:00Z')
  const [day] = await bars('unit=Daily&firstdate=2026-10-14T12:00:00Z&lastdate=2026-10-14T21:00:00Z')
  assert.deepEqual([day.TimeStamp, day.Open, day.Close], ['2026-10-14T20:00:00Z', minutes[0].Open, minutes.at(-1)?.Close])
})

test('session templates add the hours before and after', async () => {
  await using brokerage = await openBrokerage({ config: { calendar: 'exchange' }, deps: { realNow: () => MORNING } })
  const client = await Client.of(brokerage)
  const span = 'unit=Minute&interval=1&firstdate=2026-10-14T04:00:01Z&lastdate=2026-10-15T03:59:00Z'
  const expected: readonly (readonly [template: string, first: string, last: string])[] = [
    ['Default', '13:31:00', '20:00:00'],
    ['USEQPreAndPost', '08:01:00', '00:00:00']
  ]
  for (const [template, first, last] of expected) {
    const { Bars } = (await client.get(`/marketdata/barcharts/SPY?${span}&sessiontemplate=${template}`)).body
    const times = [Bars[0], Bars.at(-1)].map(({ TimeStamp }: Wire) => TimeStamp.slice(11, 19))
    assert.ok(times[0] >= first && times[0] < `${first.slice(0, 2)}:59:59`, `${template} begins ${times[0]}`)
    assert.ok(times[1] === last || (last === '00:00:00' && times[1] > '23:00:00'), `${template} ends ${times[1]}`)
  }
})

test('the last bar is the current one', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const { Bars } = (await client.get('/marketdata/barcharts/SPY?unit=Minute&interval=5&barsback=200')).body
  assert.equal(Bars.length, 200)
  assert.deepEqual([Bars[198].BarStatus, Bars[199].BarStatus, Bars[199].IsEndOfHistory, Bars[199].Close], ['Closed', 'Open', true, '500'])
  for (const [nth, bar] of Bars.entries()) {
    assert.equal(bar.Epoch, Date.parse(bar.TimeStamp))
    if (nth > 0) assert.ok(bar.Epoch > Bars[nth - 1].Epoch)
  }
  assert.equal((await client.get('/marketdata/barcharts/SPY')).body.Bars.length, 1)
  const crypto = (await client.get('/marketdata/barcharts/BTCUSD?unit=Daily&barsback=2')).body.Bars
  assert.ok(crypto.every(({ TimeStamp }: Wire) => TimeStamp.endsWith('T00:00:00Z')))
})

test('bars beyond TradeStation’s bounds are refused', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const wrong = [
    'SPY?unit=Second',
    'SPY?unit=Minute&interval=7',
    'SPY?unit=Minute&barsback=57601',
    'SPY?sessiontemplate=Night',
    'SPY?firstdate=yesterday',
    'NOPE?unit=Daily'
  ]
  for (const path of wrong) {
    const { status, body } = await client.get(`/marketdata/barcharts/${path}`)
    assert.deepEqual([status, body.Error], [400, 'BadRequest'], path)
  }
})

test('depth: the whole book with every change, best price first', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  await using stream = await Stream.open(client, '/marketdata/stream/marketdepth/aggregates/SPY?maxlevels=2')
  await stream.until(frames => frames.length > 0)
  const bids = [
    ['499.9', '5'],
    ['499.8', '6'],
    ['499.7', '7']
  ]
  await control(brokerage, 'PUT', '/market/SPY', { bids, asks: [['500.1', '8']] })
  await stream.until(() => stream.received.some(({ Bids }) => Bids[0].Price === '499.9'))
  const { Bids, Asks } = stream.received.at(-1)
  assert.deepEqual(
    Bids.map(({ Price, TotalSize }: Wire) => [Price, TotalSize]),
    [
      ['499.9', '5'],
      ['499.8', '6']
    ]
  )
  assert.deepEqual([Asks[0].TotalSize, typeof Asks[0].TotalOrderCount], ['8', 'number'])
})

test('market streams send GoAway and fail with their own errors', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  for (const [code, error] of [
    [1001, 'GoAway'],
    [4409, 'DualLogon']
  ] as const) {
    await using stream = await Stream.open(client, '/marketdata/stream/quotes/SPY')
    await stream.until(() => stream.received.length > 0)
    await control(brokerage, 'POST', '/streams', { dialect: 'tradestation', on: 'market', do: 'drop', code })
    await stream.until(() => stream.closed !== null)
    assert.equal(stream.received.at(-1).Error, error)
  }
  const { body } = await client.get('/marketdata/stream/barcharts/NOPE')
  assert.equal(body.Error, 'BadRequest')
})

test('symbols, expirations and strikes', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const details = async (symbol: string) => (await client.get(`/marketdata/symbols/${symbol}`)).body
  for (const [symbol, type] of Object.entries({ SPY: 'STOCK', BTCUSD: 'CRYPTO' }))
    assert.deepEqual((await details(symbol)).Symbols, [{ AssetType: type, Symbol: symbol }])
  assert.equal((await details('NOPE')).Errors[0].Symbol, 'NOPE')
  const { Expirations } = (await client.get('/marketdata/options/expirations/SPY')).body
  const month = Expirations[0].Date.slice(0, 10).split('-')
  const { Strikes } = (await client.get(`/marketdata/options/strikes/SPY?expiration=${month[1]}-${month[2]}-${month[0]}`)).body
  assert.ok(Strikes.length > 10 && Strikes.every((strike: Wire) => strike.length === 1))
})
