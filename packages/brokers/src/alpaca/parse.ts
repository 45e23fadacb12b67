/** Alpaca's accounts, holdings and activities in the core's terms. Pure; throws Malformed and nothing else. Alpaca's values do not leave this module. */

import { absolute, type Decimal, isZero, negated, parseDecimal, times } from '@trunkline/core/domain/decimal'
import { Malformed } from '@trunkline/core/domain/malformed'
import { type Day, type Timestamp, tradingDay } from '@trunkline/core/domain/timestamp'
import type { Instrument, TransactionType } from '@trunkline/core/domain/vocabulary'
import type { BalanceReport, BrokerAccount, PositionReport, TransactionReport } from '@trunkline/core/ports/broker'
import { readJson } from '../kit/json.ts'
import {
  day,
  decimal,
  decimalOrNull,
  displayTextOrNull,
  field,
  member,
  object,
  text,
  textOrNull,
  timestamp,
  timestampOrNull,
  type Wire
} from '../kit/parse.ts'
import type { UnknownValueCounter } from '../kit/unknown-values.ts'
import { ALPACA_CAPABILITIES } from './capabilities.ts'
import { ACTIVITIES, ASSET_CLASSES, EXECUTION_SIDES } from './enums.ts'
import { instrumentOf, symbolOf } from './symbols.ts'

const LIST_MAX = 10_000
const ONE = parseDecimal('1', 'one')
const HUNDRED = parseDecimal('100', 'hundred')
const ADJUSTED = /^[A-Z]+\d\d{6}[CP]\d{8}$/

/** An answer that is one record. Amounts are text at Alpaca, and where one is a JSON number it is read as it was written. */
export function readRecord(body: string): Wire {
  return object(readJson(body, { numbers: 'text' }), 'answer')
}

/** An answer that is a list of records, without anything around it. */
export function readList(body: string): readonly Wire[] {
  const value = readJson(body, { numbers: 'text' })
  if (!Array.isArray(value) || value.length > LIST_MAX) throw new Malformed('answer', `a list of at most ${LIST_MAX}`, value)
  return value.map((entry, index) => object(entry, `answer[${index}]`))
}

export function parseAccount(wire: Wire): BrokerAccount {
  return {
    brokerAccountId: text(wire, 'id'),
    accountNumber: text(wire, 'account_number'),
    institutionName: ALPACA_CAPABILITIES.name,
    name: null,
    accountType: field(wire, 'multiplier') === '1' ? 'cash' : 'margin',
    currency: displayTextOrNull(wire, 'currency')
  }
}

export function parseBalance(wire: Wire, asOf: Timestamp): BalanceReport {
  return {
    brokerAccountId: text(wire, 'id'),
    currency: text(wire, 'currency'),
    cash: decimalOrNull(wire, 'cash'),
    buyingPower: decimalOrNull(wire, 'buying_power'),
    initialMargin: decimalOrNull(wire, 'initial_margin'),
    maintenanceMargin: decimalOrNull(wire, 'maintenance_margin'),
    regTBuyingPower: decimalOrNull(wire, 'regt_buying_power'),
    equity: decimalOrNull(wire, 'equity'),
    marketValue: decimalOrNull(wire, 'position_market_value'),
    asOf
  }
}

export function parsePosition(wire: Wire, brokerAccountId: string, unknownValues: UnknownValueCounter): PositionReport {
  const written = text(wire, 'symbol')
  // An unknown class does not hide a holding: the form of the symbol is enough.
  const instrument = unknownValues.or<Instrument, null>(wire, 'asset_class', ASSET_CLASSES, null) ?? instrumentOf(written)
  return {
    brokerAccountId,
    symbol: symbolOf(written, instrument),
    instrument,
    quantity: signed(decimal(wire, 'qty'), member(wire, 'side', { long: 'long', short: 'short' } as const)),
    lastPrice: decimalOrNull(wire, 'current_price'),
    averagePrice: decimalOrNull(wire, 'avg_entry_price'),
    unrealizedPl: decimalOrNull(wire, 'unrealized_pl'),
    realizedPl: null,
    dailyPl: decimalOrNull(wire, 'unrealized_intraday_pl'),
    totalPl: null,
    brokerPositionId: textOrNull(wire, 'asset_id')
  }
}

/** The sign is that of the side, whether the number has it or not. */
function signed(quantity: Decimal, side: 'long' | 'short'): Decimal {
  const isNegative = quantity.startsWith('-')
  if (side === 'short') return isNegative || isZero(quantity) ? quantity : negated(quantity)
  return isNegative ? absolute(quantity) : quantity
}

export function parseTransaction(wire: Wire, unknownValues: UnknownValueCounter): TransactionReport {
  return field(wire, 'activity_type') === 'FILL' ? trade(wire) : other(wire, unknownValues)
}

function trade(wire: Wire): TransactionReport {
  const written = text(wire, 'symbol')
  const side = member(wire, 'side', EXECUTION_SIDES)
  const quantity = decimal(wire, 'qty')
  const price = decimal(wire, 'price')
  const instrument = instrumentOf(written)
  const units = instrument === 'OPT' ? unitsOf(written) : ONE
  const value = units === null ? null : times(times(quantity, price), units)
  return {
    brokerAccountId: null,
    brokerTransactionId: text(wire, 'id'),
    type: side,
    brokerType: 'FILL',
    symbol: symbolOf(written, instrument),
    instrument,
    quantity,
    price,
    amount: value === null || side === 'SELL' ? value : negated(value),
    fees: null,
    currency: displayTextOrNull(wire, 'currency') ?? 'USD',
    day: tradingDay(timestamp(wire, 'transaction_time')),
    settlementDay: null,
    brokerOrderId: textOrNull(wire, 'order_id'),
    description: displayTextOrNull(wire, 'description')
  }
}

/** What a contract delivers, for which its price is by the unit. Adjusted contracts have a digit behind their root, and what they deliver is not stated here. */
function unitsOf(contract: string): Decimal | null {
  return ADJUSTED.test(contract) ? null : HUNDRED
}

/** The trade in shares that an exercise or an assignment makes. It shares the id of the option's own row (Alpaca's documentation), so the id alone names neither. */
const OPTION_TRADE = 'OPTRD'

function other(wire: Wire, unknownValues: UnknownValueCounter): TransactionReport {
  const written = displayTextOrNull(wire, 'symbol', 32)
  const instrument = written === null ? null : instrumentOf(written)
  return {
    brokerAccountId: null,
    brokerTransactionId: field(wire, 'activity_type') === OPTION_TRADE ? `${text(wire, 'id')}:${OPTION_TRADE}` : text(wire, 'id'),
    type: activityType(wire, unknownValues),
    brokerType: displayTextOrNull(wire, 'activity_type'),
    symbol: written === null || instrument === null ? null : symbolOf(written, instrument),
    instrument,
    quantity: decimalOrNull(wire, 'qty'),
    price: decimalOrNull(wire, 'price'),
    amount: decimalOrNull(wire, 'net_amount'),
    fees: null,
    currency: displayTextOrNull(wire, 'currency') ?? 'USD',
    day: dayOf(wire),
    settlementDay: null,
    brokerOrderId: textOrNull(wire, 'order_id'),
    description: displayTextOrNull(wire, 'description')
  }
}

/** Dividends and interest come in many kinds, each with its own letters after the common ones. */
function activityType(wire: Wire, unknownValues: UnknownValueCounter): TransactionType {
  const type = text(wire, 'activity_type', 32)
  if (type.startsWith('DIV')) return 'DIVIDEND'
  if (type.startsWith('INT')) return 'INTEREST'
  if (type === OPTION_TRADE) return decimalOrNull(wire, 'qty')?.startsWith('-') === true ? 'SELL' : 'BUY'
  return unknownValues.or(wire, 'activity_type', ACTIVITIES, 'OTHER')
}

function dayOf(wire: Wire): Day {
  const created = timestampOrNull(wire, 'created_at')
  return field(wire, 'date') === undefined && created !== null ? tradingDay(created) : day(wire, 'date')
}
