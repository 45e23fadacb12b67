/** Market data over REST: bars, quotes, symbols, and the lists that option chains are asked for by. */

import { compare, isDecimal } from '@trunkline/core/domain/decimal'
import type { Answer } from '../../brokerage/api/response-writer.ts'
import type { DialectBrokerage } from '../../brokerage/dialect.ts'
import { Problem } from '../../brokerage/problems.ts'
import type { Call, DialectRoute } from '../frame/router.ts'
import { texts } from '../frame/sign-in.ts'
import { framingOf } from './bar-frames.ts'
import { pastBars } from './bar-history.ts'
import { mostOf, requestedBars } from './bar-request.ts'
import { barWire } from './bar-wire.ts'
import { expirationWire, requestedExpiration } from './expirations.ts'
import { findInstrument, requestedInstrument, symbolsListed } from './listing.ts'
import { json } from './protocol.ts'
import { SYMBOLS_MAX } from './quote-stream.ts'
import { Quote } from './quotes.ts'
import { symbolWire } from './symbol-wire.ts'
import { meantSymbols, shownSymbol, underlyingOf } from './symbols.ts'

const DETAILS_MAX = 50

export function marketReads(brokerage: DialectBrokerage): readonly DialectRoute[] {
  const path = '/marketdata'
  const about = ({ params }: { readonly params: unknown }) => {
    const { symbol = '' } = texts(params)
    return { symbol: meantSymbols(symbol)[0] ?? symbol, clientOrderId: null }
  }
  return [
    { method: 'GET', path: `${path}/barcharts/:symbol`, operation: 'bars.list', about, handle: call => bars(brokerage, call) },
    { method: 'GET', path: `${path}/quotes/:symbols`, operation: 'quotes.list', handle: call => quotes(brokerage, call) },
    { method: 'GET', path: `${path}/symbols/:symbols`, operation: 'instruments.list', handle: call => symbols(brokerage, call) },
    {
      method: 'GET',
      path: `${path}/symbollists/cryptopairs/symbolnames`,
      operation: 'instruments.list',
      handle: () =>
        json({ SymbolNames: brokerage.market.instruments.filter(({ kind }) => kind === 'CRYPTO').map(({ symbol }) => shownSymbol(symbol)) })
    },
    {
      method: 'GET',
      path: `${path}/options/expirations/:underlying`,
      operation: 'expirations.list',
      handle: call => expirations(brokerage, call)
    },
    { method: 'GET', path: `${path}/options/strikes/:underlying`, operation: 'chain.list', handle: call => strikes(brokerage, call) },
    {
      method: 'GET',
      path: `${path}/options/spreadtypes`,
      operation: 'instruments.list',
      handle: () => json({ SpreadTypes: [{ Name: 'Single', StrikeInterval: false, ExpirationInterval: false }] })
    }
  ]
}

async function bars(brokerage: DialectBrokerage, { request, fault }: Call): Promise<Answer> {
  const instrument = await requestedInstrument(brokerage, texts(request.params).symbol ?? '')
  const now = brokerage.clock.now()
  const requested = requestedBars(texts(request.query), now)
  if (fault?.do === 'empty') return json({ Bars: [] })
  const span = { from: requested.from, to: requested.to, now, most: mostOf(requested) }
  const found = await pastBars(brokerage.market, instrument, framingOf(instrument, requested.interval), span)
  const last = found.at(-1)
  return json({
    Bars: found.map(bar =>
      barWire(bar, { isClosed: bar.frame.over <= now, isRealtime: false, isEndOfHistory: requested.barsBack !== null && bar === last })
    )
  })
}

async function quotes(brokerage: DialectBrokerage, { request, fault }: Call): Promise<Answer> {
  const listed = symbolsListed(texts(request.params).symbols ?? '', SYMBOLS_MAX).map(text => ({
    text,
    instrument: findInstrument(brokerage, text)
  }))
  const missing = listed
    .filter(({ instrument }) => instrument === null)
    .map(({ text }) => ({ Symbol: text.slice(0, 40), Error: 'FAILED, INVALID SYMBOL' }))
  if (fault?.do === 'empty') return json({ Quotes: [], Errors: missing })
  await brokerage.contracts.bring(listed.flatMap(({ instrument }) => (instrument === null ? [] : [instrument.symbol])))
  const found: object[] = []
  for (const { instrument } of listed) if (instrument !== null) found.push((await Quote.of(brokerage, instrument)).wire('percent'))
  return json({ Quotes: found, Errors: missing })
}

function symbols(brokerage: DialectBrokerage, { request }: Call): Answer {
  const listed = symbolsListed(texts(request.params).symbols ?? '', DETAILS_MAX).map(text => findInstrument(brokerage, text) ?? text)
  return json({
    Symbols: listed.filter(item => typeof item === 'object').map(symbolWire),
    Errors: listed
      .filter(item => typeof item === 'string')
      .map(text => ({ Symbol: text.slice(0, 40), Error: 'Failed', Message: 'Invalid symbol' }))
  })
}

function expirations(brokerage: DialectBrokerage, { request, fault }: Call): Answer {
  const underlying = underlyingOf(texts(request.params).underlying ?? '')
  const { strikePrice } = texts(request.query)
  const { market, clock } = brokerage
  const all = market.expirations(underlying, clock.now())
  const wanted =
    strikePrice === undefined
      ? all
      : all.filter(expiration =>
          market.chain(underlying, expiration, clock.now()).some(({ option }) => isStrike(option?.strike, strikePrice))
        )
  return json({ Expirations: fault?.do === 'empty' ? [] : wanted.map(expirationWire) })
}

export function isStrike(strike: string | undefined, requested: string): boolean {
  return isDecimal(strike) && isDecimal(requested) && compare(strike, requested) === 0
}

function strikes(brokerage: DialectBrokerage, { request, fault }: Call): Answer {
  const underlying = underlyingOf(texts(request.params).underlying ?? '')
  const query = texts(request.query)
  if ((query.spreadType ?? 'Single') !== 'Single')
    throw new Problem('bad_request', 'Only the spreadType Single is emulated by this sandbox', { status: 501 })
  const expiration = requestedExpiration(brokerage, underlying, query.expiration)
  const chain = fault?.do === 'empty' ? [] : brokerage.market.chain(underlying, expiration, brokerage.clock.now())
  const found = [...new Set(chain.map(({ option }) => option?.strike ?? ''))]
  return json({ SpreadType: 'Single', Strikes: found.map(strike => [strike]) })
}
