/** The quote-change stream: of each symbol everything at first, then only what has changed. */

import type { DialectHouse } from '../../house/dialect.ts'
import type { Tap } from '../../house/taps.ts'
import { texts } from '../frame/sign-in.ts'
import type { StreamCall, StreamRoute, Talk, Voice } from './hall.ts'
import { findInstrument, symbolsListed } from './listing.ts'
import { Quote, type QuoteWire } from './quotes.ts'

export const SYMBOLS_MAX = 100

export function quoteStreams(house: DialectHouse): readonly StreamRoute[] {
  return [{ path: '/marketdata/stream/quotes/:symbols', open: call => open(house, call) }]
}

async function open(house: DialectHouse, { request }: StreamCall): Promise<Talk> {
  const symbols = symbolsListed(texts(request.params).symbols ?? '', SYMBOLS_MAX)
  const listed = symbols.map(text => ({ text, instrument: findInstrument(house, text) }))
  await house.contracts.bring(listed.flatMap(({ instrument }) => (instrument === null ? [] : [instrument.symbol])))
  const taps: Disposable[] = []
  let ended = false
  return {
    async begin(voice) {
      for (const { text, instrument } of listed) {
        if (ended) return
        if (instrument === null) voice.say({ Symbol: text.slice(0, 40), Error: 'FAILED, INVALID SYMBOL' })
        else {
          const quote = await Quote.of(house, instrument)
          // Whoever left while the day was looked up must not be left with a tap.
          if (!ended) taps.push(house.taps.add(instrument.symbol, told(text, quote, voice)))
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
function told(text: string, quote: Quote, voice: Voice): Tap {
  let before: QuoteWire = { ...quote.wire('share'), Symbol: text }
  voice.say(before)
  const tell = () => {
    const now: QuoteWire = { ...quote.wire('share'), Symbol: text }
    const changes = Object.entries(now).filter(([name, value]) => name !== 'MarketFlags' && before[name] !== value)
    const flags = JSON.stringify(now.MarketFlags) === JSON.stringify(before.MarketFlags) ? {} : { MarketFlags: now.MarketFlags }
    before = now
    if (changes.length > 0 || Object.keys(flags).length > 0) voice.event({ Symbol: text, ...Object.fromEntries(changes), ...flags })
  }
  return {
    quote: command => {
      quote.quoted(command)
      tell()
    },
    trade: command => {
      quote.traded(command)
      tell()
    }
  }
}
