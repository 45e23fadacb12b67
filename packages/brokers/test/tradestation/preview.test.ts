/** Previews: requests that are never an order's, and what their answers come to. */

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { OrderTicket } from '@trunkline/core/domain/order'
import { PreviewPlaced } from '@trunkline/core/ports/broker'
import type { OrderEstimate } from '@trunkline/core/ports/preview'
import { interpretPreview, previewRequest, submitRequest } from '../../src/tradestation/orders.ts'
import { ACCOUNT, fixture, reply, TICKET, unread } from './fixtures.ts'

after(() =>
  assert.deepEqual(
    unread(name => name.startsWith('confirm.')),
    [],
    'fixtures that no test reads'
  )
)

const ORDER = { ...TICKET, brokerAccountId: ACCOUNT }

function estimate(name: string, change: Partial<OrderTicket>): OrderEstimate {
  const outcome = interpretPreview(reply(name), { ...ORDER, ...change })
  assert.ok(outcome.kind === 'accepted', JSON.stringify(outcome))
  return outcome.value
}

test('a preview goes where nothing is placed, with the fields of an order and without an id', () => {
  const preview = previewRequest(ORDER, 'BUY')
  const order = submitRequest({ ...ORDER, brokerClOrdId: 'abc' }, 'BUY')
  assert.deepEqual([preview.method, preview.path, order.path], ['POST', '/orderexecution/orderconfirm', '/orderexecution/orders'])
  const { OrderConfirmID: id, ...terms } = JSON.parse(order.body ?? '')
  assert.deepEqual([JSON.parse(preview.body ?? ''), id], [terms, 'abc'])
})

test('a short sale brings in what the broker writes without a sign', () => {
  const { price, cost, total, commission, fees, currency } = estimate('confirm.short', { side: 'SELL', limitPrice: null, type: 'MKT' })
  assert.deepEqual([price, cost, total, commission, fees, currency], ['400.25', '-4002.5', null, '0', null, 'USD'])
  assert.equal(estimate('confirm.short', { side: 'BUY' }).cost, '4002.5')
})

test('nothing is paid for a future; its margin is read from a display text, or not at all', () => {
  const future: Partial<OrderTicket> = { symbol: 'ESZ26', instrument: 'FUT' }
  const { price, cost, initialMargin } = estimate('confirm.future', future)
  assert.deepEqual([price, cost, initialMargin], ['6125.25', null, '31680.00'])
  const { body } = fixture('confirm.future')
  for (const [display, margin] of [
    ['31680', '31680'],
    ['31,680.00 EUR', null],
    ['about 31,680', null],
    ['', null]
  ]) {
    const text = JSON.stringify(body).replace('31,680.00 USD', display ?? '')
    const outcome = interpretPreview({ status: 200, headers: {}, body: text }, { ...ORDER, ...future })
    assert.equal(outcome.kind === 'accepted' && outcome.value.initialMargin, margin, display ?? '')
  }
})

test('a refusal has the broker’s message, an order is an alarm, another account is nothing', () => {
  const refused = interpretPreview(reply('confirm.refused'), ORDER)
  assert.ok(refused.kind === 'refused')
  assert.deepEqual([refused.message, refused.rejectCode], ['Not enough buying power', 'insufficient_funds'])
  assert.throws(
    () => interpretPreview(reply('confirm.placed'), ORDER),
    error => error instanceof PreviewPlaced && error.brokerOrderId === '900000009'
  )
  const both = JSON.stringify(fixture('confirm.short').body).replace('"Route"', '"OrderID":"900000010","Route"')
  assert.throws(() => interpretPreview({ status: 200, headers: {}, body: both }, ORDER), PreviewPlaced)
  assert.throws(() => interpretPreview(reply('confirm.short'), { ...ORDER, brokerAccountId: '22222222' }), Malformed)
  assert.equal(interpretPreview({ status: 200, headers: {}, body: '{"Confirmations":[]}' }, ORDER).kind, 'unknown')
})
