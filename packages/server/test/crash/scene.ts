// A sandbox, a proxy, a database and a service that comes back after every death: what the crash and fault tests play on.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  agreement,
  CLIENT_SECRET,
  CrashPlatform,
  type CrashUser,
  type LogEntry,
  logFaults,
  type OrderRecord,
  SandboxProcess,
  ServiceProcess
} from '@trunkline/testkit/crash/index'
import { FaultProxy } from '@trunkline/testkit/fault-proxy/index'
import { METRICS_TOKEN } from '@trunkline/testkit/metrics'
import { PATIENCE_MS } from '@trunkline/testkit/patience'
import { createDatabase, sharedPostgres } from '@trunkline/testkit/postgres/index'
import { until } from '@trunkline/testkit/until'
import { copyStore } from '../store/template.ts'

export const ENGINES = ['embedded', 'postgres'] as const
export type Engine = (typeof ENGINES)[number]

const PROGRAM = fileURLToPath(new URL('./program.ts', import.meta.url))
const OUTPUT_SHOWN = 4_000

/** Short enough that a proof of absence takes seconds. */
const FAST = {
  TRUNKLINE_ABSENCE_SECONDS: '1',
  TRUNKLINE_COMMAND_MS: '2000',
  TRUNKLINE_ANSWER_WITHIN_MS: '1000',
  TRUNKLINE_FRESH_MS: '0',
  TRUNKLINE_RATE_LIMIT_USER: '100000',
  TRUNKLINE_RATE_LIMIT_PLATFORM: '100000',
  TRUNKLINE_ACCESS_LOG: 'none',
  TRUNKLINE_METRICS_TOKEN: METRICS_TOKEN,
  TRUNKLINE_DOCS: '0'
}

export class Scene implements AsyncDisposable {
  readonly sandbox: SandboxProcess
  readonly proxy: FaultProxy
  readonly platform: CrashPlatform
  readonly #env: Readonly<Record<string, string>>
  readonly #resources: AsyncDisposableStack
  readonly #logs = new Map<string, readonly LogEntry[]>()
  #service: ServiceProcess
  #users = 0

  private constructor(
    parts: { readonly sandbox: SandboxProcess; readonly proxy: FaultProxy; readonly service: ServiceProcess },
    env: Readonly<Record<string, string>>,
    resources: AsyncDisposableStack
  ) {
    this.sandbox = parts.sandbox
    this.proxy = parts.proxy
    this.#service = parts.service
    this.#env = env
    this.#resources = resources
    this.platform = new CrashPlatform(() => this.#service.demo)
  }

  static async open(engine: Engine, more: Readonly<Record<string, string>> = {}): Promise<Scene> {
    const resources = new AsyncDisposableStack()
    try {
      const dataDir = await mkdtemp(join(tmpdir(), 'trunkline-crash-'))
      resources.defer(() => rm(dataDir, { recursive: true, force: true }))
      const proxy = resources.use(await FaultProxy.start())
      const [sandbox, database] = await Promise.all([SandboxProcess.start(proxy.url), databaseOf(engine, dataDir, resources)])
      resources.use(sandbox)
      proxy.leadTo(sandbox.port)
      const env = {
        ...FAST,
        TRUNKLINE_PORT: '0',
        TRUNKLINE_DATA_DIR: dataDir,
        TRUNKLINE_SANDBOX_URL: proxy.url,
        TRUNKLINE_SANDBOX_CLIENT_SECRET: CLIENT_SECRET,
        ...database,
        ...more
      }
      const service = await ServiceProcess.start(PROGRAM, env)
      return new Scene({ sandbox, proxy, service }, env, resources)
    } catch (cause) {
      await resources.disposeAsync()
      throw cause
    }
  }

  /** Plays on a scene of its own. A failure of the play is reported, not what then fails in the cleanup. */
  static async play(engine: Engine, more: Readonly<Record<string, string>>, run: (scene: Scene) => Promise<void>): Promise<void> {
    const scene = await Scene.open(engine, more)
    try {
      await run(scene)
    } catch (cause) {
      await scene[Symbol.asyncDispose]().catch(() => undefined)
      throw cause
    }
    await scene[Symbol.asyncDispose]()
  }

  get service(): ServiceProcess {
    return this.#service
  }

  /** A user of its own, with a login of its own at the sandbox. */
  async user(): Promise<CrashUser> {
    this.#users += 1
    return await this.platform.user(`user-${this.#users}`, await this.sandbox.login())
  }

  /** Starts the service again over what it left behind. */
  async restart(): Promise<void> {
    assert.ok(!this.#service.isRunning, 'the service still runs')
    this.#service = await ServiceProcess.start(PROGRAM, this.#env)
  }

  /** Waits for the death, then starts again. */
  async afterDeath(): Promise<void> {
    assert.equal(await this.#service.ended(20_000), 'SIGKILL', this.#service.output.slice(-OUTPUT_SHOWN))
    await this.restart()
  }

  /** Waits until the order has come to rest, and checks that both sides agree on it and that its log is whole. Gives the order. */
  async settled(user: CrashUser, clOrdId: string): Promise<OrderRecord> {
    let last = 'there is no such order'
    let settled: OrderRecord = null
    await until(
      async () => {
        const order = await user.named(clOrdId).catch(cause => {
          last = String(cause)
          return null
        })
        const stored = order === null ? null : await this.#service.order(order.order_id)
        if (order === null || stored === null) return false
        const { waitsFor, differences } = agreement(order, await this.sandbox.ordersOf(stored.brokerClOrdId))
        last = waitsFor ?? differences.join('; ')
        settled = order
        return waitsFor === null && differences.length === 0
      },
      `order ${clOrdId} is settled`,
      PATIENCE_MS
    ).catch(cause => assert.fail(`${cause.message}: ${last}\n${JSON.stringify(settled)}\n${this.#service.output.slice(-OUTPUT_SHOWN)}`))
    await this.#checkLog(user, settled.order_id)
    return settled
  }

  /** Orders at the sandbox under the order's id there, and how often it was asked for them. */
  async ordersOf(order: OrderRecord): Promise<{ readonly received: number; readonly accepted: number }> {
    const stored = await this.#service.order(order.order_id)
    assert.ok(stored !== null)
    return await this.sandbox.ordersOf(stored.brokerClOrdId)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      if (this.#service.isRunning) assert.equal(await this.#service.stop(), 0, this.#service.output.slice(-OUTPUT_SHOWN))
    } finally {
      await this.#resources.disposeAsync()
    }
  }

  async #checkLog(user: CrashUser, orderId: string): Promise<void> {
    const stored = await this.#service.order(orderId)
    const log = await this.#service.log(orderId)
    assert.ok(stored !== null)
    const earlier = this.#logs.get(user.accountId) ?? []
    assert.deepEqual(logFaults(log, earlier, [stored]), [])
    this.#logs.set(user.accountId, log)
  }
}

async function databaseOf(engine: Engine, dataDir: string, resources: AsyncDisposableStack): Promise<Readonly<Record<string, string>>> {
  if (engine === 'embedded') {
    await copyStore(join(dataDir, 'database'))
    return {}
  }
  const cluster = resources.use(await sharedPostgres())
  const database = resources.use(await createDatabase(cluster.url))
  return { TRUNKLINE_DATABASE_URL: database.url }
}
