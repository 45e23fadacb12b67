import assert from 'node:assert/strict'
import { test } from 'node:test'
import { watchWebhooks } from '../../src/gauges.ts'
import { COUNTERS } from '../../src/ops/counters.ts'
import { PromMeter } from '../../src/ops/metrics.ts'

test('counters are shown with 0 before anything is counted, for each offered broker and each known value', async () => {
  const meter = new PromMeter(['ALPACA', 'SANDBOX'])
  const page = await meter.registry.metrics()
  for (const line of [
    'trunkline_order_alarms_total{broker="ALPACA",alarm="late_fill"} 0',
    'trunkline_order_outcomes_total{broker="SANDBOX",command="cancel",outcome="unknown"} 0',
    'trunkline_requests_passed_on_total{result="no_answer"} 0',
    'trunkline_stream_closed_total{code="4008"} 0',
    'trunkline_market_late_trades_total 0'
  ])
    assert.ok(page.includes(`${line}\n`), line)
  const without = Object.keys(COUNTERS).filter(name => !new RegExp(`^trunkline_${name}(\\{.*\\})? 0$`, 'm').test(page))
  assert.deepEqual(without, ['broker_unknown_values_total'], 'its fields are those of brokers’ messages')

  meter.count('order_alarms_total', { broker: 'ALPACA', alarm: 'late_fill' })
  const counted = await meter.registry.metrics()
  assert.ok(counted.includes('trunkline_order_alarms_total{broker="ALPACA",alarm="late_fill"} 1\n'))
  assert.equal(counted.split('\n').length, page.split('\n').length, 'no further series')
})

test('of webhooks the age of the oldest update is shown, and how many endpoints are behind by how much', async () => {
  const meter = new PromMeter()
  let lags = [4_000, 90, 2]
  watchWebhooks(meter, { waiting: 3, attempts: 1, lags: () => lags })
  const page = await meter.registry.metrics()
  for (const line of ['oldest_seconds 4000', 'endpoints_behind{longer_than="minute"} 2', 'endpoints_behind{longer_than="hour"} 1'])
    assert.ok(page.includes(`trunkline_webhook_${line}\n`), line)
  lags = []
  const calm = await meter.registry.metrics()
  for (const line of ['oldest_seconds 0', 'endpoints_behind{longer_than="minute"} 0', 'endpoints_behind{longer_than="day"} 0'])
    assert.ok(calm.includes(`trunkline_webhook_${line}\n`), line)
})
