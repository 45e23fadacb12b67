import { ServiceError } from '@trunkline/core/domain/errors'
import type { Clock } from '@trunkline/core/ports/clock'

/** How much may be worked on at once, and how much may wait behind it. */
export interface Room {
  readonly working: number
  readonly waiting: number
}

export interface FairLimits {
  /** Of all platforms together. */
  readonly working: number
  readonly platform: Room
  readonly user: Room
  /** What a platform asks for itself and not for a user. */
  readonly own: Room
  /** How long a request waits at most. */
  readonly waitMs: number
}

/** Whose request it is; `userKey` null: the platform's own. */
export interface Asker {
  readonly platformId: string
  readonly userKey: string | null
}

interface Lane {
  readonly platform: PlatformLanes
  readonly key: string
  readonly room: Room
  working: number
  /** In the order in which they came; each is called when its turn has come. */
  readonly waiting: Set<() => void>
}

interface PlatformLanes {
  readonly platformId: string
  working: number
  waiting: number
  readonly lanes: Map<string, Lane>
  /** Lanes that could go on at once, the one whose turn is longest ago first. */
  readonly ready: Set<Lane>
}

const OWN = 'platform'
const TOO_MUCH = 'Too many requests of this user, or platform, are under way. Wait as long as the retry-after header says.'

/**
 * Lets requests work side by side, so many per user, per platform and in all; more wait in short queues, which are served in turn: first
 * among platforms, then among a platform's users. So a flood fills its own user's queue and is refused from there on, and whoever else
 * comes is next. Everything is bounded: what finds its queue full, or waits too long, is refused, and nothing of it has been done.
 */
export class FairQueue {
  readonly #clock: Clock
  readonly #limits: FairLimits
  readonly #platforms = new Map<string, PlatformLanes>()
  /** Platforms that could go on at once, the one whose turn is longest ago first. */
  readonly #ready = new Set<PlatformLanes>()
  #working = 0

  constructor(clock: Clock, limits: FairLimits) {
    this.#clock = clock
    this.#limits = limits
  }

  /** To be asked before the body is read. @throws ServiceError rate_limited when there would be no room. */
  demandRoom({ platformId, userKey }: Asker): void {
    const platform = this.#platforms.get(platformId)
    const lane = platform?.lanes.get(userKey ?? OWN)
    if (platform === undefined || (lane !== undefined && this.#mayWork(lane)) || (lane === undefined && this.#hasRoom(platform))) return
    if (platform.waiting >= this.#limits.platform.waiting) throw refusal()
    if (lane !== undefined && lane.waiting.size >= lane.room.waiting) throw refusal()
  }

  /** Gives what `work` gives, once it was its turn. @throws ServiceError rate_limited when that is too far away; what `work` throws. */
  async run<T>(asker: Asker, work: () => Promise<T>): Promise<T> {
    const lane = this.#laneOf(asker)
    if (this.#mayWork(lane)) this.#begin(lane)
    else await this.#turn(lane)
    try {
      return await work()
    } finally {
      this.#end(lane)
    }
  }

  #mayWork({ platform, room, working, waiting }: Lane): boolean {
    return waiting.size === 0 && working < room.working && this.#hasRoom(platform)
  }

  #hasRoom({ working }: PlatformLanes): boolean {
    return working < this.#limits.platform.working && this.#working < this.#limits.working
  }

  #turn(lane: Lane): Promise<void> {
    const { platform, room, waiting } = lane
    if (waiting.size >= room.waiting || platform.waiting >= this.#limits.platform.waiting) {
      this.#tidy(lane)
      throw refusal()
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const leave = () => {
      waiting.delete(begin)
      platform.waiting -= 1
    }
    const alarm = this.#clock.alarm(this.#limits.waitMs, () => {
      leave()
      this.#sort(lane)
      this.#tidy(lane)
      reject(refusal())
    })
    const begin = () => {
      alarm[Symbol.dispose]()
      leave()
      this.#begin(lane)
      resolve()
    }
    waiting.add(begin)
    platform.waiting += 1
    this.#sort(lane)
    return promise
  }

  #begin(lane: Lane): void {
    lane.working += 1
    lane.platform.working += 1
    this.#working += 1
  }

  #end(lane: Lane): void {
    lane.working -= 1
    lane.platform.working -= 1
    this.#working -= 1
    this.#sort(lane)
    this.#goOn()
    this.#tidy(lane)
  }

  /** Whose turn it is, as long as there is room. */
  #goOn(): void {
    while (this.#working < this.#limits.working) {
      const [platform] = this.#ready
      const [lane] = platform?.ready ?? []
      const [begin] = lane?.waiting ?? []
      if (platform === undefined || lane === undefined || begin === undefined) return
      begin()
      // To the end of both rounds.
      platform.ready.delete(lane)
      this.#ready.delete(platform)
      this.#sort(lane)
    }
  }

  /** Puts the lane and its platform among those that could go on, or takes them out; those that are there keep their place. */
  #sort(lane: Lane): void {
    const { platform } = lane
    if (lane.waiting.size > 0 && lane.working < lane.room.working) platform.ready.add(lane)
    else platform.ready.delete(lane)
    if (platform.ready.size > 0 && platform.working < this.#limits.platform.working) this.#ready.add(platform)
    else this.#ready.delete(platform)
  }

  #laneOf({ platformId, userKey }: Asker): Lane {
    const platform = this.#platforms.get(platformId) ?? { platformId, working: 0, waiting: 0, lanes: new Map(), ready: new Set() }
    this.#platforms.set(platformId, platform)
    const key = userKey ?? OWN
    const room = userKey === null ? this.#limits.own : this.#limits.user
    const lane = platform.lanes.get(key) ?? { platform, key, room, working: 0, waiting: new Set() }
    platform.lanes.set(key, lane)
    return lane
  }

  /** Forgets whoever has nothing under way. */
  #tidy({ platform, key, working, waiting }: Lane): void {
    if (working > 0 || waiting.size > 0) return
    platform.lanes.delete(key)
    if (platform.lanes.size === 0) this.#platforms.delete(platform.platformId)
  }
}

function refusal(): ServiceError {
  return new ServiceError('rate_limited', TOO_MUCH, { retryAfterSeconds: 1 })
}
