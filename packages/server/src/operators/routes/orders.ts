import { orderSteps } from '@trunkline/core/app/operators/order-steps'
import { ServiceError } from '@trunkline/core/domain/errors'
import { type ConnectionId, type OrderId, parseUuid, type UserKey } from '@trunkline/core/domain/ids'
import type { Order } from '@trunkline/core/domain/order'
import { parseTimestamp } from '@trunkline/core/domain/timestamp'
import type { PageRequest } from '@trunkline/core/ports/store'
import { plainText, uuidInPath } from '../../http/params.ts'
import type { OperatorDeps } from '../deps.ts'
import { type Operation, operation } from '../endpoint.ts'
import { LIMIT, onlyPage, pageOf, paging } from '../paging.ts'
import { orderPage, orderRow, presentOrderRow, presentSteps, stepsRecord } from '../records.ts'

const UNRESOLVED = ['operator-unresolved-orders']
const params = { order_id: uuidInPath<OrderId>('The order.') }
const shared = { scope: 'read', tag: 'Orders' } as const
const query = {
  user: uuidInPath<UserKey>('Only orders of this user, by the `user_key`.'),
  connection: uuidInPath<ConnectionId>('Only orders of this connection.'),
  cl_order_id: plainText(64, 'Only the orders with this id of the platform’s. Needs `user` or `connection`.', 'rebalance-2026-11-21-1'),
  ...paging
}

export const ORDERS: readonly Operation[] = [
  operation({
    ...shared,
    method: 'GET',
    path: '/orders',
    operationId: 'listOperatorOrders',
    summary: 'List orders',
    description:
      'Of a user or a connection, the newest first. Without both: open orders of all users that the broker may not have, the oldest first. As they are stored: no broker is asked.',
    query,
    success: { status: 200, description: 'One page of orders.', schema: orderPage },
    async handle({ query: requested }, deps) {
      const { cursors, app } = deps
      const { user, connection, cl_order_id: clOrdId } = requested
      const isUnresolved = user === undefined && connection === undefined
      const scope = isUnresolved ? UNRESOLVED : ['operator-orders', user, connection, clOrdId]
      const request = cursors.forward(requested, scope, LIMIT.fallback)
      if (isUnresolved) {
        if (clOrdId !== undefined) throw needsOwner()
        return await unresolved(deps, request)
      }
      const accountIds = await accountsOf(deps, user, connection)
      if (accountIds.length === 0) return onlyPage([], presentOrderRow)
      const filter = { accountIds, ...(clOrdId !== undefined && { clOrdId }) }
      return pageOf(cursors, await app.store.orders.list(filter, 'entryTime', request), scope, presentOrderRow)
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

async function unresolved({ app, cursors }: OperatorDeps, { limit, edge }: PageRequest) {
  const after = edge === null ? {} : { after: entryOf(edge.key) }
  const found = await app.store.orders.unresolved(limit + 1, after)
  const rows = found.slice(0, limit)
  const last = rows.at(-1)
  const next = found.length > limit && last !== undefined ? [last.entryTime, last.orderId] : null
  return pageOf(cursors, { rows, next, prev: null }, UNRESOLVED, presentOrderRow)
}

function entryOf([entryTime = '', orderId = '']: readonly string[]): Pick<Order, 'entryTime' | 'orderId'> {
  return { entryTime: parseTimestamp(entryTime, 'cursor'), orderId: parseUuid<OrderId>(orderId, 'cursor') }
}

function needsOwner(): ServiceError {
  const message = 'needs user or connection beside it'
  return new ServiceError('query_invalid', `cl_order_id ${message}.`, { details: [{ path: 'cl_order_id', message }] })
}

async function accountsOf({ app: { store } }: OperatorDeps, user: UserKey | undefined, connection: ConnectionId | undefined) {
  const accounts = user === undefined ? await ofConnection(store, connection) : await store.accounts.listByUser(user)
  return accounts.filter(({ connectionId }) => connection === undefined || connectionId === connection).map(({ accountId }) => accountId)
}

function ofConnection(store: OperatorDeps['app']['store'], connection: ConnectionId | undefined) {
  return store.accounts.listByConnections(connection === undefined ? [] : [connection])
}
