/** Reads the body of a submit: an order for one instrument, or a multi-leg order. */

import type { SubmitMultiLegCommand } from '../../engine/types.ts'
import type { MultiLegTicket, Ticket } from '../order-service.ts'
import { Problem } from '../problems.ts'
import { Fields } from '../read.ts'
import { ORDER_TYPES, POSITION_EFFECTS, SIDES, TIME_IN_FORCE, valuesOf } from '../wire.ts'

const TICKET = ['account', 'symbol', 'direction', 'effect', 'kind', 'lifetime', 'quantity', 'notional', 'limit', 'stop', 'client_order_id']
const MULTI_LEG = ['account', 'legs', 'direction', 'kind', 'lifetime', 'quantity', 'limit', 'client_order_id']
const LEG = ['symbol', 'direction', 'effect', 'ratio']
const MULTI_LEG_ORDER_TYPES = ['market', 'limit'] as const
const MULTI_LEG_TIME_IN_FORCE = ['day', 'gtc', 'ioc', 'fok'] as const
const LEGS_MAX = 100

export const CLIENT_ORDER_ID_MAX = 64

/** @throws Problem */
export function readTicket(body: unknown): Ticket | MultiLegTicket {
  const legs: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, 'legs') : undefined
  return legs === undefined ? readSingle(body) : readMultiLeg(body)
}

/** The symbols of a ticket. */
export function symbolsOf(ticket: Ticket | MultiLegTicket): readonly string[] {
  return 'legs' in ticket ? ticket.legs.map(({ symbol }) => symbol) : [ticket.symbol]
}

function readSingle(body: unknown): Ticket {
  const fields = new Fields(body, TICKET)
  const direction = fields.member('direction', valuesOf(SIDES))
  const effect = fields.memberOr('effect', valuesOf(POSITION_EFFECTS))
  return {
    accountId: fields.text('account'),
    symbol: fields.text('symbol'),
    side: effect === null ? SIDES[direction] : POSITION_EFFECTS[effect][direction],
    orderType: ORDER_TYPES[fields.member('kind', valuesOf(ORDER_TYPES))],
    timeInForce: TIME_IN_FORCE[fields.member('lifetime', valuesOf(TIME_IN_FORCE))],
    quantity: fields.decimalOr('quantity'),
    notional: fields.decimalOr('notional'),
    limitPrice: fields.decimalOr('limit'),
    stopPrice: fields.decimalOr('stop'),
    clientOrderId: fields.nameOr('client_order_id', CLIENT_ORDER_ID_MAX)
  }
}

function readMultiLeg(body: unknown): MultiLegTicket {
  const fields = new Fields(body, MULTI_LEG)
  const legs = fields.listOr('legs') ?? []
  if (legs.length > LEGS_MAX) throw new Problem('bad_request', `at most ${LEGS_MAX} legs are read`, { field: 'legs' })
  const quantity = fields.decimalOr('quantity')
  if (quantity === null) throw new Problem('bad_request', 'quantity is missing', { field: 'quantity' })
  return {
    accountId: fields.text('account'),
    legs: legs.map(readLeg),
    side: SIDES[fields.member('direction', valuesOf(SIDES))],
    orderType: ORDER_TYPES[fields.member('kind', MULTI_LEG_ORDER_TYPES)],
    timeInForce: TIME_IN_FORCE[fields.member('lifetime', MULTI_LEG_TIME_IN_FORCE)],
    quantity,
    limitPrice: fields.decimalOr('limit'),
    clientOrderId: fields.nameOr('client_order_id', CLIENT_ORDER_ID_MAX)
  }
}

function readLeg(value: unknown): SubmitMultiLegCommand['legs'][number] {
  const fields = new Fields(value, LEG)
  const side = POSITION_EFFECTS[fields.member('effect', valuesOf(POSITION_EFFECTS))][fields.member('direction', valuesOf(SIDES))]
  const ratio = fields.decimalOr('ratio')
  if (ratio === null) throw new Problem('bad_request', 'ratio is missing', { field: 'ratio' })
  return { symbol: fields.text('symbol'), side, ratio }
}
