/** What the broker knows of a symbol, remembered for some minutes: everybody who looks at a symbol asks for it. */

import {
  cmeCalendar,
  continuousCalendar,
  type TradingCalendar,
  usEquityCalendar,
  usOptionCalendar
} from '@trunkline/core/domain/calendar/index'
import type { Instrument } from '@trunkline/core/domain/vocabulary'
import type { Clock } from '@trunkline/core/ports/clock'
import type { MarketInstrument } from '@trunkline/core/ports/market'
import { kept, type MarketHours } from '../../kit/market-hours.ts'
import { lookedUp, text, type Wire } from '../../kit/parse.ts'

const MEMORY_MS = 300_000
const SYMBOLS_MAX = 10_000

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

  /** Undefined when it has to be asked for; null when the broker has none. */
  get(symbol: string): MarketInstrument | null | undefined {
    const known = this.#known.get(symbol)
    return known === undefined || this.#clock.monotonicMs() >= known.untilMs ? undefined : known.found
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
