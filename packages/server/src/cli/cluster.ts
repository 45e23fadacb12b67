// The nodes of a cluster, as its database has them.

import { type NodeId, parseUuid } from '@trunkline/core/domain/ids'
import { Malformed } from '@trunkline/core/domain/malformed'
import { PARTITIONS } from '@trunkline/core/domain/partition'
import { type Kysely, sql } from 'kysely'
import { operatorEntry } from '../admin/deps.ts'
import { SystemClock } from '../ops/clock.ts'
import { appendAudit } from '../store/audit-entries.ts'
import type { Database } from '../store/database.ts'
import { openEngine } from '../store/index.ts'
import { aligned, CommandFailed, type Common, type Console, counted, outJson } from './console.ts'
import { ConsoleLog } from './console-log.ts'
import { settingsFor, whoAmI } from './operator.ts'
import { shown } from './shown.ts'

interface NodeRow {
  readonly node_id: NodeId
  readonly name: string
  readonly url: string
  readonly joined_seconds: number
  /** Negative: it has ended. */
  readonly lease_seconds: number
  readonly draining: boolean
  readonly partitions: number
  /** The highest of its partitions; null if it has none. */
  readonly fence: number | null
}

/** Lists the nodes, and how many partitions have no living owner. */
export async function listNodes(console: Console, { json }: Common): Promise<void> {
  const { nodes, unowned } = await onCluster(console, async db => {
    const { rows } = await sql<NodeRow>`
      select node_id, name, url, extract(epoch from clock_timestamp() - joined_at)::float8 as joined_seconds,
        extract(epoch from lease_ends_at - clock_timestamp())::float8 as lease_seconds, is_draining as draining,
        count(partition)::int as partitions, max(fence) as fence
      from members left join partitions on owner = node_id
      group by node_id order by lease_ends_at <= clock_timestamp(), joined_at, node_id`.execute(db)
    const owned = rows.filter(node => node.lease_seconds > 0).reduce((sum, node) => sum + node.partitions, 0)
    return { nodes: rows, unowned: PARTITIONS - owned }
  })
  if (json) return outJson(console, { nodes, partitions_without_owner: unowned })
  if (nodes.length === 0) return console.out('No node has joined. A process without TRUNKLINE_NATS_URL runs alone, and is none.\n')
  const head = ['node_id', 'name', 'url', 'joined', 'lease', 'partitions', 'fence', 'state']
  console.out(aligned([head, ...nodes.map(row => cellsOf(row).map(shown))]))
  if (unowned > 0) console.out(`\n${counted(unowned, 'partition has', 'partitions have')} no owner now: the users in them wait.\n`)
}

/** Marks a node as draining: it gives all users to the others at its next renewal, and takes none until it is started again. */
export async function drainNode(console: Console, node: string, { json }: Common): Promise<void> {
  const nodeId = nodeIdOf(node)
  const clock = new SystemClock()
  await onCluster(console, db =>
    db.transaction().execute(async trx => {
      const { rows } = await sql<{ is: boolean }>`
        select drain_member(node_id) as is from members where node_id = ${nodeId} and lease_ends_at > clock_timestamp()`.execute(trx)
      if (rows[0]?.is !== true) throw new CommandFailed(1, `There is no living node ${nodeId}. "cluster nodes" lists them.`)
      await appendAudit(trx, operatorEntry(clock.now(), { by: whoAmI(console) }, 'cluster.drain', nodeId))
    })
  )
  if (json) return outJson(console, { node_id: nodeId, draining: true })
  console.out(`${nodeId} gives its users to the other nodes now, and takes none until it is started again.\n`)
}

function nodeIdOf(text: string): NodeId {
  try {
    return parseUuid<NodeId>(text, 'node_id')
  } catch (cause) {
    if (cause instanceof Malformed) throw new CommandFailed(2, cause.message)
    throw cause
  }
}

async function onCluster<T>(console: Console, work: (db: Kysely<Database>) => Promise<T>): Promise<T> {
  const { databaseUrl: url } = settingsFor(console)
  if (url === null) throw new CommandFailed(2, 'TRUNKLINE_DATABASE_URL is not set. Only services on PostgreSQL can be nodes of a cluster.')
  const engine = await openEngine({ kind: 'postgres', url, poolMax: 1 }, { log: new ConsoleLog(console) })
  try {
    const { rows } = await sql<{ there: boolean }>`select to_regclass('members') is not null as there`.execute(engine.db)
    if (rows[0]?.there !== true) throw new CommandFailed(1, 'The database has no cluster: its schema is older than this version.')
    return await work(engine.db)
  } finally {
    await engine.db.destroy()
  }
}

function cellsOf({ node_id: nodeId, name, url, joined_seconds: joined, lease_seconds: lease, ...row }: NodeRow): readonly string[] {
  const state = lease <= 0 ? 'dead' : row.draining ? 'draining' : 'living'
  const left = lease <= 0 ? `ended ${since(-lease)} ago` : `${lease.toFixed(1)} s left`
  return [nodeId, name, url, `${since(joined)} ago`, left, String(row.partitions), row.fence === null ? '-' : String(row.fence), state]
}

function since(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`
}
