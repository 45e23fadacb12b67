/** The sandbox’s records in the core's terms. Pure; throws Malformed and nothing else. The sandbox's values do not leave this module. */

import { Malformed } from '@trunkline/core/domain/malformed'
import type { Fill, Leg } from '@trunkline/core/domain/order'
import { parseSymbol } from '@trunkline/core/domain/symbol'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { Instrument, OrderStatus, RejectCode, Side, TransactionType } from '@trunkline/core/domain/vocabulary'
import type { BalanceReport, BrokerAccount, OrderReport, PositionReport, TransactionReport } from '@trunkline/core/ports/broker'
import { always, enumCodec, of, record } from '../kit/codec.ts'
import type { HttpReply } from '../kit/http.ts'
import { readJson } from '../kit/json.ts'
import {
  day,
  dayOrNull,
  decimal,
  decimalOrNull,
  displayTextOrNull,
  field,
  list,
  lookUp,
  member,
  memberOr,
  nested,
  nestedOrNull,
  object,
  records,
  text,
  textOrNull,
  timestamp,
  type Wire
} from '../kit/parse.ts'
import type { ListPage } from '../kit/runtime/read-definitions.ts'

/** What can be held and quoted. */
export const ASSET_CLASSES = enumCodec({ share: 'STK', coin: 'CRYPTO', option: 'OPT', future: 'FUT' })
/** What can be ordered: several options at once as well. */
export const ORDER_ASSET_CLASSES = enumCodec({ ...ASSET_CLASSES.table, package: 'MLEG_OPT' })
export const ORDER_SIDES = enumCodec({ buy: 'BUY', sell: 'SELL' })
export const ORDER_TYPES = enumCodec({ market: 'MKT', limit: 'LMT', stop: 'STP', stop_limit: 'STPLMT' })
export const TIME_IN_FORCE = enumCodec({
  ...({ day: 'DAY', gtc: 'GTC', ioc: 'IOC', fok: 'FOK', at_open: 'OPEN', at_close: 'CLOSE', day_ext: 'DAY+', gtc_ext: 'GTC+' } as const)
})
/** For an option the sandbox has two fields for what the core has in one. */
const POSITION_EFFECTS = {
  open: { BUY: 'BUY_TO_OPEN', SELL: 'SELL_TO_OPEN' },
  close: { BUY: 'BUY_TO_CLOSE', SELL: 'SELL_TO_CLOSE' }
} as const satisfies Record<string, Record<string, Side>>
const STATUSES = enumCodec<OrderStatus>({
  // Acknowledged and held by the sandbox: a stop that waits for its price, an order that waits for an auction.
  held: 'working',
  open: 'working',
  partial: 'partially_filled',
  cancelling: 'pending_cancel',
  amending: 'pending_replace',
  done: 'filled',
  cancelled: 'cancelled',
  lapsed: 'expired',
  refused: 'rejected',
  superseded: 'replaced'
})
/** `settlement`: what a future has gained or lost in a day, paid in cash. */
const TRANSACTION_TYPES: Readonly<Record<string, TransactionType>> = {
  ...{ buy: 'BUY', sell: 'SELL', fee: 'FEE', dividend: 'DIVIDEND', interest: 'INTEREST', deposit: 'DEPOSIT', withdrawal: 'WITHDRAWAL' },
  ...{ transfer: 'TRANSFER', split: 'SPLIT', adjustment: 'ADJUSTMENT', exercise: 'EXERCISE', assignment: 'ASSIGNMENT' },
  ...{ expiration: 'EXPIRATION', settlement: 'ADJUSTMENT' }
}
const REJECT_CODES: Readonly<Record<string, RejectCode>> = {
  ...{ insufficient_buying_power: 'insufficient_funds', insufficient_cash: 'insufficient_funds' },
  // Nothing is held that could be sold, where selling short is not possible.
  ...{ insufficient_position: 'insufficient_position', short_sale_not_allowed: 'insufficient_position' },
  ...{ instrument_not_permitted: 'not_permitted', unsupported_side: 'not_permitted', unsupported_time_in_force: 'not_permitted' },
  ...{ scope_missing: 'not_permitted', unknown_symbol: 'unknown_symbol', expired_contract: 'not_tradable', no_price: 'not_tradable' },
  ...{ halted: 'not_tradable', market_closed: 'market_closed', bad_price: 'price_out_of_range', price_out_of_band: 'price_out_of_range' },
  ...{ bad_tick: 'tick_size', bad_quantity: 'quantity_invalid', bad_notional: 'quantity_invalid' },
  ...{ quantity_already_filled: 'quantity_invalid', too_many_open_orders: 'risk_rejected' }
}

export function rejectCodeOf(code: string): RejectCode {
  return lookUp(REJECT_CODES, code) ?? 'other'
}

const LEGS_LEAST = 2
const LEGS_MAX = 4

/** An answer's body: always an object with the two clocks. */
export function readAnswer(body: string): Wire {
  return object(readJson(body), 'answer')
}

/** A page of a list, with the real time of its state and the sandbox's clock. */
export function pageOf({ body }: Pick<HttpReply, 'body'>): ListPage {
  const answer = readAnswer(body)
  return {
    records: records(field(answer, 'items'), 'items'),
    next: textOrNull(answer, 'next'),
    asOf: timestamp(answer, 'as_of'),
    brokerClock: timestamp(answer, 'sandbox_time')
  }
}

export const parseAccount = record<BrokerAccount>({
  brokerAccountId: of(text)('id'),
  accountNumber: of(text)('number'),
  institutionName: always('Trunkline Sandbox'),
  name: of(displayTextOrNull)('name'),
  accountType: of(displayTextOrNull)('kind'),
  currency: of(displayTextOrNull)('currency')
})

const BALANCE = record<Omit<BalanceReport, 'asOf'>>({
  brokerAccountId: of(text)('account'),
  currency: of(text)('currency'),
  cash: of(decimalOrNull)('cash'),
  buyingPower: of(decimalOrNull)('buying_power'),
  initialMargin: of(decimalOrNull)('initial_margin'),
  maintenanceMargin: of(decimalOrNull)('maintenance_margin'),
  regTBuyingPower: of(decimalOrNull)('reg_t_buying_power'),
  equity: of(decimalOrNull)('equity'),
  marketValue: of(decimalOrNull)('market_value')
})

export function parseBalance(wire: Wire, asOf: Timestamp): BalanceReport {
  return { ...BALANCE(wire), asOf }
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
  return memberOr<Instrument | null>(wire, 'class', ASSET_CLASSES.table, null) ?? parseSymbol(symbol).instrument
}

export function parseOrder(wire: Wire): OrderReport {
  const notional = decimalOrNull(wire, 'notional')
  const quantity = decimalOrNull(wire, 'quantity')
  const status = STATUSES.read(wire, 'state')
  // The sandbox does not know the quantity of an order that it refused before it had read that far.
  if (notional === null && quantity === null && status !== 'rejected')
    throw new Malformed('quantity', 'a decimal where notional is null', quantity)
  const fills = list(wire, 'fills', parseFill)
  const reason = nestedOrNull(wire, 'reason')
  const instrument = ORDER_ASSET_CLASSES.read(wire, 'class')
  const isMultiLeg = instrument === 'MLEG_OPT'
  return {
    brokerAccountId: text(wire, 'account'),
    brokerOrderId: text(wire, 'id'),
    brokerClOrdId: textOrNull(wire, 'client_order_id'),
    symbol: isMultiLeg ? null : text(wire, 'symbol'),
    instrument,
    side: isMultiLeg ? ORDER_SIDES.read(wire, 'direction') : sideOf(wire),
    type: ORDER_TYPES.read(wire, 'kind'),
    tif: TIME_IN_FORCE.read(wire, 'lifetime'),
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
  const direction = ORDER_SIDES.read(wire, 'direction')
  const effect = textOrNull(wire, 'effect')
  return effect === null ? direction : member(wire, 'effect', POSITION_EFFECTS)[direction]
}

const parseFill = record<Fill>({
  fillId: of(text)('id'),
  at: of(timestamp)('at'),
  quantity: of(decimal)('quantity'),
  price: of(decimal)('price'),
  execDest: of(displayTextOrNull)('venue')
})

/** The sandbox's two values for a side; undefined when it has none. */
export function sandboxSide(side: Side): { readonly direction: string; readonly effect: string | null } | undefined {
  if (side === 'BUY' || side === 'SELL') return { direction: ORDER_SIDES.write(side, 'side'), effect: null }
  for (const [effect, sides] of Object.entries(POSITION_EFFECTS))
    for (const [plain, coreSide] of Object.entries(sides))
      if (coreSide === side) return { direction: ORDER_SIDES.write(plain, 'side'), effect }
  return undefined
}

export const parseTransaction = record<TransactionReport>({
  brokerAccountId: of(text)('account'),
  brokerTransactionId: of(text)('id'),
  type: wire => memberOr(wire, 'type', TRANSACTION_TYPES, 'OTHER'),
  brokerType: of(displayTextOrNull)('type'),
  symbol: of(textOrNull)('symbol'),
  instrument: wire => memberOr<Instrument | null>(wire, 'class', ASSET_CLASSES.table, null),
  quantity: of(decimalOrNull)('quantity'),
  price: of(decimalOrNull)('price'),
  amount: of(decimalOrNull)('amount'),
  fees: of(decimalOrNull)('fees'),
  currency: of(displayTextOrNull)('currency'),
  day: of(day)('date'),
  settlementDay: of(dayOrNull)('settles'),
  brokerOrderId: of(textOrNull)('order'),
  description: of(displayTextOrNull)('text')
})

/** An error from the sandbox itself, distinguished from a gateway's by its shape. */
export interface SandboxError {
  readonly code: string
  readonly message: string
}

export function parseError(answer: Wire): SandboxError {
  timestamp(answer, 'as_of')
  const error = nested(answer, 'error')
  return { code: text(error, 'code', 64), message: displayTextOrNull(error, 'message') ?? text(error, 'code', 64) }
}

/** The sandbox's display message of an error; empty when the error is not from the sandbox. */
export function errorMessageOf({ body }: Pick<HttpReply, 'body'>): string {
  try {
    return parseError(readAnswer(body)).message
  } catch {
    return ''
  }
}

/** Whether the sandbox says that it has no such order, or no such symbol. @throws Malformed for anything that is no error of the sandbox */
export function isUnknown(what: 'order' | 'symbol', answer: Wire): boolean {
  return parseError(answer).code === `unknown_${what}`
}
