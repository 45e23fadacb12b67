// One connection at a stub of the sandbox, through its real adapter over real sockets, with a virtual clock.
import { randomBytes } from 'node:crypto'
import { sandbox } from '@trunkline/brokers/sandbox/definition'
import { sealCredentials } from '@trunkline/core/app/broker-access/credentials'
import type { Deps } from '@trunkline/core/app/deps'
import { LocalBus } from '@trunkline/core/app/local-bus'
import { soleOwnership } from '@trunkline/core/app/sole-ownership'
import { DEFAULT_TIMING } from '@trunkline/core/app/timing'
import type { Connection, ConnectionHealth } from '@trunkline/core/domain/account'
import { epochMs, timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { Store } from '@trunkline/core/ports/store'
import { type Application, application } from '@trunkline/testkit/application'
import type { Certificate } from '@trunkline/testkit/certificate'
import * as make from '@trunkline/testkit/store-contract/records'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import { WatchedStore } from '@trunkline/testkit/watched-store'
import { RandomIds } from '../../src/ops/ids.ts'
import { EnvelopeVault } from '../../src/vault/envelope.ts'
import { Sha256Hasher } from '../../src/vault/hasher.ts'
import { FixedKeyRing, parseKeySet } from '../../src/vault/master-keys.ts'
import { StubSandbox } from './stub-sandbox.ts'

const VAULT = new EnvelopeVault(new FixedKeyRing(parseKeySet(`k1:${randomBytes(32).toString('base64')}`)))
const quiet = { debug() {}, info() {}, warn() {}, error() {} }

export interface SandboxWorldOptions {
  /** Serves TLS with a certificate that no authority vouches for. */
  readonly certificate?: Certificate
  /** The sandbox's address in the settings, if not its real one. */
  readonly baseUrl?: string
  /** Seconds that the first access token is good for; negative: it ended before. */
  readonly tokenSeconds?: number
}

export class SandboxWorld implements AsyncDisposable {
  readonly clock: VirtualClock
  readonly stub: StubSandbox
  readonly healths: ConnectionHealth[] = []
  readonly #deps: Deps
  readonly #application: Application
  readonly #owner: make.Owner
  readonly #broker: AsyncDisposable

  private constructor(deps: Deps, parts: Pick<SandboxWorld, 'clock' | 'stub'>, owner: make.Owner, broker: AsyncDisposable) {
    this.clock = parts.clock
    this.stub = parts.stub
    this.#deps = deps
    this.#owner = owner
    this.#broker = broker
    this.#application = application(deps)
    deps.bus.subscribe(message => {
      if (message.type === 'connection_health' && message.connectionId === this.connection.connectionId) this.healths.push(message.health)
    })
  }

  static async open(inner: Store, options: SandboxWorldOptions = {}): Promise<SandboxWorld> {
    const clock = new VirtualClock()
    const watched = new WatchedStore(inner)
    const owner = await make.owner(inner)
    const stub = await StubSandbox.start(clock, owner.account.brokerAccountId, options.certificate ?? null)
    clock.restWith(async () => (await stub.idle()) || (await watched.idle()))
    const ids = new RandomIds()
    const settings = { baseUrl: options.baseUrl ?? stub.url, clientId: 'client', clientSecret: 'secret' }
    const broker = sandbox(settings, { clock, fraction: () => 0.5, log: quiet, meter: { count() {}, observe() {} } })
    const deps: Deps = {
      store: watched.store,
      brokers: new Map([[broker.capabilities.id, broker]]),
      bus: new LocalBus(quiet),
      clock,
      ids,
      vault: VAULT,
      hasher: new Sha256Hasher(Buffer.alloc(32, 9)),
      log: quiet,
      meter: { count: () => undefined, observe: () => undefined },
      ownership: soleOwnership,
      timing: DEFAULT_TIMING
    }
    const now = epochMs(clock.now())
    const credentials = {
      access_token: stub.token(),
      refresh_token: 'rt',
      issued_at: timestampOfMs(now - 3_600_000),
      expires_at: timestampOfMs(now + (options.tokenSeconds ?? 36_000) * 1_000)
    }
    const { connectionId } = owner.connection
    await inner.connections.replaceCredentials(
      connectionId,
      1,
      sealCredentials(VAULT, owner.connection, { credentials, endpoint: make.ENDPOINT }, 2)
    )
    return new SandboxWorld(deps, { clock, stub }, owner, broker)
  }

  get app() {
    return this.#application.app
  }

  get connection(): Connection {
    return this.#owner.connection
  }

  get caller() {
    return { platform: this.#owner.platform, user: this.#owner.user, ip: null, requestId: null }
  }

  get health(): ConnectionHealth {
    return this.app.mirrors.health(this.connection)
  }

  /** As it is stored. */
  async status(): Promise<Connection['status'] | undefined> {
    return (await this.#deps.store.connections.find(this.connection.connectionId))?.status
  }

  async live(): Promise<void> {
    await this.clock.until(() => this.health.state === 'live', 'live', 600_000)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    let isStopped = false
    const stopped = this.#application.stop().then(() => {
      isStopped = true
    })
    await this.clock.until(() => isStopped, 'it stopped')
    await stopped
    await this.#broker[Symbol.asyncDispose]()
    await this.stub[Symbol.asyncDispose]()
  }
}
