// The market of a broker in memory: a test sets its instruments, its history, and what is streamed when.
import { continuousCalendar } from '@trunkline/core/domain/calendar/index'
import type { Bar, ChainEntry } from '@trunkline/core/domain/market/records'
import type { Day } from '@trunkline/core/domain/timestamp'
import { BrokerFault } from '@trunkline/core/ports/broker'
import type { GapCause } from '@trunkline/core/ports/gap'
import type { BarsRequest, FoundSymbol, MarketInstrument, MarketSource, Topic, TopicLease, TopicSink } from '@trunkline/core/ports/market'

/** One subscribed topic. */
export interface ScriptedTopic {
  readonly topic: Topic
  readonly sink: TopicSink
}

const PAGE = 1_000

export class ScriptedMarket implements MarketSource {
  readonly instruments = new Map<string, MarketInstrument>()
  readonly days = new Map<string, readonly Day[]>()
  /** What every search finds. */
  found: readonly FoundSymbol[] = []
  /** Whole chains, by `underlying expiration`. */
  readonly chains = new Map<string, readonly ChainEntry[]>()
  /** Past bars, by `symbol interval`, ascending. */
  readonly history = new Map<string, readonly Bar[]>()
  /** The requests for history. */
  readonly requests: BarsRequest[] = []
  /** Awaited before every answer of the history, and every chain. */
  hold: () => Promise<void> = async () => undefined
  /** If set, every read fails with it. */
  fault: BrokerFault | null = null
  /** Whether a topic is streamed as soon as it is subscribed. */
  answers = true
  /** The market's time, milliseconds since the epoch. */
  nowMs: number
  /** How often topics were subscribed, and subscribed again. */
  leases = 0
  renewals = 0
  readonly #open = new Set<ScriptedTopic>()

  constructor(nowMs: number) {
    this.nowMs = nowMs
  }

  list(symbol: string, instrument: MarketInstrument['instrument'] = 'STK', calendar = continuousCalendar()): void {
    this.instruments.set(symbol, { symbol, instrument, calendar })
  }

  /** The subscribed topics of one channel and symbol. */
  topics(channel: Topic['channel'], symbol: string): readonly ScriptedTopic[] {
    return [...this.#open].filter(({ topic }) => topic.channel === channel && topic.symbol === symbol)
  }

  /** The only one. @throws Error if there are none or several: a topic is streamed once */
  topic(channel: Topic['channel'], symbol: string): TopicSink {
    const [only, ...more] = this.topics(channel, symbol)
    if (only === undefined || more.length > 0) throw new Error(`${channel} of ${symbol} is asked for ${more.length + (only ? 1 : 0)} times`)
    return only.sink
  }

  get open(): number {
    return this.#open.size
  }

  lose(cause: GapCause = 'lost', reason = 'the connection ended'): void {
    for (const { sink } of this.#open) sink.lost(cause, reason)
  }

  recover(): void {
    for (const { sink } of this.#open) sink.live()
  }

  presentMs(): number {
    return this.nowMs
  }

  async instrument(symbol: string): Promise<MarketInstrument | null> {
    this.#fail()
    return this.instruments.get(symbol) ?? null
  }

  async *bars(request: BarsRequest): AsyncGenerator<readonly Bar[]> {
    this.requests.push(request)
    await this.hold()
    this.#fail()
    const { symbol, interval, fromMs, toMs } = request
    const all = this.history.get(`${symbol} ${interval}`)
    if (all === undefined) throw new BrokerFault('refused', `no bars of ${symbol} in ${interval}`)
    const found = all.filter(({ startMs }) => startMs >= fromMs && startMs < toMs)
    for (let at = 0; at < found.length; at += PAGE) yield found.slice(at, at + PAGE)
  }

  async expirations(underlying: string): Promise<readonly Day[]> {
    this.#fail()
    return this.days.get(underlying) ?? []
  }

  async chain(underlying: string, expiration: Day): Promise<readonly ChainEntry[]> {
    await this.hold()
    this.#fail()
    return this.chains.get(`${underlying} ${expiration}`) ?? []
  }

  async search(): Promise<readonly FoundSymbol[]> {
    this.#fail()
    return this.found
  }

  stream(topic: Topic, sink: TopicSink): TopicLease {
    const entry = { topic, sink }
    this.#open.add(entry)
    this.leases += 1
    if (this.answers) sink.live()
    return {
      renew: () => {
        this.renewals += 1
        if (!this.answers) return
        sink.lost('silence', 'subscribed again')
        sink.live()
      },
      [Symbol.dispose]: () => void this.#open.delete(entry)
    }
  }

  #fail(): void {
    if (this.fault !== null) throw this.fault
  }
}
