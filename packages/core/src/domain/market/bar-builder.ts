/** Builds bars from trades, or from smaller bars, as they arrive. */
import { compare, type Decimal } from '../decimal.ts'
import { ExactSum, scaled } from '../fast/scaled.ts'
import type { BarClock } from './bar-clock.ts'
import { type Bar, msOfNanos, type Trade, type TradeEffect } from './records.ts'

const NONE: readonly Bar[] = []

/** How many trades and smaller bars did not change a bar, by reason. */
export interface Passed {
  /** They arrived after their bar had closed, or after a later bar had started. The broker's history has them. */
  readonly late: number
  /** They are outside the session. */
  readonly outside: number
  /** A closed smaller bar already covers their time. */
  readonly repeated: number
}

/**
 * Builds the bars of one symbol in one interval. Trades count in order of arrival: the last one to arrive is the close, whatever its
 * timestamp within the bar. A bar exists only if a trade set its price; volume without a price is dropped.
 *
 * A bar closes once: when the first trade or smaller bar at or after its end arrives, when the smaller bar that ends with it closes, or by
 * {@link closeUntil}. A closed bar never changes. Later trades of its time count as `late`, and only the broker's history has them.
 *
 * Smaller bars may arrive repeatedly while they are open; the newest state counts. A closed smaller bar covers its time: further trades and
 * bars of that time count as `repeated` and change nothing. This joins history to the live feed without a gap or a repeat: start the feed,
 * read the history, pass its smaller bars first, then what the feed delivered meanwhile, then what follows.
 *
 * Trades that follow an open smaller bar replace it if all trades since its start were passed ({@link completeFrom}). If not, they are
 * added to it, and some may count twice in the volume. Such a bar is not whole ({@link isWhole}) and should be read from history when it
 * closes.
 */
export class BarBuilder {
  readonly #clock: BarClock
  readonly #base: BarClock | null

  // The open bar: its bounds (equal if there is none) and its prices (valid if `#traded`), each with its scaled value.
  #start = 0
  #end = 0
  // The uninterrupted trading hours, within the bar, of the last trade.
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

  /** Closed bars that were not returned yet. */
  #finished: Bar[] = []
  #closedUntil = Number.NEGATIVE_INFINITY
  #coveredUntil = Number.NEGATIVE_INFINITY
  #completeFrom = Number.NEGATIVE_INFINITY
  #late = 0
  #outside = 0
  #repeated = 0
  #revision = 0

  /**
   * @param base the clock of the smaller bars, if such are passed: same session, an interval that `fits`. Without it, a smaller bar closes
   * the bar it ends with only when the next one arrives
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

  /** The end of the open bar, at which {@link closeUntil} closes it; null if no bar is open. */
  get openUntil(): number | null {
    return this.#start === this.#end ? null : this.#end
  }

  /** States that from `instant` on nothing is missing. Called when the feed starts and after every loss; earlier bars are not whole. */
  completeFrom(instant: number): void {
    this.#completeFrom = instant
  }

  /** Whether everything that happened in the bar was passed. A bar that is not whole must be read from history once it is closed. */
  isWhole(bar: Bar): boolean {
    return bar.startMs >= this.#completeFrom
  }

  /**
   * Adds a trade.
   * @returns the bars that it closed, ascending
   * @throws OutsideCalendar for a time outside the session's calendar
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
   * Adds a smaller bar, open or closed.
   * @returns the bars that it closed, ascending
   * @throws OutsideCalendar for a time outside the session's calendar
   */
  bar(bar: Bar): readonly Bar[] {
    const at = bar.startMs
    if (at < this.#coveredUntil) this.#repeated++
    else if ((at >= this.#openFrom && at < this.#openUntil) || this.#turnTo(at, this.#startOf(at, this.#clock))) this.#replace(bar)
    return this.#taken()
  }

  /**
   * States that everything up to `instant` has arrived.
   * @returns the open bar, closed, if it had ended by then
   */
  closeUntil(instant: number): readonly Bar[] {
    if (this.#start !== this.#end && this.#end <= instant) this.#finish()
    if (instant > this.#closedUntil) this.#closedUntil = instant
    return this.#taken()
  }

  /** The open bar so far; null if nothing has traded in it. Created on every call. */
  get open(): Bar | null {
    return this.#state(false)
  }

  /** Moves on to the bar that begins at `start`, for a trade or bar at `at`. False if that trade or bar does not count. */
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

  /** Trades continue an open smaller bar. */
  #goOnFrom(pending: Bar): void {
    this.#pending = null
    // All its trades are passed one by one.
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
    // The closed state of the previous bar was lost, so its last known state counts.
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
    // Most trades repeat the previous price.
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
    // Daily figures often carry their date's midnight, before the session opens.
    if (start !== null || this.#base === null || this.#base.interval.unit === 'minute') return start
    return clock.startOfDate(clock.dateAt(at))
  }

  #endOfBase(at: number): number {
    const start = this.#base === null ? null : this.#startOf(at, this.#base)
    return this.#base === null || start === null ? at + 1 : this.#base.endOf(start)
  }
}

/** Whether `a` is above `b`, by their scaled values if both have one. */
function isAbove(a: Decimal, aScaled: number, b: Decimal, bScaled: number): boolean {
  if (aScaled > bScaled) return true
  return (Number.isNaN(aScaled) || Number.isNaN(bScaled)) && compare(a, b) > 0
}
