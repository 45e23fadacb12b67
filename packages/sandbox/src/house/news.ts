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

/** Whoever else is told of what happens in accounts, in the order in which it happens; hidden orders are told when they are revealed. */
export interface Witness {
  /** Every change of an order, each with the order as it was after it. `login` is the owner's id. */
  order(event: OrderEvent, login: string): void
  /** The house itself began or gave up something: the order as it is now. */
  orderAgain(order: OrderView, login: string): void
  /** Balances, and the positions named, are others than before. */
  account(event: AccountChangedEvent, login: string): void
}

/** Orders that are to stay out of sight wait here with all that happens to them; see the fault `hide`. */
export class News {
  readonly #deps: NewsDeps
  readonly #hidden = new Map<string, (() => void)[]>()
  readonly #witnesses = new Set<Witness>()
  #hideNext = false

  constructor(deps: NewsDeps) {
    this.#deps = deps
  }

  /** Tells `witness` from now on. */
  follow(witness: Witness): Disposable {
    this.#witnesses.add(witness)
    return { [Symbol.dispose]: () => void this.#witnesses.delete(witness) }
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
    this.#witness(order.orderId, order.accountId, (witness, owner) => witness.orderAgain(order, owner))
    const login = this.#listener(order.accountId)
    if (login === undefined) return
    const fields = `"order":${JSON.stringify(orderWire(order, this.#deps.books.overlay(order.orderId)))}`
    this.#publish(order.orderId, login, { ev: 'order', at: isoOf(this.#deps.books.latest), fields })
  }

  #tellOrder(event: OrderEvent): void {
    const { order, fill, at, change, accountId } = event
    if (this.#hideNext && change === 'accepted') {
      this.#hidden.set(order.orderId, [])
      this.#hideNext = false
    }
    this.#witness(order.orderId, accountId, (witness, owner) => witness.order(event, owner))
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

  #tellAccount(event: AccountChangedEvent): void {
    const { accountId, symbols, at } = event
    this.#witness(null, accountId, (witness, owner) => witness.account(event, owner))
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

  #witness(orderId: string | null, accountId: string, tell: (witness: Witness, login: string) => void): void {
    if (this.#witnesses.size === 0) return
    const login = this.#deps.people.account(accountId)?.person
    if (login === undefined) return
    const tellAll = () => {
      for (const witness of this.#witnesses) tell(witness, login)
    }
    const held = orderId === null ? undefined : this.#hidden.get(orderId)
    if (held === undefined) tellAll()
    else held.push(tellAll)
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
