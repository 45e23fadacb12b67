import { ServiceError } from '@trunkline/core/domain/errors'
import type { Clock } from '@trunkline/core/ports/clock'

/** How many requests may run at the same time, and how many may wait. */
export interface Capacity {
  readonly working: number
  readonly waiting: number
}

export interface FairLimits {
  /** Over all platforms. */
  readonly working: number
  readonly platform: Capacity
  readonly user: Capacity
  /** Requests with platform credentials only. */
  readonly own: Capacity
  /** The longest that a request waits. */
  readonly waitMs: number
}

/** The caller. `userKey` is null for a request with platform credentials only. */
export interface Requester {
  readonly platformId: string
  readonly userKey: string | null
}

interface RequestQueue {
  readonly platform: PlatformQueues
  readonly key: string
  readonly capacity: Capacity
  working: number
  /** In order of arrival. Calling one starts its request. */
  readonly waiting: Set<() => void>
}

interface PlatformQueues {
  readonly platformId: string
  working: number
  waiting: number
  readonly queues: Map<string, RequestQueue>
  /** Queues that could start a request, least recently served first. */
  readonly ready: Set<RequestQueue>
}

const OWN = 'platform'
const TOO_MUCH = 'Too many requests of this user or platform are in progress. Wait for the time in the retry-after header, then try again.'

/**
 * Runs requests concurrently, up to limits per user, per platform and in total. Further requests wait in short queues, which are served
 * round-robin, first among platforms, then among a platform's users. A user's flood fills that user's queue only, and other callers keep
 * their share. A request that finds its queue full, or waits too long, is refused before any work is done for it.
 */
export class FairQueue {
  readonly #clock: Clock
  readonly #limits: FairLimits
  readonly #platforms = new Map<string, PlatformQueues>()
  /** Platforms that could start a request, least recently served first. */
  readonly #ready = new Set<PlatformQueues>()
  #working = 0

  constructor(clock: Clock, limits: FairLimits) {
    this.#clock = clock
    this.#limits = limits
  }

  /** Call before the body is read. @throws ServiceError rate_limited if there is no capacity. */
  requireCapacity({ platformId, userKey }: Requester): void {
    const platform = this.#platforms.get(platformId)
    const queue = platform?.queues.get(userKey ?? OWN)
    if (platform === undefined || (queue !== undefined && this.#mayWork(queue)) || (queue === undefined && this.#hasCapacity(platform)))
      return
    if (platform.waiting >= this.#limits.platform.waiting) throw refusal()
    if (queue !== undefined && queue.waiting.size >= queue.capacity.waiting) throw refusal()
  }

  /**
   * Runs `work` once there is capacity, and returns its result.
   * @throws ServiceError rate_limited if the wait is too long; what `work` throws.
   */
  async run<T>(requester: Requester, work: () => Promise<T>): Promise<T> {
    const queue = this.#queueOf(requester)
    if (this.#mayWork(queue)) this.#begin(queue)
    else await this.#wait(queue)
    try {
      return await work()
    } finally {
      this.#end(queue)
    }
  }

  #mayWork({ platform, capacity, working, waiting }: RequestQueue): boolean {
    return waiting.size === 0 && working < capacity.working && this.#hasCapacity(platform)
  }

  #hasCapacity({ working }: PlatformQueues): boolean {
    return working < this.#limits.platform.working && this.#working < this.#limits.working
  }

  #wait(queue: RequestQueue): Promise<void> {
    const { platform, capacity, waiting } = queue
    if (waiting.size >= capacity.waiting || platform.waiting >= this.#limits.platform.waiting) {
      this.#prune(queue)
      throw refusal()
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const leave = () => {
      waiting.delete(begin)
      platform.waiting -= 1
    }
    const alarm = this.#clock.alarm(this.#limits.waitMs, () => {
      leave()
      this.#updateReady(queue)
      this.#prune(queue)
      reject(refusal())
    })
    const begin = () => {
      alarm[Symbol.dispose]()
      leave()
      this.#begin(queue)
      resolve()
    }
    waiting.add(begin)
    platform.waiting += 1
    this.#updateReady(queue)
    return promise
  }

  #begin(queue: RequestQueue): void {
    queue.working += 1
    queue.platform.working += 1
    this.#working += 1
  }

  #end(queue: RequestQueue): void {
    queue.working -= 1
    queue.platform.working -= 1
    this.#working -= 1
    this.#updateReady(queue)
    this.#startNext()
    this.#prune(queue)
  }

  /** Starts waiting requests while there is capacity. */
  #startNext(): void {
    while (this.#working < this.#limits.working) {
      const [platform] = this.#ready
      const [queue] = platform?.ready ?? []
      const [begin] = queue?.waiting ?? []
      if (platform === undefined || queue === undefined || begin === undefined) return
      begin()
      // To the end of both round-robins.
      platform.ready.delete(queue)
      this.#ready.delete(platform)
      this.#updateReady(queue)
    }
  }

  /** Adds the queue and its platform to those that could start a request, or removes them. Entries already present keep their position. */
  #updateReady(queue: RequestQueue): void {
    const { platform } = queue
    if (queue.waiting.size > 0 && queue.working < queue.capacity.working) platform.ready.add(queue)
    else platform.ready.delete(queue)
    if (platform.ready.size > 0 && platform.working < this.#limits.platform.working) this.#ready.add(platform)
    else this.#ready.delete(platform)
  }

  #queueOf({ platformId, userKey }: Requester): RequestQueue {
    const platform = this.#platforms.get(platformId) ?? { platformId, working: 0, waiting: 0, queues: new Map(), ready: new Set() }
    this.#platforms.set(platformId, platform)
    const key = userKey ?? OWN
    const capacity = userKey === null ? this.#limits.own : this.#limits.user
    const queue = platform.queues.get(key) ?? { platform, key, capacity, working: 0, waiting: new Set() }
    platform.queues.set(key, queue)
    return queue
  }

  /** Drops queues without requests. */
  #prune({ platform, key, working, waiting }: RequestQueue): void {
    if (working > 0 || waiting.size > 0) return
    platform.queues.delete(key)
    if (platform.queues.size === 0) this.#platforms.delete(platform.platformId)
  }
}

function refusal(): ServiceError {
  return new ServiceError('rate_limited', TOO_MUCH, { retryAfterSeconds: 1 })
}
