// What goes wrong around the service on its own machine: the store, the bus, and the wall clock.
import type { BusMessage } from '@trunkline/core/ports/bus'
import type { Chance } from './chance.ts'
import type { Scene } from './scene.ts'
import type { StorePlan } from './stepped-store.ts'

const SKEWS_MS_MAX = [60_000, 300_000, 7_200_000]

/** How far apart the clocks of nodes are. */
const OFFSET_MS_MAX = 300_000
/** A statement without an answer is given up. */
const NO_ANSWER_MS = 1_000

export class EnvironmentFaults {
  readonly #scene: Scene
  readonly #chance: Chance
  /** Of each process's machine. */
  readonly #skewsMs: number[]
  #writesFailUntil = 0
  #readsFailUntil = 0
  #slowUntil = 0
  #busDisturbedUntil = 0

  constructor(scene: Scene, chance: Chance, nodes: number) {
    this.#scene = scene
    this.#chance = chance
    this.#skewsMs = Array.from({ length: nodes }, () => (nodes === 1 ? 0 : chance.whole(-OFFSET_MS_MAX, OFFSET_MS_MAX)))
    scene.store.plan = (_, isRead, life) => (life.isCutFromStore ? this.#cutPlan(isRead) : this.#storePlan(isRead))
  }

  /** How far the wall clock of one of the machines is off. */
  skewMs(machine: number): number {
    return this.#skewsMs[machine] ?? 0
  }

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

  /** When a message from one node arrives at another; null: never. */
  readonly busDelay = (): number | null => {
    const chance = this.#chance
    if (this.#now > this.#busDisturbedUntil || chance.happens(0.4)) return 0
    const isLost = chance.happens(0.4)
    this.#scene.trace.met(isLost ? 'bus: lost' : 'bus: late')
    return isLost ? null : chance.whole(1, 3_000)
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
  jump(machine: number): void {
    const most = this.#chance.oneOf(SKEWS_MS_MAX) ?? 0
    const skewMs = this.#chance.happens(0.3) ? 0 : this.#chance.whole(-most, most)
    this.#skewsMs[machine] = skewMs
    this.#scene.trace.note(`the wall clock ${this.#skewsMs.length === 1 ? '' : `of machine ${machine + 1} `}is ${skewMs} ms off`)
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

  /** Nothing gets there, or the answer does not get back. */
  #cutPlan(isRead: boolean): StorePlan {
    return { afterMs: NO_ANSWER_MS, fault: isRead ? 'refused' : this.#chance.weighted({ refused: 3, unwritten: 1 }) }
  }

  #storePlan(isRead: boolean): StorePlan {
    const chance = this.#chance
    const late: StorePlan = this.#now < this.#slowUntil && chance.happens(0.3) ? { afterMs: chance.whole(1, 400) } : {}
    if (isRead) return this.#now < this.#readsFailUntil && chance.happens(0.5) ? { ...late, fault: 'refused' } : late
    if (this.#now >= this.#writesFailUntil || chance.happens(0.5)) return late
    return { ...late, fault: chance.weighted({ refused: 3, written: 2, unwritten: 2 }) }
  }
}
