import { randomBytes } from 'node:crypto'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { NatsServer } from '../../packages/testkit/src/nats/index.ts'
import { createDatabase } from '../../packages/testkit/src/postgres/index.ts'
import { scratch } from '../harness/processes.ts'
import { openHome, type RunningService, startService } from '../harness/service.ts'
import { type ConnectedUser, connectedUser, startSandbox } from '../harness/stage.ts'

/** Nodes on one database, with the sandbox as their broker; one node is a process that runs alone, and so are those that are apart. */
export interface ClusterStage extends AsyncDisposable {
  readonly nodes: readonly RunningService[]
  /** Process ids by name, for processor times. PostgreSQL's are found by themselves. */
  readonly pids: Readonly<Record<string, number>>
  /** Of all nodes. */
  readonly databaseUrl: string
  readonly sandboxUrl: string
  readonly controlUrl: string
  /** Connects a new user, of this process if they are apart. */
  user(index?: number): Promise<ConnectedUser>
  /** Starts a node that has ended again, in its place among the nodes. */
  restart(index: number): Promise<void>
}

const DEMO_FILE = 'demo-platform.json'

export interface ClusterOptions {
  /** The folder in which the nodes log, with all details; by default they log warnings only, which nobody reads. */
  readonly logs?: string | null
  /** Node's flags for the nodes. */
  readonly flags?: readonly string[]
  /** The processes are no nodes: each runs alone, with a database of its own on the same PostgreSQL. */
  readonly areApart?: boolean
}

export async function openCluster(
  count: number,
  { logs = null, flags = [], areApart = false }: ClusterOptions = {}
): Promise<ClusterStage> {
  await using undone = new AsyncDisposableStack()
  const sandbox = undone.use(await startSandbox())
  const { databaseUrl } = undone.use(await openHome('postgres'))
  if (databaseUrl === null) throw new Error('nodes need PostgreSQL')
  const nats = count === 1 || areApart ? null : undone.use(await NatsServer.start())
  const env = {
    TRUNKLINE_MASTER_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    ...(nats === null ? {} : { TRUNKLINE_NATS_URL: nats.url, TRUNKLINE_NODE_PORT: '0' })
  }
  const nodes: RunningService[] = []
  const start = async (index: number, dataDir: string, stack: AsyncDisposableStack) => {
    const url = areApart && index > 0 ? (await createDatabase(databaseUrl)).url : databaseUrl
    const home = { dataDir, databaseUrl: url, [Symbol.asyncDispose]: async () => undefined }
    const log = logs === null ? {} : { TRUNKLINE_LOG_LEVEL: 'info', TRUNKLINE_LOG_FILE: join(logs, `node-${index + 1}.log`) }
    nodes[index] = stack.use(await startService('postgres', { ...sandbox.serviceOptions, home, flags, env: { ...env, ...log } }))
  }
  for (let index = 0; index < count; index += 1) {
    const { path } = undone.use(scratch())
    const [first] = nodes
    // The first node made the demo platform; the others find it.
    if (first !== undefined && !areApart) copyFileSync(join(first.dataDir, DEMO_FILE), join(path, DEMO_FILE))
    await start(index, path, undone)
  }
  const [first] = nodes
  if (first === undefined) throw new Error('a cluster has at least one node')
  const services = Object.fromEntries(nodes.map(({ service }, index) => [`node ${index + 1}`, service.pid]))
  const pids = { ...services, ...(nats === null ? {} : { nats: nats.pid }) }
  const { controlUrl, serviceOptions } = sandbox
  const parts = undone.move()
  return {
    ...{ nodes, pids, databaseUrl, controlUrl, sandboxUrl: serviceOptions.sandboxUrl },
    user: (index = 0) => connectedUser(((areApart ? nodes[index] : undefined) ?? first).platform, controlUrl),
    restart: index => start(index, nodes[index]?.dataDir ?? '', parts),
    [Symbol.asyncDispose]: () => parts.disposeAsync()
  }
}
