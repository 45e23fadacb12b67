/** Reads the body of a submit by Alpaca's rules; the sandbox makes the remaining checks. */

import type { Decimal } from '@trunkline/core/domain/decimal'
import type { Side, TimeInForce } from '@trunkline/core/domain/vocabulary'
import type { Instrument, MultiLegTicket, SubmitMultiLegCommand, Ticket } from '../frame/brokerage.ts'
import { Body } from './body.ts'
import { type AlpacaOrderType, type AlpacaTimeInForce, EXTENDED, INTENTS, TIME_IN_FORCE, TYPES, valuesOf } from './enums.ts'
import { badParameter, invalid } from './problems.ts'

/** The sandbox keeps 64 characters; Alpaca 128. */
const CLIENT_ORDER_ID_MAX = 64
const ORDER_CLASSES = ['simple', 'mleg', 'bracket', 'oco', 'oto'] as const
const LEGS_MAX = 4

export interface TicketFacts {
  /** Whatever trades under a symbol as clients write it, crypto with or without their slash. */
  readonly find: (symbol: string) => Instrument | null
  /** The account that takes orders for an instrument. */
  readonly accountFor: (instrument: Pick<Instrument, 'kind'>) => string
  /** Signed; `0` where there is none. */
  readonly held: (symbol: string) => string
  readonly newClientOrderId: () => string
}

/** @throws Problem */
export function readTicket(value: unknown, facts: TicketFacts): Ticket | MultiLegTicket {
  const body = new Body(value)
  const orderClass = body.memberOr('order_class', ORDER_CLASSES) ?? 'simple'
  if (orderClass === 'mleg') return readMultiLeg(body, facts)
  if (orderClass !== 'simple') throw invalid(`orders of class ${orderClass} are not taken here; send the orders one by one`)
  return readSingle(body, facts)
}

function readSingle(body: Body, facts: TicketFacts): Ticket {
  const symbol = body.text('symbol')
  if (symbol === null) throw badParameter('symbol is required')
  const instrument = facts.find(symbol)
  if (instrument === null) throw invalid(`asset "${symbol.slice(0, 40)}" not found`)
  const buy = body.member('side', ['buy', 'sell']) === 'buy'
  const type = typeOf(body)
  const timeInForce = body.memberOr('time_in_force', valuesOf(TIME_IN_FORCE)) ?? 'day'
  const [quantity, notional] = [body.decimal('qty'), body.decimal('notional')]
  checkSize(instrument, { quantity, notional, type, timeInForce })
  checkKind(instrument, type, timeInForce)
  return {
    accountId: facts.accountFor(instrument),
    symbol: instrument.symbol,
    side: sideOf(body, instrument, { buy, held: facts.held(instrument.symbol) }),
    orderType: TYPES[type],
    timeInForce: body.flag('extended_hours') ? extended(type, timeInForce) : TIME_IN_FORCE[timeInForce],
    quantity,
    notional,
    limitPrice: body.decimal('limit_price'),
    stopPrice: body.decimal('stop_price'),
    clientOrderId: clientOrderIdOf(body) ?? facts.newClientOrderId()
  }
}

function typeOf(body: Body): AlpacaOrderType {
  if (body.text('type') === 'trailing_stop') throw invalid('trailing stops are not taken here')
  return body.member('type', valuesOf(TYPES))
}

interface Size {
  readonly quantity: Decimal | null
  readonly notional: Decimal | null
  readonly type: AlpacaOrderType
  readonly timeInForce: AlpacaTimeInForce
}

function checkSize({ kind }: Instrument, { quantity, notional, type, timeInForce }: Size): void {
  if (quantity === null && notional === null) throw badParameter('qty or notional is required')
  if (quantity !== null && notional !== null) throw badParameter('only one of qty or notional is accepted')
  if (kind === 'CRYPTO') return
  if (notional !== null && type !== 'market') throw invalid('notional orders must be market orders')
  if ((notional !== null || isFraction(quantity)) && timeInForce !== 'day') throw invalid('fractional orders must be DAY orders')
}

export function isFraction(quantity: string | null): boolean {
  return quantity !== null && /\.\d*[1-9]/.test(quantity)
}

function checkKind({ kind }: Instrument, type: AlpacaOrderType, timeInForce: AlpacaTimeInForce): void {
  if (kind === 'OPT' && type !== 'market' && type !== 'limit') throw invalid(`order type ${type} is not supported for options`)
  if (kind === 'OPT' && timeInForce !== 'day') throw invalid('options orders must be DAY orders')
  if (kind !== 'CRYPTO') return
  if (type === 'stop') throw badParameter('invalid order type for crypto order')
  if (timeInForce !== 'gtc' && timeInForce !== 'ioc') throw invalid('invalid crypto time_in_force')
}

function extended(type: AlpacaOrderType, timeInForce: AlpacaTimeInForce): TimeInForce {
  const life = TIME_IN_FORCE[timeInForce]
  if (type === 'limit' && (life === 'DAY' || life === 'GTC')) return EXTENDED[life]
  throw invalid('extended hours order must be DAY or GTC limit orders')
}

function sideOf(body: Body, { kind }: Instrument, { buy, held }: { readonly buy: boolean; readonly held: string }): Side {
  const intent = body.memberOr('position_intent', valuesOf(INTENTS))
  if (intent !== null && intent.startsWith('buy') !== buy) throw invalid(`position intent mismatch: ${intent} does not go with the side`)
  if (kind !== 'OPT') return buy ? 'BUY' : 'SELL'
  if (intent !== null) return INTENTS[intent]
  // As Alpaca works it out: whatever takes the position back to zero closes.
  const closes = buy ? held.startsWith('-') : held !== '0' && !held.startsWith('-')
  return INTENTS[`${buy ? 'buy' : 'sell'}_to_${closes ? 'close' : 'open'}`]
}

function readMultiLeg(body: Body, facts: TicketFacts): MultiLegTicket {
  const legs = body.items('legs') ?? []
  if (legs.length < 2 || legs.length > LEGS_MAX) throw invalid(`an mleg order has 2 to ${LEGS_MAX} legs`)
  if (body.has('notional')) throw invalid('mleg orders take no notional')
  const quantity = body.decimal('qty')
  if (quantity === null) throw badParameter('qty is required')
  const type = body.member('type', ['market', 'limit'])
  if ((body.memberOr('time_in_force', valuesOf(TIME_IN_FORCE)) ?? 'day') !== 'day') throw invalid('options orders must be DAY orders')
  const limit = body.decimal('limit_price')
  // Negative is a credit: what the multi-leg order is sold for.
  const sells = limit?.startsWith('-') === true
  return {
    accountId: facts.accountFor({ kind: 'OPT' }),
    legs: legs.map(leg => readLeg(leg, facts)),
    side: sells ? 'SELL' : 'BUY',
    orderType: TYPES[type],
    timeInForce: 'DAY',
    quantity,
    limitPrice: sells ? limit.slice(1) : limit,
    clientOrderId: clientOrderIdOf(body) ?? facts.newClientOrderId()
  }
}

function readLeg(value: unknown, facts: TicketFacts): SubmitMultiLegCommand['legs'][number] {
  const body = new Body(value)
  const symbol = body.text('symbol')
  const instrument = symbol === null ? null : facts.find(symbol)
  if (instrument === null) throw invalid(`asset "${(symbol ?? '').slice(0, 40)}" not found`)
  const intent = body.memberOr('position_intent', valuesOf(INTENTS))
  const buy = (body.memberOr('side', ['buy', 'sell']) ?? intent?.split('_', 1)[0]) === 'buy'
  const side = sideOf(body, { ...instrument, kind: 'OPT' }, { buy, held: facts.held(instrument.symbol) })
  return { symbol: instrument.symbol, side, ratio: body.decimal('ratio_qty') ?? '1' }
}

/** @throws AlpacaProblem */
export function clientOrderIdOf(body: Body): string | null {
  const id = body.text('client_order_id')
  if (id === null || (id.length <= CLIENT_ORDER_ID_MAX && /^[\x20-\x7e]+$/.test(id))) return id
  throw badParameter(`client_order_id must be at most ${CLIENT_ORDER_ID_MAX} printable characters`)
}
