/**
 * Alpaca's market streams: the login, requests that are answered once and in order, and items in the core's terms, handed to their sinks.
 */

import { isNil } from '@trunkline/core/domain/fast/scan'
import { Malformed } from '@trunkline/core/domain/malformed'
import { msOfNanos, type Nanos, type Quote, type Trade } from '@trunkline/core/domain/market/records'
import type { Topic } from '@trunkline/core/ports/market'
import { exact, nanosOf, symbolIn } from '../kit/exact-values.ts'
import { type FrameCodec, jsonFrames } from '../kit/frame-codec.ts'
import type { HttpRequest } from '../kit/http.ts'
import type { MarketClock } from '../kit/market-clock.ts'
import { venueOf } from '../kit/market-values.ts'
import { displayTextOrNull, field, integer, nested, object, type Wire } from '../kit/parse.ts'
import type { OpenLogin } from '../kit/runtime/definition.ts'
import { type FeedOwner, type FeedProtocol, type FeedSubscription, IncrementalFeed } from '../kit/runtime/incremental-feed.ts'
import { OrderedRequests } from '../kit/runtime/ordered-requests.ts'
import { TopicSinks } from '../kit/runtime/topic-sinks.ts'
import { StreamFault } from '../kit/stream-fault.ts'
import type { Connection, StreamMessage } from '../kit/stream-protocol.ts'
import { effectOf } from '../kit/tape-conditions.ts'
import { usableToken } from '../kit/tokens.ts'
import { type Resource, readRecord } from './quirks.ts'
import { instrumentOf } from './symbols.ts'

/** Symbols whose current quotes are requested at once. */
const QUOTES_MAX = 100

export interface FeedSettings {
  readonly url: string
  readonly pingMs: number
  readonly frames: FrameCodec
  /** The first message. */
  readonly hello: (token: string) => object
  /** The request for present quotes of some symbols, between commas. */
  readonly quotes: (symbols: string) => HttpRequest
  /** Alpaca takes requests for symbols that do not exist. @throws BrokerFault */
  readonly isKnown: (symbol: string, signal: AbortSignal) => Promise<boolean>
  readonly marketClock: MarketClock
}

export function marketFeed(
  { url, pingMs, frames, hello, quotes, isKnown, marketClock }: FeedSettings,
  { calls, tokens, socket, log }: Pick<OpenLogin<Resource>, 'calls' | 'tokens' | 'socket' | 'log'>
): IncrementalFeed {
  const table = new TopicSinks()
  let refusedToken: string | null = null
  return new IncrementalFeed({
    connection: socket,
    async begin(owner, signal) {
      const refused = refusedToken
      refusedToken = null
      const token = await usableToken(tokens, signal, refused)
      return new MarketProtocol({ url, pingMs, frames, hello: hello(token) }, owner, () => {
        refusedToken = token
      })
    },
    refusal,
    isKnown,
    // Alpaca streams the next quote and not the present one, which may be far from the next.
    async present(subscriptions, signal) {
      const waiting = subscriptions.filter(({ topic, isOfChain }) => topic.channel === 'quotes' && !isOfChain)
      for (let from = 0; from < waiting.length; from += QUOTES_MAX) {
        const some = waiting.slice(from, from + QUOTES_MAX)
        try {
          const request = quotes(some.map(({ topic }) => topic.symbol).join(','))
          const found = await calls.of('data').read(request, parseLatestQuotes, signal)
          for (const { topic, isLive } of some) {
            const quote = found.get(topic.symbol)
            if (isLive && quote !== undefined) table.present(topic.symbol, () => quoteOf(quote))
          }
        } catch (error) {
          // The next quote shows it.
          if (!signal.aborted) log.info('present quotes could not be read', { reason: error instanceof Error ? error.message : 'unknown' })
        }
      }
    },
    table,
    dispatch: items => dispatch(items, table),
    happened: ms => marketClock.happened(ms)
  })
}

function refusal(topic: Topic): string | null {
  if (topic.channel === 'bars') return 'Alpaca’s bars are built from its trades'
  if (topic.channel !== 'depth' || instrumentOf(topic.symbol) === 'CRYPTO') return null
  return `Alpaca has order books of crypto only, not of ${topic.symbol}.`
}

/** The present quotes in an answer that has them by symbol, as items of a stream. @throws Malformed */
export function parseLatestQuotes(reply: Parameters<typeof readRecord>[0]): ReadonlyMap<string, Wire> {
  const quotes = nested(readRecord(reply), 'quotes')
  return new Map(Object.entries(quotes).map(([symbol, quote]) => [symbol, object(quote, 'quote')]))
}

const ITEM_FIELDS = ['T', 'S', 't', 'i', 'x', 'p', 's', 'c', 'z', 'bp', 'bs', 'ap', 'as', 'b', 'a', 'r']
const STATUS_FIELDS = ['msg', 'code', 'trades', 'quotes', 'orderbooks']
export const JSON_FRAMES = jsonFrames([...ITEM_FIELDS, ...STATUS_FIELDS])

/** Far below the 16 KiB that Alpaca reads of a message. */
const SYMBOLS_MAX = 400
const MAINTAIN_MS = 3_600_000
/** A message of items is fully handled by the time its frame handler returns. */
const NOTHING: readonly StreamMessage<never>[] = []
const LISTS = { trades: 'trades', quotes: 'quotes', depth: 'orderbooks' } as const
/** Errors about the connection and not about a request. */
const FATAL: Readonly<Record<number, StreamFault['gap']>> = {
  ...{ 401: 'refused', 402: 'token', 404: 'refused', 406: 'refused', 407: 'overflow', 411: 'refused', 500: 'lost' }
}
const ALREADY_AUTHENTICATED = 403
const AUTH_FAILED = 402

export interface MarketProtocolOptions {
  readonly url: string
  /** Alpaca is silent while nothing trades: a ping so often, and its answers are the signs of life. */
  readonly pingMs: number
  /** The first message. */
  readonly hello: object
  readonly frames: FrameCodec
}

export class MarketProtocol implements FeedProtocol {
  readonly url: string
  readonly headers: FrameCodec['headers']
  readonly hello: readonly (string | Uint8Array)[]
  readonly pingMs: number
  readonly #frames: FrameCodec
  readonly #owner: FeedOwner
  readonly #tokenRefused: () => void
  readonly #requests: OrderedRequests
  #connection: Connection<never> | null = null
  #isAuthenticated = false

  constructor({ url, pingMs, hello, frames }: MarketProtocolOptions, owner: FeedOwner, tokenRefused: () => void) {
    this.url = url
    this.pingMs = pingMs
    this.headers = frames.headers
    this.hello = [frames.encode(hello)]
    this.#frames = frames
    this.#owner = owner
    this.#tokenRefused = tokenRefused
    const send = this.#send.bind(this)
    this.#requests = new OrderedRequests({ broker: 'Alpaca', symbolsMax: SYMBOLS_MAX, send }, owner)
  }

  opened(connection: Connection<never>): void {
    this.#connection = connection
  }

  onFrame(frame: string): readonly StreamMessage<never>[] {
    return this.#receive(this.#frames.decode(frame))
  }

  onBinaryFrame(frame: Uint8Array): readonly StreamMessage<never>[] {
    return this.#receive(this.#frames.decode(frame))
  }

  async maintain(): Promise<number> {
    this.#owner.opened(this)
    return MAINTAIN_MS
  }

  subscribe(subscriptions: readonly FeedSubscription[]): void {
    this.#requests.request('subscribe', subscriptions)
  }

  unsubscribe(subscriptions: readonly FeedSubscription[]): void {
    this.#requests.request('unsubscribe', subscriptions)
  }

  #send(action: 'subscribe' | 'unsubscribe', members: readonly FeedSubscription[]): void {
    const byList = Map.groupBy(members, ({ topic }) => listNameOf(topic))
    const lists = [...byList].map(([name, some]) => [name, some.map(({ topic }) => topic.symbol)])
    this.#connection?.send(this.#frames.encode({ action, ...Object.fromEntries(lists) }))
  }

  /** Messages about the connection hold nothing else. */
  #receive(items: readonly unknown[]): readonly StreamMessage<never>[] {
    const [first] = items
    if (items.length === 1 && isItem(first)) {
      if (first.T === 'success') return this.#success(object(first, 'message'))
      if (first.T === 'error') return this.#error(object(first, 'message'))
      if (first.T === 'subscription') return this.#subscribed(object(first, 'message'))
    }
    if (!this.#isAuthenticated) throw new Malformed('message', 'an answer to the login', first)
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
    if (code === AUTH_FAILED) this.#tokenRefused()
    const cause = this.#isAuthenticated ? FATAL[code] : (FATAL[code] ?? 'refused')
    if (cause !== undefined) throw new StreamFault(cause, `Alpaca ended the market stream: ${detail}`)
    this.#requests.refused(detail)
    return NOTHING
  }

  #subscribed(message: Wire): readonly StreamMessage<never>[] {
    const lists = new Map(Object.values(LISTS).map(name => [name, symbolsIn(message, name)]))
    this.#requests.accepted(topic => lists.get(listNameOf(topic))?.has(topic.symbol) === true)
    return NOTHING
  }
}

function listNameOf({ channel }: Topic): (typeof LISTS)[keyof typeof LISTS] {
  if (channel === 'bars' || channel === 'options_chain') throw new TypeError(`Alpaca streams no ${channel}`)
  return LISTS[channel]
}

/** A stream that has no such channel leaves its list out. */
function symbolsIn(wire: Wire, key: string): ReadonlySet<string> {
  const value = field(wire, key) ?? []
  if (Array.isArray(value) && value.every(item => typeof item === 'string')) return new Set(value)
  throw new Malformed(key, 'a list of strings', value)
}

/**
 * Hands each item to the sinks that stream it, in order; what is not streamed, and kinds that were not requested, are skipped. Returns the
 * time of the latest, milliseconds since the epoch; 0 when unknown. The hottest code of the adapter.
 * @throws Malformed at the first that cannot be read; those before it have been handed on.
 */
export function dispatch(items: readonly unknown[], tables: TopicSinks): number {
  let presentMs = 0
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index]
    if (!isItem(item)) throw new Malformed('item', 'an object', item)
    const at = dispatchOne(item, tables)
    if (at !== null) presentMs = Math.max(presentMs, msOfNanos(at))
  }
  return presentMs
}

function dispatchOne(item: Wire, tables: TopicSinks): Nanos | null {
  switch (item.T) {
    case 't': {
      const entry = tables.trades.get(symbolIn(item.S, 'S'))
      if (entry === undefined || entry.ids.isRepeated(item.i, item.x)) return null
      const trade = tradeOf(item)
      for (const sink of entry.sinks) sink.trade(trade)
      return trade.at
    }
    case 'q': {
      const entry = tables.quotes.get(symbolIn(item.S, 'S'))
      if (entry === undefined) return null
      const quote = quoteOf(item)
      entry.hasQuote = true
      for (const sink of entry.sinks) sink.quote(quote)
      return quote.at
    }
    case 'o': {
      const entry = tables.depth.get(symbolIn(item.S, 'S'))
      if (entry === undefined) return null
      const at = nanosOf(item.t, 't')
      const depth = entry.orderBook.after({ isWhole: item.r === true, bids: item.b, asks: item.a }, at)
      if (depth !== null) for (const sink of entry.sinks) sink.depth(depth)
      return at
    }
    default:
      if (typeof item.T !== 'string') throw new Malformed('T', 'a text', item.T)
      return null
  }
}

/** Before anything about it is known. Its fields are read by name, never listed. */
export function isItem(value: unknown): value is Wire {
  return typeof value === 'object' && value !== null
}

/** @throws Malformed */
export function tradeOf(item: Wire): Trade {
  return {
    price: exact(item.p, 'p'),
    size: exact(item.s, 's'),
    venue: venueOf(item.x),
    at: nanosOf(item.t, 't'),
    // Crypto and options have no tape; what an option's condition means for bars is not documented.
    effect: item.z === undefined ? 'all' : effectOf(item.c, item.z)
  }
}

/** A price of nothing is no quote on that side. @throws Malformed */
export function quoteOf(item: Wire): Quote {
  const bid = exact(item.bp, 'bp')
  const ask = exact(item.ap, 'ap')
  return {
    bidPrice: isNil(bid) ? null : bid,
    bidSize: isNil(bid) ? null : exact(item.bs, 'bs'),
    askPrice: isNil(ask) ? null : ask,
    askSize: isNil(ask) ? null : exact(item.as, 'as'),
    at: nanosOf(item.t, 't')
  }
}
