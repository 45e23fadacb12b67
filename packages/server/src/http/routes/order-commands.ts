import type { AccountScope } from '@trunkline/core/app/accounts/freshened'
import { cancelOrder } from '@trunkline/core/app/orders/cancel-order'
import { CANCELS_MAX, cancelOrders } from '@trunkline/core/app/orders/cancel-orders'
import { type ModifyRequest, modifyOrder } from '@trunkline/core/app/orders/modify-order'
import { placeOrder } from '@trunkline/core/app/orders/place-order'
import { placedOrder } from '@trunkline/core/app/orders/placed-order'
import { previewOrder } from '@trunkline/core/app/orders/preview-order'
import { cancelledOrder, modifiedOrder } from '@trunkline/core/app/orders/requested-change'
import { ServiceError } from '@trunkline/core/domain/errors'
import { parseBrokerId, parseClOrdId, parseUuid } from '@trunkline/core/domain/ids'
import type { Static } from 'typebox'
import { cancelResults, cancelTicket, presentCancelled } from '../../wire/cancel.ts'
import { modifyTicket, orderRecord, orderTicket, presentOrder, previewTicket } from '../../wire/order.ts'
import { presentPreview, previewRecord } from '../../wire/preview.ts'
import { userEndpoint } from '../endpoint.ts'
import { FRESHNESS, withFreshness } from '../freshness.ts'
import { accountIdInPath, orderIdInPath } from '../params.ts'
import { moneyOrNull, quantityOrNull, ticketOf } from './order-fields.ts'

const shared = { scope: 'trade', tag: 'Orders' } as const
const params = { account_id: accountIdInPath, order_id: orderIdInPath }
const example = {
  account_id: '01a1fc40-b2f4-7000-a2c1-0d5e7b9c1a11',
  broker: 'SANDBOX',
  side: 'BUY',
  order_type: 'LMT',
  order_tif: 'DAY',
  symbol: 'AAPL',
  order_qty: '10',
  order_limit_price: '187.50'
} as const

export const postOrder = userEndpoint({
  ...shared,
  method: 'POST',
  path: '/orders',
  operationId: 'placeOrder',
  summary: 'Place an order',
  description:
    'Returns the full order record; check `normalized_status`. If the broker refuses the order, the response is still a 201: the status is ' +
    '`rejected`, and `broker_message` has the broker’s reason. If the broker does not answer within five seconds, the order is `pending` and ' +
    'the service looks up its outcome: do not send it again under another `cl_order_id`. A repeated `cl_order_id` is refused with 409, and ' +
    '`order_id` of the error is the order that has it.',
  failures: ['account_not_found', 'cl_order_id_duplicate', 'connection_broken', 'entitlement_missing', 'order_not_supported'],
  body: orderTicket,
  bodyExample: { ...example, cl_order_id: 'rebalance-2026-11-21-1' },
  success: { status: 201, description: 'The order.', schema: orderRecord },
  async handle({ caller, body }, { deps }) {
    return presentOrder(await placeOrder(deps, caller, { ...ticketOf(body), clOrdId: parseClOrdId(body.cl_order_id) }))
  },
  async resultOf({ caller, body }, { deps }) {
    const order = await placedOrder(deps, caller, { ...ticketOf(body), clOrdId: parseClOrdId(body.cl_order_id) })
    return order === null ? null : presentOrder(order)
  }
})

export const postPreview = userEndpoint({
  ...shared,
  method: 'POST',
  changesNothing: true,
  path: '/orders/preview',
  operationId: 'previewOrder',
  summary: 'Preview an order',
  description:
    'Asks the broker what an order would cost. Nothing is placed. The body is that of `POST /orders` without `cl_order_id`: a preview refuses that field, so ' +
    'neither body can be sent to the other endpoint by mistake. A preview passes the same checks as an order. If the broker would refuse the order, the ' +
    'response is a 200 with the `outcome` `refused`. The broker is asked once and has five seconds; a 503 means that it gave no preview, and that nothing was ' +
    'placed. Where `order_preview` in `GET /brokers` is false, the broker is not asked and the error is `preview_unsupported`.',
  failures: [
    'account_not_found',
    'connection_broken',
    'entitlement_missing',
    'order_not_supported',
    'preview_unsupported',
    'broker_unavailable'
  ],
  body: previewTicket,
  bodyExample: example,
  success: { status: 200, description: 'The broker’s estimate, or its refusal.', schema: previewRecord },
  async handle({ caller, body }, { deps }) {
    return presentPreview(await previewOrder(deps, caller, ticketOf(body)))
  }
})

export const patchOrder = userEndpoint({
  ...shared,
  method: 'PATCH',
  path: '/accounts/:account_id/orders/:order_id',
  operationId: 'modifyOrder',
  summary: 'Modify an open order',
  description:
    'Creates a new order record with `new_cl_order_id`. Its `replaces_order_id` is the old order, which becomes `replaced`. Absent fields ' +
    'stay as they are. A repeated `new_cl_order_id` is refused with 409, and `order_id` of the error is the order that has it. This is also ' +
    'the response when the old order was already replaced by it.',
  failures: [
    'account_not_found',
    'order_not_found',
    'cl_order_id_duplicate',
    'connection_broken',
    'entitlement_missing',
    'order_not_open',
    'order_not_supported'
  ],
  params,
  body: modifyTicket,
  bodyExample: { new_cl_order_id: 'rebalance-2026-11-21-1b', broker: 'SANDBOX', order_limit_price: '187.75' },
  success: { status: 200, description: 'The new order.', schema: orderRecord },
  async handle({ caller, path, body }, { deps }) {
    return presentOrder(await modifyOrder(deps, caller, path.account_id, path.order_id, changesOf(body)))
  },
  async resultOf({ caller, path, body }, { deps }) {
    const order = await modifiedOrder(deps, caller, path.account_id, path.order_id, changesOf(body))
    return order === null ? null : presentOrder(order)
  }
})

export const deleteOrder = userEndpoint({
  ...shared,
  method: 'DELETE',
  path: '/accounts/:account_id/orders/:order_id',
  operationId: 'cancelOrder',
  summary: 'Cancel an open order',
  description:
    'The order is `pending_cancel` until the broker confirms the cancel; then it is `cancelled`, or `filled` if the fill came first. While a modification is pending, cancelling either order cancels both: the old order stays `pending_replace`, the new one stays `pending`, and the one that is open in the end is cancelled. If the broker refuses the cancel, the response is the order, still `working` or `partially_filled`, and `broker_message` gives the reason.',
  failures: ['account_not_found', 'order_not_found', 'connection_broken', 'entitlement_missing', 'order_not_open'],
  params,
  success: { status: 200, description: 'The order.', schema: orderRecord },
  async handle({ caller, path }, { deps }) {
    return presentOrder(await cancelOrder(deps, caller, path.account_id, path.order_id))
  },
  async resultOf({ caller, path }, { deps }) {
    const order = await cancelledOrder(deps, caller, path.account_id, path.order_id)
    return order === null ? null : presentOrder(order)
  }
})

export const postCancel = userEndpoint({
  ...shared,
  method: 'POST',
  path: '/orders/cancel',
  operationId: 'cancelOrders',
  summary: 'Cancel all open orders',
  description: `Cancels the open orders of an account, of a connection, or of the user: send exactly one of \`account_id\`, \`connection_id\` and \`all\`. One request cancels at most ${CANCELS_MAX} orders. Each is cancelled separately and has its own result; an order whose cancel is only requested is not reported as cancelled. If you send the request again, it cancels the orders that are still open and repeats no cancel.`,
  failures: ['account_not_found', 'connection_not_found'],
  body: cancelTicket,
  bodyExample: { account_id: '01a1fc40-b2f4-7000-a2c1-0d5e7b9c1a11' },
  success: { status: 200, headers: FRESHNESS, description: 'The result for each order.', schema: cancelResults },
  async handle({ caller, body }, { deps }) {
    const cancelled = await cancelOrders(deps, caller, scopeOf(body))
    return withFreshness(presentCancelled(cancelled), cancelled.freshness)
  }
})

function changesOf(body: Static<typeof modifyTicket>): ModifyRequest {
  return {
    newClOrdId: parseClOrdId(body.new_cl_order_id, 'new_cl_order_id'),
    broker: parseBrokerId(body.broker),
    quantity: quantityOrNull(body.order_qty, 'order_qty'),
    notional: moneyOrNull(body.order_notional, 'order_notional'),
    limitPrice: moneyOrNull(body.order_limit_price, 'order_limit_price'),
    stopPrice: moneyOrNull(body.stop_price, 'stop_price')
  }
}

function scopeOf({ account_id: accountId, connection_id: connectionId, all }: Static<typeof cancelTicket>): AccountScope {
  if ([accountId, connectionId, all].filter(given => given !== undefined).length !== 1) {
    const message = 'exactly one of account_id, connection_id and all must be given'
    throw new ServiceError('field_invalid', `Say which orders to cancel: ${message}.`, { details: [{ path: 'account_id', message }] })
  }
  return {
    ...(accountId !== undefined && { accountId: parseUuid(accountId, 'account_id') }),
    ...(connectionId !== undefined && { connectionId: parseUuid(connectionId, 'connection_id') })
  }
}
