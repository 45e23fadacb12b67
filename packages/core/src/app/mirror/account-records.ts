import type { Account, Balance, Position, Transaction } from '../../domain/account.ts'
import type { TransactionId } from '../../domain/ids.ts'
import type { Day } from '../../domain/timestamp.ts'
import type { BalanceReport, Broker, PositionReport, Snapshot, TransactionReport } from '../../ports/broker.ts'
import type { LoggedEvent } from '../../ports/store.ts'
import type { Deps } from '../deps.ts'
import { keepNewest } from '../keep-newest.ts'
import { Lanes } from '../lane.ts'

/** Of so many pictures the time is remembered; an older one comes seconds late at most, so the rest need none. */
const PICTURES_MAX = 100_000

/** Writes what brokers say of balances, positions and transactions, one account at a time and never an older picture over a newer one. */
export class AccountRecords {
  readonly #deps: Pick<Deps, 'store' | 'bus' | 'clock' | 'ids'>
  readonly #lanes = new Lanes<string>()
  readonly #newest = new Map<string, string>()
  readonly #waiting = new Map<string, Picture>()

  constructor(deps: Pick<Deps, 'store' | 'bus' | 'clock' | 'ids'>) {
    this.#deps = deps
  }

  /** Reads both from the broker and writes them; what cannot be read stays what it is. @throws BrokerFault the first. */
  async refresh(session: Broker, account: Account, signal: AbortSignal): Promise<void> {
    const both = await Promise.allSettled([this.refreshBalances(session, account, signal), this.refreshPositions(session, account, signal)])
    for (const read of both) if (read.status === 'rejected') throw read.reason
  }

  /** @throws BrokerFault */
  async refreshBalances(session: Broker, account: Account, signal: AbortSignal): Promise<void> {
    await this.putBalances(account, await session.balances(account.brokerAccountId, signal))
  }

  /** @throws BrokerFault */
  async refreshPositions(session: Broker, account: Account, signal: AbortSignal): Promise<void> {
    const read = () => session.positions(account.brokerAccountId, signal)
    await this.putPositions(account, await read(), read)
  }

  async putBalances(account: Account, { items, asOf }: Snapshot<BalanceReport>): Promise<void> {
    await this.#inOrder(`b ${account.accountId}`, asOf, () => {
      const balances: readonly Balance[] = items.map(({ brokerAccountId: _, asOf: at, ...balance }) => ({
        ...balance,
        accountId: account.accountId,
        systemTime: at
      }))
      return this.#deps.store.accounts.putBalances(account, balances)
    })
  }

  /**
   * Writes a whole list. One that leaves out a holding is believed once `again` says the same: an empty or cut answer must not close positions.
   * @throws BrokerFault what `again` throws; then nothing is written.
   */
  async putPositions(account: Account, told: Snapshot<PositionReport>, again: () => Promise<Snapshot<PositionReport>>): Promise<void> {
    await this.#inOrder(`p ${account.accountId}`, told.asOf, async () => {
      const { items, asOf } = (await this.#lacksHoldings(account, told)) ? await again() : told
      const positions: readonly Position[] = items.map(({ brokerAccountId: _, ...position }) => ({
        ...position,
        accountId: account.accountId,
        systemTime: asOf
      }))
      return this.#deps.store.accounts.putPositions(account, positions, asOf)
    })
  }

  async #lacksHoldings({ accountId }: Account, { items }: Snapshot<PositionReport>): Promise<boolean> {
    const told = new Set(items.map(({ symbol }) => symbol))
    return (await this.#deps.store.accounts.positions([accountId])).some(({ symbol }) => !told.has(symbol))
  }

  /** Reads the days' transactions and adds them. @throws BrokerFault */
  async refreshTransactions(
    session: Broker,
    account: Account,
    days: { readonly from: Day; readonly to: Day },
    signal: AbortSignal
  ): Promise<void> {
    const { items, asOf } = await session.transactions(account.brokerAccountId, days.from, days.to, signal)
    const orderIds = await this.#orderIds(account, items)
    // Brokers tell the newest first; ids sort as they are made, so that the newest keeps the highest.
    const transactions: readonly Transaction[] = items.toReversed().map(item => ({
      ...item,
      transactionId: this.#deps.ids.uuid<TransactionId>(),
      accountId: account.accountId,
      orderId: item.brokerOrderId === null ? null : (orderIds.get(item.brokerOrderId) ?? null),
      systemTime: asOf
    }))
    await this.#deps.store.accounts.putTransactions(account, transactions, { ...days, at: asOf })
  }

  async #orderIds(account: Account, items: readonly TransactionReport[]): Promise<ReadonlyMap<string, Transaction['orderId']>> {
    const ids = new Set(items.flatMap(({ brokerOrderId }) => brokerOrderId ?? []))
    const orders = await this.#deps.store.orders.idsByBrokerOrderIds(account.accountId, [...ids])
    return new Map(orders.map(({ brokerOrderId, orderId }) => [brokerOrderId, orderId]))
  }

  /** Of several pictures that wait behind a write only the newest is written: each is the whole truth of its moment. */
  #inOrder(key: string, asOf: string, write: () => Promise<readonly LoggedEvent[]>): Promise<void> {
    const waiting = this.#waiting.get(key)
    if (waiting !== undefined) {
      if (asOf >= waiting.asOf) Object.assign(waiting, { asOf, write })
      return waiting.written
    }
    const picture: Picture = { asOf, write, written: Promise.resolve() }
    this.#waiting.set(key, picture)
    picture.written = this.#lanes.run(key, async () => {
      this.#waiting.delete(key)
      if (picture.asOf < (this.#newest.get(key) ?? '')) return
      const events = await picture.write()
      keepNewest(this.#newest, key, picture.asOf, PICTURES_MAX)
      const [first] = events
      if (first !== undefined) this.#deps.bus.publish({ type: 'events', userKey: first.userKey, events })
    })
    return picture.written
  }
}

interface Picture {
  asOf: string
  write: () => Promise<readonly LoggedEvent[]>
  written: Promise<void>
}
