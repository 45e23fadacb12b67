// One webhook endpoint: its state, what is changed of it, and the last attempts.
import { getRouteApi, Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { get } from '../api.ts'
import { lagText } from '../format.ts'
import type { WebhookEndpointDetail } from '../generated/admin.ts'
import { NeedsManage } from '../parts/action.tsx'
import { CopyText } from '../parts/copy.tsx'
import { EndpointActions } from '../parts/endpoint-actions.tsx'
import { type Fact, Facts } from '../parts/facts.tsx'
import { Page } from '../parts/page.tsx'
import { Failure, Reading } from '../parts/states.tsx'
import { Time, Value } from '../parts/values.tsx'
import { PAGE_ROWS, useRecord } from '../reads.ts'
import { Attempts } from './deliveries.tsx'

const route = getRouteApi('/endpoints/$platformId/$endpointId')

/** The page of an endpoint. */
export function EndpointPage(): ReactNode {
  const { platformId: platform_id, endpointId: endpoint_id } = route.useParams()
  const request = get('/platforms/{platform_id}/webhook-endpoints/{endpoint_id}', { platform_id, endpoint_id })
  const { data, error, refetch } = useRecord(request)
  return (
    <Page title={data === undefined ? `Endpoint ${endpoint_id}` : `Endpoint ${new URL(data.url).host}`} request={request}>
      {error !== null && <Failure error={error} again={() => void refetch()} />}
      {data === undefined && error === null && <Reading what="the endpoint" />}
      {data !== undefined && (
        <>
          <NeedsManage />
          <Facts facts={factsOf(platform_id, data)} />
          <EndpointActions platform={platform_id} endpoint={data} />
        </>
      )}
      <section aria-labelledby="attempts">
        <h2 id="attempts">Last attempts</h2>
        <Attempts request={get('/webhook-deliveries', {}, { endpoint: endpoint_id, limit: String(PAGE_ROWS) })} hasOnePage={false} />
      </section>
    </Page>
  )
}

function factsOf(platform: string, endpoint: WebhookEndpointDetail): readonly Fact[] {
  const { lag, topics, order_statuses: statuses, public_keys: keys } = endpoint
  return [
    ['Endpoint', <CopyText key="id" text={endpoint.endpoint_id} what="endpoint id" />],
    [
      'Platform',
      <Link key="platform" to="/endpoints" search={{ platform }}>
        <code>{platform}</code>
      </Link>
    ],
    ['Address', <code key="address">{endpoint.url}</code>],
    ['Description', <Value key="description" value={endpoint.description === '' ? null : endpoint.description} nullMeans="none" />],
    ['Disabled', <Time key="disabled" at={endpoint.disabled_at} nullMeans="no" />],
    ['Why', <Value key="why" value={endpoint.disabled_reason} nullMeans="none" />],
    ['Last success', <Time key="success" at={endpoint.last_success_at} nullMeans="none yet" />],
    ['Failing since', <Time key="failing" at={endpoint.failing_since} nullMeans="does not fail" />],
    ['Updates to send', lagText(lag)],
    ['Oldest of them', <Time key="oldest" at={lag.oldest_at} nullMeans="none" />],
    ['Topics', topics?.join(', ') ?? 'all'],
    ['Statuses of orders', statuses?.join(', ') ?? 'all'],
    ['Created', <Time key="created" at={endpoint.created_at} />],
    ['Public keys', keys.map(key => <CopyText key={key} text={key} what="public key" />)]
  ]
}
