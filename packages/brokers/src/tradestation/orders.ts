/** Reading orders: those of today and whatever is open, those that are closed, and one by its id. */

import { type Day, epochMs, parseDay, type Timestamp, timestampOfMs } from '@trunkline/core/domain/timestamp'
import { BrokerFault, type OrderReport, type Snapshot } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import { type Calls, isSuccess, type ReadOptions } from '../kit/calls.ts'
import { brokerNowMs, type HttpReply, type HttpRequest } from '../kit/http.ts'
import { everyPage } from '../kit/pages.ts'
import { textOrNull, type Wire } from '../kit/parse.ts'
import type { UnknownValueCounter } from '../kit/unknown-values.ts'
import { type BrokerError, demandWhole, errorOf, errorsOf, isPassing, readAnswer, records } from './answers.ts'
import { KnownLegs } from './known-legs.ts'
import { MultiLegSides } from './multi-leg-sides.ts'
import { type ParsedOrder, parseOrder } from './parse-order.ts'
import * as requests from './requests.ts'

/** Pages of a list; beyond it the list is a fault, never cut short. */
const PAGES_MAX = 100
const DAY_MS = 86_400_000
/** The broker keeps closed orders for 90 days; an older day is refused. */
const RETENTION_DAYS = 89
/** Days begin somewhere between our clock and the exchange's, so one more day is requested. */
const DAYS_APART = 1

interface OrdersPage {
  readonly orders: readonly ParsedOrder[]
  readonly next: string | null
  /** What the broker's clock showed; null when unknown. */
  readonly brokerClock: Timestamp | null
  /** Orders with unknown enum values. */
  readonly leftOut: readonly (string | null)[]
}

export class Orders {
  readonly #calls: Calls
  readonly #clock: Clock
  readonly #unknownValues: UnknownValueCounter
  readonly #sides = new MultiLegSides()
  readonly #legs = new KnownLegs()

  constructor(calls: Calls, clock: Clock, unknownValues: UnknownValueCounter) {
    this.#calls = calls
    this.#clock = clock
    this.#unknownValues = unknownValues
  }

  /** An order that the broker took. */
  taken({ brokerOrderId, legs, side }: OrderReport): void {
    if (legs !== null) this.#sides.put(brokerOrderId, side)
  }

  /** One order as it is sent, in lists and streams alike. @throws Malformed */
  parse(wire: Wire): ParsedOrder {
    const { order, isPartial } = this.#legs.completed(wire)
    const parsed = this.#sides.withRequestedSide(parseOrder(order, this.#clock.now()))
    return isPartial ? { ...parsed, isUnresolved: true } : parsed
  }

  /** All open ones, all of today, and those that were closed since `since`. */
  async since(account: string, since: Timestamp, signal: AbortSignal): Promise<Snapshot<OrderReport>> {
    const asOf = this.#clock.now()
    const { orders: present, brokerClock, leftOut } = await this.#list(token => requests.ordersRequest(account, token), signal)
    const day = this.#dayBefore(DAYS_APART + Math.max(0, epochMs(asOf) - epochMs(since)) / DAY_MS)
    // After the others: an order that leaves the list of today in between is in this one.
    const past = await this.#list(token => requests.pastOrdersRequest(account, day, token), signal)
    const recent = past.orders.filter(({ report }) => report.updatedAt >= since)
    const newest = new Map([...present, ...recent].map(({ report }) => [report.brokerOrderId, report]))
    const unread = [...leftOut, ...past.leftOut]
    return {
      items: [...newest.values()],
      asOf,
      ...(brokerClock === null ? {} : { brokerClock }),
      ...(unread.length === 0 ? {} : { leftOut: unread })
    }
  }

  /** Of one account or several, with commas. */
  async today(accounts: string, signal: AbortSignal): Promise<readonly ParsedOrder[]> {
    const { orders } = await this.#list(token => requests.ordersRequest(accounts, token), signal)
    return orders
  }

  /** Null when the broker has no such order, neither of today nor closed. */
  async find(account: string, orderId: string, signal: AbortSignal): Promise<ParsedOrder | null> {
    const present = await this.one(account, orderId, signal)
    if (present !== null) return present
    return await this.#one(requests.pastOrderRequest(account, orderId, this.#dayBefore(RETENTION_DAYS)), orderId, signal)
  }

  /** Among those of today and the open ones. */
  one(account: string, orderId: string, signal: AbortSignal, kind: ReadOptions['kind'] = 'read'): Promise<ParsedOrder | null> {
    return this.#one(requests.orderRequest(account, orderId), orderId, signal, kind)
  }

  #one(request: HttpRequest, orderId: string, signal: AbortSignal, kind: ReadOptions['kind'] = 'read'): Promise<ParsedOrder | null> {
    return this.#calls.read(request, reply => this.#found(reply, orderId), signal, { also: [400, 404], kind })
  }

  #found(reply: HttpReply, orderId: string): ParsedOrder | null {
    const answer = readAnswer(reply.body)
    if (!isSuccess(reply.status)) return absent([errorOf(answer)])
    const found = records(answer, 'Orders')
    const [order] = found
    if (order === undefined) return absent(errorsOf(answer))
    const parsed = this.parse(order)
    if (found.length > 1 || !isSameId(parsed.report.brokerOrderId, orderId))
      throw new BrokerFault('malformed', 'the broker answered with another order')
    return parsed
  }

  /** Every page or a fault. An order with an unknown enum value is counted and left out, and the list says so. */
  async #list(request: (nextToken: string | null) => HttpRequest, signal: AbortSignal): Promise<Omit<OrdersPage, 'next'>> {
    const all = await everyPage(PAGES_MAX, token => this.#calls.read(request(token), reply => this.#page(reply), signal))
    const brokerClock = all.find(page => page.brokerClock !== null)?.brokerClock ?? null
    return { orders: all.flatMap(({ orders }) => orders), brokerClock, leftOut: all.flatMap(({ leftOut }) => leftOut) }
  }

  #page(reply: HttpReply): OrdersPage {
    const answer = readAnswer(reply.body)
    const found = records(answer, 'Orders')
    demandWhole(answer)
    const next = answer.NextToken === '' ? null : textOrNull(answer, 'NextToken')
    const clockMs = brokerNowMs(reply)
    const { known, leftOut } = this.#unknownValues.readPartially(found, wire => this.parse(wire), 'OrderID')
    return {
      orders: known,
      leftOut,
      next,
      brokerClock: clockMs === null ? null : timestampOfMs(clockMs)
    }
  }

  #dayBefore(days: number): Day {
    const ms = epochMs(this.#clock.now()) - Math.min(RETENTION_DAYS, Math.ceil(days)) * DAY_MS
    return parseDay(timestampOfMs(ms).slice(0, 10), 'since')
  }
}

/** Ids come with dashes in places and without in others. */
function isSameId(found: string, requested: string): boolean {
  return found.replaceAll('-', '') === requested.replaceAll('-', '')
}

/** Only an answer of the broker about the order itself proves an absence. @throws BrokerFault for any other error, and for none at all. */
function absent(errors: readonly BrokerError[]): null {
  const [error] = errors
  if (error === undefined) throw new BrokerFault('malformed', 'the broker answered with neither an order nor an error')
  if (isPassing(error)) throw new BrokerFault('unreachable', `the broker could not look for the order: ${error.message}`)
  if (error.code === 'NotFound' || /order/i.test(error.message)) return null
  throw new BrokerFault('refused', `the broker refused to look for the order: ${error.message}`)
}
