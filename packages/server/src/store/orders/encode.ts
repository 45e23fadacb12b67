// Order changes as the lists that the database's function `record_changes` takes.
import type { EventId } from '@trunkline/core/domain/ids'
import { type Fill, isOpen, type Order } from '@trunkline/core/domain/order'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { OrderChange } from '@trunkline/core/ports/store'
import { storable } from '../types.ts'
import { booleans, days, ints, texts, timestamps, uuids } from '../writes/binary.ts'

/** One change with what is made of it once, however often it is sent. */
export interface EncodedChange {
  readonly change: OrderChange
  /** Of the event that tells the change, if it is told. */
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
export function recordArguments(groups: readonly (readonly EncodedChange[])[], wait: boolean): readonly unknown[] {
  const changes = groups.flat()
  const orders = changes.map(({ change }) => change.order)
  const users = [...new Set(orders.map(({ userKey }) => userKey))].sort()
  const placeOf = new Map(users.map((userKey, index) => [userKey, index + 1]))
  const fills = changes.flatMap((change, index) => change.fills.map(({ leg, fill }) => ({ of: index + 1, leg, fill })))
  return [
    uuids(users),
    wait,
    ints(groups.flatMap((group, index) => group.map(() => index))),
    ints(orders.map(({ userKey }) => placeOf.get(userKey) ?? 0)),
    uuids(orders.map(({ orderId }) => orderId)),
    uuids(orders.map(({ accountId }) => accountId)),
    uuids(orders.map(({ connectionId }) => connectionId)),
    days(orders.map(({ tradingDay }) => tradingDay)),
    texts(orders.map(({ clOrdId }) => storable(clOrdId))),
    texts(orders.map(({ brokerClOrdId }) => storable(brokerClOrdId))),
    texts(orders.map(({ brokerOrderId }) => storableOrNull(brokerOrderId))),
    ints(changes.map(({ change }) => change.overRevision)),
    ints(orders.map(({ revision }) => revision)),
    texts(orders.map(({ status }) => status)),
    booleans(orders.map(({ status }) => isOpen(status))),
    texts(orders.map(({ symbol }) => storableOrNull(symbol))),
    texts(orders.map(({ side }) => side)),
    timestamps(orders.map(({ entryTime }) => entryTime)),
    timestamps(orders.map(({ lastModifiedTime }) => lastModifiedTime)),
    timestamps(orders.map(({ lastExecTime }) => lastExecTime)),
    uuids(changes.map(({ change, eventId }) => (change.tell ? eventId : null))),
    timestamps(changes.map(({ at }) => at)),
    texts(changes.map(({ audit }) => audit)),
    texts(changes.map(({ document }) => document)),
    ints(fills.map(({ of }) => of)),
    ints(fills.map(({ leg }) => leg)),
    texts(fills.map(({ fill }) => storable(fill.fillId))),
    timestamps(fills.map(({ fill }) => fill.at)),
    texts(fills.map(({ fill }) => fill.quantity)),
    texts(fills.map(({ fill }) => fill.price)),
    texts(fills.map(({ fill }) => storableOrNull(fill.execDest)))
  ]
}

function storableOrNull(text: string | null): string | null {
  return text === null ? null : storable(text)
}
