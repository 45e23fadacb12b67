import type { Account, Connection, ConnectionHealth, LeftOut } from '../../domain/account.ts'
import type { FreshnessReason } from '../../domain/freshness.ts'
import type { ConnectionId, UserKey } from '../../domain/ids.ts'
import type { Order } from '../../domain/order.ts'
import { type Partition, partitionOf } from '../../domain/partition.ts'
import type { Day } from '../../domain/timestamp.ts'
import type { Broker } from '../../ports/broker.ts'
import type { Deps } from '../deps.ts'
import type { InFlightCommands } from '../execution/in-flight-commands.ts'
import { awaitsAnswer, submissionUnknown } from '../execution/order-steps.ts'
import type { Reconciliation } from '../execution/reconciliation.ts'
import { isOwned } from '../owned-users.ts'
import { Semaphore } from '../semaphore.ts'
import { someAtATime } from '../some-at-a-time.ts'
import { ConnectionMirror, type MirrorParts } from './connection-mirror.ts'
import { HealthRegistry, type HealthSubject, type KnownHealth } from './health-registry.ts'
import { type RecordKind, Refreshes, type Unrefreshed } from './refreshes.ts'
import { TransactionRefreshes } from './transaction-refreshes.ts'

type MirrorsDeps = Pick<Deps, 'store' | 'bus' | 'clock' | 'ids' | 'log' | 'meter' | 'timing' | 'ownership'>

/** Concurrent snapshots per broker, over all mirrors: a start or outage with thousands of accounts must leave capacity for orders. */
const SNAPSHOTS_AT_ONCE = 16
/** Connections whose work is resumed at a time: they wait for the store, not for each other. */
const RESUMED_AT_ONCE = 8

/** The dependencies of the mirrors. */
type MirrorsParts = Omit<MirrorParts, 'health' | 'snapshotSemaphore'> & {
  readonly commands: InFlightCommands
  readonly reconciliation: Reconciliation
}

interface Hold {
  readonly userKey: UserKey
  count: number
}

interface Entry {
  readonly mirror: ConnectionMirror
  readonly login: Disposable
  wantedAt: number
  /** Whether its login was replaced since it began. */
  isRenewed: boolean
}

/** The mirrors of this node: one per connection with open orders or a client that holds it. Also refreshes connections without one. */
export class Mirrors {
  readonly #deps: MirrorsDeps
  readonly #parts: MirrorsParts & MirrorParts
  readonly #refreshes: Refreshes
  readonly #transactions: TransactionRefreshes
  readonly #mirrors = new Map<ConnectionId, Entry>()
  readonly #holds = new Map<ConnectionId, Hold>()
  /** Mirrors that are ending: the connection's next mirror waits for them, because an account has one writer. */
  readonly #closing = new Map<ConnectionId, Promise<void>>()
  readonly #stopping = new AbortController()
  readonly #unsubscribe: () => void
  #sweeping: Promise<void> | null = null

  constructor(deps: MirrorsDeps, parts: MirrorsParts) {
    this.#deps = deps
    const health = new HealthRegistry(deps)
    const snapshotSemaphore = new Semaphore<string>(deps.clock, { atOnce: SNAPSHOTS_AT_ONCE, ms: deps.timing.readMs })
    this.#parts = { ...parts, health, snapshotSemaphore }
    this.#refreshes = new Refreshes(deps, {
      ...this.#parts,
      isLive: ({ connectionId }) => this.isLive(connectionId),
      want: connection => this.want(connection)
    })
    this.#transactions = new TransactionRefreshes(deps, {
      ...this.#parts,
      once: (key, work) => this.#refreshes.once(key, work),
      failed: (connection, cause) => this.#refreshes.failed(connection, cause)
    })
    this.#unsubscribe = deps.bus.subscribe(
      message => {
        if (message.type === 'connection_removed') this.#holds.delete(message.connectionId)
        if (message.type === 'connection_removed') void this.#drop(message.connectionId)
        if (message.type === 'connection_changed') void this.#change(message.connectionId)
        if (message.type === 'connection_renewed') this.#renewed(message.connectionId)
        // Every node gets the message, and the owner's work is for the owner only.
        if (message.type === 'connection_renewed' && isOwned(deps.ownership, message.userKey)) void this.#resume(message.connectionId)
      },
      ['connection_removed', 'connection_changed', 'connection_renewed']
    )
  }

  start(): void {
    this.#sweeping ??= this.#sweep()
  }

  /**
   * Resumes the work of an earlier process or owner for these partitions: looks up every order with a pending answer, and mirrors every
   * connection that has open orders or is held. Leaves out users who have moved on meanwhile: their next owner resumes theirs.
   * @param resumed the connections of an earlier attempt; those that could be resumed now are added
   * @returns why others could not, by connection: they keep nobody else waiting
   * @throws StoreUnavailable
   */
  async resume(partitions: ReadonlySet<Partition>, resumed: Set<ConnectionId>): Promise<ReadonlyMap<ConnectionId, unknown>> {
    const isResumed = (userKey: UserKey) => partitions.has(partitionOf(userKey)) && isOwned(this.#deps.ownership, userKey)
    const held = [...this.#holds].filter(([connectionId, { userKey }]) => isResumed(userKey) && !this.#mirrors.has(connectionId))
    const following = someAtATime(held, RESUMED_AT_ONCE, ([connectionId]) => this.#follow(connectionId))
    const failures = new Map<ConnectionId, unknown>()
    const unfinished = await this.#deps.store.connections.withUnfinishedOrders()
    await someAtATime(unfinished, RESUMED_AT_ONCE, async connection => {
      const { connectionId, userKey } = connection
      if (!isResumed(userKey) || resumed.has(connectionId)) return
      try {
        await this.#recover(connection)
        resumed.add(connectionId)
      } catch (cause) {
        if (isResumed(userKey)) failures.set(connectionId, cause)
      }
    })
    await following
    return failures
  }

  /** Ends the mirrors of users that this node does not own any more. */
  async endUnowned(): Promise<void> {
    const left = [...this.#mirrors].filter(([, { mirror }]) => !isOwned(this.#deps.ownership, mirror.connection.userKey))
    await Promise.all(left.map(([connectionId]) => this.#drop(connectionId)))
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#unsubscribe()
    this.#refreshes.stop()
    await Promise.all([...this.#mirrors.keys()].map(connectionId => this.#drop(connectionId)))
    await Promise.all(this.#closing.values())
    await this.#sweeping
    this.#parts.health.stop()
  }

  /** Keeps the connection mirrored until it has no open orders, no client holds it, and it was not requested for a while. */
  want(connection: Connection): void {
    const { connectionId } = connection
    if (this.#stopping.signal.aborted || connection.status !== 'ACTIVE' || !isOwned(this.#deps.ownership, connection.userKey)) return
    const known = this.#mirrors.get(connectionId)
    if (known !== undefined) {
      known.wantedAt = this.#deps.clock.monotonicMs()
      return
    }
    const mirror = new ConnectionMirror(this.#deps, this.#parts, connection)
    const login = this.#parts.sessions.retain(connectionId)
    const entry: Entry = { mirror, login, wantedAt: this.#deps.clock.monotonicMs(), isRenewed: false }
    this.#mirrors.set(connectionId, entry)
    mirror.start(this.#closing.get(connectionId) ?? null, () => {
      entry.login[Symbol.dispose]()
      if (this.#mirrors.get(connectionId) === entry) this.#mirrors.delete(connectionId)
    })
  }

  /** Keeps the connection mirrored, with or without orders, until every hold is released. */
  hold(connection: Connection): void {
    const { connectionId } = connection
    const known = this.#holds.get(connectionId)
    if (known === undefined) this.#holds.set(connectionId, { userKey: connection.userKey, count: 1 })
    else known.count += 1
    this.want(connection)
  }

  /** Releases a hold. The mirror stays for a while, in case the client returns. */
  release(connectionId: ConnectionId): void {
    const hold = this.#holds.get(connectionId)
    if (hold === undefined) return
    hold.count -= 1
    if (hold.count > 0) return
    this.#holds.delete(connectionId)
    const entry = this.#mirrors.get(connectionId)
    if (entry !== undefined) entry.wantedAt = this.#deps.clock.monotonicMs()
  }

  isLive(connectionId: ConnectionId): boolean {
    return this.#mirrors.get(connectionId)?.mirror.live ?? false
  }

  /** The health of the connection, as far as this node knows. */
  health(connection: HealthSubject): ConnectionHealth {
    return this.#parts.health.of(connection)
  }

  /** What the work of this node has found about the health of connections, and how many changes of it there were. */
  get knownHealth(): { readonly changes: number; readonly known: Iterable<KnownHealth> } {
    return { changes: this.#parts.health.changes, known: this.#parts.health.known() }
  }

  /** How many records the connection's lists lack because they could not be read, as far as this node knows; null: none. */
  leftOut({ connectionId }: Pick<Connection, 'connectionId'>): LeftOut | null {
    return this.#parts.sessions.partialLists.of(connectionId)
  }

  get count(): number {
    return this.#mirrors.size
  }

  /** Open broker sessions. */
  get sessions(): number {
    return this.#parts.sessions.count
  }

  /** Mirrored connections whose health is `state`. */
  countOf(state: ConnectionHealth['state']): number {
    return this.#parts.health.count(state)
  }

  /** Announces an order that was stored and is about to be sent, so that its reports are matched to it. */
  expect(connection: Connection, account: Account, order: Order): void {
    this.#parts.intake.expect(account.accountId, order.brokerClOrdId, order.orderId)
    this.want(connection)
  }

  /**
   * Refreshes the stored records of the accounts for a read, within the time limit of a read. Returns the accounts that could not be
   * refreshed; their stored records are the last known.
   */
  freshen(connections: readonly Connection[], accounts: readonly Account[], kind: RecordKind): Promise<Unrefreshed> {
    return this.#refreshes.freshen(connections, accounts, kind)
  }

  /** Like {@link freshen}, for transactions of some days, at brokers that have transactions. */
  freshenTransactions(
    connections: readonly Connection[],
    accounts: readonly Account[],
    days: { readonly from: Day; readonly to: Day }
  ): Promise<Unrefreshed> {
    return this.#transactions.freshen(connections, accounts, days)
  }

  /** Handles an error of a refresh and returns the reason. @throws anything that is neither a broker's fault nor the store's. */
  failed(connection: Connection, cause: unknown): Promise<FreshnessReason> {
    return this.#refreshes.failed(connection, cause)
  }

  /** The connection's broker session. @throws BrokerFault */
  session(connection: Connection): Broker {
    return this.#parts.sessions.get(connection)
  }

  /** The connection is mirrored and its other orders are taken up even if one cannot be. @throws the first failure */
  async #recover(connection: Connection): Promise<void> {
    const failures: unknown[] = []
    try {
      const { accounts, orders } = this.#deps.store
      const { connectionId } = connection
      const byId = new Map((await accounts.listByConnections([connectionId])).map(account => [account.accountId, account]))
      for (const stored of await orders.unfinished({ connectionId })) {
        const account = byId.get(stored.accountId)
        if (account !== undefined) await this.#takeUp(connection, account, stored).catch((cause: unknown) => failures.push(cause))
      }
    } finally {
      this.want(connection)
    }
    if (failures.length > 0) throw failures[0]
  }

  async #takeUp(connection: Connection, account: Account, stored: Order): Promise<void> {
    // Requests are already being served: one that sends this order now follows it itself.
    if (this.#parts.commands.isSending(stored)) return
    const at = this.#deps.clock.now()
    const order = await this.#parts.orderWriter.change(stored.orderId, present => submissionUnknown(present, 'recovery', at))
    if (order !== null && awaitsAnswer(order)) this.#parts.reconciliation.takeOver({ connection, account, order })
  }

  /** Resumes the open orders of a connection after its login was renewed, as after a start. */
  async #resume(connectionId: ConnectionId): Promise<void> {
    try {
      const { connections, orders } = this.#deps.store
      const [connection, unfinished] = await Promise.all([connections.find(connectionId), orders.unfinished({ connectionId })])
      if (connection?.status === 'ACTIVE' && unfinished.length > 0) await this.#recover(connection)
    } catch (cause) {
      this.#deps.log.warn('open orders of a renewed connection are followed at the next read', { connectionId, cause })
    }
  }

  async #sweep(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await this.#deps.clock.sleep(this.#deps.timing.mirrorIdleMs / 2, signal).catch(() => undefined)
      for (const [connectionId, { userKey }] of this.#holds)
        if (!this.#mirrors.has(connectionId) && isOwned(this.#deps.ownership, userKey) && !signal.aborted) await this.#follow(connectionId)
      for (const [connectionId, { wantedAt }] of this.#mirrors) {
        if (signal.aborted || this.#holds.has(connectionId)) continue
        if (this.#deps.clock.monotonicMs() - wantedAt < this.#deps.timing.mirrorIdleMs) continue
        // If the store does not answer now, the next sweep tries again.
        const unfinished = await this.#deps.store.orders.unfinished({ connectionId }).catch(() => null)
        const isWantedAgain = this.#mirrors.get(connectionId)?.wantedAt !== wantedAt || this.#holds.has(connectionId)
        if (unfinished?.length === 0 && !isWantedAgain) await this.#drop(connectionId)
      }
      if (!signal.aborted) await this.#parts.sessions.closeIdle()
    }
  }

  /** Mirrors a held connection in its stored state. If the store does not answer, the next sweep tries again. */
  async #follow(connectionId: ConnectionId): Promise<void> {
    const connection = await this.#deps.store.connections.find(connectionId).catch(() => null)
    if (connection !== null && this.#holds.has(connectionId)) this.want(connection)
  }

  #renewed(connectionId: ConnectionId): void {
    const entry = this.#mirrors.get(connectionId)
    if (entry !== undefined) entry.isRenewed = true
  }

  /** The message may come twice from another node: a mirror that follows the connection as it is stored goes on. */
  async #change(connectionId: ConnectionId): Promise<void> {
    const stored = await this.#deps.store.connections.find(connectionId).catch(() => null)
    const entry = this.#mirrors.get(connectionId)
    if (entry !== undefined && !entry.isRenewed && stored !== null && isUnchanged(entry.mirror.connection, stored)) return
    void this.#drop(connectionId)
    if (stored !== null && this.#holds.has(connectionId)) this.want(stored)
  }

  async #drop(connectionId: ConnectionId): Promise<void> {
    const entry = this.#mirrors.get(connectionId)
    if (entry === undefined) return
    this.#mirrors.delete(connectionId)
    entry.login[Symbol.dispose]()
    const closing = entry.mirror.stop().finally(() => {
      if (this.#closing.get(connectionId) === closing) this.#closing.delete(connectionId)
    })
    this.#closing.set(connectionId, closing)
    await closing
  }
}

function isUnchanged(known: Connection, stored: Connection): boolean {
  return known.status === stored.status && known.updatedAt === stored.updatedAt && known.userKey === stored.userKey
}
