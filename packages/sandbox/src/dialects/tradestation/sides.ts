/** Share orders declare whether they open or close, and must be right; one order may not cross zero. */

import { absolute, compare, type Decimal, minus, sum, ZERO } from '@trunkline/core/domain/decimal'
import type { Ticket } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import { decimal } from './figures.ts'
import type { TradeAction } from './order-enums.ts'
import { refuse } from './reading.ts'

const SHARES: readonly TradeAction[] = ['BUY', 'SELL', 'BUYTOCOVER', 'SELLSHORT']
const FUTURES: readonly TradeAction[] = ['BUY', 'SELL']

/** @throws Problem of status 422 with one of TradeStation's codes */
export function checkSide(brokerage: Pick<BrokerageView, 'state' | 'contracts'>, ticket: Ticket, action: TradeAction): void {
  const kind = brokerage.contracts.find(ticket.symbol)?.kind
  if (kind === 'OPT') {
    if (SHARES.includes(action)) refuse('Options are traded with BUYTOOPEN, BUYTOCLOSE, SELLTOOPEN and SELLTOCLOSE')
    return
  }
  if (kind === 'FUT') {
    if (!FUTURES.includes(action)) refuse('Futures are traded with BUY and SELL')
    return
  }
  if (!SHARES.includes(action)) refuse('Shares are traded with BUY, SELL, BUYTOCOVER and SELLSHORT')
  checkPosition(brokerage, ticket, action)
}

function checkPosition({ state }: Pick<BrokerageView, 'state'>, { accountId, symbol, quantity }: Ticket, action: TradeAction): void {
  const held = decimal(state.engine.position(accountId, symbol)?.quantity ?? '0')
  const size = absolute(held)
  const isLong = compare(held, ZERO) > 0
  const isShort = compare(held, ZERO) < 0
  const words = isLong ? `you are long ${size}` : isShort ? `you are short ${size}` : 'you have no position in'
  const left = closable(state, { accountId, symbol, held })
  const fits = compare(decimal(quantity ?? '0'), left) <= 0
  switch (action) {
    case 'BUY':
      if (isShort) refuse(`EC601: ${words} ${symbol}; use Buy to Cover first`)
      break
    case 'BUYTOCOVER':
      if (!isShort || !fits) refuse(`EC602: ${words} ${symbol}; ${left} can be covered`)
      break
    case 'SELL':
      if (!isLong || !fits) refuse(`EC701: ${words} ${symbol}; ${left} can be sold`)
      break
    case 'SELLSHORT':
      if (isLong) refuse(`EC702: ${words} ${symbol}; use Sell first`)
      break
  }
}

interface Held {
  readonly accountId: string
  readonly symbol: string
  readonly held: Decimal
}

/** The part of a position that no open order closes yet. */
function closable(state: BrokerageView['state'], { accountId, symbol, held }: Held): Decimal {
  const closing = compare(held, ZERO) > 0 ? 'SELL' : 'BUY'
  const promised = state.engine
    .orders(accountId, { live: true, symbols: [symbol] })
    .filter(order => order.legs === null && order.side === closing)
    .map(order => decimal(order.remainingQuantity))
  const left = minus(absolute(held), sum(promised))
  return compare(left, ZERO) > 0 ? left : ZERO
}
