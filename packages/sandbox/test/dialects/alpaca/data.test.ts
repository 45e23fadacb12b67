import assert from 'node:assert/strict'
import { test } from 'node:test'
import { beginningAt, control, type Wire } from '../../brokerage/support.ts'
import { Client, openBrokerage, refuses } from './support.ts'

const HOUR = '&start=2026-01-05T15:00:00Z&end=2026-01-05T15:59:00Z'

test('bars come in pages over several symbols, by symbol and then by time', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const path = `/v2/stocks/bars?symbols=SPY,AAPL&timeframe=1Min${HOUR}`
  const whole = await client.okData(path)
  assert.deepEqual(Object.keys(whole.bars), ['AAPL', 'SPY'])
  assert.equal(whole.bars.SPY.length, 60)
  assert.equal(whole.next_page_token, null)
  const [bar] = whole.bars.SPY
  assert.deepEqual(Object.keys(bar), ['t', 'o', 'h', 'l', 'c', 'v'])
  assert.equal(bar.t, '2026-01-05T15:00:00Z')
  assert.ok(bar.l <= Math.min(bar.o, bar.c) && bar.h >= Math.max(bar.o, bar.c) && bar.v > 0)
  const seen: Record<string, Wire[]> = { AAPL: [], SPY: [] }
  const sizes: number[] = []
  for (let token: string | null = ''; token !== null; ) {
    const page: Wire = await client.okData(`${path}&limit=25${token === '' ? '' : `&page_token=${token}`}`)
    for (const [symbol, bars] of Object.entries<Wire[]>(page.bars)) seen[symbol]?.push(...bars)
    sizes.push(Object.values<Wire[]>(page.bars).flat().length)
    token = page.next_page_token
  }
  assert.deepEqual(seen, whole.bars)
  assert.deepEqual(sizes, [25, 25, 25, 25, 20])
})

test('every timeframe is made of the same prices', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const bars = async (timeframe: string, query = HOUR) =>
    (await client.okData(`/v2/stocks/bars?symbols=SPY&timeframe=${timeframe}${query}`)).bars.SPY ?? []
  const minutes: Wire[] = await bars('1Min')
  for (const [timeframe, length] of [
    ['5Min', 5],
    ['15Min', 15],
    ['30Min', 30],
    ['1Hour', 60]
  ] as const) {
    const found: Wire[] = await bars(timeframe)
    for (const { t, h, l, v, c } of found.slice(1)) {
      const start = Date.parse(t)
      const within = minutes.filter(minute => Date.parse(minute.t) >= start && Date.parse(minute.t) < start + length * 60_000)
      if (start + length * 60_000 > Date.parse('2026-01-05T16:00:00Z')) continue
      assert.equal(h, Math.max(...within.map(minute => minute.h)), `${timeframe} at ${t}`)
      assert.equal(l, Math.min(...within.map(minute => minute.l)))
      assert.equal(c, within.at(-1).c)
      assert.equal(
        v,
        within.reduce((sum, minute) => sum + minute.v, 0)
      )
    }
  }
  const year = '&start=2025-01-01T05:00:00Z&end=2025-12-31T00:00:00Z&limit=10000'
  const days: Wire[] = await bars('1Day', year)
  assert.equal(days[0].t, '2025-01-01T05:00:00Z')
  for (const wrong of ['0Min', '60Min', '2Day', 'minute', '__proto__'])
    refuses(await client.data(`/v2/stocks/bars?symbols=SPY&timeframe=${wrong}`), 400, 40010001, /timeframe/)
})

test('a minute is served once it is over, crypto at their own address', async () => {
  await using brokerage = await openBrokerage({}, { realNow: beginningAt('2027-01-05T15:00:00Z') })
  const client = await Client.of(brokerage)
  await control(brokerage, 'PUT', '/clock', { set: '2027-01-05T15:10:30Z' })
  const minutes = (await client.okData('/v1beta3/crypto/us/bars?symbols=BTC/USD&timeframe=1Min&start=2027-01-05T15:00:00Z')).bars['BTC/USD']
  assert.equal(minutes.at(-1).t, '2027-01-05T15:09:00Z')
  const [hour] = (await client.okData('/v1beta3/crypto/us/bars?symbols=BTCUSD&timeframe=1Hour&start=2027-01-05T15:00:00Z')).bars.BTCUSD
  assert.equal(hour.t, '2027-01-05T15:00:00Z')
  assert.deepEqual((await client.okData('/v2/stocks/bars?symbols=BTC/USD&timeframe=1Min')).bars, {})
})

test('the latest quotes are those of the sandbox', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  await control(brokerage, 'PUT', '/market/SPY', {
    bids: [
      ['499.99', '5'],
      ['499.98', '7']
    ],
    asks: [['500.01', '4']]
  })
  const { quotes } = await client.okData('/v2/stocks/quotes/latest?symbols=SPY,NOSUCH&feed=iex')
  assert.deepEqual(Object.keys(quotes), ['SPY'])
  const { bp, bs, ap, as, bx, c, z } = quotes.SPY
  assert.deepEqual([bp, bs, ap, as, bx, c, z], [499.99, 5, 500.01, 4, 'P', ['R'], 'C'])
  await control(brokerage, 'PUT', '/market/BTC%2FUSD', { bids: [['90000', '1']], asks: [['90001', '3']] })
  const crypto = await client.okData('/v1beta3/crypto/us/latest/quotes?symbols=BTC/USD')
  assert.deepEqual([crypto.quotes['BTC/USD'].bp, crypto.quotes['BTC/USD'].ap], [90_000, 90_001])
  refuses(await client.data('/v2/stocks/quotes/latest'), 400, 40010001, /symbols is required/)
})

test('trades are reported by the second', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const path = '/v2/stocks/trades?symbols=SPY&start=2026-01-05T15:00:00Z&end=2026-01-05T15:00:59Z'
  const { SPY: trades } = (await client.okData(path)).trades
  const [minute] = (await client.okData('/v2/stocks/bars?symbols=SPY&timeframe=1Min&start=2026-01-05T15:00:00Z&end=2026-01-05T15:00:00Z'))
    .bars.SPY
  assert.equal(
    trades.reduce((sum: number, { s }: Wire) => sum + s, 0),
    minute.v
  )
  assert.equal(trades.at(-1).p, minute.c)
  assert.equal(new Set(trades.map(({ i }: Wire) => i)).size, trades.length)
})

test('the chain of an underlying is its contracts, with the figures of the model', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const contracts: Wire[] = []
  for (let token: string | null = ''; token !== null; ) {
    const query = `underlying_symbols=AAPL&limit=30${token === '' ? '' : `&page_token=${token}`}`
    const page: Wire = await client.ok('GET', `/v2/options/contracts?${query}`)
    contracts.push(...page.option_contracts)
    token = page.next_page_token
  }
  const expirations = new Set(contracts.map(({ expiration_date: day }) => day))
  assert.equal(expirations.size, 1, 'anyone who names no expiration sees this week only')
  const symbols = contracts.map(({ symbol }) => symbol)
  assert.deepEqual(symbols, [...new Set(symbols)].toSorted())
  const [{ symbol, type, strike_price: strike, expiration_date: expiration, underlying_symbol: underlying }] = contracts
  assert.deepEqual(
    symbol,
    `${underlying}${expiration.slice(2).replaceAll('-', '')}${type === 'call' ? 'C' : 'P'}${String(Number(strike) * 1000).padStart(8, '0')}`
  )
  assert.equal((await client.ok('GET', `/v2/options/contracts/${symbol}`)).symbol, symbol)
  const far = await client.ok('GET', '/v2/options/contracts?underlying_symbols=AAPL&expiration_date_lte=2100-01-01&limit=10000&type=put')
  assert.ok(new Set(far.option_contracts.map(({ expiration_date: day }: Wire) => day)).size > 3)
  assert.ok(far.option_contracts.every(({ type: right }: Wire) => right === 'put'))
  const snapshots: Record<string, Wire> = {}
  for (let token: string | null = ''; token !== null; ) {
    const query = `expiration_date=${expiration}&limit=20${token === '' ? '' : `&page_token=${token}`}`
    const page: Wire = await client.okData(`/v1beta1/options/snapshots/AAPL?${query}`)
    Object.assign(snapshots, page.snapshots)
    token = page.next_page_token
  }
  assert.deepEqual(Object.keys(snapshots), symbols)
  const near = Object.values(snapshots).filter(({ greeks }) => Math.abs(greeks?.delta ?? 0) > 0.3 && Math.abs(greeks?.delta ?? 0) < 0.7)
  assert.ok(near.length > 0)
  for (const { latestQuote, impliedVolatility } of near) assert.ok(latestQuote.ap > latestQuote.bp && impliedVolatility > 0)
  assert.deepEqual(Object.keys((await client.okData(`/v1beta1/options/quotes/latest?symbols=${symbol}`)).quotes), [symbol])
  assert.ok(
    (await client.okData(`/v1beta1/options/bars?symbols=${symbol}&timeframe=1Day&start=2020-01-01T00:00:00Z`)).bars[symbol].length > 0
  )
})
