/** What the order stream has sent of each order, so that what it takes back, repeats or leaves out is noticed. */

import { areEqual, compare, type Decimal, ZERO } from '@trunkline/core/domain/decimal'
import type { OrderReport } from '@trunkline/core/ports/broker'
import { BoundedMap } from '../kit/bounded-cache.ts'
import type { ParsedOrder } from './codecs.ts'

/** Orders of a day; beyond that the oldest is forgotten, and its next message is taken as its first. */
const ORDERS_MAX = 20_000

interface Known {
  /** Its exact text, and its meaning: lists and streams may use different values for the same. */
  readonly text: string
  readonly snapshot: string
  readonly status: OrderReport['status']
  readonly terms: string
  readonly filled: Decimal
  readonly isClosed: boolean
  readonly atMs: number
}

export type Noted =
  /** To be passed on; `releases` when an order that was cancelling or changing is back as it was. */
  | { readonly kind: 'update'; readonly releases: boolean }
  | { readonly kind: 'known' }
  /** It has less than what was sent before: lines were lost or reordered. */
  | { readonly kind: 'backwards' }

export class OrderMemory {
  readonly #known = new BoundedMap<Known>(ORDERS_MAX)

  /** `atMs` is on the monotonic clock. */
  note(parsed: ParsedOrder, atMs: number): Noted {
    const { brokerOrderId } = parsed.report
    const before = this.#known.get(brokerOrderId)
    const now = knownOf(parsed, atMs)
    if (before !== undefined && isBackwards(before, now)) return { kind: 'backwards' }
    this.#known.put(brokerOrderId, now)
    if (before?.text === now.text) return { kind: 'known' }
    return { kind: 'update', releases: before !== undefined && isReleased(before, now) }
  }

  /** Whether the stream has sent this much of an order or more, or has sent it since `sinceMs`. */
  hasReported(parsed: ParsedOrder, sinceMs: number): boolean {
    const known = this.#known.get(parsed.report.brokerOrderId)
    if (known === undefined) return false
    const seen = knownOf(parsed, sinceMs)
    return known.snapshot === seen.snapshot || known.atMs >= sinceMs || isBackwards(known, seen)
  }
}

function knownOf({ report, isClosed }: ParsedOrder, atMs: number): Known {
  const { status, brokerStatus, filledTotal } = report
  const filled = filledTotal?.quantity ?? ZERO
  const terms = termsOf(report)
  const snapshot = `${status} ${isClosed} ${filled} ${terms}`
  const legs = report.legs?.map(({ fills }) => fills.map(({ fillId }) => fillId).join()).join(';') ?? ''
  return { text: `${brokerStatus} ${snapshot} ${legs}`, snapshot, status, terms, filled, isClosed, atMs }
}

function termsOf({ type, quantity, limitPrice, stopPrice }: OrderReport): string {
  return `${type} ${quantity} ${limitPrice} ${stopPrice}`
}

/** What was closed stays closed, and what was filled stays filled. */
function isBackwards(before: Known, now: Known): boolean {
  return (before.isClosed && !now.isClosed) || compare(now.filled, before.filled) < 0
}

/** A cancel or a change that came to nothing: the order lives on as it was. What fills meanwhile proves nothing. */
function isReleased(before: Known, now: Known): boolean {
  const isBack = now.status === 'working' || now.status === 'partially_filled'
  const isSame = before.terms === now.terms && areEqual(before.filled, now.filled)
  return isBack && isSame && (before.status === 'pending_cancel' || before.status === 'pending_replace')
}
