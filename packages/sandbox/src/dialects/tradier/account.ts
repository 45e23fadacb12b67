/** Who the customer is and what it has: profile, balances, positions and history. Symbols too: share classes have a slash at Tradier. */

import { createHash } from 'node:crypto'
import { isZero, minus } from '@trunkline/core/domain/decimal'
import { type Account, Problem, paramOf, parseOptionSymbol, type TransactionView } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import { decimal } from '../frame/order-chain.ts'
import type { Call, DialectRoute } from '../frame/router.ts'
import { fieldsOf, figure, listed, plain, route, timeOf } from './answers.ts'

/** Zeros behind the points of balances, as they come of the conversion. */
const PLACES = 24
const LIMIT_MAX = 1_000

export function toTradier(symbol: string): string {
  return symbol.replace('.', '/')
}

export function fromTradier(symbol: string): string {
  return symbol.trim().toUpperCase().replace('/', '.')
}

/** Accounts of other kinds are not Tradier's to keep. */
export function accountsOf({ customers }: Pick<BrokerageView, 'customers'>, login: string): readonly Account[] {
  return customers.accountsOf(login).filter(({ kind }) => kind === 'margin' || kind === 'cash')
}

/** Practice accounts begin with VA at Tradier. */
export function numberOf({ number }: Account): string {
  return number.replace(/^SB/, 'VA')
}

/** The account of a path. @throws Problem */
export function requested(brokerage: BrokerageView, { request, customer }: Call): Account {
  const number = paramOf(request, 'account')
  const found = accountsOf(brokerage, customer.id).find(account => numberOf(account) === number)
  if (found === undefined) throw foreign(number)
  return found
}

export function foreign(number: string): Problem {
  return new Problem('unknown_account', `Unauthorized Account: ${number.slice(0, 40)}`, { status: 401 })
}

/** One page by `page` and `limit`; empty behind the last. A fault can have it be the one after. @throws Problem */
export function pageOf<Item>({ request, fault }: Call, items: readonly Item[]): readonly Item[] {
  const query = fieldsOf(request.query)
  const limit = query.countOr('limit', 1, LIMIT_MAX) ?? 25
  const requested = query.countOr('page', 1, 999_999_999) ?? 1
  const page = fault?.do === 'lose_page' && fault.page === requested ? requested + 1 : requested
  return items.slice((page - 1) * limit, page * limit)
}

export function accountRoutes(brokerage: BrokerageView): readonly DialectRoute[] {
  const path = '/accounts/:account'
  return [
    route('GET', '/user/profile', 'accounts.list', call => profile(brokerage, call)),
    route('GET', `${path}/balances`, 'balances.list', call => balances(brokerage, requested(brokerage, call))),
    route('GET', `${path}/positions`, 'positions.list', call => positions(brokerage, call)),
    route('GET', `${path}/history`, 'transactions.list', call => history(brokerage, call))
  ]
}

function profile(brokerage: BrokerageView, { customer: { id, name, username } }: Call): object {
  const account = accountsOf(brokerage, id).map(one => {
    return { account_number: numberOf(one), classification: 'individual', status: 'active', type: one.kind }
  })
  return { profile: { id: `id-${username}`, name, account } }
}

/** What all accounts have, and an element of its own for each type. */
function balances({ state }: BrokerageView, account: Account): object {
  const { buyingPower, cash, settledCash, maintenanceMargin, marketValue, equity } = state.engine.balance(account.id)
  // Nothing is written as `0`, everything else with its zeros.
  const money = (value: string) => (isZero(decimal(value)) ? 0 : figure(value, PLACES))
  const own =
    account.kind === 'cash'
      ? { cash: { cash_available: money(buyingPower), unsettled_funds: money(minus(decimal(cash), decimal(settledCash))) } }
      : { margin: { stock_buying_power: money(buyingPower) } }
  const common = { account_number: numberOf(account), account_type: account.kind, current_requirement: money(maintenanceMargin) }
  return { balances: { ...common, market_value: money(marketValue), total_cash: money(cash), total_equity: money(equity), ...own } }
}

/** Cost and quantity, and nothing of the market. */
function positions(brokerage: BrokerageView, call: Call): object {
  const held = brokerage.state.engine
    .positions(requested(brokerage, call).id)
    .map(({ accountId, symbol, costBasis, quantity, openedAt }) => {
      // The same for as long as the position is held.
      const id = createHash('sha256').update(`${accountId} ${symbol} ${openedAt}`).digest().readUInt32BE(0)
      const of = { id, symbol: toTradier(symbol), date_acquired: timeOf(openedAt) }
      return { ...of, cost_basis: plain(costBasis), quantity: figure(quantity) }
    })
  return listed(call, 'positions', 'position', held, 'null')
}

const EVENTS: Readonly<Record<TransactionView['type'], string>> = {
  ...{ BUY: 'trade', SELL: 'trade', DIVIDEND: 'dividend', INTEREST: 'interest', FEE: 'fee', DEPOSIT: 'ach', WITHDRAWAL: 'ach' },
  ...{ TRANSFER: 'transfer', SPLIT: 'adjustment', ADJUSTMENT: 'adjustment', OTHER: 'journal' },
  ...{ EXERCISE: 'option', ASSIGNMENT: 'option', EXPIRATION: 'option' }
}

/** As the clearing firm reports it: by days, without orders, newest first. */
function history(brokerage: BrokerageView, call: Call): object {
  const query = fieldsOf(call.request.query)
  const [fromDate, toDate] = [query.textOr('start'), query.textOr('end')]
  const days = { ...(fromDate === null ? {} : { fromDate }), ...(toDate === null ? {} : { toDate }) }
  const found = brokerage.state.engine.transactions(requested(brokerage, call).id, days)
  return listed(call, 'history', 'event', pageOf(call, found).map(eventOf), 'null')
}

function eventOf({ type, amount, date, description, price, quantity, symbol, fees }: TransactionView): object {
  const name = EVENTS[type]
  const signed = plain(quantity !== null && type === 'SELL' ? `-${quantity}` : (quantity ?? '0'))
  const of = symbol === null ? {} : { symbol: toTradier(symbol) }
  const trade_type = symbol !== null && parseOptionSymbol(symbol) !== null ? 'Option' : 'Equity'
  const own = name === 'option' ? { option_type: type.toLowerCase() } : { ...of, ...(name === 'trade' ? { trade_type } : {}) }
  const costs = name === 'trade' ? { commission: plain(fees), price: plain(price) } : {}
  return { amount: plain(amount), date: `${date}T00:00:00Z`, type: name, [name]: { description, quantity: signed, ...costs, ...own } }
}
