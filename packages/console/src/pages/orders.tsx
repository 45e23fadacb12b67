// Orders: the open and unresolved ones of all users, or all of one user or connection.
import { getRouteApi, Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { get } from '../api.ts'
import type { OperatorOrder as Order } from '../generated/admin.ts'
import { NeedsManage } from '../parts/action.tsx'
import { FilterForm } from '../parts/filters.tsx'
import { AbandonedOrders, EndSet } from '../parts/never-received.tsx'
import { Page } from '../parts/page.tsx'
import { requestColumn } from '../parts/request-column.tsx'
import { Empty } from '../parts/states.tsx'
import { type Column, ListTable } from '../parts/table.tsx'
import { Id, Name, Status, Time, Value } from '../parts/values.tsx'
import { useList } from '../reads.ts'

const route = getRouteApi('/orders')
const FILTERS = [
  { name: 'user', label: 'User (user_key)' },
  { name: 'connection', label: 'Connection' },
  { name: 'cl_order_id', label: 'cl_order_id' }
] as const

/** Of every list of orders. */
export const ORDER_COLUMNS: readonly Column<Order>[] = [
  {
    name: 'Order',
    cell: order => (
      <>
        <Link to="/orders/$orderId" params={{ orderId: order.order_id }}>
          <Id text={order.cl_order_id} />
        </Link>
        <div className="hint">{order.broker}</div>
      </>
    )
  },
  {
    name: 'Status',
    cell: order => (
      <>
        <Status status={order.normalized_status} />
        <div className="hint">
          <Status status={order.submission.state} />
        </div>
      </>
    )
  },
  { name: 'Side', cell: order => order.side },
  { name: 'Symbol', cell: order => <Value value={order.symbol} nullMeans="several legs" /> },
  { name: 'Quantity', isNumber: true, cell: order => <Quantity order={order} /> },
  { name: 'Filled', isNumber: true, cell: order => order.filled_qty },
  {
    name: 'Type',
    cell: ({ order_type: type, order_tif: tif, order_limit_price: limit }) => (
      <>
        {type} {tif}
        {limit !== null && (
          <div>
            at <Value value={limit} />
          </div>
        )}
      </>
    )
  },
  {
    name: 'User',
    cell: order => (
      <Link to="/users/$userKey" params={{ userKey: order.user_key }}>
        <Name text={order.user_id} />
      </Link>
    )
  },
  { name: 'Entered', cell: order => <Time at={order.entry_time} /> },
  requestColumn(
    order => `order ${order.cl_order_id}`,
    order => get('/orders/{order_id}', { order_id: order.order_id })
  )
]

function Quantity({ order }: { readonly order: Order }): ReactNode {
  if (order.order_qty === null && order.order_notional !== null) return <>for {order.order_notional}</>
  return <Value value={order.order_qty} />
}

/** The list of orders. */
export function OrdersPage(): ReactNode {
  const filters = route.useSearch()
  const navigate = route.useNavigate()
  const isOfOne = filters.user !== undefined || filters.connection !== undefined
  const request = get('/orders', {}, filters)
  return (
    <Page title="Orders" request={request}>
      <FilterForm key={JSON.stringify(filters)} filters={FILTERS} current={filters} apply={search => void navigate({ search })} />
      {!isOfOne && (
        <>
          <NeedsManage />
          <p className="hint">
            Open orders of all users that the broker may not have. All orders are listed by user or connection, or found by id.
          </p>
          <EndSet />
        </>
      )}
      <ListTable
        what="orders"
        list={useList(request)}
        columns={ORDER_COLUMNS}
        idOf={order => order.order_id}
        empty={
          <Empty>
            <p>{isOfOne ? 'No orders with these filters.' : 'The broker has every open order.'}</p>
            <p>
              The guide shows how to place one: <a href="/docs/guides">Guides</a>.
            </p>
          </Empty>
        }
      />
      {!isOfOne && <AbandonedOrders />}
    </Page>
  )
}
