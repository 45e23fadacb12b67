// The first page: what a newcomer does first, then the health and the traffic of the service.
import { Link } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense } from 'react'
import { get } from '../api.ts'
import { counted } from '../format.ts'
import type { NodeOverview, OperatorOverview as Overview } from '../generated/admin.ts'
import { Icon } from '../parts/icon.tsx'
import { Page } from '../parts/page.tsx'
import { Failure, Reading } from '../parts/states.tsx'
import { type Column, Rows } from '../parts/table.tsx'
import { Status, Time, Value } from '../parts/values.tsx'
import { useRecord } from '../reads.ts'
import { trafficOf } from '../traffic.ts'
import { useIsUsed } from '../use-of-page.ts'

const REQUEST = get('/overview', {})
// The library of the chart is as large as the rest of the page, which is read without it.
const TrafficChart = lazy(async () => ({ default: (await import('../parts/traffic-chart.tsx')).TrafficChart }))

const REFRESH_MS = 10_000
/** More are not counted. */
const UNRESOLVED_COUNTED = 100

/** The page at `/console/`. */
export function HomePage(): ReactNode {
  const overview = useRecord(REQUEST, useIsUsed() ? REFRESH_MS : undefined)
  return (
    <Page title="Home" request={REQUEST}>
      {overview.error !== null && <Failure error={overview.error} again={() => void overview.refetch()} />}
      {overview.data === undefined ? (
        overview.error === null && <Reading what="the overview" />
      ) : (
        <>
          <FirstSteps steps={overview.data.steps} />
          <Health overview={overview.data} />
          <TrafficPart nodes={overview.data.nodes} now={overview.dataUpdatedAt} />
        </>
      )}
    </Page>
  )
}

/** They leave the page once all are done. */
function FirstSteps({ steps }: { readonly steps: Overview['steps'] }): ReactNode {
  const all = [
    ['Create a user', steps.user_created, 'with POST /users of the API'],
    ['Connect the sandbox', steps.sandbox_connected, 'in the portal, with a login of the sandbox'],
    ['Place an order', steps.order_placed, 'with POST /orders']
  ] as const
  if (all.every(([, isDone]) => isDone)) return null
  return (
    <section aria-labelledby="first-steps">
      <h2 id="first-steps">First steps</h2>
      <ol className="first-steps">
        {all.map(([name, isDone, how]) => (
          <li key={name}>
            <span className={isDone ? 'status good' : 'status plain'}>
              <Icon name={isDone ? 'done' : 'open'} />
            </span>
            <span>
              <strong>{name}</strong> {how}: {isDone ? 'done' : 'to do'}
            </span>
          </li>
        ))}
      </ol>
      <p>
        The <a href="/docs/guides">guides</a> have each of them as commands; the <a href="/">first page of the service</a> has a platform to
        try them with.
      </p>
    </section>
  )
}

const NODES: readonly Column<NodeOverview>[] = [
  { name: 'Node', cell: ({ node }) => <code>{node}</code> },
  {
    name: 'Health',
    cell: ({ health, reason }) => (
      <>
        <Status status={health} nullMeans="no answer" />
        {reason !== null && <div className="hint">{reason}</div>}
      </>
    )
  },
  { name: 'Version', cell: ({ version }) => <Value value={version} /> },
  { name: 'Started', cell: ({ started_at: at }) => <Time at={at} /> }
]

function Health({ overview: { nodes, brokers, unresolved_orders: unresolved } }: { readonly overview: Overview }): ReactNode {
  const offered = brokers.map(({ broker, environment }) => `${broker} (${environment})`)
  return (
    <section aria-labelledby="health">
      <h2 id="health">Health</h2>
      <Rows rows={nodes} columns={NODES} idOf={({ node }) => node} />
      <p>
        {unresolved === 0 ? (
          'The brokers have every open order.'
        ) : (
          <Link to="/orders">
            <span className="status open">
              {counted(unresolved)} open {unresolved === 1 ? 'order' : 'orders'} that the broker may not have
            </span>
          </Link>
        )}
        {unresolved >= UNRESOLVED_COUNTED && ', or more'}
      </p>
      <p>Brokers: {offered.length === 0 ? 'none' : offered.join(', ')}.</p>
    </section>
  )
}

function TrafficPart({ nodes, now }: { readonly nodes: readonly NodeOverview[]; readonly now: number }): ReactNode {
  const { bars, requests, errors, absent } = trafficOf(nodes, now)
  return (
    <>
      <section aria-labelledby="traffic">
        <h2 id="traffic">Traffic of the last 24 hours</h2>
        <p>{counted(requests)} requests. A node counts from its start on.</p>
        {absent.length > 0 && (
          <p className="notice">Without {absent.join(', ')}: no answer within a second. The sums are therefore too low.</p>
        )}
        <p className="hint">
          By quarters of an hour: all requests, and in <span className="status bad">this colour</span> the failed ones.
        </p>
        <Suspense fallback={<div className="chart" />}>
          <TrafficChart bars={bars} />
        </Suspense>
        <p className="hint">
          The chart: TradingView Lightweight Charts™, copyright © 2026 <a href="https://www.tradingview.com/">TradingView, Inc.</a>,{' '}
          <a href="/console/licenses.md">Apache License 2.0</a>.
        </p>
      </section>
      <section aria-labelledby="errors">
        <h2 id="errors">Errors by code</h2>
        {errors.length === 0 ? (
          <p>None.</p>
        ) : (
          <Rows rows={errors.map(([code, count]) => ({ code, count }))} columns={ERRORS} idOf={({ code }) => code} />
        )}
      </section>
    </>
  )
}

/** False for failures that are counted by their status. */
function isDescribed(code: string): boolean {
  return !code.startsWith('status_')
}

const ERRORS: readonly Column<{ readonly code: string; readonly count: number }>[] = [
  {
    name: 'Code',
    cell: ({ code }) => (
      <Link to="/requests" search={isDescribed(code) ? { code } : { failed: 'true' }}>
        {code}
      </Link>
    )
  },
  { name: 'Requests', isNumber: true, cell: ({ count }) => counted(count) },
  {
    name: 'Meaning',
    cell: ({ code }) =>
      isDescribed(code) ? <a href={`/docs/errors/${encodeURIComponent(code)}`}>What to do about {code}</a> : 'A failure without a code'
  }
]
