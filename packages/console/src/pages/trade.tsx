// Trading in the sandbox for one user: the chart, the ticket, and what the accounts have.
import { getRouteApi, Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { get } from '../api.ts'
import { Page } from '../parts/page.tsx'
import { NeedsScope, useMay } from '../parts/scopes.tsx'
import { Empty, Failure, Reading } from '../parts/states.tsx'
import { TradingParts } from '../parts/trading-parts.tsx'
import { useRecord } from '../reads.ts'

const route = getRouteApi('/trade')
const FIRST_SYMBOL = 'AAPL'

/** The page. Without a user or the scope it says what is needed, and asks for nothing. */
export function TradePage(): ReactNode {
  const { user } = route.useSearch()
  const mayTrade = useMay('sandbox')
  if (!mayTrade || user === undefined) return <Page title="Trade">{mayTrade ? <NoUser /> : <NoScope />}</Page>
  return <UserTrade key={user} user={user} />
}

function UserTrade({ user }: { readonly user: string }): ReactNode {
  const { symbol = FIRST_SYMBOL } = route.useSearch()
  const navigate = route.useNavigate()
  const request = get('/sandbox/users/{user_key}/accounts', { user_key: user })
  const record = useRecord(get('/users/{user_key}', { user_key: user }))
  const accounts = useRecord(request)
  return (
    <Page title={`Trade for ${record.data?.user_id ?? user}`} request={request}>
      {accounts.error !== null && (
        <Failure
          error={accounts.error}
          again={() => void accounts.refetch()}
          {...(accounts.data === undefined && {
            advice: 'Change what the message names, or choose another user. Nothing can be placed here.'
          })}
        />
      )}
      {accounts.data === undefined ? (
        accounts.error === null && <Reading what="the accounts" />
      ) : accounts.data.length === 0 ? (
        <Empty>
          <p>The user has no account in the sandbox: connect one in the portal, as the user does.</p>
        </Empty>
      ) : (
        <TradingParts
          userKey={user}
          accounts={accounts.data}
          symbol={symbol}
          choose={chosen => void navigate({ search: { user, symbol: chosen } })}
        />
      )}
    </Page>
  )
}

function NoUser(): ReactNode {
  return (
    <Empty>
      <p>
        Choose a <Link to="/users">user</Link>, and press <em>Trade in the sandbox</em> on the user’s page. All connections of the user must
        be to the sandbox.
      </p>
    </Empty>
  )
}

function NoScope(): ReactNode {
  return (
    <Empty>
      <NeedsScope scope="sandbox" />
    </Empty>
  )
}
