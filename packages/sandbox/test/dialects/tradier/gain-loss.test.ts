import assert from 'node:assert/strict'
import { test } from 'node:test'
import { closedPositions } from '../../../src/dialects/tradier/gain-loss.ts'

test('parts of a share that were bought elsewhere are closed to the last, first in first out', () => {
  const trade = (type: 'BUY' | 'SELL', quantity: string, price: string) =>
    ({ symbol: 'SPY', type, quantity, price, date: '2026-11-20' }) as Parameters<typeof closedPositions>[0][number]
  const closed = closedPositions([
    trade('BUY', '0.3', '500'),
    trade('SELL', '0.1', '501'),
    trade('SELL', '0.2', '502'),
    trade('SELL', '0.1', '503'),
    trade('BUY', '0.1', '500')
  ])
  assert.deepEqual(
    closed.map(({ quantity, cost, proceeds }) => `${quantity} ${cost} ${proceeds}`),
    ['0.1 50 50.1', '0.2 100 100.4', '-0.1 50 50.3']
  )
})
