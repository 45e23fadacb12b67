/** An account's balances in Tradier's shape: what all have, and an element of its own for each type. Pure. */

import { type Decimal, isZero, minus, parseDecimal, sum, ZERO } from '@trunkline/core/domain/decimal'
import type { AccountKind } from '../../brokerage/customers.ts'
import type { BalanceView, PositionView } from '../../engine/types.ts'
import { type Branch, type Figure, figure } from './tree.ts'

/** Zeros behind the points, as they come of the conversion. */
const PLACES = 24

export interface Sheet {
  readonly number: string
  readonly kind: AccountKind
  readonly balance: BalanceView
  readonly positions: readonly PositionView[]
  readonly openOrders: number
}

export function balancesTree({ number, kind, balance, positions, openOrders }: Sheet): Branch {
  const values = (which: (position: PositionView) => boolean) => sum(positions.filter(which).map(position => dec(position.marketValue)))
  const isLong = ({ quantity }: PositionView) => !quantity.startsWith('-')
  const unsettled = minus(dec(balance.cash), dec(balance.settledCash))
  return {
    balances: {
      option_short_value: money(values(position => position.kind === 'OPT' && !isLong(position))),
      total_equity: money(dec(balance.equity)),
      account_number: number,
      account_type: kind,
      close_pl: money(minus(dec(balance.dailyPl), dec(balance.unrealizedPl))),
      current_requirement: money(dec(balance.maintenanceMargin)),
      equity: money(ZERO),
      long_market_value: money(dec(balance.longMarketValue)),
      market_value: money(dec(balance.marketValue)),
      open_pl: money(dec(balance.unrealizedPl)),
      option_long_value: money(values(position => position.kind === 'OPT' && isLong(position))),
      option_requirement: money(ZERO),
      pending_orders_count: openOrders,
      short_market_value: money(dec(balance.shortMarketValue)),
      stock_long_value: money(values(position => position.kind === 'STK' && isLong(position))),
      total_cash: money(dec(balance.cash)),
      uncleared_funds: money(ZERO),
      pending_cash: money(ZERO),
      ...(kind === 'cash' ? { cash: cashPart(balance, unsettled) } : { margin: marginPart(balance, positions) })
    }
  }
}

function cashPart({ buyingPower }: BalanceView, unsettled: Decimal): Branch {
  return { cash_available: money(dec(buyingPower)), sweep: money(ZERO), unsettled_funds: money(unsettled) }
}

function marginPart(
  { buyingPower, excess, marginCall, maintenanceMargin, equity }: BalanceView,
  positions: readonly PositionView[]
): Branch {
  const free = excess.startsWith('-') ? ZERO : dec(excess)
  const short = sum(
    positions.filter(({ kind, quantity }) => kind === 'STK' && quantity.startsWith('-')).map(position => dec(position.marketValue))
  )
  return {
    fed_call: money(ZERO),
    maintenance_call: money(marginCall ? minus(dec(maintenanceMargin), dec(equity)) : ZERO),
    option_buying_power: money(free),
    stock_buying_power: money(dec(buyingPower)),
    stock_short_value: money(short),
    sweep: money(ZERO)
  }
}

/** Nothing is written as `0`, everything else with its zeros. */
function money(value: Decimal): Figure {
  return isZero(value) ? figure('0', 0) : figure(value, PLACES)
}

function dec(text: string): Decimal {
  return parseDecimal(text, 'an amount of the state')
}
