import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rejectCodeOf } from '../../src/alpaca/codecs.ts'

const SHARES = { instrument: 'STK', side: 'SELL' } as const

test('messages of refusal are mapped to a code where they are unambiguous', () => {
  for (const [reason, code] of [
    ['insufficient buying power', 'insufficient_funds'],
    ['insufficient day trading buying power', 'insufficient_funds'],
    ['insufficient qty available for order (requested: 2, available: 1)', 'insufficient_position'],
    ['insufficient underlying qty available for covered call', 'insufficient_position'],
    ['asset "BRK.A" is not fractionable', 'quantity_invalid'],
    ['A quantity is a plain decimal with at most nine places, above zero and at most 1000000000.', 'quantity_invalid'],
    ['asset "RGC" is not tradable', 'not_tradable'],
    ['asset "TXN" cannot be sold short', 'not_tradable'],
    ['new orders are rejected by user request', 'not_permitted'],
    ['us_equity orders not allowed for account', 'not_permitted'],
    ['potential wash trade detected. use complex orders', 'risk_rejected'],
    ['invalid limit_price 1.001. sub-penny increment does not fulfill minimum pricing criteria', 'tick_size'],
    ['stop price must be less than current price', 'price_out_of_range'],
    ['could not find asset "ZZQZX"', 'unknown_symbol'],
    ['order is already in "filled" state', 'other'],
    ['unable to process order', 'other'],
    ['Not on a Tuesday.', 'other']
  ] as const)
    assert.equal(rejectCodeOf(reason, SHARES), code, reason)
})

test('for a crypto pair the insufficient balance is what is sold, or what it is paid with', () => {
  const reason = 'insufficient balance for BTC (requested: 2, available: 1)'
  assert.equal(rejectCodeOf(reason, { instrument: 'CRYPTO', side: 'SELL' }), 'insufficient_position')
  assert.equal(rejectCodeOf(reason, { instrument: 'CRYPTO', side: 'BUY' }), 'insufficient_funds')
})
