// The practice users of the sandbox.
import type { ReactNode } from 'react'
import { get } from '../api.ts'
import type { SandboxLogin } from '../generated/admin.ts'
import { useRecord } from '../reads.ts'
import { CopyText } from './copy.tsx'
import { ChangeButton, Changed, ChangeForm, type Changing, given, NativeChoice, NativeField, useSandboxChange } from './sandbox-change.tsx'
import { Failure, Reading } from './states.tsx'
import { type Column, Rows } from './table.tsx'

const REQUEST = get('/sandbox/logins', {})
const ACCOUNT_TYPES = ['margin', 'cash', 'crypto', 'futures'] as const

/** The part of the page about practice users. */
export function Logins({ refreshMs }: { readonly refreshMs: number | undefined }): ReactNode {
  const logins = useRecord(REQUEST, refreshMs)
  const changing = useSandboxChange()
  return (
    <section aria-labelledby="logins">
      <h2 id="logins">Practice users</h2>
      {logins.error !== null && <Failure error={logins.error} again={() => void logins.refetch()} />}
      {logins.data === undefined && logins.error === null && <Reading what="the practice users" />}
      {logins.data?.incomplete != null && <p className="notice">{logins.data.incomplete}</p>}
      {logins.data !== undefined && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls sideways must be reachable by keyboard
        <section className="scroll" tabIndex={0} aria-label="Table of practice users">
          <Rows rows={logins.data.data} columns={columnsOf(changing)} idOf={({ username }) => username} />
        </section>
      )}
      <ChangeForm
        changing={changing}
        action="Create the practice user"
        changeOf={form => {
          const account = { kind: given(form, 'kind'), cash: given(form, 'cash') }
          const body = { username: given(form, 'username'), accounts: [account] }
          return { method: 'POST', path: '/sandbox/logins', body, report: 'The practice user is there.' }
        }}
      >
        <NativeField name="username" label="Username" isRequired />
        <NativeChoice name="kind" label="Account" values={ACCOUNT_TYPES} />
        <NativeField name="cash" label="Cash (US dollars)" value="100000" />
      </ChangeForm>
      <Changed changing={changing} />
    </section>
  )
}

function columnsOf(changing: Changing): readonly Column<SandboxLogin>[] {
  return [
    { name: 'Username', cell: ({ username }) => <CopyText text={username} what="username" /> },
    { name: 'Password', cell: ({ password }) => <CopyText text={password} what="password" /> },
    { name: 'Name', cell: ({ name }) => name },
    { name: 'Accounts', cell: ({ accounts }) => accounts.map(({ number, kind }) => <div key={number}>{`${number} ${kind}`}</div>) },
    {
      name: 'Grants',
      cell: ({ username }) => (
        <ChangeButton
          changing={changing}
          change={{
            ...{ method: 'POST', path: `/sandbox/logins/${encodeURIComponent(username)}/end-grants`, body: {} },
            report: `The grants of ${username} have ended: its connections break when they are next used.`
          }}
          label={`End the grants of ${username}`}
        >
          End
        </ChangeButton>
      )
    }
  ]
}
