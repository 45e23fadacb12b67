// A sandbox, the service as a program, the network between them, platforms that follow the stream, and a load: the stage of the fault
// matrix and the soak.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FaultProxy } from '../fault-proxy/index.ts'
import type { Chance } from './chance.ts'
import { Follower } from './follower.ts'
import { LiveService } from './live-service.ts'
import { Ledger, type LoadOptions, trade } from './load.ts'
import { CrashPlatform, type CrashUser, type Demo } from './platform.ts'
import { CLIENT_SECRET, SandboxProcess } from './sandbox-process.ts'

export interface WorldOptions {
  /** The service's program. */
  readonly main: string
  /** Copies a database to an empty place; without it the service creates one. */
  readonly database?: (dataDir: string) => Promise<void>
  /** Further settings of the service. */
  readonly env: Readonly<Record<string, string>>
  readonly chance: Chance
}

/** Limits are out of the way, and times of minutes are scaled to seconds. */
const SETTINGS = {
  TRUNKLINE_PORT: '0',
  TRUNKLINE_ABSENCE_SECONDS: '2',
  TRUNKLINE_COMMAND_MS: '2000',
  TRUNKLINE_ANSWER_WITHIN_MS: '1000',
  TRUNKLINE_RATE_LIMIT_USER: '100000',
  TRUNKLINE_RATE_LIMIT_PLATFORM: '100000',
  TRUNKLINE_ACCESS_LOG: 'none',
  TRUNKLINE_DOCS: '0'
}
const SYMBOLS = ['SPY', 'AAPL', 'MSFT', 'KO']

interface Parts {
  readonly dataDir: string
  readonly sandbox: SandboxProcess
  readonly sandboxProxy: FaultProxy
  readonly platformProxy: FaultProxy
  readonly service: LiveService
  readonly env: Readonly<Record<string, string>>
}

export class World implements AsyncDisposable {
  readonly sandbox: SandboxProcess
  readonly dataDir: string
  /** Between the service and the sandbox. */
  readonly sandboxProxy: FaultProxy
  /** Between a platform and the service. */
  readonly platformProxy: FaultProxy
  readonly platform: CrashPlatform
  readonly ledger = new Ledger()
  readonly chance: Chance
  readonly #options: WorldOptions
  readonly #env: Readonly<Record<string, string>>
  readonly #resources: AsyncDisposableStack
  readonly #users: CrashUser[] = []
  readonly #resting = new Map<string, string>()
  readonly #followers = new Map<string, Follower>()
  #service: LiveService

  private constructor(options: WorldOptions, parts: Parts, resources: AsyncDisposableStack) {
    this.sandbox = parts.sandbox
    this.dataDir = parts.dataDir
    this.sandboxProxy = parts.sandboxProxy
    this.platformProxy = parts.platformProxy
    this.#service = parts.service
    this.#env = parts.env
    this.chance = options.chance
    this.#options = options
    this.#resources = resources
    this.platform = new CrashPlatform(() => this.demo)
  }

  /** Starts everything, without connected users. */
  static async open(options: WorldOptions): Promise<World> {
    const resources = new AsyncDisposableStack()
    try {
      const dataDir = await mkdtemp(join(tmpdir(), 'trunkline-world-'))
      // Processes that a killed service leaves behind may write for a moment.
      resources.defer(() => rm(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }))
      const sandboxProxy = resources.use(await FaultProxy.start(options.chance.apart().fraction))
      const platformProxy = resources.use(await FaultProxy.start(options.chance.apart().fraction))
      const sandbox = resources.use(await SandboxProcess.start(sandboxProxy.url))
      sandboxProxy.leadTo(sandbox.port)
      const env = { ...SETTINGS, TRUNKLINE_SANDBOX_URL: sandboxProxy.url, TRUNKLINE_SANDBOX_CLIENT_SECRET: CLIENT_SECRET, ...options.env }
      await options.database?.(join(dataDir, 'database'))
      const service = await LiveService.start(options.main, dataDir, env)
      const world = new World(options, { dataDir, sandbox, sandboxProxy, platformProxy, service, env }, resources)
      platformProxy.leadTo(world.#port())
      return world
    } catch (cause) {
      await resources.disposeAsync()
      throw cause
    }
  }

  /** Connects users of the demo platform, and followers of all of them: one directly, one behind the platform's proxy. */
  async populate(users: number, accountsOfEach: number, onDelay?: (ms: number) => void): Promise<void> {
    for (let number = 1; number <= users; number += 1) await this.join(this.platform, `user-${number}`, accountsOfEach)
    this.follow('steady', onDelay === undefined ? {} : { onDelay })
    this.follow('far', { origin: () => this.platformProxy.url })
  }

  /** A user with a separate login and accounts. */
  async join(platform: CrashPlatform, userId: string, accounts: number): Promise<CrashUser> {
    const user = await platform.user(userId, await this.sandbox.login(accounts))
    this.#users.push(user)
    for (const symbol of SYMBOLS)
      if (!this.#resting.has(symbol)) this.#resting.set(symbol, await this.sandbox.restingPrice(user.login, symbol))
    return user
  }

  /** A follower of the given users from the beginning; by default of every user of the demo platform. */
  follow(
    name: string,
    how: {
      readonly origin?: () => string
      readonly users?: readonly string[]
      readonly demo?: () => Demo
      readonly onDelay?: (ms: number) => void
    }
  ): Follower {
    const follower = new Follower({
      name,
      demo: () => this.demo,
      users: this.#users.map(({ userId }) => userId),
      fraction: this.chance.apart().fraction,
      ...how
    })
    this.#followers.set(name, follower)
    return follower
  }

  async unfollow(name: string): Promise<void> {
    const follower = this.#followers.get(name)
    this.#followers.delete(name)
    await follower?.[Symbol.asyncDispose]()
  }

  get users(): readonly CrashUser[] {
    return this.#users
  }

  get followers(): ReadonlyMap<string, Follower> {
    return this.#followers
  }

  get service(): LiveService {
    return this.#service
  }

  get demo(): Demo {
    return this.#service.demo
  }

  /** Trades on all accounts, or on those of some users. The name must be unused. */
  async trade(load: Pick<LoadOptions, 'name' | 'operations' | 'pauseMs' | 'signal'> & Partial<Pick<LoadOptions, 'users'>>): Promise<void> {
    const { sandbox, ledger, users } = this
    await trade({ users, sandbox, ledger, chance: this.chance.apart(), resting: this.#resting, ...load })
  }

  /** Restarts the service on its data. */
  async restart(): Promise<void> {
    assert.ok(!this.#service.isRunning, 'the service still runs')
    this.#service = await LiveService.start(this.#options.main, this.dataDir, this.#env)
    this.platformProxy.leadTo(this.#port())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      // Disconnecting waits for the other side, so no link may be dead or slow.
      for (const line of [this.sandboxProxy, this.platformProxy]) line.clear()
      for (const name of [...this.#followers.keys()]) await this.unfollow(name)
      if (this.#service.isRunning) assert.equal(await this.#service.stop(), 0, this.#service.output.slice(-4_000))
    } finally {
      if (this.#service.isRunning) this.#service.kill()
      await this.#resources.disposeAsync()
    }
  }

  #port(): number {
    return Number(new URL(this.demo.base_url).port)
  }
}
