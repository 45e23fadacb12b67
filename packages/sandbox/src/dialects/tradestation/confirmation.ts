/** The preview of an order: what it would cost about, and an id it may be placed with. */

import { absolute, type Decimal, minus, sum, times, ZERO } from '@trunkline/core/domain/decimal'
import type { MultiLegTicket, Ticket } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import { descriptionOf } from './descriptions.ts'
import { decimal } from './figures.ts'
import { DURATION_OF } from './order-enums.ts'
import { assetOf, shownSymbol } from './symbols.ts'
import type { Placing } from './ticket.ts'
import { dayOf } from './times.ts'

export function confirmation(brokerage: BrokerageView, { ticket, action, account }: Placing, confirmId: string): object {
  const parts = 'legs' in ticket ? multiLegParts(brokerage, ticket) : [partOf(brokerage, ticket)]
  const first = brokerage.contracts.find(parts[0]?.symbol ?? '')
  const price = ticket.limitPrice === null ? sum(parts.map(part => part.price)) : decimal(ticket.limitPrice)
  const cost = sum(parts.map(part => part.cost))
  const margin =
    first?.future === undefined || 'legs' in ticket ? null : times(decimal(ticket.quantity ?? '0'), decimal(first.future.initialMargin))
  return {
    OrderConfirmID: confirmId,
    AccountID: account.number,
    Route: 'Intelligent',
    Duration: DURATION_OF[ticket.timeInForce],
    TimeInForce: { Duration: DURATION_OF[ticket.timeInForce] },
    OrderAssetCategory: first === null ? 'EQUITY' : first.kind === 'STK' ? 'EQUITY' : assetOf(first),
    SummaryMessage: descriptionOf(ticket, action),
    EstimatedPrice: price,
    EstimatedCost: margin ?? absolute(cost),
    // Of a future there is none. No recording shows the sign of a purchase; a short sale's is below zero.
    ...(margin === null ? { DebitCreditEstimatedCost: minus(ZERO, absolute(cost)) } : {}),
    EstimatedCommission: '0',
    Currency: 'USD',
    AccountCurrency: 'USD',
    ProductCurrency: first?.currency ?? 'USD',
    ...(margin === null ? {} : { InitialMarginDisplay: `${grouped(margin)} ${first?.currency}` }),
    ...(ticket.limitPrice === null ? {} : { LimitPrice: ticket.limitPrice }),
    ...('legs' in ticket || ticket.stopPrice === null ? {} : { StopPrice: ticket.stopPrice }),
    ...(first?.option === undefined ? {} : { Underlying: first.option.underlying }),
    Legs: parts.map(({ symbol, quantity, side }) => legWire(brokerage, symbol, quantity, side))
  }
}

/** As customers read it: `10,315.00`. */
function grouped(amount: Decimal): string {
  const [whole = '', places = ''] = amount.split('.')
  return `${whole.replace(/\B(?=(?:\d{3})+$)/g, ',')}.${places.padEnd(2, '0')}`
}

interface Part {
  readonly symbol: string
  readonly side: string
  readonly quantity: Decimal
  readonly price: Decimal
  /** Paid; a sale's is below zero. */
  readonly cost: Decimal
}

function partOf(brokerage: BrokerageView, { symbol, side, quantity, limitPrice, stopPrice }: Ticket): Part {
  const view = brokerage.state.engine.market(symbol)
  const touch = side.startsWith('BUY') ? view?.asks[0]?.[0] : view?.bids[0]?.[0]
  const price = decimal(limitPrice ?? stopPrice ?? touch ?? view?.mark ?? '0')
  const units = times(decimal(quantity ?? '0'), decimal(brokerage.contracts.find(symbol)?.multiplier ?? '1'))
  const value = times(units, price)
  return { symbol, side, quantity: decimal(quantity ?? '0'), price, cost: side.startsWith('BUY') ? value : minus(ZERO, value) }
}

function multiLegParts(brokerage: BrokerageView, { legs, quantity, ...ticket }: MultiLegTicket): readonly Part[] {
  return legs.map(({ symbol, side, ratio }) => {
    const contracts = times(decimal(quantity), decimal(ratio))
    return partOf(brokerage, { ...ticket, symbol, side, quantity: contracts, notional: null, limitPrice: null, stopPrice: null })
  })
}

function legWire({ contracts }: BrokerageView, symbol: string, quantity: Decimal, side: string): object {
  const option = contracts.find(symbol)?.option
  return {
    Symbol: shownSymbol(symbol),
    Quantity: quantity,
    TradeAction: side.replaceAll('_', ''),
    ...(option === undefined
      ? {}
      : { ExpirationDate: dayOf(option.expiration), OptionType: option.right === 'call' ? 'CALL' : 'PUT', StrikePrice: option.strike })
  }
}
