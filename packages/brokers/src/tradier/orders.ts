/** Orders at Tradier: what it takes, how it is written, and which answers prove what. Everything else is unknown. Pure. */

import { dateAtInstant, usEquityCalendar } from '@trunkline/core/domain/calendar/index'
import type { OrderOffer } from '@trunkline/core/domain/combinations'
import { compare, type Decimal, isZero, parseDecimal, times, ZERO } from '@trunkline/core/domain/decimal'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { OrderTicket } from '@trunkline/core/domain/order'
import { epochMs, type Timestamp } from '@trunkline/core/domain/timestamp'
import type { NewOrder, OrderReport, Outcome } from '@trunkline/core/ports/broker'
import { NOTHING_ESTIMATED, type OrderEstimate, type PreviewOrder } from '@trunkline/core/ports/preview'
import { ALL_TYPES, OPTION_SIDES, SIDES } from '../kit/capabilities.ts'
import type { Holding } from '../kit/holdings.ts'
import { type HttpReply, type HttpRequest, header } from '../kit/http.ts'
import { readObject } from '../kit/json.ts'
import { acceptedReport } from '../kit/order-merge.ts'
import { changeRefusalBy, refusalBy, refusing } from '../kit/order-rules.ts'
import { demandOurs, field, member, nested, text } from '../kit/parse.ts'
import { demandNoOrder, signedCost } from '../kit/preview.ts'
import { INTERNAL_FAILURE } from '../kit/reject-code.ts'
import { encoded, form, get, type Query, remove } from '../kit/requests.ts'
import { changedInPlace, shownTerms } from '../kit/runtime/commands.ts'
import type { OrderDefinitions, Refused } from '../kit/runtime/definition.ts'
import type { AccountQuery, ListRead } from '../kit/runtime/read-definitions.ts'
import { refused, undecided } from '../kit/settle.ts'
import { shareSideOf } from '../kit/share-side.ts'
import { CURRENCY, holdingsOf, ORDER_TYPES, POSITION_EFFECTS, rejectCodeOf } from './codecs.ts'
import {
  amountOrNull,
  complaintOf,
  errorMessageOf,
  errorsOf,
  isForeign,
  isTokenRefused,
  items,
  joined,
  nestedOf,
  type Resource,
  requestedAnswer
} from './quirks.ts'
import { toTradier, underlyingOf } from './symbols.ts'

const ZONE = 'America/New_York'
/** Minutes after midnight in New York between which Tradier takes orders for a session outside the regular one. */
const SESSIONS = { pre: { from: 4 * 60, until: 9 * 60 + 24 }, post: { from: 16 * 60, until: 19 * 60 + 55 } } as const
const CALENDAR = usEquityCalendar()
const PLACES = { usual: 2, belowOne: 4 } as const
/** Before each read of an order after a change, until it shows the new terms: Tradier confirms a change before it makes it. */
const CHANGE_PAUSES_MS = [0, 250, 250, 250]
/** What Tradier answers to a command that it took: nothing is decided by it about the order. */
const TAKEN = { ok: true } as const

const PRICES = ['order_limit_price', 'stop_price'] as const
/** Which orders Tradier takes. */
export const ORDER_OFFER = {
  name: 'Tradier',
  instruments: ['STK', 'OPT', 'MLEG_OPT'],
  orderTypes: { STK: ALL_TYPES, OPT: ALL_TYPES, MLEG_OPT: ['MKT', 'LMT'] },
  // DAY+ is the session before or after the regular one, by the time of the order.
  timesInForce: { STK: ['DAY', 'GTC', 'DAY+'], OPT: ['DAY', 'GTC'], MLEG_OPT: ['DAY', 'GTC'] },
  // Several legs are bought at a debit, sold at a credit.
  sides: { STK: SIDES, OPT: OPTION_SIDES, MLEG_OPT: SIDES },
  exclusions: [
    { types: ['MKT'], tifs: ['GTC'] },
    { types: ['MKT', 'STP', 'STPLMT'], tifs: ['DAY+'] }
  ],
  onlyInSession: ['DAY+'],
  extendedHours: 'alone',
  replaceFields: { STK: PRICES, OPT: PRICES, MLEG_OPT: ['order_limit_price'] },
  notional: false,
  fractional: false
} as const satisfies OrderOffer

const refusedBecause = refusing(ORDER_OFFER.name)
const cannotChange = changeRefusalBy(ORDER_OFFER.name)

/** What is wrong with a ticket whatever is held; null when nothing is. */
export const refusalOf = refusalBy(ORDER_OFFER, {
  quantityMax: parseDecimal('10000000', 'the largest quantity'),
  pricePlaces: { STK: PLACES, OPT: PLACES, MLEG_OPT: PLACES },
  legs: { lowestTerms: true, negativePrice: false }
})

/** Positions as Tradier lists them: with quantity and cost, without prices. */
export const HOLDINGS: ListRead<Resource, AccountQuery, Holding> = {
  resource: 'standard',
  request: ({ account }) => get(accountPath(account, 'positions')),
  page: reply => ({ records: items(requestedAnswer(reply), 'positions', 'position'), next: null }),
  items: (rows, _query, { readable }) => holdingsOf(rows, readable)
}

/** The values of an order that its ticket does not give: they depend on the hour and on what is held. */
export interface Placing {
  readonly duration: string
  /** Of shares; null for others. */
  readonly side: string | null
}

export const TRADIER_ORDERS: OrderDefinitions<Resource, Placing> = {
  resource: 'trading',
  async placing(order, { reads, clock }, kind, signal) {
    const refused = refusalOf(order)
    if (refused !== null) return { refused }
    const duration = durationOf(order, epochMs(clock.now()))
    if (typeof duration !== 'string') return duration
    if (order.instrument !== 'STK' || order.symbol === null) return { duration, side: null }
    const { known } = await reads.listStrictly(HOLDINGS, { account: order.brokerAccountId }, signal, kind)
    const symbol = toTradier(order.symbol)
    const side = shareSide(order, known.find(holding => holding.symbol === symbol)?.quantity ?? ZERO)
    return typeof side === 'string' ? { duration, side } : side
  },
  submit: { request: placeRequest, interpret: interpretPlace },
  replace: {
    request: changedInPlace({
      refusal: (before, ticket) => refusalOf(ticket) ?? cannotChange(before, ticket),
      request({ brokerAccountId, brokerOrderId, ticket }, at) {
        const duration = durationOf(ticket, epochMs(at))
        return typeof duration === 'string' ? changeRequest(brokerAccountId, brokerOrderId, ticket, duration) : duration
      }
    }),
    interpret: (reply, { brokerOrderId }) => interpretCommand(reply, brokerOrderId),
    confirm: shownTerms(CHANGE_PAUSES_MS)
  },
  cancel: {
    request: (account, order) => remove(accountPath(account, 'orders', order)),
    interpret: interpretCommand
  },
  preview: { request: previewRequest, isPreview, interpret: interpretPreview }
}

/** Tradier's time in force; for DAY+ the session in progress, because it takes no orders for another. */
export function durationOf({ tif }: OrderTicket, atMs: number): string | Refused {
  if (tif === 'DAY') return 'day'
  if (tif === 'GTC') return 'gtc'
  const { hour, minute } = Temporal.Instant.fromEpochMilliseconds(Math.floor(atMs)).toZonedDateTimeISO(ZONE)
  const at = hour * 60 + minute
  const phase = CALENDAR.isTradingDay(dateAtInstant(atMs, ZONE)) ? CALENDAR.phaseAt(atMs) : 'closed'
  for (const session of ['pre', 'post'] as const)
    if (phase === session && at >= SESSIONS[session].from && at < SESSIONS[session].until) return session
  return {
    refused: refusedBecause(
      'market_closed',
      'DAY+ is taken from 4:00 to 9:24 and from 16:00 to 19:55 New York time on trading days, for the session in progress; send DAY for the regular session'
    )
  }
}

/** Tradier's side of an order of shares. */
export function shareSide({ side, quantity, tif, symbol }: OrderTicket, position: Decimal): string | Refused {
  const found = shareSideOf(side === 'BUY' ? 'BUY' : 'SELL', quantity ?? ZERO, symbol ?? '', position)
  if ('crossing' in found)
    return { refused: refusedBecause('insufficient_position', `one order cannot go through zero: ${found.crossing}`) }
  if (found.side === 'sell_short' && tif === 'GTC')
    return { refused: refusedBecause('not_permitted', 'a short sale cannot be GTC: send it as DAY') }
  return found.side
}

/** @throws Malformed for a value that Tradier does not have. */
export function placeRequest(order: NewOrder, placing: Placing): HttpRequest {
  return form('POST', accountPath(order.brokerAccountId, 'orders'), {
    ...subject(order, placing),
    ...terms(order, placing.duration),
    tag: order.brokerClOrdId
  })
}

const PREVIEW = { preview: 'true' }

/**
 * Tradier takes previews where it takes orders, and one field distinguishes them. It comes first, so that a form that is cut short is still
 * a preview; there is no tag, by which an order would be found. @throws Malformed
 */
export function previewRequest(order: PreviewOrder, placing: Placing): HttpRequest {
  return form('POST', accountPath(order.brokerAccountId, 'orders'), {
    ...PREVIEW,
    ...subject(order, placing),
    ...terms(order, placing.duration)
  })
}

/** Whether Tradier will take it for a preview. */
export function isPreview({ body = '' }: HttpRequest): boolean {
  return body.startsWith(`${encoded(PREVIEW)}&`) && new URLSearchParams(body).getAll('preview').length === 1
}

/** Only these can change. @throws Malformed */
export function changeRequest(account: string, order: string, ticket: OrderTicket, duration: string): HttpRequest {
  return form('PUT', accountPath(account, 'orders', order), terms(ticket, duration))
}

function subject({ instrument, symbol, side, quantity, legs }: OrderTicket, placing: Placing): Query {
  if (legs !== null) return multiLegOf(legs, quantity)
  if (symbol === null || quantity === null) throw new Malformed('order', 'one of a symbol and a quantity', instrument)
  const own = { symbol: toTradier(symbol), side: placing.side, quantity: whole(quantity) }
  return instrument === 'OPT'
    ? { class: 'option', ...own, symbol: underlyingOf(symbol), option_symbol: own.symbol, side: POSITION_EFFECTS.write(side, 'side') }
    : { class: 'equity', ...own }
}

function multiLegOf(legs: NonNullable<OrderTicket['legs']>, quantity: Decimal | null): Query {
  const [first] = legs
  if (first === undefined || quantity === null) throw new Malformed('legs', 'of a multi-leg order with a quantity', legs.length)
  const fields = legs.map((leg, index) => ({
    [`side[${index}]`]: POSITION_EFFECTS.write(leg.side, 'side'),
    [`quantity[${index}]`]: whole(times(leg.ratio, quantity)),
    [`option_symbol[${index}]`]: toTradier(leg.symbol)
  }))
  return Object.assign({ class: 'multileg', symbol: underlyingOf(first.symbol) }, ...fields)
}

/** The type of a multi-leg order states which way the money goes. */
function terms({ type, side, legs, limitPrice, stopPrice }: OrderTicket, duration: string): Query {
  if (legs === null) return { type: ORDER_TYPES.write(type, 'order_type'), duration, price: limitPrice, stop: stopPrice }
  if (limitPrice === null) return { type: 'market', duration }
  if (isZero(limitPrice)) return { type: 'even', duration }
  if (compare(limitPrice, ZERO) < 0) throw new Malformed('order_limit_price', 'positive: bought at a debit, sold at a credit', limitPrice)
  return { type: side === 'BUY' ? 'debit' : 'credit', duration, price: limitPrice }
}

/** `5.00` is five. @throws Malformed */
function whole(quantity: Decimal): string {
  const found = /^([1-9]\d{0,7})(?:\.0+)?$/.exec(quantity)?.[1]
  if (found !== undefined) return found
  throw new Malformed('order_qty', 'a positive whole number', quantity)
}

export function accountPath(account: string, ...parts: readonly string[]): string {
  return ['/accounts', account, ...parts].map((part, index) => (index === 0 ? part : encodeURIComponent(part))).join('/')
}

/** Messages, as plain text with status 400, that prove that nothing was done. Any other proves nothing. */
const KNOWN_REFUSAL =
  /^(?:invalid parameter|missing|unsupported)\b|^unauthorized account|already in finalized state|being changed or cancel/i
const NO_ORDER = /not found|does not exist|no such|unknown order|invalid order/i

/** An order of which Tradier has sent the id alone. */
export function interpretPlace(reply: HttpReply, order: NewOrder, at: Timestamp): Outcome<OrderReport> {
  const outcome = interpreted(reply, null)
  if (outcome.kind !== 'accepted') return outcome
  return { kind: 'accepted', value: acceptedReport(order, outcome.value, 'ok', at) }
}

/** Of a change or a cancel; the id must be the order's own. The answer reports nothing else. */
export function interpretCommand(reply: HttpReply, order: string): Outcome<null> {
  if (isUnknownOrder(reply)) return refusedWith(errorMessageOf(reply), null)
  const outcome = interpreted(reply, order)
  return outcome.kind === 'accepted' ? { kind: 'accepted', value: null } : outcome
}

/** Whether the API's own message is that there is no such order. */
export function isUnknownOrder(reply: HttpReply): boolean {
  const message = errorMessageOf(reply)
  return isForeign(reply) || ((reply.status === 400 || reply.status === 404) && /order/i.test(message) && NO_ORDER.test(message))
}

function interpreted(reply: HttpReply, order: string | null): Outcome<string> {
  if (reply.status !== 200 && reply.status !== 201) return refusalIn(reply)
  const answer = readObject(reply.body)
  const errors = errorsOf(answer)
  if (errors !== null) return rejected(errors)
  const taken = nested(answer, 'order')
  member(taken, 'status', TAKEN)
  const id = text(taken, 'id', 64)
  if (order !== null) demandOurs('id', id, order)
  return { kind: 'accepted', value: id }
}

/** What the order would cost. @throws PreviewPlaced for an answer that names an order */
export function interpretPreview(reply: HttpReply, requested: OrderTicket): Outcome<OrderEstimate> {
  if (reply.status !== 200 && reply.status !== 201) return refusalIn(reply)
  const answer = readObject(reply.body)
  const seen = nestedOf(answer, 'order')
  for (const key of ['id', 'partner_id']) if (seen !== null) demandNoOrder(seen, key)
  const errors = errorsOf(answer)
  if (errors !== null) return rejected(errors)
  if (seen === null) throw new Malformed('order', 'what would be ordered', answer)
  member(seen, 'status', TAKEN)
  if (field(seen, 'result') !== true) throw new Malformed('result', 'true', field(seen, 'result'))
  const cost = signedCost(requested, amountOrNull(seen, 'order_cost'))
  const total = amountOrNull(seen, 'cost')
  // With commission and fees a sale may cost money or bring it in: then only a sign decides.
  const isTotalSigned = total !== null && cost !== null && cost.startsWith('-') === total.startsWith('-')
  const [commission, fees, marginChange] = ['commission', 'fees', 'margin_change'].map(key => amountOrNull(seen, key))
  const estimate = { ...NOTHING_ESTIMATED, currency: CURRENCY, cost, total: isTotalSigned ? total : null }
  return {
    kind: 'accepted',
    value: { ...estimate, commission: commission ?? null, fees: fees ?? null, marginChange: marginChange ?? null }
  }
}

/**
 * 400 with the API's own message: it could not read the order, or the order is over. Faults of the gateway about the token, and 429:
 * nothing behind it was reached. A 404 can be a passing error here, and a 401 that does not mention the token proves nothing.
 */
function refusalIn(reply: HttpReply): Outcome<never> {
  const complaint = complaintOf(reply)
  if (complaint.form === 'text' && (reply.status === 400 || isForeign(reply))) {
    const isKnown = !INTERNAL_FAILURE.test(complaint.text) && KNOWN_REFUSAL.test(complaint.text)
    return isKnown ? refusedWith(complaint.text, null) : undecided(`Tradier answered ${complaint.text}`)
  }
  if (reply.status === 400 && complaint.form === 'errors') return rejected(complaint.errors)
  const code = complaint.form === 'fault' && complaint.code !== '' ? complaint.code : null
  if (isTokenRefused(reply)) return refusedWith('Tradier did not accept the login, and nothing was placed', code)
  if (reply.status === 429 && (complaint.form === 'fault' || header(reply, 'x-ratelimit-available') === '0'))
    return refusedWith('Tradier takes no more orders at the moment: too many were sent within a minute', code)
  return undecided(`Tradier answered ${reply.status} ${errorMessageOf(reply)}`.trim())
}

function rejected(errors: readonly string[]): Outcome<never> {
  if (errors.some(error => INTERNAL_FAILURE.test(error))) return undecided(`Tradier answered ${joined(errors)}`)
  return refusedWith(joined(errors), errors.find(error => /^[A-Z][A-Za-z]+$/.test(error)) ?? null)
}

/** The code of a refusal is in its message. */
function refusedWith(message: string, brokerStatus: string | null): Outcome<never> {
  return refused(message, rejectCodeOf(message), brokerStatus)
}
