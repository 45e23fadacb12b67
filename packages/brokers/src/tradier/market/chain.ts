/** The contracts of an options chain in the core's terms; what Tradier leaves out (mid, changes) is computed here. Pure. */

import { difference, middle, percentage } from '@trunkline/core/domain/fast/small-sums'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { ChainEntry, Greeks } from '@trunkline/core/domain/market/records'
import { type Day, parseDay } from '@trunkline/core/domain/timestamp'
import type { HttpRequest } from '../../kit/http.ts'
import { member, nestedOrNull, text, type Wire } from '../../kit/parse.ts'
import { get } from '../../kit/requests.ts'
import { isOption, toTradier } from '../symbols.ts'
import { amount, amountOrNull, items } from '../wire.ts'

const RIGHTS = { call: 'C', put: 'P' } as const

export function chainRequest(underlying: string, expiration: Day): HttpRequest {
  return get('/markets/options/chains', { symbol: toTradier(underlying), expiration, greeks: 'true' })
}

/** With all roots, because an index has options under other root symbols. */
export function expirationsRequest(underlying: string): HttpRequest {
  return get('/markets/options/expirations', { symbol: toTradier(underlying), includeAllRoots: 'true' })
}

export function parseChain(answer: Wire): readonly ChainEntry[] {
  return items(answer, 'options', 'option').map(chainEntry)
}

function chainEntry(wire: Wire): ChainEntry {
  const symbol = text(wire, 'symbol', 32)
  if (!isOption(symbol)) throw new Malformed('symbol', 'the symbol of an option', symbol)
  const bid = amountOrNull(wire, 'bid')
  const ask = amountOrNull(wire, 'ask')
  const last = amountOrNull(wire, 'last')
  const previousClose = amountOrNull(wire, 'prevclose')
  const netChange = last === null || previousClose === null ? null : difference(last, previousClose)
  return {
    symbol,
    right: member(wire, 'option_type', RIGHTS),
    strike: amount(wire, 'strike'),
    expiration: parseDay(text(wire, 'expiration_date', 10), 'expiration_date'),
    bid,
    bidSize: amountOrNull(wire, 'bidsize'),
    ask,
    askSize: amountOrNull(wire, 'asksize'),
    mid: bid === null || ask === null ? null : middle(bid, ask),
    last,
    open: amountOrNull(wire, 'open'),
    high: amountOrNull(wire, 'high'),
    low: amountOrNull(wire, 'low'),
    close: amountOrNull(wire, 'close'),
    previousClose,
    netChange,
    netChangePct: netChange === null || previousClose === null ? null : percentage(netChange, previousClose),
    volume: amountOrNull(wire, 'volume'),
    greeks: greeksOf(nestedOrNull(wire, 'greeks'))
  }
}

/** Worked out once an hour. */
function greeksOf(wire: Wire | null): Greeks | null {
  if (wire === null) return null
  return {
    delta: amountOrNull(wire, 'delta'),
    gamma: amountOrNull(wire, 'gamma'),
    theta: amountOrNull(wire, 'theta'),
    rho: amountOrNull(wire, 'rho'),
    vega: amountOrNull(wire, 'vega'),
    iv: amountOrNull(wire, 'mid_iv') ?? amountOrNull(wire, 'smv_vol')
  }
}
