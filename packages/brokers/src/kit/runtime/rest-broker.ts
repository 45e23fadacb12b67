/** A broker made from its definition. */

import type { Day, Timestamp } from '@trunkline/core/domain/timestamp'
import type {
  AccountEvent,
  BalanceReport,
  Broker,
  BrokerAccount,
  BrokerCapabilities,
  CredentialsHolder,
  Listed,
  NewOrder,
  OrderKey,
  OrderReport,
  Outcome,
  PositionReport,
  ReplaceOrder,
  Snapshot,
  TransactionReport
} from '@trunkline/core/ports/broker'
import type { OrderPreview, PreviewOrder } from '@trunkline/core/ports/preview'
import type { CallOptions } from '../calls.ts'
import { ConnectLimiters } from '../connect-limiters.ts'
import type { BrokerDeps } from '../deps.ts'
import { EventStreams, readsAsEvents } from '../event-streams.ts'
import { HttpClient } from '../http.ts'
import { bearerLogin } from '../oauth.ts'
import { RateLimiter } from '../rate-limiter.ts'
import { RecordLists } from '../record-lists.ts'
import { READ_RETRIES } from '../retry.ts'
import { hostOf as brokerHostOf, type OpenedBroker } from '../settings.ts'
import { SOCKET_LIMITS, type SocketOptions, SocketSession } from '../socket.ts'
import { TokenSource } from '../tokens.ts'
import { UnknownValueCounter } from '../unknown-values.ts'
import { AccountStream } from './account-stream.ts'
import { Commands } from './commands.ts'
import type { OpenLogin, Read, RestDefinition } from './definition.ts'
import { OrderReads } from './order-reads.ts'
import { OrderTracker } from './order-tracker.ts'
import type { AccountQuery, ReadItems } from './read-definitions.ts'
import { Reads } from './reads.ts'
import { Quotas, ResourceCalls } from './resource-calls.ts'
import { RestMarket } from './rest-market.ts'
import type { SoleAccount } from './sole-account.ts'

/** What a definition is opened with. @throws TypeError for an address that must be encrypted and is not */
export function restBroker<Resource extends string, Placing>(
  definition: RestDefinition<Resource, Placing>,
  { clock, fraction, log, meter, quotaShare }: BrokerDeps
): OpenedBroker {
  const { capabilities, environment, plain, apiUrl, resourceUrls, httpLimits, answers, confirm } = definition
  const clients = new Map<string, HttpClient>()
  const api = hostAt(apiUrl)
  const { login } = definition
  const scheme = 'tokenEndpoint' in login ? bearerLogin({ ...login, http: clientOf(login.tokenEndpoint), clock }) : login
  const unknownValues = new UnknownValueCounter({ broker: capabilities.id, log, meter })
  const lists = new RecordLists({ broker: capabilities.id, log, meter, clock, unknownValues })
  const connectLimiters = new ConnectLimiters(clock, definition.connectsPerSecond)
  const shared = definition.sharedRates === undefined ? null : new RateLimiter(definition.sharedRates, clock, quotaShare)
  const socket: SocketOptions = { clock, fraction, log, connectLimiters, ...SOCKET_LIMITS }
  const calling: Omit<CallOptions, 'tokens' | 'limiters' | 'http' | 'base'> = {
    ...answers,
    retries: READ_RETRIES,
    deps: { clock, fraction },
    authorize: scheme.authorize
  }

  function clientOf(url: string): HttpClient {
    const { origin: own } = new URL(url)
    const client = clients.get(own) ?? new HttpClient({ origin: own, plain, ...(httpLimits === undefined ? {} : { limits: httpLimits }) })
    clients.set(own, client)
    return client
  }

  function hostAt(url: string): Pick<CallOptions, 'http' | 'base'> {
    return { http: clientOf(url), base: new URL(url).pathname.replace(/\/$/, '') }
  }

  function hostOf(resource: Resource): Pick<CallOptions, 'http' | 'base'> {
    const url = resourceUrls?.[resource]
    return url === undefined ? api : hostAt(url)
  }

  function open(holder: CredentialsHolder): Broker {
    const quotas = new Quotas(definition.quotas, shared, clock)
    const { tokenOf, refresh } = scheme
    const confirmed = confirm && {
      confirm: (token: string, signal: AbortSignal) => calls.of(confirm.resource).accepts(token, confirm.request, signal)
    }
    const tokens = new TokenSource({ holder, clock, log, tokenOf, refresh, ...confirmed })
    const calls: ResourceCalls<Resource> = new ResourceCalls(
      { ...calling, tokens, mayCommand: () => holder.mayCommand?.() ?? true },
      hostOf,
      quotas
    )
    const reads = new Reads(calls, lists, clock)
    const tracker = new OrderTracker(definition.tracksOrders === true)
    const { order: byKey, orderList: list } = definition.reads
    const orders = new OrderReads({ definition: byKey, list, calls, reads, tracker, unknownValues, clock })
    return new RestBroker(definition, { calls, reads, tokens, tracker, orders, unknownValues, lists, socket, clock, log })
  }

  return {
    capabilities,
    environment,
    host: brokerHostOf(environment, apiUrl),
    login: scheme.login,
    open,
    async [Symbol.asyncDispose]() {
      connectLimiters[Symbol.dispose]()
      shared?.[Symbol.dispose]()
      await Promise.all([...clients.values()].map(client => client[Symbol.asyncDispose]()))
    }
  }
}

/** One login. */
class RestBroker<Resource extends string, Placing> implements Broker {
  readonly capabilities: BrokerCapabilities
  readonly market: RestMarket<Resource>
  readonly #definition: RestDefinition<Resource, Placing>
  readonly #login: OpenLogin<Resource>
  readonly #commands: Commands<Resource, Placing>
  readonly #streams = new EventStreams()
  readonly #soleAccount: SoleAccount | null

  constructor(definition: RestDefinition<Resource, Placing>, login: OpenLogin<Resource>) {
    this.#definition = definition
    this.#login = login
    this.#soleAccount = definition.soleAccount?.(login) ?? null
    this.#commands = new Commands(definition.orders, login, this.#soleAccount)
    this.capabilities = definition.capabilities
    this.market = new RestMarket(login, market => definition.market(login, market), definition.coarseClockMs)
  }

  async accounts(signal: AbortSignal): Promise<Listed<BrokerAccount>> {
    const { known, leftOut } = await readBy(this.#definition.reads.accounts, this.#login, null, signal)
    return { items: known, ...(leftOut.length === 0 ? {} : { leftOut }) }
  }

  balances(account: string, signal: AbortSignal): Promise<Snapshot<BalanceReport>> {
    return this.#snapshot(this.#definition.reads.balances, { account }, signal)
  }

  positions(account: string, signal: AbortSignal): Promise<Snapshot<PositionReport>> {
    return this.#snapshot(this.#definition.reads.positions, { account }, signal)
  }

  async orders(account: string, since: Timestamp, signal: AbortSignal): Promise<Snapshot<OrderReport>> {
    const orders = await this.#snapshot(this.#definition.reads.orders, { account, since }, signal)
    for (const report of orders.items) this.#login.tracker.put(report)
    return orders
  }

  transactions(account: string, from: Day, to: Day, signal: AbortSignal): Promise<Snapshot<TransactionReport>> {
    return this.#snapshot(this.#definition.reads.transactions, { account, from, to }, signal)
  }

  async findOrder(key: OrderKey, signal: AbortSignal): Promise<{ readonly found: OrderReport | null; readonly asOf: Timestamp }> {
    await this.#soleAccount?.demand(key.brokerAccountId, signal)
    return await this.#login.orders.find(key, signal)
  }

  preview(order: PreviewOrder, signal: AbortSignal): Promise<OrderPreview> {
    return this.#commands.preview(order, signal)
  }

  submit(order: NewOrder, signal: AbortSignal): Promise<Outcome<OrderReport>> {
    return this.#commands.submit(order, signal)
  }

  replace(request: ReplaceOrder, signal: AbortSignal): Promise<Outcome<OrderReport | null>> {
    return this.#commands.replace(request, signal)
  }

  cancel(
    { brokerAccountId, brokerOrderId }: { readonly brokerAccountId: string; readonly brokerOrderId: string },
    signal: AbortSignal
  ): Promise<Outcome<OrderReport | null>> {
    return this.#commands.cancel(brokerAccountId, brokerOrderId, signal)
  }

  events(signal: AbortSignal): AsyncIterable<AccountEvent> {
    const reads = readsAsEvents(this, this.#login.clock)
    const streams = this.#definition.accountStreams(this.#login)
    const protocols = streams.map(stream => new AccountStream(stream, this.#login, reads))
    return this.#streams.open(signal, end => new SocketSession(protocols, this.#login.socket, end))
  }

  async #snapshot<Query extends AccountQuery, T>(read: Read<Resource, Query, T>, query: Query, signal: AbortSignal): Promise<Snapshot<T>> {
    await this.#soleAccount?.demand(query.account, signal)
    const { known, leftOut, ...times } = await readBy(read, this.#login, query, signal)
    return { items: known, ...times, ...(leftOut.length === 0 ? {} : { leftOut }) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.market[Symbol.asyncDispose](), this.#streams[Symbol.asyncDispose]()])
    this.#login.calls[Symbol.dispose]()
    await this.#login.tokens[Symbol.asyncDispose]()
  }
}

/** Reads a list, or what is made of several. The clock of a single list is not reported: what is dated by it is compared with nothing. */
async function readBy<Resource extends string, Query, T>(
  read: Read<Resource, Query, T>,
  login: OpenLogin<Resource>,
  query: Query,
  signal: AbortSignal
): Promise<ReadItems<T>> {
  if (typeof read === 'function') return await read(login, query, signal)
  const { known, leftOut, asOf } = await login.reads.list(read, query, signal)
  return { known, leftOut, asOf }
}
