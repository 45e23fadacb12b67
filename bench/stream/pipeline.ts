import { setTimeout as pause } from 'node:timers/promises'
import { Client, type Platform } from '../../packages/server/src/demo/client.ts'
import type { Figure } from '../harness/figures.ts'
import { type ProcessorTimes, perPiece, processorTimes, timesOf } from '../harness/processor.ts'
import { type Engine, type RunningService, startService } from '../harness/service.ts'
import { type Spread, spreadOf } from '../harness/stats.ts'
import { until } from '../harness/wait.ts'
import { startWorker, type Worker } from '../harness/workers.ts'
import type { ListenerRequests } from './client/listening.ts'
import { userName } from './client/update.ts'
import type { SandboxRequests } from './sandbox/requests.ts'
import { connectUsers } from './users.ts'

const LOGINS = 100
const SHAPE = { accountsOfLogin: 1, ordersOfAccount: 20, positionsOfAccount: 2 }
const PACED = 1_000
/** Half of the orders have an update in flight: enough to fill a commit, too few for an order to wait for itself. */
const WINDOW = 1_000
const TARGET = { postgres: 5_000, embedded: 1_500 }
const MEDIAN_MS_MAX = 3
const P99_MS_MAX = 20
const WARM_SECONDS = 2
/** The service opens at most ten connections per second to a broker. */
const LIVE_SECONDS = 120
const ARRIVAL_SECONDS = 30

export interface PipelineOptions {
  readonly engine: Engine
  readonly seconds: number
  readonly flags: readonly string[]
  readonly record: (figure: Figure) => void
}

/**
 * From the broker's message to the session: the service as a program, on a separate database, with the production adapter connected to the
 * test sandbox. Each update changes an order, and so is stored before delivery; the session counts each and checks that no
 * number is missing.
 */
export async function pipeline({ engine, seconds, flags, record }: PipelineOptions): Promise<void> {
  await using scene = await openScene(engine, flags)
  const { running, sandbox, client, sandboxUrl } = scene
  const { spanMs, total, cost } = await atMaximumRate(scene, engine, seconds)
  const rate = (total * 1_000) / spanMs
  record({
    what: 'Order updates from a broker’s message to a session, maximum rate',
    found: `${Math.round(rate).toLocaleString('en')} /s`,
    target: `at least ${TARGET.postgres.toLocaleString('en')}, ${TARGET.embedded.toLocaleString('en')} /s`,
    reached: rate >= TARGET[engine]
  })
  record({ what: '… processor time per update, in microseconds', found: perPiece(cost), target: '', reached: null })

  await client.ask('direct', { sandboxUrl, logins: LOGINS })
  await until('all listen to the sandbox', 30, async () => (await sandbox.ask('streams', null)) >= 2 * LOGINS)
  const paced = await measure(sandbox, client, { total: Math.round(seconds * PACED), perSecond: PACED, windowMax: null })
  await assertStored(running.platform, client)
  report(paced, record)
}

/** Logins followed by the service, and a session that follows them. */
export interface Scene extends AsyncDisposable {
  readonly running: RunningService
  readonly sandbox: Worker<SandboxRequests>
  readonly sandboxUrl: string
  readonly client: Worker<ListenerRequests>
}

export async function openScene(engine: Engine, flags: readonly string[]): Promise<Scene> {
  await using undone = new AsyncDisposableStack()
  const sandbox = undone.use(startWorker<SandboxRequests>('bench/stream/sandbox/main.ts'))
  const { url: sandboxUrl } = await sandbox.ask('open', SHAPE)
  const running = undone.use(await startService(engine, { sandboxUrl, sandboxSecret: 'known to nobody else', flags }))
  const { platform } = running
  await connectUsers(platform, LOGINS)
  const client = undone.use(startWorker<ListenerRequests>('bench/stream/client/listening.ts'))
  const userIds = Array.from({ length: LOGINS }, (_, number) => userName(number))
  const subscription = { ...platform, topics: ['all'], userIds }
  await client.ask('open', { url: `${platform.baseUrl.replace(/^http/, 'ws')}/stream`, localAddress: '127.0.0.1', subscription })
  await allLive(sandbox, client)
  await client.ask('pace', { sandboxUrl })
  const parts = undone.move()
  return { running, sandbox, sandboxUrl, client, [Symbol.asyncDispose]: () => parts.disposeAsync() }
}

/** As many updates as go through, after a warm-up. `cost`: processor time per update in microseconds, by process. */
export async function atMaximumRate(
  { running, sandbox, client }: Scene,
  engine: Engine,
  seconds: number
): Promise<{ readonly total: number; readonly spanMs: number; readonly cost: ProcessorTimes }> {
  const count = Math.round(seconds * TARGET[engine])
  await measure(sandbox, client, { total: WARM_SECONDS * TARGET[engine], perSecond: null, windowMax: WINDOW })
  const named = { service: running.service.pid, sandbox: sandbox.pid, client: client.pid }
  const before = processorTimes(named)
  const { spanMs, total } = await measure(sandbox, client, { total: count, perSecond: null, windowMax: WINDOW })
  return { total, spanMs, cost: timesOf(before, processorTimes(named), total) }
}

/** @throws Error if a user's stored data differs from what the session received. */
async function assertStored(platform: Platform, client: Worker<ListenerRequests>): Promise<void> {
  const rest = new Client(platform)
  for (const [number, given] of await client.ask('newest', null)) {
    const { last_seq: stored } = await rest.get(`/events?user_id=${userName(number)}&limit=1`)
    if (stored !== given) throw new Error(`${userName(number)} has ${String(stored)} events stored and received ${given}`)
  }
}

/** Waits until every login has a stream and the snapshots have reported every order. */
async function allLive(sandbox: Worker<SandboxRequests>, client: Worker<ListenerRequests>): Promise<void> {
  await until('every login is followed', LIVE_SECONDS, async () => (await sandbox.ask('streams', null)) >= LOGINS)
  const orders = LOGINS * SHAPE.accountsOfLogin * SHAPE.ordersOfAccount
  await until('the existing orders are reported', LIVE_SECONDS, async () => (await client.ask('received', null)).updates >= orders)
  // Balances and positions come last.
  for (let [before, now] = [-1, 0]; before !== now; ) {
    await pause(1_000)
    ;[before, now] = [now, (await client.ask('received', null)).updates]
  }
}

interface Measured {
  readonly total: number
  readonly spanMs: number
  readonly service: readonly number[]
  readonly direct: readonly number[]
}

/** Makes the sandbox publish updates. @throws Error if an update does not arrive, or not in order. */
async function measure(
  sandbox: Worker<SandboxRequests>,
  client: Worker<ListenerRequests>,
  feedPlan: { readonly total: number; readonly perSecond: number | null; readonly windowMax: number | null }
): Promise<Measured> {
  await client.ask('expect', feedPlan.total)
  await sandbox.ask('feed', { ...feedPlan, logins: LOGINS })
  const received = () => client.ask('received', null)
  await until('every update arrives', ARRIVAL_SECONDS, async () => (await received()).came === feedPlan.total, received)
  const { faults, firstFault } = await received()
  if (faults > 0) throw new Error(`${faults} updates did not come in order, the first: ${firstFault}`)
  const { service, direct, spanMs } = await client.ask('latencies', null)
  return { total: feedPlan.total, spanMs, service: [...service], direct: [...direct] }
}

/** @throws Error if the sandbox's own listener missed updates, because the added delay is then unknown. */
function report({ service, direct }: Measured, record: PipelineOptions['record']): void {
  const missed = direct.filter(Number.isNaN).length
  if (direct.length !== service.length || missed > 0)
    throw new Error(`the listener at the sandbox missed ${missed} of ${direct.length} updates`)
  // Update by update, so that pauses of the sandbox or of the client do not count as the service's.
  const added = spreadOf(service.map((latency, number) => latency - (direct[number] ?? Number.NaN)))
  const [ours, theirs] = [spreadOf(service), spreadOf(direct)]
  const pair = (of: (spread: Spread) => number) => `${of(added).toFixed(2)} ms (${of(ours).toFixed(2)}, sandbox ${of(theirs).toFixed(2)})`
  record({
    what: `… added at ${PACED.toLocaleString('en')} /s: median`,
    found: pair(({ median }) => median),
    target: `at most ${MEDIAN_MS_MAX} ms`,
    reached: added.median <= MEDIAN_MS_MAX
  })
  record({
    what: `… added at ${PACED.toLocaleString('en')} /s: 99th percentile`,
    found: pair(({ p99 }) => p99),
    target: `at most ${P99_MS_MAX} ms`,
    reached: added.p99 <= P99_MS_MAX
  })
}
