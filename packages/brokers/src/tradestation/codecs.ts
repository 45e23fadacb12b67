/** TradeStation's records in the core's terms, in lists and streams alike. Pure; throws Malformed and nothing else. */

import { absolute, compare, type Decimal, isPositive, negated, ZERO } from '@trunkline/core/domain/decimal'
import { isNil } from '@trunkline/core/domain/fast/scan'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { Instrument, OrderStatus, OrderType, Side, TimeInForce } from '@trunkline/core/domain/vocabulary'
import type { BalanceReport, BrokerAccount, OrderReport, PositionReport } from '@trunkline/core/ports/broker'
import { always, enumCodec, of, record, tableOf } from '../kit/codec.ts'
import { type LegTotals, unitsFilled, unitsOfLegs } from '../kit/leg-totals.ts'
import {
  decimal,
  displayTextOrNull,
  field,
  lookUp,
  member,
  nestedOrNull,
  text,
  timestamp,
  timestampOrNull,
  type Wire
} from '../kit/parse.ts'
import { rejectCodes } from '../kit/reject-code.ts'
import type { WholeOrder } from '../kit/runtime/order-totals.ts'
import type { OrderTracker } from '../kit/runtime/order-tracker.ts'
import { amount, records } from './quirks.ts'
import { ourSymbol } from './symbols.ts'

const LEGS_MAX = 4

export const ORDER_TYPES = enumCodec<OrderType>({ Market: 'MKT', Limit: 'LMT', StopMarket: 'STP', StopLimit: 'STPLMT' })
/**
 * In capitals: mostly what was sent, but extended hours in two spellings. An order placed elsewhere may have a last day, for which the core
 * has no value: the nearest that lives at least as long.
 */
export const TIME_IN_FORCE = enumCodec<TimeInForce>(
  tableOf({
    ...{ DAY: 'DAY', 'DAY+': 'DYP DAY+', GTC: 'GTC GTD', 'GTC+': 'GCP GTC+ GDP GTD+' },
    ...{ OPEN: 'OPG', CLOSE: 'CLO', IOC: 'IOC', FOK: 'FOK' }
  })
)
/** A life of minutes, of an order placed elsewhere: the nearest is a day. */
const MINUTES = /^[135](?: MIN)?$/i
/** What can be held. Classes that cannot be ordered here are none of the core's, and left out. */
const ASSET_CLASSES = enumCodec<Instrument>({ STOCK: 'STK', STOCKOPTION: 'OPT', INDEXOPTION: 'OPT', FUTURE: 'FUT' })
export const POSITION_EFFECTS = enumCodec<Side>({
  ...({ BUYTOOPEN: 'BUY_TO_OPEN', SELLTOOPEN: 'SELL_TO_OPEN', BUYTOCLOSE: 'BUY_TO_CLOSE', SELLTOCLOSE: 'SELL_TO_CLOSE' } as const)
})
/** `BuyOrSell` in capitals, by whether it opens or closes. Shares and futures have no such value in the core. */
const ACTIONS: Readonly<Record<string, { readonly plain: Side; readonly OPEN: Side; readonly CLOSE: Side }>> = {
  BUY: { plain: 'BUY', OPEN: 'BUY_TO_OPEN', CLOSE: 'BUY_TO_CLOSE' },
  BUYTOCOVER: { plain: 'BUY', OPEN: 'BUY_TO_CLOSE', CLOSE: 'BUY_TO_CLOSE' },
  BUYTOOPEN: { plain: 'BUY', OPEN: 'BUY_TO_OPEN', CLOSE: 'BUY_TO_OPEN' },
  BUYTOCLOSE: { plain: 'BUY', OPEN: 'BUY_TO_CLOSE', CLOSE: 'BUY_TO_CLOSE' },
  SELL: { plain: 'SELL', OPEN: 'SELL_TO_OPEN', CLOSE: 'SELL_TO_CLOSE' },
  SELLSHORT: { plain: 'SELL', OPEN: 'SELL_TO_OPEN', CLOSE: 'SELL_TO_OPEN' },
  SELLTOOPEN: { plain: 'SELL', OPEN: 'SELL_TO_OPEN', CLOSE: 'SELL_TO_OPEN' },
  SELLTOCLOSE: { plain: 'SELL', OPEN: 'SELL_TO_CLOSE', CLOSE: 'SELL_TO_CLOSE' }
}

/** What a status says, together with how much of the order is done and whether it is closed. */
export const STATUSES = tableOf({
  // On its way to the broker.
  before: 'OPN PLA DIS STT',
  // At the broker. The first five are not routed yet: they wait for their market to open, a condition or the order before them, or rest.
  // They can be cancelled and changed.
  live: 'DON CND OSO SUS CHG ACK STP FPR',
  // The last three are an assignment, an exercise and a corrected execution: their effect on positions shows in the positions.
  filled: 'FLL BRF ASS EXE COR',
  cancelled: 'FLP CAN BRC TSC SCN DOA',
  // Off the order book, for good only once it is closed: the broker takes an order off while it replaces it.
  out: 'OUT',
  expired: 'EXP',
  rejected: 'REJ BRO',
  pending_cancel: 'UCN CSN ECN REC',
  pending_replace: 'RPD RSN',
  replaced: 'UCH',
  // A cancel or a replacement was refused, so the order lives on.
  refused_request: 'RJC LAT RJR',
  // The broker itself has no name for it.
  other: 'OTHER'
})
type Meaning = (typeof STATUSES)[string]
/** Orders that live, whatever times they carry. */
const ALIVE: ReadonlySet<Meaning> = new Set(['before', 'live'])
/** Orders that ended, or may have, without being filled. */
const ENDED_UNFILLED: ReadonlySet<Meaning> = new Set(['out', 'cancelled', 'expired', 'rejected'])

/** Of the broker's sentences of refusal. Only positions have codes in them. */
export const rejectCodeOf = rejectCodes({}, [
  // "You are long", "You are short": the action does not fit what is held.
  [/\bEC(?:601|602|701|702)\b/, 'insufficient_position'],
  [/through zero|can be closed|only margin accounts may sell short/i, 'insufficient_position'],
  [/pattern day trad|wash (?:sale|trade)|too many open orders|open orders, as many as/i, 'risk_rejected'],
  [/too far (?:through|from) the market/i, 'price_out_of_range'],
  [/buying power|insufficient (?:funds|cash|margin|equity)/i, 'insufficient_funds'],
  [/(?:invalid|unknown) symbol|symbol (?:is |was )?not found/i, 'unknown_symbol'],
  [/market is (?:closed|not open)|while the market is open|outside of (?:regular )?(?:trading|market) hours/i, 'market_closed'],
  [/\btick\b|price increment/i, 'tick_size'],
  [/(?:limit|stop) ?price .*(?:too far|out of range|must be)|invalid (?:limit |stop )?price/i, 'price_out_of_range'],
  [/invalid quantity|quantity .*(?:whole number|must be|exceeds)/i, 'quantity_invalid'],
  [/\bhalted\b|no longer trades|not tradable|cannot be traded/i, 'not_tradable'],
  [/not (?:authorized|approved|permitted|allowed|entitled|enabled)|may not trade|without the scope/i, 'not_permitted'],
  [/duplicate/i, 'duplicate']
])

const idIn = (key: string) => (wire: Wire) => text(wire, key, 64)
const amountIn = of(amount)

export const parseAccount = record<BrokerAccount>({
  brokerAccountId: idIn('AccountID'),
  accountNumber: idIn('AccountID'),
  institutionName: always('TradeStation'),
  name: of(displayTextOrNull)('Alias'),
  accountType: of(displayTextOrNull)('AccountType'),
  currency: wire => displayTextOrNull(wire, 'Currency', 8)
})

/** One record a currency. `currency` is the account's own; only futures accounts hold others. */
export function parseBalances(wire: Wire, currency: string, asOf: Timestamp): readonly BalanceReport[] {
  const detail = nestedOrNull(wire, 'BalanceDetail') ?? {}
  // What the account has as a whole is reported in its own currency, and belongs to no other.
  const whole = { buyingPower: amount(wire, 'BuyingPower'), equity: amount(wire, 'Equity'), marketValue: amount(wire, 'MarketValue') }
  const none = { buyingPower: null, equity: null, marketValue: null }
  const brokerAccountId = text(wire, 'AccountID', 64)
  const account: BalanceReport = {
    ...{ brokerAccountId, currency, cash: amount(wire, 'CashBalance'), ...whole, asOf },
    initialMargin: amount(detail, 'InitialMargin') ?? amount(detail, 'RequiredMargin'),
    maintenanceMargin: amount(detail, 'MaintenanceMargin'),
    regTBuyingPower: amount(detail, 'OvernightBuyingPower')
  }
  const currencies = field(wire, 'CurrencyDetails')
  if (!Array.isArray(currencies) || currencies.length === 0) return [account]
  return records(wire, 'CurrencyDetails').map(part => {
    const own = text(part, 'Currency', 8)
    return { brokerAccountId, ...(own === currency ? whole : none), currency: own, ...IN_CURRENCY(part), asOf }
  })
}

const IN_CURRENCY = record<Pick<BalanceReport, 'cash' | 'initialMargin' | 'maintenanceMargin' | 'regTBuyingPower'>>({
  cash: amountIn('CashBalance'),
  initialMargin: amountIn('InitialMargin'),
  maintenanceMargin: amountIn('MaintenanceMargin'),
  regTBuyingPower: always(null)
})

export const parsePosition = record<PositionReport>({
  brokerAccountId: idIn('AccountID'),
  symbol: symbolOf,
  instrument: wire => ASSET_CLASSES.read(wire, 'AssetType'),
  quantity(wire) {
    const quantity = decimal(wire, 'Quantity')
    // Short positions are documented as negative; one that is not is short all the same.
    return field(wire, 'LongShort') === 'Short' && isPositive(quantity) ? negated(quantity) : quantity
  },
  lastPrice: amountIn('Last'),
  averagePrice: amountIn('AveragePrice'),
  unrealizedPl: amountIn('UnrealizedProfitLoss'),
  // The broker reports what was realized of an account, not of a position: without it the total is not known.
  realizedPl: always(null),
  dailyPl: amountIn('TodaysProfitLoss'),
  totalPl: always(null),
  brokerPositionId: idIn('PositionID')
})

function symbolOf(wire: Wire): string {
  return ourSymbol(text(wire, 'Symbol', 64), ASSET_CLASSES.read(wire, 'AssetType'))
}

/** `now` is when the answer came, for orders that do not say when they changed. */
export function parseOrder(wire: Wire, now: Timestamp): WholeOrder {
  const brokerOrderId = text(wire, 'OrderID', 64)
  const meaning = member(wire, 'Status', STATUSES)
  // A stop that was hit, and a leg that is queued overnight, carry a closing time and live on (recorded 2026-04-23 and 2026-05-08).
  const closedAt = ALIVE.has(meaning) || field(wire, 'ClosedDateTime') === '' ? null : timestampOrNull(wire, 'ClosedDateTime')
  const isClosed = closedAt !== null
  const legs = legsOf(wire, meaning, closedAt ?? now)
  const [status, isUnresolved] = statusOf(meaning, legs, isClosed)
  // A refused cancel or change has its reason in the description of the status, as far as it has one.
  const releases = meaning === 'refused_request' && !isClosed
  const reason = displayTextOrNull(wire, 'RejectReason')
  const report: OrderReport = {
    brokerAccountId: text(wire, 'AccountID', 64),
    brokerOrderId,
    brokerClOrdId: null,
    ...(legs.length === 1 ? single(legs[0], wire) : several(wire, legs, brokerOrderId)),
    notional: null,
    type: ORDER_TYPES.read(wire, 'OrderType'),
    tif: tifOf(wire),
    stopPrice: price(wire, 'StopPrice'),
    status,
    ...(releases ? { releases } : {}),
    brokerStatus: text(wire, 'Status', 32),
    brokerMessage: reason ?? (releases ? displayTextOrNull(wire, 'StatusDescription') : null),
    rejectCode: status === 'rejected' && reason !== null ? rejectCodeOf(reason) : null,
    brokerOrderType: text(wire, 'OrderType', 64),
    execDest: displayTextOrNull(wire, 'Routing', 64),
    fills: null,
    entryTime: timestamp(wire, 'OpenedDateTime'),
    updatedAt: closedAt ?? now,
    replacesBrokerOrderId: null,
    replacedByBrokerOrderId: null
  }
  return { report, isClosed, isUnresolved }
}

function tifOf(wire: Wire): TimeInForce {
  const value = field(wire, 'Duration')
  return typeof value === 'string' && MINUTES.test(value) ? 'DAY' : spelled(wire, 'Duration', TIME_IN_FORCE.table)
}

/** The status, and whether the code alone does not settle it. */
function statusOf(meaning: Meaning, legs: readonly Leg[], isClosed: boolean): readonly [status: OrderStatus, isUnresolved: boolean] {
  const isWhole = legs.every(({ executed, ordered }) => executed === ordered || compare(executed, ordered) >= 0)
  const isPart = isWhole || legs.some(({ executed }) => !isNil(executed))
  const onBook = isWhole ? 'filled' : isPart ? 'partially_filled' : 'working'
  const ended = isWhole ? 'filled' : 'cancelled'
  switch (meaning) {
    case 'before':
      return [isPart ? onBook : 'pending', false]
    case 'live':
      return [onBook, false]
    case 'filled':
      // It counts once the quantities show it too.
      return [onBook, !isWhole]
    case 'refused_request':
      // The list of codes counts a refused change among the cancelled ones; only a closing time makes it one.
      return [isClosed ? ended : onBook, isClosed]
    case 'out':
      return isClosed ? ['cancelled', false] : ['pending_cancel', true]
    case 'other':
      return [isClosed ? ended : onBook, true]
    case 'replaced':
      // Its id is kept, so it goes on with other terms.
      return [isClosed ? 'replaced' : onBook, true]
    default:
      return [meaning, false]
  }
}

type Subject = Pick<OrderReport, 'symbol' | 'instrument' | 'side' | 'quantity' | 'limitPrice' | 'legs' | 'filledTotal'>

/** One leg as it is sent. An order of a single symbol is one leg. */
type Leg = LegTotals & { readonly instrument: Instrument }

function single({ symbol, instrument, side, ordered, executed, averagePrice: paid }: Leg, wire: Wire): Subject {
  const averagePrice = isNil(executed) ? null : (paid ?? price(wire, 'FilledPrice'))
  const filledTotal = { quantity: executed, averagePrice }
  return { symbol, instrument, side, quantity: ordered, limitPrice: price(wire, 'LimitPrice'), legs: null, filledTotal }
}

/**
 * The broker has quantities of legs only, so the quantity of a multi-leg order is what these have in common; and no side, so a debit is
 * bought and what brings in is sold. A leg becomes one execution only once it is whole.
 */
function several(wire: Wire, totals: readonly Leg[], orderId: string): Subject {
  const { quantity, legs } = unitsOfLegs(orderId, totals, false)
  const net = field(wire, 'OrderType') === 'Limit' ? amount(wire, 'LimitPrice') : null
  const isCredit = net?.startsWith('-') === true
  const filled = unitsFilled(totals, legs)
  const average = isNil(filled) ? null : amount(wire, 'FilledPrice')
  return {
    symbol: null,
    instrument: 'MLEG_OPT',
    side: isCredit ? 'SELL' : 'BUY',
    quantity,
    limitPrice: net === null ? null : absolute(net),
    legs,
    filledTotal: { quantity: filled, averagePrice: average !== null && isCredit ? absolute(average) : average }
  }
}

/**
 * The requested side of a multi-leg order, where the order is known: the broker reports only the net price. With it, a purchase at a
 * negative price is reported as one, and not as a sale at a positive price.
 */
export function withRequestedSide(parsed: WholeOrder, tracker: OrderTracker): WholeOrder {
  const { report } = parsed
  const side = report.legs === null ? undefined : tracker.get(report.brokerAccountId, report.brokerOrderId)?.side
  if (side === undefined || side === report.side) return parsed
  const { limitPrice, filledTotal } = report
  const filled = filledTotal === null ? null : { ...filledTotal, averagePrice: turned(filledTotal.averagePrice) }
  return { ...parsed, report: { ...report, side, limitPrice: turned(limitPrice), filledTotal: filled } }
}

function turned(net: Decimal | null): Decimal | null {
  return net === null ? null : negated(net)
}

function legsOf(wire: Wire, meaning: Meaning, at: Timestamp): readonly [Leg, ...Leg[]] {
  // An expired order was recorded with all of its quantity under `ExecQuantity` and nothing paid for it: of what ended unfilled, what has
  // no price was not executed.
  const isUnpaid = ENDED_UNFILLED.has(meaning) && price(wire, 'FilledPrice') === null
  const [first, ...others] = records(wire, 'Legs').map(leg => legOf(leg, isUnpaid, at))
  if (first === undefined || others.length >= LEGS_MAX) throw new Malformed('Legs', `a list of 1 to ${LEGS_MAX}`, others.length)
  return [first, ...others]
}

function legOf(wire: Wire, isUnpaid: boolean, at: Timestamp): Leg {
  const instrument = ASSET_CLASSES.read(wire, 'AssetType')
  const ordered = decimal(wire, 'QuantityOrdered')
  if (isNil(ordered) || ordered.startsWith('-')) throw new Malformed('QuantityOrdered', 'more than nothing', ordered)
  const executed = amount(wire, 'ExecQuantity') ?? ZERO
  if (executed.startsWith('-')) throw new Malformed('ExecQuantity', 'nothing or more', executed)
  const averagePrice = price(wire, 'ExecutionPrice')
  const symbol = ourSymbol(text(wire, 'Symbol', 64), instrument)
  const side = sideOf(wire, instrument)
  return { symbol, instrument, side, ordered, executed: isUnpaid && averagePrice === null ? ZERO : executed, averagePrice, at }
}

function sideOf(wire: Wire, instrument: Instrument): Side {
  const action = spelled(wire, 'BuyOrSell', ACTIONS)
  return action[instrument === 'OPT' ? spelled(wire, 'OpenOrClose', { OPEN: 'OPEN', CLOSE: 'CLOSE' } as const) : 'plain']
}

/** The broker's own spelling of these values varies. */
function spelled<T>(wire: Wire, key: string, table: Readonly<Record<string, T>>): T {
  const value = field(wire, key)
  return lookUp(table, value) ?? member({ [key]: typeof value === 'string' ? value.toUpperCase() : value }, key, table)
}

/** Zero is how the broker writes that there is none. */
function price(wire: Wire, key: string): Decimal | null {
  const value = amount(wire, key)
  return value === null || isNil(value) ? null : value
}
