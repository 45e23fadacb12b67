/**
 * The requested sides of this session's multi-leg orders. The broker reports only the net price, not the side. With the requested side, a
 * purchase at a negative price is reported as one, and not as a sale at a positive price.
 */

import { negated } from '@trunkline/core/domain/decimal'
import type { Side } from '@trunkline/core/domain/vocabulary'
import { BoundedMap } from '../kit/bounded-cache.ts'
import type { ParsedOrder } from './parse-order.ts'

/** Orders remembered; for older ones a debit counts as bought and a credit as sold. */
const ORDERS_MAX = 10_000

export class MultiLegSides {
  readonly #sides = new BoundedMap<Side>(ORDERS_MAX)

  put(brokerOrderId: string, side: Side): void {
    this.#sides.put(brokerOrderId, side)
  }

  withRequestedSide(parsed: ParsedOrder): ParsedOrder {
    const { report } = parsed
    const side = report.legs === null ? undefined : this.#sides.get(report.brokerOrderId)
    if (side === undefined || side === report.side) return parsed
    const { limitPrice, filledTotal } = report
    const averagePrice = filledTotal?.averagePrice ?? null
    return {
      ...parsed,
      report: {
        ...report,
        side,
        limitPrice: limitPrice === null ? null : negated(limitPrice),
        filledTotal: filledTotal === null || averagePrice === null ? filledTotal : { ...filledTotal, averagePrice: negated(averagePrice) }
      }
    }
  }
}
