/** Reads the specification of an instrument. */
import { Malformed } from '@trunkline/core/domain/malformed'
import type { FutureSpec, OptionSpec, Spec } from './state.ts'
import type { FutureTerms, InstrumentSpec, OptionTerms } from './types.ts'
import { ONE, positive } from './units.ts'

/** @throws Malformed naming the invalid field. */
export function specOf(source: InstrumentSpec): Spec {
  const multiplier = positive(source.multiplier, 'multiplier')
  if (multiplier % ONE !== 0n) throw new Malformed('multiplier', 'a whole number', source.multiplier)
  const tick = positive(source.tick, 'tick')
  const lot = positive(source.lot, 'lot')
  const fraction = positive(source.fraction, 'fraction')
  if (lot % fraction !== 0n) throw new Malformed('lot', 'a multiple of the fraction', source.lot)
  return {
    source: plain(source),
    tick,
    tickBelowOne: source.tickBelowOne === null ? tick : positive(source.tickBelowOne, 'tick below one'),
    lot,
    fraction,
    multiplier: multiplier / ONE,
    initial: whole(source.margin.initial, 'initial margin'),
    maintenanceLong: whole(source.margin.maintenanceLong, 'maintenance margin'),
    maintenanceShort: whole(source.margin.maintenanceShort, 'maintenance margin'),
    buyFee: whole(source.fees.buy, 'buy fee'),
    sellFee: whole(source.fees.sell, 'sell fee'),
    option: source.option === undefined ? null : optionOf(source.option),
    future: source.future === undefined ? null : futureOf(source.future)
  }
}

function optionOf(terms: OptionTerms): OptionSpec {
  return {
    underlying: terms.underlying,
    call: terms.right === 'call',
    strike: positive(terms.strike, 'strike'),
    expiration: terms.expiration,
    lastTradeAt: terms.lastTradeAt,
    american: terms.style === 'american',
    physical: terms.settlement === 'physical'
  }
}

function futureOf(terms: FutureTerms): FutureSpec {
  return {
    lastTradeAt: terms.lastTradeAt,
    initial: positive(terms.initialMargin, 'initial margin'),
    maintenance: positive(terms.maintenanceMargin, 'maintenance margin')
  }
}

/** Only the declared fields, in a fixed order: anything else from the caller would not survive a snapshot. */
function plain({ margin, fees, option, future, ...row }: InstrumentSpec): InstrumentSpec {
  return {
    symbol: row.symbol,
    kind: row.kind,
    name: row.name,
    currency: row.currency,
    market: row.market,
    tick: row.tick,
    tickBelowOne: row.tickBelowOne,
    lot: row.lot,
    fraction: row.fraction,
    multiplier: row.multiplier,
    shortable: row.shortable,
    auctions: row.auctions,
    settlementDays: row.settlementDays,
    margin: { initial: margin.initial, maintenanceLong: margin.maintenanceLong, maintenanceShort: margin.maintenanceShort },
    fees: { buy: fees.buy, sell: fees.sell },
    ...(option === undefined ? {} : { option: plainOption(option) }),
    ...(future === undefined ? {} : { future: plainFuture(future) })
  }
}

function plainOption({ underlying, right, strike, expiration, lastTradeAt, style, settlement }: OptionTerms): OptionTerms {
  return { underlying, right, strike, expiration, lastTradeAt, style, settlement }
}

function plainFuture({ root, month, lastTradeAt, initialMargin, maintenanceMargin }: FutureTerms): FutureTerms {
  return { root, month, lastTradeAt, initialMargin, maintenanceMargin }
}

function whole(value: number, what: string): bigint {
  if (!Number.isSafeInteger(value) || value < 0) throw new Malformed(what, 'a whole number, zero or more', value)
  return BigInt(value)
}
