import type { Platform, PlatformBrand } from '@trunkline/core/domain/account'
import type { KeyId, PlatformId } from '@trunkline/core/domain/ids'
import { type PlatformKey, SCOPES } from '@trunkline/core/domain/platform-key'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { AuditEntry, KnownKey, PlatformKeyStore, PlatformStore } from '@trunkline/core/ports/store'
import type { MemoryDatabase } from './database.ts'

export class MemoryPlatformStore implements PlatformStore {
  readonly #db: MemoryDatabase

  constructor(db: MemoryDatabase) {
    this.#db = db
  }

  create(platform: Platform, secretHash: string, audit: AuditEntry, brand: PlatformBrand = { color: null, appUrl: null }): Promise<void> {
    return this.#db.call(() => {
      const { platformId, clientId, createdAt } = platform
      const keyId = platformId as string as KeyId
      const key: PlatformKey = {
        ...{ keyId, platformId, clientId, createdAt },
        ...{ name: 'First key', scopes: SCOPES, addresses: [], expiresAt: null, lastUsedAt: null, disabledAt: null }
      }
      this.#db.platforms.set(platformId, { platform, brand, disabledAt: null })
      this.#db.keys.set(keyId, { key, secretHash, previous: null })
      this.#db.audit.push(audit)
    })
  }

  findByClientId(clientId: string): Promise<KnownKey | null> {
    return this.#db.call(() => {
      const known = [...this.#db.keys.values()].find(({ key }) => key.clientId === clientId)
      const stored = known === undefined ? undefined : this.#db.platforms.get(known.key.platformId)
      if (known === undefined || stored === undefined) return null
      const { key, secretHash, previous } = known
      return { platform: stored.platform, key, secretHash, previous, isPlatformDisabled: stored.disabledAt !== null }
    })
  }

  find(platformId: PlatformId): Promise<Platform | null> {
    return this.#db.call(() => this.#db.platforms.get(platformId)?.platform ?? null)
  }

  list(): Promise<readonly Platform[]> {
    return this.#db.call(() => [...this.#db.platforms.values()].map(({ platform }) => platform))
  }

  brandOf(platformId: PlatformId): Promise<PlatformBrand | null> {
    return this.#db.call(() => this.#db.platforms.get(platformId)?.brand ?? null)
  }

  edit(platformId: PlatformId, { name, ...brand }: PlatformBrand & { readonly name: string }, audit: AuditEntry): Promise<boolean> {
    return this.#change(platformId, audit, stored => {
      stored.platform = { ...stored.platform, name }
      stored.brand = brand
    })
  }

  async replaceRedirects(platformId: PlatformId, before: readonly string[], next: readonly string[], audit: AuditEntry): Promise<boolean> {
    const known = await this.find(platformId)
    if (known === null || JSON.stringify(known.redirectAllowList) !== JSON.stringify(before)) return false
    return this.#change(platformId, audit, stored => {
      stored.platform = { ...stored.platform, redirectAllowList: next }
    })
  }

  disabled(): Promise<ReadonlyMap<PlatformId, Timestamp>> {
    return this.#db.call(
      () => new Map([...this.#db.platforms].flatMap(([id, { disabledAt }]) => (disabledAt === null ? [] : [[id, disabledAt] as const])))
    )
  }

  setDisabled(platformId: PlatformId, at: Timestamp | null, audit: AuditEntry): Promise<boolean> {
    return this.#change(platformId, audit, stored => {
      stored.disabledAt = at
      if (at === null) return
      this.#db.eraseTokens(({ userKey }) => this.#db.users.get(userKey)?.user.platformId === platformId)
      this.#db.endAttempts(attempt => attempt.platformId === platformId)
    })
  }

  #change(
    platformId: PlatformId,
    audit: AuditEntry,
    change: (stored: NonNullable<ReturnType<MemoryDatabase['platforms']['get']>>) => void
  ): Promise<boolean> {
    return this.#db.call(() => {
      const stored = this.#db.platforms.get(platformId)
      if (stored === undefined) return false
      change(stored)
      this.#db.audit.push(audit)
      return true
    })
  }
}

export class MemoryPlatformKeyStore implements PlatformKeyStore {
  readonly #db: MemoryDatabase

  constructor(db: MemoryDatabase) {
    this.#db = db
  }

  create(key: PlatformKey, secretHash: string, audit: AuditEntry): Promise<void> {
    return this.#db.call(() => {
      this.#db.keys.set(key.keyId, { key, secretHash, previous: null })
      this.#db.audit.push(audit)
    })
  }

  list(platformId: PlatformId): Promise<readonly PlatformKey[]> {
    return this.#db.call(() =>
      [...this.#db.keys.values()]
        .map(({ key }) => key)
        .filter(key => key.platformId === platformId)
        .toSorted((a, b) => (`${a.createdAt} ${a.keyId}` < `${b.createdAt} ${b.keyId}` ? -1 : 1))
    )
  }

  replaceSecret(keyId: KeyId, secretHash: string, previousUntil: Timestamp | null, audit: AuditEntry): Promise<boolean> {
    return this.#change(keyId, audit, stored => {
      stored.previous = previousUntil === null ? null : { secretHash: stored.secretHash, until: previousUntil }
      stored.secretHash = secretHash
      if (previousUntil === null) return this.#db.endAttempts(attempt => attempt.keyId === keyId)
      for (const link of this.#db.attempts.values())
        if (link.attempt.keyId === keyId && link.attempt.expiresAt > previousUntil)
          link.attempt = { ...link.attempt, expiresAt: previousUntil }
    })
  }

  setDisabled(keyId: KeyId, at: Timestamp | null, audit: AuditEntry): Promise<boolean> {
    return this.#change(keyId, audit, stored => {
      stored.key = { ...stored.key, disabledAt: at }
      if (at !== null) this.#endWith(keyId)
    })
  }

  revoke(keyId: KeyId, audit: AuditEntry): Promise<boolean> {
    return this.#change(keyId, audit, () => {
      this.#db.keys.delete(keyId)
      this.#endWith(keyId)
    })
  }

  used(keyId: KeyId, at: Timestamp): Promise<void> {
    return this.#db.call(() => {
      const stored = this.#db.keys.get(keyId)
      if (stored !== undefined) stored.key = { ...stored.key, lastUsedAt: at }
    })
  }

  #endWith(keyId: KeyId): void {
    this.#db.eraseTokens(token => token.keyId === keyId)
    this.#db.endAttempts(attempt => attempt.keyId === keyId)
  }

  #change(
    keyId: KeyId,
    audit: AuditEntry,
    change: (stored: NonNullable<ReturnType<MemoryDatabase['keys']['get']>>) => void
  ): Promise<boolean> {
    return this.#db.call(() => {
      const stored = this.#db.keys.get(keyId)
      if (stored === undefined) return false
      change(stored)
      this.#db.audit.push(audit)
      return true
    })
  }
}
