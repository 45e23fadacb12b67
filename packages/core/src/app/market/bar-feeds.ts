import { canonicalInterval } from '../../domain/market/interval.ts'
import type { Bar } from '../../domain/market/records.ts'
import type { Session } from '../../domain/vocabulary.ts'
import type { MarketDataCapabilities } from '../../ports/broker.ts'
import type { MarketInstrument, MarketSource, Topic } from '../../ports/market.ts'
import { within } from '../within.ts'
import { BarFeed, type BarFeedDeps } from './bar-feed.ts'
import { type BarPlan, barPlan } from './bar-plan.ts'
import { BarWatch } from './bar-watch.ts'
import type { History } from './history.ts'
import { MarketRefusal } from './refusal.ts'
import type { Topics } from './topics.ts'
import type { Watch } from './watcher.ts'

export interface BarsAsked {
  readonly instrument: MarketInstrument
  readonly interval: string
  readonly session: Session
  readonly backfill: number
}

export interface BarFeedsParts {
  readonly source: MarketSource
  readonly marketData: MarketDataCapabilities
  readonly topics: Topics
  readonly history: History
}

/** How long the first bars are waited for. */
const READY_MS = 10_000

interface Entry {
  readonly feed: Promise<BarFeed>
  users: number
}

/** The bar feeds of one connection: one for each symbol, interval and session that somebody wants. */
export class BarFeeds {
  readonly #deps: BarFeedDeps
  readonly #parts: BarFeedsParts
  readonly #entries = new Map<string, Entry>()
  readonly #running = new Set<BarFeed>()

  constructor(deps: BarFeedDeps, parts: BarFeedsParts) {
    this.#deps = deps
    this.#parts = parts
  }

  /** @throws MarketRefusal, BrokerFault */
  async watch({ instrument, interval, session, backfill }: BarsAsked): Promise<Watch> {
    const plan = barPlan(instrument, interval, session, this.#parts.marketData)
    const key = `${plan.symbol} ${canonicalInterval(plan.clock.interval)} ${session}`
    const entry = this.#entries.get(key) ?? this.#open(key, plan)
    entry.users += 1
    const leave = () => this.#leave(key, entry)
    try {
      const feed = await entry.feed
      if ((await within(this.#deps.clock, feed.ready(), READY_MS)) === null) {
        throw new MarketRefusal('broker_unavailable', 'The broker’s history does not answer just now; subscribe again in a few seconds.')
      }
      return new BarWatch(feed, await this.#past(feed, backfill), { backfill, ended: leave })
    } catch (cause) {
      leave()
      throw cause
    }
  }

  tick(presentMs: number): void {
    for (const feed of this.#running) feed.tick(presentMs)
  }

  end(): void {
    for (const feed of this.#running) feed.end()
    this.#running.clear()
    this.#entries.clear()
  }

  #open(key: string, plan: BarPlan): Entry {
    const { source, topics, history } = this.#parts
    const { symbol, live } = plan
    const topic: Topic = live === null ? { channel: 'trades', symbol } : { channel: 'bars', symbol, interval: live.word }
    const feed = topics.join(topic).then(joined => {
      const running = new BarFeed(this.#deps, plan, { source, history, topic: joined })
      this.#running.add(running)
      return running
    })
    const entry: Entry = { feed, users: 0 }
    this.#entries.set(key, entry)
    return entry
  }

  async #past(feed: BarFeed, count: number): Promise<readonly Bar[]> {
    if (count === 0) return []
    return this.#parts.history.last(feed.plan, count, this.#parts.source.presentMs())
  }

  #leave(key: string, entry: Entry): void {
    entry.users -= 1
    if (entry.users > 0) return
    if (this.#entries.get(key) === entry) this.#entries.delete(key)
    entry.feed.then(
      feed => {
        if (!this.#running.delete(feed)) return
        feed.end()
        this.#parts.topics.leave(feed.topic)
      },
      () => undefined
    )
  }
}
