import { readOrder } from '@trunkline/core/app/orders/read-order'
import { orderBytes, orderRecord } from '../../../wire/order.ts'
import { userEndpoint } from '../../endpoint.ts'
import { withFreshness } from '../../freshness.ts'
import { accountIdInPath, orderIdInPath } from '../../params.ts'
import { Rendered } from '../../rendered.ts'
import { FRESHNESS } from '../accounts/freshness.ts'

const shared = {
  method: 'GET',
  scope: 'read',
  tag: 'Orders',
  success: { status: 200, headers: FRESHNESS, description: 'The order.', schema: orderRecord }
} as const

export const getOrder = userEndpoint({
  ...shared,
  path: '/orders/:order_id',
  operationId: 'readOrder',
  summary: 'Read an order',
  description: 'If the broker does not respond, the last known record. An order of another user is reported as not found.',
  failures: ['order_not_found'],
  params: { order_id: orderIdInPath },
  async handle({ caller, path }, { deps }) {
    const { order, freshness } = await readOrder(deps, caller, null, path.order_id)
    return withFreshness(new Rendered(orderBytes(order)), freshness)
  }
})

export const getOrderOfAccount = userEndpoint({
  ...shared,
  path: '/accounts/:account_id/orders/:order_id',
  operationId: 'readOrderOfAccount',
  summary: 'Read an order of an account',
  description: 'Returns the same record as `GET /orders/{order_id}`, if the order is in this account.',
  failures: ['account_not_found', 'order_not_found'],
  params: { account_id: accountIdInPath, order_id: orderIdInPath },
  async handle({ caller, path }, { deps }) {
    const { order, freshness } = await readOrder(deps, caller, path.account_id, path.order_id)
    return withFreshness(new Rendered(orderBytes(order)), freshness)
  }
})
