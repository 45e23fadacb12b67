/** Orders and positions as their owner sees them at TradeStation; what the state does not know of an order is remembered. */

import type { InstrumentSpec, OrderView, PositionView } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import { type Chain, chainOf } from './chains.ts'
import type { Status, TradeAction } from './order-enums.ts'
import { orderWire } from './order-wire.ts'
import { positionWire } from './positions.ts'

/** Orders whose trade action is remembered; of older ones a sale is a plain sale. */
const ACTIONS_MAX = 20_000

export type Wire = Readonly<Record<string, unknown>>

export class AccountViews implements Disposable {
  readonly #brokerage: BrokerageView
  readonly #actions = new Map<string, TradeAction>()
  readonly #following: Disposable
  #placing: TradeAction | null = null

  /** Must be made before anyone who shows orders as they happen. */
  constructor(brokerage: BrokerageView) {
    this.#brokerage = brokerage
    this.#following = brokerage.publisher.follow({
      order: ({ order, change }) => {
        if (this.#placing === null || (change !== 'accepted' && change !== 'rejected')) return
        this.#remember(order.orderId, this.#placing)
        this.#placing = null
      },
      orderAgain: () => undefined,
      account: () => undefined
    })
  }

  instrument(symbol: string): InstrumentSpec | undefined {
    return this.#brokerage.state.engine.instrument(symbol) ?? this.#brokerage.contracts.find(symbol) ?? undefined
  }

  number(accountId: string): string {
    return this.#brokerage.customers.account(accountId)?.number ?? accountId
  }

  chain(order: OrderView): Chain {
    return chainOf(this.#brokerage.state, order)
  }

  /** The order taken during `submit` was placed as this, which must be known when it is first published. */
  placing(action: TradeAction | null, submit: () => OrderView): OrderView {
    this.#placing = action
    try {
      const order = submit()
      // A hidden one has not been published yet.
      if (action !== null) this.#remember(order.orderId, action)
      return order
    } finally {
      this.#placing = null
    }
  }

  order(chain: Chain, status?: Status): Wire {
    const { first, last } = chain
    return orderWire(
      chain,
      {
        accountId: this.number(last.accountId),
        overlay: this.#brokerage.state.overlay(last.orderId),
        action: this.#actions.get(first.orderId) ?? null,
        instrumentOf: symbol => this.instrument(symbol)
      },
      status
    )
  }

  position(position: PositionView): Readonly<Record<string, string>> {
    return positionWire(position, {
      accountId: this.number(position.accountId),
      instrument: this.instrument(position.symbol),
      market: this.#brokerage.state.engine.market(position.symbol)
    })
  }

  reset(): void {
    this.#actions.clear()
  }

  [Symbol.dispose](): void {
    this.#following[Symbol.dispose]()
  }

  #remember(orderId: string, action: TradeAction): void {
    this.#actions.set(orderId, action)
    for (const oldest of this.#actions.keys()) {
      if (this.#actions.size <= ACTIONS_MAX) break
      this.#actions.delete(oldest)
    }
  }
}
