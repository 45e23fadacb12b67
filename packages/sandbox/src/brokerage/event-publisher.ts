/** Publishes the engine's events to the streams: fills and orders, then positions, then balances. */

import type { AccountChangedEvent, EngineEvent, OrderEvent, OrderView } from '../engine/types.ts'
import { isoOf } from './clock.ts'
import type { Customers } from './customers.ts'
import type { BrokerageState } from './state.ts'
import type { Hub, StreamEvent } from './stream/hub.ts'
import { balanceWire, directionOf, fillWire, orderWire, positionWire } from './wire.ts'

export interface EventPublisherDeps {
  readonly state: BrokerageState
  readonly customers: Customers
  readonly hub: Hub
}

/** Observes the events of accounts, in order of occurrence; a hidden order is published when it is revealed. */
export interface AccountObserver {
  /** Every change of an order, each with the order after it. `login` is the owner's id. */
  order(event: OrderEvent, login: string): void
  /** The sandbox itself began or abandoned an operation: the current order. */
  orderAgain(order: OrderView, login: string): void
  /** Balances, and the named positions, have changed. */
  account(event: AccountChangedEvent, login: string): void
}

/** Hidden orders with all their events; see the fault `hide`. */
export class EventPublisher {
  readonly #deps: EventPublisherDeps
  readonly #hidden = new Map<string, (() => void)[]>()
  readonly #observers = new Set<AccountObserver>()
  #hideNext = false

  constructor(deps: EventPublisherDeps) {
    this.#deps = deps
  }

  /** Notifies `observer` from now on. */
  follow(observer: AccountObserver): Disposable {
    this.#observers.add(observer)
    return { [Symbol.dispose]: () => void this.#observers.delete(observer) }
  }

  isHidden(orderId: string): boolean {
    return this.#hidden.has(orderId)
  }

  /** Hides the order accepted during `submit` from its first event on. */
  hiding<T>(submit: () => T): T {
    this.#hideNext = true
    try {
      return submit()
    } finally {
      this.#hideNext = false
    }
  }

  reveal(orderId: string): void {
    const held = this.#hidden.get(orderId)
    this.#hidden.delete(orderId)
    for (const publish of held ?? []) publish()
  }

  reset(): void {
    this.#hidden.clear()
  }

  publish(events: readonly EngineEvent[]): void {
    for (const event of events) {
      if (event.type === 'order') this.#publishOrder(event)
      else if (event.type === 'account_changed') this.#publishAccount(event)
    }
  }

  /** Publishes the current order when nothing happened in the engine: the sandbox itself began or abandoned an operation. */
  publishAgain(before: OrderView): void {
    const order = this.#deps.state.again(before)
    this.#notify(order.orderId, order.accountId, (observer, owner) => observer.orderAgain(order, owner))
    const login = this.#listener(order.accountId)
    if (login === undefined) return
    const fields = `"order":${JSON.stringify(orderWire(order, this.#deps.state.overlay(order.orderId)))}`
    this.#publish(order.orderId, login, { ev: 'order', at: isoOf(this.#deps.state.latest), fields })
  }

  #publishOrder(event: OrderEvent): void {
    const { order, fill, at, change, accountId } = event
    if (this.#hideNext && change === 'accepted') {
      this.#hidden.set(order.orderId, [])
      this.#hideNext = false
    }
    this.#notify(order.orderId, accountId, (observer, owner) => observer.order(event, owner))
    const login = this.#listener(accountId)
    if (login === undefined) return
    const time = isoOf(at)
    const wire = orderWire(order, this.#deps.state.overlay(order.orderId))
    if (fill !== null) {
      const head = JSON.stringify({
        order_id: order.orderId,
        client_order_id: order.clientOrderId,
        account: accountId,
        symbol: order.symbol
      })
      const direction = directionOf(order.side)
      const fields = `"fill":${JSON.stringify(fillWire(fill))},${head.slice(1, -1)},"direction":"${direction}"`
      this.#publish(order.orderId, login, { ev: 'fill', at: time, fields })
    }
    this.#publish(order.orderId, login, { ev: 'order', at: time, fields: `"order":${JSON.stringify(wire)}` })
  }

  #publishAccount(event: AccountChangedEvent): void {
    const { accountId, symbols, at } = event
    this.#notify(null, accountId, (observer, owner) => observer.account(event, owner))
    const login = this.#listener(accountId)
    const account = this.#deps.customers.account(accountId)
    if (login === undefined || account === undefined) return
    const { engine } = this.#deps.state
    const time = isoOf(at)
    for (const symbol of symbols) {
      const position = engine.position(accountId, symbol)
      if (position === undefined) continue
      this.#deps.hub.publish(login, { ev: 'position', at: time, fields: `"position":${JSON.stringify(positionWire(position))}` })
    }
    const balance = engine.balance(accountId)
    const wire = balanceWire(balance, account.kind)
    this.#deps.hub.publish(login, { ev: 'balance', at: time, fields: `"balance":${JSON.stringify(wire)}` })
  }

  #notify(orderId: string | null, accountId: string, notify: (observer: AccountObserver, login: string) => void): void {
    if (this.#observers.size === 0) return
    const login = this.#deps.customers.account(accountId)?.person
    if (login === undefined) return
    const notifyAll = () => {
      for (const observer of this.#observers) notify(observer, login)
    }
    const held = orderId === null ? undefined : this.#hidden.get(orderId)
    if (held === undefined) notifyAll()
    else held.push(notifyAll)
  }

  #publish(orderId: string, login: string, event: StreamEvent): void {
    const held = this.#hidden.get(orderId)
    if (held === undefined) this.#deps.hub.publish(login, event)
    else held.push(() => this.#deps.hub.publish(login, event))
  }

  /** The account's owner, if that login's stream has readers. */
  #listener(accountId: string): string | undefined {
    const login = this.#deps.customers.account(accountId)?.person
    return login !== undefined && this.#deps.hub.listens(login) ? login : undefined
  }
}
