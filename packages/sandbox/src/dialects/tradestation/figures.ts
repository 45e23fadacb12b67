/** Sums over figures of the state, exactly. */

import { type Decimal, dividedBy, isZero, parseDecimal, sum, times } from '@trunkline/core/domain/decimal'
import type { FillView } from '../frame/brokerage.ts'

const PLACES = 9

/** @throws Malformed for a text that is no plain decimal, which the state does not have */
export function decimal(text: string): Decimal {
  return parseDecimal(text, 'a figure of the state')
}

export function total(fills: readonly FillView[]): Decimal {
  return sum(fills.map(({ quantity }) => decimal(quantity)))
}

/** Null without a fill. */
export function average(fills: readonly FillView[]): Decimal | null {
  const quantity = total(fills)
  if (isZero(quantity)) return null
  return dividedBy(sum(fills.map(fill => times(decimal(fill.quantity), decimal(fill.price)))), quantity, PLACES)
}

export function fees(fills: readonly FillView[]): Decimal {
  return sum(fills.map(({ fee }) => decimal(fee)))
}
