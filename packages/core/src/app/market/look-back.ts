import type { BarClock } from '../../domain/market/bar-clock.ts'
import { type BarPlan, UNIT_MS } from './bar-plan.ts'
import { BROKER_BARS_MAX } from './history-limits.ts'
import { MarketRefusal } from './refusal.ts'

export interface LookBackWindow {
  readonly fromMs: number
  readonly toMs: number
}

/** The first window is a little longer than the calendar requires, because long windows are estimated without holidays. */
const HOLIDAYS = { share: 1.06, more: 3 }
/** Most windows, each at least this many times as long as the one before, because symbols do not trade in every bar. */
const STEPS_MAX = 6
const STEP = 3
const STEP_MOST = 27

/**
 * Chooses windows in which to look for the last bars: first one that has enough by the calendar, then further back, until there are enough
 * or the limit of the broker's bars per request is reached.
 */
export class LookBack {
  readonly #plan: BarPlan
  readonly #count: number
  readonly #oldestMs: number
  readonly #upToMs: number
  #fromMs: number
  /** Bars of the last window, and of all windows, by the calendar. */
  #wanted: number
  #looked: number
  /** The broker's bars so far, by the calendar. */
  #counted: number
  #steps = 1

  /** @throws MarketRefusal if the first window alone exceeds the limit of the broker's bars; OutsideCalendar */
  constructor(plan: BarPlan, count: number, { oldestMs, upToMs }: { readonly oldestMs: number; readonly upToMs: number }) {
    this.#plan = plan
    this.#count = count
    this.#oldestMs = oldestMs
    this.#upToMs = upToMs
    this.#wanted = barsOf(count)
    this.#looked = this.#wanted
    this.#fromMs = reachingBack(plan.clock, this.#wanted, oldestMs, upToMs)
    this.#counted = this.#costs(this.#fromMs, upToMs)
    if (this.#counted > BROKER_BARS_MAX) throw this.#refusal()
  }

  /** Null if there can be no bars. */
  first(): LookBackWindow | null {
    return this.#fromMs < this.#upToMs ? { fromMs: this.#fromMs, toMs: this.#upToMs } : null
  }

  /** @param found bars so far; returns null if they suffice, or there is nowhere left to look. @throws OutsideCalendar */
  next(found: number): LookBackWindow | null {
    const missing = this.#count - found
    const toMs = this.#fromMs
    if (missing <= 0 || this.#steps >= STEPS_MAX || toMs <= this.#oldestMs) return null
    const ratio = Math.min(STEP_MOST, this.#looked / Math.max(found, 1))
    const share = Math.min(1, Math.max(found, 1) / this.#looked)
    this.#wanted = Math.ceil(Math.max(missing * ratio, this.#wanted * STEP))
    this.#fromMs = reachingBack(this.#plan.clock, this.#wanted, this.#oldestMs, toMs)
    // A symbol that seldom trades has fewer bars than its calendar.
    const left = BROKER_BARS_MAX - this.#counted * share
    const costs = this.#costs(this.#fromMs, toMs)
    const most = Math.min(left / share, BROKER_BARS_MAX)
    if (costs > most) {
      this.#wanted = Math.floor((this.#wanted * most) / costs)
      if (this.#wanted < 1) return null
      this.#fromMs = reachingBack(this.#plan.clock, this.#wanted, this.#oldestMs, toMs)
    }
    if (this.#fromMs >= toMs) return null
    this.#steps += 1
    this.#looked += this.#wanted
    this.#counted += Math.min(costs, most)
    return { fromMs: this.#fromMs, toMs }
  }

  #costs(fromMs: number, toMs: number): number {
    return this.#plan.past.answered.countAtMost(fromMs, toMs)
  }

  #refusal(): MarketRefusal {
    const { past, whyMinutes } = this.#plan
    // Because of holidays and the days at its ends, a shorter window costs a little more than its share.
    let fewer = Math.floor((this.#count * BROKER_BARS_MAX) / this.#counted)
    const isTooMany = () =>
      this.#costs(reachingBack(this.#plan.clock, barsOf(fewer), this.#oldestMs, this.#upToMs), this.#upToMs) > BROKER_BARS_MAX
    while (fewer > 0 && isTooMany()) fewer -= Math.max(1, Math.floor(fewer / 50))
    const message = `${whyMinutes}So many bars would be made of up to ${this.#counted} bars of ${past.label} of the broker’s, and ${BROKER_BARS_MAX} is the most; ask for at most ${fewer}.`
    return new MarketRefusal('invalid_request', message)
  }
}

/** Bars of the first window. */
function barsOf(count: number): number {
  return Math.ceil(count * HOLIDAYS.share) + HOLIDAYS.more
}

/** The latest start from which on there are `count` bars before `toMs` by the calendar; otherwise the first bar from `oldestMs` on. */
function reachingBack(clock: BarClock, count: number, oldestMs: number, toMs: number): number {
  const lengthMs = UNIT_MS[clock.interval.unit] * clock.interval.count
  const isFar = (fromMs: number): boolean => fromMs <= oldestMs || clock.countAtMost(fromMs, toMs) >= count
  let far = Math.max(oldestMs, toMs - count * lengthMs)
  while (!isFar(far)) far = Math.max(oldestMs, toMs - 2 * (toMs - far))
  for (let near = toMs; near - far > lengthMs; ) {
    const middle = (near + far) / 2
    if (isFar(middle)) far = middle
    else near = middle
  }
  return clock.atOrAfter(far)
}
