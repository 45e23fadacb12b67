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
  /** Reads history within the limit of concurrent recoveries: after a loss all feeds of a connection want to. */
  readonly throttled: <T>(read: () => Promise<T>) => Promise<T>
  /** How long history may not have what was streamed. */
  readonly historyLagMs: number
}

/** At least so long between two states of an open bar, in milliseconds. */
const OPEN_EVERY_MS = 250
/** Closed bars remembered for who joins while one closes. */
const RECENT_MAX = 64
/** What may come while the history is asked; beyond it the feed begins again. */
const BUFFERED_MAX = 100_000
/** Clocks differ; an event dated later than this cannot have happened. */
const AHEAD_MS = 600_000
/** A bar that ended no longer ago may still be open in history: the feed begins with it, so that it is not left out between a backfill and what follows. */
const SETTLED_MS = 10_000
/** So much later than the broker's time is believed to be it may be in truth. */
const BEHIND_MS = 3_000
const RETRY_MS = { first: 500, longest: 30_000 }
/** So many looks in a row, a second apart, must find a bar over and unchanged before its time alone closes it. */
const QUIET_LOOKS = 2
/** How often a bar that closed is looked for in history, which may record its end later than we do. */
const BACKFILL_TRIES_MAX = 7

/**
 * Bars of one interval and session of one symbol, for everybody who wants them. Begins with what the broker's history has of the bar under way, and
 * after a loss with everything since the last bar that closed, so that each bar closes once and none is missing.
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
  /** The start and end of the last bar that was published as closed. */
  #closed: { readonly start: number; readonly end: number } | null = null
  /** Where the feed began: the start of the bar under way, or of the one that had only just ended. */
  #from: number | null = null
  /** What came while the history was asked; null when nothing is asked. */
  #buffer: (Bar | Trade)[] | null = []
  /** Counts recoveries: one that was overtaken by the next comes to nothing. */
  #recovery = 0
  readonly #ready = Promise.withResolvers<true>()
  /** Closed bars that wait for one before them, which is taken from history. */
  #backfilling: Bar[] | null = null
  /** Events dated before this instant may be true. */
  #foreseen = 0
  /** The earliest that was left out as of the future since the last recovery. */
  #leftOut: number | null = null
  /** Whether impossible times of the broker were logged since the last recovery. */
  #isOddLogged = false
  #emittedRevision = -1
  /** The bar under way at the last look at it that found it over, and how many looks have found it so and unchanged. */
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
    // A feed that is given up before it is ready has no waiters.
    this.#ready.promise.catch(() => undefined)
    this.#topic.add(this)
    void this.#recover()
  }

  get topic(): SharedTopic {
    return this.#topic
  }

  /** Resolves when the bar under way is known. @throws what the history threw */
  ready(): Promise<true> {
    return this.#ready.promise
  }

  /** Whether it follows the broker now. */
  get isLive(): boolean {
    return this.#buffer === null && this.#topic.state === 'live'
  }

  /** The last bars that closed, ascending. */
  get recent(): readonly Bar[] {
    return this.#recent
  }

  /** The bar under way; null when nothing has traded in it, or it is not known at the moment. */
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

  /** The market's time is `presentMs`: a bar whose time is over closes although nothing more comes. To be called about once a second. */
  tick(presentMs: number): void {
    this.#reconsider()
    const until = this.#builder.openUntil
    if (this.#buffer !== null || until === null || until > presentMs - GRACE_MS || this.#topic.state !== 'live') return
    if (!this.#isQuiet()) return
    // No further than this bar: a broker's time that jumped ahead must not make what comes next late.
    this.#haveClosed(this.#builder.closeUntil(until))
    const { late } = this.#builder.passed
    for (; this.#late < late; this.#late += 1) this.#deps.meter.count('market_late_trades_total')
  }

  /** What belongs to a bar that is over may still be on its way: this process was busy, or the broker is behind its own time. */
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

  /** Takes up from history what is missing, then what came meanwhile. A history that does not answer is asked again. */
  async #recover(): Promise<void> {
    const recovery = ++this.#recovery
    this.#buffer = []
    // What was missed just now may not be in history yet, and would be missing from it without a trace.
    if (this.#closed !== null && this.#historyLagMs > 0) await this.#deps.clock.sleep(this.#historyLagMs)
    for (let attempt = 0; recovery === this.#recovery; attempt += 1) {
      try {
        const requestedAt = this.#deps.clock.monotonicMs()
        const believed = this.#source.presentMs()
        // After a loss all feeds of a connection want to read; a new subscriber waits for none of them.
        const past = await (this.#closed === null ? this.#missing(believed) : this.#throttled(() => this.#missing(believed)))
        // The answers update the broker's time.
        const corrected = this.#source.presentMs() - (this.#deps.clock.monotonicMs() - requestedAt)
        if (recovery === this.#recovery) this.#takeUp(past, Math.max(believed, corrected) + BEHIND_MS)
        this.#ready.resolve(true)
        return
      } catch (cause) {
        if (recovery !== this.#recovery) return
        // An outage meets all feeds of a connection again and again.
        if (attempt === 0) this.#deps.log.warn('bars could not be taken up from history', { symbol: this.plan.symbol, cause })
        // Callers that wait for the first bars get the error; they may ask again.
        this.#ready.reject(cause)
        await this.#deps.clock.sleep(Math.min(RETRY_MS.longest, RETRY_MS.first * 2 ** attempt))
      }
    }
  }

  /** Small past bars since the last one that closed, or of the bar under way. */
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
          // What the broker has not closed yet is taken in minutes as well.
          if (open !== undefined) minutesFrom = Math.min(minutesFrom, open.startMs)
          bars.push(...page.filter(({ startMs }) => startMs < minutesFrom))
        }
      }
    }
    for await (const page of this.#history.base(this.plan, seed, minutesFrom, upTo)) bars.push(...page)
    return bars
  }

  /** `liveSince`: everything that happened later has come, or will. */
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
      // The minute in which trades began to come is known in part only, and its bar is taken from history once it closes.
      const minute = this.plan.seed.clock.startOf(liveSince)
      this.#builder.completeFrom(minute === null ? liveSince : this.plan.seed.clock.endOf(minute))
    }
    // The newest small bar can be open. Without it a bar in which nothing trades any more would never be published.
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

  /** `areWhole`: whether the bars that it closes are known to be. */
  #take(event: Bar | Trade, areWhole = false): void {
    // One wrong time ahead would close the present bar, and make everything after it late.
    const at = 'startMs' in event ? event.startMs : msOfNanos(event.at)
    if (at >= this.#foreseen && !this.#isForeseeable(at)) return
    try {
      this.#haveClosed('startMs' in event ? this.#builder.bar(event) : this.#builder.trade(event), areWhole)
    } catch (cause) {
      if (!(cause instanceof OutsideCalendar)) throw cause
      this.#logOdd('a broker sent a time that its market never had; left out', at)
    }
  }

  #isForeseeable(at: number): boolean {
    this.#foreseen = this.#source.presentMs() + AHEAD_MS
    if (at < this.#foreseen) return true
    this.#logOdd('a broker sent a time in the future; left out', at)
    this.#leftOut = Math.min(this.#leftOut ?? at, at)
    return false
  }

  /** What was left out was true after all: the broker's time had gone on faster than ours, and only now shows it. History has it. */
  #reconsider(): void {
    if (this.#leftOut === null || this.#buffer !== null || this.#topic.state !== 'live') return
    if (this.#leftOut < this.#source.presentMs() + AHEAD_MS) void this.#recover()
  }

  /** Once, and again after the next recovery: it may be so for every trade. */
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

  /** Takes a bar that was seen in part from history; those that close meanwhile wait, and may have been seen in part as well. */
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

  /** The bar as history has it once it is over there too; as it was seen when history has no answer. */
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
        if (attempt === 0)
          this.#deps.log.warn('a bar that was seen in part could not be taken from history', { symbol: this.plan.symbol, cause })
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
