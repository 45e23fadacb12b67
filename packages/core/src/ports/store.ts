import type { Account, Balance, BrokerEndpoint, Connection, ConnectionAttempt, Position, Transaction, User } from '../domain/account.ts'
import type { AccountId, AttemptId, BrokerId, ConnectionId, EventId, KeyId, OrderId, PlatformId, UserId, UserKey } from '../domain/ids.ts'
import type { Order } from '../domain/order.ts'
import type { Day, Timestamp } from '../domain/timestamp.ts'
import type { BrokenCode, ConnectionStatus, OrderStatus, Side } from '../domain/vocabulary.ts'
import type { AccountFreshness, ConfirmedKind } from './account-freshness.ts'
import type { AuditEntry, AuditStore } from './audit-store.ts'
import type { RefreshClaim, RefreshClaimed, Renewal, Renewed, SealedValue } from './login-store.ts'
import type { Page, PageRequest } from './page.ts'
import type { PlatformKeyStore, PlatformStore } from './platform-store.ts'
import type { StreamSlotStore } from './stream-slot-store.ts'
import type { TransactionFilter } from './transaction-filter.ts'
import type { WebhookStore } from './webhook-store.ts'

export type { AccountFreshness, ConfirmedKind } from './account-freshness.ts'
export type { AuditEntry, AuditStore } from './audit-store.ts'
export type { RefreshClaim, RefreshClaimed, Renewal, Renewed, SealedValue } from './login-store.ts'
export type { Page, PageRequest } from './page.ts'
export type { KnownKey, PlatformKeyStore, PlatformStore } from './platform-store.ts'
export type { StreamSlot, StreamSlotStore } from './stream-slot-store.ts'

/** The service's storage. A resolved write is durable; a read never returns a state older than a write that resolved before it began. */
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
  readonly webhooks: WebhookStore
  /** Resolves if a write could be made durable now. @throws StoreUnavailable */
  probe(): Promise<void>
}

/** The store cannot answer now: it is overloaded or closing, or the database is unreachable. Nothing was changed, or a read failed. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
}

/** A write whose commit was not confirmed. It may have happened: read before acting. */
export class CommitUnknown extends Error {
  override readonly name = 'CommitUnknown'
}

export interface UserFilter {
  readonly userId?: UserId
  readonly accountNumber?: string
  readonly accountId?: AccountId
  readonly connectionId?: ConnectionId
  /** Bounds of the creation time, both inclusive. */
  readonly createdFrom?: Timestamp
  readonly createdTo?: Timestamp
}

export interface KnownUser {
  readonly user: User
  readonly secretHash: string
  readonly disabledAt: Timestamp | null
}

export interface UserStore {
  /** False if the platform has a user of that name. */
  create(user: User, secretHash: string, audit: AuditEntry): Promise<boolean>
  find(platformId: PlatformId, userId: UserId): Promise<KnownUser | null>
  findByKey(userKey: UserKey): Promise<User | null>
  /** Those of these users that are there and not disabled. */
  enabledOf(userKeys: readonly UserKey[]): Promise<ReadonlySet<UserKey>>
  /** Page keys: [value of the sort column, `userKey`]. */
  list(platformId: PlatformId, filter: UserFilter, sort: 'createdAt' | 'userId', page: PageRequest): Promise<Page<User>>
  /** Also erases the user's market data tokens, which were created with the old secret. False if there is no such user. */
  replaceSecret(userKey: UserKey, secretHash: string, audit: AuditEntry): Promise<boolean>
  /**
   * Disables the user as of `at`, or enables it (null). Disabling erases its market data tokens and ends its open links. False if unknown.
   */
  setDisabled(userKey: UserKey, at: Timestamp | null, audit: AuditEntry): Promise<boolean>
  /** Removes the user and all its records, except what revoking the brokers' tokens needs. Returns the removed connections. */
  remove(userKey: UserKey, at: Timestamp, audit: AuditEntry | RemovalAudit): Promise<readonly ConnectionId[]>
}

/**
 * Builds the audit entries of a removal from the open orders that are removed with it. Called in the removal's transaction, while none of
 * these orders can change; a retried transaction calls it again. If it throws, nothing is removed.
 */
export type RemovalAudit = (open: readonly Order[]) => readonly AuditEntry[]

/** An attempt whose user is at the broker's login page. */
export interface PendingLogin {
  readonly attempt: ConnectionAttempt
  readonly verifier: SealedValue
  /** Null: started before this was recorded. */
  readonly stateMadeAt: Timestamp | null
}

export interface AttemptStore {
  /** False if its user is gone or disabled, or its platform or key is disabled. */
  create(attempt: ConnectionAttempt, tokenHash: string, audit: AuditEntry): Promise<boolean>
  findByTokenHash(tokenHash: string): Promise<ConnectionAttempt | null>
  findByStateHash(stateHash: string): Promise<PendingLogin | null>
  /** Binds the attempt to the first browser; false if it is bound to another one. True for the same browser. */
  bindBrowser(attemptId: AttemptId, browserHash: string): Promise<boolean>
  /** Records the broker step (broker, state, sealed verifier) of an attempt that is open or authorizing; false if it ended. */
  begin(
    attemptId: AttemptId,
    step: { readonly broker: BrokerId; readonly stateHash: string; readonly verifier: SealedValue; readonly at: Timestamp }
  ): Promise<boolean>
  /** Consumes the state, once: true for the first caller only. The attempt stays `authorizing`. */
  consumeState(attemptId: AttemptId, stateHash: string): Promise<boolean>
  /** Counts a login with the user's own keys and returns the count; null if `max` were counted before, or the attempt ended. */
  countTry(attemptId: AttemptId, max: number): Promise<number | null>
  /** How many logins with keys were counted; 0 if unknown. */
  tries(attemptId: AttemptId): Promise<number>
  /** Ends an attempt; false if it has already ended. */
  end(attemptId: AttemptId, status: 'declined' | 'failed', audit: AuditEntry): Promise<boolean>
  /** Erases attempts that expired before `at`. */
  prune(at: Timestamp): Promise<number>
}

export interface ConnectionStore {
  /**
   * One transaction: the connection, its accounts, its sealed credentials, and the end of the attempt. False if the attempt has already
   * ended, its user is gone or disabled, or its platform is disabled. With `pending`, the connection is stored as unclaimed and is
   * invisible to all other methods until it is claimed.
   */
  create(
    connection: Connection,
    accounts: readonly Account[],
    credentials: SealedValue,
    attemptId: AttemptId,
    audit: AuditEntry,
    pending?: PendingClaim
  ): Promise<boolean>
  /** Makes an unclaimed connection a connection, once. `claimed`: it is one now; `refused`: wrong code, or too late. */
  claim(
    connectionId: ConnectionId,
    userKey: UserKey,
    claim: { readonly codeHash: string; readonly at: Timestamp; readonly audit: AuditEntry }
  ): Promise<'claimed' | 'refused' | 'unknown'>
  /** Moves connections that were not claimed in time to the revocation list, at most `limit`. Returns how many. */
  expireClaims(at: Timestamp, limit: number): Promise<number>
  find(connectionId: ConnectionId): Promise<Connection | null>
  /** A connection that is not claimed yet. */
  findUnclaimed(connectionId: ConnectionId): Promise<Connection | null>
  /** Whether any connection, of any user and claimed or not, includes one of these accounts of the broker. */
  reaches(broker: BrokerId, brokerAccountIds: readonly string[]): Promise<boolean>
  listByUser(userKey: UserKey, status: ConnectionStatus | null): Promise<readonly Connection[]>
  /** Newest first; page keys: [`createdAt`, `connectionId`]. */
  listByPlatform(platformId: PlatformId, status: ConnectionStatus | null, page: PageRequest): Promise<Page<Connection>>
  /** The connections that a node must attend to after a start: those with open orders, including orders of unknown outcome. */
  withUnfinishedOrders(): Promise<readonly Connection[]>
  credentials(connectionId: ConnectionId): Promise<SealedValue | null>
  /**
   * Claims the right to refresh the credentials of a revision, for one node at a time, because a refresh token may be valid for one use
   * only. The claim expires, so that a crashed node does not block others for long. The same holder can renew it.
   */
  claimRefresh(connectionId: ConnectionId, claim: RefreshClaim): Promise<RefreshClaimed>
  /** Releases the claim. `mayBeSpent`: the broker's answer is unknown; the next holder of the same revision is informed. */
  releaseRefresh(connectionId: ConnectionId, claim: Pick<RefreshClaim, 'revision' | 'holder'>, mayBeSpent: boolean): Promise<void>
  /**
   * Replaces the credentials if `revision` is still current; false if not, or if the connection is gone. Claims of the old one become void.
   */
  replaceCredentials(connectionId: ConnectionId, revision: number, next: SealedValue): Promise<boolean>
  /**
   * One transaction: replaces the credentials if their revision is still current, makes the connection ACTIVE, adds the new accounts and
   * ends the attempt. Writes nothing if the credentials have another revision (`moved`), the attempt has ended (`ended`), or the user has
   * no such connection at that endpoint (`gone`).
   */
  renew(renewal: Renewal): Promise<Renewed>
  /** ACTIVE → BROKEN because the broker rejected its credentials; false if it already was. */
  markBroken(connectionId: ConnectionId, reason: string, at: Timestamp, audit: AuditEntry, code?: BrokenCode): Promise<boolean>
  /** The endpoints at which the broker's ACTIVE connections were made, each once; those made before this was recorded are left out. */
  endpoints(broker: BrokerId): Promise<readonly BrokerEndpoint[]>
  /** Makes the broker's ACTIVE connections at that endpoint BROKEN (`environment_changed`). Returns how many; audited if there are any. */
  suspend(broker: BrokerId, was: BrokerEndpoint, reason: string, at: Timestamp, audit: AuditEntry): Promise<number>
  /** The reverse: connections at that endpoint that are BROKEN only because of `environment_changed` become ACTIVE. */
  resume(broker: BrokerId, endpoint: BrokerEndpoint, at: Timestamp, audit: AuditEntry): Promise<number>
  /** Logins of the broker that were made before endpoints were recorded, by id, after `after`. */
  withoutEndpoint(
    place: EndpointItem['item']['place'],
    broker: BrokerId,
    after: ConnectionId | null,
    limit: number
  ): Promise<readonly EndpointItem['item'][]>
  /** Records their endpoint, and replaces the sealed bytes if they are still the ones that were read. One transaction. */
  recordEndpoint(items: readonly EndpointItem[], endpoint: BrokerEndpoint, audit: AuditEntry): Promise<void>
  /** Removes the connection and everything under it; its sealed credentials move to the revocation list. False if unknown. */
  remove(connectionId: ConnectionId, at: Timestamp, audit: AuditEntry | RemovalAudit): Promise<boolean>
  /** Logins due to be revoked at `at`, oldest first, except those whose user is logging in at the same broker at the moment. */
  dueRevocations(at: Timestamp, limit: number): Promise<readonly Revocation[]>
  postponeRevocation(connectionId: ConnectionId, until: Timestamp): Promise<void>
  /** Erases the credentials. */
  finishRevocation(connectionId: ConnectionId): Promise<void>
  /** Sealed values whose master key is not `keyId`, for re-wrapping: credentials and pending revocations. */
  sealedUnderOtherKeys(keyId: string, limit: number): Promise<readonly RewrapItem[]>
  /** Replaces the bytes if they are still the ones that were read. */
  rewrapped(item: RewrapItem, sealed: Uint8Array, keyId: string): Promise<boolean>
}

/** The seal context is that of the former connection. */
export interface Revocation {
  readonly connectionId: ConnectionId
  readonly userKey: UserKey
  readonly broker: BrokerId
  readonly credentials: SealedValue
  readonly attempts: number
  readonly removedAt: Timestamp
  /** The accounts that it included; null for a login removed before this was recorded. */
  readonly brokerAccountIds: readonly string[] | null
}

export interface RewrapItem {
  readonly place: 'connection' | 'revocation' | 'claim'
  readonly connectionId: ConnectionId
  readonly userKey: UserKey
  readonly credentials: SealedValue
}

/** The code and deadline for claiming a connection. */
export interface PendingClaim {
  readonly codeHash: string
  readonly expiresAt: Timestamp
}

/** A login with its credentials resealed at their present revision; null: they are not changed. */
export interface EndpointItem {
  readonly item: RewrapItem & { readonly place: 'connection' | 'revocation' }
  readonly sealed: Uint8Array | null
}

export interface AccountStore {
  listByUser(userKey: UserKey): Promise<readonly Account[]>
  listByConnections(connectionIds: readonly ConnectionId[]): Promise<readonly Account[]>
  balances(accountIds: readonly AccountId[]): Promise<readonly Balance[]>
  positions(accountIds: readonly AccountId[]): Promise<readonly Position[]>
  /** Days are inclusive; page keys: [`day`, `transactionId`]. */
  transactions(accountIds: readonly AccountId[], filter: TransactionFilter, page: PageRequest): Promise<Page<Transaction>>
  /**
   * Replaces the account's balances and logs one event for each record that changed in more than its time. Returns those events.
   * `confirmedAt`, here and below: when all of them were last confirmed, if that is not the time of the newest.
   */
  putBalances(account: Account, balances: readonly Balance[], confirmedAt?: Timestamp): Promise<readonly LoggedEvent[]>
  /** Replaces the account's positions and logs one event with the records that changed; a closed position is reported with quantity 0. */
  putPositions(account: Account, positions: readonly Position[], at: Timestamp, confirmedAt?: Timestamp): Promise<readonly LoggedEvent[]>
  /** As {@link putPositions}, unless a stored position has a symbol that is not among them: then it does nothing and returns null. */
  putPositionsUnlessGone(account: Account, positions: readonly Position[], at: Timestamp): Promise<readonly LoggedEvent[] | null>
  /** Adds transactions that are new by broker id, and updates the rest. */
  putTransactions(
    account: Account,
    transactions: readonly Transaction[],
    read: { readonly from: Day; readonly to: Day; readonly at: Timestamp }
  ): Promise<void>
  /** When each kind of the account's records was last confirmed; null: never. */
  freshness(accountId: AccountId): Promise<AccountFreshness>
  /** When records of one kind were last confirmed, by account; accounts without a confirmation are left out. */
  confirmed(accountIds: readonly AccountId[], kind: ConfirmedKind): Promise<ReadonlyMap<AccountId, Timestamp>>
}

/** An order's next state, written atomically with its fills, its event and its audit entry. */
export interface OrderChange {
  readonly order: Order
  /** Null inserts the row; otherwise the revision that this change was made from. `order.revision` is the next one. */
  readonly overRevision: number | null
  /** False for bookkeeping that is not visible to clients. */
  readonly publish: boolean
  readonly audit: AuditEntry | null
}

export type ChangeResult =
  | { readonly kind: 'recorded'; readonly event: LoggedEvent | null }
  /** The user's `cl_order_id` is taken on that trading day. */
  | { readonly kind: 'duplicate'; readonly orderId: OrderId }
  /** Another writer was first: read and decide again. Also if the user or connection is gone. */
  | { readonly kind: 'stale' }

export interface OrderFilter {
  readonly accountIds: readonly AccountId[]
  readonly statuses?: readonly OrderStatus[]
  readonly symbols?: readonly string[]
  readonly orderId?: OrderId
  readonly clOrdId?: string
  readonly side?: Side
  /** Bounds of the entry time, both inclusive. */
  readonly from?: Timestamp
  readonly to?: Timestamp
}

export type OrderSort = 'entryTime' | 'lastModifiedTime' | 'lastExecTime'

export interface UnresolvedFilter {
  readonly broker?: BrokerId
  readonly connectionId?: ConnectionId
  readonly enteredBefore?: Timestamp
  /** Those that follow this one, in their order. */
  readonly after?: Pick<Order, 'entryTime' | 'orderId'>
}

export interface OrderStore {
  /**
   * Writes a group of changes atomically, such as a replaced order and its successor. Concurrent calls share a commit. If one of the group
   * is a duplicate or stale, none is written.
   * @throws CommitUnknown if the commit was not confirmed.
   */
  record(changes: readonly OrderChange[]): Promise<readonly ChangeResult[]>
  find(orderId: OrderId): Promise<Order | null>
  findByClOrdId(userKey: UserKey, tradingDay: Day, clOrdId: string): Promise<Order | null>
  findByBrokerIds(
    accountId: AccountId,
    ids: { readonly brokerOrderId: string | null; readonly brokerClOrdId: string | null }
  ): Promise<Order | null>
  /** Page keys: [value of the sort column, `orderId`]; a null time sorts as the oldest. */
  list(filter: OrderFilter, sort: OrderSort, page: PageRequest): Promise<Page<Order>>
  /** The account's orders with these broker order ids; unknown ids are left out. */
  idsByBrokerOrderIds(
    accountId: AccountId,
    brokerOrderIds: readonly string[]
  ): Promise<readonly { readonly brokerOrderId: string; readonly orderId: OrderId }[]>
  /** Open orders of one account or one connection. */
  unfinished(scope: { readonly connectionId: ConnectionId } | { readonly accountId: AccountId }): Promise<readonly Order[]>
  /** Open orders of all users without a broker order id: the broker may not have them. Oldest first, at most `limit`. */
  unresolved(limit: number, filter?: UnresolvedFilter): Promise<readonly Order[]>
  /** The account's orders were confirmed as of `at`. Nothing if the account is gone. */
  confirmed(account: Pick<Account, 'accountId' | 'userKey'>, at: Timestamp): Promise<void>
}

/** A change of a user's records, in the order applied. `seq` is gap-free per user, from 1. */
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

/** The account's data at the time of the event, for balances and positions: the account may be gone when the event is read. */
export interface EventAccount {
  readonly connectionId: ConnectionId
  readonly accountNumber: string
}

export interface EventStore {
  /**
   * Events with `seq` above `after`, ascending: at most `limit`, fewer if they are large, but at least one if there is any. `bytesMax` may
   * ask for less than the store reads at most: no event follows those whose documents have so many bytes together.
   */
  read(userKey: UserKey, after: number, limit: number, bytesMax?: number): Promise<readonly LoggedEvent[]>
  /** `seq` of the user's newest event; 0 if there is none, or the user is gone. */
  last(userKey: UserKey): Promise<number>
  /** The same for many users; users without an event are left out. */
  lasts(userKeys: readonly UserKey[]): Promise<ReadonlyMap<UserKey, number>>
  /** The range of stored events, from `oldest` to `last`. `oldest` is `last + 1` if there is none. */
  span(userKey: UserKey): Promise<{ readonly oldest: number; readonly last: number }>
  /** Erases events logged before `at`, at most `limit`, oldest first for each user. Returns how many. */
  prune(at: Timestamp, limit: number): Promise<number>
}

export interface MarketDataToken {
  readonly tokenHash: string
  readonly userKey: UserKey
  readonly connectionId: ConnectionId
  /** The platform key that the token was created with, and the hash of its secret; null: unknown. */
  readonly keyId: KeyId | null
  readonly keySecretHash: string | null
  readonly createdAt: Timestamp
  readonly expiresAt: Timestamp
  /** Set if a newer token of the same user and connection was created. */
  readonly supersededAt: Timestamp | null
}

export interface KnownToken extends MarketDataToken {
  /** When the key that the token was created with, or that key's replaced secret, expires. */
  readonly keyEndsAt: Timestamp | null
}

export interface TokenStore {
  /**
   * Creates the token as the newest of its user and connection. False if either is gone, the user is disabled, or its secret no longer has
   * the hash `provedBy` (null: not checked); or if the platform or key is disabled, or the key's secret has been replaced.
   */
  create(token: MarketDataToken, audit: AuditEntry, provedBy?: string | null): Promise<boolean>
  /** Null also while its user, platform or key is disabled, and when the secret it was created with is no longer one of the key's two. */
  find(tokenHash: string): Promise<KnownToken | null>
  /** Those of the tokens that {@link find} would find, by their hashes. */
  findAll(tokenHashes: readonly string[]): Promise<ReadonlyMap<string, KnownToken>>
  prune(expiredBefore: Timestamp): Promise<number>
}
