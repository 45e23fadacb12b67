/** One login at Tradier, as the port has it. */

import { usEquityCalendar } from '@trunkline/core/domain/calendar/index'
import { areEqual, ZERO } from '@trunkline/core/domain/decimal'
import { isOpen, type OrderTicket } from '@trunkline/core/domain/order'
import { type Day, epochMs, type Timestamp } from '@trunkline/core/domain/timestamp'
import {
  type AccountEvent,
  type BalanceReport,
  type Broker,
  type BrokerAccount,
  type BrokerCapabilities,
  BrokerFault,
  type NewOrder,
  type OrderKey,
  type OrderReport,
  type Outcome,
  type PositionReport,
  type ReplaceOrder,
  type Snapshot,
  type TransactionReport
} from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import type { OrderPreview, PreviewOrder } from '@trunkline/core/ports/preview'
import { EventStreams } from '../kit/event-streams.ts'
import type { HttpRequest } from '../kit/http.ts'
import { previewOf } from '../kit/preview.ts'
import type { CallPriority } from '../kit/rate-limiter.ts'
import { refusedUnsent, settled } from '../kit/settle.ts'
import { type SocketOptions, SocketSession } from '../kit/socket.ts'
import type { ProtocolFactory } from '../kit/stream-protocol.ts'
import type { TokenSource } from '../kit/tokens.ts'
import type { TradierCalls } from './calls.ts'
import type { KnownOrders } from './known-orders.ts'
import type { TradierMarket } from './market/source.ts'
import { interpretCommand, interpretPlace, interpretPreview } from './outcomes.ts'
import { changeRefusal, durationOf, isRefusal, type Refusal, refusalOf, shareSide } from './placing.ts'
import type { TradierReads } from './reads.ts'
import { cancelRequest, changeRequest, type Placing, placeRequest, previewRequest } from './requests.ts'
import { toTradier } from './symbols.ts'

/** Before each reading of an order after a change, until it shows the requested terms. */
const CHANGE_PAUSES_MS = [0, 250, 250, 250]

export interface TradierParts {
  readonly capabilities: BrokerCapabilities
  readonly calls: TradierCalls
  readonly reads: TradierReads
  readonly tokens: TokenSource
  readonly known: KnownOrders
  readonly clock: Clock
  readonly socket: SocketOptions
  readonly market: TradierMarket
  readonly stream: ProtocolFactory<AccountEvent>
}

/** Holidays are by rule, so one serves every login. */
const CALENDAR = usEquityCalendar()

export class TradierBroker implements Broker {
  readonly capabilities: BrokerCapabilities
  readonly market: TradierMarket
  readonly #parts: TradierParts
  readonly #streams = new EventStreams()

  constructor(parts: TradierParts) {
    this.#parts = parts
    this.capabilities = parts.capabilities
    this.market = parts.market
  }

  accounts(signal: AbortSignal): Promise<readonly BrokerAccount[]> {
    return this.#parts.reads.accounts(signal)
  }

  balances(account: string, signal: AbortSignal): Promise<Snapshot<BalanceReport>> {
    return this.#parts.reads.balances(account, signal)
  }

  positions(account: string, signal: AbortSignal): Promise<Snapshot<PositionReport>> {
    return this.#parts.reads.positions(account, signal)
  }

  /** Those of the session and those that are open: Tradier lists no others. {@link findOrder} finds an older one. */
  orders(account: string, _since: Timestamp, signal: AbortSignal): Promise<Snapshot<OrderReport>> {
    return this.#parts.reads.orders(account, signal)
  }

  transactions(account: string, from: Day, to: Day, signal: AbortSignal): Promise<Snapshot<TransactionReport>> {
    return this.#parts.reads.transactions(account, from, to, signal)
  }

  findOrder(key: OrderKey, signal: AbortSignal): Promise<{ readonly found: OrderReport | null; readonly asOf: Timestamp }> {
    return key.by === 'brokerOrderId'
      ? this.#parts.reads.byId(key.brokerAccountId, key.brokerOrderId, signal)
      : this.#parts.reads.byTag(key.brokerAccountId, key.brokerClOrdId, signal)
  }

  async preview(order: PreviewOrder, signal: AbortSignal): Promise<OrderPreview> {
    const placing = await this.#placing(order, signal, 'read')
    if (isRefusal(placing)) return { kind: 'refused', message: placing.refused, rejectCode: placing.rejectCode, brokerStatus: null }
    const request = previewRequest(order, placing)
    return previewOf(await this.#parts.calls.preview(request, reply => interpretPreview(reply, order), signal))
  }

  async submit(order: NewOrder, signal: AbortSignal): Promise<Outcome<OrderReport>> {
    let request: HttpRequest
    let entryTime: Timestamp
    try {
      const placing = await this.#placing(order, signal, 'order')
      if (isRefusal(placing)) return refusedUnsent(placing.refused, placing.rejectCode)
      request = placeRequest(order, placing)
      entryTime = this.#parts.clock.now()
    } catch (cause) {
      return { kind: 'not_sent', cause }
    }
    const outcome = await this.#parts.calls.command(request, interpretPlace, signal)
    if (outcome.kind !== 'accepted') return outcome
    const report = placed(order, outcome.value, entryTime)
    this.#parts.known.put(report)
    return { kind: 'accepted', value: report }
  }

  async replace({ brokerAccountId, brokerOrderId, ticket }: ReplaceOrder, signal: AbortSignal): Promise<Outcome<OrderReport | null>> {
    const { reads, calls, clock } = this.#parts
    let request: HttpRequest
    try {
      const before = await reads.order(brokerAccountId, brokerOrderId, signal, 'order')
      if (!isOpen(before.status)) return refusedUnsent(`The order cannot be changed any more: it is ${before.brokerStatus}.`, 'other')
      const refusal = refusalOf(ticket) ?? changeRefusal(before, ticket)
      if (refusal !== null) return refusedUnsent(refusal.refused, refusal.rejectCode)
      const duration = durationOf(ticket, epochMs(clock.now()), CALENDAR)
      if (isRefusal(duration)) return refusedUnsent(duration.refused, duration.rejectCode)
      request = changeRequest(brokerAccountId, brokerOrderId, ticket, duration)
    } catch (cause) {
      // Tradier's own answer that there is no such order.
      if (cause instanceof BrokerFault && cause.kind === 'refused') return refusedUnsent(cause.message, 'other')
      return { kind: 'not_sent', cause }
    }
    const outcome = await calls.command(request, reply => interpretCommand(reply, brokerOrderId), signal)
    if (outcome.kind !== 'accepted') return outcome
    return await this.#changed(brokerAccountId, brokerOrderId, ticket, signal)
  }

  async cancel(
    { brokerAccountId, brokerOrderId }: { readonly brokerAccountId: string; readonly brokerOrderId: string },
    signal: AbortSignal
  ): Promise<Outcome<OrderReport | null>> {
    const request = cancelRequest(brokerAccountId, brokerOrderId)
    const outcome = await this.#parts.calls.command(request, reply => interpretCommand(reply, brokerOrderId), signal)
    return outcome.kind === 'accepted' ? { kind: 'accepted', value: null } : outcome
  }

  events(signal: AbortSignal): AsyncIterable<AccountEvent> {
    const { stream, socket } = this.#parts
    return this.#streams.open(signal, end => new SocketSession([stream], socket, end))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.market[Symbol.asyncDispose](), this.#streams[Symbol.asyncDispose]()])
    this.#parts.calls[Symbol.dispose]()
    await this.#parts.tokens[Symbol.asyncDispose]()
  }

  /** The values that the ticket alone does not give. @throws BrokerFault when what is held cannot be read; then nothing is sent. */
  async #placing(order: PreviewOrder, signal: AbortSignal, kind: CallPriority): Promise<Placing | Refusal> {
    const refusal = refusalOf(order)
    if (refusal !== null) return refusal
    const duration = durationOf(order, epochMs(this.#parts.clock.now()), CALENDAR)
    if (isRefusal(duration)) return duration
    if (order.instrument !== 'STK' || order.symbol === null) return { duration, side: null }
    const symbol = toTradier(order.symbol)
    const holdings = await this.#parts.reads.holdings(order.brokerAccountId, signal, kind)
    const side = shareSide(order, holdings.find(holding => holding.symbol === symbol)?.quantity ?? ZERO)
    return isRefusal(side) ? side : { duration, side }
  }

  /** Tradier confirms a change before it makes it. */
  #changed(account: string, id: string, ticket: ReplaceOrder['ticket'], signal: AbortSignal): Promise<Outcome<OrderReport | null>> {
    const { reads, clock } = this.#parts
    const look = async (): Promise<Outcome<OrderReport> | null> => {
      const report = await reads.order(account, id, signal, 'order')
      return shows(report, ticket) ? { kind: 'accepted', value: { ...report, brokerClOrdId: null } } : null
    }
    return settled({ clock, pausesMs: CHANGE_PAUSES_MS }, look, signal)
  }
}

/** An order of which Tradier has sent the id alone. */
function placed(order: NewOrder, brokerOrderId: string, entryTime: Timestamp): OrderReport {
  return {
    ...order,
    brokerOrderId,
    status: 'pending',
    brokerStatus: 'ok',
    brokerMessage: null,
    rejectCode: null,
    brokerOrderType: null,
    execDest: null,
    fills: null,
    filledTotal: { quantity: ZERO, averagePrice: null },
    entryTime,
    updatedAt: entryTime,
    replacesBrokerOrderId: null,
    replacedByBrokerOrderId: null
  }
}

/** Whether an order has the requested terms. */
function shows(report: OrderReport, ticket: OrderTicket): boolean {
  return (
    report.type === ticket.type &&
    report.tif === ticket.tif &&
    areEqual(report.limitPrice, ticket.limitPrice) &&
    areEqual(report.stopPrice, ticket.stopPrice)
  )
}
