import type { OperatorKeyId, OperatorSessionId } from '../domain/ids.ts'
import type { OperatorKey, OperatorScope, OperatorSession } from '../domain/operator.ts'
import type { Timestamp } from '../domain/timestamp.ts'
import type { AuditEntry } from './audit-store.ts'

/** A code that becomes a session once. */
export interface NewOperatorCode {
  readonly codeHash: string
  readonly operator: string
  readonly scopes: readonly OperatorScope[]
  readonly lifetimeMs: number
}

export interface NewOperatorSession {
  readonly sessionId: OperatorSessionId
  readonly secretHash: string
  readonly lifetimeMs: number
}

/** What operators prove themselves with at the API for operators. All times are the database's: clocks of nodes are not compared. */
export interface OperatorStore {
  /** Returns when the code expires. Erases what has expired. */
  createCode(code: NewOperatorCode, audit: AuditEntry): Promise<Timestamp>
  /**
   * Uses the code up and creates the session, in one transaction: of two callers with the same code, one gets a session. Null if the code
   * is unknown, used or expired.
   */
  exchange(codeHash: string, session: NewOperatorSession, auditOf: (operator: string) => AuditEntry): Promise<OperatorSession | null>
  /** The session, which was used within `idleMs`; noted as used, once a minute at most. Null if there is none, or it has expired. */
  useSession(secretHash: string, idleMs: number): Promise<OperatorSession | null>
  /** Sessions that were used within `idleMs`, newest first, at most `limit`. */
  sessions(idleMs: number, limit: number): Promise<readonly OperatorSession[]>
  /** False if there is no such session. */
  endSession(sessionId: OperatorSessionId, audit: AuditEntry): Promise<boolean>
  /** False if there are `max` keys already. */
  createKey(key: OperatorKey, secretHash: string, max: number, audit: AuditEntry): Promise<boolean>
  /** The key, noted as used, once a minute at most. Null if there is none, or it has expired. */
  useKey(secretHash: string): Promise<OperatorKey | null>
  /** Oldest first. */
  keys(): Promise<readonly OperatorKey[]>
  /** False if there is no such key. */
  revokeKey(keyId: OperatorKeyId, audit: AuditEntry): Promise<boolean>
}
