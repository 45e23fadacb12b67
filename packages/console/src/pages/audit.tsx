// The audit log: who changed what.
import type { ReactNode } from 'react'
import { type AuditEntry, get } from '../api.ts'
import { CopyText } from '../parts/copy.tsx'
import { Page } from '../parts/page.tsx'
import { Empty } from '../parts/states.tsx'
import { type Column, ListTable } from '../parts/table.tsx'
import { Time, Value } from '../parts/values.tsx'
import { useList } from '../reads.ts'

const REQUEST = get('/audit')

const COLUMNS: readonly Column<AuditEntry>[] = [
  { name: 'Place', isNumber: true, cell: entry => entry.sequence },
  { name: 'Time', cell: entry => <Time at={entry.at} /> },
  { name: 'Action', cell: entry => <code>{entry.action}</code> },
  { name: 'By', cell: entry => <Value value={entry.actor} /> },
  { name: 'Of', cell: entry => <Value value={entry.target} nullMeans="none" /> },
  {
    name: 'Request id',

    cell: ({ request_id: id }) => (id === null ? <Value value={null} nullMeans="none" /> : <CopyText text={id} what="request id" />)
  }
]

/** The list of audit entries, newest first. */
export function AuditPage(): ReactNode {
  return (
    <Page title="Audit" request={REQUEST}>
      <p className="hint">
        The chain is verified on the machine of the service: <code>npm run cli -- audit verify</code>.
      </p>
      <ListTable
        what="entries"
        list={useList<AuditEntry>(REQUEST)}
        columns={COLUMNS}
        idOf={entry => entry.sequence}
        empty={
          <Empty>
            <p>No entries yet. Logins, orders, credentials and operators’ changes appear here.</p>
          </Empty>
        }
      />
    </Page>
  )
}
