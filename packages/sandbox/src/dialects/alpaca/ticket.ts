/** Reads the body of a submit by Alpaca's rules; the sandbox makes the remaining checks. */

import type { Side, TimeInForce } from '@trunkline/core/domain/vocabulary'
import type { Body } from '../frame/body.ts'
import { type Instrument, type MultiLegTicket, type Problem, type Ticket, valuesOf } from '../frame/brokerage.ts'
import { AlpacaProblem, badParameter, bodyOf, invalid } from './answers.ts'
import type { CustomerView } from './customer-view.ts'
import { INTENTS, TIMES_IN_FORCE, TYPES } from './values.ts'

/** The sandbox keeps 64 characters; Alpaca 128. */
const CLIENT_ORDER_ID = /^[\x20-\x7e]{1,64}$/

/** What is taken of the enum values; of shares all of them. */
interface Taken {
  readonly types: readonly (keyof typeof TYPES)[]
  readonly times: readonly (keyof typeof TIMES_IN_FORCE)[]
}
const OPTIONS: Taken = { types: ['market', 'limit'], times: ['day'] }
const TAKEN: Readonly<Record<Instrument['kind'], Taken>> = {
  STK: { types: valuesOf(TYPES), times: valuesOf(TIMES_IN_FORCE) },
  OPT: OPTIONS,
  CRYPTO: { types: ['market', 'limit', 'stop_limit'], times: ['gtc', 'ioc'] },
  FUT: { types: [], times: [] }
}

/** Whose order it is, and the client order id that it has. */
export interface Placing {
  readonly view: CustomerView
  readonly login: string
  readonly clientOrderId: string
}

/** @throws Problem */
export function readTicket(body: Body, { view, login, clientOrderId }: Placing): Ticket | MultiLegTicket {
  const orderClass = body.textOr('order_class') ?? 'simple'
  if (orderClass === 'mleg') return { ...multiLegIn(body, view), clientOrderId, accountId: view.accountFor(login, 'OPT') }
  if (orderClass !== 'simple') throw invalid(`orders of class ${orderClass.slice(0, 20)} are not taken here; send the orders one by one`)
  const { kind, symbol } = instrumentIn(body, view)
  const { types, times } = TAKEN[kind]
  const [type, tif] = [body.member('type', types), body.memberOr('time_in_force', times) ?? 'day']
  const [quantity, notional] = [body.decimalOr('qty'), body.decimalOr('notional')]
  const isPart = notional !== null || (quantity !== null && /\.\d*[1-9]/.test(quantity))
  if (kind === 'STK' && notional !== null && type !== 'market') throw invalid('notional orders must be market orders')
  if (kind === 'STK' && isPart && tif !== 'day') throw invalid('fractional orders must be DAY orders')
  return {
    ...{ clientOrderId, accountId: view.accountFor(login, kind), symbol, side: sideIn(body, kind), quantity, notional },
    ...{ orderType: TYPES[type], timeInForce: body.flag('extended_hours') ? extended(type, tif) : TIMES_IN_FORCE[tif] },
    ...{ limitPrice: body.decimalOr('limit_price'), stopPrice: body.decimalOr('stop_price') }
  }
}

/** Without a side: the limit is a debit, and negative a credit, what the multi-leg order is sold for. */
function multiLegIn(body: Body, view: CustomerView): Omit<MultiLegTicket, 'accountId' | 'clientOrderId'> {
  const [quantity, limit] = [body.decimalOr('qty'), body.decimalOr('limit_price')]
  if (quantity === null) throw badParameter('qty is required')
  const sells = limit?.startsWith('-') === true
  body.memberOr('time_in_force', OPTIONS.times)
  return {
    legs: body.bodies('legs').map(leg => ({
      symbol: instrumentIn(leg, view).symbol,
      side: sideIn(leg, 'OPT'),
      ratio: leg.decimalOr('ratio_qty') ?? '1'
    })),
    orderType: body.member('type', OPTIONS.types) === 'market' ? 'MKT' : 'LMT',
    ...{ side: sells ? 'SELL' : 'BUY', timeInForce: 'DAY', quantity, limitPrice: sells ? limit.slice(1) : limit }
  }
}

/** Null where there is none. @throws AlpacaProblem */
export function clientOrderIdIn(value: unknown): string | null {
  return bodyOf(value).readOr('client_order_id', 'must be at most 64 printable characters', text => CLIENT_ORDER_ID.exec(text)?.[0])
}

function instrumentIn(body: Body, view: CustomerView): Instrument {
  const symbol = body.text('symbol')
  const found = view.instrument(symbol)
  if (found === null) throw invalid(`asset "${symbol.slice(0, 40)}" not found`)
  return found
}

function extended(type: string, timeInForce: string): TimeInForce {
  if (type !== 'limit' || (timeInForce !== 'day' && timeInForce !== 'gtc'))
    throw invalid('extended hours order must be DAY or GTC limit orders')
  return timeInForce === 'day' ? 'DAY+' : 'GTC+'
}

/** Of a crypto pair either side is a balance, and Alpaca says of which it is short. */
export function explained(problem: Problem, ticket: Ticket | MultiLegTicket): Problem {
  const [base, currency] = 'symbol' in ticket ? ticket.symbol.split('/') : []
  const sides: Readonly<Record<string, string | undefined>> = {
    ...{ insufficient_position: base, short_sale_not_allowed: base, insufficient_buying_power: currency }
  }
  const short = currency === undefined ? undefined : sides[problem.code]
  return short === undefined ? problem : new AlpacaProblem(403, 40310000, `insufficient balance for ${short}`)
}

/** An option's side states what it does to the position. */
function sideIn(body: Body, kind: Instrument['kind']): Side {
  const side = body.member('side', ['buy', 'sell'])
  if (kind !== 'OPT') return side === 'buy' ? 'BUY' : 'SELL'
  const intent = body.member('position_intent', valuesOf(INTENTS))
  if (!intent.startsWith(side)) throw invalid(`position intent mismatch: ${intent} does not go with the side`)
  return INTENTS[intent]
}
