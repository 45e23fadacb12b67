/**
 * Orders that a stream sends whole, with totals of what is executed: all of them first, and then each as it changes. Regressions and
 * duplicates are detected. It may lose single messages while its heartbeats continue, so what it sent is compared with the list of orders
 * now and then.
 */

import { areEqual, compare, type Decimal, ZERO } from '@trunkline/core/domain/decimal'
import { BrokerFault, type OrderReport } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import { BoundedMap } from '../bounded-cache.ts'

/** Orders of a day; beyond that the oldest is forgotten, and its next message is taken as its first. */
const ORDERS_MAX = 20_000
/** What the list has and the stream has not sent may still be on its way. */
const ON_ITS_WAY_MS = 2_000

export interface WholeOrder {
  readonly report: OrderReport
  /** The broker reports it as final. */
  readonly isClosed: boolean
  /** To be read again before it is believed. */
  readonly isUnresolved: boolean
}

/** The orders that a connection streams, as they are read. @throws BrokerFault */
export interface ListedOrders {
  /** From one comparison with the list to the next. */
  readonly compareMs: number
  readonly list: (signal: AbortSignal) => Promise<readonly WholeOrder[]>
  /** Null when the broker has no such order. */
  readonly order: (account: string, brokerOrderId: string, signal: AbortSignal) => Promise<WholeOrder | null>
}

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
  /** It has less than what was sent before: messages were lost or reordered. */
  | { readonly kind: 'backwards' }

/** What one connection has sent. */
export class OrderTotals {
  readonly #clock: Clock
  readonly #known = new BoundedMap<Known>(ORDERS_MAX)

  constructor(clock: Clock) {
    this.#clock = clock
  }

  note(order: WholeOrder): Noted {
    const { brokerOrderId } = order.report
    const before = this.#known.get(brokerOrderId)
    const now = knownOf(order, this.#clock.monotonicMs())
    if (before !== undefined && isBackwards(before, now)) return { kind: 'backwards' }
    this.#known.put(brokerOrderId, now)
    if (before?.text === now.text) return { kind: 'known' }
    return { kind: 'update', releases: before !== undefined && isReleased(before, now) }
  }

  /** How many orders the list has, twice in a row, that the stream has not sent. @throws BrokerFault only when the login is over. */
  async lost(list: ListedOrders['list'], signal: AbortSignal): Promise<number> {
    const unreported = new Set((await this.#unreported(list, signal)).map(({ report }) => report.brokerOrderId))
    if (unreported.size === 0) return 0
    await this.#clock.sleep(ON_ITS_WAY_MS, signal)
    const lost = (await this.#unreported(list, signal)).filter(({ report }) => unreported.has(report.brokerOrderId))
    for (const order of lost) this.note(order)
    return lost.length
  }

  async #unreported(list: ListedOrders['list'], signal: AbortSignal): Promise<readonly WholeOrder[]> {
    const requestedMs = this.#clock.monotonicMs()
    try {
      return (await list(signal)).filter(order => !this.#hasReported(order, requestedMs))
    } catch (error) {
      if (error instanceof BrokerFault && error.kind === 'credentials_rejected') throw error
      // A list that cannot be read now proves nothing about the stream.
      return []
    }
  }

  /** Whether the stream has sent this much of an order or more, or has sent it since `sinceMs`. */
  #hasReported(order: WholeOrder, sinceMs: number): boolean {
    const known = this.#known.get(order.report.brokerOrderId)
    if (known === undefined) return false
    const seen = knownOf(order, sinceMs)
    return known.snapshot === seen.snapshot || known.atMs >= sinceMs || isBackwards(known, seen)
  }
}

function knownOf({ report, isClosed }: WholeOrder, atMs: number): Known {
  const { status, brokerStatus, filledTotal, type, quantity, limitPrice, stopPrice } = report
  const filled = filledTotal?.quantity ?? ZERO
  const terms = `${type} ${quantity} ${limitPrice} ${stopPrice}`
  const snapshot = `${status} ${isClosed} ${filled} ${terms}`
  const legs = report.legs?.map(({ fills }) => fills.map(({ fillId }) => fillId).join()).join(';') ?? ''
  return { text: `${brokerStatus} ${snapshot} ${legs}`, snapshot, status, terms, filled, isClosed, atMs }
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
