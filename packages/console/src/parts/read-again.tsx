// Asking a connection's broker again, now.
import type { ReactNode } from 'react'
import { change } from '../api.ts'
import type { ConnectionReadAgain, OperatorConnection } from '../generated/admin.ts'
import { Action } from './action.tsx'
import { type Column, Rows } from './table.tsx'
import { Status, Time, Value } from './values.tsx'

type Row = ConnectionReadAgain['data'][number]

const COLUMNS: readonly Column<Row>[] = [
  { name: 'Account', cell: row => <code>{row.account_id}</code> },
  { name: 'Records', cell: row => row.records },
  { name: 'State', cell: row => <Status status={row.state} /> },
  { name: 'Confirmed', cell: row => <Time at={row.confirmed_at} nullMeans="never" /> },
  { name: 'Why', cell: row => <Value value={row.reason} nullMeans="none" /> }
]

/** Reads balances, positions and orders at the broker, and shows how current they are then. */
export function ReadAgain({ connection }: { readonly connection: OperatorConnection }): ReactNode {
  const { connection_id, broker, user_id: user } = connection
  return (
    <Action
      label="Read again"
      title={`Read ${broker} of ${user} again`}
      effect="The broker is asked now for balances, positions and orders of all accounts of this connection."
      request={() => change('POST /connections/{connection_id}/read-again', { connection_id }, undefined)}
      done={({ data }) =>
        data.length === 0 ? (
          <p>The connection has no accounts.</p>
        ) : (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls sideways must be reachable by keyboard
          <section className="scroll" tabIndex={0} aria-label="Records that were read">
            <Rows rows={data} columns={COLUMNS} idOf={row => `${row.account_id} ${row.records}`} />
          </section>
        )
      }
    />
  )
}
