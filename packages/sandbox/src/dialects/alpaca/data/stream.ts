/** A data stream: its clients come in, authenticate and subscribe, and are given the market as they follow it. */

import {
  type FeedTrade,
  type MarketDataTap,
  type Pass,
  Problem,
  type QuoteCommand,
  type QuoteLevel,
  type StreamEndpoint
} from '../../frame/brokerage.ts'
import { type DialectConnection, DialectConnections } from '../../frame/connections.ts'
import type { Guest } from '../../frame/sockets.ts'
import type { Access } from '../access.ts'
import { endpointOf, textOf } from '../sockets.ts'
import { nanosOf } from '../values.ts'
import type { DataSource } from './source.ts'
import { type Kind, levelsWire, quoteWire, tradeWire } from './wire.ts'

const AUTH_MS_MAX = 10_000
const WAITING_BYTES_MAX = 16 * 1024 * 1024

const BASE = '/alpaca/data-stream'
export const STREAMS: readonly (readonly [path: string, kind: Kind])[] = [
  ['/v2/iex', 'stocks'],
  ['/v2/sip', 'stocks'],
  ['/v1beta3/crypto/us', 'crypto'],
  ['/v1beta1/indicative', 'options'],
  ['/v1beta1/opra', 'options']
]

/** Channels by kind of endpoint. Some never have events here; subscribing to them is valid all the same. */
const CHANNELS: Readonly<Record<Kind, readonly string[]>> = {
  stocks: ['trades', 'quotes', 'bars', 'updatedBars', 'dailyBars', 'statuses', 'lulds', 'imbalances', 'corrections', 'cancelErrors'],
  crypto: ['trades', 'quotes', 'bars', 'updatedBars', 'dailyBars', 'orderbooks'],
  options: ['trades', 'quotes']
}
/** A subscription to trades includes their corrections. */
const IMPLIED: readonly string[] = ['corrections', 'cancelErrors']
const SYMBOL = /^[\x21-\x7e]{1,40}$/

/** What Alpaca answers to what cannot be done. */
const ERRORS = {
  invalid_syntax: [400, 'invalid syntax'],
  not_authenticated: [401, 'not authenticated'],
  auth_failed: [402, 'auth failed'],
  already_authenticated: [403, 'already authenticated'],
  auth_timeout: [404, 'auth timeout'],
  symbol_limit: [405, 'symbol limit exceeded'],
  connection_limit: [406, 'connection limit exceeded'],
  invalid_action: [410, 'invalid subscribe action for this feed'],
  insufficient_scope: [411, 'insufficient scope']
} as const
type StreamError = keyof typeof ERRORS
const SLOW_CLIENT = 4407

export class DataStream {
  readonly endpoint: StreamEndpoint
  readonly connections: DialectConnections
  readonly #access: Access
  readonly #source: DataSource
  readonly #kind: Kind

  constructor(access: Access, source: DataSource, [path, kind]: (typeof STREAMS)[number]) {
    const { realNow: now, onError } = source.brokerage
    this.#access = access
    this.#source = source
    this.#kind = kind
    this.connections = new DialectConnections({
      ...{ now, waitingMax: WAITING_BYTES_MAX, garbled: '[{"T":"t","S":' },
      codes: { going: 1001, tokenEnded: 1008, slow: SLOW_CLIENT }
    })
    // Options are sent in MessagePack, whatever a client asks for.
    const codec = (wantsMsgpack: boolean) => (wantsMsgpack || kind === 'options' ? 'msgpack' : 'json')
    this.endpoint = endpointOf({ path: `${BASE}${path}`, codec, onError, welcome: guest => this.#welcome(guest) })
  }

  #welcome(guest: Guest): (message: unknown) => void {
    const { pipe, socket } = guest
    let joined: { readonly connection: DialectConnection; readonly subscription: Subscription } | undefined
    const send = (item: object) => (joined?.connection ?? pipe).send(JSON.stringify([item]))
    const refuse = (error: StreamError) => {
      const [code, msg] = ERRORS[error]
      send({ T: 'error', code, msg })
    }
    const disconnect = (error: StreamError) => {
      refuse(error)
      pipe.close(1008, ERRORS[error][1])
    }
    const late = setTimeout(() => disconnect('auth_timeout'), AUTH_MS_MAX).unref()
    socket.on('close', () => {
      clearTimeout(late)
      joined?.subscription.end()
      if (joined !== undefined) this.connections.remove(joined.connection)
    })
    send({ T: 'success', msg: 'connected' })
    return message => {
      const { action, ...rest } = Object(message)
      if (action === 'auth') {
        if (joined !== undefined) return refuse('already_authenticated')
        const pass = this.#enter(this.#access.ofPair(textOf(rest.key), textOf(rest.secret)))
        if (typeof pass === 'string') return disconnect(pass)
        clearTimeout(late)
        const connection = this.connections.add(pass, pipe)
        const subscription = new Subscription(this.#source, this.#kind, frame => connection.event(frame))
        guest.mute = () => connection.isMute
        joined = { connection, subscription }
        return send({ T: 'success', msg: 'authenticated' })
      }
      if (action !== 'subscribe' && action !== 'unsubscribe') return refuse('invalid_syntax')
      if (joined === undefined) return refuse('not_authenticated')
      const { subscription } = joined
      const error = subscription.change(action, rest, this.#access.limits.symbols_per_stream)
      // Items that arrive meanwhile are sent at the end of this turn, so after the answer.
      return error === null ? send(subscription.shown()) : refuse(error)
    }
  }

  #enter(pass: Pass | undefined): Pass | StreamError {
    if (pass === undefined) return 'auth_failed'
    if (!pass.scopes.has('data')) return 'insufficient_scope'
    return this.connections.of(pass.login).length < this.#access.limits.connections_per_stream ? pass : 'connection_limit'
  }
}

/** What one client is given. */
class Subscription {
  readonly #source: DataSource
  readonly #kind: Kind
  readonly #emit: (frame: string) => void
  /** By channel and symbol, with a space between them. */
  readonly #taps = new Map<string, Disposable>()
  #items: string[] = []

  constructor(source: DataSource, kind: Kind, emit: (frame: string) => void) {
    this.#source = source
    this.#kind = kind
    this.#emit = emit
  }

  /** What is wrong; then nothing has changed. */
  change(action: 'subscribe' | 'unsubscribe', message: Readonly<Record<string, unknown>>, symbolsMax: number): StreamError | null {
    const wanted = wantedIn(message, CHANNELS[this.#kind])
    if (typeof wanted === 'string') return wanted
    const counted = [...wanted, ...this.#taps.keys()].filter(key => /^(?:trades|quotes) /.test(key))
    if (action === 'subscribe' && new Set(counted).size > symbolsMax) return 'symbol_limit'
    try {
      for (const key of wanted) {
        if (action === 'unsubscribe') this.#drop(key)
        else if (!this.#taps.has(key)) this.#taps.set(key, this.#follow(key))
      }
      return null
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      for (const key of wanted) this.#drop(key)
      return 'symbol_limit'
    }
  }

  shown(): object {
    const keys = [...this.#taps.keys()].map(key => key.split(' '))
    const symbolsOf = (channel: string) => keys.filter(([name]) => name === channel).map(([, symbol]) => symbol)
    return { T: 'subscription', ...Object.fromEntries(CHANNELS[this.#kind].map(channel => [channel, symbolsOf(channel)])) }
  }

  end(): void {
    for (const key of this.#taps.keys()) this.#drop(key)
    this.#items = []
  }

  #drop(key: string): void {
    this.#taps.get(key)?.[Symbol.dispose]()
    this.#taps.delete(key)
  }

  /** A channel without events needs no market data. */
  #follow(key: string): Disposable {
    const [channel = '', symbol = ''] = key.split(' ')
    const tap = this.#tapFor(channel, symbol)
    const isFollowed = tap !== null && this.#source.find(symbol, this.#kind) !== null
    return isFollowed ? this.#source.brokerage.taps.add(symbol, tap) : { [Symbol.dispose]: () => undefined }
  }

  #tapFor(channel: string, symbol: string): MarketDataTap | null {
    const put = (type: string, fields: object) => this.#put(JSON.stringify({ T: type, S: symbol, ...fields }))
    if (channel === 'trades') return { trade: trade => put('t', this.#trade(symbol, trade)) }
    // Taps begin with the present quote; Alpaca's subscribers wait for the next.
    const standing = this.#source.quote(symbol)
    if (channel === 'quotes') return { quote: quote => quote !== standing && put('q', quoteWire(quote)) }
    return channel === 'orderbooks' ? { quote: depthOf(fields => put('o', fields)) } : null
  }

  #trade(symbol: string, { at, price, size, venue, effect }: FeedTrade): object {
    const letter = venue?.length === 1 ? venue : this.#source.letterOf(symbol)
    return tradeWire(this.#kind, { at, price, size, id: this.#source.newTradeId(), letter, effect })
  }

  /** Items of one turn of the event loop are sent together. */
  #put(item: string): void {
    if (this.#items.push(item) === 1) setImmediate(() => this.#flush())
  }

  #flush(): void {
    const items = this.#items.splice(0)
    if (items.length > 0) this.#emit(`[${items.join(',')}]`)
  }
}

/** Each channel with each of its symbols. */
function wantedIn(message: Readonly<Record<string, unknown>>, channels: readonly string[]): readonly string[] | StreamError {
  const wanted: string[] = []
  for (const [name, symbols] of Object.entries(message)) {
    if (!channels.includes(name) || IMPLIED.includes(name)) return 'invalid_action'
    if (!Array.isArray(symbols) || !symbols.every(symbol => typeof symbol === 'string' && SYMBOL.test(symbol))) return 'invalid_syntax'
    const implied = name === 'trades' ? IMPLIED.filter(each => channels.includes(each)) : []
    wanted.push(...[name, ...implied].flatMap(channel => symbols.map(symbol => `${channel} ${symbol}`)))
  }
  return Object.keys(message).length === 0 ? 'invalid_syntax' : wanted
}

/** The whole order book first, then the changed levels; a removed level has the size 0. */
function depthOf(emit: (fields: object) => void): (quote: QuoteCommand) => void {
  let before: QuoteCommand | null = null
  return quote => {
    const [bids, asks] = [changed(before?.bids ?? [], quote.bids), changed(before?.asks ?? [], quote.asks)]
    const whole = before === null ? { r: true } : {}
    if (before === null || bids.length > 0 || asks.length > 0)
      emit({ t: nanosOf(quote.at), b: levelsWire(bids), a: levelsWire(asks), ...whole })
    before = quote
  }
}

function changed(before: readonly QuoteLevel[], now: readonly QuoteLevel[]): readonly QuoteLevel[] {
  const [sizes, prices] = [new Map(before), new Set(now.map(([price]) => price))]
  const gone = before.filter(([price]) => !prices.has(price)).map(([price]) => [price, '0'] as const)
  return [...now.filter(([price, size]) => sizes.get(price) !== size), ...gone]
}
