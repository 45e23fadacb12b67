/** A row of an option chain, which is also a quote of several options together. */

import { type Decimal, dividedBy, minus, parseDecimal, plus, sum, times } from '@trunkline/core/domain/decimal'
import type { QuoteCommand } from '../../engine/types.ts'
import type { Instrument, OptionFigures } from '../../market/types.ts'
import { assetOf, shownSymbol } from './symbols.ts'
import { dayOf } from './times.ts'

export interface Leg {
  readonly instrument: Instrument
  /** Below zero: sold. */
  readonly ratio: number
  readonly quote: QuoteCommand | undefined
  readonly figures: OptionFigures | null
}

export interface OptionDetails {
  /** Of the underlying; null: not known. */
  readonly price: Decimal | null
  readonly withGreeks: boolean
}

const TWO = '2' as Decimal
const ZERO = '0' as Decimal

/** What is not known of a leg counts as zero, as it does there. */
export function optionWire(legs: readonly Leg[], { price, withGreeks }: OptionDetails): Readonly<Record<string, unknown>> {
  const [bid, ask] = [touch(legs, 'bid'), touch(legs, 'ask')]
  const add = (of: (leg: Leg) => Decimal | null | undefined) => sum(legs.map(leg => times(of(leg) ?? ZERO, ratioOf(leg))))
  const last = add(({ figures }) => figures?.last)
  const previousClose = add(({ figures }) => figures?.previousClose)
  const intrinsic = add(({ instrument }) => intrinsicOf(instrument, price))
  const mid = dividedBy(plus(bid.price, ask.price), TWO, 4)
  return {
    ...(withGreeks ? greeks(legs, add) : {}),
    IntrinsicValue: intrinsic,
    ExtrinsicValue: minus(mid, intrinsic),
    TheoreticalValue: add(({ figures }) => figures?.theoretical),
    TheoreticalValue_IV: add(({ figures }) => figures?.theoretical),
    DailyOpenInterest: least(legs, ({ figures }) => figures?.openInterest),
    Ask: ask.price,
    Bid: bid.price,
    Mid: mid,
    AskSize: ask.size,
    BidSize: bid.size,
    Close: add(({ figures }) => figures?.close ?? figures?.last),
    High: add(({ figures }) => figures?.high),
    Last: last,
    Low: add(({ figures }) => figures?.low),
    NetChange: minus(last, previousClose),
    NetChangePct: previousClose === ZERO ? '0' : dividedBy(minus(last, previousClose), previousClose, 6),
    Open: add(({ figures }) => figures?.open),
    PreviousClose: previousClose,
    Volume: least(legs, ({ figures }) => figures?.volume),
    Side: sideOf(legs),
    Strikes: [...new Set(legs.map(({ instrument }) => instrument.option?.strike ?? ''))],
    Legs: legs.map(legWire)
  }
}

function greeks(legs: readonly Leg[], add: (of: (leg: Leg) => Decimal | null | undefined) => Decimal): object {
  return {
    Delta: add(({ figures }) => figures?.delta),
    Theta: add(({ figures }) => figures?.theta),
    Gamma: add(({ figures }) => figures?.gamma),
    Rho: add(({ figures }) => figures?.rho),
    Vega: add(({ figures }) => figures?.vega),
    ImpliedVolatility: legs[0]?.figures?.iv ?? '0'
  }
}

function ratioOf({ ratio }: Leg): Decimal {
  return parseDecimal(String(ratio), 'Ratio')
}

/** What the whole is bought (`ask`) or sold (`bid`) for now: a leg that is sold counts with its other side. */
function touch(legs: readonly Leg[], side: 'bid' | 'ask'): { readonly price: Decimal; readonly size: number } {
  let price = ZERO
  let size = Number.POSITIVE_INFINITY
  for (const leg of legs) {
    const isBid = (side === 'bid') === leg.ratio > 0
    const [at, there] = (isBid ? leg.quote?.bids : leg.quote?.asks)?.[0] ?? ['0', '0']
    price = plus(price, times(parseDecimal(at, 'price'), ratioOf(leg)))
    size = Math.min(size, Math.floor(Number(there) / Math.abs(leg.ratio)))
  }
  return { price, size: Number.isFinite(size) ? size : 0 }
}

function intrinsicOf({ option }: Instrument, price: Decimal | null): Decimal {
  if (option === undefined || price === null) return ZERO
  const strike = parseDecimal(option.strike, 'strike')
  const value = option.right === 'call' ? minus(price, strike) : minus(strike, price)
  return value.startsWith('-') ? ZERO : value
}

function least(legs: readonly Leg[], of: (leg: Leg) => Decimal | null | undefined): number {
  return Math.min(...legs.map(leg => Math.floor(Number(of(leg) ?? '0'))))
}

function sideOf(legs: readonly Leg[]): 'Call' | 'Put' | 'Both' {
  const rights = new Set(legs.map(({ instrument }) => instrument.option?.right))
  return rights.size > 1 ? 'Both' : rights.has('put') ? 'Put' : 'Call'
}

function legWire({ instrument, ratio }: Leg): object {
  const { option } = instrument
  return {
    Symbol: shownSymbol(instrument.symbol),
    Ratio: ratio,
    StrikePrice: option?.strike ?? '0',
    Expiration: dayOf(option?.expiration ?? '1970-01-01'),
    OptionType: option?.right === 'put' ? 'Put' : 'Call',
    AssetType: assetOf(instrument)
  }
}
