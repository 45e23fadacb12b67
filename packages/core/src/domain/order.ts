import type { Decimal } from './decimal.ts'
import type { AccountId, BrokerId, ClOrdId, ConnectionId, OrderId, PlatformId, UserId, UserKey } from './ids.ts'
import type { Day, Timestamp } from './timestamp.ts'
import type { Instrument, OrderStatus, OrderType, RejectCode, Side, TimeInForce } from './vocabulary.ts'

/** One execution. `fillId` is the broker's execution id; it is counted once per order, however often it is seen. */
export interface Fill {
  readonly fillId: string
  readonly at: Timestamp
  readonly quantity: Decimal
  readonly price: Decimal
  readonly execDest: string | null
  /**
   * Set when the broker only reported a total: replaced by the real executions as they arrive, and by one fill at the average where a later total does
   * not prove a price of its own.
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

/** What a platform requests: an order before it is submitted. */
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
 * How far the intent got on its way to the broker. Finer than the status: `unknown` means the broker may hold the order and it must not be
 * sent again; `not_sent` and `not_received` are proofs of absence; `external` was never sent by us.
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
  /** Times the order was put on the wire: 0 or 1, by construction. */
  readonly attempts: number
  /** How the present state became known; `operator`: by the operator's decision. */
  readonly method: 'reply' | 'stream' | 'lookup' | 'snapshot' | 'recovery' | 'absence' | 'operator' | null
}

/** A cancel or replace that was requested and has not ended yet. */
export interface PendingRequest {
  readonly kind: 'cancel' | 'replace'
  readonly requestedAt: Timestamp
  /** Null until the request was put on the wire, and of a cancel that was sent before the broker had shown the order working. */
  readonly sentAt: Timestamp | null
  /** The order that will take this one's place. */
  readonly successorId: OrderId | null
  /** When the broker took it, without showing yet what came of it; null: it did not, or that is unknown. */
  readonly takenAt: Timestamp | null
  /** Of a replace: when a cancel was asked for meanwhile. It becomes the pending request where the replacement comes to nothing. */
  readonly cancelRequestedAt?: Timestamp
  /** The revision of the order that it was asked of: two requests of one order are never of the same. Left out: it was asked before that was recorded. */
  readonly ofRevision?: number
}

/** An order and everything known of it. Immutable: the machine in `order-machine.ts` makes the next one. */
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
  /** The client order id the broker sees; derived from `orderId` once, never per attempt. */
  readonly brokerClOrdId: string
  readonly brokerOrderId: string | null
  readonly brokerStatus: string | null
  readonly brokerMessage: string | null
  /** Of a rejected order; null for every other, and where the broker gave no reason. */
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
   * What the orders whose place this one took had filled: `quantity` is the total, so this counts against it. Null for an order that takes no
   * other's place, and where it was not recorded.
   */
  readonly previouslyFilledQuantity: Decimal | null
  /** Counts up with every stored change; a change is written only over the revision it was made from. */
  readonly revision: number
}

const OPEN: ReadonlySet<OrderStatus> = new Set(['pending', 'working', 'partially_filled', 'pending_cancel', 'pending_replace'])

/** Whether the order can still move. */
export function isOpen(status: OrderStatus): boolean {
  return OPEN.has(status)
}
