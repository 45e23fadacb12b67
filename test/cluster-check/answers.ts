// What clients were answered against what is: pure, so that forged records show what the check would find.
import type { Json } from '@trunkline/testkit/crash/sandbox-process'
import { type Cancelled, keyOfTerms, type Requested, type Terms } from './ledger.ts'

export const FINAL = ['filled', 'cancelled', 'rejected', 'expired', 'replaced']
/** A cancel that a broker never answered is given up with this message, as the guide says. */
const GIVEN_UP = /did not cancel the order/

type Orders = ReadonlyMap<string, Json>

/** What contradicts the answer to a new order or to a change. @param orders by order id, as the log has them */
export function contradictions({ answer, clOrderId, account, terms }: Requested, orders: Orders): readonly string[] {
  if (answer === null || answer.status >= 500) return []
  const { body, status } = answer
  if (status >= 400 && status !== 409) {
    const made = [...orders.values()].find(order => order.cl_order_id === clOrderId && !isNothing(order))
    return made === undefined ? [] : [`order ${clOrderId} was answered ${status} ${body?.code}, and exists: ${JSON.stringify(made)}`]
  }
  const order = orders.get(body.order_id)
  if (order === undefined) return [`order ${clOrderId} was answered ${status} and is not in the log`]
  const isSame =
    order.cl_order_id === clOrderId && order.account_id === account.accountId && keyOfTerms(termsOf(order)) === keyOfTerms(terms)
  return [
    ...(isSame ? [] : [`order ${clOrderId} (${keyOfTerms(terms)}) is ${JSON.stringify(order)} in the log`]),
    ...(FINAL.includes(body.normalized_status) && order.normalized_status !== body.normalized_status
      ? [`order ${clOrderId} was answered ${body.normalized_status} and is ${order.normalized_status}`]
      : [])
  ]
}

/**
 * What contradicts the answer to a cancel, once nothing is on its way any more.
 * @param unproved orders that stay open until an operator decides: a cancel waits as well
 */
export function cancelContradictions({ orderId, answer }: Cancelled, orders: Orders, unproved: ReadonlySet<string>): readonly string[] {
  if (answer === null || answer.status >= 500 || unproved.has(orderId)) return []
  const order = orders.get(orderId)
  if (order === undefined) return [`order ${orderId}, whose cancel was answered ${answer.status}, is not in the log`]
  const is = `and is ${order.normalized_status}: ${JSON.stringify(order)}`
  const isOver = FINAL.includes(order.normalized_status)
  // The order was not open, so there was nothing to cancel.
  if (answer.status === 400) return isOver ? [] : [`the cancel of ${order.cl_order_id} was answered ${answer.body?.code}, ${is}`]
  const { normalized_status: shown, broker_message: reason } = answer.body
  if (FINAL.includes(shown))
    return shown === order.normalized_status ? [] : [`the cancel of ${order.cl_order_id} was answered ${shown}, ${is}`]
  const isRefused = shown !== 'pending_cancel' && shown !== 'pending' && reason !== null
  if (isOver || isRefused || GIVEN_UP.test(order.broker_message ?? '')) return []
  return [`the cancel of ${order.cl_order_id} was answered ${shown}, ${is}`]
}

/** A change that failed leaves a rejected order, which never did anything. */
function isNothing({ normalized_status: status, fills }: Json): boolean {
  return status === 'rejected' && fills.length === 0
}

export function termsOf({ order_qty: quantity, order_limit_price: limit }: Json): Terms {
  return { quantity: Number(quantity), cents: limit === null ? null : Math.round(Number(limit) * 100) }
}
