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

/** A change of an order: reported by the broker or made by the service. */
export type OrderEvent =
  | {
      readonly type: 'status'
      readonly to: OrderStatus
      readonly at: Timestamp
      /**
       * Set if the broker refused the pending cancel or replace: a live status then ends it. Without it, a `working` seen while a request
       * is pending is an older snapshot of the order and is ignored.
       */
      readonly releases?: true
    }
  /** Executions, applied together, so that an order with many is not processed once for each. */
  | { readonly type: 'fills'; readonly fills: readonly Fill[] }
  /**
   * An execution, and the cum qty and average price including it, from brokers that otherwise report totals only. Fills inferred from
   * earlier totals stay: no execution disappears and returns under another id.
   */
  | { readonly type: 'execution'; readonly fill: Fill; readonly total: FilledTotal }
  /** Executions of one leg. The order's own fills state how many units it filled; these state their composition. */
  | { readonly type: 'leg_fills'; readonly leg: Pick<Leg, 'symbol' | 'side'>; readonly fills: readonly Fill[] }
  /**
   * The broker reported only cum qty and average price. The part without executions is inferred, at prices that follow from the totals or
   * were stated.
   */
  | ({ readonly type: 'filled_total'; readonly at: Timestamp } & FilledTotal)

/** Cum qty and average price; the price is null if the broker does not report it. */
export interface FilledTotal {
  readonly quantity: Decimal
  readonly averagePrice: Decimal | null
}

/** The result of an event. `ignored` states why it was not applied, or not in full: for metrics, never for decisions. */
export interface Step {
  readonly order: Order
  readonly changed: boolean
  readonly ignored: 'illegal_transition' | 'duplicate_fill' | 'older_snapshot' | 'unknown_leg' | ExecutionFault | null
  /**
   * A fill after a final status, or beyond the ordered quantity, is counted and raises an alarm. An impossible fill, or one too many to
   * store, raises an alarm and is not counted.
   */
  readonly alarm: 'late_fill' | 'overfill' | ExecutionFault | null
}

/** Applies one event to an order. Pure: the same order and event give the same step. */
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

/** Cum qty: the sum of the fills, including inferred ones. */
export function filledQuantity(order: Pick<Order, 'fills'>): Decimal {
  return quantityOf(order.fills)
}

/** The quantity filled along a chain of replacements, up to and including this order. Unrecorded fills count as zero. */
export function filledAlong(order: Pick<Order, 'fills' | 'previouslyFilledQuantity'>): Decimal {
  return plus(filledQuantity(order), order.previouslyFilledQuantity ?? ZERO)
}

/** Volume-weighted average price of the fills, at most nine places; null before the first. */
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
  // A pending cancel or replace that was requested elsewhere is not tracked here: the broker's status decides.
  if (released && event.releases !== true && order.pendingRequest !== null) return { ...nothing(order), ignored: 'older_snapshot' }
  // A broker with timestamps in whole seconds may date a change before the request that it answers.
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
  // Real executions replace inferred quantity, so the total grows only by what is new.
  return withFills(order, [...real, ...shrunk(inferred, quantityOf(newFills))], at)
}

function applyExecution(order: Order, { fill, total }: Extract<OrderEvent, { type: 'execution' }>): Step {
  const known = filledQuantity(order)
  if (compare(known, total.quantity) >= 0 || order.fills.some(({ fillId }) => fillId === fill.fillId))
    return { ...nothing(order), ignored: 'duplicate_fill' }
  const fault = faultOf([fill], order.instrument)
  if (fault !== null) return refusing(order, fault)
  const totalEvent = { type: 'filled_total', ...total, at: fill.at } as const
  // Part of it is counted already, which a broker's totals should not lead to: the total decides.
  if (compare(plus(known, fill.quantity), total.quantity) > 0) return applyTotal(order, totalEvent)
  const counted = withFills(order, appended(order.fills, [fill]), fill.at)
  if (!counted.changed) return counted
  // Earlier executions that were never reported.
  const rest = applyTotal(counted.order, totalEvent)
  return rest.changed ? { ...rest, alarm: counted.alarm ?? rest.alarm } : counted
}

/** Legs are matched by symbol and side, not by index: a broker may list them in its own order. */
function applyLegFills(order: Order, { leg, fills }: Extract<OrderEvent, { type: 'leg_fills' }>): Step {
  const legs = order.legs ?? []
  const index = legs.findIndex(({ symbol, side }) => symbol === leg.symbol && side === leg.side)
  const found = legs[index]
  if (found === undefined) return { ...nothing(order), ignored: 'unknown_leg' }
  const newFills = fillsNotIn(fills, found.fills)
  if (newFills.length === 0) return { ...nothing(order), ignored: 'duplicate_fill' }
  const all = [...found.fills, ...newFills]
  // A leg is an option or its underlying share, never a multi-leg order.
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

/** The later time: it never goes back, though clocks disagree and some brokers report whole seconds. */
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
 * Ends the pending request if the order has ended, or if a request that was sent returned it to a live status. A request that was not sent
 * stays, and so does a cancel requested during a replacement.
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
