/** The engine's records as plain JSON with decimal text. */

import { marketValue, purchasePower, worthOf } from './margin.ts'
import { type Account, type EngineState, type ExternalLevel, type Holding, type Leg, leaves, type Order, type OrderBook } from './state.ts'
import type { AccountView, BalanceView, ConservationView, LegView, MarketView, OrderView, PositionView, QuoteLevel } from './types.ts'
import { abs, divideHalfUp, formatMoney, formatScaled, type Money, type Price, type Quantity } from './units.ts'

export function orderView(order: Order): OrderView {
  return {
    orderId: order.id,
    clientOrderId: order.clientOrderId,
    accountId: order.account.id,
    symbol: order.legs === null ? order.book.symbol : null,
    kind: order.book.spec.source.kind,
    side: order.side,
    orderType: order.orderType,
    timeInForce: order.timeInForce,
    quantity: scaledOrNull(order.quantity),
    notional: order.notional === null ? null : formatMoney(order.notional),
    limitPrice: scaledOrNull(order.limit),
    stopPrice: scaledOrNull(order.stop),
    state: order.state,
    triggered: order.triggered,
    filledQuantity: formatScaled(order.filled),
    carriedQuantity: formatScaled(order.carried),
    remainingQuantity: formatScaled(leaves(order)),
    averagePrice: averageText(order.traded, order.filled, order.book.spec.multiplier),
    fees: formatMoney(order.fees),
    fills: order.fills.slice(),
    legs: order.legs === null ? null : order.legs.map(legView),
    reason: order.reason,
    replaces: order.replaces,
    replacedBy: order.replacedBy,
    acceptedAt: order.acceptedAt,
    updatedAt: order.updatedAt,
    lastFillAt: order.lastFillAt
  }
}

function legView({ book, side, ratio, fills }: Leg): LegView {
  return { symbol: book.symbol, side, ratio: ratio.toString(), fills: fills.slice() }
}

export function accountView(account: Account): AccountView {
  return {
    accountId: account.id,
    number: account.number,
    accountType: account.accountType,
    currency: account.currency,
    permitted: account.permitted,
    openedAt: account.openedAt
  }
}

export function balanceView(account: Account): BalanceView {
  const worth = worthOf(account)
  let [unrealized, daily] = [0n, 0n]
  for (const holding of account.holdings.values()) {
    const value = marketValue(holding)
    unrealized += value - holding.cost
    daily += value - holding.dayBasis
  }
  return {
    accountId: account.id,
    currency: account.currency,
    cash: formatMoney(account.cash),
    settledCash: formatMoney(account.cash - account.unsettledSum),
    longMarketValue: formatMoney(worth.longValue),
    shortMarketValue: formatMoney(worth.shortValue),
    marketValue: formatMoney(worth.longValue + worth.shortValue),
    equity: formatMoney(worth.equity),
    initialMargin: formatMoney(worth.initial),
    maintenanceMargin: formatMoney(worth.maintenance),
    buyingPower: formatMoney(purchasePower(account, worth.excess - worth.reserved)),
    regTBuyingPower: formatMoney(purchasePower(account, worth.excess)),
    excess: formatMoney(worth.excess - worth.reserved),
    reserved: formatMoney(worth.reserved),
    marginCall: worth.equity < worth.maintenance,
    realizedPl: formatMoney(account.realized),
    unrealizedPl: formatMoney(unrealized),
    dailyPl: formatMoney(daily),
    fees: formatMoney(account.fees)
  }
}

export function positionView(account: Account, holding: Holding): PositionView {
  const { book, quantity, cost } = holding
  const value = marketValue(holding)
  const unrealized = value - cost
  return {
    accountId: account.id,
    symbol: book.symbol,
    kind: book.spec.source.kind,
    currency: account.currency,
    quantity: formatScaled(quantity),
    averagePrice: averageText(abs(cost), abs(quantity), book.spec.multiplier) ?? '0',
    costBasis: formatMoney(cost),
    lastPrice: formatScaled(book.mark ?? 0n),
    previousClose: scaledOrNull(book.previousClose),
    marketValue: formatMoney(value),
    unrealizedPl: formatMoney(unrealized),
    realizedPl: formatMoney(holding.realized),
    dailyPl: formatMoney(value - holding.dayBasis),
    totalPl: formatMoney(unrealized + holding.realized),
    openedAt: holding.openedAt,
    updatedAt: holding.updatedAt
  }
}

export function marketView(book: OrderBook): MarketView {
  return {
    symbol: book.symbol,
    phase: book.market.phase,
    tradingDate: book.market.tradingDate,
    halted: book.halted,
    mark: scaledOrNull(book.mark),
    previousClose: scaledOrNull(book.previousClose),
    bids: levelViews(book.externalBids),
    asks: levelViews(book.externalAsks)
  }
}

export function conservationView(state: EngineState): ConservationView {
  const cash = new Map<string, Money>()
  const units = new Map<string, Quantity>()
  for (const [currency, { street, bank, fees, dividends, interest }] of state.counterparts) {
    cash.set(currency, street + bank + fees + dividends + interest)
  }
  for (const book of state.books.values()) units.set(book.symbol, book.streetUnits)
  for (const account of state.accounts.values()) {
    cash.set(account.currency, (cash.get(account.currency) ?? 0n) + account.cash)
    for (const [symbol, { quantity }] of account.holdings) units.set(symbol, (units.get(symbol) ?? 0n) + quantity)
  }
  return {
    cash: Object.fromEntries([...cash].map(([currency, sum]) => [currency, formatMoney(sum)])),
    units: Object.fromEntries([...units].map(([symbol, sum]) => [symbol, formatScaled(sum)]))
  }
}

function levelViews(levels: readonly ExternalLevel[]): QuoteLevel[] {
  return levels.filter(level => level.left > 0n).map(level => [formatScaled(level.price), formatScaled(level.left)] as const)
}

function averageText(value: Money, quantity: Quantity, multiplier: bigint): string | null {
  if (value < 0n) return `-${averageText(-value, quantity, multiplier)}`
  return quantity === 0n ? null : formatScaled(divideHalfUp(value, quantity * multiplier))
}

function scaledOrNull(value: Price | Quantity | null): string | null {
  return value === null ? null : formatScaled(value)
}
