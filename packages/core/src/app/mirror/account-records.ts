import type { Account, Balance, Position, Transaction } from '../../domain/account.ts'
import { symbolOf, unlisted } from '../../domain/account-changes.ts'
import type { AccountId, TransactionId } from '../../domain/ids.ts'
import { type Partition, partitionOf } from '../../domain/partition.ts'
import type { Day, Timestamp } from '../../domain/timestamp.ts'
import {
  type BalanceReport,
  type Broker,
  BrokerFault,
  type PositionReport,
  type Snapshot,
  type TransactionReport
} from '../../ports/broker.ts'
import { type AccountStore, type LoggedEvent, StoreUnavailable } from '../../ports/store.ts'
import { setBounded } from '../bounded-map.ts'
import type { Deps } from '../deps.ts'
import { KeyedQueue } from '../keyed-queue.ts'
import { limited } from '../time-limits.ts'

/** Most snapshots whose position in time is remembered. A late snapshot is late by seconds, so that no more are needed. */
const SNAPSHOTS_MAX = 100_000

/**
 * Stores the balances, positions and transactions that brokers report, one account at a time, and never an older snapshot over a newer one.
 * Snapshots are ordered by the time of their request, or of their arrival if the broker pushed them, on the monotonic clock. `asOf` is for
 * display only, because most brokers do not date their answers and a wall clock can be set back. What was requested before this node
 * became the user's owner is not stored: another owner may have stored something newer meanwhile.
 */
export class AccountRecords {
  readonly #deps: Pick<Deps, 'store' | 'bus' | 'clock' | 'ids' | 'timing'>
  readonly #queue = new KeyedQueue<string>()
  readonly #newest = new Map<string, Newest>()
  readonly #waiting = new Map<string, PendingWrite>()
  /** When this node became the owner (monotonic clock). */
  readonly #gainedMs = new Map<Partition, number>()

  constructor(deps: Pick<Deps, 'store' | 'bus' | 'clock' | 'ids' | 'timing'>) {
    this.#deps = deps
  }

  /** This node owns these partitions from now on. */
  gained(partitions: ReadonlySet<Partition>): void {
    for (const partition of partitions) this.#gainedMs.set(partition, this.#deps.clock.monotonicMs())
  }

  /** Reads both from the broker and stores them; one that cannot be read stays unchanged. @throws BrokerFault the first. */
  async refresh(session: Broker, account: Account, signal: AbortSignal): Promise<void> {
    const both = await Promise.allSettled([this.refreshBalances(session, account, signal), this.refreshPositions(session, account, signal)])
    for (const read of both) if (read.status === 'rejected') throw read.reason
  }

  /** @throws BrokerFault */
  async refreshBalances(session: Broker, account: Account, signal: AbortSignal): Promise<void> {
    const requestedMs = this.#deps.clock.monotonicMs()
    await this.#putBalances(account, { requestedMs, ...(await session.balances(account.brokerAccountId, signal)) })
  }

  /** @throws BrokerFault */
  async refreshPositions(session: Pick<Broker, 'positions'>, account: Account, signal: AbortSignal): Promise<void> {
    const { clock, timing } = this.#deps
    const read = (within: AbortSignal) => session.positions(account.brokerAccountId, within)
    const requestedMs = clock.monotonicMs()
    // The second read blocks the account's other writes, so it has a time limit.
    await this.#putPositions(account, { requestedMs, ...(await read(signal)) }, () => limited(clock, timing.readMs, read, signal))
  }

  /**
   * Stores balances that the broker pushed. A pushed snapshot may be late: if the broker dates it before the stored one, `again` reads once
   * more and decides. @throws BrokerFault what `again` throws; then nothing is stored.
   */
  async putBalances(account: Account, received: Snapshot<BalanceReport>, again: () => Promise<Snapshot<BalanceReport>>): Promise<void> {
    await this.#putBalances(account, await this.#confirmed(`b ${account.accountId}`, received, again))
  }

  async #putBalances(account: Account, { items, asOf, requestedMs, leftOut }: Timed<BalanceReport>): Promise<void> {
    const { accountId } = account
    const { accounts } = this.#deps.store
    await this.#inOrder(`b ${accountId}`, { requestedMs, asOf, leftOut }, async () => {
      const read: readonly Balance[] = items.map(({ brokerAccountId: _, asOf: at, ...balance }) => ({
        ...balance,
        accountId,
        systemTime: at
      }))
      const storing = () => this.#storing(account, requestedMs)
      if (leftOut === undefined) return { requestedMs, asOf, events: await storing().putBalances(account, read) }
      const [stored, { balances: confirmedAt }] = await Promise.all([accounts.balances([accountId]), accounts.freshness(accountId)])
      const balances = [...read, ...unlisted(stored, read, ({ currency }) => currency)]
      return { requestedMs, asOf, events: await storing().putBalances(account, balances, confirmedAt ?? asOf) }
    })
  }

  /** Stores positions that the broker pushed, like {@link putBalances}. @throws BrokerFault */
  async putPositions(account: Account, received: Snapshot<PositionReport>, again: () => Promise<Snapshot<PositionReport>>): Promise<void> {
    await this.#putPositions(account, await this.#confirmed(`p ${account.accountId}`, received, again), again)
  }

  /**
   * A list that lacks a stored position is stored only if `again` confirms it: an empty or truncated answer must not close positions. A
   * partial list closes none: what it lacks stays as it was last confirmed.
   */
  async #putPositions(account: Account, received: Timed<PositionReport>, again: () => Promise<Snapshot<PositionReport>>): Promise<void> {
    await this.#inOrder(`p ${account.accountId}`, received, async () => {
      const { accountId } = account
      const { accounts } = this.#deps.store
      if (received.leftOut === undefined && hasOneEach(received.items)) {
        const { asOf, requestedMs } = received
        // Most lists lack nothing, which the store finds out without a read.
        const events = await this.#storing(account, requestedMs).putPositionsUnlessGone(account, positionsOf(accountId, received), asOf)
        if (events !== null) return { requestedMs, asOf, events }
      }
      const stored = await accounts.positions([accountId])
      const lacks = received.leftOut === undefined && unlisted(stored, received.items, symbolOf).length > 0
      const listed = lacks ? await this.#read(again) : received
      const { items, asOf, requestedMs, leftOut } = listed
      demandOneEach(items)
      const read = positionsOf(accountId, listed)
      const storing = () => this.#storing(account, requestedMs)
      if (leftOut === undefined) return { requestedMs, asOf, events: await storing().putPositions(account, read, asOf) }
      const { positions: confirmedAt } = await accounts.freshness(accountId)
      const positions = [...read, ...unlisted(stored, items, symbolOf)]
      return { requestedMs, asOf, events: await storing().putPositions(account, positions, asOf, confirmedAt ?? asOf) }
    })
  }

  /** Reads the transactions of these days and stores them. @throws BrokerFault */
  async refreshTransactions(
    session: Broker,
    account: Account,
    days: { readonly from: Day; readonly to: Day },
    signal: AbortSignal
  ): Promise<void> {
    const requestedMs = this.#deps.clock.monotonicMs()
    const { items, asOf, leftOut } = await session.transactions(account.brokerAccountId, days.from, days.to, signal)
    const orderIds = await this.#orderIds(account, items)
    // Brokers list the newest first; ids sort in the order of creation, so that the newest gets the highest.
    const transactions: readonly Transaction[] = items.toReversed().map(({ brokerAccountId: _, ...item }) => ({
      ...item,
      transactionId: this.#deps.ids.uuid<TransactionId>(),
      accountId: account.accountId,
      orderId: item.brokerOrderId === null ? null : (orderIds.get(item.brokerOrderId) ?? null),
      systemTime: asOf
    }))
    // A partial list adds what it has, and confirms no days.
    const confirmed = leftOut === undefined ? null : (await this.#deps.store.accounts.freshness(account.accountId)).transactions
    await this.#storing(account, requestedMs).putTransactions(account, transactions, confirmed ?? { ...days, at: asOf })
  }

  /** The store, for what was requested at that time. @throws StoreUnavailable if that was before this node became the owner. */
  #storing({ userKey }: Account, requestedMs: number): AccountStore {
    const gainedMs = this.#gainedMs.get(partitionOf(userKey))
    if (gainedMs !== undefined && requestedMs < gainedMs)
      throw new StoreUnavailable('The user was moved between nodes of the service while the broker was asked; try again.')
    return this.#deps.store.accounts
  }

  async #orderIds(account: Account, items: readonly TransactionReport[]): Promise<ReadonlyMap<string, Transaction['orderId']>> {
    const ids = new Set(items.flatMap(({ brokerOrderId }) => brokerOrderId ?? []))
    const orders = await this.#deps.store.orders.idsByBrokerOrderIds(account.accountId, [...ids])
    return new Map(orders.map(({ brokerOrderId, orderId }) => [brokerOrderId, orderId]))
  }

  /** A pushed snapshot with its time; one dated before the newest is read again. @throws BrokerFault */
  async #confirmed<T>(key: string, received: Snapshot<T>, again: () => Promise<Snapshot<T>>): Promise<Timed<T>> {
    const requestedMs = this.#deps.clock.monotonicMs()
    const newest = this.#waiting.get(key) ?? this.#newest.get(key)
    if (received.requestedMs !== undefined || newest === undefined || received.asOf >= newest.asOf) return { requestedMs, ...received }
    return { requestedMs, ...(await again()) }
  }

  /** Reads now. @throws BrokerFault */
  async #read<T>(read: () => Promise<Snapshot<T>>): Promise<Timed<T>> {
    const requestedMs = this.#deps.clock.monotonicMs()
    return { requestedMs, ...(await read()) }
  }

  /** Of several snapshots that wait for a write, only the newest is written. A partial one does not take the place of a complete one. */
  #inOrder(key: string, { requestedMs, asOf, leftOut }: Ordered, write: () => Promise<Written>): Promise<void> {
    const waiting = this.#waiting.get(key)
    const isPartial = leftOut !== undefined
    if (waiting !== undefined) {
      if (requestedMs >= waiting.requestedMs && (!isPartial || waiting.isPartial))
        Object.assign(waiting, { requestedMs, asOf, isPartial, write })
      return waiting.written
    }
    const pending: PendingWrite = { requestedMs, asOf, isPartial, write, written: Promise.resolve() }
    this.#waiting.set(key, pending)
    pending.written = this.#queue.run(key, async () => {
      this.#waiting.delete(key)
      if (pending.requestedMs < (this.#newest.get(key)?.requestedMs ?? 0)) return
      const { events, ...written } = await pending.write()
      setBounded(this.#newest, key, written, SNAPSHOTS_MAX)
      const [first] = events
      if (first !== undefined) this.#deps.bus.publish({ type: 'events', userKey: first.userKey, events })
    })
    return pending.written
  }
}

/**
 * Two positions of one symbol: neither is known to be right, and platforms identify a position by its symbol. If the broker lists lots, its
 * adapter sums them. @throws BrokerFault
 */
function demandOneEach(items: readonly PositionReport[]): void {
  if (hasOneEach(items)) return
  throw new BrokerFault('malformed', 'the broker listed two positions of one symbol in an account, so none of its positions were stored')
}

function hasOneEach(items: readonly PositionReport[]): boolean {
  return new Set(items.map(symbolOf)).size === items.length
}

function positionsOf(accountId: AccountId, { items, asOf }: Snapshot<PositionReport>): readonly Position[] {
  return items.map(({ brokerAccountId: _, ...position }) => ({ ...position, accountId, systemTime: asOf }))
}

type Timed<T> = Snapshot<T> & { readonly requestedMs: number }

/** The order of snapshots: `requestedMs` decides which is newer, `asOf` only whether a pushed one must be confirmed. */
interface Newest {
  readonly requestedMs: number
  readonly asOf: Timestamp
}

type Ordered = Newest & { readonly leftOut?: Snapshot<unknown>['leftOut'] | undefined }

/** The snapshot that was stored: newer than the pushed one if that had to be confirmed. */
interface Written extends Newest {
  readonly events: readonly LoggedEvent[]
}

interface PendingWrite {
  requestedMs: number
  asOf: Timestamp
  isPartial: boolean
  write: () => Promise<Written>
  written: Promise<void>
}
