/** The account, its positions and what happened to both over REST; what can be traded, and the clock. */

import { isZero, negated, parseDecimal, sum } from '@trunkline/core/domain/decimal'
import { type Answer, type BalanceView, type Customer, type Instrument, paramOf, type TransactionView } from '../frame/brokerage.ts'
import type { Call, DialectRoute } from '../frame/router.ts'
import { badParameter, bodyOf, instantIn, jsonAnswer, notFound } from './answers.ts'
import { type CustomerView, numberOf } from './customer-view.ts'
import { ACTIVITIES, ASSET_CLASSES, nanosOf, newYorkOf, positionSymbol, uuidFor } from './values.ts'

const ROOT = '/alpaca/api/v2'
const PAGE_SIZE = 100

/** Each answers with what it returns. */
export function accountRoutes(view: CustomerView): readonly DialectRoute[] {
  const route = (path: string, operation: DialectRoute['operation'], read: (call: Call) => unknown): DialectRoute => {
    return { method: 'GET', path: `${ROOT}/${path}`, operation, handle: (call): Answer => jsonAnswer(read(call)) }
  }
  const activities = (call: Call) => activitiesPage(view, call)
  return [
    route('account', 'balances.list', ({ customer }) => account(view, customer)),
    route('positions', 'positions.list', call => positions(view, call)),
    route('account/activities', 'transactions.list', activities),
    route('account/activities/:type', 'transactions.list', activities),
    route('assets', 'instruments.list', call => assets(view, call)),
    route('assets/:symbol', 'instruments.get', call => asset(view, call)),
    route('clock', 'clock.get', () => clock(view))
  ]
}

function account(view: CustomerView, customer: Customer): object {
  const accounts = view.accounts(customer.id)
  const balances = accounts.map(({ id }) => view.brokerage.state.engine.balance(id))
  const shares = balances.find((_, at) => accounts[at]?.kind !== 'coin')
  const total = (read: (balance: BalanceView) => string) => sum(balances.map(balance => parseDecimal(read(balance), 'money')))
  return {
    id: uuidFor(`account ${customer.username}`),
    account_number: view.number(customer.id),
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

function positions(view: CustomerView, { customer, fault }: Call): readonly object[] {
  const accounts = fault?.do === 'empty' ? [] : view.accounts(customer.id)
  return accounts
    .flatMap(({ id }) => view.brokerage.state.engine.positions(id))
    .map(position => ({
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
}

interface Activity {
  readonly id: string
  readonly activity_type: string
  readonly [name: string]: string | null
}

/** Newest first, over all accounts. Pages have no numbers here: anyone who pages begins behind an item. */
function activitiesPage(view: CustomerView, { request, customer }: Call): readonly object[] {
  const { state, publisher } = view.brokerage
  const body = bodyOf(request.query)
  const [after, until, token] = [instantIn(body, 'after'), instantIn(body, 'until'), body.textOr('page_token')]
  const [type, size] = [paramOf(request, 'type'), body.countOr('page_size', 1, PAGE_SIZE) ?? PAGE_SIZE]
  const all = view
    .accounts(customer.id)
    .flatMap(({ id }) => state.engine.transactions(id))
    .filter(({ orderId }) => orderId === null || !publisher.isHidden(orderId))
    .filter(({ at }) => (after === null || at > after) && (until === null || at < until))
    .sort((a, b) => numberOf(b.transactionId) - numberOf(a.transactionId))
    .flatMap(transaction => activitiesOf(transaction, view))
    .filter(({ activity_type }) => type === '' || type === activity_type)
  const start = token === null ? 0 : all.findIndex(({ id }) => id === token) + 1
  if (token !== null && start === 0) throw badParameter(`invalid page_token: ${token.slice(0, 64)}`)
  return all.slice(start, start + size)
}

/** Alpaca charges apart what the sandbox takes with the trade. */
function activitiesOf(transaction: TransactionView, view: CustomerView): readonly Activity[] {
  const { at, transactionId, orderId, execId, symbol, price, quantity, fees, kind, type, date, amount, currency, description } = transaction
  // It begins with the time in New York, and is not to be read as one.
  const time = newYorkOf(at).toPlainDateTime().toString({ fractionalSecondDigits: 3 }).replace(/\D/g, '')
  const row = (of: string, activityType: string) => ({ id: `${time}::${uuidFor(of)}`, activity_type: activityType })
  const booked = { date, created_at: nanosOf(at), symbol, currency }
  if (ACTIVITIES[type] !== 'FILL')
    return [{ ...row(transactionId, ACTIVITIES[type]), ...booked, net_amount: amount, qty: quantity, price, description }]
  const fill = {
    ...row(execId ?? transactionId, 'FILL'),
    ...{ order_id: orderId === null ? null : view.idOf(orderId), symbol, price, qty: quantity },
    side: type === 'BUY' ? 'buy' : 'sell',
    transaction_time: nanosOf(at)
  }
  const fee = parseDecimal(fees, 'fees')
  if (isZero(fee)) return [fill]
  return [{ ...row(`${transactionId} fee`, kind === 'CRYPTO' ? 'CFEE' : 'FEE'), ...booked, net_amount: negated(fee) }, fill]
}

function assets({ brokerage }: CustomerView, { request }: Call): readonly object[] {
  const assetClass = bodyOf(request.query).textOr('asset_class') ?? 'us_equity'
  return brokerage.market.instruments.filter(({ kind }) => ASSET_CLASSES[kind] === assetClass).map(assetWire)
}

function asset(view: CustomerView, { request }: Call): object {
  const symbol = paramOf(request, 'symbol')
  const found = view.instrument(symbol)
  if (found === null) throw notFound('asset', symbol)
  return assetWire(found)
}

function assetIdOf(symbol: string): string {
  return uuidFor(`asset ${symbol}`)
}

function assetWire({ symbol, name, kind, fraction, tick }: Instrument): object {
  const increments = { min_order_size: fraction, min_trade_increment: fraction, price_increment: tick }
  const common = { id: assetIdOf(symbol), class: ASSET_CLASSES[kind], symbol, name, status: 'active', tradable: true }
  return kind === 'CRYPTO' ? { ...common, ...increments } : common
}

function clock({ brokerage }: CustomerView): object {
  const now = brokerage.clock.now()
  const timestamp = newYorkOf(now).toString({ timeZoneName: 'never', fractionalSecondDigits: 6 })
  return { timestamp, is_open: brokerage.market.phaseAt('us-equity', now).phase === 'open' }
}
