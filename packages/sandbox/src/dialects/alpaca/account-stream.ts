/** The account stream: who listens, and what is sent to them of orders. */

import { minus, parseDecimal, plus } from '@trunkline/core/domain/decimal'
import type { AccountChangedEvent, AccountObserver, OrderEvent, OrderView, Pass, StreamEndpoint } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import { type DialectConnection, DialectConnections } from '../frame/connections.ts'
import type { Guest } from '../frame/sockets.ts'
import type { Access } from './access.ts'
import type { CustomerView } from './customer-view.ts'
import { debitOf, orderWire } from './order-wire.ts'
import { endpointOf, textOf } from './sockets.ts'
import { nanosOf, uuidFor } from './values.ts'

const WAITING_BYTES_MAX = 1024 * 1024
/** Alpaca sets no time for it that is known. */
const SILENT_MS_MAX = 30_000
const STREAM = 'trade_updates'
const CONNECTIONS_PER_LOGIN = 20

export interface AccountStreamDeps {
  readonly brokerage: BrokerageView
  readonly access: Access
  readonly customerView: CustomerView
}

export class AccountStream implements AccountObserver {
  readonly endpoint: StreamEndpoint
  readonly connections: DialectConnections
  readonly #deps: AccountStreamDeps
  readonly #listening = new WeakSet<DialectConnection>()
  readonly #busy = new Map<string, 'cancelling' | 'amending'>()

  constructor(deps: AccountStreamDeps) {
    const { realNow: now, onError } = deps.brokerage
    this.#deps = deps
    this.connections = new DialectConnections({
      now,
      waitingMax: WAITING_BYTES_MAX,
      garbled: '{"stream":"trade_updates","data":{"event":',
      codes: { going: 1001, tokenEnded: 1008, slow: 1008 }
    })
    this.endpoint = endpointOf({ path: '/alpaca/api/stream', codec: () => 'json-bytes', onError, welcome: guest => this.#welcome(guest) })
  }

  order(event: OrderEvent, login: string): void {
    const { change, order, at } = event
    if (change === 'accepted') this.#deps.customerView.pendingReplacements.came(order)
    // Whatever was under way with it has happened, or can no longer.
    if (change !== 'fill' && change !== 'triggered') this.#busy.delete(order.orderId)
    if (this.#listeners(login, event.accountId).length === 0) return
    const wire = orderWire(order, this.#deps.customerView.showing(order))
    const emit = (name: string, more: object = {}, shown: object = wire) => this.#publish(login, { event: name, at, order: shown, more })
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
    const { customerView, brokerage } = this.#deps
    const showing = customerView.showing(order)
    const now = showing.overlay?.busy ?? null
    const before = this.#busy.get(order.orderId) ?? null
    if (now === null) this.#busy.delete(order.orderId)
    else this.#busy.set(order.orderId, now)
    const failed = before === 'amending' && now === null ? customerView.pendingReplacements.failed(order.orderId) : undefined
    if (this.#listeners(login, order.accountId).length === 0) return
    const at = brokerage.clock.now()
    if (failed !== undefined) this.#publish(login, { event: 'rejected', at, order: failed })
    const under = (now ?? before) === 'cancelling' ? 'cancel' : 'replace'
    const event = now === null ? `order_${under}_rejected` : `pending_${under}`
    if (now !== null || before !== null) this.#publish(login, { event, at, order: orderWire(order, showing) })
  }

  /** Positions and balances are not published here. */
  account(_event: AccountChangedEvent): void {}

  reset(): void {
    this.#busy.clear()
    this.connections.reset()
  }

  #execution({ fill, order }: OrderEvent): object {
    if (fill === null) return {}
    const price = order.legs === null ? fill.price : debitOf(fill.price, order)
    return { execution_id: uuidFor(fill.execId), price, qty: fill.quantity, position_qty: this.#positionAfter(order) }
  }

  /** Events are published after the whole command: what this order has filled since is taken off the position again. */
  #positionAfter({ accountId, orderId, symbol, side, filledQuantity }: OrderView): string | undefined {
    const { engine } = this.#deps.brokerage.state
    const now = engine.order(accountId, { orderId })
    if (symbol === null || typeof now !== 'object') return undefined
    const read = (text: string) => parseDecimal(text, 'quantity')
    const since = minus(read(now.filledQuantity), read(filledQuantity))
    const held = read(engine.position(accountId, symbol)?.quantity ?? '0')
    return side.startsWith('BUY') ? minus(held, since) : plus(held, since)
  }

  #listeners(login: string, accountId: string): readonly DialectConnection[] {
    const listeners = this.connections.of(login).filter(connection => this.#listening.has(connection))
    const isShown = () => this.#deps.customerView.accounts(login).some(({ id }) => id === accountId)
    return listeners.length > 0 && isShown() ? listeners : []
  }

  #publish(login: string, { event, at, order, more = {} }: Update): void {
    const time = nanosOf(at)
    const frame = JSON.stringify({ stream: STREAM, data: { event, at: time, timestamp: time, ...more, order } })
    for (const connection of this.connections.of(login)) if (this.#listening.has(connection)) connection.event(frame)
  }

  #welcome(guest: Guest): (message: unknown) => void {
    let connection: DialectConnection | undefined
    const silence = setTimeout(() => guest.pipe.close(1008, 'not authenticated in time'), SILENT_MS_MAX).unref()
    guest.socket.on('close', () => {
      clearTimeout(silence)
      if (connection !== undefined) this.connections.remove(connection)
    })
    return message => {
      const { action, data, ...rest } = Object(message)
      const pass = this.#passOf(action === 'auth' ? rest : Object(data))
      const isAuthentication = action === 'authenticate' || action === 'auth'
      if (isAuthentication && connection === undefined && pass !== undefined) {
        clearTimeout(silence)
        const joined = this.connections.add(pass, guest.pipe)
        guest.mute = () => joined.isMute
        connection = joined
      }
      const isAuthorized = connection !== undefined && (!isAuthentication || pass !== undefined)
      const send = (stream: string, answer: object) => (connection ?? guest.pipe).send(JSON.stringify({ stream, data: answer }))
      if (isAuthentication || (action === 'listen' && connection === undefined))
        send('authorization', { status: isAuthorized ? 'authorized' : 'unauthorized', action })
      else if (action !== 'listen' || connection === undefined) send('error', { error_message: 'invalid command' })
      else send('listening', { streams: this.#listen(connection, Object(data).streams) })
    }
  }

  #passOf({
    oauth_token: token,
    key,
    key_id: keyId = key,
    secret,
    secret_key: secretKey = secret
  }: Record<string, unknown>): Pass | undefined {
    const { access } = this.#deps
    const pass = typeof token === 'string' ? access.ofToken(token) : access.ofPair(textOf(keyId), textOf(secretKey))
    return pass !== undefined && this.connections.of(pass.login).length < CONNECTIONS_PER_LOGIN ? pass : undefined
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
  readonly order: object
  readonly more?: object
}
