// Numbers of an order's body: what the broker is sent is what the record shows.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Malformed } from '@trunkline/core/domain/malformed'
import { moneyOrNull, quantityOrNull } from '../../src/http/routes/order-fields.ts'

test('trailing zeros of a number are removed from an order', () => {
  const quantities = ['1.0000000000', '1.500', '10', '100', '0.000000001']
  assert.deepEqual(
    quantities.map(text => quantityOrNull(text, 'order_qty')),
    ['1', '1.5', '10', '100', '0.000000001']
  )
  const prices = ['1.0000000000', '50.00', '50', '50.5', '50.1250', '-0.5000', '0.000000001000']
  assert.deepEqual(
    prices.map(text => moneyOrNull(text, 'stop_price')),
    ['1.00', '50.00', '50', '50.5', '50.125', '-0.50', '0.000000001']
  )
  assert.deepEqual([quantityOrNull(null, 'order_qty'), moneyOrNull(undefined, 'stop_price')], [null, null])
})

test('a number with more decimal places than records show is refused', () => {
  for (const read of [quantityOrNull, moneyOrNull])
    for (const text of ['0.0000000001', '50.0000000001', '1.12345678901'])
      assert.throws(
        () => read(text, 'order_qty'),
        (cause: unknown) => cause instanceof Malformed && /order_qty .*at most 9 decimal places/.test(cause.message)
      )
})
