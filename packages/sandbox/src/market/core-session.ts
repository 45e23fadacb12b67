/** The core session of the exchanges, 09:30 to 16:00 New York: the same days and hours for every calendar setting of the sandbox. */
import { regularSession, usEquityCalendar } from '@trunkline/core/domain/calendar/index'
import type { Micros } from '../engine/types.ts'
import type { DaySpan } from './day-starts.ts'

const EXCHANGE = usEquityCalendar()

/** The core session on the New York date of an instant; null on weekends and holidays. @throws OutsideCalendar before 1998 */
export function coreSession(at: Micros): DaySpan | null {
  const span = regularSession(EXCHANGE, EXCHANGE.dateAt(at / 1_000))
  return span === null ? null : { start: span.start * 1_000, end: span.end * 1_000 }
}

/** Whether an instant is in a core session. */
export function isInCoreSession(at: Micros): boolean {
  const span = coreSession(at)
  return span !== null && at >= span.start && at < span.end
}
