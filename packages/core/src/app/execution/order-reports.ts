import type { OrderId } from '../../domain/ids.ts'
import { isOpen, type Order } from '../../domain/order.ts'
import { apply } from '../../domain/order-machine.ts'
import type { OrderReport } from '../../ports/broker.ts'
import { setBounded } from '../bounded-map.ts'
import type { Deps } from '../deps.ts'
import { KeyedQueue } from '../keyed-queue.ts'
import { applyReport, type ReportMethod } from './apply-report.ts'
import { endedFirst, failedReplacement } from './failed-replacement.ts'
import { continuing, isThoughtAbsent, refused, released, type SubmissionFailure, sightedLate } from './order-steps.ts'
import type { OrderWriter } from './order-writer.ts'
import type { ReplacementChains } from './replacement-chains.ts'

/**
 * Most failed replacements remembered. For older ones, late fills of the old order no longer update the cum qty of the failed successor.
 */
const FAILED_REPLACEMENTS_MAX = 50_000

/** Applies brokers' reports to orders along chains of replacements: finds the order, extracts its own part, and updates its successors. */
export class OrderReports {
  readonly #deps: Pick<Deps, 'clock' | 'log' | 'meter'>
  readonly #orderWriter: OrderWriter
  readonly #chains: ReplacementChains
  /**
   * Reports of an order that is replaced in place, one at a time by its broker order id. Whose an execution is follows from what both
   * orders have: of two reports at once, each could give it to another one.
   */
  readonly #inPlace = new KeyedQueue<string>()
  /** The last failed successor of an order, which the order's own record does not name. */
  readonly #failedReplacements = new Map<OrderId, OrderId>()

  constructor(deps: Pick<Deps, 'clock' | 'log' | 'meter'>, orderWriter: OrderWriter, chains: ReplacementChains) {
    this.#deps = deps
    this.#orderWriter = orderWriter
    this.#chains = chains
  }

  /**
   * Applies a broker's report of an order, whatever its source. Returns the order that the report was about. A report with `releases` ends
   * the pending request only if `isReleased` confirms that this is the request it refuses.
   */
  async applyReport(
    orderId: OrderId,
    report: OrderReport,
    method: ReportMethod,
    isReleased: (present: Order) => boolean = () => true
  ): Promise<Order | null> {
    // Every order has several reports, and most are of an order that is known here: then nothing is awaited before it is changed.
    const order = this.#orderWriter.known(orderId) ?? (await this.#orderWriter.find(orderId))
    if (order === null) return null
    if (!this.#chains.isReplacedInPlace(order))
      return await this.#apply(orderId, this.#chains.withOwnQuantity(order, report), method, isReleased)
    return await this.#inPlace.run(keyOf(order, report), async () => {
      const newest = (await this.#orderWriter.find(orderId)) ?? order
      const present = await this.#chains.presentOf(newest, report)
      const successor = await this.#chains.asReplaced(present, report)
      if (successor === null) return await this.#apply(present.orderId, await this.#chains.ownOf(present, report), method, isReleased)
      await this.#complete(present.orderId, successor, report, method)
      return await this.#orderWriter.find(successor.orderId)
    })
  }

  async #apply(
    orderId: OrderId,
    received: OrderReport,
    method: ReportMethod,
    isReleased: (present: Order) => boolean = () => true
  ): Promise<Order | null> {
    const known = this.#orderWriter.known(orderId)
    const before = known?.replacesOrderId === null ? null : await this.#before(orderId)
    let isPartial = false
    let successorId: OrderId | null = null
    // The decision may run again over a newer state: the last run is the one that was written.
    const notes: Note[] = []
    const updated = await this.#orderWriter.change(orderId, present => {
      const report = isReleased(present) ? received : unreleased(received)
      const order = before === null ? present : continuing(present, before, this.#deps.clock.now())
      const reported = applyReport(order, report, method, this.#deps.clock.now())
      const isLate = reported.changed && isThoughtAbsent(order) && report.status !== 'rejected'
      const alarms = reported.alarms.filter(alarm => alarm !== 'late_fill' || !isOutrun(order, report))
      const note = { order, alarms: isLate && isOpen(report.status) ? [...alarms, 'late_sighting'] : alarms, ignored: reported.ignored }
      notes.splice(0, notes.length, note)
      isPartial = reported.isPartial && reported.changed
      successorId = present.pendingRequest?.successorId ?? null
      const next = isLate ? sightedLate(reported.order) : reported.order
      return next === present ? null : { order: before === null ? next : endedFirst(next, before) }
    })
    for (const note of notes) this.#note(note)
    const nextId = updated === null ? null : this.#successorOf(updated, successorId)
    if (updated !== null && nextId !== null) await this.#carryOn(updated, nextId)
    return isPartial ? await this.#apply(orderId, received, method, isReleased) : updated
  }

  async #before(orderId: OrderId): Promise<Order | null> {
    const id = (await this.#orderWriter.find(orderId))?.replacesOrderId ?? null
    return id === null ? null : this.#orderWriter.find(id)
  }

  /** An order that ended no longer names its pending successor, so the caller passes it. */
  #successorOf(order: Order, successorId: OrderId | null): OrderId | null {
    const pendingId = order.pendingRequest?.successorId ?? successorId
    return order.replacedByOrderId ?? pendingId ?? (isOpen(order.status) ? null : (this.#failedReplacements.get(order.orderId) ?? null))
  }

  /** Adds fills of an order to the cum qty of its successors, however late they are reported; `id` is the first of them. */
  async #carryOn(order: Order, id: OrderId): Promise<void> {
    let isRaised = false
    const successor = await this.#orderWriter.change(id, present => {
      const next = endedFirst(continuing(present, order, this.#deps.clock.now()), order)
      isRaised = next !== present
      return isRaised ? { order: next } : null
    })
    const nextId = isRaised && successor !== null ? this.#successorOf(successor, null) : null
    if (successor !== null && nextId !== null) await this.#carryOn(successor, nextId)
  }

  /**
   * Records a replacement that the broker carried out: the report is the successor's, the old order is `replaced`. If the broker rejected
   * the successor and uses a new id for it, the replacement failed. If the id stays the same, the broker's only order ended under its new
   * terms, and nothing works on.
   */
  async completeReplacement(oldId: OrderId, successorId: OrderId, report: OrderReport, method: ReportMethod): Promise<void> {
    const successor = await this.#orderWriter.find(successorId)
    if (successor === null) return
    if (this.#chains.isReplacedInPlace(successor))
      return await this.#inPlace.run(keyOf(successor, report), () => this.#complete(oldId, successor, report, method))
    if (report.status === 'rejected') return await this.abandonReplacement(oldId, successorId, refusalIn(report))
    await this.#complete(oldId, successor, report, method)
  }

  async #complete(oldId: OrderId, successor: Order, report: OrderReport, method: ReportMethod): Promise<void> {
    const at = this.#deps.clock.now()
    const { orderId: successorId } = successor
    await this.#apply(successorId, await this.#chains.ownOf(successor, report), method)
    await this.#orderWriter.change(oldId, order => {
      const step = apply(order, { type: 'status', to: 'replaced', at })
      return step.changed ? { order: { ...step.order, replacedByOrderId: successorId, systemTime: at } } : null
    })
  }

  /**
   * Records a replacement that failed: the successor is rejected, and the old order works on, unless another replacement of it is pending.
   */
  async abandonReplacement(oldId: OrderId, successorId: OrderId, failure: SubmissionFailure): Promise<void> {
    const at = this.#deps.clock.now()
    const before = await this.#orderWriter.find(oldId)
    setBounded(this.#failedReplacements, oldId, successorId, FAILED_REPLACEMENTS_MAX)
    await this.#orderWriter.change(successorId, present => {
      const order = before === null ? present : continuing(present, before, at)
      return refused(order, failedReplacement(failure, order, before), at) ?? (order === present ? null : { order })
    })
    await this.#orderWriter.change(oldId, order => {
      // Our own messages are about the successor only.
      const message = failure.state === 'refused' ? failure.message : order.brokerMessage
      return order.pendingRequest?.successorId === successorId ? released(order, message, at) : null
    })
  }

  #note({ order, alarms, ignored }: Note): void {
    for (const alarm of alarms) this.#alarm(order, alarm)
    for (const reason of ignored) this.#deps.meter.count('order_reports_ignored_total', { broker: order.broker, reason })
  }

  #alarm(order: Order, alarm: string): void {
    this.#deps.meter.count('order_alarms_total', { broker: order.broker, alarm })
    this.#deps.log.error('a broker reported an unexpected change of an order', { orderId: order.orderId, alarm, status: order.status })
  }
}

/** What is counted and logged of a report, once it is written. */
interface Note {
  readonly order: Order
  readonly alarms: readonly string[]
  readonly ignored: readonly string[]
}

function keyOf({ accountId }: Order, { brokerOrderId }: OrderReport): string {
  return `${accountId} ${brokerOrderId}`
}

/** Whether these executions happened before the replacement, and only their report came after the reply to it. */
function isOutrun({ status, fills, lastModifiedTime }: Order, report: OrderReport): boolean {
  const known = new Set(fills.map(({ fillId }) => fillId))
  return status === 'replaced' && (report.fills ?? []).every(({ fillId, at }) => known.has(fillId) || at <= lastModifiedTime)
}

/** The report without its refusal, which was of an earlier request. */
function unreleased({ releases: _, ...report }: OrderReport): OrderReport {
  return { ...report, brokerMessage: null }
}

function refusalIn({ brokerMessage, rejectCode, brokerStatus }: OrderReport): SubmissionFailure {
  return { state: 'refused', message: brokerMessage ?? 'The broker rejected the change.', rejectCode, brokerStatus }
}
