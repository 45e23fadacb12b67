import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MarketRefusal } from '@trunkline/core/app/market/refusal'
import { usEquityCalendar } from '@trunkline/core/domain/calendar/index'
import { parseTimestamp } from '@trunkline/core/domain/timestamp'
import { bar, MINUTE, NOON, Stage, trade } from '@trunkline/testkit/market-stage'

const BARS = { channel: 'bars', symbol: 'SPY', interval: '1m', session: 'BrokerDefault', backfill: 0 } as const
const OWN = { liveIntervals: ['1m'] }
const starts = (bars: readonly { readonly startMs: number }[]) => bars.map(({ startMs }) => (startMs - NOON) / MINUTE)

test('an open bar is sent when it changes, at most four times a second, and once when it closes', async () => {
  const stage = new Stage(OWN)
  const received = await stage.watch(BARS)
  const topic = stage.broker.topic('bars', 'SPY')
  for (let at = 0; at < 1_000; at += 10) {
    topic.bar(bar(NOON, String(100 + at), false))
    await stage.clock.advance(10)
  }
  assert.ok(received.bars.length >= 4 && received.bars.length <= 5, `${received.bars.length} states in a second`)
  await stage.clock.advance(250)
  assert.equal(received.bars.at(-1)?.close, '1090')
  topic.bar(bar(NOON, '1090'))
  topic.bar(bar(NOON, '1090'))
  topic.bar(bar(NOON, '1090', false))
  assert.deepEqual(starts(received.closed), [0])
  assert.equal(received.bars.at(-1)?.closed, true)
})

test('a bar closes at the end of its time, even if nothing more arrives', async () => {
  const stage = new Stage(OWN)
  const received = await stage.watch({ ...BARS, interval: '2m' })
  stage.broker.topic('bars', 'SPY').bar(bar(NOON, '1'))
  stage.broker.history.set('SPY 1m', [bar(NOON, '1')])
  await stage.pass(2 * MINUTE)
  assert.equal(received.closed.length, 0)
  await stage.pass(3_000)
  assert.deepEqual(starts(received.closed), [0])
})

test('a bar does not close by time while trades of it still arrive, or may have been held back', async () => {
  const stage = new Stage(OWN)
  const received = await stage.watch({ ...BARS, interval: '60m' })
  const topic = stage.broker.topic('bars', 'SPY')
  // The broker reports its delay before it reports the events until then, or this process could not read them.
  stage.broker.nowMs = NOON + 67 * MINUTE
  for (let minute = 0; minute < 60; minute += 20) {
    stage.market.tick()
    for (let next = minute; next < minute + 20; next += 1) topic.bar(bar(NOON + next * MINUTE, String(next + 1)))
    await stage.clock.advance(1_000)
  }
  await stage.pass(5_000)
  assert.deepEqual(received.closed, [{ ...bar(NOON, '60', true, '600'), open: '1', low: '1' }])
})

test('longer bars are made of the broker’s own, beginning with the part of the current one that history has', async () => {
  const stage = new Stage(OWN)
  stage.broker.nowMs = NOON + 3 * MINUTE + 5_000
  stage.broker.history.set('SPY 1m', [
    bar(NOON, '10'),
    bar(NOON + MINUTE, '30'),
    bar(NOON + 2 * MINUTE, '5'),
    bar(NOON + 3 * MINUTE, '7', false, '1')
  ])
  const received = await stage.watch({ ...BARS, interval: '5m' })
  assert.deepEqual(received.bars, [{ ...bar(NOON, '7', false, '31'), open: '10', high: '30', low: '5' }])
  const topic = stage.broker.topic('bars', 'SPY')
  topic.bar(bar(NOON + 3 * MINUTE, '8'))
  topic.bar(bar(NOON + 4 * MINUTE, '9'))
  assert.deepEqual(received.closed, [{ ...bar(NOON, '9', true, '50'), open: '10', high: '30', low: '5' }])
})

test('bars missed during a loss are taken from history: every bar closes once, none is missing', async () => {
  const stage = new Stage(OWN)
  const received = await stage.watch(BARS)
  const topic = stage.broker.topic('bars', 'SPY')
  topic.bar(bar(NOON, '1'))
  topic.bar(bar(NOON + MINUTE, '2', false))
  stage.broker.lose()
  await stage.pass(4 * MINUTE)
  const past = [0, 1, 2, 3].map(minute => bar(NOON + minute * MINUTE, String(minute + 1)))
  stage.broker.history.set('SPY 1m', [...past, bar(NOON + 4 * MINUTE, '5', false)])
  stage.broker.recover()
  topic.bar(bar(NOON + 3 * MINUTE, '4'))
  await stage.clock.settled()
  topic.bar(bar(NOON + 4 * MINUTE, '5'))
  assert.deepEqual(starts(received.closed), [0, 1, 2, 3, 4])
  assert.deepEqual(
    received.closed.map(({ close }) => close),
    ['1', '2', '3', '4', '5']
  )
  assert.equal(received.interruptions.length, 1)
})

test('a history that lags is read once it can be complete: a bar wholly within a loss is not left out', async () => {
  const stage = new Stage({ ...OWN, historyLagMs: 5_000 })
  const received = await stage.watch(BARS)
  const topic = stage.broker.topic('bars', 'SPY')
  topic.bar(bar(NOON, '1'))
  stage.broker.lose()
  await stage.pass(3 * MINUTE)
  // History does not have the minutes in between yet.
  stage.broker.history.set('SPY 1m', [bar(NOON, '1')])
  stage.broker.recover()
  topic.bar(bar(NOON + 3 * MINUTE, '4'))
  await stage.pass(4_000)
  assert.deepEqual(starts(received.closed), [0])
  stage.broker.history.set(
    'SPY 1m',
    [0, 1, 2, 3].map(minute => bar(NOON + minute * MINUTE, String(minute + 1)))
  )
  await stage.pass(2_000)
  assert.deepEqual(starts(received.closed), [0, 1, 2, 3])
})

test('a history that does not answer after a loss is requested until it does', async () => {
  const stage = new Stage(OWN)
  const received = await stage.watch(BARS)
  const topic = stage.broker.topic('bars', 'SPY')
  topic.bar(bar(NOON, '1'))
  stage.broker.lose()
  await stage.pass(2 * MINUTE)
  stage.broker.history.delete('SPY 1m')
  stage.broker.recover()
  topic.bar(bar(NOON + 2 * MINUTE, '3'))
  await stage.pass(5_000)
  assert.deepEqual(starts(received.closed), [0])
  stage.broker.history.set('SPY 1m', [bar(NOON + MINUTE, '2')])
  await stage.pass(10_000)
  assert.deepEqual(starts(received.closed), [0, 1, 2])
})

test('a backfill joins the live bars without a gap or a repeat, whatever closes meanwhile', async () => {
  const stage = new Stage(OWN)
  stage.broker.history.set(
    'SPY 1m',
    Array.from({ length: 100 }, (_, index) => bar(NOON - (100 - index) * MINUTE, String(index + 1)))
  )
  await stage.watch(BARS)
  const topic = stage.broker.topic('bars', 'SPY')
  const gate = Promise.withResolvers<void>()
  stage.broker.hold = () => gate.promise
  const joining = stage.watch({ ...BARS, backfill: 5 })
  await stage.clock.settled()
  topic.bar(bar(NOON, '101'))
  topic.bar(bar(NOON + MINUTE, '102', false))
  gate.resolve()
  const received = await joining
  topic.bar(bar(NOON + MINUTE, '102'))
  assert.deepEqual(starts(received.closed), [-4, -3, -2, -1, 0, 1])
  assert.deepEqual(starts(received.bars), [-4, -3, -2, -1, 0, 1, 1])
})

test('a backfill has as many bars as requested, however rarely the symbol trades', async () => {
  const stage = new Stage(OWN)
  const past = Array.from({ length: 20 }, (_, index) => bar(NOON - (20 - index) * 60 * MINUTE, '1'))
  stage.broker.history.set('SPY 1m', past)
  for (const [backfill, expected] of [
    [1, 1],
    [7, 7],
    [1_000, 20]
  ] as const) {
    const received = await stage.watch({ ...BARS, backfill })
    assert.equal(received.closed.length, expected)
    assert.deepEqual(received.closed, past.slice(-expected))
  }
})

test('bars built from trades: one that was only partly received is taken from history when it closes', async () => {
  const stage = new Stage()
  stage.broker.nowMs = NOON + 30_000
  stage.broker.history.set('SPY 1m', [bar(NOON, '50', false)])
  const received = await stage.watch(BARS)
  const topic = stage.broker.topic('trades', 'SPY')
  topic.trade(trade(NOON + 40_000, '3'))
  stage.broker.history.set('SPY 1m', [{ ...bar(NOON, '3', true, '12'), open: bar(NOON, '50').open, high: bar(NOON, '50').high }])
  topic.trade(trade(NOON + MINUTE, '4'))
  topic.trade(trade(NOON + 2 * MINUTE, '5', '2'))
  await stage.clock.settled()
  assert.deepEqual(received.closed, [{ ...bar(NOON, '3', true, '12'), open: '50', high: '50' }, bar(NOON + MINUTE, '4', true, '1')])
})

test('trades that arrive after their bar has closed do not change what was sent', async () => {
  const stage = new Stage()
  const received = await stage.watch(BARS)
  await stage.pass(MINUTE)
  const topic = stage.broker.topic('trades', 'SPY')
  topic.trade(trade(NOON + MINUTE, '4'))
  topic.trade(trade(NOON + 2 * MINUTE, '5'))
  topic.trade(trade(NOON + MINUTE + 1, '9'))
  topic.trade(trade(NOON + 3 * MINUTE, '6'))
  await stage.clock.settled()
  assert.deepEqual(
    received.closed.map(({ close }) => close),
    ['4', '5']
  )
})

test('a trade with a time outside every calendar is left out', async () => {
  const stage = new Stage()
  const received = await stage.watch({ ...BARS, session: 'USEqCore' })
  const topic = stage.broker.topic('trades', 'SPY')
  for (const at of [0, 1, 8.64e15]) topic.trade(trade(at, '1'))
  topic.trade(trade(NOON, '2'))
  await stage.clock.advance(250)
  assert.deepEqual(
    received.bars.map(({ close }) => close),
    ['2']
  )
})

test('a broker that sends a time in the future with every trade is logged once', async () => {
  const stage = new Stage()
  const received = await stage.watch(BARS)
  for (let second = 0; second < 5; second += 1) stage.broker.topic('trades', 'SPY').trade(trade(NOON + 3_600_000 + second, '1'))
  await stage.clock.advance(250)
  assert.deepEqual([received.bars, stage.warnings], [[], ['a broker sent a time in the future; the event was dropped']])
})

test('a broker’s time that jumps ahead and back makes nothing late', async () => {
  const stage = new Stage()
  const received = await stage.watch(BARS)
  const topic = stage.broker.topic('trades', 'SPY')
  await stage.pass(MINUTE)
  topic.trade(trade(NOON + MINUTE, '1'))
  stage.broker.nowMs += 3_600_000
  await stage.pass(1_000)
  stage.broker.nowMs -= 3_600_000
  for (const minute of [2, 3]) topic.trade(trade(NOON + minute * MINUTE, '1'))
  await stage.clock.settled()
  assert.deepEqual(starts(received.closed), [1, 2])
})

test('bars outside the requested window are left out', async () => {
  const stage = new Stage()
  const past = [0, 1, 2, 3].map(minute => bar(NOON + minute * MINUTE, '1'))
  stage.broker.bars = async function* () {
    yield past
  }
  const [start, end] = [parseTimestamp('2026-01-05T15:01:00Z', 'start'), parseTimestamp('2026-01-05T15:03:00Z', 'end')]
  const found = await Array.fromAsync(stage.market.past({ symbol: 'SPY', interval: '1m', start, end }))
  assert.deepEqual(starts(found.flat()), [1, 2])
})

test('a broker’s time outside every calendar is the broker’s fault', async () => {
  const stage = new Stage()
  stage.broker.list('SPY', 'STK', usEquityCalendar())
  stage.broker.nowMs = 0
  await assert.rejects(stage.watch(BARS), cause => cause instanceof MarketRefusal && cause.code === 'broker_unavailable')
  assert.equal(stage.broker.open, 0)
})

test('a backfill on a long weekend has the bars before it, however few are requested', async () => {
  const stage = new Stage()
  stage.broker.list('SPY', 'STK', usEquityCalendar())
  // The evening of Washington's Birthday, a Monday; Friday ended at 20:00 in New York.
  stage.broker.nowMs = Date.UTC(2026, 1, 16, 23)
  const past = [3, 2, 1].map(minutes => bar(Date.UTC(2026, 1, 14, 1) - minutes * MINUTE, '1'))
  stage.broker.history.set('SPY 1m', past)
  for (const backfill of [1, 2, 3]) assert.deepEqual((await stage.watch({ ...BARS, backfill })).closed, past.slice(-backfill))
})

test('bars that a broker sent before it reported a jump of its time are taken from history', async () => {
  for (const isFollowed of [true, false]) {
    const stage = new Stage(OWN)
    const received = await stage.watch(BARS)
    const topic = stage.broker.topic('bars', 'SPY')
    topic.bar(bar(NOON, '1', false))
    const past = Array.from({ length: 30 }, (_, minute) => bar(NOON + minute * MINUTE, '1'))
    stage.broker.history.set('SPY 1m', past)
    for (const each of past) topic.bar(each)
    stage.broker.nowMs += 30 * MINUTE
    if (isFollowed) topic.bar(bar(NOON + 30 * MINUTE, '1', false))
    else await stage.pass(1_000)
    await stage.clock.advance(250)
    assert.deepEqual(received.closed, past)
    assert.equal(received.bars.at(-1)?.closed, !isFollowed)
  }
})
