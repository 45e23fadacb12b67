/** What the reads of a broker are, as data and small functions. */

import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { OrderKey, OrderReport } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import type { HttpReply, HttpRequest } from '../http.ts'
import type { Wire } from '../parse.ts'
import type { CallPriority } from '../rate-limiter.ts'
import type { Items, RecordKind } from '../record-lists.ts'
import type { UnknownValueCounter } from '../unknown-values.ts'
import type { OrderTracker } from './order-tracker.ts'

/** What a list of an account is read for. */
export interface AccountQuery {
  readonly account: string
}

export interface OrdersQuery extends AccountQuery {
  readonly since: Timestamp
}

export interface ListPage {
  readonly records: readonly Wire[]
  /** The cursor of the next page; null at the last. */
  readonly next: string | null
  /** When the broker made the answer, if it reports that; those of the first page count for the list. */
  readonly asOf?: Timestamp
  /** The clock by which the broker dates its records, if it reports one. */
  readonly brokerClock?: Timestamp
}

/** A list of records, in one or several pages. */
export interface ListRead<Resource extends string, Query, T> {
  readonly resource: Resource
  /** `cursor` is that of the page before; null for the first page. */
  readonly request: (query: Query, cursor: string | null) => HttpRequest
  /** @throws Malformed */
  readonly page: (reply: HttpReply, cursor: string | null) => ListPage
  /** Statuses, besides the successes, that `page` reads. */
  readonly also?: readonly number[]
  /** Pages of a list; beyond it the list is a fault, never cut short. One unless said otherwise. */
  readonly pagesMax?: number
  /**
   * Set: the broker may ignore the number of the page. A page that is sent again is then the whole list, unless it has one of these
   * lengths, at which the broker may have cut it.
   */
  readonly pageLimits?: readonly number[]
  /** Set: identifies a record that a later page repeats, or shows in a newer state. */
  readonly keyOf?: (record: Wire) => string
  /** The items of a whole list, in the core's terms. A record that cannot be read is left out (`context.readable`). @throws Malformed */
  readonly items: (records: readonly Wire[], query: Query, context: ListContext) => Items<T>
}

export interface ListContext {
  /** The broker's time of the answer, or when it was requested. */
  readonly asOf: Timestamp
  readonly unknownValues: UnknownValueCounter
  /**
   * Reads each record, and leaves out those that cannot be read; `idKey`: the field of a record's id, null if it has none. For a command, a
   * record that cannot be read makes the list unreadable. @throws Malformed also for a list of which too little can be read
   */
  readonly readable: <T>(kind: RecordKind, records: readonly Wire[], read: (record: Wire) => T, idKey: string | null) => Items<T>
}

export interface ReadItems<T> extends Items<T> {
  readonly asOf: Timestamp
  readonly brokerClock?: Timestamp
}

/** What an order is read with: what is known of it, and the present time. */
export interface OrderContext {
  readonly tracker: OrderTracker
  readonly clock: Pick<Clock, 'now'>
}

/** One order. */
export interface OrderRead<Resource extends string> {
  readonly resource: Resource
  /** The look-ups by this key, made one after the other until one finds the order. None: the order is looked for in the list. */
  readonly requests: (key: OrderKey, now: Timestamp) => readonly HttpRequest[]
  /** The priority of a look-up; `read` unless said otherwise. */
  readonly priority?: CallPriority
  /** Statuses, besides the successes, that `absent` reads. */
  readonly also: readonly number[]
  /** Whether the answer says that there is no such order. */
  readonly absent: (reply: HttpReply, key: OrderKey) => boolean
  /** The order, or those that an order of this id holds. @throws Malformed; BrokerFault */
  readonly records: (reply: HttpReply) => readonly Wire[]
  readonly item: (record: Wire, account: string, login: OrderContext) => OrderReport
  /** An order id in the form in which two are compared; as it is unless said otherwise. */
  readonly comparable?: (brokerOrderId: string) => string
  /** The broker's time of the answer, if it reports one. @throws Malformed */
  readonly asOf?: (reply: HttpReply) => Timestamp
  /**
   * For a broker that shows a replacement before it has decided on it: the broker order id of the order that decides. While that is
   * `pending_replace`, a look-up of the replacement by client order id is a fault: it proves nothing yet.
   */
  readonly decidedBy?: (replacement: OrderReport) => string | null
  /**
   * For a broker that may be wrong about an absent order: it is requested again after so long, in milliseconds, and then looked for in the
   * list. Absent: one answer proves it.
   */
  readonly absentPauseMs?: number
}

/** The list in which an order is looked for that has no look-up, or whose absence is not proved by one. */
export type OrderList<Resource extends string> = ListRead<Resource, OrdersQuery, OrderReport> & {
  /** The broker order id of a record, by which later pages repeat it. @throws Malformed */
  readonly keyOf: (record: Wire) => string
  /** Its client order id; null if it has none. @throws Malformed */
  readonly brokerClOrdIdOf: (record: Wire) => string | null
}
