// Who may hold the places for attempts: one platform, or all slow endpoints, leave some to the others.
import type { PlatformId } from '@trunkline/core/domain/ids'
import type { EndpointQueue } from './endpoint-queue.ts'

export interface PlacesLimits {
  /** Attempts at once, over all endpoints. */
  readonly places: number
  /** Of these, a platform's. */
  readonly platformPlaces: number
}

export class PlatformPlaces {
  readonly #limits: PlacesLimits
  readonly #held = new Map<PlatformId, number>()
  #slow = 0
  /** Slow endpoints that found no place, in their order. */
  readonly #refused = new Set<EndpointQueue>()

  constructor(limits: PlacesLimits) {
    this.#limits = limits
  }

  /** Whether an attempt of the endpoint may begin, as far as its platform and the other slow endpoints are concerned. */
  has(queue: EndpointQueue): boolean {
    if ((this.#held.get(queue.endpoint.platformId) ?? 0) >= this.#limits.platformPlaces) return false
    if (!queue.isSlow || this.#slow < Math.ceil(this.#limits.places / 2)) return true
    this.#refused.add(queue)
    return false
  }

  /** Takes a place. The returned function leaves it, once, and returns the slow endpoint that may now have one, if any. */
  take({ isSlow, endpoint: { platformId } }: EndpointQueue): () => EndpointQueue | null {
    this.#held.set(platformId, (this.#held.get(platformId) ?? 0) + 1)
    if (isSlow) this.#slow += 1
    return () => {
      const held = (this.#held.get(platformId) ?? 0) - 1
      if (held > 0) this.#held.set(platformId, held)
      else this.#held.delete(platformId)
      if (!isSlow) return null
      this.#slow -= 1
      for (const queue of this.#refused) {
        this.#refused.delete(queue)
        return queue
      }
      return null
    }
  }
}
