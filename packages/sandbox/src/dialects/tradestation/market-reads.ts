/** Market data over REST: bars, quotes, symbols, and the lists that option chains are asked for by. */

import { compare, isDecimal } from '@trunkline/core/domain/decimal'
import type { Answer } from '../../house/api/outlet.ts'
import type { DialectHouse } from '../../house/dialect.ts'
import { Problem } from '../../house/problems.ts'
import type { Call, DialectRoute } from '../frame/router.ts'
import { texts } from '../frame/sign-in.ts'
import { framingOf } from './bar-frames.ts'
import { pastBars } from './bar-history.ts'
import { barsAsked, mostOf } from './bar-request.ts'
import { barWire } from './bar-wire.ts'
import { expirationAsked, expirationWire } from './expirations.ts'
import { findInstrument, instrumentAsked, symbolsListed } from './listing.ts'
import { SYMBOLS_MAX } from './quote-stream.ts'
import { Quote } from './quotes.ts'
import { symbolWire } from './symbol-wire.ts'
import { meantSymbols, shownSymbol, underlyingOf } from './symbols.ts'
import { json } from './tongue.ts'

const DETAILS_MAX = 50

export function marketReads(house: DialectHouse): readonly DialectRoute[] {
  const path = '/marketdata'
  const about = ({ params }: { readonly params: unknown }) => {
    const { symbol = '' } = texts(params)
    return { symbol: meantSymbols(symbol)[0] ?? symbol, clientOrderId: null }
  }
  return [
    { method: 'GET', path: `${path}/barcharts/:symbol`, operation: 'bars.list', about, act: call => bars(house, call) },
    { method: 'GET', path: `${path}/quotes/:symbols`, operation: 'quotes.list', act: call => quotes(house, call) },
    { method: 'GET', path: `${path}/symbols/:symbols`, operation: 'instruments.list', act: call => symbols(house, call) },
    {
      method: 'GET',
      path: `${path}/symbollists/cryptopairs/symbolnames`,
      operation: 'instruments.list',
      act: () =>
        json({ SymbolNames: house.market.instruments.filter(({ kind }) => kind === 'CRYPTO').map(({ symbol }) => shownSymbol(symbol)) })
    },
    {
      method: 'GET',
      path: `${path}/options/expirations/:underlying`,
      operation: 'expirations.list',
      act: call => expirations(house, call)
    },
    { method: 'GET', path: `${path}/options/strikes/:underlying`, operation: 'chain.list', act: call => strikes(house, call) },
    {
      method: 'GET',
      path: `${path}/options/spreadtypes`,
      operation: 'instruments.list',
      act: () => json({ SpreadTypes: [{ Name: 'Single', StrikeInterval: false, ExpirationInterval: false }] })
    }
  ]
}

async function bars(house: DialectHouse, { request, fault }: Call): Promise<Answer> {
  const instrument = await instrumentAsked(house, texts(request.params).symbol ?? '')
  const now = house.clock.now()
  const asked = barsAsked(texts(request.query), now)
  if (fault?.do === 'empty') return json({ Bars: [] })
  const span = { from: asked.from, to: asked.to, now, most: mostOf(asked) }
  const found = await pastBars(house.market, instrument, framingOf(instrument, asked.interval), span)
  const last = found.at(-1)
  return json({
    Bars: found.map(bar =>
      barWire(bar, { isClosed: bar.frame.over <= now, isRealtime: false, isEndOfHistory: asked.barsBack !== null && bar === last })
    )
  })
}

async function quotes(house: DialectHouse, { request, fault }: Call): Promise<Answer> {
  const listed = symbolsListed(texts(request.params).symbols ?? '', SYMBOLS_MAX).map(text => ({
    text,
    instrument: findInstrument(house, text)
  }))
  const missing = listed
    .filter(({ instrument }) => instrument === null)
    .map(({ text }) => ({ Symbol: text.slice(0, 40), Error: 'FAILED, INVALID SYMBOL' }))
  if (fault?.do === 'empty') return json({ Quotes: [], Errors: missing })
  await house.contracts.bring(listed.flatMap(({ instrument }) => (instrument === null ? [] : [instrument.symbol])))
  const found: object[] = []
  for (const { instrument } of listed) if (instrument !== null) found.push((await Quote.of(house, instrument)).wire('percent'))
  return json({ Quotes: found, Errors: missing })
}

function symbols(house: DialectHouse, { request }: Call): Answer {
  const listed = symbolsListed(texts(request.params).symbols ?? '', DETAILS_MAX).map(text => findInstrument(house, text) ?? text)
  return json({
    Symbols: listed.filter(item => typeof item === 'object').map(symbolWire),
    Errors: listed
      .filter(item => typeof item === 'string')
      .map(text => ({ Symbol: text.slice(0, 40), Error: 'Failed', Message: 'Invalid symbol' }))
  })
}

function expirations(house: DialectHouse, { request, fault }: Call): Answer {
  const underlying = underlyingOf(texts(request.params).underlying ?? '')
  const { strikePrice } = texts(request.query)
  const { market, clock } = house
  const all = market.expirations(underlying, clock.now())
  const wanted =
    strikePrice === undefined
      ? all
      : all.filter(expiration =>
          market.chain(underlying, expiration, clock.now()).some(({ option }) => isStrike(option?.strike, strikePrice))
        )
  return json({ Expirations: fault?.do === 'empty' ? [] : wanted.map(expirationWire) })
}

export function isStrike(strike: string | undefined, asked: string): boolean {
  return isDecimal(strike) && isDecimal(asked) && compare(strike, asked) === 0
}

function strikes(house: DialectHouse, { request, fault }: Call): Answer {
  const underlying = underlyingOf(texts(request.params).underlying ?? '')
  const query = texts(request.query)
  if ((query.spreadType ?? 'Single') !== 'Single')
    throw new Problem('bad_request', 'Only the spreadType Single is emulated by this sandbox', { status: 501 })
  const expiration = expirationAsked(house, underlying, query.expiration)
  const chain = fault?.do === 'empty' ? [] : house.market.chain(underlying, expiration, house.clock.now())
  const found = [...new Set(chain.map(({ option }) => option?.strike ?? ''))]
  return json({ SpreadType: 'Single', Strikes: found.map(strike => [strike]) })
}
