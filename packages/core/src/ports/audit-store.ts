import type { Timestamp } from '../domain/timestamp.ts'

/**
 * Who did what to what. Written in the transaction it describes and chained by hash soon after, so that altering or removing a row is
 * detectable.
 */
export interface AuditEntry {
  readonly at: Timestamp
  /** `platform:<id>`, `user:<key>`, `operator`, `service`. */
  readonly actor: string
  /** Dotted: `order.place`, `connection.create`, `user.rotate_secret`. */
  readonly action: string
  readonly target: string
  readonly result: 'ok' | 'refused' | 'failed'
  readonly ip: string | null
  readonly requestId: string | null
  /** Facts about the action; never a secret. */
  readonly detail: Readonly<Record<string, string | number | boolean | null>>
}

export interface AuditStore {
  append(entry: AuditEntry): Promise<void>
  /** Adds entries without a hash to the chain. Returns how many. */
  seal(limit: number): Promise<number>
  /** Verifies the whole chain; names the first row that does not match, if any. */
  verify(): Promise<{ readonly entries: number; readonly broken: { readonly position: number; readonly why: string } | null }>
  list(limit: number): Promise<readonly (AuditEntry & { readonly position: number | null })[]>
}
