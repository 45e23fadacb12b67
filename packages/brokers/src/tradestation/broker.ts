/** One login at TradeStation, as the port has it. */

import { areEqual, ZERO } from '@trunkline/core/domain/decimal'
import type { OrderTicket } from '@trunkline/core/domain/order'
import type { Day, Timestamp } from '@trunkline/core/domain/timestamp'
import type { RejectCode } from '@trunkline/core/domain/vocabulary'
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
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import type { OrderPreview, PreviewOrder } from '@trunkline/core/ports/preview'
import { type Calls, faultOf, type ReadOptions } from '../kit/calls.ts'
import { EventStreams, readsAsEvents } from '../kit/event-streams.ts'
import type { HttpReply, HttpRequest } from '../kit/http.ts'
import { previewOf } from '../kit/preview.ts'
import { settled } from '../kit/settle.ts'
import { type SocketOptions, SocketSession } from '../kit/socket.ts'
import { summedPositions } from '../kit/summed-positions.ts'
import type { TokenSource } from '../kit/tokens.ts'
import type { UnknownValueCounter } from '../kit/unknown-values.ts'
import { AccountState } from './account-state.ts'
import { demandWhole, readAnswer, records } from './answers.ts'
import { TRADESTATION_CAPABILITIES } from './capabilities.ts'
import { Holdings } from './holdings.ts'
import type { Quotas, Resource } from './limits.ts'
import type { TradestationMarket } from './market/source.ts'
import { Orders } from './orders.ts'
import { OrdersStream } from './orders-stream.ts'
import { interpretChange, interpretSubmit } from './outcomes.ts'
import { parseAccount, parseBalances, parsePosition } from './parse.ts'
import { PositionsStream } from './positions-stream.ts'
import { interpretPreview } from './preview.ts'
import * as requests from './requests.ts'
import { actionOf } from './side.ts'

/** A replaced order is looked at so often, after these pauses, before it is left to the order to show it. */
const REPLACED_AFTER_MS = [0, 150, 500] as const

export interface TradestationParts {
  readonly apiUrl: string
  readonly callsOf: (resource: Resource) => Calls
  readonly tokens: TokenSource
  readonly quotas: Quotas
  readonly socket: SocketOptions
  readonly market: TradestationMarket
  readonly clock: Clock
  readonly log: Log
  readonly unknownValues: UnknownValueCounter
  readonly heartbeatMs: number
  readonly compareMs: number
}

export class TradestationBroker implements Broker {
  readonly capabilities = TRADESTATION_CAPABILITIES
  readonly market: TradestationMarket
  readonly #parts: TradestationParts
  readonly #orders: Orders
  readonly #accountState: AccountState
  readonly #holdings: Holdings
  readonly #streams = new EventStreams()

  constructor(parts: TradestationParts) {
    this.#parts = parts
    this.market = parts.market
    this.#orders = new Orders(parts.callsOf('orders'), parts.clock, parts.unknownValues)
    this.#accountState = new AccountState(signal => this.#accounts(signal), parts.log)
    this.#holdings = new Holdings({ clock: parts.clock, read: (account, signal) => this.#positions(account, signal, { kind: 'order' }) })
  }

  async accounts(signal: AbortSignal): Promise<readonly BrokerAccount[]> {
    const accounts = await this.#accounts(signal)
    this.#accountState.update(accounts)
    return accounts
  }

  async balances(account: string, signal: AbortSignal): Promise<Snapshot<BalanceReport>> {
    const asOf = this.#parts.clock.now()
    const currency = await this.#accountState.currencyOf(account, signal)
    const read = (reply: HttpReply) => {
      const found = ofAccount(reply, 'Balances', account)
      if (found.length !== 1) throw new BrokerFault('malformed', `the broker has ${found.length} balances of one account`)
      if (currency === null) throw new BrokerFault('refused', 'the account’s currency is not known: the login does not list it')
      return found.flatMap(wire => parseBalances(wire, currency, asOf))
    }
    return { items: await this.#parts.callsOf('balances').read(requests.balancesRequest(account), read, signal), asOf }
  }

  positions(account: string, signal: AbortSignal): Promise<Snapshot<PositionReport>> {
    return this.#positions(account, signal)
  }

  orders(account: string, since: Timestamp, signal: AbortSignal): Promise<Snapshot<OrderReport>> {
    return this.#orders.since(account, since, signal)
  }

  transactions(_account: string, _from: Day, _to: Day): Promise<Snapshot<TransactionReport>> {
    return Promise.reject(new BrokerFault('refused', 'TradeStation has no transactions'))
  }

  async findOrder(key: OrderKey, signal: AbortSignal): Promise<{ readonly found: OrderReport | null; readonly asOf: Timestamp }> {
    if (key.by !== 'brokerOrderId') throw new BrokerFault('refused', 'TradeStation finds orders by their own ids only')
    const asOf = this.#parts.clock.now()
    const found = await this.#orders.find(key.brokerAccountId, key.brokerOrderId, signal)
    if (found !== null && found.report.brokerAccountId !== key.brokerAccountId)
      throw new BrokerFault('malformed', 'the broker answered with an order of another account')
    return { found: found?.report ?? null, asOf }
  }

  async preview(order: PreviewOrder, signal: AbortSignal): Promise<OrderPreview> {
    // Not with the orders' priority, as what an order waits for is read.
    const action = await this.#actionOf(order, () => this.#positions(order.brokerAccountId, signal))
    if (typeof action === 'object' && action !== null) {
      if (action.kind === 'refused') return action
      throw faultOf(action.cause)
    }
    const request = written(() => requests.previewRequest(order, action))
    if ('kind' in request) return request
    return previewOf(await this.#parts.callsOf('commands').ask(request, reply => interpretPreview(reply, order), signal))
  }

  async submit(order: NewOrder, signal: AbortSignal): Promise<Outcome<OrderReport>> {
    const action = await this.#actionOf(order, () => this.#holdings.now(order.brokerAccountId, signal))
    if (typeof action === 'object' && action !== null) return action
    const at = this.#parts.clock.now()
    const outcome = await this.#command(
      () => requests.submitRequest(order, action),
      reply => interpretSubmit(reply, order, at),
      signal
    )
    if (outcome.kind === 'accepted') this.#orders.taken(outcome.value)
    return outcome
  }

  async replace(request: ReplaceOrder, signal: AbortSignal): Promise<Outcome<OrderReport | null>> {
    if (request.ticket.legs !== null) {
      const refusal = await this.#otherSize(request, signal)
      if (refusal !== null) return refusal
    }
    const outcome = await this.#command(
      () => requests.replaceRequest(request),
      reply => interpretChange(reply, request.brokerOrderId, 'replace'),
      signal
    )
    return outcome.kind === 'accepted' ? await this.#replaced(request, signal) : outcome
  }

  async cancel(
    { brokerOrderId }: { readonly brokerAccountId: string; readonly brokerOrderId: string },
    signal: AbortSignal
  ): Promise<Outcome<OrderReport | null>> {
    return await this.#command(
      () => requests.cancelRequest(brokerOrderId),
      reply => interpretChange(reply, brokerOrderId, 'cancel'),
      signal
    )
  }

  events(signal: AbortSignal): AsyncIterable<AccountEvent> {
    const { apiUrl, tokens, clock, log, unknownValues, socket, heartbeatMs, compareMs } = this.#parts
    const shared = { apiUrl, tokens, clock, log, unknownValues, heartbeatMs, accountState: this.#accountState }
    const orders = new OrdersStream({
      ...shared,
      compareMs,
      parse: wire => this.#orders.parse(wire),
      list: (accounts, within) => this.#orders.today(accounts, within),
      order: (account, orderId, within) => this.#orders.one(account, orderId, within),
      balances: readsAsEvents(this, clock).balances
    })
    return this.#streams.open(signal, end => new SocketSession<AccountEvent>([orders, new PositionsStream(shared)], socket, end))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.market[Symbol.asyncDispose](), this.#streams[Symbol.asyncDispose]()])
    this.#parts.quotas[Symbol.dispose]()
    await this.#parts.tokens[Symbol.asyncDispose]()
  }

  #accounts(signal: AbortSignal): Promise<readonly BrokerAccount[]> {
    return this.#parts.callsOf('accounts').read(
      requests.accountsRequest(),
      ({ body }) => {
        const answer = readAnswer(body)
        const found = records(answer, 'Accounts').map(parseAccount)
        demandWhole(answer)
        return found
      },
      signal
    )
  }

  async #positions(account: string, signal: AbortSignal, options: ReadOptions = {}): Promise<Snapshot<PositionReport>> {
    const asOf = this.#parts.clock.now()
    const read = (reply: HttpReply) =>
      summedPositions(this.#parts.unknownValues.readKnown(ofAccount(reply, 'Positions', account), parsePosition))
    return { items: await this.#parts.callsOf('positions').read(requests.positionsRequest(account), read, signal, options), asOf }
  }

  /** The broker's name of the side; null where the order itself states it. `held` reads the position. */
  async #actionOf(order: PreviewOrder, held: () => Promise<Snapshot<PositionReport>>): Promise<string | null | Unsent> {
    const { instrument, legs, side } = order
    if (legs !== null && !requests.isLowest(legs.map(({ ratio }) => ratio)))
      return unsent(
        'TradeStation counts contracts of legs: state the ratios in lowest terms, and the rest as the order’s quantity.',
        'quantity_invalid'
      )
    return instrument === 'FUT' ? side : instrument === 'STK' ? await this.#action(order, held) : null
  }

  /** The broker requires a sale to state whether it closes a position, so the position is read before. */
  async #action({ symbol, side, quantity }: OrderTicket, held: () => Promise<Snapshot<PositionReport>>): Promise<string | Unsent> {
    if (symbol === null || quantity === null || (side !== 'BUY' && side !== 'SELL'))
      return unsent('An order of shares needs a symbol, a quantity, and BUY or SELL.', 'not_permitted')
    try {
      const { items } = await held()
      const position = items.find(each => each.symbol === symbol && each.instrument === 'STK')?.quantity ?? ZERO
      const found = actionOf(side, quantity, symbol, position)
      return 'action' in found ? found.action : unsent(found.refusal, 'insufficient_position')
    } catch (cause) {
      return { kind: 'not_sent', cause }
    }
  }

  /** The size of a multi-leg order cannot be changed, and only the broker knows it. */
  async #otherSize({ brokerAccountId, brokerOrderId, ticket }: ReplaceOrder, signal: AbortSignal): Promise<Outcome<never> | null> {
    try {
      const found = await this.#orders.one(brokerAccountId, brokerOrderId, signal, 'order')
      const size = found?.report.quantity ?? null
      if (size === null || ticket.quantity === null || areEqual(size, ticket.quantity)) return null
      return unsent('TradeStation does not change the size of a multi-leg order: cancel it and send a new one.', 'not_permitted')
    } catch (cause) {
      return { kind: 'not_sent', cause }
    }
  }

  /** The broker took the request and keeps the order's id, so that only the order itself shows whether it was carried out. */
  #replaced({ brokerAccountId, brokerOrderId, ticket }: ReplaceOrder, signal: AbortSignal): Promise<Outcome<OrderReport | null>> {
    const look = async (): Promise<Outcome<OrderReport> | null> => {
      const found = await this.#orders.one(brokerAccountId, brokerOrderId, signal, 'order')
      return found !== null && requests.hasTerms(found.report, ticket) ? { kind: 'accepted', value: found.report } : null
    }
    return settled({ clock: this.#parts.clock, pausesMs: REPLACED_AFTER_MS }, look, signal)
  }

  /** A ticket that cannot be expressed in the broker's API is never sent. */
  async #command<T>(build: () => HttpRequest, interpret: (reply: HttpReply) => Outcome<T>, signal: AbortSignal): Promise<Outcome<T>> {
    const request = written(build)
    if ('kind' in request) return request
    return await this.#parts.callsOf('commands').command(request, interpret, signal)
  }
}

/** Nothing left: the adapter refused it, or what it needs could not be read. */
type Unsent = Extract<Outcome<never>, { readonly kind: 'refused' | 'not_sent' }>
type Refused = Extract<Outcome<never>, { readonly kind: 'refused' }>

function unsent(message: string, rejectCode: RejectCode): Refused {
  return { kind: 'refused', message, rejectCode, brokerStatus: null, isUnsent: true }
}

function written(build: () => HttpRequest): HttpRequest | Refused {
  try {
    return build()
  } catch (cause) {
    return unsent(cause instanceof Error ? cause.message : 'the order cannot be expressed in the broker’s API', 'not_permitted')
  }
}

/** A whole list of one account's records: those of others are not ours to show. @throws BrokerFault, Malformed */
function ofAccount({ body }: HttpReply, key: string, account: string): readonly ReturnType<typeof records>[number][] {
  const answer = readAnswer(body)
  const found = records(answer, key)
  demandWhole(answer)
  const other = found.find(wire => wire.AccountID !== account)
  if (other !== undefined) throw new BrokerFault('malformed', 'the broker answered with another account')
  return found
}
