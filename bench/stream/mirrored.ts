import type { Figure } from '../harness/figures.ts'
import { collectable, Heap } from '../harness/heap.ts'
import { type Engine, startService } from '../harness/service.ts'
import { until } from '../harness/wait.ts'
import { startWorker } from '../harness/workers.ts'
import type { SessionPlan } from './client/session.ts'
import { userName } from './client/update.ts'
import type { ClientRequests } from './fanout/requests.ts'
import type { SandboxRequests } from './sandbox/requests.ts'
import { connectUsers } from './users.ts'

const ACCOUNTS = 2_000
const USERS_OF_SESSION = 500
const KB_MAX = 30
/** The service opens at most ten connections per second to a broker. */
const LOGINS_PER_SECOND = 8
const SHAPES = [
  { accountsOfLogin: 4, isTarget: true },
  { accountsOfLogin: 1, isTarget: false }
]
/** Each account has a balance and these positions. */
const HELD = { ordersOfAccount: 1, positionsOfAccount: 2 }

/** The cost of followed accounts: resident memory of a service that mirrors them less that of the same service when it was empty. */
export async function mirrored({ engine, record }: { readonly engine: Engine; readonly record: (figure: Figure) => void }): Promise<void> {
  for (const { accountsOfLogin, isTarget } of SHAPES) {
    const { connected, followed, heap } = await kilobytesOfAccount(engine, accountsOfLogin)
    const logins = (ACCOUNTS / accountsOfLogin).toLocaleString('en')
    record({
      what: `${ACCOUNTS.toLocaleString('en')} mirrored accounts of ${logins} logins: resident memory per account`,
      found: `${followed.toFixed(1)} KB (of which ${connected.toFixed(1)} before it was followed; heap ${heap.toFixed(1)} KB)`,
      target: isTarget ? `at most ${KB_MAX} KB` : '',
      reached: isTarget ? followed <= KB_MAX : null
    })
  }
}

interface Cost {
  /** Of an account that is connected but not followed. */
  readonly connected: number
  /** Of a followed account, in total. */
  readonly followed: number
  /** The part of that in JavaScript's heap. */
  readonly heap: number
}

async function kilobytesOfAccount(engine: Engine, accountsOfLogin: number): Promise<Cost> {
  await using parts = new AsyncDisposableStack()
  const logins = ACCOUNTS / accountsOfLogin
  const sandbox = parts.use(startWorker<SandboxRequests>('bench/stream/sandbox/main.ts'))
  const { url: sandboxUrl } = await sandbox.ask('open', { accountsOfLogin, ...HELD })
  const handle = await collectable()
  const running = parts.use(await startService(engine, { sandboxUrl, sandboxSecret: 'known to nobody else', flags: handle.flags }))
  const memory = parts.use(await Heap.of(running.service.pid, handle))
  const empty = { resident: await memory.settledMb(), heap: await memory.usedMb() }
  await connectUsers(running.platform, logins)
  const connected = await memory.settledMb()
  const client = parts.use(startWorker<ClientRequests>('bench/stream/client/counting.ts'))
  const url = `${running.platform.baseUrl.replace(/^http/, 'ws')}/stream`
  const plans: SessionPlan[] = []
  for (let first = 0; first < logins; first += USERS_OF_SESSION) {
    const userIds = Array.from({ length: Math.min(USERS_OF_SESSION, logins - first) }, (_, index) => userName(first + index))
    plans.push({ url, localAddress: '127.0.0.1', subscription: { ...running.platform, topics: ['all'], userIds } })
  }
  await client.ask('open', plans)
  const patience = 60 + logins / LOGINS_PER_SECOND
  const streams = () => sandbox.ask('streams', null)
  await until('every login is followed', patience, async () => (await streams()) >= logins, streams)
  const received = async () => (await client.ask('count', null)).updates
  // An order, a balance and the positions of each.
  await until('every account is reported', patience, async () => (await received()) >= 3 * ACCOUNTS, received)
  const full = { resident: await memory.settledMb(), heap: await memory.usedMb() }
  const each = (megabytes: number) => (megabytes * 1_024) / ACCOUNTS
  return { connected: each(connected - empty.resident), followed: each(full.resident - empty.resident), heap: each(full.heap - empty.heap) }
}
