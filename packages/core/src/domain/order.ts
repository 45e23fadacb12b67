import type { Decimal } from './decimal.ts'
import type { AccountId, BrokerId, ClOrdId, ConnectionId, OrderId, PlatformId, UserId, UserKey } from './ids.ts'
import type { Day, Timestamp } from './timestamp.ts'
import type { Instrument, OrderStatus, OrderType, RejectCode, Side, TimeInForce } from './vocabulary.ts'

/** One execution. `fillId` is the broker's execution id: it counts once per order, however often it is reported. */
export interface Fill {
  readonly fillId: string
  readonly at: Timestamp
  readonly quantity: Decimal
  readonly price: Decimal
  readonly execDest: string | null
  /**
   * Set on a fill inferred from a total. Real executions replace it as they arrive; if a later total does not prove a price, inferred fills
   * are merged into one at the average.
   */
  readonly inferred?: true
}

export interface Leg {
  readonly symbol: string
  readonly side: Side
  /** A positive whole number. */
  readonly ratio: Decimal
  readonly fills: readonly Fill[]
}

/** An order as a platform requests it, before it is submitted. */
export interface OrderTicket {
  readonly side: Side
  readonly type: OrderType
  readonly tif: TimeInForce
  /** Null for multi-leg orders. */
  readonly symbol: string | null
  readonly instrument: Instrument
  /** Exactly one of `quantity` and `notional` is set. */
  readonly quantity: Decimal | null
  readonly notional: Decimal | null
  readonly limitPrice: Decimal | null
  readonly stopPrice: Decimal | null
  readonly legs: readonly Leg[] | null
}

/**
 * How far an order got on its way to the broker; finer than the status. `unknown`: the broker may have it, so it must not be sent again.
 * `not_sent` and `not_received`: proved absent. `external`: not sent by us.
 */
export const SUBMISSION_STATES = [
  'submitting',
  'unknown',
  'acknowledged',
  'refused',
  'refused_by_gateway',
  'not_sent',
  'not_received',
  'external'
] as const
export type SubmissionState = (typeof SUBMISSION_STATES)[number]

export interface Submission {
  readonly state: SubmissionState
  readonly since: Timestamp
  /** How often the order was sent: 0 or 1, by construction. */
  readonly attempts: number
  /** How the present state became known; `operator`: by an operator's decision. */
  readonly method: 'reply' | 'stream' | 'lookup' | 'snapshot' | 'recovery' | 'absence' | 'operator' | null
}

/** A pending cancel or replace that was requested here. */
export interface PendingRequest {
  readonly kind: 'cancel' | 'replace'
  readonly requestedAt: Timestamp
  /** When the request was sent. Null before that, and for a cancel sent while the broker had not yet reported the order live. */
  readonly sentAt: Timestamp | null
  /** The order that is to replace this one. */
  readonly successorId: OrderId | null
  /** When the broker accepted the request without a result yet; null if it did not, or if that is unknown. */
  readonly takenAt: Timestamp | null
  /** For a replace: when a cancel was requested meanwhile. It becomes the pending request if the replacement fails. */
  readonly cancelRequestedAt?: Timestamp
  /** The revision of the order that the request was made from; unique per request. Absent in older records. */
  readonly ofRevision?: number
}

/** An order and everything known about it. Immutable: `order-machine.ts` makes the next state. */
export interface Order extends OrderTicket {
  readonly orderId: OrderId
  readonly clOrdId: ClOrdId
  readonly tradingDay: Day
  readonly platformId: PlatformId
  readonly userKey: UserKey
  readonly userId: UserId
  readonly connectionId: ConnectionId
  readonly accountId: AccountId
  readonly accountNumber: string
  readonly broker: BrokerId
  readonly status: OrderStatus
  readonly submission: Submission
  readonly pendingRequest: PendingRequest | null
  /** The client order id sent to the broker; derived from `orderId` once, never per attempt. */
  readonly brokerClOrdId: string
  readonly brokerOrderId: string | null
  readonly brokerStatus: string | null
  readonly brokerMessage: string | null
  /** Why the order is rejected; null for every other order, and if the broker gave no reason. */
  readonly rejectCode: RejectCode | null
  readonly brokerOrderType: string | null
  readonly execDest: string | null
  readonly fills: readonly Fill[]
  readonly entryTime: Timestamp
  readonly lastExecTime: Timestamp | null
  readonly lastModifiedTime: Timestamp
  /** When the broker last confirmed this record; before any confirmation, when the service wrote it. */
  readonly systemTime: Timestamp
  readonly replacesOrderId: OrderId | null
  readonly replacedByOrderId: OrderId | null
  /**
   * What the orders that this one replaced, directly or not, had filled. `quantity` is the total, so this counts against it. Null for an
   * order that replaces none, and if it was not recorded.
   */
  readonly previouslyFilledQuantity: Decimal | null
  /** Grows by one with every stored change; a change is written only over the revision it was made from. */
  readonly revision: number
}

const OPEN: ReadonlySet<OrderStatus> = new Set(['pending', 'working', 'partially_filled', 'pending_cancel', 'pending_replace'])

/** Whether the status is not final. */
export function isOpen(status: OrderStatus): boolean {
  return OPEN.has(status)
}
