import { cancelOrder } from '@trunkline/core/app/orders/cancel-order'
import { orderRecord, presentOrder } from '../../../wire/order.ts'
import { userEndpoint } from '../../endpoint.ts'
import { accountIdInPath, orderIdInPath } from '../../params.ts'

export const deleteOrder = userEndpoint({
  method: 'DELETE',
  path: '/accounts/:account_id/orders/:order_id',
  scope: 'trade',
  operationId: 'cancelOrder',
  tag: 'Orders',
  summary: 'Cancel an open order',
  description:
    'The order is `pending_cancel` until the broker confirms the cancel; then it is `cancelled`, or `filled` if the fill came first. While a modification is pending, cancelling either order cancels both: the old order stays `pending_replace`, the new one stays `pending`, and the one that is open in the end is cancelled. If the broker refuses the cancel, the response is the order, still `working` or `partially_filled`, and `broker_message` gives the reason.',
  failures: ['account_not_found', 'order_not_found', 'connection_broken', 'entitlement_missing', 'order_not_open'],
  params: { account_id: accountIdInPath, order_id: orderIdInPath },
  success: { status: 200, description: 'The order.', schema: orderRecord },
  async handle({ caller, path }, { deps }) {
    return presentOrder(await cancelOrder(deps, caller, path.account_id, path.order_id))
  }
})
