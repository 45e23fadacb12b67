// The request log of the nodes: the last requests of the present run, and apart from these the last that failed.
import { getRouteApi } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { get, type LoggedRequest } from '../api.ts'
import { CopyText } from '../parts/copy.tsx'
import { FilterForm } from '../parts/filters.tsx'
import { Page } from '../parts/page.tsx'
import { Empty } from '../parts/states.tsx'
import { type Column, ListTable } from '../parts/table.tsx'
import { Time, Value } from '../parts/values.tsx'
import { useList } from '../reads.ts'

const route = getRouteApi('/requests')
const FILTERS = [
  { name: 'failed', label: 'Failed only', values: ['true'] },
  { name: 'code', label: 'Code' },
  { name: 'platform', label: 'Platform' },
  { name: 'user', label: 'User' }
] as const

const COLUMNS: readonly Column<LoggedRequest>[] = [
  { name: 'Time', cell: request => <Time at={request.at} /> },
  { name: 'Status', isNumber: true, cell: ({ status }) => <span className={`status ${status >= 400 ? 'bad' : 'plain'}`}>{status}</span> },
  {
    name: 'Request',
    cell: request => (
      <code>
        {request.method} {request.route ?? '(no route)'}
      </code>
    )
  },
  {
    name: 'Code',
    cell: ({ code }) =>
      code === null ? <Value value={null} nullMeans="none" /> : <a href={`/docs/errors/${encodeURIComponent(code)}`}>{code}</a>
  },
  { name: 'Took', isNumber: true, cell: request => `${request.took_ms} ms` },
  { name: 'Platform', cell: request => <Value value={request.platform_id} nullMeans="none" /> },
  { name: 'User', cell: request => <Value value={request.user_id} nullMeans="none" /> },
  { name: 'Address', cell: request => <Value value={request.address} /> },
  { name: 'Node', cell: request => <Value value={request.node} /> },
  { name: 'Request id', cell: request => <CopyText text={request.request_id} what="request id" /> }
]

/** The list of kept requests. */
export function RequestsPage(): ReactNode {
  const filters = route.useSearch()
  const navigate = route.useNavigate()
  const request = get('/requests', filters)
  return (
    <Page title="Requests" request={request}>
      <FilterForm key={JSON.stringify(filters)} filters={FILTERS} current={filters} apply={search => void navigate({ search })} />
      <p className="hint">Kept in the memory of each node for its present run: the last 2,000 requests, and the last 2,000 that failed.</p>
      <ListTable
        what="requests"
        list={useList<LoggedRequest>(request)}
        columns={COLUMNS}
        idOf={logged => `${logged.node} ${logged.request_id}`}
        empty={
          <Empty>
            <p>No kept request matches. Older ones are in the service’s log.</p>
          </Empty>
        }
      />
    </Page>
  )
}
