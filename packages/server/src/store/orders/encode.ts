// Order changes as the database's function `record_changes` takes them: a list for each parameter.
import type { EventId } from '@trunkline/core/domain/ids'
import { isOpen, type Order } from '@trunkline/core/domain/order'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { OrderChange } from '@trunkline/core/ports/store'
import { storable } from '../types.ts'
import type { BinaryLists } from '../writes/binary.ts'
import { functionCall } from '../writes/function-call.ts'
import { type BatchUsers, usersOf } from '../writes/users.ts'

/** One change, encoded once, however often it is sent. */
export interface EncodedChange {
  readonly change: OrderChange
  /** The id of the event that publishes the change, if one does. */
  readonly eventId: EventId
  readonly at: Timestamp
  readonly document: string
  readonly audit: string | null
}

/** A batch as `record_changes` takes it: a list for each column of its changes. */
interface Batch extends BatchUsers {
  readonly lists: BinaryLists
  readonly changes: readonly EncodedChange[]
  readonly orders: readonly Order[]
  /** The index of each change's group. */
  readonly groups: readonly number[]
  readonly wait: boolean
}

/** A batch of groups of changes. `wait`: for others that write for the same user, or leave that user's changes out. */
export function batchOf(lists: BinaryLists, groups: readonly (readonly EncodedChange[])[], wait: boolean): Batch {
  const changes = groups.flat()
  return {
    lists,
    changes,
    orders: changes.map(({ change }) => change.order),
    groups: groups.flatMap((group, index) => group.map(() => index)),
    ...usersOf(changes.map(({ change: { order, publish } }) => ({ userKey: order.userKey, published: publish ? 1 : 0 }))),
    wait
  }
}

/** Writes a batch. Each parameter is described with the function (migration 0019). The longest are first: drivers make room as they go. */
export const RECORD_CHANGES = functionCall<Batch>('record_changes', 'verdicts', {
  p_document: ({ lists, changes }) => lists.texts(changes.map(({ document }) => document)),
  p_audit: ({ lists, changes }) => lists.texts(changes.map(({ audit }) => audit)),
  p_users: ({ lists, users }) => lists.uuids(users),
  p_published: ({ lists, published }) => lists.ints(published),
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
  p_at: ({ lists, changes }) => lists.timestamps(changes.map(({ at }) => at))
})

/** A change that is alone in its batch. */
interface Single {
  readonly values: BinaryLists
  readonly change: EncodedChange
  readonly wait: boolean
}

/** Writes a change that is alone: nothing is made for lists, and the database runs short statements. */
export const RECORD_CHANGE = functionCall<Single>('record_change', 'verdicts', {
  p_document: ({ change: { document } }) => document,
  p_audit: ({ change: { audit } }) => audit,
  p_user: ({ values, change }) => values.uuid(change.change.order.userKey),
  p_wait: ({ wait }) => wait,
  p_order: ({ values, change }) => values.uuid(change.change.order.orderId),
  p_account: ({ values, change }) => values.uuid(change.change.order.accountId),
  p_connection: ({ values, change }) => values.uuid(change.change.order.connectionId),
  p_trading_day: ({ change }) => change.change.order.tradingDay,
  p_cl_ord_id: ({ change }) => storable(change.change.order.clOrdId),
  p_broker_cl_ord_id: ({ change }) => storable(change.change.order.brokerClOrdId),
  p_broker_order_id: ({ change }) => storableOrNull(change.change.order.brokerOrderId),
  p_over: ({ change }) => change.change.overRevision,
  p_revision: ({ change }) => change.change.order.revision,
  p_status: ({ change }) => change.change.order.status,
  p_open: ({ change }) => isOpen(change.change.order.status),
  p_symbol: ({ change }) => storableOrNull(change.change.order.symbol),
  p_side: ({ change }) => change.change.order.side,
  p_entered: ({ values, change }) => values.timestamp(change.change.order.entryTime),
  p_modified: ({ values, change }) => values.timestamp(change.change.order.lastModifiedTime),
  p_executed: ({ values, change }) => values.timestamp(change.change.order.lastExecTime),
  p_event: ({ values, change }) => (change.change.publish ? values.uuid(change.eventId) : null),
  p_at: ({ values, change }) => values.timestamp(change.at)
})

function storableOrNull(text: string | null): string | null {
  return text === null ? null : storable(text)
}
