// What a stream of whole orders repeats, takes back, releases and loses.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDecimal } from '@trunkline/core/domain/decimal'
import { parseTimestamp } from '@trunkline/core/domain/timestamp'
import { BrokerFault, type OrderReport } from '@trunkline/core/ports/broker'
import { OrderTotals, type WholeOrder } from '../../../src/kit/runtime/order-totals.ts'
import { settled, VirtualClock } from '../../support/clocks.ts'

const NOW = parseTimestamp('2026-11-20T15:00:00Z', 'now')
const never = new AbortController().signal
const decimal = (text: string) => parseDecimal(text, 'test')

function order(id: string, status: OrderReport['status'], filled = '0', limit = '400', isClosed = false): WholeOrder {
  const report: OrderReport = {
    ...{ brokerAccountId: 'A', brokerOrderId: id, brokerClOrdId: null, symbol: 'MSFT', instrument: 'STK', side: 'BUY', type: 'LMT' },
    ...{ tif: 'DAY', quantity: decimal('10'), notional: null, limitPrice: decimal(limit), stopPrice: null, legs: null },
    ...{ status, brokerStatus: status, brokerMessage: null, rejectCode: null, brokerOrderType: null, execDest: null },
    ...{ fills: null, filledTotal: { quantity: decimal(filled), averagePrice: null }, entryTime: NOW, updatedAt: NOW },
    ...{ replacesBrokerOrderId: null, replacedByBrokerOrderId: null }
  }
  return { report, isClosed, isUnresolved: false }
}

test('a repetition is known; what has less executed, or is open again, went backwards', () => {
  const totals = new OrderTotals(new VirtualClock())
  const kinds = [
    order('1', 'working'),
    order('1', 'working'),
    order('1', 'partially_filled', '4'),
    order('1', 'working'),
    order('1', 'filled', '10', '400', true),
    order('1', 'partially_filled', '10')
  ].map(each => totals.note(each).kind)
  assert.deepEqual(kinds, ['update', 'known', 'update', 'backwards', 'update', 'backwards'])
})

test('an order that was cancelling or changing is released by its return as it was, and not by new terms', () => {
  const totals = new OrderTotals(new VirtualClock())
  const releases = [
    order('1', 'pending_cancel'),
    order('1', 'working'),
    order('1', 'pending_replace'),
    order('1', 'working', '0', '401')
  ].map(each => {
    const noted = totals.note(each)
    return noted.kind === 'update' && noted.releases
  })
  assert.deepEqual(releases, [false, true, false, false])
})

test('what the list has twice and the stream has not sent was lost, once; what arrives meanwhile was not', async () => {
  const clock = new VirtualClock()
  const totals = new OrderTotals(clock)
  totals.note(order('1', 'working'))
  const listed = async () => [order('1', 'partially_filled', '4'), order('2', 'working')]
  const lost = async (meanwhile: () => void = () => undefined) => {
    const found = totals.lost(listed, never)
    await settled()
    meanwhile()
    await clock.advance(2_000)
    return await found
  }
  await clock.advance(1)
  assert.equal(await lost(() => totals.note(order('2', 'working'))), 1)
  assert.equal(await lost(), 0)
})

test('a list that is older than the stream proves nothing', async () => {
  const clock = new VirtualClock()
  const totals = new OrderTotals(clock)
  totals.note(order('1', 'filled', '10', '400', true))
  await clock.advance(1)
  assert.equal(await totals.lost(async () => [order('1', 'partially_filled', '4')], never), 0)
})

test('a list that cannot be read proves nothing, unless the login is over', async () => {
  const totals = new OrderTotals(new VirtualClock())
  const failing = (kind: BrokerFault['kind']) => () => Promise.reject(new BrokerFault(kind, 'no'))
  assert.equal(await totals.lost(failing('unreachable'), never), 0)
  await assert.rejects(totals.lost(failing('credentials_rejected'), never), BrokerFault)
})
