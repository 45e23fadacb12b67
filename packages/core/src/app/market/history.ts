import { BarBuilder } from '../../domain/market/bar-builder.ts'
import { canonicalInterval } from '../../domain/market/interval.ts'
import type { Bar } from '../../domain/market/records.ts'
import { epochMs, type Timestamp } from '../../domain/timestamp.ts'
import type { MarketDataCapabilities } from '../../ports/broker.ts'
import type { Clock } from '../../ports/clock.ts'
import type { MarketInstrument, MarketSource } from '../../ports/market.ts'
import { limited } from '../limited.ts'
import { Semaphore } from '../mirror/semaphore.ts'
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
  /** Resolves when the next slice of long work may run. @throws the signal's reason when it aborts before */
  readonly nextSlice: (signal: AbortSignal) => Promise<void>
}

/** Some of a page's bars, and the broker's time when the page was requested: later events are not in it. */
interface Slice {
  readonly bars: readonly Bar[]
  readonly requestedMs: number
}

/** The first bars of a window, and the one after them; null when there is none. */
export interface FirstBars {
  readonly bars: readonly Bar[]
  readonly next: Bar | null
}

/** The broker's time may be so much ahead of what is believed of it. */
const AHEAD_MS = 600_000
/** After a bar's end what belongs to it may still be on its way to history, and the broker's time may be a little behind ours. */
export const GRACE_MS = 2_000
/** Calendars know no later years. */
const LATEST_MS = Date.UTC(9990, 0, 1)
/** A page that takes longer is given up: the broker is silent. */
const PAGE_MS = 15_000
const DAY = 86_400_000

/** A broker's past bars, and longer ones made of them. */
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

  /** Bars with a start in [start, end), the open one included. @throws MarketRefusal */
  snapshot(instrument: MarketInstrument, request: SnapshotRequest): PastBars {
    return this.#checked(instrument, request).read()
  }

  /**
   * The first `count` bars of a snapshot; nothing more is asked of the broker. One that takes many of the broker's bars waits for others that do.
   * @throws MarketRefusal, BrokerFault
   */
  async first(instrument: MarketInstrument, request: SnapshotRequest, count: number): Promise<FirstBars> {
    const { most, read } = this.#checked(instrument, request)
    const begin = () => firstOf(read(), count)
    return most <= SMALL_READ_BARS ? begin() : this.#longReads.take(1, begin, this.#stopping.signal)
  }

  /** What is asked for within its bounds, with the most of the broker's bars that it takes. @throws MarketRefusal */
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

  /** Bars with a start in [fromMs, toMs), made of the broker's where it has none of the kind; how many that takes is the caller's. @throws MarketRefusal, BrokerFault */
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
   * The last `count` closed bars, ascending; fewer where there are no more, or where those that a symbol seldom trades in are too far back to be
   * found within the bounds. The broker's time may be ahead of `presentMs`, and the bars it has closed since are among them.
   * @throws MarketRefusal at once, before anything is read, for more than may be read; BrokerFault
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

  /** The broker's bars from `fromMs` on, each with the start that its clock gives it, and none outside the session. */
  async *base(plan: BarPlan, bars: BaseBars, fromMs: number, toMs: number): AsyncGenerator<readonly Bar[]> {
    for await (const slice of this.#slices(plan, bars, fromMs, toMs)) yield slice.bars
  }

  /** A page has thousands of bars. Each slice is processed in its own turn of the event loop, by its reader too: all of them at once would delay orders. */
  async *#slices(
    { symbol, session }: BarPlan,
    { label, interval, clock, session: named }: BaseBars,
    fromMs: number,
    toMs: number
  ): AsyncGenerator<Slice> {
    const isOfDays = interval.unit !== 'minute'
    // A broker may begin its days at midnight, before the session opens.
    const request = {
      symbol,
      interval: label,
      fromMs: isOfDays ? Math.max(0, fromMs - DAY) : fromMs,
      toMs,
      ...(named === null ? {} : { session: named })
    }
    // Some have a day open until midnight, long after the session it is of.
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

  /** Nothing more is read for those who wait: they are given the reason. */
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
      // Nothing waits for a source that does not heed its signal.
      pages.return?.().catch(() => undefined)
    }
  }

  /** From the start of the first bar to the end of the last; null when none begins in [fromMs, toMs). @throws OutsideCalendar */
  #window(plan: BarPlan, fromMs: number, toMs: number): { readonly first: number; readonly upTo: number } | null {
    const { clock } = plan
    // Nothing has traded in what is to come, and calendars end.
    const presentMs = this.#source.presentMs()
    const end = Math.min(toMs, presentMs + AHEAD_MS)
    const start = Math.max(fromMs, this.#oldest(plan, presentMs))
    if (start >= end) return null
    const first = clock.atOrAfter(start)
    const last = clock.before(end)
    if (last === null || last < first) return null
    return { first, upTo: clock.endOf(last) }
  }

  /** No bar that begins before it is whole: the broker keeps nothing so old, or no calendar knows it. */
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

/** How many of the broker's bars are read at most. @throws MarketRefusal when they are too many */
function demandBounded({ past: { answered, label }, whyMinutes }: BarPlan, fromMs: number, toMs: number): number {
  const most = answered.countAtMost(fromMs, toMs)
  if (most <= BROKER_BARS_MAX) return most
  const message = `${whyMinutes}This would take up to ${most} bars of ${label} from the broker, and ${BROKER_BARS_MAX} is the most; ask for less at once.`
  throw new MarketRefusal('invalid_request', message)
}

/** Brokers round windows to their liking. */
function inside(page: readonly Bar[], fromMs: number, toMs: number): readonly Bar[] {
  const isInside = ({ startMs }: Bar): boolean => startMs >= fromMs && startMs < toMs
  const [first] = page
  const last = page.at(-1)
  return first === undefined || last === undefined || (isInside(first) && isInside(last)) ? page : page.filter(isInside)
}

/** The bar of a day at the start its clock gives it, closed when its session is; nothing when it is outside the session or the window. */
function dayPlaced(bar: Bar, clock: BaseBars['clock'], fromMs: number, settledMs: number): readonly Bar[] {
  const startMs = clock.startOf(bar.startMs) ?? clock.startOfDate(clock.dateAt(bar.startMs))
  if (startMs === null || startMs < fromMs) return []
  const closed = bar.closed || clock.endOf(startMs) <= settledMs
  return startMs === bar.startMs && closed === bar.closed ? [bar] : [{ ...bar, startMs, closed }]
}
