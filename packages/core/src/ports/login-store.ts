// How the login of a connection is stored and replaced.
import type { Account, BrokerEndpoint } from '../domain/account.ts'
import type { AttemptId, ConnectionId, UserKey } from '../domain/ids.ts'
import type { Timestamp } from '../domain/timestamp.ts'
import type { AuditEntry } from './audit-store.ts'

/** Sealed bytes, and the revision that is part of their seal. */
export interface SealedValue {
  readonly sealed: Uint8Array
  readonly revision: number
}

export interface RefreshClaim {
  readonly revision: number
  /** The claimant, unique across all nodes. */
  readonly holder: string
  readonly at: Timestamp
  /**
   * When the claim expires, by the nodes' clocks: these must agree to within the time by which a claim outlasts the work. An expiry further
   * ahead than twice the length of a claim was written before a clock was set back, and is ignored.
   */
  readonly until: Timestamp
}

export type RefreshClaimed =
  /** `mayBeSpent`: an earlier refresh of these credentials was started and ended without an answer. */
  | { readonly kind: 'taken'; readonly mayBeSpent: boolean }
  | { readonly kind: 'held'; readonly until: Timestamp }
  /** The credentials have another revision, or are gone. */
  | { readonly kind: 'moved' }

export interface Renewal {
  readonly connectionId: ConnectionId
  readonly userKey: UserKey
  readonly endpoint: BrokerEndpoint
  /** The revision of the credentials that are replaced. */
  readonly revision: number
  readonly credentials: SealedValue
  /** Accounts that are new to the connection. */
  readonly added: readonly Account[]
  readonly attemptId: AttemptId
  readonly at: Timestamp
  readonly audit: AuditEntry
}

export type Renewed = 'renewed' | 'moved' | 'ended' | 'gone'
