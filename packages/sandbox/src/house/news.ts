/** What the streams are told of what happened in the engine: fills and orders, then positions, then balances. */

import type { AccountChangedEvent, EngineEvent, OrderEvent, OrderView } from '../engine/types.ts'
import type { Books } from './books.ts'
import { isoOf } from './clock.ts'
import type { People } from './people.ts'
import type { Hub, StreamEvent } from './stream/hub.ts'
import { balanceWire, directionOf, fillWire, orderWire, positionWire } from './wire.ts'

export interface NewsDeps {
  readonly books: Books
  readonly people: People
  readonly hub: Hub
}

/** Orders that are to stay out of sight wait here with all that happens to them; see the fault `hide`. */
export class News {
  readonly #deps: NewsDeps
  readonly #hidden = new Map<string, (() => void)[]>()
  #hideNext = false

  constructor(deps: NewsDeps) {
    this.#deps = deps
  }

  isHidden(orderId: string): boolean {
    return this.#hidden.has(orderId)
  }

  /** The order taken during `submit` is hidden from its first event on. */
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
    for (const tell of held ?? []) tell()
  }

  reset(): void {
    this.#hidden.clear()
  }

  tell(events: readonly EngineEvent[]): void {
    for (const event of events) {
      if (event.type === 'order') this.#tellOrder(event)
      else if (event.type === 'account_changed') this.#tellAccount(event)
    }
  }

  /** The order as it is now, where nothing in the engine has happened: the house itself began or gave up something. */
  tellAgain(before: OrderView): void {
    const order = this.#deps.books.again(before)
    const login = this.#listener(order.accountId)
    if (login === undefined) return
    const fields = `"order":${JSON.stringify(orderWire(order, this.#deps.books.overlay(order.orderId)))}`
    this.#publish(order.orderId, login, { ev: 'order', at: isoOf(this.#deps.books.latest), fields })
  }

  #tellOrder({ order, fill, at, change, accountId }: OrderEvent): void {
    if (this.#hideNext && change === 'accepted') {
      this.#hidden.set(order.orderId, [])
      this.#hideNext = false
    }
    const login = this.#listener(accountId)
    if (login === undefined) return
    const time = isoOf(at)
    const wire = orderWire(order, this.#deps.books.overlay(order.orderId))
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

  #tellAccount({ accountId, symbols, at }: AccountChangedEvent): void {
    const login = this.#listener(accountId)
    const account = this.#deps.people.account(accountId)
    if (login === undefined || account === undefined) return
    const { engine } = this.#deps.books
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

  #publish(orderId: string, login: string, event: StreamEvent): void {
    const held = this.#hidden.get(orderId)
    if (held === undefined) this.#deps.hub.publish(login, event)
    else held.push(() => this.#deps.hub.publish(login, event))
  }

  /** Whose account it is, if anybody follows that login's stream. */
  #listener(accountId: string): string | undefined {
    const login = this.#deps.people.account(accountId)?.person
    return login !== undefined && this.#deps.hub.listens(login) ? login : undefined
  }
}
