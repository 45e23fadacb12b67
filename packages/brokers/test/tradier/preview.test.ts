/** Previews: requests that are never an order's, and what their answers come to. */

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { combinationsOf } from '@trunkline/core/domain/combinations'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { OrderTicket } from '@trunkline/core/domain/order'
import { parseTimestamp } from '@trunkline/core/domain/timestamp'
import { PreviewPlaced } from '@trunkline/core/ports/broker'
import type { OrderEstimate } from '@trunkline/core/ports/preview'
import { TRADIER_CAPABILITIES } from '../../src/tradier/definition.ts'
import { interpretPlace, interpretPreview, isPreview, placeRequest, previewRequest } from '../../src/tradier/orders.ts'
import { decimal, MULTI_LEG, reply, TICKET, unreadFixtures } from './fixtures.ts'
import { ACCOUNT } from './support.ts'

after(() => assert.deepEqual(unreadFixtures('preview'), [], 'fixtures that no test reads'))

const ORDER = { ...TICKET, brokerAccountId: ACCOUNT }
const NOW = parseTimestamp('2026-11-20T16:00:00Z', 'now')
const OPTION: OrderTicket = { ...TICKET, symbol: 'SPY261218C00600000', instrument: 'OPT', side: 'BUY_TO_OPEN' }
const PRICES = {
  MKT: { limitPrice: null, stopPrice: null },
  LMT: { limitPrice: decimal('1.20'), stopPrice: null },
  STP: { limitPrice: null, stopPrice: decimal('1.20') },
  STPLMT: { limitPrice: decimal('1.20'), stopPrice: decimal('1.20') }
} as const

test('for every form of order the preview is marked as one first, is otherwise the same, and has no tag; the order never is', () => {
  const tickets: Partial<Record<string, OrderTicket>> = { STK: TICKET, OPT: OPTION, MLEG_OPT: MULTI_LEG }
  const forms = combinationsOf(TRADIER_CAPABILITIES)
  for (const { instrument, type, tif } of forms) {
    const ticket = { ...(tickets[instrument] ?? TICKET), ...PRICES[type], type, tif, brokerAccountId: ACCOUNT }
    const placing = { duration: 'day', side: instrument === 'STK' ? 'buy' : null }
    const preview = previewRequest(ticket, placing)
    const order = placeRequest({ ...ticket, brokerClOrdId: 'osk01H' }, placing)
    assert.deepEqual([isPreview(preview), isPreview(order)], [true, false], `${instrument} ${type} ${tif}`)
    assert.equal(preview.body, `preview=true&${order.body?.replace('&tag=osk01H', '')}`)
    assert.equal(preview.path, order.path)
  }
  assert.ok(forms.length > 15)
})

test('a form that is cut short anywhere behind its first field is a preview still; one marked twice, later or otherwise is none', () => {
  const { body = '', ...request } = previewRequest(ORDER, { duration: 'day', side: 'buy' })
  for (let length = 'preview=true&'.length; length <= body.length; length++)
    assert.ok(isPreview({ ...request, body: body.slice(0, length) }), body.slice(0, length))
  for (const other of ['class=equity&preview=true', 'preview=false&class=equity', `${body}&preview=false`, 'preview=true', ''])
    assert.ok(!isPreview({ ...request, body: other }), other)
})

test('Tradier’s amounts get their sign from the order, and are otherwise unchanged', () => {
  const estimate = (name: string, requested: OrderTicket): OrderEstimate => {
    const outcome = interpretPreview(reply(name), requested)
    assert.ok(outcome.kind === 'accepted', outcome.kind)
    return outcome.value
  }
  const { cost, total, commission, fees, marginChange, price, initialMargin, buyingPowerChange } = estimate('preview.ok', TICKET)
  assert.deepEqual([Number(cost), Number(total), commission, fees, Number(marginChange)], [8800, 8801.15, '0.35', '0.80', 4400])
  assert.deepEqual([price, initialMargin, buyingPowerChange], [null, null, null])
  const short = estimate('preview.short', { ...TICKET, side: 'SELL' })
  assert.deepEqual([Number(short.cost), short.total, short.commission, short.fees, short.marginChange], [-8800, null, '0', null, null])
  const credit = estimate('preview.ok', { ...MULTI_LEG, side: 'SELL' })
  assert.deepEqual([Number(credit.cost), credit.total], [-8800, null])
  assert.deepEqual(estimate('preview.ok', { ...MULTI_LEG, limitPrice: null }).cost, null)
})

test('a refusal is one with its code; a failure behind the API is neither a refusal nor an order', () => {
  const refusal = interpretPreview(reply('place.errors'), TICKET)
  assert.deepEqual([refusal.kind, refusal.kind === 'refused' && refusal.rejectCode], ['refused', 'insufficient_funds'])
  assert.equal(interpretPreview(reply('place.internal-error'), TICKET).kind, 'unknown')
  for (const interpret of [
    (name: string) => interpretPreview(reply(name), TICKET),
    (name: string) => interpretPlace(reply(name), { ...ORDER, brokerClOrdId: 'osk01H' }, NOW)
  ])
    assert.equal(interpret('preview.internal-error').kind, 'unknown', 'a 400 about the server judges no order')
  const untold = { ...reply('preview.ok'), body: reply('preview.ok').body.replace('"result":true', '"result":false') }
  assert.throws(() => interpretPreview(untold, TICKET), Malformed)
})

test('an answer with the id of an order is an alarm and no success', () => {
  assert.throws(
    () => interpretPreview(reply('preview.placed'), TICKET),
    error => error instanceof PreviewPlaced && error.brokerOrderId === '900418'
  )
  const both = { ...reply('preview.ok'), body: reply('preview.ok').body.replace('{"order":{', '{"order":{"id":900419,') }
  assert.throws(() => interpretPreview(both, TICKET), PreviewPlaced)
})
