/** The phases of each session group for the engine: by calendar, or forced through the control API. */
import { midnight, type TradingCalendar } from '@trunkline/core/domain/calendar/index'
import type { Micros, Phase, SessionCommand } from '../engine/types.ts'
import { type CalendarChoice, calendarOf } from './hours.ts'
import { Timeline } from './timeline.ts'
import type { MarketGroup } from './types.ts'

/** One session group: its calendar, and its forced phases. */
export class Session {
  readonly market: MarketGroup
  readonly calendar: TradingCalendar
  readonly #forced = new Timeline<Phase | null>(null)
  #delivered: SessionCommand | null = null
  #due: SessionCommand | null = null

  constructor(market: MarketGroup, choice: CalendarChoice) {
    this.market = market
    this.calendar = calendarOf(market, choice)
  }

  force(phase: Phase | null, at: Micros): void {
    this.#forced.set(at, phase)
    this.#due = null
  }

  phaseAt(at: Micros): Phase {
    return this.#forced.valueAt(at) ?? this.#byCalendar(at)
  }

  /** Null while a phase is forced, and if the calendar has no further change. */
  nextChange(at: Micros): Micros | null {
    if (this.#forced.valueAt(at) !== null) return null
    const phase = this.#byCalendar(at)
    let change = this.calendar.nextChange(at / 1_000)
    while (change !== null && this.#tradable(change.phase) === phase) change = this.calendar.nextChange(change.at)
    return change === null ? null : change.at * 1_000
  }

  /** Whether the phase changes after `from` and before `to`, by calendar or by force. */
  changesWithin(from: Micros, to: Micros): boolean {
    const change = this.calendar.nextChange(from / 1_000)
    return this.#forced.changesWithin(from, to) || (change !== null && change.at * 1_000 < to)
  }

  /** The next command for the engine: at first the state at `from`, then each change after the last {@link delivered} one. */
  due(from: Micros): SessionCommand {
    this.#due ??= this.#delivered === null ? this.#stateAt(from) : this.#changeAfter(this.#delivered, from)
    return this.#due
  }

  delivered(command: SessionCommand): void {
    this.#delivered = command
    this.#due = null
  }

  #byCalendar(at: Micros): Phase {
    return this.#tradable(this.calendar.phaseAt(at / 1_000))
  }

  // Futures have one session from evening to afternoon; the division of it into days matters to charts, not to orders.
  #tradable(phase: Phase): Phase {
    return this.market === 'cme' && phase !== 'closed' ? 'open' : phase
  }

  #changeAfter(delivered: SessionCommand, from: Micros): SessionCommand {
    for (let at = this.#nextBoundary(Math.max(delivered.at, from)); ; at = this.#nextBoundary(at)) {
      const state = this.#stateAt(at)
      if (state.phase !== delivered.phase || state.tradingDate !== delivered.tradingDate) return state
    }
  }

  /** The next instant at which a date or a phase may change. */
  #nextBoundary(at: Micros): Micros {
    const ms = at / 1_000
    // A calendar without changes has one span per day, which ends at midnight.
    const change = this.calendar.nextChange(ms)?.at ?? midnight(this.calendar.nextTradingDay(this.calendar.dateAt(ms)), this.calendar.zone)
    return Math.min(change * 1_000, this.#forced.nextChange(at) ?? Number.POSITIVE_INFINITY)
  }

  #stateAt(at: Micros): SessionCommand {
    return { type: 'session', at, market: this.market, phase: this.phaseAt(at), tradingDate: this.#tradingDate(at) }
  }

  // After the last session of a day, orders are for the next one, so its date begins there.
  #tradingDate(at: Micros): string {
    const ms = at / 1_000
    const date = this.calendar.dateAt(ms)
    const end = this.calendar.spansOn(date).at(-1)?.end
    return end !== undefined && ms < end ? date : this.calendar.nextTradingDay(date)
  }
}
