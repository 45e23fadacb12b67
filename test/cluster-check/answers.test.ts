// Forged answers and records: what the check finds in them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '@trunkline/testkit/crash/sandbox-process'
import { cancelContradictions, contradictions } from './answers.ts'
import type { Answer } from './client.ts'
import type { Requested } from './ledger.ts'
import { asShown, holdingFaults, isUnproved, orderFaults } from './records.ts'
import type { UserAccount } from './users.ts'

const ACCOUNT: UserAccount = {
  broker: 'ALPACA',
  connectionId: 'n1',
  accountId: 'a1',
  login: { username: 'ada', password: 'p', accounts: [{ id: 'b1', number: 'A1', kind: 'margin' }] },
  loginId: 'l1',
  brokerAccount: 'b1'
}
const ORDER: Json = {
  ...{ order_id: 'o1', cl_order_id: 'c1', account_id: 'a1', symbol: 'AAPL', order_qty: '7', order_limit_price: '5.00' },
  ...{ normalized_status: 'working', submission: { state: 'acknowledged' }, replaces_order_id: null, broker_message: null },
  ...{ filled_qty: '0', fills: [] }
}
const THERE: Json = { state: 'open', symbol: 'AAPL', filled: '0' }
const OVER: Json = { ...ORDER, normalized_status: 'cancelled' }
const REJECTED: Json = { ...ORDER, normalized_status: 'rejected' }

function logged(...orders: readonly Json[]): ReadonlyMap<string, Json> {
  return new Map(orders.map(order => [order.order_id, order]))
}

function requested(answer: Answer): Requested {
  const user = { userId: 'u', headers: {}, accounts: [ACCOUNT] }
  return { user, account: ACCOUNT, clOrderId: 'c1', terms: { quantity: 7, cents: 500 }, answer }
}

const NOT_OPEN = { status: 400, body: { code: 'order_not_open' } }

test('the answer to an order: it is there, with its terms, and a final status stays', () => {
  const found = (body: Json, ...orders: readonly Json[]) => contradictions(requested({ status: 201, body }), logged(...orders)).length
  assert.equal(found(ORDER, ORDER), 0)
  assert.equal(found(ORDER), 1)
  assert.equal(found(ORDER, { ...ORDER, order_qty: '8' }), 1)
  assert.equal(found(OVER, ORDER), 1)
})

test('a change that was refused made no order, except one that was rejected', () => {
  const found = (...orders: readonly Json[]) => contradictions(requested(NOT_OPEN), logged(...orders)).length
  assert.equal(found(), 0)
  assert.equal(found({ ...ORDER, cl_order_id: 'c2' }), 0)
  assert.equal(found(REJECTED), 0)
  assert.equal(found(ORDER), 1)
  assert.equal(found({ ...ORDER, normalized_status: 'replaced' }), 1)
})

test('a cancel that was taken ends its order, unless the answer or the order says why not', () => {
  const cancelled = (answer: Answer) => ({ userId: 'u', orderId: 'o1', answer })
  const found = (answer: Answer, ...orders: readonly Json[]) => cancelContradictions(cancelled(answer), logged(...orders), new Set()).length
  const taken = (status: string, message: string | null = null) => ({
    status: 200,
    body: { ...ORDER, normalized_status: status, broker_message: message }
  })
  for (const status of ['pending_cancel', 'cancelled', 'pending', 'working']) assert.equal(found(taken(status), ORDER), 1, status)
  for (const status of ['pending_cancel', 'cancelled', 'pending']) assert.equal(found(taken(status), OVER), 0, status)
  assert.equal(found(taken('cancelled'), { ...ORDER, normalized_status: 'filled' }), 1)
  assert.equal(found(taken('working', 'too late'), ORDER), 0)
  assert.equal(found(taken('pending_cancel'), { ...ORDER, broker_message: 'The broker did not cancel the order; request it again.' }), 0)
  assert.equal(found(taken('pending_cancel')), 1)
  assert.equal(found(NOT_OPEN, ORDER), 1)
  assert.equal(found(NOT_OPEN, OVER), 0)
  assert.deepEqual(
    cancelContradictions(cancelled(taken('pending')), logged(ORDER), new Set(['o1'])),
    [],
    'nothing can prove what became of it'
  )
})

test('an order and the one at its broker: the same, or a rejection with proof', () => {
  const rejected = (state: string, replaces: string | null = null) => ({
    ...REJECTED,
    ...{ submission: { state }, replaces_order_id: replaces }
  })
  assert.deepEqual(orderFaults(ORDER, THERE), [])
  for (const state of ['not_sent', 'not_received']) assert.deepEqual(orderFaults(rejected(state), undefined), [], state)
  for (const state of ['refused', 'refused_by_gateway']) {
    assert.equal(orderFaults(rejected(state), undefined).length, 1, state)
    assert.deepEqual(orderFaults(rejected(state, 'o0'), undefined), [], state)
  }
  assert.equal(orderFaults({ ...rejected('refused') }, { ...THERE, state: 'refused' }).length, 1)
  assert.equal(orderFaults(rejected('not_sent'), THERE).length, 1)
  assert.equal(orderFaults({ ...rejected('not_sent'), fills: [{ quantity: '1' }] }, undefined).length, 1)
  assert.equal(orderFaults(ORDER, undefined).length, 1)
  assert.equal(orderFaults({ ...ORDER, normalized_status: 'pending_cancel' }, THERE).length, 1)
  assert.equal(orderFaults({ ...ORDER, filled_qty: '7' }, THERE).length, 1)
})

test('without proof an order stays open only at a broker without our ids, and only if it is not there', () => {
  const pending = { ...ORDER, normalized_status: 'pending', submission: { state: 'unknown' } }
  assert.equal(isUnproved('TRADESTATION', pending, undefined), true)
  assert.equal(isUnproved('ALPACA', pending, undefined), false)
  assert.equal(isUnproved('TRADESTATION', pending, THERE), false)
})

test('holdings of REST are those of the log, none more and none less', () => {
  const position = { account_number: 'A1', symbol: 'AAPL', quantity: '7', system_time: '1' }
  const log = new Map([['A1 AAPL', position]])
  const found = (...rest: readonly Json[]) => holdingFaults('position', rest, log).length
  assert.equal(found({ ...position, system_time: '2' }), 0)
  assert.equal(found(position, { ...position, symbol: 'MSFT', quantity: '0' }), 0)
  assert.equal(found(), 1)
  assert.equal(found({ ...position, quantity: '8' }), 1)
  assert.equal(found(position, { ...position, symbol: 'MSFT' }), 1)
  const balance = { account_number: 'A1', currency_code: 'USD', cash: '10', system_time: '1' }
  assert.equal(holdingFaults('balance', [balance], new Map([['A1 USD', balance]])).length, 0)
  assert.equal(holdingFaults('balance', [], new Map([['A1 USD', balance]])).length, 1)
})

test('executions of a chain in place: whose they are is open, how many they are is not', () => {
  const replaced: Json = { ...ORDER, normalized_status: 'replaced' }
  const successor: Json = { ...ORDER, order_id: 'o2', normalized_status: 'partially_filled', filled_qty: '4', fills: [{ quantity: '4' }] }
  const there: readonly Json[] = [
    { ...THERE, state: 'superseded', filled: '4' },
    { ...THERE, filled: '0' }
  ]
  const found = (broker: string, ...here: readonly Json[]) =>
    here.flatMap((order, index) => orderFaults(order, asShown(broker, order, there[index], { here, there }))).length
  assert.equal(found('ALPACA', replaced, successor), 3)
  const twice = { ...replaced, filled_qty: '4', fills: [{ quantity: '4' }] }
  for (const broker of ['TRADIER', 'TRADESTATION']) {
    assert.equal(found(broker, replaced, successor), 0)
    assert.ok(found(broker, twice, successor) > 0)
  }
})
