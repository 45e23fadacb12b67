/** One connection to one of Alpaca's market streams: the login, the requests and Alpaca's answers to them, and the items. */

import { Malformed } from '@trunkline/core/domain/malformed'
import { displayTextOrNull, field, integer, object, type Wire } from '../../kit/parse.ts'
import { StreamFault } from '../../kit/stream-fault.ts'
import type { Connection, Frame, StreamMessage, StreamProtocol } from '../../kit/stream-protocol.ts'
import type { Codec } from './codec.ts'
import { isItem, type StreamedChannel } from './items.ts'
import type { Subscription } from './subscription.ts'

/** Far below the 16 KiB that Alpaca reads of a message. */
const SYMBOLS_MAX = 400
const TEND_MS = 3_600_000
/** A message of items is fully handled by the time its frame handler returns. */
const NOTHING: readonly StreamMessage<never>[] = []

const CHANNELS = { trades: 'trades', quotes: 'quotes', depth: 'orderbooks' } as const satisfies Record<StreamedChannel, string>

/** Errors about the connection and not about a request. */
const FATAL: Readonly<Record<number, StreamFault['gap']>> = {
  401: 'refused',
  402: 'token',
  404: 'refused',
  406: 'refused',
  407: 'overflow',
  411: 'refused',
  500: 'lost'
}
const ALREADY_AUTHENTICATED = 403
const AUTH_FAILED = 402

/** Receives the results as messages arrive. */
export interface MarketProtocolOwner {
  /** Alpaca has accepted the login; topics can be requested. */
  opened(protocol: MarketProtocol): void
  streamed(subscription: Subscription): void
  refused(subscription: Subscription, message: string): void
  /** @throws Malformed */
  items(items: readonly unknown[]): void
  /** The credentials were not taken. */
  authFailed(): void
}

/** What was sent and not answered yet. Each is answered once, in order. */
interface PendingRequest {
  readonly action: 'subscribe' | 'unsubscribe'
  readonly members: readonly Subscription[]
}

export interface MarketProtocolOptions {
  readonly url: string
  /** Alpaca is silent while nothing trades: a ping so often, and its answers are the signs of life. */
  readonly pingMs: number
  /** The first message. */
  readonly hello: object
  readonly codec: Codec
}

export class MarketProtocol implements StreamProtocol<never> {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly hello: readonly Frame[]
  readonly pingMs: number
  readonly #codec: Codec
  readonly #owner: MarketProtocolOwner
  #connection: Connection<never> | null = null
  #isAuthenticated = false
  #pending: PendingRequest[] = []

  constructor({ url, pingMs, hello, codec }: MarketProtocolOptions, owner: MarketProtocolOwner) {
    this.url = url
    this.pingMs = pingMs
    this.headers = codec.headers
    this.hello = [codec.encode(hello)]
    this.#codec = codec
    this.#owner = owner
  }

  opened(connection: Connection<never>): void {
    this.#connection = connection
  }

  onFrame(frame: string): readonly StreamMessage<never>[] {
    return this.#receive(this.#codec.decode(frame))
  }

  onBinaryFrame(frame: Uint8Array): readonly StreamMessage<never>[] {
    return this.#receive(this.#codec.decode(frame))
  }

  async maintain(): Promise<number> {
    this.#owner.opened(this)
    return TEND_MS
  }

  subscribe(subscriptions: readonly Subscription[]): void {
    for (let from = 0; from < subscriptions.length; from += SYMBOLS_MAX)
      this.#send({ action: 'subscribe', members: subscriptions.slice(from, from + SYMBOLS_MAX) })
  }

  unsubscribe(subscriptions: readonly Subscription[]): void {
    for (let from = 0; from < subscriptions.length; from += SYMBOLS_MAX)
      this.#send({ action: 'unsubscribe', members: subscriptions.slice(from, from + SYMBOLS_MAX) })
  }

  #send(request: PendingRequest): void {
    this.#pending.push(request)
    const byChannel = Map.groupBy(request.members, ({ topic }) => CHANNELS[topic.channel])
    const lists = [...byChannel].map(([channel, members]) => [channel, members.map(({ topic }) => topic.symbol)])
    this.#connection?.send(this.#codec.encode({ action: request.action, ...Object.fromEntries(lists) }))
  }

  /** Messages about the connection hold nothing else. */
  #receive(items: readonly unknown[]): readonly StreamMessage<never>[] {
    const [first] = items
    if (items.length !== 1 || !isItem(first)) return this.#publishItems(items)
    switch (first.T) {
      case 'success':
        return this.#success(object(first, 'message'))
      case 'error':
        return this.#error(object(first, 'message'))
      case 'subscription':
        return this.#subscribed(object(first, 'message'))
      default:
        return this.#publishItems(items)
    }
  }

  #publishItems(items: readonly unknown[]): readonly StreamMessage<never>[] {
    if (!this.#isAuthenticated) throw new Malformed('message', 'an answer to the login', items[0])
    this.#owner.items(items)
    return NOTHING
  }

  #success(message: Wire): readonly StreamMessage<never>[] {
    if (field(message, 'msg') !== 'authenticated' || this.#isAuthenticated) return NOTHING
    this.#isAuthenticated = true
    return [{ type: 'live', heartbeatMs: this.pingMs }]
  }

  #error(message: Wire): readonly StreamMessage<never>[] {
    const code = integer(message, 'code')
    const detail = `${displayTextOrNull(message, 'msg') ?? 'no reason given'} (${code})`
    if (code === ALREADY_AUTHENTICATED && this.#isAuthenticated) return NOTHING
    if (code === AUTH_FAILED) this.#owner.authFailed()
    const cause = this.#isAuthenticated ? FATAL[code] : (FATAL[code] ?? 'refused')
    if (cause !== undefined) throw new StreamFault(cause, `Alpaca ended the market stream: ${detail}`)
    this.#requestRefused(detail)
    return NOTHING
  }

  /** One of many may be what it does not accept, so each is requested alone. */
  #requestRefused(detail: string): void {
    const request = this.#pending.shift()
    if (request === undefined) throw new Malformed('our message', 'one that Alpaca can read', detail)
    if (request.action === 'unsubscribe') return
    const wanted = request.members.filter(({ isRequested }) => isRequested)
    const [only, ...more] = wanted
    if (only === undefined) return
    if (more.length === 0) this.#owner.refused(only, `Alpaca does not stream ${only.topic.channel} of ${only.topic.symbol}: ${detail}`)
    else for (const member of wanted) this.subscribe([member])
  }

  #subscribed(message: Wire): readonly StreamMessage<never>[] {
    const request = this.#pending.shift()
    if (request?.action !== 'subscribe') return NOTHING
    const lists = new Map(Object.entries(CHANNELS).map(([channel, list]) => [channel, texts(message, list)]))
    for (const member of request.members) {
      if (!member.isRequested || member.isLive) continue
      const { channel, symbol } = member.topic
      if (lists.get(channel)?.has(symbol) === true) this.#owner.streamed(member)
      else this.#owner.refused(member, `Alpaca did not begin to stream ${channel} of ${symbol}`)
    }
    return NOTHING
  }
}

/** A stream that has no such channel leaves its list out. */
function texts(wire: Wire, key: string): ReadonlySet<string> {
  const value = field(wire, key) ?? []
  if (Array.isArray(value) && value.every(item => typeof item === 'string')) return new Set(value)
  throw new Malformed(key, 'a list of strings', value)
}
