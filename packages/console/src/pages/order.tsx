// One order: what it is, and its steps as a waterfall.
import { getRouteApi, Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { get } from '../api.ts'
import type { Fill, OperatorOrder as Order } from '../generated/admin.ts'
import type { OrderAndSteps } from '../order-and-steps.ts'
import { NeedsManage } from '../parts/action.tsx'
import { CopyRequest, CopyText } from '../parts/copy.tsx'
import { type Fact, Facts } from '../parts/facts.tsx'
import { EndOrder, isUnresolved } from '../parts/never-received.tsx'
import { Page } from '../parts/page.tsx'
import { ReadAt } from '../parts/read-at.tsx'
import { Replay, ReplayLinks } from '../parts/replay.tsx'
import { Empty, Failure, Reading } from '../parts/states.tsx'
import { type Column, Rows } from '../parts/table.tsx'
import { Status, Time, Value } from '../parts/values.tsx'
import { StepsWaterfall } from '../parts/waterfall.tsx'
import { useOrderAndSteps } from '../reads.ts'
import { sentText } from '../step-texts.ts'
import { useIsUsed } from '../use-of-page.ts'

const route = getRouteApi('/orders/$orderId')
const REFRESH_MS = 10_000

/** The page of an order. */
export function OrderPage(): ReactNode {
  const { orderId } = route.useParams()
  const { data, error, dataUpdatedAt, isFetching, refetch } = useOrderAndSteps(orderId, useIsUsed() ? REFRESH_MS : undefined)
  const again = () => void refetch()
  return (
    <Page title={`Order ${data?.order.cl_order_id ?? orderId}`} request={get('/orders/{order_id}', { order_id: orderId })}>
      {error !== null && <Failure error={error} again={again} />}
      {data === undefined ? (
        error === null && <Reading what="the order" />
      ) : (
        <>
          <ReadAt at={dataUpdatedAt} isReading={isFetching} again={again} />
          {data.isChanging && (
            <p className="notice">The order is changing, so that its record and its steps may be of different moments.</p>
          )}
          <Facts facts={outcomeOf(data.order)} />
          {isUnresolved(data.order) && (
            <>
              <NeedsManage />
              <EndOrder order={data.order} />
            </>
          )}
          <Replay order={data.order} />
          <Steps orderId={orderId} steps={data.steps} again={again} />
          <section aria-labelledby="record">
            <h2 id="record">Record</h2>
            <Facts facts={recordOf(data.order)} />
          </section>
          <Fills order={data.order} />
        </>
      )}
    </Page>
  )
}

interface StepsProps {
  readonly orderId: string
  readonly steps: OrderAndSteps['steps']
  readonly again: () => void
}

function Steps({ orderId, steps, again }: StepsProps): ReactNode {
  return (
    <section aria-labelledby="steps">
      <div className="head">
        <h2 id="steps">Steps</h2>
        <CopyRequest request={get('/orders/{order_id}/steps', { order_id: orderId })} what="the steps" />
      </div>
      {steps instanceof Error ? (
        <Failure error={steps} again={again} />
      ) : (
        <>
          <ReplayLinks entries={steps.replays} />
          {steps.incomplete !== null && <p className="notice">Not all steps are listed: {steps.incomplete}</p>}
          {steps.data.length === 0 ? (
            <Empty>
              <p>No step of this order is recorded any more.</p>
            </Empty>
          ) : (
            <StepsWaterfall steps={steps.data} />
          )}
        </>
      )}
    </section>
  )
}

interface Execution extends Fill {
  /** The symbol of the leg; null for an order of one symbol. */
  readonly leg: string | null
}

const FILLS: readonly Column<Execution>[] = [
  { name: 'Time', cell: fill => <Time at={fill.time} /> },
  { name: 'Leg', cell: fill => <Value value={fill.leg} nullMeans="none" /> },
  { name: 'Quantity', isNumber: true, cell: fill => fill.quantity },
  { name: 'Price', isNumber: true, cell: fill => fill.price },
  { name: 'Venue', cell: fill => <Value value={fill.exec_dest} /> },
  { name: 'Fill', cell: fill => <CopyText text={fill.fill_id} what="fill id" /> }
]

function Fills({ order: { fills, legs } }: { readonly order: Order }): ReactNode {
  const all = [
    ...fills.map(fill => ({ ...fill, leg: null })),
    ...(legs ?? []).flatMap(({ symbol, fills: ofLeg }) => ofLeg.map(fill => ({ ...fill, leg: symbol })))
  ]
  return (
    <section aria-labelledby="fills">
      <h2 id="fills">Fills</h2>
      {all.length === 0 ? <p>None.</p> : <Rows rows={all} columns={FILLS} idOf={fill => `${fill.leg} ${fill.fill_id}`} />}
    </section>
  )
}

/** What an operator asks first. */
function outcomeOf(order: Order): readonly Fact[] {
  return [
    ['Status', <Status key="status" status={order.normalized_status} />],
    ['Submission', <Submission key="submission" submission={order.submission} />],
    ['Terms', `${order.side} ${order.symbol ?? 'several legs'} ${order.order_type} ${order.order_tif}, ${order.instrument}`],
    ['Quantity', <Quantity key="quantity" order={order} />],
    ['Filled', <Value key="filled" value={order.filled_qty} />],
    ['Message', <Value key="message" value={order.broker_message} nullMeans="none" />]
  ]
}

function recordOf(order: Order): readonly Fact[] {
  const { order_id: id, cl_order_id: clientId, account_id: account, connection_id: connection } = order
  return [
    ['Order', <CopyText key="order" text={id} what="order id" />],
    ['cl_order_id', <CopyText key="client" text={clientId} what="cl_order_id" />],
    ['At the broker', <Value key="broker-status" value={order.broker_status} />],
    ['Reject code', <Value key="reject" value={order.reject_code} nullMeans="none" />],
    ['Limit', <Value key="limit" value={order.order_limit_price} nullMeans="none" />],
    ['Stop', <Value key="stop" value={order.stop_price} nullMeans="none" />],
    ['Average price', <Value key="price" value={order.average_fill_price} nullMeans={order.filled_qty === '0' ? 'none' : 'unknown'} />],
    ['Broker', order.broker],
    ['Account', <CopyText key="account" text={account} what="account id" />],
    [
      'Connection',
      <CopyText key="connection" text={connection} what="connection id">
        <Link to="/orders" search={{ connection }}>
          <code>{connection}</code>
        </Link>
      </CopyText>
    ],
    [
      'User',
      <Link key="user" to="/users/$userKey" params={{ userKey: order.user_key }}>
        {order.user_id}
      </Link>
    ],
    ['Trading day', order.trading_day],
    ['Entered', <Time key="entered" at={order.entry_time} />],
    ['Changed', <Time key="changed" at={order.last_modified_time} />],
    ['Last execution', <Time key="executed" at={order.last_exec_time} nullMeans="none" />],
    ['Replaces', <OrderLink key="replaces" id={order.replaces_order_id} />],
    ['Replaced by', <OrderLink key="replaced" id={order.replaced_by_order_id} />],
    ['Revision', String(order.revision)]
  ]
}

function Quantity({ order: { order_qty: quantity, order_notional: notional } }: { readonly order: Order }): ReactNode {
  return quantity === null && notional !== null ? <>for {notional}</> : <Value value={quantity} />
}

function Submission({ submission: { state, since, attempts, method } }: { readonly submission: Order['submission'] }): ReactNode {
  return (
    <>
      <Status status={state} /> since <Time at={since} />, {sentText(state, attempts)}, determined by{' '}
      <Value value={method} nullMeans="nothing yet" />
      {state === 'unknown' && <div className="hint">The broker may have the order. The service looks it up and never sends it again.</div>}
    </>
  )
}

function OrderLink({ id }: { readonly id: string | null }): ReactNode {
  if (id === null) return <Value value={null} nullMeans="none" />
  return (
    <Link to="/orders/$orderId" params={{ orderId: id }}>
      <code>{id}</code>
    </Link>
  )
}
