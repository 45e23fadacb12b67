/** Positions at brokers that list quantity and cost only, without prices. */

import { absolute, canonical, type Decimal, dividedBy, isZero, minus, parseDecimal, plus, sum, times } from '@trunkline/core/domain/decimal'
import { BrokerFault, type PositionReport } from '@trunkline/core/ports/broker'
import type { Log } from '@trunkline/core/ports/log'
import { demandAddable } from './summed-positions.ts'

const AVERAGE_PLACES = 8
const TWO = parseDecimal('2', 'two')

/** Quantity and cost, of all of it, are negative when short. */
export interface Holding {
  /** As the broker writes it. */
  readonly symbol: string
  readonly quantity: Decimal
  readonly costBasis: Decimal
  readonly id: string | null
}

/**
 * The rows of one symbol as one. Costs add up exactly, and the average price follows from them. @throws Malformed as {@link demandAddable}
 */
export function summedHolding(rows: readonly [Holding, ...Holding[]]): Holding {
  const [first, ...others] = rows
  if (others.length === 0) return first
  demandAddable(first.symbol, rows)
  const total = (of: (row: Holding) => Decimal) => canonical(sum(rows.map(of)))
  return { symbol: first.symbol, quantity: total(row => row.quantity), costBasis: total(row => row.costBasis), id: null }
}

/** The position at its last price; null where the price is unknown. Realized profit is not known. */
export function valued(
  { quantity, costBasis, id }: Holding,
  {
    lastPrice,
    multiplier,
    ...subject
  }: Pick<PositionReport, 'brokerAccountId' | 'symbol' | 'instrument' | 'lastPrice'> & { readonly multiplier: Decimal }
): PositionReport {
  const units = times(quantity, multiplier)
  return {
    ...subject,
    quantity,
    lastPrice,
    averagePrice: isZero(units) ? null : canonical(absolute(dividedBy(costBasis, units, AVERAGE_PLACES))),
    unrealizedPl: lastPrice === null ? null : minus(times(lastPrice, units), costBasis),
    realizedPl: null,
    dailyPl: null,
    totalPl: null,
    brokerPositionId: id
  }
}

/**
 * Last prices by symbol, read in batches of `max`. They only describe positions: if they cannot be read, there are none, and that is
 * logged.
 * @throws BrokerFault `credentials_rejected`
 */
export async function pricesOf(
  symbols: readonly string[],
  max: number,
  read: (batch: readonly string[]) => Promise<ReadonlyMap<string, Decimal | null>>,
  log: Log
): Promise<ReadonlyMap<string, Decimal | null>> {
  const prices = new Map<string, Decimal | null>()
  try {
    for (let from = 0; from < symbols.length; from += max)
      for (const [symbol, price] of await read(symbols.slice(from, from + max))) prices.set(symbol, price)
  } catch (fault) {
    if (!(fault instanceof BrokerFault) || fault.kind === 'credentials_rejected') throw fault
    log.warn('positions are returned without prices', { reason: fault.kind })
  }
  return prices
}

/** The middle of a quote; null where a side is missing. */
export function middleOf(bid: Decimal | null, ask: Decimal | null): Decimal | null {
  return bid === null || ask === null || isZero(ask) ? null : canonical(dividedBy(plus(bid, ask), TWO, AVERAGE_PLACES))
}
