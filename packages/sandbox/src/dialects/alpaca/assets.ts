/** What can be traded and when, over REST: assets, the clock, the calendar. */

import type { FastifyRequest } from 'fastify'
import { tradingDays } from '../../brokerage/api/calendar.ts'
import { paramOf } from '../../brokerage/api/orders.ts'
import type { Answer } from '../../brokerage/api/response-writer.ts'
import { microsOf } from '../../brokerage/clock.ts'
import type { DialectBrokerage } from '../../brokerage/dialect.ts'
import type { Micros } from '../../engine/types.ts'
import type { Instrument } from '../../market/types.ts'
import type { Call, DialectRoute } from '../frame/router.ts'
import { Body } from './body.ts'
import type { CustomerView } from './customer-view.ts'
import { CLASS_OF } from './enums.ts'
import { assetIdOf, UUID } from './ids.ts'
import { badParameter, jsonAnswer, notFound } from './problems.ts'
import { newYorkOf } from './times.ts'

const ROOT = '/alpaca/api/v2'
const CALENDAR_DAYS_MAX = 3_660
const DATE = /^\d{4}-\d{2}-\d{2}$/

export interface AssetDeps {
  readonly brokerage: DialectBrokerage
  readonly customerView: CustomerView
}

export function assetRoutes(deps: AssetDeps): readonly DialectRoute[] {
  const about = (request: FastifyRequest) => ({ symbol: paramOf(request, 'symbol'), clientOrderId: null })
  return [
    { method: 'GET', path: `${ROOT}/assets`, operation: 'instruments.list', handle: call => assets(deps, call) },
    { method: 'GET', path: `${ROOT}/assets/:symbol`, operation: 'instruments.get', about, handle: call => asset(deps, call) },
    { method: 'GET', path: `${ROOT}/clock`, operation: 'clock.get', handle: () => clock(deps) },
    { method: 'GET', path: `${ROOT}/calendar`, operation: 'calendar.list', handle: call => calendar(deps, call) }
  ]
}

function assets({ brokerage }: AssetDeps, { request, fault }: Call): Answer {
  if (fault?.do === 'empty') return jsonAnswer([])
  const body = new Body(request.query)
  const status = body.memberOr('status', ['active', 'inactive', 'all']) ?? 'all'
  const assetClass = body.memberOr('asset_class', ['us_equity', 'us_option', 'crypto']) ?? 'us_equity'
  const exchange = body.text('exchange')
  const found = brokerage.market.instruments
    .filter(({ kind }) => CLASS_OF[kind] === assetClass && status !== 'inactive')
    .map(assetWire)
    .filter(shown => exchange === null || shown.exchange === exchange)
  return jsonAnswer(found)
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
  const { phase } = brokerage.market.phaseAt('us-equity', now)
  const [opens, closes] = [changeAfter(brokerage, now, true), changeAfter(brokerage, now, false)]
  const shown = (at: Micros) => newYorkOf(at).toString({ timeZoneName: 'never', smallestUnit: 'second' })
  const timestamp = newYorkOf(now).toString({ timeZoneName: 'never', fractionalSecondDigits: 6 })
  return jsonAnswer({ timestamp, is_open: phase === 'open', next_open: shown(opens), next_close: shown(closes) })
}

/** Changes of phase that are looked at: more than a week has. */
const CHANGES_MAX = 50
const DAY: Micros = 86_400_000_000

/** When the market opens next, or closes. One that never does is reported for tomorrow: Alpaca always names a time. */
function changeAfter({ market }: DialectBrokerage, now: Micros, opens: boolean): Micros {
  let at = now
  let wasOpen = market.phaseAt('us-equity', now).phase === 'open'
  for (let count = 0; count < CHANGES_MAX; count++) {
    const { nextChange } = market.phaseAt('us-equity', at)
    if (nextChange === null || nextChange <= at) break
    const isOpen = market.phaseAt('us-equity', nextChange).phase === 'open'
    if (isOpen !== wasOpen && isOpen === opens) return nextChange
    wasOpen = isOpen
    at = nextChange
  }
  return newYorkOf(now).startOfDay().epochMilliseconds * 1000 + DAY
}

function calendar({ brokerage }: AssetDeps, { request, fault }: Call): Answer {
  if (fault?.do === 'empty') return jsonAnswer([])
  const body = new Body(request.query)
  const today = newYorkOf(brokerage.clock.now()).toPlainDate()
  const from = dateOf(body, 'start') ?? today
  const to = dateOf(body, 'end') ?? from.add({ days: 365 })
  const days = from.until(to).days
  if (days < 0 || days > CALENDAR_DAYS_MAX)
    throw badParameter(`end must not be before start, nor more than ${CALENDAR_DAYS_MAX} days after it`)
  return jsonAnswer(tradingDays(brokerage.market, 'us-equity', from, to).map(dayWire))
}

function dateOf(body: Body, name: string): Temporal.PlainDate | null {
  const text = body.text(name)
  if (text === null) return null
  const date = text.slice(0, 10)
  if (!DATE.test(date)) throw badParameter(`invalid ${name}: ${text.slice(0, 40)}`)
  return Temporal.PlainDate.from(date)
}

function dayWire({ date, opens, closes, pre_opens: pre, post_closes: post }: ReturnType<typeof tradingDays>[number]): object {
  const [open, close] = [timeIn(opens, 'start'), timeIn(closes, 'end')]
  const session = {
    session_open: (pre === null ? open : timeIn(pre, 'start')).replace(':', ''),
    session_close: (post === null ? close : timeIn(post, 'end')).replace(':', '')
  }
  return { date, open, close, ...session, settlement_date: date }
}

/** The end of a day that has none is its last minute. */
function timeIn(iso: string, side: 'start' | 'end'): string {
  const time = newYorkOf(microsOf(iso) ?? 0)
    .toPlainTime()
    .toString({ smallestUnit: 'minute' })
  return side === 'end' && time === '00:00' ? '23:59' : time
}
