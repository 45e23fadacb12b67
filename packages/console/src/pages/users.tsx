// The users of a platform.
import { getRouteApi, Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { get } from '../api.ts'
import type { OperatorUser } from '../generated/admin.ts'
import { NeedsManage } from '../parts/action.tsx'
import { CopyText } from '../parts/copy.tsx'
import { UserSwitch } from '../parts/disabling.tsx'
import { FilterForm } from '../parts/filters.tsx'
import { Page } from '../parts/page.tsx'
import { usePlatform } from '../parts/platform.ts'
import { requestColumn } from '../parts/request-column.tsx'
import { Empty } from '../parts/states.tsx'
import { type Column, ListTable } from '../parts/table.tsx'
import { Name, Time } from '../parts/values.tsx'
import { useList } from '../reads.ts'

const route = getRouteApi('/users')

const COLUMNS: readonly Column<OperatorUser>[] = [
  {
    name: 'User',
    cell: user => (
      <CopyText text={user.user_id} what="user id">
        <Link to="/users/$userKey" params={{ userKey: user.user_key }}>
          <Name text={user.user_id} />
        </Link>
      </CopyText>
    )
  },
  { name: 'Key', cell: user => <CopyText text={user.user_key} what="user key" /> },
  { name: 'Created', cell: user => <Time at={user.created_at} /> },
  { name: 'Disabled', cell: user => (user.is_disabled ? 'yes' : 'no') },
  {
    name: 'Show',
    cell: ({ user_key: user }) => (
      <>
        <Link to="/orders" search={{ user }}>
          Orders
        </Link>{' '}
        <Link to="/events" search={{ user }}>
          Events
        </Link>
      </>
    )
  },
  { name: 'Change', cell: user => <UserSwitch user={user} /> },
  requestColumn(
    user => `user ${user.user_id}`,
    user => get('/users/{user_key}', { user_key: user.user_key })
  )
]

/** The list of users. */
export function UsersPage(): ReactNode {
  const filters = route.useSearch()
  const navigate = route.useNavigate()
  const { choices, chosen: platform } = usePlatform(filters.platform)
  const request = platform === undefined ? undefined : get('/users', {}, { platform, user_id: filters.user_id })
  const shownFilters = platform === undefined ? filters : { ...filters, platform }
  const fields = [
    { name: 'platform', label: 'Platform', choices, none: 'Choose' },
    { name: 'user_id', label: 'User id' }
  ] as const
  return (
    <Page title="Users" request={request}>
      <NeedsManage />
      <FilterForm key={JSON.stringify(shownFilters)} filters={fields} current={shownFilters} apply={search => void navigate({ search })} />
      {request === undefined ? (
        <Empty>
          <p>Choose a platform: users are listed by platform.</p>
        </Empty>
      ) : (
        <UserList request={request} />
      )}
    </Page>
  )
}

function UserList({ request }: { readonly request: Parameters<typeof useList<OperatorUser>>[0] }): ReactNode {
  return (
    <ListTable
      what="users"
      list={useList(request)}
      columns={COLUMNS}
      idOf={user => user.user_key}
      empty={
        <Empty>
          <p>No users match.</p>
          <p>
            A platform creates them with <code>POST /users</code>: <a href="/docs">Reference</a>.
          </p>
        </Empty>
      }
    />
  )
}
