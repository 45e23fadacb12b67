/** Refusals that Alpaca explains with figures. */

import { type Decimal, minus, parseDecimal, times } from '@trunkline/core/domain/decimal'
import type { MultiLegTicket, Problem, Ticket } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import { positionSymbol } from './enums.ts'
import { AlpacaProblem, CODES } from './problems.ts'

export interface RefusedFacts {
  readonly brokerage: Pick<BrokerageView, 'state'>
  readonly ticket: Ticket | MultiLegTicket
}

export function refusedWith(problem: Problem, { brokerage, ticket }: RefusedFacts): Problem {
  switch (problem.code) {
    case 'insufficient_buying_power': {
      if (isCrypto(brokerage, ticket)) return tooLittle(brokerage, ticket)
      const { buyingPower } = brokerage.state.engine.balance(ticket.accountId)
      const more = { buying_power: buyingPower, cost_basis: costOf(brokerage, ticket) }
      return new AlpacaProblem(403, CODES.forbidden, 'insufficient buying power', more)
    }
    case 'insufficient_position':
    case 'short_sale_not_allowed':
      if ('legs' in ticket) return problem
      return isCrypto(brokerage, ticket) ? tooLittle(brokerage, ticket) : tooFew(brokerage, ticket)
    case 'bad_tick': {
      if ('legs' in ticket) return problem
      const price = ticket.limitPrice ?? ticket.stopPrice
      const message = `invalid limit_price ${price}. sub-penny increment does not fulfill minimum pricing criteria`
      return new AlpacaProblem(422, CODES.invalid, message)
    }
    default:
      return problem
  }
}

function isCrypto({ state }: RefusedFacts['brokerage'], ticket: Ticket | MultiLegTicket): ticket is Ticket {
  return !('legs' in ticket) && state.engine.instrument(ticket.symbol)?.kind === 'CRYPTO'
}

/** Of crypto either side of the pair is a balance. */
function tooLittle(brokerage: RefusedFacts['brokerage'], ticket: Ticket): AlpacaProblem {
  const [base = '', currency = ''] = ticket.symbol.split('/')
  const { engine } = brokerage.state
  const buys = ticket.side === 'BUY'
  const available = buys ? engine.balance(ticket.accountId).buyingPower : availableOf(brokerage, ticket)
  const requested = buys ? costOf(brokerage, ticket) : ticket.quantity
  const symbol = buys ? currency : base
  const balance = buys ? engine.balance(ticket.accountId).cash : (engine.position(ticket.accountId, ticket.symbol)?.quantity ?? '0')
  const message = `insufficient balance for ${symbol} (requested: ${requested}, available: ${available})`
  return new AlpacaProblem(403, CODES.forbidden, message, { available, balance, symbol })
}

/** What open sales leave of the position. */
function availableOf({ state }: RefusedFacts['brokerage'], { accountId, symbol }: Ticket): Decimal {
  let available = parseDecimal(state.engine.position(accountId, symbol)?.quantity ?? '0', 'quantity')
  for (const order of state.engine.orders(accountId, { live: true, symbols: [symbol] }))
    if (order.side.startsWith('SELL')) available = minus(available, parseDecimal(order.remainingQuantity, 'remaining quantity'))
  return available
}

function tooFew(brokerage: RefusedFacts['brokerage'], ticket: Ticket): AlpacaProblem {
  const { accountId, symbol, quantity } = ticket
  const existing = parseDecimal(brokerage.state.engine.position(accountId, symbol)?.quantity ?? '0', 'quantity')
  const available = availableOf(brokerage, ticket)
  const more = { symbol: positionSymbol(symbol), existing_qty: existing, available, held_for_orders: minus(existing, available) }
  const message = `insufficient qty available for order (requested: ${quantity}, available: ${available})`
  return new AlpacaProblem(403, CODES.forbidden, message, more)
}

/** About what it would cost. */
function costOf({ state }: RefusedFacts['brokerage'], ticket: Ticket | MultiLegTicket): string {
  if (!('legs' in ticket) && ticket.notional !== null) return ticket.notional
  const mark = 'legs' in ticket ? null : (state.engine.market(ticket.symbol)?.mark ?? null)
  const price = ticket.limitPrice ?? mark ?? '0'
  const multiplier = 'legs' in ticket ? '100' : (state.engine.instrument(ticket.symbol)?.multiplier ?? '1')
  const value = times(parseDecimal(price, 'price'), parseDecimal(ticket.quantity ?? '0', 'quantity'))
  return times(value, parseDecimal(multiplier, 'multiplier'))
}
