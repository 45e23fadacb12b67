// Three nodes on one database, with NATS and a sandbox brokerage, each a program of its own.
import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { METRICS_TOKEN } from '@trunkline/testkit/metrics'
import { NatsServer } from '@trunkline/testkit/nats/index'
import { PATIENCE_MS } from '@trunkline/testkit/patience'
import { createDatabase, sharedPostgres } from '@trunkline/testkit/postgres/index'
import { INHERITED, SHORT_LIVED } from '@trunkline/testkit/short-lived'
import { until } from '@trunkline/testkit/until'
import { within } from '@trunkline/testkit/within'
import type { Body } from './api.ts'
import type { Demo, RunningService } from './harness.ts'

const ROOT = resolve(import.meta.dirname, '..', '..')
const READY = 'Trunkline is ready at '

/** A node, seen from outside. */
export class ClusterNode {
  readonly #env: Readonly<Record<string, string>>
  readonly #dataDir: string
  readonly #demo: () => Demo | null
  #child: ChildProcess | null = null
  #output = ''
  url = ''

  constructor(dataDir: string, env: Readonly<Record<string, string>>, demo: () => Demo | null) {
    this.#dataDir = dataDir
    this.#env = env
    this.#demo = demo
  }

  /** The node as tests of a single process see it; its demo platform is that of the cluster. */
  get service(): RunningService {
    const demo = this.#demo() ?? assert.fail('no demo platform yet')
    const ws = this.url.replace(/^http/, 'ws')
    const own = { ...demo, base_url: this.url, stream_url: `${ws}/stream`, market_data_stream_url: `${ws}/market-data/stream` }
    return {
      url: this.url,
      demo: own,
      dataDir: this.#dataDir,
      output: () => this.#output,
      isRunning: () => this.#child !== null && this.#child.exitCode === null && this.#child.signalCode === null,
      interrupt: () => void this.#child?.kill('SIGTERM'),
      [Symbol.asyncDispose]: async () => undefined
    }
  }

  get output(): string {
    return this.#output
  }

  /** `program`, relative to the checkout, and its arguments; another one may stand for another version. */
  async start(...[program, ...given]: readonly [string, ...string[]] | readonly []): Promise<void> {
    const env = { ...INHERITED, ...this.#env, TRUNKLINE_DATA_DIR: this.#dataDir, TRUNKLINE_METRICS_TOKEN: METRICS_TOKEN }
    const args = [...SHORT_LIVED, join(ROOT, program ?? 'packages/server/src/main.ts'), ...given]
    const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] })
    this.#child = child
    this.#output = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (this.#output += text))
    const line = () => this.#output.split('\n').find(text => text.includes(READY)) ?? null
    await until(() => line() !== null || child.exitCode !== null, 'a node is ready', PATIENCE_MS).catch(cause => {
      throw new Error(`the node did not become ready; it wrote:\n${this.#output}`, { cause })
    })
    const found = /ready at (\S+)/.exec(line() ?? assert.fail(`the node ended:\n${this.#output}`))
    this.url = found?.[1] ?? assert.fail('no address')
  }

  /** What a command of an operator's answers, on this node's machine. */
  async operate(...command: readonly string[]): Promise<Body> {
    const env = { ...INHERITED, ...this.#env, TRUNKLINE_DATA_DIR: this.#dataDir }
    const args = [join(ROOT, 'packages/server/src/cli.ts'), ...command, '--json']
    const { stdout } = await promisify(execFile)(process.execPath, args, { env, cwd: this.#dataDir })
    return JSON.parse(stdout)
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal)
  }

  /** How it ended: its exit code, or the signal. */
  async ended(): Promise<number | NodeJS.Signals | null> {
    const child = this.#child ?? assert.fail('it was not started')
    if (child.exitCode === null && child.signalCode === null)
      await within(PATIENCE_MS, once(child, 'exit'), () => `a node ended; it wrote:\n${this.#output.slice(-4_000)}`)
    return child.exitCode ?? child.signalCode
  }

  /** Ends it, if it runs, without looking at how. */
  async dispose(): Promise<void> {
    if (this.#child === null || this.#child.exitCode !== null || this.#child.signalCode !== null) return
    this.#child.kill('SIGKILL')
    await once(this.#child, 'exit')
  }
}

export interface Cluster extends AsyncDisposable {
  readonly nodes: readonly [ClusterNode, ClusterNode, ClusterNode]
  /** Another node, which was not started. */
  readonly spare: ClusterNode
  readonly nats: NatsServer
  readonly demo: Demo
  /** The ids of all orders in the accounts of one of the sandbox's first customers, by number. */
  ordersAtBroker(login: number): Promise<readonly string[]>
}

export async function startCluster(): Promise<Cluster> {
  await using undone = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'trunkline-cluster-'))
  undone.defer(() => rm(folder, { recursive: true, force: true }))
  const postgres = undone.use(await sharedPostgres())
  const database = undone.use(await createDatabase(postgres.url))
  const nats = undone.use(await NatsServer.start())
  const secret = randomBytes(24).toString('hex')
  const sandbox = await startSandbox(join(folder, 'sandbox'), secret, undone)
  const env = {
    TRUNKLINE_PORT: '0',
    TRUNKLINE_NODE_PORT: '0',
    TRUNKLINE_DATABASE_URL: database.url,
    TRUNKLINE_NATS_URL: nats.url,
    TRUNKLINE_MASTER_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    TRUNKLINE_SANDBOX_URL: sandbox.url,
    TRUNKLINE_SANDBOX_CLIENT_SECRET: secret
  }
  let demo: Demo | null = null
  const node = (name: string) => {
    const made = new ClusterNode(join(folder, name), env, () => demo)
    undone.defer(() => made.dispose())
    return made
  }
  const nodes = [node('a'), node('b'), node('c')] as const
  const spare = node('d')
  const [first, ...others] = nodes
  await first.start()
  demo = { ...JSON.parse(await readFile(join(folder, 'a', 'demo-platform.json'), 'utf8')), ...sandbox.demo }
  await Promise.all(others.map(other => other.start()))
  const parts = undone.move()
  const ordersAtBroker = (login: number) => ordersOf(sandbox, login)
  return { nodes, spare, nats, demo: first.service.demo, ordersAtBroker, [Symbol.asyncDispose]: () => parts.disposeAsync() }
}

async function startSandbox(dataDir: string, secret: string, undone: AsyncDisposableStack) {
  const child = spawn(process.execPath, [...SHORT_LIVED, join(ROOT, 'packages/sandbox/src/main.ts')], {
    env: {
      ...INHERITED,
      SANDBOX_PORT: '0',
      SANDBOX_DATA_DIR: dataDir,
      SANDBOX_CLIENT_SECRET: secret,
      SANDBOX_REDIRECT_URIS: 'http://127.0.0.1/connect/callback/sandbox'
    },
    stdio: ['pipe', 'pipe', 'inherit']
  })
  undone.defer(async () => {
    child.kill('SIGTERM')
    await once(child, 'exit')
  })
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith('{"event":"ready"')) continue
    const { url, control_url: controlUrl, logins } = JSON.parse(line)
    child.stdout.resume()
    return { url: String(url), demo: { sandbox_control_url: String(controlUrl), sandbox_logins: logins } }
  }
  return assert.fail('the sandbox ended before it was ready')
}

async function ordersOf({ url, demo }: Awaited<ReturnType<typeof startSandbox>>, login: number): Promise<readonly string[]> {
  const { username } = demo.sandbox_logins[login] ?? assert.fail('no such customer')
  const made = await fetch(`${demo.sandbox_control_url}/logins/${username}/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}'
  })
  const { access_token: token }: Body = await made.json()
  const ask = async (path: string): Promise<readonly Body[]> => {
    const response = await fetch(`${url}/api/v1${path}`, { headers: { authorization: `Bearer ${token}` } })
    const { items }: Body = await response.json()
    return items
  }
  const found: string[] = []
  for (const account of await ask('/accounts'))
    for (const order of await ask(`/orders?account=${account.id}&limit=500`)) found.push(String(order.id))
  return found
}
