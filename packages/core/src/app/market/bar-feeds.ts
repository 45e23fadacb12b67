import { canonicalInterval } from '../../domain/market/interval.ts'
import type { Bar } from '../../domain/market/records.ts'
import type { Session } from '../../domain/vocabulary.ts'
import type { MarketDataCapabilities } from '../../ports/broker.ts'
import type { MarketInstrument, MarketSource, Topic } from '../../ports/market.ts'
import { Semaphore } from '../semaphore.ts'
import { BarFeed, type BarFeedDeps } from './bar-feed.ts'
import { type BarPlan, barPlan } from './bar-plan.ts'
import { BarWatch } from './bar-watch.ts'
import type { History } from './history.ts'
import { backfillMaxOf, daysMaxOf, SMALL_BACKFILL_BARS, UNDER_WAY_BARS_MAX } from './history-limits.ts'
import { MarketRefusal } from './refusal.ts'
import type { SharedTopic } from './shared-topic.ts'
import type { Topics } from './topics.ts'
import type { Watch } from './watcher.ts'
import { WeightedSemaphore } from './weighted-semaphore.ts'

export interface BarsWatchRequest {
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

/** How many feeds of a connection recover at once after a loss, and how long each may hold its slot. */
const RECOVERIES = { atOnce: 4, ms: 15_000 }
interface Entry {
  readonly feed: Promise<BarFeed>
  readonly isRefused: () => boolean
  users: number
}

/** The bar feeds of one connection: one per symbol, interval and session with subscribers. */
export class BarFeeds {
  readonly #deps: BarFeedDeps
  readonly #parts: BarFeedsParts
  readonly #entries = new Map<string, Entry>()
  readonly #running = new Set<BarFeed>()
  readonly #semaphore: Semaphore<'recovery'>
  readonly #stopping = new AbortController()
  readonly #underWay = new WeightedSemaphore(UNDER_WAY_BARS_MAX)

  constructor(deps: BarFeedDeps, parts: BarFeedsParts) {
    this.#deps = deps
    this.#semaphore = new Semaphore(deps.clock, RECOVERIES)
    this.#parts = parts
  }

  /** @throws MarketRefusal, BrokerFault */
  async watch({ instrument, interval, session, backfill }: BarsWatchRequest): Promise<Watch> {
    const plan = barPlan(instrument, interval, session, this.#parts.marketData)
    this.#demandBounded(plan, interval, backfill)
    const key = `${plan.symbol} ${canonicalInterval(plan.clock.interval)} ${session}`
    const known = this.#entries.get(key)
    // A feed that the broker refused is opened again: it may be available now.
    const entry = known === undefined || known.isRefused() ? this.#open(key, plan) : known
    entry.users += 1
    const leave = () => this.#leave(key, entry)
    try {
      const feed = await entry.feed
      await feed.ready()
      return new BarWatch(feed, await this.#past(feed, backfill), { backfill, ended: leave })
    } catch (cause) {
      leave()
      throw cause
    }
  }

  tick(presentMs: number): void {
    for (const feed of this.#running) feed.tick(presentMs)
  }

  /** Ends all feeds; waiting callers receive the reason. */
  end(reason: MarketRefusal): void {
    this.#stopping.abort(reason)
    for (const feed of this.#running) feed.end()
    this.#running.clear()
    this.#entries.clear()
  }

  #open(key: string, plan: BarPlan): Entry {
    const { source, topics, history } = this.#parts
    const { symbol, live } = plan
    const topic: Topic = live === null ? { channel: 'trades', symbol } : { channel: 'bars', symbol, interval: live.label }
    let joinedTopic: SharedTopic | null = null
    const feed = topics.join(topic).then(joined => {
      joinedTopic = joined
      const throttled = <T>(read: () => Promise<T>) => this.#semaphore.take('recovery', read, this.#stopping.signal)
      const running = new BarFeed(this.#deps, plan, {
        source,
        history,
        topic: joined,
        throttled,
        historyLagMs: this.#parts.marketData.historyLagMs
      })
      this.#running.add(running)
      return running
    })
    const entry: Entry = { feed, isRefused: () => joinedTopic?.state === 'refused', users: 0 }
    this.#entries.set(key, entry)
    return entry
  }

  /** @throws MarketRefusal */
  #demandBounded({ clock }: BarPlan, text: string, backfill: number): void {
    const { marketData } = this.#parts
    const most = backfillMaxOf(marketData, clock.interval)
    if (backfill <= most) return
    const days = daysMaxOf(marketData, clock.interval)
    const reason = days === null || most === marketData.backfillMax ? '' : `, of which the broker keeps ${days} days`
    throw new MarketRefusal('invalid_request', `backfill_nbars must be at most ${most} for bars of ${text} here${reason}; was ${backfill}.`)
  }

  async #past(feed: BarFeed, count: number): Promise<readonly Bar[]> {
    const { history, source } = this.#parts
    if (count === 0) return []
    const read = () => history.last(feed.plan, count, source.presentMs())
    return count <= SMALL_BACKFILL_BARS ? read() : this.#underWay.take(count, read, this.#stopping.signal)
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
