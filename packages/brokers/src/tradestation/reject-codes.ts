/** What the broker's sentences of refusal come to: only positions have codes in them. What no pattern matches is `other`. */

import { rejectCodeOf as byPattern, type RejectPatterns } from '../kit/reject-code.ts'

const PATTERNS: RejectPatterns = [
  // "You are long", "You are short": the action does not fit what is held.
  [/\bEC(?:601|602|701|702)\b/, 'insufficient_position'],
  [/through zero|can be closed|only margin accounts may sell short/i, 'insufficient_position'],
  [/pattern day trad|wash (?:sale|trade)|too many open orders|open orders, as many as/i, 'risk_rejected'],
  [/too far (?:through|from) the market/i, 'price_out_of_range'],
  [/buying power|insufficient (?:funds|cash|margin|equity)/i, 'insufficient_funds'],
  [/(?:invalid|unknown) symbol|symbol (?:is |was )?not found/i, 'unknown_symbol'],
  [/market is (?:closed|not open)|while the market is open|outside of (?:regular )?(?:trading|market) hours/i, 'market_closed'],
  [/\btick\b|price increment/i, 'tick_size'],
  [/(?:limit|stop) ?price .*(?:too far|out of range|must be)|invalid (?:limit |stop )?price/i, 'price_out_of_range'],
  [/invalid quantity|quantity .*(?:whole number|must be|exceeds)/i, 'quantity_invalid'],
  [/\bhalted\b|no longer trades|not tradable|cannot be traded/i, 'not_tradable'],
  [/not (?:authorized|approved|permitted|allowed|entitled|enabled)|may not trade|without the scope/i, 'not_permitted'],
  [/duplicate/i, 'duplicate']
]

export const rejectCodeOf = (reason: string) => byPattern(reason, PATTERNS)
