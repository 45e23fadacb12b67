import type { Account, Connection, ConnectionHealth } from '../../domain/account.ts'
import type { FreshnessReason } from '../../domain/freshness.ts'
import type { ConnectionId } from '../../domain/ids.ts'
import type { Order } from '../../domain/order.ts'
import type { Day } from '../../domain/timestamp.ts'
import type { Broker } from '../../ports/broker.ts'
import type { Deps } from '../deps.ts'
import type { OrderGateway } from '../orders/order-gateway.ts'
import { awaitsAnswer, submissionUnknown } from '../orders/order-steps.ts'
import type { Resolver } from '../orders/resolver.ts'
import { ConnectionMirror, type MirrorParts } from './connection-mirror.ts'
import { HealthRegistry } from './health-registry.ts'
import { type RecordKind, Refreshes, type Unrefreshed } from './refreshes.ts'
import { Semaphore } from './semaphore.ts'
import { TransactionRefreshes } from './transaction-refreshes.ts'

type MirrorsDeps = Pick<Deps, 'store' | 'bus' | 'clock' | 'ids' | 'log' | 'meter' | 'timing'>

/** Snapshots taken of one broker's accounts at once, over all mirrors: a start or an outage of thousands must leave capacity for orders. */
const SNAPSHOTS_AT_ONCE = 16

/** What mirrors stand on. */
type MirrorsParts = Omit<MirrorParts, 'health' | 'snapshotSemaphore'> & {
  readonly gateway: OrderGateway
  readonly resolver: Resolver
  /** Whether the connection's market data is followed, whatever its mirror does. */
  readonly isWatched: (connectionId: ConnectionId) => boolean
}

interface Entry {
  readonly mirror: ConnectionMirror
  wantedAt: number
}

/** The node's mirrors: one per connection, while its orders can move or a client holds it; and the refreshing of connections without one. */
export class Mirrors {
  readonly #deps: MirrorsDeps
  readonly #parts: MirrorsParts & MirrorParts
  readonly #refreshes: Refreshes
  readonly #transactions: TransactionRefreshes
  readonly #mirrors = new Map<ConnectionId, Entry>()
  readonly #holds = new Map<ConnectionId, number>()
  /** Mirrors on their way to the end: the connection's next one waits for it, since an account has one writer. */
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
        if (message.type === 'connection_removed' || message.type === 'connection_changed') void this.#drop(message.connectionId)
        if (message.type === 'connection_changed' && this.#holds.has(message.connectionId)) void this.#follow(message.connectionId)
        if (message.type === 'connection_renewed') void this.#resume(message.connectionId)
      },
      ['connection_removed', 'connection_changed', 'connection_renewed']
    )
  }

  /** Takes up what an earlier run left open: every unanswered order is looked up, every open one followed. */
  async start(): Promise<void> {
    for (const connection of await this.#deps.store.connections.withUnfinishedOrders()) await this.#recover(connection)
    this.#sweeping = this.#sweep()
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

  /** Keeps the connection mirrored from now until its orders rest, no client holds it and none asked for it for a while. */
  want(connection: Connection): void {
    const { connectionId } = connection
    if (this.#stopping.signal.aborted || connection.status !== 'ACTIVE') return
    const known = this.#mirrors.get(connectionId)
    if (known !== undefined) {
      known.wantedAt = this.#deps.clock.monotonicMs()
      return
    }
    const mirror = new ConnectionMirror(this.#deps, this.#parts, connection)
    const entry: Entry = { mirror, wantedAt: this.#deps.clock.monotonicMs() }
    this.#mirrors.set(connectionId, entry)
    mirror.start(this.#closing.get(connectionId) ?? null, () => {
      if (this.#mirrors.get(connectionId) === entry) this.#mirrors.delete(connectionId)
    })
  }

  /** Keeps the connection mirrored, with or without orders, until as many releases as holds were asked for. */
  hold(connection: Connection): void {
    const { connectionId } = connection
    this.#holds.set(connectionId, (this.#holds.get(connectionId) ?? 0) + 1)
    this.want(connection)
  }

  /** The mirror stays a while, for one who comes back. */
  release(connectionId: ConnectionId): void {
    const holds = this.#holds.get(connectionId)
    if (holds === undefined) return
    if (holds > 1) {
      this.#holds.set(connectionId, holds - 1)
      return
    }
    this.#holds.delete(connectionId)
    const entry = this.#mirrors.get(connectionId)
    if (entry !== undefined) entry.wantedAt = this.#deps.clock.monotonicMs()
  }

  isLive(connectionId: ConnectionId): boolean {
    return this.#mirrors.get(connectionId)?.mirror.live ?? false
  }

  /** How well what is stored of the connection follows its broker, as far as is known here now. */
  health(connection: Connection): ConnectionHealth {
    return this.#parts.health.of(connection)
  }

  get count(): number {
    return this.#mirrors.size
  }

  /** Broker logins held open. */
  get sessions(): number {
    return this.#parts.sessions.count
  }

  /** Followed connections whose health is `state`. */
  countOf(state: ConnectionHealth['state']): number {
    return this.#parts.health.count(state)
  }

  /** An order was stored and goes out now: every report of it belongs to it. */
  expect(connection: Connection, account: Account, order: Order): void {
    this.#parts.intake.expect(account.accountId, order.brokerClOrdId, order.orderId)
    this.want(connection)
  }

  /**
   * Makes the stored records of the accounts fresh enough to read, within the read time. Gives those that could not be refreshed; their stored
   * records are the last known.
   */
  freshen(connections: readonly Connection[], accounts: readonly Account[], kind: RecordKind): Promise<Unrefreshed> {
    return this.#refreshes.freshen(connections, accounts, kind)
  }

  /** As {@link freshen}, for the transactions of some days. Of brokers that have transactions only. */
  freshenTransactions(
    connections: readonly Connection[],
    accounts: readonly Account[],
    days: { readonly from: Day; readonly to: Day }
  ): Promise<Unrefreshed> {
    return this.#transactions.freshen(connections, accounts, days)
  }

  /** To be called with what a refresh threw; gives why. @throws anything that is neither the broker's fault nor the store's. */
  failed(connection: Connection, cause: unknown): Promise<FreshnessReason> {
    return this.#refreshes.failed(connection, cause)
  }

  /** The connection's broker session. @throws BrokerFault */
  session(connection: Connection): Broker {
    return this.#parts.sessions.get(connection)
  }

  async #recover(connection: Connection): Promise<void> {
    const accounts = await this.#deps.store.accounts.listByConnections([connection.connectionId])
    const byId = new Map(accounts.map(account => [account.accountId, account]))
    for (const stored of await this.#deps.store.orders.unfinished({ connectionId: connection.connectionId })) {
      const account = byId.get(stored.accountId)
      // Requests are served already: what one of them sends now is its own to follow.
      if (account === undefined || this.#parts.gateway.isSending(stored)) continue
      const at = this.#deps.clock.now()
      const order = await this.#parts.orderWriter.change(stored.orderId, present => submissionUnknown(present, 'recovery', at))
      if (order !== null && awaitsAnswer(order)) this.#parts.resolver.watch({ connection, account, order })
    }
    this.want(connection)
  }

  /** Takes up again, with its new login, what a connection left open: as after a start. */
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
      for (const connectionId of this.#holds.keys())
        if (!this.#mirrors.has(connectionId) && !signal.aborted) await this.#follow(connectionId)
      for (const [connectionId, { wantedAt }] of this.#mirrors) {
        if (signal.aborted || this.#holds.has(connectionId)) continue
        if (this.#deps.clock.monotonicMs() - wantedAt < this.#deps.timing.mirrorIdleMs) continue
        // A store that does not answer now is asked at the next sweep.
        const unfinished = await this.#deps.store.orders.unfinished({ connectionId }).catch(() => null)
        const isWantedAgain = this.#mirrors.get(connectionId)?.wantedAt !== wantedAt || this.#holds.has(connectionId)
        if (unfinished?.length === 0 && !isWantedAgain) await this.#drop(connectionId)
      }
      if (!signal.aborted)
        await this.#parts.sessions.closeIdle(connectionId => this.#mirrors.has(connectionId) || this.#parts.isWatched(connectionId))
    }
  }

  /** Follows a held connection as it is stored now. A store that does not answer is asked at the next sweep. */
  async #follow(connectionId: ConnectionId): Promise<void> {
    const connection = await this.#deps.store.connections.find(connectionId).catch(() => null)
    if (connection !== null && this.#holds.has(connectionId)) this.want(connection)
  }

  async #drop(connectionId: ConnectionId): Promise<void> {
    const entry = this.#mirrors.get(connectionId)
    if (entry === undefined) return
    this.#mirrors.delete(connectionId)
    const closing = entry.mirror.stop().finally(() => {
      if (this.#closing.get(connectionId) === closing) this.#closing.delete(connectionId)
    })
    this.#closing.set(connectionId, closing)
    await closing
  }
}
