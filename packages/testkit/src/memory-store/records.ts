// Accounts with their records, orders, and the log of their changes.

import type { Account, Balance, Position, Transaction } from '@trunkline/core/domain/account'
import { changedBalances, changedPositions, newestTime, symbolOf, unlisted } from '@trunkline/core/domain/account-changes'
import type { AccountId, ConnectionId, EventId, OrderId, UserKey } from '@trunkline/core/domain/ids'
import { isOpen, type Order } from '@trunkline/core/domain/order'
import { type Day, parseTimestamp, type Timestamp } from '@trunkline/core/domain/timestamp'
import type {
  AccountFreshness,
  AccountStore,
  ChangeResult,
  ConfirmedKind,
  EventStore,
  LoggedEvent,
  OrderChange,
  OrderFilter,
  OrderSort,
  OrderStore,
  Page,
  PageRequest,
  UnresolvedFilter
} from '@trunkline/core/ports/store'
import type { TransactionFilter } from '@trunkline/core/ports/transaction-filter'
import { type MemoryDatabase, type StoredAccount, storable } from './database.ts'
import { pageOf } from './pages.ts'
import { sortedByEntry } from './removal.ts'

/** Characters of documents in one read; a larger event comes alone. */
const READ_CHARS_MAX = 4 * 1024 * 1024

/** A revision is a signed integer of 32 bits in the databases. */
const REVISION_MAX = 2 ** 31 - 1

/** An event without its number in the log. */
type Unlogged = LoggedEvent extends infer Event ? (Event extends LoggedEvent ? Omit<Event, 'eventId' | 'seq' | 'at'> : never) : never

export class MemoryAccountStore implements AccountStore {
  readonly #db: MemoryDatabase

  constructor(db: MemoryDatabase) {
    this.#db = db
  }

  listByUser(userKey: UserKey): Promise<readonly Account[]> {
    return this.#db.call(() => {
      const key = ({ connectionId }: Account) => `${this.#db.connections.get(connectionId)?.connection.createdAt} ${connectionId}`
      return this.#all(account => account.userKey === userKey).toSorted((a, b) => compare(key(a), key(b)))
    })
  }

  listByConnections(connectionIds: readonly ConnectionId[]): Promise<readonly Account[]> {
    return this.#db.call(() =>
      this.#all(({ connectionId }) => connectionIds.includes(connectionId)).toSorted((a, b) => compare(a.connectionId, b.connectionId))
    )
  }

  balances(accountIds: readonly AccountId[]): Promise<readonly Balance[]> {
    return this.#db.call(() => accountIds.flatMap(id => this.#db.accounts.get(id)?.balances ?? []))
  }

  positions(accountIds: readonly AccountId[]): Promise<readonly Position[]> {
    return this.#db.call(() => accountIds.flatMap(id => this.#db.accounts.get(id)?.positions ?? []))
  }

  transactions(accountIds: readonly AccountId[], { from, to, types }: TransactionFilter, page: PageRequest): Promise<Page<Transaction>> {
    return this.#db.call(() => {
      const all = accountIds.flatMap(id => [...(this.#db.accounts.get(id)?.transactions.values() ?? [])])
      const wanted = all.filter(({ day, type }) => day >= from && day <= to && (types === null || types.includes(type)))
      return pageOf(wanted, page, ({ day, transactionId }) => [day, transactionId])
    })
  }

  putBalances(account: Account, balances: readonly Balance[], confirmedAt?: Timestamp): Promise<readonly LoggedEvent[]> {
    return this.#put(account, stored => {
      const changed = changedBalances(stored.balances, balances)
      for (const { systemTime } of balances) parseTimestamp(systemTime, 'system time')
      stored.balances = balances
      stored.freshness = { ...stored.freshness, balances: confirmedAt ?? newestTime(balances) ?? this.#db.clock.now() }
      return changed.map(data => ({ topic: 'balances' as const, data }))
    })
  }

  putPositions(
    account: Account,
    positions: readonly Position[],
    systemTime: Timestamp,
    confirmedAt: Timestamp = systemTime
  ): Promise<readonly LoggedEvent[]> {
    return this.#put(account, stored => replacedPositions(stored, positions, { at: systemTime, confirmedAt }))
  }

  async putPositionsUnlessGone(
    account: Account,
    positions: readonly Position[],
    systemTime: Timestamp
  ): Promise<readonly LoggedEvent[] | null> {
    let isGone = false
    const events = await this.#put(account, stored => {
      isGone = unlisted(stored.positions, positions, symbolOf).length > 0
      return isGone ? [] : replacedPositions(stored, positions, { at: systemTime, confirmedAt: systemTime })
    })
    return isGone ? null : events
  }

  putTransactions(
    { accountId }: Account,
    transactions: readonly Transaction[],
    read: { readonly from: Day; readonly to: Day; readonly at: Timestamp }
  ): Promise<void> {
    return this.#db.call(() => {
      const stored = this.#db.accounts.get(accountId)
      if (stored === undefined) return
      for (const transaction of transactions) {
        const brokerId = storable(transaction.brokerTransactionId)
        const transactionId = stored.transactions.get(brokerId)?.transactionId ?? transaction.transactionId
        stored.transactions.set(brokerId, { ...transaction, transactionId })
      }
      stored.freshness = { ...stored.freshness, transactions: read }
    })
  }

  freshness(accountId: AccountId): Promise<AccountFreshness> {
    const nothing: AccountFreshness = { balances: null, positions: null, orders: null, transactions: null }
    return this.#db.call(() => this.#db.accounts.get(accountId)?.freshness ?? nothing)
  }

  confirmed(accountIds: readonly AccountId[], kind: ConfirmedKind): Promise<ReadonlyMap<AccountId, Timestamp>> {
    return this.#db.call(() => {
      const at = (id: AccountId): Timestamp | null => {
        const freshness = this.#db.accounts.get(id)?.freshness
        return (kind === 'transactions' ? freshness?.transactions?.at : freshness?.[kind]) ?? null
      }
      return new Map(
        accountIds.flatMap(id => {
          const time = at(id)
          return time === null ? [] : [[id, time] as const]
        })
      )
    })
  }

  #put(
    { accountId, userKey, connectionId, accountNumber }: Account,
    change: (
      stored: StoredAccount
    ) => readonly (
      | { readonly topic: 'balances'; readonly data: Balance }
      | { readonly topic: 'positions'; readonly data: readonly Position[] }
    )[]
  ): Promise<readonly LoggedEvent[]> {
    return this.#db.call(() => {
      const stored = this.#db.accounts.get(accountId)
      if (stored === undefined) return []
      const common = { userKey, accountId, connectionId, accountNumber }
      return change(stored).map(event => logged(this.#db, { ...event, ...common }))
    })
  }

  #all(isWanted: (account: Account) => boolean): readonly Account[] {
    return [...this.#db.accounts.values()].map(({ account }) => account).filter(isWanted)
  }
}

function replacedPositions(
  stored: StoredAccount,
  positions: readonly Position[],
  { at, confirmedAt }: { readonly at: Timestamp; readonly confirmedAt: Timestamp }
) {
  const data = changedPositions(stored.positions, positions, at)
  stored.positions = positions
  stored.freshness = { ...stored.freshness, positions: confirmedAt }
  return data.length === 0 ? [] : [{ topic: 'positions' as const, data }]
}

export class MemoryOrderStore implements OrderStore {
  readonly #db: MemoryDatabase

  constructor(db: MemoryDatabase) {
    this.#db = db
  }

  record(changes: readonly OrderChange[]): Promise<readonly ChangeResult[]> {
    return this.#db.call(() => {
      demandPossible(changes)
      const obstacles = changes.map(change => this.#obstacleTo(change))
      if (obstacles.some(obstacle => obstacle !== null)) return obstacles.map(obstacle => obstacle ?? { kind: 'stale' })
      return changes.map(change => this.#write(change))
    })
  }

  find(orderId: OrderId): Promise<Order | null> {
    return this.#db.call(() => this.#db.orders.get(orderId) ?? null)
  }

  findByClOrdId(userKey: UserKey, tradingDay: Day, clOrdId: string): Promise<Order | null> {
    return this.#db.call(() => this.#named(userKey, tradingDay, clOrdId) ?? null)
  }

  findByBrokerIds(
    accountId: AccountId,
    { brokerOrderId, brokerClOrdId }: { readonly brokerOrderId: string | null; readonly brokerClOrdId: string | null }
  ): Promise<Order | null> {
    return this.#db.call(() => {
      const byBrokerOrderId = brokerOrderId === null ? null : this.#newestWith(accountId, brokerOrderId)
      if (byBrokerOrderId !== null || brokerClOrdId === null) return byBrokerOrderId
      const named = this.#all(order => order.accountId === accountId && storable(order.brokerClOrdId) === storable(brokerClOrdId))
      return sortedByEntry(named).at(-1) ?? null
    })
  }

  list(filter: OrderFilter, sort: OrderSort, page: PageRequest): Promise<Page<Order>> {
    return this.#db.call(() =>
      pageOf(
        this.#all(order => matches(order, filter)),
        page,
        order => [order[sort] ?? '', order.orderId]
      )
    )
  }

  idsByBrokerOrderIds(
    accountId: AccountId,
    brokerOrderIds: readonly string[]
  ): Promise<readonly { readonly brokerOrderId: string; readonly orderId: OrderId }[]> {
    return this.#db.call(() =>
      brokerOrderIds.flatMap(brokerOrderId => {
        const found = this.#newestWith(accountId, brokerOrderId)
        return found === null ? [] : [{ brokerOrderId, orderId: found.orderId }]
      })
    )
  }

  unfinished(scope: { readonly connectionId: ConnectionId } | { readonly accountId: AccountId }): Promise<readonly Order[]> {
    return this.#db.call(() =>
      sortedByEntry(
        this.#all(
          order =>
            isOpen(order.status) && ('accountId' in scope ? order.accountId === scope.accountId : order.connectionId === scope.connectionId)
        )
      )
    )
  }

  unresolved(limit: number, { broker, connectionId, enteredBefore, after }: UnresolvedFilter = {}): Promise<readonly Order[]> {
    return this.#db.call(() =>
      sortedByEntry(
        this.#all(
          order =>
            isOpen(order.status) &&
            order.brokerOrderId === null &&
            (broker === undefined || order.broker === broker) &&
            (connectionId === undefined || order.connectionId === connectionId) &&
            (enteredBefore === undefined || order.entryTime < enteredBefore) &&
            (after === undefined || `${order.entryTime} ${order.orderId}` > `${after.entryTime} ${after.orderId}`)
        )
      ).slice(0, limit)
    )
  }

  confirmed({ accountId }: Pick<Account, 'accountId'>, at: Timestamp): Promise<void> {
    return this.#db.call(() => {
      const stored = this.#db.accounts.get(accountId)
      if (stored !== undefined) stored.freshness = { ...stored.freshness, orders: at }
    })
  }

  #obstacleTo({ order, overRevision }: OrderChange): ChangeResult | null {
    const known = this.#db.orders.get(order.orderId)
    if (overRevision !== null) {
      return known?.revision === overRevision && known.userKey === order.userKey ? null : { kind: 'stale' }
    }
    const named = this.#named(order.userKey, order.tradingDay, order.clOrdId)
    if (named !== undefined) return { kind: 'duplicate', orderId: named.orderId }
    const account = this.#db.accounts.get(order.accountId)?.account
    return known === undefined && account?.userKey === order.userKey && this.#db.users.has(order.userKey) ? null : { kind: 'stale' }
  }

  #write({ order, publish, audit }: OrderChange): ChangeResult {
    this.#db.orders.set(order.orderId, order)
    if (order.brokerOrderId !== null) {
      const key = nameOf(order.accountId, order.brokerOrderId)
      this.#db.brokerOrderIds.set(key, (this.#db.brokerOrderIds.get(key) ?? new Set()).add(order.orderId))
    }
    if (audit !== null) this.#db.audit.push(audit)
    const { userKey, accountId } = order
    return { kind: 'recorded', event: publish ? logged(this.#db, { userKey, accountId, topic: 'orders', data: order }) : null }
  }

  #named(userKey: UserKey, tradingDay: Day, clOrdId: string): Order | undefined {
    return this.#all(order => order.userKey === userKey && order.tradingDay === tradingDay && order.clOrdId === clOrdId)[0]
  }

  #newestWith(accountId: AccountId, brokerOrderId: string): Order | null {
    const ids = this.#db.brokerOrderIds.get(nameOf(accountId, brokerOrderId))
    return sortedByEntry(this.#all(({ orderId }) => ids?.has(orderId) === true)).at(-1) ?? null
  }

  #all(isWanted: (order: Order) => boolean): readonly Order[] {
    return [...this.#db.orders.values()].filter(isWanted)
  }
}

export class MemoryEventStore implements EventStore {
  readonly #db: MemoryDatabase

  constructor(db: MemoryDatabase) {
    this.#db = db
  }

  read(userKey: UserKey, after: number, limit: number, bytesMax = READ_CHARS_MAX): Promise<readonly LoggedEvent[]> {
    return this.#db.call(() => {
      const found = (this.#db.log(userKey)?.events ?? []).filter(({ seq }) => seq > after).slice(0, limit)
      const read: LoggedEvent[] = []
      let chars = 0
      for (const event of found) {
        if (chars >= Math.min(bytesMax, READ_CHARS_MAX)) break
        read.push(event)
        chars += Buffer.byteLength(JSON.stringify(event.data))
      }
      return read
    })
  }

  last(userKey: UserKey): Promise<number> {
    return this.#db.call(() => this.#db.log(userKey)?.last ?? 0)
  }

  lasts(userKeys: readonly UserKey[]): Promise<ReadonlyMap<UserKey, number>> {
    return this.#db.call(() => new Map(userKeys.map(key => [key, this.#db.log(key)?.last ?? 0] as const).filter(([, last]) => last > 0)))
  }

  span(userKey: UserKey): Promise<{ readonly oldest: number; readonly last: number }> {
    return this.#db.call(() => {
      const log = this.#db.log(userKey)
      return { oldest: log?.first ?? 1, last: log?.last ?? 0 }
    })
  }

  prune(at: Timestamp, limit: number): Promise<number> {
    return this.#db.call(() => {
      let pruned = 0
      for (const log of this.#db.logs.values()) {
        while (pruned < limit && (log.events[0]?.at ?? at) < at) {
          log.events.shift()
          log.first += 1
          pruned += 1
        }
      }
      return pruned
    })
  }
}

function logged(db: MemoryDatabase, event: Unlogged): LoggedEvent {
  const log = db.log(event.userKey)
  if (log === undefined) throw new Error('there is no log without a user')
  log.last += 1
  const entry: LoggedEvent = { ...event, eventId: db.ids.uuid<EventId>(), seq: log.last, at: db.clock.now() }
  log.events.push(entry)
  return entry
}

/** Refuses what a database's columns and unique indexes refuse. @throws Error */
function demandPossible(changes: readonly OrderChange[]): void {
  const made = changes.filter(({ overRevision }) => overRevision === null).map(({ order }) => order)
  const names = new Set(made.map(({ userKey, tradingDay, clOrdId }) => `${userKey} ${tradingDay} ${clOrdId}`))
  const ids = new Set(changes.map(({ order }) => order.orderId))
  if (names.size < made.length || ids.size < changes.length) throw new Error('a group names the same order twice')
  if (changes.some(({ order }) => order.revision > REVISION_MAX)) throw new RangeError('a revision is out of range')
}

function matches(order: Order, { accountIds, statuses, symbols, orderId, clOrdId, side, from, to }: OrderFilter): boolean {
  return (
    accountIds.includes(order.accountId) &&
    (statuses === undefined || statuses.includes(order.status)) &&
    (symbols === undefined || symbolsOf(order).some(symbol => symbols.includes(symbol))) &&
    (orderId === undefined || order.orderId === orderId) &&
    (clOrdId === undefined || order.clOrdId === clOrdId) &&
    (side === undefined || order.side === side) &&
    (from === undefined || order.entryTime >= from) &&
    (to === undefined || order.entryTime <= to)
  )
}

/** The symbols an order is found by: its own or its legs', and the roots of options, with and without the digit of an adjusted one. */
function symbolsOf({ symbol, legs }: Order): readonly string[] {
  const own = symbol === null ? (legs ?? []).map(leg => leg.symbol) : [symbol]
  return own.flatMap(name => {
    const root = /^([A-Z]+)\d?\d{6}[CP]\d{8}$/.exec(name)?.[1]
    return root === undefined ? [name] : [name, name.slice(0, -15), root]
  })
}

function nameOf(accountId: AccountId, brokerOrderId: string): string {
  return `${accountId} ${storable(brokerOrderId)}`
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
