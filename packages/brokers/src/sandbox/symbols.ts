/** What a symbol is. The sandbox writes symbols as the API does. Pure. */

import {
  cmeCalendar,
  continuousCalendar,
  type TradingCalendar,
  usEquityCalendar,
  usOptionCalendar
} from '@trunkline/core/domain/calendar/index'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { FoundSymbol, MarketInstrument } from '@trunkline/core/ports/market'
import { displayTextOrNull, member, nested, text, type Wire } from '../kit/parse.ts'
import { ASSET_CLASSES } from './codecs.ts'

/** When a symbol trades, by the sandbox's value for it. */
const CALENDARS: Readonly<Record<string, TradingCalendar>> = {
  us_equity: usEquityCalendar(),
  us_option: usOptionCalendar(),
  cme: cmeCalendar(),
  always: continuousCalendar('America/New_York'),
  always_utc: continuousCalendar()
}

/** `{"instrument": …}`. @throws Malformed also when it is not the requested one. */
export function parseInstrument(answer: Wire, requested: string): MarketInstrument {
  const wire = nested(answer, 'instrument')
  const symbol = text(wire, 'symbol')
  if (symbol !== requested) throw new Malformed('symbol', `the requested one, ${requested}`, symbol)
  const instrument = ASSET_CLASSES.read(wire, 'class')
  return { symbol, instrument, calendar: member(wire, 'hours', CALENDARS) }
}

/** One of the list of instruments. @throws Malformed */
export function foundSymbol(wire: Wire): FoundSymbol {
  const exchange = displayTextOrNull(wire, 'exchange')
  return { symbol: text(wire, 'symbol'), instrument: ASSET_CLASSES.read(wire, 'class'), name: displayTextOrNull(wire, 'name'), exchange }
}
