/** Market depth: the whole order book by price, with every change. */

import { describedLevels, type Instrument, type QuoteCommand, type QuoteLevel } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import { texts } from '../frame/sign-in.ts'
import { requestedInstrument } from './listing.ts'
import { countOr } from './reading.ts'
import type { StreamCall, StreamProtocol, StreamRoute } from './stream-server.ts'
import { timeOf } from './times.ts'

const LEVELS_DEFAULT = 20
const LEVELS_MAX = 100

type Side = 'Bid' | 'Ask'
export function depthStreams(brokerage: BrokerageView): readonly StreamRoute[] {
  return [{ path: '/marketdata/stream/marketdepth/aggregates/:symbol', open: call => open(brokerage, call) }]
}

async function open(brokerage: BrokerageView, { request }: StreamCall): Promise<StreamProtocol> {
  const most = countOr(texts(request.query).maxlevels, 'maxlevels', 1, LEVELS_MAX) ?? LEVELS_DEFAULT
  const instrument = await requestedInstrument(brokerage, texts(request.params).symbol ?? '')
  let tap: Disposable | null = null
  return {
    begin(emitter) {
      tap = brokerage.taps.add(instrument.symbol, { quote: quote => emitter.event(book(instrument, quote, most)) })
    },
    end: () => tap?.[Symbol.dispose]()
  }
}

function book(instrument: Instrument, { at, bids, asks }: QuoteCommand, most: number): object {
  const time = timeOf(at)
  return { Bids: rows(instrument, 'Bid', bids.slice(0, most), time), Asks: rows(instrument, 'Ask', asks.slice(0, most), time) }
}

function rows(instrument: Instrument, side: Side, levels: readonly QuoteLevel[], at: string): readonly object[] {
  return describedLevels(instrument, side === 'Bid' ? 'bid' : 'ask', levels).map(({ price, size, orders }) => ({
    ...{ EarliestTime: at, LatestTime: at, Side: side, Price: price },
    ...{ TotalSize: size, BiggestSize: size, SmallestSize: size, NumParticipants: 1, TotalOrderCount: orders }
  }))
}
