import type { CredentialLookup, KnownPlatform, KnownUser } from '@trunkline/core/app/authenticate'
import type { PlatformId, UserId, UserKey } from '@trunkline/core/domain/ids'
import type { Bus } from '@trunkline/core/ports/bus'
import type { PlatformStore, UserStore } from '@trunkline/core/ports/store'
import { LRUCache } from 'lru-cache'

const PLATFORMS_MAX = 1_000
const USERS_MAX = 50_000
/** The bus says at once when a secret changes; this bounds how long a lost message could matter. */
const REMEMBER_MS = 2_000

interface Stored {
  readonly platforms: Pick<PlatformStore, 'findByClientId'>
  readonly users: Pick<UserStore, 'find'>
}

/** Remembers who is who for two seconds, and forgets whose secret changes, or who is deleted, at that moment. */
export class CredentialCache implements CredentialLookup, Disposable {
  readonly #store: Stored
  readonly #platforms = new LRUCache<string, KnownPlatform>({ max: PLATFORMS_MAX, ttl: REMEMBER_MS })
  readonly #users = new LRUCache<string, KnownUser>({
    max: USERS_MAX,
    ttl: REMEMBER_MS,
    dispose: ({ user }) => this.#nameOf.delete(user.userKey)
  })
  readonly #nameOf = new Map<UserKey, string>()
  readonly #unsubscribe: () => void
  /** Counts changes, so that an answer read before one is not remembered after it. */
  #changes = 0

  constructor(store: Stored, bus: Bus) {
    this.#store = store
    this.#unsubscribe = bus.subscribe(
      message => {
        if (message.type === 'platform_secret_changed') return this.#forgetPlatform(message.platformId)
        if (message.type !== 'user_removed' && message.type !== 'user_secret_changed') return
        this.#changes += 1
        const name = this.#nameOf.get(message.userKey)
        if (name !== undefined) this.#users.delete(name)
      },
      ['platform_secret_changed', 'user_removed', 'user_secret_changed']
    )
  }

  rememberedPlatform(clientId: string): KnownPlatform | undefined {
    return this.#platforms.get(clientId)
  }

  rememberedUser(platformId: PlatformId, userId: UserId): KnownUser | undefined {
    return this.#users.get(nameOf(platformId, userId))
  }

  async platform(clientId: string): Promise<KnownPlatform | null> {
    const before = this.#changes
    const found = await this.#store.platforms.findByClientId(clientId)
    if (found !== null && before === this.#changes) this.#platforms.set(clientId, found)
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

  [Symbol.dispose](): void {
    this.#unsubscribe()
  }

  #forgetPlatform(platformId: PlatformId): void {
    this.#changes += 1
    for (const [clientId, { platform }] of this.#platforms) if (platform.platformId === platformId) this.#platforms.delete(clientId)
  }
}

function nameOf(platformId: PlatformId, userId: UserId): string {
  return `${platformId} ${userId}`
}
