// Users, market data tokens, slots of sessions and the audit log.
import type { User } from '@trunkline/core/domain/account'
import type { ConnectionId, PlatformId, UserId, UserKey } from '@trunkline/core/domain/ids'
import { earlier, type Timestamp } from '@trunkline/core/domain/timestamp'
import type {
  AuditEntry,
  AuditStore,
  KnownToken,
  KnownUser,
  MarketDataToken,
  Page,
  PageRequest,
  RemovalAudit,
  StreamSlot,
  StreamSlotStore,
  TokenStore,
  UserFilter,
  UserStore
} from '@trunkline/core/ports/store'
import type { MemoryDatabase } from './database.ts'
import { pageOf } from './pages.ts'
import { removeConnections, revokeClaimsOf } from './removal.ts'

export class MemoryUserStore implements UserStore {
  readonly #db: MemoryDatabase

  constructor(db: MemoryDatabase) {
    this.#db = db
  }

  create(user: User, secretHash: string, audit: AuditEntry): Promise<boolean> {
    return this.#db.call(() => {
      if (this.#find(user.platformId, user.userId) !== undefined) return false
      this.#db.users.set(user.userKey, { user, secretHash, disabledAt: null })
      this.#db.logs.set(user.userKey, { first: 1, last: 0, events: [] })
      this.#db.audit.push(audit)
      return true
    })
  }

  find(platformId: PlatformId, userId: UserId): Promise<KnownUser | null> {
    return this.#db.call(() => {
      const known = this.#find(platformId, userId)
      return known === undefined ? null : { ...known }
    })
  }

  findByKey(userKey: UserKey): Promise<User | null> {
    return this.#db.call(() => this.#db.users.get(userKey)?.user ?? null)
  }

  enabledOf(userKeys: readonly UserKey[]): Promise<ReadonlySet<UserKey>> {
    return this.#db.call(() => new Set(userKeys.filter(userKey => this.#db.users.get(userKey)?.disabledAt === null)))
  }

  list(platformId: PlatformId, filter: UserFilter, sort: 'createdAt' | 'userId', page: PageRequest): Promise<Page<User>> {
    return this.#db.call(() => {
      const users = [...this.#db.users.values()].map(({ user }) => user)
      const matching = users.filter(user => user.platformId === platformId && this.#matches(user, filter))
      return pageOf(matching, page, user => [user[sort], user.userKey])
    })
  }

  replaceSecret(userKey: UserKey, secretHash: string, audit: AuditEntry): Promise<boolean> {
    return this.#db.call(() => {
      const known = this.#db.users.get(userKey)
      if (known === undefined) return false
      known.secretHash = secretHash
      this.#db.eraseTokens(token => token.userKey === userKey)
      this.#db.audit.push(audit)
      return true
    })
  }

  setDisabled(userKey: UserKey, at: Timestamp | null, audit: AuditEntry): Promise<boolean> {
    return this.#db.call(() => {
      const known = this.#db.users.get(userKey)
      if (known === undefined) return false
      known.disabledAt = at
      if (at !== null) {
        this.#db.eraseTokens(token => token.userKey === userKey)
        this.#db.endAttempts(attempt => attempt.userKey === userKey)
      }
      this.#db.audit.push(audit)
      return true
    })
  }

  remove(userKey: UserKey, at: Timestamp, audit: AuditEntry | RemovalAudit): Promise<readonly ConnectionId[]> {
    return this.#db.call(() => {
      if (!this.#db.users.has(userKey)) return []
      const ids = [...this.#db.connections.values()]
        .map(({ connection }) => connection)
        .filter(connection => connection.userKey === userKey)
      const removed = ids.map(({ connectionId }) => connectionId)
      removeConnections(this.#db, removed, at, audit)
      revokeClaimsOf(this.#db, userKey, at)
      this.#db.users.delete(userKey)
      this.#db.logs.delete(userKey)
      this.#db.eraseTokens(token => token.userKey === userKey)
      for (const [attemptId, { attempt }] of this.#db.attempts) if (attempt.userKey === userKey) this.#db.attempts.delete(attemptId)
      return removed
    })
  }

  #find(platformId: PlatformId, userId: UserId) {
    return [...this.#db.users.values()].find(({ user }) => user.platformId === platformId && user.userId === userId)
  }

  #matches(user: User, { userId, accountNumber, accountId, connectionId, createdFrom, createdTo }: UserFilter): boolean {
    if (userId !== undefined && user.userId !== userId) return false
    if (createdFrom !== undefined && user.createdAt < createdFrom) return false
    if (createdTo !== undefined && user.createdAt > createdTo) return false
    if (connectionId !== undefined && this.#db.connections.get(connectionId)?.connection.userKey !== user.userKey) return false
    if (accountNumber === undefined && accountId === undefined) return true
    return [...this.#db.accounts.values()].some(
      ({ account }) =>
        account.userKey === user.userKey &&
        (accountNumber === undefined || account.accountNumber === accountNumber) &&
        (accountId === undefined || account.accountId === accountId)
    )
  }
}

export class MemoryTokenStore implements TokenStore {
  readonly #db: MemoryDatabase

  constructor(db: MemoryDatabase) {
    this.#db = db
  }

  create(token: MarketDataToken, audit: AuditEntry, provedBy: string | null = null): Promise<boolean> {
    return this.#db.call(() => {
      if (!this.#db.isEnabled(token.userKey) || !this.#db.isKeyEnabled(token.keyId, token.keySecretHash)) return false
      if (provedBy !== null && this.#db.users.get(token.userKey)?.secretHash !== provedBy) return false
      if (this.#db.connections.get(token.connectionId)?.connection.userKey !== token.userKey) return false
      for (const [hash, older] of this.#db.tokens)
        if (older.userKey === token.userKey && older.connectionId === token.connectionId && older.supersededAt === null)
          this.#db.tokens.set(hash, { ...older, supersededAt: token.createdAt })
      const { tokenHash, userKey, connectionId, keyId, keySecretHash, createdAt, expiresAt, supersededAt } = token
      this.#db.tokens.set(tokenHash, { tokenHash, userKey, connectionId, keyId, keySecretHash, createdAt, expiresAt, supersededAt })
      this.#db.audit.push(audit)
      return true
    })
  }

  find(tokenHash: string): Promise<KnownToken | null> {
    return this.#db.call(() => {
      const token = this.#db.tokens.get(tokenHash)
      if (token === undefined || !this.#db.isEnabled(token.userKey) || !this.#db.isKeyEnabled(token.keyId, token.keySecretHash)) return null
      const known = token.keyId === null ? undefined : this.#db.keys.get(token.keyId)
      const isReplaced = known !== undefined && token.keySecretHash !== null && token.keySecretHash !== known.secretHash
      return { ...token, keyEndsAt: earlier(known?.key.expiresAt ?? null, isReplaced ? (known.previous?.until ?? null) : null) }
    })
  }

  async findAll(tokenHashes: readonly string[]): Promise<ReadonlyMap<string, KnownToken>> {
    const found = await Promise.all(tokenHashes.map(tokenHash => this.find(tokenHash)))
    return new Map(found.flatMap(token => (token === null ? [] : [[token.tokenHash, token]])))
  }

  prune(expiredBefore: Timestamp): Promise<number> {
    return this.#db.call(() => {
      const before = this.#db.tokens.size
      this.#db.eraseTokens(({ expiresAt }) => expiresAt < expiredBefore)
      return before - this.#db.tokens.size
    })
  }
}

/** How long after its expiry another node's slot is removed. */
const SWEPT_MS = 600_000

export class MemoryStreamSlotStore implements StreamSlotStore {
  readonly #db: MemoryDatabase

  constructor(db: MemoryDatabase) {
    this.#db = db
  }

  take(slot: StreamSlot, limit: number, ttlMs: number): Promise<boolean> {
    return this.#db.call(() => {
      if (this.#db.keys.get(slot.keyId)?.key.platformId !== slot.platformId) return false
      const now = this.#db.clock.monotonicMs()
      for (const [sessionId, held] of this.#db.slots) if (held.keyId === slot.keyId && held.untilMs <= now) this.#db.slots.delete(sessionId)
      const held = [...this.#db.slots.values()].filter(({ keyId, sessionId }) => keyId === slot.keyId && sessionId !== slot.sessionId)
      if (held.length >= limit) return false
      this.#db.slots.set(slot.sessionId, { ...slot, untilMs: now + ttlMs })
      return true
    })
  }

  renew(nodeId: string, ttlMs: number): Promise<readonly string[]> {
    return this.#db.call(() => {
      const now = this.#db.clock.monotonicMs()
      const own = [...this.#db.slots.values()].filter(slot => slot.nodeId === nodeId)
      for (const slot of own) slot.untilMs = now + ttlMs
      for (const [sessionId, { untilMs }] of this.#db.slots) if (untilMs <= now - SWEPT_MS) this.#db.slots.delete(sessionId)
      return own.map(({ sessionId }) => sessionId)
    })
  }

  release(sessionId: string): Promise<void> {
    return this.#db.call(() => {
      this.#db.slots.delete(sessionId)
    })
  }
}

export class MemoryAuditStore implements AuditStore {
  readonly #db: MemoryDatabase

  constructor(db: MemoryDatabase) {
    this.#db = db
  }

  append(entry: AuditEntry): Promise<void> {
    return this.#db.call(() => {
      this.#db.audit.push(entry)
    })
  }

  seal(limit: number): Promise<number> {
    return this.#db.call(() => {
      const count = Math.min(limit, this.#db.audit.length - this.#db.sealed)
      this.#db.sealed += count
      return count
    })
  }

  /** Nothing can alter an entry here. */
  verify(): Promise<{ readonly entries: number; readonly broken: null }> {
    return this.#db.call(() => ({ entries: this.#db.sealed, broken: null }))
  }

  list(limit: number): Promise<readonly (AuditEntry & { readonly position: number | null })[]> {
    return this.#db.call(() =>
      this.#db.audit
        .map((entry, index) => ({ ...entry, position: index < this.#db.sealed ? index + 1 : null }))
        .toReversed()
        .slice(0, limit)
    )
  }
}
