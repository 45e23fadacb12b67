/** The account, its positions and its settings over REST. */

import { absolute, type Decimal, dividedBy, isZero, minus, negated, parseDecimal, sum, times } from '@trunkline/core/domain/decimal'
import type { FastifyRequest } from 'fastify'
import { paramOf } from '../../brokerage/api/orders.ts'
import type { Answer } from '../../brokerage/api/response-writer.ts'
import type { Account, Customer } from '../../brokerage/customers.ts'
import type { DialectBrokerage } from '../../brokerage/dialect.ts'
import { Problem } from '../../brokerage/problems.ts'
import type { BalanceView, PositionView } from '../../engine/types.ts'
import type { Call, DialectRoute } from '../frame/router.ts'
import { Body } from './body.ts'
import type { CustomerView } from './customer-view.ts'
import { CLASS_OF, positionSymbol } from './enums.ts'
import { assetIdOf, UUID, uuidFor } from './ids.ts'
import { badParameter, jsonAnswer, notFound, problemAnswer } from './problems.ts'
import { nanosOf, newYorkOf } from './times.ts'

const ROOT = '/alpaca/api/v2'
/** Places of what is a fraction of something. */
const PLACES = 9

export interface AccountDeps {
  readonly brokerage: DialectBrokerage
  readonly customerView: CustomerView
}

export function accountRoutes(deps: AccountDeps): readonly DialectRoute[] {
  const about = (request: FastifyRequest) => ({ symbol: paramOf(request, 'symbol'), clientOrderId: null })
  const one = `${ROOT}/positions/:symbol`
  return [
    { method: 'GET', path: `${ROOT}/account`, operation: 'balances.list', handle: call => account(deps, call.customer) },
    { method: 'GET', path: `${ROOT}/account/configurations`, operation: 'accounts.list', handle: () => jsonAnswer(CONFIGURATION) },
    { method: 'GET', path: `${ROOT}/positions`, operation: 'positions.list', handle: call => positions(deps, call) },
    { method: 'GET', path: one, operation: 'positions.list', about, handle: call => position(deps, call) },
    { method: 'DELETE', path: one, operation: 'orders.submit', about, handle: call => closePosition(deps, call) },
    { method: 'DELETE', path: `${ROOT}/positions`, operation: 'orders.submit', handle: call => closeAll(deps, call) }
  ]
}

const CONFIGURATION = {
  dtbp_check: 'entry',
  fractional_trading: true,
  max_margin_multiplier: '2',
  max_options_trading_level: 3,
  no_shorting: false,
  pdt_check: 'entry',
  ptp_no_exception_entry: false,
  suspend_trade: false,
  disable_overnight_trading: false,
  trade_confirm_email: 'none'
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
  const equity = total(balance => balance.equity)
  const openedAt = accounts
    .map(({ id }) => brokerage.state.engine.account(id)?.openedAt ?? 0)
    .reduce((a, b) => Math.min(a, b), customerView.now())
  return jsonAnswer({
    id: accountIdOf(customer),
    admin_configurations: {},
    user_configurations: null,
    account_number: numberOf(accounts),
    status: 'ACTIVE',
    crypto_status: crypto === undefined ? 'INACTIVE' : 'ACTIVE',
    options_approved_level: 3,
    options_trading_level: 3,
    currency: 'USD',
    buying_power: shares?.buyingPower ?? '0',
    regt_buying_power: shares?.regTBuyingPower ?? '0',
    daytrading_buying_power: '0',
    effective_buying_power: shares?.buyingPower ?? '0',
    non_marginable_buying_power: crypto?.buyingPower ?? '0',
    options_buying_power: shares?.excess ?? '0',
    bod_dtbp: '0',
    cash: total(balance => balance.cash),
    accrued_fees: '0',
    portfolio_value: equity,
    trading_blocked: false,
    transfers_blocked: false,
    account_blocked: false,
    created_at: nanosOf(openedAt),
    trade_suspended_by_user: false,
    multiplier: margined ? '2' : '1',
    shorting_enabled: margined,
    equity,
    last_equity: minus(
      equity,
      total(balance => balance.dailyPl)
    ),
    long_market_value: total(balance => balance.longMarketValue),
    short_market_value: total(balance => balance.shortMarketValue),
    position_market_value: total(balance => balance.marketValue),
    initial_margin: total(balance => balance.initialMargin),
    maintenance_margin: total(balance => balance.maintenanceMargin),
    last_maintenance_margin: total(balance => balance.maintenanceMargin),
    sma: total(balance => balance.excess),
    daytrade_count: 0,
    balance_asof: newYorkOf(customerView.now()).toPlainDate().subtract({ days: 1 }).toString(),
    crypto_tier: 1,
    intraday_adjustments: '0',
    pending_reg_taf_fees: '0'
  })
}

function positions({ brokerage, customerView }: AccountDeps, { customer, fault }: Call): Answer {
  if (fault?.do === 'empty') return jsonAnswer([])
  return jsonAnswer(customerView.positions(customer.id).map(position => positionWire(brokerage, position)))
}

function position({ brokerage, customerView }: AccountDeps, call: Call): Answer {
  return jsonAnswer(positionWire(brokerage, held(customerView, call)))
}

/** @throws AlpacaProblem where the user holds none */
function held(customerView: CustomerView, { customer, request }: Pick<Call, 'customer' | 'request'>): PositionView {
  const requested = paramOf(request, 'symbol')
  const symbol = UUID.test(requested) ? null : (customerView.instrument(requested)?.symbol ?? requested)
  const found = customerView
    .positions(customer.id)
    .find(position => (symbol === null ? assetIdOf(position.symbol) === requested : position.symbol === symbol))
  if (found === undefined) throw notFound('position does not exist')
  return found
}

function positionWire({ contracts, state }: DialectBrokerage, position: PositionView): object {
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
function available(state: DialectBrokerage['state'], { accountId, symbol }: PositionView, quantity: Decimal): Decimal {
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

async function closePosition({ brokerage, customerView }: AccountDeps, call: Call): Promise<Answer> {
  const position = held(customerView, call)
  const body = new Body(call.request.query)
  const [quantity, percentage] = [body.decimal('qty'), body.decimal('percentage')]
  if (quantity !== null && percentage !== null) throw badParameter('only one of qty or percentage is accepted')
  return jsonAnswer(customerView.first(await submitClosing(brokerage, position, { quantity, percentage, call })))
}

interface Closing {
  readonly quantity: Decimal | null
  readonly percentage: Decimal | null
  readonly call: Call
}

async function submitClosing(brokerage: DialectBrokerage, position: PositionView, { quantity, percentage, call }: Closing) {
  const whole = absolute(parseDecimal(position.quantity, 'quantity'))
  const part = percentage === null ? quantity : partOf(whole, percentage)
  const sells = !position.quantity.startsWith('-')
  await brokerage.contracts.bring([position.symbol])
  return brokerage.orderService.submit(
    {
      accountId: position.accountId,
      symbol: position.symbol,
      side: position.kind === 'OPT' ? (sells ? 'SELL_TO_CLOSE' : 'BUY_TO_CLOSE') : sells ? 'SELL' : 'BUY',
      orderType: 'MKT',
      timeInForce: position.kind === 'CRYPTO' ? 'GTC' : 'DAY',
      quantity: part ?? whole,
      notional: null,
      limitPrice: null,
      stopPrice: null,
      clientOrderId: uuidFor(brokerage.newId())
    },
    call.fault
  )
}

function partOf(whole: Decimal, percentage: Decimal): Decimal {
  const hundred = parseDecimal('100', 'percentage')
  return dividedBy(times(whole, percentage), hundred, PLACES)
}

/** Orders of the positions are cancelled first where that is asked for. */
async function closeAll({ brokerage, customerView }: AccountDeps, call: Call): Promise<Answer> {
  const { customer, request } = call
  if (new Body(request.query).flag('cancel_orders'))
    for (const order of [...customerView.orders(customer.id, { live: true })]) brokerage.orderService.cancel(order, undefined)
  const items: object[] = []
  for (const position of customerView.positions(customer.id)) {
    const symbol = positionSymbol(position.symbol)
    try {
      const order = await submitClosing(brokerage, position, { quantity: null, percentage: null, call })
      items.push({ symbol, status: 200, body: customerView.first(order) })
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      const { status, text } = problemAnswer(error, null)
      items.push({ symbol, status, body: JSON.parse(text) as unknown })
    }
  }
  return jsonAnswer(items, 207)
}

/** Practice accounts begin with PA at Alpaca. */
export function numberOf(accounts: readonly Account[]): string {
  return `PA${(accounts[0]?.number ?? '').slice(2)}`
}
