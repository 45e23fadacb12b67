/** The data streams of one kind of instrument: who comes in, and how what they are given leaves. */

import type { Pass, StreamEndpoint } from '../../frame/brokerage.ts'
import type { BrokerageView } from '../../frame/brokerage-view.ts'
import { type DialectConnection, DialectConnections } from '../../frame/connections.ts'
import type { Access } from '../access.ts'
import type { Limits } from '../limits.ts'
import { endpointOf, type Guest, readMessage, textOf, wholeOf } from '../sockets.ts'
import { CHANNELS, Channels, type Reader } from './channels.ts'
import { ERRORS, errorFrame, type StreamError, Subscription, successFrame } from './session.ts'
import type { DataSource } from './source.ts'
import type { Kind } from './wire.ts'

const AUTH_MS_MAX = 10_000
const WAITING_BYTES_MAX = 16 * 1024 * 1024
/** Items that leave in one frame at most. */
const TOGETHER_MAX = 500

const BASE = '/alpaca/data-stream'
const PATHS: Readonly<Record<Kind, readonly string[]>> = {
  stocks: ['/v2/iex', '/v2/sip'],
  crypto: ['/v1beta3/crypto/us'],
  options: ['/v1beta1/indicative', '/v1beta1/opra']
}

export interface DataStreamDeps {
  readonly brokerage: BrokerageView
  readonly access: Access
  readonly source: DataSource
  readonly limits: Limits
}

export class DataStream {
  readonly endpoints: readonly StreamEndpoint[]
  readonly connections: DialectConnections
  readonly #deps: DataStreamDeps
  readonly #kind: Kind
  readonly #channels: Channels
  /** Clients by endpoint and login. */
  readonly #counts = new Map<string, number>()

  constructor(deps: DataStreamDeps, kind: Kind) {
    this.#deps = deps
    this.#kind = kind
    this.#channels = new Channels(deps.brokerage, deps.source, kind)
    this.connections = new DialectConnections({
      now: deps.brokerage.realNow,
      waitingMax: WAITING_BYTES_MAX,
      garbled: '[{"T":"t","S":',
      codes: { going: 1001, tokenEnded: 1008, slow: ERRORS.slow_client[0] + 4000 }
    })
    this.endpoints = PATHS[kind].map(path =>
      endpointOf({
        path: `${BASE}${path}`,
        // Options are sent in MessagePack, whatever a client asks for.
        codec: wantsMsgpack => (wantsMsgpack || kind === 'options' ? 'msgpack' : 'json'),
        welcome: guest => this.#welcome(guest, path)
      })
    )
  }

  close(): void {
    this.connections.close()
    this.#channels.close()
  }

  #welcome(guest: Guest, path: string): void {
    const visit = new Visit(guest, {
      ...this.#deps,
      path,
      enter: pass => this.#enter(pass, path, guest),
      subscription: reader =>
        new Subscription({
          names: CHANNELS[this.#kind],
          channels: this.#channels,
          reader,
          symbolsMax: this.#deps.limits.symbolsPerStream
        }),
      leave: connection => this.#leave(connection, path)
    })
    visit.begin()
  }

  #enter(pass: Pass, path: string, guest: Guest): DialectConnection | null {
    const key = `${path} ${pass.login}`
    const count = this.#counts.get(key) ?? 0
    if (count >= this.#deps.limits.connectionsPerStream) return null
    this.#counts.set(key, count + 1)
    return this.connections.add(pass, guest.pipe)
  }

  #leave(connection: DialectConnection, path: string): void {
    const key = `${path} ${connection.pass.login}`
    const count = (this.#counts.get(key) ?? 1) - 1
    if (count === 0) this.#counts.delete(key)
    else this.#counts.set(key, count)
    this.connections.remove(connection)
  }
}

interface VisitDeps {
  readonly brokerage: BrokerageView
  readonly access: Access
  readonly path: string
  /** Null: there are too many already. */
  readonly enter: (pass: Pass) => DialectConnection | null
  readonly subscription: (reader: Reader) => Subscription
  readonly leave: (connection: DialectConnection) => void
}

/** One client from its coming to its going. */
class Visit implements Reader {
  readonly #guest: Guest
  readonly #deps: VisitDeps
  readonly #late: NodeJS.Timeout
  #joined: { readonly connection: DialectConnection; readonly subscription: Subscription } | null = null
  #items: string[] = []

  constructor(guest: Guest, deps: VisitDeps) {
    this.#guest = guest
    this.#deps = deps
    this.#late = setTimeout(() => this.#refuse('auth_timeout'), AUTH_MS_MAX)
    this.#late.unref()
  }

  begin(): void {
    const { socket, request, codec, pipe } = this.#guest
    socket.on('close', () => this.#left())
    socket.on('message', (data, isBinary) => {
      try {
        this.#receive(readMessage(wholeOf(data), isBinary, codec))
      } catch (error) {
        this.#deps.brokerage.onError(error)
        pipe.close(1011, 'internal error')
      }
    })
    pipe.send(successFrame('connected'))
    const pass = this.#deps.access.ofHeaders(request.headers)
    if (pass !== null) this.#authenticate(pass)
  }

  /** Items of one turn of the event loop are sent together. */
  put(item: string): void {
    if (this.#items.push(item) === 1) setImmediate(() => this.#flush())
    else if (this.#items.length >= TOGETHER_MAX) this.#flush()
  }

  #flush(): void {
    const items = this.#items.splice(0)
    if (items.length > 0) this.#joined?.connection.event(`[${items.join(',')}]`)
  }

  #receive(message: unknown): void {
    if (typeof message !== 'object' || message === null) {
      this.#send(errorFrame('invalid_syntax'))
      return
    }
    const { action, ...rest } = message as Readonly<Record<string, unknown>>
    if (action === 'auth') this.#present(rest)
    else if (action === 'subscribe' || action === 'unsubscribe') this.#change(action, rest)
    else this.#send(errorFrame('invalid_syntax'))
  }

  #present({ key, secret }: Readonly<Record<string, unknown>>): void {
    if (this.#joined !== null) this.#send(errorFrame('already_authenticated'))
    else this.#authenticate(this.#deps.access.ofPair({ keyId: textOf(key), secret: textOf(secret) }))
  }

  #authenticate(pass: Pass | undefined): void {
    const entered = this.#enter(pass)
    if (typeof entered === 'string') {
      this.#refuse(entered)
      return
    }
    clearTimeout(this.#late)
    this.#joined = { connection: entered, subscription: this.#deps.subscription(this) }
    this.#guest.mute = () => entered.isMute
    this.#send(successFrame('authenticated'))
  }

  #enter(pass: Pass | undefined): DialectConnection | StreamError {
    if (pass === undefined) return 'auth_failed'
    if (!pass.scopes.has('data')) return 'insufficient_scope'
    return this.#deps.enter(pass) ?? 'connection_limit'
  }

  #change(action: 'subscribe' | 'unsubscribe', message: Readonly<Record<string, unknown>>): void {
    if (this.#joined === null) {
      this.#send(errorFrame('not_authenticated'))
      return
    }
    const { subscription } = this.#joined
    const error = subscription.change(action, message)
    // Items that arrive meanwhile are sent at the end of this turn, so after the answer.
    this.#send(error === null ? subscription.shown() : errorFrame(error))
  }

  #refuse(error: StreamError): void {
    this.#send(errorFrame(error))
    this.#guest.pipe.close(1008, ERRORS[error][1])
  }

  #send(frame: string): void {
    if (this.#joined !== null) this.#joined.connection.send(frame)
    else if (this.#guest.pipe.isOpen) this.#guest.pipe.send(frame)
  }

  #left(): void {
    clearTimeout(this.#late)
    if (this.#joined === null) return
    this.#joined.subscription.end()
    this.#deps.leave(this.#joined.connection)
    this.#items = []
  }
}
