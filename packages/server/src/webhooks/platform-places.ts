// Who may hold the places for attempts: platforms, and all slow endpoints together, leave some to the others.
import type { PlatformId } from '@trunkline/core/domain/ids'
import type { EndpointQueue } from './endpoint-queue.ts'

export interface PlacesLimits {
  /** Attempts at once, over all endpoints. */
  readonly places: number
  /** Of these, the most that one platform has. It has no more than half as many as are free, either, except for a first one. */
  readonly platformPlaces: number
}

/**
 * The places of a node. An endpoint turns out to be slow only at the end of its first attempts: until then, each platform leaves twice as
 * many places free as it holds, so that a few with silent endpoints do not hold all of them.
 */
export class PlatformPlaces {
  readonly #limits: PlacesLimits
  readonly #held = new Map<PlatformId, number>()
  #taken = 0
  #slow = 0
  /** Slow endpoints that found no place, in their order. */
  readonly #refused = new Set<EndpointQueue>()
  /** Endpoints of platforms that had their share, in the order of the platforms. Each holds a place: they are as many as places at most. */
  readonly #crowded = new Map<PlatformId, Set<EndpointQueue>>()

  constructor(limits: PlacesLimits) {
    this.#limits = limits
  }

  /** Whether an attempt of the endpoint may begin, as far as its platform and the other slow endpoints are concerned. */
  has(queue: EndpointQueue): boolean {
    const { platformId } = queue.endpoint
    if (!this.#hasShare(platformId)) {
      this.#crowded.set(platformId, (this.#crowded.get(platformId) ?? new Set()).add(queue))
      return false
    }
    if (!queue.isSlow || this.#slow < Math.ceil(this.#limits.places / 2)) return true
    this.#refused.add(queue)
    return false
  }

  /** Takes a place. The returned function leaves it, once, and returns the endpoints that were refused one and may now have it. */
  take({ isSlow, endpoint: { platformId } }: EndpointQueue): () => readonly EndpointQueue[] {
    this.#held.set(platformId, (this.#held.get(platformId) ?? 0) + 1)
    this.#taken += 1
    if (isSlow) this.#slow += 1
    return () => {
      const held = (this.#held.get(platformId) ?? 0) - 1
      if (held > 0) this.#held.set(platformId, held)
      else this.#held.delete(platformId)
      this.#taken -= 1
      if (isSlow) this.#slow -= 1
      return [...this.#crowdedOf(platformId), ...this.#uncrowded(), ...(isSlow ? this.#slowest() : [])]
    }
  }

  #hasShare(platformId: PlatformId): boolean {
    const held = this.#held.get(platformId) ?? 0
    return held === 0 || (held < this.#limits.platformPlaces && 2 * held < this.#limits.places - this.#taken)
  }

  #crowdedOf(platformId: PlatformId): Iterable<EndpointQueue> {
    const queues = this.#crowded.get(platformId) ?? []
    this.#crowded.delete(platformId)
    return queues
  }

  /** Those of the first platform that has less than its share. One place was left: other platforms wait for the next. */
  #uncrowded(): Iterable<EndpointQueue> {
    for (const platformId of this.#crowded.keys()) if (this.#hasShare(platformId)) return this.#crowdedOf(platformId)
    return []
  }

  #slowest(): readonly EndpointQueue[] {
    for (const queue of this.#refused) {
      this.#refused.delete(queue)
      return [queue]
    }
    return []
  }
}
