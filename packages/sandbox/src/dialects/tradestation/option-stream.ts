/** An option chain around the present price, row by row as its contracts change. */

import { compare, type Decimal, dividedBy, isZero, minus, parseDecimal, plus } from '@trunkline/core/domain/decimal'
import { type Instrument, type OptionFigures, Problem, type QuoteCommand } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import { texts } from '../frame/sign-in.ts'
import { requestedExpiration } from './expirations.ts'
import { bad, countOr } from './reading.ts'
import type { StreamCall, StreamEmitter, StreamProtocol, StreamRoute } from './stream-server.ts'
import { assetOf, shownSymbol, underlyingOf } from './symbols.ts'
import { dayOf } from './times.ts'

const PROXIMITY_DEFAULT = 5
const PROXIMITY_MAX = 1_000
const [ZERO, TWO] = [parseDecimal('0', 'zero'), parseDecimal('2', 'two')]

export function optionStreams(brokerage: BrokerageView): readonly StreamRoute[] {
  return [{ path: '/marketdata/stream/options/chains/:underlying', open: call => open(brokerage, call) }]
}

async function open(brokerage: BrokerageView, { request }: StreamCall): Promise<StreamProtocol> {
  const { market, clock, contracts, driver, taps } = brokerage
  const query = texts(request.query)
  const underlying = underlyingOf(texts(request.params).underlying ?? '')
  if ((query.spreadType ?? 'Single') !== 'Single')
    throw new Problem('bad_request', 'Only the spreadType Single is emulated by this sandbox', { status: 501 })
  const expiration = requestedExpiration(brokerage, underlying, query.expiration)
  const chain = market.chain(underlying, expiration, clock.now())
  if (chain.length === 0) bad(`no options on ${underlying.slice(0, 40)} expire on ${expiration}`)
  const shown = near(chain, market.priceOf(underlying, clock.now()), query)
  await contracts.bring(shown.map(({ symbol }) => symbol))
  const moved = new Set(shown)
  const sent = new Map<Instrument, string>()
  const open: Disposable[] = []
  let emitter: StreamEmitter | null = null
  const tick = () => {
    for (const instrument of moved) {
      const { symbol } = instrument
      const row = rowOf(instrument, driver.lastQuote(symbol), market.figures(symbol, clock.now()))
      const text = JSON.stringify(row)
      if (sent.get(instrument) === text) continue
      sent.set(instrument, text)
      emitter?.event(row)
    }
    moved.clear()
  }
  return {
    begin(to) {
      emitter = to
      for (const instrument of shown) {
        const move = () => void moved.add(instrument)
        open.push(taps.add(instrument.symbol, { quote: move, trade: move }))
      }
      tick()
    },
    tick,
    end() {
      for (const tap of open) tap[Symbol.dispose]()
    }
  }
}

/** So many strikes on each side of the price, all of them where it is not known. */
function near(chain: readonly Instrument[], price: Decimal | null, query: Readonly<Record<string, string>>): readonly Instrument[] {
  const proximity = countOr(query.strikeProximity, 'strikeProximity', 1, PROXIMITY_MAX) ?? PROXIMITY_DEFAULT
  if (price === null) return chain
  const strikes = [...new Set(chain.map(({ option }) => option?.strike ?? '0'))]
  const at = strikes.findIndex(strike => compare(parseDecimal(strike, 'strike'), price) >= 0)
  const middle = at < 0 ? strikes.length : at
  const wanted = new Set(strikes.slice(Math.max(0, middle - proximity), middle + proximity))
  return chain.filter(({ option }) => option !== undefined && wanted.has(option.strike))
}

/** What is not known counts as zero, as at TradeStation. */
function rowOf(instrument: Instrument, quote: QuoteCommand | undefined, figures: OptionFigures | null): object {
  const { symbol, option } = instrument
  const [[bid, bidSize] = ['0', '0'], [ask, askSize] = ['0', '0']] = [quote?.bids[0], quote?.asks[0]]
  const { delta, theta, gamma, rho, vega } = figures ?? {}
  const [last, previousClose] = [figures?.last ?? ZERO, figures?.previousClose ?? ZERO]
  const change = minus(last, previousClose)
  const type = option?.right === 'put' ? 'Put' : 'Call'
  const strike = option?.strike ?? '0'
  return {
    ...{ Delta: delta ?? ZERO, Theta: theta ?? ZERO, Gamma: gamma ?? ZERO, Rho: rho ?? ZERO, Vega: vega ?? ZERO },
    ImpliedVolatility: figures?.iv ?? '0',
    ...{ Ask: ask, AskSize: Math.floor(Number(askSize)), Bid: bid, BidSize: Math.floor(Number(bidSize)) },
    Mid: dividedBy(plus(parseDecimal(bid, 'bid'), parseDecimal(ask, 'ask')), TWO, 4),
    ...{ Open: figures?.open ?? ZERO, High: figures?.high ?? ZERO, Low: figures?.low ?? ZERO },
    ...{ Last: last, Close: figures?.close ?? last, PreviousClose: previousClose, NetChange: change },
    NetChangePct: isZero(previousClose) ? '0' : dividedBy(change, previousClose, 6),
    Volume: Math.floor(Number(figures?.volume ?? '0')),
    ...{ Side: type, Strikes: [strike] },
    Legs: [
      {
        ...{ Symbol: shownSymbol(symbol), Ratio: 1, StrikePrice: strike, Expiration: dayOf(option?.expiration ?? '1970-01-01') },
        ...{ OptionType: type, AssetType: assetOf(instrument) }
      }
    ]
  }
}
