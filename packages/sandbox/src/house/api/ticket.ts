/** What a submit's body asks for: an order for one instrument, or a package of option legs. */

import type { SubmitPackageCommand } from '../../engine/types.ts'
import type { PackageTicket, Ticket } from '../desk.ts'
import { Problem } from '../problems.ts'
import { Fields } from '../read.ts'
import { DIRECTIONS, EFFECTS, KINDS, LIFETIMES, wordsOf } from '../wire.ts'

const TICKET = ['account', 'symbol', 'direction', 'effect', 'kind', 'lifetime', 'quantity', 'notional', 'limit', 'stop', 'client_order_id']
const PACKAGE = ['account', 'legs', 'direction', 'kind', 'lifetime', 'quantity', 'limit', 'client_order_id']
const LEG = ['symbol', 'direction', 'effect', 'ratio']
const PACKAGE_KINDS = ['market', 'limit'] as const
const PACKAGE_LIFETIMES = ['day', 'gtc', 'ioc', 'fok'] as const
const LEGS_MAX = 100

export const CLIENT_ORDER_ID_MAX = 64

/** @throws Problem */
export function readTicket(body: unknown): Ticket | PackageTicket {
  const legs: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, 'legs') : undefined
  return legs === undefined ? readSingle(body) : readPackage(body)
}

/** The symbols a ticket names. */
export function symbolsOf(ticket: Ticket | PackageTicket): readonly string[] {
  return 'legs' in ticket ? ticket.legs.map(({ symbol }) => symbol) : [ticket.symbol]
}

function readSingle(body: unknown): Ticket {
  const fields = new Fields(body, TICKET)
  const direction = fields.member('direction', wordsOf(DIRECTIONS))
  const effect = fields.memberOr('effect', wordsOf(EFFECTS))
  return {
    accountId: fields.text('account'),
    symbol: fields.text('symbol'),
    side: effect === null ? DIRECTIONS[direction] : EFFECTS[effect][direction],
    orderType: KINDS[fields.member('kind', wordsOf(KINDS))],
    timeInForce: LIFETIMES[fields.member('lifetime', wordsOf(LIFETIMES))],
    quantity: fields.decimalOr('quantity'),
    notional: fields.decimalOr('notional'),
    limitPrice: fields.decimalOr('limit'),
    stopPrice: fields.decimalOr('stop'),
    clientOrderId: fields.nameOr('client_order_id', CLIENT_ORDER_ID_MAX)
  }
}

function readPackage(body: unknown): PackageTicket {
  const fields = new Fields(body, PACKAGE)
  const legs = fields.listOr('legs') ?? []
  if (legs.length > LEGS_MAX) throw new Problem('bad_request', `at most ${LEGS_MAX} legs are read`, { field: 'legs' })
  const quantity = fields.decimalOr('quantity')
  if (quantity === null) throw new Problem('bad_request', 'quantity is missing', { field: 'quantity' })
  return {
    accountId: fields.text('account'),
    legs: legs.map(readLeg),
    side: DIRECTIONS[fields.member('direction', wordsOf(DIRECTIONS))],
    orderType: KINDS[fields.member('kind', PACKAGE_KINDS)],
    timeInForce: LIFETIMES[fields.member('lifetime', PACKAGE_LIFETIMES)],
    quantity,
    limitPrice: fields.decimalOr('limit'),
    clientOrderId: fields.nameOr('client_order_id', CLIENT_ORDER_ID_MAX)
  }
}

function readLeg(value: unknown): SubmitPackageCommand['legs'][number] {
  const fields = new Fields(value, LEG)
  const side = EFFECTS[fields.member('effect', wordsOf(EFFECTS))][fields.member('direction', wordsOf(DIRECTIONS))]
  const ratio = fields.decimalOr('ratio')
  if (ratio === null) throw new Problem('bad_request', 'ratio is missing', { field: 'ratio' })
  return { symbol: fields.text('symbol'), side, ratio }
}
