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

test('quotes by query and by form, with those that are not there', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const { quotes } = (await client.get('/markets/quotes', { symbols: 'SPY,brk/b,NOPE,BTC/USD' })).body
  assert.deepEqual(
    quotes.quote.map(({ symbol, type, exch }: Wire) => [symbol, type, exch]),
    [
      ['SPY', 'etf', 'P'],
      ['BRK/B', 'stock', 'N']
    ]
  )
  assert.deepEqual(quotes.unmatched_symbols, { symbol: ['NOPE', 'BTC/USD'] })
  const one = (await client.call('POST', '/markets/quotes', { symbols: 'SPY', greeks: 'false' })).body.quotes
  assert.deepEqual(Object.keys(one), ['quote'])
  assert.equal(one.quote.last, 500)
  assert.ok(one.quote.bid < one.quote.ask && one.quote.bidsize > 0)
  assert.deepEqual((await client.get('/markets/quotes', { symbols: 'NOPE' })).body, { quotes: { unmatched_symbols: { symbol: 'NOPE' } } })
  const none = await client.get('/markets/quotes')
  assert.deepEqual([none.status, none.text], [400, 'Invalid parameter, symbols: 1 to 2000 symbols.'])
})

test('a quote follows the prints of the day', async () => {
  // Half past eleven at night in New York: the next day is near.
  await using brokerage = await openBrokerage({ deps: { realNow: beginningAt('2026-11-24T04:30:00Z') } })
  const client = await Client.of(brokerage)
  const quote = async () => (await client.get('/markets/quotes', { symbols: 'SPY' })).body.quotes.quote
  const before = await quote()
  for (const price of ['900.00', '100.00', '505.00']) await control(brokerage, 'PUT', '/market/SPY', { price })
  const after = await quote()
  assert.deepEqual([after.last, after.high, after.low, after.open, after.prevclose], [505, 900, 100, before.open, before.prevclose])
  assert.ok(after.volume > before.volume && after.last_volume > 0 && after.trade_date >= before.trade_date)
  assert.equal(after.change, Number((505 - after.prevclose).toFixed(2)))
  await control(brokerage, 'PUT', '/clock', { advance_ms: 3_600_000 })
  await control(brokerage, 'PUT', '/market/SPY', { price: '510.00' })
  const nextDay = await quote()
  assert.equal(nextDay.last, 510)
  assert.ok(nextDay.high < 900 && nextDay.low > 100)
})

test('before the day begins its prices are null', async () => {
  await using brokerage = await onTuesday()
  const client = await Client.of(brokerage)
  await control(brokerage, 'PUT', '/market', { phase: 'pre' })
  const { quote } = (await client.get('/markets/quotes', { symbols: 'SPY' })).body.quotes
  assert.deepEqual([quote.open, quote.high, quote.low, quote.close], [null, null, null, null])
})

test('days, weeks and months', async () => {
  await using brokerage = await onTuesday()
  const client = await Client.of(brokerage)
  const history = async (query: Record<string, string>) => (await client.get('/markets/history', { symbol: 'SPY', ...query })).body.history
  const { day } = await history({ interval: 'daily', start: '2026-11-16', end: '2026-11-20' })
  assert.deepEqual(
    day.map(({ date }: Wire) => date),
    ['2026-11-16', '2026-11-17', '2026-11-18', '2026-11-19', '2026-11-20']
  )
  const { day: week } = await history({ interval: 'weekly', start: '2026-11-16', end: '2026-11-20' })
  const highs: number[] = day.map(({ high }: Wire) => high)
  assert.deepEqual(
    [week.date, week.open, week.close, week.high, week.volume],
    ['2026-11-16', day[0].open, day[4].close, Math.max(...highs), day.reduce((sum: number, { volume }: Wire) => sum + volume, 0)]
  )
  const months = await history({ interval: 'monthly', start: '2026-09-01', end: '2026-11-20' })
  assert.deepEqual(
    months.day.map(({ date }: Wire) => date),
    ['2026-09-01', '2026-10-01', '2026-11-02']
  )
  assert.equal(await history({ start: '2026-11-21', end: '2026-11-22' }), null)
  assert.equal((await client.get('/markets/history', { symbol: 'NOPE' })).body.history, null)
  const { status, text } = await client.get('/markets/history', { symbol: 'SPY', interval: 'hourly' })
  assert.deepEqual([status, text], [400, 'Invalid parameter, interval: must be one of daily, weekly, monthly, was hourly.'])
})

test('minutes in New York’s time, of the session or of the whole day, and no further back than there are any', async () => {
  await using brokerage = await onTuesday()
  const client = await Client.of(brokerage)
  const series = async (query: Record<string, string>) => {
    const { body } = await client.get('/markets/timesales', { symbol: 'SPY', interval: '1min', ...query })
    return body.series === null ? [] : [body.series.data].flat()
  }
  const opening = await series({ start: '2026-11-23 09:28', end: '2026-11-23 09:32', session_filter: 'open' })
  assert.deepEqual(
    opening.map(({ time, timestamp }) => [time, timestamp]),
    [
      ['2026-11-23T09:30:00', Date.parse('2026-11-23T14:30:00Z') / 1000],
      ['2026-11-23T09:31:00', Date.parse('2026-11-23T14:31:00Z') / 1000]
    ]
  )
  const all = await series({ start: '2026-11-23 09:28', end: '2026-11-23 09:32' })
  assert.ok(all.length > opening.length && all[0].time < '2026-11-23T09:30:00')
  assert.equal((await series({ start: '2026-11-23', end: '2026-11-24', session_filter: 'open' })).length, 390)
  assert.equal((await series({ interval: '15min', start: '2026-11-23', end: '2026-11-24', session_filter: 'open' })).length, 26)
  const deep = await client.get('/markets/timesales', { symbol: 'SPY', interval: '1min', start: '2026-11-01 09:30' })
  assert.deepEqual([deep.status, deep.text], [400, 'Invalid parameter, start: must be on or after 2026-11-14 00:00.'])
  const session = { symbol: 'SPY', interval: '1min', session_filter: 'open' }
  const open = await client.get('/markets/timesales', { ...session, start: '2026-11-04 09:30', end: '2026-11-04 09:31' })
  assert.equal(open.body.series.data.time, '2026-11-04T09:30:00')
  const ticks = await client.get('/markets/timesales', { symbol: 'SPY' })
  assert.deepEqual([ticks.status, ticks.text], [400, 'Invalid parameter, interval: must be one of 1min, 5min, 15min, was tick.'])
})

test('the clock and the calendar', async () => {
  await using brokerage = await onTuesday()
  const client = await Client.of(brokerage)
  const { clock } = (await client.get('/markets/clock')).body
  assert.deepEqual(clock, {
    date: '2026-11-24',
    description: 'Market is open',
    state: 'open',
    timestamp: Date.parse(TUESDAY) / 1000,
    next_change: '16:00',
    next_state: 'postmarket'
  })
  const { calendar } = (await client.get('/markets/calendar', { month: 11, year: 2026 })).body
  assert.deepEqual([calendar.month, calendar.year, calendar.days.day.length], [11, 2026, 30])
  const of = (date: string) => calendar.days.day.find((day: Wire) => day.date === date)
  assert.deepEqual(of('2026-11-24').open, { start: '09:30', end: '16:00' })
  assert.deepEqual(of('2026-11-24').premarket, { start: '04:00', end: '09:30' })
  assert.equal(of('2026-11-26').status, 'closed')
  assert.equal(of('2026-11-27').open.end, '13:00')
})

test('options: expirations, strikes, a chain with greeks, and all contracts', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const get = async (path: string, query: Record<string, string>) => (await client.get(`/markets/options/${path}`, query)).body
  const { date } = (await get('expirations', { symbol: 'SPY', includeAllRoots: 'true' })).expirations
  const shown = (await get('expirations', { symbol: 'SPY', strikes: 'true', contractSize: 'true', expirationType: 'true' })).expirations
  const [first] = shown.expiration
  assert.deepEqual(Object.keys(first), ['date', 'contract_size', 'expiration_type', 'strikes'])
  const { strike } = (await get('strikes', { symbol: 'SPY', expiration: date[0] })).strikes
  assert.deepEqual(first.strikes.strike, strike)
  const { option } = (await get('chains', { symbol: 'SPY', expiration: date[0], greeks: 'true' })).options
  assert.equal(option.length, 2 * strike.length)
  const call = option.find((row: Wire) => row.option_type === 'call' && row.strike === 500)
  assert.deepEqual([call.underlying, call.root_symbol, call.contract_size, call.expiration_date], ['SPY', 'SPY', 100, date[0]])
  assert.ok(call.greeks.delta > 0 && call.greeks.delta <= 1 && call.bid < call.ask)
  assert.match(call.greeks.updated_at, /^\d{4}-\d\d-\d\d \d\d:00:00$/)
  const quote = (await client.get('/markets/quotes', { symbols: call.symbol })).body.quotes.quote
  assert.deepEqual([quote.type, quote.greeks], ['option', undefined])
  const { symbols } = await get('lookup', { underlying: 'SPY' })
  assert.equal(symbols.rootSymbol, 'SPY')
  assert.ok(symbols.options.includes(call.symbol))
  assert.equal((await get('expirations', { symbol: 'NOPE' })).expirations, null)
  assert.equal((await get('chains', { symbol: 'SPY', expiration: '2020-01-17' })).options, null)
})

test('greeks are new once an hour', async () => {
  await using brokerage = await openBrokerage({ deps: { realNow: beginningAt('2026-11-24T16:55:00Z') } })
  const client = await Client.of(brokerage)
  const { date } = (await client.get('/markets/options/expirations', { symbol: 'SPY' })).body.expirations
  const greeks = async () => {
    const { options } = (await client.get('/markets/options/chains', { symbol: 'SPY', expiration: date[3], greeks: 'true' })).body
    return options.option.find((row: Wire) => row.option_type === 'call' && row.strike === 500).greeks
  }
  const before = await greeks()
  await control(brokerage, 'PUT', '/market/SPY', { price: '505.00' })
  assert.deepEqual(await greeks(), before)
  await control(brokerage, 'PUT', '/clock', { advance_ms: 600_000 })
  assert.notDeepEqual(await greeks(), before)
})

test('shares are found by symbol and by name', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const found = async (path: string, q: string) => {
    const { securities } = (await client.get(`/markets/${path}`, { q })).body
    return securities === null ? [] : [securities.security].flat().map(({ symbol }) => symbol)
  }
  assert.deepEqual(await found('search', 'hathaway'), ['BRK/B'])
  assert.deepEqual(await found('lookup', 'ms'), ['MSFT'])
  assert.deepEqual(await found('lookup', 'ZZ'), [])
  assert.ok(!(await found('etb', '')).includes('THIN'))
})
