import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Markets } from '@trunkline/core/app/market/markets'
import { DEFAULT_TIMING } from '@trunkline/core/app/timing'
import { usEquityCalendar } from '@trunkline/core/domain/calendar/index'
import { NOON, RecordingWatcher } from '@trunkline/testkit/market-stage'
import { SCRIPTED_CAPABILITIES, ScriptedMarket } from '@trunkline/testkit/scripted-broker/index'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import { LocalBus } from '../../../src/app/local-bus.ts'

test('a broker whose clock shows a time outside every calendar does not stop the clocks of others', async () => {
  const warnings: string[] = []
  const log = { debug() {}, info() {}, warn: (message: string) => warnings.push(message), error() {} }
  const clock = new VirtualClock(NOON)
  const sources = { wrong: new ScriptedMarket(NOON), right: new ScriptedMarket(NOON) }
  const sessions = {
    get: ({ broker }: { broker: keyof typeof sources }) => ({ market: sources[broker], capabilities: CAPABILITIES }),
    retain: () => ({ [Symbol.dispose]() {} })
  }
  const deps = { bus: new LocalBus(log), clock, log, meter: { count() {}, observe() {} }, timing: DEFAULT_TIMING }
  const markets: Markets = Reflect.construct(Markets, [deps, sessions])
  for (const broker of ['wrong', 'right'] as const) {
    sources[broker].list('SPY', 'STK', usEquityCalendar())
    const market = markets.join(Object({ connectionId: broker, broker }))
    new RecordingWatcher(await market.watch({ channel: 'quotes', symbol: 'SPY' })).begin()
  }
  sources.wrong.nowMs = 0
  await clock.advance(31_000)
  assert.deepEqual([sources.wrong.renewals, sources.right.renewals], [0, 1])
  assert.deepEqual(warnings, ['the periodic check of a market failed'])
  await markets.stop()
})

const CAPABILITIES = {
  ...SCRIPTED_CAPABILITIES,
  marketData: {
    channels: ['quotes'],
    historyIntervals: ['1m'],
    historyDays: {},
    dailyBars: 'all_hours',
    dailySessions: [],
    liveIntervals: [],
    liveVolume: 'all',
    symbolSearch: false,
    backfillMax: 10,
    historyLagMs: 0,
    everyTrade: true,
    streamNumbered: true,
    connections: 'one'
  }
}
