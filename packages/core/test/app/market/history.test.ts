// The sources of past bars, how far back they reach, and the requests that are refused before anything is read.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BROKER_BARS_MAX, backfillMaxOf } from '@trunkline/core/app/market/history-limits'
import { MarketRefusal } from '@trunkline/core/app/market/refusal'
import { continuousCalendar, usEquityCalendar } from '@trunkline/core/domain/calendar/index'
import { parseInterval } from '@trunkline/core/domain/market/interval'
import type { Bar } from '@trunkline/core/domain/market/records'
import { parseTimestamp } from '@trunkline/core/domain/timestamp'
import type { MarketDataCapabilities } from '@trunkline/core/ports/broker'
import { bar, decimal, MINUTE, NOON, Stage, trade } from '@trunkline/testkit/market-stage'

const DAY = 24 * 60 * MINUTE
const HALF_HOUR = 30 * MINUTE
/** Midnight in New York on the Monday of {@link NOON}. */
const MONDAY = Date.UTC(2026, 0, 5, 5)
const OPEN = 9.5 * 60 * MINUTE
const CLOSE = 16 * 60 * MINUTE
const REQUEST = { channel: 'bars', symbol: 'SPY', session: 'USEqCore' } as const

/** The exchange's own days of a share, stamped with their midnight, oldest first. */
function days(count: number): readonly Bar[] {
  const bars: Bar[] = []
  const calendar = usEquityCalendar()
  for (let at = MONDAY - DAY; bars.length < count; at -= DAY) {
    const date = calendar.dateAt(at + DAY / 2)
    const [first] = calendar.spansOn(date)
    if (first !== undefined) bars.unshift(bar(first.start - 4 * 60 * MINUTE, String(100 + bars.length)))
  }
  return bars
}

function exchangeStage(marketData: Partial<MarketDataCapabilities>): Stage {
  const stage = new Stage({ historyIntervals: ['1m', '30m', '1d'], liveIntervals: ['1m'], backfillMax: 10_000, ...marketData })
  stage.broker.list('SPY', 'STK', usEquityCalendar())
  stage.broker.history.set('SPY 1m', [])
  stage.broker.history.set('SPY 30m', [])
  stage.broker.history.set('SPY 1d', [])
  return stage
}

const intervals = ({ broker }: Stage) => [...new Set(broker.requests.map(({ interval }) => interval))].toSorted()
const refused = (code: string, pattern: RegExp) => (cause: unknown) =>
  cause instanceof MarketRefusal && cause.code === code && pattern.test(cause.message)

test('days and longer bars of the core session are the broker’s own if its days have that session', async () => {
  const stage = exchangeStage({ dailyBars: 'core' })
  const past = days(2_000)
  stage.broker.history.set('SPY 1d', past)
  for (const [interval, least] of [
    ['1y', 6],
    ['1M', 80],
    ['1d', 2_000]
  ] as const) {
    stage.broker.requests.length = 0
    const received = await stage.watch({ ...REQUEST, interval, backfill: 2_000 })
    assert.ok(received.closed.length >= least, `${received.closed.length} of ${interval}`)
    // The minutes belong to the current day.
    assert.deepEqual(intervals(stage), ['1d', '1m'])
    assert.ok(stage.broker.requests.every(({ interval: requested, fromMs }) => requested === '1d' || fromMs >= MONDAY))
  }
  const [first] = past
  const received = await stage.watch({ ...REQUEST, interval: '1d', backfill: 2_000 })
  assert.deepEqual(received.closed[0], { ...first, startMs: (first?.startMs ?? 0) + OPEN }, 'the broker’s figures at the session’s open')
})

test('a page of many bars is processed in slices, with other work between them', async () => {
  for (const [session, interval, backfill] of [
    ['USEqCore', '1d', 1_500],
    ['USEqCore', '1w', 300],
    ['BrokerDefault', '4m', 400],
    ['USEqPreMkt', '1m', 400]
  ] as const) {
    const stage = exchangeStage({ dailyBars: 'core' })
    stage.broker.history.set('SPY 1d', days(2_000))
    stage.broker.history.set(
      'SPY 1m',
      Array.from({ length: 2_000 }, (_, at) => bar(MONDAY - 4 * DAY + at * MINUTE, '5'))
    )
    const before = stage.clock.ticksYielded
    const received = await stage.watch({ ...REQUEST, session, interval, backfill })
    assert.ok(received.closed.length > 0)
    assert.ok(stage.clock.ticksYielded > before, `${session} ${interval}`)
  }
})

test('a day of BrokerDefault is the broker’s own, also when it closes live', async () => {
  const stage = exchangeStage({ dailyBars: 'core' })
  stage.broker.history.set('SPY 1d', days(3))
  stage.broker.nowMs = MONDAY + CLOSE - 2 * MINUTE
  const received = await stage.watch({ ...REQUEST, session: 'BrokerDefault', interval: '1d', backfill: 3 })
  assert.deepEqual(
    received.closed.map(({ startMs }) => (startMs - OPEN) % DAY),
    [5, 5, 5].map(hours => hours * 60 * MINUTE)
  )
  const topic = stage.broker.topic('bars', 'SPY')
  topic.bar(bar(MONDAY + CLOSE - MINUTE, '7'))
  await stage.clock.settled()
  // Trades after the close belong to no day.
  topic.bar(bar(MONDAY + CLOSE, '99'))
  await stage.pass(5_000)
  assert.deepEqual(received.closed.at(-1), { ...bar(MONDAY + OPEN, '7'), volume: '10' })
})

test('a day that the broker leaves open until midnight ends with its session', async () => {
  const stage = exchangeStage({ dailyBars: 'core' })
  stage.broker.nowMs = MONDAY + CLOSE + 60 * MINUTE
  stage.broker.history.set('SPY 1d', [...days(2), bar(MONDAY, '5', false)])
  const received = await stage.watch({ ...REQUEST, interval: '1d', backfill: 2 })
  assert.deepEqual(received.closed.at(-1), bar(MONDAY + OPEN, '5'))
})

test('if a share does not have an exchange’s hours, days of the core session are requested from the broker by name', async () => {
  const stage = exchangeStage({ dailyBars: 'core', dailySessions: ['USEqCore'] })
  stage.broker.list('SPY', 'STK', continuousCalendar('America/New_York'))
  stage.broker.history.set('SPY 1d', days(2_000))
  for (const [session, interval, named] of [
    ['USEqCore', '1y', 'USEqCore'],
    ['USEqCore', '1d', 'USEqCore'],
    ['BrokerDefault', '1d', undefined]
  ] as const) {
    stage.broker.requests.length = 0
    const received = await stage.watch({ ...REQUEST, session, interval, backfill: 5 })
    assert.ok(received.closed.length >= 5, `${received.closed.length} of ${interval}`)
    const ofDays = stage.broker.requests.filter(({ interval: requested }) => requested === '1d')
    assert.ok(ofDays.length > 0 && ofDays.every(asked => asked.session === named), `${session} ${interval}`)
    assert.ok(stage.broker.requests.every(asked => asked.interval === '1d' || asked.session === undefined))
  }
  const received = await stage.watch({ ...REQUEST, interval: '1d', backfill: 1 })
  assert.deepEqual(received.closed.at(-1)?.startMs, MONDAY - 3 * DAY + OPEN)
})

test('a refusal explains that days are made of minutes', async () => {
  const always = exchangeStage({ dailyBars: 'core' })
  always.broker.list('SPY', 'STK', continuousCalendar('America/New_York'))
  const why =
    /does not follow the hours of its exchange at this broker, so the broker’s daily bars are not of USEqCore\. So many bars .* ask for at most \d+\.$/
  await assert.rejects(always.watch({ ...REQUEST, interval: '1y', backfill: 40 }), refused('invalid_request', why))
  const early = exchangeStage({ dailyBars: 'core', dailySessions: ['USEqCore'] })
  const other = /^The broker has no daily bars of USEqPreMkt\. /
  await assert.rejects(early.watch({ ...REQUEST, session: 'USEqPreMkt', interval: '1y', backfill: 40 }), refused('invalid_request', other))
})

test('if the broker’s days have all hours, those of the core session are made of shorter bars', async () => {
  const stage = exchangeStage({ dailyBars: 'all_hours' })
  const before = MONDAY - 3 * DAY
  stage.broker.history.set('SPY 1d', days(3))
  stage.broker.history.set('SPY 30m', [
    bar(before + OPEN - HALF_HOUR, '1'),
    bar(before + OPEN, '2'),
    bar(before + CLOSE - HALF_HOUR, '3'),
    bar(before + CLOSE, '4')
  ])
  const received = await stage.watch({ ...REQUEST, interval: '1d', backfill: 1 })
  assert.deepEqual(received.closed, [{ ...bar(before + OPEN, '3', true, '20'), open: decimal('2'), low: decimal('2') }])
  assert.ok(!intervals(stage).includes('1d'))
})

test('a request that exceeds the limit is refused before anything is read, with the number of bars allowed', async () => {
  const stage = exchangeStage({ dailyBars: 'all_hours' })
  await stage.watch({ ...REQUEST, interval: '1y', backfill: 0 })
  stage.broker.requests.length = 0
  await assert.rejects(
    stage.watch({ ...REQUEST, interval: '1y', backfill: 40 }),
    refused('invalid_request', /50000 is the most; ask for at most 4\./)
  )
  assert.deepEqual(stage.broker.requests, [])
  await stage.watch({ ...REQUEST, interval: '1y', backfill: 4 })
  const read = stage.broker.requests.filter(({ interval }) => interval === '30m')
  assert.ok(read.length > 0)
  // Reading a window of a century does not even begin.
  const [start, end] = ['1999-01-01T00:00:00Z', '2026-01-01T00:00:00Z'].map(text => parseTimestamp(text, 'time'))
  assert.ok(start !== undefined && end !== undefined)
  stage.broker.requests.length = 0
  await assert.rejects(
    stage.market.past({ symbol: 'SPY', interval: '7h', start, end }).next(),
    refused('invalid_request', new RegExp(String(BROKER_BARS_MAX)))
  )
  assert.deepEqual(stage.broker.requests, [])
})

test('if the broker keeps an interval for some days only, no bar is made that began before them', async () => {
  const stage = exchangeStage({ historyIntervals: ['1m', '30m'], historyDays: { '1m': 2, '30m': 4 }, dailyBars: 'core' })
  const whole = Array.from({ length: 8 * 48 }, (_, index) => bar(MONDAY - 8 * DAY + index * HALF_HOUR, String(index + 1)))
  stage.broker.history.set('SPY 30m', whole)
  const received = await stage.watch({ ...REQUEST, interval: '1d', backfill: 100 })
  // Four days before Monday at ten is within Thursday's session, a holiday's: Friday is the first complete day.
  assert.deepEqual(
    received.closed.map(({ startMs }) => startMs),
    [MONDAY - 3 * DAY + OPEN]
  )
  for (const interval of ['1w', '1M', '1y'])
    await assert.rejects(stage.watch({ ...REQUEST, interval, backfill: 0 }), refused('unsupported_interval', /keeps 4 days/))
})

test('a long history delays neither other requests nor live data', async () => {
  const stage = exchangeStage({ dailyBars: 'core' })
  stage.broker.list('QQQ', 'STK', usEquityCalendar())
  stage.broker.history.set('QQQ 1m', [bar(NOON - MINUTE, '5')])
  const gate = Promise.withResolvers<void>()
  stage.broker.hold = () => (stage.broker.requests.at(-1)?.symbol === 'SPY' ? gate.promise : Promise.resolve())
  const long = Array.from({ length: 5 }, () => stage.watch({ ...REQUEST, interval: '1y', backfill: 40 }))
  await stage.clock.settled()
  const received = await stage.watch({ ...REQUEST, symbol: 'QQQ', interval: '1m', backfill: 1 })
  assert.equal(received.closed.length, 1)
  gate.resolve()
  assert.equal((await Promise.all(long)).length, 5)
})

test('the limit of a backfill depends on how far back the broker’s own bars of the interval reach', async () => {
  const historyIntervals = ['1m', '15m', '60m', '1d']
  const marketData = { backfillMax: 10_000, historyIntervals, historyDays: { '1m': 2, '15m': 18, '60m': 18 } }
  const bounds = { '1m': 2_880, '15m': 1_728, '1h': 432, '30m': 10_000, '1d': 10_000 }
  for (const [interval, most] of Object.entries(bounds)) assert.equal(backfillMaxOf(marketData, parseInterval(interval)), most, interval)
  const stage = exchangeStage(marketData)
  const beyond = (interval: string, backfill: number, pattern: RegExp) =>
    assert.rejects(stage.market.watch({ ...REQUEST, interval, backfill }), refused('invalid_request', pattern))
  await beyond('15m', 1_729, /at most 1728 for bars of 15m here, of which the broker keeps 18 days; was 1729/)
  await beyond('1h', 433, /at most 432 for bars of 1h/)
  await beyond('30m', 10_001, /at most 10000 for bars of 30m here; was 10001/)
  assert.deepEqual(stage.broker.requests, [])
})

test('trades of the core session close a day as it was traded', async () => {
  const stage = exchangeStage({ dailyBars: 'core', liveIntervals: [] })
  stage.broker.nowMs = MONDAY + OPEN - MINUTE
  const received = await stage.watch({ ...REQUEST, session: 'BrokerDefault', interval: '1d', backfill: 0 })
  const topic = stage.broker.topic('trades', 'SPY')
  stage.broker.nowMs = MONDAY + CLOSE
  topic.trade(trade(MONDAY + OPEN - 1, '99'))
  topic.trade(trade(MONDAY + OPEN, '5'))
  topic.trade(trade(MONDAY + CLOSE - 1, '6'))
  await stage.clock.advance(250)
  assert.deepEqual(received.bars.at(-1), { ...bar(MONDAY + OPEN, '6', false, '2'), open: '5', low: '5' })
  topic.trade(trade(MONDAY + CLOSE + 1, '99'))
  await stage.pass(5_000)
  assert.equal(received.bars.at(-1)?.close, '6')
})
