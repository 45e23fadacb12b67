import { type OrderForm, sizeOf, unsupportedPart } from '../../domain/combinations.ts'
import { type Decimal, isPositive } from '../../domain/decimal.ts'
import { type ErrorDetail, ServiceError } from '../../domain/errors.ts'
import { Malformed } from '../../domain/malformed.ts'
import type { Leg, OrderTicket } from '../../domain/order.ts'
import { formatSymbol, parseSymbol } from '../../domain/symbol.ts'
import type { Instrument, OrderType, Side, TimeInForce } from '../../domain/vocabulary.ts'
import type { BrokerCapabilities } from '../../ports/broker.ts'

/** An order ticket as requested: each field is well-formed, their combination is not checked yet. */
export interface TicketRequest {
  readonly side: Side
  readonly type: OrderType
  readonly tif: TimeInForce
  readonly symbol: string | null
  readonly instrument: Instrument | null
  readonly quantity: Decimal | null
  readonly notional: Decimal | null
  readonly limitPrice: Decimal | null
  readonly stopPrice: Decimal | null
  readonly legs: readonly { readonly symbol: string; readonly side: Side; readonly ratio: Decimal }[] | null
}

/** The fields' names on the wire, for error messages. */
const FIELD = {
  side: 'side',
  type: 'order_type',
  tif: 'order_tif',
  symbol: 'symbol',
  instrument: 'instrument',
  quantity: 'order_qty',
  notional: 'order_notional',
  limitPrice: 'order_limit_price',
  stopPrice: 'stop_price',
  legs: 'legs'
} as const

/**
 * Checks a ticket as a whole, and against what the broker supports, before anything is stored or sent.
 * @throws ServiceError field_invalid with all complaints, or order_not_supported saying what the broker supports.
 */
export function checkTicket(request: TicketRequest, capabilities: BrokerCapabilities): OrderTicket {
  const complaints = new Complaints()
  const subject = request.instrument === 'MLEG_OPT' || request.legs !== null ? multiLeg(request, complaints) : single(request, complaints)
  checkAmounts(request, complaints)
  checkPrices(request, complaints)
  complaints.demandNone()
  const { side, type, tif, quantity, notional, limitPrice, stopPrice } = request
  const ticket: OrderTicket = { side, type, tif, quantity, notional, limitPrice, stopPrice, ...subject }
  checkSupport(ticket, capabilities)
  return ticket
}

class Complaints {
  readonly #details: ErrorDetail[] = []

  add(field: string, message: string): void {
    this.#details.push({ path: field, message })
  }

  demandNone(): void {
    const [first] = this.#details
    if (first === undefined) return
    const more = this.#details.length > 1 ? ` (and ${this.#details.length - 1} more, see details)` : ''
    throw new ServiceError('field_invalid', `${first.path} ${first.message}${more}`, { details: this.#details })
  }
}

type Subject = Pick<OrderTicket, 'symbol' | 'instrument' | 'legs'>

function single({ symbol, instrument, side }: TicketRequest, complaints: Complaints): Subject {
  const nothing: Subject = { symbol, instrument: instrument ?? 'STK', legs: null }
  if (symbol === null) {
    complaints.add(FIELD.symbol, 'is required unless the order has legs')
    return nothing
  }
  try {
    const parts = parseSymbol(symbol, instrument ?? undefined)
    checkSide(side, parts.instrument, FIELD.side, complaints)
    return { symbol: formatSymbol(parts), instrument: parts.instrument, legs: null }
  } catch (cause) {
    if (!(cause instanceof Malformed)) throw cause
    complaints.add(FIELD.symbol, cause.message.replace(/^symbol /, ''))
    return nothing
  }
}

function multiLeg({ symbol, instrument, legs }: TicketRequest, complaints: Complaints): Subject {
  if (symbol !== null) complaints.add(FIELD.symbol, 'must be null for a multi-leg order: each leg names its own')
  if (instrument !== null && instrument !== 'MLEG_OPT') complaints.add(FIELD.instrument, 'must be MLEG_OPT for an order with legs')
  if (legs === null || legs.length < 2 || legs.length > 4) complaints.add(FIELD.legs, 'must be 2 to 4 legs for an MLEG_OPT order')
  const checked = (legs ?? []).map((leg, index) => checkLeg(leg, `${FIELD.legs}.${index}`, complaints))
  for (const [index, { symbol: contract }] of checked.entries()) {
    const first = checked.findIndex(leg => leg.symbol === contract)
    if (first < index)
      complaints.add(
        `${FIELD.legs}.${index}.symbol`,
        `names the contract of ${FIELD.legs}.${first} again: each leg must be another contract, with its whole ratio`
      )
  }
  return { symbol: null, instrument: 'MLEG_OPT', legs: checked }
}

function checkLeg(leg: NonNullable<TicketRequest['legs']>[number], path: string, complaints: Complaints): Leg {
  if (!/^[1-9]\d{0,5}$/.test(leg.ratio)) complaints.add(`${path}.ratio`, `must be a positive whole number as a string, was "${leg.ratio}"`)
  checkSide(leg.side, 'OPT', `${path}.action`, complaints)
  try {
    return { ...leg, symbol: formatSymbol(parseSymbol(leg.symbol, 'OPT')), fills: [] }
  } catch (cause) {
    if (!(cause instanceof Malformed)) throw cause
    complaints.add(`${path}.symbol`, cause.message.replace(/^symbol /, ''))
    return { ...leg, fills: [] }
  }
}

/** Options use the opening and closing sides; nothing else does. */
function checkSide(side: Side, instrument: Instrument, path: string, complaints: Complaints): void {
  const opensOrCloses = side.includes('_TO_')
  if (opensOrCloses && instrument !== 'OPT') complaints.add(path, `must be BUY or SELL for ${instrument}, was ${side}`)
  if (!opensOrCloses && instrument === 'OPT') {
    complaints.add(path, `must be BUY_TO_OPEN, SELL_TO_OPEN, BUY_TO_CLOSE or SELL_TO_CLOSE for an option, was ${side}`)
  }
}

function checkAmounts({ quantity, notional, type, tif, legs }: TicketRequest, complaints: Complaints): void {
  if (quantity === null && notional === null) complaints.add(FIELD.quantity, 'is required, unless order_notional is given')
  if (quantity !== null && notional !== null) complaints.add(FIELD.notional, 'cannot be given together with order_qty: send one of the two')
  if (quantity !== null && !isPositive(quantity)) complaints.add(FIELD.quantity, `must be greater than zero, was "${quantity}"`)
  if (notional !== null && !isPositive(notional)) complaints.add(FIELD.notional, `must be greater than zero, was "${notional}"`)
  if (notional !== null && legs !== null) complaints.add(FIELD.notional, 'cannot be given for a multi-leg order')
  if (notional !== null && (type !== 'MKT' || tif === 'GTC' || tif === 'GTC+')) {
    complaints.add(FIELD.notional, 'is for market orders that do not outlive the day')
  }
}

const TAKES: { readonly [type in OrderType]: { readonly limit: boolean; readonly stop: boolean } } = {
  MKT: { limit: false, stop: false },
  LMT: { limit: true, stop: false },
  STP: { limit: false, stop: true },
  STPLMT: { limit: true, stop: true }
}

function checkPrices({ type, limitPrice, stopPrice, legs }: TicketRequest, complaints: Complaints): void {
  const takes = TAKES[type]
  const prices = [
    [FIELD.limitPrice, limitPrice, takes.limit],
    [FIELD.stopPrice, stopPrice, takes.stop]
  ] as const
  for (const [field, price, taken] of prices) {
    if (taken && price === null) complaints.add(field, `is required for order_type ${type}`)
    if (!taken && price !== null) complaints.add(field, `is not taken by order_type ${type}: leave it out`)
    // A multi-leg order can be a credit, whose net price is negative or zero.
    if (price !== null && legs === null && !isPositive(price)) complaints.add(field, `must be greater than zero, was "${price}"`)
  }
}

const PART = {
  instrument: { field: FIELD.instrument, what: () => 'an instrument' },
  type: { field: FIELD.type, what: ({ instrument }) => `an order type for ${instrument}` },
  tif: { field: FIELD.tif, what: ({ instrument, type }) => `a time in force for ${type} orders of ${instrument}` },
  side: { field: FIELD.side, what: ({ instrument }) => `a side for ${instrument}` },
  size: { field: FIELD.quantity, what: ({ instrument, type, tif }) => `the size of ${type} ${tif} orders of ${instrument}` }
} as const satisfies { readonly [part in keyof OrderForm]: { readonly field: string; readonly what: (form: OrderForm) => string } }

/** Refuses every combination that the broker does not support, so that it rejects no order for its form. */
function checkSupport(ticket: OrderTicket, capabilities: BrokerCapabilities): void {
  const form: OrderForm = { ...ticket, size: sizeOf(ticket) }
  const unsupported = unsupportedPart(capabilities, form)
  if (unsupported === null) return
  const { part, requested, offered } = unsupported
  const field = part === 'size' && ticket.notional !== null ? FIELD.notional : PART[part].field
  const list = offered.length === 0 ? 'nothing of the kind' : offered.join(', ')
  const message = `${requested} is not offered by ${capabilities.name} as ${PART[part].what(form)}; it takes ${list}`
  throw new ServiceError('order_not_supported', `${field}: ${message}.`, { details: [{ path: field, message }] })
}
