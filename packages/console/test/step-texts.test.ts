import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OrderStep } from '../src/generated/admin.ts'
import { nullOf, outcomeOf, sentText, titleOf } from '../src/step-texts.ts'

const AT = '2026-11-20T14:30:00.000000Z'
const step = (kind: OrderStep['step'], source: OrderStep['source'], more: Partial<OrderStep> = {}): OrderStep => ({
  ...{ step: kind, at: AT, source },
  ...more
})

test('an order is called sent once the broker proved it, and only possibly sent before', () => {
  assert.equal(titleOf(step('sent', 'order', { is_proved: true })), 'Sent to the broker')
  assert.equal(titleOf(step('sent', 'order', { is_proved: null })), 'Possibly sent to the broker')
  assert.equal(sentText('acknowledged', 1), 'sent once')
  assert.equal(sentText('unknown', 1), 'sent at most once')
  assert.equal(sentText('not_received', 1), 'sent at most once')
  assert.equal(sentText('not_sent', 0), 'not sent by this service')
})

test('what the broker answered and what was settled without it have different names and the state as their outcome', () => {
  const [answer, settled] = [
    step('answer', 'event', { submission_state: 'acknowledged' }),
    step('settled', 'event', { submission_state: 'not_received' })
  ]
  assert.deepEqual([titleOf(answer), outcomeOf(answer)], ['Answer of the broker', 'acknowledged'])
  assert.deepEqual([titleOf(settled), outcomeOf(settled)], ['Settled without an answer of the broker', 'not_received'])
})

test('an order placed elsewhere was adopted and recorded: nobody requested or checked it here', () => {
  assert.equal(titleOf(step('request', 'audit', { action: 'order.adopt' })), 'Adopted')
  assert.equal(titleOf(step('request', 'audit', { action: 'order.place' })), 'Request')
  assert.equal(titleOf(step('recorded', 'event', { placed_here: false })), 'Recorded')
  assert.equal(titleOf(step('recorded', 'event', { placed_here: true })), 'Checked and recorded')
})

test('a request of which nothing is known has no outcome', () => {
  assert.equal(outcomeOf(step('request', 'order', { action: null, result: null })), null)
  assert.equal(outcomeOf(step('request', 'audit', { action: 'order.place', result: 'ok' })), 'order.place: ok')
})

test('an attempt of which it is not known whether it had the order is named so', () => {
  assert.equal(titleOf(step('delivery', 'delivery', { carried: null })), 'Delivery that may have had this order')
  assert.equal(titleOf(step('delivery', 'delivery', { carried: true })), 'Delivery to a webhook endpoint')
  assert.equal(outcomeOf(step('delivery', 'delivery', { failure: null })), 'delivered')
  assert.equal(outcomeOf(step('delivery', 'delivery', { failure: 'timeout' })), 'timeout')
})

test('null is unknown where the order alone speaks, and none where the record of that time did not have it', () => {
  assert.equal(nullOf(step('answer', 'order'), 'broker_message'), 'unknown')
  assert.equal(nullOf(step('answer', 'event'), 'broker_message'), 'none')
  assert.equal(nullOf(step('sent', 'order'), 'known_at'), 'unknown')
  assert.equal(nullOf(step('delivery', 'delivery'), 'retry_at'), 'none')
  assert.equal(nullOf(step('delivery', 'delivery'), 'carried'), 'unknown')
})
