// One life of the composed service: the application and the broker stream, over the scene's store and brokers.
import { type Application, application } from '@trunkline/core/app/application'
import type { Deps } from '@trunkline/core/app/deps'
import { soleOwnership } from '@trunkline/core/app/sole-ownership'
import { DEFAULT_TIMING } from '@trunkline/core/app/timing'
import { epochMs } from '@trunkline/core/domain/timestamp'
import type { BrokerDefinition } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log, LogFields } from '@trunkline/core/ports/log'
import { CommitUnknown } from '@trunkline/core/ports/store'
import { AccountStream, type AccountStreamOptions } from '../../src/stream/account/index.ts'
import { CLOSE, type Listener } from '../../src/stream/client-connection.ts'
import { FlushScheduler } from '../../src/stream/flush-scheduler.ts'
import type { SendBufferLimits } from '../../src/stream/send-buffer-limits.ts'
import { Life } from './life.ts'
import type { NodeKit } from './nodes/kit.ts'
import type { AskedWork, SceneNode } from './nodes/scene-node.ts'
import type { Sabotage } from './sabotage.ts'
import { HASHER, type Login, type Scene, VAULT } from './scene.ts'
import { SceneConnection, type WireEnd } from './scene-connection.ts'
import { type BusRoute, UnreliableBus } from './unreliable-bus.ts'

/** Small, so that a reader who stops for a while is too slow. */
const SEND_BUFFER: SendBufferLimits = { messagesMax: 48, bytesMax: 48 * 1024, stalledMs: 10_000, allBytesMax: 256 * 1024 }
/** Whole snapshots come often enough for a day that is short. */
export const TIMING = { ...DEFAULT_TIMING, auditMs: 60_000 }
const SWEEP_MS = 1_000
const DRAIN_MS = 10_000
const CLOSE_MS = 5_000

/** What of a life's surroundings may be other than they should. */
export interface Conditions {
  /** How far this machine's wall clock is off, in milliseconds. */
  readonly skewMs: () => number
  readonly route: BusRoute
  /** Stands between the parts of the service, to prove that the simulation notices. */
  readonly sabotage?: () => Sabotage
  /** Makes this life a node among others. */
  readonly nodes?: NodeKit
}

export class Service {
  readonly life = new Life()
  /** Null: it is alone. */
  readonly node: SceneNode | null
  readonly #scene: Scene
  readonly #sabotage: Sabotage
  readonly #application: Application
  readonly #stream: AccountStream
  readonly #scheduler: FlushScheduler
  readonly #connections = new Set<SceneConnection>()
  readonly #stopping = new AbortController()
  readonly #log: Log
  readonly counted = new Map<string, number>()

  constructor(scene: Scene, { skewMs, route, sabotage, nodes }: Conditions) {
    this.#scene = scene
    this.#sabotage = sabotage?.() ?? {}
    let correctionMs = 0
    let keptMs: number | null = null
    /** A skew that changes is undone at once, as the service's own clock does. */
    const kept = () => {
      if (keptMs !== null) correctionMs -= skewMs() - keptMs
      if (keptMs !== null) keptMs = skewMs()
      return correctionMs
    }
    const clock = this.life.clock(scene.clock, () => skewMs() + kept())
    const note = (level: string) => (message: string, fields?: LogFields) => scene.trace.note(`${level}: ${message}${reasonIn(fields)}`)
    this.#log = { debug: () => undefined, info: () => undefined, warn: note('warns'), error: note('errs') }
    const wallClock = {
      machineMs: () => epochMs(scene.clock.now()) + skewMs(),
      get correctionMs() {
        return kept()
      },
      keepWhenSet: () => {
        keptMs ??= skewMs()
      },
      correctBy: (ms: number) => {
        correctionMs = ms
      }
    }
    const fence = this.#sabotage.fence ?? (given => given)
    this.node = nodes?.open({ life: this.life, clock, wallClock, log: this.#log, fence }) ?? null
    const store = scene.store.of(this.life, this.node?.store ?? null)
    const sound: Deps = {
      store,
      brokers: new Map(scene.logins.map((login, index) => [login.broker.capabilities.id, this.#definition(login, index, clock, nodes)])),
      bus: this.node?.bus ?? new UnreliableBus(scene.clock, this.life, route),
      clock,
      ids: scene.ids,
      vault: VAULT,
      hasher: HASHER,
      log: this.#log,
      meter: { count: (name, labels = {}) => this.#count(name, labels), observe: () => undefined },
      ownership: this.node?.member ?? soleOwnership,
      timing: TIMING
    }
    const deps = this.#sabotage.deps?.(sound) ?? sound
    const lookup = {
      rememberedPlatform: () => undefined,
      rememberedUser: () => undefined,
      platform: (clientId: string) => store.platforms.findByClientId(clientId),
      user: (...who: Parameters<typeof store.users.find>) => store.users.find(...who),
      admits: () => true
    }
    this.#application = application(deps, lookup)
    this.#stream = new AccountStream(this.app, this.#streamOptions())
    this.#scheduler = new FlushScheduler(SEND_BUFFER, () => clock.monotonicMs())
  }

  get app() {
    return this.#application.app
  }

  get stream(): AccountStream {
    return this.#stream
  }

  /** Takes up what an earlier life left open. */
  async start(): Promise<void> {
    void this.#sweep()
    await this.node?.join()
    await this.app.ownedWork.start()
  }

  /** What a request of the user is answered, wherever it is executed. */
  async ask<T>(asked: AskedWork<T>): Promise<T> {
    return await (this.node === null ? asked.work(this.app) : this.#connected(this.node.ask(asked)))
  }

  /** A socket to a client; null once the service takes none. */
  connect(end: WireEnd): SceneConnection | null {
    if (this.life.isOver || this.#stopping.signal.aborted) return null
    const connection: SceneConnection = new SceneConnection(this.#scheduler, SEND_BUFFER, end, () => this.#connections.delete(connection))
    this.#connections.add(connection)
    const listener = this.#stream.open(this.#sabotage.connection?.(connection) ?? connection, '192.0.2.1')
    connection.listen(this.node === null ? listener : this.#pausable(listener))
    return connection
  }

  /** Ends as the program does: sessions get what is pending, commands on the wire a while to end. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.node?.leave()
    await this.node?.idle()
    await this.app.commands.drain(this.app.clock, DRAIN_MS)
    this.#stream.finish(CLOSE.goingAway, 'the service is shutting down')
    await this.life.lived(this.#emptied())
    for (const connection of this.#connections) connection.cut()
    await this.node?.stop()
    await this.#stream.stop()
    await this.#application.stop()
  }

  /** Ends in the middle of whatever it does. */
  kill(): void {
    this.life.kill()
    this.#scene.store.bury(this.life)
    for (const connection of this.#connections) connection.cut()
  }

  /** A client’s connection breaks with the process: it asks another one. */
  #connected<T>(answer: Promise<T>): Promise<T> {
    const { death } = this.life
    return new Promise((resolve, reject) => {
      const broke = () => reject(new CommitUnknown('the connection broke'))
      if (death.aborted) return broke()
      death.addEventListener('abort', broke, { once: true })
      answer.finally(() => death.removeEventListener('abort', broke)).then(resolve, reject)
    })
  }

  /** Three of four adapters date what they read themselves. */
  #definition({ broker }: Login, index: number, clock: Clock, nodes: NodeKit | undefined): BrokerDefinition {
    const datedBy = index % 4 === 3 ? this.#scene.clock : clock
    const definition = broker.definitionDatedBy(() => datedBy)
    if (nodes === undefined || this.node === null) return this.life.broker(definition)
    return this.life.broker(nodes.observed(definition, this.node), () => nodes.queued())
  }

  #streamOptions(): AccountStreamOptions {
    const { node } = this
    if (node === null) return {}
    const watch = node.attach(this.app, ({ userKey, connectionId, health }) =>
      this.#stream.hub.healthElsewhere(userKey, connectionId, health)
    )
    return { watch, inCluster: true, encode: node.encode, healthOf: connection => node.healthOf(connection) }
  }

  #pausable(listener: Listener): Listener {
    const { life } = this
    return {
      text: message => life.whenRunning(() => listener.text(message)),
      binary: () => life.whenRunning(() => listener.binary()),
      caughtUp: () => life.whenRunning(() => listener.caughtUp()),
      gone: () => life.whenRunning(() => listener.gone())
    }
  }

  async #emptied(): Promise<void> {
    const { clock } = this.#scene
    const end = clock.monotonicMs() + CLOSE_MS
    while (this.#connections.size > 0 && clock.monotonicMs() < end) await clock.sleep(100)
  }

  async #sweep(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await this.app.clock.sleep(SWEEP_MS, signal).catch(() => undefined)
      this.#scheduler.sweep()
    }
  }

  #count(name: string, labels: Readonly<Record<string, string>>): void {
    const key = [name, ...Object.values(labels)].join(' ')
    this.counted.set(key, (this.counted.get(key) ?? 0) + 1)
  }
}

function reasonIn(fields: LogFields = {}): string {
  const cause = fields.cause ?? fields.reason
  return cause === undefined ? '' : ` (${cause instanceof Error ? cause.message : String(cause)})`
}
