/** Quotes of shares and options in Tradier's fields. */

import { dividedBy, isZero, minus, parseDecimal, times } from '@trunkline/core/domain/decimal'
import type { Answer } from '../../../brokerage/api/response-writer.ts'
import type { DialectBrokerage } from '../../../brokerage/dialect.ts'
import type { QuoteCommand, QuoteLevel } from '../../../engine/types.ts'
import type { Instrument, OptionFigures } from '../../../market/types.ts'
import type { Call } from '../../frame/router.ts'
import { texts } from '../../frame/sign-in.ts'
import { answer } from '../answers.ts'
import { bad, isTrue } from '../parameters.ts'
import { fromTradier, toTradier } from '../symbols.ts'
import { type Branch, type Figure, figure, plain, type Tree } from '../tree.ts'
import type { Greeks } from './greeks.ts'
import type { Day, Tape } from './tape.ts'
import { CONTRACT_SIZE, expirationType, rootOf } from './terms.ts'
import { venueOf } from './venues.ts'

export interface QuotesDeps {
  readonly brokerage: DialectBrokerage
  readonly tape: Tape
  readonly greeks: Greeks
}

const SYMBOLS_MAX = 2_000
const ONE = parseDecimal('1', 'one')
const HUNDRED = parseDecimal('100', 'hundred')
/** Tradier counts the sizes of quotes in round lots. */
const LOT = 100

/** By GET with a query, by POST with a form, for lists that are too long for an address. */
export async function quotes(deps: QuotesDeps, call: Call): Promise<Answer> {
  const fields = texts(call.request.method === 'GET' ? call.request.query : call.request.body)
  const requested = [...new Set((fields.symbols ?? '').split(',').filter(symbol => symbol.trim() !== ''))]
  if (requested.length === 0 || requested.length > SYMBOLS_MAX) bad('symbols', `1 to ${SYMBOLS_MAX} symbols`)
  const symbols = requested.map(fromTradier)
  const known = symbols.map(symbol => deps.brokerage.contracts.find(symbol)).filter(isTradiers)
  await deps.brokerage.contracts.bring(known.map(({ symbol }) => symbol))
  const found =
    call.fault?.do === 'empty' ? [] : await Promise.all(known.map(instrument => quoteTree(deps, instrument, isTrue(fields.greeks))))
  const names = new Set(known.map(({ symbol }) => symbol))
  const unmatched = requested.filter((_, nth) => !names.has(symbols[nth] ?? ''))
  return answer(call.request, {
    quotes: {
      ...(found.length === 0 ? {} : { quote: found }),
      ...(unmatched.length === 0 ? {} : { unmatched_symbols: { symbol: unmatched } })
    }
  })
}

export function isTradiers(instrument: Instrument | null): instrument is Instrument {
  return instrument?.kind === 'STK' || instrument?.kind === 'OPT'
}

export async function quoteTree(deps: QuotesDeps, instrument: Instrument, withGreeks: boolean): Promise<Branch> {
  const { brokerage } = deps
  const { symbol, option } = instrument
  const quote = brokerage.driver.lastQuote(symbol)
  if (option !== undefined) return optionTree(deps, instrument, quote, withGreeks)
  const view = brokerage.state.engine.market(symbol)
  const day = await deps.tape.day(symbol)
  const isBefore = view?.phase === 'pre'
  return {
    ...headOf(instrument, day),
    type: instrument.exchange === 'ARCA' ? 'etf' : 'stock',
    open: isBefore ? null : plain(day.open),
    high: isBefore ? null : plain(day.high),
    low: isBefore ? null : plain(day.low),
    close: view?.phase === 'open' || isBefore ? null : plain(day.last),
    ...bookOf(instrument, quote),
    week_52_high: plain(day.high ?? day.last),
    week_52_low: plain(day.low ?? day.last),
    root_symbols: toTradier(symbol).replace('/', '')
  }
}

function headOf(instrument: Instrument, day: Day): Branch {
  const { previousClose } = day
  const { change, percentage } = changeOf(day)
  return {
    symbol: toTradier(instrument.symbol),
    description: instrument.name,
    exch: venueOf(instrument.exchange),
    last: plain(day.last),
    change,
    change_percentage: percentage,
    volume: day.volume,
    average_volume: 0,
    last_volume: day.lastSize,
    trade_date: Math.floor(day.lastAt / 1000),
    prevclose: plain(previousClose)
  }
}

/** Against the close before, to the cent and to the hundredth of a percent. */
export function changeOf({ last, previousClose }: Pick<Day, 'last' | 'previousClose'>): {
  readonly change: Figure | null
  readonly percentage: Figure | null
} {
  if (last === null || previousClose === null) return { change: null, percentage: null }
  const before = parseDecimal(previousClose, 'close')
  const change = minus(parseDecimal(last, 'last'), before)
  const percentage = isZero(before) ? null : figure(dividedBy(times(change, HUNDRED), before, 2), 2)
  return { change: figure(dividedBy(change, ONE, 2), 2), percentage }
}

function bookOf({ exchange, kind }: Instrument, quote: QuoteCommand | undefined): Branch {
  const at = Math.floor((quote?.at ?? 0) / 1000)
  const size = (level: QuoteLevel | undefined) => sizeOf(level, kind === 'OPT')
  return {
    bid: plain(quote?.bids[0]?.[0] ?? null),
    bidsize: size(quote?.bids[0]),
    bidexch: venueOf(exchange),
    bid_date: at,
    ask: plain(quote?.asks[0]?.[0] ?? null),
    asksize: size(quote?.asks[0]),
    askexch: venueOf(exchange),
    ask_date: at
  }
}

/** In hundreds for shares; a smaller size counts as one. */
export function sizeOf(level: QuoteLevel | undefined, isOption: boolean): number {
  const size = Number(level?.[1] ?? 0)
  return isOption || size === 0 ? Math.floor(size) : Math.max(1, Math.floor(size / LOT))
}

function optionTree(
  { brokerage, greeks }: QuotesDeps,
  instrument: Instrument,
  quote: QuoteCommand | undefined,
  withGreeks: boolean
): Branch {
  const { symbol, option } = instrument
  if (option === undefined) throw new Error(`${symbol} is no option`)
  const figures = brokerage.market.figures(symbol, brokerage.clock.now())
  return {
    ...headOf(instrument, dayFrom(figures, quote)),
    type: 'option',
    open: plain(figures?.open),
    high: plain(figures?.high),
    low: plain(figures?.low),
    close: plain(figures?.close),
    underlying: toTradier(option.underlying),
    strike: plain(option.strike),
    ...bookOf(instrument, quote),
    open_interest: Number(figures?.openInterest ?? 0),
    contract_size: CONTRACT_SIZE,
    expiration_date: option.expiration,
    expiration_type: expirationType(option.expiration),
    option_type: option.right,
    root_symbol: rootOf(symbol),
    ...(withGreeks ? { greeks: greeks.of(symbol) } : {})
  } satisfies Record<string, Tree>
}

function dayFrom(figures: OptionFigures | null, quote: QuoteCommand | undefined): Day {
  const volume = Number(figures?.volume ?? 0)
  return {
    open: null,
    high: null,
    low: null,
    last: figures?.last ?? null,
    lastSize: 0,
    lastAt: volume > 0 ? (quote?.at ?? 0) : 0,
    lastVenue: null,
    previousClose: figures?.previousClose ?? null,
    volume
  }
}
