import type { Platform, PlatformBrand } from '../domain/account.ts'
import type { KeyId, PlatformId } from '../domain/ids.ts'
import type { PlatformKey } from '../domain/platform-key.ts'
import type { Timestamp } from '../domain/timestamp.ts'
import type { AuditEntry } from './audit-store.ts'

export interface PlatformStore {
  /** Creates the platform with its first key, which has this secret, every scope and the platform's client id. */
  create(platform: Platform, secretHash: string, audit: AuditEntry, brand?: PlatformBrand): Promise<void>
  /** The key with that client id, and its platform; null if unknown. */
  findByClientId(clientId: string): Promise<KnownKey | null>
  find(platformId: PlatformId): Promise<Platform | null>
  list(): Promise<readonly Platform[]>
  /** Null if unknown. */
  brandOf(platformId: PlatformId): Promise<PlatformBrand | null>
  /** Replaces name and brand. False if unknown. */
  edit(platformId: PlatformId, next: PlatformBrand & { readonly name: string }, audit: AuditEntry): Promise<boolean>
  /** Replaces the allowed redirect targets if they still are `before`. False otherwise, and if unknown. */
  replaceRedirects(platformId: PlatformId, before: readonly string[], next: readonly string[], audit: AuditEntry): Promise<boolean>
  /** The disabled platforms, each with the time since when. */
  disabled(): Promise<ReadonlyMap<PlatformId, Timestamp>>
  /**
   * Disables the platform as of `at`, or enables it (null). Disabling also erases its users' market data tokens and ends their open links,
   * in the same transaction. False if unknown.
   */
  setDisabled(platformId: PlatformId, at: Timestamp | null, audit: AuditEntry): Promise<boolean>
}

/** What authentication needs of a key. */
export interface KnownKey {
  readonly platform: Platform
  readonly key: PlatformKey
  readonly secretHash: string
  /** The previous secret, while it is still valid. */
  readonly previous: { readonly secretHash: string; readonly until: Timestamp } | null
  readonly isPlatformDisabled: boolean
}

export interface PlatformKeyStore {
  create(key: PlatformKey, secretHash: string, audit: AuditEntry): Promise<void>
  /** Oldest first. */
  list(platformId: PlatformId): Promise<readonly PlatformKey[]>
  /**
   * The replaced secret stays valid until `previousUntil` (null: it ends now); the one before it ends now. Open links created with the key
   * end together with the replaced secret. False if unknown.
   */
  replaceSecret(keyId: KeyId, secretHash: string, previousUntil: Timestamp | null, audit: AuditEntry): Promise<boolean>
  /** Disabling also erases the market data tokens created with the key and ends its open links. False if unknown. */
  setDisabled(keyId: KeyId, at: Timestamp | null, audit: AuditEntry): Promise<boolean>
  /** Erases the key and the market data tokens created with it, and ends its open links. False if unknown. */
  revoke(keyId: KeyId, audit: AuditEntry): Promise<boolean>
  used(keyId: KeyId, at: Timestamp): Promise<void>
}
