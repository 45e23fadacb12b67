/** The account, its positions and its settings over REST. */

import { absolute, type Decimal, dividedBy, isZero, minus, negated, parseDecimal, sum } from '@trunkline/core/domain/decimal'
import type { Account, Answer, BalanceView, Customer, PositionView } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import type { Call, DialectRoute } from '../frame/router.ts'
import type { CustomerView } from './customer-view.ts'
import { CLASS_OF, positionSymbol } from './enums.ts'
import { assetIdOf, uuidFor } from './ids.ts'
import { jsonAnswer } from './problems.ts'
import { newYorkOf } from './times.ts'

const ROOT = '/alpaca/api/v2'
/** Places of what is a fraction of something. */
const PLACES = 9

export interface AccountDeps {
  readonly brokerage: BrokerageView
  readonly customerView: CustomerView
}

export function accountRoutes(deps: AccountDeps): readonly DialectRoute[] {
  return [
    { method: 'GET', path: `${ROOT}/account`, operation: 'balances.list', handle: call => account(deps, call.customer) },
    { method: 'GET', path: `${ROOT}/positions`, operation: 'positions.list', handle: call => positions(deps, call) }
  ]
}

/** What the user's account is numbered by. */
export function accountIdOf({ username }: Customer): string {
  return uuidFor(`account ${username}`)
}

function account({ brokerage, customerView }: AccountDeps, customer: Customer): Answer {
  const accounts = customerView.accounts(customer.id)
  const balances = accounts.map(({ id }) => brokerage.state.engine.balance(id))
  const [shares] = accounts.filter(({ kind }) => kind !== 'coin').map(({ id }) => brokerage.state.engine.balance(id))
  const [crypto] = accounts.filter(({ kind }) => kind === 'coin').map(({ id }) => brokerage.state.engine.balance(id))
  const margined = accounts.some(({ kind }) => kind === 'margin')
  const total = (read: (balance: BalanceView) => string) => sum(balances.map(balance => parseDecimal(read(balance), 'money')))
  return jsonAnswer({
    id: accountIdOf(customer),
    account_number: numberOf(accounts),
    status: 'ACTIVE',
    crypto_status: crypto === undefined ? 'INACTIVE' : 'ACTIVE',
    currency: 'USD',
    buying_power: shares?.buyingPower ?? '0',
    regt_buying_power: shares?.regTBuyingPower ?? '0',
    non_marginable_buying_power: crypto?.buyingPower ?? '0',
    options_buying_power: shares?.excess ?? '0',
    cash: total(balance => balance.cash),
    multiplier: margined ? '2' : '1',
    shorting_enabled: margined,
    equity: total(balance => balance.equity),
    long_market_value: total(balance => balance.longMarketValue),
    short_market_value: total(balance => balance.shortMarketValue),
    position_market_value: total(balance => balance.marketValue),
    initial_margin: total(balance => balance.initialMargin),
    maintenance_margin: total(balance => balance.maintenanceMargin),
    balance_asof: newYorkOf(customerView.now()).toPlainDate().subtract({ days: 1 }).toString()
  })
}

function positions({ brokerage, customerView }: AccountDeps, { customer, fault }: Call): Answer {
  if (fault?.do === 'empty') return jsonAnswer([])
  return jsonAnswer(customerView.positions(customer.id).map(position => positionWire(brokerage, position)))
}

function positionWire({ contracts, state }: BrokerageView, position: PositionView): object {
  const instrument = contracts.find(position.symbol)
  const quantity = parseDecimal(position.quantity, 'quantity')
  const isShort = quantity.startsWith('-')
  const previous = position.previousClose ?? position.lastPrice
  const [last, before] = [parseDecimal(position.lastPrice, 'price'), parseDecimal(previous, 'price')]
  const cost = parseDecimal(position.costBasis, 'cost')
  const value = parseDecimal(position.marketValue, 'value')
  const today = parseDecimal(position.dailyPl, 'profit')
  return {
    asset_id: assetIdOf(position.symbol),
    symbol: positionSymbol(position.symbol),
    exchange: position.kind === 'OPT' ? '' : (instrument?.exchange ?? ''),
    asset_class: CLASS_OF[position.kind],
    asset_marginable: position.kind === 'STK',
    qty: quantity,
    avg_entry_price: position.averagePrice,
    side: isShort ? 'short' : 'long',
    market_value: value,
    cost_basis: cost,
    unrealized_pl: position.unrealizedPl,
    unrealized_plpc: fraction(parseDecimal(position.unrealizedPl, 'profit'), absolute(cost)),
    unrealized_intraday_pl: today,
    unrealized_intraday_plpc: fraction(today, absolute(minus(value, today))),
    current_price: last,
    lastday_price: before,
    change_today: fraction(minus(last, before), before),
    qty_available: available(state, position, quantity)
  }
}

/** What open orders that would close it leave of it. */
function available(state: BrokerageView['state'], { accountId, symbol }: PositionView, quantity: Decimal): Decimal {
  const isShort = quantity.startsWith('-')
  const closing = state.engine
    .orders(accountId, { live: true, symbols: [symbol] })
    .filter(order => order.legs === null && order.side.startsWith(isShort ? 'BUY' : 'SELL'))
    .map(order => parseDecimal(order.remainingQuantity, 'remaining quantity'))
  const free = minus(absolute(quantity), sum(closing))
  return isShort ? negated(free) : free
}

function fraction(part: Decimal, whole: Decimal): Decimal {
  return isZero(whole) ? minus(whole, whole) : dividedBy(part, whole, PLACES)
}

/** Practice accounts begin with PA at Alpaca. */
export function numberOf(accounts: readonly Account[]): string {
  return `PA${(accounts[0]?.number ?? '').slice(2)}`
}
