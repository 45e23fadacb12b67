// Platforms: the applications that use the API.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { get } from '../api.ts'
import type { OperatorPlatform as Platform } from '../generated/admin.ts'
import { NeedsManage } from '../parts/action.tsx'
import { CopyText } from '../parts/copy.tsx'
import { PlatformSwitch } from '../parts/disabling.tsx'
import { Page } from '../parts/page.tsx'
import { Empty } from '../parts/states.tsx'
import { type Column, ListTable } from '../parts/table.tsx'
import { Time } from '../parts/values.tsx'
import { useList } from '../reads.ts'

const REQUEST = get('/platforms', {})

const COLUMNS: readonly Column<Platform>[] = [
  { name: 'Platform', cell: platform => <CopyText text={platform.platform_id} what="platform id" /> },
  { name: 'Name', cell: platform => platform.name },
  { name: 'client_id', cell: platform => <CopyText text={platform.client_id} what="client id" /> },
  { name: 'Claims', cell: platform => (platform.claims ? 'yes' : 'no') },
  { name: 'Created', cell: platform => <Time at={platform.created_at} /> },
  { name: 'Disabled', cell: platform => <Time at={platform.disabled_at} nullMeans="no" /> },
  {
    name: 'Show',
    cell: ({ platform_id: platform }) => (
      <span className="links">
        <Link to="/users" search={{ platform }}>
          Users
        </Link>{' '}
        <Link to="/connections" search={{ platform }}>
          Connections
        </Link>{' '}
        <Link to="/endpoints" search={{ platform }}>
          Endpoints
        </Link>
      </span>
    )
  },
  { name: 'Change', cell: platform => <PlatformSwitch platform={platform} /> }
]

/** The list of platforms. */
export function PlatformsPage(): ReactNode {
  return (
    <Page title="Platforms" request={REQUEST}>
      <NeedsManage />
      <ListTable
        what="platforms"
        list={useList(REQUEST)}
        columns={COLUMNS}
        idOf={platform => platform.platform_id}
        empty={
          <Empty>
            <p>No platforms yet.</p>
            <p>
              Create one on the machine of the service, with <code>npm run cli -- platform create</code>.
            </p>
          </Empty>
        }
      />
    </Page>
  )
}
