// What goes wrong around the service on its own machine: the store, the bus, and the wall clock.
import type { BusMessage } from '@trunkline/core/ports/bus'
import type { Chance } from './chance.ts'
import type { Scene } from './scene.ts'
import type { Conditions } from './service.ts'
import type { StorePlan } from './stepped-store.ts'

const SKEWS_MS_MAX = [60_000, 300_000, 7_200_000]

export class EnvironmentFaults implements Conditions {
  readonly #scene: Scene
  readonly #chance: Chance
  #skewMs = 0
  #writesFailUntil = 0
  #readsFailUntil = 0
  #slowUntil = 0
  #busDisturbedUntil = 0

  constructor(scene: Scene, chance: Chance) {
    this.#scene = scene
    this.#chance = chance
    scene.store.plan = (_, isRead) => this.#storePlan(isRead)
  }

  readonly skewMs = (): number => this.#skewMs

  readonly route = (message: BusMessage): readonly number[] => {
    const chance = this.#chance
    const isHint = message.type === 'events' || message.type === 'connection_health'
    if (!isHint || this.#now > this.#busDisturbedUntil || chance.happens(0.4)) return [0]
    // Health is published again only when it changes again, so it may be late and not lost.
    if (message.type === 'connection_health') return [0]
    const kind = chance.weighted({ late: 5, twice: 1, lost: 2 })
    this.#scene.trace.met(`bus: ${kind}`)
    if (kind === 'lost') return []
    return kind === 'late' ? [chance.whole(1, 3_000)] : [0, chance.whole(1, 3_000)]
  }

  failWrites(ms: number): void {
    this.#writesFailUntil = this.#now + ms
  }

  failReads(ms: number): void {
    this.#readsFailUntil = this.#now + ms
  }

  slowDown(ms: number): void {
    this.#slowUntil = this.#now + ms
  }

  disturbBus(ms: number): void {
    this.#busDisturbedUntil = this.#now + ms
  }

  /** The wall clock is set to another time; the monotonic one knows nothing of it. */
  jump(): void {
    const most = this.#chance.oneOf(SKEWS_MS_MAX) ?? 0
    this.#skewMs = this.#chance.happens(0.3) ? 0 : this.#chance.whole(-most, most)
    this.#scene.trace.note(`the wall clock is ${this.#skewMs} ms off`)
  }

  /** From now on all is well, but for a clock that is wrong and stays so. */
  heal(): void {
    this.#writesFailUntil = 0
    this.#readsFailUntil = 0
    this.#slowUntil = 0
    this.#busDisturbedUntil = 0
  }

  get #now(): number {
    return this.#scene.clock.monotonicMs()
  }

  #storePlan(isRead: boolean): StorePlan {
    const chance = this.#chance
    const late: StorePlan = this.#now < this.#slowUntil && chance.happens(0.3) ? { afterMs: chance.whole(1, 400) } : {}
    if (isRead) return this.#now < this.#readsFailUntil && chance.happens(0.5) ? { ...late, fault: 'refused' } : late
    if (this.#now >= this.#writesFailUntil || chance.happens(0.5)) return late
    return { ...late, fault: chance.weighted({ refused: 3, written: 2, unwritten: 2 }) }
  }
}
