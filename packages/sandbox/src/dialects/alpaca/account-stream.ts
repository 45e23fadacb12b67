/** The account stream: who listens, and what is sent to them. */

import type { AccountChangedEvent, AccountObserver, OrderEvent, OrderView, StreamEndpoint } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import { type DialectConnection, DialectConnections } from '../frame/connections.ts'
import type { Access } from './access.ts'
import type { CustomerView } from './customer-view.ts'
import { Holdings } from './holdings.ts'
import { endpointOf, type Guest, readMessage, textOf, wholeOf } from './sockets.ts'
import { busyUpdateOf, frameOf, type Update, updatesOf } from './trade-updates.ts'

const WAITING_BYTES_MAX = 1024 * 1024
/** Alpaca sets no time for it that is known. */
const SILENT_MS_MAX = 30_000
const STREAM = 'trade_updates'
const CONNECTIONS_PER_LOGIN = 20
/** Letters of the ids of events, in their order. */
const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

export interface AccountStreamDeps {
  readonly brokerage: BrokerageView
  readonly access: Access
  readonly customerView: CustomerView
}

export class AccountStream implements AccountObserver {
  readonly endpoint: StreamEndpoint
  readonly connections: DialectConnections
  readonly #deps: AccountStreamDeps
  readonly #listening = new Set<DialectConnection>()
  readonly #busy = new Map<string, 'cancelling' | 'amending'>()
  readonly #holdings: Holdings
  #sent = 0

  constructor(deps: AccountStreamDeps) {
    this.#deps = deps
    this.#holdings = new Holdings(deps.brokerage.state)
    this.connections = new DialectConnections({
      now: deps.brokerage.realNow,
      waitingMax: WAITING_BYTES_MAX,
      garbled: '{"stream":"trade_updates","data":{"event":',
      codes: { going: 1001, tokenEnded: 1008, slow: 1008 }
    })
    this.endpoint = endpointOf({
      path: '/alpaca/api/stream',
      codec: wantsMsgpack => (wantsMsgpack ? 'msgpack' : 'json-bytes'),
      welcome: guest => this.#welcome(guest)
    })
  }

  order(event: OrderEvent, login: string): void {
    const { customerView } = this.#deps
    if (event.change === 'accepted') customerView.pendingReplacements.came(event.order)
    if (!this.#concerns(event.accountId, login)) return
    // Whatever was under way with it has happened, or can no longer.
    if (event.change !== 'fill' && event.change !== 'triggered') this.#busy.delete(event.order.orderId)
    for (const update of updatesOf(event, { customerView, holdings: this.#holdings })) this.#publish(login, update)
  }

  orderAgain(order: OrderView, login: string): void {
    const { customerView } = this.#deps
    const busy = customerView.showing(order).overlay?.busy ?? null
    const before = this.#busy.get(order.orderId) ?? null
    if (busy === null) this.#busy.delete(order.orderId)
    else this.#busy.set(order.orderId, busy)
    const failed = before === 'amending' && busy === null ? customerView.pendingReplacements.failed(order.orderId) : undefined
    if (!this.#concerns(order.accountId, login)) return
    if (failed !== undefined) this.#publish(login, { event: 'rejected', at: customerView.now(), order: failed })
    const pending = busyUpdateOf(order, before, customerView)
    if (pending !== null) this.#publish(login, pending)
  }

  /** Positions and balances are not published here. */
  account(event: AccountChangedEvent): void {
    this.#holdings.settle(event)
  }

  reset(): void {
    this.#busy.clear()
    this.#holdings.clear()
    this.connections.reset()
  }

  #concerns(accountId: string, login: string): boolean {
    return this.#accountsOf(login).includes(accountId)
  }

  #accountsOf(login: string): readonly string[] {
    return this.#deps.customerView.accounts(login).map(({ id }) => id)
  }

  #publish(login: string, update: Update): void {
    const listeners = this.connections.of(login).filter(connection => this.#listening.has(connection))
    if (listeners.length === 0) return
    const frame = frameOf(update, this.#eventId(update.at))
    for (const connection of listeners) connection.event(frame)
  }

  /** Sorted as the events came: ten letters of time, then a count. */
  #eventId(at: number): string {
    return `${lettersOf(Math.floor(at / 1000), 10)}${lettersOf(++this.#sent, 16)}`
  }

  #welcome(guest: Guest): void {
    const { brokerage } = this.#deps
    let connection: DialectConnection | undefined
    const silence = setTimeout(() => guest.pipe.close(1008, 'not authenticated in time'), SILENT_MS_MAX)
    silence.unref()
    const join = (pass: Parameters<DialectConnections['add']>[0]) => {
      clearTimeout(silence)
      const joined = this.connections.add(pass, guest.pipe)
      this.#holdings.begin(this.#accountsOf(pass.login))
      guest.mute = () => joined.isMute
      connection = joined
    }
    guest.socket.on('close', () => {
      clearTimeout(silence)
      if (connection === undefined) return
      this.#listening.delete(connection)
      this.connections.remove(connection)
      const { login } = connection.pass
      if (this.connections.of(login).length === 0) this.#holdings.end(this.#accountsOf(login))
    })
    guest.socket.on('message', (data, isBinary) => {
      try {
        this.#receive(readMessage(wholeOf(data), isBinary, guest.codec), { guest, connection, join })
      } catch (error) {
        brokerage.onError(error)
        guest.pipe.close(1011, 'internal error')
      }
    })
  }

  #receive(message: unknown, context: MessageContext): void {
    const { action, data, ...rest } = Object(message)
    if (action === 'authenticate' || action === 'auth') this.#authenticate(action, action === 'auth' ? rest : Object(data), context)
    else if (action === 'listen') this.#listen(Object(data).streams, context)
    else send(context, { stream: 'error', data: { error_message: 'invalid command' } })
  }

  #authenticate(action: string, data: Readonly<Record<string, unknown>>, context: MessageContext): void {
    const { access } = this.#deps
    const { oauth_token: token, key_id: keyId = data.key, secret_key: secret = data.secret } = data
    const pass = typeof token === 'string' ? access.ofToken(token) : access.ofPair({ keyId: textOf(keyId), secret: textOf(secret) })
    const isFull = pass !== undefined && context.connection === undefined && this.connections.of(pass.login).length >= CONNECTIONS_PER_LOGIN
    if (pass === undefined || isFull) {
      send(context, { stream: 'authorization', data: { status: 'unauthorized', action } })
      return
    }
    if (context.connection === undefined) context.join(pass)
    send(context, { stream: 'authorization', data: { status: 'authorized', action } })
  }

  /** The requested streams, and no others, from now on. */
  #listen(streams: unknown, context: MessageContext): void {
    const { connection } = context
    if (connection === undefined) {
      send(context, { stream: 'authorization', data: { status: 'unauthorized', action: 'listen' } })
      return
    }
    const known = Array.isArray(streams) && streams.includes(STREAM) ? [STREAM] : []
    if (known.length > 0) this.#listening.add(connection)
    else this.#listening.delete(connection)
    send(context, { stream: 'listening', data: { streams: known } })
  }
}

interface MessageContext {
  readonly guest: Guest
  readonly connection: DialectConnection | undefined
  readonly join: (pass: Parameters<DialectConnections['add']>[0]) => void
}

function send({ guest, connection }: MessageContext, message: object): void {
  const frame = JSON.stringify(message)
  if (connection !== undefined) connection.send(frame)
  else if (guest.pipe.isOpen) guest.pipe.send(frame)
}

function lettersOf(value: number, size: number): string {
  let text = ''
  for (let left = value; text.length < size; left = Math.floor(left / 32)) text = `${CROCKFORD[left % 32]}${text}`
  return text
}
