/** Where the data endpoints have it from: the sandbox's bars, quotes and last prints. */

import { compare, parseDecimal } from '@trunkline/core/domain/decimal'
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
import { chicagoDay, regrouped } from './timeframes.ts'
import { type Kind, kindOf, letterOf, type Print } from './wire.ts'

const CHUNK = 2_000
const SECOND: Micros = 1_000_000
/** How far back the last print is looked for. */
const LAST_PRINT: Micros = 3_600 * SECOND

export interface Stretch {
  /** Both inclusive. */
  readonly from: Micros
  readonly to: Micros
}

export class DataSource {
  readonly #brokerage: BrokerageView
  readonly #customerView: CustomerView

  constructor(brokerage: BrokerageView, customerView: CustomerView) {
    this.#brokerage = brokerage
    this.#customerView = customerView
  }

  now(): Micros {
    return this.#brokerage.clock.now()
  }

  /** The instrument, where it is of this kind. */
  find(symbol: string, kind: Kind): Instrument | null {
    const found = this.#customerView.instrument(symbol)
    return found !== null && kindOf(found) === kind ? found : null
  }

  letterOf(symbol: string): string {
    return letterOf(this.#customerView.instrument(symbol)?.exchange ?? '')
  }

  /** Has the present prices of contracts come. @throws Problem `slow_down` */
  bring(symbols: readonly string[]): Promise<void> {
    return this.#brokerage.contracts.bring(symbols)
  }

  /** Bars that start in the stretch. Minutes come once they are over; longer bars with what there is of the last. */
  bars(symbol: string, interval: BarInterval, stretch: Stretch): AsyncIterable<Bar> {
    const kind = this.#customerView.instrument(symbol)?.kind
    return interval === '1d' && kind === 'CRYPTO' ? this.#cryptoDays(symbol, stretch) : this.#bars(symbol, interval, stretch)
  }

  /** A pair's day begins at midnight in Chicago, and the sandbox's own at midnight UTC: days are made of hours. */
  #cryptoDays(symbol: string, { from, to }: Stretch): AsyncIterable<Bar> {
    const first = chicagoDay(from) < from ? chicagoDay(from, 1) : from
    return regrouped(this.#bars(symbol, '1h', { from: first, to: chicagoDay(to, 1) - 1 }), at => chicagoDay(at))
  }

  /** The last bar of an interval that is over (`closed`), or as it is. */
  async lastBar(symbol: string, base: BarInterval, closed: boolean, back: Micros): Promise<Bar | null> {
    const bars = await this.newest(symbol, base, { count: 2, back })
    return bars.findLast(bar => bar.closed || !closed) ?? null
  }

  /** The newest bars, ascending. No more is looked at than it takes: those of options are made of prints. */
  newest(
    symbol: string,
    interval: BarInterval,
    { count, back }: { readonly count: number; readonly back: Micros }
  ): Promise<readonly Bar[]> {
    const now = this.now()
    return this.#brokerage.market.bars({ symbol, interval, from: now - back, to: now + 1, now, limit: count }).catch(unlessUnknown)
  }

  quote(symbol: string): QuoteCommand | undefined {
    return this.#brokerage.driver.lastQuote(symbol)
  }

  /** The last print, to the second: all trades of that second are reported as one. */
  async print(symbol: string): Promise<Print | null> {
    const bar = await this.lastBar(symbol, '1s', false, LAST_PRINT)
    return bar === null ? null : this.printOf(symbol, bar)
  }

  printOf(symbol: string, { start, close, open, volume }: Bar): Print {
    const isBuy = compare(parseDecimal(close, 'price'), parseDecimal(open, 'price')) >= 0
    return { at: start, price: close, size: volume, id: start / SECOND, letter: this.letterOf(symbol), effect: undefined, isBuy }
  }

  async *#bars(symbol: string, interval: BarInterval, stretch: Stretch): AsyncGenerator<Bar> {
    const isDue = ({ closed }: Bar) => closed || (interval !== '1m' && interval !== '1s')
    for await (const chunk of this.#forwards(symbol, interval, stretch)) for (const bar of chunk) if (isDue(bar)) yield bar
  }

  async *#forwards(symbol: string, interval: BarInterval, stretch: Stretch): AsyncGenerator<readonly Bar[]> {
    const now = this.now()
    for (let from = stretch.from; ; ) {
      const chunk = await firstBars(this.#brokerage.market, { symbol, interval, from, to: stretch.to + 1, now }, CHUNK).catch(unlessUnknown)
      yield chunk
      const last = chunk.at(-1)
      if (last === undefined || chunk.length < CHUNK) return
      from = last.start + 1
    }
  }
}

/** For a symbol it does not know, Alpaca answers an empty result. */
function unlessUnknown(error: unknown): readonly Bar[] {
  if (error instanceof UnknownSymbol) return []
  throw error
}
