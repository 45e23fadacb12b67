/** The quote-change stream: of each symbol everything at first, then only what has changed. */

import type { MarketDataTap } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import { texts } from '../frame/sign-in.ts'
import { findInstrument, symbolsListed } from './listing.ts'
import { Quote, type QuoteWire } from './quotes.ts'
import type { StreamCall, StreamEmitter, StreamProtocol, StreamRoute } from './stream-server.ts'

const SYMBOLS_MAX = 100

export function quoteStreams(brokerage: BrokerageView): readonly StreamRoute[] {
  return [{ path: '/marketdata/stream/quotes/:symbols', open: call => open(brokerage, call) }]
}

async function open(brokerage: BrokerageView, { request }: StreamCall): Promise<StreamProtocol> {
  const symbols = symbolsListed(texts(request.params).symbols ?? '', SYMBOLS_MAX)
  const listed = symbols.map(text => ({ text, instrument: findInstrument(brokerage, text) }))
  await brokerage.contracts.bring(listed.flatMap(({ instrument }) => (instrument === null ? [] : [instrument.symbol])))
  const taps: Disposable[] = []
  let ended = false
  return {
    async begin(emitter) {
      for (const { text, instrument } of listed) {
        if (ended) return
        if (instrument === null) emitter.send({ Symbol: text.slice(0, 40), Error: 'FAILED, INVALID SYMBOL' })
        else {
          const quote = await Quote.of(brokerage, instrument)
          // A reader that left during the look-up must not keep a tap.
          if (!ended) taps.push(brokerage.taps.add(instrument.symbol, quoteTap(text, quote, emitter)))
        }
      }
    },
    end() {
      ended = true
      for (const tap of taps) tap[Symbol.dispose]()
    }
  }
}

/** Under the name that was asked for. */
function quoteTap(text: string, quote: Quote, emitter: StreamEmitter): MarketDataTap {
  let before: QuoteWire = { ...quote.wire(), Symbol: text }
  emitter.send(before)
  const emit = () => {
    const now: QuoteWire = { ...quote.wire(), Symbol: text }
    const changes = Object.entries(now).filter(([name, value]) => name !== 'MarketFlags' && before[name] !== value)
    const flags = JSON.stringify(now.MarketFlags) === JSON.stringify(before.MarketFlags) ? {} : { MarketFlags: now.MarketFlags }
    before = now
    if (changes.length > 0 || Object.keys(flags).length > 0) emitter.event({ Symbol: text, ...Object.fromEntries(changes), ...flags })
  }
  return {
    quote: command => {
      quote.quoted(command)
      emit()
    },
    trade: command => {
      quote.traded(command)
      emit()
    }
  }
}
