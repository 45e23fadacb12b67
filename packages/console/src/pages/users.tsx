// Users of all platforms, or of one.
import { getRouteApi, Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { get, type User } from '../api.ts'
import { CopyText } from '../parts/copy.tsx'
import { FilterForm } from '../parts/filters.tsx'
import { Page } from '../parts/page.tsx'
import { Empty } from '../parts/states.tsx'
import { type Column, ListTable } from '../parts/table.tsx'
import { Time } from '../parts/values.tsx'
import { useList } from '../reads.ts'

const route = getRouteApi('/users')
const FILTERS = [{ name: 'platform', label: 'Platform' }] as const

const COLUMNS: readonly Column<User>[] = [
  { name: 'User', cell: user => <CopyText text={user.user_id} what="user id" /> },
  { name: 'Key', cell: user => <CopyText text={user.user_key} what="user key" /> },
  {
    name: 'Platform',
    cell: user => (
      <Link to="/users" search={{ platform: user.platform_id }}>
        {user.platform_id}
      </Link>
    )
  },
  { name: 'Created', cell: user => <Time at={user.created_at} /> },
  { name: 'Disabled', cell: user => <Time at={user.disabled_at} nullMeans="no" /> },
  {
    name: 'Show',
    cell: ({ user_key: user }) => (
      <span className="links">
        <Link to="/connections" search={{ user }}>
          Connections
        </Link>{' '}
        <Link to="/orders" search={{ user }}>
          Orders
        </Link>{' '}
        <Link to="/events" search={{ user }}>
          Events
        </Link>
      </span>
    )
  }
]

/** The list of users. */
export function UsersPage(): ReactNode {
  const filters = route.useSearch()
  const navigate = route.useNavigate()
  const request = get('/users', filters)
  return (
    <Page title="Users" request={request}>
      <FilterForm key={JSON.stringify(filters)} filters={FILTERS} current={filters} apply={search => void navigate({ search })} />
      <ListTable
        what="users"
        list={useList<User>(request)}
        columns={COLUMNS}
        idOf={user => user.user_key}
        empty={
          <Empty>
            <p>{filters.platform === undefined ? 'No users yet.' : 'This platform has no users, or there is no such platform.'}</p>
            <p>
              A platform creates one with <code>POST /users</code>: <a href="/docs">Reference</a>.
            </p>
          </Empty>
        }
      />
    </Page>
  )
}
