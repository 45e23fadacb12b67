import { compare, type Decimal, dividedBy, isPositive, minus, plus, ZERO } from './decimal.ts'
import { amountOf, appended, type ExecutionFault, FILLS_MAX, faultOf, fillsNotIn, mayCost, quantityOf } from './executions.ts'
import { filledUpTo } from './inferred-fills.ts'
import { type Fill, isOpen, type Leg, type Order } from './order.ts'
import type { Timestamp } from './timestamp.ts'
import type { OrderStatus } from './vocabulary.ts'

/** The allowed status transitions. The five final statuses lead nowhere. */
export const TRANSITIONS: { readonly [from in OrderStatus]: readonly OrderStatus[] } = {
  pending: ['working', 'partially_filled', 'filled', 'rejected', 'cancelled', 'expired'],
  working: ['partially_filled', 'filled', 'cancelled', 'expired', 'rejected', 'pending_cancel', 'pending_replace', 'replaced'],
  partially_filled: ['filled', 'cancelled', 'expired', 'pending_cancel', 'pending_replace', 'replaced'],
  pending_cancel: ['cancelled', 'filled', 'working', 'partially_filled', 'expired', 'replaced'],
  pending_replace: ['replaced', 'working', 'partially_filled', 'filled', 'cancelled', 'rejected', 'expired'],
  filled: [],
  cancelled: [],
  rejected: [],
  expired: [],
  replaced: []
}

/** Something that happened to an order, reported by the broker or done by us. */
export type OrderEvent =
  | {
      readonly type: 'status'
      readonly to: OrderStatus
      readonly at: Timestamp
      /**
       * The broker refused the pending cancel or replace, so a live status ends it. Without this a `working` seen while a request is
       * pending is only an older snapshot of the order, and is ignored.
       */
      readonly releases?: true
    }
  /** Executions, all at once: an order with many is not gone through again for each. */
  | { readonly type: 'fills'; readonly fills: readonly Fill[] }
  /**
   * An execution together with what is filled in all once it is counted. What such brokers reported only as a total before stays as it was
   * inferred: no execution vanishes and returns under another id.
   */
  | { readonly type: 'execution'; readonly fill: Fill; readonly total: FilledTotal }
  /** Executions of one leg. The order's own fills say what it has filled; these say what they consist of. */
  | { readonly type: 'leg_fills'; readonly leg: Pick<Leg, 'symbol' | 'side'>; readonly fills: readonly Fill[] }
  /** The broker reported only how much is filled in all. The part no execution accounts for is inferred, at prices that the totals prove or the broker stated. */
  | ({ readonly type: 'filled_total'; readonly at: Timestamp } & FilledTotal)

/** How much of an order is filled in all, and at what average; null where the broker does not report the price. */
export interface FilledTotal {
  readonly quantity: Decimal
  readonly averagePrice: Decimal | null
}

/** What an event did. `ignored` names why nothing, or not all of it, was applied: to be recorded, never acted on. */
export interface Step {
  readonly order: Order
  readonly changed: boolean
  readonly ignored: 'illegal_transition' | 'duplicate_fill' | 'older_snapshot' | 'unknown_leg' | ExecutionFault | null
  /**
   * A fill came after a final status, or beyond the ordered quantity: it is counted, with an alarm. One that cannot be, or is one too many,
   * is not counted.
   */
  readonly alarm: 'late_fill' | 'overfill' | ExecutionFault | null
}

/** Moves an order by one event. Pure: the same order and event give the same step. */
export function apply(order: Order, event: OrderEvent): Step {
  switch (event.type) {
    case 'status':
      return applyStatus(order, event)
    case 'fills':
      return applyFills(order, event.fills)
    case 'execution':
      return applyExecution(order, event)
    case 'leg_fills':
      return applyLegFills(order, event)
    case 'filled_total':
      return applyTotal(order, event)
  }
}

/** Σ of the fills, inferred ones included. */
export function filledQuantity(order: Pick<Order, 'fills'>): Decimal {
  return quantityOf(order.fills)
}

/** What was filled along a chain of replacements, up to and with this order. What was not recorded of it counts as nothing. */
export function filledAlong(order: Pick<Order, 'fills' | 'previouslyFilledQuantity'>): Decimal {
  return plus(filledQuantity(order), order.previouslyFilledQuantity ?? ZERO)
}

/** Volume-weighted price of the fills, at most nine places; null before the first. */
export function averageFillPrice(order: Pick<Order, 'fills'>): Decimal | null {
  const quantity = filledQuantity(order)
  if (!isPositive(quantity)) return null
  return dividedBy(amountOf(order.fills), quantity, 9)
}

function applyStatus(order: Order, event: Extract<OrderEvent, { type: 'status' }>): Step {
  const to = event.to === 'working' && order.fills.length > 0 ? 'partially_filled' : event.to
  if (to === order.status) return nothing(order)
  if (!TRANSITIONS[order.status].includes(to)) return { ...nothing(order), ignored: 'illegal_transition' }
  const released = (to === 'working' || to === 'partially_filled') && isRequestPending(order.status)
  // A request made elsewhere is not ours to hold: what the broker shows of it is all there is to know.
  if (released && event.releases !== true && order.pendingRequest !== null) return { ...nothing(order), ignored: 'older_snapshot' }
  // A broker of whole seconds dates a change before the request that it answers.
  return changed(settled({ ...order, status: to, lastModifiedTime: later(order.lastModifiedTime, event.at) }))
}

function applyFills(order: Order, reported: readonly Fill[]): Step {
  const newFills = fillsNotIn(reported, order.fills)
  const last = newFills.at(-1)
  if (last === undefined) return { ...nothing(order), ignored: 'duplicate_fill' }
  const fault = faultOf(newFills, order.instrument)
  if (fault !== null) return refusing(order, fault)
  const at = newFills.reduce((latest, fill) => later(latest, fill.at), last.at)
  const inferred = order.fills.filter(known => known.inferred)
  if (inferred.length === 0) return withFills(order, appended(order.fills, newFills), at)
  const real = [...order.fills.filter(known => !known.inferred), ...newFills]
  // The real executions take their quantity out of what was only inferred, so the total grows by what is new and no more.
  return withFills(order, [...real, ...shrunk(inferred, quantityOf(newFills))], at)
}

function applyExecution(order: Order, { fill, total }: Extract<OrderEvent, { type: 'execution' }>): Step {
  const known = filledQuantity(order)
  if (compare(known, total.quantity) >= 0 || order.fills.some(({ fillId }) => fillId === fill.fillId))
    return { ...nothing(order), ignored: 'duplicate_fill' }
  const fault = faultOf([fill], order.instrument)
  if (fault !== null) return refusing(order, fault)
  const totalEvent = { type: 'filled_total', ...total, at: fill.at } as const
  // A part of it is counted already, which no broker's totals should lead to: the total is what counts.
  if (compare(plus(known, fill.quantity), total.quantity) > 0) return applyTotal(order, totalEvent)
  const counted = withFills(order, appended(order.fills, [fill]), fill.at)
  if (!counted.changed) return counted
  // Earlier executions that were never reported.
  const rest = applyTotal(counted.order, totalEvent)
  return rest.changed ? { ...rest, alarm: counted.alarm ?? rest.alarm } : counted
}

/** The leg it names decides, not its index: a broker may list them in its own order. */
function applyLegFills(order: Order, { leg, fills }: Extract<OrderEvent, { type: 'leg_fills' }>): Step {
  const legs = order.legs ?? []
  const index = legs.findIndex(({ symbol, side }) => symbol === leg.symbol && side === leg.side)
  const found = legs[index]
  if (found === undefined) return { ...nothing(order), ignored: 'unknown_leg' }
  const newFills = fillsNotIn(fills, found.fills)
  if (newFills.length === 0) return { ...nothing(order), ignored: 'duplicate_fill' }
  const all = [...found.fills, ...newFills]
  // A leg is an option or the share beneath it, never a multi-leg order.
  const fault = faultOf(newFills, 'OPT') ?? (all.length > FILLS_MAX ? 'too_many_fills' : null)
  if (fault !== null) return refusing(order, fault)
  const lastExecTime = newFills.reduce((latest, { at }) => later(latest, at), order.lastExecTime)
  const lastModifiedTime = newFills.reduce((latest, { at }) => later(latest, at), order.lastModifiedTime)
  return changed({ ...order, legs: legs.with(index, { ...found, fills: all }), lastExecTime, lastModifiedTime })
}

function applyTotal(order: Order, event: Extract<OrderEvent, { type: 'filled_total' }>): Step {
  const { quantity, averagePrice, at } = event
  if (averagePrice === null || compare(filledQuantity(order), quantity) >= 0) return nothing(order)
  if (!mayCost(averagePrice, order.instrument)) return refusing(order, 'impossible_fill')
  return withFills(order, filledUpTo(order, { quantity, averagePrice }, at), at)
}

function withFills(order: Order, fills: readonly Fill[], at: Timestamp): Step {
  if (fills.length > FILLS_MAX) return refusing(order, 'too_many_fills')
  const total = filledQuantity({ fills })
  const late = !isOpen(order.status)
  const over = order.quantity !== null && compare(filledAlong({ ...order, fills }), order.quantity) > 0
  const next = { ...order, fills, lastExecTime: later(order.lastExecTime, at), status: statusAfterFill(order, total) }
  const lastModifiedTime = later(order.lastModifiedTime, at)
  return {
    ...changed(settled({ ...next, lastModifiedTime })),
    alarm: late && order.status !== 'filled' ? 'late_fill' : over ? 'overfill' : null
  }
}

/** The later of both: neither clocks that disagree nor a broker's whole seconds lead back. */
export function later(known: Timestamp | null, at: Timestamp): Timestamp {
  return known === null || at > known ? at : known
}

function statusAfterFill(order: Order, total: Decimal): OrderStatus {
  if (!isOpen(order.status)) return order.status
  if (order.quantity !== null && compare(total, order.quantity) >= 0) return 'filled'
  return order.status === 'pending' || order.status === 'working' ? 'partially_filled' : order.status
}

function shrunk(inferred: readonly Fill[], by: Decimal): readonly Fill[] {
  let left = by
  const remaining: Fill[] = []
  for (const fill of inferred) {
    const rest = minus(fill.quantity, left)
    left = isPositive(rest) ? ZERO : minus(left, fill.quantity)
    if (isPositive(rest)) remaining.push({ ...fill, quantity: rest })
  }
  return remaining
}

/**
 * A request ends with the order, and, once it was sent, with a return to a live status. An intent not sent yet waits on, and so does a cancel that was
 * asked for while a replacement was pending.
 */
function settled(order: Order): Order {
  const { pendingRequest, status } = order
  if (pendingRequest === null || isRequestPending(status)) return order
  if (!isOpen(status)) return { ...order, pendingRequest: null }
  if (pendingRequest.sentAt === null) return order
  const { cancelRequestedAt: requestedAt } = pendingRequest
  if (requestedAt === undefined) return { ...order, pendingRequest: null }
  const ofRevision = order.revision
  return { ...order, pendingRequest: { kind: 'cancel', requestedAt, sentAt: null, successorId: null, takenAt: null, ofRevision } }
}

function isRequestPending(status: OrderStatus): boolean {
  return status === 'pending_cancel' || status === 'pending_replace'
}

function nothing(order: Order): Step {
  return { order, changed: false, ignored: null, alarm: null }
}

function refusing(order: Order, fault: ExecutionFault): Step {
  return { ...nothing(order), ignored: fault, alarm: fault }
}

function changed(order: Order): Step {
  return { order, changed: true, ignored: null, alarm: null }
}

/** What is left to fill; null for an order by notional, and never below zero. */
export function remainingQuantity(order: Order): Decimal | null {
  if (order.quantity === null) return null
  const rest = minus(order.quantity, filledAlong(order))
  return isPositive(rest) ? rest : ZERO
}
