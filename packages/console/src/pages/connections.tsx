// Connections by platform, user, status and broker, with the health that each owner reports.
import { getRouteApi, Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { get } from '../api.ts'
import { counted } from '../format.ts'
import type { OperatorConnection as Connection } from '../generated/admin.ts'
import { NeedsManage } from '../parts/action.tsx'
import { CopyText } from '../parts/copy.tsx'
import { choicesOf, FilterForm } from '../parts/filters.tsx'
import { Page } from '../parts/page.tsx'
import { usePlatform } from '../parts/platform.ts'
import { ReadAgain } from '../parts/read-again.tsx'
import { Empty } from '../parts/states.tsx'
import { type Column, ListTable } from '../parts/table.tsx'
import { Name, Status, Time } from '../parts/values.tsx'
import { useList } from '../reads.ts'

const route = getRouteApi('/connections')
/** Of every list of connections: few enough to be seen side by side, so what belongs together shares a column. */
export const CONNECTION_COLUMNS: readonly Column<Connection>[] = [
  {
    name: 'Connection',
    cell: connection => (
      <>
        <CopyText text={connection.connection_id} what="connection id" />
        <div className="hint">
          {connection.connection_type}, created <Time at={connection.created_at} />
        </div>
      </>
    )
  },
  {
    name: 'Broker',
    cell: connection => (
      <>
        {connection.broker}
        <div className="hint">{connection.environment ?? 'environment unknown'}</div>
      </>
    )
  },
  {
    name: 'User',
    cell: connection => (
      <Link to="/users/$userKey" params={{ userKey: connection.user_key }}>
        <Name text={connection.user_id} />
      </Link>
    )
  },
  { name: 'Status, health', cell: connection => <StatusAndHealth connection={connection} /> },
  {
    name: 'Accounts',
    cell: ({ accounts }) =>
      accounts.map(({ account_id: id, account_number: number }) => (
        <div key={id}>
          <CopyText text={id} what="account id">
            {number}
          </CopyText>
        </div>
      ))
  },
  { name: 'Last confirmed', cell: ({ confirmed_at: at }) => <Confirmed at={at} /> },
  {
    name: 'Show, change',
    cell: connection => (
      <div className="stacked">
        <Link to="/orders" search={{ connection: connection.connection_id }}>
          Orders
        </Link>
        <ReadAgain connection={connection} />
      </div>
    )
  }
]

/** Of each kind of records, all accounts together. */
function Confirmed({ at }: { readonly at: Connection['confirmed_at'] }): ReactNode {
  return (['balances', 'positions', 'orders'] as const).map(kind => (
    <div key={kind} className="confirmed">
      <span className="hint">{kind}</span> <Time at={at[kind]} nullMeans="never" />
    </div>
  ))
}

function StatusAndHealth({ connection }: { readonly connection: Connection }): ReactNode {
  const { status, broken_reason: why, health, health_reason: reason, health_since: since, records_left_out: leftOut } = connection
  return (
    <>
      <Status status={status} />, <Status status={health} nullMeans="health unknown" isWarning={connection.health_is_intended === false} />
      {since !== null && (
        <div className="hint">
          since <Time at={since} />
        </div>
      )}
      {why !== null && <div className="hint reason">{why}</div>}
      {/* Of a broken connection both say the same. */}
      {reason !== null && reason !== why && <div className="hint reason">{reason}</div>}
      {health === null && <div className="hint reason">Its node did not answer.</div>}
      {leftOut !== null && leftOut > 0 && <div className="hint reason">Records left out: {counted(leftOut)}.</div>}
    </>
  )
}

/** The list of connections. */
export function ConnectionsPage(): ReactNode {
  const filters = route.useSearch()
  const navigate = route.useNavigate()
  const { choices, chosen } = usePlatform(filters.platform)
  const { user, status } = filters
  // A user belongs to one platform, so the only platform is no filter of its own.
  const platform = user === undefined ? chosen : filters.platform
  const request = user === undefined && platform === undefined ? undefined : get('/connections', {}, { platform, user, status })
  const shownFilters = platform === undefined ? filters : { ...filters, platform }
  const fields = [
    { name: 'platform', label: 'Platform', choices, none: 'Choose' },
    { name: 'user', label: 'User (user_key)' },
    { name: 'status', label: 'Status', choices: choicesOf(['ACTIVE', 'BROKEN']) }
  ] as const
  return (
    <Page title="Connections" request={request}>
      <NeedsManage />
      <FilterForm key={JSON.stringify(shownFilters)} filters={fields} current={shownFilters} apply={search => void navigate({ search })} />
      {request === undefined ? (
        <Empty>
          <p>Choose a platform or give a user: connections are listed by one of the two.</p>
        </Empty>
      ) : (
        <ConnectionList request={request} />
      )}
    </Page>
  )
}

function ConnectionList({ request }: { readonly request: Parameters<typeof useList<Connection>>[0] }): ReactNode {
  return (
    <ListTable
      what="connections"
      list={useList(request)}
      columns={CONNECTION_COLUMNS}
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
  )
}
