import type { Decimal } from '../domain/decimal.ts'
import type { OrderTicket } from '../domain/order.ts'
import type { RejectCode } from '../domain/vocabulary.ts'

/** An order to preview. It has no client order id, so it cannot be sent as a `NewOrder`. */
export interface PreviewOrder extends OrderTicket {
  readonly brokerAccountId: string
}

/** The broker's estimate of an order. Every number is the broker's own; null if it does not report it. */
export interface OrderEstimate {
  readonly currency: string | null
  /** Per unit, as an order's limit price is. */
  readonly price: Decimal | null
  /** Without commission and fees: positive is paid, negative is received. */
  readonly cost: Decimal | null
  /** With commission and fees, same sign as `cost`. */
  readonly total: Decimal | null
  readonly commission: Decimal | null
  /** Without the commission. */
  readonly fees: Decimal | null
  /** Initial margin that the order requires. */
  readonly initialMargin: Decimal | null
  /** Change of the account's margin requirement; negative: it shrinks. */
  readonly marginChange: Decimal | null
  /** Change of the buying power; negative: it shrinks. */
  readonly buyingPowerChange: Decimal | null
  /** The broker's warnings about an order that it would accept. */
  readonly warnings: readonly string[]
}

/** Either the broker would accept the order and estimates it, or it would refuse it and says why. */
export type OrderPreview =
  | { readonly kind: 'estimated'; readonly estimate: OrderEstimate }
  | {
      readonly kind: 'refused'
      readonly message: string
      readonly rejectCode: RejectCode | null
      readonly brokerStatus: string | null
    }

/** An estimate without any figure. */
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
