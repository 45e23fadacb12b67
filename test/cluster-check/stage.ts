// The stage of the check: three nodes, PostgreSQL, NATS and the sandbox as programs, and a proxy on each link of each node.
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { CLIENT_SECRET, SandboxProcess } from '@trunkline/testkit/crash/sandbox-process'
import { NatsServer } from '@trunkline/testkit/nats/index'
import { temporaryFolder, unprivilegedUser } from '@trunkline/testkit/postgres/binaries'
import { INHERITED, SHORT_LIVED } from '@trunkline/testkit/short-lived'
import { until } from '@trunkline/testkit/until'
import { type Guard, startGuard } from '../../scripts/cluster/guard.ts'
import type { Credentials } from './client.ts'
import { Calm } from './limits.ts'
import { LINKS, NodeLinks } from './links.ts'
import { type Machine, machine } from './machine.ts'
import { CheckedNode } from './node.ts'
import { Database, freePort } from './parties.ts'
import { BROKERS, type CheckedUser, someUser } from './users.ts'

export const NODES = 3
const ROOT = resolve(import.meta.dirname, '..', '..')

/** Limits are out of the way, and times of minutes are scaled to seconds. */
const SETTINGS = {
  TRUNKLINE_ABSENCE_SECONDS: '3',
  TRUNKLINE_COMMAND_MS: '2000',
  TRUNKLINE_ANSWER_WITHIN_MS: '1000',
  TRUNKLINE_RATE_LIMIT_USER: '100000',
  TRUNKLINE_RATE_LIMIT_PLATFORM: '100000',
  TRUNKLINE_ACCESS_LOG: 'none',
  TRUNKLINE_DOCS: '0'
}
/** What every symbol is bought and sold at, in any quantity. */
const QUOTE_SIZES = { bids: [['9.99', '1000000000']], asks: [['10.01', '1000000000']] }
export const SYMBOLS = ['AAPL', 'MSFT'] as const

interface Parts {
  readonly folder: string
  readonly guard: Guard
  readonly database: Database
  readonly nats: NatsServer
  readonly sandbox: SandboxProcess
  readonly nodes: readonly CheckedNode[]
  readonly links: readonly NodeLinks[]
  readonly machine: Machine
}

export class Stage implements AsyncDisposable {
  readonly database: Database
  readonly nats: NatsServer
  readonly sandbox: SandboxProcess
  readonly nodes: readonly CheckedNode[]
  /** In the order of the nodes. */
  readonly links: readonly NodeLinks[]
  readonly machine: Machine
  readonly calm: Calm
  readonly platform: Credentials
  readonly users: readonly CheckedUser[]
  readonly #folder: string
  readonly #guard: Guard
  readonly #undone: AsyncDisposableStack

  private constructor(parts: Parts, platform: Credentials, users: readonly CheckedUser[], undone: AsyncDisposableStack) {
    this.database = parts.database
    this.nats = parts.nats
    this.sandbox = parts.sandbox
    this.nodes = parts.nodes
    this.links = parts.links
    this.machine = parts.machine
    const isReady = () => parts.nodes.every(node => node.isReady)
    this.calm = new Calm(isReady, () => performance.now())
    this.platform = platform
    this.users = users
    this.#folder = parts.folder
    this.#guard = parts.guard
    this.#undone = undone
  }

  /** Starts everything and connects the users. @param onFault called with an end of a node that nothing explains */
  static async open(users: number, fraction: () => number, onFault: (what: string) => void): Promise<Stage> {
    await using undone = new AsyncDisposableStack()
    const parts = await started(undone, fraction, onFault)
    const [first, ...others] = parts.nodes
    if (first === undefined) throw new Error('there are no nodes')
    first.start()
    await readyOf(first)
    for (const other of others) other.start()
    await Promise.all(others.map(readyOf))
    const platform: Credentials = JSON.parse(readFileSync(join(dataDirOf(parts.folder, 1), 'demo-platform.json'), 'utf8'))
    // No token has to be renewed: a broker ends the whole grant when the answer to a renewal is lost.
    await parts.sandbox.control('PUT', '/oauth', { access_ttl_s: 86_400 })
    await marketStandsStill(parts.sandbox)
    const names = Array.from({ length: users }, (_, index) => `user-${index + 1}`)
    // The callbacks that are registered at the brokers are the first node's.
    const made = await Promise.all(names.map(name => someUser(first.url, platform, parts.sandbox, name)))
    return new Stage(parts, platform, made, undone.move())
  }

  /** Another key of the platform. */
  async key(name: string): Promise<Credentials> {
    const args = [
      'packages/server/src/cli.ts',
      'platform',
      'key',
      'create',
      this.platform.client_id,
      '--name',
      name,
      '--scope',
      'read',
      '--json'
    ]
    const env = { ...INHERITED, ...SETTINGS, TRUNKLINE_DATA_DIR: dataDirOf(this.#folder, 1), TRUNKLINE_DATABASE_URL: this.database.url }
    const { stdout } = await promisify(execFile)(process.execPath, [...SHORT_LIVED, ...args], { cwd: ROOT, env })
    return JSON.parse(stdout)
  }

  /** Without anything that it had. */
  async stopNats(): Promise<void> {
    const { pid } = this.nats
    await this.nats.kill()
    this.#guard.ended(pid)
  }

  async startNats(): Promise<void> {
    await this.nats.restart()
    this.#guard.began(this.nats.pid, { endSignal: 'SIGTERM' })
  }

  /** The market at its beginning: what was bought is offered again. */
  async refillMarket(): Promise<void> {
    await marketStandsStill(this.sandbox)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const links of this.links) for (const name of LINKS) links.clear(name)
    await this.#undone.disposeAsync()
  }
}

/** Until it is ready: a busy machine may end its first process. */
async function readyOf(node: CheckedNode): Promise<void> {
  await until(() => node.isReady, `node ${node.number} is ready`)
}

async function started(undone: AsyncDisposableStack, fraction: () => number, onFault: (what: string) => void): Promise<Parts> {
  const folder = mkdtempSync(join(temporaryFolder(unprivilegedUser()), 'trunkline-cluster-check-'))
  // PostgreSQL may run as another user.
  await chmod(folder, 0o711)
  undone.defer(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }))
  const guard = startGuard()
  undone.defer(() => guard.stop())
  const database = undone.use(await Database.start(folder, join(folder, 'postgres.log'), guard))
  const nats = undone.use(await NatsServer.start())
  guard.began(nats.pid, { endSignal: 'SIGTERM' })
  const ports = await Promise.all(Array.from({ length: NODES }, async () => ({ http: await freePort(), between: await freePort() })))
  const links: NodeLinks[] = []
  for (const [index] of ports.entries()) {
    const between = [1, 2].map(ahead => ports[(index + ahead) % NODES]?.between ?? 0)
    const [next = 0, last = 0] = between
    const targets = { database: database.port, nats: nats.port, brokers: 0, 'next node': next, 'last node': last }
    links.push(undone.use(await NodeLinks.open(targets, fraction)))
  }
  const brokersPort = links[0]?.proxy('brokers').port ?? 0
  const brokersUrl = `http://127.0.0.1:${brokersPort}`
  const callbacks = BROKERS.map(broker => `http://127.0.0.1:${ports[0]?.http}/connect/callback/${broker.toLowerCase()}`)
  const sandbox = undone.use(await SandboxProcess.start(brokersUrl, callbacks))
  for (const each of links) each.proxy('brokers').leadTo(sandbox.port)
  const keys = `check:${randomBytes(32).toString('base64')}`
  const probed = machine(
    join(folder, 'probe'),
    ports.map(({ http }) => urlOf(http))
  )
  undone.use(probed.watch())
  const nodes = links.map((own, index) => {
    const { http = 0, between = 0 } = ports[index] ?? {}
    const databaseUrl = new URL(database.url)
    databaseUrl.port = String(own.proxy('database').port)
    const routes = [
      [brokersPort, own.proxy('brokers').port],
      [ports[(index + 1) % NODES]?.between, own.proxy('next node').port],
      [ports[(index + 2) % NODES]?.between, own.proxy('last node').port]
    ]
    const env = {
      ...SETTINGS,
      CLUSTER_CHECK_ROUTES: JSON.stringify(routes),
      TRUNKLINE_PORT: String(http),
      TRUNKLINE_DATA_DIR: dataDirOf(folder, index + 1),
      TRUNKLINE_DATABASE_URL: databaseUrl.href,
      TRUNKLINE_MASTER_KEYS: keys,
      TRUNKLINE_NATS_URL: `nats://127.0.0.1:${own.proxy('nats').port}`,
      TRUNKLINE_NODE_PORT: String(between),
      TRUNKLINE_SANDBOX_URL: brokersUrl,
      TRUNKLINE_SANDBOX_CLIENT_SECRET: CLIENT_SECRET
    }
    const node = new CheckedNode({ number: index + 1, url: urlOf(http), env, guard, machine: probed, onFault })
    undone.defer(() => node.dispose())
    return node
  })
  return { folder, guard, database, nats, sandbox, nodes, links, machine: probed }
}

function urlOf(port: number): string {
  return `http://127.0.0.1:${port}`
}

function dataDirOf(folder: string, node: number): string {
  return join(folder, `node-${node}`)
}

async function marketStandsStill(sandbox: SandboxProcess): Promise<void> {
  await sandbox.control('PUT', '/market', { paused: true })
  for (const symbol of SYMBOLS) {
    await sandbox.control('PUT', `/market/${symbol}`, { price: '10.00' })
    await sandbox.control('PUT', `/market/${symbol}`, QUOTE_SIZES)
  }
}
