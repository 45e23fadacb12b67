import { randomBytes } from 'node:crypto'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { NatsServer } from '../../packages/testkit/src/nats/index.ts'
import { scratch } from '../harness/processes.ts'
import { openHome, type RunningService, startService } from '../harness/service.ts'
import { type ConnectedUser, connectedUser, startSandbox } from '../harness/stage.ts'

/** Nodes on one database, with the sandbox as their broker; one node is a process that runs alone. */
export interface ClusterStage extends AsyncDisposable {
  readonly nodes: readonly RunningService[]
  /** Process ids by name, for processor times. PostgreSQL's are found by themselves. */
  readonly pids: Readonly<Record<string, number>>
  /** Connects a new user. */
  user(): Promise<ConnectedUser>
}

const DEMO_FILE = 'demo-platform.json'

export async function openCluster(count: number): Promise<ClusterStage> {
  await using undone = new AsyncDisposableStack()
  const sandbox = undone.use(await startSandbox())
  const home = undone.use(await openHome('postgres'))
  const nats = count === 1 ? null : undone.use(await NatsServer.start())
  const env = {
    TRUNKLINE_MASTER_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    ...(nats === null ? {} : { TRUNKLINE_NATS_URL: nats.url, TRUNKLINE_NODE_PORT: '0' })
  }
  const nodes: RunningService[] = []
  for (let index = 0; index < count; index += 1) {
    const { path } = undone.use(scratch())
    const [first] = nodes
    // The first node made the demo platform; the others find it.
    if (first !== undefined) copyFileSync(join(first.dataDir, DEMO_FILE), join(path, DEMO_FILE))
    const own = { dataDir: path, databaseUrl: home.databaseUrl, [Symbol.asyncDispose]: async () => undefined }
    nodes.push(undone.use(await startService('postgres', { ...sandbox.serviceOptions, home: own, env })))
  }
  const [first] = nodes
  if (first === undefined) throw new Error('a cluster has at least one node')
  const services = Object.fromEntries(nodes.map(({ service }, index) => [`node ${index + 1}`, service.pid]))
  const pids = { ...services, ...(nats === null ? {} : { nats: nats.pid }) }
  const parts = undone.move()
  return { nodes, pids, user: () => connectedUser(first.platform, sandbox.controlUrl), [Symbol.asyncDispose]: () => parts.disposeAsync() }
}
