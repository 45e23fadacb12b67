/** One login at Alpaca, as the port has it: each operation is a request, what the kit does with it, and a reading of the answer. */

import { type Day, epochMs, type Timestamp, timestampOfMs } from '@trunkline/core/domain/timestamp'
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
import type { MarketSource } from '@trunkline/core/ports/market'
import type { OrderPreview, PreviewOrder } from '@trunkline/core/ports/preview'
import { type Calls, isSuccess } from '../kit/calls.ts'
import { EventStreams, readsAsEvents } from '../kit/event-streams.ts'
import type { HttpReply, HttpRequest } from '../kit/http.ts'
import type { RateLimiter } from '../kit/rate-limiter.ts'
import { refusedUnsent } from '../kit/settle.ts'
import { type SocketOptions, SocketSession } from '../kit/socket.ts'
import type { ProtocolFactory } from '../kit/stream-protocol.ts'
import type { TokenSource } from '../kit/tokens.ts'
import type { UnknownValueCounter } from '../kit/unknown-values.ts'
import { readActivities, readOrders } from './lists.ts'
import { parseOrder } from './orders.ts'
import { interpretCancel, interpretSubmit, isInvalidOrderId, isNotFound } from './outcomes.ts'
import { parseAccount, parseBalance, parsePosition, readList, readRecord } from './parse.ts'
import { Replacement } from './replacement.ts'
import * as requests from './requests.ts'
import type { AccountReads } from './session.ts'
import { refusalOf } from './ticket.ts'

/** Alpaca's clock may be this far ahead of ours: orders submitted that much earlier are requested as well. */
const CLOCKS_APART_MS = 5_000

export interface AlpacaParts {
  readonly capabilities: BrokerCapabilities
  readonly calls: Calls
  readonly tokens: TokenSource
  readonly limiters: readonly RateLimiter[]
  readonly socket: SocketOptions
  readonly unknownValues: UnknownValueCounter
  readonly clock: Clock
  readonly market: (MarketSource & AsyncDisposable) | null
  readonly stream: (reads: AccountReads) => ProtocolFactory<AccountEvent>
}

export class AlpacaBroker implements Broker {
  readonly capabilities: BrokerCapabilities
  readonly market: (MarketSource & AsyncDisposable) | null
  readonly #parts: AlpacaParts
  readonly #streams = new EventStreams()
  /** The one account of these credentials, once it is known. */
  #own: string | null = null
  #asking: Promise<string> | null = null

  constructor(parts: AlpacaParts) {
    this.#parts = parts
    this.capabilities = parts.capabilities
    this.market = parts.market
  }

  async accounts(signal: AbortSignal): Promise<readonly BrokerAccount[]> {
    const account = await this.#parts.calls.read(requests.accountRequest, reply => parseAccount(readRecord(reply.body)), signal)
    this.#own = account.brokerAccountId
    return [account]
  }

  async balances(account: string, signal: AbortSignal): Promise<Snapshot<BalanceReport>> {
    const asOf = this.#parts.clock.now()
    const balance = await this.#parts.calls.read(requests.accountRequest, reply => parseBalance(readRecord(reply.body), asOf), signal)
    if (balance.brokerAccountId !== account) throw notTheirs()
    return { items: [balance], asOf }
  }

  async positions(account: string, signal: AbortSignal): Promise<Snapshot<PositionReport>> {
    const { calls, clock, unknownValues } = this.#parts
    await this.#demandOwn(account, signal)
    const asOf = clock.now()
    const read = (reply: HttpReply) => readList(reply.body).map(wire => parsePosition(wire, account, unknownValues))
    return { items: await calls.read(requests.positionsRequest, read, signal), asOf }
  }

  /**
   * The open ones first, nested and not: nested, an exit is inside of its entry, and missing once the entry has filled. Then those submitted
   * since, so that an order that ends in between is seen ended. An order submitted before `since` that ended after it is in no list: Alpaca
   * cannot list changes. {@link findOrder} finds it.
   */
  async orders(account: string, since: Timestamp, signal: AbortSignal): Promise<Snapshot<OrderReport>> {
    await this.#demandOwn(account, signal)
    const asOf = this.#parts.clock.now()
    const from = timestampOfMs(Math.max(0, epochMs(since) - CLOCKS_APART_MS))
    const nested = await readOrders(this.#parts, { account, status: 'open', isNested: true, after: null }, signal)
    const open = await readOrders(this.#parts, { account, status: 'open', isNested: false, after: null }, signal)
    const recent = await readOrders(this.#parts, { account, status: 'all', isNested: true, after: from }, signal)
    const newest = new Map([...nested.known, ...open.known, ...recent.known].map(order => [order.brokerOrderId, order]))
    const leftOut = [...new Set([...nested.leftOut, ...open.leftOut, ...recent.leftOut])]
    return { items: [...newest.values()], asOf, ...(leftOut.length === 0 ? {} : { leftOut }) }
  }

  async transactions(account: string, from: Day, to: Day, signal: AbortSignal): Promise<Snapshot<TransactionReport>> {
    await this.#demandOwn(account, signal)
    const asOf = this.#parts.clock.now()
    return { items: await readActivities(this.#parts, { from, to }, signal), asOf }
  }

  async findOrder(key: OrderKey, signal: AbortSignal): Promise<{ readonly found: OrderReport | null; readonly asOf: Timestamp }> {
    await this.#demandOwn(key.brokerAccountId, signal)
    const asOf = this.#parts.clock.now()
    const found = await this.#find(key, signal)
    // A replacement is looked up by its client order id to find out whether it has replaced the old order.
    if (key.by === 'brokerClOrdId' && found !== null) await this.#replacement(found.brokerAccountId).demandDecided(found, signal)
    return { found, asOf }
  }

  preview(_order: PreviewOrder, _signal: AbortSignal): Promise<OrderPreview> {
    return Promise.reject(new BrokerFault('refused', 'Alpaca previews no orders'))
  }

  async submit(order: NewOrder, signal: AbortSignal): Promise<Outcome<OrderReport>> {
    const refusal = refusalOf(order)
    if (refusal !== null) return refusedUnsent(refusal.message, refusal.rejectCode)
    return await this.#command(
      order.brokerAccountId,
      () => requests.submitRequest(order),
      reply => interpretSubmit(reply, order),
      signal
    )
  }

  async replace(request: ReplaceOrder, signal: AbortSignal): Promise<Outcome<OrderReport | null>> {
    try {
      await this.#demandOwn(request.brokerAccountId, signal)
    } catch (cause) {
      return { kind: 'not_sent', cause }
    }
    return await this.#replacement(request.brokerAccountId).carryOut(request, signal)
  }

  async cancel(
    { brokerAccountId, brokerOrderId }: { readonly brokerAccountId: string; readonly brokerOrderId: string },
    signal: AbortSignal
  ): Promise<Outcome<OrderReport | null>> {
    return await this.#command(brokerAccountId, () => requests.cancelRequest(brokerOrderId), interpretCancel, signal)
  }

  events(signal: AbortSignal): AsyncIterable<AccountEvent> {
    const protocol = this.#parts.stream({
      account: within => this.#known(within),
      order: (brokerAccountId, brokerOrderId, within) => this.#find({ by: 'brokerOrderId', brokerAccountId, brokerOrderId }, within),
      openOrders: async (account, within) =>
        (await readOrders(this.#parts, { account, status: 'open', isNested: false, after: null }, within)).known,
      ...readsAsEvents(this, this.#parts.clock)
    })
    return this.#streams.open(signal, end => new SocketSession([protocol], this.#parts.socket, end))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.market?.[Symbol.asyncDispose](), this.#streams[Symbol.asyncDispose]()])
    for (const limiter of this.#parts.limiters) limiter[Symbol.dispose]()
    await this.#parts.tokens[Symbol.asyncDispose]()
  }

  #replacement(account: string): Replacement {
    return new Replacement(this.#parts, (brokerOrderId, signal) =>
      this.#find({ by: 'brokerOrderId', brokerAccountId: account, brokerOrderId }, signal)
    )
  }

  /** A ticket that cannot be expressed in Alpaca's API is never sent. */
  async #command<T>(
    account: string,
    build: () => HttpRequest,
    interpret: (reply: HttpReply) => Outcome<T>,
    signal: AbortSignal
  ): Promise<Outcome<T>> {
    const request = async () => {
      await this.#demandOwn(account, signal)
      return build()
    }
    return await this.#parts.calls.command(request, interpret, signal)
  }

  #find(key: OrderKey, signal: AbortSignal): Promise<OrderReport | null> {
    const also = key.by === 'brokerOrderId' ? [404, 422] : [404]
    return this.#parts.calls.read(requests.findRequest(key), reply => found(reply, key), signal, { also, kind: 'order' })
  }

  /** One credential is one account, and requests to Alpaca do not name it: what is meant for another account must not reach this one. */
  async #demandOwn(account: string, signal: AbortSignal): Promise<void> {
    if (account !== (this.#own ?? (await this.#known(signal)))) throw notTheirs()
  }

  async #known(signal: AbortSignal): Promise<string> {
    if (this.#own !== null) return this.#own
    signal.throwIfAborted()
    this.#asking ??= this.#parts.calls
      .read(requests.accountRequest, reply => parseAccount(readRecord(reply.body)).brokerAccountId, signal)
      .finally(() => {
        this.#asking = null
      })
    this.#own = await this.#asking
    return this.#own
  }
}

function notTheirs(): BrokerFault {
  return new BrokerFault('refused', 'the account is not the one of these credentials at Alpaca')
}

function found(reply: HttpReply, key: OrderKey): OrderReport | null {
  if (!isSuccess(reply.status)) {
    if (isNotFound(reply) || isInvalidOrderId(reply)) return null
    throw new BrokerFault('refused', 'the order could not be requested from Alpaca')
  }
  const order = parseOrder(readRecord(reply.body), key.brokerAccountId)
  const isIt = key.by === 'brokerClOrdId' ? order.brokerClOrdId === key.brokerClOrdId : order.brokerOrderId === key.brokerOrderId
  if (!isIt) throw new BrokerFault('malformed', 'Alpaca answered with another order')
  return order
}
