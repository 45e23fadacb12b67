import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDecimal } from '@trunkline/core/domain/decimal'
import { parseTimestamp } from '@trunkline/core/domain/timestamp'
import type { OrderReport } from '@trunkline/core/ports/broker'
import { OrderTracker } from '../../../src/kit/runtime/order-tracker.ts'

const NOW = parseTimestamp('2026-11-20T15:00:00Z', 'now')

function report(status: OrderReport['status'], filled: string): OrderReport {
  return {
    ...{ brokerAccountId: 'A', brokerOrderId: '1', brokerClOrdId: null, symbol: 'MSFT', instrument: 'STK', side: 'BUY', type: 'LMT' },
    ...{ tif: 'DAY', quantity: parseDecimal('10', 'test'), notional: null, limitPrice: null, stopPrice: null, legs: null },
    ...{ status, brokerStatus: status, brokerMessage: null, rejectCode: null, brokerOrderType: null, execDest: null },
    ...{ fills: null, filledTotal: { quantity: parseDecimal(filled, 'test'), averagePrice: null }, entryTime: NOW, updatedAt: NOW },
    ...{ replacesBrokerOrderId: null, replacedByBrokerOrderId: null }
  }
}

test('what is known of an order never goes back: an answer that events have overtaken changes nothing', () => {
  const tracker = new OrderTracker()
  const put = (...given: Parameters<typeof report>) => {
    tracker.put(report(...given))
    const known = tracker.get('A', '1')
    return `${known?.status} ${known?.filledTotal?.quantity}`
  }
  assert.equal(put('pending', '0'), 'pending 0')
  assert.equal(put('working', '0'), 'working 0')
  assert.equal(put('pending', '0'), 'working 0')
  assert.equal(put('partially_filled', '4'), 'partially_filled 4')
  assert.equal(put('working', '0'), 'partially_filled 4')
  assert.equal(put('pending_cancel', '4'), 'pending_cancel 4')
  assert.equal(put('partially_filled', '4'), 'partially_filled 4')
  assert.equal(put('cancelled', '6'), 'cancelled 6')
  assert.equal(put('partially_filled', '6'), 'cancelled 6')
  assert.ok(tracker.isOutdated(report('working', '6')) && !tracker.isOutdated(report('cancelled', '7')))
})
