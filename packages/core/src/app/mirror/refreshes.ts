import type { Account, Connection } from '../../domain/account.ts'
import type { FreshnessReason } from '../../domain/freshness.ts'
import type { AccountId } from '../../domain/ids.ts'
import { isWithin } from '../../domain/timestamp.ts'
import { BrokerFault } from '../../ports/broker.ts'
import { CommitUnknown, StoreUnavailable } from '../../ports/store.ts'
import { setBounded } from '../bounded-map.ts'
import type { BrokerSessions } from '../broker-access/broker-sessions.ts'
import type { Deps } from '../deps.ts'
import type { OrderWriter } from '../execution/order-writer.ts'
import { limited, within } from '../time-limits.ts'
import type { AccountRecords } from './account-records.ts'
import { NOT_STORED, noAnswer, TOO_SLOW } from './health-reasons.ts'
import type { HealthRegistry } from './health-registry.ts'
import type { OrderSnapshots } from './order-snapshots.ts'

export type RecordKind = 'balances' | 'positions' | 'orders'

/** Accounts whose stored records are only the last known, with the reason. */
export type Unrefreshed = ReadonlyMap<AccountId, FreshnessReason>

type RefreshesDeps = Pick<Deps, 'store' | 'clock' | 'log' | 'meter' | 'timing'>

interface Parts {
  readonly sessions: BrokerSessions
  readonly records: AccountRecords
  readonly orderWriter: OrderWriter
  readonly snapshots: OrderSnapshots
  readonly health: HealthRegistry
  /** Whether the connection's orders follow the broker without a gap. */
  readonly isLive: (connection: Connection) => boolean
  /** Mirrors the connection from now on. */
  readonly want: (connection: Connection) => void
}

const REQUESTED_MAX = 50_000

/** Refreshes the stored records of accounts without a mirror. */
export class Refreshes {
  readonly #deps: RefreshesDeps
  readonly #parts: Parts
  readonly #running = new Map<string, Promise<void>>()
  readonly #requestedAt = new Map<string, number>()
  readonly #stopping = new AbortController()

  constructor(deps: RefreshesDeps, parts: Parts) {
    this.#deps = deps
    this.#parts = parts
  }

  stop(): void {
    this.#stopping.abort()
  }

  /** Refreshes within the time limit of a read. Returns the accounts that could not be refreshed. */
  async freshen(connections: readonly Connection[], accounts: readonly Account[], kind: RecordKind): Promise<Unrefreshed> {
    const byId = new Map(connections.map(connection => [connection.connectionId, connection]))
    const stale = new Map<AccountId, FreshnessReason>()
    await Promise.all(
      accounts.map(async account => {
        const connection = byId.get(account.connectionId)
        const why = connection?.status === 'ACTIVE' ? await this.#freshenOne(connection, account, kind) : 'broker_unavailable'
        if (why !== null) stale.set(account.accountId, why)
      })
    )
    return stale
  }

  /** Runs one refresh at a time per key; concurrent callers share it. */
  once(key: string, work: () => Promise<void>): Promise<void> {
    const running = this.#running.get(key)
    if (running !== undefined) return running
    const refreshing = work().finally(() => this.#running.delete(key))
    this.#running.set(key, refreshing)
    refreshing.catch(() => undefined)
    return refreshing
  }

  /**
   * Handles an error of a refresh; returns why the stored records are not fresh. @throws anything that is neither a broker's fault nor the
   * store's.
   */
  async failed(connection: Connection, cause: unknown): Promise<FreshnessReason> {
    const { connectionId, broker } = connection
    if (isOfStore(cause)) {
      this.#deps.log.warn('a broker’s answer to a read could not be stored', { connectionId, cause })
      this.#parts.health.read(connection, NOT_STORED)
      return 'not_stored'
    }
    if (!(cause instanceof BrokerFault)) throw cause
    this.#deps.meter.count('broker_faults_total', { broker, kind: cause.kind })
    this.#deps.log.warn('a broker gave no answer to a read', { connectionId, kind: cause.kind })
    if (!(await this.#reportFault(connection, cause))) this.#parts.health.read(connection, noAnswer(cause))
    return 'broker_unavailable'
  }

  /** If the store cannot record the broken connection now, the next rejection tries again. */
  async #reportFault(connection: Connection, fault: BrokerFault): Promise<boolean> {
    try {
      return await this.#parts.sessions.reportFault(connection, fault)
    } catch (cause) {
      if (!isOfStore(cause)) throw cause
      this.#deps.log.warn('a broken connection could not be recorded', { connectionId: connection.connectionId, cause })
      return false
    }
  }

  /** Null: the stored records are fresh. */
  async #freshenOne(connection: Connection, account: Account, kind: RecordKind): Promise<FreshnessReason | null> {
    if (kind === 'orders' && this.#parts.isLive(connection)) return null
    try {
      // Twice if an order changed during the first read, so that every later read includes what the order did.
      for (let tries = 0; tries < 2 && !(await this.#isFresh(account, kind)); tries += 1) {
        if (!(await this.#read(connection, account, kind))) {
          this.#parts.health.read(connection, TOO_SLOW)
          return 'broker_unavailable'
        }
        this.#parts.health.read(connection, null)
      }
      return null
    } catch (cause) {
      return await this.failed(connection, cause)
    }
  }

  async #isFresh(account: Account, kind: RecordKind): Promise<boolean> {
    const requestedAt = this.#requestedAt.get(`${kind} ${account.accountId}`)
    const changedAt = kind === 'orders' ? null : this.#parts.orderWriter.changedAt(account.accountId)
    if (changedAt !== null && changedAt >= (requestedAt ?? 0)) return false
    if (requestedAt !== undefined) return this.#deps.clock.monotonicMs() - requestedAt <= this.#deps.timing.freshMs
    const confirmed = (await this.#deps.store.accounts.freshness(account.accountId))[kind]
    return confirmed !== null && isWithin(confirmed, this.#deps.clock.now(), this.#deps.timing.freshMs)
  }

  /** Reads from the broker; false if that takes longer than a read may. */
  async #read(connection: Connection, account: Account, kind: RecordKind): Promise<boolean> {
    const key = `${kind} ${account.accountId}`
    const refreshed = this.once(key, async () => {
      const requestedAt = this.#deps.clock.monotonicMs()
      await this.#refresh(connection, account, kind)
      setBounded(this.#requestedAt, key, requestedAt, REQUESTED_MAX)
    })
    return (
      (await within(
        this.#deps.clock,
        refreshed.then(() => true),
        this.#deps.timing.readMs
      )) === true
    )
  }

  async #refresh(connection: Connection, account: Account, kind: RecordKind): Promise<void> {
    const { sessions, records, snapshots } = this.#parts
    const session = sessions.get(connection)
    const bounded = <T>(read: (signal: AbortSignal) => Promise<T>) =>
      limited(this.#deps.clock, this.#deps.timing.commandMs, read, this.#stopping.signal)
    if (kind === 'balances') return bounded(signal => records.refreshBalances(session, account, signal))
    if (kind === 'positions') return bounded(signal => records.refreshPositions(session, account, signal))
    // A connection with open orders, wherever they were placed, is mirrored from now on.
    if (await snapshots.take(session, connection, account, this.#stopping.signal)) this.#parts.want(connection)
  }
}

/** The store is unavailable, full or read-only: stored records may still be read. */
function isOfStore(cause: unknown): boolean {
  return cause instanceof StoreUnavailable || cause instanceof CommitUnknown
}
