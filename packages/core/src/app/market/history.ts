import { BarBuilder } from '../../domain/market/bar-builder.ts'
import { canonicalInterval } from '../../domain/market/interval.ts'
import type { Bar } from '../../domain/market/records.ts'
import { epochMs, type Timestamp } from '../../domain/timestamp.ts'
import type { MarketDataCapabilities } from '../../ports/broker.ts'
import type { Clock } from '../../ports/clock.ts'
import type { MarketInstrument, MarketSource } from '../../ports/market.ts'
import { limited } from '../limited.ts'
import type { Timing } from '../timing.ts'
import { type BarPlan, type BaseBars, barPlan, withinCalendar } from './bar-plan.ts'
import { MarketRefusal } from './refusal.ts'
import { BROKER_DEFAULT } from './watcher.ts'

export interface SnapshotRequest {
  readonly symbol: string
  readonly interval: string
  readonly start: Timestamp
  readonly end: Timestamp
}

/** Past bars in pages, ascending. */
export type PastBars = AsyncGenerator<readonly Bar[], void, undefined>

/** Bars one snapshot may have. */
export const SNAPSHOT_BARS_MAX = 50_000
/** Bars of the broker's that may be read to make others. */
const BASE_BARS_MAX = 250_000
/** Of the broker's bars that one step of a backfill may read: who asks for it waits, and so does the rest of its session. */
const LOOK_BACK_BARS_MAX = 120_000
/** A backfill that takes longer is given up: with fewer bars than there are nobody could tell what is missing. */
const LOOK_BACK_MS = 20_000
const TOO_SLOW = 'The broker takes too long for so many past bars; ask for fewer, or again in a few seconds.'
/** A backfill looks further back so often, each time so much further, because markets close and symbols do not trade in every bar. */
const STEPS_MAX = 6
const STEP = 3
/** The broker's time may be so much ahead of what is believed of it. */
const AHEAD_MS = 600_000
/** After a bar's end what belongs to it may still be on its way to history, and the broker's time may be a little behind ours. */
export const GRACE_MS = 2_000
/** Calendars know no later years. */
const LATEST_MS = Date.UTC(9990, 0, 1)
/** A page that takes longer is given up. */
const PAGE_MS = 15_000

/** A broker's past bars, and longer ones made of them. */
export class History {
  readonly #deps: { readonly clock: Clock; readonly timing: Timing }
  readonly #source: MarketSource
  readonly #marketData: MarketDataCapabilities

  constructor(deps: { readonly clock: Clock; readonly timing: Timing }, source: MarketSource, marketData: MarketDataCapabilities) {
    this.#deps = deps
    this.#source = source
    this.#marketData = marketData
  }

  /** Bars with a start in [start, end), the open one included. @throws MarketRefusal */
  snapshot(instrument: MarketInstrument, { interval, start, end }: SnapshotRequest): PastBars {
    const plan = barPlan(instrument, interval, BROKER_DEFAULT, this.#marketData)
    const [fromMs, toMs] = [epochMs(start), epochMs(end)]
    const most = withinCalendar(() => plan.clock.countAtMost(Math.max(fromMs, plan.earliestMs), Math.min(toMs, LATEST_MS)))
    if (most > SNAPSHOT_BARS_MAX) {
      const message = `This window has up to ${most} bars of ${interval}; ask for at most ${SNAPSHOT_BARS_MAX} at once.`
      throw new MarketRefusal('invalid_request', message)
    }
    return this.read(plan, fromMs, toMs)
  }

  /** Bars with a start in [fromMs, toMs), made of the broker's where it has none of the kind. @throws MarketRefusal, BrokerFault */
  async *read(plan: BarPlan, fromMs: number, toMs: number): AsyncGenerator<readonly Bar[]> {
    const { clock, past } = plan
    const window = withinCalendar(() => this.#window(plan, fromMs, toMs))
    if (window === null) return
    const { first, upTo } = window
    const bars = this.base(plan, past, first, upTo)
    if (canonicalInterval(past.interval) === canonicalInterval(clock.interval)) yield* bars
    else yield* this.#made(plan, bars)
  }

  async *#made({ clock, past }: BarPlan, pages: PastBars): AsyncGenerator<readonly Bar[]> {
    const builder = new BarBuilder(clock, past.clock)
    // Pages tell what had happened when they were asked for, not what happened while they were on their way.
    let asked = this.#source.presentMs()
    let toldUntil = asked
    for await (const page of pages) {
      toldUntil = asked
      const made = page.flatMap(bar => builder.bar(bar))
      if (made.length > 0) yield made
      asked = this.#source.presentMs()
    }
    const rest = builder.closeUntil(toldUntil - GRACE_MS)
    yield builder.open === null ? rest : [...rest, builder.open]
  }

  /**
   * The last `count` closed bars, ascending; fewer where there are no more. The broker's time may be ahead of `presentMs`, and the bars it has
   * closed since are among them. @throws MarketRefusal, BrokerFault
   */
  async last(plan: BarPlan, count: number, presentMs: number): Promise<readonly Bar[]> {
    const { unit, count: units } = plan.clock.interval
    const { clock } = this.#deps
    const patientUntil = clock.monotonicMs() + LOOK_BACK_MS
    let found: readonly Bar[] = []
    let before = presentMs
    let upTo = presentMs + AHEAD_MS
    for (let step = 0, reach = (count + 1) * units * UNIT_MS[unit]; step < STEPS_MAX && found.length < count; step += 1, reach *= STEP) {
      // Nights and weekends have no bars to look for.
      const last = withinCalendar(() => plan.clock.before(upTo))
      if (last === null) break
      before = Math.min(before, plan.clock.endOf(last))
      const from = withinCalendar(() => affordable(plan, before - reach, upTo))
      // The market was closed for so long: further back it was not.
      if (from >= upTo) continue
      const earlier: Bar[] = []
      for await (const page of this.read(plan, from, upTo)) {
        for (const bar of page) if (bar.closed) earlier.push(bar)
        if (clock.monotonicMs() > patientUntil) throw new MarketRefusal('broker_unavailable', TOO_SLOW)
      }
      found = [...earlier, ...found]
      before = Math.min(from, before)
      upTo = before
    }
    return found.slice(-count)
  }

  /** The broker's bars from `fromMs` on, each with the start that its clock gives it, and none outside the session. */
  async *base({ symbol, session }: BarPlan, { word, interval, clock }: BaseBars, fromMs: number, toMs: number): PastBarsOfBase {
    const isOfDays = interval.unit !== 'minute'
    // A broker may begin its days at midnight, before the session opens.
    const request = { symbol, interval: word, fromMs: isOfDays ? Math.max(0, fromMs - DAY) : fromMs, toMs }
    for await (const page of this.#pages(request)) {
      if (!isOfDays && session === BROKER_DEFAULT) yield inside(page, fromMs, toMs)
      else yield page.flatMap(bar => placed(bar, clock, isOfDays, fromMs))
    }
  }

  async *#pages(request: Parameters<MarketSource['bars']>[0]): AsyncGenerator<readonly Bar[]> {
    const over = new AbortController()
    const pages = this.#source.bars(request, over.signal)[Symbol.asyncIterator]()
    try {
      for (;;) {
        const { done, value } = await limited(this.#deps.clock, PAGE_MS, signal => {
          signal.addEventListener('abort', () => over.abort(signal.reason), { once: true })
          return pages.next()
        })
        if (done === true) return
        yield value
      }
    } finally {
      over.abort()
      // A source that does not heed its signal is waited for by nobody.
      pages.return?.().catch(() => undefined)
    }
  }

  /** From the start of the first bar to the end of the last; null when none begins in [fromMs, toMs). @throws MarketRefusal, OutsideCalendar */
  #window({ clock, past, earliestMs }: BarPlan, fromMs: number, toMs: number): { readonly first: number; readonly upTo: number } | null {
    // Nothing has traded in what is to come, and calendars end.
    const end = Math.min(toMs, this.#source.presentMs() + AHEAD_MS)
    const start = Math.max(fromMs, earliestMs)
    if (start >= end) return null
    const first = clock.atOrAfter(start)
    const last = clock.before(end)
    if (last === null || last < first) return null
    const upTo = clock.endOf(last)
    this.#demandBounded(past, first, upTo)
    return { first, upTo }
  }

  #demandBounded({ clock, word }: BaseBars, fromMs: number, toMs: number): void {
    const most = clock.countAtMost(fromMs, toMs)
    if (most <= BASE_BARS_MAX) return
    const message = `This would take up to ${most} bars of ${word} from the broker, and ${BASE_BARS_MAX} is the most; ask for less, or for the session ${BROKER_DEFAULT}.`
    throw new MarketRefusal('invalid_request', message)
  }
}

type PastBarsOfBase = AsyncGenerator<readonly Bar[]>

const DAY = 86_400_000

/** The first bar from `fromMs` on, or a later one where what it is made of would be too many up to `toMs`. @throws OutsideCalendar */
function affordable({ clock, past, earliestMs }: BarPlan, fromMs: number, toMs: number): number {
  for (let from = Math.max(earliestMs, fromMs); ; from += Math.max(DAY, (toMs - from) / 4)) {
    const first = clock.atOrAfter(from)
    if (first >= toMs || past.clock.countAtMost(first, toMs) <= LOOK_BACK_BARS_MAX) return first
  }
}
const UNIT_MS = { minute: 60_000, day: DAY, week: 7 * DAY, month: 31 * DAY, year: 366 * DAY }

/** Brokers round windows to their liking. */
function inside(page: readonly Bar[], fromMs: number, toMs: number): readonly Bar[] {
  const isInside = ({ startMs }: Bar): boolean => startMs >= fromMs && startMs < toMs
  const [first] = page
  const last = page.at(-1)
  return first === undefined || last === undefined || (isInside(first) && isInside(last)) ? page : page.filter(isInside)
}

/** The bar at the start its clock gives it; nothing when it is outside the session or the window. */
function placed(bar: Bar, clock: BaseBars['clock'], isOfDays: boolean, fromMs: number): readonly Bar[] {
  const own = clock.startOf(bar.startMs)
  const startMs = isOfDays ? (own ?? clock.startOfDate(clock.dateAt(bar.startMs))) : own === null ? null : bar.startMs
  if (startMs === null || startMs < fromMs) return []
  return startMs === bar.startMs ? [bar] : [{ ...bar, startMs }]
}
