import type {
  Account,
  Balance,
  BrokerEndpoint,
  Connection,
  ConnectionAttempt,
  Platform,
  PlatformBrand,
  Position,
  Transaction,
  User
} from '@trunkline/core/domain/account'
import type { AccountId, AttemptId, BrokerId, ConnectionId, KeyId, OrderId, PlatformId, UserKey } from '@trunkline/core/domain/ids'
import type { Order } from '@trunkline/core/domain/order'
import type { PlatformKey } from '@trunkline/core/domain/platform-key'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Ids } from '@trunkline/core/ports/ids'
import {
  type AccountFreshness,
  type AuditEntry,
  type LoggedEvent,
  type MarketDataToken,
  type PendingClaim,
  type SealedValue,
  StoreUnavailable,
  type StreamSlot
} from '@trunkline/core/ports/store'

/** The store's dependencies. */
export interface MemoryDeps {
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>
  readonly ids: Pick<Ids, 'uuid'>
}

export interface StoredPlatform {
  platform: Platform
  brand: PlatformBrand
  disabledAt: Timestamp | null
}

export interface StoredKey {
  key: PlatformKey
  secretHash: string
  previous: { readonly secretHash: string; readonly until: Timestamp } | null
}

export interface StoredUser {
  readonly user: User
  secretHash: string
  disabledAt: Timestamp | null
}

export interface StoredAttempt {
  attempt: ConnectionAttempt
  readonly tokenHash: string
  verifier: SealedValue | null
  stateMadeAt: Timestamp | null
  tries: number
}

/** Sealed credentials, and the master key they were last wrapped with, if known. */
export interface StoredCredentials {
  value: SealedValue
  keyId: string | null
}

export interface StoredConnection {
  connection: Connection
  credentials: StoredCredentials
  refresh: { readonly revision: number; readonly holder: string; until: Timestamp | null } | null
}

/** A connection that waits to be claimed. */
export interface StoredClaim {
  readonly connection: Connection
  readonly accounts: readonly Account[]
  readonly credentials: StoredCredentials
  readonly claim: PendingClaim
}

export interface StoredRevocation {
  readonly connectionId: ConnectionId
  readonly userKey: UserKey
  readonly broker: BrokerId
  endpoint: BrokerEndpoint | null
  readonly credentials: StoredCredentials
  attempts: number
  readonly removedAt: Timestamp
  dueAt: Timestamp
  readonly brokerAccountIds: readonly string[]
}

export interface StoredAccount {
  readonly account: Account
  balances: readonly Balance[]
  positions: readonly Position[]
  /** By the broker's transaction id. */
  readonly transactions: Map<string, Transaction>
  freshness: AccountFreshness
}

export interface UserLog {
  first: number
  last: number
  events: LoggedEvent[]
}

/** The tables. Every method of the store changes them synchronously, which makes it a transaction. */
export class MemoryDatabase {
  readonly clock: MemoryDeps['clock']
  readonly ids: MemoryDeps['ids']
  readonly platforms = new Map<PlatformId, StoredPlatform>()
  readonly keys = new Map<KeyId, StoredKey>()
  readonly users = new Map<UserKey, StoredUser>()
  readonly attempts = new Map<AttemptId, StoredAttempt>()
  readonly connections = new Map<ConnectionId, StoredConnection>()
  readonly claims = new Map<ConnectionId, StoredClaim>()
  readonly revocations = new Map<ConnectionId, StoredRevocation>()
  readonly accounts = new Map<AccountId, StoredAccount>()
  readonly orders = new Map<OrderId, Order>()
  /** The orders that have had a broker's id, by account and id. */
  readonly brokerOrderIds = new Map<string, Set<OrderId>>()
  readonly logs = new Map<UserKey, UserLog>()
  readonly tokens = new Map<string, MarketDataToken>()
  readonly slots = new Map<string, StreamSlot & { untilMs: number }>()
  readonly audit: AuditEntry[] = []
  /** How many entries of the audit log are sealed, the oldest first. */
  sealed = 0
  isClosed = false

  constructor({ clock, ids }: MemoryDeps) {
    this.clock = clock
    this.ids = ids
  }

  /** Runs one call of the store. Rejects if the store is closed, and with the error of `work`. */
  async call<T>(work: () => T): Promise<T> {
    if (this.isClosed) throw new StoreUnavailable('The store is closed.')
    return work()
  }

  /** Whether the user and its platform are enabled. */
  isEnabled(userKey: UserKey): boolean {
    const known = this.users.get(userKey)
    return known !== undefined && known.disabledAt === null && this.platforms.get(known.user.platformId)?.disabledAt === null
  }

  /** Whether the key is enabled, and has the secret with that hash; null: not checked. */
  isKeyEnabled(keyId: KeyId | null, provedBy: string | null = null): boolean {
    if (keyId === null) return true
    const known = this.keys.get(keyId)
    if (known === undefined || known.key.disabledAt !== null) return false
    return provedBy === null || provedBy === known.secretHash || provedBy === known.previous?.secretHash
  }

  log(userKey: UserKey): UserLog | undefined {
    return this.logs.get(userKey)
  }

  /** Ends the owner's links that have not led to a connection. */
  endAttempts(isOwned: (attempt: ConnectionAttempt) => boolean): void {
    for (const stored of this.attempts.values()) if (isLive(stored.attempt) && isOwned(stored.attempt)) endAttempt(stored, 'failed')
  }

  eraseTokens(isOwned: (token: MarketDataToken) => boolean): void {
    for (const [hash, token] of this.tokens) if (isOwned(token)) this.tokens.delete(hash)
  }
}

export function isLive({ status }: ConnectionAttempt): boolean {
  return status === 'open' || status === 'authorizing'
}

export function endAttempt(stored: StoredAttempt, status: ConnectionAttempt['status']): void {
  stored.attempt = { ...stored.attempt, status, stateHash: null }
  stored.verifier = null
}

/** Text as a database column can store it, without NUL and lone surrogates. */
export function storable(text: string): string {
  return text.replaceAll('\0', '\u2400').toWellFormed()
}
