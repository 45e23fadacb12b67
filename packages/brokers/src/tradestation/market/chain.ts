/** An options chain: the requests, and one contract of it in the core's terms. Pure. */

import { type Decimal, isDecimal } from '@trunkline/core/domain/decimal'
import { percentage } from '@trunkline/core/domain/fast/small-sums'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { ChainEntry, Greeks } from '@trunkline/core/domain/market/records'
import { parseSymbol } from '@trunkline/core/domain/symbol'
import { type Day, parseDay } from '@trunkline/core/domain/timestamp'
import { field, list, text, type Wire } from '../../kit/parse.ts'
import { amount, readAnswer } from '../quirks.ts'
import { ourSymbol } from '../symbols.ts'

/** Strikes on either side of the last price. The default is 5, a bound is not documented: more than any chain has. */
const STRIKES = 500

export function expirationsPath(underlying: string): string {
  return `/marketdata/options/expirations/${encodeURIComponent(underlying)}`
}

/** Ascending. The broker writes them as times, of which the day counts. @throws Malformed */
export function parseExpirations(body: string): readonly Day[] {
  const days = list(readAnswer(body), 'Expirations', wire => parseDay(text(wire, 'Date', 40).slice(0, 10), 'Date'))
  return [...new Set(days)].toSorted()
}

export function strikesPath(underlying: string, expiration: Day): string {
  return `/marketdata/options/strikes/${encodeURIComponent(underlying)}?spreadType=Single&expiration=${monthFirst(expiration)}`
}

/** Each once. The broker has a list for every combination, of its legs' strikes. @throws Malformed */
export function parseStrikes(body: string): readonly Decimal[] {
  const combinations = field(readAnswer(body), 'Strikes')
  if (!Array.isArray(combinations)) throw new Malformed('Strikes', 'a list', combinations)
  return combinations.map((strikes: unknown) => {
    const [strike, ...others]: readonly unknown[] = Array.isArray(strikes) ? strikes : []
    if (isDecimal(strike) && others.length === 0) return strike
    throw new Malformed('Strikes', 'one strike each, a plain decimal', strikes)
  })
}

function monthFirst(day: Day): string {
  const [year, month, date] = day.split('-')
  return `${month}-${date}-${year}`
}

export function chainPath(underlying: string, expiration: Day): string {
  const query = `expiration=${monthFirst(expiration)}&strikeProximity=${STRIKES}&spreadType=Single&enableGreeks=true&strikeRange=All&optionType=All`
  return `/marketdata/stream/options/chains/${encodeURIComponent(underlying)}?${query}`
}

/** Null for a contract of another expiration than requested. @throws Malformed */
export function parseEntry(wire: Wire, expiration: Day): ChainEntry | null {
  const [leg, ...others] = list(wire, 'Legs', each => each)
  if (leg === undefined || others.length > 0) throw new Malformed('Legs', 'one contract', field(wire, 'Legs'))
  const symbol = ourSymbol(text(leg, 'Symbol', 64), 'OPT')
  const parts = parseSymbol(symbol, 'OPT')
  if (parts.instrument !== 'OPT' || parts.expiration !== expiration) return null
  const netChange = amount(wire, 'NetChange')
  const previousClose = amount(wire, 'PreviousClose')
  return {
    symbol,
    right: parts.right,
    strike: strikeOf(wire, leg),
    expiration,
    bid: amount(wire, 'Bid'),
    bidSize: amount(wire, 'BidSize'),
    ask: amount(wire, 'Ask'),
    askSize: amount(wire, 'AskSize'),
    mid: amount(wire, 'Mid'),
    last: amount(wire, 'Last'),
    open: amount(wire, 'Open'),
    high: amount(wire, 'High'),
    low: amount(wire, 'Low'),
    close: amount(wire, 'Close'),
    previousClose,
    netChange,
    // The broker's own is in per cent in one place and a fraction in another.
    netChangePct: netChange === null || previousClose === null ? null : percentage(netChange, previousClose),
    volume: amount(wire, 'Volume'),
    greeks: greeksOf(wire)
  }
}

function strikeOf(wire: Wire, leg: Wire): Decimal {
  const own = amount(leg, 'StrikePrice')
  if (own !== null) return own
  const strikes = field(wire, 'Strikes')
  const [strike]: readonly unknown[] = Array.isArray(strikes) ? strikes : []
  if (isDecimal(strike)) return strike
  throw new Malformed('StrikePrice', 'a plain decimal', strike)
}

function greeksOf(wire: Wire): Greeks | null {
  const greeks: Greeks = {
    delta: computed(wire, 'Delta'),
    gamma: computed(wire, 'Gamma'),
    theta: computed(wire, 'Theta'),
    rho: computed(wire, 'Rho'),
    vega: computed(wire, 'Vega'),
    iv: computed(wire, 'ImpliedVolatility')
  }
  return Object.values(greeks).every(value => value === null) ? null : greeks
}

/** What a model gives may be no number at all, or one with an exponent: then it is not known. */
function computed(wire: Wire, key: string): Decimal | null {
  const value = field(wire, key)
  return isDecimal(value) ? value : null
}
