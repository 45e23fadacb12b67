/** The sandbox’s answers in the core's terms. Pure; throws Malformed and nothing else. The sandbox's values do not leave this module. */

import { Malformed } from '@trunkline/core/domain/malformed'
import type { Fill, Leg } from '@trunkline/core/domain/order'
import { parseSymbol } from '@trunkline/core/domain/symbol'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { Instrument, Side } from '@trunkline/core/domain/vocabulary'
import type { BalanceReport, BrokerAccount, OrderReport, PositionReport, TransactionReport } from '@trunkline/core/ports/broker'
import { readJson } from '../kit/json.ts'
import {
  day,
  dayOrNull,
  decimal,
  decimalOrNull,
  displayTextOrNull,
  list,
  member,
  memberOr,
  nested,
  nestedOrNull,
  object,
  text,
  textOrNull,
  timestamp,
  type Wire
} from '../kit/parse.ts'
import { SANDBOX_CAPABILITIES } from './capabilities.ts'
import {
  ASSET_CLASSES,
  ORDER_ASSET_CLASSES,
  ORDER_TYPES,
  POSITION_EFFECTS,
  SIDES,
  STATUSES,
  TIME_IN_FORCE,
  TRANSACTION_TYPES
} from './enums.ts'
import { rejectCodeOf } from './reject-codes.ts'

const LEGS_LEAST = 2
const LEGS_MAX = 4

/** An answer's body: always an object with the two clocks. */
export function readAnswer(body: string): Wire {
  return object(readJson(body), 'answer')
}

export interface Page<T> {
  readonly items: readonly T[]
  readonly next: string | null
  /** Real time of this state. */
  readonly asOf: Timestamp
  readonly sandboxTime: Timestamp
}

export function parsePage<T>(answer: Wire, item: (wire: Wire) => T): Page<T> {
  return {
    items: list(answer, 'items', item),
    next: textOrNull(answer, 'next'),
    asOf: timestamp(answer, 'as_of'),
    sandboxTime: timestamp(answer, 'sandbox_time')
  }
}

export function parseAccount(wire: Wire): BrokerAccount {
  return {
    brokerAccountId: text(wire, 'id'),
    accountNumber: text(wire, 'number'),
    institutionName: SANDBOX_CAPABILITIES.name,
    name: displayTextOrNull(wire, 'name'),
    accountType: displayTextOrNull(wire, 'kind'),
    currency: displayTextOrNull(wire, 'currency')
  }
}

export function parseBalance(wire: Wire, asOf: Timestamp): BalanceReport {
  return {
    brokerAccountId: text(wire, 'account'),
    currency: text(wire, 'currency'),
    cash: decimalOrNull(wire, 'cash'),
    buyingPower: decimalOrNull(wire, 'buying_power'),
    initialMargin: decimalOrNull(wire, 'initial_margin'),
    maintenanceMargin: decimalOrNull(wire, 'maintenance_margin'),
    regTBuyingPower: decimalOrNull(wire, 'reg_t_buying_power'),
    equity: decimalOrNull(wire, 'equity'),
    marketValue: decimalOrNull(wire, 'market_value'),
    asOf
  }
}

export function parsePosition(wire: Wire): PositionReport {
  const symbol = text(wire, 'symbol')
  const brokerAccountId = text(wire, 'account')
  const instrument = instrumentOf(wire, symbol)
  return {
    brokerAccountId,
    symbol,
    instrument,
    quantity: decimal(wire, 'quantity'),
    lastPrice: decimalOrNull(wire, 'last_price'),
    averagePrice: decimalOrNull(wire, 'average_price'),
    unrealizedPl: decimalOrNull(wire, 'unrealized'),
    realizedPl: decimalOrNull(wire, 'realized'),
    dailyPl: decimalOrNull(wire, 'today'),
    totalPl: decimalOrNull(wire, 'total'),
    // The sandbox has no ids of positions, and one position a symbol in each account.
    brokerPositionId: instrument === 'FUT' ? `${brokerAccountId}:${symbol}` : null
  }
}

/** An unknown class does not hide a holding: the form of the symbol is enough. */
function instrumentOf(wire: Wire, symbol: string): Instrument {
  return memberOr<Instrument | null>(wire, 'class', ASSET_CLASSES, null) ?? parseSymbol(symbol).instrument
}

export function parseOrder(wire: Wire): OrderReport {
  const notional = decimalOrNull(wire, 'notional')
  const quantity = decimalOrNull(wire, 'quantity')
  const status = member(wire, 'state', STATUSES)
  // The sandbox does not know the quantity of an order that it refused before it had read that far.
  if (notional === null && quantity === null && status !== 'rejected')
    throw new Malformed('quantity', 'a decimal where notional is null', quantity)
  const fills = list(wire, 'fills', parseFill)
  const reason = nestedOrNull(wire, 'reason')
  const instrument = member(wire, 'class', ORDER_ASSET_CLASSES)
  const isMultiLeg = instrument === 'MLEG_OPT'
  return {
    brokerAccountId: text(wire, 'account'),
    brokerOrderId: text(wire, 'id'),
    brokerClOrdId: textOrNull(wire, 'client_order_id'),
    symbol: isMultiLeg ? null : text(wire, 'symbol'),
    instrument,
    side: isMultiLeg ? member(wire, 'direction', SIDES) : sideOf(wire),
    type: member(wire, 'kind', ORDER_TYPES),
    tif: member(wire, 'lifetime', TIME_IN_FORCE),
    // The sandbox adds the quantity that a notional order came to; the ticket had one of the two.
    quantity: notional === null ? quantity : null,
    notional,
    limitPrice: decimalOrNull(wire, 'limit'),
    stopPrice: decimalOrNull(wire, 'stop'),
    legs: isMultiLeg ? parseLegs(wire) : null,
    status,
    brokerStatus: text(wire, 'state'),
    brokerMessage: reason === null ? null : displayTextOrNull(reason, 'message'),
    rejectCode: reason === null || status !== 'rejected' ? null : rejectCodeOf(text(reason, 'code', 64)),
    brokerOrderType: text(wire, 'kind'),
    execDest: fills.at(-1)?.execDest ?? null,
    fills,
    filledTotal: null,
    entryTime: timestamp(wire, 'received'),
    updatedAt: timestamp(wire, 'changed'),
    replacesBrokerOrderId: textOrNull(wire, 'amends'),
    replacedByBrokerOrderId: textOrNull(wire, 'amended_by')
  }
}

function parseLegs(wire: Wire): readonly Leg[] {
  const legs = list(wire, 'legs', leg => ({
    symbol: text(leg, 'symbol'),
    side: sideOf(leg),
    ratio: decimal(leg, 'ratio'),
    fills: list(leg, 'fills', parseFill)
  }))
  if (legs.length < LEGS_LEAST || legs.length > LEGS_MAX) throw new Malformed('legs', `a list of ${LEGS_LEAST} to ${LEGS_MAX}`, legs.length)
  return legs
}

function sideOf(wire: Wire): Side {
  const direction = member(wire, 'direction', SIDES)
  const effect = textOrNull(wire, 'effect')
  return effect === null ? direction : member(wire, 'effect', POSITION_EFFECTS)[direction]
}

function parseFill(wire: Wire): Fill {
  return {
    fillId: text(wire, 'id'),
    at: timestamp(wire, 'at'),
    quantity: decimal(wire, 'quantity'),
    price: decimal(wire, 'price'),
    execDest: displayTextOrNull(wire, 'venue')
  }
}

/** `{"order": …}` with its time. */
export function parseOrderAnswer(answer: Wire): { readonly order: OrderReport; readonly asOf: Timestamp } {
  return { order: parseOrder(nested(answer, 'order')), asOf: timestamp(answer, 'as_of') }
}

export function parseTransaction(wire: Wire): TransactionReport {
  return {
    brokerAccountId: text(wire, 'account'),
    brokerTransactionId: text(wire, 'id'),
    type: memberOr(wire, 'type', TRANSACTION_TYPES, 'OTHER'),
    brokerType: displayTextOrNull(wire, 'type'),
    symbol: textOrNull(wire, 'symbol'),
    instrument: memberOr<Instrument | null>(wire, 'class', ASSET_CLASSES, null),
    quantity: decimalOrNull(wire, 'quantity'),
    price: decimalOrNull(wire, 'price'),
    amount: decimalOrNull(wire, 'amount'),
    fees: decimalOrNull(wire, 'fees'),
    currency: displayTextOrNull(wire, 'currency'),
    day: day(wire, 'date'),
    settlementDay: dayOrNull(wire, 'settles'),
    brokerOrderId: textOrNull(wire, 'order'),
    description: displayTextOrNull(wire, 'text')
  }
}

/** An error from the sandbox itself, distinguished from a gateway's by its shape. `order` is set where it concerns an existing order. */
export interface SandboxError {
  readonly code: string
  readonly message: string
}

export function parseError(answer: Wire): SandboxError {
  timestamp(answer, 'as_of')
  const error = nested(answer, 'error')
  return { code: text(error, 'code', 64), message: displayTextOrNull(error, 'message') ?? text(error, 'code', 64) }
}
