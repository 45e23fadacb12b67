// The request log of the nodes: the last requests of the present run, and apart from these the last that failed.
import { getRouteApi, Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { get } from '../api.ts'
import { tookText } from '../format.ts'
import type { AnsweredRequest } from '../generated/admin.ts'
import { CopyText } from '../parts/copy.tsx'
import { FilterForm } from '../parts/filters.tsx'
import { Page } from '../parts/page.tsx'
import { Empty } from '../parts/states.tsx'
import { type Column, ListTable } from '../parts/table.tsx'
import { Time, Value } from '../parts/values.tsx'
import { PAGE_ROWS, useList } from '../reads.ts'

const route = getRouteApi('/requests')
const FILTERS = [
  { name: 'failed', label: 'Outcome', choices: [{ value: 'true', label: 'Failed' }] },
  { name: 'code', label: 'Code' },
  { name: 'request_id', label: 'Request id' },
  { name: 'platform', label: 'Platform (platform_id)' },
  { name: 'user', label: 'User (user_key)' }
] as const

const COLUMNS: readonly Column<AnsweredRequest>[] = [
  { name: 'Time', cell: request => <Time at={request.at} /> },
  { name: 'Status', isNumber: true, cell: ({ status }) => <span className={`status ${status >= 400 ? 'bad' : 'plain'}`}>{status}</span> },
  {
    name: 'Request',
    cell: request => (
      <code>
        {request.method} {request.route}
      </code>
    )
  },
  {
    name: 'Code',
    cell: ({ code }) =>
      code === null ? <Value value={null} nullMeans="none" /> : <a href={`/docs/errors/${encodeURIComponent(code)}`}>{code}</a>
  },
  { name: 'Took', isNumber: true, cell: request => tookText(request.took_ms) },
  { name: 'Platform', cell: request => <Value value={request.platform_id} nullMeans="none" /> },
  {
    name: 'User',
    cell: ({ user_key: user }) =>
      user === null ? (
        <Value value={null} nullMeans="none" />
      ) : (
        <Link to="/users/$userKey" params={{ userKey: user }}>
          <code>{user}</code>
        </Link>
      )
  },
  { name: 'Address', cell: request => request.address },
  { name: 'Node', cell: request => request.node },
  { name: 'Request id', cell: request => <CopyText text={request.request_id} what="request id" /> }
]

/** The list of kept requests. */
export function RequestsPage(): ReactNode {
  const filters = route.useSearch()
  const navigate = route.useNavigate()
  const request = get('/requests', {}, { ...filters, limit: String(PAGE_ROWS) })
  const list = useList(request)
  return (
    <Page title="Requests" request={request}>
      <FilterForm key={JSON.stringify(filters)} filters={FILTERS} current={filters} apply={search => void navigate({ search })} />
      <p className="hint">
        The newest of each node, in the memory of its present run: of the last 2,000, and apart from these of the last 2,000 that failed.
      </p>
      {list.unanswered.length > 0 && <p className="notice">Without {list.unanswered.join(', ')}: no answer within a second.</p>}
      <ListTable
        what="requests"
        list={list}
        columns={COLUMNS}
        hasOnePage
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
