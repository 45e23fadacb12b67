// The sandbox that the service started: all that the API for operators has of it.
import type { ReactNode } from 'react'
import { change, get } from '../api.ts'
import { Action } from '../parts/action.tsx'
import { Facts } from '../parts/facts.tsx'
import { Page } from '../parts/page.tsx'
import { Faults } from '../parts/sandbox-faults.tsx'
import { Logins } from '../parts/sandbox-logins.tsx'
import { Clock, Prices } from '../parts/sandbox-market.tsx'
import { Counters, SandboxOrders } from '../parts/sandbox-orders.tsx'
import { Streams } from '../parts/sandbox-streams.tsx'
import { NeedsScope, useMay } from '../parts/scopes.tsx'
import { Empty, Failure, Reading } from '../parts/states.tsx'
import { useRecord } from '../reads.ts'
import { useIsUsed } from '../use-of-page.ts'

const REQUEST = get('/sandbox', {})
const REFRESH_MS = 5_000

/** The page of the sandbox. Without the scope it names what is needed, and asks for nothing. */
export function SandboxPage(): ReactNode {
  const mayControl = useMay('sandbox')
  return (
    <Page title="Sandbox" request={mayControl ? REQUEST : undefined}>
      {mayControl ? (
        <Controls />
      ) : (
        <Empty>
          <NeedsScope scope="sandbox" />
        </Empty>
      )}
    </Page>
  )
}

function Controls(): ReactNode {
  const refreshMs = useIsUsed() ? REFRESH_MS : undefined
  const state = useRecord(REQUEST, refreshMs)
  if (state.data === undefined) {
    return state.error === null ? <Reading what="the sandbox" /> : <Failure error={state.error} again={() => void state.refetch()} />
  }
  const { url, brokers, clock } = state.data
  return (
    <>
      {state.error !== null && <Failure error={state.error} again={() => void state.refetch()} />}
      <p>Everybody who practises here meets what is set here. Each change is in the audit log.</p>
      <Facts
        facts={[
          ['Brokers', brokers.join(', ')],
          ['Address', <code key="url">{url}</code>]
        ]}
      />
      <Faults refreshMs={refreshMs} />
      <Clock clock={clock} />
      <Prices refreshMs={refreshMs} />
      <SandboxOrders refreshMs={refreshMs} />
      <Streams refreshMs={refreshMs} />
      <Logins refreshMs={refreshMs} />
      <Counters refreshMs={refreshMs} />
      <Reset />
    </>
  )
}

function Reset(): ReactNode {
  return (
    <section aria-labelledby="reset">
      <h2 id="reset">Reset</h2>
      <div className="buttons">
        <Action
          scope="sandbox"
          label="Reset the sandbox"
          title="Reset the sandbox"
          effect="Faults, orders, balances, created practice users and all that was set go; connections of those users are BROKEN when they are next used. The time and the prices go on."
          request={() => change('POST /sandbox/reset', {}, { confirm: 'reset' })}
          done={() => <p>It was reset.</p>}
        />
      </div>
    </section>
  )
}
