/** Tradier's records in the core's terms. Pure; throws Malformed and nothing else: an unknown status or type is never guessed. */

import { absolute, compare, type Decimal, ZERO } from '@trunkline/core/domain/decimal'
import { isNil } from '@trunkline/core/domain/fast/scan'
import { Malformed } from '@trunkline/core/domain/malformed'
import { type Day, parseDay, type Timestamp } from '@trunkline/core/domain/timestamp'
import type { Instrument, OrderStatus, OrderType, Side, TransactionType } from '@trunkline/core/domain/vocabulary'
import type { BalanceReport, BrokerAccount, OrderReport, PositionReport, TransactionReport } from '@trunkline/core/ports/broker'
import { always, enumCodec, of, record, tableOf } from '../kit/codec.ts'
import { identifiedByContent } from '../kit/content-ids.ts'
import { type Holding, middleOf, summedHolding, valued } from '../kit/holdings.ts'
import { filledOfLegs, type LegTotals, unitsOfLegs } from '../kit/leg-totals.ts'
import { isLimit, isStop } from '../kit/order-merge.ts'
import { field, lookUp, member, nested, object, text, timestampOrNull, type Wire } from '../kit/parse.ts'
import type { Items } from '../kit/record-lists.ts'
import { type RejectPatterns, rejectCodes } from '../kit/reject-code.ts'
import type { ListContext } from '../kit/runtime/read-definitions.ts'
import { readSummed } from '../kit/summed-positions.ts'
import type { UnknownValueCounter } from '../kit/unknown-values.ts'
import { amount, amountOrNull, collapsed, displayTextOf, items, nestedOf, textOf } from './quirks.ts'
import { fromTradier, isOption, multiplierOf } from './symbols.ts'

/** Tradier has no other. */
export const CURRENCY = 'USD'
const LEGS_MAX = 8

export const ORDER_TYPES = enumCodec({ market: 'MKT', limit: 'LMT', stop: 'STP', stop_limit: 'STPLMT' })
export const POSITION_EFFECTS = enumCodec({
  buy_to_open: 'BUY_TO_OPEN',
  buy_to_close: 'BUY_TO_CLOSE',
  sell_to_open: 'SELL_TO_OPEN',
  sell_to_close: 'SELL_TO_CLOSE'
})
const SHARE_SIDES = enumCodec({ buy: 'BUY', buy_to_cover: 'BUY', sell: 'SELL', sell_short: 'SELL' })
const TIME_IN_FORCE = enumCodec({ day: 'DAY', gtc: 'GTC', pre: 'DAY+', post: 'DAY+' })
/** `combo`: options together with their shares, made elsewhere only. */
const ASSET_CLASSES = enumCodec({ equity: 'STK', option: 'OPT', multileg: 'MLEG_OPT', combo: 'MLEG_OPT' })
/** Orders that hold others, each with a life of its own. */
const BRACKETS: ReadonlySet<unknown> = new Set(['oto', 'oco', 'otoco'])
/** The type of a multi-leg order also states which way the money goes. */
const MULTI_LEG_TYPES = {
  market: { type: 'MKT', side: 'BUY' },
  debit: { type: 'LMT', side: 'BUY' },
  credit: { type: 'LMT', side: 'SELL' },
  even: { type: 'LMT', side: 'BUY' }
} as const satisfies Record<string, { type: OrderType; side: Side }>

/** `calculated` and `filled` are decided by the quantities, not by the status. */
export const STATUSES = enumCodec<OrderStatus>(
  tableOf({
    pending: 'ok pending submitted',
    // Held: accepted, and waiting for its trigger; it can be cancelled.
    working: 'open held accepted_for_bidding calculated',
    partially_filled: 'partially_filled',
    filled: 'filled',
    cancelled: 'canceled cancelled',
    expired: 'expired',
    rejected: 'rejected error'
  })
)
const ENDED: ReadonlySet<OrderStatus> = new Set(['cancelled', 'expired', 'rejected'])

/** Of the registry of error codes. */
const REJECT_CODES = {
  not_permitted: `AccountDisabled AccountIsNotApproved UserDisabled TradingDeniedForAccount OrderIsNotAllowedForAccount
    AssetTradingNotConfiguredForAccount OptionLevelRestriction LongOptionTradingDeniedForAccount ShortOptionTradingDeniedForAccount
    SpreadTradingDeniedForAccount ShortStockTradingDeniedForAccount TradeNonStandardOptions IncorrectTimeInForce MarketOrderIsGtc ShortOrderIsGtc`,
  insufficient_funds: 'InitialMargin TotalInitialMargin MaintenanceMargin DayTradingBuyingPowerExceeded TooSmallEquityForDayTrading',
  risk_rejected: 'AccountMarginRuleViolation DayTraderPatternRestriction WashTradeAttempt SellShortOrderLastPriceBelow5',
  // The side does not fit what is held.
  insufficient_position: `UnexpectedBuyOrder UnexpectedBuyOrderOption UnexpectedBuyToCoverOrder UnexpectedBuyToCoverOrderOption
    UnexpectedSellOrder UnexpectedSellOrderOption UnexpectedSellShortOrder UnexpectedSellShortOrderOption LongPositionCrossZero
    ShortPositionCrossZero`,
  price_out_of_range: `LimitPriceUndefined StopPriceUndefined OrderPriceIsInvalid QuotePriceIsInvalid BuyStopOrderStopPriceLessAsk
    SellStopOrderStopPriceGreaterBid`,
  quantity_invalid: 'IncorrectOrderQuantity OrderQuantity',
  unknown_symbol: 'SecurityUndefined ExpirationDateUndefined StrikePriceUndefined OptionTypeUndefined',
  not_tradable: 'InvalidOrderExpiration ShortTradingDeniedForSecurity TradingDeniedForSecurity'
} as const
/** What has no code in the registry. */
const REJECT_PATTERNS: RejectPatterns = [
  [/buying power/i, 'insufficient_funds'],
  [/pre-?market .*unavailable|market is closed|outside .*(?:market|trading) hours/i, 'market_closed'],
  [/price.?range|too aggressive|too far (?:through|from) the market/i, 'price_out_of_range'],
  [/only margin accounts may sell short/i, 'insufficient_position'],
  [/too[ _]many[ _]open[ _]orders|open orders, as many as/i, 'risk_rejected']
]
/** Of a message in which a code of the registry, or else the wording, decides. */
export const rejectCodeOf = rejectCodes(REJECT_CODES, REJECT_PATTERNS)

export const parseAccount = record<BrokerAccount>({
  brokerAccountId: of(text)('account_number'),
  accountNumber: of(text)('account_number'),
  institutionName: always('Tradier'),
  name: wire => displayTextOf(wire, 'classification')?.replaceAll('_', ' ') ?? null,
  accountType: of(displayTextOf)('type'),
  currency: always(CURRENCY)
})

/** The accounts of a profile, without those that were closed, which cannot be read any more. */
export function parseProfile(answer: Wire): readonly Wire[] {
  return items(answer, 'profile', 'account').filter(wire => displayTextOf(wire, 'status')?.toLowerCase() !== 'closed')
}

/** Buying power is in a separate element for each type of account. */
export function parseBalances(answer: Wire, account: string, asOf: Timestamp): BalanceReport {
  const wire = nested(answer, 'balances')
  const margin = nestedOf(wire, 'margin') ?? nestedOf(wire, 'pdt')
  const cash = nestedOf(wire, 'cash')
  const stock = margin === null ? null : amountOrNull(margin, 'stock_buying_power')
  const day = margin === null ? null : amountOrNull(margin, 'day_trade_buying_power')
  const larger = stock === null || day === null ? (stock ?? day) : compare(stock, day) < 0 ? day : stock
  return {
    // The field may be missing: then it is the requested account.
    brokerAccountId: displayTextOf(wire, 'account_number') ?? account,
    currency: CURRENCY,
    cash: amountOrNull(wire, 'total_cash'),
    buyingPower: cash === null ? larger : amountOrNull(cash, 'cash_available'),
    initialMargin: null,
    maintenanceMargin: amountOrNull(wire, 'current_requirement'),
    regTBuyingPower: stock,
    equity: amountOrNull(wire, 'total_equity'),
    marketValue: amountOrNull(wire, 'market_value'),
    asOf
  }
}

/** A row, as Tradier writes it. */
export const parseHolding = record<Holding>({
  symbol: of(text)('symbol'),
  quantity: of(amount)('quantity'),
  costBasis: of(amount)('cost_basis'),
  id: of(textOf)('id')
})

/** One for each symbol: rows of the same symbol are added up. */
export function holdingsOf(rows: readonly Wire[], readable: ListContext['readable']): Items<Holding> {
  return readSummed(readable, rows, { symbolKey: 'symbol', idKey: 'id', row: parseHolding, sum: summedHolding })
}

/** The last price of a symbol; without a trade the middle of bid and ask. */
export function parsePrice(quote: Wire): readonly [symbol: string, price: Decimal | null] {
  return [text(quote, 'symbol'), amountOrNull(quote, 'last') ?? middleOf(amountOrNull(quote, 'bid'), amountOrNull(quote, 'ask'))]
}

/** Tradier reports realized profit of closed positions only, nightly: of a position neither the day's nor the total is known. */
export function positionOf(holding: Holding, brokerAccountId: string, lastPrice: Decimal | null): PositionReport {
  const { symbol } = holding
  const instrument = isOption(symbol) ? 'OPT' : 'STK'
  return valued(holding, { brokerAccountId, symbol: fromTradier(symbol), instrument, multiplier: multiplierOf(symbol), lastPrice })
}

/** The records of a list of orders, one for each order with a life of its own. A bracket that cannot be read is left as it is. */
export function parseOrders(answer: Wire): readonly Wire[] {
  return items(answer, 'orders', 'order').flatMap(order => {
    try {
      return unbracketed(order)
    } catch (error) {
      if (error instanceof Malformed) return [order]
      throw error
    }
  })
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
  const id = text(wire, 'id', 64)
  const { subject, filled } = parseSubject(wire, id)
  const { type, quantity } = subject
  const entryTime = timestampOrNull(wire, 'create_date') ?? timeOf(wire, 'transaction_date')
  const status = statusOf(wire, { quantity, filled })
  const reason = displayTextOf(wire, 'reason_description')
  return {
    ...subject,
    brokerAccountId: account,
    brokerOrderId: id,
    brokerClOrdId: textOf(wire, 'tag'),
    tif: TIME_IN_FORCE.read(wire, 'duration'),
    notional: null,
    // An even order has no price.
    limitPrice: isLimit(type) ? (amountOrNull(wire, 'price') ?? (field(wire, 'type') === 'even' ? ZERO : null)) : null,
    stopPrice: isStop(type) ? amountOrNull(wire, 'stop_price') : null,
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

export interface FillTotals {
  /** Of the order; null: not published. */
  readonly quantity: Decimal | null
  readonly filled: NonNullable<OrderReport['filledTotal']>
}

/** Tradier may report an order filled before it reports how much of it at which price: until then nothing counts as filled. */
export function fillTotalsOf(wire: Wire): FillTotals {
  const executed = amountOrNull(wire, 'exec_quantity') ?? amountOrNull(wire, 'executed_quantity') ?? ZERO
  const average = amountOrNull(wire, 'avg_fill_price') ?? ZERO
  const hasTotals = !isNil(executed) && !isNil(average)
  return {
    quantity: amountOrNull(wire, 'quantity'),
    filled: hasTotals ? { quantity: executed, averagePrice: average } : { quantity: ZERO, averagePrice: null }
  }
}

/** A status of filled counts once the quantities show it too. @throws UnknownValueError */
export function statusOf(wire: Wire, { quantity, filled }: FillTotals): OrderStatus {
  const reported = STATUSES.read(wire, 'status')
  const isPart = !isNil(filled.quantity)
  if (reported === 'filled' || field(wire, 'status') === 'calculated') {
    const isWhole = isPart && (quantity === null || filled.quantity === quantity || compare(filled.quantity, quantity) >= 0)
    return isWhole ? 'filled' : isPart ? 'partially_filled' : 'working'
  }
  return reported === 'working' && isPart ? 'partially_filled' : reported
}

/** Whether Tradier reports filled and has not sent the quantities yet. */
export function lacksFillTotals({ status, brokerStatus }: OrderReport): boolean {
  return brokerStatus === 'filled' && status !== 'filled'
}

interface Subject {
  readonly subject: Pick<OrderReport, 'symbol' | 'instrument' | 'side' | 'type' | 'quantity' | 'legs'>
  readonly filled: FillTotals['filled']
}

function parseSubject(wire: Wire, id: string): Subject {
  const instrument = instrumentOf(wire)
  const { filled } = fillTotalsOf(wire)
  if (instrument === 'MLEG_OPT') {
    const { type, side } = member(wire, 'type', MULTI_LEG_TYPES)
    const totals = legsOf(wire).map(leg => legTotals(wire, leg))
    const { quantity, legs } = unitsOfLegs(id, totals, ENDED.has(STATUSES.read(wire, 'status')))
    const subject = { symbol: null, instrument, side, type, quantity, legs }
    return { subject, filled: filledOfLegs(side, totals, legs) ?? filled }
  }
  const quantity = amount(wire, 'quantity')
  if (quantity.startsWith('-') || isNil(quantity)) throw new Malformed('quantity', 'a positive number', quantity)
  const symbol = instrument === 'OPT' ? text(wire, 'option_symbol', 32) : fromTradier(text(wire, 'symbol', 32))
  const side = (instrument === 'OPT' ? POSITION_EFFECTS : SHARE_SIDES).read(wire, 'side')
  return { subject: { symbol, instrument, side, type: ORDER_TYPES.read(wire, 'type'), quantity, legs: null }, filled }
}

/** Tradier counts the contracts of each leg. */
function legTotals(order: Wire, wire: Wire): LegTotals {
  const contract = textOf(wire, 'option_symbol')
  const { filled } = fillTotalsOf(wire)
  const ordered = absolute(amount(wire, 'quantity'))
  if (isNil(ordered)) throw new Malformed('quantity', 'a positive whole number', ordered)
  return {
    symbol: contract ?? fromTradier(text(wire, 'symbol', 32)),
    side: (contract === null ? SHARE_SIDES : POSITION_EFFECTS).read(wire, 'side'),
    ordered,
    executed: filled.quantity,
    averagePrice: filled.averagePrice,
    at: timestampOrNull(wire, 'transaction_date') ?? timeOf(order, 'transaction_date')
  }
}

function instrumentOf(wire: Wire): Instrument {
  // A leg of a bracket may lack its class.
  if (field(wire, 'class') === undefined) return textOf(wire, 'option_symbol') === null ? 'STK' : 'OPT'
  return ASSET_CLASSES.read(wire, 'class')
}

function legsOf(wire: Wire): readonly Wire[] {
  const legs = collapsed(wire, 'leg').map((leg, index) => object(leg, `leg[${index}]`))
  if (legs.length === 0 || legs.length > LEGS_MAX) throw new Malformed('leg', `a list of 1 to ${LEGS_MAX}`, legs.length)
  return legs
}

function timeOf(wire: Wire, key: string): Timestamp {
  const at = timestampOrNull(wire, key)
  if (at !== null) return at
  throw new Malformed(key, 'a time', null)
}

/** Of an event of the history. `trade`, and what moves money, need more than the type. */
const EVENTS: Readonly<Record<string, TransactionType>> = {
  ...{ dividend: 'DIVIDEND', interest: 'INTEREST', fee: 'FEE', tax: 'FEE', journal: 'TRANSFER', transfer: 'TRANSFER' },
  ...{ adjustment: 'ADJUSTMENT', ach: 'DEPOSIT', wire: 'DEPOSIT', check: 'DEPOSIT', trade: 'BUY', option: 'OTHER' }
}
/** What happened to an option. */
const OPTION_EVENTS: Readonly<Record<string, TransactionType>> = {
  ...{ assignment: 'ASSIGNMENT', exercise: 'EXERCISE', expiration: 'EXPIRATION' },
  // Recorded of accounts, where the reference has the words above.
  ...{ optexp: 'EXPIRATION', expired: 'EXPIRATION' }
}
/** What is incoming with a positive amount is outgoing with a negative one. */
const OUTGOING: { readonly [type in TransactionType]?: TransactionType } = { BUY: 'SELL', DEPOSIT: 'WITHDRAWAL' }

/** An event of the history, and what it is but for its id. */
export interface ParsedEvent {
  readonly record: Wire
  readonly day: Day
  readonly transaction: Omit<TransactionReport, 'brokerTransactionId'>
}

/** Newest first. Tradier books by night, and gives no ids. */
export function transactionsOf(events: readonly ParsedEvent[]): readonly TransactionReport[] {
  return identifiedByContent(events).map(({ transaction, id }) => ({ ...transaction, brokerTransactionId: id }))
}

export function parseEvent(event: Wire, unknownValues: UnknownValueCounter): ParsedEvent {
  const day = parseDay(text(event, 'date', 40).slice(0, 10), 'date')
  return { record: event, day, transaction: transactionOf(event, day, unknownValues) }
}

function transactionOf(event: Wire, day: Day, unknownValues: UnknownValueCounter): ParsedEvent['transaction'] {
  const brokerType = text(event, 'type', 64)
  // The details are in an element with the name of the type; of older events in `adjustment`.
  const detail = nestedOf(event, brokerType) ?? nestedOf(event, 'adjustment') ?? {}
  const total = amountOrNull(event, 'amount')
  const quantity = amountOrNull(detail, 'quantity')
  const symbol = textOf(detail, 'symbol')
  const type = typeOf(event, detail, { total, quantity }, unknownValues)
  return {
    brokerAccountId: null,
    type,
    brokerType,
    symbol: symbol === null ? null : fromTradier(symbol),
    instrument: symbol === null ? null : isOption(symbol) ? 'OPT' : 'STK',
    // The type of a trade states its direction; of anything else the sign does.
    quantity: quantity !== null && (type === 'BUY' || type === 'SELL') ? absolute(quantity) : quantity,
    price: amountOrNull(detail, 'price'),
    amount: total,
    fees: amountOrNull(detail, 'commission'),
    currency: CURRENCY,
    day,
    settlementDay: null,
    brokerOrderId: null,
    description: displayTextOf(detail, 'description')
  }
}

function typeOf(
  event: Wire,
  detail: Wire,
  { total, quantity }: { readonly total: Decimal | null; readonly quantity: Decimal | null },
  unknownValues: UnknownValueCounter
): TransactionType {
  const type = unknownValues.or<TransactionType, 'OTHER'>(event, 'type', EVENTS, 'OTHER')
  if (field(event, 'type') === 'option') return lookUp(OPTION_EVENTS, displayTextOf(detail, 'option_type')?.toLowerCase()) ?? 'OTHER'
  // A negative quantity was sold whatever it brought in.
  const isSold = type === 'BUY' && quantity !== null && compare(quantity, ZERO) < 0
  const sign = total === null ? 0 : compare(total, ZERO)
  const isOutgoing = isSold || (type === 'BUY' ? sign > 0 : sign < 0)
  return (isOutgoing ? OUTGOING[type] : undefined) ?? type
}
