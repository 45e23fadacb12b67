/** Follows what an adapter publishes while a recording is put through it. */

import { setTimeout as delay } from 'node:timers/promises'
import type { Quote, Trade } from '@trunkline/core/domain/market/records'
import type { AccountEvent, Broker, OrderReport } from '@trunkline/core/ports/broker'
import type { MarketSource, TopicLease, TopicSink } from '@trunkline/core/ports/market'
import { until } from '@trunkline/testkit/until'

/** After a message that nothing follows from. */
const QUIET_MS = 120

/** The events of an account stream. */
export class AccountEvents implements AsyncDisposable {
  readonly events: AccountEvent[] = []
  readonly #stop = new AbortController()
  readonly #ended: Promise<void>

  constructor(broker: Broker) {
    this.#ended = this.#follow(broker).catch(() => undefined)
  }

  get isLive(): boolean {
    return this.events.some(({ type }) => type === 'live')
  }

  get reports(): readonly OrderReport[] {
    return this.events.flatMap(event => (event.type === 'order' ? [event.report] : []))
  }

  async live(): Promise<void> {
    await until(() => this.isLive, 'the account stream is live')
  }

  async opens(condition: () => boolean): Promise<void> {
    await until(condition, 'the stream is open')
  }

  /** The events that follow from what `send` does, until it has been quiet for a moment. */
  async after(send: () => void): Promise<readonly AccountEvent[]> {
    const before = this.events.length
    send()
    await quiet(() => this.events.length)
    return this.events.slice(before)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#ended
  }

  async #follow(broker: Broker): Promise<void> {
    for await (const event of broker.events(this.#stop.signal)) this.events.push(event)
  }
}

/** Trades and quotes of symbols. */
export class MarketEvents implements Disposable {
  readonly trades: (Trade & { readonly symbol: string })[] = []
  readonly quotes: (Quote & { readonly symbol: string })[] = []
  readonly #leases: readonly TopicLease[]
  readonly #wanted: number
  #live = 0

  constructor(market: MarketSource, symbols: readonly string[]) {
    const topics = symbols.flatMap(symbol => (['trades', 'quotes'] as const).map(channel => ({ channel, symbol })))
    this.#wanted = topics.length
    this.#leases = topics.map(topic => market.stream(topic, this.#sink(topic.symbol)))
  }

  async live(): Promise<void> {
    await until(() => this.#live >= this.#wanted, 'every topic is streamed')
  }

  async quiet(): Promise<void> {
    await quiet(() => this.trades.length + this.quotes.length)
  }

  [Symbol.dispose](): void {
    for (const lease of this.#leases) lease[Symbol.dispose]()
  }

  #sink(symbol: string): TopicSink {
    const nothing = () => undefined
    return {
      live: () => {
        this.#live += 1
      },
      trade: trade => void this.trades.push({ ...trade, symbol }),
      quote: quote => void this.quotes.push({ ...quote, symbol }),
      ...{ lost: nothing, refused: nothing, depth: nothing, bar: nothing, chain: nothing }
    }
  }
}

async function quiet(count: () => number): Promise<void> {
  for (let before = -1; before !== count(); ) {
    before = count()
    await delay(QUIET_MS)
  }
}
