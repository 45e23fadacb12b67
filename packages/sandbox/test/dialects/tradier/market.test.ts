import assert from 'node:assert/strict'
import { test } from 'node:test'
import { beginningAt, control, type Wire } from '../../brokerage/support.ts'
import { Client, openBrokerage } from './support.ts'

/** A Tuesday with regular hours, at 11:30 in New York. */
const TUESDAY = '2026-11-24T16:30:00Z'
const BEFORE = '2026-11-24T16:29:00Z'

async function onTuesday() {
  const brokerage = await openBrokerage({ config: { calendar: 'exchange' }, deps: { realNow: beginningAt(BEFORE) } })
  await control(brokerage, 'PUT', '/clock', { set: TUESDAY })
  return brokerage
}

test('known quotes and unmatched symbols', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const quotes = async (symbols: string) => (await client.call('POST', '/markets/quotes', { symbols, greeks: 'false' })).body.quotes
  const found = await quotes('SPY,brk/b,NOPE,BTC/USD')
  assert.deepEqual(
    found.quote.map(({ symbol, type }: Wire) => [symbol, type]),
    [
      ['SPY', 'etf'],
      ['BRK/B', 'stock']
    ]
  )
  assert.deepEqual(found.unmatched_symbols, { symbol: ['NOPE', 'BTC/USD'] })
  const { quote } = await quotes('SPY')
  assert.ok(quote.last === 500 && quote.bid < quote.ask && quote.bidsize > 0)
  await control(brokerage, 'PUT', '/market/SPY', { price: '505.00' })
  const later = (await quotes('SPY')).quote
  assert.ok(later.last === 505 && later.trade_date >= quote.trade_date)
  assert.deepEqual(await quotes('NOPE'), { unmatched_symbols: { symbol: 'NOPE' } })
  const none = await client.get('/markets/quotes')
  assert.deepEqual([none.status, none.text], [400, 'Invalid parameter, symbols: 1 to 2000 symbols.'])
})

test('daily bars by date', async () => {
  await using brokerage = await onTuesday()
  const client = await Client.of(brokerage)
  const history = async (query: Record<string, string>) =>
    (await client.get('/markets/history', { symbol: 'SPY', interval: 'daily', ...query })).body.history
  const { day } = await history({ start: '2026-11-16', end: '2026-11-20' })
  assert.deepEqual(
    day.map(({ date }: Wire) => date),
    ['2026-11-16', '2026-11-17', '2026-11-18', '2026-11-19', '2026-11-20']
  )
  assert.equal(await history({ start: '2026-11-21', end: '2026-11-22' }), null)
  assert.equal(await history({ symbol: 'NOPE' }), null)
  const { status, text } = await client.get('/markets/history', { symbol: 'SPY', interval: 'hourly' })
  assert.deepEqual([status, text], [400, 'Invalid parameter, interval: must be one of daily, was "hourly".'])
})

test('minute bars in New York time, refused before the oldest that is kept', async () => {
  await using brokerage = await onTuesday()
  const client = await Client.of(brokerage)
  const query = { symbol: 'SPY', interval: '1min', start: '2026-11-23 09:28', end: '2026-11-23 09:32' }
  const { data } = (await client.get('/markets/timesales', query)).body.series
  const opening = data.find(({ time }: Wire) => time === '2026-11-23T09:30:00')
  assert.equal(opening.timestamp, Date.parse('2026-11-23T14:30:00Z') / 1000)
  assert.ok(data[0].time < opening.time)
  const old = await client.get('/markets/timesales', { ...query, start: '2026-11-01 09:30' })
  assert.deepEqual([old.status, old.text], [400, 'Invalid parameter, start: must be on or after 2026-11-14 00:00.'])
})

test('the clock', async () => {
  await using brokerage = await onTuesday()
  const { clock } = (await (await Client.of(brokerage)).get('/markets/clock')).body
  assert.deepEqual(clock, { date: '2026-11-24', state: 'open', timestamp: Date.parse(TUESDAY) / 1000 })
})

test('expirations, and a chain with greeks', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const get = async (path: string, query: Record<string, string>) => (await client.get(`/markets/options/${path}`, query)).body
  const { date } = (await get('expirations', { symbol: 'SPY', includeAllRoots: 'true' })).expirations
  const { option } = (await get('chains', { symbol: 'SPY', expiration: date[0], greeks: 'true' })).options
  const call = option.find((row: Wire) => row.option_type === 'call' && row.strike === 500)
  assert.deepEqual([call.underlying, call.expiration_date], ['SPY', date[0]])
  assert.ok(call.greeks.delta > 0 && call.greeks.delta <= 1 && call.bid < call.ask)
  const quote = (await client.get('/markets/quotes', { symbols: call.symbol })).body.quotes.quote
  assert.deepEqual([quote.type, quote.greeks], ['option', undefined])
  assert.equal((await get('expirations', { symbol: 'NOPE' })).expirations, null)
  assert.equal((await get('chains', { symbol: 'SPY', expiration: '2020-01-17' })).options, null)
})

test('lookup by symbol, search by name', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const found = async (path: string, q: string) => {
    const { securities } = (await client.get(`/markets/${path}`, { q })).body
    return securities === null ? [] : [securities.security].flat().map(({ symbol }) => symbol)
  }
  assert.deepEqual(await found('search', 'hathaway'), ['BRK/B'])
  assert.deepEqual(await found('lookup', 'ms'), ['MSFT'])
  assert.deepEqual(await found('lookup', 'ZZ'), [])
})
