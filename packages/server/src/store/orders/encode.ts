// Order changes as the lists that the database's function `record_changes` takes.
import type { EventId } from '@trunkline/core/domain/ids'
import { type Fill, isOpen, type Order } from '@trunkline/core/domain/order'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { OrderChange } from '@trunkline/core/ports/store'
import { storable } from '../types.ts'
import type { BinaryLists } from '../writes/binary.ts'

/** One change with what is made of it once, however often it is sent. */
export interface EncodedChange {
  readonly change: OrderChange
  /** Of the event that publishes the change, if there is one. */
  readonly eventId: EventId
  readonly at: Timestamp
  readonly document: string
  readonly audit: string | null
  readonly fills: readonly EncodedFill[]
}

export interface EncodedFill {
  /** 0 for the order's own, else the leg's place from 1. */
  readonly leg: number
  readonly fill: Fill
}

/** The order's executions and its legs', without those that `known` has. What was only inferred is no execution: it is in the document alone. */
export function fillsOf(order: Order, known: Order | null): readonly EncodedFill[] {
  const own = newFills(order.fills, known?.fills ?? [], 0)
  const legs = order.legs?.flatMap((leg, index) => newFills(leg.fills, known?.legs?.[index]?.fills ?? [], index + 1)) ?? []
  return legs.length === 0 ? own : [...own, ...legs]
}

function newFills(fills: readonly Fill[], known: readonly Fill[], leg: number): readonly EncodedFill[] {
  const stored = new Set(known.filter(({ inferred }) => inferred !== true).map(({ fillId }) => fillId))
  return fills.filter(({ fillId, inferred }) => inferred !== true && !stored.has(fillId)).map(fill => ({ leg, fill }))
}

/** The arguments of `record_changes`: groups of changes, for users in the order of their keys. */
export function recordArguments(lists: BinaryLists, groups: readonly (readonly EncodedChange[])[], wait: boolean): readonly unknown[] {
  const changes = groups.flat()
  const orders = changes.map(({ change }) => change.order)
  const users = [...new Set(orders.map(({ userKey }) => userKey))].sort()
  const indexOfUser = new Map(users.map((userKey, index) => [userKey, index + 1]))
  const fills = changes.flatMap((change, index) => change.fills.map(({ leg, fill }) => ({ of: index + 1, leg, fill })))
  return [
    lists.texts(changes.map(({ document }) => document)),
    lists.texts(changes.map(({ audit }) => audit)),
    lists.uuids(users),
    wait,
    lists.ints(groups.flatMap((group, index) => group.map(() => index))),
    lists.ints(orders.map(({ userKey }) => indexOfUser.get(userKey) ?? 0)),
    lists.uuids(orders.map(({ orderId }) => orderId)),
    lists.uuids(orders.map(({ accountId }) => accountId)),
    lists.uuids(orders.map(({ connectionId }) => connectionId)),
    lists.days(orders.map(({ tradingDay }) => tradingDay)),
    lists.texts(orders.map(({ clOrdId }) => storable(clOrdId))),
    lists.texts(orders.map(({ brokerClOrdId }) => storable(brokerClOrdId))),
    lists.texts(orders.map(({ brokerOrderId }) => storableOrNull(brokerOrderId))),
    lists.ints(changes.map(({ change }) => change.overRevision)),
    lists.ints(orders.map(({ revision }) => revision)),
    lists.texts(orders.map(({ status }) => status)),
    lists.booleans(orders.map(({ status }) => isOpen(status))),
    lists.texts(orders.map(({ symbol }) => storableOrNull(symbol))),
    lists.texts(orders.map(({ side }) => side)),
    lists.timestamps(orders.map(({ entryTime }) => entryTime)),
    lists.timestamps(orders.map(({ lastModifiedTime }) => lastModifiedTime)),
    lists.timestamps(orders.map(({ lastExecTime }) => lastExecTime)),
    lists.uuids(changes.map(({ change, eventId }) => (change.publish ? eventId : null))),
    lists.timestamps(changes.map(({ at }) => at)),
    lists.ints(fills.map(({ of }) => of)),
    lists.ints(fills.map(({ leg }) => leg)),
    lists.texts(fills.map(({ fill }) => storable(fill.fillId))),
    lists.timestamps(fills.map(({ fill }) => fill.at)),
    lists.texts(fills.map(({ fill }) => fill.quantity)),
    lists.texts(fills.map(({ fill }) => fill.price)),
    lists.texts(fills.map(({ fill }) => storableOrNull(fill.execDest)))
  ]
}

function storableOrNull(text: string | null): string | null {
  return text === null ? null : storable(text)
}
