import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { Vault } from '@trunkline/core/ports/vault'
import type { NewWebhookKeys, WebhookKeyring, WebhookKeysRow } from '@trunkline/core/ports/webhook-requests'
import type { KnownWebhookEndpoint } from '@trunkline/core/ports/webhook-store'
import { newWebhookKeys, openWebhookKeys, publicKeyOf, rotated, sealWebhookKeys } from './signing-keys.ts'

/** Keys of endpoints, sealed by the service's vault. */
export class VaultKeyring implements WebhookKeyring {
  readonly #vault: () => Vault

  /** @param vault called when it is needed: the command line opens it then, and not for what needs no key */
  constructor(vault: () => Vault) {
    this.#vault = vault
  }

  create(row: WebhookKeysRow): NewWebhookKeys {
    const keys = newWebhookKeys()
    return { secret: keys.current.secret, sealed: sealWebhookKeys(this.#vault(), row, keys, 1) }
  }

  rotate({ endpoint, keys: sealed }: KnownWebhookEndpoint, at: Timestamp, overlapHours: number): NewWebhookKeys {
    const keys = rotated(openWebhookKeys(this.#vault(), endpoint, sealed), at, overlapHours)
    return { secret: keys.current.secret, sealed: sealWebhookKeys(this.#vault(), endpoint, keys, sealed.revision + 1) }
  }

  publicKeys({ endpoint, keys: sealed }: KnownWebhookEndpoint, at: Timestamp): readonly string[] {
    const { current, previous } = openWebhookKeys(this.#vault(), endpoint, sealed)
    return [current, ...previous.filter(({ until }) => until > at)].map(publicKeyOf)
  }
}
