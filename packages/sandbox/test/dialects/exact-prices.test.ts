// Prices that are one binary number, or whose difference is not exact in binary, are compared and shown as they are.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isBuy } from '../../src/dialects/alpaca/data/channels.ts'
import { isStrike } from '../../src/dialects/tradestation/market-reads.ts'
import { changeOf } from '../../src/dialects/tradier/market/quotes.ts'
import { type Growing, grow } from '../../src/dialects/tradier/market/tape.ts'

test('a trade at the middle of the quote is a purchase, one below it a sale', () => {
  const quote = (bid: string, ask: string) => ({ bids: [[bid, '1']], asks: [[ask, '1']] }) as const
  assert.equal(isBuy('0.2', quote('0.1', '0.3')), true)
  // In binary it lies nearer to the bid.
  assert.equal(isBuy('0.7', quote('0.6', '0.8')), true)
  assert.equal(isBuy('0.19999999999999999999', quote('0.1', '0.3')), false)
  assert.equal(isBuy('0.2', undefined), true)
})

test('the highest and lowest of a day are kept apart beyond the digits of a binary number', () => {
  const day: Growing = {
    ...{ open: null, high: null, low: null, last: null, lastSize: 0, lastAt: 0, lastVenue: null, volume: 0, previousClose: null },
    until: Number.MAX_SAFE_INTEGER
  }
  const [low, middle, high] = ['0.10000000000000000001', '0.10000000000000000002', '0.10000000000000000003']
  for (const price of [middle, low, high]) grow(day, { type: 'trade', symbol: 'ABC', price, size: '1', at: 1, auction: null })
  assert.deepEqual([day.high, day.low], [high, low])
})

test('a change is rounded from the exact difference, half to even', () => {
  const change = (last: string, previousClose: string) => changeOf({ last, previousClose }).change?.text
  // In binary a little less than 0.015.
  assert.equal(change('1.015', '1'), '0.02')
  assert.equal(change('8.345', '8.31'), '0.04')
  assert.equal(change('99', '100'), '-1.00')
  assert.equal(changeOf({ last: '3', previousClose: '0' }).percentage, null)
})

test('a strike is asked for by its number, however it is written', () => {
  assert.equal(isStrike('12.5', '12.50'), true)
  assert.equal(isStrike('0.10000000000000000001', '0.10000000000000000002'), false)
  for (const asked of ['', 'x', '1e2']) assert.equal(isStrike('100', asked), false)
  assert.equal(isStrike(undefined, '1'), false)
})
