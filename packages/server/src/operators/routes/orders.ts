import { orderSteps } from '@trunkline/core/app/operators/order-steps'
import { ServiceError } from '@trunkline/core/domain/errors'
import type { OrderId, UserKey } from '@trunkline/core/domain/ids'
import { integer, required, uuidInPath } from '../../http/params.ts'
import { paging } from '../../http/routes/parameters.ts'
import { type Operation, operation } from '../endpoint.ts'
import { orderList, orderPage, orderRow, presentOrderRow, presentSteps, stepsRecord } from '../records.ts'

const params = { order_id: uuidInPath<OrderId>('The order.') }
const shared = { scope: 'read', tag: 'Orders' } as const
const LIMIT = { maximum: 100, fallback: 50 }
const UNRESOLVED = { minimum: 1, maximum: 1_000, fallback: 100 }
const query = { user_key: required(uuidInPath<UserKey>('Only orders of this user.')), ...paging(LIMIT) }

export const ORDERS: readonly Operation[] = [
  operation({
    ...shared,
    method: 'GET',
    path: '/orders',
    operationId: 'listOperatorOrders',
    summary: 'List a user’s orders',
    description: 'As they are stored: no broker is asked. The newest first, by the time of their entry.',
    query,
    success: { status: 200, description: 'One page of orders.', schema: orderPage },
    async handle({ query: requested }, { app: { store }, cursors }) {
      const { user_key: userKey } = requested
      const scope = ['operator-orders', userKey]
      const request = cursors.request(requested, scope, LIMIT.fallback, true)
      const accountIds = (await store.accounts.listByUser(userKey)).map(({ accountId }) => accountId)
      const none = { rows: [], next: null, prev: null }
      const found = accountIds.length === 0 ? none : await store.orders.list({ accountIds }, 'entryTime', request)
      return cursors.envelope(found, scope, presentOrderRow)
    }
  }),
  operation({
    ...shared,
    method: 'GET',
    path: '/orders/unresolved',
    operationId: 'listUnresolvedOrders',
    summary: 'List orders that the broker may not have',
    description: 'Open orders of all users without an id of the broker, the oldest first.',
    query: { limit: integer(UNRESOLVED, 'How many, at most.') },
    success: { status: 200, description: 'The orders.', schema: orderList },
    async handle({ query: { limit = UNRESOLVED.fallback } }, { app: { store } }) {
      return { data: (await store.orders.unresolved(limit)).map(presentOrderRow) }
    }
  }),
  operation({
    ...shared,
    method: 'GET',
    path: '/orders/:order_id',
    operationId: 'readOperatorOrder',
    summary: 'Read an order',
    failures: ['order_not_found'],
    params,
    success: { status: 200, description: 'The order as it is stored.', schema: orderRow },
    async handle({ path }, { app: { store } }) {
      const order = await store.orders.find(path.order_id)
      if (order === null) throw new ServiceError('order_not_found', 'There is no order with this order_id.')
      return presentOrderRow(order)
    }
  }),
  operation({
    ...shared,
    method: 'GET',
    path: '/orders/:order_id/steps',
    operationId: 'readOrderSteps',
    summary: 'Read what became of an order',
    description: `Request, checks and commit, sent, the broker’s answer, every change, and every attempt to deliver one to a webhook endpoint, with the
evidence of each. The steps of one order stand in the order in which they happened. Deliveries to broker streams are not stored: the \`seq\` of a change
says what a session has that is at it. At most 5,000 of the user’s events are looked through.`,
    failures: ['order_not_found'],
    params,
    success: { status: 200, description: 'The order and its steps.', schema: stepsRecord },
    async handle({ path }, { app: { store }, reads }) {
      return presentSteps(await orderSteps({ store, reads }, path.order_id))
    }
  })
]
