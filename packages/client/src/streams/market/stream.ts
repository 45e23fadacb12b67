import { type ConnectionOptions, type Incoming, StreamConnection } from '../connection.ts'
import { isFinal, StreamError } from '../errors.ts'
import type { Reading } from '../reader.ts'
import { bars, type Channel, chain, depth, quotes, trades } from './channels.ts'
import { HistoryRead } from './history.ts'
import type { Bar, BarsOptions, Contract, Depth, HistoryOptions, Quote, Session, Subscribing, Trade } from './items.ts'
import { ChannelSubscription, type Subscription } from './subscription.ts'

/** `url`: the market data stream, such as `wss://trunkline.example.com/market-data/stream`. */
export interface MarketStreamOptions extends ConnectionOptions {
  /** Gets an access token of the connection. Called at first, and when the service takes the last one no longer. */
  readonly token: () => Promise<string>
}

const SUBSCRIPTIONS_MAX = 500
const AGAIN_MS = 5_000
const AUTHENTICATE = 'authenticate'
/**
 * What the service writes when a key or a secret was replaced, or the login renewed; another session that took over is left alone. There is
 * no code for it: with other words the stream ends, as for any reason that needs a person.
 */
const RENEWABLE = /^auth_error: .*(get a new access token|connect again)/i
/** Of a login that was renewed: a new token would end the other sessions of the user, which have the old one. */
const TOKEN_HOLDS = /connect again/i
/** Codes of what may go well the next time. The limit of subscriptions is ours as well: one that was left has yet to end. */
const PASSING: ReadonlySet<unknown> = new Set(['broker_unavailable', 'internal_error', 'subscription_limit'])

/** Market data of one connection of a user, over one WebSocket that is open while somebody reads. Subscriptions outlive it. */
export class MarketStream {
  readonly #options: MarketStreamOptions
  readonly #connection: StreamConnection
  readonly #subscriptions = new Set<Subscription>()
  /** Of the present session: what has no answer yet, by `request_id`, … */
  readonly #asked = new Map<string, Subscription>()
  /** … and what has one, by `sub_id`. */
  readonly #accepted = new Map<string, Subscription>()
  /** Ends the wait of what the broker could not answer. */
  readonly #waiting = new Map<Subscription, () => void>()
  #requestId = 0
  #token: string | null = null

  constructor(options: MarketStreamOptions) {
    this.#options = options
    this.#connection = new StreamConnection(options, {
      opened: () => void this.#authenticate(),
      received: message => this.#received(message),
      ended: reason => this.#ended(reason),
      failed: error => {
        for (const one of [...this.#subscriptions]) one.end(error)
      },
      ping: () => ({ action: 'ping', request_id: this.#nextId() }),
      secret: () => this.#token ?? '',
      renewable: RENEWABLE
    })
  }

  /** Milliseconds since the service was last received, null before the first message. */
  get ageMs(): number | null {
    return this.#connection.ageMs
  }

  /** Past bars, then the open one whenever it changes, and each once when it closes. Those of an interruption come when it is over. */
  bars(options: BarsOptions): Reading<Bar> {
    return this.#read(bars(options), options)
  }

  /** Every trade while connected. Those of an interruption are not sent; `onStatus` reports it. */
  trades(options: Subscribing & { readonly session?: Session }): Reading<Trade> {
    return this.#read(trades(options.symbol, options.session), options)
  }

  /** The present quote, then each newer one that the reader is in time for. */
  quotes(options: Subscribing): Reading<Quote> {
    return this.#read(quotes(options.symbol), options)
  }

  /** The present book, then each newer one that the reader is in time for. */
  depth(options: Subscribing & { readonly levels?: number }): Reading<Depth> {
    return this.#read(depth(options.symbol, options.levels), options)
  }

  /** Every contract of the expiration, then each that changes. */
  chain(options: Subscribing & { readonly expiration: string; readonly greeks?: boolean }): Reading<Contract> {
    return this.#read(chain(options.symbol, options.expiration, options.greeks ?? false), options)
  }

  /** Past bars, at most 50,000. Asked for again if the connection breaks meanwhile. @throws StreamError */
  async history(options: HistoryOptions): Promise<readonly Bar[]> {
    const { signal } = options
    signal?.throwIfAborted()
    this.#demandCapacity()
    const read = new HistoryRead(options)
    const abort = (): void => read.end(signal?.reason)
    this.#add(read)
    signal?.addEventListener('abort', abort)
    try {
      return await read.bars
    } finally {
      signal?.removeEventListener('abort', abort)
      this.#remove(read)
    }
  }

  #read<T>(channel: Channel<T>, { signal, onStatus }: Subscribing): Reading<T> {
    this.#demandCapacity()
    const subscription = new ChannelSubscription(channel, onStatus, this.#connection.timers, () => this.#remove(subscription))
    subscription.stopWith(signal)
    if (!subscription.isEnded) this.#add(subscription)
    return subscription
  }

  #demandCapacity(): void {
    if (this.#subscriptions.size >= SUBSCRIPTIONS_MAX)
      throw new StreamError('too_many', `one stream has at most ${SUBSCRIPTIONS_MAX} subscriptions`)
  }

  #add(subscription: Subscription): void {
    this.#subscriptions.add(subscription)
    this.#connection.start()
    this.#ask(subscription)
  }

  #remove(subscription: Subscription): void {
    this.#subscriptions.delete(subscription)
    this.#waiting.get(subscription)?.()
    for (const [id, one] of this.#asked) if (one === subscription) this.#asked.delete(id)
    for (const [id, one] of this.#accepted) if (one === subscription) this.#unsubscribe(id)
    if (this.#subscriptions.size === 0) this.#connection.stop()
  }

  #unsubscribe(subId: string): void {
    this.#accepted.delete(subId)
    this.#request({ action: 'unsubscribe', sub_id: subId })
  }

  /** Never rejects. */
  async #authenticate(): Promise<void> {
    const { session } = this.#connection
    const isPast = () => session !== this.#connection.session
    try {
      const token = this.#token ?? (await this.#options.token())
      // What comes too late for its session is good for the next one, unless that has asked for its own and has it.
      if (isPast()) this.#token ??= token
      else {
        this.#token = token
        this.#connection.send({ action: 'authenticate', access_token: token, request_id: AUTHENTICATE })
      }
    } catch (error) {
      if (isPast()) return
      if (isFinal(error)) this.#connection.fail(error)
      else this.#connection.end('no access token was issued')
    }
  }

  #ended(reason: string): void {
    this.#asked.clear()
    this.#accepted.clear()
    for (const stop of this.#waiting.values()) stop()
    for (const one of [...this.#subscriptions]) one.interrupted(reason)
  }

  #received(message: Incoming): void {
    const { type, request_id: id, sub_id: subId } = message
    if (type === 'auth_success') {
      this.#connection.ready()
      for (const one of this.#subscriptions) this.#ask(one)
      return
    }
    const asked = this.#asked.get(String(id))
    this.#asked.delete(String(id))
    if (type === 'error') this.#failed(message, asked)
    else if (type === 'snapshot_response') asked?.put(message)
    else if (type === 'subscription_success') this.#began(String(subId), asked)
    else if (type === undefined || type === 'depth_update') this.#accepted.get(String(subId))?.put(message)
  }

  #began(subId: string, asked: Subscription | undefined): void {
    if (asked === undefined) {
      // It was ended while its answer was under way.
      this.#unsubscribe(subId)
      return
    }
    this.#accepted.set(subId, asked)
    asked.accepted()
  }

  #failed({ error_code: code, request_id: id, sub_ids: subIds, message }: Incoming, asked: Subscription | undefined): void {
    const why = `${String(code)}: ${String(message)}`
    if (Array.isArray(subIds)) for (const subId of subIds) this.#accepted.get(String(subId))?.interrupted(why)
    else if (asked === undefined) this.#sessionFailed(code, id, why)
    else if (PASSING.has(code)) {
      asked.interrupted(why)
      this.#askLater(asked)
    } else asked.end(new StreamError('subscription_refused', why, String(code)))
  }

  #sessionFailed(code: unknown, id: unknown, why: string): void {
    if (id === AUTHENTICATE && !PASSING.has(code)) this.#connection.refused(why)
    // The token could not be checked; or a request was dropped unread, and its answer would be awaited in vain.
    else if (id === AUTHENTICATE || (id === null && code === 'invalid_request')) this.#connection.end(why)
    else if (id === null) this.#connection.reported(why)
    if (code === 'auth_error' && !TOKEN_HOLDS.test(why)) this.#token = null
  }

  #askLater(subscription: Subscription): void {
    const cancel = this.#connection.timers.after(AGAIN_MS, () => {
      stop()
      this.#ask(subscription)
    })
    const stop = (): void => {
      this.#waiting.delete(subscription)
      cancel()
    }
    this.#waiting.set(subscription, stop)
  }

  /** Asks for it, unless that was done in this session, or it has ended. */
  #ask(subscription: Subscription): void {
    if (!this.#connection.isReady || !this.#subscriptions.has(subscription)) return
    for (const known of [this.#asked, this.#accepted]) for (const one of known.values()) if (one === subscription) return
    this.#asked.set(this.#request({ action: 'subscribe', ...subscription.request() }), subscription)
  }

  #request(message: object): string {
    const id = this.#nextId()
    this.#connection.send({ ...message, request_id: id })
    return id
  }

  #nextId(): string {
    this.#requestId += 1
    return String(this.#requestId)
  }
}
