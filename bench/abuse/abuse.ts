/**
 * The effect of others' abuse on a user who places orders: latency alone, and beside readers of metrics, bad logins and another user's
 * flood.
 */

import { parseArgs } from 'node:util'
import { Agent } from 'undici'
import { InvalidOptions } from '../harness/errors.ts'
import { type Figure, Figures } from '../harness/figures.ts'
import { atRate } from '../harness/pace.ts'
import { processorTimes } from '../harness/processor.ts'
import { ENGINES } from '../harness/service.ts'
import { type ConnectedUser, openStage, type Stage } from '../harness/stage.ts'
import { type Spread, spreadOf } from '../harness/stats.ts'
import { startWorker, type Worker } from '../harness/workers.ts'
import type { AttackerRequests, AttackPlan } from './attacker-requests.ts'

const ORDERS_PER_SECOND = 20
const WARM_SECONDS = 3
/** An attack runs this long before the measurement begins, and this long after the last order. */
const LEAD_SECONDS = 1
/** The default settings, behind a trusted proxy. */
const ENV = { TRUNKLINE_RATE_LIMIT_PLATFORM: '2000', TRUNKLINE_RATE_LIMIT_USER: '200', TRUNKLINE_TRUSTED_PROXIES: '127.0.0.1' }

type Abuse = Pick<AttackPlan, 'attack' | 'addresses' | 'perSecond' | 'connections'> & { readonly what: string }

const ABUSES: readonly Abuse[] = [
  { what: '40 anonymous readers of /metrics', attack: 'metricsReaders', addresses: 1, perSecond: null, connections: 40 },
  { what: '2,000 bad logins a second from one address', attack: 'badLogins', addresses: 1, perSecond: 2_000, connections: 100 },
  { what: '2,000 bad logins a second from 50,000 addresses', attack: 'badLogins', addresses: 50_000, perSecond: 2_000, connections: 100 },
  { what: 'another user’s flood of reads over 50 connections', attack: 'userFlood', addresses: 1, perSecond: null, connections: 50 }
]

export async function abuse(options: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...options],
    options: { engine: { type: 'string', default: 'postgres' }, seconds: { type: 'string', default: '5' } }
  })
  const seconds = Number(values.seconds)
  const engine = ENGINES.find(name => name === values.engine)
  if (engine === undefined) throw new InvalidOptions(`--engine takes ${ENGINES.join(' or ')}, not ${values.engine}`)
  const found = new Figures(['Found'])
  const record = (figure: Figure) => found.add('Found', figure)
  await using stage = await openStage(engine, { env: ENV })
  await using attacker = startWorker<AttackerRequests>('bench/abuse/attacker.ts')
  const [trader, flooder] = [await stage.user(), await stage.user()]
  using orders = new Orders(stage.platform.baseUrl, trader)
  await orders.latency(WARM_SECONDS)
  const alone = await orders.latency(seconds)
  record(figureOf('alone', alone, null))
  for (const one of ABUSES) {
    const plan = { ...one, baseUrl: stage.platform.baseUrl, seconds: seconds + 2 * LEAD_SECONDS, headers: flooder.headers }
    record(await beside(stage, attacker, plan, async () => figureOf(one.what, await orders.latency(seconds), alone)))
  }
  record(figureOf('alone again', await orders.latency(seconds), alone))
  process.stdout.write(`\n${found.table()}`)
}

async function beside(stage: Stage, attacker: Worker<AttackerRequests>, plan: AttackPlan, measure: () => Promise<Figure>): Promise<Figure> {
  const processor = () => processorTimes({ service: stage.service.pid }).get('service') ?? 0
  const before = processor()
  const attacked = attacker.ask('attack', plan)
  const [figure] = await Promise.all([measureAfter(LEAD_SECONDS, measure), attacked])
  const { perSecond, statuses } = await attacked
  const load = (processor() - before) / (plan.seconds * 10)
  const answers = Object.entries(statuses).map(([status, count]) => `${status}: ${count}`)
  return {
    ...figure,
    found: `${figure.found}; ${perSecond.toFixed(0)} /s answered (${answers.join(', ')}), service ${load.toFixed(0)} % of a core`
  }
}

async function measureAfter(seconds: number, measure: () => Promise<Figure>): Promise<Figure> {
  await new Promise<void>(resolve => setTimeout(resolve, 1_000 * seconds))
  return await measure()
}

function figureOf(what: string, { median, p99 }: Spread, alone: Spread | null): Figure {
  const ratio = (ours: number, theirs: number) => (alone === null ? '' : ` (× ${(ours / theirs).toFixed(1)})`)
  const found = `median ${median.toFixed(1)} ms${ratio(median, alone?.median ?? 1)}, p99 ${p99.toFixed(0)} ms${ratio(p99, alone?.p99 ?? 1)}`
  return { what, found, target: '', reached: null }
}

/** Orders of one user at a steady rate, each measured from its due time to its answer. */
class Orders implements Disposable {
  readonly #agent = new Agent({ connections: 20, pipelining: 1 })
  readonly #baseUrl: string
  readonly #user: ConnectedUser
  #number = 0

  constructor(baseUrl: string, user: ConnectedUser) {
    this.#baseUrl = baseUrl
    this.#user = user
  }

  async latency(seconds: number): Promise<Spread> {
    return spreadOf(await atRate(ORDERS_PER_SECOND, seconds, dueAt => this.#place(dueAt)))
  }

  [Symbol.dispose](): void {
    void this.#agent.close()
  }

  async #place(dueAt: number): Promise<number> {
    this.#number += 1
    const order = {
      account_id: this.#user.accountId,
      cl_order_id: `abuse-${this.#number}`,
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
      headers: { ...this.#user.headers, 'content-type': 'application/json', 'x-forwarded-for': '198.51.100.10' },
      body: JSON.stringify(order)
    })
    const text = await body.text()
    if (statusCode !== 201) throw new Error(`an order was answered with ${statusCode}: ${text.slice(0, 300)}`)
    return performance.now() - dueAt
  }
}
