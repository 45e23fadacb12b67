// One order change as the database's function takes it. The letters are those of `record_changes`.
import type { EventId } from '@trunkline/core/domain/ids'
import { type Fill, isOpen, type Order } from '@trunkline/core/domain/order'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { OrderChange } from '@trunkline/core/ports/store'
import { writeAuditEntry, writeOrder } from '../documents.ts'
import { storable } from '../types.ts'

export interface EncodedChange {
  readonly change: OrderChange
  /** Of the event that tells the change, if it is told. */
  readonly eventId: EventId
  readonly at: Timestamp
  /** The inside of a JSON object, closing brace included. */
  readonly facts: string
  readonly document: string
}

/** @param event id and time of the change's event */
export function encodeChange(change: OrderChange, event: { readonly eventId: EventId; readonly at: Timestamp }): EncodedChange {
  const { order, overRevision, tell, audit } = change
  const { eventId, at } = event
  const fills = fillsOf(order)
  const facts = JSON.stringify({
    u: order.userKey,
    o: order.orderId,
    a: order.accountId,
    c: order.connectionId,
    d: order.tradingDay,
    k: storable(order.clOrdId),
    n: storable(order.brokerClOrdId),
    b: order.brokerOrderId === null ? null : storable(order.brokerOrderId),
    v: overRevision,
    r: order.revision,
    s: order.status,
    p: isOpen(order.status),
    y: order.symbol === null ? null : storable(order.symbol),
    i: order.side,
    e: order.entryTime,
    m: order.lastModifiedTime,
    x: order.lastExecTime,
    t: tell,
    id: eventId,
    at,
    w: audit === null ? null : writeAuditEntry(audit),
    f: fills.length === 0 ? null : fills
  })
  return { change, eventId, at, facts: facts.slice(1), document: writeOrder(order) }
}

interface EncodedFill {
  readonly l: number
  readonly i: string
  readonly t: string
  readonly q: string
  readonly p: string
  readonly d: string | null
}

/** The order's executions and its legs'. What was only inferred is no execution: it is in the document alone. */
function fillsOf(order: Order): readonly EncodedFill[] {
  const own = order.fills.flatMap(fill => encodeFill(fill, 0))
  return order.legs === null ? own : [...own, ...order.legs.flatMap((leg, index) => leg.fills.flatMap(fill => encodeFill(fill, index + 1)))]
}

function encodeFill({ fillId, at, quantity, price, execDest, inferred }: Fill, leg: number): readonly EncodedFill[] {
  if (inferred) return []
  return [{ l: leg, i: storable(fillId), t: at, q: quantity, p: price, d: execDest === null ? null : storable(execDest) }]
}
