/** Matches orders that have no common id, by their terms and time. */

import { areEqual, type Decimal, negated } from './decimal.ts'
import type { OrderTicket } from './order.ts'
import { epochMs, type Timestamp } from './timestamp.ts'

/** An order, and when it was created: here, when it was sent; at the broker, when it was accepted. */
export interface TimedTicket extends OrderTicket {
  readonly entryTime: Timestamp
}

/** The error allowed in what is known of the broker's clock. */
const BEFORE_MS = 5_000
/** How long an order may take to reach the broker. */
const AFTER_MS = 300_000

/**
 * Whether both have the same terms. For a multi-leg order, side and price together form the net price: some brokers report a sale at 2 as a
 * purchase at -2.
 */
export function isSameTicket(a: OrderTicket, b: OrderTicket): boolean {
  const isSameSubject =
    a.legs === null || b.legs === null
      ? a.legs === b.legs && a.symbol === b.symbol && a.side === b.side
      : legKeys(a.legs).join() === legKeys(b.legs).join()
  return (
    isSameSubject &&
    a.instrument === b.instrument &&
    a.type === b.type &&
    a.tif === b.tif &&
    areEqual(a.quantity, b.quantity) &&
    areEqual(a.notional, b.notional) &&
    areEqual(limitOf(a), limitOf(b)) &&
    areEqual(a.stopPrice, b.stopPrice)
  )
}

/** Whether the order seen at the broker may be the one that was sent. `aheadMs`: how far the broker's clock is ahead of ours. */
export function mayMatch(sent: TimedTicket, seen: TimedTicket, aheadMs: number): boolean {
  const lateMs = epochMs(seen.entryTime) - epochMs(sent.entryTime) - aheadMs
  return lateMs >= -BEFORE_MS && lateMs <= AFTER_MS && isSameTicket(sent, seen)
}

/** The pairs found, and the orders that could not be paired. */
export interface Matching<Sent, Seen> {
  readonly pairs: readonly (readonly [Sent, Seen])[]
  /** More orders with these terms were seen than were sent, so another client has placed one of them. */
  readonly ambiguous: readonly Sent[]
}

/**
 * Pairs orders of unknown outcome with unclaimed orders of the broker, both of one account. Orders with the same terms are paired in order
 * of time: which is which makes no difference. If more were seen than sent, none is paired, because one of them is another client's.
 * `aheadMs`: how far the broker's clock is ahead of ours.
 */
export function matched<Sent extends TimedTicket, Seen extends TimedTicket>(
  sent: readonly Sent[],
  seen: readonly Seen[],
  aheadMs = 0
): Matching<Sent, Seen> {
  const pairs: (readonly [Sent, Seen])[] = []
  const ambiguous: Sent[] = []
  for (const alike of groups(sent)) {
    const candidates = seen.filter(other => alike.some(order => mayMatch(order, other, aheadMs))).toSorted(byTime)
    if (candidates.length > alike.length) {
      ambiguous.push(...alike)
      continue
    }
    const free = new Set(candidates)
    for (const order of alike.toSorted(byTime)) {
      const found = [...free].find(candidate => mayMatch(order, candidate, aheadMs))
      if (found === undefined) continue
      free.delete(found)
      pairs.push([order, found])
    }
  }
  return { pairs, ambiguous }
}

function groups<T extends OrderTicket>(orders: readonly T[]): readonly (readonly T[])[] {
  const found: T[][] = []
  for (const order of orders) {
    const group = found.find(([first]) => first !== undefined && isSameTicket(first, order))
    if (group === undefined) found.push([order])
    else group.push(order)
  }
  return found
}

/** The net price of one unit of a multi-leg order; for other orders, the limit price. */
export function limitOf({ legs, side, limitPrice }: OrderTicket): Decimal | null {
  return legs === null || side !== 'SELL' || limitPrice === null ? limitPrice : negated(limitPrice)
}

function legKeys(legs: NonNullable<OrderTicket['legs']>): readonly string[] {
  return legs.map(({ symbol, side, ratio }) => `${side} ${ratio} ${symbol}`).sort()
}

function byTime(a: TimedTicket, b: TimedTicket): number {
  return epochMs(a.entryTime) - epochMs(b.entryTime)
}
