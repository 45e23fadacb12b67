import type { Order } from '../../domain/order.ts'
import type { BrokerCapabilities, OrderReport } from '../../ports/broker.ts'
import type { Deps } from '../deps.ts'
import { ownPart, showsTerms, withRemainingQuantity, withTotalQuantity } from './in-place-replacement.ts'
import type { OrderWriter } from './order-writer.ts'

/** Orders that replaced each other, by the rules of their broker: which of them a report is about, and which part of it is whose. */
export class ReplacementChains {
  readonly #brokers: Deps['brokers']
  readonly #orderWriter: OrderWriter

  constructor({ brokers }: Pick<Deps, 'brokers'>, orderWriter: OrderWriter) {
    this.#brokers = brokers
    this.#orderWriter = orderWriter
  }

  /** The order that has the broker order id now: the last of a chain of in-place replacements. */
  async presentOf(order: Order, { brokerOrderId }: OrderReport): Promise<Order> {
    let present = order
    while (present.replacedByOrderId !== null) {
      const next = await this.#orderWriter.find(present.replacedByOrderId)
      if (next === null || next.brokerOrderId !== brokerOrderId) break
      present = next
    }
    return present
  }

  /** The pending successor of this order, if the report shows that the replacement happened. */
  async asReplaced({ status, pendingRequest, ...order }: Order, report: OrderReport): Promise<Order | null> {
    if (status !== 'pending_replace' || pendingRequest?.successorId === undefined || pendingRequest.successorId === null) return null
    const successor = await this.#orderWriter.find(pendingRequest.successorId)
    return successor !== null && showsTerms(report, successor, order) ? successor : null
  }

  /**
   * The part of a report that belongs to this order: without the fills of predecessors under the same id, and with the requested total as
   * its quantity.
   */
  async ownOf(order: Order, report: OrderReport): Promise<OrderReport> {
    if (!this.isReplacedInPlace(order)) return this.withOwnQuantity(order, report)
    const predecessors = await this.#predecessors(order, before => before.brokerOrderId === report.brokerOrderId)
    return predecessors.length === 0 ? report : ownPart(report, order, predecessors)
  }

  /** As {@link ownOf}, for an order that is not replaced in place: its fills are its own. */
  withOwnQuantity(order: Order, report: OrderReport): OrderReport {
    const isRest = order.replacesOrderId !== null && this.capabilitiesOf(order)?.replacedQuantity === 'rest'
    return isRest ? withTotalQuantity(report, order) : report
  }

  /** Whether the broker keeps its id for an order that is replaced. */
  isReplacedInPlace(order: Order): boolean {
    return this.capabilitiesOf(order)?.replacedOrderId === 'same'
  }

  /**
   * The ticket of a replace as the broker expects it: if its quantities are leaves quantities, reduced by what the orders before the
   * replaced one have filled.
   */
  async inBrokerTerms(successor: Order, order: Order): Promise<Order> {
    if (this.capabilitiesOf(order)?.replacedQuantity !== 'rest') return successor
    return withRemainingQuantity(successor, await this.#predecessors(order, () => true))
  }

  /** The orders that this one replaced, directly or not, latest first, up to the first that does not `belong`. */
  async #predecessors({ replacesOrderId }: Order, belongs: (before: Order) => boolean): Promise<Order[]> {
    const predecessors: Order[] = []
    for (let id = replacesOrderId; id !== null; ) {
      const before = await this.#orderWriter.find(id)
      if (before === null || !belongs(before)) break
      predecessors.push(before)
      id = before.replacesOrderId
    }
    return predecessors
  }

  capabilitiesOf({ broker }: Order): BrokerCapabilities | undefined {
    return this.#brokers.get(broker)?.capabilities
  }
}
