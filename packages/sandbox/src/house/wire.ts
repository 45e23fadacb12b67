/** How the engine's records look on the house's wire. Pure; the words of `API.md` begin and end here. */

import type { OrderType, Side, TimeInForce, TransactionType } from '@trunkline/core/domain/vocabulary'
import type {
  BalanceView,
  FillView,
  InstrumentKind,
  InstrumentSpec,
  MarketView,
  OrderState,
  OrderView,
  PositionView,
  TransactionView
} from '../engine/types.ts'
import type { Bar } from '../market/types.ts'
import { isoOf } from './clock.ts'
import type { Account, Person } from './people.ts'

export const CLASSES = { share: 'STK', coin: 'CRYPTO', option: 'OPT', future: 'FUT' } as const satisfies Record<string, InstrumentKind>
export const DIRECTIONS = { buy: 'BUY', sell: 'SELL' } as const satisfies Record<string, Side>
export const KINDS = { market: 'MKT', limit: 'LMT', stop: 'STP', stop_limit: 'STPLMT' } as const satisfies Record<string, OrderType>
export const LIFETIMES = {
  day: 'DAY',
  gtc: 'GTC',
  ioc: 'IOC',
  fok: 'FOK',
  at_open: 'OPEN',
  at_close: 'CLOSE',
  day_ext: 'DAY+',
  gtc_ext: 'GTC+'
} as const satisfies Record<string, TimeInForce>

export type Words<Table extends object> = keyof Table & string

/** The words of a table, for readers. */
export function wordsOf<Table extends object>(table: Table): readonly Words<Table>[] {
  return Object.keys(table) as Words<Table>[]
}

const CLASS_OF: Record<InstrumentKind, string> = { STK: 'share', CRYPTO: 'coin', OPT: 'option', FUT: 'future' }
const KIND_OF: Record<OrderType, string> = { MKT: 'market', LMT: 'limit', STP: 'stop', STPLMT: 'stop_limit' }
const LIFETIME_OF: Record<TimeInForce, string> = {
  DAY: 'day',
  GTC: 'gtc',
  IOC: 'ioc',
  FOK: 'fok',
  OPEN: 'at_open',
  CLOSE: 'at_close',
  'DAY+': 'day_ext',
  'GTC+': 'gtc_ext'
}
const STATE_OF: Record<OrderState, string> = {
  held: 'held',
  open: 'open',
  partial: 'partial',
  filled: 'done',
  canceled: 'cancelled',
  expired: 'lapsed',
  rejected: 'refused',
  replaced: 'superseded'
}
const LIVE: ReadonlySet<OrderState> = new Set(['held', 'open', 'partial'])

export function isLive(order: OrderView): boolean {
  return LIVE.has(order.state)
}

export function classOf(kind: InstrumentKind): string {
  return CLASS_OF[kind]
}

/** What the house says of an order beyond what the engine knows. */
export interface Overlay {
  /** A cancel or an amendment that is under way where the house is slow. */
  readonly busy: 'cancelling' | 'amending' | null
  /** Taken and then turned down. */
  readonly refusedLater: { readonly code: string; readonly message: string } | null
}

export function orderWire(order: OrderView, overlay: Overlay | undefined): object {
  return {
    id: order.orderId,
    client_order_id: order.clientOrderId,
    account: order.accountId,
    symbol: order.symbol,
    class: CLASS_OF[order.kind],
    direction: order.side.startsWith('BUY') ? 'buy' : 'sell',
    kind: KIND_OF[order.orderType],
    lifetime: LIFETIME_OF[order.timeInForce],
    quantity: order.quantity,
    notional: order.notional,
    limit: order.limitPrice,
    stop: order.stopPrice,
    state: stateOf(order, overlay),
    reason: overlay?.refusedLater ?? order.reason,
    triggered: order.triggered,
    filled: order.filledQuantity,
    carried: order.carriedQuantity,
    remaining: order.remainingQuantity,
    average_fill_price: order.averagePrice,
    fees: order.fees,
    fills: order.fills.map(fillWire),
    amends: order.replaces,
    amended_by: order.replacedBy,
    received: isoOf(order.acceptedAt),
    changed: isoOf(order.updatedAt),
    last_fill: order.lastFillAt === null ? null : isoOf(order.lastFillAt)
  }
}

function stateOf(order: OrderView, overlay: Overlay | undefined): string {
  if (overlay === undefined) return STATE_OF[order.state]
  if (overlay.refusedLater !== null && order.state === 'canceled') return 'refused'
  return overlay.busy !== null && isLive(order) ? overlay.busy : STATE_OF[order.state]
}

export function fillWire(fill: FillView): object {
  return { id: fill.execId, quantity: fill.quantity, price: fill.price, fee: fill.fee, at: isoOf(fill.at), venue: fill.venue }
}

export function accountWire(account: Account, currency: string, openedAt: number | null): object {
  const { id, number, name, kind } = account
  return { id, number, name, kind, currency, opened: openedAt === null ? null : isoOf(openedAt) }
}

export function personWire({ id, username, name }: Person): object {
  return { id, username, name }
}

export function balanceWire(balance: BalanceView, margined: boolean): object {
  return {
    account: balance.accountId,
    currency: balance.currency,
    cash: balance.cash,
    settled_cash: balance.settledCash,
    equity: balance.equity,
    market_value: balance.marketValue,
    long_value: balance.longMarketValue,
    short_value: balance.shortMarketValue,
    buying_power: balance.buyingPower,
    reg_t_buying_power: margined ? balance.regTBuyingPower : null,
    initial_margin: margined ? balance.initialMargin : null,
    maintenance_margin: margined ? balance.maintenanceMargin : null,
    reserved: balance.reserved,
    margin_call: balance.marginCall,
    realized: balance.realizedPl,
    unrealized: balance.unrealizedPl,
    today: balance.dailyPl,
    fees: balance.fees
  }
}

export function positionWire(position: PositionView): object {
  return {
    account: position.accountId,
    symbol: position.symbol,
    class: CLASS_OF[position.kind],
    currency: position.currency,
    quantity: position.quantity,
    average_price: position.averagePrice,
    last_price: position.lastPrice,
    previous_close: position.previousClose,
    market_value: position.marketValue,
    cost: position.costBasis,
    unrealized: position.unrealizedPl,
    realized: position.realizedPl,
    today: position.dailyPl,
    total: position.totalPl,
    opened: isoOf(position.openedAt),
    changed: isoOf(position.updatedAt)
  }
}

const TRANSACTION_OF: Record<TransactionType, string> = {
  BUY: 'buy',
  SELL: 'sell',
  DIVIDEND: 'dividend',
  INTEREST: 'interest',
  FEE: 'fee',
  DEPOSIT: 'deposit',
  WITHDRAWAL: 'withdrawal',
  TRANSFER: 'transfer',
  SPLIT: 'split',
  EXERCISE: 'exercise',
  ASSIGNMENT: 'assignment',
  EXPIRATION: 'expiration',
  ADJUSTMENT: 'adjustment',
  OTHER: 'other'
}

export function transactionWire(transaction: TransactionView): object {
  return {
    id: transaction.transactionId,
    account: transaction.accountId,
    type: TRANSACTION_OF[transaction.type],
    symbol: transaction.symbol,
    class: transaction.kind === null ? null : CLASS_OF[transaction.kind],
    quantity: transaction.quantity,
    price: transaction.price,
    amount: transaction.amount,
    fees: transaction.fees,
    currency: transaction.currency,
    date: transaction.date,
    settles: transaction.settlementDate,
    order: transaction.orderId,
    fill: transaction.execId,
    text: transaction.description,
    at: isoOf(transaction.at)
  }
}

export function instrumentWire(spec: InstrumentSpec, exchange: string, market: MarketView | undefined): object {
  return {
    symbol: spec.symbol,
    class: CLASS_OF[spec.kind],
    name: spec.name,
    currency: spec.currency,
    exchange,
    price_step: spec.tick,
    price_step_below_one: spec.tickBelowOne,
    quantity_step: spec.lot,
    smallest_fraction: spec.fraction,
    multiplier: spec.multiplier,
    shortable: spec.shortable,
    auctions: spec.auctions,
    halted: market?.halted ?? false,
    phase: market?.phase ?? 'closed'
  }
}

export function quoteWire(market: MarketView): object {
  const [bid] = market.bids
  const [ask] = market.asks
  return {
    symbol: market.symbol,
    bid: bid?.[0] ?? null,
    bid_size: bid?.[1] ?? null,
    ask: ask?.[0] ?? null,
    ask_size: ask?.[1] ?? null,
    last: market.mark,
    previous_close: market.previousClose,
    halted: market.halted,
    phase: market.phase
  }
}

export function barWire(bar: Bar): object {
  const { start, ...rest } = bar
  return { start: isoOf(start), ...rest }
}
