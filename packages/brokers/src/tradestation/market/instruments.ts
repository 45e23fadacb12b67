/** What the broker knows of a symbol. */

import {
  cmeCalendar,
  continuousCalendar,
  type TradingCalendar,
  usEquityCalendar,
  usOptionCalendar
} from '@trunkline/core/domain/calendar/index'
import type { Instrument } from '@trunkline/core/domain/vocabulary'
import type { MarketInstrument } from '@trunkline/core/ports/market'
import { calendarFor, type MarketHours } from '../../kit/market-hours.ts'
import { lookUp, text, type Wire } from '../../kit/parse.ts'

interface AssetClass {
  readonly instrument: Instrument
  readonly calendar: TradingCalendar
}

const SHARES: AssetClass = { instrument: 'STK', calendar: usEquityCalendar() }

/** By `AssetType` in capitals. The broker does not say when it trades what: these are the hours of the exchanges. */
const ASSET_CLASSES: Readonly<Record<string, AssetClass>> = {
  STOCK: SHARES,
  INDEX: SHARES,
  STOCKOPTION: { instrument: 'OPT', calendar: usOptionCalendar() },
  INDEXOPTION: { instrument: 'OPT', calendar: usOptionCalendar('index') },
  FUTURE: { instrument: 'FUT', calendar: cmeCalendar() },
  CRYPTO: { instrument: 'CRYPTO', calendar: continuousCalendar() }
}

/** Null for a class that has no market data here. @throws Malformed */
export function parseInstrument(wire: Wire, symbol: string, hours: MarketHours): MarketInstrument | null {
  const found = lookUp(ASSET_CLASSES, text(wire, 'AssetType', 32).toUpperCase())
  if (found === undefined) return null
  const { instrument, calendar } = found
  return { symbol, instrument, calendar: instrument === 'CRYPTO' ? calendar : calendarFor(hours, calendar) }
}
