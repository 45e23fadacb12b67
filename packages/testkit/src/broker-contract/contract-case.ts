/** A contract case: one numbered requirement, and what checking it needs. */

import assert from 'node:assert/strict'
import { compare, type Decimal, sum, ZERO } from '@trunkline/core/domain/decimal'
import type { OrderTicket } from '@trunkline/core/domain/order'
import { isSameTicket } from '@trunkline/core/domain/order-matching'
import { timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { Instrument } from '@trunkline/core/domain/vocabulary'
import {
  type AccountEvent,
  type Broker,
  type BrokerCapabilities,
  BrokerFault,
  type BrokerFaultKind,
  type Credentials,
  type CredentialsHolder,
  type CredentialsRefresh,
  type NewOrder,
  type OrderReport,
  type Outcome
} from '@trunkline/core/ports/broker'
import { soon } from '../patience.ts'
import { until } from '../until.ts'
import type { BrokerHarness, Sample } from './harness.ts'

export interface ContractCase {
  /** `C10`, `C20`, …: spaced, so that others can be inserted. */
  readonly id: string
  readonly title: string
  /** Why this case does not apply to a broker with these capabilities; null if it does. */
  readonly notOffered?: (capabilities: BrokerCapabilities) => string | null
  readonly run: (harness: BrokerHarness) => Promise<void>
}

/** Later than any caller waits for an answer. */
export const MUCH_LATER_MS = 600_000

export { soon }

/** For missing answers: the caller gives up as soon as its request has arrived. */
export function givenUpWhen(hasArrived: () => Promise<boolean>): AbortSignal {
  const giveUp = new AbortController()
  until(hasArrived, 'the request has arrived').then(
    () => giveUp.abort(new DOMException('given up', 'TimeoutError')),
    cause => giveUp.abort(cause)
  )
  return giveUp.signal
}

let orders = 0

/** An unused client order id that every broker of a class accepts: letters and digits. */
export function clOrdId(): string {
  orders += 1
  return `c${Math.round(performance.timeOrigin).toString(36)}${orders.toString(36).padStart(4, '0')}`
}

export function firstSample({ definition, sample }: BrokerHarness): Sample {
  const [instrument] = definition.capabilities.instruments
  assert.ok(instrument !== undefined, 'the broker offers no instrument')
  return sample(instrument)
}

export function instrumentsOf(harness: BrokerHarness): readonly Instrument[] {
  return harness.definition.capabilities.instruments
}

/** A limit order that stays open. */
export function restingLimit(sample: Sample): OrderTicket {
  const ticket = sample.resting('LMT', 'DAY', 'BUY') ?? sample.resting('LMT', 'GTC', 'BUY')
  assert.ok(ticket !== null, 'a sample must offer a resting limit order')
  return ticket
}

export function newOrder({ brokerAccountId }: Sample, ticket: OrderTicket, brokerClOrdId = clOrdId()): NewOrder {
  return { ...ticket, brokerAccountId, brokerClOrdId }
}

export function accepted<T>(outcome: Outcome<T>): T {
  assert.equal(outcome.kind, 'accepted', described(outcome))
  assert.ok(outcome.kind === 'accepted')
  return outcome.value
}

/** Accepted, with a report of the result. */
export function made<T>(outcome: Outcome<T | null>): T {
  const value = accepted(outcome)
  assert.ok(value !== null, 'what came of it is shown at once')
  return value
}

/** Refused, with a message fit to show. */
export function refused<T>(outcome: Outcome<T>): string {
  return refusal(outcome).message
}

export function refusal<T>(outcome: Outcome<T>): Extract<Outcome<T>, { kind: 'refused' }> {
  assert.equal(outcome.kind, 'refused', described(outcome))
  assert.ok(outcome.kind === 'refused' && outcome.message.trim() !== '')
  return outcome
}

export function isKind<T>(outcome: Outcome<T>, kind: Outcome<T>['kind'], note = ''): void {
  assert.equal(outcome.kind, kind, `${note} ${described(outcome)}`)
}

function described<T>(outcome: Outcome<T>): string {
  if (outcome.kind === 'accepted') return 'accepted'
  return outcome.kind === 'refused' ? `refused: ${outcome.message}` : `${outcome.kind}: ${String(outcome.cause)}`
}

export function fault(kind: BrokerFaultKind): (error: unknown) => boolean {
  return error => {
    assert.ok(error instanceof BrokerFault, `not a BrokerFault: ${String(error)}`)
    assert.equal(error.kind, kind, error.message)
    return true
  }
}

/** Orders of brokers that return no client order id, each assigned to the submission it was found for. */
const claimed = new WeakMap<Broker, Set<string>>()

/** Assigns an answered order to its own id: no look-up may return it for another. */
export function claim(broker: Broker, { brokerOrderId }: OrderReport): void {
  claimed.set(broker, (claimed.get(broker) ?? new Set()).add(brokerOrderId))
}

/** The order of a submission: found by its client id or, if the broker does not store that, by its terms. */
export async function findSubmitted({ broker }: BrokerHarness, order: NewOrder): Promise<OrderReport | null> {
  const { brokerAccountId, brokerClOrdId } = order
  if (broker.capabilities.deduplication !== 'none')
    return (await broker.findOrder({ by: 'brokerClOrdId', brokerAccountId, brokerClOrdId }, soon())).found
  const { items } = await broker.orders(brokerAccountId, recently(), soon())
  const alike = items.filter(report => isSameTicket(report, order) && claimed.get(broker)?.has(report.brokerOrderId) !== true)
  assert.ok(alike.length <= 1, `${alike.length} unclaimed orders match the one that was sent`)
  return alike[0] ?? null
}

/** An order in a broker's answer: ours by its client id, if the broker returns it. */
export function isOurs({ definition }: BrokerHarness, report: OrderReport, { brokerClOrdId }: { readonly brokerClOrdId: string }): void {
  const { deduplication } = definition.capabilities
  assert.equal(report.brokerClOrdId, deduplication === 'none' ? null : brokerClOrdId)
}

/** The filled quantity of an order, by its executions or in total. */
export function filledOf({ fills, filledTotal }: OrderReport): Decimal {
  return fills === null ? (filledTotal?.quantity ?? ZERO) : sum(fills.map(fill => fill.quantity))
}

export async function byOrderId(broker: Broker, { brokerAccountId, brokerOrderId }: OrderReport): Promise<OrderReport> {
  const { found } = await broker.findOrder({ by: 'brokerOrderId', brokerAccountId, brokerOrderId }, soon())
  assert.ok(found !== null, `order ${brokerOrderId} is not found`)
  return found
}

/** Waits until the broker itself reports this status of the order. */
export async function reaches(broker: Broker, order: OrderReport, status: OrderReport['status']): Promise<OrderReport> {
  let last = order
  await until(async () => {
    last = await byOrderId(broker, order)
    return last.status === status
  }, `order ${order.brokerOrderId} is ${status}`)
  return last
}

/** The order of a submission with an unusable answer: adopted by its client id, and only one. */
export async function adoptedOnce(harness: BrokerHarness, order: NewOrder): Promise<OrderReport> {
  const { broker, venue } = harness
  const found = await findSubmitted(harness, order)
  assert.ok(found !== null, 'the order is found')
  isOurs(harness, found, order)
  claim(broker, found)
  assert.deepEqual(await venue.orderCounts(order.brokerClOrdId), { received: 1, accepted: 1 })
  return found
}

/** An hour ago, for lists of recent orders. */
export function recently() {
  return timestampOfMs(Date.now() - 3_600_000)
}

/** Credentials in memory with the holder's guarantee; counts refreshes. */
export class CountingHolder implements CredentialsHolder {
  renewals = 0
  #credentials: Credentials
  #isUncertain = false
  #renewing: Promise<Credentials> | null = null

  constructor(credentials: Credentials) {
    this.#credentials = credentials
  }

  async read(): Promise<Credentials> {
    return this.#credentials
  }

  async renew(used: Credentials, refresh: CredentialsRefresh, signal: AbortSignal): Promise<Credentials> {
    if (this.#renewing !== null) return await this.#renewing
    if (used !== this.#credentials) return this.#credentials
    this.renewals += 1
    this.#renewing = refresh(used, signal, this.#isUncertain)
    try {
      this.#credentials = await this.#renewing
      this.#isUncertain = false
      return this.#credentials
    } catch (error) {
      this.#isUncertain ||= !(error instanceof BrokerFault && error.kind === 'credentials_rejected')
      throw error
    } finally {
      this.#renewing = null
    }
  }
}

/** Records a stream's events until it is disposed. */
export class Listener implements AsyncDisposable {
  readonly events: AccountEvent[] = []
  readonly ended: Promise<unknown>
  readonly #stop = new AbortController()

  constructor(broker: Broker) {
    this.ended = this.#listen(broker).then(
      () => null,
      (error: unknown) => error
    )
  }

  static async live(broker: Broker): Promise<Listener> {
    const listener = new Listener(broker)
    await listener.receives(event => event.type === 'live', 'the stream is live')
    return listener
  }

  /** The number of events of a type. */
  count(type: AccountEvent['type']): number {
    return this.events.filter(event => event.type === type).length
  }

  async receives(wanted: (event: AccountEvent) => boolean, what: string): Promise<void> {
    await until(() => this.events.some(wanted), `${what}; received ${this.events.map(event => event.type).join(', ')}`)
  }

  reports(brokerOrderId: string): readonly OrderReport[] {
    return this.events.flatMap(event => (event.type === 'order' && event.report.brokerOrderId === brokerOrderId ? [event.report] : []))
  }

  /** The quantity that the stream has reported for an order: the total at some brokers, one execution at a time at others. */
  filled({ brokerOrderId }: OrderReport): Decimal {
    const reports = this.reports(brokerOrderId)
    const executions = new Map(reports.flatMap(({ fills }) => (fills ?? []).map(fill => [fill.fillId, fill.quantity] as const)))
    const totals = reports.map(({ filledTotal }) => filledTotal?.quantity ?? ZERO)
    return [sum([...executions.values()]), ...totals].reduce((most, each) => (compare(each, most) > 0 ? each : most))
  }

  /** Whether the stream's state of an order equals the broker's. */
  async agrees(broker: Broker, order: OrderReport): Promise<void> {
    await until(async () => {
      // A filled order's report may still change for a moment.
      const truth = await byOrderId(broker, order)
      const last = this.reports(order.brokerOrderId).at(-1)
      return last !== undefined && last.status === truth.status && compare(this.filled(order), filledOf(truth)) === 0
    }, `the stream agrees with the broker about ${order.brokerOrderId}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.ended
  }

  async #listen(broker: Broker): Promise<void> {
    for await (const event of broker.events(this.#stop.signal)) this.events.push(event)
  }
}
