/** The broker's orders in the core's terms, in lists and streams alike. Pure; throws Malformed and nothing else. */

import { absolute, commonDivisor, compare, type Decimal, decimalOf, dividedBy, parseDecimal, ZERO } from '@trunkline/core/domain/decimal'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { Leg } from '@trunkline/core/domain/order'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { Instrument, Side, TimeInForce } from '@trunkline/core/domain/vocabulary'
import type { OrderReport } from '@trunkline/core/ports/broker'
import { decimal, displayTextOrNull, field, lookUp, member, text, timestamp, timestampOrNull, type Wire } from '../kit/parse.ts'
import { amount, isNil, records } from './answers.ts'
import { ACTIONS, ASSET_CLASSES, ORDER_TYPES, TIME_IN_FORCE } from './enums.ts'
import { rejectCodeOf } from './reject-codes.ts'
import { ALIVE, CODES, ENDED_UNFILLED, type Progress, type Reading, readingOf } from './status.ts'
import { ourSymbol } from './symbols.ts'

const LEGS_MAX = 4

export interface ParsedOrder {
  readonly report: OrderReport
  /** The broker calls it closed, for good. */
  readonly isClosed: boolean
  /** To be read again before it is believed. */
  readonly isUnresolved: boolean
}

/** One leg as it is sent. An order of a single symbol is one leg. */
interface ParsedLeg {
  readonly symbol: string
  readonly instrument: Instrument
  readonly side: Side
  readonly ordered: Decimal
  readonly executed: Decimal
  readonly price: Decimal | null
}

/** `now` is when the answer came, for orders that do not say when they changed. */
export function parseOrder(wire: Wire, now: Timestamp): ParsedOrder {
  const brokerOrderId = text(wire, 'OrderID', 64)
  const meaning = member(wire, 'Status', CODES)
  const sent = records(wire, 'Legs').map(parseLeg)
  const legs = ENDED_UNFILLED.has(meaning) && price(wire, 'FilledPrice') === null ? sent.map(unpaid) : sent
  const [first] = legs
  if (first === undefined || legs.length > LEGS_MAX) throw new Malformed('Legs', `a list of 1 to ${LEGS_MAX}`, legs.length)
  const entryTime = timestamp(wire, 'OpenedDateTime')
  // A stop that was hit, and a leg that is queued overnight, carry a closing time and live on (recorded 2026-04-23 and 2026-05-08).
  const closedAt = ALIVE.has(meaning) ? null : timestampOrNull(closedOf(wire), 'ClosedDateTime')
  const reading = readingOf(meaning, progressOf(legs), closedAt !== null)
  const subject = legs.length === 1 ? single(first, wire) : several(wire, legs, brokerOrderId, closedAt ?? now)
  const reason = displayTextOrNull(wire, 'RejectReason')
  const report: OrderReport = {
    brokerAccountId: text(wire, 'AccountID', 64),
    brokerOrderId,
    brokerClOrdId: null,
    ...subject,
    notional: null,
    type: member(wire, 'OrderType', ORDER_TYPES),
    tif: lookUp<TimeInForce>(TIME_IN_FORCE, field(wire, 'Duration')) ?? member(inCapitals(wire, 'Duration'), 'Duration', TIME_IN_FORCE),
    stopPrice: price(wire, 'StopPrice'),
    status: reading.status,
    ...(reading.releases === true ? { releases: true } : {}),
    brokerStatus: text(wire, 'Status', 32),
    brokerMessage: reason ?? refusalText(wire, reading),
    rejectCode: reading.status === 'rejected' && reason !== null ? rejectCodeOf(reason) : null,
    brokerOrderType: text(wire, 'OrderType', 64),
    execDest: displayTextOrNull(wire, 'Routing', 64),
    fills: null,
    entryTime,
    updatedAt: closedAt ?? now,
    replacesBrokerOrderId: null,
    replacedByBrokerOrderId: null
  }
  return { report, isClosed: closedAt !== null, isUnresolved: reading.isUnresolved === true }
}

/** An empty text is no time. */
function closedOf(wire: Wire): Wire {
  return field(wire, 'ClosedDateTime') === '' ? {} : wire
}

/** A refused cancel or change has its reason in the description of the status, as far as it has one. */
function refusalText(wire: Wire, { releases }: Reading): string | null {
  return releases === true ? displayTextOrNull(wire, 'StatusDescription') : null
}

type Subject = Pick<OrderReport, 'symbol' | 'instrument' | 'side' | 'quantity' | 'limitPrice' | 'legs' | 'filledTotal'>

function single({ symbol, instrument, side, ordered, executed, price: paid }: ParsedLeg, wire: Wire): Subject {
  return {
    symbol,
    instrument,
    side,
    quantity: ordered,
    limitPrice: price(wire, 'LimitPrice'),
    legs: null,
    filledTotal: { quantity: executed, averagePrice: isNil(executed) ? null : (paid ?? price(wire, 'FilledPrice')) }
  }
}

/**
 * The broker has quantities of legs only, so the quantity of a multi-leg order is what these have in common; and no side, so a debit is bought and what
 * brings in is sold.
 */
function several(wire: Wire, legs: readonly ParsedLeg[], orderId: string, at: Timestamp): Subject {
  const units = legs.reduce((common, { ordered }) => commonDivisor(common, wholeOf(ordered)), 0n)
  if (units === 0n) throw new Malformed('QuantityOrdered', 'more than nothing', '0')
  const net = field(wire, 'OrderType') === 'Limit' ? amount(wire, 'LimitPrice') : null
  const isCredit = net?.startsWith('-') === true
  const done = legs.reduce<bigint | null>((least, { executed, ordered }) => {
    const whole = (wholeOf(executed) * units) / wholeOf(ordered)
    return least === null || whole < least ? whole : least
  }, null)
  const quantity = decimalOf(done ?? 0n)
  const average = amount(wire, 'FilledPrice')
  return {
    symbol: null,
    instrument: 'MLEG_OPT',
    side: isCredit ? 'SELL' : 'BUY',
    quantity: decimalOf(units),
    limitPrice: net === null ? null : absolute(net),
    legs: legs.map(leg => reportedLeg(leg, units, orderId, at)),
    filledTotal: { quantity, averagePrice: isNil(quantity) || average === null ? null : isCredit ? absolute(average) : average }
  }
}

/**
 * A leg's total becomes one execution, and only once the leg is whole: a part that is sent again as a part of more would be counted twice by
 * a reader that adds executions up.
 */
function reportedLeg(leg: ParsedLeg, units: bigint, orderId: string, at: Timestamp): Leg {
  const { symbol, side, ordered, executed, price: paid } = leg
  const fill = { fillId: `${orderId}:${symbol}:${executed}`, at, quantity: executed, price: paid ?? executed, execDest: null }
  return { symbol, side, ratio: decimalOf(wholeOf(ordered) / units), fills: paid !== null && isWhole(leg) ? [fill] : [] }
}

function parseLeg(wire: Wire): ParsedLeg {
  const instrument = member(wire, 'AssetType', ASSET_CLASSES)
  const ordered = decimal(wire, 'QuantityOrdered')
  if (isNil(ordered) || ordered.startsWith('-')) throw new Malformed('QuantityOrdered', 'more than nothing', ordered)
  const executed = amount(wire, 'ExecQuantity') ?? ZERO
  if (executed.startsWith('-')) throw new Malformed('ExecQuantity', 'nothing or more', executed)
  return {
    symbol: ourSymbol(text(wire, 'Symbol', 64), instrument),
    instrument,
    side: sideOf(wire, instrument),
    ordered,
    executed,
    price: price(wire, 'ExecutionPrice')
  }
}

/**
 * Of an order that ended unfilled: an expired one was recorded with all of its quantity under `ExecQuantity` and nothing paid for it. What has
 * no price was not executed.
 */
function unpaid(leg: ParsedLeg): ParsedLeg {
  return leg.price === null ? { ...leg, executed: ZERO } : leg
}

function sideOf(wire: Wire, instrument: Instrument): Side {
  const action = member(inCapitals(wire, 'BuyOrSell'), 'BuyOrSell', ACTIONS)
  return instrument === 'OPT'
    ? action[member(inCapitals(wire, 'OpenOrClose'), 'OpenOrClose', { OPEN: 'OPEN', CLOSE: 'CLOSE' } as const)]
    : action.plain
}

/** The broker's own spelling of these values varies. */
function inCapitals(wire: Wire, key: string): Wire {
  const value = field(wire, key)
  return { [key]: typeof value === 'string' ? value.toUpperCase() : value }
}

/** Zero is how the broker writes that there is none. */
function price(wire: Wire, key: string): Decimal | null {
  const value = amount(wire, key)
  return value === null || isNil(value) ? null : value
}

function progressOf(legs: readonly ParsedLeg[]): Progress {
  if (legs.every(({ executed }) => isNil(executed))) return 'none'
  return legs.every(isWhole) ? 'whole' : 'part'
}

function isWhole({ executed, ordered }: ParsedLeg): boolean {
  return executed === ordered || compare(executed, ordered) >= 0
}

function wholeOf(quantity: Decimal): bigint {
  const whole = dividedBy(quantity, parseDecimal('1', 'one'), 0)
  if (compare(whole, quantity) !== 0) throw new Malformed('quantity', 'a whole number of contracts', quantity)
  return BigInt(whole)
}
