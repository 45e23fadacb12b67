// What is stored of a connection's login, and how it changes.
import type { Account, BrokerEndpoint } from '../domain/account.ts'
import type { AttemptId, ConnectionId, UserKey } from '../domain/ids.ts'
import type { Timestamp } from '../domain/timestamp.ts'
import type { AuditEntry } from './audit-store.ts'

/** Sealed bytes and the revision that is part of their seal. */
export interface SealedValue {
  readonly sealed: Uint8Array
  readonly revision: number
}

export interface RefreshClaim {
  readonly revision: number
  /** The caller, unique on this and every other node. */
  readonly holder: string
  readonly at: Timestamp
  /**
   * When it ends by itself, by the nodes' clocks: they must agree to within the time that a claim is longer than the work. One that ends later
   * than now and twice its length was made before a clock was set back, and counts for nothing.
   */
  readonly until: Timestamp
}

export type RefreshClaimed =
  /** `mayBeSpent`: an earlier refresh of these credentials was begun, and never ended with an answer. */
  | { readonly kind: 'taken'; readonly mayBeSpent: boolean }
  | { readonly kind: 'held'; readonly until: Timestamp }
  /** The credentials are of another revision, or gone. */
  | { readonly kind: 'moved' }

export interface Renewal {
  readonly connectionId: ConnectionId
  readonly userKey: UserKey
  readonly endpoint: BrokerEndpoint
  /** Of the credentials that are replaced. */
  readonly revision: number
  readonly credentials: SealedValue
  /** Accounts that the connection did not have. */
  readonly added: readonly Account[]
  readonly attemptId: AttemptId
  readonly at: Timestamp
  readonly audit: AuditEntry
}

export type Renewed = 'renewed' | 'moved' | 'ended' | 'gone'
