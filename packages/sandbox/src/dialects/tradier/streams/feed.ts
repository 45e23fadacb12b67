/** One symbol of one market stream: what happens to it, as messages. Prices of quotes are numbers, all else is text. */

import { type FeedTrade, type Instrument, printVenue, type QuoteCommand } from '../../frame/brokerage.ts'
import type { BrokerageView } from '../../frame/brokerage-view.ts'
import { sizeOf } from '../market/quotes.ts'
import { venueOf } from '../market/venues.ts'
import { toTradier } from '../symbols.ts'
import { type Branch, Figure, json } from '../tree.ts'

export const FILTERS = ['quote', 'timesale'] as const
export type Filter = (typeof FILTERS)[number]

export interface FeedSettings {
  readonly filters: ReadonlySet<Filter>
  /** Of each message. */
  readonly end: string
  /** Leaves out prints that count for the volume alone. */
  readonly validOnly: boolean
}

export interface FeedDeps {
  readonly brokerage: BrokerageView
  readonly instrument: Instrument
  readonly settings: FeedSettings
  readonly out: (frame: string) => void
}

const DAY_MS = 86_400_000
const SESSIONS = { pre: 'pre', open: 'normal', post: 'post', closed: 'post' } as const

/** @throws Problem when the sandbox follows too many contracts already */
export function openFeed({ brokerage, instrument, settings, out }: FeedDeps): Disposable {
  const { exchange, kind } = instrument
  const symbol = toTradier(instrument.symbol)
  const publish = (message: Branch) => out(`${json(message)}${settings.end}`)
  let [seq, bidPrice, askPrice] = [0, '0', '0']

  function quote({ bids: [bid], asks: [ask], at }: QuoteCommand): void {
    bidPrice = bid?.[0] ?? '0'
    askPrice = ask?.[0] ?? '0'
    if (!settings.filters.has('quote')) return
    publish({
      ...{ type: 'quote', symbol },
      ...{ bid: new Figure(bidPrice), bidsz: sizeOf(bid, kind === 'OPT'), bidexch: venueOf(exchange), biddate: millis(at) },
      ...{ ask: new Figure(askPrice), asksz: sizeOf(ask, kind === 'OPT'), askexch: venueOf(exchange), askdate: millis(at) }
    })
  }

  function trade(print: FeedTrade): void {
    const { price, size, at, effect, venue } = print
    if (!settings.filters.has('timesale') || (effect === 'volume' && settings.validOnly)) return
    // Milliseconds of the day, so that it goes on growing when a reader comes back.
    seq = Math.max(seq + 1, Math.floor(at / 1000) % DAY_MS)
    const session = SESSIONS[brokerage.market.phaseAt('us-equity', at).phase]
    publish({
      ...{ type: 'timesale', symbol, exch: venueOf(venue ?? printVenue(instrument, print)) },
      ...{ bid: bidPrice, ask: askPrice, last: price, size, date: millis(at) },
      ...{ seq, flag: effect === 'volume' ? 'V' : '', cancel: false, correction: false, session }
    })
  }

  return brokerage.taps.add(instrument.symbol, { trade, quote })
}

/** Milliseconds since the epoch, as text. */
function millis(at: number): string {
  return String(Math.floor(at / 1000))
}
