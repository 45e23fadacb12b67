/** Executions of multi-leg orders at brokers that report totals by leg. Pure. */

import { commonDivisor, type Decimal, decimalOf, minus, plus, times, ZERO } from '@trunkline/core/domain/decimal'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { Leg } from '@trunkline/core/domain/order'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { Side } from '@trunkline/core/domain/vocabulary'
import type { OrderReport } from '@trunkline/core/ports/broker'

/** A leg as the broker counts it: in contracts, not in units of the order. */
export interface LegTotals {
  readonly symbol: string
  readonly side: Side
  readonly ordered: Decimal
  readonly executed: Decimal
  readonly averagePrice: Decimal | null
  /** When the leg last changed. */
  readonly at: Timestamp
}

export interface UnitsOfLegs {
  /** The quantity of the order: what the legs have in common. */
  readonly quantity: Decimal
  readonly legs: readonly Leg[]
}

/**
 * The legs of an order in lowest terms. A leg's total becomes one execution, and only when there is no more to come (the leg is whole, or
 * the order `hasEnded`): a total that grows would be counted twice by a reader that adds executions up. @throws Malformed
 */
export function unitsOfLegs(orderId: string, totals: readonly LegTotals[], hasEnded: boolean): UnitsOfLegs {
  const counts = totals.map(({ ordered }) => wholeOf(ordered))
  const units = counts.reduce(commonDivisor, 0n)
  const legs = totals.map(({ symbol, side, executed, averagePrice, at }, index): Leg => {
    const ordered = counts[index] ?? units
    const isFinal = hasEnded || wholeOf(executed) >= ordered
    const fill = { fillId: `${orderId}:${symbol}:${executed}`, at, quantity: executed, price: averagePrice ?? ZERO, execDest: null }
    return { symbol, side, ratio: decimalOf(ordered / units), fills: averagePrice !== null && isFinal ? [fill] : [] }
  })
  return { quantity: decimalOf(units), legs }
}

/** The quantity for which every leg is filled, and its net price; null where the legs do not show it. */
export function filledOfLegs(side: 'BUY' | 'SELL', totals: readonly LegTotals[], legs: readonly Leg[]): OrderReport['filledTotal'] {
  const quantity = unitsFilled(totals, legs)
  if (quantity === ZERO) return null
  let net = ZERO
  for (const [index, { ratio, side: legSide }] of legs.entries()) {
    const price = totals[index]?.averagePrice ?? null
    if (price === null) return null
    const part = times(price, ratio)
    net = legSide.startsWith('BUY') === (side === 'BUY') ? plus(net, part) : minus(net, part)
  }
  return { quantity, averagePrice: net }
}

/** The quantity for which every leg is filled. */
export function unitsFilled(totals: readonly LegTotals[], legs: readonly Leg[]): Decimal {
  let units: bigint | null = null
  for (const [index, { ratio }] of legs.entries()) {
    const executed = totals[index]?.executed ?? ZERO
    const whole = BigInt(executed.replace(/\..*$/, '')) / BigInt(ratio)
    units = units === null || whole < units ? whole : units
  }
  return units === null || units === 0n ? ZERO : decimalOf(units)
}

function wholeOf(quantity: Decimal): bigint {
  if (/^\d+(?:\.0*)?$/.test(quantity)) return BigInt(quantity.replace(/\..*$/, ''))
  throw new Malformed('quantity', 'a whole number of contracts', quantity)
}
