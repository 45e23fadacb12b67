/** Orders in the core's terms. Pure; throws Malformed and nothing else: an unknown status or type is never guessed. */

import { absolute, commonDivisor, compare, type Decimal, decimalOf, minus, plus, times, ZERO } from '@trunkline/core/domain/decimal'
import { isNil } from '@trunkline/core/domain/fast/scan'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { Leg } from '@trunkline/core/domain/order'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { Instrument, OrderStatus, Side } from '@trunkline/core/domain/vocabulary'
import type { OrderReport } from '@trunkline/core/ports/broker'
import { field, member, object, text, timestampOrNull, type Wire } from '../kit/parse.ts'
import { ASSET_CLASSES, BRACKETS, MULTI_LEG_TYPES, OPTION_SIDES, ORDER_TYPES, SHARE_SIDES, STATUSES, TIME_IN_FORCE } from './enums.ts'
import { rejectCodeOf } from './reject-codes.ts'
import { fromTradier } from './symbols.ts'
import { amount, amountOrNull, collapsed, displayTextOf, items, textOf } from './wire.ts'

const LEGS_MAX = 8

/** The records of a list of orders, one for each order with its own life. */
export function parseOrders(answer: Wire): readonly Wire[] {
  return items(answer, 'orders', 'order').flatMap(unbracketed)
}

/** `{"order": …}`: the order itself, or what a bracket holds. */
export function parseOrderAnswer(answer: Wire): readonly Wire[] {
  return unbracketed(object(field(answer, 'order'), 'order'))
}

/** A bracket is no order: those it holds are, with what they lack from it. */
function unbracketed(order: Wire): readonly Wire[] {
  if (!BRACKETS.has(field(order, 'class'))) return [order]
  const shared = ['duration', 'create_date', 'transaction_date', 'tag'].map(key => [key, field(order, key)] as const)
  return legsOf(order).map(leg => ({ ...Object.fromEntries(shared.filter(([, value]) => value !== undefined)), ...leg }))
}

export function parseOrder(wire: Wire, account: string): OrderReport {
  const instrument = instrumentOf(wire)
  const subject = instrument === 'MLEG_OPT' ? multiLegOf(wire) : singleOf(wire, instrument)
  const { quantity } = subject
  const figures = figuresOf(wire)
  const filled = subject.legs === null ? figures.filled : (multiLegFilled(wire, subject.legs) ?? figures.filled)
  const entryTime = timestampOrNull(wire, 'create_date') ?? timeOf(wire, 'transaction_date')
  const status = statusOf(wire, { quantity, filled })
  const reason = displayTextOf(wire, 'reason_description')
  const limitPrice = subject.type === 'LMT' || subject.type === 'STPLMT' ? (amountOrNull(wire, 'price') ?? freeOf(wire)) : null
  return {
    ...subject,
    brokerAccountId: account,
    brokerOrderId: text(wire, 'id', 64),
    brokerClOrdId: textOf(wire, 'tag'),
    tif: member(wire, 'duration', TIME_IN_FORCE),
    notional: null,
    limitPrice,
    stopPrice: subject.type === 'STP' || subject.type === 'STPLMT' ? amountOrNull(wire, 'stop_price') : null,
    status,
    brokerStatus: text(wire, 'status', 64),
    brokerMessage: reason,
    rejectCode: status === 'rejected' && reason !== null ? rejectCodeOf(reason) : null,
    brokerOrderType: text(wire, 'type', 64),
    execDest: null,
    fills: null,
    filledTotal: filled,
    entryTime,
    updatedAt: timestampOrNull(wire, 'transaction_date') ?? entryTime,
    replacesBrokerOrderId: null,
    replacedByBrokerOrderId: null
  }
}

export interface Figures {
  /** Null: not published. */
  readonly quantity: Decimal | null
  readonly filled: NonNullable<OrderReport['filledTotal']>
}

/** Tradier may call an order filled before it says how much of it at which price: until then the quantities show that nothing was. */
export function figuresOf(wire: Wire): Figures {
  const executed = amountOrNull(wire, 'exec_quantity') ?? amountOrNull(wire, 'executed_quantity') ?? ZERO
  const average = amountOrNull(wire, 'avg_fill_price') ?? ZERO
  const hasTotals = !isNil(executed) && !isNil(average)
  return {
    quantity: amountOrNull(wire, 'quantity'),
    filled: hasTotals ? { quantity: executed, averagePrice: average } : { quantity: ZERO, averagePrice: null }
  }
}

/** A status of filled counts once the quantities show it too. @throws UnknownValueError */
export function statusOf(wire: Wire, { quantity, filled }: Figures): OrderStatus {
  const reported = member<OrderStatus>(wire, 'status', STATUSES)
  const isWhole = !isNil(filled.quantity) && (quantity === null || filled.quantity === quantity || compare(filled.quantity, quantity) >= 0)
  if (reported === 'filled' || field(wire, 'status') === 'calculated') {
    if (isWhole) return 'filled'
    return isNil(filled.quantity) ? 'working' : 'partially_filled'
  }
  return reported === 'working' && !isNil(filled.quantity) ? 'partially_filled' : reported
}

/** Whether Tradier reports filled and has not sent the quantities yet. */
export function lacksFillTotals({ status, brokerStatus }: OrderReport): boolean {
  return brokerStatus === 'filled' && status !== 'filled'
}

type Subject = Pick<OrderReport, 'symbol' | 'instrument' | 'side' | 'type' | 'quantity' | 'legs'>

function singleOf(wire: Wire, instrument: Instrument): Subject {
  const isContract = instrument === 'OPT'
  return {
    symbol: isContract ? text(wire, 'option_symbol', 32) : fromTradier(text(wire, 'symbol', 32)),
    instrument,
    side: member<Side>(wire, 'side', isContract ? OPTION_SIDES : SHARE_SIDES),
    type: member(wire, 'type', ORDER_TYPES),
    quantity: positive(wire, 'quantity'),
    legs: null
  }
}

/** Tradier counts the contracts of each leg; the quantity of the order is what they have in common. */
function multiLegOf(wire: Wire): Subject {
  const records = legsOf(wire)
  const { type, side } = member(wire, 'type', MULTI_LEG_TYPES)
  const counts = records.map(leg => wholeOf(leg))
  const units = counts.reduce(commonDivisor)
  const legs = records.map((leg, index) => legOf(wire, leg, (counts[index] ?? units) / units))
  return { symbol: null, instrument: 'MLEG_OPT', side, type, quantity: decimalOf(units), legs }
}

function legOf(order: Wire, wire: Wire, ratio: bigint): Leg {
  const contract = textOf(wire, 'option_symbol')
  const symbol = contract ?? fromTradier(text(wire, 'symbol', 32))
  const side = contract === null ? member<Side>(wire, 'side', SHARE_SIDES) : member<Side>(wire, 'side', OPTION_SIDES)
  return { symbol, side, ratio: decimalOf(ratio), fills: legFills(order, wire, symbol) }
}

/**
 * A leg's executions are sent as their total alone. It is passed on as one when there is no more to come: a total that grew would need what was
 * published before to be known for ever.
 */
function legFills(order: Wire, wire: Wire, symbol: string): Leg['fills'] {
  const { filled, quantity } = figuresOf(wire)
  const { averagePrice } = filled
  const isOver = ENDED.has(member<OrderStatus>(order, 'status', STATUSES))
  const isWhole = quantity !== null && compare(filled.quantity, quantity) >= 0
  if (averagePrice === null || !(isOver || isWhole)) return []
  const at = timestampOrNull(wire, 'transaction_date') ?? timeOf(order, 'transaction_date')
  return [
    { fillId: `${text(order, 'id', 64)}:${symbol}:${filled.quantity}`, at, quantity: filled.quantity, price: averagePrice, execDest: null }
  ]
}

const ENDED: ReadonlySet<OrderStatus> = new Set(['cancelled', 'expired', 'rejected'])

/** The quantity for which every leg is filled, at the net price; null where the legs do not show it. */
function multiLegFilled(wire: Wire, legs: readonly Leg[]): OrderReport['filledTotal'] {
  const { side } = member(wire, 'type', MULTI_LEG_TYPES)
  let units: bigint | null = null
  let net = ZERO
  for (const [index, record] of legsOf(wire).entries()) {
    const leg = legs[index]
    const { filled } = figuresOf(record)
    if (leg === undefined || filled.averagePrice === null) return null
    const whole = BigInt(filled.quantity.replace(/\..*$/, '')) / BigInt(leg.ratio)
    units = units === null || whole < units ? whole : units
    const part = times(filled.averagePrice, leg.ratio)
    net = leg.side.startsWith('BUY') === (side === 'BUY') ? plus(net, part) : minus(net, part)
  }
  return units === null || units === 0n ? null : { quantity: decimalOf(units), averagePrice: net }
}

function instrumentOf(wire: Wire): Instrument {
  // Of a leg of a bracket the class may be left out.
  if (field(wire, 'class') === undefined) return textOf(wire, 'option_symbol') === null ? 'STK' : 'OPT'
  return member<Instrument>(wire, 'class', ASSET_CLASSES)
}

function legsOf(wire: Wire): readonly Wire[] {
  const legs = collapsed(wire, 'leg').map((leg, index) => object(leg, `leg[${index}]`))
  if (legs.length === 0 || legs.length > LEGS_MAX) throw new Malformed('leg', `a list of 1 to ${LEGS_MAX}`, legs.length)
  return legs
}

function wholeOf(wire: Wire): bigint {
  const quantity = absolute(amount(wire, 'quantity'))
  if (/^[1-9]\d*(?:\.0*)?$/.test(quantity)) return BigInt(quantity.replace(/\..*$/, ''))
  throw new Malformed('quantity', 'a positive whole number', quantity)
}

/** The side states the direction. */
function positive(wire: Wire, key: string): Decimal {
  const value = amount(wire, key)
  if (value.startsWith('-') || isNil(value)) throw new Malformed(key, 'a positive number', value)
  return value
}

/** An even order has no price, so it is left out. */
function freeOf(wire: Wire): Decimal | null {
  return field(wire, 'type') === 'even' ? ZERO : null
}

function timeOf(wire: Wire, key: string): Timestamp {
  const at = timestampOrNull(wire, key)
  if (at !== null) return at
  throw new Malformed(key, 'a time', null)
}
