// Finds an order's events in its user's log, which has no index by order.
import type { Order } from '../../domain/order.ts'
import { epochMs, type Timestamp } from '../../domain/timestamp.ts'
import type { EventStore, LoggedEvent } from '../../ports/store.ts'

/** How much of the log one search looks through. */
export const LOOKED_THROUGH_MAX = 5_000
const PAGE = 500
/** Clocks of a user's owners may differ by less than this; otherwise times of events grow with their `seq`. */
export const CLOCKS_MS = 60_000

/** An event with a change of an order. */
export type LoggedChange = Extract<LoggedEvent, { readonly topic: 'orders' }>

/**
 * Which events of the order may be missing. `erased_changes`: the first ones are no longer kept; `unfound_changes`: they are not where the
 * clocks of the owners say; `later_changes`: the log goes on behind what was looked through.
 */
export type MissingChanges = 'erased_changes' | 'unfound_changes' | 'later_changes'

export interface OrderEvents {
  /** Ascending. */
  readonly changes: readonly LoggedChange[]
  readonly missing: readonly MissingChanges[]
}

/** The order's events, from the log of about its first event on. */
export async function eventsOfOrder(
  { events }: { readonly events: Pick<EventStore, 'read' | 'span'> },
  order: Order
): Promise<OrderEvents> {
  const { oldest, last } = await events.span(order.userKey)
  const start = await seqBefore(events, order, oldest, last)
  const changes: LoggedChange[] = []
  let after = start
  while (after < last && after - start < LOOKED_THROUGH_MAX && !isNewest(order, changes.at(-1))) {
    const page = await events.read(order.userKey, after, PAGE)
    changes.push(...page.filter(event => isOf(order, event)))
    // Without one, what there was is erased by now.
    after = page.at(-1)?.seq ?? last
  }
  const isRead = after >= last || isNewest(order, changes.at(-1))
  const isErased = start === oldest - 1 && oldest > 1
  return { changes, missing: [...firstMissing(changes[0], isRead, isErased), ...(isRead ? [] : (['later_changes'] as const))] }
}

function isOf({ orderId }: Order, event: LoggedEvent): event is LoggedChange {
  return event.topic === 'orders' && event.data.orderId === orderId
}

/** Whether it has the first revision of its order, which is always published. */
export function isFirst({ data }: LoggedChange): boolean {
  return data.revision === 1
}

/** Whether nothing happened to the order since. Revisions of bookkeeping have no event: then the log is read on for nothing. */
function isNewest(order: Order, change: LoggedChange | undefined): boolean {
  return change !== undefined && change.data.revision >= order.revision
}

function firstMissing(first: LoggedChange | undefined, isRead: boolean, isErased: boolean): readonly MissingChanges[] {
  if (first === undefined ? !isRead : isFirst(first)) return []
  return [isErased ? 'erased_changes' : 'unfound_changes']
}

/** The `seq` behind which the order's first event is: found by halving, since events have no index by time. */
async function seqBefore(events: Pick<EventStore, 'read'>, order: Order, oldest: number, last: number): Promise<number> {
  const from = epochMs(firstStored(order)) - CLOCKS_MS
  let [low, high] = [oldest - 1, last]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const [event] = await events.read(order.userKey, middle, 1)
    if (event !== undefined && epochMs(event.at) < from) low = event.seq
    else high = middle
  }
  return low
}

/** When the order was stored, by a clock of ours. The entry time of an order placed elsewhere is the broker's, days before or ahead. */
function firstStored({ entryTime, submission: { state, since } }: Order): Timestamp {
  return state === 'external' ? since : entryTime
}
