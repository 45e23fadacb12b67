/** The sandbox's market stream: the login, numbered requests and messages, and items in the core's terms, handed to their sinks. */

import { isNanos } from '@trunkline/core/domain/fast/scan'
import { Malformed } from '@trunkline/core/domain/malformed'
import { type DepthLevel, msOfNanos, type Nanos, TRADE_EFFECTS, type TradeEffect } from '@trunkline/core/domain/market/records'
import { type Day, epochMs, type Timestamp } from '@trunkline/core/domain/timestamp'
import type { Topic, TopicSink } from '@trunkline/core/ports/market'
import { readJson } from '../kit/json.ts'
import type { MarketClock } from '../kit/market-clock.ts'
import { venueOf } from '../kit/market-values.ts'
import { displayTextOrNull, field, integer, memberOr, object, text, texts, timestampOrNull, type Wire } from '../kit/parse.ts'
import type { OpenLogin } from '../kit/runtime/definition.ts'
import {
  type FeedOwner,
  type FeedProtocol,
  type FeedSubscription,
  IncrementalFeed,
  messagesOf,
  type SinkTable
} from '../kit/runtime/incremental-feed.ts'
import { Sequence, type Sequenced } from '../kit/sequence.ts'
import type { Closing, Connection, StreamMessage } from '../kit/stream-protocol.ts'
import { chainEntry, decimalOf, decimalOrNull, isItem } from './market.ts'
import { StreamToken } from './quirks.ts'

export function marketFeed(
  url: string,
  { tokens, socket }: Pick<OpenLogin<'api'>, 'tokens' | 'socket'>,
  marketClock: MarketClock
): IncrementalFeed {
  const table = new SinkTables()
  return new IncrementalFeed({
    connection: socket,
    begin: async (owner, signal) =>
      new MarketProtocol(url, await StreamToken.of(tokens, signal), owner, at => marketClock.sync(epochMs(at))),
    refusal: topic =>
      topic.channel === 'bars' && topic.interval !== STREAMED_INTERVAL ? `the broker streams bars of ${STREAMED_INTERVAL} only` : null,
    table,
    dispatch: items => dispatch(items, table),
    happened: ms => marketClock.happened(ms)
  })
}

/** The only interval of bars that the sandbox streams. */
const STREAMED_INTERVAL = '1m'
const STREAMED_INTERVAL_MS = 60_000

interface ChainSink {
  readonly sink: TopicSink
  readonly expiration: Day
}

export class SinkTables implements SinkTable {
  readonly trades = new Map<string, TopicSink>()
  readonly quotes = new Map<string, TopicSink>()
  readonly depth = new Map<string, TopicSink>()
  readonly bars = new Map<string, TopicSink>()
  /** By underlying, then by expiration. */
  readonly chains = new Map<string, Map<string, ChainSink>>()

  add(topic: Topic, sink: TopicSink): void {
    if (topic.channel !== 'options_chain') {
      this[topic.channel].set(topic.symbol, sink)
      return
    }
    let expirations = this.chains.get(topic.symbol)
    if (expirations === undefined) {
      expirations = new Map()
      this.chains.set(topic.symbol, expirations)
    }
    expirations.set(topic.expiration, { sink, expiration: topic.expiration })
  }

  remove(topic: Topic): void {
    if (topic.channel !== 'options_chain') {
      this[topic.channel].delete(topic.symbol)
      return
    }
    const expirations = this.chains.get(topic.symbol)
    expirations?.delete(topic.expiration)
    if (expirations?.size === 0) this.chains.delete(topic.symbol)
  }

  clear(): void {
    for (const table of [this.trades, this.quotes, this.depth, this.bars, this.chains]) table.clear()
  }
}

/** Far below the 256 KiB that the sandbox reads of a message. */
const SYMBOLS_MAX = 2_000
/** Messages that may wait for an earlier one. They can be long, and the next heartbeat decides anyway. */
const AHEAD_MAX = 8
const HEARTBEAT_MS_LEAST = 10
/** A message of items is fully handled by the time its frame handler returns. */
const NOTHING: readonly StreamMessage<never>[] = []

class MarketProtocol implements FeedProtocol {
  readonly url: string
  readonly #token: StreamToken
  readonly #owner: FeedOwner
  readonly #sync: (at: Timestamp) => void
  #connection: Connection<never> | null = null
  #messages: Sequence<readonly unknown[]> | null = null
  #lastNumber = 0
  /** Requests not answered yet, by number. */
  readonly #pending = new Map<number, readonly FeedSubscription[]>()

  constructor(url: string, token: StreamToken, owner: FeedOwner, syncTime: (at: Timestamp) => void) {
    this.#sync = syncTime
    this.url = url
    this.#token = token
    this.#owner = owner
  }

  get hello(): readonly string[] {
    return [JSON.stringify({ op: 'login', token: this.#token.text })]
  }

  onFrame(frame: string): readonly StreamMessage<never>[] {
    const message = object(readJson(frame), 'message')
    if (this.#messages === null) return this.#answered(message)
    const { items } = message
    if (Array.isArray(items)) this.#released(this.#messages.offer(integer(message, 'seq'), items))
    else this.#status(message, this.#messages)
    return NOTHING
  }

  maintain(connection: Connection<never>): Promise<number> {
    const isFirst = this.#connection === null
    this.#connection = connection
    if (isFirst) this.#owner.opened(this)
    return this.#token.maintain(connection)
  }

  closed(code: number): Closing | null {
    return this.#token.closed(code)
  }

  subscribe(subscriptions: readonly FeedSubscription[]): void {
    for (const { fields, members } of messagesOf(subscriptions, fieldsOf, SYMBOLS_MAX)) {
      const number = this.#request('add', fields, members)
      for (const member of members) member.requestNumber = number
      this.#pending.set(number, members)
    }
  }

  unsubscribe(subscriptions: readonly FeedSubscription[]): void {
    for (const { fields, members } of messagesOf(subscriptions, fieldsOf, SYMBOLS_MAX)) this.#request('drop', fields, members)
  }

  /** Returns the number of the message. */
  #request(op: 'add' | 'drop', fields: object, members: readonly FeedSubscription[]): number {
    this.#lastNumber += 1
    this.#connection?.send(JSON.stringify({ op, n: this.#lastNumber, ...fields, symbols: members.map(({ topic }) => topic.symbol) }))
    return this.#lastNumber
  }

  #answered(message: Wire): readonly StreamMessage<never>[] {
    const ev = text(message, 'ev', 32)
    if (ev === 'denied') {
      const code = text(message, 'code', 64)
      // A refused token is settled when the socket closes, which the sandbox does next.
      return code === 'token_invalid' ? [] : [{ type: 'over', cause: 'refused', reason: `the sandbox denied the market stream (${code})` }]
    }
    if (ev !== 'ready') throw new Malformed('ev', 'ready or denied', ev)
    this.#syncTime(message)
    this.#messages = new Sequence(0, AHEAD_MAX)
    return [{ type: 'live', heartbeatMs: Math.max(HEARTBEAT_MS_LEAST, integer(message, 'heartbeat_ms')) }]
  }

  #status(message: Wire, messages: Sequence<readonly unknown[]>): void {
    const event = memberOr(message, 'ev', { heartbeat: 'heartbeat', added: 'added', problem: 'problem' } as const, null)
    if (event === null) {
      // A message of an unknown kind may be skipped, but one without a kind is no message of the sandbox.
      text(message, 'ev', 32)
      return
    }
    switch (event) {
      case 'heartbeat':
        this.#heartbeat(message, messages)
        break
      case 'added':
        this.#added(message)
        break
      case 'problem':
        this.#problem(message)
    }
  }

  #heartbeat(message: Wire, messages: Sequence<readonly unknown[]>): void {
    this.#syncTime(message)
    const seq = integer(message, 'seq')
    this.#released(messages.settle(seq))
    // A sequence number that is too high would make every later message look like a duplicate.
    if (seq < messages.last) throw new Malformed('seq', `at least ${messages.last}, the last message that came`, seq)
  }

  #added(message: Wire): void {
    const number = integer(message, 'n')
    const request = this.#pending.get(number)
    if (request === undefined) return
    this.#pending.delete(number)
    const streamed = new Set(texts(message, 'symbols'))
    const unknown = new Set(texts(message, 'unknown'))
    for (const subscription of request) {
      if (subscription.requestNumber !== number) continue
      const { symbol } = subscription.topic
      if (streamed.has(symbol)) this.#owner.streamed(subscription)
      else if (unknown.has(symbol)) this.#owner.refused(subscription, `the broker has no ${subscription.topic.channel} of ${symbol}`)
      else throw new Malformed('symbols', `a list that answers for ${symbol}, or unknown to do so`, [...streamed].slice(0, 5))
    }
  }

  /** Only a request can be refused; after any other problem that the sandbox reports it is unknown what it streams. */
  #problem(message: Wire): void {
    const detail = displayTextOrNull(message, 'message') ?? text(message, 'code', 64)
    const number = field(message, 'n') === null ? null : integer(message, 'n')
    if (number === null) throw new Malformed('our message', 'one the sandbox can read', detail)
    const request = this.#pending.get(number)
    this.#pending.delete(number)
    for (const subscription of request ?? []) if (subscription.requestNumber === number) this.#owner.refused(subscription, detail)
  }

  #released({ items, hasGap }: Sequenced<readonly unknown[]>): void {
    if (hasGap) this.#owner.missed('the sandbox counted a message of the market stream that did not arrive')
    for (const each of items) this.#owner.items(each)
  }

  #syncTime(message: Wire): void {
    const at = timestampOrNull(message, 'sandbox_time')
    if (at !== null) this.#sync(at)
  }
}

function fieldsOf(topic: Topic): object {
  switch (topic.channel) {
    case 'bars':
      return { channel: 'bars', interval: topic.interval }
    case 'options_chain':
      return { channel: 'chain', expiration: topic.expiration }
    default:
      return { channel: topic.channel }
  }
}

const LEVELS_MAX = 10

/**
 * Hands each item to the sink that streams it, in order. Items that are not streamed and unknown kinds are skipped. Returns the time
 * that it must be by now, milliseconds since the epoch: of the last event, or the end of a bar that is closed; 0 when unknown.
 * @throws Malformed at the first that cannot be read; those before it have been handed on.
 */
export function dispatch(items: readonly unknown[], tables: SinkTables): number {
  let lastAt: Nanos | null = null
  let presentMs = 0
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index]
    if (!isItem(item)) throw new Malformed('item', 'an object', item)
    switch (item.t) {
      case 'trade': {
        const sink = tables.trades.get(symbolOf(item.s, 's'))
        if (sink !== undefined) lastAt = trade(item, sink)
        break
      }
      case 'quote': {
        const sink = tables.quotes.get(symbolOf(item.s, 's'))
        if (sink !== undefined) lastAt = quote(item, sink)
        break
      }
      case 'depth': {
        const sink = tables.depth.get(symbolOf(item.s, 's'))
        if (sink !== undefined) sink.depth({ bids: levels(item.bids, 'bids'), asks: levels(item.asks, 'asks') })
        break
      }
      case 'bar': {
        const sink = tables.bars.get(symbolOf(item.s, 's'))
        if (sink !== undefined && item.i === STREAMED_INTERVAL) presentMs = Math.max(presentMs, bar(item, sink))
        break
      }
      case 'option': {
        const entry = tables.chains.get(symbolOf(item.u, 'u'))?.get(symbolOf(item.expiration, 'expiration'))
        if (entry !== undefined) entry.sink.chain(chainEntry(item, entry.expiration))
        break
      }
      default:
        if (typeof item.t !== 'string') throw new Malformed('t', 'a text', item.t)
    }
  }
  return lastAt === null ? presentMs : Math.max(presentMs, msOfNanos(lastAt))
}

function trade(item: Wire, sink: TopicSink): Nanos {
  const at = nanosOf(item.at)
  sink.trade({
    price: decimalOf(item.p, 'p'),
    size: decimalOf(item.z, 'z'),
    venue: venueOf(item.x),
    at,
    effect: effectOf(item.k)
  })
  return at
}

function quote(item: Wire, sink: TopicSink): Nanos {
  const at = nanosOf(item.at)
  sink.quote({
    bidPrice: decimalOrNull(item.b, 'b'),
    bidSize: decimalOrNull(item.bz, 'bz'),
    askPrice: decimalOrNull(item.a, 'a'),
    askSize: decimalOrNull(item.az, 'az'),
    at
  })
  return at
}

/** Gives the time that it must be by now. */
function bar(item: Wire, sink: TopicSink): number {
  const { closed } = item
  if (typeof closed !== 'boolean') throw new Malformed('closed', 'true or false', closed)
  const startMs = msOfNanos(nanosOf(item.at))
  sink.bar({
    startMs,
    open: decimalOf(item.o, 'o'),
    high: decimalOf(item.h, 'h'),
    low: decimalOf(item.l, 'l'),
    close: decimalOf(item.c, 'c'),
    volume: decimalOf(item.v, 'v'),
    closed
  })
  return closed ? startMs + STREAMED_INTERVAL_MS : startMs
}

function levels(value: unknown, what: string): readonly DepthLevel[] {
  if (!Array.isArray(value) || value.length > LEVELS_MAX) throw new Malformed(what, `a list of at most ${LEVELS_MAX} levels`, value)
  const read: DepthLevel[] = []
  for (let index = 0; index < value.length; index += 1) {
    const level: unknown = value[index]
    if (!Array.isArray(level)) throw new Malformed(what, 'levels of price, size, orders, venue and time', level)
    const [price, size, orders, venue, at]: readonly unknown[] = level
    read.push({
      price: decimalOf(price, what),
      size: decimalOf(size, what),
      orders: decimalOrNull(orders, what),
      venue: venueOf(venue),
      at: nanosOf(at)
    })
  }
  return read
}

function symbolOf(value: unknown, what: string): string {
  if (typeof value === 'string') return value
  throw new Malformed(what, 'a text', value)
}

function nanosOf(value: unknown): Nanos {
  if (isNanos(value)) return value
  throw new Malformed('at', 'nanoseconds since the epoch, a whole number as a string', value)
}

function effectOf(value: unknown): TradeEffect {
  if (value === 'all' || value === 'volume' || value === 'none') return value
  throw new Malformed('k', `one of ${TRADE_EFFECTS.join(', ')}`, value)
}
