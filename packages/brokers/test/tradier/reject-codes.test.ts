import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rejectCodeOf } from '../../src/tradier/codecs.ts'

test('a code of the registry decides, alone or in a sentence; any other message is other', () => {
  for (const [reason, code] of [
    ['InitialMargin', 'insufficient_funds'],
    ['Backoffice rejected override of the order; InitialMargin', 'insufficient_funds'],
    ['DayTradingBuyingPowerExceeded: try less', 'insufficient_funds'],
    ['LongPositionCrossZero', 'insufficient_position'],
    ['UnexpectedSellOrder', 'insufficient_position'],
    ['SecurityUndefined', 'unknown_symbol'],
    ['IncorrectOrderQuantity', 'quantity_invalid'],
    ['WashTradeAttempt', 'risk_rejected'],
    ['OptionLevelRestriction', 'not_permitted'],
    ['TradingDeniedForSecurity', 'not_tradable'],
    ['Pre-market trading is unavailable', 'market_closed'],
    ['You do not have enough buying power for this trade.', 'insufficient_funds'],
    ['The limit price 900.00 is too far through the market price 250.00.', 'price_out_of_range'],
    ['The account holds no AAPL, and only margin accounts may sell short.', 'insufficient_position'],
    ['Too many open orders.', 'risk_rejected'],
    ['The account has 500 open orders, as many as it may have; cancel some first.', 'risk_rejected'],
    ['too_many_open_orders: 500 orders are open', 'risk_rejected'],
    // Longer codes contain shorter codes and mean something else.
    ['InitialMarginal', 'other'],
    ['Not on a Tuesday.', 'other'],
    ['constructor', 'other'],
    ['', 'other']
  ] as const)
    assert.equal(rejectCodeOf(reason), code, reason)
})
