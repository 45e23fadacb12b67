/** What the reads of a broker are, as data and small functions. */

import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { OrderReport } from '@trunkline/core/ports/broker'
import type { HttpReply, HttpRequest } from '../http.ts'
import type { Wire } from '../parse.ts'
import type { UnknownValueCounter } from '../unknown-values.ts'

/** What a list is read for. `asOf` is when it was requested. */
export interface AccountQuery {
  readonly account: string
  readonly asOf: Timestamp
}

export interface OrdersQuery extends AccountQuery {
  readonly since: Timestamp
}

export interface ListPage {
  readonly records: readonly Wire[]
  /** The cursor of the next page; null at the last. */
  readonly next: string | null
}

/** A list of records, in one or several pages. */
export interface ListRead<Resource extends string, Query, T> {
  readonly resource: Resource
  /** `cursor` is that of the page before; null for the first page. */
  readonly request: (query: Query, cursor: string | null) => HttpRequest
  /** @throws Malformed */
  readonly page: (reply: HttpReply, cursor: string | null) => ListPage
  /** Pages of a list; beyond it the list is a fault, never cut short. One unless said otherwise. */
  readonly pagesMax?: number
  /** Set: identifies a record that a later page repeats, or shows in a newer state. */
  readonly keyOf?: (record: Wire) => string
  /** The items of a whole list, in the core's terms. A record with an unknown enum value is counted and left out. @throws Malformed */
  readonly items: (records: readonly Wire[], query: Query, unknownValues: UnknownValueCounter) => Items<T>
}

export interface Items<T> {
  readonly known: readonly T[]
  /** Ids of the records that were left out; null: unknown. */
  readonly leftOut: readonly (string | null)[]
}

/** How orders are read. */
export interface OrderReadDefinitions<Resource extends string> {
  readonly orders: ListRead<Resource, OrdersQuery, OrderReport> & {
    /** The broker order id of a record, by which later pages repeat it. @throws Malformed */
    readonly keyOf: (record: Wire) => string
    /** Its client order id; null if it has none. @throws Malformed */
    readonly brokerClOrdIdOf: (record: Wire) => string | null
  }
  readonly order: OrderRead<Resource>
}

/** One order by its id. */
export interface OrderRead<Resource extends string> {
  readonly resource: Resource
  readonly request: (account: string, brokerOrderId: string) => HttpRequest
  /** Statuses, besides the successes, that `absent` and `records` read. */
  readonly also: readonly number[]
  /** Whether the answer says that there is no such order. */
  readonly absent: (reply: HttpReply) => boolean
  /** The order, or those that an order of this id holds. @throws Malformed; BrokerFault */
  readonly records: (reply: HttpReply) => readonly Wire[]
  readonly item: (record: Wire, account: string) => OrderReport
  /** An order reported as absent is requested again after so long, and then looked for in the list: the broker may be wrong about it. */
  readonly absentPauseMs: number
}
