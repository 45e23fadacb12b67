/**
 * The requested sides of multi-leg orders. The broker reports only the net price, not the side. With the requested side, a purchase at a negative
 * price is reported as one, and not as a sale at a positive price.
 */

import { negated } from '@trunkline/core/domain/decimal'
import type { OrderTracker } from '../kit/runtime/order-tracker.ts'
import type { ParsedOrder } from './parse-order.ts'

/** An order that is not known any more counts as bought for a debit and sold for a credit. */
export function withRequestedSide(parsed: ParsedOrder, tracker: OrderTracker): ParsedOrder {
  const { report } = parsed
  const side = report.legs === null ? undefined : tracker.get(report.brokerAccountId, report.brokerOrderId)?.side
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
