import type { Account, Connection } from '../../domain/account.ts'
import type { FreshnessReason } from '../../domain/freshness.ts'
import type { AccountId } from '../../domain/ids.ts'
import type { Day } from '../../domain/timestamp.ts'
import { setBounded } from '../bounded-map.ts'
import type { BrokerSessions } from '../broker-access/broker-sessions.ts'
import type { Deps } from '../deps.ts'
import type { OrderWriter } from '../execution/order-writer.ts'
import { limited, within } from '../time-limits.ts'
import type { AccountRecords } from './account-records.ts'
import { TOO_SLOW } from './health-reasons.ts'
import type { HealthRegistry } from './health-registry.ts'
import type { Unrefreshed } from './refreshes.ts'

interface Days {
  readonly from: Day
  readonly to: Day
}

interface Parts {
  readonly sessions: BrokerSessions
  readonly records: AccountRecords
  readonly orderWriter: OrderWriter
  readonly health: HealthRegistry
  /** Runs one read at a time per key; concurrent callers share it. */
  readonly once: (key: string, work: () => Promise<void>) => Promise<void>
  readonly failed: (connection: Connection, cause: unknown) => Promise<FreshnessReason>
}

const LAST_READS_MAX = 50_000

/** Refreshes stored transactions, which brokers return only on request. */
export class TransactionRefreshes {
  readonly #deps: Pick<Deps, 'clock' | 'timing'>
  readonly #parts: Parts
  /** The days last read for an account, and when (monotonic clock). */
  readonly #lastReads = new Map<AccountId, Days & { readonly atMs: number }>()

  constructor(deps: Pick<Deps, 'clock' | 'timing'>, parts: Parts) {
    this.#deps = deps
    this.#parts = parts
  }

  /** Refreshes within the time limit of a read. Returns the accounts that could not be refreshed, or whose login has ended. */
  async freshen(connections: readonly Connection[], accounts: readonly Account[], days: Days): Promise<Unrefreshed> {
    const byId = new Map(connections.map(connection => [connection.connectionId, connection]))
    const stale = new Map<AccountId, FreshnessReason>()
    await Promise.all(
      accounts.map(async account => {
        const connection = byId.get(account.connectionId)
        const why = connection?.status === 'ACTIVE' ? await this.#freshenOne(connection, account, days) : 'broker_unavailable'
        if (why !== null) stale.set(account.accountId, why)
      })
    )
    return stale
  }

  /** Null: the stored records are fresh. */
  async #freshenOne(connection: Connection, account: Account, days: Days): Promise<FreshnessReason | null> {
    const { health, failed } = this.#parts
    try {
      // Twice if an order changed during the first read, so that every later read includes what the order did.
      for (let tries = 0; tries < 2 && !this.#isFresh(account, days); tries += 1) {
        const answer = await within(this.#deps.clock, this.#read(connection, account, days), this.#deps.timing.readMs)
        health.read(connection, answer === true ? null : TOO_SLOW)
        if (answer !== true) return 'broker_unavailable'
      }
      return null
    } catch (cause) {
      return await failed(connection, cause)
    }
  }

  #isFresh({ accountId }: Account, days: Days): boolean {
    const last = this.#lastReads.get(accountId)
    if (last === undefined || last.from > days.from || last.to < days.to) return false
    const changedAt = this.#parts.orderWriter.changedAt(accountId)
    if (changedAt !== null && changedAt >= last.atMs) return false
    return this.#deps.clock.monotonicMs() - last.atMs <= this.#deps.timing.freshMs
  }

  async #read(connection: Connection, account: Account, days: Days): Promise<true> {
    const { sessions, records, once } = this.#parts
    const { clock, timing } = this.#deps
    await once(`transactions ${account.accountId} ${days.from} ${days.to}`, async () => {
      const atMs = clock.monotonicMs()
      await limited(clock, timing.commandMs, signal => records.refreshTransactions(sessions.get(connection), account, days, signal))
      setBounded(this.#lastReads, account.accountId, { ...days, atMs }, LAST_READS_MAX)
    })
    return true
  }
}
