import type { Account, BrokerEndpoint, Connection } from '@trunkline/core/domain/account'
import type { AttemptId, BrokerId, ConnectionId, PlatformId, UserKey } from '@trunkline/core/domain/ids'
import { isOpen } from '@trunkline/core/domain/order'
import { epochMs, type Timestamp, timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { BrokenCode, ConnectionStatus } from '@trunkline/core/domain/vocabulary'
import type {
  AuditEntry,
  ConnectionStore,
  EndpointItem,
  Page,
  PageRequest,
  PendingClaim,
  RefreshClaim,
  RefreshClaimed,
  RemovalAudit,
  Renewal,
  Renewed,
  Revocation,
  RewrapItem,
  SealedValue
} from '@trunkline/core/ports/store'
import {
  endAttempt,
  isLive,
  type MemoryDatabase,
  type StoredConnection,
  type StoredCredentials,
  type StoredRevocation,
  storable
} from './database.ts'
import { pageOf } from './pages.ts'
import { removeConnections, revokeClaim } from './removal.ts'

/** Longer than any revocation is postponed. */
const PUT_OFF_MS_MAX = 2 * 3_600_000

export class MemoryConnectionStore implements ConnectionStore {
  readonly #db: MemoryDatabase

  constructor(db: MemoryDatabase) {
    this.#db = db
  }

  create(
    connection: Connection,
    accounts: readonly Account[],
    credentials: SealedValue,
    attemptId: AttemptId,
    audit: AuditEntry,
    pending?: PendingClaim
  ): Promise<boolean> {
    return this.#db.call(() => {
      if (!this.#db.isEnabled(connection.userKey) || !this.#complete(attemptId)) return false
      const stored = { value: credentials, keyId: null }
      if (pending === undefined) this.#insert(connection, accounts, stored)
      else this.#db.claims.set(connection.connectionId, { connection, accounts, credentials: stored, claim: pending })
      this.#db.audit.push(audit)
      return true
    })
  }

  claim(
    connectionId: ConnectionId,
    userKey: UserKey,
    { codeHash, at, audit }: { readonly codeHash: string; readonly at: Timestamp; readonly audit: AuditEntry }
  ): Promise<'claimed' | 'refused' | 'unknown'> {
    return this.#db.call(() => {
      const known = this.#db.claims.get(connectionId)
      if (!this.#db.isEnabled(userKey) || known?.connection.userKey !== userKey) return 'unknown'
      if (known.claim.codeHash !== codeHash || known.claim.expiresAt <= at) return 'refused'
      this.#db.claims.delete(connectionId)
      this.#insert(known.connection, known.accounts, known.credentials)
      this.#db.audit.push(audit)
      return 'claimed'
    })
  }

  expireClaims(at: Timestamp, limit: number): Promise<number> {
    return this.#db.call(() => {
      const expired = [...this.#db.claims.values()]
        .filter(({ claim }) => claim.expiresAt <= at)
        .toSorted((a, b) => (a.claim.expiresAt < b.claim.expiresAt ? -1 : 1))
        .slice(0, limit)
      for (const claim of expired) {
        revokeClaim(this.#db, claim, at)
        const { connectionId: target, broker } = claim.connection
        const entry = {
          at,
          actor: 'service',
          action: 'connection.unclaimed',
          target,
          result: 'refused',
          ip: null,
          requestId: null
        } as const
        this.#db.audit.push({ ...entry, detail: { broker } })
      }
      return expired.length
    })
  }

  find(connectionId: ConnectionId): Promise<Connection | null> {
    return this.#db.call(() => this.#db.connections.get(connectionId)?.connection ?? null)
  }

  findUnclaimed(connectionId: ConnectionId): Promise<Connection | null> {
    return this.#db.call(() => this.#db.claims.get(connectionId)?.connection ?? null)
  }

  reaches(broker: BrokerId, brokerAccountIds: readonly string[]): Promise<boolean> {
    return this.#db.call(() => {
      const accounts = [
        ...[...this.#db.accounts.values()].map(({ account }) => account),
        ...[...this.#db.claims.values()].flatMap(claim => claim.accounts)
      ]
      return accounts.some(account => account.broker === broker && brokerAccountIds.includes(account.brokerAccountId))
    })
  }

  listByUser(userKey: UserKey, status: ConnectionStatus | null): Promise<readonly Connection[]> {
    return this.#db.call(() =>
      this.#all(connection => connection.userKey === userKey && (status === null || connection.status === status)).toSorted((a, b) =>
        `${a.createdAt} ${a.connectionId}` > `${b.createdAt} ${b.connectionId}` ? -1 : 1
      )
    )
  }

  listByPlatform(platformId: PlatformId, status: ConnectionStatus | null, page: PageRequest): Promise<Page<Connection>> {
    return this.#db.call(() => {
      const matching = this.#all(connection => connection.platformId === platformId && (status === null || connection.status === status))
      return pageOf(matching, page, ({ createdAt, connectionId }) => [createdAt, connectionId])
    })
  }

  withUnfinishedOrders(): Promise<readonly Connection[]> {
    return this.#db.call(() => {
      const ids = new Set([...this.#db.orders.values()].filter(({ status }) => isOpen(status)).map(({ connectionId }) => connectionId))
      return this.#all(({ connectionId }) => ids.has(connectionId))
    })
  }

  credentials(connectionId: ConnectionId): Promise<SealedValue | null> {
    return this.#db.call(() => this.#db.connections.get(connectionId)?.credentials.value ?? null)
  }

  claimRefresh(connectionId: ConnectionId, { revision, holder, at, until }: RefreshClaim): Promise<RefreshClaimed> {
    return this.#db.call(() => {
      const stored = this.#db.connections.get(connectionId)
      if (stored?.credentials.value.revision !== revision) return { kind: 'moved' }
      const known = stored.refresh?.revision === revision ? stored.refresh : null
      const isOwn = known?.holder === holder
      const heldUntil = known?.until ?? null
      // A claim that ends later was made before a clock was set back.
      const latest = timestampOfMs(2 * epochMs(until) - epochMs(at))
      if (heldUntil !== null && !isOwn && heldUntil > at && heldUntil <= latest) return { kind: 'held', until: heldUntil }
      stored.refresh = { revision, holder, until }
      return { kind: 'taken', mayBeSpent: known !== null && (heldUntil === null || !isOwn) }
    })
  }

  releaseRefresh(
    connectionId: ConnectionId,
    { revision, holder }: Pick<RefreshClaim, 'revision' | 'holder'>,
    mayBeSpent: boolean
  ): Promise<void> {
    return this.#db.call(() => {
      const stored = this.#db.connections.get(connectionId)
      if (stored?.refresh?.revision !== revision || stored.refresh.holder !== holder) return
      if (mayBeSpent) stored.refresh.until = null
      else stored.refresh = null
    })
  }

  replaceCredentials(connectionId: ConnectionId, revision: number, next: SealedValue): Promise<boolean> {
    return this.#db.call(() => {
      const stored = this.#db.connections.get(connectionId)
      if (stored?.credentials.value.revision !== revision) return false
      stored.credentials = { value: next, keyId: null }
      stored.refresh = null
      return true
    })
  }

  renew({ connectionId, userKey, endpoint, revision, credentials, added, attemptId, at, audit }: Renewal): Promise<Renewed> {
    return this.#db.call(() => {
      const stored = this.#db.connections.get(connectionId)
      if (stored === undefined || stored.connection.userKey !== userKey || !isSame(stored.connection.endpoint, endpoint)) return 'gone'
      if (stored.credentials.value.revision !== revision) return 'moved'
      if (!this.#complete(attemptId)) return 'ended'
      stored.credentials = { value: credentials, keyId: null }
      stored.refresh = null
      stored.connection = { ...stored.connection, status: 'ACTIVE', brokenCode: null, brokenReason: null, updatedAt: at }
      for (const account of added) this.#addAccount(account)
      this.#db.audit.push(audit)
      return 'renewed'
    })
  }

  markBroken(
    connectionId: ConnectionId,
    reason: string,
    at: Timestamp,
    audit: AuditEntry,
    code: BrokenCode = 'credentials_rejected'
  ): Promise<boolean> {
    return this.#db.call(() => {
      const stored = this.#db.connections.get(connectionId)
      if (stored === undefined || stored.connection.status !== 'ACTIVE') return false
      breakConnection(stored, code, reason, at)
      this.#db.audit.push(audit)
      return true
    })
  }

  endpoints(broker: BrokerId): Promise<readonly BrokerEndpoint[]> {
    return this.#db.call(() => {
      const active = this.#all(({ broker: its, status }) => its === broker && status === 'ACTIVE')
      const found = active.flatMap(({ endpoint }) => (endpoint === null ? [] : [endpoint]))
      return [...new Map(found.map(endpoint => [`${endpoint.environment} ${endpoint.host}`, endpoint])).values()]
    })
  }

  suspend(broker: BrokerId, was: BrokerEndpoint, reason: string, at: Timestamp, audit: AuditEntry): Promise<number> {
    return this.#db.call(() => {
      const stored = this.#at(broker, was).filter(({ connection }) => connection.status === 'ACTIVE')
      for (const each of stored) breakConnection(each, 'environment_changed', reason, at)
      return this.#counted(stored.length, audit)
    })
  }

  resume(broker: BrokerId, endpoint: BrokerEndpoint, at: Timestamp, audit: AuditEntry): Promise<number> {
    return this.#db.call(() => {
      const stored = this.#at(broker, endpoint).filter(({ connection }) => connection.brokenCode === 'environment_changed')
      for (const each of stored)
        each.connection = { ...each.connection, status: 'ACTIVE', brokenCode: null, brokenReason: null, updatedAt: at }
      return this.#counted(stored.length, audit)
    })
  }

  withoutEndpoint(
    place: EndpointItem['item']['place'],
    broker: BrokerId,
    after: ConnectionId | null,
    limit: number
  ): Promise<readonly EndpointItem['item'][]> {
    return this.#db.call(() => {
      const stored =
        place === 'connection'
          ? [...this.#db.connections.values()].map(({ connection, credentials }) => ({ ...connection, credentials }))
          : [...this.#db.revocations.values()]
      return stored
        .filter(each => each.broker === broker && each.endpoint === null && (after === null || each.connectionId > after))
        .toSorted((a, b) => (a.connectionId < b.connectionId ? -1 : 1))
        .slice(0, limit)
        .map(({ connectionId, userKey, credentials }) => ({ place, connectionId, userKey, credentials: credentials.value }))
    })
  }

  recordEndpoint(items: readonly EndpointItem[], endpoint: BrokerEndpoint, audit: AuditEntry): Promise<void> {
    return this.#db.call(() => {
      for (const { item, sealed } of items) {
        const stored =
          item.place === 'connection' ? this.#db.connections.get(item.connectionId) : this.#db.revocations.get(item.connectionId)
        if (stored === undefined || (sealed !== null && !swap(stored.credentials, item.credentials, sealed, null))) continue
        if ('connection' in stored) stored.connection = { ...stored.connection, endpoint }
        else stored.endpoint = endpoint
      }
      this.#db.audit.push(audit)
    })
  }

  remove(connectionId: ConnectionId, at: Timestamp, audit: AuditEntry | RemovalAudit): Promise<boolean> {
    return this.#db.call(() => {
      if (!this.#db.connections.has(connectionId)) return false
      removeConnections(this.#db, [connectionId], at, audit)
      return true
    })
  }

  dueRevocations(at: Timestamp, limit: number): Promise<readonly Revocation[]> {
    return this.#db.call(() => {
      const farthest = timestampOfMs(epochMs(at) + PUT_OFF_MS_MAX)
      return [...this.#db.revocations.values()]
        .filter(({ dueAt }) => dueAt <= at || dueAt > farthest)
        .filter(revocation => !this.#isLoggingIn(revocation, at))
        .toSorted((a, b) => (`${a.dueAt} ${a.connectionId}` < `${b.dueAt} ${b.connectionId}` ? -1 : 1))
        .slice(0, limit)
        .map(({ connectionId, userKey, broker, credentials: { value: credentials }, attempts, removedAt, brokerAccountIds }) => ({
          ...{ connectionId, userKey, broker, credentials, attempts, removedAt, brokerAccountIds }
        }))
    })
  }

  postponeRevocation(connectionId: ConnectionId, until: Timestamp): Promise<void> {
    return this.#db.call(() => {
      const stored = this.#db.revocations.get(connectionId)
      if (stored === undefined) return
      stored.attempts += 1
      stored.dueAt = until
    })
  }

  finishRevocation(connectionId: ConnectionId): Promise<void> {
    return this.#db.call(() => {
      this.#db.revocations.delete(connectionId)
    })
  }

  sealedUnderOtherKeys(keyId: string, limit: number): Promise<readonly RewrapItem[]> {
    return this.#db.call(() => {
      const items = [
        ...[...this.#db.connections.values()].map(({ connection, credentials }) => ({
          place: 'connection' as const,
          of: connection,
          credentials
        })),
        ...[...this.#db.revocations.values()].map(of => ({ place: 'revocation' as const, of, credentials: of.credentials })),
        ...[...this.#db.claims.values()].map(({ connection, credentials }) => ({ place: 'claim' as const, of: connection, credentials }))
      ]
      return items
        .filter(({ credentials }) => credentials.keyId !== keyId)
        .slice(0, limit)
        .map(({ place, of: { connectionId, userKey }, credentials }) => ({ place, connectionId, userKey, credentials: credentials.value }))
    })
  }

  rewrapped({ place, connectionId, credentials }: RewrapItem, sealed: Uint8Array, keyId: string): Promise<boolean> {
    return this.#db.call(() => {
      const tables = { connection: this.#db.connections, revocation: this.#db.revocations, claim: this.#db.claims }
      const stored = tables[place].get(connectionId)
      return stored !== undefined && swap(stored.credentials, credentials, sealed, keyId)
    })
  }

  #insert(connection: Connection, accounts: readonly Account[], credentials: StoredCredentials): void {
    this.#db.connections.set(connection.connectionId, { connection, credentials, refresh: null })
    for (const account of accounts) this.#addAccount(account)
  }

  #addAccount(account: Account): void {
    const freshness = { balances: null, positions: null, orders: null, transactions: null }
    this.#db.accounts.set(account.accountId, { account, balances: [], positions: [], transactions: new Map(), freshness })
  }

  /** Ends the attempt with its connection; false when it has ended already. */
  #complete(attemptId: AttemptId): boolean {
    const stored = this.#db.attempts.get(attemptId)
    if (stored === undefined || !isLive(stored.attempt)) return false
    endAttempt(stored, 'completed')
    return true
  }

  #all(isWanted: (connection: Connection) => boolean): readonly Connection[] {
    return [...this.#db.connections.values()].map(({ connection }) => connection).filter(isWanted)
  }

  #at(broker: BrokerId, endpoint: BrokerEndpoint): readonly StoredConnection[] {
    return [...this.#db.connections.values()].filter(
      ({ connection }) => connection.broker === broker && isSame(connection.endpoint, endpoint)
    )
  }

  #isLoggingIn({ userKey, broker }: StoredRevocation, at: Timestamp): boolean {
    return [...this.#db.attempts.values()].some(
      ({ attempt }) =>
        attempt.userKey === userKey && attempt.chosenBroker === broker && attempt.status === 'authorizing' && attempt.expiresAt > at
    )
  }

  #counted(count: number, audit: AuditEntry): number {
    if (count > 0) this.#db.audit.push({ ...audit, detail: { ...audit.detail, connections: count } })
    return count
  }
}

function isSame(one: BrokerEndpoint | null, { environment, host }: BrokerEndpoint): boolean {
  return one !== null && one.environment === environment && one.host === host
}

function breakConnection(stored: StoredConnection, brokenCode: BrokenCode, reason: string, updatedAt: Timestamp): void {
  stored.connection = { ...stored.connection, status: 'BROKEN', brokenCode, brokenReason: storable(reason), updatedAt }
}

/** Replaces the bytes if they are still the ones read. */
function swap(stored: StoredCredentials, read: SealedValue, sealed: Uint8Array, keyId: string | null): boolean {
  const { revision, sealed: present } = stored.value
  if (revision !== read.revision || Buffer.compare(present, read.sealed) !== 0) return false
  stored.value = { sealed, revision }
  stored.keyId = keyId
  return true
}
