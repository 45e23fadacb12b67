import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rejectCodeOf } from '../../src/tradestation/codecs.ts'

test('messages of refusal are mapped to a code where they are unambiguous', () => {
  for (const [reason, code] of [
    // Recorded.
    ['EC602: You are short 0.00 shares!', 'insufficient_position'],
    ['EC701: You are long 3 MSFT; 3 can be sold', 'insufficient_position'],
    ['EC6021: something else', 'other'],
    ['The order needs 1000.00 of buying power; 5.00 is available.', 'insufficient_funds'],
    ['Insufficient funds', 'insufficient_funds'],
    ['Pattern day trader rules apply to your buying power', 'risk_rejected'],
    ['Invalid symbol ZZQZX', 'unknown_symbol'],
    ["The limit price 1.001 is not a multiple of MSFT's tick, 0.01.", 'tick_size'],
    ['Quantity 1.5 is not a whole number above zero', 'quantity_invalid'],
    ['Only Limit orders are taken outside of regular trading hours', 'market_closed'],
    ['Your account is not approved for options', 'not_permitted'],
    ['The limit price 900.00 is too far through the market price 250.00.', 'price_out_of_range'],
    ['The account holds no AAPL, and only margin accounts may sell short.', 'insufficient_position'],
    ['The account has 500 open orders, as many as it may have; cancel some first.', 'risk_rejected'],
    ['0 SPY261218C00650000 can be closed (open orders counted); the order is for 1.', 'insufficient_position'],
    ['Not an open order.', 'other'],
    ['Not on a Tuesday.', 'other']
  ] as const)
    assert.equal(rejectCodeOf(reason), code, reason)
})
