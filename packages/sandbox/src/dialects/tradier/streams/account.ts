/** The account stream: a few fields of each order that changes, and a sign of life now and then. */

import type { AccountObserver, OrderEvent, OrderView, Pass, StreamEndpoint } from '../../frame/brokerage.ts'
import type { BrokerageView } from '../../frame/brokerage-view.ts'
import { type DialectConnection, DialectConnections } from '../../frame/connections.ts'
import type { Accounts } from '../accounts.ts'
import type { TradierOptions } from '../options.ts'
import { chainUpTo, fillsOf, totalsOf } from '../orders/chain.ts'
import { chance, type Late } from '../orders/late.ts'
import { dateOf, type Known, legIdOf, price, type TradierOrders } from '../orders/tradier-orders.ts'
import { type Branch, figure, json, plain } from '../tree.ts'
import { StreamGateway, type StreamProtocol, textList } from './gateway.ts'
import { type Session, Sessions } from './sessions.ts'

export interface AccountStreamDeps {
  readonly brokerage: BrokerageView
  readonly accounts: Accounts
  readonly options: TradierOptions
  readonly view: TradierOrders
  readonly late: Late
}

const WAITING_BYTES_MAX = 1024 * 1024

export class AccountStream implements AccountObserver {
  readonly #deps: AccountStreamDeps
  readonly #sessions: Sessions
  readonly #connections: DialectConnections
  readonly #excluded = new Map<DialectConnection, ReadonlySet<string>>()
  readonly #heartbeat: NodeJS.Timeout
  readonly #following: Disposable
  readonly endpoint: StreamEndpoint

  constructor(deps: AccountStreamDeps, path: string) {
    const { brokerage, options } = deps
    this.#deps = deps
    this.#sessions = new Sessions(brokerage.realNow, brokerage.newId)
    this.#connections = new DialectConnections({
      now: brokerage.realNow,
      waitingMax: WAITING_BYTES_MAX,
      garbled: '{"id":9004',
      codes: { going: 1001, tokenEnded: 1008, slow: 1008 }
    })
    const gateway = new StreamGateway({
      sessions: this.#sessions,
      connections: this.#connections,
      begin: connection => this.#begin(connection),
      onError: brokerage.onError
    })
    this.endpoint = { path, accept: (request, socket, head) => gateway.accept(request, socket, head) }
    this.#heartbeat = setInterval(() => this.#beat(), brokerage.heartbeatMs ?? options.heartbeatMs)
    this.#heartbeat.unref()
    this.#following = brokerage.publisher.follow(this)
  }

  get connections(): DialectConnections {
    return this.#connections
  }

  session(pass: Pass): Session {
    return this.#sessions.create(pass)
  }

  order(event: OrderEvent, login: string): void {
    const { order, change } = event
    const { view, late } = this.#deps
    if (change === 'fill' && order.state === 'filled') late.filled(order.orderId)
    const account = this.#deps.accounts.numberOf(order.accountId)
    if (account === null || change === 'replaced' || change === 'triggered') return
    const readers = this.#connections.of(login).filter(connection => this.#excluded.get(connection)?.has(account) === false)
    if (readers.length === 0) return
    const chain = chainUpTo(order, view.find)
    if (!view.exists(chain)) return
    const known = view.known(chain)
    for (const frame of this.#frames(event, known, account)) for (const connection of readers) connection.event(frame)
  }

  orderAgain(): void {
    // Tradier has no status for what is only under way.
  }

  account(): void {
    // Balances and positions are not streamed.
  }

  reset(): void {
    this.#sessions.clear()
    this.#connections.reset()
  }

  close(): void {
    clearInterval(this.#heartbeat)
    this.#following[Symbol.dispose]()
    this.#connections.close()
  }

  #begin(connection: DialectConnection): StreamProtocol {
    return {
      onMessage: message => {
        const events = textList(message, 'events')
        if (!events.includes('order')) throw new Error('events must be ["order"]')
        this.#excluded.set(connection, new Set(textList(message, 'excludeAccounts')))
      },
      left: () => this.#excluded.delete(connection)
    }
  }

  /** A new order is reported twice, as pending and as open; not always in this order. */
  #frames({ change, order }: OrderEvent, known: Known, account: string): readonly string[] {
    const { brokerage, options } = this.#deps
    const isNew = change === 'accepted' && order.replaces === null
    const states = isNew ? ['pending', known.status] : [known.status]
    if (isNew && chance(`${brokerage.seed} swapped ${order.orderId}`) < options.swapped) states.reverse()
    return states.flatMap(status => [json(eventTree(known, status, account)), ...legTrees(known, status, account).map(json)])
  }

  #beat(): void {
    const timestamp = `${new Date(this.#deps.brokerage.realNow()).toISOString().slice(0, -1)}000000Z`
    const frame = JSON.stringify({ event: 'heartbeat', status: 'active', timestamp })
    for (const connection of this.#connections.all()) if (this.#excluded.has(connection)) connection.send(frame)
  }
}

function eventTree({ chain, id, type, totals, note }: Known, status: string, account: string): Branch {
  const { first, last } = chain
  return {
    id,
    event: 'order',
    status,
    type,
    price: last.limitPrice === null ? figure('0', 1) : price(last.limitPrice),
    stop_price: figure(last.stopPrice, 1),
    avg_fill_price: figure(totals.average, 1),
    exec_quantity: figure(totals.quantity, 1),
    last_fill_quantity: figure(lastFill(last), 1),
    remaining_quantity: figure(last.remainingQuantity, 1),
    transaction_date: dateOf(last.updatedAt),
    create_date: dateOf(first.acceptedAt),
    account,
    tag: note.tag ?? undefined
  }
}

function legTrees(known: Known, status: string, account: string): readonly Branch[] {
  const { chain, id } = known
  return (chain.last.legs ?? []).map((_, nth) => {
    const totals = totalsOf(fillsOf(chain, nth))
    return {
      ...eventTree({ ...known, totals }, status, account),
      id: legIdOf(chain.first.orderId, nth),
      parent_id: id,
      last_fill_quantity: plain(totals.last?.quantity ?? '0')
    }
  })
}

/** Zero on the event of the complete fill, as observed. */
function lastFill({ state, fills }: OrderView): string {
  return state === 'filled' ? '0' : (fills.at(-1)?.quantity ?? '0')
}
