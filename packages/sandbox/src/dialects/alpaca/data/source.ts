/** Where the data endpoints have it from: the sandbox's bars, quotes and last prints. */

import { compare, plus } from '@trunkline/core/domain/decimal'
import {
  type Bar,
  type BarInterval,
  firstBars,
  type Instrument,
  type Micros,
  type QuoteCommand,
  UnknownSymbol
} from '../../frame/brokerage.ts'
import type { BrokerageView } from '../../frame/brokerage-view.ts'
import type { CustomerView } from '../customer-view.ts'
import { type Kind, kindOf, letterOf, type Print } from './wire.ts'

const CHUNK = 2_000
const SECOND: Micros = 1_000_000
/** How far back the last print is looked for, and the last days: over a long weekend. */
const LAST_PRINT: Micros = 3_600 * SECOND
const LAST_DAYS: Micros = 7 * 86_400 * SECOND

/** Both inclusive. */
export interface Stretch {
  readonly from: Micros
  readonly to: Micros
}

export class DataSource {
  readonly brokerage: BrokerageView
  readonly #customerView: CustomerView
  /** The id of the last trade of the streams; those of another start of the sandbox are others. */
  #lastTrade: number

  constructor(brokerage: BrokerageView, customerView: CustomerView) {
    this.brokerage = brokerage
    this.#customerView = customerView
    this.#lastTrade = Math.floor(brokerage.realNow()) * 1000
  }

  newTradeId(): number {
    return ++this.#lastTrade
  }

  now(): Micros {
    return this.brokerage.clock.now()
  }

  /** The instrument, where it is of this kind. */
  find(symbol: string, kind: Kind): Instrument | null {
    const found = this.#customerView.instrument(symbol)
    return found !== null && kindOf(found) === kind ? found : null
  }

  letterOf(symbol: string): string {
    return letterOf(this.#customerView.instrument(symbol)?.exchange ?? '')
  }

  quote(symbol: string): QuoteCommand | undefined {
    return this.brokerage.driver.lastQuote(symbol)
  }

  /** Bars that start in the stretch. Minutes come once they are over; longer bars with what there is of the last. */
  bars({ symbol, kind }: Instrument, interval: BarInterval, { from, to }: Stretch): AsyncIterable<Bar> {
    if (interval !== '1d' || kind !== 'CRYPTO') return this.#bars(symbol, interval, { from, to })
    // A pair's day begins at midnight in Chicago, and the sandbox's own at midnight UTC: days are made of hours.
    const first = chicagoDay(from) < from ? chicagoDay(from, 1) : from
    return days(this.#bars(symbol, '1h', { from: first, to: chicagoDay(to, 1) - 1 }))
  }

  /** The last two days, the newest first. */
  async lastDays(symbol: string): Promise<readonly Bar[]> {
    return (await this.#newest(symbol, '1d', LAST_DAYS)).toReversed()
  }

  /** The last print, to the second: all trades of that second are reported as one. */
  async print(symbol: string): Promise<Print | null> {
    const bar = (await this.#newest(symbol, '1s', LAST_PRINT)).at(-1)
    return bar === undefined ? null : this.printOf(symbol, bar)
  }

  printOf(symbol: string, { start, close, volume }: Bar): Print {
    return { at: start, price: close, size: volume, id: start / SECOND, letter: this.letterOf(symbol), effect: undefined }
  }

  /** No more is looked at than it takes: bars of options are made of prints. */
  #newest(symbol: string, interval: BarInterval, back: Micros): Promise<readonly Bar[]> {
    const now = this.now()
    return this.brokerage.market.bars({ symbol, interval, from: now - back, to: now + 1, now, limit: 2 }).catch(unlessUnknown)
  }

  async *#bars(symbol: string, interval: BarInterval, stretch: Stretch): AsyncGenerator<Bar> {
    const now = this.now()
    for (let from = stretch.from; ; ) {
      const chunk = await firstBars(this.brokerage.market, { symbol, interval, from, to: stretch.to + 1, now }, CHUNK)
      for (const bar of chunk) if (bar.closed || (interval !== '1m' && interval !== '1s')) yield bar
      const last = chunk.at(-1)
      if (last === undefined || chunk.length < CHUNK) return
      from = last.start + 1
    }
  }
}

/** The start of the day in Chicago, or of one some days later. */
function chicagoDay(at: Micros, days = 0): Micros {
  const there = Temporal.Instant.fromEpochMilliseconds(Math.floor(at / 1000)).toZonedDateTimeISO('America/Chicago')
  return there.startOfDay().add({ days }).epochMilliseconds * 1000
}

/** Ascending hours as days. */
async function* days(hours: AsyncIterable<Bar>): AsyncGenerator<Bar> {
  let day: Bar | undefined
  for await (const hour of hours) {
    const start = chicagoDay(hour.start)
    if (day !== undefined && day.start !== start) yield day
    day = day?.start === start ? joined(day, hour) : { ...hour, start }
  }
  if (day !== undefined) yield day
}

function joined({ start, open, high, low, volume }: Bar, { close, closed, ...later }: Bar): Bar {
  return {
    ...{ start, open, close, closed },
    high: compare(high, later.high) >= 0 ? high : later.high,
    low: compare(low, later.low) <= 0 ? low : later.low,
    volume: plus(volume, later.volume)
  }
}

function unlessUnknown(error: unknown): readonly Bar[] {
  if (error instanceof UnknownSymbol) return []
  throw error
}
