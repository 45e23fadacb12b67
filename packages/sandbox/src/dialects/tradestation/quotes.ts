/** A symbol's quote as TradeStation shows it, kept up to date by quotes and prints. */

import { compare, type Decimal, dividedBy, isZero, minus, plus } from '@trunkline/core/domain/decimal'
import { type FeedTrade, type Instrument, type Micros, printVenue, type QuoteCommand } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import { decimal } from './figures.ts'
import { shownSymbol } from './symbols.ts'
import { timeOf } from './times.ts'

export type QuoteWire = Readonly<Record<string, unknown>>

const DAYS_BACK: Micros = 10 * 86_400_000_000

interface Day {
  readonly open: string | null
  high: Decimal | null
  low: Decimal | null
  volume: Decimal
  readonly previousClose: Decimal | null
  readonly previousVolume: string | null
}

interface Last {
  readonly price: string
  readonly size: string
  readonly at: Micros
  readonly venue: string
}

export class Quote {
  readonly instrument: Instrument
  readonly #isHalted: () => boolean
  readonly #day: Day
  #last: Last
  #quote: QuoteCommand | undefined

  private constructor(instrument: Instrument, parts: { readonly isHalted: () => boolean; readonly day: Day; readonly last: Last }) {
    this.instrument = instrument
    this.#isHalted = parts.isHalted
    this.#day = parts.day
    this.#last = parts.last
  }

  /** As it stands. The symbol's prices must have been brought. */
  static async of({ state, market, clock, driver }: BrokerageView, instrument: Instrument): Promise<Quote> {
    const { symbol, exchange } = instrument
    const now = clock.now()
    const days = await market.bars({ symbol, interval: '1d', from: now - DAYS_BACK, to: now + 1, now, limit: 2 })
    const [before, today] = days.length === 2 ? days : [undefined, days[0]]
    const view = state.engine.market(symbol)
    const price = view?.mark ?? today?.close ?? '0'
    const previousClose = view?.previousClose ?? before?.close ?? null
    const day: Day = {
      open: today?.open ?? null,
      high: today?.high ?? null,
      low: today?.low ?? null,
      volume: today?.volume ?? decimal('0'),
      previousClose: previousClose === null ? null : decimal(previousClose),
      previousVolume: before?.volume ?? null
    }
    const isHalted = () => state.engine.market(symbol)?.halted ?? false
    const quote = new Quote(instrument, { isHalted, day, last: { price, size: '0', at: now, venue: exchange } })
    quote.#quote = driver.lastQuote(symbol)
    return quote
  }

  quoted(quote: QuoteCommand): void {
    this.#quote = quote
  }

  traded({ at, price, size, effect, venue }: FeedTrade): void {
    this.#day.volume = plus(this.#day.volume, decimal(size))
    if (effect === 'volume') return
    const value = decimal(price)
    const { high, low } = this.#day
    if (high === null || compare(value, high) > 0) this.#day.high = value
    if (low === null || compare(value, low) < 0) this.#day.low = value
    this.#last = { price, size, at, venue: venue ?? printVenue(this.instrument, { at, price, size }) }
  }

  wire(): QuoteWire {
    const { price, size, at, venue } = this.#last
    const [bid, ask] = [this.#quote?.bids[0], this.#quote?.asks[0]]
    const { open, high, low, volume, previousClose, previousVolume } = this.#day
    return {
      Symbol: shownSymbol(this.instrument.symbol),
      Open: open ?? price,
      High: high ?? price,
      Low: low ?? price,
      PreviousClose: previousClose ?? price,
      Last: price,
      Ask: ask?.[0] ?? '0',
      AskSize: ask?.[1] ?? '0',
      Bid: bid?.[0] ?? '0',
      BidSize: bid?.[1] ?? '0',
      ...changeOf(decimal(price), previousClose),
      Volume: volume,
      PreviousVolume: previousVolume ?? '0',
      Close: price,
      DailyOpenInterest: '0',
      TradeTime: timeOf(at),
      LastSize: size,
      LastVenue: venue,
      TickSizeTier: '0',
      MarketFlags: { IsBats: false, IsDelayed: false, IsHalted: this.#isHalted(), IsHardToBorrow: !this.instrument.shortable }
    }
  }
}

/** The change is a share of one here, where TradeStation's snapshots have it in percent. */
function changeOf(price: Decimal, previousClose: Decimal | null): object {
  if (previousClose === null || isZero(previousClose)) return { NetChange: '0', NetChangePct: '0' }
  const change = minus(price, previousClose)
  return { NetChange: change, NetChangePct: dividedBy(change, previousClose, 6) }
}
