/** Trades and quotes of one login over one connection: opened with the first topic, closed a little after the last. */

import { BrokerFault, type GapCause } from '@trunkline/core/ports/broker'
import type { Topic, TopicLease, TopicSink } from '@trunkline/core/ports/market'
import type { Conversation, Heard, Line } from '../../kit/conversation.ts'
import type { LineOptions } from '../../kit/kept-line.ts'
import type { Wire } from '../../kit/parse.ts'
import { SharedLine } from '../../kit/shared-line.ts'
import { gapOf, StreamFault } from '../../kit/stream-fault.ts'
import { keyOf, leased, Subscription } from '../../kit/subscription.ts'
import { EndOfTurn, UnderWay } from '../../kit/turn.ts'
import { toTradier } from '../symbols.ts'
import { dispatch, newPlace, type Place, StreamComplaint } from './items.ts'
import { latestMs, quoteOf } from './quotes.ts'

/** A present that could not be read is asked for again after so long. */
const AGAIN_MS = 2_000
/** So much later than what the stream told, a quote says that the stream does not tell. */
const BEHIND_MS = 5_000
const PING_MS = 20_000

export interface FeedOptions {
  readonly url: string
  readonly line: LineOptions
  readonly session: (signal: AbortSignal) => Promise<string>
  /** Nothing heard for so long is looked into: the market stream has no heartbeat. */
  readonly quietMs: number
  /** Quotes by Tradier's symbol; those it does not know are left out. @throws BrokerFault */
  readonly quotes: (symbols: readonly string[], signal: AbortSignal) => Promise<ReadonlyMap<string, Wire>>
  /** Something happened at this time, milliseconds since the epoch. */
  readonly happened: (ms: number) => void
}

export class MarketFeed implements AsyncDisposable {
  readonly #options: FeedOptions
  readonly #wanted = new Map<string, Subscription>()
  readonly #places = new Map<string, Place>()
  readonly #closing = new AbortController()
  readonly #presents = new UnderWay()
  /** What has changed in this turn, in one go. */
  readonly #changed = new EndOfTurn(() => this.#settle())
  readonly #line: SharedLine
  #talk: MarketTalk | null = null
  #again: Disposable | null = null
  /** The latest time that anything told of, milliseconds since the epoch by Tradier's clock. */
  #newestMs = 0
  /** What the present connection was last asked for. */
  #asked = ''

  constructor(options: FeedOptions) {
    const { url, line, session, quietMs } = options
    this.#options = options
    this.#line = new SharedLine({
      line,
      begin: async signal => new MarketTalk(`${url}/markets/events`, await session(signal), this, quietMs),
      lost: (cause, reason) => this.#lost(cause, reason),
      stopped: () => {
        this.#again?.[Symbol.dispose]()
        this.#again = null
        this.#talk = null
      }
    })
  }

  /** @throws Error when the topic is streamed already. */
  stream(topic: Topic, sink: TopicSink): TopicLease {
    const subscription = new Subscription(topic, sink)
    const lease = leased(this.#wanted, keyOf(topic), subscription, {
      renew: () => {
        this.#place(subscription, false)
        subscription.lost('silence', 'nothing has come for too long, and it was asked for anew')
        this.#line.mayOpen()
        this.#asked = ''
        this.#changed.ask()
      },
      letGo: () => {
        this.#place(subscription, false)
        subscription.end()
        this.#changed.ask()
      }
    })
    this.#line.mayOpen()
    this.#changed.ask()
    return lease
  }

  opened(talk: MarketTalk): void {
    this.#talk = talk
    this.#asked = ''
    this.#changed.ask()
  }

  /** @throws StreamFault, Malformed */
  heard(frame: string): void {
    try {
      this.#tell(dispatch(frame, this.#places))
    } catch (error) {
      throw error instanceof StreamComplaint ? new StreamFault('refused', `Tradier refused the market stream: ${error.message}`) : error
    }
  }

  /** Whether the quotes tell of a time that the stream should have told of. @throws StreamFault */
  async look(signal: AbortSignal): Promise<void> {
    const live = [...this.#wanted.values()].filter(({ isLive }) => isLive)
    if (live.length === 0) return
    const quotes = await this.#options.quotes([...new Set(live.map(({ topic }) => toTradier(topic.symbol)))], signal).catch(() => null)
    const times = live.map(({ topic }) => {
      const quote = quotes?.get(toTradier(topic.symbol))
      return quote === undefined ? 0 : latestMs(quote, topic.channel === 'trades' ? ['trade_date'] : ['bid_date', 'ask_date'])
    })
    const newestMs = Math.max(...times)
    if (newestMs > this.#newestMs + BEHIND_MS) throw new StreamFault('silence', 'quotes change, and the market stream does not tell')
  }

  #tell(ms: number): void {
    this.#newestMs = Math.max(this.#newestMs, ms)
    this.#options.happened(ms)
  }

  /** Nobody is told anything any more. Resolves once the socket is gone. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error('the login was closed'))
    this.#wanted.clear()
    this.#places.clear()
    this.#changed[Symbol.dispose]()
    await Promise.all([this.#line[Symbol.asyncDispose](), this.#presents.over()])
  }

  #settle(): void {
    if (this.#wanted.size === 0) {
      this.#line.release()
      return
    }
    this.#line.hold()
    this.#line.open()
    if (this.#talk === null) return
    // The list takes the place of the one before; symbols that nobody wants any more are dropped with the next one.
    const symbols = [...new Set([...this.#wanted.values()].map(({ topic }) => toTradier(topic.symbol)))].sort()
    const asked = symbols.join()
    if (asked !== this.#asked) this.#talk.ask(symbols)
    this.#asked = asked
    if ([...this.#wanted.values()].some(({ isLive }) => !isLive)) this.#presents.add(this.#present(this.#talk))
  }

  /** The stream acknowledges nothing and begins with nothing: what is now is read, which tells what Tradier does not know as well. */
  async #present(talk: MarketTalk): Promise<void> {
    const waiting = [...this.#wanted.values()].filter(({ isLive }) => !isLive)
    const symbols = [...new Set(waiting.map(({ topic }) => toTradier(topic.symbol)))]
    const isStill = () => this.#talk === talk && !this.#closing.signal.aborted
    try {
      const quotes = await this.#options.quotes(symbols, this.#closing.signal)
      if (!isStill()) return
      for (const subscription of waiting) {
        const key = keyOf(subscription.topic)
        if (this.#wanted.get(key) !== subscription || subscription.isLive) continue
        const quote = quotes.get(toTradier(subscription.topic.symbol))
        if (quote === undefined) {
          this.#wanted.delete(key)
          subscription.refused(`Tradier has no market data of ${subscription.topic.symbol}`)
          continue
        }
        this.#place(subscription, true)
        subscription.live()
        this.#tell(latestMs(quote, ['bid_date', 'ask_date']))
        if (subscription.topic.channel === 'quotes') subscription.sink.quote(quoteOf(quote))
      }
    } catch (error) {
      if (!isStill()) return
      const { cause, reason } = gapOf(error)
      for (const subscription of waiting) if (!subscription.isLive) subscription.lost(isOver(error) ? 'token' : cause, reason)
      this.#again ??= this.#options.line.clock.alarm(AGAIN_MS, () => {
        this.#again = null
        this.#changed.ask()
      })
    }
  }

  /** Puts a topic's sink where the frames find it, or takes it away. */
  #place({ topic, sink }: Subscription, isThere: boolean): void {
    if (topic.channel !== 'trades' && topic.channel !== 'quotes') return
    const symbol = toTradier(topic.symbol)
    const place = this.#places.get(symbol) ?? newPlace(symbol)
    place[topic.channel] = isThere ? sink : null
    if (place.trades === null && place.quotes === null) this.#places.delete(symbol)
    else this.#places.set(symbol, place)
  }

  #lost(cause: GapCause, reason: string): void {
    this.#talk = null
    this.#newestMs = 0
    this.#places.clear()
    for (const subscription of this.#wanted.values()) subscription.lost(cause, reason)
  }
}

class MarketTalk implements Conversation<never> {
  readonly url: string
  readonly hello = []
  readonly pingMs = PING_MS
  readonly #session: string
  readonly #feed: MarketFeed
  readonly #quietMs: number
  #line: Line<never> | null = null
  #isQuiet = false

  constructor(url: string, session: string, feed: MarketFeed, quietMs: number) {
    this.url = url
    this.#session = session
    this.#feed = feed
    this.#quietMs = quietMs
  }

  opened(line: Line<never>): void {
    this.#line = line
    line.tell({ type: 'live', heartbeatMs: PING_MS })
    this.#feed.opened(this)
  }

  ask(symbols: readonly string[]): void {
    const words = {
      symbols,
      sessionid: this.#session,
      filter: ['quote', 'timesale'],
      linebreak: true,
      validOnly: true,
      advancedDetails: false
    }
    this.#line?.say(JSON.stringify(words))
  }

  hear(frame: string): readonly Heard<never>[] {
    this.#isQuiet = false
    this.#feed.heard(frame)
    return []
  }

  async tend(line: Line<never>): Promise<number> {
    if (this.#isQuiet) await this.#feed.look(line.signal)
    this.#isQuiet = true
    return this.#quietMs
  }
}

function isOver(error: unknown): boolean {
  return error instanceof BrokerFault && error.kind === 'credentials_rejected'
}
