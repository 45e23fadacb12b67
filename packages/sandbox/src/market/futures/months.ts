/** Contract months of futures: their symbols, the listed ones, and the end of each. */
import { midnight, regularSession, usEquityCalendar } from '@trunkline/core/domain/calendar/index'
import type { Micros } from '../../engine/types.ts'
import { NEW_YORK } from '../hours.ts'
import { ROOT_FACTS, type Root, type RootFacts } from './roots.ts'

/** Letters of the months, in order. */
const LETTERS = 'FGHJKMNQUVXZ'
const SYMBOL = /^([A-Z0-9]{1,4})([FGHJKMNQUVXZ])(\d{2})$/
const HOUR: Micros = 3_600_000_000
const FRIDAY = 5

// The futures exchanges' business days are those of the stock exchanges, except for a day or two in ten years.
const calendar = usEquityCalendar()

export interface FutureName {
  readonly root: string
  /** `YYYY-MM`. */
  readonly month: string
}

/** Null for a text that is not a futures month; a parsed month need not exist. */
export function parseFutureSymbol(symbol: string): FutureName | null {
  const [, root, letter = '', year] = SYMBOL.exec(symbol) ?? []
  if (root === undefined) return null
  return { root, month: `20${year}-${String(LETTERS.indexOf(letter) + 1).padStart(2, '0')}` }
}

export function futureSymbol({ root, month }: FutureName): string {
  return `${root}${LETTERS[Number(month.slice(5)) - 1]}${month.slice(2, 4)}`
}

/** `Dec 2026` */
export function monthText(month: string): string {
  const names = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
  return `${names[Number(month.slice(5)) - 1]} ${month.slice(0, 4)}`
}

/**
 * When a month stops trading.
 * - Index futures: the third Friday of the month (the trading day before, if it is a holiday), 09:30 New York time.
 * - Crude oil: the third business day before the 25th of the month before (if that is none, before the last business day ahead of it),
 *   14:30.
 * - Gold: the third last business day of the month, 13:30.
 */
export function lastTradeOf(rule: RootFacts['lastTrade'], month: string): Micros {
  const first = Temporal.PlainYearMonth.from(month).toPlainDate({ day: 1 })
  switch (rule) {
    case 'third-friday': {
      const friday = first.add({ days: ((FRIDAY - first.dayOfWeek + 7) % 7) + 14 })
      return at(lastBusinessDay(friday), 9.5)
    }
    case 'crude-oil':
      return at(back(lastBusinessDay(first.subtract({ months: 1 }).with({ day: 25 })), 3), 14.5)
    case 'gold':
      return at(back(lastBusinessDay(first.add({ months: 1 }).subtract({ days: 1 })), 2), 13.5)
  }
}

/** The months of a root that trade at an instant, ascending. */
export function monthsAt(root: Root, instant: Micros): readonly string[] {
  const { months, listed, lastTrade } = ROOT_FACTS[root]
  const found: string[] = []
  let month = Temporal.PlainDate.from(calendar.dateAt(instant / 1_000)).toPlainYearMonth()
  for (; found.length < listed; month = month.add({ months: 1 })) {
    if (months === 'quarterly' && month.month % 3 !== 0) continue
    const text = month.toString()
    if (lastTradeOf(lastTrade, text) > instant) found.push(text)
  }
  return found
}

/** Whether the root has contracts of that month at all, including past and future ones. */
export function hasMonth(root: Root, month: string): boolean {
  return ROOT_FACTS[root].months === 'monthly' || Number(month.slice(5)) % 3 === 0
}

/** The daily settlements after `from` up to and including `until`: 16:00 New York time (13:00 on early days) of every business day. */
export function settlementsWithin(from: Micros, until: Micros): readonly Micros[] {
  const found: Micros[] = []
  for (let date: string = calendar.dateAt(from / 1_000); ; date = calendar.nextTradingDay(date)) {
    const session = regularSession(calendar, date)
    const settled = session === null ? null : session.end * 1_000
    if (settled !== null && settled > until) return found
    if (settled !== null && settled > from) found.push(settled)
  }
}

function at(date: string, hours: number): Micros {
  return midnight(date, NEW_YORK) * 1_000 + hours * HOUR
}

/** The date itself, or the last business day before it. */
function lastBusinessDay(date: Temporal.PlainDate): string {
  const text = date.toString()
  return calendar.isTradingDay(text) ? text : calendar.previousTradingDay(text)
}

function back(date: string, days: number): string {
  let found = date
  for (let left = days; left > 0; left--) found = calendar.previousTradingDay(found)
  return found
}
