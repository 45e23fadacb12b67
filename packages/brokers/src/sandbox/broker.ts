/** One login at the sandbox, as the port has it: each operation is a request, sent by the kit, and a reading of the answer. */

import { type Day, epochMs, type Timestamp, timestampOfMs } from '@trunkline/core/domain/timestamp'
import {
  type AccountEvent,
  type BalanceReport,
  type Broker,
  type BrokerAccount,
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
import type { OrderPreview, PreviewOrder } from '@trunkline/core/ports/preview'
import { type Calls, isSuccess } from '../kit/calls.ts'
import { EventStreams, readsAsEvents } from '../kit/event-streams.ts'
import type { HttpReply, HttpRequest } from '../kit/http.ts'
import { everyPage } from '../kit/pages.ts'
import { timestamp, type Wire } from '../kit/parse.ts'
import { previewOf } from '../kit/preview.ts'
import type { RateLimiter } from '../kit/rate-limiter.ts'
import { type SocketOptions, SocketSession } from '../kit/socket.ts'
import type { ProtocolFactory } from '../kit/stream-protocol.ts'
import type { TokenSource } from '../kit/tokens.ts'
import { SANDBOX_CAPABILITIES } from './capabilities.ts'
import type { SandboxMarket } from './market/source.ts'
import { interpretCancel, interpretPreview, interpretReplace, interpretSubmit, isUnknownOrder } from './outcomes.ts'
import {
  type Page,
  parseAccount,
  parseBalance,
  parseOrder,
  parseOrderAnswer,
  parsePage,
  parsePosition,
  parseTransaction,
  readAnswer
} from './parse.ts'
import * as requests from './requests.ts'
import type { StreamOptions } from './session.ts'

/** Pages of a list; beyond it the list is a fault, never cut short. */
const PAGES_MAX = 400
/** Sandbox time this far behind real time is another era (a replay, a clock set back), where `since` means nothing. */
const CLOCKS_APART_MS = 5_000

export interface SandboxParts {
  readonly calls: Calls
  readonly tokens: TokenSource
  readonly limiter: RateLimiter
  readonly socket: SocketOptions
  readonly market: SandboxMarket
  readonly stream: (positions: StreamOptions['positions']) => ProtocolFactory<AccountEvent>
}

export class SandboxBroker implements Broker {
  readonly capabilities = SANDBOX_CAPABILITIES
  readonly market: SandboxMarket
  readonly #parts: SandboxParts
  readonly #streams = new EventStreams()

  constructor(parts: SandboxParts) {
    this.#parts = parts
    this.market = parts.market
  }

  async accounts(signal: AbortSignal): Promise<readonly BrokerAccount[]> {
    const { items } = await this.#list(cursor => requests.accountsRequest(cursor), parseAccount, signal)
    return items
  }

  balances(account: string, signal: AbortSignal): Promise<Snapshot<BalanceReport>> {
    return this.#list(
      cursor => requests.balancesRequest(account, cursor),
      (wire, asOf) => parseBalance(wire, asOf),
      signal
    )
  }

  positions(account: string, signal: AbortSignal): Promise<Snapshot<PositionReport>> {
    return this.#list(cursor => requests.positionsRequest(account, cursor), parsePosition, signal)
  }

  /**
   * The open ones first and then those that arrived since, so that an order that ends between the two is seen ended. An order that arrived
   * before `since` and ended after it is in neither list: the sandbox cannot list changes. {@link findOrder} finds it.
   */
  async orders(account: string, since: Timestamp, signal: AbortSignal): Promise<Snapshot<OrderReport>> {
    const open = await this.#list(cursor => requests.ordersRequest(account, 'open', null, cursor), parseOrder, signal)
    const isThisEra = epochMs(open.sandboxTime) >= epochMs(open.asOf) - CLOCKS_APART_MS
    const from = isThisEra ? timestampOfMs(Math.max(0, epochMs(since) - CLOCKS_APART_MS)) : null
    const recent = await this.#list(cursor => requests.ordersRequest(account, 'all', from, cursor), parseOrder, signal)
    const newest = new Map([...open.items, ...recent.items].map(order => [order.brokerOrderId, order]))
    return { items: [...newest.values()], asOf: open.asOf }
  }

  transactions(account: string, from: Day, to: Day, signal: AbortSignal): Promise<Snapshot<TransactionReport>> {
    return this.#list(cursor => requests.transactionsRequest(account, from, to, cursor), parseTransaction, signal)
  }

  findOrder(key: OrderKey, signal: AbortSignal): Promise<{ readonly found: OrderReport | null; readonly asOf: Timestamp }> {
    return this.#parts.calls.read(requests.findRequest(key), reply => found(reply, key), signal, { also: [404] })
  }

  async preview(order: PreviewOrder, signal: AbortSignal): Promise<OrderPreview> {
    return previewOf(await this.#parts.calls.ask(requests.previewRequest(order), reply => interpretPreview(reply, order), signal))
  }

  async submit(order: NewOrder, signal: AbortSignal): Promise<Outcome<OrderReport>> {
    return await this.#parts.calls.command(
      () => requests.submitRequest(order),
      reply => interpretSubmit(reply, order),
      signal
    )
  }

  async replace(request: ReplaceOrder, signal: AbortSignal): Promise<Outcome<OrderReport | null>> {
    return await this.#parts.calls.command(
      () => requests.replaceRequest(request),
      reply => interpretReplace(reply, request),
      signal
    )
  }

  async cancel(
    { brokerOrderId }: { readonly brokerAccountId: string; readonly brokerOrderId: string },
    signal: AbortSignal
  ): Promise<Outcome<OrderReport | null>> {
    return await this.#parts.calls.command(
      () => requests.cancelRequest(brokerOrderId),
      reply => interpretCancel(reply, brokerOrderId),
      signal
    )
  }

  events(signal: AbortSignal): AsyncIterable<AccountEvent> {
    const protocol = this.#parts.stream(readsAsEvents(this, this.#parts.socket.clock).positions)
    return this.#streams.open(signal, end => new SocketSession([protocol], this.#parts.socket, end))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.market[Symbol.asyncDispose](), this.#streams[Symbol.asyncDispose]()])
    this.#parts.limiter[Symbol.dispose]()
    await this.#parts.tokens[Symbol.asyncDispose]()
  }

  /** Every page or a fault. */
  async #list<T>(
    request: (cursor: string | null) => HttpRequest,
    item: (wire: Wire, asOf: Timestamp) => T,
    signal: AbortSignal
  ): Promise<Snapshot<T> & { readonly sandboxTime: Timestamp }> {
    const all = await everyPage(PAGES_MAX, cursor => this.#parts.calls.read(request(cursor), reply => readPage(reply, item), signal))
    const [{ asOf, sandboxTime }] = all
    return { items: all.flatMap(({ items }) => items), asOf, sandboxTime }
  }
}

function readPage<T>(reply: HttpReply, item: (wire: Wire, asOf: Timestamp) => T): Page<T> {
  const answer = readAnswer(reply.body)
  const asOf = timestamp(answer, 'as_of')
  return parsePage(answer, wire => item(wire, asOf))
}

function found(reply: HttpReply, key: OrderKey): { readonly found: OrderReport | null; readonly asOf: Timestamp } {
  const answer = readAnswer(reply.body)
  const asOf = timestamp(answer, 'as_of')
  if (!isSuccess(reply.status)) {
    if (isUnknownOrder(answer)) return { found: null, asOf }
    throw new BrokerFault('refused', 'the order could not be requested from the sandbox')
  }
  const { order } = parseOrderAnswer(answer)
  const isIt = key.by === 'brokerClOrdId' ? order.brokerClOrdId === key.brokerClOrdId : order.brokerOrderId === key.brokerOrderId
  if (!isIt || order.brokerAccountId !== key.brokerAccountId) throw new BrokerFault('malformed', 'the sandbox answered with another order')
  return { found: order, asOf }
}
