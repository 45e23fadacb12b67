/**
 * What of the cost of several nodes is what. All set-ups run at the same time, and have their orders in turn, block by block, so that
 * other work of the machine meets them alike.
 */

import { setTimeout as pause } from 'node:timers/promises'
import { Client } from 'pg'
import { inParallel } from '../harness/pace.ts'
import { type ProcessorTimes, perPiece, processorTimes, timesOf } from '../harness/processor.ts'
import type { ConnectedUser } from '../harness/stage.ts'
import { line } from '../harness/stats.ts'
import { LoadAgent } from '../rest/orders.ts'
import { ClusterTables } from './moves/owners.ts'
import { type ClusterStage, openCluster } from './stage.ts'

const USERS = 12
const WARM_ORDERS = 500
/** Few orders in a block would mostly find closed database connections and forgotten users. */
const BLOCK_ORDERS = 900
const AT_ONCE = 16
/** Until the reads of holdings after an order are done. */
const AFTER_MS = 1_000
const IDLE_MS = 3_000

/** Processes with their users, each user with the process that owns it. */
interface SetUp {
  readonly stage: ClusterStage
  readonly users: readonly { readonly user: ConnectedUser; readonly home: number }[]
}

interface Spent {
  readonly times: ProcessorTimes
  readonly commits: number
  readonly spanMs: number
}

interface Variant extends SetUp {
  readonly name: string
  readonly atOnce: number
  /** Whether each order goes to another node than the one before, and not to its owner. */
  readonly isPassedOn: boolean
  readonly blocks: Spent[]
}

export async function shares(rounds: number, count: number): Promise<void> {
  await using undone = new AsyncDisposableStack()
  using agent = new LoadAgent()
  const alone = await setUp(undone.use(await openCluster(1)))
  const apart = await setUp(undone.use(await openCluster(count, { areApart: true })), { areApart: true })
  const nodes = await setUp(undone.use(await openCluster(count)))
  const variant = (name: string, of: SetUp, atOnce: number, isPassedOn = false): Variant => ({
    ...of,
    name,
    atOnce,
    isPassedOn,
    blocks: []
  })
  const variants = [AT_ONCE, AT_ONCE * count].flatMap(atOnce => [
    variant('one process', alone, atOnce),
    variant(`${count} processes apart, a database each`, apart, atOnce),
    variant(`${count} nodes, orders at their owners`, nodes, atOnce),
    variant(`${count} nodes, orders to all in turn`, nodes, atOnce, true)
  ])
  for (const { stage, users } of [alone, apart, nodes])
    await send(agent, { stage, users, atOnce: AT_ONCE, isPassedOn: false }, 'warm', WARM_ORDERS * stage.nodes.length)
  const idle = new Map<ClusterStage, Spent>()
  for (const { stage } of [alone, apart, nodes]) idle.set(stage, await spent(stage, () => pause(IDLE_MS)))
  for (let round = 0; round < rounds; round += 1) {
    for (const one of round % 2 === 0 ? variants : variants.toReversed()) {
      const name = `${round}-${variants.indexOf(one)}`
      one.blocks.push(await spent(one.stage, () => send(agent, one, name, BLOCK_ORDERS)))
    }
  }
  const lines = variants.flatMap(one => linesOf(one, idle.get(one.stage)))
  process.stdout.write(`processor time and writing transactions of an order, without what is taken without orders\n${lines.join('\n')}\n`)
}

async function setUp(stage: ClusterStage, { areApart = false } = {}): Promise<SetUp> {
  const { nodes, databaseUrl } = stage
  const users: SetUp['users'][number][] = []
  for (let index = 0; index < USERS; index += 1) {
    const home = areApart ? index % nodes.length : 0
    users.push({ user: await stage.user(home), home })
  }
  if (areApart || nodes.length === 1) return { stage, users }
  await using tables = await ClusterTables.open(databaseUrl)
  const { nodeOf, nodes: byProcess } = await tables.owners()
  const homeOf = ({ username }: ConnectedUser) => nodes.findIndex(({ service }) => byProcess.get(service.pid) === nodeOf.get(username))
  return { stage, users: users.map(({ user }) => ({ user, home: homeOf(user) })) }
}

function send(
  agent: LoadAgent,
  { stage, users, atOnce, isPassedOn }: Pick<Variant, 'stage' | 'users' | 'atOnce' | 'isPassedOn'>,
  name: string,
  count: number
): Promise<void> {
  return inParallel(count, atOnce, async index => {
    const { user, home } = users[index % users.length] ?? {}
    const { nodes } = stage
    // Users follow each other in the same way, so the node moves on once more with each round of them.
    const node = nodes[isPassedOn ? (index + Math.floor(index / users.length)) % nodes.length : (home ?? -1)]
    if (user === undefined || node === undefined) throw new Error('a user of the bench has no owner')
    const { status } = await agent.order(node, [user], `${name}-${index}`, index)
    if (status !== 'filled') throw new Error(`an order of the bench is ${status}, not filled`)
  })
}

async function spent({ pids, databaseUrl }: ClusterStage, work: () => Promise<unknown>): Promise<Spent> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const [begun, before, transactions] = [performance.now(), processorTimes(pids), await transactionsOf(client)]
    await work()
    await pause(AFTER_MS)
    const [spanMs, times] = [performance.now() - begun, timesOf(before, processorTimes(pids), 1)]
    return { spanMs, times, commits: (await transactionsOf(client)) - transactions - 1 }
  } finally {
    await client.end()
  }
}

/** How many transactions have written on this PostgreSQL, this question included. */
async function transactionsOf(client: Client): Promise<number> {
  const { rows } = await client.query<{ id: string }>('select pg_current_xact_id()::text as id')
  return Number(rows[0]?.id)
}

function linesOf({ name, atOnce, blocks }: Variant, idle: Spent | undefined): readonly string[] {
  const orders = blocks.length * BLOCK_ORDERS
  const spanMs = sumOf(blocks, one => one.spanMs)
  const idles = spanMs / (idle?.spanMs ?? Number.NaN)
  const names = [...(idle?.times.keys() ?? [])]
  const times = new Map(
    names.map(process => {
      const all = sumOf(blocks, one => one.times.get(process) ?? 0)
      return [process, (all - idles * (idle?.times.get(process) ?? 0)) / orders]
    })
  )
  const commits = (sumOf(blocks, one => one.commits) - idles * (idle?.commits ?? 0)) / orders
  const total = sumOf([...times.values()], micros => micros)
  return [
    line(`${name}, ${atOnce} at once`, `${total.toFixed(0)} µs, ${commits.toFixed(2)} writing transactions`, '', null),
    line('    by process', perPiece(times), '', null)
  ]
}

function sumOf<T>(all: readonly T[], of: (one: T) => number): number {
  return all.reduce((sum, one) => sum + of(one), 0)
}
