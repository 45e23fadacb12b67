/** Refusals that Alpaca explains with figures. */

import { type Decimal, minus, parseDecimal, times } from '@trunkline/core/domain/decimal'
import type { PackageTicket, Ticket } from '../../house/desk.ts'
import type { DialectHouse } from '../../house/dialect.ts'
import type { Problem } from '../../house/problems.ts'
import { AlpacaProblem, CODES } from './problems.ts'
import { positionSymbol } from './words.ts'

export interface RefusedFacts {
  readonly house: Pick<DialectHouse, 'books'>
  readonly ticket: Ticket | PackageTicket
}

export function refusedWith(problem: Problem, { house, ticket }: RefusedFacts): Problem {
  switch (problem.code) {
    case 'insufficient_buying_power': {
      if (isCoin(house, ticket)) return tooLittle(house, ticket)
      const { buyingPower } = house.books.engine.balance(ticket.accountId)
      const more = { buying_power: buyingPower, cost_basis: costOf(house, ticket) }
      return new AlpacaProblem(403, CODES.forbidden, 'insufficient buying power', more)
    }
    case 'insufficient_position':
    case 'short_sale_not_allowed':
      if ('legs' in ticket) return problem
      return isCoin(house, ticket) ? tooLittle(house, ticket) : tooFew(house, ticket)
    case 'bad_tick': {
      if ('legs' in ticket) return problem
      const price = ticket.limitPrice ?? ticket.stopPrice
      const words = `invalid limit_price ${price}. sub-penny increment does not fulfill minimum pricing criteria`
      return new AlpacaProblem(422, CODES.invalid, words)
    }
    default:
      return problem
  }
}

function isCoin({ books }: RefusedFacts['house'], ticket: Ticket | PackageTicket): ticket is Ticket {
  return !('legs' in ticket) && books.engine.instrument(ticket.symbol)?.kind === 'CRYPTO'
}

/** Of coins either side of the pair is a balance. */
function tooLittle(house: RefusedFacts['house'], ticket: Ticket): AlpacaProblem {
  const [base = '', currency = ''] = ticket.symbol.split('/')
  const { engine } = house.books
  const buys = ticket.side === 'BUY'
  const available = buys ? engine.balance(ticket.accountId).buyingPower : availableOf(house, ticket)
  const requested = buys ? costOf(house, ticket) : ticket.quantity
  const symbol = buys ? currency : base
  const balance = buys ? engine.balance(ticket.accountId).cash : (engine.position(ticket.accountId, ticket.symbol)?.quantity ?? '0')
  const words = `insufficient balance for ${symbol} (requested: ${requested}, available: ${available})`
  return new AlpacaProblem(403, CODES.forbidden, words, { available, balance, symbol })
}

/** What open sales leave of the position. */
function availableOf({ books }: RefusedFacts['house'], { accountId, symbol }: Ticket): Decimal {
  let available = parseDecimal(books.engine.position(accountId, symbol)?.quantity ?? '0', 'quantity')
  for (const order of books.engine.orders(accountId, { live: true, symbols: [symbol] }))
    if (order.side.startsWith('SELL')) available = minus(available, parseDecimal(order.remainingQuantity, 'remaining quantity'))
  return available
}

function tooFew(house: RefusedFacts['house'], ticket: Ticket): AlpacaProblem {
  const { accountId, symbol, quantity } = ticket
  const existing = parseDecimal(house.books.engine.position(accountId, symbol)?.quantity ?? '0', 'quantity')
  const available = availableOf(house, ticket)
  const more = { symbol: positionSymbol(symbol), existing_qty: existing, available, held_for_orders: minus(existing, available) }
  const words = `insufficient qty available for order (requested: ${quantity}, available: ${available})`
  return new AlpacaProblem(403, CODES.forbidden, words, more)
}

/** About what it would cost. */
function costOf({ books }: RefusedFacts['house'], ticket: Ticket | PackageTicket): string {
  if (!('legs' in ticket) && ticket.notional !== null) return ticket.notional
  const mark = 'legs' in ticket ? null : (books.engine.market(ticket.symbol)?.mark ?? null)
  const price = ticket.limitPrice ?? mark ?? '0'
  const multiplier = 'legs' in ticket ? '100' : (books.engine.instrument(ticket.symbol)?.multiplier ?? '1')
  const value = times(parseDecimal(price, 'price'), parseDecimal(ticket.quantity ?? '0', 'quantity'))
  return times(value, parseDecimal(multiplier, 'multiplier'))
}
