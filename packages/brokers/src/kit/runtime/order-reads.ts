/** Look-ups of single orders. An order is absent only if the broker proves it. */

import type { Timestamp } from '@trunkline/core/domain/timestamp'
import { BrokerFault, type OrderKey, type OrderReport, type Snapshot } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import { isSuccess } from '../calls.ts'
import type { HttpReply } from '../http.ts'
import type { Wire } from '../parse.ts'
import type { CallPriority } from '../rate-limiter.ts'
import type { UnknownValueCounter } from '../unknown-values.ts'

import type { OrderTracker } from './order-tracker.ts'
import type { OrderReadDefinitions } from './read-definitions.ts'
import type { Reads } from './reads.ts'
import type { ResourceCalls } from './resource-calls.ts'

export interface OrderReadParts<Resource extends string> {
  readonly definition: OrderReadDefinitions<Resource>
  readonly calls: ResourceCalls<Resource>
  readonly reads: Reads<Resource>
  readonly tracker: OrderTracker
  readonly unknownValues: UnknownValueCounter
  readonly clock: Clock
}

export interface Found {
  readonly found: OrderReport | null
  readonly asOf: Timestamp
}

export class OrderReads<Resource extends string> {
  readonly #parts: OrderReadParts<Resource>

  constructor(parts: OrderReadParts<Resource>) {
    this.#parts = parts
  }

  /** All open orders and those updated since `since`. @throws BrokerFault */
  async list(account: string, since: Timestamp, signal: AbortSignal): Promise<Snapshot<OrderReport>> {
    const { definition, reads, clock } = this.#parts
    const asOf = clock.now()
    const { known, leftOut } = await reads.list(definition.orders, { account, since, asOf }, signal)
    for (const report of known) this.#parts.tracker.put(report)
    return { items: known, asOf, ...(leftOut.length === 0 ? {} : { leftOut }) }
  }

  /** @throws BrokerFault */
  find(key: OrderKey, signal: AbortSignal): Promise<Found> {
    return key.by === 'brokerOrderId'
      ? this.#byId(key.brokerAccountId, key.brokerOrderId, signal)
      : this.#byBrokerClOrdId(key.brokerAccountId, key.brokerClOrdId, signal)
  }

  /** The order, or those that an order of this id holds. @throws BrokerFault `refused` when there is none */
  async held(account: string, brokerOrderId: string, signal: AbortSignal): Promise<readonly OrderReport[]> {
    const found = await this.#read(account, brokerOrderId, signal)
    if (found !== null) return found
    throw noOrder(brokerOrderId)
  }

  /** With the priority of orders: one waits for it. @throws BrokerFault `refused` when there is none */
  async order(account: string, brokerOrderId: string, signal: AbortSignal): Promise<OrderReport> {
    const found = await this.#read(account, brokerOrderId, signal, 'order')
    if (found === null) throw noOrder(brokerOrderId)
    return itself(found, brokerOrderId)
  }

  /** Absent only when the broker says so twice and does not list it either. */
  async #byId(account: string, brokerOrderId: string, signal: AbortSignal): Promise<Found> {
    const { clock, definition } = this.#parts
    for (const pauseMs of [0, definition.order.absentPauseMs]) {
      if (pauseMs > 0) await clock.sleep(pauseMs, signal).catch(() => undefined)
      const asOf = clock.now()
      const found = await this.#read(account, brokerOrderId, signal)
      if (found !== null) return { found: itself(found, brokerOrderId), asOf }
    }
    const { listed, asOf } = await this.#listed(account, record => definition.orders.keyOf(record) === brokerOrderId, signal)
    return { found: listed[0] ?? null, asOf }
  }

  /**
   * The list shows which order has the client order id, and the order itself its state. A broker that does not prevent an id from being used
   * twice may list several: the first one counts.
   */
  async #byBrokerClOrdId(account: string, brokerClOrdId: string, signal: AbortSignal): Promise<Found> {
    const { brokerClOrdIdOf } = this.#parts.definition.orders
    const { listed, asOf } = await this.#listed(account, record => brokerClOrdIdOf(record) === brokerClOrdId, signal)
    const [first] = listed.toSorted((a, b) => (a.entryTime < b.entryTime ? -1 : 1))
    if (first === undefined) return { found: null, asOf }
    const now = await this.#read(account, first.brokerOrderId, signal)
    return { found: now === null ? first : itself(now, first.brokerOrderId), asOf }
  }

  /** Null: the broker says that there is none. @throws BrokerFault */
  async #read(
    account: string,
    brokerOrderId: string,
    signal: AbortSignal,
    kind: CallPriority = 'read'
  ): Promise<readonly OrderReport[] | null> {
    const { calls, definition, unknownValues } = this.#parts
    const { resource, request, also, absent, records, item } = definition.order
    const own = calls.of(resource)
    const parse = (reply: HttpReply) => {
      if (absent(reply)) return null
      if (!isSuccess(reply.status)) throw own.fault(reply)
      return records(reply).map(record => this.#tracked(item(record, account)))
    }
    try {
      return await own.read(request(account, brokerOrderId), parse, signal, { also, kind })
    } catch (error) {
      if (error instanceof BrokerFault) unknownValues.countIfUnknown(error.cause)
      throw error
    }
  }

  /** An order that is looked for is there whether it can be read or not: it is never left out. @throws BrokerFault */
  async #listed(
    account: string,
    isWanted: (record: Wire) => boolean,
    signal: AbortSignal
  ): Promise<{ readonly listed: readonly OrderReport[]; readonly asOf: Timestamp }> {
    const { definition, reads, unknownValues, clock } = this.#parts
    const asOf = clock.now()
    const records = await reads.records(definition.orders, { account, since: asOf, asOf }, signal)
    const listed = reads.parsed(() => {
      try {
        return records.filter(isWanted).map(record => this.#tracked(definition.order.item(record, account)))
      } catch (error) {
        unknownValues.countIfUnknown(error)
        throw error
      }
    })
    return { listed, asOf }
  }

  #tracked(report: OrderReport): OrderReport {
    this.#parts.tracker.put(report)
    return report
  }
}

function itself(reports: readonly OrderReport[], brokerOrderId: string): OrderReport {
  const found = reports.find(report => report.brokerOrderId === brokerOrderId)
  if (found !== undefined) return found
  throw new BrokerFault('malformed', 'the broker answered with another order')
}

function noOrder(brokerOrderId: string): BrokerFault {
  return new BrokerFault('refused', `the broker has no order ${brokerOrderId}`)
}
