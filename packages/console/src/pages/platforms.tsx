// Platforms: the applications that use the API.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { get, type Platform } from '../api.ts'
import { CopyText } from '../parts/copy.tsx'
import { Page } from '../parts/page.tsx'
import { Empty } from '../parts/states.tsx'
import { type Column, ListTable } from '../parts/table.tsx'
import { Time, Value } from '../parts/values.tsx'
import { useList } from '../reads.ts'

const REQUEST = get('/platforms')

const COLUMNS: readonly Column<Platform>[] = [
  { name: 'Platform', cell: platform => <CopyText text={platform.platform_id} what="platform id" /> },
  { name: 'Name', cell: platform => <Value value={platform.name} nullMeans="none" /> },
  { name: 'Created', cell: platform => <Time at={platform.created_at} /> },
  {
    name: 'Show',
    cell: ({ platform_id: platform }) => (
      <span className="links">
        <Link to="/users" search={{ platform }}>
          Users
        </Link>{' '}
        <Link to="/connections" search={{ platform }}>
          Connections
        </Link>
      </span>
    )
  }
]

/** The list of platforms. */
export function PlatformsPage(): ReactNode {
  return (
    <Page title="Platforms" request={REQUEST}>
      <ListTable
        what="platforms"
        list={useList<Platform>(REQUEST)}
        columns={COLUMNS}
        idOf={platform => platform.platform_id}
        empty={
          <Empty>
            <p>No platforms yet.</p>
            <p>
              Create one on the machine of the service: <code>npm run cli -- platform create --name …</code>
            </p>
          </Empty>
        }
      />
    </Page>
  )
}
