/** One symbol of one market stream: what happens to it, as messages. Prices of quotes are numbers, all else is text. */

import type { DialectBrokerage } from '../../../brokerage/dialect.ts'
import type { QuoteCommand } from '../../../engine/types.ts'
import { printVenue } from '../../../market/depth.ts'
import type { FeedTrade, Instrument } from '../../../market/types.ts'
import { sizeOf } from '../market/quotes.ts'
import type { Day, Tape } from '../market/tape.ts'
import { venueOf } from '../market/venues.ts'
import { toTradier } from '../symbols.ts'
import { Figure, json } from '../tree.ts'

export const FILTERS = ['trade', 'quote', 'summary', 'timesale', 'tradex'] as const
export type Filter = (typeof FILTERS)[number]

export interface FeedSettings {
  readonly filters: ReadonlySet<Filter>
  /** Of each message. */
  readonly end: string
  /** Leaves out prints that count for the volume alone. */
  readonly validOnly: boolean
}

export interface FeedDeps {
  readonly brokerage: DialectBrokerage
  readonly tape: Tape
  readonly instrument: Instrument
  readonly settings: FeedSettings
  readonly out: (frame: string) => void
}

const DAY_MS = 86_400_000
const SESSIONS = { pre: 'pre', open: 'normal', post: 'post', closed: 'post' } as const

export class Feed implements Disposable {
  readonly #deps: FeedDeps
  readonly #symbol: string
  readonly #tap: Disposable
  #isOver = false
  #seq = 0
  #volume = 0
  #quote: QuoteCommand | undefined
  #summary = ''

  /** @throws Problem when the sandbox follows too many contracts already */
  constructor(deps: FeedDeps) {
    const { brokerage, instrument } = deps
    this.#deps = deps
    this.#symbol = toTradier(instrument.symbol)
    const trade = (print: FeedTrade) => this.#trade(print)
    const quote = (book: QuoteCommand) => this.#publish(book)
    this.#tap = brokerage.taps.add(instrument.symbol, { trade, quote })
    if (instrument.kind === 'STK' && this.#wants('summary', 'trade', 'tradex')) this.#begin().catch(brokerage.onError)
    this.#volume = instrument.kind === 'STK' ? 0 : Number(brokerage.market.figures(instrument.symbol, brokerage.clock.now())?.volume ?? 0)
  }

  [Symbol.dispose](): void {
    this.#isOver = true
    this.#tap[Symbol.dispose]()
  }

  /** What was traded before this stream began. */
  async #begin(): Promise<void> {
    const { tape, instrument } = this.#deps
    const day = await tape.day(instrument.symbol)
    if (this.#isOver) return
    this.#volume = Math.max(this.#volume, day.volume)
    this.#summarize(day)
  }

  #wants(...filters: readonly Filter[]): boolean {
    return filters.some(filter => this.#deps.settings.filters.has(filter))
  }

  #publish(book: QuoteCommand): void {
    this.#quote = book
    if (!this.#wants('quote')) return
    const [bid, ask] = [book.bids[0], book.asks[0]]
    const { exchange, kind } = this.#deps.instrument
    const at = millis(book.at)
    this.#send({
      ...{ type: 'quote', symbol: this.#symbol },
      ...{ bid: new Figure(bid?.[0] ?? '0'), bidsz: sizeOf(bid, kind === 'OPT'), bidexch: venueOf(exchange), biddate: at },
      ...{ ask: new Figure(ask?.[0] ?? '0'), asksz: sizeOf(ask, kind === 'OPT'), askexch: venueOf(exchange), askdate: at }
    })
  }

  #trade(print: FeedTrade): void {
    const { brokerage, instrument, settings } = this.#deps
    this.#volume += Number(print.size)
    if (print.effect === 'volume' && settings.validOnly) return
    const { phase } = brokerage.market.phaseAt('us-equity', print.at)
    const exch = venueOf(print.venue ?? printVenue(instrument, print))
    const { price, size } = print
    const fields = { symbol: this.#symbol, exch, price, size, cvol: String(this.#volume), date: millis(print.at), last: price }
    if (this.#wants('trade') && phase === 'open') this.#send({ type: 'trade', ...fields })
    if (this.#wants('tradex')) this.#send({ type: 'tradex', ...fields })
    if (this.#wants('timesale')) this.#timesale(print, exch, SESSIONS[phase])
    if (instrument.kind === 'STK' && this.#wants('summary'))
      this.#deps.tape.day(instrument.symbol).then(day => this.#summarize(day), brokerage.onError)
  }

  #timesale({ price, size, at, effect }: FeedTrade, exch: string, session: string): void {
    // Milliseconds of the day, so that it goes on growing when a reader comes back.
    this.#seq = Math.max(this.#seq + 1, Math.floor(at / 1000) % DAY_MS)
    this.#send({
      ...{ type: 'timesale', symbol: this.#symbol, exch },
      ...{ bid: this.#quote?.bids[0]?.[0] ?? '0', ask: this.#quote?.asks[0]?.[0] ?? '0', last: price, size, date: millis(at) },
      ...{ seq: this.#seq, flag: effect === 'volume' ? 'V' : '', cancel: false, correction: false, session }
    })
  }

  /** At the beginning, and whenever it is another. */
  #summarize({ open, high, low, previousClose }: Day): void {
    if (this.#isOver || !this.#wants('summary') || open === null || high === null || low === null) return
    const prevClose = previousClose ?? '0'
    const summary = json({ type: 'summary', symbol: this.#symbol, open, high, low, prevClose })
    if (summary === this.#summary) return
    this.#summary = summary
    this.#deps.out(`${summary}${this.#deps.settings.end}`)
  }

  #send(message: Parameters<typeof json>[0]): void {
    this.#deps.out(`${json(message)}${this.#deps.settings.end}`)
  }
}

/** Milliseconds since the epoch, as text. */
function millis(at: number): string {
  return String(Math.floor(at / 1000))
}
