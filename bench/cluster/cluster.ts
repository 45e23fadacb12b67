/** What several nodes add: orders through all of them beside a process that runs alone, in one run. */

import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { atRate, inParallel } from '../harness/pace.ts'
import { processorTimes, timesOf } from '../harness/processor.ts'
import type { ConnectedUser } from '../harness/stage.ts'
import { line, type Spread, spreadOf } from '../harness/stats.ts'
import { LoadAgent } from '../rest/orders.ts'
import { moves } from './moves/moves.ts'
import { type ClusterStage, openCluster } from './stage.ts'

const USERS = 20
const RATE = 50
const AT_ONCE = 16
/** Of each node: code that runs seldom is not compiled yet. */
const WARM_ORDERS = 1_500
const ORDERS_PER_SECOND = 300
/** Until the reads of holdings after an order are done. */
const AFTER_MS = 2_000
const COST_MAX = 1.3

interface Found {
  readonly latency: Spread
  /** Processor time per order in microseconds, by process. */
  readonly cost: ReadonlyMap<string, number>
}

export async function cluster(options: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...options],
    options: {
      seconds: { type: 'string', default: '10' },
      nodes: { type: 'string', default: '3' },
      only: { type: 'string', default: 'cost,moves' },
      rounds: { type: 'string', default: '20' },
      kinds: { type: 'string', default: 'stop,join,drain,kill,freeze' },
      rate: { type: 'string', default: '40' },
      logs: { type: 'string' }
    }
  })
  const parts = values.only.split(',')
  if (parts.includes('cost')) await costs(Number(values.seconds), Number(values.nodes))
  const { kinds, logs = null } = values
  if (parts.includes('moves')) await moves({ rounds: Number(values.rounds), kinds, rate: Number(values.rate), logs })
}

async function costs(seconds: number, count: number): Promise<void> {
  const alone = await measured(1, seconds)
  const several = await measured(count, seconds)
  const [before, now] = [total(alone), total(several)]
  const parts = [...several.cost].map(([name, micros]) => `${name} ${micros.toFixed(0)}`).join(', ')
  const lines = [
    line(
      `an order at ${RATE}/s, median: one node, ${count} nodes`,
      milliseconds(alone, several, ({ median }) => median),
      '',
      null
    ),
    line(
      '… 99th percentile',
      milliseconds(alone, several, ({ p99 }) => p99),
      '',
      null
    ),
    line(
      `processor time per order, ${AT_ONCE} at once, all processes`,
      `${before.toFixed(0)}, ${now.toFixed(0)} µs, × ${(now / before).toFixed(2)}`,
      `at most × ${COST_MAX}`,
      now <= COST_MAX * before
    ),
    line('… of several nodes, by process, µs', parts, '', null)
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}

async function measured(count: number, seconds: number): Promise<Found> {
  await using stage = await openCluster(count)
  const users: ConnectedUser[] = []
  for (let index = 0; index < USERS; index += 1) users.push(await stage.user())
  using agent = new LoadAgent()
  const place = (name: string) => (index: number) => ordered(agent, stage, users, `${name}-${index}`, index)
  await inParallel(WARM_ORDERS * count, AT_ONCE, async index => void (await place('warm')(index)))
  const latency = spreadOf(await atRate(RATE, seconds, async (due, index) => (await place('paced')(index)) - due))
  const orders = Math.round(seconds * ORDERS_PER_SECOND)
  const begun = processorTimes(stage.pids)
  await inParallel(orders, AT_ONCE, async index => void (await place('cost')(index)))
  await pause(AFTER_MS)
  return { latency, cost: timesOf(begun, processorTimes(stage.pids), orders) }
}

/** Each order goes to another node than the one before, so most reach a node that does not own the user. Returns when it was filled. */
async function ordered(
  agent: LoadAgent,
  { nodes }: ClusterStage,
  users: readonly ConnectedUser[],
  name: string,
  index: number
): Promise<number> {
  // Users follow each other in the same way, so the node moves on once more with each round of them.
  const node = nodes[(index + Math.floor(index / USERS)) % nodes.length]
  if (node === undefined) throw new Error('there is no node')
  const { filledAt, status } = await agent.order(node, users, name, index)
  if (status !== 'filled') throw new Error(`an order of the bench is ${status}, not filled`)
  return filledAt
}

function total({ cost }: Found): number {
  return [...cost.values()].reduce((sum, micros) => sum + micros, 0)
}

function milliseconds(alone: Found, several: Found, of: (spread: Spread) => number): string {
  return `${of(alone.latency).toFixed(2)}, ${of(several.latency).toFixed(2)} ms`
}
