import { modifyOrder } from '@trunkline/core/app/orders/modify-order'
import { parseBrokerId, parseClOrdId } from '@trunkline/core/domain/ids'
import { modifyTicket, orderRecord, presentOrder } from '../../../wire/order.ts'
import { userEndpoint } from '../../endpoint.ts'
import { accountIdInPath, orderIdInPath } from '../../params.ts'
import { moneyOrNull, quantityOrNull } from './fields.ts'

export const patchOrder = userEndpoint({
  method: 'PATCH',
  path: '/accounts/:account_id/orders/:order_id',
  scope: 'trade',
  operationId: 'modifyOrder',
  tag: 'Orders',
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
  params: { account_id: accountIdInPath, order_id: orderIdInPath },
  body: modifyTicket,
  bodyExample: { new_cl_order_id: 'rebalance-2026-11-21-1b', broker: 'SANDBOX', order_limit_price: '187.75' },
  success: { status: 200, description: 'The new order.', schema: orderRecord },
  async handle({ caller, path, body }, { deps }) {
    const order = await modifyOrder(deps, caller, path.account_id, path.order_id, {
      newClOrdId: parseClOrdId(body.new_cl_order_id, 'new_cl_order_id'),
      broker: parseBrokerId(body.broker),
      quantity: quantityOrNull(body.order_qty, 'order_qty'),
      notional: moneyOrNull(body.order_notional, 'order_notional'),
      limitPrice: moneyOrNull(body.order_limit_price, 'order_limit_price'),
      stopPrice: moneyOrNull(body.stop_price, 'stop_price')
    })
    return presentOrder(order)
  }
})
