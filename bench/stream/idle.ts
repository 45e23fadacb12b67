import type { Figure } from '../harness/figures.ts'
import { collectable, Heap } from '../harness/heap.ts'
import { type Engine, startService } from '../harness/service.ts'
import { median } from '../harness/stats.ts'
import { startWorker } from '../harness/workers.ts'
import type { SessionPlan } from './client/session.ts'
import { userName } from './client/update.ts'
import type { ClientRequests } from './fanout/requests.ts'
import type { SandboxRequests } from './sandbox/requests.ts'
import { makePlatforms, makeUsers } from './users.ts'

const PLATFORMS = 100
const SESSIONS_OF_PLATFORM = 10
const USERS_OF_SESSION = 10
const SESSIONS = PLATFORMS * SESSIONS_OF_PLATFORM
const USERS = SESSIONS * USERS_OF_SESSION
const USERS_OF_PLATFORM = USERS / PLATFORMS
const KB_MAX = 12

export interface MemoryOptions {
  readonly engine: Engine
  /** Services measured one after the other, each from its start. */
  readonly times: number
  readonly record: (figure: Figure) => void
}

/** The cost of idle sessions: resident memory of a service with them less that of the same service before. */
export async function idle({ engine, times, record }: MemoryOptions): Promise<void> {
  const found: { readonly resident: number; readonly heap: number }[] = []
  for (let time = 0; time < times; time += 1) found.push(await kilobytesOfSocket(engine))
  const resident = median(found.map(one => one.resident))
  const each = found.map(one => one.resident.toFixed(1)).join(', ')
  record({
    what: `${USERS.toLocaleString('en')} idle subscriptions over ${SESSIONS.toLocaleString('en')} sockets: resident memory per socket`,
    found: `${resident.toFixed(1)} KB (${each}; heap ${median(found.map(one => one.heap)).toFixed(1)} KB)`,
    target: `at most ${KB_MAX} KB`,
    reached: resident <= KB_MAX
  })
}

async function kilobytesOfSocket(engine: Engine): Promise<{ readonly resident: number; readonly heap: number }> {
  await using parts = new AsyncDisposableStack()
  const sandbox = parts.use(startWorker<SandboxRequests>('bench/stream/sandbox/main.ts'))
  const { url: sandboxUrl } = await sandbox.ask('open', { accountsOfLogin: 1, ordersOfAccount: 0, positionsOfAccount: 0 })
  const handle = await collectable()
  const running = parts.use(await startService(engine, { sandboxUrl, sandboxSecret: 'known to nobody else', flags: handle.flags }))
  const heap = parts.use(await Heap.of(running.service.pid, handle))
  const platforms = await makePlatforms(running, PLATFORMS)
  const platformOf = (number: number) => platforms[Math.floor(number / USERS_OF_PLATFORM)] ?? running.platform
  await makeUsers(platformOf, USERS)
  const url = `${running.platform.baseUrl.replace(/^http/, 'ws')}/stream`
  const plans = Array.from({ length: SESSIONS }, (_, session): SessionPlan => {
    const first = session * USERS_OF_SESSION
    const userIds = Array.from({ length: USERS_OF_SESSION }, (_, index) => userName(first + index))
    // A separate address for each platform, as in reality.
    const localAddress = `127.0.1.${1 + Math.floor(session / SESSIONS_OF_PLATFORM)}`
    return { url, localAddress, subscription: { ...platformOf(first), topics: ['all'], userIds } }
  })
  // The first sockets load code, which does not count as a socket's memory.
  await using warming = new AsyncDisposableStack()
  await warming.use(startWorker<ClientRequests>('bench/stream/client/counting.ts')).ask('open', plans.slice(0, 2 * SESSIONS_OF_PLATFORM))
  await warming.disposeAsync()
  const empty = { resident: await heap.settledMb(), heap: await heap.usedMb() }
  await parts.use(startWorker<ClientRequests>('bench/stream/client/counting.ts')).ask('open', plans)
  const full = { resident: await heap.settledMb(), heap: await heap.usedMb() }
  const each = (megabytes: number) => (megabytes * 1_024) / SESSIONS
  return { resident: each(full.resident - empty.resident), heap: each(full.heap - empty.heap) }
}
