// One user: the record, the connections, the newest orders.
import { getRouteApi, Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { get } from '../api.ts'
import type { OperatorUser } from '../generated/admin.ts'
import { NeedsManage } from '../parts/action.tsx'
import { CopyRequest, CopyText } from '../parts/copy.tsx'
import { UserSwitch } from '../parts/disabling.tsx'
import { Facts } from '../parts/facts.tsx'
import { Page } from '../parts/page.tsx'
import { Empty, Failure, Reading } from '../parts/states.tsx'
import { ListTable } from '../parts/table.tsx'
import { Time } from '../parts/values.tsx'
import { useList, useRecord } from '../reads.ts'
import { CONNECTION_COLUMNS } from './connections.tsx'
import { ORDER_COLUMNS } from './orders.tsx'

const route = getRouteApi('/users/$userKey')
// The user is that of the page.
const CONNECTIONS = CONNECTION_COLUMNS.filter(({ name }) => name !== 'User')
const ORDERS = ORDER_COLUMNS.filter(({ name }) => name !== 'User')

/** The page of a user. */
export function UserPage(): ReactNode {
  const { userKey: user } = route.useParams()
  const request = get('/users/{user_key}', { user_key: user })
  const [connections, orders] = [get('/connections', {}, { user }), get('/orders', {}, { user })]
  const record = useRecord(request)
  return (
    <Page title={`User ${record.data?.user_id ?? user}`} request={request}>
      <NeedsManage />
      {record.error !== null && <Failure error={record.error} again={() => void record.refetch()} />}
      {record.data === undefined ? record.error === null && <Reading what="the user" /> : <Record user={record.data} />}
      <section aria-labelledby="connections">
        <div className="head">
          <h2 id="connections">Connections</h2>
          <CopyRequest request={connections} what="the connections" />
        </div>
        <ListTable
          what="connections"
          list={useList(connections)}
          columns={CONNECTIONS}
          idOf={connection => connection.connection_id}
          empty={<Nothing>The user has no connection: one is made in the portal.</Nothing>}
        />
      </section>
      <section aria-labelledby="orders">
        <div className="head">
          <h2 id="orders">Orders</h2>
          <CopyRequest request={orders} what="the orders" />
        </div>
        <ListTable
          what="orders"
          list={useList(orders)}
          columns={ORDERS}
          idOf={order => order.order_id}
          empty={<Nothing>The user has no orders.</Nothing>}
        />
      </section>
    </Page>
  )
}

function Nothing({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <Empty>
      <p>{children}</p>
    </Empty>
  )
}

function Record({ user }: { readonly user: OperatorUser }): ReactNode {
  const { user_key: key, user_id: id, platform_id: platform } = user
  return (
    <Facts
      facts={[
        ['User', <CopyText key="id" text={id} what="user id" />],
        ['Key', <CopyText key="key" text={key} what="user key" />],
        [
          'Platform',
          <CopyText key="platform" text={platform} what="platform id">
            <Link to="/users" search={{ platform }}>
              <code>{platform}</code>
            </Link>
          </CopyText>
        ],
        ['Created', <Time key="created" at={user.created_at} />],
        ['Disabled', user.is_disabled ? 'yes' : 'no'],
        ['Change', <UserSwitch key="change" user={user} />],
        [
          'Follow',
          <Link key="follow" to="/events" search={{ user: key }}>
            Events
          </Link>
        ],
        [
          'Sandbox',
          <Link key="trade" to="/trade" search={{ user: key }}>
            Trade in the sandbox
          </Link>
        ]
      ]}
    />
  )
}
