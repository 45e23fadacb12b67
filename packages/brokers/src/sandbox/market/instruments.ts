/** What the house knows of a symbol, remembered for some minutes: everybody who looks at a symbol asks for it. */

import {
  cmeCalendar,
  continuousCalendar,
  type TradingCalendar,
  usEquityCalendar,
  usOptionCalendar
} from '@trunkline/core/domain/calendar/index'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { Clock } from '@trunkline/core/ports/clock'
import type { MarketInstrument } from '@trunkline/core/ports/market'
import { member, nested, text, type Wire } from '../../kit/parse.ts'
import { CLASSES } from '../words.ts'

const MEMORY_MS = 300_000
const SYMBOLS_MAX = 10_000

/** When a symbol trades, by the house's word for it. */
const CALENDARS: Readonly<Record<string, TradingCalendar>> = {
  us_equity: usEquityCalendar(),
  us_option: usOptionCalendar(),
  cme: cmeCalendar(),
  always: continuousCalendar('America/New_York'),
  always_utc: continuousCalendar()
}

/** `{"instrument": …}`. @throws Malformed also when it is another one than was asked for. */
export function parseInstrument(answer: Wire, asked: string): MarketInstrument {
  const wire = nested(answer, 'instrument')
  const symbol = text(wire, 'symbol')
  if (symbol !== asked) throw new Malformed('symbol', `the one asked for, ${asked}`, symbol)
  const instrument = member(wire, 'class', CLASSES)
  return { symbol, instrument, calendar: member(wire, 'hours', CALENDARS) }
}

interface Remembered {
  readonly found: MarketInstrument | null
  readonly untilMs: number
}

export class InstrumentMemory {
  readonly #clock: Clock
  readonly #known = new Map<string, Remembered>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Undefined when it has to be asked for; null when the house has none. */
  get(symbol: string): MarketInstrument | null | undefined {
    const known = this.#known.get(symbol)
    if (known === undefined || this.#clock.monotonicMs() >= known.untilMs) return undefined
    return known.found
  }

  /** At the bound the one learnt longest ago is forgotten. */
  put(symbol: string, found: MarketInstrument | null): void {
    this.#known.delete(symbol)
    if (this.#known.size >= SYMBOLS_MAX)
      for (const oldest of this.#known.keys()) {
        this.#known.delete(oldest)
        break
      }
    this.#known.set(symbol, { found, untilMs: this.#clock.monotonicMs() + MEMORY_MS })
  }
}
