import type { Decimal } from '../domain/decimal.ts'
import type { OrderTicket } from '../domain/order.ts'
import type { RejectCode } from '../domain/vocabulary.ts'

/** An order that is asked about and not placed. It has no client order id, so that it cannot be sent as a `NewOrder`. */
export interface PreviewOrder extends OrderTicket {
  readonly brokerAccountId: string
}

/** What the broker says an order would come to. Every number is the broker's own; null: it does not say. */
export interface OrderEstimate {
  readonly currency: string | null
  /** Per unit, as an order's limit price is. */
  readonly price: Decimal | null
  /** Without commission and fees: positive is paid, negative is received. */
  readonly cost: Decimal | null
  /** With commission and fees, signed as `cost`. */
  readonly total: Decimal | null
  readonly commission: Decimal | null
  /** Beside the commission. */
  readonly fees: Decimal | null
  /** Initial margin that the order needs. */
  readonly initialMargin: Decimal | null
  /** By how much the account's margin requirement grows; negative: shrinks. */
  readonly marginChange: Decimal | null
  /** By how much the buying power grows; negative: shrinks. */
  readonly buyingPowerChange: Decimal | null
  /** The broker's warnings about an order that it would take. */
  readonly warnings: readonly string[]
}

/** The broker would take the order and estimates it, or would refuse it and says why, as it does of orders. */
export type OrderPreview =
  | { readonly kind: 'estimated'; readonly estimate: OrderEstimate }
  | {
      readonly kind: 'refused'
      readonly message: string
      readonly rejectCode: RejectCode | null
      readonly brokerStatus: string | null
    }

/** Of which nothing is known. */
export const NOTHING_ESTIMATED: OrderEstimate = {
  currency: null,
  price: null,
  cost: null,
  total: null,
  commission: null,
  fees: null,
  initialMargin: null,
  marginChange: null,
  buyingPowerChange: null,
  warnings: []
}
