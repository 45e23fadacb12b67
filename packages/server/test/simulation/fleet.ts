// The processes that serve a day: one, or several nodes, each with its own machine. What ends is started again, as by a supervisor.
import type { Chance } from './chance.ts'
import type { EnvironmentFaults } from './environment-faults.ts'
import { Nodes } from './nodes/kit.ts'
import type { Scene } from './scene.ts'
import { type Conditions, Service } from './service.ts'
import type { NodesDatabase } from './stores.ts'

/** One of the machines, and the process on it. */
export interface Machine {
  readonly index: number
  readonly name: string
  service: Service
  isReady: boolean
  /** How long the supervisor waits before it starts the next process. */
  pauseMs: number
}

export interface FleetOptions {
  readonly scene: Scene
  readonly chance: Chance
  readonly environment: EnvironmentFaults
  /** Null: one process. */
  readonly database: NodesDatabase | null
  readonly machines: number
  readonly sabotage?: Conditions['sabotage']
  readonly fail: (cause: unknown) => void
}

const START_AGAIN_MS = 1_000
const DEAD_MS_MAX = 20_000

export class Fleet {
  readonly machines: Machine[] = []
  /** Every life of every machine. */
  readonly services: Service[] = []
  readonly nodes: Nodes | null
  readonly #options: FleetOptions
  #isOver = false

  constructor(options: FleetOptions) {
    const { scene, database, environment, fail } = options
    this.#options = options
    this.nodes = database === null ? null : new Nodes(scene, database, fail)
    if (this.nodes !== null) this.nodes.network.busDelay = environment.busDelay
  }

  /** Starts all of them, and keeps them running. */
  begin(): void {
    for (let index = 0; index < this.#options.machines; index += 1) void this.#supervise(index)
  }

  get isAlone(): boolean {
    return this.nodes === null
  }

  /** Whether every process serves, and every user has its owner. */
  get isReady(): boolean {
    if (!this.machines.every(({ isReady, service }) => isReady && !service.life.isOver)) return false
    return this.nodes === null || this.#options.scene.owners.every(({ user }) => this.ownersOf(user.userKey).length === 1)
  }

  /** The processes that were not killed. */
  get living(): readonly Service[] {
    return this.machines.map(({ service }) => service).filter(({ life }) => !life.isOver)
  }

  /** Where a load balancer sends what comes next. */
  some(): Service {
    const service = this.#options.chance.oneOf(this.living) ?? this.services.at(-1)
    if (service === undefined) throw new Error('the service has not begun')
    return service
  }

  someMachine(): Machine {
    const machine = this.#options.chance.oneOf(this.machines)
    if (machine === undefined) throw new Error('there is no machine')
    return machine
  }

  ownersOf(userKey: Parameters<NonNullable<Service['node']>['owns']>[0]): readonly Service[] {
    return this.living.filter(({ node }) => node === null || node.owns(userKey))
  }

  /** Stops in order; the supervisor starts the next one. */
  async restart({ name, service }: Machine): Promise<void> {
    this.#options.scene.trace.note(`${name} stops`)
    await ended(service, service.stop())
    // With the process everything ends that its parts left behind.
    service.kill()
  }

  kill(machine: Machine): void {
    this.#options.scene.trace.note(`${machine.name} is killed`)
    machine.pauseMs = this.#options.chance.whole(0, DEAD_MS_MAX)
    machine.service.kill()
  }

  /** Every process runs, and reaches everything. */
  heal(): void {
    for (const service of this.living) this.healNode(service)
  }

  healNode({ life, node }: Service): void {
    life.isCutFromStore = false
    if (life.isCutFromNodes) life.whenRunning(() => node?.bus.resume())
    life.isCutFromNodes = false
    life.resume()
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.living.map(service => ended(service, service.stop())))
  }

  async #supervise(index: number): Promise<void> {
    const { scene, fail } = this.#options
    const name = this.isAlone ? 'the service' : `node ${index + 1}`
    try {
      while (!this.#isOver) {
        const service = this.#newService(index, name)
        const machine: Machine = { index, name, service, isReady: false, pauseMs: 0 }
        this.machines[index] = machine
        machine.isReady = await ended(
          service,
          started(service, cause => scene.trace.note(`${name} does not start: ${cause}`))
        )
        if (!machine.isReady) machine.pauseMs ||= START_AGAIN_MS
        else await ended(service, new Promise<false>(() => undefined))
        service.kill()
        machine.isReady = false
        if (machine.pauseMs > 0) await scene.clock.sleep(machine.pauseMs)
        scene.trace.note(`${name} starts`)
      }
    } catch (cause) {
      fail(cause)
    }
  }

  #newService(index: number, name: string): Service {
    const { scene, environment, sabotage } = this.#options
    const lost = () => {
      scene.trace.note(`${name} has lost its lease`)
      scene.trace.met('nodes: a lease is lost')
      service.kill()
    }
    const service: Service = new Service(scene, {
      ...{ skewMs: () => environment.skewMs(index), route: environment.route },
      ...(sabotage && { sabotage }),
      ...(this.nodes && { nodes: this.nodes.kit(name, lost) })
    })
    this.services.push(service)
    return service
  }
}

async function started(service: Service, failed: (cause: unknown) => void): Promise<boolean> {
  try {
    await service.start()
    return true
  } catch (cause) {
    failed(cause)
    return false
  }
}

/** What `work` gives; false once the process is over. */
function ended<T>({ life }: Service, work: Promise<T>): Promise<T | false> {
  return new Promise((resolve, reject) => {
    const end = () => resolve(false)
    if (life.isOver) return end()
    life.death.addEventListener('abort', end, { once: true })
    work.then(resolve, reject)
  })
}
