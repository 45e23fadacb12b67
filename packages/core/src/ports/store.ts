import type { Account, Balance, BrokerEndpoint, Connection, ConnectionAttempt, Position, Transaction, User } from '../domain/account.ts'
import type { AccountId, AttemptId, BrokerId, ConnectionId, EventId, KeyId, OrderId, PlatformId, UserId, UserKey } from '../domain/ids.ts'
import type { Order } from '../domain/order.ts'
import type { Day, Timestamp } from '../domain/timestamp.ts'
import type { BrokenCode, ConnectionStatus, OrderStatus, Side } from '../domain/vocabulary.ts'
import type { AuditEntry, AuditStore } from './audit-store.ts'
import type { RefreshClaim, RefreshClaimed, Renewal, Renewed, SealedValue } from './login-store.ts'
import type { PlatformKeyStore, PlatformStore } from './platform-store.ts'
import type { StreamSlotStore } from './stream-slot-store.ts'
import type { TransactionFilter } from './transaction-filter.ts'

export type { AuditEntry, AuditStore } from './audit-store.ts'
export type { RefreshClaim, RefreshClaimed, Renewal, Renewed, SealedValue } from './login-store.ts'
export type { KnownKey, PlatformKeyStore, PlatformStore } from './platform-store.ts'
export type { StreamSlot, StreamSlotStore } from './stream-slot-store.ts'

/** The service's memory. A resolved write is durable; a read is never older than a write that resolved before it began. */
export interface Store extends AsyncDisposable {
  readonly platforms: PlatformStore
  readonly platformKeys: PlatformKeyStore
  readonly users: UserStore
  readonly attempts: AttemptStore
  readonly connections: ConnectionStore
  readonly accounts: AccountStore
  readonly orders: OrderStore
  readonly events: EventStore
  readonly streamSlots: StreamSlotStore
  readonly tokens: TokenStore
  readonly audit: AuditStore
  /** Resolves when a write could be made durable just now. @throws StoreUnavailable */
  probe(): Promise<void>
}

/** The store cannot answer now: overloaded, closing, or its database is gone. Nothing was changed, or a read failed. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
}

/** A write whose commit was not confirmed. It may have happened: look before acting. */
export class CommitUnknown extends Error {
  override readonly name = 'CommitUnknown'
}

/** A page asked for by the values of its edge row, never by number: rows inserted meanwhile neither shift nor repeat it. */
export interface PageRequest {
  readonly limit: number
  /** Values of the sort columns at the edge (the sort column, then the unique one), and which side of it is wanted; null: from the start. */
  readonly edge: { readonly side: 'after' | 'before'; readonly key: readonly string[] } | null
  readonly descending: boolean
}

export interface Page<T> {
  /** In the asked order, whichever side of the edge they come from. */
  readonly rows: readonly T[]
  /** Key of the last row if more follow it, and of the first if more precede it. */
  readonly next: readonly string[] | null
  readonly prev: readonly string[] | null
}

export interface UserFilter {
  readonly userId?: UserId
  readonly accountNumber?: string
  readonly accountId?: AccountId
  readonly connectionId?: ConnectionId
  /** Created at or after, and at or before. */
  readonly createdFrom?: Timestamp
  readonly createdTo?: Timestamp
}

export interface KnownUser {
  readonly user: User
  readonly secretHash: string
  readonly disabledAt: Timestamp | null
}

export interface UserStore {
  /** False when the platform has a user of that name. */
  create(user: User, secretHash: string, audit: AuditEntry): Promise<boolean>
  find(platformId: PlatformId, userId: UserId): Promise<KnownUser | null>
  findByKey(userKey: UserKey): Promise<User | null>
  /** Page keys: [the sort column's value, `userKey`]. */
  list(platformId: PlatformId, filter: UserFilter, sort: 'createdAt' | 'userId', page: PageRequest): Promise<Page<User>>
  /** Also erases the user's market data tokens: they were had with the old secret. False when there is no such user. */
  replaceSecret(userKey: UserKey, secretHash: string, audit: AuditEntry): Promise<boolean>
  /** Disables the user as of `at`, or enables it (null). Disabling erases its market data tokens and ends its open links. False when unknown. */
  setDisabled(userKey: UserKey, at: Timestamp | null, audit: AuditEntry): Promise<boolean>
  /** Removes the user with everything that hangs on it, keeping what revoking the brokers' tokens needs. Gives the connections that went. */
  remove(userKey: UserKey, at: Timestamp, audit: AuditEntry | RemovalAudit): Promise<readonly ConnectionId[]>
}

/**
 * The audit entries of a removal, given the open orders that go with it. Called in the transaction of the removal, while no order there can
 * change; a transaction that is tried again calls it again. What it throws keeps everything.
 */
export type RemovalAudit = (open: readonly Order[]) => readonly AuditEntry[]

/** An attempt whose user is at the broker's login page. */
export interface PendingLogin {
  readonly attempt: ConnectionAttempt
  readonly verifier: SealedValue
  /** Null: before that was recorded. */
  readonly stateMadeAt: Timestamp | null
}

export interface AttemptStore {
  /** False when its user is gone, or disabled, or its platform or its key is. */
  create(attempt: ConnectionAttempt, tokenHash: string, audit: AuditEntry): Promise<boolean>
  findByTokenHash(tokenHash: string): Promise<ConnectionAttempt | null>
  findByStateHash(stateHash: string): Promise<PendingLogin | null>
  /** Binds the first browser; false when another one holds it. The same browser again is true. */
  bindBrowser(attemptId: AttemptId, browserHash: string): Promise<boolean>
  /** Records the broker step (broker, state, sealed verifier) of an attempt that is open or already authorizing; false when it ended. */
  begin(
    attemptId: AttemptId,
    step: { readonly broker: BrokerId; readonly stateHash: string; readonly verifier: SealedValue; readonly at: Timestamp }
  ): Promise<boolean>
  /** Takes the state out of use, once: false for everyone but the first. The attempt stays `authorizing`. */
  consumeState(attemptId: AttemptId, stateHash: string): Promise<boolean>
  /** Counts a login with keys of the user's own: how many were tried with this one; null when `max` were before, or the attempt ended. */
  countTry(attemptId: AttemptId, max: number): Promise<number | null>
  /** How many logins with keys were counted; 0 when unknown. */
  tries(attemptId: AttemptId): Promise<number>
  /** Ends an attempt that has not ended; false otherwise. */
  end(attemptId: AttemptId, status: 'declined' | 'failed', audit: AuditEntry): Promise<boolean>
  /** Erases attempts that expired before `at`. */
  prune(at: Timestamp): Promise<number>
}

export interface ConnectionStore {
  /**
   * One transaction: the connection, its accounts, its sealed credentials, and the attempt's end. False when the attempt had already ended, its
   * user is gone or disabled, or its platform is disabled. With `pending` it is put aside until it is claimed: nothing else of the store knows it.
   */
  create(
    connection: Connection,
    accounts: readonly Account[],
    credentials: SealedValue,
    attemptId: AttemptId,
    audit: AuditEntry,
    pending?: PendingClaim
  ): Promise<boolean>
  /** Makes a connection of one that was put aside, once. `claimed`: it is one now; `refused`: the code is not its own, or came too late. */
  claim(
    connectionId: ConnectionId,
    userKey: UserKey,
    claim: { readonly codeHash: string; readonly at: Timestamp; readonly audit: AuditEntry }
  ): Promise<'claimed' | 'refused' | 'unknown'>
  /** Moves those that were not claimed in time to the revocation list, at most `limit`. Gives how many went. */
  expireClaims(at: Timestamp, limit: number): Promise<number>
  find(connectionId: ConnectionId): Promise<Connection | null>
  /** One that is put aside until it is claimed. */
  findUnclaimed(connectionId: ConnectionId): Promise<Connection | null>
  /** Whether any connection reaches one of these accounts of the broker, whoever its user is; one that waits to be claimed counts too. */
  reaches(broker: BrokerId, brokerAccountIds: readonly string[]): Promise<boolean>
  listByUser(userKey: UserKey, status: ConnectionStatus | null): Promise<readonly Connection[]>
  /** Newest first; page keys: [`createdAt`, `connectionId`]. */
  listByPlatform(platformId: PlatformId, status: ConnectionStatus | null, page: PageRequest): Promise<Page<Connection>>
  /** Every connection of the node's concern after a start: those with open orders or unresolved intents. */
  withUnfinishedOrders(): Promise<readonly Connection[]>
  credentials(connectionId: ConnectionId): Promise<SealedValue | null>
  /**
   * Takes the right to refresh the credentials of a revision, for one node at a time: a refresh token may be good for one use only. It ends by
   * itself, so that a node that dies does not hold anyone up for long. Taken again by the same holder, it starts over.
   */
  claimRefresh(connectionId: ConnectionId, claim: RefreshClaim): Promise<RefreshClaimed>
  /** Gives the right back. `mayBeSpent`: the broker was asked, and nobody knows its answer; the next holder that claims the same revision is informed. */
  releaseRefresh(connectionId: ConnectionId, claim: Pick<RefreshClaim, 'revision' | 'holder'>, mayBeSpent: boolean): Promise<void>
  /** Writes over `revision` only; false when someone was faster or the connection is gone. A claim of the old revision means nothing then. */
  replaceCredentials(connectionId: ConnectionId, revision: number, next: SealedValue): Promise<boolean>
  /**
   * One transaction: the login's credentials replaced over `revision` only, the connection ACTIVE, the new accounts added, the attempt ended.
   * `moved`: the credentials are of another revision; `ended`: the attempt is over; `gone`: no such connection of the user at that
   * endpoint. Then nothing is written.
   */
  renew(renewal: Renewal): Promise<Renewed>
  /** ACTIVE → BROKEN because the broker refused its credentials; false when it already was. */
  markBroken(connectionId: ConnectionId, reason: string, at: Timestamp, audit: AuditEntry, code?: BrokenCode): Promise<boolean>
  /** Where the broker's connections were made, each endpoint once; those made before that was recorded are left out. */
  endpoints(broker: BrokerId): Promise<readonly BrokerEndpoint[]>
  /** All ACTIVE connections of the broker that were made there → BROKEN, for their environment. Gives how many; the entry is written when there are any. */
  suspend(broker: BrokerId, was: BrokerEndpoint, reason: string, at: Timestamp, audit: AuditEntry): Promise<number>
  /** The other way: all that are BROKEN for their environment alone, and were made there → ACTIVE. */
  resume(broker: BrokerId, endpoint: BrokerEndpoint, at: Timestamp, audit: AuditEntry): Promise<number>
  /** Logins of the broker that were made before endpoints were recorded: by their ids, behind `after`. */
  withoutEndpoint(
    place: EndpointItem['item']['place'],
    broker: BrokerId,
    after: ConnectionId | null,
    limit: number
  ): Promise<readonly EndpointItem['item'][]>
  /** Records where they were made, and swaps their bytes if they are still the ones read. One transaction. */
  recordEndpoint(items: readonly EndpointItem[], endpoint: BrokerEndpoint, audit: AuditEntry): Promise<void>
  /** Removes the connection and everything under it; its sealed credentials move to the revocation list. False when unknown. */
  remove(connectionId: ConnectionId, at: Timestamp, audit: AuditEntry | RemovalAudit): Promise<boolean>
  /** Logins still to be revoked at their broker and due at `at`, oldest first; not those whose user is logging in at the same broker just now. */
  dueRevocations(at: Timestamp, limit: number): Promise<readonly Revocation[]>
  postponeRevocation(connectionId: ConnectionId, until: Timestamp): Promise<void>
  /** Erases the credentials. */
  finishRevocation(connectionId: ConnectionId): Promise<void>
  /** Sealed values whose master key is not `keyId`, for re-wrapping; credentials and pending revocations alike. */
  sealedUnderOtherKeys(keyId: string, limit: number): Promise<readonly RewrapItem[]>
  /** Swaps the bytes in place if they are still the ones read. */
  rewrapped(item: RewrapItem, sealed: Uint8Array, keyId: string): Promise<boolean>
}

/** The seal's context is that of the connection it came from. */
export interface Revocation {
  readonly connectionId: ConnectionId
  readonly userKey: UserKey
  readonly broker: BrokerId
  readonly credentials: SealedValue
  readonly attempts: number
  readonly removedAt: Timestamp
  /** The accounts it reached; null: not known, of a login that was removed before they were kept. */
  readonly brokerAccountIds: readonly string[] | null
}

export interface RewrapItem {
  readonly place: 'connection' | 'revocation' | 'claim'
  readonly connectionId: ConnectionId
  readonly userKey: UserKey
  readonly credentials: SealedValue
}

/** What it takes to claim a connection. */
export interface PendingClaim {
  readonly codeHash: string
  readonly expiresAt: Timestamp
}

/** A login and its credentials resealed, at the revision they have; null: they stay as they are. */
export interface EndpointItem {
  readonly item: RewrapItem & { readonly place: 'connection' | 'revocation' }
  readonly sealed: Uint8Array | null
}

export interface AccountStore {
  find(accountId: AccountId): Promise<Account | null>
  listByUser(userKey: UserKey): Promise<readonly Account[]>
  listByConnections(connectionIds: readonly ConnectionId[]): Promise<readonly Account[]>
  balances(accountIds: readonly AccountId[]): Promise<readonly Balance[]>
  positions(accountIds: readonly AccountId[]): Promise<readonly Position[]>
  /** Of inclusive days; page keys: [`day`, `transactionId`]. */
  transactions(accountIds: readonly AccountId[], filter: TransactionFilter, page: PageRequest): Promise<Page<Transaction>>
  /** Replaces the account's balances, logs one event per record that differs in more than its time. Gives those events. */
  putBalances(account: Account, balances: readonly Balance[]): Promise<readonly LoggedEvent[]>
  /** Replaces the account's positions; one event holding the records that differ, a position that is gone is reported with quantity 0. */
  putPositions(account: Account, positions: readonly Position[], systemTime: Timestamp): Promise<readonly LoggedEvent[]>
  /** Adds those not known yet by broker id, and refreshes the rest. */
  putTransactions(
    account: Account,
    transactions: readonly Transaction[],
    read: { readonly from: Day; readonly to: Day; readonly at: Timestamp }
  ): Promise<void>
  /** When each kind of the account's records was last confirmed; null: never. */
  freshness(accountId: AccountId): Promise<AccountFreshness>
  /** When one kind of records was last confirmed, by account; those where it never was are left out. */
  confirmed(accountIds: readonly AccountId[], kind: ConfirmedKind): Promise<ReadonlyMap<AccountId, Timestamp>>
}

/** Records that a broker confirms as a whole. */
export type ConfirmedKind = keyof AccountFreshness

export interface AccountFreshness {
  readonly balances: Timestamp | null
  readonly positions: Timestamp | null
  readonly orders: Timestamp | null
  /** The day span transactions were read for, and when. */
  readonly transactions: { readonly from: Day; readonly to: Day; readonly at: Timestamp } | null
}

/** One order's next state. Written with its fills, its event and its audit entry, all or nothing. */
export interface OrderChange {
  readonly order: Order
  /** Null creates the row; otherwise the revision this change was made from. `order.revision` is the next one. */
  readonly overRevision: number | null
  /** False for bookkeeping that is not visible outside. */
  readonly publish: boolean
  readonly audit: AuditEntry | null
}

export type ChangeResult =
  | { readonly kind: 'recorded'; readonly event: LoggedEvent | null }
  /** The user's `cl_order_id` of that trading day is taken. */
  | { readonly kind: 'duplicate'; readonly orderId: OrderId }
  /** Someone wrote first: read again and decide again. Also when the user or connection is gone. */
  | { readonly kind: 'stale' }

export interface OrderFilter {
  readonly accountIds: readonly AccountId[]
  readonly statuses?: readonly OrderStatus[]
  readonly symbols?: readonly string[]
  readonly orderId?: OrderId
  readonly clOrdId?: string
  readonly side?: Side
  /** By entry time, both inclusive. */
  readonly from?: Timestamp
  readonly to?: Timestamp
}

export type OrderSort = 'entryTime' | 'lastModifiedTime' | 'lastExecTime'

export interface UnresolvedFilter {
  readonly broker?: BrokerId
  readonly connectionId?: ConnectionId
  readonly enteredBefore?: Timestamp
}

export interface OrderStore {
  /**
   * Writes the changes in one transaction each group: `changes` that must stand or fall together are given together (a replace and its
   * successor); callers at the same time share a commit. If any of a group is a duplicate or stale, none of it is written.
   * @throws CommitUnknown when the commit was not confirmed.
   */
  record(changes: readonly OrderChange[]): Promise<readonly ChangeResult[]>
  find(orderId: OrderId): Promise<Order | null>
  findByClOrdId(userKey: UserKey, tradingDay: Day, clOrdId: string): Promise<Order | null>
  findByBrokerIds(
    accountId: AccountId,
    ids: { readonly brokerOrderId: string | null; readonly brokerClOrdId: string | null }
  ): Promise<Order | null>
  /** Page keys: [the sort column's value, `orderId`]; a null time sorts as the oldest. */
  list(filter: OrderFilter, sort: OrderSort, page: PageRequest): Promise<Page<Order>>
  /** Which orders of the account the broker's ids mean; unknown ones are left out. */
  idsByBrokerOrderIds(
    accountId: AccountId,
    brokerOrderIds: readonly string[]
  ): Promise<readonly { readonly brokerOrderId: string; readonly orderId: OrderId }[]>
  /** Orders that can still move, of one account or of one connection. */
  unfinished(scope: { readonly connectionId: ConnectionId } | { readonly accountId: AccountId }): Promise<readonly Order[]>
  /** Open orders of all users that have no id of the broker's yet: it is unknown whether the broker has them. The oldest first, at most `limit`. */
  unresolved(limit: number, filter?: UnresolvedFilter): Promise<readonly Order[]>
  confirmed(accountId: AccountId, at: Timestamp): Promise<void>
}

/** What happened to a user's records, in the order in which it was applied. `seq` is gap-free per user, from 1. */
export type LoggedEvent = {
  readonly eventId: EventId
  readonly userKey: UserKey
  readonly seq: number
  readonly accountId: AccountId
  readonly at: Timestamp
} & (
  | { readonly topic: 'orders'; readonly data: Order }
  | ({ readonly topic: 'positions'; readonly data: readonly Position[] } & EventAccount)
  | ({ readonly topic: 'balances'; readonly data: Balance } & EventAccount)
)

/** What a balance or position does not say of its account, as it was then: the account may be gone when the event is read. */
export interface EventAccount {
  readonly connectionId: ConnectionId
  readonly accountNumber: string
}

export interface EventStore {
  /** Events with `seq` above `after`, ascending: at most `limit`, fewer where they are large, and never none while there are any. */
  read(userKey: UserKey, after: number, limit: number): Promise<readonly LoggedEvent[]>
  /** `seq` of the user's newest event; 0 before the first, and for a user that is gone. */
  last(userKey: UserKey): Promise<number>
  /** The same of many users; those without an event are left out. */
  lasts(userKeys: readonly UserKey[]): Promise<ReadonlyMap<UserKey, number>>
  /** Which events are kept: from `oldest` to `last`. `oldest` is `last + 1` when none is. */
  span(userKey: UserKey): Promise<{ readonly oldest: number; readonly last: number }>
  /** Erases events logged before `at`, at most `limit` of them, of each user the oldest first. Gives how many. */
  prune(at: Timestamp, limit: number): Promise<number>
}

export interface MarketDataToken {
  readonly tokenHash: string
  readonly userKey: UserKey
  readonly connectionId: ConnectionId
  /** The platform's key it was had with, and the hash of the secret that proved it; null: it is not known. */
  readonly keyId: KeyId | null
  readonly keySecretHash: string | null
  readonly createdAt: Timestamp
  readonly expiresAt: Timestamp
  /** Set when a newer token of the same user and connection was made. */
  readonly supersededAt: Timestamp | null
}

export interface KnownToken extends MarketDataToken {
  /** When the key it was had with, or that key's replaced secret, ends by itself. */
  readonly keyEndsAt: Timestamp | null
}

export interface TokenStore {
  /**
   * Makes the token the newest of its user and connection. False when the user is gone, or has another secret than the one with the hash
   * `provedBy` by now (null: not asked); and when the user, the platform or the key is disabled, or the key's secret is another by now.
   */
  create(token: MarketDataToken, audit: AuditEntry, provedBy?: string | null): Promise<boolean>
  /** Null also while its user, its platform or its key is disabled, and once the key's secret that it was had with is none of the key's two. */
  find(tokenHash: string): Promise<KnownToken | null>
  prune(expiredBefore: Timestamp): Promise<number>
}
