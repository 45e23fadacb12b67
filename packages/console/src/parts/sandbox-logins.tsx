// The practice users of the sandbox.
import type { ReactNode } from 'react'
import { change, get } from '../api.ts'
import type { SandboxAccountTicket, SandboxLogin } from '../generated/admin.ts'
import { namesOf } from '../names.ts'
import { Action, chosenIn, given, numberIn, SelectInput, TextInput } from './action.tsx'
import { CopyText } from './copy.tsx'
import { Facts } from './facts.tsx'
import { Incomplete, SandboxPart } from './sandbox-change.tsx'
import { type Column, ScrolledRows } from './table.tsx'
import { Value } from './values.tsx'

const REQUEST = get('/sandbox/logins', {})
const ACCOUNT_TYPES = namesOf<SandboxAccountTicket['kind']>({ margin: true, cash: true, crypto: true, futures: true })

/** The part of the page about practice users. */
export function Logins({ refreshMs }: { readonly refreshMs: number | undefined }): ReactNode {
  return (
    <SandboxPart
      id="logins"
      title="Practice users"
      what="the practice users"
      request={REQUEST}
      refreshMs={refreshMs}
      actions={
        <div className="buttons after-rows">
          <CreateLogin />
          <TokenLives />
        </div>
      }
    >
      {({ data, incomplete }) => (
        <>
          <Incomplete why={incomplete} />
          <ScrolledRows what="practice users" rows={data} columns={COLUMNS} idOf={({ username }) => username} />
        </>
      )}
    </SandboxPart>
  )
}

function CreateLogin(): ReactNode {
  return (
    <Action
      scope="sandbox"
      label="Create a practice user"
      title="Create a practice user"
      effect="What is left empty is chosen by the sandbox. A reset of the sandbox ends the user."
      fields={
        <>
          <TextInput name="username" label="Username" hint="1 to 64 printable ASCII characters" max={64} />
          <TextInput name="password" label="Password" max={128} />
          <TextInput name="person" label="Name of the person" max={64} />
          <AccountFields none="margin, cash and crypto" />
        </>
      }
      request={form => {
        const person = { username: given(form, 'username'), password: given(form, 'password'), name: given(form, 'person') }
        const kind = chosenIn(form, 'kind', ACCOUNT_TYPES)
        return change('POST /sandbox/logins', {}, { ...person, accounts: kind === undefined ? undefined : [accountIn(form, kind)] })
      }}
      done={login => <Credentials login={login} />}
    />
  )
}

function AccountFields({ none }: { readonly none?: string }): ReactNode {
  return (
    <>
      <SelectInput name="kind" label="Account" values={ACCOUNT_TYPES} {...(none !== undefined && { none })} />
      <TextInput name="cash" label="Cash, in US dollars" hint="100000 if it is empty" />
      <TextInput name="account" label="Name of the account" max={64} />
    </>
  )
}

function accountIn(form: FormData, kind: SandboxAccountTicket['kind']): SandboxAccountTicket {
  return { kind, cash: given(form, 'cash'), name: given(form, 'account') }
}

function Credentials({ login: { username, password, accounts } }: { readonly login: SandboxLogin }): ReactNode {
  return (
    <Facts
      facts={[
        ['Username', <CopyText key="username" text={username} what="username" />],
        ['Password', <CopyText key="password" text={password} what="password" />],
        ['Accounts', accounts.map(({ number, kind }) => `${number} ${kind}`).join(', ')]
      ]}
    />
  )
}

function TokenLives(): ReactNode {
  return (
    <Action
      scope="sandbox"
      label="Set how long tokens live"
      title="Set how long tokens live"
      effect="Access tokens that are issued from now on live this long, at every broker of the sandbox. What is left empty stays."
      fields={
        <>
          <TextInput name="access" label="Access tokens, in seconds" type="number" min={1} max={86_400} />
          <TextInput name="grace" label="A used refresh token still works for, in milliseconds" type="number" min={0} max={3_600_000} />
        </>
      }
      request={form =>
        change('POST /sandbox/tokens', {}, { access_seconds: numberIn(form, 'access'), refresh_grace_ms: numberIn(form, 'grace') })
      }
      done={({ access_seconds: access, refresh_grace_ms: grace }) => (
        <Facts
          facts={[
            ['Access tokens', <Value key="access" value={access === null ? null : `${access} s`} nullMeans="as before" />],
            ['Used refresh tokens', <Value key="grace" value={grace === null ? null : `${grace} ms`} nullMeans="as before" />]
          ]}
        />
      )}
    />
  )
}

function AddAccount({ username }: { readonly username: string }): ReactNode {
  return (
    <Action
      scope="sandbox"
      label="Add an account"
      name={`Add an account to ${username}`}
      title={`Add an account to ${username}`}
      effect="A connection that exists gets it when its accounts are read again. 20 accounts at most."
      fields={<AccountFields />}
      request={form =>
        change('POST /sandbox/logins/{username}/accounts', { username }, accountIn(form, chosenIn(form, 'kind', ACCOUNT_TYPES) ?? 'margin'))
      }
      done={login => <Credentials login={login} />}
    />
  )
}

function EndGrants({ username }: { readonly username: string }): ReactNode {
  return (
    <Action
      scope="sandbox"
      label="End grants"
      name={`End grants of ${username}`}
      title={`End the grants of ${username}`}
      effect="As if the user had withdrawn them at the broker: connections are BROKEN when they are next used."
      fields={
        <label>
          <input type="checkbox" name="refresh" value="yes" /> Only refresh tokens: access tokens live on, and the next refresh fails
        </label>
      }
      request={form => change('POST /sandbox/logins/{username}/end-grants', { username }, { refresh_only: form.get('refresh') === 'yes' })}
      done={({ grants }) => <p>{grants === 1 ? '1 grant has ended.' : `${grants} grants have ended.`}</p>}
    />
  )
}

const COLUMNS: readonly Column<SandboxLogin>[] = [
  { name: 'Username', cell: ({ username }) => <CopyText text={username} what="username" /> },
  { name: 'Password', cell: ({ password }) => <CopyText text={password} what="password" /> },
  { name: 'Name', cell: ({ name }) => name },
  { name: 'Accounts', cell: ({ accounts }) => accounts.map(({ number, kind }) => <div key={number}>{`${number} ${kind}`}</div>) },
  {
    name: 'Change',
    cell: ({ username }) => (
      <div className="buttons">
        <AddAccount username={username} />
        <EndGrants username={username} />
      </div>
    )
  }
]
