// Finds an order's events in its user's log, which has no index by order.
import type { Order } from '../../domain/order.ts'
import { isOpen } from '../../domain/order.ts'
import { epochMs } from '../../domain/timestamp.ts'
import type { EventStore, LoggedEvent } from '../../ports/store.ts'

/** How much of the log one search looks through. */
export const LOOKED_THROUGH_MAX = 5_000
const PAGE = 500
/** Events of a user are in the order of their commits. Clocks of two owners may differ by less than this. */
export const CLOCKS_MS = 60_000

/** An event with a change of an order. */
export type LoggedChange = Extract<LoggedEvent, { readonly topic: 'orders' }>

export interface OrderEvents {
  /** Ascending. */
  readonly events: readonly LoggedChange[]
  /** `all` of them; the first ones are `erased`; or the log `goes_on` behind what was looked through. */
  readonly found: 'all' | 'erased' | 'goes_on'
}

/** The order's events, from the log of about its entry on. */
export async function eventsOfOrder(
  { events }: { readonly events: Pick<EventStore, 'read' | 'span'> },
  order: Order
): Promise<OrderEvents> {
  const { oldest, last } = await events.span(order.userKey)
  const start = await seqBefore(events, order, oldest, last)
  const found: LoggedChange[] = []
  let after = start
  while (after < last && after - start < LOOKED_THROUGH_MAX) {
    const page = await events.read(order.userKey, after, PAGE)
    const [end] = page.slice(-1)
    if (end === undefined) break
    found.push(...page.filter(event => isOf(order, event)))
    after = end.seq
    if (hasEnded(order, found)) break
  }
  return { events: found, found: foundOf(found, after < last && !hasEnded(order, found)) }
}

function isOf({ orderId }: Order, event: LoggedEvent): event is LoggedChange {
  return event.topic === 'orders' && event.data.orderId === orderId
}

/** The first event of an order says that it is new: its first revision. */
function foundOf(found: readonly LoggedChange[], goesOn: boolean): OrderEvents['found'] {
  const [first] = found
  if (goesOn) return 'goes_on'
  return first?.data.revision === 1 ? 'all' : 'erased'
}

/** Whether the last change that platforms saw is among them. Bookkeeping grows the revision without an event. */
function hasEnded(order: Order, found: readonly LoggedChange[]): boolean {
  const [newest] = found.slice(-1)
  if (isOpen(order.status) || newest === undefined) return false
  return newest.data.status === order.status && newest.data.fills.length === order.fills.length
}

/** The `seq` behind which the order's first event is: found by halving, since events have no index by time. */
async function seqBefore(events: Pick<EventStore, 'read'>, order: Order, oldest: number, last: number): Promise<number> {
  const from = epochMs(order.entryTime) - CLOCKS_MS
  let [low, high] = [oldest - 1, last]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const [event] = await events.read(order.userKey, middle, 1)
    if (event !== undefined && epochMs(event.at) < from) low = event.seq
    else high = middle
  }
  return low
}
