// Records of the service against a broker's, and of REST against the log: pure, so that forged records show what the check would find.
import type { Json } from '@trunkline/testkit/crash/sandbox-process'
import { STATUS } from '@trunkline/testkit/crash/snapshot'

const UNSETTLED = ['submitting', 'unknown']
const TRANSIENT = ['pending', 'pending_cancel', 'pending_replace']
/** The order never came into being at its broker. */
const ABSENT = ['not_sent', 'not_received']
/** Of a change alone: its order may have filled by then. Nothing in the load makes a new order that can be refused. */
const REFUSED = ['refused', 'refused_by_gateway']
/** A broker without our ids: an order that it never received looks like one that is not shown yet, until an operator decides. */
const WITHOUT_PROOF = 'TRADESTATION'
/** Brokers that change an order in place, and show the executions of it and of those before it as one order's. */
const IN_PLACE: readonly string[] = ['TRADIER', 'TRADESTATION']

/** Whether nothing can prove what became of an order, so that it stays `pending` until an operator decides. */
export function isUnproved(broker: string, { normalized_status: status, submission }: Json, there: Json | undefined): boolean {
  return there === undefined && broker === WITHOUT_PROOF && submission.state === 'unknown' && (isOpen(submission) || isTransient(status))
}

/**
 * The order at its broker, to be compared with ours. Where an order was changed in place and an execution was reported only after the
 * change, nothing shows which of the two orders it was of: then ours counts, if all of the chain together have as much as at the broker.
 * The chain is all orders of the account with this quantity, which the load never changes.
 */
export function asShown(broker: string, order: Json, there: Json | undefined, chain: Chain): Json | undefined {
  const isShared =
    IN_PLACE.includes(broker) && chain.here.length > 1 && totalOf(chain.here, 'filled_qty') === totalOf(chain.there, 'filled')
  if (there === undefined || !isShared) return there
  const isUntouched = Number(order.filled_qty) === 0
  const state = there.state === 'open' && !isUntouched ? 'partial' : there.state === 'partial' && isUntouched ? 'open' : there.state
  return { ...there, state, filled: order.filled_qty }
}

interface Chain {
  readonly here: readonly Json[]
  readonly there: readonly Json[]
}

function totalOf(orders: readonly Json[], field: string): number {
  return orders.reduce((total, order) => total + Number(order[field]), 0)
}

/** How an order differs from the one at its broker; undefined: it has none. */
export function orderFaults(order: Json, there: Json | undefined): readonly string[] {
  const { normalized_status: status, submission, cl_order_id: name } = order
  if (isOpen(submission) || isTransient(status))
    return [`order ${name} is ${status}, its submission ${submission.state}; at the broker: ${there?.state ?? 'none'}`]
  const isRefusable = order.replaces_order_id !== null
  const isProved = ABSENT.includes(submission.state) || (isRefusable && REFUSED.includes(submission.state))
  if (there === undefined)
    return status === 'rejected' && isProved && order.fills.length === 0
      ? []
      : [`order ${name} is ${status} (${submission.state}) and not at the broker`]
  const filled = order.fills.reduce((sum: number, fill: Json) => sum + Number(fill.quantity), 0)
  return [
    ...(status === (STATUS[there.state] ?? there.state)
      ? []
      : [`order ${name} is ${status} (${submission.state}), at the broker ${there.state}`]),
    ...(filled === Number(there.filled) && Number(order.filled_qty) === filled
      ? []
      : [`order ${name} has ${order.filled_qty} filled, ${filled} in its fills, ${there.filled} at the broker`]),
    ...(there.symbol === order.symbol ? [] : [`order ${name} is for ${order.symbol}, at the broker for ${there.symbol}`]),
    ...(there.state === 'refused' && !isRefusable ? [`order ${name} was refused by its broker, and nothing of the load can be`] : [])
  ]
}

/** How the holdings that REST shows differ from those of the log, whichever node answered. */
export function holdingFaults(what: 'position' | 'balance', rest: readonly Json[], log: ReadonlyMap<string, Json>): readonly string[] {
  const shown = new Map(rest.filter(record => !isClosed(record)).map(record => [keyOf(record), record]))
  return [...new Set([...shown.keys(), ...log.keys()])].flatMap(key => {
    const [here, logged] = [shown.get(key), log.get(key)].map(record => (record === undefined ? 'none' : textOf(record)))
    return here === logged ? [] : [`${what} ${key}: REST has ${here}, the log ${logged}`]
  })
}

/** By which a log's replay keeps it. */
function keyOf({ account_number: account, symbol, currency_code: currency }: Json): string {
  return `${account} ${symbol ?? currency}`
}

function isClosed({ quantity }: Json): boolean {
  return quantity !== undefined && Number(quantity) === 0
}

/** Without the time of its confirmation: a read of holdings may have the broker confirm them again. */
function textOf(record: Json): string {
  return JSON.stringify(record, withoutConfirmation)
}

export function withoutConfirmation(name: string, value: unknown): unknown {
  return name === 'system_time' ? undefined : value
}

function isOpen({ state }: Json): boolean {
  return UNSETTLED.includes(state)
}

function isTransient(status: string): boolean {
  return TRANSIENT.includes(status)
}
