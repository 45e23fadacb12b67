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
    'The order is `pending_cancel` until the broker has confirmed it, then `cancelled`, or `filled` where the fill was faster. While a modification is pending, the cancel of either order is that of both: the old one stays `pending_replace` and the new one `pending`, and whichever lives is cancelled. Where the broker refuses the cancel, the answer is the order as it goes on, `working` or `partially_filled`, and `broker_message` says why.',
  failures: ['account_not_found', 'order_not_found', 'connection_broken', 'entitlement_missing', 'order_not_open'],
  params: { account_id: accountIdInPath, order_id: orderIdInPath },
  success: { status: 200, description: 'The order.', schema: orderRecord },
  async handle({ caller, path }, { deps }) {
    return presentOrder(await cancelOrder(deps, caller, path.account_id, path.order_id))
  }
})
