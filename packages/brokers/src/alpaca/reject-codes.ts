/** What Alpaca's sentences of refusal come to: its codes mean many things each. What no pattern matches is `other`. */

import type { OrderTicket } from '@trunkline/core/domain/order'
import type { RejectCode } from '@trunkline/core/domain/vocabulary'
import { rejectCodeOf as byPattern, type RejectPatterns } from '../kit/reject-code.ts'

const PATTERNS: RejectPatterns = [
  [/insufficient (?:qty|underlying qty)|only margin accounts may sell short/i, 'insufficient_position'],
  [/insufficient (?:\w+ )*(?:buying power|balance|funds)/i, 'insufficient_funds'],
  [/wash trade|pattern day trad|too many open orders|open orders, as many as/i, 'risk_rejected'],
  [/too far (?:through|from) the market/i, 'price_out_of_range'],
  [/sub-?penny|pricing criteria|price increment/i, 'tick_size'],
  [/(?:limit|stop)[ _]price .*(?:must be|too far)/i, 'price_out_of_range'],
  [
    /quantity is a plain decimal|not fractionable|fractional|invalid (?:qty|notional)|(?:qty|notional|cost basis) must be/i,
    'quantity_invalid'
  ],
  [/could not find asset|asset .*not found|invalid symbol|symbol .*not found/i, 'unknown_symbol'],
  [/not tradable|not active|\bhalted\b|cannot be sold short|no longer trades/i, 'not_tradable'],
  [/market is (?:closed|not open)|while the market is open|(?:market|trading) hours/i, 'market_closed'],
  [/rejected by user request|not allowed|not (?:authorized|eligible|permitted|enabled)|may not trade|\bscope\b/i, 'not_permitted'],
  [/must be unique/i, 'duplicate']
]

/** `sent`: the request. Of a crypto pair either side of the pair is a balance, and only the side says which one fell short. */
export function rejectCodeOf(reason: string, sent: Pick<OrderTicket, 'instrument' | 'side'> | null): RejectCode {
  if (sent?.instrument === 'CRYPTO' && sent.side === 'SELL' && /insufficient balance/i.test(reason)) return 'insufficient_position'
  return byPattern(reason, PATTERNS)
}
