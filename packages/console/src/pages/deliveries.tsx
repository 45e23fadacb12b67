// Deliveries of webhooks: the attempts to send to an endpoint, or a user's events.
import { getRouteApi, Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { get } from '../api.ts'
import { tookText } from '../format.ts'
import type { OperatorWebhookDelivery as Delivery } from '../generated/admin.ts'
import { CopyText } from '../parts/copy.tsx'
import { FilterForm } from '../parts/filters.tsx'
import { Page } from '../parts/page.tsx'
import { Empty } from '../parts/states.tsx'
import { type Column, ListTable } from '../parts/table.tsx'
import { Id, Time, Value } from '../parts/values.tsx'
import { PAGE_ROWS, useList } from '../reads.ts'

const route = getRouteApi('/deliveries')
const FILTERS = [
  { name: 'endpoint', label: 'Endpoint (endpoint_id)' },
  { name: 'user', label: 'User (user_key)' }
] as const

/** Of every list of attempts. */
const ATTEMPT_COLUMNS: readonly Column<Delivery>[] = [
  {
    name: 'Started',
    cell: delivery => (
      <>
        <Time at={delivery.started_at} />
        <div className="hint">took {tookText(delivery.took_ms)}</div>
      </>
    )
  },
  { name: 'Outcome', cell: delivery => <Outcome delivery={delivery} /> },
  {
    name: 'Reason',
    cell: ({ reason, attempt }) => (
      <>
        {reason}
        <div className="hint">attempt&nbsp;{attempt}</div>
      </>
    )
  },
  {
    name: 'Seq',
    cell: ({ from_seq: from, to_seq: to }) =>
      from === null ? <Value value={null} nullMeans="none" /> : from === to ? String(from) : `${from}–${to}`
  },
  {
    name: 'User',
    cell: ({ user_key: user }) =>
      user === null ? (
        <Value value={null} nullMeans="test message" />
      ) : (
        <Link to="/deliveries" search={{ user }}>
          <Id text={user} />
        </Link>
      )
  },
  { name: 'Message', cell: delivery => <CopyText text={delivery.message_id} what="message id" /> },
  { name: 'Endpoint', cell: delivery => <CopyText text={delivery.endpoint_id} what="endpoint id" /> }
]

function Outcome({ delivery: { failure, status, retry_at: retryAt } }: { readonly delivery: Delivery }): ReactNode {
  return (
    <>
      <span className={`status ${failure === null ? 'good' : 'bad'}`}>{failure ?? 'delivered'}</span>{' '}
      <Value value={status} nullMeans="no answer" />
      {failure !== null && (
        <div className="hint">
          {retryAt === null ? 'not tried again' : 'again at '}
          {retryAt !== null && <Time at={retryAt} />}
        </div>
      )}
    </>
  )
}

/** The page of deliveries. */
export function DeliveriesPage(): ReactNode {
  const filters = route.useSearch()
  const navigate = route.useNavigate()
  const { endpoint, user } = filters
  const isOfOne = endpoint !== undefined || user !== undefined
  const request = isOfOne ? get('/webhook-deliveries', {}, { endpoint, user, limit: String(PAGE_ROWS) }) : undefined
  return (
    <Page title="Deliveries" request={request}>
      <FilterForm key={JSON.stringify(filters)} filters={FILTERS} current={filters} apply={search => void navigate({ search })} />
      {request === undefined ? (
        <Empty>
          <p>
            Give an endpoint or a user to see what was sent. <Link to="/endpoints">Endpoints</Link> lists those of a platform.
          </p>
        </Empty>
      ) : (
        <Attempts request={request} hasOnePage={endpoint === undefined} />
      )}
    </Page>
  )
}

interface AttemptsProps {
  readonly request: Parameters<typeof useList<Delivery>>[0]
  readonly hasOnePage: boolean
}

/** A list of attempts. */
export function Attempts({ request, hasOnePage }: AttemptsProps): ReactNode {
  return (
    <ListTable
      what="deliveries"
      list={useList(request)}
      columns={ATTEMPT_COLUMNS}
      hasOnePage={hasOnePage}
      idOf={delivery => delivery.delivery_id}
      empty={
        <Empty>
          <p>Nothing was sent, or it is no longer kept.</p>
        </Empty>
      }
    />
  )
}
