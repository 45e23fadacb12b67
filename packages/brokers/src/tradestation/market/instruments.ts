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
import { kept, type MarketHours } from '../../kit/market-hours.ts'
import { lookedUp, text, type Wire } from '../../kit/parse.ts'

interface Class {
  readonly instrument: Instrument
  readonly calendar: TradingCalendar
}

const SHARES: Class = { instrument: 'STK', calendar: usEquityCalendar() }

/** By `AssetType` in capitals. The broker does not say when it trades what: these are the hours of the exchanges. */
const CLASSES: Readonly<Record<string, Class>> = {
  STOCK: SHARES,
  INDEX: SHARES,
  STOCKOPTION: { instrument: 'OPT', calendar: usOptionCalendar() },
  INDEXOPTION: { instrument: 'OPT', calendar: usOptionCalendar('index') },
  FUTURE: { instrument: 'FUT', calendar: cmeCalendar() },
  CRYPTO: { instrument: 'CRYPTO', calendar: continuousCalendar() }
}

/** Null for a class that has no market data here. @throws Malformed */
export function parseInstrument(wire: Wire, symbol: string, hours: MarketHours): MarketInstrument | null {
  const found = lookedUp(CLASSES, text(wire, 'AssetType', 32).toUpperCase())
  if (found === undefined) return null
  const { instrument, calendar } = found
  return { symbol, instrument, calendar: instrument === 'CRYPTO' ? calendar : kept(hours, calendar) }
}
