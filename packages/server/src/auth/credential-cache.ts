import type { CredentialLookup } from '@trunkline/core/app/authenticate'
import type { KeyId, PlatformId, UserId, UserKey } from '@trunkline/core/domain/ids'
import type { PlatformKey } from '@trunkline/core/domain/platform-key'
import type { Bus } from '@trunkline/core/ports/bus'
import type { Clock } from '@trunkline/core/ports/clock'
import type { KnownKey, KnownUser, PlatformKeyStore, PlatformStore, UserStore } from '@trunkline/core/ports/store'
import { LRUCache } from 'lru-cache'
import { AddressList } from './address-list.ts'

const KEYS_MAX = 1_000
const USERS_MAX = 50_000
/** The bus reports a change of a secret at once; this bounds the effect of a lost message. */
const REMEMBER_MS = 2_000
/** The precision of a key's last use: it is written at most once in this time. */
const USE_NOTED_MS = 60_000
/** Reads the clock at each look-up. By default a timer would be set at each, to read it once per millisecond. */
const EXACT = { ttlResolution: 0 } as const

interface Stored {
  readonly platforms: Pick<PlatformStore, 'findByClientId'>
  readonly platformKeys: Pick<PlatformKeyStore, 'used'>
  readonly users: Pick<UserStore, 'find'>
}

/** Caches credentials for two seconds. An entry is dropped at once when its secret changes, or its owner is disabled or deleted. */
export class CredentialCache implements CredentialLookup, Disposable {
  readonly #store: Stored
  readonly #clock: Pick<Clock, 'now'>
  readonly #keys = new LRUCache<string, KnownKey>({ ...EXACT, max: KEYS_MAX, ttl: REMEMBER_MS })
  readonly #users = new LRUCache<string, KnownUser>({
    ...EXACT,
    max: USERS_MAX,
    ttl: REMEMBER_MS,
    dispose: ({ user }) => this.#nameOf.delete(user.userKey)
  })
  readonly #nameOf = new Map<UserKey, string>()
  readonly #addresses = new WeakMap<PlatformKey, AddressList>()
  readonly #usesNoted = new LRUCache<KeyId, true>({ ...EXACT, max: KEYS_MAX, ttl: USE_NOTED_MS })
  readonly #unsubscribe: () => void
  /** Counts changes, so that an answer read before one is not cached after it. */
  #changes = 0

  constructor(store: Stored, bus: Bus, clock: Pick<Clock, 'now'>) {
    this.#store = store
    this.#clock = clock
    this.#unsubscribe = bus.subscribe(
      message => {
        switch (message.type) {
          case 'platform_secret_changed':
          case 'platform_access_ended':
            return this.#forgetPlatform(message.platformId)
          case 'user_removed':
          case 'user_disabled':
          case 'user_secret_changed':
            return this.#forgetUser(message.userKey)
          case 'bus_resumed':
            return this.#forgetAll()
        }
      },
      ['platform_secret_changed', 'platform_access_ended', 'user_removed', 'user_disabled', 'user_secret_changed', 'bus_resumed']
    )
  }

  rememberedPlatform(clientId: string): KnownKey | undefined {
    return this.#keys.get(clientId)
  }

  rememberedUser(platformId: PlatformId, userId: UserId): KnownUser | undefined {
    return this.#users.get(nameOf(platformId, userId))
  }

  async platform(clientId: string): Promise<KnownKey | null> {
    const before = this.#changes
    const found = await this.#store.platforms.findByClientId(clientId)
    if (found !== null && before === this.#changes) this.#keys.set(clientId, found)
    return found
  }

  async user(platformId: PlatformId, userId: UserId): Promise<KnownUser | null> {
    const name = nameOf(platformId, userId)
    const before = this.#changes
    const found = await this.#store.users.find(platformId, userId)
    if (found !== null && before === this.#changes) {
      this.#users.set(name, found)
      this.#nameOf.set(found.user.userKey, name)
    }
    return found
  }

  admits(key: PlatformKey, address: string | null): boolean {
    if (key.addresses.length === 0) return true
    let list = this.#addresses.get(key)
    if (list === undefined) {
      list = new AddressList(key.addresses)
      this.#addresses.set(key, list)
    }
    return address !== null && list.includes(address)
  }

  /** Not awaited: the operator sees it, and the next use writes it again. */
  used({ keyId }: PlatformKey): void {
    if (this.#usesNoted.has(keyId)) return
    this.#usesNoted.set(keyId, true)
    this.#store.platformKeys.used(keyId, this.#clock.now()).catch(() => this.#usesNoted.delete(keyId))
  }

  [Symbol.dispose](): void {
    this.#unsubscribe()
  }

  #forgetPlatform(platformId: PlatformId): void {
    this.#changes += 1
    for (const [clientId, { platform }] of this.#keys) if (platform.platformId === platformId) this.#keys.delete(clientId)
  }

  /** Messages of other nodes may have been missed. */
  #forgetAll(): void {
    this.#changes += 1
    this.#keys.clear()
    this.#users.clear()
  }

  #forgetUser(userKey: UserKey): void {
    this.#changes += 1
    const name = this.#nameOf.get(userKey)
    if (name !== undefined) this.#users.delete(name)
  }
}

function nameOf(platformId: PlatformId, userId: UserId): string {
  return `${platformId} ${userId}`
}
