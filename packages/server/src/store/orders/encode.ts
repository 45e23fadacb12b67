// Order changes as the database's function `record_changes` takes them: a list for each parameter.
import type { EventId, UserKey } from '@trunkline/core/domain/ids'
import { type Fill, isOpen, type Order } from '@trunkline/core/domain/order'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { OrderChange } from '@trunkline/core/ports/store'
import { storable } from '../types.ts'
import type { BinaryLists } from '../writes/binary.ts'
import { functionCall } from '../writes/function-call.ts'

/** One change, encoded once, however often it is sent. */
export interface EncodedChange {
  readonly change: OrderChange
  /** The id of the event that publishes the change, if one does. */
  readonly eventId: EventId
  readonly at: Timestamp
  readonly document: string
  readonly audit: string | null
  readonly fills: readonly EncodedFill[]
}

export interface EncodedFill {
  /** 0 for the order's own executions, else the leg's position from 1. */
  readonly leg: number
  readonly fill: Fill
}

/** The executions of the order and its legs that `known` does not have. Inferred ones are in the document only. */
export function fillsOf(order: Order, known: Order | null): readonly EncodedFill[] {
  const own = newFills(order.fills, known?.fills ?? [], 0)
  const legs = order.legs?.flatMap((leg, index) => newFills(leg.fills, known?.legs?.[index]?.fills ?? [], index + 1)) ?? []
  return legs.length === 0 ? own : [...own, ...legs]
}

function newFills(fills: readonly Fill[], known: readonly Fill[], leg: number): readonly EncodedFill[] {
  const stored = new Set(known.filter(({ inferred }) => inferred !== true).map(({ fillId }) => fillId))
  return fills.filter(({ fillId, inferred }) => inferred !== true && !stored.has(fillId)).map(fill => ({ leg, fill }))
}

/** A batch as `record_changes` takes it: a list for each column of its changes and of their executions. */
interface Batch {
  readonly lists: BinaryLists
  readonly changes: readonly EncodedChange[]
  readonly orders: readonly Order[]
  /** The index of each change's group. */
  readonly groups: readonly number[]
  /** Each user once, in the order of their keys. */
  readonly users: readonly UserKey[]
  /** Of each change, from 1. */
  readonly userOf: readonly number[]
  /** The executions, each with the position of its change from 1. */
  readonly fills: readonly (EncodedFill & { readonly of: number })[]
  readonly wait: boolean
}

/** A batch of groups of changes. `wait`: for others that write for the same user, or leave that user's changes out. */
export function batchOf(lists: BinaryLists, groups: readonly (readonly EncodedChange[])[], wait: boolean): Batch {
  const changes = groups.flat()
  const orders = changes.map(({ change }) => change.order)
  const users = [...new Set(orders.map(({ userKey }) => userKey))].sort()
  const indexOfUser = new Map(users.map((userKey, index) => [userKey, index + 1]))
  return {
    lists,
    changes,
    orders,
    groups: groups.flatMap((group, index) => group.map(() => index)),
    users,
    userOf: orders.map(({ userKey }) => indexOfUser.get(userKey) ?? 0),
    fills: changes.flatMap((change, index) => change.fills.map(fill => ({ of: index + 1, ...fill }))),
    wait
  }
}

/** Writes a batch. Each parameter is described with the function (migration 0003). The longest are first: drivers make room as they go. */
export const RECORD_CHANGES = functionCall<Batch>('record_changes', 'verdicts', {
  p_document: ({ lists, changes }) => lists.texts(changes.map(({ document }) => document)),
  p_audit: ({ lists, changes }) => lists.texts(changes.map(({ audit }) => audit)),
  p_users: ({ lists, users }) => lists.uuids(users),
  p_wait: ({ wait }) => wait,
  p_group: ({ lists, groups }) => lists.ints(groups),
  p_user: ({ lists, userOf }) => lists.ints(userOf),
  p_order: ({ lists, orders }) => lists.uuids(orders.map(({ orderId }) => orderId)),
  p_account: ({ lists, orders }) => lists.uuids(orders.map(({ accountId }) => accountId)),
  p_connection: ({ lists, orders }) => lists.uuids(orders.map(({ connectionId }) => connectionId)),
  p_trading_day: ({ lists, orders }) => lists.days(orders.map(({ tradingDay }) => tradingDay)),
  p_cl_ord_id: ({ lists, orders }) => lists.texts(orders.map(({ clOrdId }) => storable(clOrdId))),
  p_broker_cl_ord_id: ({ lists, orders }) => lists.texts(orders.map(({ brokerClOrdId }) => storable(brokerClOrdId))),
  p_broker_order_id: ({ lists, orders }) => lists.texts(orders.map(({ brokerOrderId }) => storableOrNull(brokerOrderId))),
  p_over: ({ lists, changes }) => lists.ints(changes.map(({ change }) => change.overRevision)),
  p_revision: ({ lists, orders }) => lists.ints(orders.map(({ revision }) => revision)),
  p_status: ({ lists, orders }) => lists.texts(orders.map(({ status }) => status)),
  p_open: ({ lists, orders }) => lists.booleans(orders.map(({ status }) => isOpen(status))),
  p_symbol: ({ lists, orders }) => lists.texts(orders.map(({ symbol }) => storableOrNull(symbol))),
  p_side: ({ lists, orders }) => lists.texts(orders.map(({ side }) => side)),
  p_entered: ({ lists, orders }) => lists.timestamps(orders.map(({ entryTime }) => entryTime)),
  p_modified: ({ lists, orders }) => lists.timestamps(orders.map(({ lastModifiedTime }) => lastModifiedTime)),
  p_executed: ({ lists, orders }) => lists.timestamps(orders.map(({ lastExecTime }) => lastExecTime)),
  p_event: ({ lists, changes }) => lists.uuids(changes.map(({ change, eventId }) => (change.publish ? eventId : null))),
  p_at: ({ lists, changes }) => lists.timestamps(changes.map(({ at }) => at)),
  p_fill_of: ({ lists, fills }) => lists.ints(fills.map(({ of }) => of)),
  p_fill_leg: ({ lists, fills }) => lists.ints(fills.map(({ leg }) => leg)),
  p_fill_id: ({ lists, fills }) => lists.texts(fills.map(({ fill }) => storable(fill.fillId))),
  p_fill_at: ({ lists, fills }) => lists.timestamps(fills.map(({ fill }) => fill.at)),
  p_fill_quantity: ({ lists, fills }) => lists.texts(fills.map(({ fill }) => fill.quantity)),
  p_fill_price: ({ lists, fills }) => lists.texts(fills.map(({ fill }) => fill.price)),
  p_fill_dest: ({ lists, fills }) => lists.texts(fills.map(({ fill }) => storableOrNull(fill.execDest)))
})

function storableOrNull(text: string | null): string | null {
  return text === null ? null : storable(text)
}
