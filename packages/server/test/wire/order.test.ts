import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as make from '@trunkline/testkit/store-contract/records'
import { presentOrder } from '../../src/wire/order.ts'

const platform = make.platform()
const user = make.user(platform)
const connection = make.connection(user)
const account = make.account(connection)
const who: make.Owner = { platform, user, connection, account, accounts: [account] }

test('numbers of an order are formatted like all others: quantities without zeros, money and prices with at least two places', () => {
  const order = make.order(who, {
    quantity: make.decimal('10.000000000000000000000000'),
    limitPrice: make.decimal('250.500000000000000000000000'),
    stopPrice: make.decimal('250.10'),
    previouslyFilledQuantity: make.decimal('3.0'),
    legs: [{ symbol: 'AAPL261218C00200000', side: 'BUY_TO_OPEN', ratio: make.decimal('2.00000000'), fills: [make.fill('l-1', '4.00')] }],
    fills: [
      make.fill('f-1', '1.500', { price: make.decimal('250.10') }),
      make.fill('f-2', '1.500', { price: make.decimal('250.200000000000000000000000') })
    ]
  })
  const shown = presentOrder(order)
  assert.deepEqual(
    [shown.order_qty, shown.order_limit_price, shown.stop_price, shown.previously_filled_qty, shown.filled_qty, shown.average_fill_price],
    ['10', '250.50', '250.10', '3', '3', '250.15']
  )
  assert.deepEqual(
    shown.fills.map(fill => [fill.quantity, fill.price]),
    [
      ['1.5', '250.10'],
      ['1.5', '250.20']
    ]
  )
  assert.deepEqual(
    shown.legs?.map(leg => [leg.ratio, leg.fills[0]?.quantity]),
    [['2', '4']]
  )
  const amount = presentOrder(make.order(who, { quantity: null, notional: make.decimal('100.5000') }))
  assert.deepEqual([amount.order_qty, amount.order_notional, amount.filled_qty], [null, '100.50', '0'])
})
