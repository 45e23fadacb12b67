/** Market depth: the whole order book with every change, by price or by participant. */

import type { DialectBrokerage } from '../../brokerage/dialect.ts'
import type { QuoteCommand, QuoteLevel } from '../../engine/types.ts'
import { describedLevels } from '../../market/depth.ts'
import type { Instrument } from '../../market/types.ts'
import { texts } from '../frame/sign-in.ts'
import { requestedInstrument } from './listing.ts'
import { countOr } from './reading.ts'
import type { StreamCall, StreamProtocol, StreamRoute } from './stream-server.ts'
import { timeOf } from './times.ts'

const LEVELS_DEFAULT = 20
const LEVELS_MAX = 100

type Side = 'Bid' | 'Ask'
type Rows = (instrument: Instrument, side: Side, levels: readonly QuoteLevel[], at: string) => readonly object[]

export function depthStreams(brokerage: DialectBrokerage): readonly StreamRoute[] {
  const path = '/marketdata/stream/marketdepth'
  return [
    { path: `${path}/quotes/:symbol`, open: call => open(brokerage, call, participants) },
    { path: `${path}/aggregates/:symbol`, open: call => open(brokerage, call, aggregates) }
  ]
}

async function open(brokerage: DialectBrokerage, { request }: StreamCall, rows: Rows): Promise<StreamProtocol> {
  const most = countOr(texts(request.query).maxlevels, 'maxlevels', 1, LEVELS_MAX) ?? LEVELS_DEFAULT
  const instrument = await requestedInstrument(brokerage, texts(request.params).symbol ?? '')
  let tap: Disposable | null = null
  return {
    begin(emitter) {
      tap = brokerage.taps.add(instrument.symbol, { quote: quote => emitter.event(book(instrument, quote, { rows, most })) })
    },
    end: () => tap?.[Symbol.dispose]()
  }
}

function book(instrument: Instrument, quote: QuoteCommand, { rows, most }: { readonly rows: Rows; readonly most: number }): object {
  const at = timeOf(quote.at)
  return {
    Bids: rows(instrument, 'Bid', quote.bids.slice(0, most), at),
    Asks: rows(instrument, 'Ask', quote.asks.slice(0, most), at)
  }
}

const participants: Rows = (instrument, side, levels, at) =>
  describedLevels(instrument, side === 'Bid' ? 'bid' : 'ask', levels).map(({ price, size, orders, venue }) => ({
    TimeStamp: at,
    Side: side,
    Price: price,
    Size: size,
    OrderCount: orders,
    Name: venue
  }))

const aggregates: Rows = (instrument, side, levels, at) =>
  describedLevels(instrument, side === 'Bid' ? 'bid' : 'ask', levels).map(({ price, size, orders }) => ({
    EarliestTime: at,
    LatestTime: at,
    Side: side,
    Price: price,
    TotalSize: size,
    BiggestSize: size,
    SmallestSize: size,
    NumParticipants: 1,
    TotalOrderCount: orders
  }))
