/** What an order would cost, before anybody orders anything. Pure. */

import type { MarketView, Micros } from '../../../engine/types.ts'
import { isoOf } from '../../../house/clock.ts'
import { parseOptionSymbol } from '../../../market/options/occ.ts'
import { toTradier } from '../symbols.ts'
import { type Branch, Figure } from '../tree.ts'
import type { PackageForm, SingleForm } from './form.ts'

const CONTRACT = 100
const NEW_YORK = 'America/New_York'

/** `cost` in money: what buying takes; never negative. */
export function previewTree(
  wanted: SingleForm | PackageForm,
  marketOf: (symbol: string) => MarketView | undefined,
  now: Micros
): { readonly tree: Branch; readonly cost: number } {
  const unit = unitPrice(wanted, marketOf)
  const multiplier = wanted.class === 'equity' ? 1 : CONTRACT
  // Binary floats are good enough for what is only looked at.
  const value = Math.round(unit * wanted.quantity * multiplier * 100) / 100
  const cost = Math.max(0, value)
  const tree: Branch = {
    order: {
      status: 'ok',
      commission: 0,
      cost: new Figure(value.toFixed(2)),
      fees: 0,
      symbol: symbolOf(wanted),
      quantity: wanted.quantity,
      side: wanted.class === 'multileg' ? 'buy' : wanted.word,
      type: wanted.class === 'multileg' ? wanted.packageType : TYPE_WORD[wanted.orderType],
      duration: wanted.duration,
      price: wanted.limitPrice === null ? undefined : new Figure(wanted.limitPrice.replace('-', '')),
      result: true,
      order_cost: new Figure(value.toFixed(2)),
      margin_change: 0,
      request_date: naive(now),
      extended_hours: wanted.duration === 'pre' || wanted.duration === 'post',
      class: wanted.class,
      strategy: wanted.class === 'multileg' ? 'spread' : wanted.class,
      day_trades: 0
    }
  }
  return { tree, cost }
}

const TYPE_WORD = { MKT: 'market', LMT: 'limit', STP: 'stop', STPLMT: 'stop_limit' } as const

function unitPrice(wanted: SingleForm | PackageForm, marketOf: (symbol: string) => MarketView | undefined): number {
  if (wanted.class === 'multileg') {
    if (wanted.limitPrice !== null) return (wanted.packageSide === 'BUY' ? 1 : -1) * Number(wanted.limitPrice)
    return wanted.legs.reduce((sum, { symbol, side, ratio }) => sum + signed(side) * Number(ratio) * touch(marketOf(symbol), side), 0)
  }
  const price = wanted.limitPrice === null ? touch(marketOf(wanted.symbol), wanted.side) : Number(wanted.limitPrice)
  return signed(wanted.side) * price
}

function touch(market: MarketView | undefined, side: string): number {
  const level = side.startsWith('BUY') ? market?.asks[0] : market?.bids[0]
  return Number(level?.[0] ?? market?.mark ?? 0)
}

function signed(side: string): 1 | -1 {
  return side.startsWith('BUY') ? 1 : -1
}

function symbolOf(wanted: SingleForm | PackageForm): string {
  if (wanted.class === 'equity') return toTradier(wanted.symbol)
  const contract = 'legs' in wanted ? (wanted.legs[0]?.symbol ?? '') : wanted.symbol
  return parseOptionSymbol(contract)?.underlying ?? contract
}

/** New York's time without a zone, as Tradier writes it here. */
function naive(now: Micros): string {
  const local = Temporal.Instant.from(isoOf(now)).toZonedDateTimeISO(NEW_YORK).toPlainDateTime()
  return local.toString({ fractionalSecondDigits: 3 })
}
