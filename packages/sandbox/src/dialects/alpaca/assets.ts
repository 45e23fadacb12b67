/** What can be traded and when, over REST: assets and the clock. */

import type { FastifyRequest } from 'fastify'
import { type Answer, type Instrument, paramOf } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import type { Call, DialectRoute } from '../frame/router.ts'
import { Body } from './body.ts'
import type { CustomerView } from './customer-view.ts'
import { CLASS_OF } from './enums.ts'
import { assetIdOf, UUID } from './ids.ts'
import { jsonAnswer, notFound } from './problems.ts'
import { newYorkOf } from './times.ts'

const ROOT = '/alpaca/api/v2'

export interface AssetDeps {
  readonly brokerage: BrokerageView
  readonly customerView: CustomerView
}

export function assetRoutes(deps: AssetDeps): readonly DialectRoute[] {
  const about = (request: FastifyRequest) => ({ symbol: paramOf(request, 'symbol'), clientOrderId: null })
  return [
    { method: 'GET', path: `${ROOT}/assets`, operation: 'instruments.list', handle: call => assets(deps, call) },
    { method: 'GET', path: `${ROOT}/assets/:symbol`, operation: 'instruments.get', about, handle: call => asset(deps, call) },
    { method: 'GET', path: `${ROOT}/clock`, operation: 'clock.get', handle: () => clock(deps) }
  ]
}

function assets({ brokerage }: AssetDeps, { request, fault }: Call): Answer {
  if (fault?.do === 'empty') return jsonAnswer([])
  const assetClass = new Body(request.query).memberOr('asset_class', ['us_equity', 'us_option', 'crypto']) ?? 'us_equity'
  return jsonAnswer(brokerage.market.instruments.filter(({ kind }) => CLASS_OF[kind] === assetClass).map(assetWire))
}

function asset({ brokerage, customerView }: AssetDeps, { request }: Call): Answer {
  const symbol = paramOf(request, 'symbol')
  const found = UUID.test(symbol)
    ? brokerage.market.instruments.find(instrument => assetIdOf(instrument.symbol) === symbol)
    : customerView.instrument(symbol)
  if (found === undefined || found === null) throw notFound(`asset not found for ${symbol.slice(0, 40)}`)
  return jsonAnswer(assetWire(found))
}

function assetWire(instrument: Instrument) {
  const { symbol, name, kind, exchange, shortable, fraction, tick } = instrument
  const isShare = kind === 'STK'
  return {
    id: assetIdOf(symbol),
    class: CLASS_OF[kind],
    exchange: kind === 'CRYPTO' ? 'CRYPTO' : exchange,
    symbol,
    name,
    status: 'active',
    tradable: true,
    marginable: isShare,
    maintenance_margin_requirement: isShare ? 30 : 100,
    margin_requirement_long: isShare ? '30' : '100',
    margin_requirement_short: isShare ? '30' : '100',
    shortable,
    easy_to_borrow: shortable,
    fractionable: Number(fraction) < 1,
    attributes: isShare ? ['fractional_eh_enabled', 'has_options'] : [],
    ...(kind === 'CRYPTO' ? { min_order_size: fraction, min_trade_increment: fraction, price_increment: tick } : {})
  }
}

function clock({ brokerage }: AssetDeps): Answer {
  const now = brokerage.clock.now()
  const timestamp = newYorkOf(now).toString({ timeZoneName: 'never', fractionalSecondDigits: 6 })
  return jsonAnswer({ timestamp, is_open: brokerage.market.phaseAt('us-equity', now).phase === 'open' })
}
