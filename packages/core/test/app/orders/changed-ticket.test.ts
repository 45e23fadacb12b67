// The terms that a modification asks for.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changedTicket } from '@trunkline/core/app/orders/modify-order'
import { parseDecimal } from '@trunkline/core/domain/decimal'
import { parseClOrdId } from '@trunkline/core/domain/ids'
import type { Order } from '@trunkline/core/domain/order'
import { anOrder } from '../../domain/an-order.ts'

const number = (text: string) => parseDecimal(text, 'number')

function changed(order: Order, changes: Partial<Pick<Order, 'quantity' | 'notional' | 'limitPrice'>>) {
  const unchanged = { quantity: null, notional: null, limitPrice: null, stopPrice: null }
  return changedTicket(order, { newClOrdId: parseClOrdId('m-1'), broker: order.broker, ...unchanged, ...changes })
}

test('an order for an amount does not become one for a quantity, nor the other way round', () => {
  const byQuantity = anOrder({ quantity: number('1'), notional: null })
  const byAmount = anOrder({ quantity: null, notional: number('900') })
  assert.throws(() => changed(byQuantity, { notional: number('900') }), { code: 'order_not_supported', message: /^order_notional cannot/ })
  assert.throws(() => changed(byAmount, { quantity: number('2') }), { code: 'order_not_supported', message: /^order_qty cannot/ })
  assert.deepEqual(
    [changed(byAmount, { notional: number('950') }).notional, changed(byQuantity, { quantity: number('2') }).quantity],
    ['950', '2']
  )
})

test('the same number in another notation is no change', () => {
  const order = anOrder({ quantity: number('1.0') })
  assert.equal(changed(order, { quantity: number('1.00') }).quantity, order.quantity)
})
