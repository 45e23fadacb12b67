// Deliveries of webhooks: the endpoints of a platform, and the attempts to send to one of them or a user's events.
import { getRouteApi, Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { get } from '../api.ts'
import { tookText } from '../format.ts'
import type { OperatorWebhookDelivery as Delivery, WebhookEndpoint } from '../generated/admin.ts'
import { CopyText } from '../parts/copy.tsx'
import { FilterForm } from '../parts/filters.tsx'
import { Page } from '../parts/page.tsx'
import { usePlatform } from '../parts/platform.ts'
import { Empty } from '../parts/states.tsx'
import { type Column, ListTable } from '../parts/table.tsx'
import { Status, Time, Value } from '../parts/values.tsx'
import { PAGE_ROWS, useList } from '../reads.ts'

const route = getRouteApi('/deliveries')

const ENDPOINTS: readonly Column<WebhookEndpoint>[] = [
  {
    name: 'Endpoint',
    cell: ({ endpoint_id: endpoint, url }) => (
      <Link to="/deliveries" search={{ endpoint }}>
        {url}
      </Link>
    )
  },
  { name: 'Id', cell: endpoint => <CopyText text={endpoint.endpoint_id} what="endpoint id" /> },
  { name: 'Disabled', cell: endpoint => <Time at={endpoint.disabled_at} nullMeans="no" /> },
  { name: 'Why', cell: endpoint => <Value value={endpoint.disabled_reason} nullMeans="none" /> },
  { name: 'Last success', cell: endpoint => <Time at={endpoint.last_success_at} nullMeans="none yet" /> },
  { name: 'Failing since', cell: endpoint => <Time at={endpoint.failing_since} nullMeans="does not fail" /> }
]

const ATTEMPTS: readonly Column<Delivery>[] = [
  { name: 'Started', cell: delivery => <Time at={delivery.started_at} /> },
  { name: 'Outcome', cell: delivery => <Status status={delivery.failure ?? 'delivered'} /> },
  { name: 'Status', isNumber: true, cell: delivery => <Value value={delivery.status} nullMeans="no answer" /> },
  { name: 'Attempt', isNumber: true, cell: delivery => delivery.attempt },
  { name: 'Took', isNumber: true, cell: delivery => tookText(delivery.took_ms) },
  { name: 'Next', cell: delivery => <Time at={delivery.retry_at} nullMeans="none" /> },
  { name: 'Reason', cell: delivery => delivery.reason },
  { name: 'Seq', cell: ({ from_seq: from, to_seq: to }) => (from === null ? <Value value={null} nullMeans="none" /> : `${from}–${to}`) },
  {
    name: 'User',
    cell: ({ user_key: user }) =>
      user === null ? (
        <Value value={null} nullMeans="test message" />
      ) : (
        <Link to="/deliveries" search={{ user }}>
          <code>{user}</code>
        </Link>
      )
  },
  { name: 'Message', cell: delivery => <CopyText text={delivery.message_id} what="message id" /> },
  { name: 'Endpoint', cell: delivery => <CopyText text={delivery.endpoint_id} what="endpoint id" /> }
]

/** The page of deliveries. */
export function DeliveriesPage(): ReactNode {
  const filters = route.useSearch()
  const navigate = route.useNavigate()
  const { choices, chosen: platform } = usePlatform(filters.platform)
  const { endpoint, user } = filters
  const isOfOne = endpoint !== undefined || user !== undefined
  const attempts = get('/webhook-deliveries', {}, { endpoint, user, limit: String(PAGE_ROWS) })
  const endpoints = platform === undefined ? undefined : get('/webhook-endpoints', {}, { platform })
  const shownFilters = isOfOne || platform === undefined ? filters : { ...filters, platform }
  const ofOne = [
    { name: 'endpoint', label: 'Endpoint (endpoint_id)' },
    { name: 'user', label: 'User (user_key)' }
  ] as const
  // Endpoints are listed by platform; what was sent to one, or of a user, is not.
  const fields = isOfOne ? ofOne : ([{ name: 'platform', label: 'Platform', choices, none: 'Choose' }, ...ofOne] as const)
  const apply = (search: typeof filters) => {
    const { platform: _unused, ...rest } = search
    void navigate({ search: search.endpoint === undefined && search.user === undefined ? search : rest })
  }
  return (
    <Page title="Deliveries" request={isOfOne ? attempts : endpoints}>
      <FilterForm key={JSON.stringify(shownFilters)} filters={fields} current={shownFilters} apply={apply} />
      {isOfOne ? (
        <Attempts request={attempts} hasOnePage={endpoint === undefined} />
      ) : endpoints === undefined ? (
        <Empty>
          <p>Choose a platform to see its endpoints, or give an endpoint or a user to see what was sent.</p>
        </Empty>
      ) : (
        <Endpoints request={endpoints} />
      )}
    </Page>
  )
}

function Endpoints({ request }: { readonly request: Parameters<typeof useList<WebhookEndpoint>>[0] }): ReactNode {
  return (
    <ListTable
      what="endpoints"
      list={useList(request)}
      columns={ENDPOINTS}
      idOf={endpoint => endpoint.endpoint_id}
      empty={
        <Empty>
          <p>This platform has no webhook endpoints.</p>
          <p>
            It registers one with the API: <a href="/docs/guides">Guides</a>.
          </p>
        </Empty>
      }
    />
  )
}

interface AttemptsProps {
  readonly request: Parameters<typeof useList<Delivery>>[0]
  readonly hasOnePage: boolean
}

function Attempts({ request, hasOnePage }: AttemptsProps): ReactNode {
  return (
    <ListTable
      what="deliveries"
      list={useList(request)}
      columns={ATTEMPTS}
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
