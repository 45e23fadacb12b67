// The request log of the nodes: the last requests of the present run, and apart from these the last that failed.
import { getRouteApi, Link } from '@tanstack/react-router'
import { Fragment, type ReactNode } from 'react'
import { get } from '../api.ts'
import { tookText } from '../format.ts'
import type { AnsweredRequest } from '../generated/admin.ts'
import { CopyText } from '../parts/copy.tsx'
import { FilterForm } from '../parts/filters.tsx'
import { Page } from '../parts/page.tsx'
import { requestColumn } from '../parts/request-column.tsx'
import { Empty } from '../parts/states.tsx'
import { type Column, ListTable } from '../parts/table.tsx'
import { Id, Missing, Name, Time } from '../parts/values.tsx'
import { PAGE_ROWS, useList } from '../reads.ts'
import { distinctIds } from '../row-ids.ts'

const route = getRouteApi('/requests')
const FILTERS = [
  { name: 'failed', label: 'Outcome', choices: [{ value: 'true', label: 'Failed' }] },
  { name: 'code', label: 'Code' },
  { name: 'request_id', label: 'Request id' },
  { name: 'platform', label: 'Platform (platform_id)' },
  { name: 'user', label: 'User (user_key)' }
] as const

const COLUMNS: readonly Column<AnsweredRequest>[] = [
  {
    name: 'Time',
    cell: request => (
      <>
        <Time at={request.at} />
        <div className="hint">took {tookText(request.took_ms)}</div>
      </>
    )
  },
  {
    name: 'Status',
    cell: ({ status, code }) => (
      <>
        <span className={`status ${status >= 400 ? 'bad' : 'plain'}`}>{status}</span>
        {code !== null && (
          <div>
            <a href={`/docs/errors/${encodeURIComponent(code)}`}>{code}</a>
          </div>
        )}
      </>
    )
  },
  {
    name: 'Request',
    cell: request => (
      <code>
        {request.method} <Route path={request.route} />
      </code>
    )
  },
  {
    name: 'Platform, user',
    cell: ({ platform_id: platform, user_key: user }) => (
      <>
        {platform === null ? <Missing means="no platform" /> : <Id text={platform} />}
        <div>
          {user === null ? (
            <Missing means="no user" />
          ) : (
            <Link to="/users/$userKey" params={{ userKey: user }}>
              <Id text={user} />
            </Link>
          )}
        </div>
      </>
    )
  },
  {
    name: 'Address, node',
    cell: request => (
      <>
        <Name text={request.address} />
        <div className="hint">
          <Name text={request.node} />
        </div>
      </>
    )
  },
  { name: 'Request id', cell: request => <CopyText text={request.request_id} what="request id" /> },
  requestColumn(
    request => `request ${request.request_id}`,
    request => get('/requests', {}, { request_id: request.request_id })
  )
]

/** Its lines may end after a slash. */
function Route({ path }: { readonly path: string }): ReactNode {
  const parts = path.split(/(?<=\/)(?=.)/)
  const keys = distinctIds(parts)
  return parts.map((part, at) => (
    <Fragment key={keys[at]}>
      {part}
      <wbr />
    </Fragment>
  ))
}

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
