/** What an order would cost, before anybody orders anything. Pure. */

import { type Decimal, dividedBy, negated, parseDecimal, sum, times } from '@trunkline/core/domain/decimal'
import type { MarketView } from '../../frame/brokerage.ts'
import { type Branch, Figure } from '../tree.ts'
import type { MultiLegForm, SingleForm } from './form.ts'

const CONTRACT = 100
const CENTS = 2
const ONE = parseDecimal('1', 'one')

export function previewTree(wanted: SingleForm | MultiLegForm, marketOf: (symbol: string) => MarketView | undefined): Branch {
  const unit = unitPrice(wanted, marketOf)
  const multiplier = wanted.class === 'equity' ? 1 : CONTRACT
  const value = dividedBy(times(unit, decimal(wanted.quantity * multiplier)), ONE, CENTS)
  return {
    order: {
      status: 'ok',
      commission: 0,
      cost: new Figure(value),
      fees: 0,
      result: true,
      order_cost: new Figure(value),
      margin_change: 0
    }
  }
}

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
