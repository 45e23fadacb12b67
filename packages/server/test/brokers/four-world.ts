// One login at one sandbox brokerage, connected through every broker of the registry, and the application over a real store.

import { randomBytes } from 'node:crypto'
import { ADAPTERS, type Brokers, openBrokers } from '@trunkline/brokers/registry'
import { sealCredentials } from '@trunkline/core/app/broker-access/credentials'
import type { UserCaller } from '@trunkline/core/app/caller'
import type { Deps } from '@trunkline/core/app/deps'
import { LocalBus } from '@trunkline/core/app/local-bus'
import { soleOwnership } from '@trunkline/core/app/sole-ownership'
import { DEFAULT_TIMING, type Timing } from '@trunkline/core/app/timing'
import type { Account, Connection } from '@trunkline/core/domain/account'
import type { BrokerId } from '@trunkline/core/domain/ids'
import type { Order } from '@trunkline/core/domain/order'
import { epochMs, type Timestamp, timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { Broker, Credentials } from '@trunkline/core/ports/broker'
import type { LogFields } from '@trunkline/core/ports/log'
import type { Store } from '@trunkline/core/ports/store'
import type { Brokerage } from '@trunkline/sandbox/brokerage/start'
import { startSandbox } from '@trunkline/sandbox/compose'
import { type Application, application } from '@trunkline/testkit/application'
import { soon } from '@trunkline/testkit/patience'
import * as make from '@trunkline/testkit/store-contract/records'
import { WatchedStore } from '@trunkline/testkit/watched-store'
import { SystemClock } from '../../src/ops/clock.ts'
import { RandomIds } from '../../src/ops/ids.ts'
import type { SqlStore } from '../../src/store/index.ts'
import { EnvelopeVault } from '../../src/vault/envelope.ts'
import { Sha256Hasher } from '../../src/vault/hasher.ts'
import { FixedKeyRing, parseKeySet } from '../../src/vault/master-keys.ts'

/** Longer than any fault of a day keeps an order hidden or on its way, and short enough for a day of seconds. */
export const TIMING: Timing = {
  ...DEFAULT_TIMING,
  answerWithinMs: 1_500,
  commandMs: 3_000,
  readMs: 3_000,
  freshMs: 100,
  absenceMs: { enforced: 5_000, bounded: 5_000, open_only: 5_000, label: 6_000 },
  settleMs: 1_000,
  mirrorIdleMs: 60_000,
  pollMs: 1_000,
  reconcileMs: 1_500,
  auditMs: 3_000,
  lookupPausesMs: [100, 300, 700, 1_000]
}
const CASH = '10000000'
const HEARTBEAT_MS = 500
const VAULT = new EnvelopeVault(new FixedKeyRing(parseKeySet(`k1:${randomBytes(32).toString('base64')}`)))
const FROM_SANDBOX_SETTINGS = ''

/** What a control or API call answers; the tests read it as it comes. */
// biome-ignore lint/suspicious/noExplicitAny: answers are judged field by field
export type Json = any

/** One connection of the login. */
export interface Through {
  readonly broker: string
  readonly connection: Connection
  readonly account: Account
}

export interface Logged {
  readonly level: 'warn' | 'error'
  readonly message: string
  readonly fields: LogFields
}

/** The machine's clock, whose wall can be set while it runs; the monotonic one knows nothing of it. */
class SettableClock extends SystemClock {
  #aheadMs = 0

  override now(): Timestamp {
    return timestampOfMs(epochMs(super.now()) + this.#aheadMs)
  }

  /** So much ahead of the true time; negative: behind. */
  setAhead(ms: number): void {
    this.#aheadMs = ms
  }
}

export class FourWorld implements AsyncDisposable {
  readonly clock = new SettableClock()
  readonly sandbox: Brokerage
  readonly username: string
  readonly sandboxAccount: string
  readonly caller: UserCaller
  readonly through: readonly Through[]
  readonly logged: Logged[] = []
  readonly counted = new Map<string, number>()
  readonly #store: SqlStore
  readonly #hasher = new Sha256Hasher(Buffer.alloc(32, 9))
  #brokers: Brokers
  #application: Application
  #crashed: { isDown: boolean } = { isDown: false }

  private constructor(store: SqlStore, sandbox: Brokerage, login: Json, owner: { caller: UserCaller; through: readonly Through[] }) {
    this.#store = store
    this.sandbox = sandbox
    this.username = login.username
    this.sandboxAccount = login.accounts[0].id
    this.caller = owner.caller
    this.through = owner.through
    this.#brokers = brokersAt(sandbox, this.#brokerDeps())
    this.#application = this.#compose()
  }

  static async open(store: SqlStore, seed: number): Promise<FourWorld> {
    const sandbox = await startSandbox({ port: 0, controlPort: 0, seed: `day ${seed}`, heartbeatMs: HEARTBEAT_MS, refreshGraceMs: 60_000 })
    const username = `day-${seed}`
    const { login } = await control(sandbox, 'POST', '/logins', { username, accounts: [{ kind: 'margin', cash: CASH }] })
    const platform = make.platform()
    await store.platforms.create(platform, make.hash(), make.audit())
    const user = make.user(platform)
    await store.users.create(user, make.hash(), make.audit())
    const caller = { platform, user, ip: null, requestId: null }
    const through = await connectAll(store, sandbox, login, user)
    const world = new FourWorld(store, sandbox, login, { caller, through })
    await world.#start()
    return world
  }

  get app() {
    return this.#application.app
  }

  of(broker: string): Through {
    const found = this.through.find(each => each.broker === broker)
    if (found === undefined) throw new Error(`no connection through ${broker}`)
    return found
  }

  control(method: string, path: string, body?: object): Promise<Json> {
    return control(this.sandbox, method, path, body)
  }

  /** Ends the application and begins another over the same store. A crash writes nothing any more; a stop waits for what is on the wire. */
  async restart(how: 'crash' | 'stop'): Promise<void> {
    const [old, brokers] = [this.#application, this.#brokers]
    if (how === 'crash') this.#crashed.isDown = true
    else await old.app.commands.drain(old.app.clock, TIMING.commandMs + 1_000)
    this.#crashed = { isDown: false }
    await old.stop()
    await brokers[Symbol.asyncDispose]()
    this.#brokers = brokersAt(this.sandbox, this.#brokerDeps())
    this.#application = this.#compose()
    await this.#start()
  }

  async orders(): Promise<readonly Order[]> {
    const accountIds = this.through.map(({ account }) => account.accountId)
    const { rows } = await this.#store.orders.list({ accountIds }, 'entryTime', { limit: 5_000, edge: null, descending: false })
    return rows
  }

  status(connection: Connection): Promise<Connection | null> {
    return this.#store.connections.find(connection.connectionId)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#application.stop()
    await this.#brokers[Symbol.asyncDispose]()
    await this.sandbox.close()
  }

  async #start(): Promise<void> {
    await this.app.ownedWork.start()
    this.app.watch.hold(this.caller.user.userKey)
  }

  #compose(): Application {
    const crash = this.#crashed
    const watched = new WatchedStore(this.#store)
    watched.owner = this.caller.user.userKey
    watched.intercept = async call => {
      if (crash.isDown) throw new Error('the process is gone')
      return await call.go()
    }
    const { clock, log, meter } = this.#brokerDeps()
    const deps: Deps = {
      ...{ clock, log, meter },
      store: watched.store,
      brokers: this.#brokers,
      bus: new LocalBus(log),
      ids: new RandomIds(),
      vault: VAULT,
      hasher: this.#hasher,
      ownership: soleOwnership,
      timing: TIMING
    }
    return application(deps)
  }

  #brokerDeps() {
    const note =
      (level: Logged['level']) =>
      (message: string, fields: LogFields = {}) => {
        this.logged.push({ level, message, fields })
      }
    const count = (name: string, labels: Readonly<Record<string, string>> = {}) => {
      const key = [name, ...Object.values(labels)].join(' ')
      this.counted.set(key, (this.counted.get(key) ?? 0) + 1)
    }
    return {
      clock: this.clock,
      fraction: () => 0.5,
      log: { debug() {}, info() {}, warn: note('warn'), error: note('error') },
      meter: { count, observe() {} }
    }
  }
}

type BrokerDeps = Parameters<typeof openBrokers>[1]

function brokersAt({ url, clientId, clientSecret }: Brokerage, deps: BrokerDeps): Brokers {
  const offers = ADAPTERS.map(adapter => adapter.offer(() => FROM_SANDBOX_SETTINGS))
  return openBrokers(offers, deps, { url, publicUrl: url, clientId, clientSecret, hours: 'always' })
}

export async function control({ controlUrl }: Brokerage, method: string, path: string, body?: object): Promise<Json> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  const answer = await fetch(`${controlUrl}${path}`, { method, ...sent })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
  return text === '' ? null : JSON.parse(text)
}

async function connectAll(store: Store, sandbox: Brokerage, login: Json, user: make.Owner['user']): Promise<readonly Through[]> {
  const clock = new SystemClock()
  const quiet = { debug() {}, info() {}, warn() {}, error() {} }
  const brokers = brokersAt(sandbox, { clock, fraction: () => 0.5, log: quiet, meter: { count() {}, observe() {} } })
  const through: Through[] = []
  for (const [broker, definition] of brokers) {
    const credentials = await minted(sandbox, login.username, broker)
    const session: Broker = definition.open({ read: async () => credentials, renew: async () => credentials })
    const [found] = (await session.accounts(soon())).items
    await session[Symbol.asyncDispose]()
    if (found === undefined) throw new Error(`${broker} shows no account`)
    const connection: Connection = { ...make.connection(user, clock.now()), broker }
    const account: Account = { ...make.account(connection, found.accountNumber), brokerAccountId: found.brokerAccountId }
    const attempt = make.attempt(user)
    await store.attempts.create(attempt, make.hash(), make.audit())
    await store.connections.create(
      connection,
      [account],
      sealCredentials(VAULT, connection, { credentials, endpoint: make.ENDPOINT }, 1),
      attempt.attemptId,
      make.audit()
    )
    through.push({ broker, connection, account })
  }
  await brokers[Symbol.asyncDispose]()
  return through
}

async function minted(sandbox: Brokerage, username: string, broker: BrokerId): Promise<Credentials> {
  const path = `/logins/${username}/token`
  if (broker !== 'SANDBOX') return (await control(sandbox, 'POST', path, { dialect: broker.toLowerCase() })).credentials
  const { access_token, refresh_token, expires_in } = await control(sandbox, 'POST', path, {})
  const now = epochMs(new SystemClock().now())
  return { access_token, refresh_token, issued_at: timestampOfMs(now), expires_at: timestampOfMs(now + expires_in * 1_000) }
}
