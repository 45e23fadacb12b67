import { OutsideCalendar } from '../../domain/calendar/index.ts'
import { barClock } from '../../domain/market/bar-clocks.ts'
import type { Session } from '../../domain/vocabulary.ts'
import type { MarketInstrument } from '../../ports/market.ts'
import { BROKER_DEFAULT } from './watcher.ts'

const MINUTE = { unit: 'minute', count: 1 } as const

/** A predicate: whether a trade at an instant, in milliseconds, belongs to a session; null if every trade does. */
export function sessionTrades(session: Session, { instrument, calendar }: MarketInstrument): ((atMs: number) => boolean) | null {
  if (session === BROKER_DEFAULT) return null
  const clock = barClock(MINUTE, session, calendar, instrument === 'STK')
  return atMs => {
    try {
      return clock.startOf(atMs) !== null
    } catch (cause) {
      // A time before the calendar is in no session.
      if (cause instanceof OutsideCalendar) return false
      throw cause
    }
  }
}
