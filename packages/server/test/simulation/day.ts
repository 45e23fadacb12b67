// A random day: a platform and its streams, a market that moves, and brokers, a store, a bus, a clock and a process that fail in between.
import { ACTIONS, type Stage } from './actions.ts'
import { BrokerFaults, type Temper, TRAVEL_MS_MAX } from './broker-faults.ts'
import type { Chance } from './chance.ts'
import { EnvironmentFaults } from './environment-faults.ts'
import { Fleet } from './fleet.ts'
import { hopeless } from './hopeless.ts'
import { decide } from './market.ts'
import { Platform } from './platform.ts'
import type { Login, Scene } from './scene.ts'
import type { Conditions } from './service.ts'
import type { NodesDatabase } from './stores.ts'
import { type Habits, StreamClient } from './stream-client.ts'
import { Witness } from './witness.ts'

const STOP_MS_MAX = 120_000
const START_MS_MAX = 600_000
/** So many times more happens to nodes on a rough day. */
const ROUGHNESS = 5
const SETTLE_MS_MAX = 7_200_000

export interface DayOptions {
  readonly steps: number
  readonly clients: readonly Habits[]
  /** One process, or several nodes over this database. */
  readonly machines: number
  readonly database: NodesDatabase | null
  readonly sabotage?: Conditions['sabotage']
  /** Much happens to the nodes. */
  readonly isRough?: boolean
}

export class Day {
  readonly scene: Scene
  readonly clients: readonly StreamClient[]
  readonly platform: Platform
  readonly fleet: Fleet
  readonly witness = new Witness()
  readonly #steps: number
  readonly #chance: Chance
  readonly #environment: EnvironmentFaults
  readonly #brokerFaults: ReadonlyMap<Login, BrokerFaults>
  readonly #weights: Readonly<Record<string, number>>
  #failure: { readonly cause: unknown } | null = null

  constructor(scene: Scene, options: DayOptions) {
    this.scene = scene
    this.#steps = options.steps
    this.#chance = scene.chance.apart('day')
    const { machines, database, sabotage } = options
    this.#environment = new EnvironmentFaults(scene, scene.chance.apart('environment'), machines)
    this.fleet = new Fleet({
      ...{ scene, machines, database, environment: this.#environment, chance: scene.chance.apart('fleet') },
      ...(sabotage && { sabotage }),
      fail: cause => this.#fail(cause)
    })
    this.#brokerFaults = new Map(scene.logins.map(login => [login, this.#faultsOf(login)]))
    this.#weights = this.#someWeights(options.isRough === true ? ROUGHNESS : 1)
    const surroundings = { scene, service: () => this.fleet.some(), witness: this.witness, fail: (cause: unknown) => this.#fail(cause) }
    this.platform = new Platform({ ...surroundings, chance: scene.chance.apart('platform') })
    this.clients = options.clients.map(habits => new StreamClient(habits, { ...surroundings, chance: scene.chance.apart(habits.name) }))
  }

  /** @throws what went wrong first. */
  async run(): Promise<void> {
    this.fleet.begin()
    await this.#ready()
    for (const client of this.clients) client.connect()
    for (let step = 0; step < this.#steps; step += 1) {
      await this.#perform(this.#chance.weighted(this.#weights))
      await this.scene.clock.advance(this.#pause())
      this.scene.store.mark()
      this.assertWell()
    }
  }

  /** Everything behaves again, and there is time for it. */
  async end(): Promise<void> {
    const { clock, logins, trace } = this.scene
    trace.note('all is well from here on')
    this.#environment.heal()
    this.fleet.heal()
    await this.#ready()
    for (const brokerFaults of this.#brokerFaults.values()) brokerFaults.heal()
    for (const client of this.clients) client.goOn()
    await this.#until(() => !this.platform.isWaiting, 'every request is answered')
    // All that travels arrives, and what the brokers began they end.
    await clock.advance(2 * TRAVEL_MS_MAX)
    for (const login of logins) decide(login)
    await this.#until(() => this.#isResolved(), 'every order’s outcome is known')
    await this.#until(() => this.clients.every(client => client.isSettled), 'every client has all it wants')
    // What a stream left out shows at the next whole snapshot.
    await clock.advance(70_000)
    this.assertWell()
  }

  /** What `work` gives once time has moved far enough for it. @throws what went wrong first. */
  async given<T>(work: Promise<T>, what: string): Promise<T> {
    let isDone = false
    const done = () => {
      isDone = true
    }
    work.then(done, done)
    await this.#until(() => isDone, what, STOP_MS_MAX)
    return await work
  }

  /** @throws what went wrong first, wherever it was. */
  assertWell(): void {
    if (this.#failure !== null) throw this.#failure.cause
  }

  async stop(): Promise<void> {
    await this.given(this.fleet.stop(), 'the service has stopped')
  }

  /** Nothing is looked for any more but what will be without an end. */
  async #isResolved(): Promise<boolean> {
    const watched = this.fleet.living.reduce((sum, { app }) => sum + app.resolver.watched, 0)
    if (watched === 0) return true
    const untagged = this.scene.logins.filter(({ broker }) => broker.capabilities.deduplication === 'none')
    const counts = untagged.map(async login => {
      const page = { limit: 1_000, edge: null, descending: false } as const
      const accountIds = login.accounts.map(({ accountId }) => accountId)
      const { rows } = await this.scene.store.inner.orders.list({ accountIds }, 'entryTime', page)
      return hopeless(login, rows).size
    })
    return watched <= (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
  }

  async #until(condition: () => boolean | Promise<boolean>, what: string, limitMs = SETTLE_MS_MAX): Promise<void> {
    await this.scene.clock.until(async () => (await condition()) || this.#failure !== null, what, limitMs)
    this.assertWell()
  }

  async #perform(name: string): Promise<void> {
    const { scene } = this
    const login = this.#chance.oneOf(scene.logins.filter(({ isConnected }) => isConnected))
    const client = this.#chance.oneOf(this.clients)
    const brokerFaults = login === undefined ? undefined : this.#brokerFaults.get(login)
    if (login === undefined || client === undefined || brokerFaults === undefined) throw new Error('there is no login or no client')
    const stage: Stage = {
      ...{
        scene,
        login,
        client,
        brokerFaults,
        chance: this.#chance,
        platform: this.platform,
        environment: this.#environment,
        fleet: this.fleet
      },
      whenReady: work => this.#whenReady(work)
    }
    scene.trace.met(name)
    await ACTIONS[name]?.run(stage)
  }

  async #ready(): Promise<void> {
    await this.#until(() => this.fleet.isReady, 'the service has started', START_MS_MAX)
  }

  /** A day of one process waits until it is there again; the other nodes go on meanwhile. */
  async #whenReady(work: Promise<void>): Promise<void> {
    if (!this.fleet.isAlone) return void work.catch(cause => this.#fail(cause))
    await this.given(work, 'the service has stopped')
    await this.#ready()
  }

  /** Things happen at once, soon after one another, or after a while. */
  #pause(): number {
    const how = this.#chance.weighted({ atOnce: 3, soon: 4, later: 2 })
    return how === 'atOnce' ? 0 : how === 'soon' ? this.#chance.whole(1, 700) : this.#chance.whole(700, 12_000)
  }

  #someWeights(roughness: number): Readonly<Record<string, number>> {
    const known = Object.entries(ACTIONS).filter(([, { ofNodes }]) => ofNodes !== true || !this.fleet.isAlone)
    const weights = known.map(([name, { weight, isFault, ofNodes }]) => {
      const isKnown = isFault !== true || this.#chance.happens(0.5) || roughness > 1
      return [name, isKnown ? weight * (ofNodes === true ? roughness : 1) : 0] as const
    })
    return Object.fromEntries(weights)
  }

  #faultsOf(login: Login): BrokerFaults {
    const chance = this.scene.chance.apart(`broker ${login.broker.capabilities.id}`)
    const some = (most: number) => (chance.happens(0.3) ? 0 : chance.fraction() * most)
    const temper: Temper = { commands: some(0.8), reads: some(0.25), lists: some(1), stream: some(0.6) }
    return new BrokerFaults(this.scene, login, chance, temper)
  }

  #fail(cause: unknown): void {
    this.#failure ??= { cause }
    this.scene.trace.note(`failed: ${cause}`)
  }
}
