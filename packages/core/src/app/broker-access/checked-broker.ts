import type { Connection } from '../../domain/account.ts'
import type { Day, Timestamp } from '../../domain/timestamp.ts'
import {
  type AccountEvent,
  type BalanceReport,
  type Broker,
  type BrokerAccount,
  type BrokerCapabilities,
  BrokerFault,
  type Listed,
  type NewOrder,
  type OrderKey,
  type OrderReport,
  type Outcome,
  type PositionReport,
  type ReplaceOrder,
  type Snapshot,
  type TransactionReport
} from '../../ports/broker.ts'
import type { Clock } from '../../ports/clock.ts'
import type { MarketSource } from '../../ports/market.ts'
import type { OrderPreview, PreviewOrder } from '../../ports/preview.ts'
import type { Deps } from '../deps.ts'
import type { PartialLists } from './partial-lists.ts'
import {
  demandAccounts,
  faultOfOrder,
  faultOfRecord,
  type RecordFault,
  wrongBalance,
  wrongPosition,
  wrongTransaction
} from './record-check.ts'

interface Surroundings extends Pick<Deps, 'log' | 'meter'> {
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly connection: Pick<Connection, 'connectionId' | 'broker'>
  readonly partialLists: PartialLists
}

/** What is wrong with a record of a list, and how `leftOut` names it. */
interface Check<T> {
  readonly faultOf: (item: T) => RecordFault | null
  readonly idOf: (item: T) => string | null
}

/**
 * Wraps a broker session and rejects answers that cannot be about the request or cannot be true. A wrong record of a list is removed, with
 * an alarm, and the list is partial, so that nothing is concluded from the record's absence. A list without a right record is a fault,
 * except one of orders. A command with a wrong answer has an unknown outcome and is looked up.
 */
export class CheckedBroker implements Broker {
  readonly #broker: Broker
  readonly #surroundings: Surroundings
  /** Alarms are raised once per kind and session; further ones are only counted. */
  readonly #raised = new Set<RecordFault>()

  constructor(broker: Broker, surroundings: Surroundings) {
    this.#broker = broker
    this.#surroundings = surroundings
  }

  get capabilities(): BrokerCapabilities {
    return this.#broker.capabilities
  }

  get market(): MarketSource | null {
    return this.#broker.market
  }

  async accounts(signal: AbortSignal): Promise<Listed<BrokerAccount>> {
    return this.#noted('accounts', demandAccounts(await this.#timed(this.#broker.accounts(signal))))
  }

  async balances(account: string, signal: AbortSignal): Promise<Snapshot<BalanceReport>> {
    return this.#balances(account, await this.#timed(this.#broker.balances(account, signal)))
  }

  async positions(account: string, signal: AbortSignal): Promise<Snapshot<PositionReport>> {
    return this.#positions(account, await this.#timed(this.#broker.positions(account, signal)))
  }

  async orders(account: string, since: Timestamp, signal: AbortSignal): Promise<Snapshot<OrderReport>> {
    const snapshot = await this.#timed(this.#broker.orders(account, since, signal))
    const check: Check<OrderReport> = { faultOf: report => faultOfOrder(report, account), idOf: ({ brokerOrderId }) => brokerOrderId }
    return this.#noted(`orders ${account}`, this.#right(snapshot, check).list)
  }

  async transactions(account: string, from: Day, to: Day, signal: AbortSignal): Promise<Snapshot<TransactionReport>> {
    const snapshot = await this.#timed(this.#broker.transactions(account, from, to, signal))
    const check: Check<TransactionReport> = {
      faultOf: item => faultOfRecord(item, account, wrongTransaction),
      idOf: ({ brokerTransactionId }) => brokerTransactionId
    }
    return this.#noted(`transactions ${account}`, this.#demandRight(snapshot, check))
  }

  async findOrder(key: OrderKey, signal: AbortSignal): Promise<{ readonly found: OrderReport | null; readonly asOf: Timestamp }> {
    const answer = await this.#timed(this.#broker.findOrder(key, signal))
    // A wrong record is a fault, not `found: null`, which would prove absence.
    this.#demandOrder(answer.found, key.brokerAccountId)
    return answer
  }

  preview(order: PreviewOrder, signal: AbortSignal): Promise<OrderPreview> {
    return this.#broker.preview(order, signal)
  }

  async submit(order: NewOrder, signal: AbortSignal): Promise<Outcome<OrderReport>> {
    return this.#outcome(await this.#broker.submit(order, signal), order.brokerAccountId)
  }

  async replace(request: ReplaceOrder, signal: AbortSignal): Promise<Outcome<OrderReport | null>> {
    return this.#outcome(await this.#broker.replace(request, signal), request.brokerAccountId)
  }

  async cancel(
    request: { readonly brokerAccountId: string; readonly brokerOrderId: string },
    signal: AbortSignal
  ): Promise<Outcome<OrderReport | null>> {
    return this.#outcome(await this.#broker.cancel(request, signal), request.brokerAccountId)
  }

  /**
   * The mirror, which knows the login's accounts, checks whose event it is. An order that is wrong becomes a `left_out` event, and the next
   * snapshot decides: one order must not end the stream for all. @throws BrokerFault `malformed` for positions or balances that cannot be
   * true.
   */
  events(signal: AbortSignal): AsyncIterable<AccountEvent> {
    return {
      [Symbol.asyncIterator]: () => checkedIterator(this.#broker.events(signal)[Symbol.asyncIterator](), event => this.#event(event))
    }
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#broker[Symbol.asyncDispose]()
  }

  /** Measures a read, also one that fails. */
  async #timed<T>(read: Promise<T>): Promise<T> {
    const { clock, meter } = this.#surroundings
    const start = clock.monotonicMs()
    try {
      return await read
    } finally {
      meter.observe('broker_read_seconds', (clock.monotonicMs() - start) / 1_000)
    }
  }

  #event(event: AccountEvent): AccountEvent {
    switch (event.type) {
      case 'order':
        return this.#isTaken(event.report) ? event : { type: 'left_out' }
      case 'positions':
        return { ...event, positions: this.#positions(event.brokerAccountId, event.positions) }
      case 'balances':
        return { ...event, balances: this.#balances(event.brokerAccountId, event.balances) }
      default:
        return event
    }
  }

  #isTaken(report: OrderReport): boolean {
    const fault = faultOfOrder(report, report.brokerAccountId)
    if (fault !== null) this.#alarm(fault)
    return fault === null
  }

  #balances(account: string, snapshot: Snapshot<BalanceReport>): Snapshot<BalanceReport> {
    const check: Check<BalanceReport> = { faultOf: item => faultOfRecord(item, account, wrongBalance), idOf: () => null }
    const checked = this.#demandRight(snapshot, check)
    // Two balances of one currency: neither is known to be right.
    if (new Set(checked.items.map(({ currency }) => currency)).size < checked.items.length) throw this.#fault('repeated')
    return this.#noted(`balances ${account}`, checked)
  }

  #positions(account: string, snapshot: Snapshot<PositionReport>): Snapshot<PositionReport> {
    const check: Check<PositionReport> = {
      faultOf: item => faultOfRecord(item, account, wrongPosition),
      idOf: ({ brokerPositionId }) => brokerPositionId
    }
    return this.#noted(`positions ${account}`, this.#demandRight(snapshot, check))
  }

  /** The list without its wrong records, and the last fault of these. */
  #right<T, List extends Listed<T>>(
    list: List & Listed<T>,
    { faultOf, idOf }: Check<T>
  ): { readonly list: List; readonly fault: RecordFault | null } {
    const items: T[] = []
    const leftOut = [...(list.leftOut ?? [])]
    let last: RecordFault | null = null
    for (const item of list.items) {
      const fault = faultOf(item)
      if (fault === null) items.push(item)
      else {
        last = fault
        this.#alarm(fault)
        leftOut.push(fault === 'foreign' ? null : idOf(item))
      }
    }
    return { list: last === null ? list : { ...list, items, leftOut }, fault: last }
  }

  /** As {@link #right}. @throws BrokerFault `malformed` if none of its records is right: it is not the list that was requested. */
  #demandRight<T, List extends Listed<T>>(list: List & Listed<T>, check: Check<T>): List {
    const { list: right, fault } = this.#right(list, check)
    if (fault !== null && right.items.length === 0) throw new BrokerFault('malformed', MESSAGES[fault])
    return right
  }

  #noted<List extends Listed<unknown>>(name: string, list: List): List {
    this.#surroundings.partialLists.note(this.#surroundings.connection.connectionId, name, list.leftOut?.length ?? 0)
    return list
  }

  #demandOrder(report: OrderReport | null, account: string): void {
    const fault = report === null ? null : faultOfOrder(report, account)
    if (fault !== null) throw this.#fault(fault)
  }

  #outcome<T extends OrderReport | null>(outcome: Outcome<T>, account: string): Outcome<T> {
    if (outcome.kind !== 'accepted') return outcome
    try {
      this.#demandOrder(outcome.value, account)
      return outcome
    } catch (cause) {
      return { kind: 'unknown', cause }
    }
  }

  #fault(fault: RecordFault): BrokerFault {
    this.#alarm(fault)
    return new BrokerFault('malformed', MESSAGES[fault])
  }

  /** Does not log the record's owner and content, which may be another user's. */
  #alarm(fault: RecordFault): void {
    const { log, meter, connection } = this.#surroundings
    const { connectionId, broker } = connection
    meter.count('broker_records_refused_total', { broker, reason: fault })
    if (fault === 'impossible_fill' || fault === 'too_many_fills') meter.count('order_alarms_total', { broker, alarm: fault })
    if (this.#raised.has(fault)) return
    this.#raised.add(fault)
    log.error(`ALARM: ${MESSAGES[fault]}`, { connectionId, broker })
  }
}

/** A generator would take three turns of the queue of promises for each event. @throws what `check` throws, after which the source ends */
function checkedIterator<T>(source: AsyncIterator<T>, check: (item: T) => T): AsyncIterator<T, undefined> {
  const end = async (): Promise<IteratorReturnResult<undefined>> => {
    await source.return?.()
    return { done: true, value: undefined }
  }
  return {
    async next() {
      const result = await source.next()
      if (result.done === true) return { done: true, value: undefined }
      try {
        return { done: false, value: check(result.value) }
      } catch (cause) {
        await end()
        throw cause
      }
    },
    return: end
  }
}

const MESSAGES: { readonly [fault in RecordFault]: string } = {
  foreign: 'the broker answered with a record of another account than the requested one',
  malformed: 'the broker answered with an invalid currency or symbol',
  repeated: 'the broker answered with two balances of one account and currency',
  impossible_fill: 'the broker answered with an impossible execution',
  too_many_fills: 'the broker answered with more executions of an order than are stored'
}
