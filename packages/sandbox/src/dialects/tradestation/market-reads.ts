/** Market data over REST: bars, symbols, expirations and strikes. */

import { type Answer, Problem } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import type { Call, DialectRoute } from '../frame/router.ts'
import { texts } from '../frame/sign-in.ts'
import { barWire, pastBars, requestedBars } from './bars.ts'
import { expirationWire, requestedExpiration } from './expirations.ts'
import { findInstrument, requestedInstrument, symbolsListed } from './listing.ts'
import { json } from './protocol.ts'
import { symbolWire } from './symbol-wire.ts'
import { meantSymbols, underlyingOf } from './symbols.ts'

const DETAILS_MAX = 50

export function marketReads(brokerage: BrokerageView): readonly DialectRoute[] {
  const path = '/marketdata'
  const about = ({ params }: { readonly params: unknown }) => {
    const { symbol = '' } = texts(params)
    return { symbol: meantSymbols(symbol)[0] ?? symbol, clientOrderId: null }
  }
  return [
    { method: 'GET', path: `${path}/barcharts/:symbol`, operation: 'bars.list', about, handle: call => bars(brokerage, call) },
    { method: 'GET', path: `${path}/symbols/:symbols`, operation: 'instruments.list', handle: call => symbols(brokerage, call) },
    {
      method: 'GET',
      path: `${path}/options/expirations/:underlying`,
      operation: 'expirations.list',
      handle: call => expirations(brokerage, call)
    },
    { method: 'GET', path: `${path}/options/strikes/:underlying`, operation: 'chain.list', handle: call => strikes(brokerage, call) }
  ]
}

async function bars(brokerage: BrokerageView, { request, fault }: Call): Promise<Answer> {
  const instrument = await requestedInstrument(brokerage, texts(request.params).symbol ?? '')
  const now = brokerage.clock.now()
  const requested = requestedBars(texts(request.query), now)
  if (fault?.do === 'empty') return json({ Bars: [] })
  const found = await pastBars(brokerage.market, instrument, requested, now)
  const last = found.at(-1)
  return json({
    Bars: found.map(bar =>
      barWire(bar, { isClosed: bar.frame.over <= now, isRealtime: false, isEndOfHistory: requested.barsBack !== null && bar === last })
    )
  })
}

function symbols(brokerage: BrokerageView, { request }: Call): Answer {
  const listed = symbolsListed(texts(request.params).symbols ?? '', DETAILS_MAX).map(text => findInstrument(brokerage, text) ?? text)
  return json({
    Symbols: listed.filter(item => typeof item === 'object').map(symbolWire),
    Errors: listed
      .filter(item => typeof item === 'string')
      .map(text => ({ Symbol: text.slice(0, 40), Error: 'Failed', Message: 'Invalid symbol' }))
  })
}

function expirations({ market, clock }: BrokerageView, { request, fault }: Call): Answer {
  const found = fault?.do === 'empty' ? [] : market.expirations(underlyingOf(texts(request.params).underlying ?? ''), clock.now())
  return json({ Expirations: found.map(expirationWire) })
}

function strikes(brokerage: BrokerageView, { request, fault }: Call): Answer {
  const underlying = underlyingOf(texts(request.params).underlying ?? '')
  const query = texts(request.query)
  if ((query.spreadType ?? 'Single') !== 'Single')
    throw new Problem('bad_request', 'Only the spreadType Single is emulated by this sandbox', { status: 501 })
  const expiration = requestedExpiration(brokerage, underlying, query.expiration)
  const chain = fault?.do === 'empty' ? [] : brokerage.market.chain(underlying, expiration, brokerage.clock.now())
  const found = [...new Set(chain.map(({ option }) => option?.strike ?? ''))]
  return json({ SpreadType: 'Single', Strikes: found.map(strike => [strike]) })
}
