import type { PlatformId, WebhookEndpointId } from '@trunkline/core/domain/ids'
import type { Log } from '@trunkline/core/ports/log'
import type { Meter } from '@trunkline/core/ports/meter'
import type { Vault } from '@trunkline/core/ports/vault'
import type { KnownWebhookEndpoint, WebhookStore } from '@trunkline/core/ports/webhook-store'
import { EndpointQueue } from './endpoint-queue.ts'
import { openWebhookKeys, WebhookSigner } from './signing-keys.ts'

export interface EndpointsDeps {
  readonly webhooks: { readonly endpoints: Pick<WebhookStore['endpoints'], 'active'> }
  readonly vault: Vault
  readonly log: Log
  readonly meter: Pick<Meter, 'count'>
}

/** The endpoints that are sent to, as the store has them. */
export class Endpoints {
  readonly #deps: EndpointsDeps
  readonly #queues = new Map<WebhookEndpointId, EndpointQueue>()
  readonly #ofPlatform = new Map<PlatformId, Set<EndpointQueue>>()
  /** Endpoints whose keys do not open, by the revision that was tried: each is logged once. */
  readonly #broken = new Map<WebhookEndpointId, number>()
  #refreshing: Promise<boolean> | null = null

  constructor(deps: EndpointsDeps) {
    this.#deps = deps
  }

  get isEmpty(): boolean {
    return this.#queues.size === 0
  }

  get waiting(): number {
    let count = 0
    for (const { waiting } of this.#queues.values()) count += waiting
    return count
  }

  /** Users whose events were passed over, and of whom this is not written yet. */
  get passed(): number {
    let count = 0
    for (const { passed } of this.#queues.values()) count += passed
    return count
  }

  find(endpointId: WebhookEndpointId): EndpointQueue | null {
    return this.#queues.get(endpointId) ?? null
  }

  /** Whether the platform has any. */
  has(platformId: PlatformId): boolean {
    return this.#ofPlatform.has(platformId)
  }

  of(platformId: PlatformId): Iterable<EndpointQueue> {
    return this.#ofPlatform.get(platformId) ?? []
  }

  all(): Iterable<EndpointQueue> {
    return this.#queues.values()
  }

  /** The one with most waiting users; null if there is none. */
  largest(): EndpointQueue | null {
    let largest: EndpointQueue | null = null
    for (const queue of this.#queues.values()) if (queue.waiting > (largest?.waiting ?? 0)) largest = queue
    return largest
  }

  /** Reads the endpoints. Resolves to whether one is new, or was changed: users may be behind. It never rejects. */
  async refresh(): Promise<boolean> {
    // What was changed while the list was being read may not be in it.
    await this.#refreshing
    this.#refreshing ??= this.#read().finally(() => {
      this.#refreshing = null
    })
    return await this.#refreshing
  }

  async #read(): Promise<boolean> {
    try {
      const active = await this.#deps.webhooks.endpoints.active()
      const ids = new Set(active.map(({ endpoint }) => endpoint.endpointId))
      for (const queue of this.#queues.values()) if (!ids.has(queue.endpoint.endpointId)) this.#remove(queue)
      for (const id of this.#broken.keys()) if (!ids.has(id)) this.#broken.delete(id)
      return active.map(known => this.#take(known)).includes(true)
    } catch (cause) {
      this.#deps.log.warn('the webhook endpoints could not be read; the known ones stay', { cause })
      return false
    }
  }

  #take(known: KnownWebhookEndpoint): boolean {
    const { endpoint, keys } = known
    const queue = this.find(endpoint.endpointId)
    const isSigned = queue !== null && queue.known.keys.revision === keys.revision
    const signer = isSigned ? queue.signer : this.#signer(known)
    if (signer === null) {
      if (queue !== null) this.#remove(queue)
      return false
    }
    if (queue === null) {
      this.#insert(new EndpointQueue(known, signer))
      return true
    }
    const isChanged = queue.endpoint.revision !== endpoint.revision
    // Another description makes no failing endpoint a better one.
    if (queue.endpoint.url !== endpoint.url || !isSigned) queue.failures = 0
    queue.known = known
    queue.signer = signer
    queue.failingSince = endpoint.failingSince
    if (!isChanged) return false
    queue.isDisabled = false
    queue.restart()
    return true
  }

  #signer(known: KnownWebhookEndpoint): WebhookSigner | null {
    const { endpointId, platformId } = known.endpoint
    if (this.#broken.get(endpointId) === known.keys.revision) return null
    try {
      const signer = new WebhookSigner(openWebhookKeys(this.#deps.vault, known.endpoint, known.keys))
      this.#broken.delete(endpointId)
      return signer
    } catch (cause) {
      this.#broken.set(endpointId, known.keys.revision)
      this.#deps.meter.count('seals_broken_total')
      this.#deps.log.error('the keys of a webhook endpoint do not open; nothing is sent to it', { endpointId, platformId, cause })
      return null
    }
  }

  #insert(queue: EndpointQueue): void {
    const { endpointId, platformId } = queue.endpoint
    this.#queues.set(endpointId, queue)
    this.#ofPlatform.set(platformId, (this.#ofPlatform.get(platformId) ?? new Set()).add(queue))
  }

  #remove(queue: EndpointQueue): void {
    const { endpointId, platformId } = queue.endpoint
    for (const chain of queue.chains.values()) queue.drop(chain)
    queue.isDisabled = true
    this.#queues.delete(endpointId)
    const others = this.#ofPlatform.get(platformId)
    others?.delete(queue)
    if (others?.size === 0) this.#ofPlatform.delete(platformId)
  }
}
