// Deliveries of webhooks: each attempt, and why it failed.
import { getRouteApi } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type Delivery, get } from '../api.ts'
import { CopyText } from '../parts/copy.tsx'
import { FilterForm } from '../parts/filters.tsx'
import { Page } from '../parts/page.tsx'
import { Empty } from '../parts/states.tsx'
import { type Column, ListTable } from '../parts/table.tsx'
import { Status, Time, Value } from '../parts/values.tsx'
import { useList } from '../reads.ts'

const route = getRouteApi('/deliveries')
const FILTERS = [
  { name: 'endpoint', label: 'Endpoint' },
  { name: 'user', label: 'User' }
] as const

const COLUMNS: readonly Column<Delivery>[] = [
  { name: 'Started', cell: delivery => <Time at={delivery.started_at} /> },
  { name: 'Outcome', cell: delivery => <Status status={delivery.failure ?? 'delivered'} /> },
  { name: 'Status', isNumber: true, cell: delivery => <Value value={delivery.status} nullMeans="no answer" /> },
  { name: 'Attempt', isNumber: true, cell: delivery => delivery.attempt },
  { name: 'Took', isNumber: true, cell: delivery => `${delivery.took_ms} ms` },
  { name: 'Next', cell: delivery => <Time at={delivery.retry_at} nullMeans="none" /> },
  { name: 'Reason', cell: delivery => delivery.reason },
  { name: 'User', cell: delivery => <Value value={delivery.user_id} nullMeans="test message" /> },
  { name: 'Message', cell: delivery => <CopyText text={delivery.message_id} what="message id" /> },
  { name: 'Endpoint', cell: delivery => <CopyText text={delivery.endpoint_id} what="endpoint id" /> }
]

/** The list of attempts. */
export function DeliveriesPage(): ReactNode {
  const filters = route.useSearch()
  const navigate = route.useNavigate()
  const request = get('/webhook_deliveries', filters)
  return (
    <Page title="Deliveries" request={request}>
      <FilterForm key={JSON.stringify(filters)} filters={FILTERS} current={filters} apply={search => void navigate({ search })} />
      <ListTable
        what="deliveries"
        list={useList<Delivery>(request)}
        columns={COLUMNS}
        idOf={delivery => delivery.delivery_id}
        empty={
          <Empty>
            <p>No deliveries with these filters.</p>
            <p>
              A platform registers an endpoint with <code>POST /webhooks</code>: <a href="/docs/guides">Guides</a>.
            </p>
          </Empty>
        }
      />
    </Page>
  )
}
