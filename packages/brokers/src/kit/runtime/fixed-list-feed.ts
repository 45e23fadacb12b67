/**
 * A market feed by mode `fixed stream`, for streams of several symbols: quotes and the trades derived from them, of many symbols over few
 * streams. What a stream has cannot be changed, so new symbols get a stream of their own; when these have become many, some are put
 * together in one that takes over symbol by symbol before the others are closed.
 */

import type { Quote, Trade } from '@trunkline/core/domain/market/records'
import type { GapCause } from '@trunkline/core/ports/gap'
import type { Topic, TopicLease, TopicSink } from '@trunkline/core/ports/market'
import { FlushScheduler, PendingTasks } from '../flush-scheduler.ts'
import type { Wire } from '../parse.ts'
import type { RateLimiter } from '../rate-limiter.ts'
import { refusedLater, Subscription } from '../subscription.ts'
import { FixedStream, type FixedStreamOptions } from './fixed-stream.ts'

/** Streams that are not full; one more, and all that fit go together. */
const STREAMS_MAX = 4

export type QuoteTopic = Extract<Topic, { readonly channel: 'quotes' | 'trades' }>

export interface FixedListOptions extends FixedStreamOptions {
  /** Symbols that one stream may have. */
  readonly symbolsMax: number
  readonly path: (symbols: readonly string[]) => string
  readonly opens: RateLimiter
  /** The broker's spelling; null for a symbol that it cannot have. */
  readonly toBroker: (symbol: string) => string | null
  /** @throws Malformed */
  readonly symbolOf: (record: Wire) => string
  readonly newState: () => SymbolState
}

/** One symbol, as its records are put together. */
export interface SymbolState {
  /** The current quote; null before the first record. */
  readonly quote: Quote | null
  /** Forgets the state: the next record is a first one. */
  forget(): void
  /** `atMs`: the market's current time. @throws Malformed */
  apply(record: Wire, atMs: number): { readonly quote: Quote | null; readonly trade: Trade | null }
}

/** A wanted symbol. */
interface Wanted {
  /** In the broker's spelling. */
  readonly symbol: string
  readonly state: SymbolState
  readonly subscriptions: Map<QuoteTopic['channel'], Subscription>
  /** The stream that delivers it; null until one does. */
  stream: Stream | null
  /** The newest stream requested for it. */
  requested: Stream | null
}

/** One stream. Its symbols are those it was opened with. */
interface Stream {
  readonly symbols: ReadonlySet<string>
  connection: FixedStream | null
}

export class FixedListFeed implements AsyncDisposable {
  readonly #options: FixedListOptions
  readonly #wanted = new Map<string, Wanted>()
  readonly #streams = new Set<Stream>()
  /** Streams that were given up and whose sockets are not gone yet. */
  readonly #closing = new PendingTasks()
  /** What has changed in this turn of the event loop, in one request. */
  readonly #changed: FlushScheduler
  /** False once the broker refused together what it streams apart. */
  #mayJoin = true

  constructor(options: FixedListOptions) {
    this.#options = options
    this.#changed = new FlushScheduler(() => this.#settle(), options.schedule)
  }

  stream(topic: QuoteTopic, sink: TopicSink): TopicLease {
    const symbol = this.#options.toBroker(topic.symbol)?.toUpperCase() ?? null
    if (symbol === null) return refusedLater(sink, `the broker has no ${topic.channel} of ${topic.symbol}`, this.#options.schedule)
    const subscription = new Subscription(topic, sink)
    const wanted = this.#wanted.get(symbol) ?? {
      symbol,
      state: this.#options.newState(),
      subscriptions: new Map(),
      stream: null,
      requested: null
    }
    this.#wanted.set(symbol, wanted)
    wanted.subscriptions.set(topic.channel, subscription)
    this.#changed.schedule()
    const isMine = () => wanted.subscriptions.get(topic.channel) === subscription
    return {
      renew: () => {
        if (isMine()) this.#renew(wanted)
      },
      [Symbol.dispose]: () => {
        subscription.end()
        if (isMine()) wanted.subscriptions.delete(topic.channel)
        if (wanted.subscriptions.size === 0 && this.#wanted.get(symbol) === wanted) this.#wanted.delete(symbol)
        this.#changed.schedule()
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#changed[Symbol.dispose]()
    for (const { subscriptions } of this.#wanted.values()) for (const subscription of subscriptions.values()) subscription.end()
    this.#wanted.clear()
    for (const stream of this.#streams) this.#close(stream)
    await this.#closing.over()
  }

  /** The symbol gets a separate stream, and the others stay where they are. */
  #renew(wanted: Wanted): void {
    for (const subscription of wanted.subscriptions.values())
      subscription.lost('silence', 'nothing was received for too long, so it was requested again')
    wanted.state.forget()
    wanted.stream = null
    wanted.requested = null
    this.#changed.schedule()
  }

  #settle(): void {
    for (const stream of this.#streams) if (!this.#isNeeded(stream)) this.#close(stream)
    const unrequested: Wanted[] = []
    for (const wanted of this.#wanted.values()) {
      if (wanted.requested === null) unrequested.push(wanted)
      else if (wanted.stream !== null) this.#begin(wanted)
    }
    this.#ask(unrequested)
    this.#join()
  }

  #ask(all: readonly Wanted[]): void {
    for (let from = 0; from < all.length; from += this.#options.symbolsMax) this.#open(all.slice(from, from + this.#options.symbolsMax))
  }

  /** Puts streams together that are not full, the smallest first. */
  #join(): void {
    const partly = [...this.#streams].map(stream => this.#membersOf(stream)).filter(({ length }) => length < this.#options.symbolsMax)
    if (partly.length <= STREAMS_MAX || !this.#mayJoin) return
    const joined: (readonly Wanted[])[] = []
    let left = this.#options.symbolsMax
    for (const members of partly.toSorted((a, b) => a.length - b.length)) {
      left -= members.length
      if (left < 0) break
      joined.push(members)
    }
    // A stream that is opened again for the members of one alone would be joined again, without end.
    if (joined.length > 1) this.#open(joined.flat())
  }

  #open(members: readonly Wanted[]): void {
    const symbols = new Set(members.map(({ symbol }) => symbol))
    const stream: Stream = { symbols, connection: null }
    this.#streams.add(stream)
    for (const wanted of members) wanted.requested = stream
    stream.connection = new FixedStream(
      this.#options.path([...symbols]),
      {
        record: wire => this.#record(stream, wire),
        failed: (symbol, message) => this.#failed(stream, symbol, message),
        heartbeat: () => this.#onHeartbeat(stream),
        lost: (cause, reason) => this.#lost(stream, cause, reason),
        refused: message => this.#refused(stream, message)
      },
      this.#options.opens,
      this.#options
    )
  }

  #record(stream: Stream, wire: Wire): void {
    const wanted = this.#wanted.get(this.#options.symbolOf(wire).toUpperCase())
    // Let go of, or another stream has it by now.
    if (wanted === undefined || (wanted.requested !== stream && wanted.stream !== stream)) return
    if (wanted.requested === stream && wanted.stream !== stream) this.#takeOver(wanted, stream)
    else if (wanted.stream !== stream) return
    const { marketClock } = this.#options
    const { quote, trade } = wanted.state.apply(wire, marketClock.nowMs())
    this.#begin(wanted, quote !== null)
    if (quote !== null) liveOf(wanted, 'quotes')?.sink.quote(quote)
    if (trade !== null) liveOf(wanted, 'trades')?.sink.trade(trade)
  }

  #failed(stream: Stream, symbol: string, message: string): void {
    const wanted = this.#wanted.get(symbol.toUpperCase())
    if (wanted !== undefined && (wanted.requested === stream || wanted.stream === stream)) this.#refuse(wanted, message)
  }

  /** The first line of a symbol on another stream continues where the previous one ended. */
  #takeOver(wanted: Wanted, stream: Stream): void {
    const before = wanted.stream
    wanted.stream = stream
    if (before !== null) this.#changed.schedule()
  }

  /** What is new to a symbol that is streamed already begins with the current quote; `hasQuote` when that comes next anyway. */
  #begin({ subscriptions, state }: Wanted, hasQuote = false): void {
    for (const subscription of subscriptions.values()) {
      if (subscription.isLive) continue
      subscription.live()
      if (subscription.topic.channel === 'quotes' && state.quote !== null && !hasQuote) subscription.sink.quote(state.quote)
    }
  }

  /** A symbol for which the broker sent nothing before its first heartbeat is streamed nevertheless. */
  #onHeartbeat(stream: Stream): void {
    for (const wanted of this.#membersOf(stream)) {
      if (wanted.stream !== null) continue
      wanted.stream = stream
      this.#begin(wanted)
    }
  }

  #lost(stream: Stream, cause: GapCause, reason: string): void {
    for (const wanted of this.#wanted.values()) {
      if (wanted.stream !== stream && (wanted.stream !== null || wanted.requested !== stream)) continue
      wanted.state.forget()
      wanted.stream = null
      for (const subscription of wanted.subscriptions.values()) subscription.lost(cause, reason)
    }
  }

  /** The whole stream: of a single symbol it is about that one; of several each is requested alone, to find out which. */
  #refused(stream: Stream, message: string): void {
    const members = this.#membersOf(stream)
    if (members.some(wanted => wanted.stream !== null && wanted.stream !== stream)) this.#mayJoin = false
    this.#close(stream)
    const [only, ...others] = members
    if (only !== undefined && others.length === 0) this.#refuse(only, message)
    else for (const wanted of members) this.#open([wanted])
  }

  #refuse(wanted: Wanted, message: string): void {
    this.#wanted.delete(wanted.symbol)
    for (const subscription of wanted.subscriptions.values()) subscription.refused(message)
    this.#changed.schedule()
  }

  #membersOf(stream: Stream): readonly Wanted[] {
    return [...stream.symbols].flatMap(symbol => {
      const wanted = this.#wanted.get(symbol)
      return wanted?.requested === stream ? [wanted] : []
    })
  }

  #isNeeded(stream: Stream): boolean {
    for (const symbol of stream.symbols) {
      const wanted = this.#wanted.get(symbol)
      if (wanted?.requested === stream || wanted?.stream === stream) return true
    }
    return false
  }

  #close(stream: Stream): void {
    this.#streams.delete(stream)
    if (stream.connection !== null) this.#closing.add(stream.connection[Symbol.asyncDispose]())
  }
}

function liveOf({ subscriptions }: Wanted, channel: QuoteTopic['channel']): Subscription | undefined {
  const subscription = subscriptions.get(channel)
  return subscription?.isLive === true ? subscription : undefined
}
