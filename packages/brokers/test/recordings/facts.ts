/** What an adapter reported, by the keys of `expected`. */

import type { TradingCalendar } from '@trunkline/core/domain/calendar/index'
import { areEqual, type Decimal, dividedBy, negated, sum, times } from '@trunkline/core/domain/decimal'
import { filledUpTo } from '@trunkline/core/domain/inferred-fills'
import { type Bar, msOfNanos, type Quote, type Trade } from '@trunkline/core/domain/market/records'
import { type Fill, isOpen, type Leg } from '@trunkline/core/domain/order'
import { timestampOfMs, tradingDay } from '@trunkline/core/domain/timestamp'
import {
  type BalanceReport,
  BrokerFault,
  type OrderReport,
  type Outcome,
  type PositionReport,
  type TransactionReport
} from '@trunkline/core/ports/broker'
import type { OrderPreview } from '@trunkline/core/ports/preview'

export type Facts = { readonly [key: string]: unknown }

const AVERAGE_PLACES = 9

export function orderFacts(report: OrderReport, fills: readonly Fill[] = report.fills ?? []): Facts {
  const { filledTotal, status, quantity, legs } = report
  const total = filledTotal ?? totalOf(fills)
  return {
    broker_order_id: report.brokerOrderId,
    client_order_id: report.brokerClOrdId,
    tag: report.brokerClOrdId,
    symbol: report.symbol,
    instrument: report.instrument,
    side: report.side,
    action: report.side,
    order_type: report.type,
    order_tif: report.tif,
    order_qty: quantity,
    order_notional: report.notional,
    order_limit_price: limitOf(report),
    stop_price: report.stopPrice,
    order_stop_price: report.stopPrice,
    normalized_status: status,
    broker_status: report.brokerStatus,
    broker_message: report.brokerMessage,
    closed: !isOpen(status),
    filled_quantity: total.quantity,
    average_price: total.averagePrice,
    fills: fills.map(fillFacts),
    legs: legs === null ? [{ symbol: report.symbol }] : legs.map(legFacts),
    replaces: report.replacesBrokerOrderId,
    replaced_by: report.replacedByBrokerOrderId
  }
}

/** A credit that is sold at a price is bought at its negative. */
function limitOf({ legs, side, limitPrice }: OrderReport): unknown {
  return legs !== null && limitPrice !== null && side === 'SELL' ? new Set([limitPrice, negated(limitPrice)]) : limitPrice
}

/** The executions that the reports of one order come to, as the service books them: totals only add what is new. */
export function bookedFills(reports: readonly OrderReport[]): readonly Fill[] {
  let fills: readonly Fill[] = []
  for (const report of reports) {
    const { filledTotal: total, updatedAt } = report
    const known = new Set(fills.map(({ fillId }) => fillId))
    const more = (report.fills ?? []).filter(({ fillId }) => !known.has(fillId))
    if (more.length > 0) fills = [...fills, ...more]
    else if (total !== null && total.averagePrice !== null && !areEqual(total.quantity, totalOf(fills).quantity))
      fills = filledUpTo({ ...report, fills }, { quantity: total.quantity, averagePrice: total.averagePrice }, updatedAt)
  }
  return fills
}

function totalOf(fills: readonly Fill[]): { readonly quantity: Decimal; readonly averagePrice: Decimal | null } {
  const quantity = sum(fills.map(fill => fill.quantity))
  const paid = sum(fills.map(fill => times(fill.quantity, fill.price)))
  return { quantity, averagePrice: fills.length === 0 ? null : dividedBy(paid, quantity, AVERAGE_PLACES) }
}

function fillFacts({ fillId, quantity, price, at }: Fill): Facts {
  return { execution_id: fillId, id: fillId, quantity, price, time: at }
}

function legFacts({ symbol, side, ratio, fills }: Leg): Facts {
  const { quantity, averagePrice } = totalOf(fills)
  return { symbol, side, action: side, ratio, filled_quantity: quantity, average_price: averagePrice }
}

export function balanceFacts(balance: BalanceReport): Facts {
  return {
    currency_code: balance.currency,
    cash: balance.cash,
    buying_power: balance.buyingPower,
    reg_t_buying_power: balance.regTBuyingPower,
    initial_margin: balance.initialMargin,
    maintenance_margin: balance.maintenanceMargin,
    equity: balance.equity,
    market_value: balance.marketValue
  }
}

export function positionFacts(position: PositionReport): Facts {
  return {
    symbol: position.symbol,
    instrument: position.instrument,
    quantity: position.quantity,
    last_price: position.lastPrice,
    position_average_price: position.averagePrice,
    unrealized_pl: position.unrealizedPl,
    realized_pl: position.realizedPl,
    daily_pl: position.dailyPl,
    total_pl: position.totalPl
  }
}

export function transactionFacts(transaction: TransactionReport): Facts {
  return {
    type: transaction.type,
    symbol: transaction.symbol,
    instrument: transaction.instrument,
    quantity: transaction.quantity,
    price: transaction.price,
    amount: transaction.amount,
    fees: transaction.fees,
    description: transaction.description,
    date: transaction.day,
    // The port has the trading day.
    time: transaction.day,
    broker_order_id: transaction.brokerOrderId
  }
}

export function barFacts({ startMs, open, high, low, close, volume }: Bar, calendar?: TradingCalendar): Facts {
  const at = timestampOfMs(startMs)
  const texts = { open, high, low, close, volume, o: open, h: high, l: low, c: close, v: volume }
  return { ...texts, start: at, time: at, session_date: calendar?.dateAt(startMs) ?? tradingDay(at) }
}

export function quoteFacts(quote: Quote & { readonly symbol: string }): Facts {
  const { symbol, bidPrice, askPrice, bidSize, askSize, at } = quote
  return {
    symbol,
    bid: bidPrice,
    ask: askPrice,
    bid_size: bidSize,
    ask_size: askSize,
    ts_ms: msOfNanos(at),
    quote_time: timestampOfMs(msOfNanos(at))
  }
}

export function tradeFacts({ symbol, price, size, at }: Trade & { readonly symbol: string }): Facts {
  return {
    symbol,
    price,
    size,
    qty: size,
    ts_ms: msOfNanos(at),
    time: timestampOfMs(msOfNanos(at)),
    trade_time: timestampOfMs(msOfNanos(at))
  }
}

/** Of a command. What is unknown has to be looked up, and leaves the order where it was. */
export function outcomeFacts(outcome: Outcome<OrderReport | null>, onAccepted: Facts = {}): Facts {
  const { kind } = outcome
  const common = {
    verdict: kind,
    // A change of an order that is not found is refused.
    fault: kind === 'refused' ? new Set([kind, 'absent']) : kind,
    order_created: kind === 'unknown' ? 'unknown' : kind === 'accepted',
    order_refused: kind === 'refused',
    retry: false
  }
  if (kind === 'accepted') return { ...common, ...(outcome.value === null ? {} : orderFacts(outcome.value)), ...onAccepted }
  const isUnknown = kind === 'unknown'
  return {
    ...common,
    must_look_up: isUnknown,
    first_attempt_landed: isUnknown,
    outcome_if_submit: kind,
    normalized_status: isUnknown ? 'pending' : 'rejected',
    reason_code: kind === 'refused' ? outcome.brokerStatus : null,
    credential_rejected: false,
    connection: 'ACTIVE'
  }
}

/** Of a read. */
export function faultFacts(error: unknown): Facts {
  if (!(error instanceof BrokerFault)) throw error
  const { kind } = error
  return {
    fault: kind,
    credential_rejected: kind === 'credentials_rejected',
    connection: kind === 'credentials_rejected' ? 'BROKEN' : 'ACTIVE',
    retry: kind === 'unreachable' || kind === 'rate_limited',
    order_refused: false,
    order_created: false
  }
}

export function previewFacts(preview: OrderPreview): Facts {
  if (preview.kind === 'refused') return { fault: 'refused', order_refused: true, order_created: false, normalized_status: 'rejected' }
  const { estimate } = preview
  return {
    estimated_price: estimate.price,
    // A future costs nothing but its margin.
    estimated_cost: estimate.cost?.replace('-', '') ?? estimate.initialMargin,
    cash_effect: estimate.cost,
    commission: estimate.commission,
    initial_margin_text: estimate.initialMargin
  }
}
