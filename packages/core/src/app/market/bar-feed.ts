import { OutsideCalendar } from '../../domain/calendar/index.ts'
import { BarBuilder } from '../../domain/market/bar-builder.ts'
import { type Bar, type ChainEntry, type Depth, msOfNanos, type Quote, type Trade } from '../../domain/market/records.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { MarketSource } from '../../ports/market.ts'
import type { Meter } from '../../ports/meter.ts'
import type { BarPlan } from './bar-plan.ts'
import { GRACE_MS, type History } from './history.ts'
import type { SharedTopic, TopicListener } from './shared-topic.ts'

/** Receives a feed's bars. */
export interface BarListener {
  bar(bar: Bar): void
  interrupted(reason: string): void
}

export interface BarFeedDeps {
  readonly clock: Clock
  readonly log: Log
  readonly meter: Meter
}

export interface BarFeedParts {
  readonly source: MarketSource
  readonly history: History
  readonly topic: SharedTopic
  /** Limits concurrent reads of history: after a loss, all feeds of a connection read it. */
  readonly throttled: <T>(read: () => Promise<T>) => Promise<T>
  /** How long the broker's history may lag behind its stream. */
  readonly historyLagMs: number
}

/** Shortest interval between two states of an open bar, in milliseconds. */
const OPEN_EVERY_MS = 250
/** Closed bars retained for subscribers that join while one closes. */
const RECENT_MAX = 64
/** Most events buffered while history is read; beyond it the feed starts again. */
const BUFFERED_MAX = 100_000
/** Allowance for differing clocks: an event dated further ahead is invalid. */
const AHEAD_MS = 600_000
/**
 * A bar that ended less than this ago may still be open in history: the feed starts with it, so that no bar is missing after a backfill.
 */
const SETTLED_MS = 10_000
/** How far the broker's clock may be behind the time assumed for it. */
const BEHIND_MS = 3_000
const RETRY_MS = { first: 500, longest: 30_000 }
/** How many checks in a row, a second apart, must find an ended bar unchanged before it is closed by time alone. */
const QUIET_LOOKS = 2
/** How often a closed bar is read from history, which may record its end later. */
const BACKFILL_TRIES_MAX = 7

/**
 * The bars of one symbol, interval and session, shared by all subscribers. Starts with history's part of the open bar; after a loss, it
 * continues from the last closed bar. Each bar closes once and none is missing.
 */
export class BarFeed implements TopicListener {
  readonly plan: BarPlan
  readonly #deps: BarFeedDeps
  readonly #source: MarketSource
  readonly #history: History
  readonly #topic: SharedTopic
  readonly #throttled: BarFeedParts['throttled']
  readonly #historyLagMs: number
  #listeners: readonly BarListener[] = []
  #builder: BarBuilder
  #recent: Bar[] = []
  /** Start and end of the last bar published as closed. */
  #closed: { readonly start: number; readonly end: number } | null = null
  /** Where the feed began: the start of the open bar, or of one that had just ended. */
  #from: number | null = null
  /** Events that arrived while history is being read; null otherwise. */
  #buffer: (Bar | Trade)[] | null = []
  /** Counts recoveries: one that was superseded by the next has no effect. */
  #recovery = 0
  readonly #ready = Promise.withResolvers<true>()
  /** Closed bars that wait for an earlier bar to be read from history. */
  #backfilling: Bar[] | null = null
  /** Events dated before this instant are plausible. */
  #foreseen = 0
  /** The earliest event dropped as being in the future since the last recovery. */
  #leftOut: number | null = null
  /** Whether implausible times of the broker were logged since the last recovery. */
  #isOddLogged = false
  #emittedRevision = -1
  /** The state of the ended open bar at the last check, and how many checks have found it unchanged. */
  #quiet = { revision: -1, looks: 0 }
  #pulse: Disposable | null = null
  #late = 0
  #isOver = false

  constructor(deps: BarFeedDeps, plan: BarPlan, parts: BarFeedParts) {
    this.#deps = deps
    this.plan = plan
    this.#source = parts.source
    this.#history = parts.history
    this.#topic = parts.topic
    this.#throttled = parts.throttled
    this.#historyLagMs = parts.historyLagMs
    this.#builder = this.#newBuilder()
    // A feed that is ended before it is ready has no waiters.
    this.#ready.promise.catch(() => undefined)
    this.#topic.add(this)
    void this.#recover()
  }

  get topic(): SharedTopic {
    return this.#topic
  }

  /** Resolves when the open bar is known. @throws what reading history threw */
  ready(): Promise<true> {
    return this.#ready.promise
  }

  /** Whether it follows the broker now. */
  get isLive(): boolean {
    return this.#buffer === null && this.#topic.state === 'live'
  }

  /** The last closed bars, ascending. */
  get recent(): readonly Bar[] {
    return this.#recent
  }

  /** The open bar; null if nothing has traded in it, or it is not known at the moment. */
  open(): Bar | null {
    return this.#buffer === null && this.#backfilling === null ? this.#builder.open : null
  }

  add(listener: BarListener): void {
    this.#listeners = [...this.#listeners, listener]
  }

  remove(listener: BarListener): void {
    this.#listeners = this.#listeners.filter(other => other !== listener)
  }

  end(): void {
    this.#isOver = true
    this.#recovery += 1
    this.#topic.remove(this)
    this.#pulse?.[Symbol.dispose]()
    this.#listeners = []
  }

  /** `presentMs` is the market's time: closes a bar that has ended even if nothing more arrives. Called about once a second. */
  tick(presentMs: number): void {
    this.#reconsider()
    const until = this.#builder.openUntil
    if (this.#buffer !== null || until === null || until > presentMs - GRACE_MS || this.#topic.state !== 'live') return
    if (!this.#isQuiet()) return
    // Not beyond this bar: if the broker's time has jumped ahead, what arrives next must not be late.
    this.#haveClosed(this.#builder.closeUntil(until))
    const { late } = this.#builder.passed
    for (; this.#late < late; this.#late += 1) this.#deps.meter.count('market_late_trades_total')
  }

  /** Whether nothing of the ended bar is still on its way: this process may have been busy, or the broker behind its own time. */
  #isQuiet(): boolean {
    const { revision } = this.#builder
    this.#quiet = { revision, looks: revision === this.#quiet.revision ? this.#quiet.looks + 1 : 1 }
    return this.#quiet.looks >= QUIET_LOOKS
  }

  trade(trade: Trade): void {
    if (this.#leftOut !== null) this.#reconsider()
    if (this.#buffer !== null) {
      this.#hold(trade)
      return
    }
    this.#take(trade)
    this.#changed()
  }

  bar(bar: Bar): void {
    if (this.#leftOut !== null) this.#reconsider()
    if (this.#buffer !== null) {
      this.#hold(bar)
      return
    }
    this.#take(bar)
    this.#changed()
  }

  live(): void {
    void this.#recover()
  }

  interrupted(reason: string): void {
    this.#recovery += 1
    this.#buffer = []
    for (const listener of this.#listeners) listener.interrupted(reason)
  }

  quote(_: Quote): void {}
  depth(_: Depth): void {}
  chain(_: ChainEntry): void {}

  /** Reads what is missing from history, then applies the buffered events. Retries until history answers. */
  async #recover(): Promise<void> {
    const recovery = ++this.#recovery
    this.#buffer = []
    // History may not contain the latest losses yet, and would omit them silently.
    if (this.#closed !== null && this.#historyLagMs > 0) await this.#deps.clock.sleep(this.#historyLagMs)
    for (let attempt = 0; recovery === this.#recovery; attempt += 1) {
      try {
        const requestedAt = this.#deps.clock.monotonicMs()
        const believed = this.#source.presentMs()
        // After a loss all feeds of a connection want to read; a new subscriber does not wait for them.
        const past = await (this.#closed === null ? this.#missing(believed) : this.#throttled(() => this.#missing(believed)))
        // The answers update the broker's time.
        const corrected = this.#source.presentMs() - (this.#deps.clock.monotonicMs() - requestedAt)
        if (recovery === this.#recovery) this.#takeUp(past, Math.max(believed, corrected) + BEHIND_MS)
        this.#ready.resolve(true)
        return
      } catch (cause) {
        if (recovery !== this.#recovery) return
        // Logged once per outage, which affects all feeds of a connection repeatedly.
        if (attempt === 0) this.#deps.log.warn('bars could not be taken up from history', { symbol: this.plan.symbol, cause })
        // Callers that wait for the first bars receive the error and may try again.
        this.#ready.reject(cause)
        await this.#deps.clock.sleep(Math.min(RETRY_MS.longest, RETRY_MS.first * 2 ** attempt))
      }
    }
  }

  /** Past base bars since the last closed bar, or of the open bar. */
  async #missing(presentMs: number): Promise<readonly Bar[]> {
    const { clock, past, seed } = this.plan
    this.#from ??= clock.startOf(presentMs - SETTLED_MS) ?? clock.atOrAfter(presentMs - SETTLED_MS)
    const from = this.#closed?.end ?? this.#from
    const upTo = presentMs + AHEAD_MS
    if (from >= upTo) return []
    const bars: Bar[] = []
    let minutesFrom = from
    if (past.label !== seed.label) {
      const settled = presentMs - SETTLED_MS
      minutesFrom = Math.max(from, past.clock.startOf(settled) ?? settled)
      if (minutesFrom > from) {
        for await (const page of this.#history.base(this.plan, past, from, minutesFrom)) {
          const open = page.find(({ closed }) => !closed)
          // A bar that the broker has not closed yet is read in minutes.
          if (open !== undefined) minutesFrom = Math.min(minutesFrom, open.startMs)
          bars.push(...page.filter(({ startMs }) => startMs < minutesFrom))
        }
      }
    }
    for await (const page of this.#history.base(this.plan, seed, minutesFrom, upTo)) bars.push(...page)
    return bars
  }

  /** `liveSince`: every event after it has arrived or will arrive. */
  #takeUp(past: readonly Bar[], liveSince: number): void {
    const came = this.#buffer ?? []
    this.#buffer = null
    this.#backfilling = null
    this.#builder = this.#newBuilder()
    this.#late = 0
    this.#quiet = { revision: -1, looks: 0 }
    this.#isOddLogged = false
    this.#leftOut = null
    if (this.#closed !== null) this.#builder.closeUntil(this.#closed.end)
    if (this.plan.live === null) {
      // The minute in which trades began to arrive is incomplete, so its bar is read from history once it closes.
      const minute = this.plan.seed.clock.startOf(liveSince)
      this.#builder.completeFrom(minute === null ? liveSince : this.plan.seed.clock.endOf(minute))
    }
    // The newest base bar may be open. Without it, a bar in which nothing trades any more would never be published.
    let isWhole = true
    for (const bar of past) {
      this.#take(bar, isWhole)
      isWhole &&= bar.closed
    }
    for (const event of came) this.#take(event)
    this.#changed()
  }

  #newBuilder(): BarBuilder {
    return new BarBuilder(this.plan.clock, this.plan.seed.clock)
  }

  /** `areWhole`: whether the bars that it closes are known to be complete. */
  #take(event: Bar | Trade, areWhole = false): void {
    // One wrong time in the future would close the open bar and make everything after it late.
    const at = 'startMs' in event ? event.startMs : msOfNanos(event.at)
    if (at >= this.#foreseen && !this.#isForeseeable(at)) return
    try {
      this.#haveClosed('startMs' in event ? this.#builder.bar(event) : this.#builder.trade(event), areWhole)
    } catch (cause) {
      if (!(cause instanceof OutsideCalendar)) throw cause
      this.#logOdd('a broker sent a time that its market never had; the event was dropped', at)
    }
  }

  #isForeseeable(at: number): boolean {
    this.#foreseen = this.#source.presentMs() + AHEAD_MS
    if (at < this.#foreseen) return true
    this.#logOdd('a broker sent a time in the future; the event was dropped', at)
    this.#leftOut = Math.min(this.#leftOut ?? at, at)
    return false
  }

  /** Recovers if a dropped event was valid after all, because the broker's clock was ahead of what it had shown. History has the event. */
  #reconsider(): void {
    if (this.#leftOut === null || this.#buffer !== null || this.#topic.state !== 'live') return
    if (this.#leftOut < this.#source.presentMs() + AHEAD_MS) void this.#recover()
  }

  /** Logs once per recovery: every trade may have such a time. */
  #logOdd(message: string, at: number): void {
    if (this.#isOddLogged) return
    this.#isOddLogged = true
    this.#deps.log.warn(message, { symbol: this.plan.symbol, at })
  }

  #haveClosed(bars: readonly Bar[], areWhole = false): void {
    for (const bar of bars) {
      if (this.#backfilling !== null) this.#backfilling.push(bar)
      else if (areWhole || this.#builder.isWhole(bar)) this.#emitClosed(bar)
      else void this.#backfill(bar)
    }
  }

  /** Reads a bar that was received incompletely from history. Bars that close meanwhile wait, and may be incomplete too. */
  async #backfill(first: Bar): Promise<void> {
    const recovery = this.#recovery
    const waiting = [first]
    this.#backfilling = waiting
    for (let bar = waiting.shift(); bar !== undefined; bar = waiting.shift()) {
      const whole = this.#builder.isWhole(bar) ? bar : await this.#fromHistory(bar, recovery)
      if (recovery !== this.#recovery) return
      this.#emitClosed(whole)
    }
    this.#backfilling = null
    this.#changed()
  }

  /** The bar in history, once it is closed there; the bar as received if history does not answer. */
  async #fromHistory(bar: Bar, recovery: number): Promise<Bar> {
    let best = bar
    for (let attempt = 0; attempt < BACKFILL_TRIES_MAX; attempt += 1) {
      if (attempt > 0) await this.#deps.clock.sleep(RETRY_MS.first * 2 ** (attempt - 1))
      if (recovery !== this.#recovery) break
      try {
        for await (const page of this.#history.read(this.plan, bar.startMs, bar.startMs + 1)) {
          best = page.find(({ startMs }) => startMs === bar.startMs) ?? best
        }
        if (best !== bar && best.closed) break
      } catch (cause) {
        if (attempt === 0) this.#deps.log.warn('an incomplete bar could not be read from history', { symbol: this.plan.symbol, cause })
      }
    }
    return { ...best, closed: true }
  }

  #emitClosed(bar: Bar): void {
    if (this.#isOver || (this.#closed !== null && bar.startMs <= this.#closed.start)) return
    this.#closed = { start: bar.startMs, end: this.plan.clock.endOf(bar.startMs) }
    this.#recent.push(bar)
    if (this.#recent.length > RECENT_MAX) this.#recent.shift()
    this.#emittedRevision = this.#builder.revision
    for (const listener of this.#listeners) listener.bar(bar)
  }

  #changed(): void {
    if (this.#pulse !== null || this.#isOver) return
    this.#pulse = this.#deps.clock.alarm(OPEN_EVERY_MS, () => {
      this.#pulse = null
      if (this.#builder.revision !== this.#emittedRevision) this.#changed()
    })
    this.#emitOpen()
  }

  #emitOpen(): void {
    this.#emittedRevision = this.#builder.revision
    const open = this.open()
    if (open !== null) for (const listener of this.#listeners) listener.bar(open)
  }

  #hold(event: Bar | Trade): void {
    if (this.#buffer === null) return
    this.#buffer.push(event)
    if (this.#buffer.length > BUFFERED_MAX) void this.#recover()
  }
}
