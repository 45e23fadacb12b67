import { type ConnectionOptions, type Incoming, StreamConnection } from '../connection.ts'
import { isFinal, StreamError } from '../errors.ts'
import { bars, type Channel, chain, depth, quotes, trades } from './channels.ts'
import { HistoryRead } from './history.ts'
import type { Bar, BarsOptions, Contract, Depth, HistoryOptions, Quote, Session, Subscribing, Trade } from './items.ts'
import { ChannelSubscription, type Subscription } from './subscription.ts'

/** `url`: the market data stream, such as `wss://trunkline.example.com/market-data/stream`. */
export interface MarketStreamOptions extends ConnectionOptions {
  /** Gets an access token of the connection. Called at first, and when the service takes the last one no longer. */
  readonly token: () => Promise<string>
  /** Milliseconds since the Unix epoch, to know how many bars were missed. */
  readonly wallMs?: () => number
}

const SUBSCRIPTIONS_MAX = 500
const AGAIN_MS = 5_000
const AUTHENTICATE = 'authenticate'

/** Market data of one connection of a user, over one WebSocket that is open while somebody reads. Subscriptions outlive it. */
export class MarketStream {
  readonly #options: MarketStreamOptions
  readonly #connection: StreamConnection
  readonly #subscriptions = new Set<Subscription>()
  /** Of the present session: what has no answer yet, by `request_id`, … */
  readonly #asked = new Map<string, Subscription>()
  /** … and what has one, by `sub_id`. */
  readonly #accepted = new Map<string, Subscription>()
  #requestId = 0
  #token: string | null = null

  constructor(options: MarketStreamOptions) {
    this.#options = options
    this.#connection = new StreamConnection(options, {
      opened: () => void this.#authenticate(),
      received: message => this.#received(message),
      ended: reason => this.#ended(reason),
      failed: error => {
        for (const one of this.#subscriptions) one.fail(error)
      },
      ping: () => ({ action: 'ping', request_id: this.#nextId() })
    })
  }

  /** Milliseconds since the service was last received, null before the first message. */
  get ageMs(): number | null {
    return this.#connection.ageMs
  }

  /** Past bars, then the open one whenever it changes, and each once when it closes. Those of an interruption come when it is over. */
  bars(options: BarsOptions): AsyncGenerator<Bar, void, undefined> {
    return this.#read(bars(options), options)
  }

  /** Every trade while connected. Those of an interruption are not sent; `onStatus` reports it. */
  trades(options: Subscribing & { readonly session?: Session }): AsyncGenerator<Trade, void, undefined> {
    return this.#read(trades(options.symbol, options.session), options)
  }

  /** The present quote, then each newer one that the reader is in time for. */
  quotes(options: Subscribing): AsyncGenerator<Quote, void, undefined> {
    return this.#read(quotes(options.symbol), options)
  }

  /** The present book, then each newer one that the reader is in time for. */
  depth(options: Subscribing & { readonly levels?: number }): AsyncGenerator<Depth, void, undefined> {
    return this.#read(depth(options.symbol, options.levels), options)
  }

  /** Every contract of the expiration, then each that changes. */
  chain(options: Subscribing & { readonly expiration: string; readonly greeks?: boolean }): AsyncGenerator<Contract, void, undefined> {
    return this.#read(chain(options.symbol, options.expiration, options.greeks ?? false), options)
  }

  /** Past bars, at most 50,000. Asked for again if the connection breaks meanwhile. @throws StreamError */
  async history(options: HistoryOptions): Promise<readonly Bar[]> {
    options.signal?.throwIfAborted()
    const read = new HistoryRead(options)
    this.#add(read)
    try {
      return await read.bars
    } finally {
      this.#remove(read)
    }
  }

  #read<T>(channel: Channel<T>, { signal, onStatus }: Subscribing): AsyncGenerator<T, void, undefined> {
    const subscription = new ChannelSubscription(channel, onStatus)
    this.#add(subscription)
    return subscription.queue.read(signal, () => this.#remove(subscription))
  }

  #add(subscription: Subscription): void {
    if (this.#subscriptions.size >= SUBSCRIPTIONS_MAX)
      throw new StreamError('too_many', `one stream has at most ${SUBSCRIPTIONS_MAX} subscriptions`)
    this.#subscriptions.add(subscription)
    this.#connection.start()
    this.#ask(subscription)
  }

  #remove(subscription: Subscription): void {
    this.#subscriptions.delete(subscription)
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
    try {
      this.#token ??= await this.#options.token()
      // If the session has ended meanwhile, the next one is not open yet and sends its own.
      this.#connection.send({ action: 'authenticate', access_token: this.#token, request_id: AUTHENTICATE })
    } catch (error) {
      if (isFinal(error)) this.#connection.fail(error)
      else this.#connection.end('no access token was issued')
    }
  }

  #ended(reason: string): void {
    this.#asked.clear()
    this.#accepted.clear()
    for (const one of this.#subscriptions) one.interrupted(reason)
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
    if (id === AUTHENTICATE) {
      this.#token = null
      this.#connection.refused(why)
    } else if (Array.isArray(subIds)) for (const subId of subIds) this.#accepted.get(String(subId))?.interrupted(why)
    else if (asked === undefined) this.#connection.reported(why)
    else if (code === 'broker_unavailable' || code === 'internal_error') {
      asked.interrupted(why)
      this.#connection.timers.after(AGAIN_MS, () => this.#ask(asked))
    } else asked.fail(new StreamError('subscription_refused', why, String(code)))
  }

  /** Asks for it, unless that was done in this session, or it has ended. */
  #ask(subscription: Subscription): void {
    if (!this.#connection.isReady || !this.#subscriptions.has(subscription)) return
    for (const known of [this.#asked, this.#accepted]) for (const one of known.values()) if (one === subscription) return
    const id = this.#request({ action: 'subscribe', ...subscription.request((this.#options.wallMs ?? Date.now)()) })
    this.#asked.set(id, subscription)
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
