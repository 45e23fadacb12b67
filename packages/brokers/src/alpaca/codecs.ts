/**
 * Alpaca's records in the core's terms. Pure; readers throw only Malformed, and nothing else: an unknown status or type is never guessed.
 */

import { absolute, compare, type Decimal, isPositive, isZero, negated, parseDecimal, times } from '@trunkline/core/domain/decimal'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { Fill, Leg, OrderTicket } from '@trunkline/core/domain/order'
import { type Day, type Timestamp, tradingDay } from '@trunkline/core/domain/timestamp'
import type { Instrument, OrderStatus, RejectCode, Side, TimeInForce, TransactionType } from '@trunkline/core/domain/vocabulary'
import type { BalanceReport, BrokerAccount, OrderReport, PositionReport, TransactionReport } from '@trunkline/core/ports/broker'
import { always, enumCodec, of, record, tableOf } from '../kit/codec.ts'
import {
  day,
  decimal,
  decimalOrNull,
  displayTextOrNull,
  field,
  items,
  text,
  textOrNull,
  timestamp,
  timestampOrNull,
  type Wire
} from '../kit/parse.ts'
import { rejectCodeOf as byPattern, type RejectPatterns } from '../kit/reject-code.ts'
import type { UnknownValueCounter } from '../kit/unknown-values.ts'
import { instrumentOf, symbolOf, unitsOf } from './symbols.ts'

export const ASSET_CLASSES = enumCodec({ us_equity: 'STK', us_option: 'OPT', crypto: 'CRYPTO' })
export const ORDER_SIDES = enumCodec<Side>({ buy: 'BUY', sell: 'SELL' })
/** The side of an execution, which is reported more precisely than that of an order. */
const EXECUTION_SIDES = enumCodec({ buy: 'BUY', sell: 'SELL', sell_short: 'SELL' })
/** What an option's order does to the position. */
export const POSITION_INTENTS = enumCodec<Side>({
  buy_to_open: 'BUY_TO_OPEN',
  buy_to_close: 'BUY_TO_CLOSE',
  sell_to_open: 'SELL_TO_OPEN',
  sell_to_close: 'SELL_TO_CLOSE'
})
/** A trailing stop placed elsewhere is a stop whose price moves; the broker's own value is kept as well. */
export const ORDER_TYPES = enumCodec({ market: 'MKT', limit: 'LMT', stop: 'STP', stop_limit: 'STPLMT', trailing_stop: 'STP' })
export const TIME_IN_FORCE = enumCodec({ day: 'DAY', gtc: 'GTC', ioc: 'IOC', fok: 'FOK', opg: 'OPEN', cls: 'CLOSE' })
const POSITION_SIDES = enumCodec({ long: 'long', short: 'short' })

const STATUSES = enumCodec<OrderStatus>(
  tableOf({
    // Held: it waits for the order that it hangs on, which works (recorded 2026-09-29), and nothing of it is at the exchange.
    pending: 'pending_new pending_review held',
    // Accepted: received and not routed yet, until its auction or the next session, and it can be cancelled and modified. Done for day: it
    // goes on the next day, or is reported expired. Calculated: the day's settlement is worked out; filled when everything is, which the
    // quantities show.
    working: 'accepted accepted_for_bidding new stopped suspended done_for_day calculated',
    partially_filled: 'partially_filled',
    filled: 'filled',
    cancelled: 'canceled',
    expired: 'expired',
    rejected: 'rejected',
    replaced: 'replaced',
    pending_cancel: 'pending_cancel',
    pending_replace: 'pending_replace'
  })
)
const ENDED: ReadonlySet<OrderStatus> = new Set(['filled', 'cancelled', 'expired', 'rejected', 'replaced'])

/** Activities that are not trades. */
const ACTIVITIES: Readonly<Record<string, TransactionType>> = tableOf({
  TRANSFER: 'TRANS ACATC ACATS JNL JNLC JNLS',
  DEPOSIT: 'CSD',
  WITHDRAWAL: 'CSW',
  FEE: 'CFEE FEE PTC',
  DIVIDEND: 'CGD DIV',
  INTEREST: 'INT',
  ...{ SPLIT: 'SPLIT', ASSIGNMENT: 'OPASN', EXERCISE: 'OPEXC', EXPIRATION: 'OPEXP' },
  ADJUSTMENT: 'OPCA OPCSH MA NC PTR REORG SPIN',
  OTHER: 'FOPT MISC'
})

/** What Alpaca's sentences of refusal come to: its codes mean many things each. */
const REJECT_PATTERNS: RejectPatterns = [
  [/insufficient (?:qty|underlying qty)|only margin accounts may sell short/i, 'insufficient_position'],
  [/insufficient (?:\w+ )*(?:buying power|balance|funds)/i, 'insufficient_funds'],
  [/wash trade|pattern day trad|too many open orders|open orders, as many as/i, 'risk_rejected'],
  [/too far (?:through|from) the market/i, 'price_out_of_range'],
  [/sub-?penny|pricing criteria|price increment/i, 'tick_size'],
  [/(?:limit|stop)[ _]price .*(?:must be|too far)/i, 'price_out_of_range'],
  [
    /quantity is a plain decimal|not fractionable|fractional|invalid (?:qty|notional)|(?:qty|notional|cost basis) must be/i,
    'quantity_invalid'
  ],
  [/could not find asset|asset .*not found|invalid symbol|symbol .*not found/i, 'unknown_symbol'],
  [/not tradable|not active|\bhalted\b|cannot be sold short|no longer trades/i, 'not_tradable'],
  [/market is (?:closed|not open)|while the market is open|(?:market|trading) hours/i, 'market_closed'],
  [/rejected by user request|not allowed|not (?:authorized|eligible|permitted|enabled)|may not trade|\bscope\b/i, 'not_permitted'],
  [/must be unique/i, 'duplicate']
]

/** `sent`: the request. Of a crypto pair either side of the pair is a balance, and only the side says which one fell short. */
export function rejectCodeOf(reason: string, sent: Pick<OrderTicket, 'instrument' | 'side'> | null): RejectCode {
  if (sent?.instrument === 'CRYPTO' && sent.side === 'SELL' && /insufficient balance/i.test(reason)) return 'insufficient_position'
  return byPattern(reason, REJECT_PATTERNS)
}

export const parseAccount = record<BrokerAccount>({
  brokerAccountId: of(text)('id'),
  accountNumber: of(text)('account_number'),
  institutionName: always('Alpaca'),
  name: always(null),
  accountType: wire => (field(wire, 'multiplier') === '1' ? 'cash' : 'margin'),
  currency: of(displayTextOrNull)('currency')
})

const amount = of(decimalOrNull)
const BALANCE = record<Omit<BalanceReport, 'asOf'>>({
  brokerAccountId: of(text)('id'),
  currency: of(text)('currency'),
  cash: amount('cash'),
  buyingPower: amount('buying_power'),
  initialMargin: amount('initial_margin'),
  maintenanceMargin: amount('maintenance_margin'),
  regTBuyingPower: amount('regt_buying_power'),
  equity: amount('equity'),
  marketValue: amount('position_market_value')
})

export function parseBalance(wire: Wire, asOf: Timestamp): BalanceReport {
  return { ...BALANCE(wire), asOf }
}

const POSITION = record<Omit<PositionReport, 'brokerAccountId' | 'symbol' | 'instrument'>>({
  quantity: wire => signed(decimal(wire, 'qty'), POSITION_SIDES.read(wire, 'side')),
  lastPrice: amount('current_price'),
  averagePrice: amount('avg_entry_price'),
  unrealizedPl: amount('unrealized_pl'),
  realizedPl: always(null),
  dailyPl: amount('unrealized_intraday_pl'),
  totalPl: always(null),
  brokerPositionId: of(textOrNull)('asset_id')
})

export function parsePosition(wire: Wire, brokerAccountId: string, unknownValues: UnknownValueCounter): PositionReport {
  const written = text(wire, 'symbol')
  // An unknown class does not hide a holding: the form of the symbol is enough.
  const instrument = unknownValues.or<Instrument, null>(wire, 'asset_class', ASSET_CLASSES.table, null) ?? instrumentOf(written)
  return { brokerAccountId, symbol: symbolOf(written, instrument), instrument, ...POSITION(wire) }
}

/** The sign is that of the side, whether the number has it or not. */
function signed(quantity: Decimal, side: string): Decimal {
  const size = absolute(quantity)
  return side === 'short' && !isZero(size) ? negated(size) : size
}

/**
 * The trade in shares that an exercise or an assignment makes. It shares the id of the option's own row (Alpaca's documentation), so the id
 * alone names neither.
 */
const OPTION_TRADE = 'OPTRD'
const ONE = parseDecimal('1', 'one')

export function parseTransaction(wire: Wire, unknownValues: UnknownValueCounter): TransactionReport {
  const id = text(wire, 'id')
  const isTrade = field(wire, 'activity_type') === 'FILL'
  const written = isTrade ? text(wire, 'symbol') : displayTextOrNull(wire, 'symbol', 32)
  const instrument = written === null ? null : instrumentOf(written)
  return {
    brokerAccountId: null,
    brokerTransactionId: field(wire, 'activity_type') === OPTION_TRADE ? `${id}:${OPTION_TRADE}` : id,
    brokerType: displayTextOrNull(wire, 'activity_type'),
    symbol: written === null || instrument === null ? null : symbolOf(written, instrument),
    instrument,
    ...(isTrade ? TRADE(wire) : { ...OTHER(wire), type: activityType(wire, unknownValues) }),
    fees: null,
    currency: displayTextOrNull(wire, 'currency') ?? 'USD',
    settlementDay: null,
    brokerOrderId: textOrNull(wire, 'order_id'),
    description: displayTextOrNull(wire, 'description')
  }
}

type Booked = Pick<TransactionReport, 'type' | 'quantity' | 'price' | 'amount' | 'day'>
const TRADE = record<Booked>({
  type: wire => EXECUTION_SIDES.read(wire, 'side'),
  quantity: of(decimal)('qty'),
  price: of(decimal)('price'),
  amount: tradedAmount,
  day: wire => tradingDay(timestamp(wire, 'transaction_time'))
})
const OTHER = record<Omit<Booked, 'type'>>({
  quantity: amount('qty'),
  price: amount('price'),
  amount: amount('net_amount'),
  day: bookedDay
})

/** The price of an option is by the unit that its contract delivers. */
function tradedAmount(wire: Wire): Decimal | null {
  const written = text(wire, 'symbol')
  const units = instrumentOf(written) === 'OPT' ? unitsOf(written) : ONE
  if (units === null) return null
  const value = times(times(decimal(wire, 'qty'), decimal(wire, 'price')), units)
  return EXECUTION_SIDES.read(wire, 'side') === 'SELL' ? value : negated(value)
}

/** Dividends and interest come in many kinds, each with its own letters after the common ones. */
function activityType(wire: Wire, unknownValues: UnknownValueCounter): TransactionType {
  const type = text(wire, 'activity_type', 32)
  if (type.startsWith('DIV')) return 'DIVIDEND'
  if (type.startsWith('INT')) return 'INTEREST'
  if (type === OPTION_TRADE) return decimalOrNull(wire, 'qty')?.startsWith('-') === true ? 'SELL' : 'BUY'
  return unknownValues.or<TransactionType, 'OTHER'>(wire, 'activity_type', ACTIVITIES, 'OTHER')
}

function bookedDay(wire: Wire): Day {
  const created = timestampOrNull(wire, 'created_at')
  return field(wire, 'date') === undefined && created !== null ? tradingDay(created) : day(wire, 'date')
}

/** An execution as the account stream reports it beside its order. */
export function parseExecution(data: Wire): Fill {
  const [fillId, at] = [text(data, 'execution_id'), timestamp(data, 'timestamp')]
  return { fillId, at, quantity: decimal(data, 'qty'), price: decimal(data, 'price'), execDest: null }
}

/**
 * An order and those that hang on it, which Alpaca nests in it: the legs of a bracket are separate orders, those of a multi-leg order are
 * not.
 */
export function parseOrders(wire: Wire, account: string): readonly OrderReport[] {
  const order = parseOrder(wire, account)
  return isMultiLeg(wire) ? [order] : [order, ...nestedOrders(wire).map(leg => parseOrder(leg, account))]
}

/** `execution`: what this message adds to the order; without one its totals count. */
export function parseOrder(wire: Wire, account: string, execution: Fill | null = null): OrderReport {
  const status = statusOf(wire)
  const subject = isMultiLeg(wire) ? multiLegOf(wire, status) : singleOf(wire)
  const notional = decimalOrNull(wire, 'notional')
  const quantity = decimalOrNull(wire, 'qty')
  if (notional === null && quantity === null) throw new Malformed('qty', 'a decimal where notional is null', quantity)
  const { side, legs } = subject
  const priced = (price: Decimal | null) => (price === null || legs === null ? price : netPrice(price, side))
  const reason = status === 'rejected' ? displayTextOrNull(wire, 'reject_reason') : null
  return {
    brokerAccountId: account,
    brokerOrderId: text(wire, 'id'),
    brokerClOrdId: textOrNull(wire, 'client_order_id'),
    ...subject,
    type: ORDER_TYPES.read(wire, 'type'),
    tif: tifOf(wire),
    // The ticket had one of the two.
    quantity: notional === null ? quantity : null,
    notional,
    limitPrice: priced(decimalOrNull(wire, 'limit_price')),
    stopPrice: decimalOrNull(wire, 'stop_price'),
    status,
    brokerStatus: text(wire, 'status'),
    brokerMessage: reason,
    rejectCode: reason === null ? null : rejectCodeOf(reason, subject),
    brokerOrderType: displayTextOrNull(wire, 'type'),
    execDest: null,
    fills: execution === null ? null : [legs === null ? execution : { ...execution, price: netPrice(execution.price, side) }],
    filledTotal: { quantity: decimal(wire, 'filled_qty'), averagePrice: priced(decimalOrNull(wire, 'filled_avg_price')) },
    entryTime: timestampOrNull(wire, 'submitted_at') ?? timestamp(wire, 'created_at'),
    updatedAt: timestampOrNull(wire, 'updated_at') ?? timestamp(wire, 'created_at'),
    replacesBrokerOrderId: textOrNull(wire, 'replaces'),
    replacedByBrokerOrderId: textOrNull(wire, 'replaced_by')
  }
}

/**
 * The price of a multi-leg order is what is paid when it is bought and what is received when it is sold; Alpaca's is always what is paid.
 * Its own inverse.
 */
export function netPrice(price: Decimal, side: Side): Decimal {
  return side === 'SELL' ? negated(price) : price
}

function statusOf(wire: Wire): OrderStatus {
  const status = STATUSES.read(wire, 'status')
  if (field(wire, 'status') !== 'calculated') return status
  const quantity = decimalOrNull(wire, 'qty')
  return quantity !== null && compare(decimal(wire, 'filled_qty'), quantity) >= 0 ? 'filled' : status
}

/** With `extended_hours` an order lives in the extended sessions too. */
function tifOf(wire: Wire): TimeInForce {
  const tif = TIME_IN_FORCE.read(wire, 'time_in_force')
  if (field(wire, 'extended_hours') !== true) return tif
  return tif === 'DAY' ? 'DAY+' : tif === 'GTC' ? 'GTC+' : tif
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
  const stated = field(wire, 'asset_class')
  // A missing class follows from the symbol; a new one means that this is nothing we know.
  const instrument =
    stated === undefined || stated === null || stated === '' ? instrumentOf(written) : ASSET_CLASSES.read(wire, 'asset_class')
  const side = instrument === 'OPT' ? optionSide(wire) : ORDER_SIDES.read(wire, 'side')
  return { symbol: symbolOf(written, instrument), instrument, side, legs: null }
}

/**
 * What an option's order does to the position Alpaca leaves out where the order did not state it: then it is the usual effect of its side.
 */
function optionSide(wire: Wire): Side {
  if (textOrNull(wire, 'position_intent') !== null) return POSITION_INTENTS.read(wire, 'position_intent')
  return ORDER_SIDES.read(wire, 'side') === 'BUY' ? 'BUY_TO_OPEN' : 'SELL_TO_CLOSE'
}

const LEGS_LEAST = 2
const LEGS_MAX = 4

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
  const quantity = decimalOrNull(wire, 'filled_qty')
  const price = decimalOrNull(wire, 'filled_avg_price')
  const leg = { symbol, side: optionSide(wire), ratio: decimal(wire, 'ratio_qty') }
  if (!hasEnded || quantity === null || !isPositive(quantity) || price === null) return { ...leg, fills: [] }
  const at = timestampOrNull(wire, 'filled_at') ?? timestampOrNull(wire, 'updated_at') ?? timestamp(wire, 'created_at')
  return { ...leg, fills: [{ fillId: `${orderId}:${symbol}:${quantity}`, at, quantity, price, execDest: null }] }
}

/** The orders in `legs`; none where there are none. */
export function nestedOrders(wire: Wire): readonly Wire[] {
  const legs = field(wire, 'legs')
  return legs === undefined || legs === null ? [] : items(legs, 'legs', leg => leg)
}
