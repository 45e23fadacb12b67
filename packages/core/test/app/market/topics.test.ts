import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MarketRefusal } from '@trunkline/core/app/market/refusal'
import { usEquityCalendar } from '@trunkline/core/domain/calendar/index'
import { BrokerFault } from '@trunkline/core/ports/broker'
import { MINUTE, NOON, quote, Stage, trade } from '@trunkline/testkit/market-stage'

const QUOTES = { channel: 'quotes', symbol: 'SPY' } as const
const refusal = (code: string) => (cause: unknown) => cause instanceof MarketRefusal && cause.code === code

test('one topic of the broker serves every subscriber: a later one gets its state at once, and the last one to leave ends it', async () => {
  const stage = new Stage()
  const first = await stage.watch(QUOTES)
  stage.broker.topic('quotes', 'SPY').quote(quote('1.00'))
  stage.broker.topic('quotes', 'SPY').quote(quote('2.00'))
  const second = await stage.watch(QUOTES)
  assert.equal(stage.broker.leases, 1)
  assert.deepEqual(
    [first, second].map(({ quotes }) => quotes.map(({ bidPrice }) => bidPrice)),
    [['1.00', '2.00'], ['2.00']]
  )
  first.end()
  stage.broker.topic('quotes', 'SPY').quote(quote('3.00'))
  assert.equal(first.quotes.length, 2)
  assert.equal(second.quotes.length, 2)
  second.end()
  second.end()
  assert.equal(stage.broker.open, 0)
})

test('trades from before a subscription are not sent to it', async () => {
  const stage = new Stage()
  const request = { channel: 'trades', symbol: 'SPY', session: 'BrokerDefault' } as const
  await stage.watch(request)
  stage.broker.topic('trades', 'SPY').trade(trade(NOON, '1.00'))
  assert.deepEqual((await stage.watch(request)).trades, [])
})

test('trades of a session are those within its hours, and sessions do not apply to crypto', async () => {
  const stage = new Stage()
  const core = await stage.watch({ channel: 'trades', symbol: 'SPY', session: 'USEqCore' })
  const crypto = await stage.watch({ channel: 'trades', symbol: 'BTC/USD', session: 'NoSuchSession' })
  const [opening, before] = [Date.UTC(2026, 0, 5, 14, 30), Date.UTC(2026, 0, 5, 14, 29, 59, 999)]
  for (const symbol of ['SPY', 'BTC/USD']) for (const at of [before, opening]) stage.broker.topic('trades', symbol).trade(trade(at, '1'))
  assert.equal(stage.broker.leases, 2)
  assert.equal(core.trades.length, 1)
  assert.equal(crypto.trades.length, 2)
})

test('unavailable data is refused with its own code, and leaves nothing running', async () => {
  const stage = new Stage({ channels: ['quotes', 'trades', 'bars', 'options_chain'] })
  const refused = (request: Parameters<Stage['watch']>[0], code: string) => assert.rejects(stage.watch(request), refusal(code))
  await refused({ channel: 'depth', symbol: 'SPY' }, 'unsupported_channel')
  await refused({ channel: 'quotes', symbol: 'spy' }, 'unsupported_symbol')
  await refused({ channel: 'quotes', symbol: 'NONE' }, 'unsupported_symbol')
  await refused({ channel: 'trades', symbol: 'SPY', session: 'USEqPostMkt' }, 'unsupported_session')
  await refused({ channel: 'trades', symbol: 'SPY', session: 'nonsense' }, 'unsupported_session')
  await refused({ channel: 'options_chain', symbol: 'SPY', expiration: '2026-01-16' }, 'unsupported_symbol')
  for (const interval of ['0m', '-1m', '1x', '01m', '1D', '5', '99999999999999999999m', '1s']) {
    await refused({ channel: 'bars', symbol: 'SPY', interval, session: 'BrokerDefault', backfill: 0 }, 'unsupported_interval')
  }
  await refused({ channel: 'bars', symbol: 'SPY', interval: '1m', session: 'BrokerDefault', backfill: 1_001 }, 'invalid_request')
  stage.broker.fault = new BrokerFault('unreachable', 'no way')
  await refused(QUOTES, 'broker_unavailable')
  assert.equal(stage.broker.open, 0)
})

test('a topic that the broker refuses, or does not answer, is refused to its subscriber', async () => {
  const stage = new Stage()
  stage.broker.answers = false
  const [denied, unheard] = [stage.watch(QUOTES), stage.watch({ channel: 'depth', symbol: 'SPY' })]
  await stage.clock.settled()
  stage.broker.topic('quotes', 'SPY').refused('not for you')
  await assert.rejects(denied, refusal('unsupported_symbol'))
  const rejected = assert.rejects(unheard, refusal('broker_unavailable'))
  await stage.clock.advance(10_000)
  await rejected
  assert.equal(stage.broker.open, 0)
})

test('a loss is reported, earlier state is not sent to a new subscriber, and the topic resumes by itself', async () => {
  const stage = new Stage()
  const received = await stage.watch(QUOTES)
  const topic = stage.broker.topic('quotes', 'SPY')
  topic.quote(quote('1.00'))
  stage.broker.lose()
  assert.deepEqual(received.interruptions, ['the connection ended'])
  assert.deepEqual(stage.losses, ['lost'])
  const late = stage.watch(QUOTES)
  await stage.clock.settled()
  stage.broker.recover()
  topic.quote(quote('2.00'))
  assert.deepEqual(
    (await late).quotes.map(({ bidPrice }) => bidPrice),
    ['2.00']
  )
  assert.deepEqual(
    received.quotes.map(({ bidPrice }) => bidPrice),
    ['1.00', '2.00']
  )
  assert.equal(received.interruptions.length, 1)
})

test('a silent topic is requested again, less and less often; it is reported only if the broker does not answer that', async () => {
  const stage = new Stage()
  const received = await stage.watch(QUOTES)
  await stage.pass(29_000)
  assert.equal(stage.broker.renewals, 0)
  await stage.pass(2_000)
  assert.equal(stage.broker.renewals, 1)
  await stage.pass(58_000)
  assert.equal(stage.broker.renewals, 1)
  assert.deepEqual(received.interruptions, [])
  stage.broker.answers = false
  await stage.pass(4_000)
  assert.equal(stage.broker.renewals, 2)
  await stage.pass(5_000)
  assert.equal(received.interruptions.length, 1)
  stage.broker.recover()
  stage.broker.topic('quotes', 'SPY').quote(quote('1.00'))
  assert.equal(received.quotes.length, 1)
})

test('a trade with a time outside every calendar is in no session, and does no harm', async () => {
  const stage = new Stage()
  const request = { channel: 'trades', symbol: 'SPY' } as const
  const core = await stage.watch({ ...request, session: 'USEqCore' })
  const all = await stage.watch({ ...request, session: 'BrokerDefault' })
  for (const at of [0, 1, NOON]) stage.broker.topic('trades', 'SPY').trade(trade(at, '1'))
  assert.deepEqual([core.trades.length, all.trades.length], [1, 3])
})

test('topics that were silent overnight are not all requested again in the second in which their market opens', async () => {
  const stage = new Stage()
  stage.broker.nowMs = Date.UTC(2026, 0, 5, 14, 29)
  stage.broker.list('SPY', 'STK', usEquityCalendar())
  await stage.watch(QUOTES)
  await stage.pass(MINUTE + 25_000)
  assert.equal(stage.broker.renewals, 0)
  await stage.pass(10_000)
  assert.equal(stage.broker.renewals, 1)
})

test('a topic whose renewal was not answered is requested again until it is', async () => {
  const stage = new Stage()
  const received = await stage.watch(QUOTES)
  stage.broker.answers = false
  await stage.pass(300_000)
  assert.equal(received.interruptions.length, 1)
  stage.broker.answers = true
  await stage.pass(300_000)
  stage.broker.topic('quotes', 'SPY').quote(quote('1.00'))
  const late = await stage.watch(QUOTES)
  assert.equal(late.quotes.length, 1)
  assert.equal(received.interruptions.length, 1)
})

test('a connection that is lost during the renewal of a topic is handled like any other loss', async () => {
  const stage = new Stage()
  const received = await stage.watch(QUOTES)
  stage.broker.answers = false
  await stage.pass(31_000)
  assert.equal(stage.broker.renewals, 1)
  stage.broker.lose('token', 'the token has ended')
  assert.deepEqual([received.interruptions, stage.losses], [['the token has ended'], ['token']])
})
