// A test bench for the application layer: a store in memory, a scripted broker, and a virtual clock.
import { sealCredentials } from '@trunkline/core/app/broker-access/credentials'
import type { UserCaller } from '@trunkline/core/app/caller'
import type { Deps } from '@trunkline/core/app/deps'
import { LocalBus } from '@trunkline/core/app/local-bus'
import { cancelOrder } from '@trunkline/core/app/orders/cancel-order'
import { type ModifyRequest, modifyOrder } from '@trunkline/core/app/orders/modify-order'
import { type OrderRequest, placeOrder } from '@trunkline/core/app/orders/place-order'
import { soleOwnership } from '@trunkline/core/app/sole-ownership'
import { DEFAULT_TIMING, type Timing } from '@trunkline/core/app/timing'
import type { Account, Connection, ConnectionHealth } from '@trunkline/core/domain/account'
import { parseDecimal } from '@trunkline/core/domain/decimal'
import { parseClOrdId } from '@trunkline/core/domain/ids'
import type { Order } from '@trunkline/core/domain/order'
import { timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { BrokerCapabilities } from '@trunkline/core/ports/broker'
import type { Ids } from '@trunkline/core/ports/ids'
import type { LogFields } from '@trunkline/core/ports/log'
import type { LoggedEvent, Store } from '@trunkline/core/ports/store'
import { type Application, application } from '@trunkline/testkit/application'
import { type OrderLedger, ScriptedBroker } from '@trunkline/testkit/scripted-broker/index'
import * as make from '@trunkline/testkit/store-contract/records'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import { MemoryStore } from './memory-store/index.ts'
import { PlainVault } from './plain-vault.ts'
import { SteadyIds } from './steady-ids.ts'
import { TEST_HASHER } from './test-hasher.ts'
import { WatchedStore } from './watched-store.ts'

const VAULT = new PlainVault()

/** A store for the benches of one test file. */
export class Bench implements AsyncDisposable {
  readonly store: Store

  private constructor(store: Store) {
    this.store = store
  }

  static over(store: Store): Bench {
    return new Bench(store)
  }

  static async open(): Promise<Bench> {
    let lastMs = 0
    // Later writes get later times, however fast they are.
    const monotonicMs = () => {
      lastMs = Math.max(lastMs + 0.001, performance.now())
      return lastMs
    }
    const now = () => timestampOfMs(performance.timeOrigin + monotonicMs())
    return new Bench(new MemoryStore({ clock: { now, monotonicMs }, ids: new SteadyIds() }))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.store[Symbol.asyncDispose]()
  }

  world(options: WorldOptions = {}): Promise<World> {
    return World.open(this.store, options)
  }
}

export interface WorldOptions {
  readonly capabilities?: Partial<BrokerCapabilities>
  readonly timing?: Partial<Timing>
  readonly ids?: Ids
  readonly accounts?: number
}

/** One thing that was logged. */
export interface Logged {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly fields: LogFields
}

/** A user's order: a limit order for ten shares by default. */
export type PlaceRequest = Partial<Omit<OrderRequest, 'clOrdId' | 'quantity' | 'limitPrice'>> & {
  readonly clOrdId?: string
  readonly quantity?: string
  readonly limitPrice?: string
}

/** One user with one connection at a broker of its own, and the application that serves it. */
export class World implements AsyncDisposable {
  readonly clock: VirtualClock
  readonly broker: ScriptedBroker
  readonly watched: WatchedStore
  readonly caller: UserCaller
  readonly connection: Connection
  readonly account: Account
  readonly accounts: readonly Account[]
  readonly logged: Logged[] = []
  readonly counted = new Map<string, number>()
  readonly published: LoggedEvent[] = []
  /** Each published change of the connection's health, and when. */
  readonly healths: { readonly state: ConnectionHealth['state']; readonly atMs: number; readonly health: ConnectionHealth }[] = []
  readonly deps: Deps
  #application: Application
  #placed = 0

  private constructor(deps: Deps, parts: Pick<World, 'clock' | 'broker' | 'watched' | 'logged' | 'counted'>, owner: make.Owner) {
    this.deps = deps
    this.clock = parts.clock
    this.broker = parts.broker
    this.watched = parts.watched
    this.logged = parts.logged
    this.counted = parts.counted
    this.connection = owner.connection
    this.account = owner.account
    this.accounts = owner.accounts
    this.caller = { platform: owner.platform, user: owner.user, ip: null, requestId: null }
    this.#application = application(deps)
    deps.bus.subscribe(message => {
      if (message.type === 'events') this.published.push(...message.events)
      if (message.type === 'connection_health' && message.connectionId === this.connection.connectionId)
        this.healths.push({ state: message.health.state, atMs: this.clock.monotonicMs(), health: message.health })
    })
  }

  static async open(inner: Store, options: WorldOptions): Promise<World> {
    const clock = new VirtualClock()
    const broker = new ScriptedBroker(clock, options.capabilities)
    const watched = new WatchedStore(inner)
    clock.restWith(() => watched.idle())
    const logged: Logged[] = []
    const note =
      (level: Logged['level']) =>
      (message: string, fields: LogFields = {}) =>
        void logged.push({ level, message, fields })
    const log = { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') }
    const counted = new Map<string, number>()
    const count = (name: string, labels: Readonly<Record<string, string>> = {}) => {
      const key = [name, ...Object.values(labels)].join(' ')
      counted.set(key, (counted.get(key) ?? 0) + 1)
    }
    const deps: Deps = {
      store: watched.store,
      brokers: new Map([[broker.capabilities.id, broker.definition]]),
      bus: new LocalBus(log),
      clock,
      ids: options.ids ?? new SteadyIds(),
      vault: VAULT,
      hasher: TEST_HASHER,
      log,
      meter: { count, observe: () => undefined },
      ownership: soleOwnership,
      timing: { ...DEFAULT_TIMING, ...options.timing }
    }
    const owner = await make.owner(inner, options.accounts === undefined ? {} : { accounts: options.accounts })
    const { connectionId, userKey } = owner.connection
    watched.owner = userKey
    await inner.connections.replaceCredentials(
      connectionId,
      1,
      sealCredentials(VAULT, owner.connection, { credentials: { token: 't-1' }, endpoint: make.ENDPOINT }, 2)
    )
    return new World(deps, { clock, broker, watched, logged, counted }, owner)
  }

  get app() {
    return this.#application.app
  }

  get parts(): Application {
    return this.#application
  }

  get ledger(): OrderLedger {
    return this.broker.ledger
  }

  place(request: PlaceRequest = {}): Promise<Order> {
    this.#placed += 1
    const { clOrdId = `c-${this.#placed}`, quantity = '10', limitPrice = '10.00', ...more } = request
    return placeOrder(this.app, this.caller, {
      ...{ side: 'BUY', type: 'LMT', tif: 'DAY', symbol: 'SPY', instrument: 'STK', notional: null, stopPrice: null, legs: null },
      accountId: this.account.accountId,
      broker: this.connection.broker,
      clOrdId: parseClOrdId(clOrdId),
      quantity: parseDecimal(quantity, 'quantity'),
      limitPrice: parseDecimal(limitPrice, 'limitPrice'),
      ...more
    })
  }

  cancel({ orderId }: Pick<Order, 'orderId'>): Promise<Order> {
    return cancelOrder(this.app, this.caller, this.account.accountId, orderId)
  }

  modify(
    { orderId }: Pick<Order, 'orderId'>,
    change: { readonly clOrdId: string; readonly quantity?: string; readonly limitPrice?: string }
  ) {
    const request: ModifyRequest = {
      newClOrdId: parseClOrdId(change.clOrdId),
      broker: this.connection.broker,
      quantity: change.quantity === undefined ? null : parseDecimal(change.quantity, 'quantity'),
      notional: null,
      limitPrice: change.limitPrice === undefined ? null : parseDecimal(change.limitPrice, 'limitPrice'),
      stopPrice: null
    }
    return modifyOrder(this.app, this.caller, this.account.accountId, orderId, request)
  }

  /** The result of `work`, once time has moved far enough. */
  async given<T>(work: Promise<T>, limitMs = 600_000): Promise<T> {
    let isDone = false
    const done = () => {
      isDone = true
    }
    work.then(done, done)
    await this.clock.until(() => isDone, 'the work was done', limitMs)
    return await work
  }

  /** The order as it is stored. */
  async stored({ orderId }: Pick<Order, 'orderId'>): Promise<Order> {
    const order = await this.watched.store.orders.find(orderId)
    if (order === null) throw new Error(`no order ${orderId} is stored`)
    return order
  }

  /** All orders of the first account. */
  async orders(): Promise<readonly Order[]> {
    const accountIds = this.accounts.map(({ accountId }) => accountId)
    return (await this.watched.store.orders.list({ accountIds }, 'entryTime', { limit: 1_000, edge: null, descending: false })).rows
  }

  async events(): Promise<readonly LoggedEvent[]> {
    return await this.watched.store.events.read(this.caller.user.userKey, 0, 10_000)
  }

  /** The connection's shown health. */
  get health(): ConnectionHealth {
    return this.app.mirrors.health(this.connection)
  }

  /** Resolves when the account stream is open and its first snapshot is applied. */
  async live(): Promise<void> {
    this.app.mirrors.want(this.connection)
    await this.clock.until(() => this.app.mirrors.isLive(this.connection.connectionId), 'the mirror is live')
  }

  /** Restarts the service over the same store and broker. */
  async restart(): Promise<void> {
    await this.stop()
    this.#application = application(this.deps)
    await this.given(this.app.ownedWork.start())
  }

  async stop(): Promise<void> {
    await this.given(this.#application.stop())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.watched.intercept = null
    await this.stop()
  }
}
