// The past: snapshots in every interval, each equal to the smaller bars it is made of; and the bars of each part of the trading day.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { assertJoined, type Candle, candle, closedOf, grouped, inNewYork, iso, msOf, newYork, past } from './market-bars.ts'
import { MarketStage, type Viewer } from './market-stage.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const BARS_MAX = 50_000

describe('past bars', () => {
  let stage: MarketStage
  let viewer: Viewer
  before(async () => {
    stage = await MarketStage.open()
    viewer = await stage.viewer()
  })
  after(() => stage[Symbol.asyncDispose]())

  test('a window includes its start and not its end', async () => {
    await using client = await viewer.session()
    const at = Date.parse('2026-03-04T15:00:00Z')
    for (const [fromMs, toMs, starts] of [
      [at, at + 2 * MINUTE, [0, 1]],
      [at, at + 2 * MINUTE + 1, [0, 1, 2]],
      [at + 1, at + 2 * MINUTE, [1]],
      [at - 1, at + 1, [0]],
      [at + 1, at + 2, []],
      [at, at + 1, [0]]
    ] as const)
      assert.deepEqual(
        (await past(client, 'SPY', '1m', fromMs, toMs)).map(({ startMs }) => startMs),
        starts.map(index => at + index * MINUTE)
      )
    const offset = await client.snapshot('SPY', '1m', '2026-03-04T10:00:00-05:00', '2026-03-04T10:02:00-05:00')
    assert.equal(offset.length, 2, 'a time with an offset is the same moment')
    await stage.advance(2 * MINUTE)
    const now = await stage.sandboxMs()
    const running = await client.snapshot('SPY', '1m', iso(now - 3 * MINUTE), iso(now + DAY))
    assert.ok(running.length >= 3 && running.slice(0, -1).every(({ st }) => st === 'c'), 'only the last may be open')
    assert.deepEqual(await client.snapshot('SPY', '1m', iso(now + DAY), iso(now + 2 * DAY)), [], 'nothing is known of the future')
  })

  test('50,000 bars are given, one more is refused, and so is a century', async () => {
    await using client = await viewer.session()
    const end = Date.parse('2026-03-04T15:00:00Z')
    const ask = (symbol: string, interval: string, fromMs: number) =>
      client.ask({ action: 'snapshot', data_type: 'bars', symbol, interval, start_time: iso(fromMs), end_time: iso(end) })
    for (const symbol of ['BTC/USD', 'SPY']) {
      const largest = await ask(symbol, '1m', end - BARS_MAX * MINUTE)
      assert.equal(largest.type, 'snapshot_response', JSON.stringify(largest).slice(0, 300))
      assertJoined(largest.data.map(candle), MINUTE, symbol)
      assert.equal(largest.data.length, BARS_MAX)
      assert.equal((await ask(symbol, '1m', end - (BARS_MAX + 1) * MINUTE)).error_code, 'invalid_request')
      assert.equal((await ask(symbol, '1m', end - 100 * 365 * DAY)).error_code, 'invalid_request')
    }
    await client.quiet()
  })

  test('a window far beyond what is known is answered with what is known, or refused as invalid', async () => {
    await using client = await viewer.session()
    const windows = [
      ['1926-01-01', '2026-01-01'],
      ['0001-01-01', '2026-01-01'],
      ['2000-01-01', '2100-01-01'],
      ['2000-01-01', '9999-01-01'],
      ['2000-01-01', '9999-12-31'],
      ['9998-01-01', '9999-12-31']
    ]
    for (const [place, symbol] of ['SPY', 'BTC/USD'].entries()) {
      for (const [index, [start, end]] of windows.entries()) {
        // Bars of a year by both of its names: each takes many to make, so a window has one name for one symbol and the other for the
        // other.
        const interval = (place + index) % 2 === 0 ? '1y' : '12M'
        const times = { start_time: `${start}T00:00:00Z`, end_time: `${end}T00:00:00Z` }
        const { type, error_code } = await client.ask({ action: 'snapshot', data_type: 'bars', symbol, interval, ...times })
        assert.ok(type === 'snapshot_response' || error_code === 'invalid_request', `${symbol} from ${start} to ${end}: ${error_code}`)
      }
    }
  })

  test('longer bars are the shorter ones put together', async () => {
    await using client = await viewer.session()
    const day = inNewYork('2026-03-03', '00:00:00')
    for (const symbol of ['SPY', 'BTC/USD']) {
      // Crypto keeps UTC days.
      const origin = symbol === 'SPY' ? day : Date.parse('2026-03-03T00:00:00Z')
      const minutes = await past(client, symbol, '1m', origin, origin + DAY)
      assert.equal(minutes.length, 1_440)
      for (const [interval, lengthMs] of [
        ['2m', 2 * MINUTE],
        ['5m', 5 * MINUTE],
        ['15m', 15 * MINUTE],
        ['7m', 7 * MINUTE],
        ['1h', HOUR],
        ['90m', 90 * MINUTE],
        ['4h', 4 * HOUR],
        ['240m', 4 * HOUR],
        ['5h', 5 * HOUR],
        ['1d', DAY]
      ] as const) {
        const expected = grouped(minutes, ({ startMs }) => Math.floor((startMs - origin) / lengthMs))
        assert.deepEqual(await past(client, symbol, interval, origin, origin + DAY), expected, `${interval} of ${symbol}`)
      }
    }
  })

  test('weeks, months and years are the days put together', async () => {
    await using client = await viewer.session()
    for (const symbol of ['SPY', 'BTC/USD']) {
      const dayOf = (ms: number) => (symbol === 'SPY' ? newYork(ms).day : iso(ms).slice(0, 10))
      const [from, to] =
        symbol === 'SPY'
          ? ['2023-01-01', '2026-01-01'].map(day => inNewYork(day, '00:00:00'))
          : ['2023-01-01', '2026-01-01'].map(Date.parse)
      assert.ok(from !== undefined && to !== undefined)
      const days = await past(client, symbol, '1d', from, to)
      assert.ok(days.length >= 3 * 250, `${days.length} days of ${symbol}`)
      const monday = (bar: Candle) => Math.floor((Date.parse(dayOf(bar.startMs)) / DAY + 3) / 7)
      for (const [interval, keyOf] of [
        ['1w', monday],
        ['1M', (bar: Candle) => dayOf(bar.startMs).slice(0, 7)],
        ['1y', (bar: Candle) => dayOf(bar.startMs).slice(0, 4)]
      ] as const) {
        // The first of January 2023 is a Sunday: its week begins before the window. What ends the window may go on after it.
        const expected = grouped(days, keyOf).slice(interval === '1w' ? 1 : 0, -1)
        assert.deepEqual((await past(client, symbol, interval, from, to)).slice(0, -1), expected, `${interval} of ${symbol}`)
      }
    }
  })

  test('an interval is a number and a unit of which the case counts', async () => {
    await using client = await viewer.session()
    const request = { action: 'subscribe', channel: 'bars', symbol: 'SPY' }
    const wrong = [
      '0m',
      '0d',
      '-1m',
      '+1m',
      'm',
      '1',
      ' 1m',
      '1m ',
      '1 m',
      '1.5m',
      '1e3m',
      '1H',
      '1D',
      '1W',
      '1Y',
      '1s',
      '1S',
      '1mm',
      '1min'
    ]
    for (const interval of [...wrong, '１m', '9999999999m', `${'9'.repeat(30)}d`, '1000000y', 'constructor', '1m\u0000'])
      for (const message of [
        request,
        { ...request, action: 'snapshot', data_type: 'bars', start_time: '2026-03-04T15:00:00Z', end_time: '2026-03-04T16:00:00Z' }
      ])
        assert.equal(
          (await client.ask({ ...message, interval })).error_code,
          'unsupported_interval',
          `${message.action} ${JSON.stringify(interval)}`
        )
    for (const interval of ['1m', '2m', '5m', '60m', '1h', '4h', '240m', '1d', '1w', '1M', '1y']) {
      const reply = await client.ask({ ...request, interval })
      assert.deepEqual([reply.type, reply.interval], ['subscription_success', interval])
    }
  })

  test('a minute is not a month', async () => {
    await using client = await viewer.session()
    const [from, to] = ['2026-02-01', '2026-03-01'].map(day => inNewYork(day, '00:00:00'))
    assert.ok(from !== undefined && to !== undefined)
    assert.equal((await past(client, 'SPY', '1M', from, to)).length, 1)
    assert.equal((await past(client, 'SPY', '1m', from, to)).length, (to - from) / MINUTE)
  })

  describe('sessions', () => {
    // Shares trade round the clock here, so each session has the bars of its own hours.
    /** By session and interval: when bars begin on most days, and on a day that ends at 13:00. */
    const hours: readonly (readonly [session: string, interval: string, starts: readonly string[], early: readonly string[]])[] = [
      ['USEqCore', '1h', ['09:30', '10:30', '11:30', '12:30', '13:30', '14:30', '15:30'], ['09:30', '10:30', '11:30', '12:30']],
      ['USEqCore', '4h', ['09:30', '13:30'], ['09:30']],
      ['USEqCore', '1d', ['09:30'], ['09:30']],
      ['USEqPreMkt', '1h', ['04:00', '05:00', '06:00', '07:00', '08:00', '09:00'], ['04:00', '05:00', '06:00', '07:00', '08:00', '09:00']],
      ['USEqPreMkt', '4h', ['04:00', '08:00'], ['04:00', '08:00']],
      ['USEqPostMkt', '1h', ['16:00', '17:00', '18:00', '19:00'], ['13:00', '14:00', '15:00', '16:00']],
      ['USEqPreAndPostMkt', '4h', ['04:00', '08:00', '16:00'], ['04:00', '08:00', '13:00']]
    ]

    test('a session has the bars of its hours, anchored to its open and cut at its end', async () => {
      await using client = await viewer.session()
      for (const [session, interval, starts, early] of hours) {
        const what = `${interval} of ${session}`
        const count = 3 * starts.length
        const reply = await client.ask({ action: 'subscribe', channel: 'bars', symbol: 'SPY', interval, session, backfill_nbars: count })
        if (session === 'USEqPreAndPostMkt' && reply.error_code === 'unsupported_session') continue
        assert.equal(reply.type, 'subscription_success', `${what}: ${JSON.stringify(reply)}`)
        await client.updated(reply.sub_id, count)
        const bars = closedOf(client, reply.sub_id).slice(0, count)
        const days = [...Map.groupBy(bars, ({ startMs }) => newYork(startMs).day)]
        for (const [index, [day, ofDay]] of days.entries()) {
          const times = ofDay.map(({ startMs }) => newYork(startMs).time.slice(0, 5))
          const expected = isEarlyClose(day) ? early : starts
          // The first day may begin late, and the last one end early.
          const isLast = index === days.length - 1
          const from = index === 0 ? expected.length - times.length : 0
          assert.deepEqual(times, isLast ? expected.slice(0, times.length) : expected.slice(from), `${what} on ${day}`)
        }
        for (const { startMs } of bars)
          assert.ok(!['Sat', 'Sun'].includes(newYork(startMs).weekday), `${what}: ${iso(startMs)} is a weekend`)
        for (const bar of bars.slice(0, starts.length)) {
          const lengthMs = interval === '1h' ? HOUR : interval === '4h' ? 4 * HOUR : DAY
          const { day } = newYork(bar.startMs)
          const [close, closeOfPost] = isEarlyClose(day) ? ['13:00:00', '17:00:00'] : ['16:00:00', '20:00:00']
          const isPost = session === 'USEqPostMkt' || newYork(bar.startMs).time >= close
          const end = session === 'USEqCore' ? close : isPost ? closeOfPost : '09:30:00'
          const minutes = await past(client, 'SPY', '1m', bar.startMs, Math.min(bar.startMs + lengthMs, inNewYork(day, end)))
          assert.deepEqual(
            [bar],
            grouped(minutes, () => 0),
            `${what} of ${iso(bar.startMs)}`
          )
        }
        await client.unsubscribe(reply.sub_id)
      }
    })

    test('trades and bars of a session come in its hours only', async () => {
      await using client = await viewer.session()
      // Half a minute before the core session of a day that is no holiday in any year.
      const day = await tradingDay(stage)
      const opens = inNewYork(newYork(day).day, '09:30:00')
      await stage.jump(iso(opens - MINUTE / 2))
      const sessions = ['USEqPreMkt', 'USEqCore', 'USEqPostMkt', 'BrokerDefault'] as const
      const ids = new Map<string, { readonly trades: string; readonly bars: string }>()
      for (const session of sessions) {
        const trades = await client.subscribe('trades', 'SPY', { session })
        ids.set(session, { trades, bars: await client.subscribe('bars', 'SPY', { session, interval: '1m' }) })
      }
      const pair = await client.subscribe('trades', 'BTC/USD', { session: 'whatever it may be' })
      const times = (session: string) => client.messages(ids.get(session)?.trades ?? '').map(({ ts }) => msOf(ts))
      const starts = (session: string) => [...new Set(client.messages(ids.get(session)?.bars ?? '').map(({ ts }) => msOf(ts)))]
      for (let second = 0; second < 60; second++) await stage.advance(1_000)
      await client.until(() => (times('BrokerDefault').at(-1) ?? 0) > opens + 20_000, 'the market has opened')
      await client.updated(pair)
      await client.until(() => starts('USEqCore').length > 0, 'the core session has a bar')
      await client.quiet()
      // Which was subscribed last: the others may have had trades by then.
      const since = times('BrokerDefault')[0] ?? assert.fail('no trades')
      assert.deepEqual(
        times('USEqPreMkt').filter(at => at >= since),
        times('BrokerDefault').filter(at => at < opens),
        'before the open'
      )
      assert.deepEqual(
        times('USEqCore'),
        times('BrokerDefault').filter(at => at >= opens),
        'after it'
      )
      assert.ok(times('USEqPreMkt').length > 5 && times('USEqCore').length > 5)
      assert.deepEqual(times('USEqPostMkt'), [])
      assert.deepEqual(starts('USEqPreMkt').map(iso), [iso(opens - MINUTE)])
      assert.deepEqual(starts('USEqCore').map(iso), [iso(opens)])
      assert.deepEqual(starts('USEqPostMkt'), [])
    })
  })

  test('forty years of the core session are had where the market never closes, and its day as it closes live is the one of history', async () => {
    await using client = await viewer.session()
    const request = { action: 'subscribe', channel: 'bars', symbol: 'SPY', session: 'USEqCore' }
    const barsOf = async (interval: string, backfill: number, least: number) => {
      const reply = await client.ask({ ...request, interval, backfill_nbars: backfill })
      assert.equal(reply.type, 'subscription_success', JSON.stringify(reply))
      await client.updated(reply.sub_id, least)
      return { id: reply.sub_id, bars: closedOf(client, reply.sub_id) }
    }
    const years = await barsOf('1y', 40, 20)
    assert.ok(years.bars.length >= 20, `${years.bars.length} years`)
    const days = await barsOf('1d', 800, 700)
    const byYear = grouped(days.bars, ({ startMs }) => newYork(startMs).day.slice(0, 4))
    // The first year of the days may have begun before them, the last is under way.
    const whole = byYear.slice(1).filter(({ startMs }) => years.bars.some(bar => bar.startMs === startMs))
    assert.ok(whole.length > 0)
    for (const year of whole)
      assert.deepEqual(
        years.bars.find(({ startMs }) => startMs === year.startMs),
        year
      )

    const closes = inNewYork(newYork(await tradingDay(stage)).day, '16:00:00')
    await stage.jump(iso(closes - 10_000))
    const live = await barsOf('1d', 1, 1)
    for (let second = 0; second < 20; second++) await stage.advance(1_000)
    const today = () => closedOf(client, live.id).find(({ startMs }) => newYork(startMs).day === newYork(closes).day)
    await client.until(() => today() !== undefined, 'the day has closed')
    await client.unsubscribe(live.id)
    await client.unsubscribe(days.id)
    const later = await barsOf('1d', 1, 1)
    assert.deepEqual(later.bars.at(-1), today())
  })

  test('what a holiday and an early close do to the core session', async () => {
    await using closing = await MarketStage.open({ SANDBOX_CALENDAR: 'exchange' })
    const holder = await closing.viewer()
    await using client = await holder.session()
    const from = inNewYork('2025-11-24', '00:00:00')
    const days = await past(client, 'SPY', '1d', from, from + 7 * DAY)
    assert.deepEqual(
      days.map(({ startMs }) => newYork(startMs).day),
      ['2025-11-24', '2025-11-25', '2025-11-26', '2025-11-28'],
      'Thanksgiving has no bar, nor has the weekend'
    )
    const friday = inNewYork('2025-11-28', '00:00:00')
    const hoursOfFriday = await past(client, 'SPY', '1h', friday, friday + DAY)
    const last = newYork(hoursOfFriday.at(-1)?.startMs ?? 0).time
    assert.ok(last < '17:00:00', `the day after Thanksgiving ends at 13:00, its extended hours at 17:00; found ${last}`)
    const clocks = await past(client, 'SPY', '1d', inNewYork('2026-03-05', '00:00:00'), inNewYork('2026-03-11', '00:00:00'))
    assert.deepEqual(
      [...new Set(clocks.map(({ startMs }) => newYork(startMs).time))],
      ['09:30:00'],
      'days begin with the core session, at the same wall time'
    )
  })
})

/** A moment of the next Tuesday or Wednesday that is no holiday in any year. */
async function tradingDay(stage: MarketStage): Promise<number> {
  let day = (await stage.sandboxMs()) + DAY
  while (!['Tue', 'Wed'].includes(newYork(day).weekday) || /-(?:12-25|01-01|07-04|06-19)$/.test(newYork(day).day)) day += DAY
  return day
}

/** Whether shares trade until 13:00 only: the day after Thanksgiving, and the eves of Christmas and Independence Day. */
function isEarlyClose(day: string): boolean {
  const date = new Date(`${day}T00:00:00Z`)
  // Thanksgiving is the fourth Thursday of November.
  if (/-11-(?:2[3-9])$/.test(day) && date.getUTCDay() === 5) return true
  return /-(?:12-24|07-03)$/.test(day)
}
