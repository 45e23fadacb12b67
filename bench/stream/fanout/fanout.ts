import { setTimeout as pause } from 'node:timers/promises'
import type { Figure } from '../../harness/figures.ts'
import { processorTimes } from '../../harness/processor.ts'
import { median } from '../../harness/stats.ts'
import { startWorker, type Worker } from '../../harness/workers.ts'
import type { SessionPlan } from '../client/session.ts'
import { userName } from '../client/update.ts'
import type { ClientRequests, ServerOptions, ServerRequests } from './requests.ts'
import { eventsPerTick, expectedUpdates, SHAPES, type Shape, sessionsOf, watchersOfUser } from './shapes.ts'

const BYTES = 200
const WARM_MS = 700
const ROUNDS = 5
/** The targets: a share of the deliveries of a floor that batches, and a multiple of those of one that does not. */
const SHARE_MIN = 0.6
const FACTOR_MIN = 5
const SERVERS = ['gathered', 'plain', 'service', 'orders'] as const

type How = ServerOptions['how']

export interface FanoutOptions {
  readonly seconds: number
  /** Node's flags for the servers, such as profiling. */
  readonly flags: readonly string[]
  readonly record: (figure: Figure) => void
}

/**
 * Deliveries per second of the service compared with two floors: servers in separate processes, one at a time, each with its own client
 * in another process; the same sessions, users, bytes and turns. Measured in rounds, because the machine is shared: the result is the ratio
 * within a round.
 */
export async function fanout({ seconds, flags, record }: FanoutOptions): Promise<void> {
  for (const shape of SHAPES) {
    await using parts = new AsyncDisposableStack()
    const sides = new Map<How, Side>()
    for (const how of SERVERS) sides.set(how, await open(parts, shape, how, flags))
    const found = new Map<How, Measured[]>(SERVERS.map(how => [how, []]))
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [how, side] of sides) found.get(how)?.push(await measure(side, seconds / ROUNDS))
    }
    report(shape, found, sides.get('orders')?.bytes ?? 0, record)
  }
}

interface Side {
  readonly server: Worker<ServerRequests>
  readonly client: Worker<ClientRequests>
  readonly shape: Shape
  readonly how: How
  readonly bytes: number
}

async function open(parts: AsyncDisposableStack, shape: Shape, how: How, flags: readonly string[]): Promise<Side> {
  const isFloor = how === 'gathered' || how === 'plain'
  const path = isFloor ? 'bench/stream/fanout/floor.ts' : 'bench/stream/fanout/service.ts'
  const server = parts.use(startWorker<ServerRequests>(path, flags))
  const client = parts.use(startWorker<ClientRequests>('bench/stream/client/counting.ts'))
  const { url, bytes, clients } = await server.ask('open', { shape: shape.name, bytes: BYTES, how })
  const plans = sessionsOf(shape).map(({ platform, users }, index): SessionPlan => {
    const known = clients?.[platform]
    const subscription = known === undefined ? null : { ...known, topics: ['all'], userIds: users.map(userName) }
    return { url: isFloor ? `${url}?session=${index}` : url, localAddress: '127.0.0.1', subscription }
  })
  await client.ask('open', plans)
  return { server, client, shape, how, bytes }
}

interface Measured {
  readonly perSecond: number
  /** The share of one core that the client used. */
  readonly clientBusy: number
  /** Processor time per delivery at the server, in microseconds: hardly affected by other load of the machine. */
  readonly serverMicros: number
}

/** @throws Error if any sent update did not arrive, or not in order. */
async function measure({ server, client, shape, how }: Side, seconds: number): Promise<Measured> {
  await server.ask('start', null)
  await pause(WARM_MS)
  const serverMs = () => processorTimes({ server: server.pid }).get('server') ?? Number.NaN
  const [before, beganMs] = [await client.ask('count', null), serverMs()]
  await pause(1_000 * seconds)
  const [after, endedMs] = [await client.ask('count', null), serverMs()]
  const events = await server.ask('stop', null)
  const expected = expectedUpdates(sessionsOf(shape), events)
  const { updates, checked, faults, firstFault } = await client.ask('settle', expected)
  const short = updates.findIndex((count, index) => count !== expected[index])
  if (short !== -1) throw new Error(`${how}: session ${short} received ${updates[short]} of ${expected[short]} updates`)
  // The floors repeat themselves, so their numbers cannot be checked.
  if (how !== 'gathered' && how !== 'plain' && (faults > 0 || checked === 0)) {
    throw new Error(`${how}: ${faults} faults in the order of updates of ${checked} sessions, the first: ${firstFault}`)
  }
  const [elapsed, updatesMade] = [after.at - before.at, after.updates - before.updates]
  return {
    perSecond: (updatesMade * 1_000) / elapsed,
    clientBusy: (after.cpuMs - before.cpuMs) / elapsed,
    serverMicros: ((endedMs - beganMs) * 1_000) / updatesMade
  }
}

function report(shape: Shape, found: ReadonlyMap<How, readonly Measured[]>, orderBytes: number, record: FanoutOptions['record']): void {
  const rates = (how: How) => (found.get(how) ?? []).map(({ perSecond }) => perSecond)
  const ratio = (a: How, b: How) => median(rates(a).map((rate, round) => rate / (rates(b)[round] ?? Number.NaN)))
  const [share, factor] = [ratio('service', 'gathered'), ratio('service', 'plain')]
  const count = (how: How) => Math.round(median(rates(how))).toLocaleString('en')
  const each = (of: (one: Measured) => number, written: (value: number) => string) =>
    SERVERS.map(how => `${how} ${written(median((found.get(how) ?? []).map(of)))}`).join(', ')
  const name = `Fan-out to ${shape.what}`
  record({
    what: `${name}, ${BYTES} bytes, relative to batched frames`,
    found: `${(100 * share).toFixed(0)} % (${count('service')} of ${count('gathered')} /s)`,
    target: `at least ${100 * SHARE_MIN} %`,
    reached: share >= SHARE_MIN
  })
  record({
    what: `${name}, relative to one send per frame`,
    found: `× ${factor.toFixed(1)} (${count('plain')} /s)`,
    target: `at least × ${FACTOR_MIN}`,
    reached: factor >= FACTOR_MIN
  })
  record({
    what: `${name}, real order records of ${orderBytes} bytes`,
    found: `${count('orders')} /s`,
    target: '',
    reached: null
  })
  const load = `${watchersOfUser(shape)} deliveries per event, ${eventsPerTick(shape)} events per turn`
  record({
    what: `${name}, processor time per delivery (${load})`,
    found: each(
      one => one.serverMicros,
      micros => `${micros.toFixed(2)} µs`
    ),
    target: '',
    reached: null
  })
  record({
    what: `${name}, the client’s share of its core`,
    found: each(
      one => one.clientBusy,
      part => `${(100 * part).toFixed(0)} %`
    ),
    target: '',
    reached: null
  })
}
