/** Alpaca's orders in the core's terms. Pure; throws Malformed and nothing else. */

import { compare, type Decimal, isPositive } from '@trunkline/core/domain/decimal'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { Fill, Leg } from '@trunkline/core/domain/order'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { Instrument, OrderStatus, Side, TimeInForce } from '@trunkline/core/domain/vocabulary'
import type { OrderReport } from '@trunkline/core/ports/broker'
import {
  decimal,
  decimalOrNull,
  displayTextOrNull,
  field,
  items,
  member,
  text,
  textOrNull,
  timestamp,
  timestampOrNull,
  type Wire
} from '../kit/parse.ts'
import { ASSET_CLASSES, EXTENDED, ORDER_TYPES_READ, POSITION_INTENTS, SIDES, STATUSES, TIME_IN_FORCE } from './enums.ts'
import { rejectCodeOf } from './reject-codes.ts'
import { netPrice } from './requests.ts'
import { instrumentOf, symbolOf } from './symbols.ts'

const LEGS_LEAST = 2
const LEGS_MAX = 4
const ENDED: ReadonlySet<OrderStatus> = new Set(['filled', 'cancelled', 'expired', 'rejected', 'replaced'])
const USUALLY = { BUY: 'BUY_TO_OPEN', SELL: 'SELL_TO_CLOSE' } as const
/** Alpaca's orders carry no reason. */
const REJECTED = 'Alpaca rejected the order and gave no reason.'

/** An execution as the account stream reports it beside its order. */
export interface Execution {
  readonly id: string
  readonly at: Timestamp
  readonly quantity: Decimal
  readonly price: Decimal
}

/**
 * An order and those that hang on it, which Alpaca nests in it: the legs of a bracket are separate orders, those of a multi-leg order are not.
 * @throws Malformed
 */
export function parseOrders(wire: Wire, account: string): readonly OrderReport[] {
  const order = parseOrder(wire, account)
  return isMultiLeg(wire) ? [order] : [order, ...nestedOrders(wire).map(leg => parseOrder(leg, account))]
}

/** `execution`: what this message adds to the order; without one its totals count. @throws Malformed */
export function parseOrder(wire: Wire, account: string, execution: Execution | null = null): OrderReport {
  const status = statusOf(wire)
  const subject = isMultiLeg(wire) ? multiLegOf(wire, status) : singleOf(wire)
  const notional = decimalOrNull(wire, 'notional')
  const quantity = decimalOrNull(wire, 'qty')
  if (notional === null && quantity === null) throw new Malformed('qty', 'a decimal where notional is null', quantity)
  const { side, legs } = subject
  const priced = (price: Decimal | null) => (price === null || legs === null ? price : netPrice(price, side))
  const filled = decimal(wire, 'filled_qty')
  const reason = displayTextOrNull(wire, 'reject_reason')
  return {
    brokerAccountId: account,
    brokerOrderId: text(wire, 'id'),
    brokerClOrdId: textOrNull(wire, 'client_order_id'),
    ...subject,
    type: member(wire, 'type', ORDER_TYPES_READ),
    tif: tifOf(wire),
    // The ticket had one of the two.
    quantity: notional === null ? quantity : null,
    notional,
    limitPrice: priced(decimalOrNull(wire, 'limit_price')),
    stopPrice: decimalOrNull(wire, 'stop_price'),
    status,
    brokerStatus: text(wire, 'status'),
    brokerMessage: status === 'rejected' ? (reason ?? REJECTED) : null,
    rejectCode: status === 'rejected' && reason !== null ? rejectCodeOf(reason, subject) : null,
    brokerOrderType: displayTextOrNull(wire, 'type'),
    execDest: null,
    fills: execution === null ? null : [fillOf(execution, priced)],
    filledTotal: { quantity: filled, averagePrice: priced(decimalOrNull(wire, 'filled_avg_price')) },
    entryTime: timestampOrNull(wire, 'submitted_at') ?? timestamp(wire, 'created_at'),
    updatedAt: timestampOrNull(wire, 'updated_at') ?? timestamp(wire, 'created_at'),
    replacesBrokerOrderId: textOrNull(wire, 'replaces'),
    replacedByBrokerOrderId: textOrNull(wire, 'replaced_by')
  }
}

/** What an order has filled in all, however it came about. @throws Malformed */
export function filledQuantity(wire: Wire): Decimal {
  return decimal(wire, 'filled_qty')
}

function fillOf({ id, at, quantity, price }: Execution, priced: (price: Decimal | null) => Decimal | null): Fill {
  return { fillId: id, at, quantity, price: priced(price) ?? price, execDest: null }
}

function statusOf(wire: Wire): OrderStatus {
  const status = member(wire, 'status', STATUSES)
  if (field(wire, 'status') !== 'calculated') return status
  const quantity = decimalOrNull(wire, 'qty')
  return quantity !== null && compare(filledQuantity(wire), quantity) >= 0 ? 'filled' : status
}

function tifOf(wire: Wire): TimeInForce {
  const tif = member(wire, 'time_in_force', TIME_IN_FORCE)
  return field(wire, 'extended_hours') === true && (tif === 'DAY' || tif === 'GTC') ? EXTENDED[tif] : tif
}

/** Whether the order is several options at once; its leg is one too by its class, but has a symbol. */
export function isMultiLeg(wire: Wire): boolean {
  return field(wire, 'order_class') === 'mleg' && !hasSymbol(wire)
}

/** Whether this is a leg of a multi-leg order, reported as if it were an order. */
export function isLegOfMultiLeg(wire: Wire): boolean {
  return field(wire, 'order_class') === 'mleg' && hasSymbol(wire)
}

function hasSymbol(wire: Wire): boolean {
  const symbol = field(wire, 'symbol')
  return symbol !== undefined && symbol !== null && symbol !== ''
}

type Subject = Pick<OrderReport, 'symbol' | 'instrument' | 'side' | 'legs'>

function singleOf(wire: Wire): Subject {
  const written = text(wire, 'symbol')
  const instrument = classOf(wire, written)
  return { symbol: symbolOf(written, instrument), instrument, side: sideOf(wire, instrument), legs: null }
}

/** A missing class follows from the symbol; a new one means that this is nothing we know. */
function classOf(wire: Wire, symbol: string): Instrument {
  const value = field(wire, 'asset_class')
  return value === undefined || value === null || value === '' ? instrumentOf(symbol) : member(wire, 'asset_class', ASSET_CLASSES)
}

/** What an option's order does to the position Alpaca leaves out where the order did not state it: then it is the usual effect of its side. */
function sideOf(wire: Wire, instrument: Instrument): Side {
  if (instrument !== 'OPT') return member(wire, 'side', SIDES)
  return textOrNull(wire, 'position_intent') === null
    ? USUALLY[member(wire, 'side', SIDES)]
    : member(wire, 'position_intent', POSITION_INTENTS)
}

function multiLegOf(wire: Wire, status: OrderStatus): Subject {
  const orderId = text(wire, 'id')
  const legs = nestedOrders(wire).map(leg => legOf(leg, orderId, ENDED.has(status)))
  if (legs.length < LEGS_LEAST || legs.length > LEGS_MAX) throw new Malformed('legs', `a list of ${LEGS_LEAST} to ${LEGS_MAX}`, legs.length)
  // Alpaca has no side for a multi-leg order: it is named after its first leg.
  return { symbol: null, instrument: 'MLEG_OPT', side: legs[0]?.side.startsWith('SELL') === true ? 'SELL' : 'BUY', legs }
}

/** A leg has totals only, and leg fills are added up: they are reported once, when nothing can be added any more. */
function legOf(wire: Wire, orderId: string, hasEnded: boolean): Leg {
  const symbol = text(wire, 'symbol')
  const filled = decimalOrNull(wire, 'filled_qty')
  const price = decimalOrNull(wire, 'filled_avg_price')
  const isReported = hasEnded && filled !== null && isPositive(filled) && price !== null
  return {
    symbol,
    side: sideOf(wire, 'OPT'),
    ratio: decimal(wire, 'ratio_qty'),
    fills: isReported ? [{ fillId: `${orderId}:${symbol}:${filled}`, at: filledAt(wire), quantity: filled, price, execDest: null }] : []
  }
}

function filledAt(wire: Wire): Timestamp {
  return timestampOrNull(wire, 'filled_at') ?? timestampOrNull(wire, 'updated_at') ?? timestamp(wire, 'created_at')
}

/** The orders in `legs`; none where there are none. */
export function nestedOrders(wire: Wire): readonly Wire[] {
  const legs = field(wire, 'legs')
  return legs === undefined || legs === null ? [] : items(legs, 'legs', leg => leg)
}

/** The execution in a message of the account stream. @throws Malformed */
export function parseExecution(data: Wire): Execution {
  return {
    id: text(data, 'execution_id'),
    at: timestamp(data, 'timestamp'),
    quantity: decimal(data, 'qty'),
    price: decimal(data, 'price')
  }
}
