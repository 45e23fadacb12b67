/** Look-ups of single orders. An order is absent only if the broker proves it. */

import type { Timestamp } from '@trunkline/core/domain/timestamp'
import { BrokerFault, type OrderKey, type OrderReport } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import { isSuccess } from '../calls.ts'
import type { HttpReply, HttpRequest } from '../http.ts'
import type { Wire } from '../parse.ts'
import type { CallPriority } from '../rate-limiter.ts'
import type { UnknownValueCounter } from '../unknown-values.ts'
import type { OrderTracker } from './order-tracker.ts'
import type { OrderList, OrderRead } from './read-definitions.ts'
import type { Reads } from './reads.ts'
import type { ResourceCalls } from './resource-calls.ts'

export interface OrderReadParts<Resource extends string> {
  readonly definition: OrderRead<Resource>
  readonly list: OrderList<Resource> | null
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

/** What a look-up was answered with; null: the broker says that there is no such order. */
interface Answer {
  readonly reports: readonly OrderReport[] | null
  readonly asOf: Timestamp
}

export class OrderReads<Resource extends string> {
  readonly #parts: OrderReadParts<Resource>

  constructor(parts: OrderReadParts<Resource>) {
    this.#parts = parts
  }

  /** @throws BrokerFault */
  async find(key: OrderKey, signal: AbortSignal): Promise<Found> {
    const answer = await this.#found(key, signal)
    const { found } = answer
    const decider = found === null || key.by === 'brokerOrderId' ? null : (this.#parts.definition.decidedBy?.(found) ?? null)
    if (decider === null) return answer
    const old = await this.#found({ by: 'brokerOrderId', brokerAccountId: key.brokerAccountId, brokerOrderId: decider }, signal)
    if (old.found?.status !== 'pending_replace') return answer
    throw new BrokerFault('unreachable', 'the broker has not decided on the replacement yet')
  }

  async #found(key: OrderKey, signal: AbortSignal): Promise<Found> {
    const { clock, definition, list } = this.#parts
    const requests = definition.requests(key, clock.now())
    if (requests.length === 0) return await this.#inList(key, signal)
    const { reports, asOf } = await this.#readAgain(requests, key, definition.priority ?? 'read', signal)
    if (reports !== null) return { found: this.#itself(reports, key), asOf }
    if (list === null || definition.absentPauseMs === undefined) return { found: null, asOf }
    return await this.#inList(key, signal)
  }

  /** The order, or those that an order of this id holds. @throws BrokerFault `refused` when there is none */
  async ordersOf(brokerAccountId: string, brokerOrderId: string, signal: AbortSignal): Promise<readonly OrderReport[]> {
    return await this.#byId(brokerAccountId, brokerOrderId, 'read', signal)
  }

  /** With the priority of orders: one waits for it. @throws BrokerFault `refused` when there is none */
  async order(brokerAccountId: string, brokerOrderId: string, signal: AbortSignal): Promise<OrderReport> {
    const reports = await this.#byId(brokerAccountId, brokerOrderId, 'order', signal)
    return this.#itself(reports, { by: 'brokerOrderId', brokerAccountId, brokerOrderId })
  }

  async #byId(brokerAccountId: string, brokerOrderId: string, kind: CallPriority, signal: AbortSignal): Promise<readonly OrderReport[]> {
    const { definition, clock } = this.#parts
    const key = { by: 'brokerOrderId', brokerAccountId, brokerOrderId } as const
    const { reports } = await this.#readAgain(definition.requests(key, clock.now()), key, kind, signal)
    if (reports !== null) return reports
    throw new BrokerFault('refused', `the broker has no order ${brokerOrderId}`)
  }

  /** As {@link #read}; where one answer does not prove that an order is absent, a second is requested. @throws BrokerFault */
  async #readAgain(requests: readonly HttpRequest[], key: OrderKey, kind: CallPriority, signal: AbortSignal): Promise<Answer> {
    const first = await this.#read(requests, key, kind, signal)
    const { clock, definition } = this.#parts
    if (first.reports !== null || definition.absentPauseMs === undefined) return first
    await clock.sleep(definition.absentPauseMs, signal).catch(() => undefined)
    return await this.#read(requests, key, kind, signal)
  }

  /** The first look-up that finds the order; `asOf` is of the last one that was made. @throws BrokerFault */
  async #read(requests: readonly HttpRequest[], key: OrderKey, kind: CallPriority, signal: AbortSignal): Promise<Answer> {
    let answer: Answer = { reports: null, asOf: this.#parts.clock.now() }
    for (const request of requests) {
      answer = await this.#readOne(request, key, kind, signal)
      if (answer.reports !== null) break
    }
    return answer
  }

  async #readOne(request: HttpRequest, key: OrderKey, kind: CallPriority, signal: AbortSignal): Promise<Answer> {
    const { calls, definition, unknownValues, clock } = this.#parts
    const { resource, also, absent, records, item, asOf } = definition
    const own = calls.of(resource)
    const requestedAt = clock.now()
    const parse = (reply: HttpReply): Answer => {
      const answeredAt = asOf?.(reply) ?? requestedAt
      if (absent(reply, key)) return { reports: null, asOf: answeredAt }
      if (!isSuccess(reply.status)) throw own.fault(reply)
      return { reports: records(reply).map(record => this.#tracked(item(record, key.brokerAccountId, this.#parts))), asOf: answeredAt }
    }
    try {
      return await own.read(request, parse, signal, { also, kind })
    } catch (error) {
      if (error instanceof BrokerFault) unknownValues.countIfUnknown(error.cause)
      throw error
    }
  }

  /**
   * The list shows which order it is, and the order itself its state. A broker that does not prevent a client order id from being used
   * twice may list several: the first one counts. An order that is looked for is there whether it can be read or not: it is never left out.
   */
  async #inList(key: OrderKey, signal: AbortSignal): Promise<Found> {
    const { definition, list, reads, unknownValues, clock } = this.#parts
    if (list === null) throw new BrokerFault('refused', 'the broker has no such look-up of orders')
    const { brokerAccountId: account } = key
    const asOf = clock.now()
    const { records } = await reads.records(list, { account, since: asOf }, signal)
    const isWanted = (record: Wire) =>
      key.by === 'brokerOrderId' ? list.keyOf(record) === key.brokerOrderId : list.brokerClOrdIdOf(record) === key.brokerClOrdId
    const listed = reads.parsed(() => {
      try {
        return records.filter(isWanted).map(record => this.#tracked(definition.item(record, account, this.#parts)))
      } catch (error) {
        unknownValues.countIfUnknown(error)
        throw error
      }
    })
    const [first] = listed.toSorted((a, b) => (a.entryTime < b.entryTime ? -1 : 1))
    if (first === undefined || key.by === 'brokerOrderId') return { found: first ?? null, asOf }
    const own = { by: 'brokerOrderId', brokerAccountId: account, brokerOrderId: first.brokerOrderId } as const
    const { reports } = await this.#read(definition.requests(own, clock.now()), own, 'read', signal)
    return { found: reports === null ? first : this.#itself(reports, own), asOf }
  }

  #tracked(report: OrderReport): OrderReport {
    this.#parts.tracker.put(report)
    return report
  }

  /** @throws BrokerFault `malformed` for an answer about another order */
  #itself(reports: readonly OrderReport[], key: OrderKey): OrderReport {
    const { comparable = (id: string) => id } = this.#parts.definition
    const found = reports.find(report =>
      key.by === 'brokerOrderId'
        ? comparable(report.brokerOrderId) === comparable(key.brokerOrderId)
        : report.brokerClOrdId === key.brokerClOrdId
    )
    if (found !== undefined && found.brokerAccountId === key.brokerAccountId) return found
    throw new BrokerFault('malformed', 'the broker answered with another order')
  }
}
