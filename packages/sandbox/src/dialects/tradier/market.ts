/**
 * Market data: quotes, chains, bars, searches and the clock over REST, in the fields that an adapter reads; quotes and prints as a stream.
 */

import { daysAfter, midnight } from '@trunkline/core/domain/calendar/index'
import type { Body } from '../frame/body.ts'
import {
  type Bar,
  type BarInterval,
  daysOf,
  type FeedTrade,
  firstBars,
  type Instrument,
  type Micros,
  NEW_YORK,
  newYorkDate,
  printVenue,
  type QuoteCommand,
  type QuoteLevel
} from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import type { Call, DialectRoute } from '../frame/router.ts'
import { texts } from '../frame/sign-in.ts'
import { fromTradier, toTradier } from './account.ts'
import { bad, fieldsOf, listed, plain, route } from './answers.ts'
import { Streams } from './streams.ts'

const SYMBOLS_MAX = 2_000
const FOUND_MAX = 100
/** A little more than the minutes of the longest window. */
const BARS_MAX = 30_000
/** How far back each interval goes, in days of all hours. */
const MINUTES = { '1min': ['1m', 10], '5min': ['5m', 18], '15min': ['15m', 18] } as const satisfies Record<
  string,
  readonly [BarInterval, number]
>
/** Exchanges by Tradier's letters. */
const LETTERS: Readonly<Record<string, string>> = { NASDAQ: 'Q', NYSE: 'N', ARCA: 'P', AMEX: 'A', BATS: 'Z', IEX: 'V', OPRA: 'Z' }
const dayOf = daysOf(NEW_YORK)

export function marketRoutes(brokerage: BrokerageView): readonly DialectRoute[] {
  const about: DialectRoute['about'] = ({ query }) => {
    const { symbol } = texts(query)
    return { symbol: symbol === undefined ? null : fromTradier(symbol), clientOrderId: null }
  }
  const path = '/markets'
  return [
    // By POST for lists that are too long for an address.
    ...(['GET', 'POST'] as const).map(method => route(method, `${path}/quotes`, 'quotes.list', call => quotes(brokerage, call))),
    route('GET', `${path}/history`, 'bars.list', call => days(brokerage, call), about),
    route('GET', `${path}/timesales`, 'bars.list', call => minutes(brokerage, call), about),
    route('GET', `${path}/options/chains`, 'chain.list', call => chain(brokerage, call), about),
    route('GET', `${path}/options/expirations`, 'expirations.list', call => expirations(brokerage, call), about),
    route('GET', `${path}/clock`, 'clock.get', () => clock(brokerage)),
    ...['search', 'lookup'].map(by => route('GET', `${path}/${by}`, 'instruments.list', call => find(brokerage, call, by === 'search')))
  ]
}

async function quotes(brokerage: BrokerageView, call: Call): Promise<object> {
  const { method, query, body } = call.request
  const requested = [...new Set(fieldsOf(method === 'GET' ? query : body).listOr('symbols') ?? [])]
  if (requested.length === 0 || requested.length > SYMBOLS_MAX) bad('symbols', `1 to ${SYMBOLS_MAX} symbols`)
  const known = requested.flatMap(symbol => tradable(brokerage, symbol) ?? [])
  const quote = call.fault?.do === 'empty' ? [] : await quotesOf(brokerage, known)
  const names = new Set(known.map(({ symbol }) => symbol))
  const symbol = requested.filter(name => !names.has(fromTradier(name)))
  const unmatched = symbol.length === 0 ? {} : { unmatched_symbols: { symbol } }
  return { quotes: { ...(quote.length === 0 ? {} : { quote }), ...unmatched } }
}

async function chain(brokerage: BrokerageView, call: Call): Promise<object> {
  const { market, clock } = brokerage
  const query = fieldsOf(call.request.query)
  const read = (text: string) => /^\d{4}-\d{2}-\d{2}$/.exec(text)?.[0]
  const expiration = query.readOr('expiration', 'must be a date such as 2026-12-18', read) ?? bad('expiration', 'is required')
  const now = clock.now()
  const found = market.chain(fromTradier(query.text('symbol')), expiration, now)
  const quotes = await quotesOf(brokerage, found)
  const option = found.map(({ symbol }, nth) => ({ ...quotes[nth], greeks: greeksOf(market.figures(symbol, now)) }))
  return listed(call, 'options', 'option', option)
}

function expirations({ market, clock }: BrokerageView, call: Call): object {
  const symbol = fromTradier(fieldsOf(call.request.query).text('symbol'))
  return listed(call, 'expirations', 'date', market.expirations(symbol, clock.now()))
}

/** By the beginning of the symbol, or (`byName`) by parts of the name too. */
function find({ market }: BrokerageView, call: Call, byName: boolean): object {
  const { q = '' } = texts(call.request.query)
  const isMeant = ({ symbol, name }: Instrument) =>
    symbol.startsWith(fromTradier(q)) || (byName && name.toLowerCase().includes(q.trim().toLowerCase()))
  const found = market.instruments.filter(one => one.kind === 'STK' && isMeant(one)).slice(0, FOUND_MAX)
  const rows = found.map(one => ({ ...described(one), exchange: LETTERS[one.exchange.toUpperCase()] ?? 'Q' }))
  return listed(call, 'securities', 'security', rows)
}

function clock({ clock, market }: BrokerageView): object {
  const now = clock.now()
  const { phase } = market.phaseAt('us-equity', now)
  const state = phase === 'pre' || phase === 'post' ? `${phase}market` : phase
  return { clock: { date: newYorkDate(now), state, timestamp: Math.floor(now / 1_000_000) } }
}

/** Days of the regular session. */
async function days(brokerage: BrokerageView, call: Call): Promise<object> {
  const query = fieldsOf(call.request.query)
  query.member('interval', ['daily'])
  const end = timeIn(query, 'end')
  const found = await barsOf(brokerage, query, '1d', { from: timeIn(query, 'start') ?? 0, to: end === null ? null : dayOf(end).end })
  return listed(
    call,
    'history',
    'day',
    found.map(bar => ({ date: newYorkDate(bar.start), ...pricesOf(bar) }))
  )
}

/** Minutes of all hours. */
async function minutes(brokerage: BrokerageView, call: Call): Promise<object> {
  const query = fieldsOf(call.request.query)
  const [interval, back] = MINUTES[query.member('interval', ['1min', '5min', '15min'])]
  const today = newYorkDate(brokerage.clock.now())
  const oldest = daysAfter(today, -back)
  const from = timeIn(query, 'start') ?? dayStart(today)
  if (from < dayStart(oldest)) bad('start', `must be on or after ${oldest} 00:00`)
  const found = await barsOf(brokerage, query, interval, { from, to: timeIn(query, 'end') })
  const data = found.map(bar => ({ time: localText(bar.start), timestamp: Math.floor(bar.start / 1_000_000), ...pricesOf(bar) }))
  return listed(call, 'series', 'data', data)
}

/** There are none of what does not exist. */
async function barsOf(
  { contracts, market, clock }: BrokerageView,
  query: Body,
  interval: BarInterval,
  { from, to }: { readonly from: Micros; readonly to: Micros | null }
): Promise<readonly Bar[]> {
  const symbol = fromTradier(query.text('symbol'))
  const now = clock.now()
  return contracts.find(symbol) === null ? [] : await firstBars(market, { symbol, interval, from, to: to ?? now + 1, now }, BARS_MAX)
}

function pricesOf({ open, high, low, close, volume }: Bar): object {
  const prices = { open: plain(open), high: plain(high), low: plain(low), close: plain(close) }
  return { ...prices, volume: Math.floor(Number(volume)) }
}

/** `2026-11-03 09:30`, or a date alone, in New York. */
function timeIn(query: Body, name: string): Micros | null {
  return query.readOr(name, 'must be a time such as 2026-11-03 09:30', text => {
    try {
      return Temporal.PlainDateTime.from(text.replace(' ', 'T')).toZonedDateTime(NEW_YORK).epochMilliseconds * 1_000
    } catch {
      return undefined
    }
  })
}

function dayStart(date: string): Micros {
  return midnight(date, NEW_YORK) * 1_000
}

/** `2026-11-03T09:30:00`, without a zone. */
function localText(at: Micros): string {
  const local = Temporal.Instant.fromEpochMilliseconds(Math.floor(at / 1_000)).toZonedDateTimeISO(NEW_YORK)
  return local.toPlainDateTime().toString({ smallestUnit: 'second' })
}

/** Shares and options; null for anything else. */
function tradable({ contracts }: BrokerageView, text: string): Instrument | null {
  const found = contracts.find(fromTradier(text))
  return found?.kind === 'STK' || found?.kind === 'OPT' ? found : null
}

async function quotesOf(brokerage: BrokerageView, found: readonly Instrument[]): Promise<readonly object[]> {
  await brokerage.contracts.bring(found.map(({ symbol }) => symbol))
  return found.map(instrument => {
    const { symbol, option } = instrument
    const quote = brokerage.driver.lastQuote(symbol)
    const [bid, ask] = [quote?.bids[0], quote?.asks[0]]
    const at = Math.floor((quote?.at ?? 0) / 1_000)
    const sizes = { bidsize: sizeOf(instrument, bid), asksize: sizeOf(instrument, ask) }
    const book = { bid: plain(bid?.[0]), ask: plain(ask?.[0]), ...sizes, bid_date: at, ask_date: at }
    const own = { ...described(instrument), ...book }
    if (option === undefined) return { ...own, last: plain(brokerage.state.engine.market(symbol)?.mark), trade_date: at }
    const { open, high, low, last, close, previousClose, volume } = brokerage.market.figures(symbol, brokerage.clock.now()) ?? {}
    const prices = { open: plain(open), high: plain(high), low: plain(low), close: plain(close), last: plain(last) }
    const contract = { underlying: toTradier(option.underlying), option_type: option.right, strike: plain(option.strike) }
    return {
      ...own,
      ...prices,
      ...contract,
      expiration_date: option.expiration,
      prevclose: plain(previousClose),
      volume: Number(volume ?? 0)
    }
  })
}

function described({ symbol, exchange, name, kind }: Instrument) {
  const type = kind === 'OPT' ? 'option' : exchange === 'ARCA' ? 'etf' : 'stock'
  return { symbol: toTradier(symbol), description: name, type }
}

/** Null where the model has no value. */
function greeksOf(figures: ReturnType<BrokerageView['market']['figures']>): object | null {
  if (figures === null || figures.delta === null) return null
  const { delta, gamma, theta, vega, rho, iv: mid_iv } = figures
  return Object.fromEntries(Object.entries({ delta, gamma, theta, vega, rho, mid_iv }).map(([name, value]) => [name, plain(value)]))
}

/** In round lots for shares; a smaller size counts as one. */
function sizeOf({ kind }: Instrument, [, size = '0']: QuoteLevel | readonly [] = []): number {
  const count = Number(size)
  return kind === 'OPT' || count === 0 ? Math.floor(count) : Math.max(1, Math.floor(count / 100))
}

const STREAM_SYMBOLS_MAX = 5_000
const DAY_MS = 86_400_000

/** Quotes and prints of the symbols that were asked for last. */
export function marketStream(brokerage: BrokerageView): Streams {
  return new Streams(brokerage, {
    ...{ path: '/tradier/ws/v1/markets/events', waitingMax: 4 * 1024 * 1024, garbled: '{"type":"quo' },
    begin: connection => {
      const taken = new Map<string, Disposable>()
      const drop = (symbol: string) => {
        taken.get(symbol)?.[Symbol.dispose]()
        taken.delete(symbol)
      }
      return {
        receive: ({ symbols }) => {
          if (!Array.isArray(symbols) || symbols.length === 0) return 'symbols are missing'
          if (symbols.length > STREAM_SYMBOLS_MAX) return `at most ${STREAM_SYMBOLS_MAX} symbols`
          const wanted = new Map(symbols.flatMap(text => tradable(brokerage, String(text)) ?? []).map(one => [one.symbol, one]))
          for (const symbol of taken.keys()) if (!wanted.has(symbol)) drop(symbol)
          for (const [symbol, instrument] of wanted)
            if (!taken.has(symbol))
              taken.set(
                symbol,
                follow(brokerage, instrument, frame => connection.event(`${JSON.stringify(frame)}\n`))
              )
          return null
        },
        [Symbol.dispose]: () => [...taken.keys()].forEach(drop)
      }
    }
  })
}

/** Prices of quotes are numbers, all else is text. @throws Problem when the sandbox follows too many contracts already */
function follow({ taps }: BrokerageView, instrument: Instrument, out: (frame: object) => void): Disposable {
  const symbol = toTradier(instrument.symbol)
  const millis = (at: Micros) => String(Math.floor(at / 1_000))
  let seq = 0
  const quote = ({ bids: [bid], asks: [ask], at }: QuoteCommand) => {
    const sizes = { bidsz: sizeOf(instrument, bid), biddate: millis(at), asksz: sizeOf(instrument, ask), askdate: millis(at) }
    out({ type: 'quote', symbol, bid: plain(bid?.[0] ?? '0'), ask: plain(ask?.[0] ?? '0'), ...sizes })
  }
  const trade = (print: FeedTrade) => {
    const { price, size, at, effect, venue } = print
    // Only what sets a price, as it is asked for.
    if (effect === 'volume') return
    // Milliseconds of the day, so that it goes on growing when a reader comes back.
    seq = Math.max(seq + 1, Math.floor(at / 1_000) % DAY_MS)
    const exch = LETTERS[(venue ?? printVenue(instrument, print)).toUpperCase()] ?? 'Q'
    out({ type: 'timesale', symbol, exch, last: price, size, date: millis(at), seq, cancel: false, correction: false })
  }
  return taps.add(instrument.symbol, { trade, quote })
}
