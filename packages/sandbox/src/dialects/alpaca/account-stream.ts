/** The account stream: who listens, and what is sent to them of orders. */

import { minus, parseDecimal, plus } from '@trunkline/core/domain/decimal'
import type { AccountChangedEvent, AccountObserver, OrderEvent, OrderView, Pass } from '../frame/brokerage.ts'
import type { DialectConnection } from '../frame/connections.ts'
import type { Access } from './access.ts'
import type { CustomerView } from './customer-view.ts'
import { debitOf, orderWire } from './order-wire.ts'
import { AlpacaStream, type StreamGuest } from './sockets.ts'
import { nanosOf, uuidFor } from './values.ts'

const STREAM = 'trade_updates'
const CONNECTIONS_PER_LOGIN = 20

export class AccountStream implements AccountObserver {
  readonly sockets: AlpacaStream
  readonly #view: CustomerView
  readonly #access: Access
  readonly #listening = new WeakSet<DialectConnection>()
  readonly #busy = new Map<string, 'cancelling' | 'amending'>()

  constructor(view: CustomerView, access: Access) {
    this.#view = view
    this.#access = access
    this.sockets = new AlpacaStream(view.brokerage, {
      ...{ path: '/alpaca/api/stream', codec: () => 'json-bytes', waitingMax: 1024 * 1024, slow: 1008 },
      garbled: '{"stream":"trade_updates","data":{"event":',
      // Alpaca sets no time for it that is known.
      silentMs: 30_000,
      silent: guest => guest.close(1008, 'not authenticated in time'),
      welcome: guest => this.#welcome(guest)
    })
  }

  order(event: OrderEvent, login: string): void {
    const { change, order, at } = event
    if (change === 'accepted') this.#view.pendingReplacements.came(order)
    // Whatever was under way with it has happened, or can no longer.
    if (change !== 'fill' && change !== 'triggered') this.#busy.delete(order.orderId)
    if (this.#listeners(login, order).length === 0) return
    const wire = orderWire(order, this.#view.showing(order))
    const emit = (name: string, more: object = {}, shown: object = wire) =>
      this.#publish(login, order, { event: name, at, more, wire: shown })
    if (change === 'accepted') {
      emit('pending_new', {}, { ...wire, status: 'pending_new' })
      // It may carry an execution id, and is no fill all the same.
      emit(wire.status === 'accepted' ? 'accepted' : 'new', { execution_id: uuidFor(`${order.orderId} new`) })
    } else if (change === 'fill') emit(order.state === 'filled' ? 'fill' : 'partial_fill', this.#execution(event))
    else if (change === 'canceled') emit(wire.status === 'rejected' ? 'rejected' : 'canceled')
    // Anyone who sent what is rejected at once is answered with a refusal.
    else if (change === 'expired' || change === 'replaced') emit(change)
  }

  /** The sandbox began to cancel or replace an order, or gave that up. */
  orderAgain(order: OrderView, login: string): void {
    const { pendingReplacements, brokerage } = this.#view
    const shown = this.#view.showing(order)
    const now = shown.overlay?.busy ?? null
    const before = this.#busy.get(order.orderId) ?? null
    if (now === null) this.#busy.delete(order.orderId)
    else this.#busy.set(order.orderId, now)
    const failed = before === 'amending' && now === null ? pendingReplacements.failed(order.orderId) : undefined
    const at = brokerage.clock.now()
    if (failed !== undefined) this.#publish(login, order, { event: 'rejected', at, wire: failed })
    const under = (now ?? before) === 'cancelling' ? 'cancel' : 'replace'
    const event = now === null ? `order_${under}_rejected` : `pending_${under}`
    if (now !== null || before !== null) this.#publish(login, order, { event, at, wire: orderWire(order, shown) })
  }

  /** Positions and balances are not published here. */
  account(_event: AccountChangedEvent): void {}

  reset(): void {
    this.#busy.clear()
    this.sockets.connections.reset()
  }

  #execution({ fill, order }: OrderEvent): object {
    if (fill === null) return {}
    const price = order.legs === null ? fill.price : debitOf(fill.price, order)
    return { execution_id: uuidFor(fill.execId), price, qty: fill.quantity, position_qty: this.#positionAfter(order) }
  }

  /** Events are published after the whole command: what this order has filled since is taken off the position again. */
  #positionAfter({ accountId, orderId, symbol, side, filledQuantity }: OrderView): string | undefined {
    const { engine } = this.#view.brokerage.state
    const now = engine.order(accountId, { orderId })
    if (symbol === null || typeof now !== 'object') return undefined
    const read = (text: string) => parseDecimal(text, 'quantity')
    const since = minus(read(now.filledQuantity), read(filledQuantity))
    const held = read(engine.position(accountId, symbol)?.quantity ?? '0')
    return side.startsWith('BUY') ? minus(held, since) : plus(held, since)
  }

  /** None for an account that Alpaca does not show. */
  #listeners(login: string, { accountId }: OrderView): readonly DialectConnection[] {
    const listeners = this.sockets.connections.of(login).filter(connection => this.#listening.has(connection))
    const isShown = () => this.#view.accounts(login).some(({ id }) => id === accountId)
    return listeners.length > 0 && isShown() ? listeners : []
  }

  #publish(login: string, order: OrderView, { event, at, wire, more = {} }: Update): void {
    const time = nanosOf(at)
    const frame = JSON.stringify({ stream: STREAM, data: { event, at: time, timestamp: time, ...more, order: wire } })
    for (const connection of this.#listeners(login, order)) connection.event(frame)
  }

  #welcome(guest: StreamGuest): (message: unknown) => void {
    let connection: DialectConnection | undefined
    return message => {
      const { action, data, ...rest } = Object(message)
      const isAuthentication = action === 'authenticate' || action === 'auth'
      if (isAuthentication || (action === 'listen' && connection === undefined)) {
        const pass = isAuthentication ? this.#passOf(action === 'auth' ? rest : Object(data)) : undefined
        if (pass !== undefined) connection ??= guest.join(pass)
        guest.send({ stream: 'authorization', data: { status: pass === undefined ? 'unauthorized' : 'authorized', action } })
      } else if (action === 'listen' && connection !== undefined)
        guest.send({ stream: 'listening', data: { streams: this.#listen(connection, Object(data).streams) } })
      else guest.send({ stream: 'error', data: { error_message: 'invalid command' } })
    }
  }

  /** A token or keys, in the older form of the login or the newer. */
  #passOf({ oauth_token: token, key, key_id, secret, secret_key }: Record<string, unknown>): Pass | undefined {
    const pass = token === undefined ? this.#access.ofPair(key_id ?? key, secret_key ?? secret) : this.#access.ofPair('oauth', token)
    return pass !== undefined && this.sockets.connections.of(pass.login).length < CONNECTIONS_PER_LOGIN ? pass : undefined
  }

  /** The requested streams, and no others, from now on. */
  #listen(connection: DialectConnection, streams: unknown): readonly string[] {
    const isMeant = Array.isArray(streams) && streams.includes(STREAM)
    if (isMeant) this.#listening.add(connection)
    else this.#listening.delete(connection)
    return isMeant ? [STREAM] : []
  }
}

interface Update {
  readonly event: string
  readonly at: number
  readonly wire: object
  readonly more?: object
}
