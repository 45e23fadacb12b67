/** Makes bars of trades, or of smaller bars, as they come. */
import { compare, type Decimal } from '../decimal.ts'
import type { BarClock } from './bar-clock.ts'
import { type Bar, msOfNanos, type Trade, type TradeEffect } from './records.ts'
import { ExactSum, scaled } from './scaled.ts'

const NONE: readonly Bar[] = []

/** What did not move a bar, and why. */
export interface Passed {
  /** Trades and smaller bars of a bar that is closed already, or that an older state of a later one has replaced. History has them. */
  readonly late: number
  /** Outside the session. */
  readonly outside: number
  /** Trades and smaller bars of a time that a closed smaller bar has already covered. */
  readonly repeated: number
}

/**
 * Bars of one symbol in one interval. Trades count in the order in which they come: the last one to arrive is the close, whatever its time
 * within the bar. A stretch without a trade that moves prices has no bar; volume that came without one is dropped with it.
 *
 * A bar closes once, when the first trade or smaller bar at or after its end comes, when the smaller bar that ends with it closes, or when
 * {@link closeUntil} says that its time is over. After that nothing moves it: what comes too late is counted as `late` and found in
 * history only.
 *
 * Smaller bars may be reported repeatedly while they are open; the newest state counts. A closed one covers its time: trades and bars of
 * that time are `repeated` and change nothing. So history joins the live feed without a gap or a repeat: ask for it once the feed has begun,
 * feed its smaller bars first, then what came meanwhile, then what comes. Trades that follow an open smaller bar replace it when they are
 * complete since its start ({@link completeFrom}); else they are added to it, and some may count twice in the volume. Such a bar is not whole
 * ({@link isWhole}) and is to be taken from history when it closes.
 */
export class BarBuilder {
  readonly #clock: BarClock
  readonly #base: BarClock | null

  // The bar under way: its bounds (equal when there is none), and its prices (`#traded` when there are any), each beside its scaled value.
  #start = 0
  #end = 0
  // A stretch of it without a pause, in which trades last came.
  #openFrom = 0
  #openUntil = 0
  #traded = false
  #open: Decimal = '0' as Decimal
  #high: Decimal = '0' as Decimal
  #low: Decimal = '0' as Decimal
  #close: Decimal = '0' as Decimal
  #highScaled = 0
  #lowScaled = 0
  readonly #volume = new ExactSum()
  /** The smaller bar that may still change. */
  #pending: Bar | null = null

  /** What has closed and was not handed out yet. */
  #finished: Bar[] = []
  #closedUntil = Number.NEGATIVE_INFINITY
  #coveredUntil = Number.NEGATIVE_INFINITY
  #completeFrom = Number.NEGATIVE_INFINITY
  #late = 0
  #outside = 0
  #repeated = 0
  #revision = 0

  /**
   * @param base the clock of the smaller bars, where such are fed: same session, an interval that `fits`. Without it a smaller bar closes
   * the bar it ends with only when the next one comes
   */
  constructor(clock: BarClock, base: BarClock | null = null) {
    this.#clock = clock
    this.#base = base
  }

  /** Changes whenever the open bar may have changed. */
  get revision(): number {
    return this.#revision
  }

  get passed(): Passed {
    return { late: this.#late, outside: this.#outside, repeated: this.#repeated }
  }

  /** The end of the open bar, which is when {@link closeUntil} closes it; null when there is none. */
  get openUntil(): number | null {
    return this.#start === this.#end ? null : this.#end
  }

  /** From here on nothing is missing: set when the feed begins, and after every loss. Earlier bars are not whole. */
  completeFrom(instant: number): void {
    this.#completeFrom = instant
  }

  /** Whether everything that happened in a bar was fed. What is not whole must be taken from history once it is closed. */
  isWhole(bar: Bar): boolean {
    return bar.startMs >= this.#completeFrom
  }

  /**
   * Takes a trade in.
   * @returns the bars that it closed, ascending
   * @throws OutsideCalendar for a time the session's calendar does not know
   */
  trade(trade: Trade): readonly Bar[] {
    const { effect } = trade
    if (effect === 'none') return NONE
    const at = msOfNanos(trade.at)
    if (at >= this.#openFrom && at < this.#openUntil && at >= this.#coveredUntil) {
      this.#count(trade, effect)
      return NONE
    }
    if (at < this.#coveredUntil) this.#repeated++
    else if (this.#turnTo(at, this.#clock.startOf(at))) this.#count(trade, effect)
    return this.#taken()
  }

  /**
   * Takes a smaller bar in, open or closed.
   * @returns the bars that it closed, ascending
   * @throws OutsideCalendar for a time the session's calendar does not know
   */
  bar(bar: Bar): readonly Bar[] {
    const at = bar.startMs
    if (at < this.#coveredUntil) this.#repeated++
    else if ((at >= this.#openFrom && at < this.#openUntil) || this.#turnTo(at, this.#startOf(at, this.#clock))) this.#replace(bar)
    return this.#taken()
  }

  /**
   * Says that everything up to `instant` has come.
   * @returns the open bar, closed, when it was over by then
   */
  closeUntil(instant: number): readonly Bar[] {
    if (this.#start !== this.#end && this.#end <= instant) this.#finish()
    if (instant > this.#closedUntil) this.#closedUntil = instant
    return this.#taken()
  }

  /** The bar under way as it stands; null when nothing has traded in it. Created at every call. */
  get open(): Bar | null {
    return this.#state(false)
  }

  /** Turns to the bar that begins at `start` because something of the instant `at` came; false when that may not count. */
  #turnTo(at: number, start: number | null): boolean {
    const isOpen = this.#start !== this.#end
    if (isOpen && at >= this.#end) this.#finish()
    if (start === null) {
      this.#outside++
      return false
    }
    if (!isOpen || start !== this.#start) {
      const end = this.#clock.endOf(start)
      if (end <= this.#closedUntil || (isOpen && start < this.#start)) {
        this.#late++
        return false
      }
      this.#begin(start, end)
    }
    const stretch = this.#clock.stretchAt(at)
    this.#openFrom = stretch?.start ?? 0
    this.#openUntil = stretch?.end ?? 0
    return true
  }

  #begin(start: number, end: number): void {
    this.#start = start
    this.#end = end
    this.#openFrom = 0
    this.#openUntil = 0
    this.#traded = false
    this.#pending = null
    this.#volume.clear()
  }

  #finish(): void {
    const bar = this.#state(true)
    this.#closedUntil = Math.max(this.#closedUntil, this.#end)
    this.#begin(0, 0)
    this.#revision++
    if (bar !== null) this.#finished.push(bar)
  }

  #taken(): readonly Bar[] {
    if (this.#finished.length === 0) return NONE
    const taken = this.#finished
    this.#finished = []
    return taken
  }

  #count({ price, size }: Trade, effect: TradeEffect): void {
    if (this.#pending !== null) this.#goOnFrom(this.#pending)
    this.#volume.add(size)
    this.#revision++
    if (effect === 'all') this.#move(price)
  }

  /** Trades take over from an open smaller bar. */
  #goOnFrom(pending: Bar): void {
    this.#pending = null
    // All of its trades come as such.
    if (pending.startMs >= this.#completeFrom) return
    this.#commit(pending)
    this.#completeFrom = Math.max(this.#completeFrom, this.#endOfBase(pending.startMs))
  }

  #replace(bar: Bar): void {
    const at = bar.startMs
    if (this.#pending !== null && this.#pending.startMs > at) {
      this.#late++
      return
    }
    // The closed state of the one before was lost; the last state that came has to do.
    if (this.#pending !== null && this.#pending.startMs < at) this.#commit(this.#pending)
    this.#pending = bar
    this.#revision++
    if (!bar.closed) return
    const end = this.#endOfBase(at)
    this.#commit(bar)
    this.#coveredUntil = end
    if (end >= this.#end) this.#finish()
  }

  #commit(bar: Bar): void {
    this.#pending = null
    if (!this.#traded) this.#move(bar.open)
    this.#move(bar.high)
    this.#move(bar.low)
    this.#move(bar.close)
    this.#volume.add(bar.volume)
    this.#revision++
  }

  #move(price: Decimal): void {
    if (!this.#traded) {
      this.#traded = true
      this.#open = price
      this.#high = price
      this.#low = price
      this.#close = price
      this.#highScaled = scaled(price)
      this.#lowScaled = this.#highScaled
      return
    }
    // Most trades repeat the price before them.
    if (price === this.#close) return
    this.#close = price
    const value = scaled(price)
    if (isAbove(price, value, this.#high, this.#highScaled)) {
      this.#high = price
      this.#highScaled = value
    } else if (isAbove(this.#low, this.#lowScaled, price, value)) {
      this.#low = price
      this.#lowScaled = value
    }
  }

  #state(closed: boolean): Bar | null {
    const pending = this.#pending
    if (pending === null && !this.#traded) return null
    if (pending === null)
      return {
        startMs: this.#start,
        open: this.#open,
        high: this.#high,
        low: this.#low,
        close: this.#close,
        volume: this.#volume.total(),
        closed
      }
    const volume = new ExactSum()
    volume.add(this.#volume.total())
    volume.add(pending.volume)
    return {
      startMs: this.#start,
      open: this.#traded ? this.#open : pending.open,
      high: this.#traded && compare(this.#high, pending.high) > 0 ? this.#high : pending.high,
      low: this.#traded && compare(this.#low, pending.low) < 0 ? this.#low : pending.low,
      close: pending.close,
      volume: volume.total(),
      closed
    }
  }

  #startOf(at: number, clock: BarClock): number | null {
    const start = clock.startOf(at)
    // A day's figures often come with its midnight, before the session opens.
    if (start !== null || this.#base === null || this.#base.interval.unit === 'minute') return start
    return clock.startOfDate(clock.dateAt(at))
  }

  #endOfBase(at: number): number {
    const start = this.#base === null ? null : this.#startOf(at, this.#base)
    return this.#base === null || start === null ? at + 1 : this.#base.endOf(start)
  }
}

/** Whether `a` is above `b`, by their scaled values where both have one. */
function isAbove(a: Decimal, aScaled: number, b: Decimal, bScaled: number): boolean {
  if (aScaled > bScaled) return true
  return (Number.isNaN(aScaled) || Number.isNaN(bScaled)) && compare(a, b) > 0
}

/**
 * Past bars made of smaller ones, ascending.
 * @param bars ascending; an open one may come last
 * @param base the clock of `bars`: same session, an interval that `fits`
 * @param until the instant up to which `bars` are complete: bars that end by then are closed
 */
export function aggregate(bars: Iterable<Bar>, clock: BarClock, base: BarClock, until: number): readonly Bar[] {
  const builder = new BarBuilder(clock, base)
  const made: Bar[] = []
  for (const bar of bars) made.push(...builder.bar(bar))
  made.push(...builder.closeUntil(until))
  const { open } = builder
  return open === null ? made : [...made, open]
}
