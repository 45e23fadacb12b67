import { type OrderRequest, placeOrder } from '@trunkline/core/app/orders/place-order'
import { type AccountId, parseBrokerId, parseClOrdId, parseUuid } from '@trunkline/core/domain/ids'
import type { Static } from 'typebox'
import { orderRecord, orderTicket, presentOrder } from '../../../wire/order.ts'
import { userEndpoint } from '../../endpoint.ts'
import { termsOf } from './fields.ts'

export const postOrder = userEndpoint({
  method: 'POST',
  path: '/orders',
  scope: 'trade',
  operationId: 'placeOrder',
  tag: 'Orders',
  summary: 'Place an order',
  description:
    'Returns the full order record; check `normalized_status`. If the broker refuses the order, the response is still a 201: the status is ' +
    '`rejected`, and `broker_message` has the broker’s reason. If the broker does not answer within five seconds, the order is `pending` and ' +
    'the service looks up its outcome: do not send it again under another `cl_order_id`. A repeated `cl_order_id` is refused with 409, and ' +
    '`order_id` of the error is the order that has it.',
  failures: ['account_not_found', 'cl_order_id_duplicate', 'connection_broken', 'entitlement_missing', 'order_not_supported'],
  body: orderTicket,
  bodyExample: {
    account_id: '0198f0c2-6c1e-7f10-8b3a-2d6f5c9e4a71',
    cl_order_id: 'rebalance-2026-11-21-1',
    broker: 'SANDBOX',
    side: 'BUY',
    order_type: 'LMT',
    order_tif: 'DAY',
    symbol: 'AAPL',
    order_qty: '10',
    order_limit_price: '187.50'
  },
  success: { status: 201, description: 'The order.', schema: orderRecord },
  async handle({ caller, body }, { deps }) {
    return presentOrder(await placeOrder(deps, caller, requestOf(body)))
  }
})

function requestOf(body: Static<typeof orderTicket>): OrderRequest {
  return {
    accountId: parseUuid<AccountId>(body.account_id, 'account_id'),
    clOrdId: parseClOrdId(body.cl_order_id),
    broker: parseBrokerId(body.broker),
    ...termsOf(body)
  }
}
