// Multi-leg orders whose messages repeat a leg in the place of another.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KnownLegs } from '../../src/tradestation/quirks.ts'

const leg = (symbol: string, BuyOrSell = 'Sell', more: object = {}) => ({
  Symbol: symbol,
  BuyOrSell,
  OpenOrClose: 'Open',
  ExecQuantity: '0',
  ...more
})
const CALL = 'AAPL 240920C217.5'
const PUT = 'AAPL 240920P217.5'

test('a leg that is repeated counts once, and one that it took the place of is as it was', () => {
  const known = new KnownLegs()
  const first = { OrderID: '1', Legs: [leg(CALL), leg(PUT)] }
  assert.deepEqual(known.completed(first), { order: first, isPartial: false })
  const filled = leg(CALL, 'SELL', { ExecQuantity: '1' })
  const repeated = known.completed({ OrderID: '1', Legs: [filled, filled] })
  assert.deepEqual(repeated, { order: { OrderID: '1', Legs: [filled, leg(PUT)] }, isPartial: true })
  const swapped = { OrderID: '1', Legs: [leg(PUT), filled] }
  assert.deepEqual(known.completed(swapped), { order: swapped, isPartial: false })
})

test('the other leg of a first message is not known, and an order of one leg is left as it is', () => {
  const known = new KnownLegs()
  assert.deepEqual(known.completed({ OrderID: '2', Legs: [leg(CALL), leg(CALL)] }), {
    order: { OrderID: '2', Legs: [leg(CALL)] },
    isPartial: true
  })
  const one = { OrderID: '3', Legs: [leg('MSFT', 'Buy')] }
  assert.deepEqual(known.completed(one), { order: one, isPartial: false })
  const both = { OrderID: '4', Legs: [leg(CALL), leg(CALL, 'Buy')] }
  assert.deepEqual(known.completed(both), { order: both, isPartial: false })
})
