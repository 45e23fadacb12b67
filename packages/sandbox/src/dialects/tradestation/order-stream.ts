/** The order streams: all of today's orders, then whatever becomes of them, in the order of TradeStation's own small steps. */

import { draw, hasSize, keyOf, type OrderEvent, type OrderView, Problem } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import { texts } from '../frame/sign-in.ts'
import type { AccountViews, Wire } from './account-views.ts'
import type { Chain } from './chains.ts'
import type { Modes } from './options.ts'
import type { Status } from './order-enums.ts'
import { todaysOrders } from './order-lists.ts'
import { type RequestedAccounts, requestedAccounts } from './ownership.ts'
import type { StreamCall, StreamEmitter, StreamProtocol, StreamRoute } from './stream-server.ts'
import { timeOf } from './times.ts'

export interface OrderStreamsDeps {
  readonly brokerage: BrokerageView
  readonly views: AccountViews
  readonly modes: Modes
}

interface Reader {
  readonly accounts: ReadonlySet<string>
  readonly emitter: StreamEmitter
}

export class OrderStreams implements Disposable {
  readonly #deps: OrderStreamsDeps
  readonly #readers = new Set<Reader>()
  readonly #following: Disposable
  readonly #key: number
  #draws = 0

  constructor(deps: OrderStreamsDeps) {
    this.#deps = deps
    this.#key = keyOf(`${deps.brokerage.seed} order stream`)
    this.#following = deps.brokerage.publisher.follow({
      order: event => this.#onOrder(event.order, () => this.#frames(event)),
      orderAgain: order => this.#onOrder(order, () => [this.#deps.views.order(this.#deps.views.chain(order))]),
      account: () => undefined
    })
  }

  routes(): readonly StreamRoute[] {
    return [{ path: '/brokerage/stream/accounts/:accounts/orders', open: call => this.#open(call) }]
  }

  [Symbol.dispose](): void {
    this.#following[Symbol.dispose]()
  }

  #open({ request, customer }: StreamCall): StreamProtocol {
    const { brokerage } = this.#deps
    const requested = requestedAccounts(brokerage.customers, customer.id, texts(request.params).accounts ?? '')
    mustHaveOne(requested)
    let reader: Reader | null = null
    return {
      begin: emitter => {
        reader = { accounts: new Set(requested.accounts.map(({ id }) => id)), emitter }
        this.#emitAll(emitter, requested)
        this.#readers.add(reader)
      },
      end: () => {
        if (reader !== null) this.#readers.delete(reader)
      }
    }
  }

  #emitAll(emitter: StreamEmitter, { accounts, errors }: RequestedAccounts): void {
    const { brokerage, views } = this.#deps
    const chains = todaysOrders(
      brokerage,
      views,
      accounts.map(({ id }) => id)
    )
    for (const chain of chains) emitter.send(views.order(chain))
    for (const error of errors) emitter.send(error)
    emitter.send({ StreamStatus: 'EndSnapshot' })
  }

  #onOrder(order: OrderView, frames: () => readonly Wire[]): void {
    const readers = [...this.#readers].filter(({ accounts }) => accounts.has(order.accountId))
    if (readers.length === 0) return
    const updates = frames()
    for (const { emitter } of readers) for (const frame of updates) emitter.event(frame)
  }

  #frames({ change, order }: OrderEvent): readonly Wire[] {
    const { views } = this.#deps
    // The replacing order reports it.
    if (change === 'replaced' || !hasSize(order)) return []
    const chain = views.chain(order)
    const now = views.order(chain)
    switch (change) {
      case 'accepted':
        return order.replaces === null ? [this.#as(chain, 'OPN'), ...this.#repeated(now), now] : this.#replaced(chain, now)
      case 'rejected':
        return [this.#as(chain, 'OPN'), now]
      case 'triggered':
        // It carries a closing time and lives on.
        return [{ ...this.#as(chain, 'STP'), ClosedDateTime: timeOf(order.updatedAt) }, now]
      case 'fill':
        return this.#filled(chain, now)
      case 'canceled':
        return this.#cancelled(chain, now)
      case 'expired':
        return [now]
    }
  }

  /** One leg can come twice, in the place of another. */
  #repeated(now: Wire): readonly Wire[] {
    const { Legs: legs } = now
    return Array.isArray(legs) && legs.length > 1 && this.#chance() ? [{ ...now, Legs: legs.map(() => legs[0]) }] : []
  }

  /** The old terms can be seen to go before the new ones come, without the order being closed. */
  #replaced(chain: Chain, now: Wire): readonly Wire[] {
    const [old, orders] = [chain.orders.at(-2), chain.orders.slice(0, -1)]
    if (old === undefined || !this.#chance()) return [now]
    const before = { ...chain, orders, last: old }
    return [this.#as(before, 'RSN'), this.#as(before, 'OUT'), now]
  }

  /** The quantity can be reported before the status has caught up. */
  #filled(chain: Chain, now: Wire): readonly Wire[] {
    if (!this.#chance()) return [now]
    const early = open(this.#as(chain, 'ACK'))
    return now.Status === 'FLL' ? [early, now] : [early]
  }

  /** The end can be reported twice: without its time, then with it. */
  #cancelled(chain: Chain, now: Wire): readonly Wire[] {
    const requested = chain.last.reason?.code === 'requested' && now.Status !== 'REJ' ? [this.#as(chain, 'UCN')] : []
    return this.#chance() && now.Status !== 'REJ' ? [...requested, open(now), now] : [...requested, now]
  }

  #as(chain: Chain, status: Status): Wire {
    return this.#deps.views.order(chain, status)
  }

  #chance(): boolean {
    return (draw(this.#key, ++this.#draws) & 0xff) < this.#deps.modes.now.oddityChance
  }
}

function open({ ClosedDateTime: _, ...frame }: Wire): Wire {
  return frame
}

/** @throws Problem when none of the accounts is theirs; the others are reported on the stream */
export function mustHaveOne({ accounts }: RequestedAccounts): void {
  if (accounts.length === 0) throw new Problem('scope_missing', 'Request not supported for account')
}
