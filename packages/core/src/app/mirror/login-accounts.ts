import type { Account, Connection } from '../../domain/account.ts'
import { type BalanceReport, type Broker, BrokerFault, type PositionReport, type Snapshot } from '../../ports/broker.ts'
import type { Deps } from '../deps.ts'
import type { OrderWriter } from '../execution/order-writer.ts'
import { limited } from '../time-limits.ts'
import type { AccountRecords } from './account-records.ts'
import type { OrderSnapshots } from './order-snapshots.ts'

/** The dependencies for reading accounts. */
export interface AccountParts {
  readonly records: AccountRecords
  readonly snapshots: OrderSnapshots
  readonly orderWriter: OrderWriter
}

/** The accounts of one login, and their snapshots. */
export class LoginAccounts {
  readonly #deps: Pick<Deps, 'store' | 'clock' | 'timing'>
  readonly #parts: AccountParts
  readonly #connection: Connection
  #accounts: readonly Account[] = []

  constructor(deps: Pick<Deps, 'store' | 'clock' | 'timing'>, parts: AccountParts, connection: Connection) {
    this.#deps = deps
    this.#parts = parts
    this.#connection = connection
  }

  async load(): Promise<void> {
    this.#accounts = await this.#deps.store.accounts.listByConnections([this.#connection.connectionId])
  }

  /** By the broker's key; a login has few accounts. */
  find(brokerAccountId: string): Account | undefined {
    return this.#accounts.find(account => account.brokerAccountId === brokerAccountId)
  }

  /** Takes a snapshot of every account. A failure of one does not stop the others. @throws the first failure. */
  async read(session: Broker, what: 'orders' | 'all', signal: AbortSignal): Promise<void> {
    let failure: BrokerFault | null = null
    for (const account of this.#accounts) {
      try {
        await this.#read(session, account, what, signal)
      } catch (cause) {
        if (!(cause instanceof BrokerFault) || cause.kind === 'credentials_rejected') throw cause
        failure ??= cause
      }
    }
    if (failure !== null) throw failure
  }

  /** Stores positions that the broker pushed, and reads them again if they lack a stored position. @throws BrokerFault */
  putPositions(session: Broker, account: Account, positions: Snapshot<PositionReport>, signal: AbortSignal): Promise<void> {
    const { clock, timing } = this.#deps
    const read = (within: AbortSignal) => session.positions(account.brokerAccountId, within)
    return this.#parts.records.putPositions(account, positions, () => limited(clock, timing.readMs, read, signal))
  }

  /** Stores balances that the broker pushed, and reads them again if they may be older than the stored ones. @throws BrokerFault */
  putBalances(session: Broker, account: Account, balances: Snapshot<BalanceReport>, signal: AbortSignal): Promise<void> {
    const { clock, timing } = this.#deps
    const read = (within: AbortSignal) => session.balances(account.brokerAccountId, within)
    return this.#parts.records.putBalances(account, balances, () => limited(clock, timing.readMs, read, signal))
  }

  /** Whether the login has open orders, or had some recently. If the store does not answer, true. */
  async areBusy(): Promise<boolean> {
    const { clock, store, timing } = this.#deps
    const since = clock.monotonicMs() - timing.auditMs
    for (const { accountId } of this.#accounts) {
      const changedAt = this.#parts.orderWriter.changedAt(accountId)
      if (changedAt !== null && changedAt > since) return true
    }
    const open = await store.orders.unfinished({ connectionId: this.#connection.connectionId }).catch(() => null)
    return open === null || open.length > 0
  }

  async #read(session: Broker, account: Account, what: 'orders' | 'all', signal: AbortSignal): Promise<void> {
    const { clock, timing } = this.#deps
    await this.#parts.snapshots.take(session, this.#connection, account, signal)
    if (what === 'orders') return
    await limited(clock, timing.commandMs, within => this.#parts.records.refresh(session, account, within), signal)
  }
}
