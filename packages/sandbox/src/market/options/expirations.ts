/** The expirations of listed options: every Friday, by rule. */
import { regularSession, usEquityCalendar } from '@trunkline/core/domain/calendar/index'
import type { Micros } from '../../engine/types.ts'

/** Days ahead for which weeks are listed; third Fridays of the month are listed longer, those of a quarter's last month longest. */
const WEEKLY_DAYS = 42
const MONTHLY_DAYS = 130
const QUARTERLY_DAYS = 400

const FRIDAY = 5
const calendar = usEquityCalendar()

/** The end of trading for contracts of this expiration: the end of that day's regular session; null if there is none. */
export function lastTradeOf(expiration: string): Micros | null {
  const session = regularSession(calendar, expiration)
  return session === null ? null : session.end * 1_000
}

/** The expiration of the week that a Friday ends: the Thursday if the exchange is closed on the Friday. */
function expirationOf(friday: Temporal.PlainDate): string {
  const date = friday.toString()
  return calendar.isTradingDay(date) ? date : calendar.previousTradingDay(date)
}

/** Whether contracts can expire on a date at all, whether listed yet or not. */
export function isExpiration(date: string): boolean {
  const plain = Temporal.PlainDate.from(date)
  const friday = plain.add({ days: FRIDAY - plain.dayOfWeek })
  return plain.dayOfWeek <= FRIDAY && expirationOf(friday) === date
}

const known = new Map<string, readonly string[]>()
const KNOWN_MAX = 64

/**
 * The expirations listed on a date, ascending, including the day itself: the Fridays of six weeks, the third Fridays of four months,
 * and the third Fridays of March, June, September and December for thirteen months. A Friday on which the exchange is closed moves to the
 * Thursday.
 */
export function expirationsOn(today: string): readonly string[] {
  const remembered = known.get(today)
  if (remembered !== undefined) return remembered
  const date = Temporal.PlainDate.from(today)
  const first = date.add({ days: (FRIDAY - date.dayOfWeek + 7) % 7 })
  const dates: string[] = []
  for (let ahead = 0; ahead <= QUARTERLY_DAYS; ahead += 7) {
    const friday = first.add({ days: ahead })
    const third = friday.day >= 15 && friday.day <= 21
    const most = !third ? WEEKLY_DAYS : friday.month % 3 === 0 ? QUARTERLY_DAYS : MONTHLY_DAYS
    const days = date.until(friday).days
    const expiration = expirationOf(friday)
    if (days <= most && expiration >= today) dates.push(expiration)
  }
  if (known.size >= KNOWN_MAX) known.clear()
  known.set(today, dates)
  return dates
}
