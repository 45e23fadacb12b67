/** A data stream: its clients come in, authenticate and subscribe, and are given the market as they follow it. */

import { type MarketDataTap, type Pass, Problem, type QuoteCommand, type QuoteLevel } from '../frame/brokerage.ts'
import type { Access } from './access.ts'
import type { CustomerView } from './customer-view.ts'
import { findOf } from './data.ts'
import { type Kind, quoteWire, tradeWire } from './market.ts'
import { AlpacaStream, type StreamGuest } from './sockets.ts'
import { nanosOf } from './values.ts'

const STREAMS: Readonly<Record<string, Kind>> = {
  ...{ '/v2/iex': 'stocks', '/v2/sip': 'stocks', '/v1beta3/crypto/us': 'crypto' },
  ...{ '/v1beta1/indicative': 'options', '/v1beta1/opra': 'options' }
}

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
  400: 'invalid syntax',
  401: 'not authenticated',
  402: 'auth failed',
  403: 'already authenticated',
  404: 'auth timeout',
  405: 'symbol limit exceeded',
  406: 'connection limit exceeded',
  410: 'invalid subscribe action for this feed',
  411: 'insufficient scope'
} as const
type ErrorCode = keyof typeof ERRORS

export function dataStreams(view: CustomerView, access: Access): readonly AlpacaStream[] {
  // Trades of another start of the sandbox have other ids.
  let lastTrade = Math.floor(view.brokerage.realNow()) * 1000
  const newTradeId = () => ++lastTrade
  return Object.entries(STREAMS).map(([path, kind]) => {
    const sockets: AlpacaStream = new AlpacaStream(view.brokerage, {
      path: `/alpaca/data-stream${path}`,
      // Options are sent in MessagePack, whatever a client asks for.
      codec: wantsMsgpack => (wantsMsgpack || kind === 'options' ? 'msgpack' : 'json'),
      ...{ waitingMax: 16 * 1024 * 1024, garbled: '[{"T":"t","S":', slow: 4407 },
      silentMs: 10_000,
      silent: guest => disconnect(guest, 404),
      welcome: guest => welcome(guest, { view, kind, newTradeId, access, passOf: message => passOf(message, access, sockets) })
    })
    return sockets
  })
}

function refuse(guest: StreamGuest, code: ErrorCode): void {
  guest.send([{ T: 'error', code, msg: ERRORS[code] }])
}

function disconnect(guest: StreamGuest, code: ErrorCode): void {
  refuse(guest, code)
  guest.close(1008, ERRORS[code])
}

/** What all clients of an endpoint are given the market by. */
interface Source {
  readonly view: CustomerView
  readonly kind: Kind
  readonly newTradeId: () => number
}

interface Endpoint extends Source {
  readonly access: Access
  readonly passOf: (message: Readonly<Record<string, unknown>>) => Pass | ErrorCode
}

function passOf({ key, secret }: Readonly<Record<string, unknown>>, access: Access, { connections }: AlpacaStream): Pass | ErrorCode {
  const pass = access.ofPair(key, secret)
  if (pass === undefined) return 402
  if (!pass.scopes.has('data')) return 411
  return connections.of(pass.login).length < access.limits.connections_per_stream ? pass : 406
}

function welcome(guest: StreamGuest, { access, passOf, ...source }: Endpoint): (message: unknown) => void {
  let subscription: Subscription | undefined
  guest.send([{ T: 'success', msg: 'connected' }])
  return message => {
    const { action, ...rest } = Object(message)
    if (action === 'auth') {
      if (subscription !== undefined) return refuse(guest, 403)
      const pass = passOf(rest)
      if (typeof pass === 'number') return disconnect(guest, pass)
      const connection = guest.join(pass)
      subscription = guest.held.use(new Subscription(source, frame => connection.event(frame)))
      return guest.send([{ T: 'success', msg: 'authenticated' }])
    }
    if (action !== 'subscribe' && action !== 'unsubscribe') return refuse(guest, 400)
    if (subscription === undefined) return refuse(guest, 401)
    const error = subscription.change(action, rest, access.limits.symbols_per_stream)
    // Items that arrive meanwhile are sent at the end of this turn, so after the answer.
    return error === null ? guest.send([subscription.shown()]) : refuse(guest, error)
  }
}

/** What one client is given. */
class Subscription implements Disposable {
  readonly #source: Source
  readonly #emit: (frame: string) => void
  /** By channel and symbol, with a space between them. */
  readonly #taps = new Map<string, Disposable>()
  #items: string[] = []

  constructor(source: Source, emit: (frame: string) => void) {
    this.#source = source
    this.#emit = emit
  }

  /** What is wrong; then nothing has changed. */
  change(action: 'subscribe' | 'unsubscribe', message: Readonly<Record<string, unknown>>, symbolsMax: number): ErrorCode | null {
    const wanted = wantedIn(message, CHANNELS[this.#source.kind])
    if (typeof wanted === 'number') return wanted
    const counted = [...wanted, ...this.#taps.keys()].filter(key => /^(?:trades|quotes) /.test(key))
    if (action === 'subscribe' && new Set(counted).size > symbolsMax) return 405
    try {
      for (const key of wanted) {
        if (action === 'unsubscribe') this.#drop(key)
        else if (!this.#taps.has(key)) this.#taps.set(key, this.#follow(key))
      }
      return null
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      for (const key of wanted) this.#drop(key)
      return 405
    }
  }

  shown(): object {
    const keys = [...this.#taps.keys()].map(key => key.split(' '))
    const symbolsOf = (channel: string) => keys.filter(([name]) => name === channel).map(([, symbol]) => symbol)
    return { T: 'subscription', ...Object.fromEntries(CHANNELS[this.#source.kind].map(channel => [channel, symbolsOf(channel)])) }
  }

  [Symbol.dispose](): void {
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
    const { view, kind } = this.#source
    const isFollowed = tap !== null && findOf(view, kind, symbol) !== null
    return isFollowed ? view.brokerage.taps.add(symbol, tap) : { [Symbol.dispose]: () => undefined }
  }

  #tapFor(channel: string, symbol: string): MarketDataTap | null {
    const { view, kind, newTradeId } = this.#source
    const put = (type: string, fields: object) => this.#put(JSON.stringify({ T: type, S: symbol, ...fields }))
    if (channel === 'trades') return { trade: trade => put('t', tradeWire(kind, newTradeId(), trade)) }
    // Taps begin with the present quote; Alpaca's subscribers wait for the next.
    const standing = view.brokerage.driver.lastQuote(symbol)
    if (channel === 'quotes') return { quote: quote => quote !== standing && put('q', quoteWire(quote)) }
    return channel === 'orderbooks' ? { quote: depthOf(fields => put('o', fields)) } : null
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
function wantedIn(message: Readonly<Record<string, unknown>>, channels: readonly string[]): readonly string[] | ErrorCode {
  const wanted: string[] = []
  for (const [name, symbols] of Object.entries(message)) {
    if (!channels.includes(name) || IMPLIED.includes(name)) return 410
    if (!Array.isArray(symbols) || !symbols.every(symbol => typeof symbol === 'string' && SYMBOL.test(symbol))) return 400
    const implied = name === 'trades' ? IMPLIED.filter(each => channels.includes(each)) : []
    wanted.push(...[name, ...implied].flatMap(channel => symbols.map(symbol => `${channel} ${symbol}`)))
  }
  return Object.keys(message).length === 0 ? 400 : wanted
}

/** The whole order book first, then the changed levels; a removed level has the size 0. */
function depthOf(emit: (fields: object) => void): (quote: QuoteCommand) => void {
  let before: QuoteCommand | null = null
  return quote => {
    const [b, a] = [changed(before?.bids ?? [], quote.bids), changed(before?.asks ?? [], quote.asks)]
    if (before === null || b.length > 0 || a.length > 0) emit({ t: nanosOf(quote.at), b, a, ...(before === null ? { r: true } : {}) })
    before = quote
  }
}

function changed(before: readonly QuoteLevel[], now: readonly QuoteLevel[]): readonly object[] {
  const [sizes, prices] = [new Map(before), new Set(now.map(([price]) => price))]
  const gone = before.filter(([price]) => !prices.has(price)).map(([price]) => [price, '0'] as const)
  return [...now.filter(([price, size]) => sizes.get(price) !== size), ...gone].map(([p, s]) => ({ p: Number(p), s: Number(s) }))
}
