import type { Platform, PlatformBrand } from '../domain/account.ts'
import type { KeyId, PlatformId } from '../domain/ids.ts'
import type { PlatformKey } from '../domain/platform-key.ts'
import type { Timestamp } from '../domain/timestamp.ts'
import type { AuditEntry } from './audit-store.ts'

export interface PlatformStore {
  /** With its first key, which has this secret, every scope and the platform's client id. */
  create(platform: Platform, secretHash: string, audit: AuditEntry, brand?: PlatformBrand): Promise<void>
  /** The platform a key of that client id belongs to, with the key; null when unknown. */
  findByClientId(clientId: string): Promise<KnownKey | null>
  find(platformId: PlatformId): Promise<Platform | null>
  list(): Promise<readonly Platform[]>
  /** Null when unknown. */
  brandOf(platformId: PlatformId): Promise<PlatformBrand | null>
  /** Replaces name and brand. False when unknown. */
  edit(platformId: PlatformId, next: PlatformBrand & { readonly name: string }, audit: AuditEntry): Promise<boolean>
  /** Replaces the allowed redirect targets if they still are `before`; false otherwise, and when unknown. */
  replaceRedirects(platformId: PlatformId, before: readonly string[], next: readonly string[], audit: AuditEntry): Promise<boolean>
  /** Which of them are disabled, and since when. */
  disabled(): Promise<ReadonlyMap<PlatformId, Timestamp>>
  /**
   * Disables the platform as of `at`, or enables it (null). Disabling erases the market data tokens of its users and ends their open links, in
   * the same transaction. False when unknown.
   */
  setDisabled(platformId: PlatformId, at: Timestamp | null, audit: AuditEntry): Promise<boolean>
}

/** A key as a caller is judged by it. */
export interface KnownKey {
  readonly platform: Platform
  readonly key: PlatformKey
  readonly secretHash: string
  /** The secret before this one, while it is good as well. */
  readonly previous: { readonly secretHash: string; readonly until: Timestamp } | null
  readonly isPlatformDisabled: boolean
}

export interface PlatformKeyStore {
  create(key: PlatformKey, secretHash: string, audit: AuditEntry): Promise<void>
  /** The oldest first. */
  list(platformId: PlatformId): Promise<readonly PlatformKey[]>
  /**
   * The replaced secret stays good until `previousUntil` (null: it ends now); the one before it ends now. Open links that were had with the
   * key end with the replaced secret. False when unknown.
   */
  replaceSecret(keyId: KeyId, secretHash: string, previousUntil: Timestamp | null, audit: AuditEntry): Promise<boolean>
  /** Disabling erases the market data tokens that were had with the key, and ends its open links. False when unknown. */
  setDisabled(keyId: KeyId, at: Timestamp | null, audit: AuditEntry): Promise<boolean>
  /** Erases the key and the market data tokens that were had with it, and ends its open links. False when unknown. */
  revoke(keyId: KeyId, audit: AuditEntry): Promise<boolean>
  used(keyId: KeyId, at: Timestamp): Promise<void>
}
