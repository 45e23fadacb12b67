import { listOrders } from '@trunkline/core/app/orders/list-orders'
import { readOrder } from '@trunkline/core/app/orders/read-order'
import { isOpen } from '@trunkline/core/domain/order'
import { ORDER_STATUSES, type OrderStatus, SIDES } from '@trunkline/core/domain/vocabulary'
import type { OrderSort } from '@trunkline/core/ports/store'
import { orderBytes, orderPage, orderRecord } from '../../wire/order.ts'
import { userEndpoint } from '../endpoint.ts'
import { FRESHNESS, withFreshness } from '../freshness.ts'
import {
  accountIdInPath,
  accountIdParam,
  brokerParam,
  clOrderIdParam,
  connectionIdParam,
  oneOf,
  orderIdInPath,
  orderIdParam,
  type QueryValues,
  sort,
  symbolsParam,
  time
} from '../params.ts'
import { Rendered } from '../rendered.ts'
import { orderedTimes, paging, scopeOf } from './parameters.ts'

const LIMIT = { maximum: 500, fallback: 50 }
const STATUS_FILTERS = [
  'all',
  'open',
  'closed',
  'filled',
  'cancelled',
  'partially_filled',
  'working',
  'rejected',
  'pending',
  'expired',
  'replaced'
] as const

const query = {
  connection_id: connectionIdParam,
  account_id: accountIdParam,
  broker: brokerParam,
  status: oneOf(STATUS_FILTERS, 'Only orders with this status. `open` and `closed` each stand for several.', 'all'),
  symbols: {
    ...symbolsParam,
    description: `${symbolsParam.description} An order also matches by its legs, and by the root of its options: \`SPY\` finds options on SPY.`
  },
  order_id: orderIdParam,
  cl_order_id: clOrderIdParam,
  side: oneOf(SIDES, 'Only this side.'),
  start_time: time('Orders entered at or after this time.'),
  end_time: time('Orders entered at or before this time.'),
  sort: sort(['entry_time', 'last_modified_time', 'last_exec_time'], 'entry_time'),
  ...paging(LIMIT)
}

const SORTS = {
  entry_time: 'entryTime',
  last_modified_time: 'lastModifiedTime',
  last_exec_time: 'lastExecTime'
} as const satisfies Record<string, OrderSort>

export const getOrders = userEndpoint({
  method: 'GET',
  path: '/orders',
  scope: 'read',
  operationId: 'listOrders',
  tag: 'Orders',
  summary: 'List orders',
  description: 'Includes orders that were placed at the broker outside this service.',
  failures: ['account_not_found', 'connection_not_found'],
  query,
  success: { status: 200, headers: FRESHNESS, description: 'One page of orders.', schema: orderPage },
  async handle({ caller, query: requested }, { deps, cursors }) {
    const { field, descending } = requested.sort ?? { field: 'entry_time', descending: true }
    const accounts = scopeOf(requested)
    const filter = filterOf(requested)
    const scope = ['orders', caller.user.userKey, accounts, filter, field, descending]
    const request = cursors.request(requested, scope, LIMIT.fallback, descending)
    const { page, freshness } = await listOrders(deps, caller, accounts, filter, SORTS[field], request)
    return withFreshness(cursors.rendered(page, scope, orderBytes), freshness)
  }
})

function filterOf(requested: QueryValues<typeof query>): Parameters<typeof listOrders>[3] {
  orderedTimes(requested.start_time, requested.end_time, 'start_time', 'end_time')
  const statuses = statusesOf(requested.status ?? 'all')
  return {
    ...(statuses !== null && { statuses }),
    ...(requested.symbols !== undefined && { symbols: requested.symbols }),
    ...(requested.order_id !== undefined && { orderId: requested.order_id }),
    ...(requested.cl_order_id !== undefined && { clOrdId: requested.cl_order_id }),
    ...(requested.side !== undefined && { side: requested.side }),
    ...(requested.start_time !== undefined && { from: requested.start_time }),
    ...(requested.end_time !== undefined && { to: requested.end_time })
  }
}

const OPEN = ORDER_STATUSES.filter(isOpen)
const CLOSED = ORDER_STATUSES.filter(status => !isOpen(status))

function statusesOf(requested: (typeof STATUS_FILTERS)[number]): readonly OrderStatus[] | null {
  switch (requested) {
    case 'all':
      return null
    case 'open':
      return OPEN
    case 'closed':
      return CLOSED
    default:
      return [requested]
  }
}

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
