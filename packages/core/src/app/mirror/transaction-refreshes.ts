import type { Account, Connection } from '../../domain/account.ts'
import type { FreshnessReason } from '../../domain/freshness.ts'
import type { AccountId } from '../../domain/ids.ts'
import type { Day } from '../../domain/timestamp.ts'
import type { BrokerSessions } from '../connections/broker-sessions.ts'
import type { Deps } from '../deps.ts'
import { keepNewest } from '../keep-newest.ts'
import { limited } from '../limited.ts'
import type { OrderDesk } from '../orders/order-desk.ts'
import { within } from '../within.ts'
import type { AccountRecords } from './account-records.ts'
import type { HealthBook } from './health-book.ts'
import type { Unrefreshed } from './refreshes.ts'
import { TOO_SLOW } from './words.ts'

interface Days {
  readonly from: Day
  readonly to: Day
}

interface Parts {
  readonly sessions: BrokerSessions
  readonly records: AccountRecords
  readonly desk: OrderDesk
  readonly health: HealthBook
  /** One read at a time per key: those who ask meanwhile share it. */
  readonly once: (key: string, work: () => Promise<void>) => Promise<void>
  readonly failed: (connection: Connection, cause: unknown) => Promise<FreshnessReason>
}

const ASKED_MAX = 50_000

/** Makes stored transactions fresh enough to read: brokers tell them only when they are asked. */
export class TransactionRefreshes {
  readonly #deps: Pick<Deps, 'clock' | 'timing'>
  readonly #parts: Parts
  /** The days an account was last asked for, and when, on the monotonic clock. */
  readonly #asked = new Map<AccountId, Days & { readonly atMs: number }>()

  constructor(deps: Pick<Deps, 'clock' | 'timing'>, parts: Parts) {
    this.#deps = deps
    this.#parts = parts
  }

  /** Within the read time. Gives the accounts that could not be refreshed, or whose login has ended. */
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
      // Once more when an order changed while the first answer was on its way: what an order did is in every later read.
      for (let asked = 0; asked < 2 && !this.#isFresh(account, days); asked += 1) {
        const answer = await within(this.#deps.clock, this.#ask(connection, account, days), this.#deps.timing.readMs)
        health.read(connection, answer === true ? null : TOO_SLOW)
        if (answer !== true) return 'broker_unavailable'
      }
      return null
    } catch (cause) {
      return await failed(connection, cause)
    }
  }

  #isFresh({ accountId }: Account, days: Days): boolean {
    const asked = this.#asked.get(accountId)
    if (asked === undefined || asked.from > days.from || asked.to < days.to) return false
    const changedAt = this.#parts.desk.changedAt(accountId)
    if (changedAt !== null && changedAt >= asked.atMs) return false
    return this.#deps.clock.monotonicMs() - asked.atMs <= this.#deps.timing.freshMs
  }

  async #ask(connection: Connection, account: Account, days: Days): Promise<true> {
    const { sessions, records, once } = this.#parts
    const { clock, timing } = this.#deps
    await once(`transactions ${account.accountId} ${days.from} ${days.to}`, async () => {
      const atMs = clock.monotonicMs()
      await limited(clock, timing.commandMs, signal => records.refreshTransactions(sessions.get(connection), account, days, signal))
      keepNewest(this.#asked, account.accountId, { ...days, atMs }, ASKED_MAX)
    })
    return true
  }
}
