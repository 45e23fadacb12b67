// Prices that are one binary number, or whose difference is not exact in binary, are compared as they are.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isNearerToAsk as isBuy } from '../../src/dialects/alpaca/data/stream.ts'

test('a trade at the middle of the quote is a purchase, one below it a sale', () => {
  const quote = (bid: string, ask: string) => ({ bids: [[bid, '1']], asks: [[ask, '1']] }) as const
  assert.equal(isBuy('0.2', quote('0.1', '0.3')), true)
  // In binary it lies nearer to the bid.
  assert.equal(isBuy('0.7', quote('0.6', '0.8')), true)
  assert.equal(isBuy('0.19999999999999999999', quote('0.1', '0.3')), false)
  assert.equal(isBuy('0.2', undefined), true)
})
