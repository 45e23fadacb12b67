/** The account, its positions and what happened to both over REST; what can be traded, and the clock. */

import { type Decimal, isZero, negated, parseDecimal, sum } from '@trunkline/core/domain/decimal'
import { type Answer, type BalanceView, type Customer, type Instrument, paramOf, type TransactionView } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import type { Call, DialectRoute } from '../frame/router.ts'
import { badParameter, bodyOf, jsonAnswer, notFound } from './answers.ts'
import { type CustomerView, numberOf } from './customer-view.ts'
import { ACTIVITIES, ASSET_CLASSES, assetIdOf, instantOf, nanosOf, newYorkOf, positionSymbol, uuidFor } from './values.ts'

const ROOT = '/alpaca/api/v2'
const PAGE_SIZE = 100

export interface AccountDeps {
  readonly brokerage: BrokerageView
  readonly customerView: CustomerView
}

export function accountRoutes(deps: AccountDeps): readonly DialectRoute[] {
  const get = { method: 'GET' } as const
  const activities = {
    ...get,
    operation: 'transactions.list',
    handle: (call: Call) => jsonAnswer(activitiesPage(deps, call))
  } as const
  return [
    { ...get, path: `${ROOT}/account`, operation: 'balances.list', handle: ({ customer }) => jsonAnswer(account(deps, customer)) },
    { ...get, path: `${ROOT}/positions`, operation: 'positions.list', handle: call => positions(deps, call) },
    { ...activities, path: `${ROOT}/account/activities` },
    { ...activities, path: `${ROOT}/account/activities/:type` },
    { ...get, path: `${ROOT}/assets`, operation: 'instruments.list', handle: call => assets(deps, call) },
    { ...get, path: `${ROOT}/assets/:symbol`, operation: 'instruments.get', handle: call => asset(deps, call) },
    { ...get, path: `${ROOT}/clock`, operation: 'clock.get', handle: () => clock(deps) }
  ]
}

function account({ brokerage, customerView }: AccountDeps, customer: Customer): object {
  const accounts = customerView.accounts(customer.id)
  const balances = accounts.map(({ id }) => brokerage.state.engine.balance(id))
  const shares = balances.find((_, at) => accounts[at]?.kind !== 'coin')
  const total = (read: (balance: BalanceView) => string) => sum(balances.map(balance => parseDecimal(read(balance), 'money')))
  return {
    id: uuidFor(`account ${customer.username}`),
    account_number: customerView.number(customer.id),
    status: 'ACTIVE',
    currency: 'USD',
    buying_power: shares?.buyingPower ?? '0',
    regt_buying_power: shares?.regTBuyingPower ?? '0',
    cash: total(balance => balance.cash),
    multiplier: accounts.some(({ kind }) => kind === 'margin') ? '2' : '1',
    equity: total(balance => balance.equity),
    position_market_value: total(balance => balance.marketValue),
    initial_margin: total(balance => balance.initialMargin),
    maintenance_margin: total(balance => balance.maintenanceMargin)
  }
}

function positions({ customerView }: AccountDeps, { customer, fault }: Call): Answer {
  const positions = fault?.do === 'empty' ? [] : customerView.positions(customer.id)
  const wires = positions.map(position => ({
    asset_id: assetIdOf(position.symbol),
    symbol: positionSymbol(position.symbol),
    asset_class: ASSET_CLASSES[position.kind],
    qty: position.quantity,
    avg_entry_price: position.averagePrice,
    side: position.quantity.startsWith('-') ? 'short' : 'long',
    market_value: position.marketValue,
    unrealized_pl: position.unrealizedPl,
    unrealized_intraday_pl: position.dailyPl,
    current_price: position.lastPrice
  }))
  return jsonAnswer(wires)
}

interface Activity {
  readonly id: string
  readonly activity_type: string
  readonly [name: string]: string | null
}

/** Pages have no numbers here: anyone who pages begins behind an item. */
function activitiesPage(deps: AccountDeps, { request, customer }: Call): readonly Activity[] {
  const body = bodyOf(request.query)
  const [after, until, token] = [
    body.readOr('after', 'must be an instant', instantOf),
    body.readOr('until', 'must be an instant', instantOf),
    body.textOr('page_token')
  ]
  const [type, size] = [paramOf(request, 'type'), body.countOr('page_size', 1, PAGE_SIZE) ?? PAGE_SIZE]
  const all = transactionsOf(deps, customer.id)
    .filter(({ at }) => (after === null || at > after) && (until === null || at < until))
    .flatMap(transaction => activitiesOf(transaction, deps.customerView))
    .filter(({ activity_type }) => type === '' || type === activity_type)
  const start = token === null ? 0 : all.findIndex(({ id }) => id === token) + 1
  if (token !== null && start === 0) throw badParameter(`invalid page_token: ${token.slice(0, 64)}`)
  return all.slice(start, start + size)
}

/** Newest first, over all accounts. */
function transactionsOf({ brokerage, customerView }: AccountDeps, login: string): readonly TransactionView[] {
  const { state, publisher } = brokerage
  return customerView
    .accounts(login)
    .flatMap(({ id }) => state.engine.transactions(id))
    .filter(({ orderId }) => orderId === null || !publisher.isHidden(orderId))
    .sort((a, b) => numberOf({ orderId: b.transactionId }) - numberOf({ orderId: a.transactionId }))
}

/** Alpaca charges apart what the sandbox takes with the trade. */
function activitiesOf(transaction: TransactionView, customerView: CustomerView): readonly Activity[] {
  const { at, transactionId, orderId, execId, symbol, price, quantity, fees, kind, type, date, amount, currency, description } = transaction
  // It begins with the time in New York, and is not to be read as one.
  const time = newYorkOf(at).toPlainDateTime().toString({ fractionalSecondDigits: 3 }).replace(/\D/g, '')
  const row = (of: string, activityType: string) => ({ id: `${time}::${uuidFor(of)}`, activity_type: activityType })
  const booked = { date, created_at: nanosOf(at), symbol, currency }
  if (ACTIVITIES[type] !== 'FILL') {
    const sizes = { net_amount: amount, qty: quantity, price, description }
    return [{ ...row(transactionId, ACTIVITIES[type]), ...booked, ...sizes }]
  }
  const fill = {
    ...row(execId ?? transactionId, 'FILL'),
    ...{ order_id: orderId === null ? null : customerView.idOf(orderId), symbol, price, qty: quantity },
    side: type === 'BUY' ? 'buy' : 'sell',
    transaction_time: nanosOf(at)
  }
  const fee: Decimal = parseDecimal(fees, 'fees')
  if (isZero(fee)) return [fill]
  return [{ ...row(`${transactionId} fee`, kind === 'CRYPTO' ? 'CFEE' : 'FEE'), ...booked, net_amount: negated(fee) }, fill]
}

function assets({ brokerage }: AccountDeps, { request }: Call): Answer {
  const assetClass = bodyOf(request.query).textOr('asset_class') ?? 'us_equity'
  return jsonAnswer(brokerage.market.instruments.filter(({ kind }) => ASSET_CLASSES[kind] === assetClass).map(assetWire))
}

function asset({ customerView }: AccountDeps, { request }: Call): Answer {
  const symbol = paramOf(request, 'symbol')
  const found = customerView.instrument(symbol)
  if (found === null) throw notFound(`asset not found for ${symbol.slice(0, 40)}`)
  return jsonAnswer(assetWire(found))
}

function assetWire({ symbol, name, kind, fraction, tick }: Instrument): object {
  const increments = { min_order_size: fraction, min_trade_increment: fraction, price_increment: tick }
  const common = { id: assetIdOf(symbol), class: ASSET_CLASSES[kind], symbol, name, status: 'active', tradable: true }
  return kind === 'CRYPTO' ? { ...common, ...increments } : common
}

function clock({ brokerage }: AccountDeps): Answer {
  const now = brokerage.clock.now()
  const timestamp = newYorkOf(now).toString({ timeZoneName: 'never', fractionalSecondDigits: 6 })
  return jsonAnswer({ timestamp, is_open: brokerage.market.phaseAt('us-equity', now).phase === 'open' })
}
