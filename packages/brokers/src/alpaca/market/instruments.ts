/** What Alpaca knows of a symbol, cached for some minutes: every look at a symbol needs it. */

import { continuousCalendar, type TradingCalendar, usEquityCalendar, usOptionCalendar } from '@trunkline/core/domain/calendar/index'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { Instrument } from '@trunkline/core/domain/vocabulary'
import { BrokerFault } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import type { MarketInstrument } from '@trunkline/core/ports/market'
import { instrumentCache, type TtlCache } from '../../kit/bounded-cache.ts'
import { type Calls, isSuccess } from '../../kit/calls.ts'
import type { HttpReply } from '../../kit/http.ts'
import type { MarketClock } from '../../kit/market-clock.ts'
import { calendarFor, type MarketHours } from '../../kit/market-hours.ts'
import { text, timestamp, type Wire } from '../../kit/parse.ts'
import { get } from '../../kit/requests.ts'
import { ASSET_CLASSES } from '../codecs.ts'
import { isUnknownInstrument, readRecord } from '../quirks.ts'
import { instrumentOf, pairOf } from '../symbols.ts'

const CALENDARS = {
  STK: usEquityCalendar(),
  OPT: usOptionCalendar(),
  // A crypto pair's day begins at midnight in Chicago: its daily bars were recorded at 05:00Z in summer (2024-11-01).
  CRYPTO: continuousCalendar('America/Chicago')
} as const satisfies { readonly [instrument in Instrument]?: TradingCalendar }

export interface InstrumentsOptions {
  readonly calls: Calls
  readonly clock: Clock
  readonly marketClock: MarketClock
  readonly hours: MarketHours
}

export class Instruments {
  readonly #options: InstrumentsOptions
  readonly #known: TtlCache<MarketInstrument | null>

  constructor(options: InstrumentsOptions) {
    this.#options = options
    this.#known = instrumentCache(options.clock)
  }

  /** Null when Alpaca knows no such symbol. @throws BrokerFault */
  async find(symbol: string, signal: AbortSignal): Promise<MarketInstrument | null> {
    const known = this.#known.get(symbol)
    if (known !== undefined) return known
    const [found] = await Promise.all([this.#ask(symbol, signal), this.#askTime(signal)])
    this.#known.put(symbol, found)
    return found
  }

  /** A contract that is known from a list need not be requested. */
  remember(symbol: string): void {
    this.#known.put(symbol, { symbol, instrument: 'OPT', calendar: calendarFor(this.#options.hours, CALENDARS.OPT) })
  }

  #ask(symbol: string, signal: AbortSignal): Promise<MarketInstrument | null> {
    const path = instrumentOf(symbol) === 'OPT' ? '/v2/options/contracts' : '/v2/assets'
    const request = get(`${path}/${encodeURIComponent(symbol)}`, {})
    return this.#options.calls.read(request, reply => instrumentIn(reply, symbol, this.#options.hours), signal, { also: [400, 404, 422] })
  }

  #askTime(signal: AbortSignal): Promise<void> {
    const { calls, marketClock } = this.#options
    return calls.read(get('/v2/clock', {}), reply => marketClock.sync(Date.parse(timestamp(readRecord(reply), 'timestamp'))), signal)
  }
}

function instrumentIn(reply: HttpReply, requested: string, hours: MarketHours): MarketInstrument | null {
  if (!isSuccess(reply.status)) {
    if (isUnknownInstrument(reply)) return null
    throw new BrokerFault('refused', 'the symbol could not be requested from Alpaca')
  }
  return parseInstrument(readRecord(reply), requested, hours)
}

/** An asset, or a contract, which has no class. @throws Malformed also when it is not the requested one */
export function parseInstrument(wire: Wire, requested: string, hours: MarketHours): MarketInstrument {
  const isContract = instrumentOf(requested) === 'OPT'
  const instrument = isContract ? 'OPT' : ASSET_CLASSES.read(wire, 'class')
  const written = text(wire, 'symbol')
  const symbol = instrument === 'CRYPTO' ? pairOf(written) : written
  if (symbol !== requested) throw new Malformed('symbol', `the requested one, ${requested}`, symbol)
  // Crypto never closes, at the exchange's hours or without any.
  return { symbol, instrument, calendar: instrument === 'CRYPTO' ? CALENDARS.CRYPTO : calendarFor(hours, CALENDARS[instrument]) }
}
