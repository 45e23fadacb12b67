/**
 * Webhooks: from the answer to an order, which has been logged then, to the message at an endpoint that says the same; alone, and beside an
 * endpoint that is dead.
 */

import { loadavg } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Agent } from 'undici'
import { Client } from '../../packages/server/src/demo/client.ts'
import { InvalidOptions } from '../harness/errors.ts'
import { Figures } from '../harness/figures.ts'
import { atRate } from '../harness/pace.ts'
import { processorTimes, timesOf } from '../harness/processor.ts'
import { ENGINES } from '../harness/service.ts'
import { type ConnectedUser, openStage, type Stage } from '../harness/stage.ts'
import { spreadOf } from '../harness/stats.ts'
import { until } from '../harness/wait.ts'
import { startWorker, type Worker } from '../harness/workers.ts'
import { sharedNow } from '../stream/client/stamps.ts'
import { ENDPOINT_KINDS, type EndpointKind, type ReceiverRequests } from './receiver-requests.ts'

const MEDIAN_MS_MAX = 50
const P99_MS_MAX = 1_000
/** How much of the 99th percentile a dead endpoint may add for another. */
const MOVED_MAX = 0.1
const WARM_SECONDS = 3
/** The attempts of the situation before are over. */
const CALM_MS = 6_000
const ARRIVAL_SECONDS = 30
const ENV = { TRUNKLINE_WEBHOOK_NETWORKS: '127.0.0.0/8' }

/** The endpoints that are enabled while orders are placed. */
const SITUATIONS = {
  'no endpoint': [],
  alone: ['answering'],
  'beside one that never answers': ['answering', 'silent'],
  'beside one that refuses connections': ['answering', 'refusing']
} as const satisfies Readonly<Record<string, readonly EndpointKind[]>>
type Situation = keyof typeof SITUATIONS

interface Measured {
  /** From the answer to the arrival, in milliseconds; negative if the message came first. */
  readonly latencies: readonly number[]
  readonly messages: number
  readonly events: number
  readonly connections: number
  /** Processor time of the service for an order, in microseconds. */
  readonly service: readonly number[]
  readonly database: readonly number[]
}

export async function webhooks(options: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...options],
    options: {
      engine: { type: 'string', default: 'postgres' },
      seconds: { type: 'string', default: '10' },
      rounds: { type: 'string', default: '3' },
      rate: { type: 'string', default: '50' },
      users: { type: 'string', default: '50' },
      /** A directory for processor profiles of the service. */
      profile: { type: 'string' }
    }
  })
  const engine = ENGINES.find(name => name === values.engine)
  if (engine === undefined) throw new InvalidOptions(`--engine takes ${ENGINES.join(' or ')}, not ${values.engine}`)
  const flags = values.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${values.profile}`]
  await using scene = await openScene(await openStage(engine, { env: ENV, flags }), Number(values.users))
  const [perSecond, seconds] = [Number(values.rate), Number(values.seconds)]
  await scene.measure('alone', perSecond, WARM_SECONDS)
  const found = new Map<Situation, Measured>()
  for (let round = 1; round <= Number(values.rounds); round += 1)
    for (const situation of SEQUENCE) {
      const part = await scene.measure(situation, perSecond, seconds)
      found.set(situation, together(found.get(situation), part))
      const { median, p99, max } = spreadOf(part.latencies)
      process.stdout.write(
        `  round ${round}, ${situation}: ${median.toFixed(1)}, ${p99.toFixed(0)}, ${max.toFixed(0)} ms; load ${loadavg()[0]?.toFixed(1)}\n`
      )
    }
  report(found, `${perSecond} /s`)
}

/** Each dead endpoint follows a measurement without it: other load of the machine changes from minute to minute. */
const SEQUENCE: readonly Situation[] = [
  'no endpoint',
  'alone',
  'beside one that never answers',
  'alone',
  'beside one that refuses connections'
]

interface Scene extends AsyncDisposable {
  measure(situation: Situation, perSecond: number, seconds: number): Promise<Measured>
}

async function openScene(stage: Stage, userCount: number): Promise<Scene> {
  await using undone = new AsyncDisposableStack()
  undone.use(stage)
  const receiver = undone.use(startWorker<ReceiverRequests>('bench/webhooks/receiver.ts'))
  const orders = undone.use(new Orders(stage.platform.baseUrl))
  const users: ConnectedUser[] = []
  while (users.length < userCount) users.push(await stage.user())
  const endpoints = await Endpoints.create(new Client(stage.platform), await receiver.ask('open', null))
  const parts = undone.move()
  return {
    async measure(situation, perSecond, seconds) {
      const enabled: readonly EndpointKind[] = SITUATIONS[situation]
      await pause(CALM_MS)
      await endpoints.enable(enabled)
      await receiver.ask('received', null)
      const processor = () => processorTimes({ service: stage.service.pid })
      const before = processor()
      const placed = await atRate(perSecond, seconds, async (_due, index) => orders.place(users[index % users.length]))
      const cost = timesOf(before, processor(), placed.length)
      const arrived = enabled.includes('answering') ? await arrivalsOf(receiver, placed) : NOTHING
      return { ...arrived, service: [cost.get('service') ?? 0], database: [cost.get('database') ?? 0] }
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync()
  }
}

const NOTHING = { latencies: [], messages: 0, events: 0, connections: 0 }

/** An order, by the name that its arrival has, and when it was answered. */
interface Placed {
  readonly name: string
  readonly answeredAt: number
}

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

/** The endpoints of the platform, all of them disabled at first. */
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

  /** Enables these, and disables the others. */
  async enable(kinds: readonly EndpointKind[]): Promise<void> {
    for (const [kind, id] of this.#ids) await this.#platform.patch(`/webhook-endpoints/${id}`, { enabled: kinds.includes(kind) })
  }
}

class Orders implements AsyncDisposable {
  readonly #agent = new Agent({ connections: 100, pipelining: 1 })
  readonly #baseUrl: string
  #count = 0

  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl
  }

  async place(user: ConnectedUser | undefined): Promise<Placed> {
    if (user === undefined) throw new Error('no user')
    this.#count += 1
    const order = {
      account_id: user.accountId,
      cl_order_id: `webhook-${this.#count}`,
      broker: 'SANDBOX',
      side: 'BUY',
      order_type: 'MKT',
      order_tif: 'DAY',
      symbol: 'SPY',
      order_qty: '1'
    }
    const { statusCode, body } = await this.#agent.request({
      origin: this.#baseUrl,
      path: '/orders',
      method: 'POST',
      headers: { ...user.headers, 'content-type': 'application/json' },
      body: JSON.stringify(order)
    })
    const text = await body.text()
    const answeredAt = sharedNow()
    if (statusCode !== 201) throw new Error(`an order was answered with ${statusCode}: ${text.slice(0, 300)}`)
    const { order_id: id, normalized_status: status } = JSON.parse(text)
    return { name: `${id} ${status}`, answeredAt }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agent.close()
  }
}

function together(sum: Measured | undefined, part: Measured): Measured {
  if (sum === undefined) return part
  return {
    latencies: [...sum.latencies, ...part.latencies],
    messages: sum.messages + part.messages,
    events: sum.events + part.events,
    connections: sum.connections + part.connections,
    service: [...sum.service, ...part.service],
    database: [...sum.database, ...part.database]
  }
}

function report(found: ReadonlyMap<Situation, Measured>, rate: string): void {
  const figures = new Figures(['Found'])
  const add = (what: string, text: string, target = '', reached: boolean | null = null) =>
    figures.add('Found', { what, found: text, target, reached })
  process.stdout.write('\n')
  const of = (situation: Situation) => spreadOf(found.get(situation)?.latencies ?? [])
  const alone = of('alone')
  const target = `at most ${MEDIAN_MS_MAX} ms`
  add(`From an order's answer to its message, ${rate}: median`, `${alone.median.toFixed(1)} ms`, target, alone.median <= MEDIAN_MS_MAX)
  add('… 99th percentile', `${alone.p99.toFixed(0)} ms`, `at most ${P99_MS_MAX} ms`, alone.p99 <= P99_MS_MAX)
  for (const situation of ['beside one that never answers', 'beside one that refuses connections'] as const) {
    const { median, p99 } = of(situation)
    const moved = p99 / alone.p99 - 1
    const percent = `${moved < 0 ? '−' : '+'}${Math.abs(100 * moved).toFixed(0)} %`
    add(
      `… ${situation}: median, 99th percentile`,
      `${median.toFixed(1)}, ${p99.toFixed(0)} ms (${percent})`,
      `at most +${100 * MOVED_MAX} %`,
      moved <= MOVED_MAX
    )
  }
  for (const [situation, { messages, events, connections, service, database }] of found) {
    const cost = `service ${mean(service).toFixed(0)}, database ${mean(database).toFixed(0)}`
    add(`… processor time of an order, ${situation}, in microseconds`, cost)
    if (messages > 0)
      add('… … messages, events, connections', [messages, events, connections].map(each => each.toLocaleString('en')).join(', '))
  }
  process.stdout.write(`\n${figures.table()}`)
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
