import { BarBuilder } from '../../domain/market/bar-builder.ts'
import { canonicalInterval } from '../../domain/market/interval.ts'
import type { Bar } from '../../domain/market/records.ts'
import { epochMs, type Timestamp } from '../../domain/timestamp.ts'
import type { MarketDataCapabilities } from '../../ports/broker.ts'
import type { Clock } from '../../ports/clock.ts'
import type { MarketInstrument, MarketSource } from '../../ports/market.ts'
import { Semaphore } from '../semaphore.ts'
import { limited } from '../time-limits.ts'
import type { Timing } from '../timing.ts'
import { type BarPlan, type BaseBars, barPlan, withinCalendar } from './bar-plan.ts'
import { BROKER_BARS_MAX, LONG_READS_AT_ONCE, PAGES_AT_ONCE, SLICE_BARS, SMALL_READ_BARS, SNAPSHOT_BARS_MAX } from './history-limits.ts'
import { LookBack } from './look-back.ts'
import { MarketRefusal } from './refusal.ts'
import { BROKER_DEFAULT } from './watcher.ts'
import { WeightedSemaphore } from './weighted-semaphore.ts'

export interface SnapshotRequest {
  readonly symbol: string
  readonly interval: string
  readonly start: Timestamp
  readonly end: Timestamp
}

/** Past bars in pages, ascending. */
export type PastBars = AsyncGenerator<readonly Bar[], void, undefined>

export interface HistoryDeps {
  readonly clock: Clock
  readonly timing: Timing
  /** Resolves when the next slice of long work may run. @throws the signal's reason if it aborts before */
  readonly nextSlice: (signal: AbortSignal) => Promise<void>
}

/** Some bars of a page, and the broker's time when the page was requested; the page lacks later events. */
interface Slice {
  readonly bars: readonly Bar[]
  readonly requestedMs: number
}

/** The first bars of a window, and the one after them; null if there is none. */
export interface FirstBars {
  readonly bars: readonly Bar[]
  readonly next: Bar | null
}

/** How far the broker's clock may be ahead of the time assumed for it. */
const AHEAD_MS = 600_000
/** Allowance after a bar's end: its last trades may not be in history yet, and the broker's clock may be a little behind ours. */
export const GRACE_MS = 2_000
/** The end of all calendars. */
const LATEST_MS = Date.UTC(9990, 0, 1)
/** Time limit of one page. */
const PAGE_MS = 15_000
const DAY = 86_400_000

/** Past bars of a broker, and longer bars made from them. */
export class History {
  readonly #deps: HistoryDeps
  readonly #source: MarketSource
  readonly #marketData: MarketDataCapabilities
  readonly #semaphore: Semaphore<'page'>
  readonly #longReads = new WeightedSemaphore(LONG_READS_AT_ONCE)
  readonly #stopping = new AbortController()

  constructor(deps: HistoryDeps, source: MarketSource, marketData: MarketDataCapabilities) {
    this.#deps = deps
    this.#source = source
    this.#marketData = marketData
    this.#semaphore = new Semaphore(deps.clock, { atOnce: PAGES_AT_ONCE, ms: PAGE_MS })
  }

  /** Bars that start in [start, end), including an open one. @throws MarketRefusal */
  snapshot(instrument: MarketInstrument, request: SnapshotRequest): PastBars {
    return this.#checked(instrument, request).read()
  }

  /**
   * The first `count` bars of a snapshot; reads no more than needed. Snapshots that take many of the broker's bars wait for one another.
   * @throws MarketRefusal, BrokerFault
   */
  async first(instrument: MarketInstrument, request: SnapshotRequest, count: number): Promise<FirstBars> {
    const { most, read } = this.#checked(instrument, request)
    const begin = () => firstOf(read(), count)
    return most <= SMALL_READ_BARS ? begin() : this.#longReads.take(1, begin, this.#stopping.signal)
  }

  /** Checks a request, and computes how many of the broker's bars it takes at most. @throws MarketRefusal */
  #checked(
    instrument: MarketInstrument,
    { interval, start, end }: SnapshotRequest
  ): { readonly most: number; readonly read: () => PastBars } {
    const plan = barPlan(instrument, interval, BROKER_DEFAULT, this.#marketData)
    const [fromMs, toMs] = [epochMs(start), epochMs(end)]
    const bars = withinCalendar(() => plan.clock.countAtMost(Math.max(fromMs, plan.earliestMs), Math.min(toMs, LATEST_MS)))
    if (bars > SNAPSHOT_BARS_MAX) {
      const message = `This window has up to ${bars} bars of ${interval}; ask for at most ${SNAPSHOT_BARS_MAX} at once.`
      throw new MarketRefusal('invalid_request', message)
    }
    const window = withinCalendar(() => this.#window(plan, fromMs, toMs))
    const most = window === null ? 0 : demandBounded(plan, window.first, window.upTo)
    return { most, read: () => this.read(plan, fromMs, toMs) }
  }

  /**
   * Bars that start in [fromMs, toMs), aggregated if the broker has none of the interval. The caller bounds the cost. @throws
   * MarketRefusal, BrokerFault
   */
  async *read(plan: BarPlan, fromMs: number, toMs: number): AsyncGenerator<readonly Bar[]> {
    const { clock, past } = plan
    const window = withinCalendar(() => this.#window(plan, fromMs, toMs))
    if (window === null) return
    const { first, upTo } = window
    if (canonicalInterval(past.interval) === canonicalInterval(clock.interval)) yield* this.base(plan, past, first, upTo)
    else yield* this.#made(plan, this.#slices(plan, past, first, upTo))
  }

  async *#made({ clock, past }: BarPlan, slices: AsyncIterable<Slice>): AsyncGenerator<readonly Bar[]> {
    const builder = new BarBuilder(clock, past.clock)
    let knownUntil = this.#source.presentMs()
    for await (const { bars, requestedMs } of slices) {
      knownUntil = requestedMs
      const made = bars.flatMap(bar => builder.bar(bar))
      if (made.length > 0) yield made
    }
    const rest = builder.closeUntil(knownUntil - GRACE_MS)
    yield builder.open === null ? rest : [...rest, builder.open]
  }

  /**
   * The last `count` closed bars, ascending. Fewer if there are no more, or if the symbol trades so seldom that they are too far back for
   * the bounds. The broker's time may be ahead of `presentMs`; bars that it has closed since are included.
   * @throws MarketRefusal before anything is read, if that would exceed the bounds; BrokerFault
   */
  async last(plan: BarPlan, count: number, presentMs: number): Promise<readonly Bar[]> {
    const oldestMs = this.#oldest(plan, presentMs)
    const lookBack = withinCalendar(() => new LookBack(plan, count, { oldestMs, upToMs: presentMs + AHEAD_MS }))
    let found: readonly Bar[] = []
    for (let window = lookBack.first(); window !== null; window = withinCalendar(() => lookBack.next(found.length))) {
      const earlier: Bar[] = []
      for await (const page of this.read(plan, window.fromMs, window.toMs)) for (const bar of page) if (bar.closed) earlier.push(bar)
      found = [...earlier, ...found]
    }
    return found.slice(-count)
  }

  /** The broker's bars from `fromMs` on, each with the start given by its clock, without those outside the session. */
  async *base(plan: BarPlan, bars: BaseBars, fromMs: number, toMs: number): AsyncGenerator<readonly Bar[]> {
    for await (const slice of this.#slices(plan, bars, fromMs, toMs)) yield slice.bars
  }

  /**
   * A page has thousands of bars. Each slice is handled in its own turn of the event loop, also by its reader, because all at once would
   * delay orders.
   */
  async *#slices(
    { symbol, session }: BarPlan,
    { label, interval, clock, session: named }: BaseBars,
    fromMs: number,
    toMs: number
  ): AsyncGenerator<Slice> {
    const isOfDays = interval.unit !== 'minute'
    // A broker's daily bars may begin at midnight, before the session opens.
    const request = {
      symbol,
      interval: label,
      fromMs: isOfDays ? Math.max(0, fromMs - DAY) : fromMs,
      toMs,
      ...(named === null ? {} : { session: named })
    }
    // Some brokers keep a daily bar open until midnight, long after its session.
    const settledMs = this.#source.presentMs() - Math.max(GRACE_MS, this.#marketData.historyLagMs)
    const placed = (bars: readonly Bar[]): readonly Bar[] => {
      if (isOfDays) return bars.flatMap(bar => dayPlaced(bar, clock, fromMs, settledMs))
      if (session === BROKER_DEFAULT) return inside(bars, fromMs, toMs)
      return bars.filter(bar => bar.startMs >= fromMs && clock.startOf(bar.startMs) !== null)
    }
    for await (const { bars, requestedMs } of this.#pages(request)) {
      for (let from = 0; from < bars.length; from += SLICE_BARS) {
        await this.#deps.nextSlice(this.#stopping.signal)
        yield { bars: placed(bars.slice(from, from + SLICE_BARS)), requestedMs }
      }
      if (bars.length === 0) yield { bars, requestedMs }
    }
  }

  /** Stops reading; waiting callers receive the reason. */
  end(reason: MarketRefusal): void {
    this.#stopping.abort(reason)
  }

  async *#pages(request: Parameters<MarketSource['bars']>[0]): AsyncGenerator<Slice> {
    const over = new AbortController()
    const pages = this.#source.bars(request, over.signal)[Symbol.asyncIterator]()
    const page = () =>
      limited(this.#deps.clock, PAGE_MS, signal => {
        signal.addEventListener('abort', () => over.abort(signal.reason), { once: true })
        return pages.next()
      })
    try {
      for (;;) {
        const requestedMs = this.#source.presentMs()
        const { done, value } = await this.#semaphore.take('page', page, this.#stopping.signal)
        if (done === true) return
        yield { bars: value, requestedMs }
      }
    } finally {
      over.abort()
      // Do not wait for a source that ignores its signal.
      pages.return?.().catch(() => undefined)
    }
  }

  /** From the start of the first bar to the end of the last; null if none begins in [fromMs, toMs). @throws OutsideCalendar */
  #window(plan: BarPlan, fromMs: number, toMs: number): { readonly first: number; readonly upTo: number } | null {
    const { clock } = plan
    // The future has no bars, and calendars end.
    const presentMs = this.#source.presentMs()
    const end = Math.min(toMs, presentMs + AHEAD_MS)
    const start = Math.max(fromMs, this.#oldest(plan, presentMs))
    if (start >= end) return null
    const first = clock.atOrAfter(start)
    const last = clock.before(end)
    if (last === null || last < first) return null
    return { first, upTo: clock.endOf(last) }
  }

  /** Bars that begin before this are not complete: the broker stores nothing older, or the calendar does not cover it. */
  #oldest({ earliestMs, past }: BarPlan, presentMs: number): number {
    return Math.max(earliestMs, presentMs - past.reachMs)
  }
}

/** The first bars, and the one after them. */
async function firstOf(pages: PastBars, count: number): Promise<FirstBars> {
  const bars: Bar[] = []
  for await (const page of pages) {
    for (const bar of page) {
      if (bars.length === count) return { bars, next: bar }
      bars.push(bar)
    }
  }
  return { bars, next: null }
}

/** How many of the broker's bars are read at most. @throws MarketRefusal if there are too many */
function demandBounded({ past: { answered, label }, whyMinutes }: BarPlan, fromMs: number, toMs: number): number {
  const most = answered.countAtMost(fromMs, toMs)
  if (most <= BROKER_BARS_MAX) return most
  const message = `${whyMinutes}This would take up to ${most} bars of ${label} from the broker, and ${BROKER_BARS_MAX} is the most; request fewer at once.`
  throw new MarketRefusal('invalid_request', message)
}

/** Brokers may round the requested window. */
function inside(page: readonly Bar[], fromMs: number, toMs: number): readonly Bar[] {
  const isInside = ({ startMs }: Bar): boolean => startMs >= fromMs && startMs < toMs
  const [first] = page
  const last = page.at(-1)
  return first === undefined || last === undefined || (isInside(first) && isInside(last)) ? page : page.filter(isInside)
}

/** A daily bar at the start given by its clock, closed if its session has ended; empty if it is outside the session or the window. */
function dayPlaced(bar: Bar, clock: BaseBars['clock'], fromMs: number, settledMs: number): readonly Bar[] {
  const startMs = clock.startOf(bar.startMs) ?? clock.startOfDate(clock.dateAt(bar.startMs))
  if (startMs === null || startMs < fromMs) return []
  const closed = bar.closed || clock.endOf(startMs) <= settledMs
  return startMs === bar.startMs && closed === bar.closed ? [bar] : [{ ...bar, startMs, closed }]
}
