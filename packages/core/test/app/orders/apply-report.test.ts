import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyReport } from '@trunkline/core/app/execution/apply-report'
import { parseDecimal } from '@trunkline/core/domain/decimal'
import { FILLS_MAX } from '@trunkline/core/domain/executions'
import type { Fill, Order } from '@trunkline/core/domain/order'
import type { OrderReport } from '@trunkline/core/ports/broker'
import { anOrder } from '../../domain/an-order.ts'

const NOW = anOrder().systemTime

function execution(fillId: string, quantity: string): Fill {
  return { fillId, at: NOW, quantity: parseDecimal(quantity, 'q'), price: parseDecimal('10', 'p'), execDest: null }
}

/** A report of the order by its broker, otherwise unchanged. */
function reportOf(order: Order, changes: Partial<OrderReport>): OrderReport {
  return {
    ...order,
    brokerAccountId: 'a1',
    brokerOrderId: 'b1',
    brokerStatus: 'done',
    filledTotal: null,
    updatedAt: NOW,
    replacesBrokerOrderId: null,
    replacedByBrokerOrderId: null,
    ...changes
  }
}

test('a report with an impossible execution is rejected as a whole: it neither fills nor cancels the order', () => {
  const order = anOrder()
  const fills = [execution('f1', '100'), execution('f2', '-5')]
  for (const status of ['filled', 'cancelled', 'partially_filled'] as const) {
    const reported = applyReport(order, reportOf(order, { status, fills }), 'snapshot', NOW)
    assert.equal(reported.order, order)
    assert.deepEqual(reported.alarms, ['impossible_fill'])
  }
})

test('a report that exceeds the bound of executions leaves the order in its last valid state, with one alarm [S77]', () => {
  const known = Array.from({ length: FILLS_MAX }, (_, n) => execution(`f${n}`, '0.001'))
  const order = applyReport(anOrder(), reportOf(anOrder(), { status: 'partially_filled', fills: known }), 'stream', NOW).order
  assert.deepEqual([order.fills.length, order.status], [FILLS_MAX, 'partially_filled'])
  const more = reportOf(order, { status: 'filled', fills: [...known, execution('one more', '95')] })
  const reported = applyReport(order, more, 'stream', NOW)
  assert.equal(reported.order, order)
  assert.deepEqual([reported.changed, reported.alarms], [false, ['too_many_fills']])
})

test('a rejection keeps its reason when the broker lists the order without one; without any, that is what it says', () => {
  const why = { brokerStatus: '40310000', brokerMessage: 'insufficient buying power', rejectCode: 'insufficient_funds' } as const
  const order = anOrder({ ...why, status: 'rejected', submission: { state: 'refused', since: NOW, attempts: 1, method: 'reply' } })
  const silent = { status: 'rejected', brokerStatus: 'rejected', brokerMessage: null, rejectCode: null, fills: null } as const
  const listed = applyReport(order, reportOf(order, silent), 'snapshot', NOW).order
  assert.deepEqual([listed.brokerStatus, listed.brokerMessage, listed.rejectCode], Object.values(why))
  const again = applyReport(listed, reportOf(listed, silent), 'snapshot', NOW)
  assert.equal(again.changed, false)
  const late = applyReport(anOrder(), reportOf(anOrder(), silent), 'stream', NOW).order
  assert.deepEqual(
    [late.status, late.brokerStatus, late.brokerMessage, late.rejectCode],
    ['rejected', 'rejected', 'The broker rejected the order and gave no reason.', null]
  )
})
