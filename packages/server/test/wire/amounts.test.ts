import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accountTypeOf } from '@trunkline/core/domain/account-type'
import { parseDecimal } from '@trunkline/core/domain/decimal'
import { maybe, money, quantity } from '../../src/wire/amounts.ts'

const decimal = (text: string) => parseDecimal(text, 'amount')

test('prices and money have two to nine decimal places and no zeros after the second; quantities have no trailing zeros', () => {
  const rows: readonly (readonly [string, string, string])[] = [
    ['250000.000000000000000000000000', '250000.00', '250000'],
    ['15', '15.00', '15'],
    ['50.0', '50.00', '50'],
    ['6.25', '6.25', '6.25'],
    ['-1.5000', '-1.50', '-1.5'],
    ['0', '0.00', '0'],
    ['100', '100.00', '100'],
    ['0.12345', '0.12345', '0.12345'],
    ['-12.34567890123456789012', '-12.345678901', '-12.34567890123456789012'],
    ['0.00000001230', '0.000000012', '0.0000000123']
  ]
  for (const [text, asMoney, asQuantity] of rows) {
    assert.equal(money(decimal(text)), asMoney)
    assert.equal(quantity(decimal(text)), asQuantity)
  }
  assert.equal(maybe(money, null), null)
})

test('equal prices give equal texts, however a broker writes them', () => {
  assert.deepEqual(new Set(['50', '50.0', '50.00', '50.000000000000'].map(text => money(decimal(text)))), new Set(['50.00']))
})

test('brokers’ account types map to a few values', () => {
  const texts = ['Margin', 'pdt', 'CASH', 'coin', 'Futures', 'roth_ira', 'traditional ira', 'DVP']
  assert.deepEqual(texts.map(accountTypeOf), ['margin', 'margin', 'cash', 'crypto', 'futures', 'retirement', 'retirement', 'other'])
  assert.equal(accountTypeOf(null), null)
})
