/** Market data: bars, symbols, expirations and strikes over REST; quotes, bars, depth and option chains as streams. */

import { dividedBy, minus, parseDecimal, plus, ZERO } from '@trunkline/core/domain/decimal'
import {
  type Answer,
  describedLevels,
  type FeedTrade,
  type Instrument,
  type Micros,
  printVenue,
  type QuoteCommand
} from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import type { Call, DialectRoute } from '../frame/router.ts'
import { texts } from '../frame/sign-in.ts'
import { bad, bodyOf, json, listIn, timeOf } from './answers.ts'
import { barStream, barsOf } from './bars.ts'
import type { Begin, LineStream, StreamCall, StreamRoute } from './streams.ts'
import { assetOf, findInstrument, shownSymbol, underlyingOf } from './symbols.ts'

const SYMBOLS_MAX = 100
const LEVELS_MAX = 100
const PLACES = 4
const DAYS_BACK: Micros = 10 * 86_400_000_000

export function marketReads(brokerage: BrokerageView): readonly DialectRoute[] {
  const get = { method: 'GET' } as const
  return [
    { ...get, path: '/marketdata/barcharts/:symbol', operation: 'bars.list', handle: call => bars(brokerage, call) },
    { ...get, path: '/marketdata/symbols/:symbol', operation: 'instruments.list', handle: call => symbol(brokerage, call) },
    {
      ...{ ...get, path: '/marketdata/options/expirations/:underlying', operation: 'expirations.list' },
      handle: call => json({ Expirations: wanted(call, expirations(brokerage, call)) })
    },
    {
      ...{ ...get, path: '/marketdata/options/strikes/:underlying', operation: 'chain.list' },
      handle: call => json({ SpreadType: 'Single', Strikes: wanted(call, strikes(brokerage, call)) })
    }
  ]
}

export function marketStreams(brokerage: BrokerageView): readonly StreamRoute[] {
  const path = '/marketdata/stream'
  return [
    { path: `${path}/quotes/:symbols`, open: call => quotes(brokerage, call) },
    {
      path: `${path}/barcharts/:symbol`,
      open: async call => barStream(brokerage, await requestedInstrument(brokerage, call), call.request.query)
    },
    { path: `${path}/marketdepth/aggregates/:symbol`, open: call => depth(brokerage, call) },
    { path: `${path}/options/chains/:underlying`, open: call => optionChain(brokerage, call) }
  ]
}

type Requested = Pick<StreamCall, 'request'>

/** With its present prices. @throws Problem `bad_request` */
async function requestedInstrument(brokerage: BrokerageView, { request }: Requested): Promise<Instrument> {
  const { symbol = '' } = texts(request.params)
  const found = findInstrument(brokerage, symbol) ?? bad(`Invalid symbol ${symbol.slice(0, 40)}`)
  await brokerage.contracts.bring([found.symbol])
  return found
}

/** Nothing by fault injection. */
function wanted<Item>({ fault }: Call, items: readonly Item[]): readonly Item[] {
  return fault?.do === 'empty' ? [] : items
}

async function bars(brokerage: BrokerageView, call: Call): Promise<Answer> {
  const instrument = await requestedInstrument(brokerage, call)
  return json({ Bars: wanted(call, await barsOf(brokerage, instrument, call.request.query)) })
}

function symbol(brokerage: BrokerageView, { request }: Call): Answer {
  const { symbol: text = '' } = texts(request.params)
  const found = findInstrument(brokerage, text)
  if (found === null) return json({ Symbols: [], Errors: [{ Symbol: text.slice(0, 40), Error: 'Failed', Message: 'Invalid symbol' }] })
  return json({ Symbols: [{ AssetType: assetOf(found), Symbol: shownSymbol(found.symbol) }], Errors: [] })
}

function expirations({ market, clock }: BrokerageView, { request }: Call): readonly object[] {
  const { underlying = '' } = texts(request.params)
  return market.expirations(underlyingOf(underlying), clock.now()).map(date => ({ Date: `${date}T00:00:00Z` }))
}

function strikes(brokerage: BrokerageView, call: Call): readonly (readonly string[])[] {
  return [...new Set(chainOf(brokerage, call).map(({ option }) => option?.strike ?? ''))].map(strike => [strike])
}

/** The contracts of one expiration. @throws Problem `bad_request` */
function chainOf({ market, clock }: BrokerageView, { request }: Requested): readonly Instrument[] {
  const { expiration = '' } = texts(request.query)
  const [, month, day, year] = /^(\d{2})-(\d{2})-(\d{4})$/.exec(expiration) ?? []
  const date = year === undefined ? expiration : `${year}-${month}-${day}`
  if (!/^\d{4}-\d{2}-\d{2}$/.test(date)) bad('expiration must be a date such as 12-18-2026')
  return market.chain(underlyingOf(texts(request.params).underlying ?? ''), date, clock.now())
}

/** Of each symbol everything at first, then only what has changed. */
async function quotes(brokerage: BrokerageView, { request }: StreamCall): Promise<Begin> {
  const listed = listIn(texts(request.params).symbols, SYMBOLS_MAX, 'symbols')
  const found = listed.map(text => ({ text, instrument: findInstrument(brokerage, text) }))
  await brokerage.contracts.bring(found.flatMap(({ instrument }) => instrument?.symbol ?? []))
  return async stream => {
    for (const { text, instrument } of found) {
      if (instrument === null) stream.send({ Symbol: text.slice(0, 40), Error: 'FAILED, INVALID SYMBOL' })
      else await followQuote(brokerage, instrument, text, stream)
    }
  }
}

/** `text`: the name that was asked for. */
async function followQuote(brokerage: BrokerageView, instrument: Instrument, text: string, stream: LineStream): Promise<void> {
  const { state, market, clock, driver, taps } = brokerage
  const { symbol, exchange } = instrument
  const now = clock.now()
  const [today] = await market.bars({ symbol, interval: '1d', from: now - DAYS_BACK, to: now + 1, now, limit: 1 })
  const last = state.engine.market(symbol)?.mark ?? today?.close ?? '0'
  let volume = today?.volume ?? ZERO
  let shown: Readonly<Record<string, string>> = {
    ...{ Symbol: text, Last: last, LastSize: '0', LastVenue: exchange, TradeTime: timeOf(now), Volume: volume },
    ...bookOf(driver.lastQuote(symbol))
  }
  stream.send(shown)
  const change = (fields: Readonly<Record<string, string>>) => {
    const changes = Object.entries(fields).filter(([name, value]) => shown[name] !== value)
    shown = { ...shown, ...fields }
    if (changes.length > 0) stream.event({ Symbol: text, ...Object.fromEntries(changes) })
  }
  const trade = ({ at, price, size, effect, venue }: FeedTrade) => {
    volume = plus(volume, parseDecimal(size, 'size'))
    const print = { Last: price, LastSize: size, LastVenue: venue ?? printVenue(instrument, { at, price, size }), TradeTime: timeOf(at) }
    change({ Volume: volume, ...(effect === 'volume' ? {} : print) })
  }
  stream.hold(taps.add(symbol, { quote: quote => change(bookOf(quote)), trade }))
}

function bookOf(quote: QuoteCommand | undefined) {
  const [[bid, bidSize] = ['0', '0'], [ask, askSize] = ['0', '0']] = [quote?.bids[0], quote?.asks[0]]
  return { Ask: ask, AskSize: askSize, Bid: bid, BidSize: bidSize }
}

/** The whole order book by price, with every change. */
async function depth(brokerage: BrokerageView, call: StreamCall): Promise<Begin> {
  const most = bodyOf(texts(call.request.query)).countOr('maxlevels', 1, LEVELS_MAX) ?? LEVELS_MAX
  const instrument = await requestedInstrument(brokerage, call)
  const rows = (side: 'bid' | 'ask', { at, ...book }: QuoteCommand) =>
    describedLevels(instrument, side, book[`${side}s`].slice(0, most)).map(({ price, size, orders }) => {
      return { LatestTime: timeOf(at), Price: price, TotalSize: size, TotalOrderCount: orders }
    })
  return stream => {
    const quote = (book: QuoteCommand) => stream.event({ Bids: rows('bid', book), Asks: rows('ask', book) })
    stream.hold(brokerage.taps.add(instrument.symbol, { quote }))
  }
}

/** Row by row as the contracts change. */
async function optionChain(brokerage: BrokerageView, call: StreamCall): Promise<Begin> {
  const chain = chainOf(brokerage, call)
  if (chain.length === 0) bad('No options expire on that day')
  await brokerage.contracts.bring(chain.map(({ symbol }) => symbol))
  return stream => {
    const moved = new Set(chain)
    const sent = new Map<Instrument, string>()
    for (const instrument of chain) {
      const move = () => void moved.add(instrument)
      stream.hold(brokerage.taps.add(instrument.symbol, { quote: move, trade: move }))
    }
    const emit = () => {
      for (const instrument of moved) {
        const row = rowOf(brokerage, instrument)
        const text = JSON.stringify(row)
        if (sent.get(instrument) !== text) stream.event(row)
        sent.set(instrument, text)
      }
      moved.clear()
    }
    emit()
    stream.onTick = emit
  }
}

const FIGURES = {
  ...({ Delta: 'delta', Theta: 'theta', Gamma: 'gamma', Rho: 'rho', Vega: 'vega' } as const),
  ...({ ImpliedVolatility: 'iv', Open: 'open', High: 'high', Low: 'low' } as const)
}

/** What is not known counts as zero, as at TradeStation. */
function rowOf({ market, clock, driver }: BrokerageView, { symbol, option }: Instrument): object {
  const figures = market.figures(symbol, clock.now())
  const book = bookOf(driver.lastQuote(symbol))
  const [last, previousClose] = [figures?.last ?? ZERO, figures?.previousClose ?? ZERO]
  const both = plus(parseDecimal(book.Bid, 'bid'), parseDecimal(book.Ask, 'ask'))
  return {
    ...Object.fromEntries(Object.entries(FIGURES).map(([name, figure]) => [name, figures?.[figure] ?? ZERO])),
    ...{ ...book, AskSize: Math.floor(Number(book.AskSize)), BidSize: Math.floor(Number(book.BidSize)) },
    Mid: dividedBy(both, parseDecimal('2', 'two'), PLACES),
    ...{ Last: last, Close: figures?.close ?? last, PreviousClose: previousClose, NetChange: minus(last, previousClose) },
    Volume: Math.floor(Number(figures?.volume ?? '0')),
    Legs: [{ Symbol: shownSymbol(symbol), StrikePrice: option?.strike ?? '0' }]
  }
}
