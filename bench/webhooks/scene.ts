import { setTimeout as pause } from 'node:timers/promises'
import { Client, recordOf } from '../../packages/server/src/demo/client.ts'
import { atRate } from '../harness/pace.ts'
import { processorTimes, timesOf } from '../harness/processor.ts'
import type { ConnectedUser, Stage } from '../harness/stage.ts'
import { until } from '../harness/wait.ts'
import { startWorker, type Worker } from '../harness/workers.ts'
import { Orders, type Placed } from './orders.ts'
import { ENDPOINT_KINDS, type EndpointKind, type ReceiverRequests } from './receiver-requests.ts'

/** Longer than an attempt: those of the measurement before are over. */
const CALM_MS = 6_000
/** Orders before a measurement: an endpoint that is enabled is first sent what it missed. */
const LEAD_SECONDS = 2
const ARRIVAL_SECONDS = 30

/** What one measurement found. */
export interface Measured {
  /** From an order's answer to the arrival of its message, in milliseconds; negative if the message came first. */
  readonly latencies: readonly number[]
  readonly messages: number
  readonly events: number
  readonly connections: number
  /** Processor time for an order, in microseconds. */
  readonly service: number
  readonly database: number
}

/** A service with connected users, and endpoints of their platform. */
export interface Scene extends AsyncDisposable {
  /** Places orders while these endpoints are enabled, and no others. */
  measure(enabled: readonly EndpointKind[], perSecond: number, seconds: number): Promise<Measured>
}

export async function openScene(stage: Stage, userCount: number): Promise<Scene> {
  await using undone = new AsyncDisposableStack()
  undone.use(stage)
  const receiver = undone.use(startWorker<ReceiverRequests>('bench/webhooks/receiver.ts'))
  const orders = undone.use(new Orders(stage.platform.baseUrl))
  const users: ConnectedUser[] = []
  while (users.length < userCount) users.push(await stage.user())
  const endpoints = await Endpoints.create(new Client(stage.platform), await receiver.ask('open', null))
  const parts = undone.move()
  return {
    async measure(enabled, perSecond, seconds) {
      await pause(CALM_MS)
      await endpoints.enable(enabled)
      const place = (_due: number, index: number) => orders.place(users[index % users.length])
      await atRate(perSecond, LEAD_SECONDS, place)
      if (enabled.includes('answering'))
        await until('the endpoint has everything', ARRIVAL_SECONDS, () => endpoints.isCaughtUp('answering'))
      await receiver.ask('received', null)
      const processor = () => processorTimes({ service: stage.service.pid })
      const before = processor()
      const placed = await atRate(perSecond, seconds, place)
      const cost = timesOf(before, processor(), placed.length)
      const arrived = enabled.includes('answering') ? await arrivalsOf(receiver, placed) : NOTHING
      return { ...arrived, service: cost.get('service') ?? 0, database: cost.get('database') ?? 0 }
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync()
  }
}

const NOTHING = { latencies: [], messages: 0, events: 0, connections: 0 }

/** @throws Error if an order does not arrive, or not in its user's order */
async function arrivalsOf(receiver: Worker<ReceiverRequests>, placed: readonly Placed[]) {
  const arrivals = new Map<string, number>()
  const sum = { messages: 0, events: 0, connections: 0, outOfOrder: 0 }
  const missing = () => placed.filter(({ name }) => !arrivals.has(name))
  const allCame = async () => {
    const part = await receiver.ask('received', null)
    for (const [name, at] of part.arrivals) arrivals.set(name, at)
    sum.messages += part.messages
    sum.events += part.events
    sum.connections += part.connections
    sum.outOfOrder += part.outOfOrder
    return missing().length === 0
  }
  await until('every order arrives at the endpoint', ARRIVAL_SECONDS, allCame, async () => missing().slice(0, 3))
  if (sum.outOfOrder > 0) throw new Error(`${sum.outOfOrder} events did not come in the order of their user's log`)
  const { messages, events, connections } = sum
  return { latencies: placed.map(({ name, answeredAt }) => (arrivals.get(name) ?? 0) - answeredAt), messages, events, connections }
}

/** The endpoints of the platform. */
class Endpoints {
  readonly #platform: Client
  readonly #ids: ReadonlyMap<EndpointKind, string>

  private constructor(platform: Client, ids: ReadonlyMap<EndpointKind, string>) {
    this.#platform = platform
    this.#ids = ids
  }

  static async create(platform: Client, urls: Readonly<Record<EndpointKind, string>>): Promise<Endpoints> {
    const ids = new Map<EndpointKind, string>()
    for (const kind of ENDPOINT_KINDS) {
      const { endpoint_id: id } = await platform.post('/webhook-endpoints', { url: urls[kind], description: kind })
      ids.set(kind, String(id))
    }
    return new Endpoints(platform, ids)
  }

  async isCaughtUp(kind: EndpointKind): Promise<boolean> {
    const { lag } = recordOf(await this.#platform.get(`/webhook-endpoints/${this.#ids.get(kind)}`))
    return recordOf(lag).users === 0
  }

  /** Enables these, and disables the others. */
  async enable(kinds: readonly EndpointKind[]): Promise<void> {
    for (const [kind, id] of this.#ids) await this.#platform.patch(`/webhook-endpoints/${id}`, { enabled: kinds.includes(kind) })
  }
}
