import type { Account, Connection } from '../../domain/account.ts'
import type { Order } from '../../domain/order.ts'
import { isSameTicket, matched } from '../../domain/order-matching.ts'
import { epochMs, timestampOfMs } from '../../domain/timestamp.ts'
import type { OrderReport, Snapshot } from '../../ports/broker.ts'
import type { Deps } from '../deps.ts'
import type { InFlightCommands } from '../execution/in-flight-commands.ts'
import type { OrderReports } from '../execution/order-reports.ts'
import { acknowledged } from '../execution/order-steps.ts'
import type { OrderWriter } from '../execution/order-writer.ts'
import { Semaphore } from '../semaphore.ts'

/** How far apart the broker's time of an order and ours may be: clocks may disagree by minutes. */
const REFUSED_WITHIN_MS = 600_000
/** Most refused orders of that time that are compared. Beyond it, refused orders listed by the broker count as placed elsewhere. */
const REFUSED_MAX = 200
/** How long after a refusal a similar order that the broker has not decided yet may be the refused one. */
const UNDECIDED_MS = 30_000

/** How an unmatched report relates to a refused order with the same terms: the same order, not decided yet, or another order. */
export type Refusal = { readonly kind: 'same'; readonly order: Order } | { readonly kind: 'undecided' } | { readonly kind: 'none' }

/**
 * Orders at brokers that neither echo client order ids nor find orders by them. An order whose answer was lost is recognized by its terms
 * and time, in a full snapshot of the account only: a single report cannot show that there is no second order like it.
 */
export class UntaggedOrders {
  readonly #deps: Pick<Deps, 'store' | 'brokers' | 'clock' | 'log' | 'meter'>
  readonly #orderWriter: OrderWriter
  readonly #commands: InFlightCommands
  readonly #reports: OrderReports
  /** By account: two concurrent snapshots could match one order of the broker to two of ours. */
  readonly #semaphore: Semaphore<Account['accountId']>

  constructor(
    deps: Pick<Deps, 'store' | 'brokers' | 'clock' | 'log' | 'meter' | 'timing'>,
    parts: { readonly orderWriter: OrderWriter; readonly commands: InFlightCommands; readonly reports: OrderReports }
  ) {
    this.#deps = deps
    this.#orderWriter = parts.orderWriter
    this.#commands = parts.commands
    this.#reports = parts.reports
    this.#semaphore = new Semaphore(deps.clock, { atOnce: 1, ms: 2 * deps.timing.commandMs })
  }

  /** Whether this broker's reports carry no client order ids. */
  areOf({ broker }: Connection): boolean {
    return this.#deps.brokers.get(broker)?.capabilities.deduplication === 'none'
  }

  /**
   * Waits for commands in flight whose order the report may be about. Returns the orders still of unknown outcome; then the report alone
   * proves nothing.
   */
  async suspects({ accountId }: Account, report: OrderReport): Promise<readonly Order[]> {
    // Whatever its time: clocks may disagree, and an order of ours must not be taken for another client's.
    const alike = (await this.#unbound(accountId)).filter(order => isSameTicket(order, report))
    if (alike.length === 0) return []
    await Promise.all(alike.map(order => this.#commands.sent(order)))
    return (await this.#unbound(accountId)).filter(order => isSameTicket(order, report))
  }

  /**
   * Matches orders of unknown outcome to the unmatched reports of a full snapshot. Returns false, and matches none, if an unknown order was
   * left out of the snapshot.
   */
  claim(account: Account, snapshot: Snapshot<OrderReport>, stopping: AbortSignal): Promise<boolean> {
    return this.#semaphore.take(account.accountId, () => this.#claim(account, snapshot), stopping)
  }

  async #claim({ accountId }: Account, { items: reports, leftOut = [], brokerClock }: Snapshot<OrderReport>): Promise<boolean> {
    const aheadMs = brokerClock === undefined ? 0 : epochMs(brokerClock) - epochMs(this.#deps.clock.now())
    // Read after the snapshot: every order of ours that it shows is stored by then.
    const waiting = await this.#unbound(accountId)
    if (waiting.length === 0) return true
    await Promise.all(waiting.map(order => this.#commands.sent(order)))
    const known = await this.#deps.store.orders.idsByBrokerOrderIds(accountId, [
      ...reports.map(({ brokerOrderId }) => brokerOrderId),
      ...leftOut.filter(id => id !== null)
    ])
    const claimed = new Set(known.map(({ brokerOrderId }) => brokerOrderId))
    // A left-out order may be the one in question, and a similar one in the list another client's.
    if (leftOut.some(id => id === null || !claimed.has(id))) return false
    const unclaimed = reports.filter(({ brokerOrderId }) => !claimed.has(brokerOrderId))
    const { pairs, ambiguous } = matched(await this.#unbound(accountId), unclaimed, aheadMs)
    for (const [order, report] of pairs) await this.#reports.applyReport(order.orderId, report, 'lookup')
    for (const order of ambiguous) this.#escalate(order, unclaimed)
    return true
  }

  /** Our orders without a broker order id that may have reached the broker. */
  async #unbound(accountId: Account['accountId']): Promise<readonly Order[]> {
    const unfinished = await this.#deps.store.orders.unfinished({ accountId })
    const present = await Promise.all(
      unfinished.filter(({ brokerOrderId }) => brokerOrderId === null).map(({ orderId }) => this.#orderWriter.find(orderId))
    )
    return present
      .filter(order => order !== null)
      .filter(order => order.brokerOrderId === null && !acknowledged(order))
      .filter(
        ({ broker, replacesOrderId }) => replacesOrderId === null || this.#deps.brokers.get(broker)?.capabilities.replacedOrderId === 'new'
      )
  }

  /**
   * A broker may list an order that it refused, under an id unknown here. Returns whether an unmatched report is about such an order. A
   * live order never is.
   */
  async refusal(account: Account, report: OrderReport): Promise<Refusal> {
    return report.status === 'rejected' || report.status === 'pending' ? await this.#refusal(account, report) : { kind: 'none' }
  }

  async #refusal({ accountId }: Account, report: OrderReport): Promise<Refusal> {
    const seenMs = epochMs(report.entryTime)
    const filter = {
      accountIds: [accountId],
      statuses: ['rejected'] as const,
      from: timestampOfMs(seenMs - REFUSED_WITHIN_MS),
      to: timestampOfMs(seenMs + REFUSED_WITHIN_MS)
    }
    const { rows } = await this.#deps.store.orders.list(filter, 'entryTime', { limit: REFUSED_MAX, edge: null, descending: true })
    const alike = rows.filter(order => isRefusedUntagged(order) && isSameTicket(order, report))
    const [nearest] = alike.toSorted((a, b) => Math.abs(epochMs(a.entryTime) - seenMs) - Math.abs(epochMs(b.entryTime) - seenMs))
    if (nearest === undefined) return { kind: 'none' }
    if (report.status === 'rejected') return { kind: 'same', order: nearest }
    const now = epochMs(this.#deps.clock.now())
    const isRecent = alike.some(({ submission }) => Math.abs(now - epochMs(submission.since)) < UNDECIDED_MS)
    return isRecent ? { kind: 'undecided' } : { kind: 'none' }
  }

  #escalate(order: Order, unclaimed: readonly OrderReport[]): void {
    this.#deps.meter.count('order_alarms_total', { broker: order.broker, alarm: 'ambiguous' })
    this.#deps.log.error('an order of unknown outcome cannot be distinguished from similar orders at the broker; all are shown', {
      orderId: order.orderId,
      candidates: unclaimed.filter(report => isSameTicket(order, report)).map(({ brokerOrderId }) => brokerOrderId)
    })
  }
}

/** Refused by the broker without an id under which it may list the order. */
function isRefusedUntagged({ submission, brokerOrderId }: Order): boolean {
  return brokerOrderId === null && (submission.state === 'refused' || submission.state === 'not_received')
}
