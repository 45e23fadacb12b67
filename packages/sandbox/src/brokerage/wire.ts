/** The engine's records in the sandbox's wire format. Pure; only this file uses the names of `API.md`. */

import type { OrderType, Side, TimeInForce, TransactionType } from '@trunkline/core/domain/vocabulary'
import type { AccountKind, AssetClass } from '../control-terms.ts'
import type {
  BalanceView,
  FillView,
  FutureTerms,
  InstrumentKind,
  LegView,
  MarketView,
  OptionTerms,
  OrderState,
  OrderView,
  Phase,
  PositionView,
  PreviewView,
  QuoteCommand,
  TransactionView
} from '../engine/types.ts'
import type { Bar, Instrument, OptionFigures } from '../market/types.ts'
import { isoOf } from './clock.ts'
import type { Account, Customer } from './customers.ts'

export const ASSET_CLASSES = { share: 'STK', coin: 'CRYPTO', option: 'OPT', future: 'FUT' } as const satisfies Record<
  AssetClass,
  InstrumentKind
>
export const SIDES = { buy: 'BUY', sell: 'SELL' } as const satisfies Record<string, Side>
export const POSITION_EFFECTS = {
  open: { buy: 'BUY_TO_OPEN', sell: 'SELL_TO_OPEN' },
  close: { buy: 'BUY_TO_CLOSE', sell: 'SELL_TO_CLOSE' }
} as const satisfies Record<string, Record<keyof typeof SIDES, Side>>
export const ORDER_TYPES = { market: 'MKT', limit: 'LMT', stop: 'STP', stop_limit: 'STPLMT' } as const satisfies Record<string, OrderType>
export const TIME_IN_FORCE = {
  day: 'DAY',
  gtc: 'GTC',
  ioc: 'IOC',
  fok: 'FOK',
  at_open: 'OPEN',
  at_close: 'CLOSE',
  day_ext: 'DAY+',
  gtc_ext: 'GTC+'
} as const satisfies Record<string, TimeInForce>

export type ValuesOf<Table extends object> = keyof Table & string

/** The wire values of an enum map, for readers. */
export function valuesOf<Table extends object>(table: Table): readonly ValuesOf<Table>[] {
  return Object.keys(table) as ValuesOf<Table>[]
}

const CLASS_OF: Record<InstrumentKind, string> = { STK: 'share', CRYPTO: 'coin', OPT: 'option', FUT: 'future' }
const KIND_OF: Record<OrderType, string> = { MKT: 'market', LMT: 'limit', STP: 'stop', STPLMT: 'stop_limit' }
const TIME_IN_FORCE_OF: Record<TimeInForce, string> = {
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

/** False for an order that was refused before its quantity was read; only this sandbox keeps such orders. */
export function hasSize({ quantity, notional }: Pick<OrderView, 'quantity' | 'notional'>): boolean {
  return quantity !== null || notional !== null
}

export function isLive(order: OrderView): boolean {
  return LIVE.has(order.state)
}

/** The sandbox's own data about an order, beyond the engine's. */
export interface Overlay {
  /** A pending cancel or amendment, while the sandbox is slow. */
  readonly busy: 'cancelling' | 'amending' | null
  /** Accepted and then refused. */
  readonly refusedLater: { readonly code: string; readonly message: string } | null
}

export function orderWire(order: OrderView, overlay: Overlay | undefined): object {
  return {
    id: order.orderId,
    client_order_id: order.clientOrderId,
    account: order.accountId,
    symbol: order.symbol,
    class: order.legs === null ? CLASS_OF[order.kind] : 'package',
    direction: directionOf(order.side),
    effect: effectOf(order.side),
    kind: KIND_OF[order.orderType],
    lifetime: TIME_IN_FORCE_OF[order.timeInForce],
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
    legs: order.legs === null ? null : order.legs.map(legWire),
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

export function directionOf(side: Side): 'buy' | 'sell' {
  return side.startsWith('BUY') ? 'buy' : 'sell'
}

function effectOf(side: Side): 'open' | 'close' | null {
  if (side.endsWith('_TO_OPEN')) return 'open'
  return side.endsWith('_TO_CLOSE') ? 'close' : null
}

function legWire({ symbol, side, ratio, fills }: LegView): object {
  return { symbol, direction: directionOf(side), effect: effectOf(side), ratio, fills: fills.map(fillWire) }
}

export function fillWire(fill: FillView): object {
  return { id: fill.execId, quantity: fill.quantity, price: fill.price, fee: fill.fee, at: isoOf(fill.at), venue: fill.venue }
}

export function accountWire(account: Account, currency: string, openedAt: number | null): object {
  const { id, number, name, kind } = account
  return { id, number, name, kind, currency, opened: openedAt === null ? null : isoOf(openedAt) }
}

export function customerWire({ id, username, name }: Customer): object {
  return { id, username, name }
}

/** The sandbox charges no commission. */
export function previewWire({ accountId }: { readonly accountId: string }, seen: PreviewView): object {
  const { currency, price, cost, fees, initialMargin, buyingPower, warnings } = seen
  return {
    ...{ account: accountId, currency, price, cost, commission: '0.00', fees },
    ...{ initial_margin: initialMargin, buying_power: buyingPower, warnings }
  }
}

export function balanceWire(balance: BalanceView, kind: AccountKind | undefined): object {
  const margined = kind === 'margin' || kind === 'futures'
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
    reg_t_buying_power: kind === 'margin' ? balance.regTBuyingPower : null,
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
    // Gains and losses of futures are paid every day.
    type: transaction.type === 'ADJUSTMENT' && transaction.kind === 'FUT' ? 'settlement' : TRANSACTION_OF[transaction.type],
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

export function instrumentWire(instrument: Instrument, phase: Phase, halted: boolean): object {
  const { option, future } = instrument
  return {
    symbol: instrument.symbol,
    class: CLASS_OF[instrument.kind],
    name: instrument.name,
    currency: instrument.currency,
    exchange: instrument.exchange,
    hours: instrument.hours,
    price_step: instrument.tick,
    price_step_below_one: instrument.tickBelowOne,
    quantity_step: instrument.lot,
    smallest_fraction: instrument.fraction,
    multiplier: instrument.multiplier,
    shortable: instrument.shortable,
    auctions: instrument.auctions,
    option: option === undefined ? null : optionWire(option),
    future: future === undefined ? null : futureWire(future),
    halted,
    phase
  }
}

function optionWire({ underlying, right, strike, expiration, lastTradeAt, style, settlement }: OptionTerms): object {
  return { underlying, right, strike, expiration, last_trade: isoOf(lastTradeAt), style, settlement }
}

function futureWire({ root, month, lastTradeAt, initialMargin, maintenanceMargin }: FutureTerms): object {
  return { root, month, last_trade: isoOf(lastTradeAt), initial_margin: initialMargin, maintenance_margin: maintenanceMargin }
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

/** A contract of a chain with its current prices, day and model figures. */
export function chainRowWire({ symbol, option }: Instrument, quote: QuoteCommand | undefined, figures: OptionFigures | null): object {
  const [bid, ask] = [quote?.bids[0], quote?.asks[0]]
  return {
    u: option?.underlying ?? null,
    s: symbol,
    right: option?.right ?? null,
    strike: option?.strike ?? null,
    expiration: option?.expiration ?? null,
    b: bid?.[0] ?? null,
    bz: bid?.[1] ?? null,
    a: ask?.[0] ?? null,
    az: ask?.[1] ?? null,
    last: figures?.last ?? null,
    o: figures?.open ?? null,
    h: figures?.high ?? null,
    l: figures?.low ?? null,
    c: figures?.close ?? null,
    pc: figures?.previousClose ?? null,
    v: figures?.volume ?? null,
    delta: figures?.delta ?? null,
    gamma: figures?.gamma ?? null,
    theta: figures?.theta ?? null,
    vega: figures?.vega ?? null,
    rho: figures?.rho ?? null,
    iv: figures?.iv ?? null
  }
}
