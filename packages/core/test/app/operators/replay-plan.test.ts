import assert from 'node:assert/strict'
import { test } from 'node:test'
import { planReplay } from '@trunkline/core/app/operators/replay-plan'
import { parseDecimal } from '@trunkline/core/domain/decimal'
import type { Fill, Order } from '@trunkline/core/domain/order'
import { parseTimestamp } from '@trunkline/core/domain/timestamp'
import { anOrder } from '../../domain/an-order.ts'

const at = (seconds: string) => parseTimestamp(`2026-11-20T14:30:${seconds}Z`, 'time')
const fill = (quantity: string, price: string): Fill => ({
  ...{ fillId: `${quantity} ${price}`, at: at('01.000000'), execDest: null },
  ...{ quantity: parseDecimal(quantity, 'quantity'), price: parseDecimal(price, 'price') }
})
const submitted = (state: Order['submission']['state'], method: Order['submission']['method'], since = at('00.100000')) =>
  ({ submission: { state, method, since, attempts: 1 } }) as const
const partsOf = (order: Order) => planReplay(order, false).notRepeated.map(({ part }) => part)

test('each recorded answer has its fault, and one that is not recorded has none', () => {
  const faultOf = (order: Order) => planReplay(order, false).fault
  assert.equal(faultOf(anOrder()), null)
  const refused = { status: 'rejected', brokerMessage: 'No.' } as const
  assert.deepEqual(faultOf(anOrder({ ...submitted('refused', 'reply'), ...refused })), { do: 'refuse', message: 'No.' })
  assert.deepEqual(faultOf(anOrder(refused)), { do: 'refuse_later', message: 'No.' })
  for (const method of ['lookup', 'snapshot', 'recovery'] as const)
    assert.deepEqual(faultOf(anOrder(submitted('acknowledged', method))), { do: 'lose_answer' })
  assert.deepEqual(faultOf(anOrder(submitted('not_received', 'absence'))), { do: 'reset' })
  assert.equal(faultOf(anOrder(submitted('acknowledged', 'stream'))), null)
  assert.equal(faultOf(anOrder(submitted('not_sent', null))), null)
})

test('what is not known of the answer is named', () => {
  assert.ok(!partsOf(anOrder()).includes('answer'))
  for (const state of ['unknown', 'submitting', 'not_sent', 'external'] as const)
    assert.ok(partsOf(anOrder(submitted(state, null))).includes('answer'), state)
  const wordy = anOrder({ ...submitted('refused', 'reply'), status: 'rejected', brokerMessage: 'x'.repeat(501) })
  assert.equal(planReplay(wordy, false).fault?.message?.length, 500)
  assert.ok(planReplay(wordy, false).notRepeated.some(({ why }) => why.includes('cut')))
})

test('a late answer is late again, within its bound, unless its request meets another fault', () => {
  assert.equal(planReplay(anOrder(submitted('acknowledged', 'reply', at('00.999000'))), false).fault, null)
  assert.deepEqual(planReplay(anOrder(submitted('acknowledged', 'reply', at('02.500000'))), false).fault, { do: 'delay', ms: 2_500 })
  const hours = anOrder(submitted('acknowledged', 'reply', parseTimestamp('2026-11-20T16:30:00.000000Z', 'time')))
  assert.deepEqual(planReplay(hours, false).fault, { do: 'delay', ms: 60_000 })
  assert.equal(partsOf(hours).filter(part => part === 'time').length, 2)
  const lateRefusal = anOrder({ ...submitted('refused', 'reply', at('05.000000')), status: 'rejected' })
  assert.equal(planReplay(lateRefusal, false).fault?.do, 'refuse')
  assert.equal(partsOf(lateRefusal).filter(part => part === 'time').length, 2)
})

test('fills are what the order can trade with, the best price first, each price once', () => {
  const fills = [fill('2', '100.02'), fill('3', '100.01'), fill('0.5', '100.02')]
  assert.deepEqual(planReplay(anOrder({ fills }), false).liquidity, [
    ['100.01', '3'],
    ['100.02', '2.5']
  ])
  assert.deepEqual(planReplay(anOrder({ fills, side: 'SELL' }), false).liquidity?.[0], ['100.02', '2.5'])
  assert.deepEqual(planReplay(anOrder(), false).liquidity, [])
  for (const order of [anOrder({ type: 'STP', fills }), anOrder({ type: 'MKT' }), anOrder({ legs: [], fills })]) {
    assert.equal(planReplay(order, false).liquidity, null)
    assert.ok(partsOf(order).includes('fills'))
  }
  assert.ok(partsOf(anOrder({ fills: [{ ...fill('1', '1'), inferred: true }] })).includes('fills'))
})

test('a cancel is requested again where it was requested, and an expiry is named', () => {
  const cancelled = anOrder({ status: 'cancelled' })
  assert.equal(planReplay(cancelled, true).cancel, 'service')
  assert.equal(planReplay(cancelled, false).cancel, 'sandbox')
  assert.equal(planReplay(anOrder(), true).cancel, null)
  assert.ok(partsOf(anOrder({ status: 'expired' })).includes('end'))
  assert.ok(partsOf(anOrder({ status: 'pending_cancel' })).includes('end'))
  const { orderId } = anOrder()
  assert.ok(partsOf(anOrder({ replacesOrderId: orderId })).includes('changes'))
  assert.ok(partsOf(anOrder({ replacedByOrderId: orderId })).includes('changes'))
})
