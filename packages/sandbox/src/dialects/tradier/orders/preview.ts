/** What an order would cost, before anybody orders anything. Pure. */

import { type Decimal, dividedBy, negated, parseDecimal, sum, times } from '@trunkline/core/domain/decimal'
import { isoOf } from '../../../brokerage/clock.ts'
import type { MarketView, Micros } from '../../../engine/types.ts'
import { parseOptionSymbol } from '../../../market/options/occ.ts'
import { toTradier } from '../symbols.ts'
import { type Branch, Figure } from '../tree.ts'
import type { MultiLegForm, SingleForm } from './form.ts'

const CONTRACT = 100
const CENTS = 2
const ONE = parseDecimal('1', 'one')
const NEW_YORK = 'America/New_York'

export function previewTree(wanted: SingleForm | MultiLegForm, marketOf: (symbol: string) => MarketView | undefined, now: Micros): Branch {
  const unit = unitPrice(wanted, marketOf)
  const multiplier = wanted.class === 'equity' ? 1 : CONTRACT
  const value = dividedBy(times(unit, decimal(wanted.quantity * multiplier)), ONE, CENTS)
  return {
    order: {
      status: 'ok',
      commission: 0,
      cost: new Figure(value),
      fees: 0,
      symbol: symbolOf(wanted),
      quantity: wanted.quantity,
      side: wanted.class === 'multileg' ? 'buy' : wanted.sideValue,
      type: wanted.class === 'multileg' ? wanted.multiLegType : TYPE_NAMES[wanted.orderType],
      duration: wanted.duration,
      price: wanted.limitPrice === null ? undefined : new Figure(wanted.limitPrice.replace('-', '')),
      result: true,
      order_cost: new Figure(value),
      margin_change: 0,
      request_date: naive(now),
      extended_hours: wanted.duration === 'pre' || wanted.duration === 'post',
      class: wanted.class,
      strategy: wanted.class === 'multileg' ? 'spread' : wanted.class,
      day_trades: 0
    }
  }
}

const TYPE_NAMES = { MKT: 'market', LMT: 'limit', STP: 'stop', STPLMT: 'stop_limit' } as const

/** Below zero for what selling brings. */
function unitPrice(wanted: SingleForm | MultiLegForm, marketOf: (symbol: string) => MarketView | undefined): Decimal {
  if (wanted.class !== 'multileg') return signed(wanted.side, decimal(wanted.limitPrice ?? touch(marketOf(wanted.symbol), wanted.side)))
  if (wanted.limitPrice !== null) return signed(wanted.multiLegSide, decimal(wanted.limitPrice))
  return sum(wanted.legs.map(({ symbol, side, ratio }) => signed(side, times(decimal(ratio), decimal(touch(marketOf(symbol), side))))))
}

function touch(market: MarketView | undefined, side: string): string {
  const level = side.startsWith('BUY') ? market?.asks[0] : market?.bids[0]
  return level?.[0] ?? market?.mark ?? '0'
}

function signed(side: string, price: Decimal): Decimal {
  return side.startsWith('BUY') ? price : negated(price)
}

function decimal(figure: string | number): Decimal {
  return parseDecimal(String(figure), 'a figure of an order')
}

function symbolOf(wanted: SingleForm | MultiLegForm): string {
  if (wanted.class === 'equity') return toTradier(wanted.symbol)
  const contract = 'legs' in wanted ? (wanted.legs[0]?.symbol ?? '') : wanted.symbol
  return parseOptionSymbol(contract)?.underlying ?? contract
}

/** New York's time without a zone, as Tradier writes it here. */
function naive(now: Micros): string {
  const local = Temporal.Instant.from(isoOf(now)).toZonedDateTimeISO(NEW_YORK).toPlainDateTime()
  return local.toString({ fractionalSecondDigits: 3 })
}
