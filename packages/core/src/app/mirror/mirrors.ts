import type { Account, Connection } from '../../domain/account.ts'
import type { ConnectionId } from '../../domain/ids.ts'
import type { Order } from '../../domain/order.ts'
import { epochMs } from '../../domain/timestamp.ts'
import { type Broker, BrokerFault } from '../../ports/broker.ts'
import type { Deps } from '../deps.ts'
import { keepNewest } from '../keep-newest.ts'
import { limited } from '../limited.ts'
import type { OrderDesk } from '../orders/order-desk.ts'
import type { OrderGateway } from '../orders/order-gateway.ts'
import { isOwedAnAnswer, submissionUnknown } from '../orders/order-steps.ts'
import type { Resolver } from '../orders/resolver.ts'
import { within } from '../within.ts'
import type { AccountRecords } from './account-records.ts'
import { ConnectionMirror, type MirrorParts } from './connection-mirror.ts'
import { OrderSnapshots } from './order-snapshots.ts'

type MirrorsDeps = Pick<Deps, 'store' | 'bus' | 'clock' | 'log' | 'meter' | 'timing'>

const ASKED_MAX = 50_000

/** What mirrors stand on. */
type MirrorsParts = Omit<MirrorParts, 'snapshots'> & {
  readonly desk: OrderDesk
  readonly gateway: OrderGateway
  readonly resolver: Resolver
}

/** The node's mirrors: one per connection, while its orders can move; and the refreshing of what nobody follows. */
export class Mirrors {
  readonly #deps: MirrorsDeps
  readonly #parts: MirrorsParts & MirrorParts
  readonly #mirrors = new Map<ConnectionId, { readonly mirror: ConnectionMirror; wantedAt: number }>()
  readonly #refreshing = new Map<string, Promise<void>>()
  readonly #askedAt = new Map<string, number>()
  readonly #stopping = new AbortController()
  readonly #unsubscribe: () => void
  #sweeping: Promise<void> | null = null

  constructor(deps: MirrorsDeps, parts: MirrorsParts) {
    this.#deps = deps
    this.#parts = { ...parts, snapshots: new OrderSnapshots(deps, parts) }
    this.#unsubscribe = deps.bus.subscribe(message => {
      if (message.type === 'connection_removed' || message.type === 'connection_changed') void this.#drop(message.connectionId)
    })
  }

  /** Takes up what an earlier run left open: every unanswered order is looked up, every open one followed. */
  async start(): Promise<void> {
    for (const connection of await this.#deps.store.connections.withUnfinishedOrders()) await this.#recover(connection)
    this.#sweeping = this.#sweep()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#unsubscribe()
    await Promise.all([...this.#mirrors.values()].map(({ mirror }) => mirror.stop()))
    await this.#sweeping
  }

  /** Keeps the connection mirrored from now until its orders rest and nobody asked for a while. */
  want(connection: Connection): void {
    if (this.#stopping.signal.aborted || connection.status !== 'ACTIVE') return
    const known = this.#mirrors.get(connection.connectionId)
    if (known !== undefined) {
      known.wantedAt = this.#deps.clock.monotonicMs()
      return
    }
    const mirror = new ConnectionMirror(this.#deps, this.#parts, connection)
    this.#mirrors.set(connection.connectionId, { mirror, wantedAt: this.#deps.clock.monotonicMs() })
    mirror.start()
  }

  isLive(connectionId: ConnectionId): boolean {
    return this.#mirrors.get(connectionId)?.mirror.live ?? false
  }

  get count(): number {
    return this.#mirrors.size
  }

  /** An order was stored and goes out now: whatever is heard of it belongs to it. */
  expect(connection: Connection, account: Account, order: Order): void {
    this.#parts.intake.expect(account.accountId, order.brokerClOrdId, order.orderId)
    this.want(connection)
  }

  /**
   * Makes the stored records of the accounts fresh enough to read, within the read time. Gives those the broker gave no answer for; their
   * stored records are the last known.
   */
  async freshen(connections: readonly Connection[], accounts: readonly Account[], kind: RecordKind): Promise<readonly Account[]> {
    const byId = new Map(connections.map(connection => [connection.connectionId, connection]))
    const stale: Account[] = []
    await Promise.all(
      accounts.map(async account => {
        const connection = byId.get(account.connectionId)
        if (connection === undefined || connection.status !== 'ACTIVE' || !(await this.#freshenOne(connection, account, kind)))
          stale.push(account)
      })
    )
    return stale
  }

  async #freshenOne(connection: Connection, account: Account, kind: RecordKind): Promise<boolean> {
    if (kind === 'orders' && this.isLive(connection.connectionId)) return true
    try {
      // Once more when an order changed while the first answer was on its way: what an order did is in every later read.
      for (let asked = 0; asked < 2 && !(await this.#isFresh(account, kind)); asked += 1) {
        if (!(await this.#ask(connection, account, kind))) return false
      }
      return true
    } catch (cause) {
      await this.failed(connection, cause)
      return false
    }
  }

  async #isFresh(account: Account, kind: RecordKind): Promise<boolean> {
    const askedAt = this.#askedAt.get(`${kind} ${account.accountId}`)
    const changedAt = kind === 'orders' ? null : this.#parts.desk.changedAt(account.accountId)
    if (changedAt !== null && changedAt >= (askedAt ?? 0)) return false
    if (askedAt !== undefined) return this.#deps.clock.monotonicMs() - askedAt <= this.#deps.timing.freshMs
    const confirmed = (await this.#deps.store.accounts.freshness(account.accountId))[kind]
    return confirmed !== null && epochMs(this.#deps.clock.now()) - epochMs(confirmed) <= this.#deps.timing.freshMs
  }

  /** Reads from the broker; false when that takes longer than a read may. */
  async #ask(connection: Connection, account: Account, kind: RecordKind): Promise<boolean> {
    const key = `${kind} ${account.accountId}`
    const refreshed = this.once(key, async () => {
      const askedAt = this.#deps.clock.monotonicMs()
      await this.#refresh(this.#parts.sessions.get(connection), connection, account, kind)
      keepNewest(this.#askedAt, key, askedAt, ASKED_MAX)
    })
    return (
      (await within(
        this.#deps.clock,
        refreshed.then(() => true),
        this.#deps.timing.readMs
      )) === true
    )
  }

  /** One refresh at a time per key: those who ask meanwhile share it. */
  once(key: string, work: () => Promise<void>): Promise<void> {
    const running = this.#refreshing.get(key)
    if (running !== undefined) return running
    const refreshing = work().finally(() => this.#refreshing.delete(key))
    this.#refreshing.set(key, refreshing)
    refreshing.catch(() => undefined)
    return refreshing
  }

  get records(): AccountRecords {
    return this.#parts.records
  }

  /** The connection's broker session. @throws BrokerFault */
  session(connection: Connection): Broker {
    return this.#parts.sessions.get(connection)
  }

  /** To be called with what a read of a broker threw. @throws anything that is no broker's fault. */
  async failed(connection: Connection, cause: unknown): Promise<void> {
    if (!(cause instanceof BrokerFault)) throw cause
    this.#deps.meter.count('broker_faults_total', { broker: connection.broker, kind: cause.kind })
    this.#deps.log.warn('a broker gave no answer to a read', { connectionId: connection.connectionId, kind: cause.kind })
    await this.#parts.sessions.learn(connection, cause)
  }

  async #refresh(session: Broker, connection: Connection, account: Account, kind: RecordKind): Promise<void> {
    const { records, snapshots } = this.#parts
    const { brokerAccountId } = account
    const asked = <T>(read: (signal: AbortSignal) => Promise<T>) =>
      limited(this.#deps.clock, this.#deps.timing.commandMs, read, this.#stopping.signal)
    if (kind === 'balances') return records.putBalances(account, await asked(signal => session.balances(brokerAccountId, signal)))
    if (kind === 'positions') return records.putPositions(account, await asked(signal => session.positions(brokerAccountId, signal)))
    // Orders that can still move, wherever they were placed, are followed from here on.
    if (await snapshots.take(session, connection, account, this.#stopping.signal)) this.want(connection)
  }

  async #recover(connection: Connection): Promise<void> {
    const accounts = await this.#deps.store.accounts.listByConnections([connection.connectionId])
    const byId = new Map(accounts.map(account => [account.accountId, account]))
    for (const stored of await this.#deps.store.orders.unfinished({ connectionId: connection.connectionId })) {
      const account = byId.get(stored.accountId)
      // Requests are served already: what one of them sends now is its own to follow.
      if (account === undefined || this.#parts.gateway.isSending(stored)) continue
      const at = this.#deps.clock.now()
      const order = await this.#parts.desk.change(stored.orderId, present => submissionUnknown(present, 'recovery', at))
      if (order !== null && isOwedAnAnswer(order)) this.#parts.resolver.watch({ connection, account, order })
    }
    this.want(connection)
  }

  async #sweep(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await this.#deps.clock.sleep(this.#deps.timing.mirrorIdleMs / 2, signal).catch(() => undefined)
      for (const [connectionId, { wantedAt }] of this.#mirrors) {
        if (signal.aborted || this.#deps.clock.monotonicMs() - wantedAt < this.#deps.timing.mirrorIdleMs) continue
        // A store that does not answer now is asked at the next sweep.
        const unfinished = await this.#deps.store.orders.unfinished({ connectionId }).catch(() => null)
        const isWantedAgain = this.#mirrors.get(connectionId)?.wantedAt !== wantedAt
        if (unfinished?.length === 0 && !isWantedAgain) await this.#drop(connectionId)
      }
    }
  }

  async #drop(connectionId: ConnectionId): Promise<void> {
    const entry = this.#mirrors.get(connectionId)
    this.#mirrors.delete(connectionId)
    await entry?.mirror.stop()
  }
}

export type RecordKind = 'balances' | 'positions' | 'orders'
