/** An order as TradeStation describes it: `Buy 10 MSFT @ 401.00 Stop, 401.50 Limit`. */

import type { MultiLegTicket, Ticket } from '../frame/brokerage.ts'
import type { TradeAction } from './order-enums.ts'
import { shownSymbol } from './symbols.ts'

const VERBS = {
  BUY: 'Buy',
  SELL: 'Sell',
  BUY_TO_OPEN: 'Buy to Open',
  SELL_TO_OPEN: 'Sell to Open',
  BUY_TO_CLOSE: 'Buy to Close',
  SELL_TO_CLOSE: 'Sell to Close'
} as const

export function descriptionOf(ticket: Ticket | MultiLegTicket, action: TradeAction | null): string {
  if ('legs' in ticket) {
    const legs = ticket.legs.map(
      ({ symbol, side, ratio }) => `${VERBS[side]} ${BigInt(ratio) * BigInt(ticket.quantity)} ${shownSymbol(symbol)}`
    )
    return `${legs.join(' / ')} @ ${ticket.limitPrice === null ? 'Market' : `${ticket.limitPrice} Limit`}`
  }
  const verb = action === 'SELLSHORT' ? 'Sell Short' : action === 'BUYTOCOVER' ? 'Buy to Cover' : VERBS[ticket.side]
  return `${verb} ${ticket.quantity ?? ''} ${shownSymbol(ticket.symbol)} @ ${priceText(ticket)}`
}

function priceText({ orderType, limitPrice, stopPrice }: Ticket): string {
  switch (orderType) {
    case 'MKT':
      return 'Market'
    case 'LMT':
      return `${limitPrice} Limit`
    case 'STP':
      return `${stopPrice} Stop Market`
    case 'STPLMT':
      return `${stopPrice} Stop, ${limitPrice} Limit`
  }
}
