// The webhook endpoints of a platform: how far each is behind, and whether it fails.
import { getRouteApi, Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { get } from '../api.ts'
import { lagText } from '../format.ts'
import type { OperatorWebhookEndpoint as Endpoint } from '../generated/admin.ts'
import { NeedsManage } from '../parts/action.tsx'
import { CreateEndpoint } from '../parts/endpoint-actions.tsx'
import { FilterForm } from '../parts/filters.tsx'
import { Page } from '../parts/page.tsx'
import { usePlatform } from '../parts/platform.ts'
import { Empty } from '../parts/states.tsx'
import { type Column, ListTable } from '../parts/table.tsx'
import { Time } from '../parts/values.tsx'
import { useList } from '../reads.ts'

const route = getRouteApi('/endpoints')

const COLUMNS: readonly Column<Endpoint>[] = [
  {
    name: 'Endpoint',
    // The path may be a secret of the platform: the page of the endpoint has it.
    cell: ({ platform_id: platformId, endpoint_id: endpointId, url, description }) => (
      <>
        <Link to="/endpoints/$platformId/$endpointId" params={{ platformId, endpointId }}>
          {new URL(url).host}
        </Link>
        {description !== '' && <div className="hint">{description}</div>}
      </>
    )
  },
  {
    name: 'Topics',
    cell: ({ topics, order_statuses: statuses }) => (
      <>
        {topics?.join(', ') ?? 'all'}
        {statuses !== null && <div className="hint">of orders only: {statuses.join(', ')}</div>}
      </>
    )
  },
  {
    name: 'Disabled',
    cell: ({ disabled_at: at, disabled_reason: why }) => (
      <>
        <Time at={at} nullMeans="no" />
        {why !== null && <div className="hint">{why}</div>}
      </>
    )
  },
  { name: 'Last success', cell: endpoint => <Time at={endpoint.last_success_at} nullMeans="none yet" /> },
  { name: 'Failing since', cell: endpoint => <Time at={endpoint.failing_since} nullMeans="does not fail" /> },
  {
    name: 'Updates to send',
    cell: ({ lag }) => (
      <>
        {lagText(lag)}
        {lag.oldest_at !== null && (
          <div className="hint">
            oldest <Time at={lag.oldest_at} />
          </div>
        )}
      </>
    )
  }
]

/** The list of endpoints. */
export function EndpointsPage(): ReactNode {
  const filters = route.useSearch()
  const navigate = route.useNavigate()
  const { choices, chosen: platform } = usePlatform(filters.platform)
  const request = platform === undefined ? undefined : get('/webhook-endpoints', {}, { platform })
  const shownFilters = platform === undefined ? filters : { ...filters, platform }
  const fields = [{ name: 'platform', label: 'Platform', choices, none: 'Choose' }] as const
  return (
    <Page title="Endpoints" request={request}>
      <FilterForm key={JSON.stringify(shownFilters)} filters={fields} current={shownFilters} apply={search => void navigate({ search })} />
      {platform === undefined || request === undefined ? (
        <Empty>
          <p>Choose a platform to see its webhook endpoints.</p>
        </Empty>
      ) : (
        <>
          <NeedsManage />
          <div className="buttons actions">
            <CreateEndpoint platform={platform} />
          </div>
          <EndpointList request={request} />
        </>
      )}
    </Page>
  )
}

function EndpointList({ request }: { readonly request: Parameters<typeof useList<Endpoint>>[0] }): ReactNode {
  return (
    <ListTable
      what="endpoints"
      list={useList(request)}
      columns={COLUMNS}
      idOf={endpoint => endpoint.endpoint_id}
      empty={
        <Empty>
          <p>This platform has no webhook endpoints.</p>
          <p>
            It can create one itself: <a href="/docs/guides">Guides</a>.
          </p>
        </Empty>
      }
    />
  )
}
