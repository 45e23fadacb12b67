// Connections by platform, user, status and broker, with the health that each owner reports.
import { getRouteApi, Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type Connection, get } from '../api.ts'
import { CopyText } from '../parts/copy.tsx'
import { FilterForm } from '../parts/filters.tsx'
import { Page } from '../parts/page.tsx'
import { Empty } from '../parts/states.tsx'
import { type Column, ListTable } from '../parts/table.tsx'
import { Status, Time, Value } from '../parts/values.tsx'
import { useList } from '../reads.ts'

const route = getRouteApi('/connections')
const FILTERS = [
  { name: 'platform', label: 'Platform' },
  { name: 'user', label: 'User' },
  { name: 'status', label: 'Status', values: ['ACTIVE', 'BROKEN'] },
  { name: 'broker', label: 'Broker' }
] as const

const COLUMNS: readonly Column<Connection>[] = [
  { name: 'Connection', cell: connection => <CopyText text={connection.connection_id} what="connection id" /> },
  { name: 'Broker', cell: connection => connection.broker },
  {
    name: 'User',
    cell: connection => (
      <Link to="/connections" search={{ user: connection.user_key }}>
        {connection.user_id}
      </Link>
    )
  },
  { name: 'Status', cell: connection => <StatusAndReason status={connection.status} reason={connection.broken_reason} /> },
  { name: 'Health', cell: connection => <StatusAndReason status={connection.health} reason={connection.health_reason} /> },
  { name: 'Since', cell: connection => <Time at={connection.health_since} /> },
  { name: 'Use', cell: connection => connection.connection_type },
  { name: 'Environment', cell: connection => <Value value={connection.environment} /> },
  { name: 'Created', cell: connection => <Time at={connection.created_at} /> },
  {
    name: 'Show',
    cell: connection => (
      <Link to="/orders" search={{ connection: connection.connection_id }}>
        Orders
      </Link>
    )
  }
]

function StatusAndReason({ status, reason }: { readonly status: string | null; readonly reason: string | null }): ReactNode {
  return (
    <>
      <Status status={status} />
      {reason !== null && <div className="hint">{reason}</div>}
    </>
  )
}

/** The list of connections. */
export function ConnectionsPage(): ReactNode {
  const filters = route.useSearch()
  const navigate = route.useNavigate()
  const request = get('/connections', filters)
  return (
    <Page title="Connections" request={request}>
      <FilterForm key={JSON.stringify(filters)} filters={FILTERS} current={filters} apply={search => void navigate({ search })} />
      <ListTable
        what="connections"
        list={useList<Connection>(request)}
        columns={COLUMNS}
        idOf={connection => connection.connection_id}
        empty={
          <Empty>
            <p>No connections with these filters.</p>
            <p>
              A user connects an account in the portal, by the address of <code>POST /connections</code>: <a href="/docs">Reference</a>.
            </p>
          </Empty>
        }
      />
    </Page>
  )
}
