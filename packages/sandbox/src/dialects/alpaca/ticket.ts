/** Reads the body of a submit by Alpaca's rules, and explains refusals as it does; the sandbox makes the remaining checks. */

import type { Side, TimeInForce } from '@trunkline/core/domain/vocabulary'
import type { Body } from '../frame/body.ts'
import type { Instrument, MultiLegTicket, Problem, Ticket } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import { AlpacaProblem, badParameter, bodyOf, CODES, invalid } from './answers.ts'
import type { CustomerView } from './customer-view.ts'
import { INTENTS, namesOf, TIMES_IN_FORCE, TYPES } from './values.ts'

/** The sandbox keeps 64 characters; Alpaca 128. */
const CLIENT_ORDER_ID = /^[\x20-\x7e]{1,64}$/
const LEGS_MAX = 4

/** Whose order it is. */
export interface Placing {
  readonly customerView: CustomerView
  readonly login: string
  readonly newClientOrderId: () => string
}

/** @throws Problem */
export function readTicket(value: unknown, placing: Placing): Ticket | MultiLegTicket {
  const body = bodyOf(value)
  const orderClass = body.textOr('order_class') ?? 'simple'
  if (orderClass === 'mleg') return readMultiLeg(body, placing)
  if (orderClass !== 'simple') throw invalid(`orders of class ${orderClass.slice(0, 20)} are not taken here; send the orders one by one`)
  return readSingle(body, placing)
}

function readSingle(body: Body, placing: Placing): Ticket {
  const instrument = instrumentIn(body, placing)
  const type = body.member('type', namesOf(TYPES))
  const timeInForce = body.memberOr('time_in_force', namesOf(TIMES_IN_FORCE)) ?? 'day'
  const [quantity, notional] = [body.decimalOr('qty'), body.decimalOr('notional')]
  if ((quantity === null) === (notional === null)) throw badParameter('either qty or notional is required')
  const isPart = notional !== null || isFraction(quantity)
  const rules: Readonly<Partial<Record<Instrument['kind'], readonly (readonly [isBroken: boolean, message: string])[]>>> = {
    STK: [
      [notional !== null && type !== 'market', 'notional orders must be market orders'],
      [isPart && timeInForce !== 'day', 'fractional orders must be DAY orders']
    ],
    OPT: [
      [type !== 'market' && type !== 'limit', `order type ${type} is not supported for options`],
      [timeInForce !== 'day', 'options orders must be DAY orders']
    ],
    CRYPTO: [
      [type === 'stop', 'invalid order type for crypto order'],
      [timeInForce !== 'gtc' && timeInForce !== 'ioc', 'invalid crypto time_in_force']
    ]
  }
  for (const [isBroken, message] of rules[instrument.kind] ?? []) if (isBroken) throw invalid(message)
  return {
    ...common(body, placing, instrument),
    symbol: instrument.symbol,
    side: sideIn(body, instrument),
    orderType: TYPES[type],
    timeInForce: body.flag('extended_hours') ? extended(type, timeInForce) : TIMES_IN_FORCE[timeInForce],
    quantity,
    notional,
    limitPrice: body.decimalOr('limit_price'),
    stopPrice: body.decimalOr('stop_price')
  }
}

function readMultiLeg(body: Body, placing: Placing): MultiLegTicket {
  const legs = body.bodies('legs')
  if (legs.length < 2 || legs.length > LEGS_MAX) throw invalid(`an mleg order has 2 to ${LEGS_MAX} legs`)
  const [quantity, limit] = [body.decimalOr('qty'), body.decimalOr('limit_price')]
  if (quantity === null) throw badParameter('qty is required')
  if ((body.textOr('time_in_force') ?? 'day') !== 'day') throw invalid('options orders must be DAY orders')
  // Negative is a credit: what the multi-leg order is sold for.
  const sells = limit?.startsWith('-') === true
  return {
    ...common(body, placing, { kind: 'OPT' }),
    legs: legs.map(leg => ({
      symbol: instrumentIn(leg, placing).symbol,
      side: sideIn(leg, { kind: 'OPT' }),
      ratio: leg.decimalOr('ratio_qty') ?? '1'
    })),
    side: sells ? 'SELL' : 'BUY',
    orderType: TYPES[body.member('type', ['market', 'limit'])],
    timeInForce: 'DAY',
    quantity,
    limitPrice: sells ? limit.slice(1) : limit
  }
}

function common(body: Body, { customerView, login, newClientOrderId }: Placing, instrument: Pick<Instrument, 'kind'>) {
  return { accountId: customerView.accountFor(login, instrument), clientOrderId: clientOrderIdIn(body) ?? newClientOrderId() }
}

/** @throws AlpacaProblem */
export function clientOrderIdIn(body: Body): string | null {
  const id = body.textOr('client_order_id')
  if (id === null || CLIENT_ORDER_ID.test(id)) return id
  throw badParameter('client_order_id must be at most 64 printable characters')
}

export function isFraction(quantity: string | null): boolean {
  return quantity !== null && /\.\d*[1-9]/.test(quantity)
}

function instrumentIn(body: Body, { customerView }: Placing): Instrument {
  const symbol = body.textOr('symbol')
  if (symbol === null) throw badParameter('symbol is required')
  const found = customerView.instrument(symbol)
  if (found === null) throw invalid(`asset "${symbol.slice(0, 40)}" not found`)
  return found
}

function extended(type: string, timeInForce: string): TimeInForce {
  if (type === 'limit' && timeInForce === 'day') return 'DAY+'
  if (type === 'limit' && timeInForce === 'gtc') return 'GTC+'
  throw invalid('extended hours order must be DAY or GTC limit orders')
}

/** An option's side states what it does to the position. */
function sideIn(body: Body, { kind }: Pick<Instrument, 'kind'>): Side {
  const side = body.member('side', ['buy', 'sell'])
  if (kind !== 'OPT') return side === 'buy' ? 'BUY' : 'SELL'
  const intent = body.member('position_intent', namesOf(INTENTS))
  if (!intent.startsWith(side)) throw invalid(`position intent mismatch: ${intent} does not go with the side`)
  return INTENTS[intent]
}

/** Refusals that Alpaca explains with figures. */
export function explained(problem: Problem, ticket: Ticket | MultiLegTicket, { engine }: BrokerageView['state']): Problem {
  if ('legs' in ticket) return problem
  const { symbol, accountId, quantity, notional } = ticket
  if (problem.code === 'bad_tick')
    return invalid(`invalid limit_price ${ticket.limitPrice}. sub-penny increment does not fulfill minimum pricing criteria`)
  const isCrypto = engine.instrument(symbol)?.kind === 'CRYPTO'
  const isPosition = problem.code === 'insufficient_position' || problem.code === 'short_sale_not_allowed'
  if (!isPosition && !(isCrypto && problem.code === 'insufficient_buying_power')) return problem
  // Of crypto either side of the pair is a balance.
  const [base, currency] = symbol.split('/')
  const balance = isCrypto ? `balance for ${isPosition ? base : currency}` : 'qty available for order'
  const available = isPosition ? (engine.position(accountId, symbol)?.quantity ?? '0') : engine.balance(accountId).buyingPower
  return new AlpacaProblem(403, CODES.forbidden, `insufficient ${balance} (requested: ${quantity ?? notional}, available: ${available})`)
}
