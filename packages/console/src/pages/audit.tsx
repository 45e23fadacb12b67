// The audit log: who changed what.
import type { ReactNode } from 'react'
import { get } from '../api.ts'
import type { AuditEntry } from '../generated/admin.ts'
import { CopyText } from '../parts/copy.tsx'
import { Facts } from '../parts/facts.tsx'
import { Page } from '../parts/page.tsx'
import { Empty } from '../parts/states.tsx'
import { type Column, ListTable } from '../parts/table.tsx'
import { Name, Status, Time, Value } from '../parts/values.tsx'
import { useList } from '../reads.ts'

const REQUEST = get('/audit', {})

const COLUMNS: readonly Column<AuditEntry>[] = [
  { name: 'Place', isNumber: true, cell: entry => entry.position },
  { name: 'Time', cell: entry => <Time at={entry.at} /> },
  {
    name: 'Action, result',
    cell: entry => (
      <>
        <code>{entry.action}</code>
        <div>
          <Status status={entry.result} />
        </div>
      </>
    )
  },
  { name: 'By', cell: ({ actor, detail: { by } }) => <Name text={typeof by === 'string' ? `${actor} ${by}` : actor} /> },
  { name: 'Of', cell: entry => <CopyText text={entry.target} what="target" /> },
  { name: 'Address', cell: entry => <Value value={entry.address} nullMeans="none" /> },
  {
    name: 'Request id',
    cell: ({ request_id: id }) => (id === null ? <Value value={null} nullMeans="none" /> : <CopyText text={id} what="request id" />)
  },
  { name: 'Facts', cell: entry => <Details detail={entry.detail} /> }
]

function Details({ detail }: { readonly detail: AuditEntry['detail'] }): ReactNode {
  const facts = Object.entries(detail)
  if (facts.length === 0) return <Value value={null} nullMeans="none" />
  return (
    <details>
      <summary>{facts.length}</summary>
      <Facts facts={facts.map(([name, value]) => [name, <Value key={name} value={value} />])} />
    </details>
  )
}

/** The list of audit entries, newest first. */
export function AuditPage(): ReactNode {
  return (
    <Page title="Audit" request={REQUEST}>
      <p className="hint">
        An entry is listed within a second or so, once it is chained. The chain is verified on the machine of the service:{' '}
        <code>npm run cli -- audit verify</code>.
      </p>
      <ListTable
        what="entries"
        list={useList(REQUEST)}
        columns={COLUMNS}
        idOf={entry => String(entry.position)}
        empty={
          <Empty>
            <p>No entries yet. Logins, orders, credentials and operators’ changes appear here.</p>
          </Empty>
        }
      />
    </Page>
  )
}
